/* Every pane in panes.def: inside its rectangle at every size, no key or click breaks it, and what it exports is what
 * it shows. */
#include "expect.h"

#include "draw.h"
#include "fixture.h"
#include "format.h"
#include "mem.h"
#include "reading.h"
#include "rope_view.h"
#include "screen.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panes_stay_inside_at_every_size),
        cmocka_unit_test(nothing_that_is_asked_breaks_a_pane),
        cmocka_unit_test(panes_say_what_they_are),
        cmocka_unit_test(the_next_words_that_are_exported_are_shown),
        cmocka_unit_test(the_curve_that_is_exported_is_shown_under_the_cursor),
        cmocka_unit_test(the_attention_that_is_exported_is_shown),
        cmocka_unit_test(the_rotations_that_are_exported_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
