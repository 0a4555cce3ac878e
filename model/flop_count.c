#include "flop_count.h"

#include "attention_kernel.h"
#include "batch.h"
#include "bug.h"
#include "gemm.h"
#include "mem.h"
#include "model.h"

#include <string.h>

static void fill_batch(Batch *b, int vocab, int T, int batch) {
    int *ids = MEM_ARRAY(int, (size_t)T);
    for (int s = 0; s < batch; s++) {
        for (int i = 0; i < T; i++) ids[i] = (s + i) % vocab;
        batch_add(b, ids, T, false);
    }
    mem_free(ids);
}

/* The part of the account that a node belongs to; NULL: it has no business with products. */
static Count *part_of(FlopAccount *a, const NodeInfo *node) {
    if (strcmp(node->op, "attention") == 0) return &a->core;
    if (strcmp(node->op, "linear") != 0) return NULL;
    if (strstr(node->name, ".attention.")) return &a->projections;
    if (strstr(node->name, ".ffn.")) return &a->feed_forward;
    return &a->output;
}

FlopAccount flop_count(const ModelConfig *c, int T, int batch) {
    BUG_ON(T < FLOP_COUNT_SHORTEST);
    FlopAccount a = {0};
    Batch b;
    batch_init(&b);
    fill_batch(&b, c->vocab, T, batch);
    Model *m = model_new(c, 1);
    Tape *t = tape_new(TAPE_PROBE);
    tape_begin(t, model_read_params(m), &b, 1, 0);
    (void)model_graph(m, t, NULL);
    for (int i = 0; i < tape_nodes(t); i++) {
        NodeInfo node = tape_node(t, i);
        long long before = gemm_flops();
        tape_run(t, i, i + 1);
        Count made = gemm_flops() - before, *part = part_of(&a, &node);
        BUG_ON(!part && made != 0);
        if (part) *part += made;
    }
    a.total = a.projections + a.core + a.feed_forward + a.output;
    tape_free(t);
    model_free(m);
    batch_done(&b);
    return a;
}

Count flop_count_room(const ModelConfig *c, Count T, Count batch) {
    Count stages = account_times(ATTENTION_STAGES + 2, account_times(c->layers, c->heads));
    Count square = account_times(stages, account_times(account_times(T, T), batch));
    Count rows = account_times(2, account_activations(c, T, batch).rows); /* a probe also keeps what is derived */
    return account_add(account_parameters(c).total, account_add(square, rows));
}
