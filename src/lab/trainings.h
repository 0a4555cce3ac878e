/* trainings: several language models trained in one experiment: as many at once as there are threads, each with the
 * same bits whatever threads= says; results in a fixed order; trained once, then kept (kept.h). Private to the
 * laboratory.
 *
 *     Training job[] = {{.name = "rope", .options = o, .seed = 1}, {.name = "none", .options = p, .seed = 1}};
 *     STATUS_TRY(trainings_run(s, job, 2, &(TrainingsCalls){.measure = measure, .done = add_row, .user = &mine}));
 *
 * An experiment that trains more than language models uses crew.h and kept.h directly. */
#ifndef LAB_TRAININGS_H
#define LAB_TRAININGS_H

#include "run.h"
#include "study.h"

typedef struct {
    const char *name;       /* for progress, faults and the file that keeps it: "rope"; letters, digits, - . _ */
    const Options *options; /* of run_options, perhaps with more rows; borrowed */
    uint64_t seed;
    RunStart from;    /* start and set of the grammar, a corpus of its own, steps, parameters to begin with; borrowed */
    bool afresh;      /* never taken from the cache: its time or its steps are what is looked at */
    bool may_diverge; /* a step that is not finite ends it, and that is no fault */
} Training;

/* A model at the end of its training. */
typedef struct {
    const Training *job;
    Model *model;   /* whoever wants to keep it takes it and leaves NULL, in `done` */
    Vocab *vocab;   /* the same */
    char path[512]; /* the checkpoint that holds it, for study_offer_model; "" when it is not kept */
    bool from_cache;
    bool diverged;  /* its model is that of the last good step, and not kept */
    long steps;     /* updates made */
    double seconds; /* of its steps; NaN from the cache */
    Run *run;       /* of trained_run; NULL in `done` */
} Trained;

typedef struct {
    /* In a thread of its own, several at once: measures what is to be known of the model. cancel_wanted() knows a stop.
     */
    Status (*measure)(void *user, int job, Trained *t);
    /* In the study's thread, in order, as they come: every update of every job. Jobs of a call with `step` are afresh.
     */
    Status (*step)(void *user, int job, const RunStep *step);
    /* In the study's thread, job after job: adds rows. */
    Status (*done)(void *user, int job, Trained *t);
    void *user;
    double from, to; /* which part of the study's progress this is; both 0: all of it */
} TrainingsCalls;    /* what is NULL is left out */

/* Fails with the first job in order that does: options that cannot be built (STATUS_USAGE), diverged (STATUS_FAILED).
 * STATUS_CANCELLED within a step of the study's stop. What ended before has been given to `done`. */
Status trainings_run(Study *s, const Training *job, int jobs, const TrainingsCalls *calls) STATUS_CHECKED;

/* In `measure`: the run at its end, with its corpus and its test sentences (run_test_nll ...). One that came from the
 * cache makes them now. Belongs to T. */
Status trained_run(Trained *t, Run **out) STATUS_CHECKED;

/* Where the cache keeps what a job makes. False: nowhere, or the corpus cannot be read. */
bool trainings_path(const Training *job, Str *path);

#endif
