#include "shard.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"
#include "thread.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* How often a thread looks before it sleeps. Between two jobs of a step lie some hundred microseconds, and waking up
 * costs about as much; but who waits for the other threads to finish waits briefly or for one that was held up, which
 * may want this core. */
#define JOB_SPINS  20000
#define DONE_SPINS 3000

typedef enum { JOB_GRADIENT, JOB_NLL, JOB_SQUARES, JOB_STRETCH, JOB_QUIT } Job;

typedef struct {
    Batch part; /* a view of the caller's batch */
    real *own;  /* [count]; NULL: never needed yet */
    real *grad; /* that, or the caller's when this is the only part with sentences; NULL: it has none */
    double loss;
    bool bad;
} Shard;

typedef struct {
    struct Shards *shards;
    int number; /* 0: the caller */
    pthread_t thread;
    Tape *train, *eval;
} Worker;

struct Shards {
    Model *model;
    int threads;
    Shard shard[SHARDS];
    Worker worker[SHARDS];

    /* the job, written by the caller before it is announced */
    Job job;
    uint64_t seed, step;
    double denominator;
    real *grad;       /* of all shards */
    const real *read; /* JOB_SQUARES: a gradient, */
    double *squares;  /* [capacity] and the sum of squares of each slice; NULL: never needed yet */
    int capacity;
    void (*stretch)(void *data, size_t from, size_t to); /* JOB_STRETCH, */
    void *data;                                          /* with this, */
    size_t count;                                        /* of so many numbers */

    atomic_bool taken[SHARDS]; /* of the announced job */
    atomic_uint announced;     /* counts jobs */
    atomic_int running;        /* helpers that are not done with the announced job */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    char first_bad[64];
};

/* --- what a thread does --- */

static void note_bad(Shard *s, const Tape *t, Vid loss) {
    s->bad = !isfinite(tape_scalar(t, loss));
}

static void gradient_of(Shards *s, Worker *w, Shard *shard, int number) {
    if (shard->part.sequences == 0) return;
    /* every shard and step has random numbers of its own */
    tape_begin(w->train, model_read_params(s->model), &shard->part, s->seed, s->step * SHARDS + (uint64_t)number);
    Vid logits = model_graph(s->model, w->train, NULL);
    Vid loss = tape_cross_entropy(w->train, logits, model_config(s->model)->z_loss, s->denominator);
    tape_forward(w->train);
    tape_backward_over(w->train, loss, shard->grad);
    shard->loss = tape_scalar(w->train, loss);
    note_bad(shard, w->train, loss);
}

/* WHOLE: with all values, to be looked at. */
static void nll_of(Shards *s, Worker *w, Shard *shard, bool whole) {
    if (shard->part.sequences == 0) return;
    if (!w->eval) w->eval = tape_new(TAPE_EVAL);
    if (whole)
        tape_begin(w->eval, model_read_params(s->model), &shard->part, 0, 0);
    else
        tape_begin_lean(w->eval, model_read_params(s->model), &shard->part, NULL, NULL);
    Vid loss = tape_cross_entropy(w->eval, model_graph(s->model, w->eval, NULL), 0, 1);
    tape_forward(w->eval);
    shard->loss = tape_scalar(w->eval, loss);
    note_bad(shard, w->eval, loss);
}

SIMD_CLONES static void add_to(size_t n, const real *x, real *sum) {
    for (size_t i = 0; i < n; i++) sum[i] += x[i];
}

/* sum [n] = ((a + b) + c) + d: always in this order. */
SIMD_CLONES static void sum_in_order(size_t n, const real *a, const real *b, const real *c, const real *d, real *sum) {
    for (size_t i = 0; i < n; i++) sum[i] = ((a[i] + b[i]) + c[i]) + d[i];
}

/* Of the shards that have sentences, in their order. */
static void sum_stretch(void *shards, size_t from, size_t to) {
    _Static_assert(SHARDS == 4, "sum_in_order adds four");
    Shards *s = shards;
    const real *part[SHARDS];
    int parts = 0;
    for (int i = 0; i < SHARDS; i++)
        if (s->shard[i].grad) part[parts++] = s->shard[i].grad + from;
    if (parts == SHARDS) {
        sum_in_order(to - from, part[0], part[1], part[2], part[3], s->grad + from);
        return;
    }
    memcpy(s->grad + from, part[0], (to - from) * sizeof *s->grad);
    for (int i = 1; i < parts; i++) add_to(to - from, part[i], s->grad + from);
}

/* Where stretch I of COUNT numbers begins: at the beginning of a cache line. */
static size_t stretch_begin(size_t count, int i) {
    const size_t line = MEM_ALIGN / sizeof(real);
    return i == SHARDS ? count : count / SHARDS * (size_t)i / line * line;
}

/* A slice is always summed as a whole: those that begin in stretch I. */
static void square_slices(Shards *s, int i) {
    const Params *p = model_read_params(s->model);
    size_t from = stretch_begin(p->count, i), to = stretch_begin(p->count, i + 1);
    for (int k = 0; k < p->slices; k++)
        if (p->slice[k].at >= from && p->slice[k].at < to) s->squares[k] = optim_squares(p, k, s->read);
}

/* Part I of the job, unless another thread has begun it. */
static void do_part(Shards *s, Worker *w, int i) {
    if (atomic_exchange_explicit(&s->taken[i], true, memory_order_relaxed)) return;
    if (s->job == JOB_GRADIENT) gradient_of(s, w, &s->shard[i], i);
    if (s->job == JOB_NLL) nll_of(s, w, &s->shard[i], false);
    if (s->job == JOB_SQUARES) square_slices(s, i);
    if (s->job == JOB_STRETCH) s->stretch(s->data, stretch_begin(s->count, i), stretch_begin(s->count, i + 1));
}

/* First what is always its own, so that gradients stay in its cache; then what a thread that was held up (by the
 * screen's, say) has not begun yet. */
static void do_share(Shards *s, Worker *w) {
    for (int i = w->number; i < SHARDS; i += s->threads) do_part(s, w, i);
    for (int i = SHARDS - 1; i >= 0; i--) do_part(s, w, i);
}

/* --- meeting --- */

/* Waits until `announced` is no longer SEEN: looks for a while, then sleeps. */
static unsigned wait_for_job(Shards *s, unsigned seen) {
    for (int i = 0; i < JOB_SPINS; i++) {
        unsigned now = atomic_load_explicit(&s->announced, memory_order_acquire);
        if (now != seen) return now;
        simd_pause();
    }
    (void)pthread_mutex_lock(&s->lock);
    unsigned now;
    while ((now = atomic_load_explicit(&s->announced, memory_order_acquire)) == seen)
        (void)pthread_cond_wait(&s->wake, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
    return now;
}

static void report_done(Shards *s) {
    if (atomic_fetch_sub_explicit(&s->running, 1, memory_order_acq_rel) > 1) return;
    (void)pthread_mutex_lock(&s->lock);
    (void)pthread_cond_signal(&s->done);
    (void)pthread_mutex_unlock(&s->lock);
}

static void wait_until_done(Shards *s) {
    for (int i = 0; i < DONE_SPINS; i++) {
        if (atomic_load_explicit(&s->running, memory_order_acquire) == 0) return;
        simd_pause();
    }
    (void)pthread_mutex_lock(&s->lock);
    while (atomic_load_explicit(&s->running, memory_order_acquire) > 0) (void)pthread_cond_wait(&s->done, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
}

static void announce(Shards *s, Job job) {
    s->job = job;
    atomic_store_explicit(&s->running, s->threads - 1, memory_order_relaxed);
    (void)pthread_mutex_lock(&s->lock);
    (void)atomic_fetch_add_explicit(&s->announced, 1, memory_order_release);
    (void)pthread_cond_broadcast(&s->wake);
    (void)pthread_mutex_unlock(&s->lock);
}

/* All threads do their share of JOB, the caller among them. */
static void run_job(Shards *s, Job job) {
    for (int i = 0; i < SHARDS; i++) atomic_store_explicit(&s->taken[i], false, memory_order_relaxed);
    if (s->threads > 1)
        announce(s, job);
    else
        s->job = job;
    do_share(s, &s->worker[0]);
    if (s->threads > 1) wait_until_done(s);
}

static void *helper(void *argument) {
    Worker *w = argument;
    Shards *s = w->shards;
    for (unsigned seen = 0;;) {
        seen = wait_for_job(s, seen);
        if (s->job == JOB_QUIT) return NULL;
        do_share(s, w);
        report_done(s);
    }
}

/* --- life --- */

static void start_helpers(Shards *s) {
    atomic_store(&s->announced, 0);
    for (int i = 1; i < s->threads; i++)
        if (!thread_start(&s->worker[i].thread, helper, &s->worker[i]))
            s->threads = i; /* fewer threads give the same numbers */
}

static void stop_helpers(Shards *s) {
    if (s->threads > 1) announce(s, JOB_QUIT);
    for (int i = 1; i < s->threads; i++) (void)pthread_join(s->worker[i].thread, NULL);
    s->threads = 1;
}

static int within(int threads) {
    return threads < 1 ? 1 : threads > SHARDS ? SHARDS : threads;
}

Shards *shards_new(Model *m, int threads) {
    Shards *s = MEM_NEW(Shards);
    s->model = m;
    s->threads = within(threads);
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->wake, NULL);
    (void)pthread_cond_init(&s->done, NULL);
    for (int i = 0; i < SHARDS; i++) {
        batch_init(&s->shard[i].part);
        s->worker[i] = (Worker){.shards = s, .number = i, .train = tape_new(TAPE_TRAIN)};
    }
    start_helpers(s);
    return s;
}

void shards_free(Shards *s) {
    if (!s) return;
    stop_helpers(s);
    for (int i = 0; i < SHARDS; i++) {
        batch_slice_done(&s->shard[i].part);
        mem_free(s->shard[i].own);
        tape_free(s->worker[i].train);
        tape_free(s->worker[i].eval);
    }
    mem_free(s->squares);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->wake);
    (void)pthread_cond_destroy(&s->done);
    mem_free(s);
}

void shards_set_threads(Shards *s, int threads) {
    if (within(threads) == s->threads) return;
    stop_helpers(s);
    s->threads = within(threads);
    start_helpers(s);
}

int shards_threads(const Shards *s) {
    return s->threads;
}

/* --- passes --- */

/* Shard i ends where the rows so far come closest to (i + 1) / SHARDS of all: by the batch alone. */
static void cut(Shards *s, const Batch *b) {
    int rows = batch_rows(b), from = 0;
    for (int i = 0; i < SHARDS; i++) {
        int goal = (int)((long long)rows * (i + 1) / SHARDS), to = from;
        while (to < b->sequences && goal - b->start[to] > b->start[to + 1] - goal) to++;
        if (i == SHARDS - 1) to = b->sequences;
        batch_slice(b, from, to, &s->shard[i].part);
        s->shard[i].loss = 0;
        s->shard[i].bad = false;
        from = to;
    }
}

static double sum_losses(const Shards *s) {
    double sum = 0;
    for (int i = 0; i < SHARDS; i++) sum += s->shard[i].loss;
    return sum;
}

/* The pass is repeated on the first shard that went bad, to name the first tensor: this costs time only then. */
static void name_first_bad(Shards *s) {
    s->first_bad[0] = '\0';
    for (int i = 0; i < SHARDS; i++) {
        if (!s->shard[i].bad) continue;
        Job job = s->job;
        Worker *w = &s->worker[0];
        if (job == JOB_NLL)
            nll_of(s, w, &s->shard[i], true);
        else
            gradient_of(s, w, &s->shard[i], i);
        const Tape *t = job == JOB_NLL ? w->eval : w->train;
        Vid bad = tape_first_bad(t);
        (void)snprintf(s->first_bad, sizeof s->first_bad, "%s", bad == VID_NONE ? "loss" : tape_value_name(t, bad));
        return;
    }
}

/* Where each shard's gradient goes; false: there is nothing to be added up. */
static bool place_gradients(Shards *s, real *grad) {
    int parts = 0;
    for (int i = 0; i < SHARDS; i++) parts += s->shard[i].part.sequences > 0;
    for (int i = 0; i < SHARDS; i++) {
        Shard *shard = &s->shard[i];
        bool some = shard->part.sequences > 0;
        if (some && parts > 1 && !shard->own) shard->own = mem_aligned(model_params(s->model)->count, sizeof(real));
        shard->grad = !some ? NULL : parts > 1 ? shard->own : grad;
    }
    s->grad = grad;
    return parts > 1;
}

double shards_gradient(Shards *s, const Batch *b, uint64_t seed, uint64_t step, real *grad) {
    BUG_ON(b->sequences == 0);
    cut(s, b);
    s->seed = seed;
    s->step = step;
    s->denominator = b->targets > 0 ? b->targets : 1;
    bool several = place_gradients(s, grad);
    run_job(s, JOB_GRADIENT);
    name_first_bad(s);
    if (several) shards_stretch(s, model_read_params(s->model)->count, sum_stretch, s);
    return sum_losses(s);
}

void shards_stretch(Shards *s, size_t count, void (*stretch)(void *data, size_t from, size_t to), void *data) {
    s->count = count;
    s->stretch = stretch;
    s->data = data;
    run_job(s, JOB_STRETCH);
}

double shards_norm(Shards *s, const real *grad) {
    int slices = model_read_params(s->model)->slices;
    if (slices > s->capacity) {
        s->squares = mem_resize(s->squares, (size_t)slices, sizeof *s->squares);
        s->capacity = slices;
    }
    s->read = grad;
    run_job(s, JOB_SQUARES);
    double sum = 0;
    for (int i = 0; i < slices; i++) sum += s->squares[i];
    return sqrt(sum);
}

static void apply_stretch(void *update, size_t from, size_t to) {
    optim_apply(update, from, to);
}

void shards_update(Shards *s, Optim *o, const real *grad, double norm, double rate, real *before) {
    Update u = optim_begin(o, model_params(s->model), grad, norm, rate);
    u.before = before;
    shards_stretch(s, o->count, apply_stretch, &u);
}

double shards_nll(Shards *s, const Batch *b) {
    if (b->sequences == 0) return 0;
    cut(s, b);
    run_job(s, JOB_NLL);
    name_first_bad(s);
    return sum_losses(s);
}

const char *shards_first_bad(const Shards *s) {
    return s->first_bad;
}
