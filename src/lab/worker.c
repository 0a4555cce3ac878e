#include "worker.h"

#include "bug.h"
#include "cancel.h"
#include "clock.h"
#include "mem.h"
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WAKE_READ, WAKE_WRITE };

/* Pictures of running work take at most this share of the time, what they cost the screen included, but there is one in
 * LAZIEST seconds whatever it costs. */
#define PICTURE_SHARE 0.015
#define LAZIEST       0.5
#define SLOW          0.25
#define AT_ONCE       0.04 /* seconds: a look that takes no longer is always finished */

struct Worker {
    Lab *lab; /* of the thread, once it runs */
    WorkerKind kind;
    pthread_t thread;
    int wake[2];   /* a byte lies in it while a snapshot waits */
    bool prepared; /* of the thread */
    double last;   /* of the thread: when a snapshot was last published */
    double look;   /* of the thread: seconds that making one takes lately */
    bool slow;     /* of the thread: the last look was */
    double turn;   /* of the thread: seconds that the last turn took */

    pthread_mutex_t mutex; /* over all that follows */
    pthread_cond_t work;   /* a line came, or the end */
    char *line[WORKER_QUEUE];
    int first, lines; /* a ring */
    Snapshot *latest; /* NULL: taken */
    bool wanted;      /* somebody took the last one, or nobody has had one yet */
    atomic_bool stop; /* also looked at without the mutex, by what takes long */
    bool looking;     /* a snapshot is being made, */
    double begun;     /* since then */
    atomic_bool drop; /* it is not wanted any more; looked at like stop */
    double interval;  /* least seconds between two snapshots of running work */
    double price;     /* seconds that the screen needs for one */
};

/* Out. */

static void wake(Worker *w) {
    ssize_t n;
    do n = write(w->wake[WAKE_WRITE], "", 1);
    while (n < 0 && errno == EINTR);
}

static void give(Worker *w, Snapshot *fresh) {
    pthread_mutex_lock(&w->mutex);
    Snapshot *old = w->latest;
    w->latest = fresh;
    w->wanted = false;
    if (!old) wake(w);
    pthread_mutex_unlock(&w->mutex);
    snapshot_unref(old);
    w->last = clock_now();
}

/* A look that takes longer than eyes do not mind shows what it has, from the beginning when the last one was like that,
 * and is given up when a line comes. */
static bool give_part(void *self, const Snapshot *so_far) {
    Worker *w = self;
    if (!w->slow && clock_now() - w->begun < AT_ONCE) return true;
    pthread_mutex_lock(&w->mutex);
    bool go_on = w->lines == 0 && !w->stop;
    pthread_mutex_unlock(&w->mutex);
    give(w, snapshot_ref(so_far));
    return go_on;
}

static void set_looking(Worker *w, bool looking) {
    pthread_mutex_lock(&w->mutex);
    w->looking = looking;
    double now = clock_now();
    if (!looking) w->slow = now - w->begun > SLOW;
    w->begun = now;
    w->drop = w->stop;
    pthread_mutex_unlock(&w->mutex);
    cancel_lend(looking ? &w->drop : &w->stop);
}

static void publish(Worker *w) {
    double begin = clock_cpu();
    bool patient = w->kind == WORKER_INLINE;
    if (!patient) set_looking(w, true);
    Snapshot *fresh = lab_look(w->lab, patient ? NULL : give_part, w);
    if (!patient) set_looking(w, false);
    w->look = 0.5 * (w->look + clock_cpu() - begin);
    if (fresh) give(w, fresh);
}

static bool is_wanted(Worker *w, double *interval, double *price) {
    pthread_mutex_lock(&w->mutex);
    bool wanted = w->wanted;
    *interval = w->interval;
    *price = w->price;
    pthread_mutex_unlock(&w->mutex);
    return wanted;
}

/* Whether the screen waits for news and the rate allows it in AHEAD seconds. */
static bool is_due(Worker *w, double ahead) {
    double interval, price;
    if (!is_wanted(w, &interval, &price)) return false;
    double affordable = fmin((w->look + price) / PICTURE_SHARE, LAZIEST);
    return clock_now() + ahead - w->last >= fmax(interval, affordable);
}

Snapshot *worker_take(Worker *w) {
    pthread_mutex_lock(&w->mutex);
    Snapshot *s = w->latest;
    w->latest = NULL;
    w->wanted = true;
    char byte;
    if (s)
        while (read(w->wake[WAKE_READ], &byte, 1) < 0 && errno == EINTR) {}
    pthread_mutex_unlock(&w->mutex);
    return s;
}

int worker_fd(const Worker *w) {
    return w->wake[WAKE_READ];
}

void worker_set_rate(Worker *w, double per_second) {
    BUG_ON(!(per_second > 0));
    pthread_mutex_lock(&w->mutex);
    w->interval = 1 / per_second;
    pthread_mutex_unlock(&w->mutex);
}

void worker_set_price(Worker *w, double seconds) {
    pthread_mutex_lock(&w->mutex);
    w->price = seconds;
    pthread_mutex_unlock(&w->mutex);
}

/* In. */

bool worker_post(Worker *w, const char *line) {
    pthread_mutex_lock(&w->mutex);
    bool room = w->lines < WORKER_QUEUE;
    if (room) {
        w->line[(w->first + w->lines) % WORKER_QUEUE] = mem_text(line);
        w->lines++;
        if (w->looking && clock_now() - w->begun > AT_ONCE) w->drop = true;
        pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->mutex);
    return room;
}

/* The oldest line, for the caller to free; NULL when none waits. Call with the mutex held. */
static char *next_line(Worker *w) {
    if (w->lines == 0) return NULL;
    char *line = w->line[w->first];
    w->first = (w->first + 1) % WORKER_QUEUE;
    w->lines--;
    return line;
}

/* The laboratory keeps a refusal as its message, so the status has done its work. */
static void carry_out(Worker *w, char *line) {
    Status s = lab_do(w->lab, line);
    (void)s;
    mem_free(line);
    publish(w);
}

/* Work. */

static void prepare(Worker *w) {
    publish(w);
    Status s = lab_prepare(w->lab); /* a failure is the state and the message of the next snapshot */
    (void)s;
    w->prepared = true;
    publish(w);
}

/* One unit of pending work, the clock aside. */
static bool turn_inline(Worker *w) {
    double interval, price;
    if (!lab_turn(w->lab)) return false;
    if (lab_wait(w->lab) > 0 || is_wanted(w, &interval, &price)) publish(w);
    return true;
}

/* One unit of pending work; a look follows where it will be due when the unit takes as long as the last one. */
static void turn(Worker *w) {
    bool look = is_due(w, w->turn);
    lab_expect_look(w->lab, look);
    double begin = clock_now();
    bool worked = lab_turn(w->lab);
    w->turn = clock_now() - begin;
    if (worked && (look || lab_wait(w->lab) > 0)) publish(w);
}

/* Sleeps until a line comes, the end, or SECONDS have passed. Call with the mutex held. */
static void sleep_on(Worker *w, double seconds) {
    if (isinf(seconds)) {
        pthread_cond_wait(&w->work, &w->mutex);
        return;
    }
    struct timespec until = thread_deadline(seconds);
    pthread_cond_timedwait(&w->work, &w->mutex, &until);
}

/* Waits while there is nothing to do. False: stop. *line is a command to carry out, NULL when a turn is due. */
static bool await(Worker *w, char **line) {
    double wait = lab_wait(w->lab);
    pthread_mutex_lock(&w->mutex);
    if (!w->stop && w->lines == 0 && wait > 0) sleep_on(w, wait);
    bool go_on = !w->stop;
    *line = go_on ? next_line(w) : NULL;
    pthread_mutex_unlock(&w->mutex);
    return go_on;
}

static void *work(void *self) {
    Worker *w = self;
    cancel_lend(&w->stop);
    prepare(w);
    char *line;
    while (await(w, &line)) {
        if (line)
            carry_out(w, line);
        else
            turn(w);
    }
    return NULL;
}

bool worker_pump(Worker *w) {
    BUG_ON(w->kind != WORKER_INLINE);
    if (!w->prepared) {
        prepare(w);
        return true;
    }
    pthread_mutex_lock(&w->mutex);
    char *line = next_line(w);
    pthread_mutex_unlock(&w->mutex);
    if (!line) return turn_inline(w);
    carry_out(w, line);
    return true;
}

/* Life. */

static void open_pipe(Worker *w) {
    BUG_ON(pipe(w->wake) != 0);
    for (int i = 0; i < 2; i++) {
        fcntl(w->wake[i], F_SETFL, fcntl(w->wake[i], F_GETFL) | O_NONBLOCK);
        fcntl(w->wake[i], F_SETFD, FD_CLOEXEC);
    }
}

Worker *worker_new(Lab *l, WorkerKind kind) {
    Worker *w = MEM_NEW(Worker);
    w->lab = l;
    w->kind = kind;
    lab_set_paced(l, kind == WORKER_THREAD);
    w->wanted = true;
    atomic_init(&w->stop, false);
    w->interval = 1.0 / 20;
    w->last = -HUGE_VAL;
    pthread_mutex_init(&w->mutex, NULL);
    thread_cond_init(&w->work);
    open_pipe(w);
    if (kind == WORKER_THREAD) BUG_ON(!thread_start(&w->thread, work, w));
    return w;
}

static void join(Worker *w) {
    pthread_mutex_lock(&w->mutex);
    w->stop = w->drop = true;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
}

void worker_free(Worker *w) {
    if (!w) return;
    if (w->kind == WORKER_THREAD) join(w);
    char *line;
    while ((line = next_line(w)) != NULL) mem_free(line);
    snapshot_unref(w->latest);
    lab_free(w->lab);
    close(w->wake[WAKE_READ]);
    close(w->wake[WAKE_WRITE]);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->mutex);
    mem_free(w);
}
