/* Evaluation of a run: the model's loss on sentences, and the exact floor on the same sentences beside it. */
#include "run_data.h"

#include "cancel.h"

enum { TEST_BATCH = 128 }; /* sentences of a pass; of a model of others as many as learn at a time: it may be large */

/* Sum of the model's -log p over the first N sentences; a pass at a time, until nobody wants it. */
static double model_nll(Run *r, const Sentences *s, long n, long *tokens) {
    int context = model_config(run_model(r))->context, most = run_tunes(r) ? run_recipe(r).batch : TEST_BATCH;
    double sum = 0;
    *tokens = 0;
    Batch b;
    batch_init(&b);
    for (long from = 0; from < n && !cancel_wanted(); from += most) {
        batch_clear(&b);
        for (long i = from; i < n && i < from + most; i++)
            batch_add(&b, s->id + s->start[i], run_data_predictions(s, i, context), true);
        sum += shards_nll(run_shards(r), &b);
        *tokens += b.targets;
    }
    batch_done(&b);
    return sum;
}

static Status evaluate(Run *r, const Sentences *s, Floor *f, long n, double *nll, double *floor_nll, long *tokens) {
    if (n < 0 || n > s->sentences) n = s->sentences;
    double floor_sum;
    STATUS_TRY(run_data_floor(run_data(r), s, f, n, model_config(run_model(r))->context, &floor_sum));
    double sum = model_nll(r, s, n, tokens);
    if (cancel_wanted()) return status_cancelled();
    *nll = sum / (double)*tokens;
    *floor_nll = floor_sum / (double)*tokens;
    return status_ok();
}

Status run_test_nll(Run *r, long n, double *nll, double *floor_nll, long *tokens) {
    RunData *d = run_data(r);
    return evaluate(r, &d->corpus->test, &d->test, n, nll, floor_nll, tokens);
}

Status run_train_nll(Run *r, long n, double *nll, double *floor_nll, long *tokens) {
    RunData *d = run_data(r);
    return evaluate(r, &d->corpus->train, &d->train, n, nll, floor_nll, tokens);
}
