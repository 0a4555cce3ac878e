#include "study.h"

#include "about.h"
#include "bug.h"
#include "cancel.h"
#include "clock.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "thread.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MOST = 256 };
static const double publish_every = 0.05; /* seconds between two looks at a study that runs */

/* table[] belongs to the thread that runs the study; published[] and state belong to whoever holds the lock. */
struct Study {
    const Experiment *experiment;
    Options *options;
    int threads;
    bool cache, keeps_models;
    int tables;    /* of the entry; about comes after them */
    Table **table; /* [tables + 1] */
    atomic_bool cancel;
    double started, published_at;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    Table **published; /* [tables + 1] */
    StudyState state;
};

const Option experiment_common_options[] = {
    {"seed", OPTION_INT, "1", 0, 9007199254740992.0, NULL, "", N_("every random choice comes from it")},
    {"threads", OPTION_INT, NULL, 1, THREADS_MOST, NULL, "", N_("threads to compute with; not given: all cores")},
    {0},
};

void experiment_common_follow(const Options *o, const char *name, Str *out) {
    (void)o;
    if (strcmp(name, "threads") == 0) str_add(out, _("all cores"));
}

Study *study_new(const CatalogEntry *e, Options *options) {
    Study *s = MEM_NEW(Study);
    s->experiment = (const Experiment *)e;
    if (s->experiment->settle) s->experiment->settle(options);
    s->options = options;
    s->cache = true;
    s->threads = options_is_set(options, "threads") ? (int)options_int(options, "threads") : thread_cores(THREADS_MOST);
    s->tables = catalog_tables(e);
    s->table = MEM_ARRAY(Table *, (size_t)s->tables + 1);
    s->published = MEM_ARRAY(Table *, (size_t)s->tables + 1);
    for (int i = 0; i < s->tables; i++) s->table[i] = table_new(e->tables[i].name, e->tables[i].columns);
    s->table[s->tables] = about_new(e, options, s->threads);
    for (int i = 0; i <= s->tables; i++) s->published[i] = table_copy(s->table[i]);
    atomic_init(&s->cancel, false);
    BUG_ON(pthread_mutex_init(&s->lock, NULL) != 0);
    thread_cond_init(&s->ended);
    s->state = (StudyState){.done = (double)NAN, .seconds_left = (double)NAN, .look = {.query = -1, .key = -1}};
    return s;
}

void study_free(Study *s) {
    if (!s) return;
    for (int i = 0; i <= s->tables; i++) {
        table_free(s->table[i]);
        table_free(s->published[i]);
    }
    mem_free(s->table);
    mem_free(s->published);
    options_free(s->options);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->ended);
    mem_free(s);
}

void study_use_cache(Study *s, bool on) {
    s->cache = on;
}

/* With the lock held. */
static void publish(Study *s) {
    for (int i = 0; i <= s->tables; i++) {
        if (table_rows(s->table[i]) == table_rows(s->published[i])) continue;
        table_free(s->published[i]);
        s->published[i] = table_copy(s->table[i]);
    }
}

Status study_run(Study *s) {
    pthread_mutex_lock(&s->lock);
    BUG_ON(s->state.running || s->state.finished);
    s->state.running = true;
    s->started = clock_now();
    s->published_at = -(double)INFINITY; /* what comes first is seen at once */
    pthread_mutex_unlock(&s->lock);
    const atomic_bool *before = cancel_lend(&s->cancel);
    Status status = catalog_check(&s->experiment->entry, s->options);
    if (status_is_ok(&status)) status = s->experiment->run(s);
    cancel_lend(before);
    pthread_mutex_lock(&s->lock);
    publish(s);
    s->state.running = false;
    s->state.finished = true;
    s->state.seconds = clock_now() - s->started;
    s->state.seconds_left = 0;
    s->state.status = status;
    pthread_cond_broadcast(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- for the experiment ---- */

const Options *study_options(const Study *s) {
    return s->options;
}

uint64_t study_seed(const Study *s) {
    return (uint64_t)options_int(s->options, "seed");
}

int study_threads(const Study *s) {
    return s->threads;
}

bool study_caches(const Study *s) {
    return s->cache;
}

/* The place of a table that the row names. */
static int find_table(const Study *s, const char *name) {
    int i = 0;
    while (i < s->tables && strcmp(s->experiment->entry.tables[i].name, name) != 0) i++;
    BUG_ON(i == s->tables);
    return i;
}

Table *study_table(Study *s, const char *name) {
    return s->table[find_table(s, name)];
}

void study_take_table(Study *s, Table *t) {
    int at = find_table(s, table_name(t));
    const Column *want = s->experiment->entry.tables[at].columns;
    BUG_ON(table_rows(s->table[at]) != 0);
    for (int c = 0; c < table_columns(t); c++)
        BUG_ON(strcmp(table_column(t, c)->name, want[c].name) != 0 || table_column(t, c)->type != want[c].type);
    BUG_ON(want[table_columns(t)].name);
    table_free(s->table[at]);
    s->table[at] = t;
}

/* Cut where a character ends. */
static void print_text(char *out, size_t bytes, const char *format, va_list args) {
    size_t bad;
    vsnprintf(out, bytes, format, args);
    if (!utf8_valid(out, strlen(out), &bad)) out[bad] = '\0';
}

void study_about(Study *s, const char *key, const char *format, ...) {
    char value[1000];
    va_list args;
    va_start(args, format);
    print_text(value, sizeof value, format, args);
    va_end(args);
    about_add(s->table[s->tables], key, value);
}

bool study_progress(Study *s, double done, const char *what_format, ...) {
    double now = clock_now();
    if (now - s->published_at >= publish_every) {
        s->published_at = now;
        pthread_mutex_lock(&s->lock);
        publish(s);
        StudyState *state = &s->state;
        va_list args;
        va_start(args, what_format);
        print_text(state->what, sizeof state->what, what_format, args);
        va_end(args);
        double seconds = now - s->started;
        state->done = done < 0 ? (double)NAN : done;
        state->seconds_left = done > 0 ? seconds * (1 - done) / done : (double)NAN;
        pthread_mutex_unlock(&s->lock);
    }
    return !atomic_load_explicit(&s->cancel, memory_order_relaxed);
}

void study_warn(Study *s, const char *format, ...) {
    pthread_mutex_lock(&s->lock);
    va_list args;
    va_start(args, format);
    print_text(s->state.warning, sizeof s->state.warning, format, args);
    va_end(args);
    pthread_mutex_unlock(&s->lock);
}

void study_offer_model(Study *s, const char *path) {
    pthread_mutex_lock(&s->lock);
    snprintf(s->state.model, sizeof s->state.model, "%s", path);
    pthread_mutex_unlock(&s->lock);
}

void study_set_prompt(StudyLook *look, const char *text) {
    bool fits = strlen(text) < sizeof look->prompt;
    snprintf(look->prompt, sizeof look->prompt, "%s", fits ? text : "");
}

void study_offer_look(Study *s, const StudyLook *look) {
    pthread_mutex_lock(&s->lock);
    s->state.look = *look;
    pthread_mutex_unlock(&s->lock);
}

void study_keep_models(Study *s, bool on) {
    s->keeps_models = on;
}

bool study_keeps_models(const Study *s) {
    return s->keeps_models;
}

/* ---- for those who wait ---- */

/* The lock is no part of what a study is. */
static Study *lock(const Study *s) {
    Study *open = (Study *)s;
    pthread_mutex_lock(&open->lock);
    return open;
}

void study_cancel(Study *s) {
    atomic_store_explicit(&s->cancel, true, memory_order_relaxed);
}

StudyState study_state(const Study *s) {
    Study *open = lock(s);
    StudyState state = open->state;
    if (state.running) state.seconds = clock_now() - s->started;
    pthread_mutex_unlock(&open->lock);
    return state;
}

bool study_wait(const Study *s, double seconds) {
    struct timespec until = thread_deadline(seconds);
    Study *open = lock(s);
    while (!open->state.finished)
        if (pthread_cond_timedwait(&open->ended, &open->lock, &until) == ETIMEDOUT) break;
    bool finished = open->state.finished;
    pthread_mutex_unlock(&open->lock);
    return finished;
}

int study_tables(const Study *s) {
    return s->tables + 1;
}

Table *study_look(const Study *s, int i) {
    BUG_ON(i < 0 || i > s->tables);
    Study *open = lock(s);
    Table *copy = table_copy(open->published[i]);
    pthread_mutex_unlock(&open->lock);
    return copy;
}

/* ---- a thread of its own ---- */

struct Job {
    Study *study;
    pthread_t thread;
    bool started;
};

static void *job_main(void *data) {
    Status status = study_run(data);
    (void)status; /* it stands in the study's state */
    return NULL;
}

Job *job_start(Study *s) {
    Job *j = MEM_NEW(Job);
    j->study = s;
    j->started = thread_start(&j->thread, job_main, s);
    if (!j->started) (void)job_main(s);
    return j;
}

const Study *job_study(const Job *j) {
    return j->study;
}

void job_cancel(Job *j) {
    study_cancel(j->study);
}

void job_free(Job *j) {
    if (!j) return;
    study_cancel(j->study);
    if (j->started) pthread_join(j->thread, NULL);
    study_free(j->study);
    mem_free(j);
}
