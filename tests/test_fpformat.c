/* fpformat: every number of both 16-bit formats, every point between two of them, and values that are known. */
#include "fpformat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const FpFormat both[] = {FP16, BF16};

static void every_number_comes_back(void **state) {
    (void)state;
    for (int f = 0; f < 2; f++)
        for (unsigned bits = 0; bits < 0x10000; bits++) {
            double x = fpformat_from_bits(both[f], (uint16_t)bits);
            if (isnan(x)) {
                assert_true(isnan(fpformat_from_bits(both[f], fpformat_bits(both[f], x))));
                continue;
            }
            assert_int_equal(fpformat_bits(both[f], x), bits);
            assert_true(fpformat_round(both[f], x) == x);
        }
}

/* Between neighbours A < B: the nearer one, and at the middle the one with the even last digit. */
static void expect_nearest(FpFormat f, uint16_t low) {
    double a = fpformat_from_bits(f, low), b = fpformat_from_bits(f, (uint16_t)(low + 1)), middle = (a + b) / 2;
    uint16_t even = low % 2 ? (uint16_t)(low + 1) : low;
    assert_int_equal(fpformat_bits(f, middle), even);
    assert_int_equal(fpformat_bits(f, nextafter(middle, 0)), low);
    assert_int_equal(fpformat_bits(f, nextafter(middle, HUGE_VAL)), low + 1);
    assert_int_equal(fpformat_bits(f, -middle), even | 0x8000);
    assert_true(fpformat_spacing(f, a) == b - a);
    assert_true(fpformat_spacing(f, -a) == b - a);
}

static void every_gap_rounds_to_the_nearest(void **state) {
    (void)state;
    for (uint16_t low = 0; low + 1 < 0x7C00; low++) expect_nearest(FP16, low);
    for (uint16_t low = 0; low + 1 < 0x7F80; low++) expect_nearest(BF16, low);
}

/* bfloat16 is the upper half of a float: exact numbers must share its bits. */
static void bf16_is_half_a_float(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        uint32_t whole = (uint32_t)bits << 16;
        float x;
        memcpy(&x, &whole, sizeof x);
        if (!isnan(x)) assert_int_equal(fpformat_bits(BF16, (double)x), bits);
    }
}

static void single_is_what_the_machine_does(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double x;
        memcpy(&x, &seed, sizeof x);
        if (isnan(x)) continue;
        x = ldexp(frexp(x, &(int){0}), (int)(seed % 320) - 170); /* also subnormal and too large ones */
        volatile float y = (float)x;
        assert_true(fpformat_round(FP32, x) == (double)y);
    }
}

/* Known bits: IEEE 754-2008, table of half precision; bfloat16 of pi. */
static void known_values(void **state) {
    (void)state;
    static const struct {
        FpFormat format;
        double x;
        unsigned bits;
    } known[] = {
        {FP16, 1, 0x3C00},
        {FP16, -2, 0xC000},
        {FP16, 65504, 0x7BFF},
        {FP16, 65519.99, 0x7BFF},
        {FP16, 65520, 0x7C00},
        {FP16, -90000, 0xFC00},
        {FP16, 0.1, 0x2E66},
        {FP16, 1.0 / 3, 0x3555},
        {FP16, 5.9604645e-8, 1},
        {FP16, 2.98e-8, 0},
        {FP16, 6.103515625e-5, 0x400},
        {FP16, -0.0, 0x8000},
        {BF16, 3.14159265, 0x4049},
        {BF16, 1, 0x3F80},
        {BF16, 1001, 0x447A},
        {BF16, 1002.1, 0x447B},
        {BF16, 3.3895314e38, 0x7F7F},
        {BF16, 3.4e38, 0x7F80},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(fpformat_bits(known[i].format, known[i].x), known[i].bits);
    assert_true(isnan(fpformat_from_bits(FP16, fpformat_bits(FP16, (double)NAN))));
    assert_true(isnan(fpformat_round(BF16, (double)NAN)));
}

static void spacing_near_numbers_of_the_lecture(void **state) {
    (void)state;
    assert_true(fpformat_spacing(BF16, 1000) == 4); /* seminar 3, 9.1 */
    assert_true(fpformat_spacing(BF16, 1024) == 8);
    assert_true(fpformat_spacing(FP16, 1000) == 0.5);
    assert_true(fpformat_spacing(FP32, 1) == ldexp(1, -23));
    assert_true(fpformat_spacing(FP16, 0) == ldexp(1, -24));
    assert_true(isnan(fpformat_spacing(FP16, 70000)));
    assert_true(isnan(fpformat_spacing(FP16, (double)NAN)));
    assert_true(fpformat_largest(FP16) == 65504);
    assert_true(fpformat_largest(FP32) == (double)3.40282346638528859812e38F);
    assert_string_equal(fpformat_name(BF16), "bf16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(every_gap_rounds_to_the_nearest),
        cmocka_unit_test(bf16_is_half_a_float),
        cmocka_unit_test(single_is_what_the_machine_does),
        cmocka_unit_test(known_values),
        cmocka_unit_test(spacing_near_numbers_of_the_lecture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
