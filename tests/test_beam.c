/* beam: a search whose every step is worked out by hand, one that a few lines of Python gave, a plain search that sorts
 * all candidates, over a model the same as without a cache, width 1 as greedy, over the truth the mode of the farm. */
#include "expect.h"

#include "decode/beam.h"
#include "decode/beam_model.h"
#include "decode/beam_sample.h"
#include "decode/beam_truth.h"
#include "decode/decoder.h"
#include "decode/greedy.h"
#include "decode/log_softmax.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static Status prefixes_advance(void *owner, int n, const int *parent, const int *id) {
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

static Status prefixes_row(void *owner, int i, double *log_p) {
    const Prefixes *p = owner;
    p->log_p(p, p->ids[p->turn][i], p->n, log_p);
    return status_ok();
}

static bool prefixes_has_room(void *owner) {
    const Prefixes *p = owner;
    return p->n < p->room;
}

static BeamSource source_of(Prefixes *p) {
    if (p->room == 0) p->room = LONGEST;
    p->turn = p->n = 0;
    return (BeamSource){.owner = p,
                        .vocabulary = p->vocabulary,
                        .same = 1e-9,
                        .advance = prefixes_advance,
                        .row = prefixes_row,
                        .has_room = prefixes_has_room};
}

static Beam *run_beam(BeamConfig c, BeamSource s) {
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

static void expect_tree(const Beam *b, const Expected *want, int n, BeamReason reason, int steps) {
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

/* --- by hand: 0 ends, 1 and 2 are words. At first 1 with .6, 2 with .4; after 1: .2 .5 .3; after 2: .9 .1 0 --- */

static void hand(const Prefixes *p, const int *ids, int n, double *out) {
    static const double rows[3][3] = {{0, .6, .4}, {.2, .5, .3}, {.9, .1, 0}};
    (void)p;
    for (int k = 0; k < 3; k++) out[k] = log(rows[n == 0 ? 0 : ids[n - 1]][k]);
}

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

static Model *make_model(int vocabulary, int context, int window) {
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

static void expect_greedy(const Beam *b, const Path *p) {
    assert_int_equal(beam_nodes(b), p->count);
    double sum = 0;
    for (int i = 0; i < p->count; i++) {
        assert_int_equal(beam_node(b, i)->id, p->step[i].id);
        sum += p->step[i].log_p;
        NEAR(beam_node(b, i)->log_p, sum);
    }
    assert_int_equal(beam_reason(b) == BEAM_FOUND, p->ended);
}

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

/* --- the truth --- */

typedef struct {
    Grammar *grammar;
    Language *language;
    Vocab *vocab;
    NextMemo *memo;
} Truth;

static void truth_begin(Truth *t) {
    const char **words;
    int n;
    assert_ok(language_new(t->grammar, NULL, NULL, &t->language));
    assert_ok(language_words(t->language, &words, &n));
    t->vocab = vocab_new(words, n);
    t->memo = next_memo_new(t->language);
    mem_free(words);
}

static void truth_of(Truth *t, const char *text) {
    assert_ok(grammar_parse(text, strlen(text), &t->grammar));
    truth_begin(t);
}

static void truth_of_farm(Truth *t) {
    const char *assets = getenv("LANTERN_ASSETS");
    if (!assets) skip();
    char path[500];
    (void)snprintf(path, sizeof path, "%s/grammars/farm.grammar", assets);
    assert_ok(grammar_read(path, &t->grammar));
    truth_begin(t);
}

static void truth_done(Truth *t) {
    next_memo_free(t->memo);
    vocab_free(t->vocab);
    language_free(t->language);
    grammar_free(t->grammar);
}

/* <s> and the words of a prefix. */
static int ids_of(const Truth *t, const char *prefix, int *ids) {
    int *word, n;
    assert_ok(vocab_encode(t->vocab, prefix, &word, &n));
    ids[0] = VOCAB_BOS;
    memcpy(ids + 1, word, (size_t)n * sizeof *word);
    mem_free(word);
    return n + 1;
}

static void words_of(const Truth *t, const Beam *b, int node, Str *out) {
    int ids[64];
    beam_path(b, node, ids);
    path_words(t->vocab, ids, beam_node(b, node)->depth, out);
}

/* Found with width 4 after "the dog": .04286, three times what greedy finds; every node has the truth's own log p. */
static void the_farms_mode(void **state) {
    (void)state;
    Truth t;
    truth_of_farm(&t);
    int ids[64], n = ids_of(&t, "the dog", ids), found = 0;
    for (int width = 1; width <= 16; width *= 2) {
        BeamTruth *truth = beam_truth_new(t.memo, t.vocab, width);
        BeamConfig c = {.width = width, .tokens = 64, .end = VOCAB_EOS, .pruned = width};
        Beam *b = run_beam(c, beam_truth_source(truth, ids, n));
        int *best;
        assert_in_range(beam_best(b, &best), 1, 100);
        double p = exp(beam_node(b, best[0])->log_p);
        if (width == 1) NEAR(p, 0.45 * 5 / 12 * 4 / 9 / 2 * 3 / 9); /* .01389 */
        if (fabs(p - 0.45 * 3 / 12 * 6 / 7 * 4 / 9) < 1e-12) {      /* .04286 */
            Str text;
            str_init(&text);
            words_of(&t, b, best[0], &text);
            assert_string_equal(text.s, "eats bones every day .");
            str_done(&text);
            found++;
        } else {
            assert_true(width < 8);
        }
        double *true_log_p = MEM_ARRAY(double, (size_t)beam_nodes(b));
        assert_ok(beam_true_log_p(b, t.memo, t.vocab, ids, n, true_log_p));
        for (int i = 0; i < beam_nodes(b); i++) NEAR(true_log_p[i], beam_node(b, i)->log_p);
        mem_free(true_log_p);
        mem_free(best);
        beam_free(b);
        beam_truth_free(truth);
    }
    assert_in_range(found, 2, 4); /* 8 and 16 at least */
    truth_done(&t);
}

static void width_one_is_greedy_on_the_truth(void **state) {
    (void)state;
    static const char *const grammars[] = {"s: 1 b | 1 a | 1 {}\n", "s: 2 b {s} | 2 a {s} | 1 {}\n", "s: a b c d\n",
                                           "s: 1 {t} x | 1 {t} y\nt: 3 p | 3 q | 1 r\n"};
    for (size_t g = 0; g < sizeof grammars / sizeof *grammars; g++) {
        Truth t;
        truth_of(&t, grammars[g]);
        int ids[] = {VOCAB_BOS};
        BeamTruth *truth = beam_truth_new(t.memo, t.vocab, 1);
        Beam *b = run_beam((BeamConfig){.width = 1, .tokens = 9, .end = VOCAB_EOS}, beam_truth_source(truth, ids, 1));
        Path p;
        path_init(&p);
        assert_ok(greedy_truth(t.language, t.vocab, ids, 1, 9, &p));
        expect_greedy(b, &p);
        path_done(&p);
        beam_free(b);
        beam_truth_free(truth);
        truth_done(&t);
    }
}

/* Of equals the lower parent, then the lower id, though the sums were rounded in other orders. END is id 2. */
static void ties(void **state) {
    (void)state;
    Truth t;
    truth_of(&t, "s: 1 a {u} | 1 b {u} | 1 c {u}\nu: 1 d | 1 e | 1 {}\n");
    const Expected tree[] = {{-1, 3, log(1 / 3.), 'K'}, {-1, 4, log(1 / 3.), 'K'}, {-1, 5, log(1 / 3.), 'P'},
                             {0, 2, log(1 / 9.), 'F'},  {0, 6, log(1 / 9.), 'O'},  {0, 7, log(1 / 9.), 'P'}};
    int ids[] = {VOCAB_BOS};
    BeamTruth *truth = beam_truth_new(t.memo, t.vocab, 2);
    BeamConfig c = {.width = 2, .tokens = 9, .end = VOCAB_EOS, .pruned = 1};
    Beam *b = run_beam(c, beam_truth_source(truth, ids, 1));
    expect_tree(b, tree, 6, BEAM_FOUND, 2); /* the open one has no more than what is finished */
    beam_free(b);
    beam_truth_free(truth);
    truth_done(&t);
}

/* What no sentence begins with has no continuation; another END than the language's is a word like others. */
static void impossible_and_other_ends(void **state) {
    (void)state;
    Truth t;
    truth_of(&t, "s: 1 a b | 1 b a\n");
    BeamTruth *truth = beam_truth_new(t.memo, t.vocab, 3);
    BeamConfig c = {.width = 3, .tokens = 9, .end = VOCAB_EOS};
    static const int bad[][2] = {{VOCAB_BOS, VOCAB_EOS}, {3, 4}, {VOCAB_BOS, 99}};
    for (size_t i = 0; i < 3; i++) {
        Beam *b = run_beam(c, beam_truth_source(truth, bad[i], 2));
        assert_int_equal(beam_reason(b), BEAM_NOTHING);
        assert_int_equal(beam_nodes(b), 0);
        beam_free(b);
    }
    int ids[] = {VOCAB_BOS};
    c.end = 4; /* b */
    Beam *b = run_beam(c, beam_truth_source(truth, ids, 1));
    const Expected tree[] = {{-1, 3, log(.5), 'O'}, {-1, 4, log(.5), 'F'}};
    expect_tree(b, tree, 2, BEAM_FOUND, 1);
    beam_free(b);
    c.end = VOCAB_PAD; /* never comes: after </s> nothing follows */
    b = run_beam(c, beam_truth_source(truth, ids, 1));
    assert_int_equal(beam_reason(b), BEAM_NOTHING);
    assert_int_equal(beam_steps(b), 4);
    beam_free(b);
    beam_truth_free(truth);
    truth_done(&t);
}

/* The truth's opinion of what a model found: by the language's own sums; nothing is possible after what is no word. */
static void the_truth_of_a_models_tree(void **state) {
    (void)state;
    Truth t;
    truth_of(&t, "s: 3 a {s} | 1 b\n"); /* a 3, b 4 */
    Model *m = make_model(7, 12, 0);    /* two rows have no name */
    int ids[] = {VOCAB_BOS, 3};
    BeamModel *model = beam_model_new(m, NULL, 6, 12);
    Beam *b = run_beam((BeamConfig){.width = 6, .tokens = 3, .end = VOCAB_EOS, .pruned = 6},
                       beam_model_source(model, ids, 2));
    double *true_log_p = MEM_ARRAY(double, (size_t)beam_nodes(b));
    assert_ok(beam_true_log_p(b, t.memo, t.vocab, ids, 2, true_log_p));
    int possible = 0;
    for (int i = 0; i < beam_nodes(b); i++) {
        int path[3], depth = beam_node(b, i)->depth, as = 0;
        beam_path(b, i, path);
        while (as < depth && path[as] == 3) as++;
        double want = as * log(.75);
        if (as < depth && path[as] == 4) want += log(.25), as++;
        if (as < depth && as > 0 && path[as - 1] == 4 && path[as] == VOCAB_EOS) as++;
        if (as < depth) want = (double)-INFINITY;
        if (want > (double)-INFINITY) NEAR(true_log_p[i], want);
        assert_int_equal(isinf(want), isinf(true_log_p[i]));
        possible += !isinf(want);
    }
    assert_in_range(possible, 2, beam_nodes(b) - 2);
    mem_free(true_log_p);
    beam_free(b);
    beam_model_free(model);
    model_free(m);
    truth_done(&t);
}

static void no_numbers(const Prefixes *p, const int *ids, int n, double *out) {
    (void)ids;
    for (int k = 0; k < p->vocabulary; k++) out[k] = n == 0 ? -log(3) : (double)NAN;
}

/* Of 4000 sentences as many begin with a word as its probability says; each is drawn with its own numbers. */
static void samples(void **state) {
    (void)state;
    enum { N = WIDEST };
    Prefixes p = {.log_p = hand, .vocabulary = 3};
    int first_is_one = 0, sampled = 0, ends_at_once = 0, twos = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        BeamSource s = source_of(&p);
        BeamSample sample[N];
        assert_ok(beam_samples(&s, N, 6, 0, seed, sample));
        for (int i = 0; i < N; i++) {
            double log_p = 0, row[3];
            assert_in_range(sample[i].length, 1, 6);
            for (int k = 0; k < sample[i].length; k++) {
                hand(&p, sample[i].ids, k, row);
                log_p += row[sample[i].ids[k]];
                assert_int_equal(sample[i].ids[k] == 0, sample[i].ended && k == sample[i].length - 1);
            }
            NEAR(sample[i].log_p, log_p);
            assert_true(sample[i].ended || sample[i].length == 6);
            sampled++;
            first_is_one += sample[i].ids[0] == 1;
            twos += sample[i].ids[0] == 2;
            ends_at_once += sample[i].ids[0] == 2 && sample[i].ids[1] == 0;
        }
        if (seed == 3) { /* the first two alone are the same two */
            BeamSample again[2];
            s = source_of(&p);
            assert_ok(beam_samples(&s, 2, 6, 0, seed, again));
            for (int i = 0; i < 2; i++) {
                assert_int_equal(again[i].length, sample[i].length);
                assert_memory_equal(again[i].ids, sample[i].ids, (size_t)sample[i].length * sizeof(int));
            }
            beam_samples_done(again, 2);
        }
        beam_samples_done(sample, N);
    }
    assert_int_equal(first_is_one + twos, sampled);
    assert_true(fabs(first_is_one / (double)sampled - .6) < .03); /* four standard deviations */
    assert_true(fabs(ends_at_once / (double)twos - .9) < .03);
    p.log_p = no_numbers;
    BeamSource s = source_of(&p);
    BeamSample bad[2];
    assert_status(beam_samples(&s, 2, 9, 9, 1, bad), STATUS_FAILED, "sampling: what comes next is no distribution");
    beam_samples_done(bad, 2);
}

/* The same numbers from a model in a batch, alone and by beam_log_p; the truth's samples are its sentences. */
static void samples_of_models_and_truth(void **state) {
    (void)state;
    Model *m = make_model(9, 14, 0);
    const int ids[] = {1, 4};
    BeamModel *model = beam_model_new(m, NULL, 7, 14);
    BeamSource s = beam_model_source(model, ids, 2);
    BeamSample sample[7], alone[1];
    assert_ok(beam_samples(&s, 7, 64, VOCAB_EOS, 5, sample));
    s = beam_model_source(model, ids, 2);
    assert_ok(beam_samples(&s, 1, 64, VOCAB_EOS, 5, alone));
    assert_int_equal(alone[0].length, sample[0].length);
    assert_true(alone[0].log_p == sample[0].log_p);
    for (int i = 0; i < 7; i++) {
        double log_p;
        assert_true(sample[i].ended || sample[i].length == 13); /* 14 in all, and one that is only predicted */
        s = beam_model_source(model, ids, 2);
        assert_ok(beam_log_p(&s, sample[i].ids, sample[i].length, &log_p));
        assert_true(log_p == sample[i].log_p);
    }
    double beyond;
    s = beam_model_source(model, ids, 2);
    assert_ok(beam_log_p(&s, (int[14]){3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 14, &beyond));
    assert_true(beyond == -HUGE_VAL);
    beam_samples_done(sample, 7);
    beam_samples_done(alone, 1);
    beam_model_free(model);
    model_free(m);
    Truth t;
    truth_of(&t, "s: 3 a {s} | 1 b\n");
    BeamTruth *truth = beam_truth_new(t.memo, t.vocab, 7);
    s = beam_truth_source(truth, (int[]){VOCAB_BOS}, 1);
    assert_ok(beam_samples(&s, 7, 200, VOCAB_EOS, 5, sample));
    for (int i = 0; i < 7; i++) {
        assert_true(sample[i].ended && sample[i].length >= 2);
        NEAR(sample[i].log_p, log(.25) + (sample[i].length - 2) * log(.75));
    }
    beam_samples_done(sample, 7);
    beam_truth_free(truth);
    truth_done(&t);
}

/* What was asked before is remembered, also when more was asked than is kept. */
static void the_memo(void **state) {
    (void)state;
    Truth t;
    truth_of(&t, "s: 3 a {s} | 1 b\n");
    Str text;
    str_init(&text);
    const NextList *list;
    for (int round = 0; round < 2; round++) {
        str_clear(&text);
        for (int i = 0; i < 5000; i++) {
            assert_ok(next_memo_find(t.memo, text.s, &list));
            assert_int_equal(list->count, 2);
            NEAR(list->next[1].p, .25);
            str_add(&text, i % 40 == 39 ? " b" : text.len ? " a" : "a");
            if (i % 40 != 39) continue;
            assert_ok(next_memo_find(t.memo, text.s, &list));
            assert_int_equal(list->count, 1); /* </s> */
            str_clear(&text);
        }
    }
    const NextList *first, *again;
    assert_ok(next_memo_find(t.memo, "a a", &first));
    assert_ok(next_memo_find(t.memo, "a a", &again));
    assert_ptr_equal(first, again);
    str_done(&text);
    truth_done(&t);
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
        cmocka_unit_test(the_farms_mode),
        cmocka_unit_test(width_one_is_greedy_on_the_truth),
        cmocka_unit_test(ties),
        cmocka_unit_test(impossible_and_other_ends),
        cmocka_unit_test(the_truth_of_a_models_tree),
        cmocka_unit_test(samples),
        cmocka_unit_test(samples_of_models_and_truth),
        cmocka_unit_test(the_memo),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
