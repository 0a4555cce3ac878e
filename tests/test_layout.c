/* Layouts at every size: panes lie inside, do not overlap, fill the body, keep their least size, and the focus is among
 * them. */
#include "expect.h"

#include "layout.h"

#include <string.h>

static const PaneNeed twelve[LAYOUT_MOST] = {
    {30, 6, 6, 0}, {36, 8, 7, 0}, {28, 6, 4, 0}, {26, 6, 3, 0},  {24, 6, 2, 0}, {30, 6, 3, 0},
    {30, 7, 3, 0}, {24, 6, 2, 0}, {26, 6, 2, 0}, {40, 10, 4, 0}, {20, 4, 1, 0}, {26, 6, 10, 0},
};

static int overlap(Rect a, Rect b) {
    int w = (a.x + a.w < b.x + b.w ? a.x + a.w : b.x + b.w) - (a.x > b.x ? a.x : b.x);
    int h = (a.y + a.h < b.y + b.h ? a.y + a.h : b.y + b.h) - (a.y > b.y ? a.y : b.y);
    return w > 0 && h > 0 ? w * h : 0;
}

static bool inside(Rect a, Rect b) {
    return a.x >= b.x && a.y >= b.y && a.w >= 0 && a.h >= 0 && a.x + a.w <= b.x + b.w && a.y + a.h <= b.y + b.h;
}

static void check_bars(const Layout *l, int w, int h) {
    Rect all = {0, 0, w, h};
    const Rect bars[] = {l->title, l->body, l->transport, l->keys};
    int rows = 0;
    for (int i = 0; i < 4; i++) {
        assert_true(inside(bars[i], all));
        assert_int_equal(bars[i].w, w);
        rows += bars[i].h;
    }
    assert_int_equal(rows, h);
}

static void check(const Layout *l, const PaneNeed *need, int focus, int w, int h) {
    bool focus_shown = false;
    int area = 0;
    check_bars(l, w, h);
    assert_in_range(l->count, 1, LAYOUT_MOST);
    for (int i = 0; i < l->count; i++) {
        Rect r = l->place[i].r;
        const PaneNeed *n = &need[l->place[i].pane];
        if (!inside(r, l->body)) fail_msg("%dx%d: pane %d is outside", w, h, l->place[i].pane);
        if (l->count > 1 && (r.w < n->min_w + 2 || r.h < n->min_h + 2))
            fail_msg("%dx%d: pane %d has %dx%d, needs %dx%d", w, h, l->place[i].pane, r.w, r.h, n->min_w + 2,
                     n->min_h + 2);
        for (int k = 0; k < i; k++)
            if (overlap(r, l->place[k].r) > 0 || l->place[k].pane == l->place[i].pane) fail_msg("%dx%d: overlap", w, h);
        area += r.w * r.h;
        focus_shown = focus_shown || l->place[i].pane == focus;
    }
    assert_true(focus_shown);
    if (area != l->body.w * l->body.h) fail_msg("%dx%d: the body is not filled", w, h);
}

static void every_size_holds(void **state) {
    (void)state;
    for (int h = 1; h <= 100; h += h < 40 ? 1 : 3)
        for (int w = 1; w <= 300; w += w < 130 ? 1 : 7)
            for (int view = VIEW_WALL; view <= VIEW_FOCUS; view++)
                for (int n = 1; n <= 5; n += 2) {
                    Layout l;
                    int focus = (w + h) % n;
                    layout_compute(&l, (ViewKind)view, w, h, twelve, n, focus, NULL);
                    check(&l, twelve, focus, w, h);
                }
}

static void twelve_panes_hold(void **state) {
    (void)state;
    static const int sizes[][2] = {{80, 24},  {100, 30},  {120, 40}, {160, 50}, {200, 60},
                                   {240, 67}, {300, 100}, {1, 1},    {300, 6}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int focus = 0; focus < LAYOUT_MOST; focus++) {
            Layout l;
            layout_compute(&l, VIEW_WALL, sizes[i][0], sizes[i][1], twelve, LAYOUT_MOST, focus, NULL);
            check(&l, twelve, focus, sizes[i][0], sizes[i][1]);
        }
}

static int shown(int w, int h, int n) {
    Layout l;
    layout_compute(&l, VIEW_WALL, w, h, twelve, n, 0, NULL);
    return l.count;
}

static void as_many_as_fit(void **state) {
    (void)state;
    assert_true(shown(80, 24, 12) >= 4);
    assert_true(shown(120, 40, 12) >= 10);
    assert_int_equal(shown(240, 67, 12), 12);
    assert_int_equal(shown(30, 10, 12), 1);
    for (int w = 40; w < 300; w++)
        assert_true(shown(w, 50, 12) <= shown(w + 1, 50, 12) + 1); /* never much less for more room */
}

/* In order, the first ones first; those that are hidden do not count; the focused one shows even so. */
static void order_and_hiding(void **state) {
    (void)state;
    Layout l;
    bool hidden[LAYOUT_MOST] = {false, true, true};
    layout_compute(&l, VIEW_WALL, 120, 40, twelve, 5, 2, hidden);
    assert_int_equal(l.count, 4);
    const int want[] = {0, 2, 3, 4};
    for (int i = 0; i < 4; i++) assert_int_equal(l.place[i].pane, want[i]);
    layout_compute(&l, VIEW_SPLIT, 120, 40, twelve, 5, 0, hidden);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.place[1].pane, 3);
    layout_compute(&l, VIEW_SPLIT, 120, 40, twelve, 5, 4, hidden);
    assert_int_equal(l.place[0].pane + l.place[1].pane, 4);
    bool all[LAYOUT_MOST] = {true, true, true, true, true};
    layout_compute(&l, VIEW_SPLIT, 120, 40, twelve, 5, 4, all);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.place[0].pane, 4);
}

/* A wall too small for all keeps the least ranks, still in the order of the table. */
static void rank_decides_who_stays(void **state) {
    (void)state;
    Layout l;
    PaneNeed need[5];
    for (int i = 0; i < 5; i++) need[i] = (PaneNeed){38, 8, 1, 0};
    need[0].rank = need[2].rank = 2;
    layout_compute(&l, VIEW_WALL, 80, 24, need, 5, 3, NULL);
    assert_int_equal(l.count, 4);
    const int want[] = {0, 1, 3, 4};
    for (int i = 0; i < 4; i++) assert_int_equal(l.place[i].pane, want[i]);
    layout_compute(&l, VIEW_WALL, 80, 24, need, 5, 2, NULL); /* the focused one always */
    const int focused[] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) assert_int_equal(l.place[i].pane, focused[i]);
}

static void no_pane_is_a_sliver(void **state) {
    (void)state;
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {240, 67}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int n = 2; n <= 12; n++) {
            Layout l;
            layout_compute(&l, VIEW_WALL, sizes[i][0], sizes[i][1], twelve, n, 0, NULL);
            for (int k = 0; k < l.count; k++) {
                Rect r = l.place[k].r;
                if (r.w > 12 * r.h || r.w < r.h)
                    fail_msg("%d panes at %dx%d: one has %dx%d", n, sizes[i][0], sizes[i][1], r.w, r.h);
            }
        }
}

static void the_transport_gets_a_second_row_where_one_is_short(void **state) {
    (void)state;
    Layout l;
    layout_compute(&l, VIEW_WALL, 80, 24, twelve, 3, 0, NULL);
    assert_int_equal(l.transport.h, 2);
    layout_compute(&l, VIEW_WALL, 120, 24, twelve, 3, 0, NULL);
    assert_int_equal(l.transport.h, 1);
    layout_compute(&l, VIEW_WALL, LAYOUT_LEAST_W, LAYOUT_LEAST_H, twelve, 3, 0, NULL);
    assert_true(l.body.h >= 5);
}

static void a_click_finds_its_pane(void **state) {
    (void)state;
    Layout l;
    layout_compute(&l, VIEW_WALL, 120, 40, twelve, 12, 0, NULL);
    for (int i = 0; i < l.count; i++) {
        Rect r = l.place[i].r;
        assert_int_equal(layout_hit(&l, r.x, r.y), i);
        assert_int_equal(layout_hit(&l, r.x + r.w - 1, r.y + r.h - 1), i);
    }
    assert_int_equal(layout_hit(&l, 0, 0), -1);
    assert_int_equal(layout_hit(&l, 120, 20), -1);
}

static void a_focus_that_is_no_pane_is_a_bug(void **state) {
    (void)state;
    Layout l;
    assert_bug(layout_compute(&l, VIEW_WALL, 80, 24, twelve, 3, 3, NULL));
    assert_bug(layout_compute(&l, VIEW_WALL, 80, 24, twelve, LAYOUT_MOST + 1, 0, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_holds),
        cmocka_unit_test(twelve_panes_hold),
        cmocka_unit_test(as_many_as_fit),
        cmocka_unit_test(order_and_hiding),
        cmocka_unit_test(rank_decides_who_stays),
        cmocka_unit_test(no_pane_is_a_sliver),
        cmocka_unit_test(the_transport_gets_a_second_row_where_one_is_short),
        cmocka_unit_test(a_click_finds_its_pane),
        cmocka_unit_test(a_focus_that_is_no_pane_is_a_bug),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
