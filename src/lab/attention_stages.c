#include "attention_stages.h"

#include "mem.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"scores", "scaled", "softcapped", "masked", "weights"};
enum { SOFTCAPPED = 2, NAMES = (int)(sizeof names / sizeof *names) };

bool attention_stages_are_many(const ModelConfig *c, int T) {
    return T >= ATTENTION_BLOCKS &&
           (size_t)c->layers * (size_t)c->heads * (size_t)T * (size_t)T > ATTENTION_STAGES_MOST;
}

/* A pass of the operation alone, over one head. */
typedef struct {
    Params params; /* [T x hd] each */
    Batch batch;
    Tape *tape;
    int node;
} Alone;

/* Head HEAD of a field [heads T hd]. */
static void put(Params *p, int slice, const Field *f, int head) {
    size_t n = (size_t)f->dim[1] * (size_t)f->dim[2];
    memcpy(p->x + p->slice[slice].at, f->x + (size_t)head * n, n * sizeof *f->x);
}

static void alone_init(Alone *a, int T, int head_dim) {
    static const char *const slices[] = {"q", "k", "v"};
    params_init(&a->params);
    for (int i = 0; i < 3; i++) (void)params_add(&a->params, slices[i], T, head_dim, INIT_ZERO, 0);
    params_seal(&a->params);
    int *row = MEM_ARRAY(int, (size_t)T);
    for (int i = 0; i < T; i++) row[i] = i;
    batch_init(&a->batch);
    batch_add(&a->batch, row, T, false);
    mem_free(row);
    a->tape = tape_new(TAPE_PROBE);
}

static void alone_done(Alone *a) {
    tape_free(a->tape);
    batch_done(&a->batch);
    params_done(&a->params);
}

/* Query head HEAD of the layer with these vectors. */
static void alone_run(Alone *a, const AttentionShape *shape, const Field *const *f, int head) {
    int kv = head / (shape->heads / shape->kv_heads);
    AttentionShape one = *shape;
    Vid in[3];
    one.heads = one.kv_heads = 1;
    one.head_off = shape->head_off ? shape->head_off + head : NULL;
    for (int i = 0; i < 3; i++) put(&a->params, i, f[i], i == 0 ? head : kv);
    tape_begin(a->tape, &a->params, &a->batch, 0, 0);
    for (int i = 0; i < 3; i++) in[i] = tape_embed(a->tape, i, EMBED_TOKEN);
    (void)tape_attention(a->tape, in[0], in[1], in[2], &one);
    a->node = tape_nodes(a->tape) - 1;
    tape_forward(a->tape);
}

/* --- whole --- */

static void keep_head(Field *f, int head, const real *x) {
    size_t n = (size_t)f->dim[1] * (size_t)f->dim[2];
    memcpy(f->x + (size_t)head * n, x, n * sizeof *x);
}

int attention_stages(const AttentionShape *shape, int layer, const Field *query, const Field *key, const Field *value,
                     Field **out) {
    const Field *const in[] = {query, key, value};
    int T = query->dim[1], n = 0, dim[3];
    Alone a;
    alone_init(&a, T, shape->head_dim);
    for (int i = 0; i < NAMES; i++)
        if (i != SOFTCAPPED || shape->softcap > 0)
            out[n++] = field_new(3, (const int[]){shape->heads, T, T}, "attention.%d.%s", layer, names[i]);
    out[n++] = field_new(3, (const int[]){shape->heads, T, shape->head_dim}, "attention.%d.mix", layer);
    for (int head = 0; head < shape->heads; head++) {
        int at = 0;
        alone_run(&a, shape, in, head);
        for (int i = 0; i < NAMES; i++) {
            const real *x = tape_stage(a.tape, a.node, names[i], dim);
            if (x) keep_head(out[at++], head, x);
        }
        keep_head(out[at], head, tape_value(a.tape, tape_node(a.tape, a.node).out, NULL, NULL));
    }
    alone_done(&a);
    return n;
}

/* --- in blocks --- */

/* The largest of what is seen of rows [top, bottom) and columns [left, right); -1: nothing is. */
static real largest(const real *weight, const real *masked, int T, const int rows[2], const int cols[2]) {
    real most = -1;
    for (int i = rows[0]; i < rows[1]; i++)
        for (int j = cols[0]; j < cols[1]; j++) {
            size_t at = (size_t)i * (size_t)T + (size_t)j;
            if (!isinf(masked[at]) && weight[at] > most) most = weight[at];
        }
    return most;
}

static void add_blocks(Field *f, int head, const Alone *a, int T) {
    int dim[3], n = ATTENTION_BLOCKS;
    const real *weight = tape_stage(a->tape, a->node, "weights", dim),
               *masked = tape_stage(a->tape, a->node, "masked", dim);
    real *x = f->x + (size_t)head * (size_t)n * (size_t)n;
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++)
            *x++ = largest(weight, masked, T, (const int[]){row * T / n, (row + 1) * T / n},
                           (const int[]){col * T / n, (col + 1) * T / n});
}

Field *attention_blocks(const AttentionShape *shape, int layer, const Field *query, const Field *key,
                        const Field *value) {
    const Field *const in[] = {query, key, value};
    int T = query->dim[1], n = ATTENTION_BLOCKS;
    Alone a;
    alone_init(&a, T, shape->head_dim);
    Field *f = field_new(3, (const int[]){shape->heads, n, n}, "attention.%d.blocks", layer);
    for (int head = 0; head < shape->heads; head++) {
        alone_run(&a, shape, in, head);
        add_blocks(f, head, &a, T);
    }
    alone_done(&a);
    return f;
}
