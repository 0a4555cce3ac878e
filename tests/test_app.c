/* The application without a laboratory: tables of commands, refusals, the cursor, panes, themes, and completion. */
#include "expect.h"

#include "clock.h"
#include "complete.h"
#include "help.h"
#include "keymap.h"
#include "lab.h"
#include "pane.h"
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tables --- */

static const Command *table_number(int i) {
    if (i == 0) return app_commands();
    if (i == 1) return lab_commands();
    return i - 2 < pane_count() ? pane_at(i - 2)->commands : NULL;
}

static void no_name_is_in_two_tables(void **unused) {
    (void)unused;
    for (int i = 0; i < pane_count() + 2; i++) {
        for (const Command *c = table_number(i); c && c->name; c++) {
            for (int j = i; j < pane_count() + 2; j++) {
                for (const Command *d = table_number(j); d && d->name; d++) {
                    if (c != d && !strcmp(c->name, d->name)) fail_msg("%s is in two tables", c->name);
                }
            }
        }
    }
}

/* How much there is above and below stands in the edge, and is true. */
static void what_does_not_show_is_counted(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "?");
    screen_expect(a, " ▾ ");
    screen_refuse(a, " ▴ ");
    screen_keys(a, "<End>");
    screen_refuse(a, " ▾ ");
    screen_expect(a, " more rows ");
    screen_keys(a, "<Home>jjj");
    screen_expect(a, "─ ▴ 3 ▾ ");
    screen_keys(a, "/theme<Enter>");
    screen_refuse(a, "more rows");
    screen_keys(a, "<Esc><Esc>o");
    Str options;
    str_init(&options);
    screen_text(a, 80, 24, &options);
    assert_non_null(strstr(options.s, "─ ▾ "));
    str_done(&options);
    app_free(a);
}

static void help_holds_every_key_and_every_command(void **unused) {
    (void)unused;
    Str text;
    str_init(&text);
    help_text(0, app_commands(), &text);
    for (const KeyRow *row = keymap_rows(); row->key; row++) {
        char key[24];
        if (!row->key[0]) continue;
        keymap_show(row->key, key, sizeof key);
        assert_non_null(strstr(text.s, key));
        if (key[0] == '<' && key[1]) fail_msg("%s has no name for people", key);
        if (row->help) assert_non_null(strstr(text.s, row->help));
    }
    for (int i = 0; i < pane_count() + 2; i++) {
        for (const Command *c = table_number(i); c && c->name; c++) {
            char line[80];
            snprintf(line, sizeof line, "\n:%s", c->name);
            if (!strstr(text.s, line)) fail_msg("the help does not know %s", c->name);
            assert_true(strlen(c->help) > 4);
        }
    }
    for (int i = 0; i < pane_count(); i++) {
        for (const KeyRow *row = pane_at(i)->keys; row && row->key; row++) assert_non_null(strstr(text.s, row->help));
    }
    str_done(&text);
}

/* --- commands --- */

static void refusals_are_sentences(void **unused) {
    (void)unused;
    static const struct {
        const char *line, *say;
    } rows[] = {
        {"pane whale", "there is no pane whale"},
        {"theme red", "themes are dark, light, contrast and mono"},
        {"map jet", "colour maps are"},
        {"view ceiling", "view is wall, split or focus"},
        {"clock wall", "clock is train or decode"},
        {"cursor sideways", "is no direction"},
        {"cursor tail=3", "the cursor has layer"},
        {"next 0", "is no number from 1 up"},
        {"mouse maybe", "on or off"},
        {"stage heat", "stage is scores"},
        {"stage softcapped", "no soft cap"},
        {"scale log", "scale is whole or row"},
        {"order luck", "order is truth or model"},
        {"span few", "span is all or recent"},
        {"axis polar", "axis is log or linear"},
        {"experiment no.such", "there is no experiment"},
        {"stop", "no experiment is running"},
        {"adopt", "no experiment has left"},
        {"find whale", "nothing here holds"},
        {"begin", "open them first"},
        {"default", "open them first"},
        {"zzz", "there is no command 'zzz'"},
        {"quit later", "quit takes nothing"},
        {"results nothing", "has no table"},
        {"cursor layer=x", "is no direction"},
        {"step", "no laboratory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        App *a = screen_new(NULL);
        Status s = app_command(a, rows[i].line);
        if (!strstr(s.text, rows[i].say)) fail_msg("%s: '%s' does not hold '%s'", rows[i].line, s.text, rows[i].say);
        app_free(a);
    }
}

static void the_cursor_is_one_for_all(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2");
    screen_expect(a, "layer 1 head 1");
    screen_keys(a, ">}}");
    screen_expect(a, "layer 2 head 3");
    screen_keys(a, ">>>>");
    screen_expect(a, "layer 2 head 3");
    screen_keys(a, "<lt>{");
    screen_expect(a, "layer 1 head 2");
    assert_ok(app_command(a, "cursor layer=2 head=4 query=3 key=1"));
    screen_expect(a, "layer 2 head 4");
    screen_expect(a, "near → the");
    screen_keys(a, "jl");
    screen_expect(a, "the (4) → dogs");
    screen_keys(a, "g");
    screen_expect(a, "<s> → <s>");
    screen_keys(a, "G");
    screen_expect(a, "cat → cat");
    screen_keys(a, "/near<Enter>");
    screen_expect(a, "near → cat hidden by the mask");
    screen_keys(a, "1<Left>");
    screen_keys(a, "z");
    screen_expect(a, "step under the cursor");
    screen_expect(a, "1,228");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "step under the cursor");
    app_free(a);
}

/* A pane's title begins with its number, whatever number that is. */
static const char *title_of(const char *mark, int pane) {
    static char title[80];
    snprintf(title, sizeof title, "%s%d %s", mark, pane + 1, pane_at(pane)->title);
    return title;
}

static void views_and_panes(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    int sample = pane_find("sample");
    char number[16];
    snprintf(number, sizeof number, "%d", sample + 1);
    screen_expect(a, "▸1 train");
    screen_expect(a, " 2 attention");
    screen_keys(a, "<Tab>");
    screen_expect(a, "▸2 attention");
    screen_keys(a, "<S-Tab><S-Tab>");
    screen_expect(a, title_of("▸", pane_find("lab")));
    screen_keys(a, number);
    screen_keys(a, "z");
    screen_refuse(a, "1 train");
    screen_expect(a, title_of("▸", sample));
    screen_keys(a, "<Esc>");
    screen_expect(a, "1 train");
    assert_ok(app_command(a, "view split"));
    screen_expect(a, title_of("", sample + 1));
    screen_refuse(a, "1 train");
    assert_ok(app_command(a, "pane attention"));
    screen_keys(a, "p");
    screen_refuse(a, title_of("", sample));
    assert_ok(app_command(a, "pane sample"));
    screen_keys(a, "<PageUp><PageDown>p");
    screen_expect(a, title_of("▸", sample));
    screen_keys(a, "b");
    screen_refuse(a, "next word");
    screen_keys(a, "x"); /* brings it back, does nothing else */
    screen_expect(a, "next word");
    assert_string_equal(app_message(a), "");
    app_free(a);
}

static void the_theme_follows_the_ground_until_it_is_chosen(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    const Event white = {.kind = EVENT_GROUND, .ground = 0xFFFFFF}, black = {.kind = EVENT_GROUND, .ground = 0x101010};
    app_event(a, &white);
    assert_int_equal(app_style(a)->theme, THEME_LIGHT);
    assert_string_equal(app_message(a), "");
    app_event(a, &black);
    assert_int_equal(app_style(a)->theme, THEME_DARK);
    screen_keys(a, "ttt");
    assert_int_equal(app_style(a)->theme, THEME_MONO);
    app_event(a, &white);
    assert_int_equal(app_style(a)->theme, THEME_MONO);
    assert_true(style_on_light(app_style(a)));
    app_free(a);
    a = screen_new(NULL);
    assert_false(status_is_ok(&(Status[]){app_command(a, "theme red")}[0]));
    app_event(a, &white); /* nothing was chosen */
    assert_int_equal(app_style(a)->theme, THEME_LIGHT);
    app_free(a);
}

static void themes_and_maps_go_round(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    for (int i = 0; i < THEME_COUNT; i++) screen_keys(a, "t");
    assert_int_equal(app_style(a)->theme, THEME_DARK);
    screen_keys(a, "m");
    assert_int_equal(app_style(a)->map, MAP_CIVIDIS);
    assert_ok(app_command(a, "map gray"));
    assert_int_equal(app_style(a)->map, MAP_GRAY);
    app_free(a);
}

/* What was said goes when a key goes on; an error stays for a moment, so that a key held down does not hide it. */
static void messages_make_room_for_the_keys(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "m");
    screen_expect(a, "colour map");
    screen_keys(a, "l");
    assert_string_equal(app_message(a), "");
    clock_freeze(1000);
    screen_keys(a, ":theme red<Enter>");
    screen_expect(a, "themes are");
    clock_freeze(1001);
    screen_keys(a, "l");
    screen_expect(a, "themes are");
    clock_freeze(1003);
    screen_keys(a, "l");
    assert_string_equal(app_message(a), "");
    screen_expect(a, "q quit");
    screen_keys(a, "z:theme red<Enter>");
    clock_freeze(1010);
    screen_keys(a, "<Esc>"); /* takes the error away, and stays in the pane */
    assert_string_equal(app_message(a), "");
    screen_refuse(a, "2 attention");
    app_event(a, &(Event){.kind = EVENT_NONE});
    screen_keys(a, ":theme red<Enter>");
    clock_freeze(1020);
    app_event(a, &(Event){.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .x = 5, .y = 5});
    assert_string_equal(app_message(a), "");
    clock_freeze(-1);
    app_free(a);
}

static void masked_cells_are_hidden_not_zero(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2z");
    assert_ok(app_command(a, "cursor query=1 key=3"));
    screen_expect(a, "the (1) may not look at near");
    screen_expect(a, "Hidden: the key comes after the query.");
    app_free(a);
    FixtureSpec p = fixture_spec();
    p.window = 2;
    a = screen_new(&p);
    screen_keys(a, "2z");
    assert_ok(app_command(a, "cursor query=5 key=1"));
    screen_expect(a, "outside the window");
    app_free(a);
}

/* --- completion --- */

static int complete_count(Complete *c, const char *line, const char *item) {
    const char *const *items;
    size_t from;
    int n = complete_line(c, line, strlen(line), &items, &from), found = 0;
    for (int i = 0; i < n; i++) found += !strcmp(items[i], item);
    return found;
}

static void commands_and_arguments_are_completed(void **unused) {
    (void)unused;
    Complete *c = complete_new(app_commands());
    static const struct {
        const char *line, *item;
    } rows[] = {{"th", "theme"},
                {"se", "seek"},
                {"sta", "stage"},
                {"pane at", "attention"},
                {"pane ", "next"},
                {"theme ", "light"},
                {"map ci", "cividis"},
                {"stage ", "mix"},
                {"axis ", "log"},
                {"watch ", "attention"},
                {"watch tokens ne", "next"},
                {"experiment text", "text.batch"},
                {"experiment text.batch bl", "block="},
                {"experiment text.batch pad=", "pad=left"},
                {"decode ", "run"},
                {"token ", "back"},
                {"cursor pa", "page-up"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (complete_count(c, rows[i].line, rows[i].item) != 1)
            fail_msg("'%s' does not offer %s once", rows[i].line, rows[i].item);
    }
    assert_int_equal(complete_count(c, "theme x", "light"), 0);
    assert_int_equal(complete_count(c, "prompt \"the d", "dark"), 0);
    complete_free(c);
}

/* The second spotlight in the train pane: the column of the step and its numbers; without such a cursor there is none.
 */
static void the_spotlight_follows_the_step(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "1z");
    screen_expect(a, "all steps");
    screen_keys(a, "i");
    screen_expect(a, "no cursor shows in this pane");
    screen_keys(a, "<Left><Left>i");
    Canvas *c = canvas_new(120, 40, GLYPHS_HALF);
    app_draw(a, c);
    int curve = 0, dim = 0;
    for (int y = 2; y < 36; y++)
        for (int x = 1; x < 88; x++) {
            curve += canvas_cell(c, x, y)->role == STYLE_MODEL;
            dim += canvas_cell(c, x, y)->role == STYLE_DIM;
        }
    assert_in_range(curve, 1, 12); /* at the step, and nowhere else */
    assert_true(dim > 1000);
    canvas_free(c);
    screen_expect(a, "step under the cursor");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_is_in_two_tables),
        cmocka_unit_test(what_does_not_show_is_counted),
        cmocka_unit_test(help_holds_every_key_and_every_command),
        cmocka_unit_test(refusals_are_sentences),
        cmocka_unit_test(the_cursor_is_one_for_all),
        cmocka_unit_test(views_and_panes),
        cmocka_unit_test(the_theme_follows_the_ground_until_it_is_chosen),
        cmocka_unit_test(themes_and_maps_go_round),
        cmocka_unit_test(messages_make_room_for_the_keys),
        cmocka_unit_test(masked_cells_are_hidden_not_zero),
        cmocka_unit_test(commands_and_arguments_are_completed),
        cmocka_unit_test(the_spotlight_follows_the_step),
    };
    return cmocka_run_group_tests(tests, screen_enter_folder, screen_leave_folder);
}
