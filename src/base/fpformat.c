#include "fpformat.h"

#include "bug.h"

#include <math.h>

/* A finite number is m 2^e with a whole |m| < 2^digits and e >= least. */
typedef struct {
    const char *name;
    int digits; /* of the significand, the hidden one included */
    int least;  /* exponent of the smallest number, 2^least */
    int most;   /* all numbers are below 2^most */
} Format;

static const Format formats[] = {
    [FP16] = {"fp16", 11, -24, 16},
    [BF16] = {"bf16", 8, -133, 128},
    [FP32] = {"fp32", 24, -149, 128},
};

const char *fpformat_name(FpFormat f) {
    return formats[f].name;
}

/* The exponent of the last digit that the format keeps of x, which is finite. */
static int last_digit(const Format *f, double x) {
    int e;
    if (x == 0) return f->least;
    (void)frexp(x, &e);
    return e - f->digits > f->least ? e - f->digits : f->least;
}

double fpformat_round(FpFormat format, double x) {
    const Format *f = &formats[format];
    if (!isfinite(x)) return x;
    int last = last_digit(f, x);
    double y = ldexp(rint(ldexp(x, -last)), last);
    return fabs(y) < ldexp(1, f->most) ? y : copysign(HUGE_VAL, x);
}

double fpformat_spacing(FpFormat format, double x) {
    const Format *f = &formats[format];
    double y = fpformat_round(format, x);
    return isfinite(y) ? ldexp(1, last_digit(f, y)) : (double)NAN;
}

double fpformat_largest(FpFormat format) {
    const Format *f = &formats[format];
    return ldexp(1, f->most) - ldexp(1, f->most - f->digits);
}

/* A sign, the exponent and the digits behind the hidden one. */
static int digit_bits(const Format *f) {
    BUG_ON(f->digits >= 16);
    return f->digits - 1;
}

uint16_t fpformat_bits(FpFormat format, double x) {
    const Format *f = &formats[format];
    int shift = digit_bits(f);
    unsigned top = (1U << (15 - shift)) - 1, sign = signbit(x) ? 0x8000U : 0; /* exponent of infinity */
    if (isnan(x)) return (uint16_t)(top << shift | 1U << (shift - 1));
    double y = fabs(fpformat_round(format, x));
    if (isinf(y)) return (uint16_t)(sign | top << shift);
    int last = last_digit(f, y);
    /* With the hidden digit the whole number reaches into the exponent and adds the 1 that subnormals lack. */
    unsigned whole = (unsigned)ldexp(y, -last), steps = (unsigned)(last - f->least);
    return (uint16_t)(sign | ((steps << shift) + whole));
}

double fpformat_from_bits(FpFormat format, uint16_t bits) {
    const Format *f = &formats[format];
    int shift = digit_bits(f);
    int exponent = (bits & 0x7FFF) >> shift, whole = bits & ((1 << shift) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << (15 - shift)) - 1) return whole ? (double)NAN : sign * HUGE_VAL;
    if (exponent == 0) return sign * ldexp(whole, f->least);
    return sign * ldexp(whole + (1 << shift), f->least + exponent - 1);
}
