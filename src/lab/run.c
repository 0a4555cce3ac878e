#include "run_private.h"

#include "bug.h"
#include "clock.h"
#include "intl.h"
#include "mem.h"
#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Life. */

static void set_sampler(Run *r) {
    const Sentences *train = &r->data->corpus->train;
    sampler_free(r->sampler);
    r->sampler = NULL;
    if (train->sentences > 0) r->sampler = sampler_new(train, r->batch_size, r->seed, model_config(r->model)->context);
}

void run_set_up(Run *r, Model *m, int threads, const OptimConfig *c) {
    r->model = m;
    r->shards = shards_new(m, threads);
    set_sampler(r);
    batch_init(&r->batch);
    size_t count = model_params(m)->count;
    optim_init(&r->optim, c, count);
    r->grad = mem_aligned(count, sizeof *r->grad);
}

Status run_fits_corpus(const Corpus *c) {
    if (c->train.sentences > 0 && c->test.sentences > 0) return status_ok();
    return status_usage(_("corpus: '%s' has no sentences to learn from"), c->name);
}

Status run_load_corpus(const Options *o, const RunStart *start, CorpusTokens tokens, uint64_t seed, Corpus **out) {
    return corpora_load_rule(options_text(o, "corpus"), start->start, start->set, tokens,
                             (long)options_int(o, "sentences"), RUN_TEST_SENTENCES, seed, out);
}

void run_fit_corpus(const Options *o, int context, Corpus *c) {
    corpora_fit(c, context, options_is_given(o, "sentences") ? (long)options_int(o, "sentences") : 0);
}

/* The parameters of another model of the same shape. */
static Status take_params(Model *m, const Model *from) {
    if (!from) return status_ok();
    const Params *p = model_read_params(from);
    if (p->count != model_params(m)->count)
        return status_usage(_("the model to begin with has %zu parameters, this one %zu"), p->count,
                            model_params(m)->count);
    memcpy(model_params(m)->x, p->x, p->count * sizeof *p->x);
    return status_ok();
}

Run *run_begin(const Options *o, const RunStart *start, uint64_t seed, int threads, Corpus *corpus, Model *m) {
    Run *r = MEM_NEW(Run);
    bool borrowed = corpus == start->corpus;
    r->data = run_data_new(corpus, options_text(o, "corpus"),
                           borrowed ? corpus->train.sentences : (long)options_int(o, "sentences"));
    r->data->borrowed = borrowed;
    r->seed = seed;
    r->batch_size = (int)options_int(o, "batch");
    r->steps = start->steps ? start->steps : (long)options_int(o, "epochs") * run_per_epoch(r);
    OptimConfig optim = run_optim_config(o);
    run_set_up(r, m, threads, &optim);
    return r;
}

/* The model of a run on CORPUS. */
static Status begin_model(const Options *o, const RunStart *start, uint64_t seed, Corpus *corpus, Model **out) {
    ModelConfig c;
    STATUS_TRY(run_fits_corpus(corpus));
    STATUS_TRY(run_config(o, vocab_size(corpus->vocab), &c));
    if (corpus != start->corpus) run_fit_corpus(o, c.context, corpus);
    *out = model_new(&c, seed);
    Status s = take_params(*out, start->model);
    if (!status_is_ok(&s)) model_free(*out);
    return s;
}

Status run_new_with(const Options *o, const RunStart *start, uint64_t seed, int threads, Run **out) {
    static const RunStart usual;
    if (!start) start = &usual;
    STATUS_TRY(run_check(o));
    if (tune_wanted(o)) return run_tune(o, start, seed, threads, out);
    Corpus *corpus = start->corpus;
    Model *m;
    if (!corpus) STATUS_TRY(run_load_corpus(o, start, run_tokens(o), seed, &corpus));
    Status s = begin_model(o, start, seed, corpus, &m);
    if (!status_is_ok(&s)) {
        if (corpus != start->corpus) corpus_free(corpus);
        return s;
    }
    *out = run_begin(o, start, seed, threads, corpus, m);
    return s;
}

Status run_new(const Options *o, uint64_t seed, int threads, Run **out) {
    return run_new_with(o, NULL, seed, threads, out);
}

bool run_go_to(Run *r, const Checkpoint *c) {
    const Params *from = model_read_params(c->model);
    Params *p = model_params(r->model);
    if (from->count != p->count || (c->has_optim && c->optim.count != p->count)) return false;
    memcpy(p->x, from->x, p->count * sizeof *p->x);
    run_take_moments(r, c);
    r->done = c->step;
    return true;
}

Run *run_twin(Run *r) {
    Run *t = MEM_NEW(Run);
    t->data = r->data;
    t->twin = true;
    t->seed = r->seed;
    t->batch_size = r->batch_size;
    t->steps = r->steps;
    run_set_up(t, model_copy(r->model), shards_threads(r->shards), &r->optim.config);
    size_t bytes = r->optim.count * sizeof(real);
    memcpy(t->optim.m, r->optim.m, bytes);
    memcpy(t->optim.v, r->optim.v, bytes);
    t->optim.updates = r->optim.updates;
    t->done = r->done;
    return t;
}

void run_free(Run *r) {
    if (!r) return;
    shards_free(r->shards);
    sampler_free(r->sampler);
    batch_done(&r->batch);
    optim_done(&r->optim);
    mem_free(r->grad);
    mem_free(r->before);
    model_free(r->model);
    if (!r->twin) run_data_free(r->data);
    mem_free(r);
}

/* Looking. */

long run_done(const Run *r) {
    return r->done;
}

long run_steps(const Run *r) {
    return r->steps;
}

long run_planned(const Run *r) {
    return r->missing[0] && r->planned > r->steps ? r->planned : r->steps;
}

bool run_reads_only(const Run *r) {
    return r->reads_only;
}

bool run_tunes(const Run *r) {
    return r->data->model && !r->reads_only;
}

bool run_keeps_past(const Run *r) {
    return !r->reads_only && !r->no_past;
}

const char *run_origin(const Run *r) {
    return r->data->model;
}

const char *run_origin_tokenizer(const Run *r) {
    return r->data->tokenizer;
}

int run_part(const Run *r) {
    return r->data->part ? r->data->part : model_config(r->model)->context;
}

int run_threads(const Run *r) {
    return r->shards ? shards_threads(r->shards) : 1;
}

const char *run_missing(const Run *r) {
    return r->missing;
}

long run_per_epoch(const Run *r) {
    return corpus_steps_per_epoch(r->data->corpus, r->batch_size);
}

long run_steps_of_epoch(const Run *r, int batch) {
    return corpus_steps_per_epoch(r->data->corpus, batch);
}

const char *run_spec(const Run *r) {
    return r->data->spec;
}

long run_sentences(const Run *r) {
    return r->data->sentences;
}

const Model *run_read_model(const Run *r) {
    return r->model;
}

Model *run_model(Run *r) {
    return r->model;
}

Optim *run_optim(Run *r) {
    return &r->optim;
}

Corpus *run_corpus(Run *r) {
    return r->data->corpus;
}

const Corpus *run_read_corpus(const Run *r) {
    return r->data->corpus;
}

Shards *run_shards(Run *r) {
    return r->shards;
}

RunData *run_data(Run *r) {
    return r->data;
}

uint64_t run_seed(const Run *r) {
    return r->seed;
}

const real *run_gradient_of(const Run *r) {
    return r->grad;
}

/* Steps. */

/* Where a pass went wrong: the first bad value, or the first slice with a bad gradient. */
static void name_bad(const Run *r, RunStep *s) {
    const char *value = shards_first_bad(r->shards);
    if (*value) {
        snprintf(s->bad_tensor, sizeof s->bad_tensor, "%s", value);
        return;
    }
    const Params *p = model_params(r->model);
    for (int i = 0; i < p->slices; i++) {
        const real *g = r->grad + p->slice[i].at;
        for (size_t k = 0; k < slice_count(&p->slice[i]); k++) {
            if (isfinite(g[k])) continue;
            snprintf(s->bad_tensor, sizeof s->bad_tensor, _("gradient of %s"), p->slice[i].name);
            return;
        }
    }
    snprintf(s->bad_tensor, sizeof s->bad_tensor, "%s", _("gradient norm"));
}

RunStep run_gradient(Run *r) {
    RunStep s = {.step = r->done + 1};
    r->last.step = 0;
    sampler_batch(r->sampler, r->done, &r->batch);
    s.tokens = r->batch.targets;
    s.learning_rate = optim_rate(&r->optim.config, r->done, r->steps);
    s.loss = shards_gradient(r->shards, &r->batch, r->seed, (uint64_t)r->done, r->grad);
    s.grad_norm = shards_norm(r->shards, r->grad);
    s.diverged = !isfinite(s.loss) || !isfinite(s.grad_norm);
    if (s.diverged) name_bad(r, &s);
    return s;
}

/* Before the update of S, which is watched. */
static void remember_update(Run *r, const RunStep *s) {
    const OptimConfig *c = &r->optim.config;
    if (!r->before) r->before = mem_aligned(r->optim.count, sizeof *r->before);
    r->last = (RunUpdate){.step = s->step,
                          .before = r->before,
                          .grad = r->grad,
                          .adamw = c->kind == OPTIM_ADAMW,
                          .learning_rate = s->learning_rate,
                          .grad_norm = s->grad_norm,
                          .clip_factor = optim_clip_factor(c, s->grad_norm)};
}

void run_watch_updates(Run *r, bool watched) {
    r->watched = watched && !r->no_past; /* what has no room for its past has none for this */
}

bool run_last_update(const Run *r, RunUpdate *out) {
    if (r->last.step == 0 || r->last.step != r->done) return false;
    *out = r->last;
    return true;
}

void run_take_update(Run *r, const Run *of) {
    size_t bytes = r->optim.count * sizeof(real);
    RunUpdate u;
    if (r->no_past || !run_last_update(of, &u)) return;
    if (!r->before) r->before = mem_aligned(r->optim.count, sizeof *r->before);
    memcpy(r->before, u.before, bytes);
    memcpy(r->grad, u.grad, bytes);
    r->last = u;
    r->last.before = r->before;
    r->last.grad = r->grad;
}

void run_update(Run *r, const RunStep *s) {
    BUG_ON(s->step != r->done + 1);
    if (s->diverged) return;
    if (r->watched) remember_update(r, s);
    shards_update(r->shards, &r->optim, r->grad, s->grad_norm, s->learning_rate, r->watched ? r->before : NULL);
    r->done++;
}

RunStep run_step(Run *r) {
    double start = clock_now();
    RunStep s = run_gradient(r);
    run_update(r, &s);
    s.seconds = clock_now() - start;
    return s;
}

/* Recipe. */

Recipe run_recipe(const Run *r) {
    return (Recipe){
        .model = *model_config(r->model), .optim = r->optim.config, .batch = r->batch_size, .steps = r->steps};
}

static void forget_moments(Optim *o) {
    size_t bytes = o->count * sizeof *o->m;
    memset(o->m, 0, bytes);
    memset(o->v, 0, bytes);
    o->updates = 0;
}

void run_follow_recipe(Run *r, const Recipe *recipe) {
    bool other_batches = recipe->batch != r->batch_size || recipe->model.context != model_config(r->model)->context;
    if (recipe->optim.kind != r->optim.config.kind) forget_moments(&r->optim);
    model_rebuild(r->model, &recipe->model);
    r->optim.config = recipe->optim;
    r->batch_size = recipe->batch;
    r->steps = recipe->steps;
    if (other_batches) set_sampler(r);
}

/* Memory. */

typedef struct {
    const Run *run;
    RunMemory *memory;
} Remembered;

static void remember_stretch(void *data, size_t from, size_t to) {
    const Remembered *d = data;
    const Run *r = d->run;
    size_t bytes = (to - from) * sizeof(real);
    memcpy(d->memory->x + from, model_read_params(r->model)->x + from, bytes);
    memcpy(d->memory->m + from, r->optim.m + from, bytes);
    memcpy(d->memory->v + from, r->optim.v + from, bytes);
}

void run_remember(const Run *r, RunMemory *m) {
    if (r->reads_only) return; /* there is but one step */
    const Params *p = model_params(r->model);
    size_t bytes = p->count * sizeof(real);
    if (!m->x) {
        m->count = p->count;
        m->x = mem_alloc(bytes);
        m->m = mem_alloc(bytes);
        m->v = mem_alloc(bytes);
    }
    BUG_ON(m->count != p->count);
    shards_stretch(r->shards, m->count, remember_stretch, &(Remembered){r, m});
    m->done = r->done;
    m->updates = r->optim.updates;
}

void run_recall(Run *r, const RunMemory *m) {
    Params *p = model_params(r->model);
    size_t bytes = p->count * sizeof(real);
    BUG_ON(m->count != p->count);
    memcpy(p->x, m->x, bytes);
    memcpy(r->optim.m, m->m, bytes);
    memcpy(r->optim.v, m->v, bytes);
    r->done = m->done;
    r->last.step = 0;
    r->optim.updates = m->updates;
}

void run_memory_done(RunMemory *m) {
    mem_free(m->x);
    mem_free(m->m);
    mem_free(m->v);
    *m = (RunMemory){0};
}
