#include "forward.h"

#include "mem.h"

struct Forward {
    Tape *tape;
    Batch batch; /* of forward_ids */
};

Forward *forward_new(void) {
    Forward *f = MEM_NEW(Forward);
    f->tape = tape_new(TAPE_EVAL);
    batch_init(&f->batch);
    return f;
}

void forward_free(Forward *f) {
    if (!f) return;
    tape_free(f->tape);
    batch_done(&f->batch);
    mem_free(f);
}

const real *forward_batch(Forward *f, const Model *m, const Batch *b) {
    tape_begin_lean(f->tape, model_read_params(m), b, NULL, NULL);
    Vid logits = model_graph(m, f->tape, NULL);
    tape_forward(f->tape);
    return tape_value(f->tape, logits, NULL, NULL);
}

const real *forward_ids(Forward *f, const Model *m, const int *ids, int n) {
    batch_clear(&f->batch);
    batch_add(&f->batch, ids, n, false);
    return forward_batch(f, m, &f->batch);
}
