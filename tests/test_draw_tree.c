/* draw_tree: trees as they must look (golden/tree-*.txt, UPDATE=1), within their rectangle at every size, what is shown
 * when not all fits, and which node is where; tree_table: a table as a tree. */
#include "expect.h"

#include "draw_tree.h"
#include "golden.h"
#include "tree_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NONE ((double)NAN)
#define WIDE "\xE5\x8B\x95\xE7\x89\xA9" /* four columns */

/* A search of width 3 after "the dogs", invented. */
static const TreeNode nodes[] = {
    {-1, 1, "chase", TREE_KEPT, -1.581, -1.674, TREE_GREEDY, 9},
    {-1, 1, "eat", TREE_KEPT, -2.174, -2.185, 0, 3},
    {-1, 1, "near", TREE_KEPT, -1.749, -1.696, 0, 5},
    {-1, 1, "make", TREE_PRUNED, -3.097, -3.283, 0, 1},
    {0, 2, "the", TREE_KEPT, -1.582, -1.674, TREE_GREEDY, 9},
    {1, 2, "bones", TREE_KEPT, -2.339, -2.339, TREE_NEW, 3},
    {2, 2, "the", TREE_KEPT, -1.750, -1.696, 0, 5},
    {0, 2, "apples", TREE_PRUNED, -12.88, -HUGE_VAL, 0, 0},
    {4, 3, "foxes", TREE_KEPT, -3.024, -3.178, TREE_GREEDY, 4},
    {5, 3, "every", TREE_KEPT, -3.144, -3.150, TREE_NEW, 2},
    {4, 3, "hen", TREE_KEPT, -3.321, -3.466, 0, 2},
    {4, 3, "cow", TREE_PRUNED, -3.751, -3.871, 0, 1},
    {9, 4, "day", TREE_KEPT, -3.144, -3.150, TREE_NEW, 2},
    {8, 4, "in", TREE_OPEN, -3.613, -3.766, TREE_GREEDY, 1},
    {8, 4, "every", TREE_OPEN, -3.826, -3.989, 0, 1},
    {10, 4, "in", TREE_PRUNED, -3.956, -4.054, 0, 0},
    {12, 5, "</s>", TREE_FINISHED, -3.145, -3.150, TREE_NEW, 2},
};
enum { NODES = sizeof nodes / sizeof nodes[0] };

static Tree tree(void) {
    return (Tree){.node = nodes,
                  .nodes = NODES,
                  .depth = 5,
                  .root = "dogs",
                  .value_label = "log p",
                  .value_role = STYLE_MODEL,
                  .truth_label = "truth",
                  .best = 16,
                  .cursor = -1};
}

static char *drawn(const Tree *t, int w, int h, Glyphs glyphs, bool styles, int *hidden) {
    Canvas *c = canvas_new(w, h, glyphs);
    int more = draw_tree(c, (Rect){0, 0, w, h}, t).hidden;
    if (hidden) *hidden = more;
    Str s;
    str_init(&s);
    canvas_dump(c, styles, &s);
    canvas_free(c);
    return str_take(&s);
}

static void expect_golden(const char *name, const Tree *t, int w, int h, Glyphs glyphs) {
    char *text = drawn(t, w, h, glyphs, true, NULL);
    golden_check(name, text);
    mem_free(text);
}

static void as_it_must_look(void **state) {
    (void)state;
    Tree t = tree();
    expect_golden("tree", &t, 78, 12, GLYPHS_HALF);
    expect_golden("tree-wide", &t, 160, 12, GLYPHS_HALF);
    expect_golden("tree-narrow", &t, 40, 12, GLYPHS_HALF);
    expect_golden("tree-ascii", &t, 78, 12, GLYPHS_ASCII);
    t.cursor = 11;
    expect_golden("tree-low", &t, 78, 6, GLYPHS_HALF);
    t.depth = 3;
    t.cursor = -1;
    expect_golden("tree-after-3", &t, 78, 12, GLYPHS_HALF);
}

static bool holds(const Tree *t, int w, int h, const char *text) {
    char *all = drawn(t, w, h, GLYPHS_HALF, false, NULL);
    bool found = strstr(all, text) != NULL;
    mem_free(all);
    return found;
}

/* Finished and open ones first, then what died out, then the pruned, the likelier first; the cursor's always. */
static void what_is_left_out(void **state) {
    (void)state;
    Tree t = tree();
    int hidden;
    mem_free(drawn(&t, 78, 12, GLYPHS_HALF, false, &hidden)); /* eight leaves */
    assert_int_equal(hidden, 0);
    assert_true(holds(&t, 78, 12, "apples"));
    mem_free(drawn(&t, 78, 8, GLYPHS_HALF, false, &hidden));
    assert_int_equal(hidden, 1);
    mem_free(drawn(&t, 78, 6, GLYPHS_HALF, false, &hidden)); /* three, and what died out, and one of the pruned */
    assert_int_equal(hidden, 3);
    assert_true(holds(&t, 78, 6, "near") && holds(&t, 78, 6, "make") && !holds(&t, 78, 6, "apples"));
    t.cursor = 7;
    assert_true(holds(&t, 78, 6, "apples") && !holds(&t, 78, 6, "make"));
    t.cursor = -1;
    t.bare = true;
    mem_free(drawn(&t, 78, 12, GLYPHS_HALF, false, &hidden));
    assert_true(hidden == 0 && holds(&t, 78, 12, "near") && !holds(&t, 78, 12, "make"));
    t.bare = false;
    assert_true(holds(&t, 78, 3, "</s>")); /* what is best when not even the open fit */
    t.cursor = 13;
    assert_true(holds(&t, 78, 2, "in"));
    assert_false(holds(&t, 78, 2, "</s>"));
}

/* What was kept at the last step is open there; what is deeper is not there. */
static void after_some_steps(void **state) {
    (void)state;
    Tree t = tree();
    assert_int_equal(draw_tree_state(&t, 8), TREE_KEPT);
    t.depth = 3;
    assert_int_equal(draw_tree_state(&t, 8), TREE_OPEN);
    assert_int_equal(draw_tree_state(&t, 11), TREE_PRUNED);
    assert_int_equal(draw_tree_state(&t, 6), TREE_KEPT);
    assert_true(holds(&t, 78, 12, "foxes") && !holds(&t, 78, 12, "day"));
    t.depth = 1;
    assert_true(holds(&t, 78, 12, "chase") && !holds(&t, 78, 12, "bones"));
    t.depth = 0;
    assert_false(holds(&t, 78, 12, "chase"));
}

/* Where the label of a node begins there is that node, and nothing beside the tree. */
static void nodes_are_found_where_they_are_drawn(void **state) {
    (void)state;
    static const struct { int w, h; } sizes[] = {{78, 12}, {160, 14}, {78, 7}, {40, 12}, {30, 5}, {24, 4}};
    Tree t = tree();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (t.cursor = -1; t.cursor < NODES; t.cursor++) {
            int w = sizes[s].w, h = sizes[s].h, found = 0;
            Canvas *c = canvas_new(w + 4, h + 4, GLYPHS_HALF);
            Rect r = {2, 3, w, h};
            (void)draw_tree(c, r, &t);
            for (int y = 0; y < c->h; y++)
                for (int x = 0; x < c->w; x++) {
                    int at = draw_tree_at(c, r, &t, x, y);
                    if (at < 0) continue;
                    assert_true(x >= r.x && x < r.x + r.w && y > r.y && y < r.y + r.h);
                    if (draw_tree_at(c, r, &t, x - 1, y) == at) continue;
                    uint32_t shown = canvas_cell(c, x, y)->ch, want = (uint32_t)nodes[at].label[0];
                    if (nodes[at].marks & TREE_NEW) want = '+';
                    if (shown == want) found++;
                    if (t.cursor >= 0 && shown == want && at == t.cursor)
                        assert_int_equal(canvas_cell(c, x + (nodes[at].marks & TREE_NEW ? 1 : 0), y)->role,
                                         STYLE_CURSOR);
                }
            assert_true(found >= 2);
            canvas_free(c);
        }
    Canvas *c = canvas_new(78, 12, GLYPHS_HALF);
    assert_int_equal(draw_tree_at(c, (Rect){0, 0, 78, 12}, &t, 0, 0), -1);
    canvas_free(c);
}

/* Deeper than there is room for: the last steps, or those that end with the cursor's, labels whole. */
static void deep_trees(void **state) {
    (void)state;
    enum { DEEP = 40 };
    TreeNode deep[DEEP + 1];
    for (int i = 0; i < DEEP; i++)
        deep[i] = (TreeNode){.parent = i - 1, .depth = i + 1, .label = i % 2 ? "horses" : "the", .state = TREE_KEPT};
    deep[DEEP - 1].state = TREE_OPEN;
    deep[DEEP] = (TreeNode){.parent = 2, .depth = 4, .label = "early", .state = TREE_PRUNED, .value = -9};
    for (int i = 0; i < DEEP; i++) deep[i].value = -1.0 * i;
    TreeNode by_depth[DEEP + 1]; /* nodes stand in the order of their depth */
    for (int i = 0; i <= DEEP; i++) by_depth[i] = i < 4 ? deep[i] : i == 4 ? deep[DEEP] : deep[i - 1];
    for (int i = 6; i <= DEEP; i++) by_depth[i].parent = i - 1;
    Tree t = {.node = by_depth,
              .nodes = DEEP + 1,
              .depth = DEEP,
              .root = "root",
              .value_label = "log p",
              .value_role = STYLE_MODEL,
              .best = DEEP,
              .cursor = -1};
    expect_golden("tree-deep", &t, 60, 4, GLYPHS_HALF);
    assert_true(holds(&t, 60, 4, "horses") && holds(&t, 60, 4, "-39.000") && holds(&t, 60, 4, "… early"));
    assert_true(holds(&t, 60, 4, "◂") && !holds(&t, 60, 4, "root") && !holds(&t, 60, 4, "▸"));
    t.cursor = 10;
    assert_true(holds(&t, 60, 4, "◂") && holds(&t, 60, 4, " 10 ") && holds(&t, 60, 4, "▸") && !holds(&t, 60, 4, " 40"));
    t.cursor = 0;
    assert_true(!holds(&t, 60, 4, "◂") && holds(&t, 60, 4, "root") && holds(&t, 60, 4, "▸"));
}

/* Labels of one column: the numbers of the steps are whole or missing, never cut. */
static void numbers_of_steps_are_whole(void **state) {
    (void)state;
    enum { DEEP = 101 };
    TreeNode node[DEEP];
    for (int i = 0; i < DEEP; i++)
        node[i] =
            (TreeNode){.parent = i - 1, .depth = i + 1, .label = "A", .state = TREE_KEPT, .value = NONE, .truth = NONE};
    Tree t = {.node = node, .nodes = 12, .depth = 12, .root = "A", .best = 11, .cursor = -1};
    assert_true(holds(&t, 60, 4, " 9 ") && holds(&t, 60, 4, " 10 ") && holds(&t, 60, 4, " 12"));
    assert_false(holds(&t, 60, 4, " 1  1"));
    t.nodes = t.depth = DEEP;
    t.best = DEEP - 1;
    t.cursor = DEEP - 1;
    assert_true(holds(&t, 40, 4, " 98 99") && !holds(&t, 40, 4, " 10"));
}

/* Long sums of logarithms: fewer decimals, never a number that touches the mark before it. */
static void large_numbers_keep_their_distance(void **state) {
    (void)state;
    TreeNode node[] = {{-1, 1, "the", TREE_KEPT, -1, -1, 0, 0}, {0, 2, "cat", TREE_OPEN, -99.9994, -2, 0, 0}};
    Tree t = {.node = node,
              .nodes = 2,
              .depth = 2,
              .root = "A",
              .value_label = "log p",
              .truth_label = "truth",
              .best = 1,
              .cursor = -1};
    assert_true(holds(&t, 60, 4, "○ -99.999  -2.000"));
    node[1].value = -405.463;
    assert_true(holds(&t, 60, 4, "○ -405.46   -2.00"));
    node[1].truth = -1234.56;
    assert_true(holds(&t, 60, 4, "○  -405.5 -1234.6"));
}

/* Wide characters, no truth, no numbers, one node, a label longer than there is room. */
static void odd_trees(void **state) {
    (void)state;
    static const TreeNode odd[] = {{-1, 1, WIDE, TREE_KEPT, NONE, NONE, 0, 0},
                                   {0, 2, "a label that is much longer than any column", TREE_OPEN, -1, NONE, 0, 120},
                                   {0, 2, "", TREE_PRUNED, -2, NONE, TREE_NEW | TREE_GREEDY, 0}};
    Tree t = {.node = odd, .nodes = 3, .depth = 2, .root = WIDE, .best = 1, .cursor = -1};
    expect_golden("tree-odd", &t, 50, 5, GLYPHS_HALF);
    t.value_label = "log p";
    t.value_role = STYLE_TRUTH;
    expect_golden("tree-no-truth", &t, 50, 5, GLYPHS_HALF);
    t.nodes = 0;
    mem_free(drawn(&t, 50, 5, GLYPHS_HALF, false, NULL));
}

static void it_stays_inside(void **state) {
    (void)state;
    Tree t = tree();
    for (int w = 1; w < 100; w += w < 30 ? 1 : 13)
        for (int h = 1; h < 16; h++)
            for (t.cursor = -1; t.cursor < NODES; t.cursor += 6)
                for (t.depth = 0; t.depth <= 5; t.depth++) {
                    Canvas *c = canvas_new(w + 2, h + 2, GLYPHS_HALF);
                    canvas_fill(c, (Rect){0, 0, w + 2, h + 2}, 0x2588, STYLE_ERROR, ATTRIBUTE_NONE);
                    (void)draw_tree(c, (Rect){1, 1, w, h}, &t);
                    (void)draw_tree_legend(c, 1, h, w, 7);
                    for (int y = 0; y < h + 2; y++)
                        for (int x = 0; x < w + 2; x++)
                            if (x == 0 || y == 0 || x > w || y > h)
                                assert_int_equal(canvas_cell(c, x, y)->role, STYLE_ERROR);
                    canvas_free(c);
                }
}

static const Column columns[] = {{"node", COLUMN_INT, ""},
                                 {"parent", COLUMN_INT, ""},
                                 {"depth", COLUMN_INT, ""},
                                 {"token", COLUMN_TEXT, ""},
                                 {"id", COLUMN_INT, ""},
                                 {"log_p", COLUMN_DOUBLE, ""},
                                 {"score", COLUMN_DOUBLE, ""},
                                 {"state", COLUMN_TEXT, ""},
                                 {"true_log_p", COLUMN_DOUBLE, ""},
                                 {0}};

static void add(Table *t, int parent, int depth, const char *token, double score, const char *state) {
    table_add_int(t, table_rows(t));
    if (parent < 0)
        table_add_empty(t);
    else
        table_add_int(t, parent);
    table_add_int(t, depth);
    table_add_text(t, token);
    table_add_int(t, 40 + table_rows(t));
    table_add_real(t, -1.5);
    table_add_real(t, score);
    table_add_text(t, state);
    table_add_empty(t);
}

static void a_table_is_a_tree(void **state) {
    (void)state;
    Table *t = table_new("tree", columns);
    TreeTable out;
    assert_false(tree_table_read(&out, t, "token", "log_p", "true_log_p"));
    assert_false(tree_table_read(&out, NULL, "token", "log_p", "true_log_p"));
    add(t, -1, 1, "a", -1, "kept");
    add(t, -1, 1, "", -2, "pruned");
    add(t, 0, 2, "b", -1.2, "open");
    assert_true(tree_table_read(&out, t, "token", "log_p", "true_log_p"));
    assert_int_equal(out.nodes, 3);
    assert_int_equal(out.depth, 2);
    assert_int_equal(out.best, 2); /* nothing is finished */
    assert_int_equal(out.node[0].parent, -1);
    assert_int_equal(out.node[2].parent, 0);
    assert_int_equal(out.node[1].state, TREE_PRUNED);
    assert_string_equal(out.node[1].label, "#41");
    assert_true(out.node[2].value == -1.5 && isnan(out.node[2].truth));
    tree_table_done(&out);
    add(t, 0, 2, "</s>", -3, "finished");
    add(t, 2, 3, "</s>", -3, "finished");
    assert_true(tree_table_read(&out, t, "token", "log_p", NULL));
    assert_int_equal(out.best, 3); /* of equals the lower */
    tree_table_done(&out);
    assert_false(tree_table_read(&out, t, "nothing", "log_p", NULL));
    table_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_must_look),
        cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(after_some_steps),
        cmocka_unit_test(nodes_are_found_where_they_are_drawn),
        cmocka_unit_test(deep_trees),
        cmocka_unit_test(numbers_of_steps_are_whole),
        cmocka_unit_test(large_numbers_keep_their_distance),
        cmocka_unit_test(odd_trees),
        cmocka_unit_test(it_stays_inside),
        cmocka_unit_test(a_table_is_a_tree),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
