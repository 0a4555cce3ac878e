/* Panes where the room is short: what does not show is counted, marked, or another key away, and what matters most
 * stays. */
#include "expect.h"

#include "beam_list.h"
#include "catalog.h"
#include "draw.h"
#include "fixture.h"
#include "reading.h"
#include "screen.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whatever the size and the head: its number stands between two brackets, with the sign that it is off. */
static void a_head_that_is_off_is_bracketed(void **unused) {
    (void)unused;
    static const struct { int w, h; } sizes[] = {{80, 24}, {100, 30}, {120, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int head = 0; head < 8; head++) {
            FixtureSpec p = fixture_spec();
            p.head_off = head + 1;
            App *a = screen_new(&p);
            char line[40], want[16];
            snprintf(line, sizeof line, "cursor layer=%d head=%d", head / 4 + 1, head % 4 + 1);
            assert_ok(app_command(a, line));
            assert_ok(app_command(a, "pane attention"));
            snprintf(want, sizeof want, "[%d\xC3\x97]", head % 4 + 1);
            Str text;
            str_init(&text);
            screen_text(a, sizes[i].w, sizes[i].h, &text);
            if (!strstr(text.s, want)) fail_msg("%dx%d, %s:\n%s", sizes[i].w, sizes[i].h, want, text.s);
            str_done(&text);
            app_free(a);
        }
}

/* The row that holds the open tab and how many rows of its table show. */
static void check_tabs(App *a, int w, const char *tab) {
    Str text;
    char open[64];
    str_init(&text);
    screen_text(a, w, 24, &text);
    snprintf(open, sizeof open, "[%s]", tab);
    char *row = strstr(text.s, open);
    if (!row) fail_msg("%d columns: no %s in\n%s", w, open, text.s);
    *strchr(row, '\n') = '\0';
    const char *rows = strstr(row, "\xE2\x80\x93"); /* "1–9 of 70" */
    if (rows && !(rows[-1] == '1' && rows[-2] == ' ')) fail_msg("%d columns: %s", w, row);
    str_done(&text);
}

static void tabs_leave_room_for_the_rows(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane lab"));
    assert_ok(app_command(a, "find arch.account"));
    screen_keys(a, "zR");
    assert_true(app_wait_jobs(a, 60));
    app_tick(a);
    const CatalogEntry *e = catalog_find("arch.account");
    int shown = 0;
    for (int tab = 0; tab < catalog_tables(e); tab++) {
        char line[64];
        snprintf(line, sizeof line, "results %s", e->tables[tab].name);
        Status there = app_command(a, line); /* some are there on request only */
        if (!status_is_ok(&there)) continue;
        shown++;
        for (int w = 40; w <= 130; w++) check_tabs(a, w, e->tables[tab].name);
    }
    assert_true(shown > 2);
    app_free(a);
}

/* What stands beside the list on an 80 x 24 screen, the lines put together again with blanks between words. */
static void text_beside_the_list(App *a, Str *out) {
    Str text;
    str_init(&text);
    str_clear(out);
    screen_text(a, 80, 24, &text);
    for (char *line = strtok(text.s, "\n"); line; line = strtok(NULL, "\n")) {
        int at = 0;
        while (*line && at++ < 25) line += utf8_decode(line, strlen(line), &(uint32_t){0});
        for (char *word = line; *word; word++)
            if (*word != ' ' || (out->len > 0 && out->s[out->len - 1] != ' ')) str_addf(out, "%c", *word);
        while (out->len > 0 && strchr(" \x82\x94\xE2", out->s[out->len - 1])) out->s[--out->len] = '\0'; /* the frame */
        str_add(out, " ");
    }
    str_done(&text);
}

/* An explanation shows whole, or says which key shows the rest of it. */
static void explanations_are_not_cut_silently(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Str text;
    int cut = 0;
    str_init(&text);
    screen_keys(a, ":pane lab<Enter>z");
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogEntry *e = catalog_at(i);
        char line[64];
        snprintf(line, sizeof line, "experiment %s", e->id);
        assert_ok(app_command(a, line));
        text_beside_the_list(a, &text);
        if (strstr(text.s, e->see) && strstr(text.s, e->title)) continue;
        bool said = strstr(text.s, "…");
        if (!strstr(text.s, e->see)) said = strstr(text.s, "… w shows all"), cut++;
        if (!said) fail_msg("%s is cut:\n%s", e->id, text.s);
        screen_keys(a, "w");
        text_beside_the_list(a, &text);
        if (!strstr(text.s, e->see) || !strstr(text.s, e->title)) fail_msg("%s is cut by w:\n%s", e->id, text.s);
        screen_keys(a, "w");
    }
    assert_true(cut > 0);
    str_done(&text);
    app_free(a);
}

enum { PATHS = 2, WORDS = 6 };

/* PATHS of WORDS, each from the root on, in a list of W columns. */
static void draw_paths(const char *const word[PATHS][WORDS], TreeState end, int w, Str *out) {
    TreeNode node[PATHS * WORDS];
    for (int i = 0; i < PATHS * WORDS; i++)
        node[i] = (TreeNode){.parent = i % WORDS ? i - 1 : -1,
                             .depth = i % WORDS + 1,
                             .label = word[i / WORDS][i % WORDS],
                             .state = (i + 1) % WORDS ? TREE_KEPT : end,
                             .value = -1 - i / WORDS,
                             .truth = (double)NAN};
    BeamReading r = {.nodes = {.node = node, .nodes = PATHS * WORDS, .depth = WORDS, .best = -1}};
    r.drawn =
        (Tree){.node = node, .nodes = PATHS * WORDS, .depth = WORDS, .value_label = "log p", .best = -1, .cursor = -1};
    Canvas *c = canvas_new(w, 3, GLYPHS_HALF);
    str_clear(out);
    beam_draw_list(&r, c, (Rect){0, 0, w, 3});
    canvas_dump(c, false, out);
    canvas_free(c);
}

/* Where two paths are too long for the list and end alike, what is left out is not where they differ: neither the first
 * word, nor the end that the mark says. */
static void leaves_of_a_list_are_told_apart(void **unused) {
    (void)unused;
    static const char *const pruned[PATHS][WORDS] = {{"every", "cat", "sleeps", "in", "the", "field"},
                                                     {"the", "cat", "sleeps", "in", "the", "field"}},
                             *const finished[PATHS][WORDS] = {{"grass", "is", "here", "every", "day", "</s>"},
                                                              {"corn", "is", "here", "every", "day", "</s>"}};
    Str text;
    str_init(&text);
    draw_paths(pruned, TREE_PRUNED, 28, &text);
    assert_non_null(strstr(text.s, "✂ every … the field   -1.000"));
    assert_non_null(strstr(text.s, "✂ the … in the field  -2.000"));
    draw_paths(finished, TREE_FINISHED, 20, &text);
    assert_non_null(strstr(text.s, "● grass …     -1.000"));
    assert_non_null(strstr(text.s, "● corn …      -2.000"));
    str_done(&text);
}

/* A long turn beside a lesson is rounded, not cut. */
static void turns_are_whole_numbers(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, ":wall lesson rope<Enter>");
    Str text;
    str_init(&text);
    for (int w = 60; w <= 120; w++) {
        str_clear(&text);
        screen_text(a, w, 24, &text);
        const char *at = strstr(text.s, "↻ 19,");
        if (at && strncmp(at, "↻ 19,869", strlen("↻ 19,869"))) fail_msg("%d columns:\n%s", w, text.s);
    }
    str_done(&text);
    app_free(a);
}

/* A test of long ago does not pass for one of this step. */
static void old_tests_have_their_step(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_refuse(a, "at step");
    app_free(a);
    p.step = p.head = 20;
    a = screen_new(&p);
    screen_expect(a, "perplexity 45.354 at step 0");
    screen_expect(a, "│perplexity 45.354 at step 0"); /* in its pane, too */
    assert_ok(app_command(a, "present on"));
    screen_expect(a, "at step");
    screen_refuse(a, "over the floor");
    app_free(a);
}

/* Options of an experiment that have no room are counted. */
static void options_that_do_not_show_are_counted(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, ":pane lab<Enter>z:experiment arch.ablate<Enter>");
    Str text;
    str_init(&text);
    screen_text(a, 80, 24, &text);
    assert_non_null(strstr(text.s, "1–7 of "));
    str_done(&text);
    app_free(a);
}

/* A table that is too wide shows its other columns one after the other. */
static void wide_tables_scroll_to_the_right(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, ":pane lab<Enter>z:experiment arch.cards<Enter>R");
    assert_true(app_wait_jobs(a, 60));
    app_tick(a);
    assert_ok(app_command(a, "results cards"));
    const CatalogEntry *e = catalog_find("arch.cards");
    const Column *column = e->tables[0].columns;
    int columns = 0;
    while (column[columns].name) columns++;
    Str text;
    str_init(&text);
    screen_text(a, 80, 24, &text);
    assert_null(strstr(text.s, column[columns - 1].name));
    for (int i = 0; i < columns + 3; i++) screen_keys(a, "+");
    str_clear(&text);
    screen_text(a, 80, 24, &text);
    assert_non_null(strstr(text.s, column[columns - 1].name));
    for (int i = 1; i < columns; i++) screen_keys(a, "-");
    str_clear(&text);
    screen_text(a, 80, 24, &text);
    assert_non_null(strstr(text.s, column[0].name));
    str_done(&text);
    app_free(a);
}

/* Seven words of five columns: all rows of the map show, though tokens stand above it in two rows. */
static void a_map_with_wide_words_shows_all_rows(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.prompt_tokens = p.position = 7;
    App *a = screen_new(&p);
    screen_keys(a, "2z");
    Str text;
    str_init(&text);
    screen_text(a, 80, 24, &text);
    const char *at = text.s;
    for (int i = 0; i < 7; i++) { /* one below the other at the left edge */
        char token[READING_TOKEN], plain[READING_TOKEN + 16], here[READING_TOKEN + 16];
        reading_token(app_snapshot(a), i, token);
        (void)snprintf(plain, sizeof plain, "│ %s ", token);
        (void)snprintf(here, sizeof here, "│▸%s ", token);
        const char *row = strstr(at, plain), *cursor = strstr(at, here);
        if (!row && !cursor) fail_msg("row %d, %s, does not show:\n%s", i, token, text.s);
        at = (row && (!cursor || row < cursor) ? row : cursor) + 1;
    }
    assert_null(strstr(text.s, "/7")); /* nothing is scrolled */
    str_done(&text);
    app_free(a);
}

/* In a narrow pane the stage that is shown is there, whichever it is. */
static void the_stage_that_is_shown_has_room(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2z");
    static const char *const names[] = {"[weights]", "[mix]", "[scores]", "[scaled]", "[masked]"};
    for (int i = 0; i < 5; i++) {
        Str text;
        str_init(&text);
        screen_text(a, 40, 12, &text);
        if (!strstr(text.s, names[i])) fail_msg("%s is not in:\n%s", names[i], text.s);
        str_done(&text);
        screen_keys(a, "s");
    }
    app_free(a);
}

/* Windows of more layers than have room: there are others to the left or to the right. */
static void windows_that_do_not_show_are_marked(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.layers = 8, p.window = 3;
    App *a = screen_new(&p);
    screen_keys(a, ":pane mask<Enter>z");
    Str text;
    str_init(&text);
    screen_text(a, 80, 24, &text);
    assert_non_null(strstr(text.s, "[L1 3]  L2 3   L3 3   L4 3   L5 3 …"));
    screen_keys(a, ">>>>>>>");
    str_clear(&text);
    screen_text(a, 80, 24, &text);
    assert_non_null(strstr(text.s, "… L5 3   L6 3   L7 3  [L8 3] "));
    str_done(&text);
    app_free(a);
}

/* The weights of a long text are made when they are asked for: nobody asks for those of all layers. */
static void long_texts_have_no_list_of_heads(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "2z");
    screen_expect(a, "where each head looks most from cat");
    Snapshot *s = fixture_snapshot(&p);
    for (int layer = 0; layer < p.layers; layer++)
        snapshot_add_field(s, field_new(3, (int[]){p.heads, p.tokens, p.tokens}, "attention.%d.blocks", layer));
    app_show(a, s);
    snapshot_unref(s);
    screen_refuse(a, "where each head looks most");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_is_off_is_bracketed),
        cmocka_unit_test(tabs_leave_room_for_the_rows),
        cmocka_unit_test(explanations_are_not_cut_silently),
        cmocka_unit_test(leaves_of_a_list_are_told_apart),
        cmocka_unit_test(turns_are_whole_numbers),
        cmocka_unit_test(old_tests_have_their_step),
        cmocka_unit_test(options_that_do_not_show_are_counted),
        cmocka_unit_test(wide_tables_scroll_to_the_right),
        cmocka_unit_test(a_map_with_wide_words_shows_all_rows),
        cmocka_unit_test(the_stage_that_is_shown_has_room),
        cmocka_unit_test(windows_that_do_not_show_are_marked),
        cmocka_unit_test(long_texts_have_no_list_of_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
