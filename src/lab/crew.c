#include "crew.h"

#include "bug.h"
#include "cancel.h"
#include "intl.h"
#include "mem.h"
#include "thread.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static const double look_every = 0.03; /* seconds: how often the study's thread looks at what the others do */

typedef struct Crew Crew;

/* All but crew and job with the lock held. */
struct CrewSeat {
    Crew *crew;
    int job;
    bool weighed, ended;
    double weight, done;
    char what[128];
    Status status; /* when ended */
};

struct Crew {
    const CrewPlan *plan;
    CrewSeat *seat; /* [jobs] */
    int next;       /* the first job that nobody has begun */
    int running;    /* jobs */
    int threads;    /* that the study has */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t news; /* a job has ended */
};

/* ---- a thread of the crew ---- */

static CrewSeat *begin_next(Crew *c) {
    CrewSeat *seat = NULL;
    pthread_mutex_lock(&c->lock);
    if (c->next < c->plan->jobs && !atomic_load(&c->stop)) {
        seat = &c->seat[c->next++];
        c->running++;
    }
    pthread_mutex_unlock(&c->lock);
    return seat;
}

static void end(Crew *c, CrewSeat *seat, Status status) {
    pthread_mutex_lock(&c->lock);
    seat->status = status;
    seat->ended = true;
    seat->done = 1;
    c->running--;
    if (!status_is_ok(&status)) atomic_store(&c->stop, true);
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
}

static void *member(void *data) {
    Crew *c = data;
    cancel_lend(&c->stop);
    for (CrewSeat *seat; (seat = begin_next(c));) end(c, seat, c->plan->work(c->plan->user, seat->job, seat));
    return NULL;
}

void crew_weigh(CrewSeat *seat, double weight) {
    pthread_mutex_lock(&seat->crew->lock);
    seat->weighed = true;
    seat->weight = weight;
    pthread_mutex_unlock(&seat->crew->lock);
}

bool crew_goes_on(CrewSeat *seat, double done, const char *what_format, ...) {
    Crew *c = seat->crew;
    va_list args;
    va_start(args, what_format);
    pthread_mutex_lock(&c->lock);
    seat->done = done;
    vsnprintf(seat->what, sizeof seat->what, what_format, args);
    pthread_mutex_unlock(&c->lock);
    va_end(args);
    return !atomic_load_explicit(&c->stop, memory_order_relaxed);
}

/* The threads are dealt out among the jobs that run and those that could. */
int crew_threads(CrewSeat *seat) {
    Crew *c = seat->crew;
    pthread_mutex_lock(&c->lock);
    int wanting = c->running + c->plan->jobs - c->next;
    int each = wanting >= c->threads ? 1 : c->threads / wanting;
    pthread_mutex_unlock(&c->lock);
    return each;
}

/* ---- the study's thread ---- */

/* The share of all work that is done, with the lock held. */
static double share_done(const Crew *c) {
    double known = 0, done = 0, all = 0;
    int weighed = 0;
    for (int i = 0; i < c->plan->jobs; i++) {
        if (!c->seat[i].weighed || c->seat[i].weight <= 0) continue;
        known += c->seat[i].weight;
        weighed++;
    }
    double usual = weighed ? known / weighed : 1;
    for (int i = 0; i < c->plan->jobs; i++) {
        double weight = c->seat[i].weighed ? c->seat[i].weight : usual;
        all += weight;
        done += weight * c->seat[i].done;
    }
    return all > 0 ? done / all : 1;
}

/* False: the study wants a stop. */
static bool report(Study *s, Crew *c, int taken) {
    const CrewPlan *p = c->plan;
    double span = p->from == 0 && p->to == 0 ? 1 : p->to - p->from;
    char what[128] = "";
    pthread_mutex_lock(&c->lock);
    double done = p->from + span * share_done(c);
    if (taken < p->jobs) snprintf(what, sizeof what, "%s", c->seat[taken].what);
    pthread_mutex_unlock(&c->lock);
    if (p->jobs == 1) return study_progress(s, done, "%s", what);
    return study_progress(s, done, _("%d of %d: %s"), taken + 1 > p->jobs ? p->jobs : taken + 1, p->jobs, what);
}

/* Waits a moment for job TAKEN to end; whether it has. */
static bool wait_for(Crew *c, int taken) {
    struct timespec until = thread_deadline(look_every);
    pthread_mutex_lock(&c->lock);
    if (!c->seat[taken].ended) (void)pthread_cond_timedwait(&c->news, &c->lock, &until);
    bool ended = c->seat[taken].ended;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

static Status status_of(Crew *c, int job) {
    pthread_mutex_lock(&c->lock);
    Status status = c->seat[job].status;
    pthread_mutex_unlock(&c->lock);
    return status;
}

static Status call(Status (*what)(void *user, int job), void *user, int job) {
    return what ? what(user, job) : status_ok();
}

/* No further job is begun. Whether JOB is one of those that never will be. */
static bool stop_before(Crew *c, int job) {
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->stop, true);
    bool never = job >= c->next;
    pthread_mutex_unlock(&c->lock);
    return never;
}

/* Takes one job after the other until all are or one has failed. When the study wants a stop, those that end well all
 * the same are still taken. */
static Status take_all(Study *s, Crew *c) {
    const CrewPlan *p = c->plan;
    for (int taken = 0; taken < p->jobs;) {
        bool ended = wait_for(c, taken);
        STATUS_TRY(call(p->look, p->user, taken));
        if (ended) {
            STATUS_TRY(status_of(c, taken));
            STATUS_TRY(call(p->take, p->user, taken));
            taken++;
        }
        if (!report(s, c, taken) && stop_before(c, taken) && taken < p->jobs) return status_cancelled();
    }
    return status_ok();
}

/* A job that was stopped because another failed says nothing of interest. */
static Status first_fault(const Crew *c, Status status) {
    if (status.code != STATUS_OK && status.code != STATUS_CANCELLED) return status;
    for (int i = 0; i < c->plan->jobs; i++)
        if (c->seat[i].ended && c->seat[i].status.code != STATUS_OK && c->seat[i].status.code != STATUS_CANCELLED)
            return c->seat[i].status;
    return status;
}

static Status run_threads(Study *s, Crew *c) {
    int most = c->threads < c->plan->jobs ? c->threads : c->plan->jobs, started = 0;
    pthread_t *thread = MEM_ARRAY(pthread_t, (size_t)most);
    while (started < most && thread_start(&thread[started], member, c)) started++;
    Status status = started ? take_all(s, c) : status_failed(_("no thread can be started"));
    atomic_store(&c->stop, true);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    mem_free(thread);
    return first_fault(c, status);
}

Status crew_run(Study *s, const CrewPlan *plan) {
    if (plan->jobs == 0) return status_ok();
    Crew c = {.plan = plan, .threads = study_threads(s)};
    c.seat = MEM_ARRAY(CrewSeat, (size_t)plan->jobs);
    for (int i = 0; i < plan->jobs; i++) c.seat[i] = (CrewSeat){.crew = &c, .job = i};
    atomic_init(&c.stop, false);
    BUG_ON(pthread_mutex_init(&c.lock, NULL) != 0);
    thread_cond_init(&c.news);
    Status status = run_threads(s, &c);
    pthread_mutex_destroy(&c.lock);
    pthread_cond_destroy(&c.news);
    mem_free(c.seat);
    return status;
}
