#include "decode/team.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"
#include "thread.h"

#include <sched.h>
#include <stdatomic.h>

enum { AWAKE = 20000 }; /* looks before a helper goes to sleep, or the caller lets others run */

typedef struct {
    Team *team;
    int part;
    pthread_t thread;
} Helper;

struct Team {
    int threads;
    Helper helper[TEAM_MOST];
    void (*job)(void *data, int part, int parts);
    void *data;
    atomic_uint round; /* of the job; the helpers begin when it changes */
    atomic_int left;   /* helpers that have not finished */
    atomic_int asleep;
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/* The round after SEEN. */
static unsigned await(Team *t, unsigned seen) {
    for (int i = 0; i < AWAKE; i++) {
        unsigned round = atomic_load_explicit(&t->round, memory_order_acquire);
        if (round != seen) return round;
        simd_pause();
    }
    (void)pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1);
    unsigned round;
    while ((round = atomic_load(&t->round)) == seen) (void)pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    (void)pthread_mutex_unlock(&t->lock);
    return round;
}

static void *help(void *user) {
    Helper *h = user;
    Team *t = h->team;
    for (unsigned seen = 0;;) {
        seen = await(t, seen);
        if (atomic_load(&t->quit)) return NULL;
        t->job(t->data, h->part, t->threads);
        atomic_fetch_sub_explicit(&t->left, 1, memory_order_release);
    }
}

static void announce(Team *t) {
    atomic_fetch_add(&t->round, 1);
    if (atomic_load(&t->asleep) == 0) return;
    (void)pthread_mutex_lock(&t->lock);
    (void)pthread_cond_broadcast(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
}

Team *team_new(int threads) {
    BUG_ON(threads < 1 || threads > TEAM_MOST);
    Team *t = MEM_NEW(Team);
    t->threads = 1;
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    for (int i = 1; i < threads; i++) {
        t->helper[i] = (Helper){.team = t, .part = i};
        if (!thread_start(&t->helper[i].thread, help, &t->helper[i])) break;
        t->threads++;
    }
    return t;
}

void team_free(Team *t) {
    if (!t) return;
    atomic_store(&t->quit, true);
    announce(t);
    for (int i = 1; i < t->threads; i++) (void)pthread_join(t->helper[i].thread, NULL);
    (void)pthread_mutex_destroy(&t->lock);
    (void)pthread_cond_destroy(&t->wake);
    mem_free(t);
}

int team_threads(const Team *t) {
    return t ? t->threads : 1;
}

void team_run(Team *t, void (*job)(void *data, int part, int parts), void *data) {
    t->job = job;
    t->data = data;
    atomic_store(&t->left, t->threads - 1);
    announce(t);
    job(data, 0, t->threads);
    for (int i = 0; atomic_load_explicit(&t->left, memory_order_acquire) > 0; i++) {
        if (i < AWAKE)
            simd_pause();
        else
            (void)sched_yield();
    }
}
