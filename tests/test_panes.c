/* Every pane in panes.def: inside its rectangle at every size, no key or click breaks it, and what it exports is what
 * it shows. */
#include "expect.h"

#include "beam_list.h"
#include "catalog.h"
#include "draw.h"
#include "fixture.h"
#include "format.h"
#include "keymap.h"
#include "mem.h"
#include "next_view.h"
#include "reading.h"
#include "rope_view.h"
#include "screen.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARK = 0x2588, MARGIN = 2 };

typedef struct {
    const PaneType *type;
    void *state;
    Cursor cursor;
} Stand;

static Stand stand_new(int pane) {
    Stand s = {.type = pane_at(pane), .cursor = {.query = 5, .key = 2, .step = -1}};
    s.state = mem_zero(1, s.type->state_size > 0 ? s.type->state_size : 1);
    if (s.type->init) s.type->init(s.state);
    return s;
}

static void stand_free(Stand *s) {
    if (s->type->done) s->type->done(s->state);
    mem_free(s->state);
}

static Snapshot *snapshot_number(int i) {
    FixtureSpec p = fixture_spec();
    if (i == 0) return fixture_empty();
    if (i == 2) p.tokens = 24, p.prompt_tokens = 6, p.position = 24, p.layers = 5, p.heads = 12, p.kv_heads = 12;
    if (i == 3) p.state = RUN_DIVERGED, p.softcap = 5, p.window = 3, p.truth = false, p.head_dim = 2;
    if (i == 4)
        p.step = 0, p.head = 0, p.tokens = 1, p.prompt_tokens = 1, p.position = 1, p.layers = 1, p.heads = 1,
        p.kv_heads = 1;
    if (i == 5) p.step = 3, p.head = 3, p.pos = "learned";
    if (i == 6) p.pos = "none";
    if (i == 7) p.head_dim = 128, p.window = 4;
    return fixture_snapshot(&p);
}
enum { SNAPSHOTS = 8 };

/* Draws in the middle of a marked canvas; no mark outside of the pane's rectangle may change. */
static void draw_guarded(const Stand *s, const Snapshot *snapshot, Detail detail, int w, int h, Glyphs glyphs) {
    Canvas *c = canvas_new(w + 2 * MARGIN, h + 2 * MARGIN, glyphs);
    canvas_fill(c, (Rect){0, 0, c->w, c->h}, MARK, STYLE_ERROR, ATTRIBUTE_NONE);
    uint32_t mark = canvas_cell(c, 0, 0)->ch; /* as this canvas shows it */
    Canvas view = canvas_view(c, (Rect){MARGIN, MARGIN, w, h});
    canvas_clear(&view);
    Cursor cursor = s->cursor;
    reading_clamp(snapshot, &cursor);
    PaneContext x = {.snapshot = snapshot, .cursor = &cursor, .state = s->state, .detail = detail, .focus = true};
    s->type->draw(&x, &view);
    for (int y = 0; y < c->h; y++) {
        for (int i = 0; i < c->w; i++) {
            bool outside = y < MARGIN || y >= MARGIN + h || i < MARGIN || i >= MARGIN + w;
            const Cell *cell = canvas_cell(c, i, y);
            if (outside && (cell->ch != mark || cell->role != STYLE_ERROR)) {
                fail_msg("%s drew outside of %d x %d, detail %d, at %d, %d", s->type->name, w, h, (int)detail,
                         i - MARGIN, y - MARGIN);
            }
        }
    }
    canvas_free(c);
}

static void panes_stay_inside_at_every_size(void **unused) {
    (void)unused;
    static const int widths[] = {1, 2, 3, 5, 8, 12, 20, 26, 33, 40, 50, 66, 70, 76, 80, 100, 120, 200, 300};
    static const int heights[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 24, 30, 40, 60, 100};
    for (int pane = 0; pane < pane_count(); pane++) {
        Stand s = stand_new(pane);
        for (int i = 0; i < SNAPSHOTS; i++) {
            Snapshot *snapshot = snapshot_number(i);
            for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
                for (size_t h = 0; h < sizeof heights / sizeof heights[0]; h++) {
                    for (int d = DETAIL_WALL; d <= DETAIL_PRESENT; d++) {
                        if (EXPECT_SANITIZER && (w + h + (size_t)i) % 3 != (size_t)d) continue; /* by turns */
                        draw_guarded(&s, snapshot, (Detail)d, widths[w], heights[h], GLYPHS_HALF);
                    }
                }
            }
            draw_guarded(&s, snapshot, DETAIL_FOCUS, 80, 24, GLYPHS_ASCII);
            draw_guarded(&s, snapshot, DETAIL_FOCUS, 80, 24, GLYPHS_BRAILLE);
            snapshot_unref(snapshot);
        }
        stand_free(&s);
    }
}

/* Everything that can be asked of a pane, in every state that its own keys lead to. */
static void ask_everything(Stand *s, const Snapshot *snapshot, Detail detail) {
    reading_clamp(snapshot, &s->cursor);
    PaneCall call = {.state = s->state, .cursor = &s->cursor, .snapshot = snapshot, .detail = detail};
    for (int m = MOVE_UP; m <= MOVE_LAST && s->type->move; m++) {
        s->type->move(&call, (Move)m, 1);
        s->type->move(&call, (Move)m, 1000);
        reading_clamp(snapshot, &s->cursor);
    }
    if (s->type->enter) s->type->enter(&call);
    if (s->type->find) s->type->find(&call, "cat");
    if (s->type->find) s->type->find(&call, "12");
    Canvas *like = canvas_new(80, 24, GLYPHS_HALF);
    for (int y = 0; y < 24 && s->type->click; y += 3) {
        for (int x = 0; x < 80; x += 7) s->type->click(&call, like, x, y);
    }
    canvas_free(like);
    draw_guarded(s, snapshot, detail, 80, 24, GLYPHS_HALF);
    if (s->type->tick) s->type->tick(s->state);
    if (s->type->subtitle) {
        char title[160] = "";
        PaneContext x = {
            .snapshot = snapshot, .cursor = &s->cursor, .state = s->state, .detail = detail, .focus = true};
        s->type->subtitle(&x, title, sizeof title);
        assert_true(title[0] != '\0' || reading_tokens(snapshot) == 0);
    }
    for (const KeyRow *row = s->type->keys; row && row->key; row++) {
        bool found;
        call.command[0] = '\0';
        if (!strcmp(row->command, "start")) continue; /* experiments have their own test */
        Status status = command_run(s->type->commands, &call, row->command, &found);
        assert_true(found);
        (void)status; /* a refusal is an answer */
        draw_guarded(s, snapshot, detail, 80, 24, GLYPHS_HALF);
    }
    if (s->type->escape) s->type->escape(&call);
}

static void nothing_that_is_asked_breaks_a_pane(void **unused) {
    (void)unused;
    for (int pane = 0; pane < pane_count(); pane++) {
        for (int i = 0; i < SNAPSHOTS; i++) {
            Snapshot *snapshot = snapshot_number(i);
            Stand s = stand_new(pane);
            for (int round = 0; round < 4; round++) ask_everything(&s, snapshot, (Detail)(round % 3));
            Snapshot *other = snapshot_number((i + 1) % SNAPSHOTS); /* the run changed under its state */
            ask_everything(&s, other, DETAIL_FOCUS);
            snapshot_unref(other);
            stand_free(&s);
            snapshot_unref(snapshot);
        }
    }
}

static void panes_say_what_they_are(void **unused) {
    (void)unused;
    for (int i = 0; i < pane_count(); i++) {
        const PaneType *p = pane_at(i);
        assert_int_equal(pane_find(p->name), i);
        assert_true(strlen(p->title) > 0 && strlen(p->about) > 40 && strlen(p->empty) > 20);
        assert_true(p->min_w > 0 && p->min_h > 0 && p->weight >= 1 && p->weight <= 10);
        for (const Command *c = p->commands; c && c->name; c++) assert_true(strlen(c->help) > 4);
        for (const KeyRow *row = p->keys; row && row->key; row++) {
            Key k;
            assert_int_equal(key_parse(row->key, &k), strlen(row->key));
            assert_non_null(command_find(p->commands, row->command));
            assert_non_null(row->help);
        }
    }
    assert_int_equal(pane_find("no such pane"), -1);
}

/* The exported numbers, written as the pane writes them, stand on the screen. */
static void the_next_words_that_are_exported_are_shown(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane sample"));
    screen_keys(a, "z");
    PaneContext x = {.snapshot = app_snapshot(a)};
    Table *tables[PANE_TABLES];
    int n = pane_at(pane_find("sample"))->tables(&x, tables);
    assert_true(n >= 3);
    assert_string_equal(table_name(tables[0]), "next");
    for (long i = 0; i < table_rows(tables[0]); i++) {
        screen_expect(a, table_text(tables[0], i, table_find(tables[0], "token")));
        screen_expect(a, format_probability(table_real(tables[0], i, table_find(tables[0], "model_p"))).s);
        screen_expect(a, format_probability(table_real(tables[0], i, table_find(tables[0], "true_p"))).s);
    }
    for (int i = 0; i < n; i++) table_free(tables[i]);
    app_free(a);
}

static void the_curve_that_is_exported_is_shown_under_the_cursor(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "1z");
    PaneContext x = {.snapshot = app_snapshot(a)};
    Table *tables[PANE_TABLES];
    int n = pane_at(pane_find("train"))->tables(&x, tables);
    assert_int_equal(n, 2);
    static const long steps[] = {1, 17, 640, 1240};
    for (int i = 0; i < 4; i++) {
        char line[40];
        snprintf(line, sizeof line, "cursor step=%ld", steps[i]);
        assert_ok(app_command(a, line));
        long row = reading_row_of_step(tables[0], steps[i]);
        screen_expect(a, format_fixed(table_real(tables[0], row, table_find(tables[0], "loss")), 4).s);
        screen_expect(a, format_fixed(table_real(tables[0], row, table_find(tables[0], "grad_norm")), 3).s);
        screen_expect(a, format_small(table_real(tables[0], row, table_find(tables[0], "learning_rate"))).s);
    }
    for (int i = 0; i < n; i++) table_free(tables[i]);
    app_free(a);
}

/* On a wall there is no room for both names: what B differs by is whole. */
static void the_other_run_is_called_by_what_differs(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.versus = 'B', p.rival = "window=2";
    App *a = screen_new(&p);
    screen_expect(a, " A  ━━ ▸B window=2");
    app_free(a);
}

/* Large counts have their commas, also those of scores in vain. */
static void scores_in_vain_are_counted(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.prompt_tokens = p.position = 64;
    App *a = screen_new(&p);
    assert_ok(app_command(a, "pane mask"));
    screen_keys(a, "z");
    screen_expect(a, " 4,096  2,016 in vain"); /* 64 * 64, and 64 * 63 / 2 of them hidden */
    app_free(a);
}

static void a_model_from_a_file_has_no_curve(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.no_curve = true;
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "This model was read at step 1,240");
    app_free(a);
    p.step = p.head = 0;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "The loss of every training step will appear here");
    app_free(a);
}

/* The row to come has its word, however short the tokens are. */
static void the_next_row_of_the_cache_is_named(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.prompt_tokens = p.position = 1, p.letters = true;
    App *a = screen_new(&p);
    assert_ok(app_command(a, "pane cache"));
    screen_keys(a, "z");
    screen_expect(a, " · 1 token by prefill");
    screen_expect(a, "▸p0 A ");
    screen_expect(a, " next ");
    app_free(a);
}

static void the_attention_that_is_exported_is_shown(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2z");
    assert_ok(app_command(a, "cursor layer=2 head=3"));
    Cursor cursor = {.layer = 1, .head = 2};
    PaneContext x = {.snapshot = app_snapshot(a), .cursor = &cursor};
    Table *tables[PANE_TABLES];
    int n = pane_at(pane_find("attention"))->tables(&x, tables), rows = 0;
    assert_true(n >= 1);
    const Table *t = tables[0];
    for (long i = 0; i < table_rows(t); i++) {
        int query = (int)table_int(t, i, table_find(t, "query")), key = (int)table_int(t, i, table_find(t, "key"));
        double weight = table_real(t, i, table_find(t, "weight"));
        if (key > query) {
            assert_true(weight == 0);
            continue;
        }
        char line[40];
        snprintf(line, sizeof line, "cursor query=%d key=%d", query, key);
        assert_ok(app_command(a, line));
        screen_expect(a, format_fixed(weight, 4).s);
        screen_expect(a, format_fixed(table_real(t, i, table_find(t, "score")), 4).s);
        rows++;
    }
    assert_int_equal(rows, 21);
    for (int i = 0; i < n; i++) table_free(tables[i]);
    app_free(a);
}

/* Every pair's angle, the product here and further on, and the vectors. */
static void the_rotations_that_are_exported_are_shown(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane rope"));
    screen_keys(a, "z");
    assert_ok(app_command(a, "cursor layer=2 head=3 query=5 key=2"));
    RopeState state = {.pairing = -1, .shift = 100};
    Cursor cursor = {.layer = 1, .head = 2, .query = 5, .key = 2};
    PaneContext x = {.snapshot = app_snapshot(a), .cursor = &cursor, .state = &state};
    Table *tables[PANE_TABLES];
    int n = pane_at(pane_find("rope"))->tables(&x, tables);
    assert_int_equal(n, 4);
    const Table *hands = tables[0], *vectors = tables[1], *shift = tables[3];
    for (long i = 0; i < table_rows(hands); i++) {
        double angle = table_real(hands, i, table_find(hands, "query_angle"));
        screen_expect(a, format_fixed(angle, angle < 0.01 ? 4 : 2).s);
    }
    for (long i = 0; i < table_rows(shift); i++) {
        screen_expect(a, format_fixed(table_real(shift, i, table_find(shift, "score")), 4).s);
        screen_expect(a, format_fixed(table_real(shift, i, table_find(shift, "score_shifted")), 4).s);
    }
    screen_keys(a, "<Enter>");
    for (long i = 0; i < table_rows(vectors); i++)
        screen_expect(a, format_fixed(table_real(vectors, i, table_find(vectors, "after")), 4).s);
    for (int i = 0; i < n; i++) table_free(tables[i]);
    app_free(a);
}

static void words_stand_in_the_order_of_truth_or_model(void **unused) {
    (void)unused;
    Snapshot *s = fixture_plain();
    const Table *next = snapshot_table(s, "next");
    for (int by_model = 0; by_model < 2; by_model++) {
        NextOrder o = next_order(next, by_model);
        int column = table_find(next, by_model ? "model_p" : "true_p");
        for (long i = 1; i < o.n; i++)
            assert_true(table_real(next, o.row[i - 1], column) >= table_real(next, o.row[i], column));
        assert_true(o.truth);
        next_order_done(&o);
    }
    snapshot_unref(s);
}

/* Whatever the look, the pane of the next word says whose which bar and number is, where it has a line for it. */
static void the_next_word_has_a_legend(void **unused) {
    (void)unused;
    static const struct { int w, h; } sizes[] = {{60, 20}, {70, 22}, {80, 24}, {110, 30}, {120, 40}, {240, 67}};
    App *a = screen_new(NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int look = SCREEN_COLOUR; look <= SCREEN_ASCII; look++) {
            Str text;
            str_init(&text);
            screen_text_as(a, sizes[i].w, sizes[i].h, (ScreenLook)look, &text);
            const char *model = strstr(text.s, " model  "), *truth = model ? strstr(model, "truth") : NULL;
            if (!truth || truth - model > 24) fail_msg("%dx%d, look %d:\n%s", sizes[i].w, sizes[i].h, look, text.s);
            str_done(&text);
        }
    app_free(a);
}

/* The two lines of the loss are named at every size that has a line for it. */
static void the_loss_has_a_legend(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    for (int w = 60; w < 130; w += 5) {
        Str text;
        str_init(&text);
        screen_text_as(a, w, 24, SCREEN_ASCII, &text);
        if (!strstr(text.s, "* training") || !strstr(text.s, "o test")) fail_msg("%d columns:\n%s", w, text.s);
        str_done(&text);
    }
    app_free(a);
}

/* "perplexity 2.601  loss": what is not known leaves no gap behind, and no lack of one. */
static void figures_stand_apart(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.truth = false;
    App *a = screen_new(&p);
    Str text;
    str_init(&text);
    screen_text_as(a, 110, 30, SCREEN_COLOUR, &text);
    const char *at = strstr(text.s, "\n\xE2\x94\x82perplexity ");
    assert_non_null(at);
    const char *loss = strstr(at, "loss");
    assert_true(loss[-1] == ' ' && loss[-2] == ' ' && loss[-3] >= '0' && loss[-3] <= '9');
    str_done(&text);
    app_free(a);
}

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

/* Whichever floor it is, the plot and the figures say so; of two runs each test has its step. */
static void floors_and_tests_say_what_they_are_of(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.untested = true;
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, language 0.9145");
    app_free(a);
    p = fixture_spec();
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, part of test 0.9142");
    app_free(a);
    p.whole_test = true;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, whole test 0.9142");
    app_free(a);
    p.versus = 'B';
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "at step 1,100       +7.56 %");
    screen_expect(a, "at step 1,200       +1.76 %");
    app_free(a);
}

/* Each of KEYS, "v model/truth", stands in the key row of PANE alone, or none does. */
static void expect_keys(const FixtureSpec *p, const char *pane, bool offered, const char *const *keys) {
    App *a = screen_new(p);
    Str text;
    char line[32];
    str_init(&text);
    snprintf(line, sizeof line, "pane %s", pane);
    assert_ok(app_command(a, "view focus"));
    assert_ok(app_command(a, line));
    screen_text(a, 240, 40, &text);
    text.s[--text.len] = '\0';
    const char *row = strrchr(text.s, '\n');
    for (; *keys; keys++)
        if (!strstr(row, *keys) == offered) fail_msg("%s: '%s' in%s", pane, *keys, row);
    str_done(&text);
    app_free(a);
}

/* Keys that do nothing as things are do not stand in the key row. */
static void only_keys_that_do_something_are_offered(void **unused) {
    (void)unused;
    static const char *const turns[] = {"f formula", "B base", "P pairing", "+ further", "enter into", NULL};
    static const char *const curve[] = {"a all/recent", "y linear", "c clock", "[ rewind", NULL};
    static const char *const learns[] = {"+ merge", "- back", "r go on", "T to", "u unit", "enter into", NULL};
    static const char *const job[] = {"S stop", "O model", NULL};
    static const char *const trains[] = {"space run", "n step", NULL};
    FixtureSpec p = fixture_spec();
    expect_keys(&p, "rope", true, turns);
    expect_keys(&p, "train", true, curve);
    expect_keys(&p, "train", true, trains);
    expect_keys(&p, "train", false, (const char *const[]){"enter into", NULL}); /* there is no step under the cursor */
    expect_keys(&p, "bpe", true, learns);
    expect_keys(&p, "lab", false, job);
    expect_keys(&p, "lab", true, (const char *const[]){"R run it", "tab pane", NULL});
    expect_keys(&p, "beam", true, (const char *const[]){"v model/truth", NULL});
    expect_keys(&p, "sample", true, (const char *const[]){"v order", NULL});
    expect_keys(&p, "mask", true, (const char *const[]){"- narrower", NULL});
    expect_keys(&p, "mask", false, (const char *const[]){"+ wider", NULL}); /* it has no window */
    p.window = 3;
    expect_keys(&p, "mask", true, (const char *const[]){"+ wider", "- narrower", NULL});
    p.pos = "learned";
    expect_keys(&p, "rope", false, turns);
    expect_keys(&p, "rope", true, (const char *const[]){"tab pane", NULL});
    p.truth = false;
    expect_keys(&p, "beam", false, (const char *const[]){"v model/truth", NULL});
    expect_keys(&p, "sample", false, (const char *const[]){"v order", NULL});
    p.state = RUN_FINISHED, p.head = p.step;
    expect_keys(&p, "train", false, trains);
    p.reads_only = true;
    expect_keys(&p, "train", false, curve);
    expect_keys(&p, "bpe", false, learns);
    expect_keys(&p, "bpe", true, (const char *const[]){"w text", "C corpus", NULL});
}

/* The marks before drawn sentences are explained above them. */
static void marks_of_samples_are_explained(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.samples = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "✗ eats bones .");
    screen_expect(a, "· possible  ~ legal alone  ✗ neither");
    app_free(a);
    p.truth = false; /* as of a text of characters: its tokens stand apart, the prompt's do not */
    a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "  eats bones . "); /* without the words that were there */
    screen_refuse(a, "possible");
    screen_refuse(a, "nats/token");
    screen_expect(a, "distinct       0.6150");
    app_free(a);
}

/* What comes next stands there also where the text does not say where the prompt ends. */
static void pieces_go_on_from_here(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.pieces = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "chasethecateveryday");
    screen_refuse(a, "the-dogs");
    app_free(a);
}

/* Where two paths are too long for the list and end alike, what is left out is not where they differ. */
static void leaves_of_a_list_are_told_apart(void **unused) {
    (void)unused;
    static const char *const rest[] = {"cat", "sleeps", "in", "the", "field"};
    enum { PATHS = 2, WORDS = 6 };
    TreeNode node[PATHS * WORDS];
    for (int path = 0; path < PATHS; path++)
        for (int i = 0; i < WORDS; i++)
            node[path * WORDS + i] = (TreeNode){.parent = i ? path * WORDS + i - 1 : -1,
                                                .depth = i + 1,
                                                .label = i      ? rest[i - 1]
                                                         : path ? "the"
                                                                : "every",
                                                .state = i + 1 < WORDS ? TREE_KEPT : TREE_PRUNED,
                                                .value = -1 - path,
                                                .truth = (double)NAN};
    BeamReading r = {.nodes = {.node = node, .nodes = PATHS * WORDS, .depth = WORDS, .best = -1}};
    r.drawn =
        (Tree){.node = node, .nodes = PATHS * WORDS, .depth = WORDS, .value_label = "log p", .best = -1, .cursor = -1};
    Canvas *c = canvas_new(28, 3, GLYPHS_HALF);
    Str text;
    str_init(&text);
    beam_draw_list(&r, c, (Rect){0, 0, 28, 3});
    canvas_dump(c, false, &text);
    assert_non_null(strstr(text.s, "✂ every … the field   -1.000"));
    assert_non_null(strstr(text.s, "✂ the … in the field  -2.000"));
    str_done(&text);
    canvas_free(c);
}

/* What a pane says of things that are not there: a run, a floor, a truth, a curve. */
static void what_is_not_there_is_not_spoken_of(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "The floor is what the language itself costs");
    screen_keys(a, ":pane sample<Enter>");
    screen_expect(a, "true -3.8653");
    app_free(a);
    p.truth = false;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_refuse(a, "floor");
    screen_keys(a, ":pane sample<Enter>");
    screen_expect(a, "ln p -3.8714");
    screen_refuse(a, "true –");
    app_free(a);
    p.reads_only = true;
    a = screen_new(&p);
    screen_refuse(a, "all steps");
    app_free(a);
    Snapshot *s = fixture_empty();
    SnapshotFacts f = *snapshot_facts(s);
    snapshot_unref(s);
    f.state = RUN_FAILED;
    snprintf(f.failure, sizeof f.failure, "'x.bin' is a folder");
    s = snapshot_new(&f);
    a = app_new(NULL, GLYPHS_HALF, DEPTH_256);
    app_show(a, s);
    snapshot_unref(s);
    screen_keys(a, "1z");
    screen_expect(a, "There is no run: 'x.bin' is a folder");
    screen_refuse(a, "y linear");
    screen_refuse(a, "space run");
    screen_expect(a, "tab pane");
    screen_keys(a, ":pane lab<Enter>");
    char experiments[40];
    (void)snprintf(experiments, sizeof experiments, "%d experiments", catalog_count());
    screen_expect(a, experiments);
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

/* Beside the loss stand the tests up to the step that is looked at, and none of later ones. */
static void tests_up_to_the_step_are_listed(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, " 1,100     2.5427   +1.9 %");
    p.step = 330;
    Snapshot *s = fixture_snapshot(&p);
    app_show(a, s);
    snapshot_unref(s);
    screen_refuse(a, "2.5427");
    screen_expect(a, "   300     2.6660   +6.9 %");
    screen_expect(a, "   200     2.7488  +10.2 %");
    app_free(a);
}

/* Sentences that were drawn from another place are said to be. */
static void samples_say_where_they_begin(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.samples = p.sampled = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "sentences, step 1,240");
    screen_refuse(a, ", elsewhere");
    p.position--;
    Snapshot *s = fixture_snapshot(&p);
    app_show(a, s);
    snapshot_unref(s);
    screen_expect(a, ", elsewhere");
    app_free(a);
}

/* ---- the presenter ---- */

/* Cells of the screen that hold heat, and those of them that tall digits stand on. */
static void count_heat(App *a, int w, int h, int *heat, int *over) {
    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
    app_draw(a, c);
    *heat = *over = 0;
    for (int i = 0; i < w * h; i++) {
        *heat += c->cell[i].map != HEAT_NONE;
        *over += c->cell[i].over;
    }
    canvas_free(c);
}

/* The triangle of six words fills the window, with digits that a hall can read; the small maps grow with it. */
static void the_presented_map_is_large(void **unused) {
    (void)unused;
    static const struct { int w, h, share; } sizes[] = {{80, 24, 20}, {120, 40, 20}, {160, 50, 22}, {240, 67, 24}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        App *a = screen_new(NULL);
        assert_ok(app_command(a, "pane attention"));
        assert_ok(app_command(a, "present on"));
        int heat, over, w = sizes[i].w, h = sizes[i].h;
        count_heat(a, w, h, &heat, &over);
        if (100 * heat < sizes[i].share * w * h) fail_msg("%dx%d: %d %% of it", w, h, 100 * heat / (w * h));
        if (w >= 120) assert_true(over > 21 * 15); /* 21 numbers of tall digits */
        Str text;
        str_init(&text);
        screen_text(a, w, h, &text);
        assert_memory_equal(text.s, " attention \xE2\x94\x80 layer 1 head 1 \xC2\xB7 weights\n", 37);
        str_done(&text);
        app_free(a);
    }
}

/* Values of different width are written in one size, or all as text. */
static void presented_numbers_have_one_size(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane attention"));
    assert_ok(app_command(a, "present on"));
    assert_ok(app_command(a, "stage scores"));
    int heat, over, few = 0, many = 0;
    for (int w = 100; w <= 300; w += 10) {
        count_heat(a, w, 60, &heat, &over);
        few += over == 0;
        many += over > 36 * 8;
        assert_true(over == 0 || over > 36 * 8);
    }
    assert_true(few > 0 && many > 0);
    app_free(a);
}

static int words_shown(const char *screen, const Table *next) {
    int n = 0, token = table_find(next, "token");
    for (long i = 0; i < table_rows(next); i++) {
        char line[64];
        if (table_is_empty(next, i, token)) continue;
        snprintf(line, sizeof line, "\n %s ", table_text(next, i, token));
        n += strstr(screen, line) != NULL;
    }
    return n;
}

/* Few words, the sentence before them, and how far the model is off. */
static void the_presented_next_word_says_little(void **unused) {
    (void)unused;
    static const struct { int w, h; } sizes[] = {{80, 24}, {120, 40}, {240, 67}};
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane sample"));
    assert_ok(app_command(a, "present on"));
    const Table *next = snapshot_table(app_snapshot(a), "next");
    int likely = 0, truth = table_find(next, "true_p"), model = table_find(next, "model_p");
    for (long i = 0; i < table_rows(next); i++)
        likely += table_real(next, i, truth) >= 0.01 || table_real(next, i, model) >= 0.01;
    assert_in_range(likely, 2, 8);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int look = SCREEN_COLOUR; look <= SCREEN_ASCII; look++) {
            Str text;
            str_init(&text);
            screen_text_as(a, sizes[i].w, sizes[i].h, (ScreenLook)look, &text);
            assert_int_equal(words_shown(text.s, next), likely);
            assert_non_null(strstr(text.s, "\n <s> the dogs near the cat "));
            assert_non_null(strstr(text.s, "KL"));
            assert_non_null(strstr(text.s, " truth\n"));
            str_done(&text);
        }
    app_free(a);
}

static void the_presented_loss_names_its_numbers(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "present on"));
    for (int w = 60; w <= 240; w += 20) {
        Str text;
        str_init(&text);
        screen_text(a, w, w / 4 + 5, &text);
        assert_non_null(strstr(text.s, " test perplexity "));
        assert_non_null(strstr(text.s, " over the floor"));
        str_done(&text);
    }
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panes_stay_inside_at_every_size),
        cmocka_unit_test(nothing_that_is_asked_breaks_a_pane),
        cmocka_unit_test(panes_say_what_they_are),
        cmocka_unit_test(the_next_words_that_are_exported_are_shown),
        cmocka_unit_test(the_curve_that_is_exported_is_shown_under_the_cursor),
        cmocka_unit_test(the_other_run_is_called_by_what_differs),
        cmocka_unit_test(scores_in_vain_are_counted),
        cmocka_unit_test(a_model_from_a_file_has_no_curve),
        cmocka_unit_test(the_next_row_of_the_cache_is_named),
        cmocka_unit_test(the_attention_that_is_exported_is_shown),
        cmocka_unit_test(the_rotations_that_are_exported_are_shown),
        cmocka_unit_test(words_stand_in_the_order_of_truth_or_model),
        cmocka_unit_test(a_head_that_is_off_is_bracketed),
        cmocka_unit_test(tabs_leave_room_for_the_rows),
        cmocka_unit_test(explanations_are_not_cut_silently),
        cmocka_unit_test(floors_and_tests_say_what_they_are_of),
        cmocka_unit_test(only_keys_that_do_something_are_offered),
        cmocka_unit_test(marks_of_samples_are_explained),
        cmocka_unit_test(pieces_go_on_from_here),
        cmocka_unit_test(leaves_of_a_list_are_told_apart),
        cmocka_unit_test(what_is_not_there_is_not_spoken_of),
        cmocka_unit_test(options_that_do_not_show_are_counted),
        cmocka_unit_test(wide_tables_scroll_to_the_right),
        cmocka_unit_test(a_map_with_wide_words_shows_all_rows),
        cmocka_unit_test(the_stage_that_is_shown_has_room),
        cmocka_unit_test(samples_say_where_they_begin),
        cmocka_unit_test(long_texts_have_no_list_of_heads),
        cmocka_unit_test(tests_up_to_the_step_are_listed),
        cmocka_unit_test(windows_that_do_not_show_are_marked),
        cmocka_unit_test(the_next_word_has_a_legend),
        cmocka_unit_test(the_presented_map_is_large),
        cmocka_unit_test(presented_numbers_have_one_size),
        cmocka_unit_test(the_presented_next_word_says_little),
        cmocka_unit_test(the_presented_loss_names_its_numbers),
        cmocka_unit_test(the_loss_has_a_legend),
        cmocka_unit_test(figures_stand_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
