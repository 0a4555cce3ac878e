/* Evaluation of a run: the model's loss on sentences, and the exact floor on the same sentences beside it. */
#include "run_data.h"

#include "mem.h"

#include <math.h>

enum { TEST_BATCH = 128 }; /* sentences of a pass; of a model of others as many as learn at a time: it may be large */

RunData *run_data_new(Corpus *c, const char *spec, long drawn) {
    RunData *d = MEM_NEW(RunData);
    d->corpus = c;
    d->spec = mem_text(spec);
    d->sentences = c->grammar ? drawn : c->train.sentences;
    return d;
}

void run_data_lose(RunData *d, const Checkpoint *c) {
    d->lost = MEM_NEW(LostCorpus);
    *d->lost = (LostCorpus){mem_text(c->corpus), mem_text(c->grammar), mem_text(c->text), c->sentences};
}

static void lost_free(LostCorpus *l) {
    if (!l) return;
    mem_free(l->corpus);
    mem_free(l->grammar);
    mem_free(l->text);
    mem_free(l);
}

void run_data_free(RunData *d) {
    if (!d) return;
    lost_free(d->lost);
    if (!d->borrowed) corpus_free(d->corpus);
    mem_free(d->spec);
    mem_free(d->model);
    mem_free(d->tokenizer);
    mem_free(d->train.sum);
    mem_free(d->test.sum);
    mem_free(d);
}

/* Predictions of sentence I: every token after <s>, as far as the context reaches. */
static int predictions(const Sentences *s, long i, int context) {
    long n = s->start[i + 1] - s->start[i] - 1;
    return n < context ? (int)n : context;
}

/* -log p of the first N predictions of sentence I. */
static Status sentence_floor(RunData *d, const Sentences *s, long i, int n, double *nll) {
    Str text;
    str_init(&text);
    corpus_text(d->corpus, s, i, &text);
    double *log_p = NULL;
    int tokens;
    Status status = language_steps(d->corpus->language, text.s, &log_p, &tokens);
    *nll = 0;
    if (status_is_ok(&status))
        for (int k = 0; k < n && k <= tokens; k++) *nll -= log_p[k];
    mem_free(log_p);
    str_done(&text);
    return status;
}

Status run_data_floor(RunData *d, const Sentences *s, Floor *f, long n, int context, double *sum) {
    *sum = (double)NAN;
    if (!d->corpus->language) return status_ok();
    if (f->context != context) f->known = 0;
    f->context = context;
    if (f->capacity < n + 1) {
        f->sum = mem_resize(f->sum, (size_t)n + 1, sizeof *f->sum);
        f->capacity = n + 1;
        f->sum[0] = 0;
    }
    while (f->known < n) {
        double nll;
        STATUS_TRY(sentence_floor(d, s, f->known, predictions(s, f->known, context), &nll));
        f->sum[f->known + 1] = f->sum[f->known] + nll;
        f->known++;
    }
    *sum = f->sum[n];
    return status_ok();
}

/* Sum of the model's -log p over the first N sentences; a pass at a time. */
static double model_nll(Run *r, const Sentences *s, long n, long *tokens) {
    int context = model_config(run_model(r))->context, most = run_tunes(r) ? run_recipe(r).batch : TEST_BATCH;
    double sum = 0;
    *tokens = 0;
    Batch b;
    batch_init(&b);
    for (long from = 0; from < n; from += most) {
        batch_clear(&b);
        for (long i = from; i < n && i < from + most; i++)
            batch_add(&b, s->id + s->start[i], predictions(s, i, context), true);
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
