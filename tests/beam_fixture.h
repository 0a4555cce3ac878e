/* What the tests of beam search share: sources made here, a small model, and what a tree must be. */
#ifndef TESTS_BEAM_FIXTURE_H
#define TESTS_BEAM_FIXTURE_H

#include "expect.h"

#include "decode/beam.h"
#include "decode/greedy.h"
#include "mem.h"
#include "model.h"
#include "rng.h"

#include <math.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9)

/* --- sources made here: the distribution is a function of the whole prefix --- */

enum { LONGEST = 16, WIDEST = 8, IDS_MOST = 12 };

typedef struct Prefixes {
    void (*log_p)(const struct Prefixes *p, const int *ids, int n, double *out); /* out [vocabulary] */
    const void *of;
    int vocabulary, prompts, room;
    int ids[2][WIDEST][LONGEST], n, turn; /* of the open beams */
} Prefixes;

static inline Status prefixes_advance(void *owner, int n, const int *parent, const int *id) {
    Prefixes *p = owner;
    if (!parent) {
        p->n = p->prompts; /* ids[turn][0] is the prompt */
        return status_ok();
    }
    int now = !p->turn;
    assert_in_range(n, 1, WIDEST);
    for (int i = 0; i < n; i++) {
        memcpy(p->ids[now][i], p->ids[p->turn][parent[i]], sizeof p->ids[now][i]);
        p->ids[now][i][p->n] = id[i];
    }
    p->turn = now;
    p->n++;
    return status_ok();
}

static inline Status prefixes_row(void *owner, int i, double *log_p) {
    const Prefixes *p = owner;
    p->log_p(p, p->ids[p->turn][i], p->n, log_p);
    return status_ok();
}

static inline bool prefixes_has_room(void *owner) {
    const Prefixes *p = owner;
    return p->n < p->room;
}

static inline BeamSource source_of(Prefixes *p) {
    if (p->room == 0) p->room = LONGEST;
    p->turn = p->n = 0;
    return (BeamSource){.owner = p,
                        .vocabulary = p->vocabulary,
                        .same = 1e-9,
                        .advance = prefixes_advance,
                        .row = prefixes_row,
                        .has_room = prefixes_has_room};
}

static inline Beam *run_beam(BeamConfig c, BeamSource s) {
    Beam *b = beam_new(&c, &s);
    assert_int_equal(beam_reason(b), BEAM_RUNNING);
    assert_ok(beam_run(b));
    return b;
}

typedef struct {
    int parent, id;
    double log_p;
    char state; /* Open, Kept, Pruned, Finished */
} Expected;

static inline void expect_tree(const Beam *b, const Expected *want, int n, BeamReason reason, int steps) {
    assert_int_equal(beam_nodes(b), n);
    assert_int_equal(beam_reason(b), reason);
    assert_int_equal(beam_steps(b), steps);
    for (int i = 0; i < n; i++) {
        const BeamNode *node = beam_node(b, i);
        assert_int_equal(node->parent, want[i].parent);
        assert_int_equal(node->id, want[i].id);
        NEAR(node->log_p, want[i].log_p);
        assert_int_equal("OKPF"[node->state], want[i].state);
        assert_int_equal(node->depth, node->parent < 0 ? 1 : beam_node(b, node->parent)->depth + 1);
    }
}

/* 0 ends, 1 and 2 are words. At first 1 with .6, 2 with .4; after 1: .2 .5 .3; after 2: .9 .1 0 */
static inline void hand(const Prefixes *p, const int *ids, int n, double *out) {
    static const double rows[3][3] = {{0, .6, .4}, {.2, .5, .3}, {.9, .1, 0}};
    (void)p;
    for (int k = 0; k < 3; k++) out[k] = log(rows[n == 0 ? 0 : ids[n - 1]][k]);
}

static inline Model *make_model(int vocabulary, int context, int window) {
    ModelConfig c = config_modern();
    c.vocab = vocabulary;
    c.context = context;
    c.d = 12;
    c.layers = 2;
    c.heads = 4;
    c.kv_heads = 2;
    c.head_dim = 6;
    c.d_ff = 10;
    c.window = window;
    assert_ok(config_check(&c));
    Model *m = model_new(&c, 3);
    Params *p = model_params(m);
    Rng r = rng_at(4, "test", 0);
    for (size_t i = 0; i < p->count; i++) p->x[i] += (real)(.3 * rng_normal(&r));
    return m;
}

static inline void expect_greedy(const Beam *b, const Path *p) {
    assert_int_equal(beam_nodes(b), p->count);
    double sum = 0;
    for (int i = 0; i < p->count; i++) {
        assert_int_equal(beam_node(b, i)->id, p->step[i].id);
        sum += p->step[i].log_p;
        NEAR(beam_node(b, i)->log_p, sum);
    }
    assert_int_equal(beam_reason(b) == BEAM_FOUND, p->ended);
}

#endif
