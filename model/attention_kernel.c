#include "attention_kernel.h"

#include "gemm.h"
#include "product.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

#define SHORT_MOST 64 /* longer sequences go through matrix products */
#define BLOCK_ROWS 64
#define STRIP_ROWS 16 /* of a short sequence worked on together */

static bool is_short(const AttentionSpan *a) {
    return a->T <= SHORT_MOST;
}

size_t attention_scratch(int T, int head_dim) {
    size_t stride = (size_t)attention_stride(T);
    size_t turned = T <= SHORT_MOST ? stride * (size_t)head_dim : 0; /* keys or values, transposed */
    size_t block = T <= SHORT_MOST ? (size_t)T : BLOCK_ROWS;         /* gradients of weights, then of scores */
    return turned + block * stride;
}

static real *block_scratch(const AttentionSpan *a) {
    return a->scratch + (is_short(a) ? (size_t)a->stride * (size_t)a->head_dim : 0);
}

static Part part_at(Part p, int row) {
    return (Part){p.x ? p.x + (size_t)row * (size_t)p.ld : NULL, p.ld};
}

/* --- short sequences: rows go in blocks of four, and each pass over a block is a loop of its own, so that rows overlap
 * --- */

/* turned [hd x stride] = m^T, the columns beyond T are 0. */
SIMD_CLONES static void transpose(int T, int head_dim, int stride, Part m, real *turned) {
    for (int d = 0; d < head_dim; d++, turned += stride) {
        for (int j = 0; j < T; j++) turned[j] = m.x[(size_t)j * (size_t)m.ld + (size_t)d];
        for (int j = T; j < stride; j++) turned[j] = 0;
    }
}

/* --- from scores to weights --- */

static void keep_stage(const QueryHead *h, int stage, int T, int i, const real *w) {
    if (h->stage[stage]) memcpy(h->stage[stage] + (size_t)i * (size_t)T, w, (size_t)T * sizeof *w);
}

SIMD_INLINE void fill(real *x, int from, int to, real value) {
    for (int j = from; j < to; j++) x[j] = value;
}

/* Row i of the scores [T x stride] at [first, last), which covers what the row sees: scaled, capped, -inf where masked.
 */
SIMD_INLINE void mask_row(const AttentionSpan *a, const QueryHead *h, int i, int first, int last) {
    size_t at = (size_t)i * (size_t)a->stride;
    real *w = h->weights + at, scale = a->scale;
    int from = a->from[i], to = a->to[i];
    keep_stage(h, 0, a->T, i, w);
    SIMD_LOOP for (int j = first; j < last; j++) w[j] *= scale;
    keep_stage(h, 1, a->T, i, w);
    if (a->softcap > 0) {
        real *t = h->tanh + at, cap = a->softcap;
        SIMD_LOOP for (int j = first; j < last; j++) {
            t[j] = scalar_tanh(w[j] / cap);
            w[j] = cap * t[j];
        }
        keep_stage(h, 2, a->T, i, w);
    }
    SIMD_LOOP for (int j = first; j < last; j++) w[j] = j >= from && j < to ? w[j] : -REAL_INFINITY;
    for (int j = from; a->allowed && j < to; j++)
        if (!a->allowed[(size_t)i * (size_t)a->T + (size_t)j]) w[j] = -REAL_INFINITY;
    keep_stage(h, 3, a->T, i, w);
}

/* Rows [begin, end), at most BLOCK_ROWS, from scores to weights. Each step goes over all rows before the next, so that
 * the processor has several rows to work on at a time. */
SIMD_INLINE void weigh_rows(const AttentionSpan *a, const QueryHead *h, int begin, int end, int first, int last) {
    real most[BLOCK_ROWS], inverse[BLOCK_ROWS], *w = h->weights + (size_t)begin * (size_t)a->stride + first;
    int n = last - first, rows = end - begin;
    size_t stride = (size_t)a->stride;
    if (n == 0) return;
    for (int r = 0; r < rows; r++) mask_row(a, h, begin + r, first, last);
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
        keep_stage(h, 4, a->T, begin + r, h->weights + (size_t)(begin + r) * stride);
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
    for (int begin = 0; begin < a->T; begin += STRIP_ROWS) {
        Strip s = strip_at(a->from, a->to, begin, a->T, a->stride, whole);
        Product scores = {h->q.x,    h->q.ld, 1,           a->scratch, a->stride, h->weights,
                          a->stride, 0,       a->head_dim, s.first,    s.last,    false};
        product_rows(&scores, begin, s.end);
        weigh_rows(a, h, begin, s.end, s.first, s.last);
        for (int i = begin; i < s.end; i++) {
            fill(h->weights + (size_t)i * (size_t)a->stride, 0, s.first, 0);
            fill(h->weights + (size_t)i * (size_t)a->stride, s.last, a->stride, 0);
        }
        Product mix = {h->weights, a->stride, 1, v.x, v.ld, h->y.x, h->y.ld, s.from, s.to, 0, a->head_dim, false};
        product_rows(&mix, begin, s.end);
    }
}

SIMD_CLONES static void weigh_block(const AttentionSpan *a, const QueryHead *h, int begin, int end, int first,
                                    int last) {
    weigh_rows(a, h, begin, end, first, last);
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

static void forward_long(const AttentionSpan *a, const QueryHead *h, Part k, Part v) {
    for (int begin = 0; begin < a->T; begin += BLOCK_ROWS) {
        Block b = block_at(a, h->stage[0] != NULL, begin);
        Part q = part_at(h->q, begin), y = part_at(h->y, begin);
        real *w = h->weights + (size_t)begin * (size_t)a->stride + b.first;
        if (b.width == 0) {
            clear_rows(y, b.rows, a->head_dim);
            continue;
        }
        gemm(GEMM_NT, b.rows, b.width, a->head_dim, 1, q.x, q.ld, part_at(k, b.first).x, k.ld, 0, w, a->stride);
        weigh_block(a, h, begin, begin + b.rows, b.first, b.first + b.width);
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

/* d [rows x stride] holds the gradients of the weights of rows from begin at [first, last); they become those of the
 * scores: ds = w (dw - sum of w dw) (1 - tanh^2) / sqrt(hd) */
SIMD_INLINE void unweigh_rows(const AttentionSpan *a, const QueryHead *h, int begin, int end, int first, int last,
                              real *d) {
    real dot[BLOCK_ROWS], scale = a->scale;
    const real *w = h->weights + (size_t)begin * (size_t)a->stride;
    const real *t = a->softcap > 0 ? h->tanh + (size_t)begin * (size_t)a->stride : NULL;
    size_t stride = (size_t)a->stride;
    for (int r = 0; r < end - begin; r++)
        dot[r] = row_dot(last - first, w + (size_t)r * stride + first, d + (size_t)r * stride + first);
    for (int r = 0; r < end - begin; r++, w += stride, d += stride) {
        real sum = dot[r];
        SIMD_LOOP for (int j = first; j < last; j++) d[j] = w[j] * (d[j] - sum) * scale;
        if (!t) continue;
        SIMD_LOOP for (int j = first; j < last; j++) d[j] *= (real)1 - t[j] * t[j];
        t += stride;
    }
}

SIMD_CLONES static void backward_short(const AttentionSpan *a, const QueryHead *h, Part k, const HeadGrads *g) {
    real *d = block_scratch(a); /* [T x stride] */
    int hd = a->head_dim, stride = a->stride;
    for (int begin = 0; begin < a->T; begin += STRIP_ROWS) {
        Strip s = strip_at(a->from, a->to, begin, a->T, stride, false);
        Product dw = {g->dy.x, g->dy.ld, 1, a->scratch, stride, d, stride, 0, hd, s.first, s.last, false};
        product_rows(&dw, begin, s.end);
        unweigh_rows(a, h, begin, s.end, s.first, s.last, d + (size_t)begin * (size_t)stride);
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

SIMD_CLONES static void unweigh_block(const AttentionSpan *a, const QueryHead *h, const Block *b, real *d) {
    unweigh_rows(a, h, b->begin, b->begin + b->rows, b->first, b->first + b->width, d);
}

static void backward_long(const AttentionSpan *a, const QueryHead *h, Part k, Part v, const HeadGrads *g) {
    int hd = a->head_dim, stride = a->stride;
    if (g->dk.x && !g->add_k) clear_rows(g->dk, a->T, hd);
    if (g->dv.x && !g->add_v) clear_rows(g->dv, a->T, hd);
    for (int begin = 0; begin < a->T; begin += BLOCK_ROWS) {
        Block b = block_at(a, false, begin);
        Part dq = part_at(g->dq, begin), dy = part_at(g->dy, begin), q = part_at(h->q, begin);
        Part dk = part_at(g->dk, b.first), dv = part_at(g->dv, b.first);
        real *d = block_scratch(a); /* [rows x stride], its columns are keys */
        const real *w = h->weights + (size_t)begin * (size_t)stride + b.first;
        if (b.width == 0) {
            if (dq.x && !g->add_q) clear_rows(dq, b.rows, hd);
            continue;
        }
        gemm(GEMM_NT, b.rows, b.width, hd, 1, dy.x, dy.ld, part_at(v, b.first).x, v.ld, 0, d + b.first, stride);
        unweigh_block(a, h, &b, d);
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
