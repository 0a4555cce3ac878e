/* The presenter: one pane, large, with few words and numbers that a hall can read. */
#include "expect.h"

#include "screen.h"

#include <stdio.h>
#include <string.h>

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
        cmocka_unit_test(the_presented_map_is_large),
        cmocka_unit_test(presented_numbers_have_one_size),
        cmocka_unit_test(the_presented_next_word_says_little),
        cmocka_unit_test(the_presented_loss_names_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
