#include "run_data.h"

#include "mem.h"

#include <math.h>

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

int run_data_predictions(const Sentences *s, long i, int context) {
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
        STATUS_TRY(sentence_floor(d, s, f->known, run_data_predictions(s, f->known, context), &nll));
        f->sum[f->known + 1] = f->sum[f->known] + nll;
        f->known++;
    }
    *sum = f->sum[n];
    return status_ok();
}
