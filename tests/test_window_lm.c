/* window_lm: it sees its window and nothing before it, and it learns. */
#include "window_lm.h"

#include <math.h>
#include <string.h>

#include "expect.h"

enum { VOCAB = 11, WINDOW = 3 };

static WindowLm *small(void) {
    return window_lm_new(&(WindowConfig){VOCAB, WINDOW, 4, 8}, 5);
}

static void parameters_are_counted(void **state) {
    (void)state;
    WindowLm *m = small();
    assert_int_equal(window_lm_params(m)->count, VOCAB * 4 + WINDOW * 4 * 8 + 8 + VOCAB * 8 + VOCAB);
    window_lm_free(m);
}

/* A change of token i moves the logits of rows i .. i + window - 1 and no others; another sentence least of all. */
static void what_is_outside_the_window_does_not_count(void **state) {
    (void)state;
    int ids[] = {1, 4, 5, 6, 7, 8, 9, 3};
    WindowLm *m = small();
    Batch b;
    real before[16 * VOCAB];
    batch_init(&b);
    for (int changed = 1; changed < 8; changed++) {
        batch_clear(&b);
        batch_add(&b, ids, 8, false);
        batch_add(&b, ids, 8, false);
        memcpy(before, window_lm_logits(m, &b), sizeof before);
        b.id[changed] = 10;
        const real *after = window_lm_logits(m, &b);
        for (int r = 0; r < 16; r++) {
            bool moved = memcmp(before + r * VOCAB, after + r * VOCAB, VOCAB * sizeof(real)) != 0;
            if (moved != (r >= changed && r < changed + WINDOW && r < 8)) fail_msg("token %d, row %d", changed, r);
        }
    }
    batch_done(&b);
    window_lm_free(m);
}

/* Token i + 3 is token i: three tokens back are just enough. */
static void it_learns_what_its_window_shows(void **state) {
    (void)state;
    static const int ids[] = {1, 4, 7, 9, 4, 7, 9, 4, 7, 9, 4, 7, 9};
    static const int other[] = {1, 7, 4, 9, 7, 4, 9, 7, 4, 9, 7, 4, 9};
    WindowLm *m = small();
    Batch b;
    batch_init(&b);
    batch_add(&b, ids, 12, true);
    batch_add(&b, other, 12, true);
    double first = window_lm_step(m, &b, 0.02, 0, 200), last = 0;
    for (long i = 1; i < 200; i++) last = window_lm_step(m, &b, 0.02, i, 200);
    assert_true(first > 1.5 && first < 4);
    /* only the second token and the third after the first cannot be known: ln 2 once in twelve */
    if (fabs(last - log(2) / 12) > 0.02) fail_msg("%g", last);
    batch_done(&b);
    window_lm_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_counted),
        cmocka_unit_test(what_is_outside_the_window_does_not_count),
        cmocka_unit_test(it_learns_what_its_window_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
