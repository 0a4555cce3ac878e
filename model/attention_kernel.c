#include "attention_kernel.h"

#include "gemm.h"
#include "product.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

#define SHORT_MOST 64   /* longer sequences go through matrix products */
#define BLOCK_ROWS 48   /* of a long sequence worked on together */
#define STRIP_ROWS 16   /* of a short sequence worked on together */
#define AT_A_TIME  4096 /* numbers of a long sequence's rows that go through a step together */

static bool is_short(const AttentionSpan *a) {
    return a->T <= SHORT_MOST;
}

size_t attention_kept(int T) {
    return (size_t)T * (T <= SHORT_MOST ? (size_t)attention_stride(T) : 2);
}

/* Of a short sequence: keys or values, transposed, then the gradients of weights and of scores. Of a long one three
 * blocks of rows: weights, tanh, those gradients. */
size_t attention_scratch(int T, int head_dim) {
    size_t stride = (size_t)attention_stride(T);
    return T <= SHORT_MOST ? stride * (size_t)head_dim + (size_t)T * stride : 3 * BLOCK_ROWS * stride;
}

static real *block_weights(const AttentionSpan *a) {
    return a->scratch;
}

static real *block_tanh(const AttentionSpan *a) {
    return a->scratch + (size_t)BLOCK_ROWS * (size_t)a->stride;
}

/* Kept of each row of a long sequence: its largest score, and 1 / the sum of its exponentials. */
static real *row_shifts(const QueryHead *h) {
    return h->weights;
}

static real *row_factors(const AttentionSpan *a, const QueryHead *h) {
    return h->weights + a->T;
}

static real *grad_scratch(const AttentionSpan *a) {
    size_t stride = (size_t)a->stride;
    return a->scratch + (is_short(a) ? stride * (size_t)a->head_dim : 2 * BLOCK_ROWS * stride);
}

static Part part_at(Part p, int row) {
    return (Part){p.x ? p.x + (size_t)row * (size_t)p.ld : NULL, p.ld};
}

/* --- short sequences: rows go in blocks of four, and each pass over a block is a loop of its own, so that rows overlap
 * --- */

/* turned [hd x stride] = m^T, the columns beyond T are 0. */
SIMD_CLONES static void transpose(int T, int head_dim, int stride, Part m, real *turned) {
    product_turn(m.x, m.ld, T, head_dim, turned, stride);
    for (int d = 0; d < head_dim; d++, turned += stride)
        for (int j = T; j < stride; j++) turned[j] = 0;
}

/* --- from scores to weights --- */

static void keep_stage(const QueryHead *h, int stage, int T, int i, const real *w) {
    if (h->stage[stage]) memcpy(h->stage[stage] + (size_t)i * (size_t)T, w, (size_t)T * sizeof *w);
}

SIMD_INLINE void fill(real *x, int from, int to, real value) {
    for (int j = from; j < to; j++) x[j] = value;
}

/* Row i of the scores, W, at [first, last), which covers what the row sees: scaled, capped (T: the tanh), -inf where
 * masked. */
SIMD_INLINE void mask_row(const AttentionSpan *a, const QueryHead *h, int i, int first, int last, real *w, real *t) {
    real scale = a->scale;
    int from = a->from[i], to = a->to[i];
    keep_stage(h, 0, a->T, i, w);
    SIMD_LOOP for (int j = first; j < last; j++) w[j] *= scale;
    keep_stage(h, 1, a->T, i, w);
    if (a->softcap > 0) {
        real cap = a->softcap;
        SIMD_LOOP for (int j = first; j < last; j++) {
            w[j] = scalar_softcap(w[j], cap, &t[j]);
        }
        keep_stage(h, 2, a->T, i, w);
    }
    SIMD_LOOP for (int j = first; j < last; j++) w[j] = j >= from && j < to ? w[j] : -REAL_INFINITY;
    for (int j = from; a->allowed && j < to; j++)
        if (!a->allowed[(size_t)i * (size_t)a->T + (size_t)j]) w[j] = -REAL_INFINITY;
    keep_stage(h, 3, a->T, i, w);
}

/* Rows [begin, end) from scores to weights: W [rows x stride], and T where there is a cap. Each step goes over all rows
 * before the next, so that the processor has several rows to work on at a time. Of each row: MOST, its largest score,
 * and INVERSE, 1 / the sum of its exponentials. */
SIMD_INLINE void weigh_rows(const AttentionSpan *a, const QueryHead *h, int begin, int end, int first, int last,
                            real *whole, real *t, real *most, real *inverse) {
    real *w = whole + first;
    int n = last - first, rows = end - begin;
    size_t stride = (size_t)a->stride;
    if (n == 0) return;
    for (int r = 0; r < rows; r++)
        mask_row(a, h, begin + r, first, last, whole + (size_t)r * stride, t ? t + (size_t)r * stride : NULL);
    for (int r = 0; r < rows; r++)
        most[r] = a->from[begin + r] < a->to[begin + r] ? row_max(n, w + (size_t)r * stride) : 0;
    for (int r = 0; r < rows; r++) {
        real *row = w + (size_t)r * stride, shift = most[r];
        SIMD_LOOP for (int j = 0; j < n; j++) row[j] = scalar_exp(row[j] - shift);
    }
    for (int r = 0; r < rows; r++) {
        real sum = row_sum(n, w + (size_t)r * stride);
        inverse[r] = a->from[begin + r] < a->to[begin + r] ? (real)1 / sum : 0;
    }
    for (int r = 0; r < rows; r++) {
        real *row = w + (size_t)r * stride, factor = inverse[r];
        SIMD_LOOP for (int j = 0; j < n; j++) row[j] *= factor;
        keep_stage(h, 4, a->T, begin + r, whole + (size_t)r * stride);
    }
}

/* --- forward --- */

void attention_load_keys(const AttentionSpan *a, Part k) {
    if (is_short(a)) transpose(a->T, a->head_dim, a->stride, k, a->scratch);
}

/* What rows [begin, end) see together: keys [from, to), and in whole steps of ATTENTION_PAD [first, last). */
typedef struct {
    int begin, end, from, to, first, last;
} Strip;

SIMD_INLINE Strip strip_at(const int *from, const int *to, int begin, int T, int stride, bool whole) {
    Strip s = {.begin = begin, .end = begin + STRIP_ROWS < T ? begin + STRIP_ROWS : T, .from = T};
    for (int i = begin; i < s.end; i++) {
        if (from[i] >= to[i]) continue;
        if (from[i] < s.from) s.from = from[i];
        if (to[i] > s.to) s.to = to[i];
    }
    if (s.from > s.to) s.from = s.to;
    s.first = whole ? 0 : s.from / ATTENTION_PAD * ATTENTION_PAD;
    s.last = whole ? stride : (s.to + ATTENTION_PAD - 1) / ATTENTION_PAD * ATTENTION_PAD;
    return s;
}

SIMD_CLONES static void forward_short(const AttentionSpan *a, const QueryHead *h, Part v) {
    bool whole = h->stage[0] != NULL;
    real most[STRIP_ROWS], inverse[STRIP_ROWS];
    for (int begin = 0; begin < a->T; begin += STRIP_ROWS) {
        Strip s = strip_at(a->from, a->to, begin, a->T, a->stride, whole);
        Product scores = {h->q.x,    h->q.ld, 1,           a->scratch, a->stride, h->weights,
                          a->stride, 0,       a->head_dim, s.first,    s.last,    false};
        product_rows(&scores, begin, s.end);
        size_t at = (size_t)begin * (size_t)a->stride;
        weigh_rows(a, h, begin, s.end, s.first, s.last, h->weights + at, h->tanh ? h->tanh + at : NULL, most, inverse);
        for (int i = begin; i < s.end; i++) {
            fill(h->weights + (size_t)i * (size_t)a->stride, 0, s.first, 0);
            fill(h->weights + (size_t)i * (size_t)a->stride, s.last, a->stride, 0);
        }
        Product mix = {h->weights, a->stride, 1, v.x, v.ld, h->y.x, h->y.ld, s.from, s.to, 0, a->head_dim, false};
        product_rows(&mix, begin, s.end);
    }
}

typedef struct {
    int begin, rows;  /* rows of this block */
    int first, width; /* keys that any of them sees; width 0: none */
} Block;

static Block block_at(const AttentionSpan *a, bool whole, int begin) {
    int end = begin + BLOCK_ROWS < a->T ? begin + BLOCK_ROWS : a->T, first = a->T, last = 0;
    for (int i = begin; i < end; i++) {
        if (a->from[i] >= a->to[i]) continue;
        if (a->from[i] < first) first = a->from[i];
        if (a->to[i] > last) last = a->to[i];
    }
    if (whole) first = 0, last = a->T;
    return (Block){begin, end - begin, first, first < last ? last - first : 0};
}

/* y = 0 (gradients: unless they are added to). */
static void clear_rows(Part y, int rows, int cols) {
    for (int i = 0; i < rows; i++) memset(part_at(y, i).x, 0, (size_t)cols * sizeof(real));
}

/* How many rows go through their steps together: what they see stays in the first cache meanwhile. */
static int rows_at_a_time(int width) {
    return width >= AT_A_TIME ? 1 : width > 0 ? AT_A_TIME / width : BLOCK_ROWS;
}

SIMD_CLONES static void weigh_block(const AttentionSpan *a, const QueryHead *h, const Block *b, real *w, real *t) {
    int end = b->begin + b->rows, step = rows_at_a_time(b->width);
    for (int begin = b->begin; begin < end; begin += step) {
        size_t at = (size_t)(begin - b->begin) * (size_t)a->stride;
        int next = begin + step < end ? begin + step : end;
        weigh_rows(a, h, begin, next, b->first, b->first + b->width, w + at, t ? t + at : NULL, row_shifts(h) + begin,
                   row_factors(a, h) + begin);
    }
}

/* The same weights once more, with the same bits, in one go: from what was kept of each row. */
SIMD_CLONES static void weigh_block_again(const AttentionSpan *a, const QueryHead *h, const Block *b, real *w,
                                          real *t) {
    int first = b->first, last = b->first + b->width;
    real scale = a->scale, cap = a->softcap;
    for (int i = b->begin; i < b->begin + b->rows; i++, w += a->stride) {
        int from = a->from[i], to = a->to[i];
        real shift = row_shifts(h)[i], factor = row_factors(a, h)[i];
        if (t) {
            SIMD_LOOP for (int j = first; j < last; j++) w[j] = scalar_softcap(w[j] * scale, cap, &t[j]);
            SIMD_LOOP for (int j = first; j < last; j++) w[j] =
                scalar_exp((j >= from && j < to ? w[j] : -REAL_INFINITY) - shift) * factor;
            t += a->stride;
        } else {
            SIMD_LOOP for (int j = first; j < last; j++) w[j] =
                scalar_exp((j >= from && j < to ? w[j] * scale : -REAL_INFINITY) - shift) * factor;
        }
        for (int j = from; a->allowed && j < to; j++)
            if (!a->allowed[(size_t)i * (size_t)a->T + (size_t)j]) w[j] = 0 * factor;
    }
}

/* The weights of a block of rows, as often as they are needed: kept for all rows they would be T x T numbers. */
static real *make_weights(const AttentionSpan *a, const QueryHead *h, const Block *b, Part k, bool again) {
    real *w = block_weights(a), *t = a->softcap > 0 ? block_tanh(a) : NULL;
    Part q = part_at(h->q, b->begin);
    gemm(GEMM_NT, b->rows, b->width, a->head_dim, 1, q.x, q.ld, part_at(k, b->first).x, k.ld, 0, w + b->first,
         a->stride);
    if (again)
        weigh_block_again(a, h, b, w, t);
    else
        weigh_block(a, h, b, w, t);
    return w + b->first;
}

static void forward_long(const AttentionSpan *a, const QueryHead *h, Part k, Part v) {
    for (int begin = 0; begin < a->T; begin += BLOCK_ROWS) {
        Block b = block_at(a, h->stage[0] != NULL, begin);
        Part y = part_at(h->y, begin);
        if (b.width == 0) {
            clear_rows(y, b.rows, a->head_dim);
            continue;
        }
        const real *w = make_weights(a, h, &b, k, false);
        gemm(GEMM_NN, b.rows, a->head_dim, b.width, 1, w, a->stride, part_at(v, b.first).x, v.ld, 0, y.x, y.ld);
    }
}

void attention_forward(const AttentionSpan *a, const QueryHead *h, Part k, Part v) {
    if (is_short(a))
        forward_short(a, h, v);
    else
        forward_long(a, h, k, v);
    if (h->off) clear_rows(h->y, a->T, a->head_dim);
}

/* --- backward --- */

void attention_load_values(const AttentionSpan *a, Part v) {
    if (is_short(a)) transpose(a->T, a->head_dim, a->stride, v, a->scratch);
}

/* d [rows x stride] holds the gradients of the weights W of rows at [first, last); they become those of the scores:
 * ds = w (dw - sum of w dw) (1 - tanh^2) / sqrt(hd) */
SIMD_INLINE void unweigh_rows(const AttentionSpan *a, int rows, int first, int last, const real *w, const real *t,
                              real *d) {
    real dot[BLOCK_ROWS], scale = a->scale;
    size_t stride = (size_t)a->stride;
    for (int r = 0; r < rows; r++)
        dot[r] = row_dot(last - first, w + (size_t)r * stride + first, d + (size_t)r * stride + first);
    for (int r = 0; r < rows; r++, w += stride, d += stride) {
        real sum = dot[r];
        SIMD_LOOP for (int j = first; j < last; j++) d[j] = w[j] * (d[j] - sum) * scale;
        if (!t) continue;
        SIMD_LOOP for (int j = first; j < last; j++) d[j] *= (real)1 - t[j] * t[j];
        t += stride;
    }
}

SIMD_CLONES static void backward_short(const AttentionSpan *a, const QueryHead *h, Part k, const HeadGrads *g) {
    real *d = grad_scratch(a); /* [T x stride] */
    int hd = a->head_dim, stride = a->stride;
    for (int begin = 0; begin < a->T; begin += STRIP_ROWS) {
        Strip s = strip_at(a->from, a->to, begin, a->T, stride, false);
        Product dw = {g->dy.x, g->dy.ld, 1, a->scratch, stride, d, stride, 0, hd, s.first, s.last, false};
        product_rows(&dw, begin, s.end);
        size_t at = (size_t)begin * (size_t)stride;
        unweigh_rows(a, s.end - begin, s.first, s.last, h->weights + at, h->tanh ? h->tanh + at : NULL, d + at);
        for (int i = begin; i < s.end; i++) {
            fill(d + (size_t)i * (size_t)stride, 0, s.first, 0);
            fill(d + (size_t)i * (size_t)stride, s.last, stride, 0);
        }
        Product dq = {d, stride, 1, k.x, k.ld, g->dq.x, g->dq.ld, s.from, s.to, 0, hd, g->add_q};
        if (g->dq.x) product_rows(&dq, begin, s.end);
    }
    for (int begin = 0; begin < a->T; begin += STRIP_ROWS) {
        Strip s = strip_at(a->row_from, a->row_to, begin, a->T, stride, false);
        Product dk = {d, 1, stride, h->q.x, h->q.ld, g->dk.x, g->dk.ld, s.from, s.to, 0, hd, g->add_k};
        Product dv = {h->weights, 1, stride, g->dy.x, g->dy.ld, g->dv.x, g->dv.ld, s.from, s.to, 0, hd, g->add_v};
        if (g->dk.x) product_rows(&dk, begin, s.end);
        if (g->dv.x) product_rows(&dv, begin, s.end);
    }
}

SIMD_CLONES static void unweigh_block(const AttentionSpan *a, const Block *b, const real *w, const real *t, real *d) {
    int step = rows_at_a_time(b->width);
    for (int r = 0; r < b->rows; r += step) {
        size_t at = (size_t)r * (size_t)a->stride;
        int rows = r + step < b->rows ? step : b->rows - r;
        unweigh_rows(a, rows, b->first, b->first + b->width, w + at, t ? t + at : NULL, d + at);
    }
}

static void backward_long(const AttentionSpan *a, const QueryHead *h, Part k, Part v, const HeadGrads *g) {
    int hd = a->head_dim, stride = a->stride;
    if (g->dk.x && !g->add_k) clear_rows(g->dk, a->T, hd);
    if (g->dv.x && !g->add_v) clear_rows(g->dv, a->T, hd);
    for (int begin = 0; begin < a->T; begin += BLOCK_ROWS) {
        Block b = block_at(a, false, begin);
        Part dq = part_at(g->dq, begin), dy = part_at(g->dy, begin), q = part_at(h->q, begin);
        Part dk = part_at(g->dk, b.first), dv = part_at(g->dv, b.first);
        real *d = grad_scratch(a); /* [rows x stride], its columns are keys */
        if (b.width == 0) {
            if (dq.x && !g->add_q) clear_rows(dq, b.rows, hd);
            continue;
        }
        const real *w = make_weights(a, h, &b, k, true);
        gemm(GEMM_NT, b.rows, b.width, hd, 1, dy.x, dy.ld, part_at(v, b.first).x, v.ld, 0, d + b.first, stride);
        unweigh_block(a, &b, block_weights(a), a->softcap > 0 ? block_tanh(a) : NULL, d);
        d += b.first;
        if (dq.x) gemm(GEMM_NN, b.rows, hd, b.width, 1, d, stride, part_at(k, b.first).x, k.ld, g->add_q, dq.x, dq.ld);
        if (dk.x) gemm(GEMM_TN, b.width, hd, b.rows, 1, d, stride, q.x, q.ld, 1, dk.x, dk.ld);
        if (dv.x) gemm(GEMM_TN, b.width, hd, b.rows, 1, w, stride, dy.x, dy.ld, 1, dv.x, dv.ld);
    }
}

static void backward_off(const AttentionSpan *a, const HeadGrads *g) {
    if (g->dq.x && !g->add_q) clear_rows(g->dq, a->T, a->head_dim);
    if (g->dk.x && !g->add_k) clear_rows(g->dk, a->T, a->head_dim);
    if (g->dv.x && !g->add_v) clear_rows(g->dv, a->T, a->head_dim);
}

void attention_backward(const AttentionSpan *a, const QueryHead *h, Part k, Part v, const HeadGrads *g) {
    if (h->off)
        backward_off(a, g);
    else if (is_short(a))
        backward_short(a, h, k, g);
    else
        backward_long(a, h, k, v, g);
}
