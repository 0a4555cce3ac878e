#include "decode/team.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"
#include "thread.h"

#include <sched.h>
#include <stdatomic.h>

enum { AWAKE = 20000 }; /* looks before a helper goes to sleep, or the caller lets others run */

struct Team {
    int threads;
    pthread_t helper[TEAM_MOST];
    void (*job)(void *data, int part, int parts);
    void *data;
    _Atomic uint64_t ticket; /* round of the job << 32 | its parts << 16 | the next one to be taken */
    atomic_int left;         /* parts that are not done */
    atomic_int asleep;
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

enum { ROUND = 32, PARTS = 16, PART_MASK = 0xffff };

static uint32_t round_of(const Team *t) {
    return (uint32_t)(atomic_load_explicit(&t->ticket, memory_order_acquire) >> ROUND);
}

/* The round after SEEN. */
static uint32_t await(Team *t, uint32_t seen) {
    for (int i = 0; i < AWAKE; i++) {
        uint32_t round = round_of(t);
        if (round != seen) return round;
        simd_pause();
    }
    (void)pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1);
    uint32_t round;
    while ((round = (uint32_t)(atomic_load(&t->ticket) >> ROUND)) == seen) (void)pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    (void)pthread_mutex_unlock(&t->lock);
    return round;
}

/* Parts of ROUND as long as there are some. A part that is taken keeps its job alive: whoever asked for it waits. */
static void take_parts(Team *t, uint32_t round) {
    uint64_t ticket = atomic_load_explicit(&t->ticket, memory_order_acquire);
    for (;;) {
        int part = (int)(ticket & PART_MASK), parts = (int)(ticket >> PARTS & PART_MASK);
        if ((uint32_t)(ticket >> ROUND) != round || part >= parts) return;
        if (!atomic_compare_exchange_weak(&t->ticket, &ticket, ticket + 1)) continue;
        t->job(t->data, part, parts);
        atomic_fetch_sub_explicit(&t->left, 1, memory_order_release);
        ticket = atomic_load_explicit(&t->ticket, memory_order_acquire);
    }
}

static void *help(void *user) {
    Team *t = user;
    for (uint32_t seen = 0;;) {
        seen = await(t, seen);
        if (atomic_load(&t->quit)) return NULL;
        take_parts(t, seen);
    }
}

/* A new round; its parts are there to be taken. */
static uint32_t announce(Team *t, int parts) {
    uint32_t round = round_of(t) + 1;
    atomic_store(&t->ticket, (uint64_t)round << ROUND | (uint64_t)parts << PARTS);
    if (atomic_load(&t->asleep) == 0) return round;
    (void)pthread_mutex_lock(&t->lock);
    (void)pthread_cond_broadcast(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    return round;
}

Team *team_new(int threads) {
    BUG_ON(threads < 1 || threads > TEAM_MOST);
    Team *t = MEM_NEW(Team);
    t->threads = 1;
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    while (t->threads < threads && thread_start(&t->helper[t->threads], help, t)) t->threads++;
    return t;
}

void team_free(Team *t) {
    if (!t) return;
    atomic_store(&t->quit, true);
    (void)announce(t, 0);
    for (int i = 1; i < t->threads; i++) (void)pthread_join(t->helper[i], NULL);
    (void)pthread_mutex_destroy(&t->lock);
    (void)pthread_cond_destroy(&t->wake);
    mem_free(t);
}

int team_threads(const Team *t) {
    return t ? t->threads : 1;
}

void team_run(Team *t, int parts, void (*job)(void *data, int part, int parts), void *data) {
    BUG_ON(parts < 1 || parts > PART_MASK);
    t->job = job;
    t->data = data;
    atomic_store(&t->left, parts);
    take_parts(t, announce(t, parts));
    for (int i = 0; atomic_load_explicit(&t->left, memory_order_acquire) > 0; i++) {
        if (i < AWAKE)
            simd_pause();
        else
            (void)sched_yield();
    }
}
