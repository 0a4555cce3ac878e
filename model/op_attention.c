/* op_attention: scaled dot-product attention (Vaswani et al. 2017) over packed sentences, with grouped queries (Ainslie
 * et al. 2023), a window, and a softcap on the scores (Gemma 2). Query head h reads key/value head h / (H / Hkv).
 *   s = q k^T / sqrt(hd),   s = c tanh(s / c),   w = softmax(s where the mask allows),   y = w v
 *   dv = w^T dy,   dw = dy v^T,   ds = w (dw - sum(w dw)) (1 - tanh^2) / sqrt(hd),   dq = ds k,   dk = ds^T q
 * A row that sees nothing gives zeros. Kept for backward: the weights (and tanh(s/c)) of short sequences, two numbers
 * of each row of long ones; a probe tape keeps every stage, unless it is lean. */
#include "attention_kernel.h"
#include "bug.h"
#include "op.h"

#include <math.h>
#include <string.h>

static const char *const stage_names[ATTENTION_STAGES] = {"scores", "scaled", "softcapped", "masked", "weights"};

static bool keeps_stages(const Tape *t) {
    return t->mode == TAPE_PROBE && op_has_backward(t);
}

static int length_of(const Batch *b, int s) {
    return b->start[s + 1] - b->start[s];
}

/* Numbers of all weights that are kept, or of a stage: H [T x T] for each sequence. */
static size_t weight_count(const Batch *b, int heads, bool stage) {
    size_t count = 0;
    for (int s = 0; s < b->sequences; s++) {
        size_t T = (size_t)length_of(b, s);
        count += (size_t)heads * (stage ? T * T : attention_kept((int)T));
    }
    return count;
}

static void check(const Tape *t, Vid q, Vid k, Vid v, const AttentionShape *a) {
    BUG_ON(a->heads < 1 || a->kv_heads < 1 || a->heads % a->kv_heads || a->head_dim < 1);
    BUG_ON(q == k || k == v || q == v);
    BUG_ON(t->value[q].cols != a->heads * a->head_dim || t->value[q].rows != t->rows);
    BUG_ON(t->value[k].cols != a->kv_heads * a->head_dim || t->value[k].rows != t->rows);
    BUG_ON(t->value[v].cols != a->kv_heads * a->head_dim || t->value[v].rows != t->rows);
}

/* The scratch: the kernel's room, the table of allowed cells of one sequence, then the weights of one head and their
 * tanh where they are not kept. */
static size_t kernel_room(int T, int head_dim) {
    return (attention_scratch(T, head_dim) + 15) / 16 * 16;
}
static size_t allowed_room(int T) {
    return op_aligned(((size_t)T * (size_t)T + sizeof(real) - 1) / sizeof(real));
}
/* Of one sequence. A short one may need more than a longer one, which the kernel works on in blocks. */
static size_t scratch_room(const Tape *t, const AttentionShape *a, int T) {
    return kernel_room(T, a->head_dim) + allowed_room(T) + (op_has_backward(t) ? 0 : 2 * attention_kept(T));
}

Vid tape_attention(Tape *t, Vid q, Vid k, Vid v, const AttentionShape *shape) {
    check(t, q, k, v, shape);
    Node *n = op_record(t, OP_ATTENTION);
    op_input(t, n, 0, q);
    op_input(t, n, 1, k);
    op_input(t, n, 2, v);
    n->arg.attention.shape = *shape;
    n->keep[0] = op_keep_for_backward(t, weight_count(t->batch, shape->heads, false));
    if (shape->softcap > 0) n->keep[1] = op_keep_for_backward(t, weight_count(t->batch, shape->heads, false));
    for (int i = 0; i < ATTENTION_STAGES && keeps_stages(t); i++)
        n->arg.attention.stage[i] = op_keep(t, weight_count(t->batch, shape->heads, true));
    (void)op_integers(t, 4 * (size_t)t->rows, &n->integers);
    for (int s = 0; s < t->batch->sequences; s++) op_scratch(t, scratch_room(t, shape, length_of(t->batch, s)));
    Vid y = op_output(t, n, t->rows, shape->heads * shape->head_dim);
    op_wants_grad(t, n);
    return y;
}

/* --- what each row sees --- */

typedef struct {
    int *from, *to, *row_from, *row_to; /* [T] */
} Bounds;

static Bounds bounds_at(Tape *t, const Node *n, int row) {
    int *base = t->integer + n->integers + row;
    return (Bounds){base, base + t->rows, base + 2 * (size_t)t->rows, base + 3 * (size_t)t->rows};
}

/* Positions count up by one and there are no pads: the ordinary case. */
static bool is_plain(const Batch *b, int first, int T) {
    if (b->pad) return false;
    for (int i = 1; i < T; i++)
        if (b->position[first + i] != b->position[first] + i) return false;
    return true;
}

static void plain_bounds(const MaskRule *m, int T, const Bounds *b) {
    for (int i = 0; i < T; i++) {
        b->from[i] = m->window > 0 && i >= m->window ? i - m->window + 1 : 0;
        b->to[i] = m->causal ? i + 1 : T;
        b->row_from[i] = m->causal ? i : 0;
        b->row_to[i] = m->window > 0 && T - i > m->window ? i + m->window : T;
    }
}

/* Any positions and pads: by asking the predicate for every cell; allowed [T x T]. */
static void general_bounds(const Batch *batch, const MaskRule *m, int first, int T, const Bounds *b,
                           unsigned char *allowed) {
    for (int i = 0; i < T; i++) {
        b->from[i] = b->row_from[i] = T;
        b->to[i] = b->row_to[i] = 0;
    }
    for (int i = 0; i < T; i++) {
        for (int j = 0; j < T; j++) {
            bool ok = batch_allows(batch, m, first + i, first + j);
            allowed[(size_t)i * (size_t)T + (size_t)j] = ok;
            if (!ok) continue;
            if (b->from[i] == T) b->from[i] = j;
            b->to[i] = j + 1;
            if (b->row_from[j] == T) b->row_from[j] = i;
            b->row_to[j] = i + 1;
        }
    }
    for (int i = 0; i < T; i++) {
        if (b->from[i] >= b->to[i]) b->from[i] = b->to[i] = 0;
        if (b->row_from[i] >= b->row_to[i]) b->row_from[i] = b->row_to[i] = 0;
    }
}

/* --- walking over sequences and heads --- */

typedef struct {
    AttentionSpan span;
    int first;           /* row of the batch where the sequence begins */
    size_t at, stage_at; /* offsets of its first head's weights */
} Walk;

static void walk_to(Tape *t, const Node *n, int s, Walk *w) {
    const AttentionShape *a = &n->arg.attention.shape;
    int T = length_of(t->batch, s);
    w->first = t->batch->start[s];
    Bounds b = bounds_at(t, n, w->first);
    w->span = (AttentionSpan){.T = T,
                              .head_dim = a->head_dim,
                              .stride = attention_stride(T),
                              .from = b.from,
                              .to = b.to,
                              .row_from = b.row_from,
                              .row_to = b.row_to,
                              .scale = (real)(1 / sqrt(a->head_dim)),
                              .softcap = (real)a->softcap,
                              .scratch = t->scratch};
}

static void walk_past(const Node *n, Walk *w) {
    size_t heads = (size_t)n->arg.attention.shape.heads, T = (size_t)w->span.T;
    w->at += heads * attention_kept(w->span.T);
    w->stage_at += heads * T * T;
}

static void find_bounds(Tape *t, const Node *n, Walk *w) {
    const MaskRule *m = &n->arg.attention.shape.mask;
    Bounds b = bounds_at(t, n, w->first);
    if (is_plain(t->batch, w->first, w->span.T)) {
        plain_bounds(m, w->span.T, &b);
        return;
    }
    unsigned char *allowed = (unsigned char *)(t->scratch + kernel_room(w->span.T, w->span.head_dim));
    general_bounds(t->batch, m, w->first, w->span.T, &b, allowed);
    w->span.allowed = allowed;
}

static Part part_of(const Tape *t, Vid v, bool grad, int row, int head, int head_dim) {
    const Value *m = &t->value[v];
    real *x = grad ? t->grad_arena + m->grad : t->arena + m->x;
    return (Part){x + (size_t)row * (size_t)m->ld + (size_t)head * (size_t)head_dim, m->ld};
}

static QueryHead query_head(const Tape *t, const Node *n, const Walk *w, int head) {
    const AttentionShape *a = &n->arg.attention.shape;
    size_t numbers = attention_kept(w->span.T), at = w->at + (size_t)head * numbers;
    real *spare = t->scratch + kernel_room(w->span.T, a->head_dim) + allowed_room(w->span.T);
    bool kept = op_has_backward(t);
    QueryHead h = {.q = part_of(t, n->in[0], false, w->first, head, a->head_dim),
                   .y = part_of(t, n->out[0], false, w->first, head, a->head_dim),
                   .weights = kept ? t->arena + n->keep[0] + at : spare,
                   .off = a->head_off && a->head_off[head]};
    if (a->softcap > 0) h.tanh = kept ? t->arena + n->keep[1] + at : spare + numbers;
    size_t stage_at = w->stage_at + (size_t)head * (size_t)w->span.T * (size_t)w->span.T;
    for (int i = 0; i < ATTENTION_STAGES && keeps_stages(t); i++)
        h.stage[i] = t->arena + n->arg.attention.stage[i] + stage_at;
    return h;
}

void op_attention_forward(Tape *t, const Node *n) {
    const AttentionShape *a = &n->arg.attention.shape;
    int group = a->heads / a->kv_heads;
    Walk w = {0};
    for (int s = 0; s < t->batch->sequences; s++) {
        walk_to(t, n, s, &w);
        find_bounds(t, n, &w);
        for (int kv = 0; kv < a->kv_heads; kv++) {
            Part k = part_of(t, n->in[1], false, w.first, kv, a->head_dim);
            Part v = part_of(t, n->in[2], false, w.first, kv, a->head_dim);
            attention_load_keys(&w.span, k);
            for (int head = kv * group; head < (kv + 1) * group; head++) {
                QueryHead h = query_head(t, n, &w, head);
                attention_forward(&w.span, &h, k, v);
            }
        }
        walk_past(n, &w);
    }
}

/* --- backward --- */

typedef struct {
    bool want[3], add[3]; /* of q, k, v */
} Wanted;

static Part grad_part(const Tape *t, const Node *n, const Wanted *g, int input, int row, int head) {
    if (!g->want[input]) return (Part){NULL, 0};
    return part_of(t, n->in[input], true, row, head, n->arg.attention.shape.head_dim);
}

/* One key/value head: the first query head of the group may overwrite the gradients of k and v, the others add. */
static void backward_group(Tape *t, const Node *n, const Walk *w, const Wanted *want, int kv) {
    const AttentionShape *a = &n->arg.attention.shape;
    int group = a->heads / a->kv_heads;
    Part k = part_of(t, n->in[1], false, w->first, kv, a->head_dim);
    Part v = part_of(t, n->in[2], false, w->first, kv, a->head_dim);
    attention_load_values(&w->span, v);
    for (int i = 0; i < group; i++) {
        int head = kv * group + i;
        QueryHead h = query_head(t, n, w, head);
        HeadGrads g = {.dy = part_of(t, n->out[0], true, w->first, head, a->head_dim),
                       .dq = grad_part(t, n, want, 0, w->first, head),
                       .dk = grad_part(t, n, want, 1, w->first, kv),
                       .dv = grad_part(t, n, want, 2, w->first, kv),
                       .add_q = want->add[0],
                       .add_k = want->add[1] || i > 0,
                       .add_v = want->add[2] || i > 0};
        attention_backward(&w->span, &h, k, v, &g);
    }
}

void op_attention_backward(Tape *t, const Node *n) {
    Wanted want = {0};
    for (int i = 0; i < 3; i++) want.want[i] = op_grad(t, n->in[i], &want.add[i]) != NULL;
    Walk w = {0};
    for (int s = 0; s < t->batch->sequences; s++) {
        walk_to(t, n, s, &w);
        find_bounds(t, n, &w);
        for (int kv = 0; kv < n->arg.attention.shape.kv_heads; kv++) backward_group(t, n, &w, &want, kv);
        walk_past(n, &w);
    }
}

const real *tape_stage(const Tape *t, int node, const char *stage, int dim[3]) {
    BUG_ON(node < 0 || node >= t->nodes);
    const Node *n = &t->node[node];
    if (!keeps_stages(t) || n->op != OP_ATTENTION || t->batch->sequences != 1) return NULL;
    for (int i = 0; i < ATTENTION_STAGES; i++) {
        if (strcmp(stage, stage_names[i]) != 0) continue;
        if (i == 2 && !(n->arg.attention.shape.softcap > 0)) return NULL;
        dim[0] = n->arg.attention.shape.heads;
        dim[1] = dim[2] = t->rows;
        return t->arena + n->arg.attention.stage[i];
    }
    return NULL;
}
