/* beam: a search whose every step is worked out by hand, one that a few lines of Python gave, a plain search that sorts
 * all candidates, over a model the same as without a cache, width 1 as greedy. */
#include "beam_fixture.h"

#include "decode/beam_model.h"
#include "decode/decoder.h"
#include "decode/log_softmax.h"

#include <stdlib.h>

/* --- by hand: 0 ends, 1 and 2 are words. At first 1 with .6, 2 with .4; after 1: .2 .5 .3; after 2: .9 .1 0 --- */

/* "2 END" has .36, more than anything that begins with 1; greedy never sees it. */
static void by_hand(void **state) {
    (void)state;
    Prefixes p = {.log_p = hand, .vocabulary = 3};
    const Expected tree[] = {{-1, 1, log(.6), 'K'}, {-1, 2, log(.4), 'K'}, {1, 0, log(.36), 'F'},
                             {0, 1, log(.30), 'O'}, {0, 2, log(.18), 'P'}, {0, 0, log(.12), 'P'}};
    Beam *b = run_beam((BeamConfig){.width = 2, .tokens = 4, .pruned = 2}, source_of(&p));
    expect_tree(b, tree, 6, BEAM_FOUND, 2);
    int path[2], *best;
    beam_path(b, 2, path);
    assert_true(path[0] == 2 && path[1] == 0);
    assert_int_equal(beam_best(b, &best), 1);
    assert_int_equal(best[0], 2);
    NEAR(beam_node(b, 2)->score, log(.36));
    mem_free(best);
    beam_free(b);
}

/* With length normalisation "2 END" has -.511 a token; 1 1 may still attain ln .3 / 4 = -.301, and 1 1 1 -.474. */
static void by_hand_with_length_norm(void **state) {
    (void)state;
    Prefixes p = {.log_p = hand, .vocabulary = 3};
    const Expected tree[] = {{-1, 1, log(.6), 'K'},  {-1, 2, log(.4), 'K'},  {1, 0, log(.36), 'F'},
                             {0, 1, log(.30), 'K'},  {3, 1, log(.15), 'K'},  {3, 2, log(.09), 'K'},
                             {5, 0, log(.081), 'F'}, {4, 1, log(.075), 'O'}, {-2, 0, 0, 0}};
    BeamConfig c = {.width = 2, .tokens = 4, .length_norm = true};
    Beam *b = run_beam(c, source_of(&p));
    expect_tree(b, tree, 8, BEAM_FOUND, 4);
    NEAR(beam_node(b, 2)->score, log(.36) / 2);
    NEAR(beam_node(b, 6)->score, log(.081) / 4);
    int *best;
    assert_int_equal(beam_best(b, &best), 2);
    assert_true(best[0] == 2 && best[1] == 6);
    mem_free(best);
    beam_free(b);
    c.tokens = 20; /* 1 1 1 1 may still attain more: it goes on until there is no room */
    p.room = 7;
    b = run_beam(c, source_of(&p));
    assert_int_equal(beam_reason(b), BEAM_CONTEXT);
    assert_int_equal(beam_steps(b), 8);
    beam_free(b);
}

/* Why it stops, and what counts as best when nothing is finished. */
static void stops(void **state) {
    (void)state;
    Prefixes p = {.log_p = hand, .vocabulary = 3};
    int *best;
    Beam *b = run_beam((BeamConfig){.width = 1, .tokens = 3}, source_of(&p)); /* 1 1 1: greedy */
    assert_int_equal(beam_reason(b), BEAM_TOKENS);
    assert_int_equal(beam_nodes(b), 3);
    assert_int_equal(beam_best(b, &best), 1);
    assert_int_equal(beam_node(b, best[0])->depth, 3);
    mem_free(best);
    beam_free(b);
    b = run_beam((BeamConfig){.width = 3, .tokens = 9, .end = 1}, source_of(&p)); /* another END: .6 at once */
    assert_int_equal(beam_reason(b), BEAM_FOUND);
    assert_int_equal(beam_steps(b), 1);
    assert_int_equal(beam_node(b, 0)->state, BEAM_FINISHED);
    assert_int_equal(beam_nodes(b), 2); /* what is impossible is no candidate */
    beam_free(b);
    assert_string_equal(beam_reason_name(BEAM_FOUND), "finished");
    assert_string_equal(beam_state_name(BEAM_PRUNED), "pruned");
}

static void nothing_row(const Prefixes *p, const int *ids, int n, double *out) {
    (void)ids;
    for (int k = 0; k < p->vocabulary; k++) out[k] = n == 0 && k == 1 ? 0 : (double)-INFINITY;
}

static void nan_row(const Prefixes *p, const int *ids, int n, double *out) {
    (void)ids;
    for (int k = 0; k < p->vocabulary; k++) out[k] = n == 1 && k == 2 ? (double)NAN : -1;
}

static void odd_sources(void **state) {
    (void)state;
    Prefixes p = {.log_p = nothing_row, .vocabulary = 3};
    Beam *b = run_beam((BeamConfig){.width = 2, .tokens = 3, .pruned = 9}, source_of(&p));
    assert_int_equal(beam_reason(b), BEAM_NOTHING);
    assert_int_equal(beam_nodes(b), 1);
    int *best;
    assert_int_equal(beam_best(b, &best), 0);
    mem_free(best);
    beam_free(b);
    p.log_p = nan_row;
    BeamSource s = source_of(&p);
    b = beam_new(&(BeamConfig){.width = 1, .tokens = 3, .end = 1}, &s);
    assert_int_equal(beam_best(b, &best), 0);
    mem_free(best);
    assert_ok(beam_step(b));
    assert_status(beam_run(b), STATUS_FAILED, "beam search: what comes next is not a number");
    beam_free(b);
}

/* --- by Python: logits ((7 h + (k + 1)(5 n + 13)) mod 17) / 4 with h = sum over the prefix of (id + 1)(place + 3) ---
 */

static void formula(const Prefixes *p, const int *ids, int n, double *out) {
    int h = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) h += (ids[i] + 1) * (i + 3);
    for (int k = 0; k < p->vocabulary; k++) {
        out[k] = (h * 7 + (k + 1) * (n * 5 + 13)) % 17 / 4.0;
        sum += exp(out[k]);
    }
    for (int k = 0; k < p->vocabulary; k++) out[k] -= log(sum);
}

static void by_python(void **state) {
    (void)state;
    static const Expected plain[] = {
        {-1, 4, -0.946765019202, 'K'}, {-1, 0, -1.1967650192, 'K'}, {-1, 5, -1.9467650192, 'K'},
        {-1, 1, -2.1967650192, 'P'},   {0, 5, -2.20297410972, 'K'}, {0, 4, -2.45297410972, 'K'},
        {1, 5, -2.45297410972, 'K'},   {0, 3, -2.70297410972, 'P'}, {4, 4, -3.03127253984, 'K'},
        {4, 1, -3.28127253984, 'K'},   {6, 4, -3.28127253984, 'K'}, {5, 3, -3.32933855816, 'P'},
        {8, 3, -3.52698383065, 'F'},   {9, 0, -4.09852325637, 'O'}, {10, 1, -4.10957096995, 'O'},
        {9, 3, -4.34852325637, 'P'}};
    static const Expected normed[] = {
        {-1, 4, -0.946765019202, 'K'}, {-1, 0, -1.1967650192, 'K'},  {-1, 5, -1.9467650192, 'K'},
        {0, 5, -2.20297410972, 'K'},   {0, 4, -2.45297410972, 'K'},  {1, 5, -2.45297410972, 'K'},
        {3, 4, -3.03127253984, 'K'},   {3, 1, -3.28127253984, 'K'},  {5, 4, -3.28127253984, 'K'},
        {6, 3, -3.52698383065, 'F'},   {7, 0, -4.09852325637, 'K'},  {8, 1, -4.10957096995, 'K'},
        {10, 0, -5.35473234689, 'O'},  {11, 0, -5.36578006047, 'O'}, {10, 1, -5.60473234689, 'O'}};
    Prefixes p = {.log_p = formula, .vocabulary = 6};
    Beam *b = run_beam((BeamConfig){.width = 3, .tokens = 7, .end = 3, .pruned = 1}, source_of(&p));
    expect_tree(b, plain, 16, BEAM_FOUND, 4);
    beam_free(b);
    b = run_beam((BeamConfig){.width = 3, .tokens = 5, .end = 3, .length_norm = true}, source_of(&p));
    expect_tree(b, normed, 15, BEAM_FOUND, 5);
    beam_free(b);
}

/* --- by sorting: every candidate of every step in one array --- */

typedef struct {
    int node, n;
    double log_p;
    int ids[LONGEST];
} PlainBeam;

typedef struct {
    double log_p;
    int parent, id;
} PlainCandidate;

static int by_rank(const void *a, const void *b) {
    const PlainCandidate *x = a, *y = b;
    if (fabs(x->log_p - y->log_p) > 1e-7) return x->log_p > y->log_p ? -1 : 1;
    return x->parent != y->parent ? x->parent - y->parent : x->id - y->id;
}

/* The same search without a heap: rows of expected nodes. Returns how many. */
static int plain_search(const Prefixes *p, BeamConfig c, Expected *out, int *steps) {
    PlainBeam open[WIDEST] = {{.node = -1}}, next[WIDEST];
    int opened = 1, nodes = 0;
    double best = (double)-INFINITY;
    for (*steps = 0;;) {
        PlainCandidate all[WIDEST * IDS_MOST];
        int n = 0;
        for (int i = 0; i < opened; i++) {
            double row[IDS_MOST];
            p->log_p(p, open[i].ids, open[i].n, row);
            for (int k = 0; k < p->vocabulary; k++)
                if (row[k] > (double)-INFINITY) all[n++] = (PlainCandidate){open[i].log_p + row[k], i, k};
        }
        qsort(all, (size_t)n, sizeof *all, by_rank);
        for (int i = 0; i < opened; i++)
            if (open[i].node >= 0) out[open[i].node].state = 'K';
        int kept = 0;
        for (int i = 0; i < n && i < c.width + c.pruned; i++) {
            const PlainBeam *from = &open[all[i].parent];
            char state = i >= c.width ? 'P' : all[i].id == c.end ? 'F' : 'O';
            out[nodes] = (Expected){from->node, all[i].id, all[i].log_p, state};
            if (state == 'F') best = fmax(best, c.length_norm ? all[i].log_p / (*steps + 1) : all[i].log_p);
            if (state == 'O') {
                next[kept] = *from;
                next[kept].log_p = all[i].log_p;
                next[kept].node = nodes;
                next[kept++].ids[from->n] = all[i].id;
            }
            nodes++;
        }
        for (int i = 0; i < kept; i++) open[i] = next[i], open[i].n++;
        opened = kept;
        if (++*steps == c.tokens || opened == 0) return nodes;
        if (best >= (c.length_norm ? open[0].log_p / c.tokens : open[0].log_p) - 1e-9) return nodes;
    }
}

/* Few different probabilities, so that many candidates are equal. */
static void dice(const Prefixes *p, const int *ids, int n, double *out) {
    uint64_t step = 1;
    double sum = 0;
    for (int i = 0; i < n; i++) step = step * 31 + (uint64_t)ids[i] + 1;
    Rng r = rng_at(*(const uint64_t *)p->of, "test", step);
    for (int k = 0; k < p->vocabulary; k++) sum += out[k] = (double)rng_below(&r, 4);
    for (int k = 0; k < p->vocabulary; k++) out[k] = sum > 0 ? log(out[k] / sum) : -log(p->vocabulary);
}

static void by_sorting(void **state) {
    (void)state;
    int finished = 0, limited = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        Prefixes p = {.log_p = dice, .of = &seed, .vocabulary = 2 + (int)(seed % 9)};
        BeamConfig c = {.width = 1 + (int)(seed % 7),
                        .tokens = 1 + (int)(seed % 11),
                        .end = (int)(seed % 2),
                        .pruned = (int)(seed % 5),
                        .length_norm = seed % 3 == 0};
        Expected tree[LONGEST * 2 * WIDEST];
        int steps, nodes = plain_search(&p, c, tree, &steps);
        Beam *b = run_beam(c, source_of(&p));
        expect_tree(b, tree, nodes, beam_reason(b), steps);
        finished += beam_reason(b) == BEAM_FOUND;
        limited += beam_reason(b) == BEAM_TOKENS;
        beam_free(b);
    }
    assert_true(finished > 50 && limited > 50);
}

/* --- a model: with a cache and without --- */

/* Every prefix from its beginning, alone. */
static void uncached(const Prefixes *p, const int *ids, int n, double *out) {
    Decoder *d = decoder_new(p->of, 1, n);
    log_softmax(p->vocabulary, decoder_feed(d, 0, ids, n), out);
    decoder_free(d);
}

static void expect_same(const Beam *a, const Beam *b) {
    assert_int_equal(beam_nodes(a), beam_nodes(b));
    assert_int_equal(beam_reason(a), beam_reason(b));
    for (int i = 0; i < beam_nodes(a); i++) {
        const BeamNode *x = beam_node(a, i), *y = beam_node(b, i);
        assert_true(x->parent == y->parent && x->depth == y->depth && x->id == y->id && x->state == y->state);
        assert_true(x->log_p == y->log_p && x->score == y->score); /* the same bits */
    }
}

/* One after the other in the same streams: what the search before left must not show. */
static void cached_is_uncached(void **state) {
    (void)state;
    static const struct {
        int n, ids[4], width, tokens;
    } searches[] = {{3, {1, 4, 5}, 4, 8}, {3, {1, 4, 6}, 6, 9},    {1, {1}, 1, 9},
                    {2, {1, 4}, 5, 5},    {4, {1, 4, 6, 2}, 6, 8}, {3, {1, 4, 5}, 6, 9}};
    for (int window = 0; window <= 3; window += 3) {
        Model *m = make_model(9, 20, window);
        BeamModel *model = beam_model_new(m, NULL, 6, 12);
        for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
            BeamConfig c = {.width = searches[i].width, .tokens = searches[i].tokens, .end = 8, .pruned = 3};
            Beam *cached = run_beam(c, beam_model_source(model, searches[i].ids, searches[i].n));
            Prefixes p = {.log_p = uncached, .of = m, .vocabulary = 9, .prompts = searches[i].n, .room = 12};
            if (window > 0) p.room = LONGEST; /* slots are used again */
            memcpy(p.ids[0][0], searches[i].ids, sizeof searches[i].ids);
            BeamSource plain = source_of(&p);
            plain.same = 0;
            Beam *alone = run_beam(c, plain);
            assert_true(beam_steps(cached) > 2);
            expect_same(cached, alone);
            beam_free(alone);
            beam_free(cached);
        }
        beam_model_free(model);
        model_free(m);
    }
}

static void tweaks_count(void **state) {
    (void)state;
    Model *m = make_model(9, 20, 0);
    const unsigned char off[8] = {1, 0, 1, 1, 0, 0, 1, 0};
    const int ids[] = {1, 4, 5};
    ModelTweak tweak = {.window = 2, .head_off = off};
    BeamConfig c = {.width = 3, .tokens = 4, .end = 8};
    BeamModel *plain = beam_model_new(m, NULL, 3, 9), *tweaked = beam_model_new(m, &tweak, 3, 9);
    Beam *a = run_beam(c, beam_model_source(plain, ids, 3)), *b = run_beam(c, beam_model_source(tweaked, ids, 3));
    assert_true(beam_node(a, 0)->log_p != beam_node(b, 0)->log_p);
    beam_free(a);
    beam_free(b);
    beam_model_free(plain);
    beam_model_free(tweaked);
    model_free(m);
}

/* --- width 1 --- */

static void width_one_is_greedy(void **state) {
    (void)state;
    for (int first = 0; first < 9; first++) {
        Model *m = make_model(9, 14, 0);
        const int ids[] = {1, first};
        BeamModel *model = beam_model_new(m, NULL, 1, 14);
        Beam *b = run_beam((BeamConfig){.width = 1, .tokens = 64, .end = VOCAB_EOS}, beam_model_source(model, ids, 2));
        Decoder *d = decoder_new(m, 1, 14);
        Path p;
        path_init(&p);
        assert_ok(greedy_model(d, 9, NULL, VOCAB_EOS, NULL, ids, 2, 64, &p));
        expect_greedy(b, &p);
        path_done(&p);
        decoder_free(d);
        beam_free(b);
        beam_model_free(model);
        model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(by_hand_with_length_norm),
        cmocka_unit_test(stops),
        cmocka_unit_test(odd_sources),
        cmocka_unit_test(by_python),
        cmocka_unit_test(by_sorting),
        cmocka_unit_test(cached_is_uncached),
        cmocka_unit_test(tweaks_count),
        cmocka_unit_test(width_one_is_greedy),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
