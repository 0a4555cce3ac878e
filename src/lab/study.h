/* study: an experiment while it runs: its options in, its tables out, progress and cancelling between.
 *
 * The experiment's thread fills the tables; another may look at copies at any time (study_look), and ask it to stop. */
#ifndef LAB_STUDY_H
#define LAB_STUDY_H

#include "catalog.h"
#include "status.h"

#include <stdint.h>

typedef struct Study Study;

/* Takes OPTIONS over (checked values of catalog_options). */
Study *study_new(const CatalogEntry *e, Options *options);
void study_free(Study *s);
void study_use_cache(Study *s, bool on);   /* of trained models; before it runs; on at first */
Status study_run(Study *s) STATUS_CHECKED; /* once: checks, then runs to its end in the calling thread */

/* --- for the experiment --- */
const Options *study_options(const Study *s);
uint64_t study_seed(const Study *s);
int study_threads(const Study *s);              /* resolved: all cores when not given */
Table *study_table(Study *s, const char *name); /* borrowed, to append to; BUG when the row does not name it */
/* Takes over a table that was made elsewhere in place of the one of its name, which is still empty. BUG when the
 * columns are not those of the row. */
void study_take_table(Study *s, Table *t);
/* A convention or fact that the tables rest on, a row of `about`: study_about(s, "logarithms", "natural (nats)"). */
void study_about(Study *s, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Says how far it is (0..1; negative: unknown) and lets others see the rows so far. False: stop now and return
 * status_cancelled(). Cheap enough for every training step. */
bool study_progress(Study *s, double done, const char *what_format, ...) __attribute__((format(printf, 3, 4)));
/* Something that the user should know though the work goes on. */
void study_warn(Study *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool study_caches(const Study *s);
/* Leaves a trained model for the live panes: a checkpoint path or "" . */
void study_offer_model(Study *s, const char *path);
/* What to look at there. From 0; query and key -1: where the cursor stands. */
typedef struct {
    char prompt[512];    /* "": the words there are */
    char tokenizer[512]; /* that goes with the model; "": its own */
    int layer, head, query, key;
} StudyLook;
void study_set_prompt(StudyLook *look, const char *text); /* one that is too long is left out, and never cut */
void study_offer_look(Study *s, const StudyLook *look);
/* Whether somebody could open a model that is left: then it is worth a file. At first nobody can. */
void study_keep_models(Study *s, bool on); /* before it runs */
bool study_keeps_models(const Study *s);

/* --- for those who wait, from any thread --- */
void study_cancel(Study *s);
typedef struct {
    bool running, finished;
    double done, seconds, seconds_left; /* NaN: unknown */
    char what[128];
    Status status;     /* when finished */
    char model[512];   /* study_offer_model */
    StudyLook look;    /* study_offer_look */
    char warning[256]; /* the newest of study_warn, "" when none */
} StudyState;
StudyState study_state(const Study *s);
bool study_wait(const Study *s, double seconds); /* until it has finished, at most so long; whether it has */
int study_tables(const Study *s);                /* of the entry, and about, which is the last */
Table *study_look(const Study *s, int i);        /* a copy of the rows published so far; the caller frees it */

/* Runs a study in a thread of its own; where there is no room for one it is over when job_start returns. */
typedef struct Job Job;
Job *job_start(Study *s); /* takes S over */
const Study *job_study(const Job *j);
void job_cancel(Job *j);
void job_free(Job *j); /* cancels, waits */

#endif
