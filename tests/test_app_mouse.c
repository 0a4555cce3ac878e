/* The application without a laboratory: what a click hits, in every pane and on the bars. */
#include "expect.h"

#include "screen.h"

#include <string.h>

/* The first column and row of TEXT on the 120 x 40 screen. */
static bool locate(App *a, const char *text, int *x, int *y) {
    Canvas *c = canvas_new(120, 40, GLYPHS_HALF);
    app_draw(a, c);
    bool found = false;
    for (*y = 0; *y < c->h && !found; ++*y) {
        for (*x = 0; *x < c->w && !found; ++*x) {
            size_t i = 0;
            while (text[i] && canvas_cell(c, *x + (int)i, *y) &&
                   canvas_cell(c, *x + (int)i, *y)->ch == (uint32_t)text[i])
                i++;
            found = text[i] == '\0';
        }
    }
    --*x, --*y; /* the loops went one too far */
    canvas_free(c);
    return found;
}

static void click(App *a, int x, int y) {
    app_event(a, &(Event){.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .x = x, .y = y});
    app_tick(a);
}

static void a_click_gives_the_focus_and_sets_the_cursor(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    int x, y;
    assert_true(locate(a, "attention", &x, &y));
    click(a, x, y);
    screen_expect(a, "▸2 attention");
    screen_keys(a, "z");
    assert_true(locate(a, "[1]", &x, &y)); /* the selected small map; its right neighbour is head 2 */
    int x2, y2;
    assert_true(locate(a, "L2", &x2, &y2));
    click(a, x, y2 + 1);
    screen_expect(a, "layer 2 head 1");
    app_event(a, &(Event){.kind = EVENT_MOUSE, .mouse = MOUSE_WHEEL_UP, .x = x, .y = y});
    screen_expect(a, "dogs looks at dogs");
    app_free(a);
}

/* The row label at (X, Y) of a screen of 80 columns without colours, and its mark. */
static void label_at(App *a, int x, int y, char label[5]) {
    Canvas *c = canvas_new(80, 24, GLYPHS_HALF);
    c->heat_colour = false;
    app_draw(a, c);
    for (int i = 0; i < 4; i++) label[i] = (char)canvas_cell(c, x + i, y)->ch;
    label[4] = '\0';
    canvas_free(c);
}

/* Where heat is no colour rows are higher: a click goes to the row that is drawn there. */
static void a_click_without_colours_hits_what_is_drawn(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = p.prompt_tokens = 12;
    App *a = screen_new(&p);
    enum { LABELS_X = 37, FIRST_Y = 4 };
    screen_keys(a, "g2");
    assert_ok(app_command(a, "cursor query=0 key=0"));
    char before[5], after[5];
    for (int y = FIRST_Y; y < FIRST_Y + 4; y++) {
        assert_ok(app_command(a, "cursor query=0 key=0"));
        label_at(a, LABELS_X, y, before);
        click(a, LABELS_X + 7, y);
        label_at(a, LABELS_X, y, after);
        assert_string_equal(before, after);
        label_at(a, LABELS_X - 1, y, after);
        assert_int_equal((unsigned char)after[0], 0xB8); /* of the arrow */
    }
    app_free(a);
}

static void a_click_in_the_mask_sets_cell_and_layer(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.window = 3;
    App *a = screen_new(&p);
    screen_keys(a, ":pane mask<Enter>z");
    int column, row, x, y;
    assert_true(locate(a, "near", &column, &y)); /* above its column; below are six queries of four rows */
    click(a, column, y + 1 + 5 * 4);
    screen_expect(a, "cat → near  yes: 2 back");
    assert_true(locate(a, " input ", &x, &row));
    click(a, column, row + 4); /* each layer has two rows */
    screen_expect(a, "layer 2 · window 3");
    click(a, column, row); /* the input is no layer */
    screen_expect(a, "layer 2 · window 3");
    screen_keys(a, "P");
    screen_expect(a, "'poke 3'");
    screen_keys(a, "v");
    screen_expect(a, "<s> → <s>"); /* a cursor of its own */
    screen_keys(a, "GP");
    screen_expect(a, "in the sentence alone");
    screen_keys(a, "v:batch odd<Enter>");
    screen_expect(a, "sentence, packed or padded, not odd");
    screen_keys(a, ":method odd<Enter>");
    screen_expect(a, "none, masked, loop or chunks, not odd");
    app_free(a);
}

static void a_click_in_the_bpe_pane_sets_list_and_row(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    int x, y;
    screen_keys(a, ":pane bpe<Enter>z");
    screen_expect(a, "Of 2 pairs with that count it is the smallest");
    assert_true(locate(a, "e + w", &x, &y));
    click(a, x, y);
    screen_expect(a, "e w stand side by side 6 times; 7 times make the next pair.");
    click(a, x, y - 1);
    screen_expect(a, "o w are as frequent (7), but larger");
    assert_true(locate(a, "w i d est</w>", &x, &y));
    click(a, x, y);
    screen_expect(a, "“widest”, 3 times");
    screen_keys(a, "<Enter>");
    screen_expect(a, "'bpe text widest'");
    assert_true(locate(a, "es + t", &x, &y));
    click(a, x, y);
    screen_expect(a, "Merge 2 made est of es t, 9 times side by side: then 13 symbols");
    screen_keys(a, "<Enter>");
    screen_expect(a, "'bpe to 2'");
    assert_true(locate(a, "l o w est</w> n e w e r </w>", &x, &y));
    click(a, x, y);
    screen_expect(a, "No learnt pair is left: the tokens 4 6 10 13 5 2 10 2 7 0");
    app_free(a);
}

static void a_click_on_the_time_line_seeks(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    int x, y;
    assert_true(locate(a, "train ", &x, &y)); /* the pane's title comes first */
    click(a, 11, 38);
    screen_expect(a, "'seek ");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_click_gives_the_focus_and_sets_the_cursor),
        cmocka_unit_test(a_click_without_colours_hits_what_is_drawn),
        cmocka_unit_test(a_click_in_the_mask_sets_cell_and_layer),
        cmocka_unit_test(a_click_in_the_bpe_pane_sets_list_and_row),
        cmocka_unit_test(a_click_on_the_time_line_seeks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
