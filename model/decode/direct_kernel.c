#include "decode/direct_kernel.h"

#include "simd.h"

enum {
    OUTPUTS = 4,   /* at a time where W lies row by row */
    AHEAD = 1152,  /* numbers that are asked for before they are needed */
    INPUTS = 8,    /* at a time where it is turned */
    COLUMNS = 512, /* of a turned W that stay in the first cache while rows of x go over them */
};

/* --- row by row: y[o] is the product of two rows --- */

/* N outputs of one row of x; N is a constant where this is compiled in. */
SIMD_INLINE void dot(int n, int in, const real *w, size_t ld, const real *x, const real *bias, real *y) {
    SimdReal sum[OUTPUTS][2], x0, x1, w0, w1;
    int i = 0;
    for (int o = 0; o < n; o++) {
        SIMD_ZERO(sum[o][0]);
        SIMD_ZERO(sum[o][1]);
    }
    for (; i + 2 * SIMD_WIDTH <= in; i += 2 * SIMD_WIDTH) {
        SIMD_LOAD(x0, x + i);
        SIMD_LOAD(x1, x + i + SIMD_WIDTH);
        for (int o = 0; o < n; o++) {
            SIMD_LOAD(w0, w + (size_t)o * ld + i);
            SIMD_LOAD(w1, w + (size_t)o * ld + i + SIMD_WIDTH);
            SIMD_PREFETCH(w + (size_t)o * ld + i + AHEAD);
            sum[o][0] += x0 * w0;
            sum[o][1] += x1 * w1;
        }
    }
    for (int o = 0; o < n; o++) {
        sum[o][0] += sum[o][1];
        real total = simd_total(&sum[o][0]);
        for (int k = i; k < in; k++) total += x[k] * w[(size_t)o * ld + k];
        y[o] = total + (bias ? bias[o] : 0);
    }
}

SIMD_CLONES static void apply_rows(const View *v, const real *bias, int in, int first, int last, int rows,
                                   const real *x, int ldx, real *y, int ldy) {
    size_t ld = (size_t)v->ld;
    int o = first;
    for (; o + OUTPUTS <= last; o += OUTPUTS)
        for (int r = 0; r < rows; r++)
            dot(OUTPUTS, in, v->x + (size_t)o * ld, ld, x + (size_t)r * ldx, bias ? bias + o : NULL,
                y + (size_t)r * ldy + o);
    for (; o < last; o++)
        for (int r = 0; r < rows; r++)
            dot(1, in, v->x + (size_t)o * ld, ld, x + (size_t)r * ldx, bias ? bias + o : NULL, y + (size_t)r * ldy + o);
}

/* --- turned: y += x[i] times row i of W^T --- */

/* Columns [from, to) of N rows of W^T from W; N is a constant where this is compiled in. */
SIMD_INLINE void add_inputs(int n, const real *w, size_t ld, const real *x, int from, int to, real *y) {
    int j = from;
    SimdReal sum, line;
    for (; j + SIMD_WIDTH <= to; j += SIMD_WIDTH) {
        SIMD_LOAD(sum, y + j);
        for (int k = 0; k < n; k++) {
            SIMD_LOAD(line, w + (size_t)k * ld + j);
            SIMD_ADD_SCALED(sum, x[k], line);
        }
        SIMD_STORE(y + j, sum);
    }
    for (; j < to; j++)
        for (int k = 0; k < n; k++) y[j] += x[k] * w[(size_t)k * ld + j];
}

SIMD_CLONES static void apply_turned(const View *v, const real *bias, int in, int first, int last, int rows,
                                     const real *x, int ldx, real *y, int ldy) {
    size_t ld = (size_t)v->ld;
    int step = rows > 1 ? COLUMNS : last - first;
    for (int r = 0; r < rows; r++)
        for (int o = first; o < last; o++) y[(size_t)r * ldy + o] = bias ? bias[o] : 0;
    for (int from = first; from < last; from += step) {
        int to = from + step < last ? from + step : last, i = 0;
        for (; i + INPUTS <= in; i += INPUTS)
            for (int r = 0; r < rows; r++)
                add_inputs(INPUTS, v->x + (size_t)i * ld, ld, x + (size_t)r * ldx + i, from, to, y + (size_t)r * ldy);
        for (; i < in; i++)
            for (int r = 0; r < rows; r++)
                add_inputs(1, v->x + (size_t)i * ld, ld, x + (size_t)r * ldx + i, from, to, y + (size_t)r * ldy);
    }
}

void direct_apply(const View *v, const real *bias, int in, int first, int last, int rows, const real *x, int ldx,
                  real *y, int ldy) {
    if (v->turned)
        apply_turned(v, bias, in, first, last, rows, x, ldx, y, ldy);
    else
        apply_rows(v, bias, in, first, last, rows, x, ldx, y, ldy);
}
