/* lab_fixture: small live runs for tests: a model of some thousand numbers on a few sentences of the farm. */
#ifndef TESTS_LAB_FIXTURE_H
#define TESTS_LAB_FIXTURE_H

#include "expect.h"

#include "lab.h"

#include <string.h>

/* 4 epochs of 40 steps on 640 sentences. PAIRS: further key=value texts, blank-separated, or NULL. */
static inline Options *fixture_options(const char *pairs) {
    static const char small[] =
        "d=16 layers=2 heads=2 context=32 sentences=640 batch=16 epochs=4 threads=1 start=pause";
    Options *o = lab_options();
    for (int pass = 0; pass < 2; pass++) {
        char text[512];
        strcpy(text, pass ? (pairs ? pairs : "") : small);
        for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) assert_ok(options_set_pair(o, pair));
    }
    return o;
}

static inline Lab *fixture_lab(const char *pairs) {
    Lab *l = lab_new(fixture_options(pairs));
    assert_ok(lab_prepare(l));
    return l;
}

/* Works until nothing is pending. */
static inline void fixture_finish(Lab *l) {
    while (lab_turn(l)) {}
}

static inline void fixture_do(Lab *l, const char *line) {
    assert_ok(lab_do(l, line));
    fixture_finish(l);
}

static inline SnapshotFacts fixture_facts(Lab *l) {
    Snapshot *s = lab_snapshot(l);
    SnapshotFacts f = *snapshot_facts(s);
    snapshot_unref(s);
    return f;
}

/* What was set so far, as 'log' says it; "": nothing. */
static inline const char *fixture_log(Lab *l) {
    static char text[500];
    fixture_do(l, "log");
    strcpy(text, fixture_facts(l).message);
    return strstr(text, "nothing was set") ? "" : text;
}

/* LINE is refused with a sentence that holds PART. */
static inline void fixture_refused(Lab *l, const char *line, const char *part) {
    Status s = lab_do(l, line);
    if (status_is_ok(&s)) fail_msg("'%s' was not refused", line);
    if (!strstr(s.text, part)) fail_msg("'%s' does not say '%s'", s.text, part);
}

enum { FIXTURE_STEPS = 160 };

/* Hashes of all steps of a straight run, which is made once. */
static inline void fixture_straight(uint64_t hash[FIXTURE_STEPS + 1]) {
    static uint64_t made[FIXTURE_STEPS + 1];
    static bool known;
    if (known) memcpy(hash, made, sizeof made);
    if (known) return;
    Lab *l = fixture_lab(NULL);
    hash[0] = lab_hash(l);
    assert_ok(lab_do(l, "run"));
    for (int i = 1; i <= FIXTURE_STEPS; i++) {
        assert_true(lab_turn(l));
        hash[i] = lab_hash(l);
    }
    assert_false(lab_busy(l));
    lab_free(l);
    memcpy(made, hash, sizeof made);
    known = true;
}

#endif
