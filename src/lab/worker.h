/* worker: a thread around a Lab. In: a bounded queue of command lines. Out: the latest snapshot. A pipe wakes the
 * screen.
 *
 * A slow screen skips snapshots and never slows training; watching changes no number. The worker never touches the
 * terminal, and signals do not reach it (thread.h).
 *
 * When there is a snapshot: after every command, and when the work ends, so that a run that is held or stepped always
 * shows exactly where it is. While work goes on there is another when the last one was taken, at most so many a second,
 * and only as often as they take 1.5 % of the time, making and showing together: a wall of ten panes comes some six
 * times a second on two cores, one pane at the full rate, and training hardly feels either. Everything in a snapshot is
 * of the same step, and the screen shows one snapshot at a time. Only what somebody watches is worked out. */
#ifndef LAB_WORKER_H
#define LAB_WORKER_H

#include "lab.h"

#define WORKER_QUEUE 64 /* lines that may wait */

typedef struct Worker Worker;

typedef enum { WORKER_THREAD, WORKER_INLINE } WorkerKind; /* INLINE: worker_pump does the work, for scripts and tests */

Worker *worker_new(Lab *l, WorkerKind kind); /* takes L over and begins to prepare it */
/* Stops what it prepares, or within one training step; joins. Snapshots that were taken stay valid. */
void worker_free(Worker *w);

/* Queues a line. False when the queue is full (nothing was queued). A refusal arrives as the snapshot's message. */
bool worker_post(Worker *w, const char *line);
/* The newest snapshot, a reference for the caller; NULL when there is none since the last call. Asking means wanting
 * the next. */
Snapshot *worker_take(Worker *w);
int worker_fd(const Worker *w);                     /* readable when a snapshot waits; worker_take empties it */
void worker_set_rate(Worker *w, double per_second); /* at most so many snapshots a second while running (default 20) */
void worker_set_price(Worker *w, double seconds);   /* of the processor, to show one (default 0) */

/* INLINE: does one unit of work (preparing, a command, or a turn) and publishes what a thread would, the clock aside;
 * false when idle. */
bool worker_pump(Worker *w);

#endif
