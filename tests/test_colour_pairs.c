/* Pairs of colours: each has one number for ever, however many come after it. */
#include "expect.h"

#include "colour_pairs.h"
#include "mem.h"

static int32_t colour(int i) {
    return i % 7 == 0 ? -1 : i % 3 ? i : 0x1000000 | i * 7919;
}

static void numbers_stay(void **state) {
    (void)state;
    enum { PAIRS = 5000 };
    ColourPairs p = {0};
    assert_int_equal(colour_pairs_find(&p, 1, 2), 0);
    for (int i = 1; i <= PAIRS; i++) {
        int32_t bg = 0x1000000 | i; /* each pair is another one */
        assert_int_equal(colour_pairs_find(&p, colour(i), bg), 0);
        assert_int_equal(colour_pairs_add(&p, colour(i), bg), i);
    }
    for (int i = 1; i <= PAIRS; i++) assert_int_equal(colour_pairs_find(&p, colour(i), 0x1000000 | i), i);
    assert_int_equal(colour_pairs_find(&p, 0x1000000 | 1, colour(1)), 0); /* the other way round is another */
    colour_pairs_done(&p);
    assert_int_equal(p.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
