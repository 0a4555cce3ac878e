#include "trainings.h"

#include "bug.h"
#include "crew.h"
#include "intl.h"
#include "io/checkpoint.h"
#include "kept.h"
#include "mem.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The updates that `step` has not been told of. */
typedef struct {
    RunStep *step; /* [count] */
    long count, capacity, told;
} Steps;

typedef struct {
    Study *study;
    const Training *job;
    const TrainingsCalls *calls;
    Trained *trained; /* [jobs] */
    Steps *steps;     /* [jobs]; with the lock held while their job runs */
    pthread_mutex_t lock;
} Trainings;

/* ---- the cache ---- */

bool trainings_path(const Training *job, Str *path) {
    KeptRecipe r = kept_recipe();
    kept_add_number(&r, job->seed);
    kept_add_options(&r, job->options);
    kept_add_text(&r, job->from.start);
    kept_add_text(&r, job->from.set);
    kept_add_number(&r, (uint64_t)job->from.steps);
    if (job->from.model) kept_add_params(&r, job->from.model);
    if (job->from.corpus) {
        kept_add_corpus(&r, job->from.corpus);
    } else if (!kept_add_source(&r, options_text(job->options, "corpus"))) {
        return false;
    }
    return kept_path(&r, job->name, path);
}

/* False: it is not there, or it is damaged and must be made again. */
static bool take_kept(Trained *t, const char *path) {
    Checkpoint c;
    if (access(path, R_OK) != 0) return false;
    Status s = checkpoint_read(path, &c);
    if (!status_is_ok(&s)) return false;
    if (c.vocab && c.step == c.steps) {
        t->model = c.model;
        t->vocab = c.vocab;
        t->steps = c.step;
        t->from_cache = true;
        t->seconds = (double)NAN;
        snprintf(t->path, sizeof t->path, "%s", path);
        c.model = NULL;
        c.vocab = NULL;
    }
    checkpoint_done(&c);
    return t->from_cache;
}

static void keep(Trainings *all, Trained *t, const char *path) {
    Status s = run_save(t->run, path);
    if (status_is_ok(&s)) {
        snprintf(t->path, sizeof t->path, "%s", path);
    } else {
        study_warn(all->study, _("the trained model is not kept: %s"), s.text);
    }
}

/* ---- a thread of its own ---- */

static void note_step(Trainings *all, int job, const RunStep *step) {
    if (!all->calls->step) return;
    Steps *n = &all->steps[job];
    pthread_mutex_lock(&all->lock);
    MEM_GROW(n->step, n->count, n->capacity);
    n->step[n->count++] = *step;
    pthread_mutex_unlock(&all->lock);
}

static Status train(Trainings *all, int job, CrewSeat *seat) {
    Trained *t = &all->trained[job];
    Run *run = t->run;
    const char *name = t->job->name;
    while (run_done(run) < run_steps(run)) {
        shards_set_threads(run_shards(run), crew_threads(seat));
        RunStep step = run_step(run);
        note_step(all, job, &step);
        t->seconds += step.seconds;
        t->diverged = step.diverged;
        if (step.diverged && t->job->may_diverge) break;
        if (step.diverged)
            return status_failed(_("training %s diverged at step %ld: %s is not finite"), name, step.step,
                                 step.bad_tensor);
        if (!crew_goes_on(seat, (double)step.step / (double)run_steps(run),
                          _("training %s: step %ld of %ld, loss %.3f"), name, step.step, run_steps(run), step.loss))
            return status_cancelled();
    }
    t->steps = run_done(run);
    return status_ok();
}

/* How long a run takes, roughly, in units that all runs share. */
static double weight_of(Run *run) {
    return (double)run_steps(run) * (double)model_params(run_model(run))->count *
           (double)run_corpus(run)->train.start[run_corpus(run)->train.sentences] / (double)run_per_epoch(run);
}

static Status make(Trainings *all, int job, CrewSeat *seat, const char *path) {
    Trained *t = &all->trained[job];
    if (!crew_goes_on(seat, 0, _("training %s"), t->job->name)) return status_cancelled();
    STATUS_TRY(run_new_with(t->job->options, &t->job->from, t->job->seed, 1, &t->run));
    crew_weigh(seat, weight_of(t->run));
    STATUS_TRY(train(all, job, seat));
    t->model = run_model(t->run);
    t->vocab = run_corpus(t->run)->vocab;
    if (*path && !t->diverged) keep(all, t, path);
    return status_ok();
}

/* Model and vocabulary become T's own, which they are not while a run has them. */
static void let_run_go(Trained *t) {
    if (!t->run) return;
    if (!t->from_cache) {
        t->model = t->model ? model_copy(t->model) : NULL;
        t->vocab = t->vocab ? vocab_copy(t->vocab) : NULL;
    }
    run_free(t->run);
    t->run = NULL;
}

static Status get(Trainings *all, int job, CrewSeat *seat) {
    Trained *t = &all->trained[job];
    bool afresh = t->job->afresh || all->calls->step;
    Status status = status_ok();
    Str path;
    str_init(&path);
    if (study_caches(all->study) && !trainings_path(t->job, &path)) {
        str_clear(&path);
        study_warn(all->study, _("there is no folder to keep the trained model in; it is trained each time"));
    }
    if (!afresh && path.len && take_kept(t, path.s)) {
        crew_weigh(seat, 0);
    } else {
        status = make(all, job, seat, path.len ? path.s : "");
    }
    str_done(&path);
    return status;
}

static Status work(void *user, int job, CrewSeat *seat) {
    Trainings *all = user;
    Status status = get(all, job, seat);
    if (status_is_ok(&status) && all->calls->measure) {
        if (!crew_goes_on(seat, 1, _("measuring %s"), all->job[job].name)) return status_cancelled();
        status = all->calls->measure(all->calls->user, job, &all->trained[job]);
    }
    let_run_go(&all->trained[job]);
    return status;
}

Status trained_run(Trained *t, Run **out) {
    *out = t->run;
    if (t->run) return status_ok();
    Checkpoint c;
    STATUS_TRY(run_new_with(t->job->options, &t->job->from, t->job->seed, 1, &t->run));
    Status s = checkpoint_read(t->path, &c);
    if (!status_is_ok(&s)) return s;
    bool fits = run_go_to(t->run, &c);
    BUG_ON(!fits); /* both are of the same recipe */
    checkpoint_done(&c);
    *out = t->run;
    return status_ok();
}

/* ---- the study's thread ---- */

/* Moves out what the job has done since the last look. */
static Steps new_steps(Trainings *all, int job) {
    Steps *n = &all->steps[job], out = {0};
    pthread_mutex_lock(&all->lock);
    out.count = n->count - n->told;
    if (out.count > 0) {
        out.step = MEM_ARRAY(RunStep, (size_t)out.count);
        memcpy(out.step, n->step + n->told, (size_t)out.count * sizeof *out.step);
        n->told = n->count;
    }
    pthread_mutex_unlock(&all->lock);
    return out;
}

static Status look(void *user, int job) {
    Trainings *all = user;
    if (!all->calls->step) return status_ok();
    Steps steps = new_steps(all, job);
    Status status = status_ok();
    for (long i = 0; i < steps.count && status_is_ok(&status); i++)
        status = all->calls->step(all->calls->user, job, &steps.step[i]);
    mem_free(steps.step);
    return status;
}

static void forget(Trained *t) {
    model_free(t->model);
    vocab_free(t->vocab);
    t->model = NULL;
    t->vocab = NULL;
}

static Status take(void *user, int job) {
    Trainings *all = user;
    Status status = all->calls->done ? all->calls->done(all->calls->user, job, &all->trained[job]) : status_ok();
    forget(&all->trained[job]);
    return status;
}

Status trainings_run(Study *s, const Training *job, int jobs, const TrainingsCalls *calls) {
    Trainings all = {.study = s, .job = job, .calls = calls};
    all.trained = MEM_ARRAY(Trained, (size_t)jobs);
    all.steps = MEM_ARRAY(Steps, (size_t)jobs);
    for (int i = 0; i < jobs; i++) all.trained[i].job = &job[i];
    BUG_ON(pthread_mutex_init(&all.lock, NULL) != 0);
    CrewPlan plan = {
        .jobs = jobs, .work = work, .look = look, .take = take, .user = &all, .from = calls->from, .to = calls->to};
    Status status = crew_run(s, &plan);
    for (int i = 0; i < jobs; i++) {
        forget(&all.trained[i]);
        mem_free(all.steps[i].step);
    }
    pthread_mutex_destroy(&all.lock);
    mem_free(all.trained);
    mem_free(all.steps);
    return status;
}
