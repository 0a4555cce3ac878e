#include "window_kernel.h"

#include "bug.h"
#include "cancel.h"
#include "gemm.h"
#include "product.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <math.h>
#include <string.h>

enum {
    KEY_BLOCK = 16,   /* keys left out together: whole vectors */
    STRIP_MOST = 64,  /* queries of a strip */
    PANEL_ROWS = 256, /* of the whole matrix, between two looks at cancel_wanted */
};

const char *window_method_name(WindowMethod m) {
    static const char *const names[WINDOW_METHODS] = {"masked", "loop", "chunks"};
    BUG_ON((unsigned)m >= WINDOW_METHODS);
    return names[m];
}

/* --- tiles --- */

static int chunk_of(int T, int window) {
    return window < T ? window : T;
}

/* A quarter of a chunk, in whole blocks: shorter strips leave out more, longer ones make better products. */
static int strip_of(int chunk) {
    int rows = chunk / 4 / KEY_BLOCK * KEY_BLOCK;
    if (rows < KEY_BLOCK) rows = KEY_BLOCK;
    if (rows > STRIP_MOST) rows = STRIP_MOST;
    return rows < chunk ? rows : chunk;
}

static WindowTile strip_at(int T, int window, int row) {
    int chunk = chunk_of(T, window), own = row / chunk * chunk, end = own + chunk < T ? own + chunk : T;
    int rows = strip_of(chunk), before = own - chunk; /* where the chunk before begins */
    if (rows > end - row) rows = end - row;
    int key = own == 0 ? 0 : before + (row - window + 1 - before) / KEY_BLOCK * KEY_BLOCK;
    return (WindowTile){row, rows, key, row + rows - key};
}

WindowTile window_tile(WindowMethod m, int T, int window, int row) {
    int first = row < window ? 0 : row - window + 1;
    switch (m) {
    case WINDOW_LOOP:
        return (WindowTile){row, 1, first, row + 1 - first};
    case WINDOW_CHUNKS:
        return strip_at(T, window, row);
    default:
        return (WindowTile){0, T, 0, T};
    }
}

long long window_scores(WindowMethod m, int T, int window) {
    long long sum = 0;
    for (int row = 0; row < T;) {
        WindowTile t = window_tile(m, T, window, row);
        sum += (long long)t.rows * t.keys;
        row = t.row + t.rows;
    }
    return sum;
}

/* --- scratch: the scores of a tile; for chunks also the keys of a chunk and of the one before, turned, and all rows
 * filled up to whole blocks --- */

static int whole_blocks(int n) {
    return (n + KEY_BLOCK - 1) / KEY_BLOCK * KEY_BLOCK;
}

static int strip_stride(int chunk) {
    return whole_blocks(chunk) + whole_blocks(chunk);
}

static size_t score_numbers(WindowMethod m, int T, int window) {
    int chunk = chunk_of(T, window);
    if (m == WINDOW_MASKED) return (size_t)T * (size_t)T;
    return m == WINDOW_LOOP ? (size_t)chunk : (size_t)strip_of(chunk) * (size_t)strip_stride(chunk);
}

static size_t turned_numbers(int T, int d, int window) {
    return (size_t)whole_blocks(chunk_of(T, window)) * (size_t)d;
}

size_t window_scratch(WindowMethod m, int T, int d, int window) {
    return score_numbers(m, T, window) + (m == WINDOW_CHUNKS ? 2 * turned_numbers(T, d, window) : 0);
}

/* --- from scores to weights --- */

/* Scores of a tile become weights: those that a row does not see are 0, the others add up to 1. Each step goes over
 * all rows before the next, so that the processor has several rows to work on at a time. */
SIMD_CLONES static void weigh_tile(const WindowTile *t, int window, real scale, real *w, size_t stride) {
    real most[STRIP_MOST], factor[STRIP_MOST];
    for (int r = 0; r < t->rows; r++) {
        real *row = w + (size_t)r * stride;
        int to = t->row + r + 1 - t->key, from = to - window;
        SIMD_LOOP for (int j = 0; j < t->keys; j++) row[j] = j >= from && j < to ? row[j] * scale : -REAL_INFINITY;
    }
    for (int r = 0; r < t->rows; r++) most[r] = row_max(t->keys, w + (size_t)r * stride);
    for (int r = 0; r < t->rows; r++) {
        real *row = w + (size_t)r * stride, shift = most[r];
        SIMD_LOOP for (int j = 0; j < t->keys; j++) row[j] = scalar_exp(row[j] - shift);
    }
    for (int r = 0; r < t->rows; r++) factor[r] = (real)1 / row_sum(t->keys, w + (size_t)r * stride);
    for (int r = 0; r < t->rows; r++) {
        real *row = w + (size_t)r * stride, each = factor[r];
        SIMD_LOOP for (int j = 0; j < t->keys; j++) row[j] *= each;
    }
}

/* Every score of the row goes through the softmax; those that are not seen are -inf there. */
SIMD_CLONES static void weigh_masked(int row, int rows, int T, int window, real scale, real *w) {
    for (int i = row; i < row + rows; i++, w += T) {
        SIMD_LOOP for (int j = 0; j < T; j++) w[j] = j <= i && i - j < window ? w[j] * scale : -REAL_INFINITY;
        real factor = (real)1 / row_exp(T, w, row_max(T, w), w);
        SIMD_LOOP for (int j = 0; j < T; j++) w[j] *= factor;
    }
}

/* --- the three --- */

/* Three passes over the whole matrix, panel after panel so that it can be stopped. */
static bool attend_masked(const WindowAttention *a, real scale, real *s) {
    int T = a->T, d = a->d;
    for (int pass = 0; pass < 3; pass++)
        for (int row = 0; row < T; row += PANEL_ROWS) {
            int rows = T - row < PANEL_ROWS ? T - row : PANEL_ROWS;
            size_t at = (size_t)row * (size_t)d;
            real *w = s + (size_t)row * (size_t)T;
            if (pass == 0) gemm(GEMM_NT, rows, T, d, 1, a->q + at, d, a->k, d, 0, w, T);
            if (pass == 1) weigh_masked(row, rows, T, a->window, scale, w);
            if (pass == 2) gemm(GEMM_NN, rows, d, T, 1, w, T, a->v, d, 0, a->y + at, d);
            if (cancel_wanted()) return false;
        }
    return true;
}

static bool attend_loop(const WindowAttention *a, real scale, real *s) {
    size_t d = (size_t)a->d;
    for (int row = 0; row < a->T; row++) {
        WindowTile t = window_tile(WINDOW_LOOP, a->T, a->window, row);
        size_t at = (size_t)row * d, key = (size_t)t.key * d;
        gemv(t.keys, a->d, 1, a->k + key, a->d, a->q + at, 0, s);
        weigh_tile(&t, a->window, scale, s, 0);
        gemv_transposed(t.keys, a->d, 1, a->v + key, a->d, s, 0, a->y + at);
        if (cancel_wanted()) return false;
    }
    return true;
}

SIMD_CLONES static void turn_keys(const real *k, int d, int rows, real *turned, int stride) {
    product_turn(k, d, rows, d, turned, stride);
}

/* Scores of a strip against the keys of a chunk, which lie turned and begin at position START. In whole blocks: what
 * goes too far is written over by the next chunk's, or not looked at. */
static void score_strip(const WindowAttention *a, const WindowTile *t, const real *turned, int start, int chunk,
                        real *s) {
    int from = t->key > start ? t->key : start, end = t->key + t->keys;
    int to = end < start + chunk ? end : start + chunk;
    if (from >= to) return;
    gemm(GEMM_NN, t->rows, whole_blocks(to - from), a->d, 1, a->q + (size_t)t->row * (size_t)a->d, a->d,
         turned + from - start, whole_blocks(chunk), 0, s + from - t->key, strip_stride(chunk));
}

static void attend_strip(const WindowAttention *a, const WindowTile *t, const real *before, const real *own, int start,
                         real scale, real *s) {
    int chunk = chunk_of(a->T, a->window), stride = strip_stride(chunk);
    size_t d = (size_t)a->d;
    score_strip(a, t, before, start - chunk, chunk, s);
    score_strip(a, t, own, start, chunk, s);
    weigh_tile(t, a->window, scale, s, (size_t)stride);
    gemm(GEMM_NN, t->rows, a->d, t->keys, 1, s, stride, a->v + (size_t)t->key * d, a->d, 0, a->y + (size_t)t->row * d,
         a->d);
}

static bool attend_chunks(const WindowAttention *a, real scale, real *s) {
    int T = a->T, chunk = chunk_of(T, a->window);
    size_t turned = turned_numbers(T, a->d, a->window);
    real *own = s + score_numbers(WINDOW_CHUNKS, T, a->window), *before = own + turned;
    memset(own, 0, 2 * turned * sizeof *own);
    for (int start = 0; start < T; start += chunk) {
        int end = T - start < chunk ? T : start + chunk;
        real *free_now = before;
        before = own, own = free_now;
        turn_keys(a->k + (size_t)start * (size_t)a->d, a->d, end - start, own, whole_blocks(chunk));
        for (int row = start; row < end;) {
            WindowTile t = strip_at(T, a->window, row);
            attend_strip(a, &t, before, own, start, scale, s);
            if (cancel_wanted()) return false;
            row += t.rows;
        }
    }
    return true;
}

bool window_attend(WindowMethod m, const WindowAttention *a, real *scratch) {
    BUG_ON(a->T < 1 || a->d < 1 || a->window < 1);
    real scale = (real)(1 / sqrt(a->d));
    switch (m) {
    case WINDOW_LOOP:
        return attend_loop(a, scale, scratch);
    case WINDOW_CHUNKS:
        return attend_chunks(a, scale, scratch);
    default:
        return attend_masked(a, scale, scratch);
    }
}

void window_define(const WindowAttention *a, int row, double *y, double *scratch) {
    size_t d = (size_t)a->d;
    int first = row < a->window ? 0 : row - a->window + 1, n = row + 1 - first;
    double most = (double)-INFINITY, sum = 0, scale = 1 / sqrt(a->d);
    const real *q = a->q + (size_t)row * d;
    for (int j = 0; j < n; j++) {
        const real *k = a->k + (size_t)(first + j) * d;
        double score = 0;
        for (size_t i = 0; i < d; i++) score += (double)q[i] * (double)k[i];
        scratch[j] = score * scale;
        if (scratch[j] > most) most = scratch[j];
    }
    for (int j = 0; j < n; j++) sum += scratch[j] = exp(scratch[j] - most);
    for (size_t i = 0; i < d; i++) y[i] = 0;
    for (int j = 0; j < n; j++) {
        const real *v = a->v + (size_t)(first + j) * d;
        for (size_t i = 0; i < d; i++) y[i] += scratch[j] / sum * (double)v[i];
    }
}
