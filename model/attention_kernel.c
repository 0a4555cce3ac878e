#include "attention_kernel.h"

#include "gemm.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

#define SHORT_MOST 64 /* longer sequences go through matrix products */
#define BLOCK_ROWS 64

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

/* --- products of short rows --- */

/* turned [hd x stride] = m^T, the columns beyond T are 0. */
SIMD_CLONES static void transpose(int T, int head_dim, int stride, Part m, real *turned) {
    for (int d = 0; d < head_dim; d++, turned += stride) {
        for (int j = 0; j < T; j++) turned[j] = m.x[(size_t)j * (size_t)m.ld + (size_t)d];
        for (int j = T; j < stride; j++) turned[j] = 0;
    }
}

/* out[j] = sum over d of a[d] turned[d][j], j from first to last, both multiples of ATTENTION_PAD. */
SIMD_INLINE void row_times_turned(int head_dim, const real *a, const real *turned, int stride, int first, int last,
                                  real *out) {
    for (int j = first; j < last; j += 2 * SIMD_WIDTH) {
        const real *b = turned + j;
        SimdReal sum0, sum1, b0, b1;
        SIMD_ZERO(sum0);
        SIMD_ZERO(sum1);
        for (int d = 0; d < head_dim; d++, b += stride) {
            SIMD_LOAD(b0, b);
            SIMD_LOAD(b1, b + SIMD_WIDTH);
            SIMD_ADD_SCALED(sum0, a[d], b0);
            SIMD_ADD_SCALED(sum1, a[d], b1);
        }
        SIMD_STORE(out + j, sum0);
        SIMD_STORE(out + j + SIMD_WIDTH, sum1);
    }
}

/* out [hd] (+)= sum over j in [from, to) of c[j * step] m[j]. */
SIMD_INLINE void mix_rows(int head_dim, int from, int to, const real *c, int step, Part m, bool add, real *out) {
    int d = 0;
    const real *first = m.x + (size_t)from * (size_t)m.ld, *c_first = c + (size_t)from * (size_t)step;
    for (; d + 2 * SIMD_WIDTH <= head_dim; d += 2 * SIMD_WIDTH) {
        SimdReal sum0, sum1, m0, m1;
        const real *row = first + d, *cj = c_first;
        SIMD_ZERO(sum0);
        SIMD_ZERO(sum1);
        if (add) {
            SIMD_LOAD(sum0, out + d);
            SIMD_LOAD(sum1, out + d + SIMD_WIDTH);
        }
        for (int j = from; j < to; j++, row += m.ld, cj += step) {
            SIMD_LOAD(m0, row);
            SIMD_LOAD(m1, row + SIMD_WIDTH);
            SIMD_ADD_SCALED(sum0, *cj, m0);
            SIMD_ADD_SCALED(sum1, *cj, m1);
        }
        SIMD_STORE(out + d, sum0);
        SIMD_STORE(out + d + SIMD_WIDTH, sum1);
    }
    for (; d < head_dim; d++) {
        real sum = add ? out[d] : 0;
        const real *x = first + d, *cj = c_first;
        for (int j = from; j < to; j++, x += m.ld, cj += step) sum += *cj * *x;
        out[d] = sum;
    }
}

/* --- from scores to weights --- */

static void keep_stage(const QueryHead *h, int stage, int T, int i, const real *w) {
    if (h->stage[stage]) memcpy(h->stage[stage] + (size_t)i * (size_t)T, w, (size_t)T * sizeof *w);
}

SIMD_INLINE void fill(real *x, int from, int to, real value) {
    for (int j = from; j < to; j++) x[j] = value;
}

/* w[j] = exp(w[j] - max) / sum over [first, last); cells that do not count are -inf and become 0. */
SIMD_INLINE void softmax_row(real *w, int first, int last) {
    int n = last - first;
    real sum = row_exp(n, w + first, row_max(n, w + first), w + first);
    real inverse = (real)1 / sum;
    for (int j = first; j < last; j++) w[j] *= inverse;
}

/* Row i of w [T x stride] holds scores at [first, last), which covers what the row sees; it becomes weights. */
SIMD_INLINE void weigh_row(const AttentionSpan *a, const QueryHead *h, int i, int first, int last) {
    size_t at = (size_t)i * (size_t)a->stride;
    real *w = h->weights + at;
    int from = a->from[i], to = a->to[i];
    keep_stage(h, 0, a->T, i, w);
    for (int j = first; j < last; j++) w[j] *= a->scale;
    keep_stage(h, 1, a->T, i, w);
    if (a->softcap > 0) {
        for (int j = first; j < last; j++) {
            h->tanh[at + (size_t)j] = scalar_tanh(w[j] / a->softcap);
            w[j] = a->softcap * h->tanh[at + (size_t)j];
        }
        keep_stage(h, 2, a->T, i, w);
    }
    fill(w, first, from, -REAL_INFINITY);
    fill(w, to, last, -REAL_INFINITY);
    for (int j = from; a->allowed && j < to; j++)
        if (!a->allowed[(size_t)i * (size_t)a->T + (size_t)j]) w[j] = -REAL_INFINITY;
    keep_stage(h, 3, a->T, i, w);
    if (from < to)
        softmax_row(w, first, last);
    else
        fill(w, first, last, 0);
    keep_stage(h, 4, a->T, i, w);
}

/* --- forward --- */

void attention_load_keys(const AttentionSpan *a, Part k) {
    if (is_short(a)) transpose(a->T, a->head_dim, a->stride, k, a->scratch);
}

/* Where a row's work begins and ends, in whole steps of ATTENTION_PAD; everything when stages are kept. */
SIMD_INLINE void row_bounds(const AttentionSpan *a, bool whole, int i, int *first, int *last) {
    *first = whole ? 0 : a->from[i] / ATTENTION_PAD * ATTENTION_PAD;
    *last = whole ? a->stride : (a->to[i] + ATTENTION_PAD - 1) / ATTENTION_PAD * ATTENTION_PAD;
}

SIMD_CLONES static void forward_short(const AttentionSpan *a, const QueryHead *h, Part v) {
    for (int i = 0; i < a->T; i++) {
        int first, last;
        real *w = h->weights + (size_t)i * (size_t)a->stride, *y = part_at(h->y, i).x;
        row_bounds(a, h->stage[0] != NULL, i, &first, &last);
        row_times_turned(a->head_dim, part_at(h->q, i).x, a->scratch, a->stride, first, last, w);
        weigh_row(a, h, i, first, last);
        fill(w, 0, first, 0);
        fill(w, last, a->stride, 0);
        mix_rows(a->head_dim, a->from[i], a->to[i], w, 1, v, false, y);
    }
}

SIMD_CLONES static void weigh_block(const AttentionSpan *a, const QueryHead *h, int begin, int end, int first,
                                    int last) {
    for (int i = begin; i < end; i++) weigh_row(a, h, i, first, last);
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

/* d [last] holds the gradients of the weights at [first, last); they become those of the raw scores:
 *   ds = w (dw - sum of w dw) (1 - tanh^2) / sqrt(hd) */
SIMD_INLINE void unweigh_row(const AttentionSpan *a, const QueryHead *h, int i, int first, int last, real *d) {
    size_t at = (size_t)i * (size_t)a->stride;
    const real *w = h->weights + at;
    real dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int j = first; j < last; j++) dot += w[j] * d[j];
    for (int j = first; j < last; j++) d[j] = w[j] * (d[j] - dot) * a->scale;
    if (a->softcap > 0)
        for (int j = first; j < last; j++) d[j] *= (real)1 - h->tanh[at + (size_t)j] * h->tanh[at + (size_t)j];
}

SIMD_CLONES static void backward_short(const AttentionSpan *a, const QueryHead *h, Part k, const HeadGrads *g) {
    real *d = block_scratch(a); /* [T x stride] */
    int hd = a->head_dim, stride = a->stride;
    for (int i = 0; i < a->T; i++) {
        int first, last;
        real *di = d + (size_t)i * (size_t)stride;
        row_bounds(a, false, i, &first, &last);
        row_times_turned(hd, part_at(g->dy, i).x, a->scratch, stride, first, last, di);
        unweigh_row(a, h, i, first, last, di);
        if (g->dq.x) mix_rows(hd, a->from[i], a->to[i], di, 1, k, g->add_q, part_at(g->dq, i).x);
    }
    for (int j = 0; j < a->T; j++) {
        int from = a->row_from[j], to = a->row_to[j];
        if (g->dk.x) mix_rows(hd, from, to, d + j, stride, h->q, g->add_k, part_at(g->dk, j).x);
        if (g->dv.x) mix_rows(hd, from, to, h->weights + j, stride, g->dy, g->add_v, part_at(g->dv, j).x);
    }
}

SIMD_CLONES static void unweigh_block(const AttentionSpan *a, const QueryHead *h, const Block *b, real *d) {
    for (int i = 0; i < b->rows; i++, d += a->stride) unweigh_row(a, h, b->begin + i, b->first, b->first + b->width, d);
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
