#include "beside.h"

#include "bug.h"
#include "mem.h"
#include "thread.h"

struct Beside {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;      /* a call, its end, or the end of all */
    void (*call)(void *data); /* NULL: none */
    void *data;
    bool leave;
};

static void *member(void *self) {
    Beside *b = self;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->call && !b->leave) pthread_cond_wait(&b->news, &b->lock);
        if (b->leave) break;
        pthread_mutex_unlock(&b->lock);
        b->call(b->data);
        pthread_mutex_lock(&b->lock);
        b->call = NULL;
        pthread_cond_broadcast(&b->news);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void done(Beside *b) {
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->news);
    mem_free(b);
}

Beside *beside_new(void) {
    Beside *b = MEM_NEW(Beside);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->news, NULL);
    if (thread_start(&b->thread, member, b)) return b;
    done(b);
    return NULL;
}

void beside_begin(Beside *b, void (*call)(void *data), void *data) {
    pthread_mutex_lock(&b->lock);
    BUG_ON(b->call);
    b->call = call;
    b->data = data;
    pthread_cond_broadcast(&b->news);
    pthread_mutex_unlock(&b->lock);
}

void beside_wait(Beside *b) {
    pthread_mutex_lock(&b->lock);
    while (b->call) pthread_cond_wait(&b->news, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void beside_free(Beside *b) {
    if (!b) return;
    beside_wait(b);
    pthread_mutex_lock(&b->lock);
    b->leave = true;
    pthread_cond_broadcast(&b->news);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    done(b);
}
