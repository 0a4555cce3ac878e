#include "run.h"

#include "run_data.h"

#include "bug.h"
#include "clock.h"
#include "file.h"
#include "intl.h"
#include "io/checkpoint.h"
#include "loaded.h"
#include "mem.h"
#include "original.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Run {
    RunData *data;
    bool twin; /* data is another's */
    uint64_t seed;
    Model *model;
    Shards *shards;
    Sampler *sampler;
    Batch batch;
    Optim optim;
    real *grad;     /* [parameters] */
    bool watched;   /* an update keeps the parameters as they were */
    real *before;   /* [parameters]; NULL until an update is watched */
    RunUpdate last; /* of that update; step 0: none is known */
    int batch_size;
    long done, steps;
    long planned;           /* steps that an opened file says of; 0: it is a new run */
    char missing[500];      /* why an opened run has no corpus; "" when it has one */
    bool reads_only;        /* somebody else's model: no shards, no moments, no gradient */
    char *path, *tokenizer; /* of that model; owned */
};

/* Life. */

static void set_sampler(Run *r) {
    const Sentences *train = &r->data->corpus->train;
    sampler_free(r->sampler);
    r->sampler = NULL;
    if (train->sentences > 0) r->sampler = sampler_new(train, r->batch_size, r->seed, model_config(r->model)->context);
}

/* What a run and its twin make alike. */
static void set_up(Run *r, Model *m, int threads, const OptimConfig *c) {
    r->model = m;
    r->shards = shards_new(m, threads);
    set_sampler(r);
    batch_init(&r->batch);
    size_t count = model_params(m)->count;
    optim_init(&r->optim, c, count);
    r->grad = mem_aligned(count, sizeof *r->grad);
}

static Status fits_corpus(const Corpus *c) {
    if (c->train.sentences > 0 && c->test.sentences > 0) return status_ok();
    return status_usage(_("corpus: '%s' has no sentences to learn from"), c->name);
}

/* The corpus that the options name, ready to learn from. */
static Status load_corpus(const Options *o, const RunStart *start, uint64_t seed, Corpus **out) {
    return corpora_load_rule(options_text(o, "corpus"), start->start, start->set, run_tokens(o),
                             (long)options_int(o, "sentences"), RUN_TEST_SENTENCES, seed, out);
}

/* Cut for CONTEXT, to as many sentences as O asks for. */
static void fit_corpus(const Options *o, int context, Corpus *c) {
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

static Run *new_run(const Options *o, const RunStart *start, uint64_t seed, int threads, Corpus *corpus, Model *m) {
    Run *r = MEM_NEW(Run);
    bool borrowed = corpus == start->corpus;
    r->data = run_data_new(corpus, options_text(o, "corpus"),
                           borrowed ? corpus->train.sentences : (long)options_int(o, "sentences"));
    r->data->borrowed = borrowed;
    r->seed = seed;
    r->batch_size = (int)options_int(o, "batch");
    r->steps = start->steps ? start->steps : (long)options_int(o, "epochs") * run_per_epoch(r);
    OptimConfig optim = run_optim_config(o);
    set_up(r, m, threads, &optim);
    return r;
}

/* The model of a run on CORPUS. */
static Status begin_model(const Options *o, const RunStart *start, uint64_t seed, Corpus *corpus, Model **out) {
    ModelConfig c;
    STATUS_TRY(fits_corpus(corpus));
    STATUS_TRY(run_config(o, vocab_size(corpus->vocab), &c));
    if (corpus != start->corpus) fit_corpus(o, c.context, corpus);
    *out = model_new(&c, seed);
    Status s = take_params(*out, start->model);
    if (!status_is_ok(&s)) model_free(*out);
    return s;
}

Status run_new_with(const Options *o, const RunStart *start, uint64_t seed, int threads, Run **out) {
    static const RunStart usual;
    if (!start) start = &usual;
    STATUS_TRY(run_check(o));
    Corpus *corpus = start->corpus;
    Model *m;
    if (!corpus) STATUS_TRY(load_corpus(o, start, seed, &corpus));
    Status s = begin_model(o, start, seed, corpus, &m);
    if (!status_is_ok(&s)) {
        if (corpus != start->corpus) corpus_free(corpus);
        return s;
    }
    *out = new_run(o, start, seed, threads, corpus, m);
    return s;
}

Status run_new(const Options *o, uint64_t seed, int threads, Run **out) {
    return run_new_with(o, NULL, seed, threads, out);
}

/* Opening. */

/* A corpus that is but a vocabulary, which passes to it. */
static Corpus *only_words(Vocab *v, const char *name) {
    Corpus *corpus = MEM_NEW(Corpus);
    snprintf(corpus->name, sizeof corpus->name, "%s", name);
    corpus->vocab = v;
    return corpus;
}

/* That of the file, or one that has the vocabulary and no sentence. */
static RunData *data_for(const Checkpoint *c, const Options *o, char *missing, size_t bytes) {
    Corpus *corpus;
    const char *spec = original_spec(c, o);
    Status s = original_corpus(c, o, &corpus);
    if (status_is_ok(&s)) return run_data_new(corpus, spec, original_sentences(c, o));
    snprintf(missing, bytes, "%s", s.text);
    const char *name = c->corpus[0] ? c->corpus : spec ? file_base_name(spec) : _("a text");
    RunData *d = run_data_new(only_words(vocab_copy(c->vocab), name), spec ? spec : "", 0);
    run_data_lose(d, c);
    return d;
}

/* The plan ends where the file does when there is nothing to go on with. */
static void take_plan(Run *r, const Checkpoint *c) {
    bool learns = r->data->corpus->train.sentences > 0;
    r->done = c->step;
    r->steps = c->has_optim && learns ? c->steps : c->step;
    r->planned = c->has_optim ? c->steps : c->step;
}

/* The state of the file, for a run that was set up with its model. */
static void take_moments(Run *r, const Checkpoint *c) {
    if (!c->has_optim) return;
    size_t bytes = c->optim.count * sizeof(real);
    memcpy(r->optim.m, c->optim.m, bytes);
    memcpy(r->optim.v, c->optim.v, bytes);
    r->optim.updates = c->optim.updates;
}

static Status open_loaded(const char *path, const char *tokenizer, const Options *o, Run **out) {
    LoadedModel l;
    STATUS_TRY(loaded_read(path, tokenizer, &l));
    if (!l.vocab) {
        Status s =
            status_usage(_("'%s' does not say what its tokens are: %s; tokenizer=FILE does, and the experiments of "
                           "'lantern run' take ids= without"),
                         path, l.no_vocab);
        loaded_done(&l);
        return s;
    }
    Run *r = MEM_NEW(Run);
    r->data = run_data_new(only_words(l.vocab, l.kind), "", 0);
    r->seed = (uint64_t)options_int(o, "seed");
    r->optim.config = run_optim_config(o);
    r->reads_only = true;
    r->path = mem_text(path);
    r->tokenizer = mem_text(tokenizer);
    r->batch_size = (int)options_int(o, "batch");
    r->model = l.model;
    mem_free(l.grammar);
    batch_init(&r->batch);
    snprintf(r->missing, sizeof r->missing, "%s", _("somebody else trained it, and it is only read"));
    *out = r;
    return status_ok();
}

Status run_open(const char *path, const char *tokenizer, const Options *o, int threads, Run **out) {
    if (loaded_is(path)) return open_loaded(path, tokenizer, o, out);
    if (tokenizer) return status_usage(_("tokenizer= goes with a model of others; '%s' brings its vocabulary"), path);
    Checkpoint c;
    STATUS_TRY(checkpoint_read(path, &c));
    if (!c.vocab) {
        checkpoint_done(&c);
        return status_usage(_("'%s' does not say what its tokens are"), path);
    }
    Run *r = MEM_NEW(Run);
    r->data = data_for(&c, o, r->missing, sizeof r->missing);
    r->seed = c.seed;
    OptimConfig optim = c.has_optim ? c.optim.config : run_optim_config(o);
    r->batch_size = c.batch ? c.batch : (int)options_int(o, "batch");
    take_plan(r, &c);
    set_up(r, c.model, threads, &optim);
    c.model = NULL;
    take_moments(r, &c);
    checkpoint_done(&c);
    *out = r;
    return status_ok();
}

bool run_go_to(Run *r, const Checkpoint *c) {
    const Params *from = model_read_params(c->model);
    Params *p = model_params(r->model);
    if (from->count != p->count || (c->has_optim && c->optim.count != p->count)) return false;
    memcpy(p->x, from->x, p->count * sizeof *p->x);
    take_moments(r, c);
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
    set_up(t, model_copy(r->model), shards_threads(r->shards), &r->optim.config);
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
    mem_free(r->path);
    mem_free(r->tokenizer);
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
    r->watched = watched;
}

bool run_last_update(const Run *r, RunUpdate *out) {
    if (r->last.step == 0 || r->last.step != r->done) return false;
    *out = r->last;
    return true;
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

/* Files. */

/* Where the text of the run lies, wherever lantern is started the next time; NULL: it learns from a grammar, or from
 * what came in by a pipe. free() it. */
static char *text_path(const RunData *d) {
    const char *spec = d->spec;
    if (d->corpus->grammar || strcmp(spec, "-") == 0 || !*spec || corpora_is_grammar(spec)) return NULL;
    char *whole = realpath(spec, NULL);
    return whole ? whole : strdup(spec);
}

/* What a file says of its corpus, TEXT being where it lies. */
static void name_corpus(const RunData *d, const char *text, CheckpointRun *out) {
    const Corpus *c = d->corpus;
    out->corpus = d->lost ? d->lost->corpus : c->grammar ? d->spec : "";
    out->grammar = d->lost ? d->lost->grammar : c->grammar ? grammar_text(c->grammar) : NULL;
    out->sentences = d->lost ? d->lost->sentences : d->sentences;
    out->text = d->lost ? d->lost->text : text;
}

Status run_save(Run *r, const char *path) {
    if (r->reads_only) return loaded_refer(path, r->path, r->tokenizer);
    char *text = text_path(r->data);
    CheckpointRun run = {.seed = r->seed, .step = r->done, .steps = run_planned(r), .batch = r->batch_size};
    name_corpus(r->data, text, &run);
    Status s = checkpoint_write_run(path, r->model, r->data->corpus->vocab, &r->optim, &run);
    free(text);
    return s;
}
