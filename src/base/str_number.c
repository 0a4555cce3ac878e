/* str_number: numbers as texts. The shortest decimal is found by trying precisions with the C library, which rounds
 * correctly; digits and exponent are taken and given without a point, so that no locale can come between. */
#include "str.h"

#include "bug.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS = 17 };

typedef struct {
    char digit[NUMBER_DIGITS + 1]; /* without a point: 5684341886080802 */
    int count;
    int exponent; /* of the first digit: 5.68e-14 has -14 */
} Decimal;

/* X (positive, finite) rounded to COUNT digits. */
static Decimal decimal_round(double x, int count) {
    char text[40];
    Decimal d = {.count = 0};
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    const char *c = text;
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') d.digit[d.count++] = *c;
    d.exponent = atoi(c + 1);
    return d;
}

/* The next larger decimal of as many digits. */
static Decimal decimal_up(Decimal d) {
    int i = d.count - 1;
    while (i >= 0 && d.digit[i] == '9') d.digit[i--] = '0';
    if (i >= 0) {
        d.digit[i]++;
    } else {
        d.digit[0] = '1';
        d.exponent++;
    }
    return d;
}

static bool decimal_reads_as(const Decimal *d, double x, bool single) {
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", d->count, d->digit, d->exponent - (d->count - 1));
    return single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* The fewest digits that read back X (positive, finite). LEAST digits always survive the way through a normal number,
 * so there the search starts. Below a power of two numbers lie twice as dense, so the nearest decimal of some length
 * may miss it where the next larger one does not. */
static Decimal decimal_shortest(double x, bool single) {
    double smallest = single ? (double)FLT_MIN : DBL_MIN;
    int least = x < smallest ? 1 : single ? FLT_DIG : DBL_DIG;
    int exponent;
    bool power_of_two = frexp(x, &exponent) == 0.5;
    for (int count = least; count < NUMBER_DIGITS; count++) {
        Decimal d = decimal_round(x, count);
        if (decimal_reads_as(&d, x, single)) return d;
        if (!power_of_two) continue;
        d = decimal_up(d);
        if (decimal_reads_as(&d, x, single)) return d;
    }
    return decimal_round(x, NUMBER_DIGITS);
}

/* Plain where a reader would write it plainly (0.0001 to 1e15), with an exponent of two digits or more elsewhere. */
static void decimal_add(Str *t, Decimal d) {
    while (d.count > 1 && d.digit[d.count - 1] == '0') d.count--;
    size_t count = (size_t)d.count;
    if (d.exponent < -4 || d.exponent >= 16) {
        str_add_n(t, d.digit, 1);
        if (count > 1) str_add_char(t, '.');
        str_add_n(t, d.digit + 1, count - 1);
        str_addf(t, "e%c%02d", d.exponent < 0 ? '-' : '+', abs(d.exponent));
    } else if (d.exponent < 0) {
        str_add(t, "0.");
        str_add_repeat(t, '0', (size_t)(-d.exponent - 1));
        str_add_n(t, d.digit, count);
    } else {
        size_t whole = (size_t)d.exponent + 1;
        str_add_n(t, d.digit, count < whole ? count : whole);
        if (count < whole) str_add_repeat(t, '0', whole - count);
        if (count > whole) str_add_char(t, '.');
        if (count > whole) str_add_n(t, d.digit + whole, count - whole);
    }
}

static void number_add(Str *t, double x, bool single) {
    if (isnan(x)) {
        str_add(t, "nan");
        return;
    }
    if (signbit(x)) str_add_char(t, '-');
    x = fabs(x);
    if (isinf(x)) {
        str_add(t, "inf");
    } else if (x == 0) {
        str_add_char(t, '0');
    } else {
        decimal_add(t, decimal_shortest(x, single));
    }
}

void str_add_double(Str *t, double x) {
    number_add(t, x, false);
}

void str_add_float(Str *t, float x) {
    number_add(t, (double)x, true);
}

static const char *skip_digits(const char *s, Str *digits) {
    const char *end = s;
    while (*end >= '0' && *end <= '9') end++;
    str_add_n(digits, s, (size_t)(end - s));
    return end;
}

/* An exponent's sign and digits up to the end of the text, kept within a million. */
static bool read_exponent(const char *s, long *exponent) {
    bool minus = *s == '-';
    if (*s == '-' || *s == '+') s++;
    if (*s == '\0') return false;
    long value = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        if (value < 1000000) value = value * 10 + (*s - '0');
    *exponent = minus ? -value : value;
    return *s == '\0';
}

/* Collects the digits of [digits][.digits][e[sign]digits] as "digits e exponent", without a point. */
static bool read_decimal(const char *s, Str *digits) {
    long exponent = 0, fraction = 0;
    s = skip_digits(s, digits);
    if (*s == '.') {
        const char *start = s + 1;
        s = skip_digits(start, digits);
        fraction = s - start;
    }
    if (digits->len == 0) return false;
    if ((*s == 'e' || *s == 'E') && !read_exponent(s + 1, &exponent)) return false;
    if (*s != '\0' && *s != 'e' && *s != 'E') return false;
    str_addf(digits, "e%ld", exponent - fraction);
    return true;
}

_Bool str_to_double(const char *s, double *x) {
    if (strcmp(s, "nan") == 0) {
        *x = (double)NAN;
        return true;
    }
    bool minus = *s == '-';
    if (*s == '-' || *s == '+') s++;
    double value = HUGE_VAL;
    if (strcmp(s, "inf") != 0) {
        Str digits;
        str_init(&digits);
        if (read_decimal(s, &digits)) {
            value = strtod(digits.s, NULL);
        } else {
            value = (double)NAN;
        }
        str_done(&digits);
        if (!isfinite(value)) return false;
    }
    *x = minus ? -value : value;
    return true;
}

_Bool str_to_long(const char *s, long long *x) {
    bool minus = *s == '-';
    if (*s == '-' || *s == '+') s++;
    if (*s == '\0') return false;
    long long value = 0; /* kept negative: that side reaches one further */
    for (; *s >= '0' && *s <= '9'; s++) {
        int digit = *s - '0';
        if (value < (LLONG_MIN + digit) / 10) return false;
        value = value * 10 - digit;
    }
    if (*s != '\0' || (!minus && value == LLONG_MIN)) return false;
    *x = minus ? value : -value;
    return true;
}
