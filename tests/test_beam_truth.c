/* beam over the truth: the mode of the farm, width 1 as greedy, ties, the truth's opinion of a model's tree; and what
 * is sampled from the same sources. */
#include "beam_fixture.h"

#include "decode/beam_model.h"
#include "decode/beam_sample.h"
#include "decode/beam_truth.h"

#include <stdio.h>
#include <stdlib.h>

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
