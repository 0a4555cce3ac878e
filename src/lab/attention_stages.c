#include "attention_stages.h"

#include "mem.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"scores", "scaled", "softcapped", "masked", "weights"};
enum { NAMES = (int)(sizeof names / sizeof *names) };

/* A pass of the operation alone. */
typedef struct {
    Params params; /* [T x heads hd], as they are */
    Batch batch;
    Tape *tape;
    int node;
} Alone;

/* A field [heads T hd] as a slice [T x heads hd]. */
static void put(Params *p, int slice, const Field *f) {
    size_t T = (size_t)f->dim[1], hd = (size_t)f->dim[2], heads = (size_t)f->dim[0];
    real *x = p->x + p->slice[slice].at;
    for (size_t i = 0; i < T; i++)
        for (size_t h = 0; h < heads; h++, x += hd) memcpy(x, f->x + (h * T + i) * hd, hd * sizeof *x);
}

static void alone_init(Alone *a, const AttentionShape *shape, const Field *const *f) {
    static const char *const slices[] = {"q", "k", "v"};
    int T = f[0]->dim[1];
    Vid in[3];
    params_init(&a->params);
    for (int i = 0; i < 3; i++) (void)params_add(&a->params, slices[i], T, f[i]->dim[0] * f[i]->dim[2], INIT_ZERO, 0);
    params_seal(&a->params);
    for (int i = 0; i < 3; i++) put(&a->params, i, f[i]);
    int *row = MEM_ARRAY(int, (size_t)T);
    for (int i = 0; i < T; i++) row[i] = i;
    batch_init(&a->batch);
    batch_add(&a->batch, row, T, false);
    mem_free(row);
    a->tape = tape_new(TAPE_PROBE);
    tape_begin(a->tape, &a->params, &a->batch, 0, 0);
    for (int i = 0; i < 3; i++) in[i] = tape_embed(a->tape, i, EMBED_TOKEN);
    (void)tape_attention(a->tape, in[0], in[1], in[2], shape);
    a->node = tape_nodes(a->tape) - 1;
    tape_forward(a->tape);
}

static void alone_done(Alone *a) {
    tape_free(a->tape);
    batch_done(&a->batch);
    params_done(&a->params);
}

int attention_stages(const AttentionShape *shape, int layer, const Field *query, const Field *key, const Field *value,
                     Field **out) {
    const Field *const in[] = {query, key, value};
    int n = 0;
    Alone a;
    alone_init(&a, shape, in);
    for (int i = 0; i < NAMES; i++) {
        int dim[3];
        const real *x = tape_stage(a.tape, a.node, names[i], dim);
        if (!x) continue;
        out[n] = field_new(3, dim, "attention.%d.%s", layer, names[i]);
        memcpy(out[n]->x, x, field_count(out[n]) * sizeof *x);
        n++;
    }
    alone_done(&a);
    return n;
}

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

Field *attention_blocks(const AttentionShape *shape, int layer, const Field *query, const Field *key,
                        const Field *value) {
    const Field *const in[] = {query, key, value};
    int dim[3], T = query->dim[1], n = ATTENTION_BLOCKS;
    Alone a;
    alone_init(&a, shape, in);
    const real *weight = tape_stage(a.tape, a.node, "weights", dim),
               *masked = tape_stage(a.tape, a.node, "masked", dim);
    Field *f = field_new(3, (const int[]){dim[0], n, n}, "attention.%d.blocks", layer);
    for (int h = 0; h < dim[0]; h++, weight += (size_t)T * (size_t)T, masked += (size_t)T * (size_t)T)
        for (int row = 0; row < n; row++)
            for (int col = 0; col < n; col++)
                f->x[((size_t)h * (size_t)n + (size_t)row) * (size_t)n + (size_t)col] =
                    largest(weight, masked, T, (const int[]){row * T / n, (row + 1) * T / n},
                            (const int[]){col * T / n, (col + 1) * T / n});
    alone_done(&a);
    return f;
}
