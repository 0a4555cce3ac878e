/* The worker: what a screen sees of it, one unit at a time and from a thread; and a storm of commands from another. */
#include "lab_fixture.h"

#include "clock.h"
#include "field.h"
#include "hash.h"
#include "mem.h"
#include "rng.h"
#include "worker.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>

static Worker *worker_with(const char *pairs, WorkerKind kind) {
    return worker_new(lab_new(fixture_options(pairs)), kind);
}

static bool readable(const Worker *w) {
    struct pollfd p = {.fd = worker_fd(w), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* Waits for the next snapshot of a thread. */
static Snapshot *await_snapshot(Worker *w) {
    for (;;) {
        Snapshot *s = worker_take(w);
        if (s) return s;
        struct pollfd p = {.fd = worker_fd(w), .events = POLLIN};
        poll(&p, 1, -1);
    }
}

/* Takes snapshots until one of them has got to STATE at STEP. */
static void await_state(Worker *w, RunState state, long step) {
    for (bool there = false; !there;) {
        Snapshot *s = await_snapshot(w);
        there = snapshot_facts(s)->state == state && snapshot_facts(s)->step == step;
        snapshot_unref(s);
    }
}

/* Inline: every unit is seen. */

static void preparing_is_shown_first(void **state) {
    (void)state;
    Worker *w = worker_with(NULL, WORKER_INLINE);
    assert_null(worker_take(w));
    assert_false(readable(w));
    assert_true(worker_pump(w));
    assert_true(readable(w));
    Snapshot *s = worker_take(w);
    assert_int_equal(snapshot_facts(s)->state, RUN_PAUSED); /* the one of loading was replaced */
    assert_true(snapshot_fields(s) > 0);
    snapshot_unref(s);
    assert_null(worker_take(w));
    assert_false(readable(w));
    assert_false(worker_pump(w));
    worker_free(w);
}

static void every_command_is_answered(void **state) {
    (void)state;
    Worker *w = worker_with(NULL, WORKER_INLINE);
    assert_true(worker_pump(w));
    snapshot_unref(worker_take(w));
    assert_true(worker_post(w, "prompt the owl"));
    assert_true(worker_post(w, "stp 3"));
    assert_true(worker_pump(w));
    Snapshot *s = worker_take(w);
    assert_int_equal(snapshot_facts(s)->prompt_tokens, 3);
    snapshot_unref(s);
    assert_true(worker_pump(w));
    s = worker_take(w);
    assert_non_null(strstr(snapshot_facts(s)->message, "did you mean 'step'"));
    snapshot_unref(s);
    assert_false(worker_pump(w));
    worker_free(w);
}

static void nobody_looks_nothing_is_made(void **state) {
    (void)state;
    Worker *w = worker_with(NULL, WORKER_INLINE);
    assert_true(worker_pump(w));
    assert_true(worker_post(w, "until 30"));
    assert_true(worker_pump(w));
    snapshot_unref(worker_take(w));
    Snapshot *s = NULL;
    assert_true(worker_pump(w)); /* wanted: published */
    s = worker_take(w);
    assert_int_equal(snapshot_facts(s)->step, 1);
    snapshot_unref(s);
    assert_true(worker_pump(w)); /* step 2 is published and not taken */
    while (worker_pump(w)) {}
    s = worker_take(w); /* the end always is */
    assert_int_equal(snapshot_facts(s)->step, 30);
    assert_int_equal(snapshot_facts(s)->state, RUN_PAUSED);
    snapshot_unref(s);
    worker_free(w);
}

static void the_queue_is_bounded(void **state) {
    (void)state;
    Worker *w = worker_with(NULL, WORKER_INLINE);
    for (int i = 0; i < WORKER_QUEUE; i++) assert_true(worker_post(w, "token back"));
    assert_false(worker_post(w, "token back"));
    assert_true(worker_pump(w)); /* prepares */
    assert_true(worker_pump(w)); /* takes one */
    assert_true(worker_post(w, "forget"));
    assert_false(worker_post(w, "forget"));
    worker_free(w); /* the rest goes with it */
}

static void all_memory_comes_back(void **state) {
    (void)state;
    size_t before = mem_count().live;
    Worker *w = worker_with(NULL, WORKER_INLINE);
    assert_true(worker_pump(w));
    Snapshot *s = worker_take(w);
    worker_post(w, "step");
    worker_free(w);
    assert_int_equal(snapshot_facts(s)->step, 0); /* outlives its maker */
    snapshot_unref(s);
    assert_int_equal(mem_count().live, before);
}

/* In a thread. */

static uint64_t hash_after(const char *pairs) {
    Lab *l = fixture_lab(pairs);
    fixture_do(l, "run");
    uint64_t h = lab_hash(l);
    lab_free(l);
    return h;
}

/* The parameters themselves do not leave the laboratory: the finished run is saved and opened again. */
static uint64_t saved_hash(Worker *w, const char *path) {
    char line[128];
    snprintf(line, sizeof line, "save %s", path);
    while (!worker_post(w, line)) {}
    for (bool there = false; !there;) {
        Snapshot *s = await_snapshot(w);
        there = strstr(snapshot_facts(s)->message, path) != NULL;
        snapshot_unref(s);
    }
    Lab *l = fixture_lab(NULL);
    snprintf(line, sizeof line, "open %s", path);
    fixture_do(l, line);
    uint64_t h = lab_hash(l);
    lab_free(l);
    remove(path);
    return h;
}

static void a_thread_trains_the_same_bits(void **state) {
    (void)state;
    uint64_t expected = hash_after(NULL);
    Worker *w = worker_with("start=run threads=2", WORKER_THREAD);
    worker_set_rate(w, 1e6);
    await_state(w, RUN_FINISHED, 160);
    assert_true(saved_hash(w, "/tmp/lantern_test_worker.ckpt") == expected);
    worker_free(w);
}

/* While the clock stands still no time passes between two snapshots: only answers and the end are seen. */
static void the_rate_is_kept(void **state) {
    (void)state;
    clock_freeze(10);
    Worker *w = worker_with(NULL, WORKER_THREAD);
    await_state(w, RUN_PAUSED, 0);
    assert_true(worker_post(w, "until 40"));
    for (long step = 0; step < 40;) {
        Snapshot *s = await_snapshot(w);
        step = snapshot_facts(s)->step;
        assert_true(step == 0 || step == 40);
        snapshot_unref(s);
    }
    worker_free(w);
    clock_freeze(-1);
}

static void signals_do_not_reach_the_thread(void **state) {
    (void)state;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    Worker *w = worker_with("start=run", WORKER_THREAD);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 1; i < 32; i++) assert_int_equal(sigismember(&before, i), sigismember(&after, i));
    worker_free(w); /* in the middle of its work */
}

/* A corpus that would take many minutes. */
static void it_stops_while_it_prepares(void **state) {
    (void)state;
    Worker *w = worker_with("sentences=100000000", WORKER_THREAD);
    await_state(w, RUN_LOADING, 0);
    worker_free(w);
}

static uint64_t checksum(const Snapshot *s) {
    uint64_t h = hash_bytes(HASH_START, snapshot_facts(s), sizeof(SnapshotFacts));
    for (int i = 0; i < snapshot_fields(s); i++) {
        const Field *f = snapshot_field_at(s, i);
        h = hash_bytes(h, f->x, field_count(f) * sizeof *f->x);
    }
    for (int i = 0; i < snapshot_tables(s); i++) {
        const Table *t = snapshot_table_at(s, i);
        Str text;
        str_init(&text);
        for (long row = 0; row < table_rows(t); row++)
            for (int c = 0; c < table_columns(t); c++) table_cell(t, row, c, &text);
        h = hash_bytes(h, text.s, text.len);
        str_done(&text);
    }
    return h;
}

static const char *const storm_lines[] = {
    "run",
    "pause",
    "step",
    "step 3",
    "back",
    "back 5",
    "seek 3",
    "seek 20",
    "live",
    "fork",
    "until 150",
    "set lr 0.002",
    "set clip 1",
    "set window=3 softcap=20",
    "set layers 1",
    "versus ffn=geglu",
    "versus other",
    "versus off",
    "log",
    "set threads 2",
    "set threads 1",
    "prompt the dog",
    "prompt the xyz",
    "token next",
    "token back 2",
    "token to 9",
    "decode run 900",
    "decode pause",
    "forget",
    "filter tau=0.7 top_k=5",
    "filter greedy",
    "head 1 1 toggle",
    "window 3",
    "window model",
    "watch next",
    "watch attention curve path",
    "watch tokens curve model attention next path filter",
    "nonsense",
    "eval",
    "restart",
};

enum { STORM_COMMANDS = 2000, HELD = 8 };

/* Commands at random as fast as the queue takes them; snapshots are held for a while and must not change meanwhile. */
static void a_storm_of_commands_breaks_nothing(void **state) {
    (void)state;
    Worker *w = worker_with("sentences=160 epochs=20 threads=2", WORKER_THREAD);
    worker_set_rate(w, 1e6);
    Snapshot *held[HELD] = {0};
    uint64_t sum[HELD] = {0};
    Rng r = rng_at(5, "storm", 0);
    for (int i = 0, at = 0; i < STORM_COMMANDS;) {
        size_t line = rng_below(&r, sizeof storm_lines / sizeof *storm_lines);
        bool rare = line + 2 >= sizeof storm_lines / sizeof *storm_lines; /* these take long */
        if (rare && i % 100) continue;
        bool room = worker_post(w, storm_lines[line]);
        if (room) i++;
        Snapshot *s = room ? worker_take(w) : await_snapshot(w);
        if (!s) continue;
        if (held[at]) assert_true(checksum(held[at]) == sum[at]);
        snapshot_unref(held[at]);
        held[at] = s;
        sum[at] = checksum(s);
        at = (at + 1) % HELD;
    }
    worker_free(w);
    for (int i = 0; i < HELD; i++) {
        if (held[i]) assert_true(checksum(held[i]) == sum[i]);
        snapshot_unref(held[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing_is_shown_first),
        cmocka_unit_test(every_command_is_answered),
        cmocka_unit_test(nobody_looks_nothing_is_made),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(all_memory_comes_back),
        cmocka_unit_test(a_thread_trains_the_same_bits),
        cmocka_unit_test(the_rate_is_kept),
        cmocka_unit_test(signals_do_not_reach_the_thread),
        cmocka_unit_test(it_stops_while_it_prepares),
        cmocka_unit_test(a_storm_of_commands_breaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
