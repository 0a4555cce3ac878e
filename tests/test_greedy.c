/* greedy: ties, where a path ends, what the language says beside it, and lecture 3, exercise 8. */
#include "expect.h"

#include "decode/greedy.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9)

typedef struct {
    Grammar *grammar;
    Language *language;
    Vocab *vocab;
} Truth;

static void truth_of(Truth *t, const char *text) {
    const char **words;
    int n;
    assert_ok(grammar_parse(text, strlen(text), &t->grammar));
    assert_ok(language_new(t->grammar, NULL, NULL, &t->language));
    assert_ok(language_words(t->language, &words, &n));
    t->vocab = vocab_new(words, n);
    mem_free(words);
}

static void truth_done(Truth *t) {
    vocab_free(t->vocab);
    language_free(t->language);
    grammar_free(t->grammar);
}

static void expect_true_path(const char *grammar, const char *prefix, int most, const char *words) {
    Truth t;
    truth_of(&t, grammar);
    int *ids, n, start[20] = {VOCAB_BOS};
    assert_ok(vocab_encode(t.vocab, prefix, &ids, &n));
    memcpy(start + 1, ids, (size_t)n * sizeof *ids);
    Path p;
    path_init(&p);
    assert_ok(greedy_truth(t.language, t.vocab, start, n + 1, most, &p));
    char got[200] = "";
    for (int i = 0; i < p.count; i++) {
        strcat(got, i ? " " : "");
        strcat(got, vocab_token(t.vocab, p.step[i].id));
        NEAR(p.step[i].p, p.step[i].true_p);
        NEAR(p.step[i].log_p, log(p.step[i].p));
    }
    assert_string_equal(got, words);
    assert_int_equal(p.ended, p.count && p.step[p.count - 1].id == VOCAB_EOS);
    path_done(&p);
    mem_free(ids);
    truth_done(&t);
}

/* Of equals (to 1e-9) the lowest id: END, then the first in byte order. */
static void test_truth(void **state) {
    (void)state;
    expect_true_path("s: 1 b | 1 a | 1 {}\n", "", 9, "</s>");
    expect_true_path("s: 1 z | 1 {}\n", "", 9, "</s>");
    expect_true_path("s: 1 z | 1.1 {}\n", "", 9, "</s>");
    expect_true_path("s: 2 b | 2 a | 1 {}\n", "", 9, "a </s>");
    expect_true_path("s: 1.0000000001 b | 1 a\n", "", 9, "a </s>");
    expect_true_path("s: 1.0001 b | 1 a\n", "", 9, "b </s>");
    expect_true_path("s: a b c d\n", "", 2, "a b");
    expect_true_path("s: a b c d\n", "a b", 9, "c d </s>");
    expect_true_path("s: a b c d\n", "b", 9, "");
    expect_true_path("s: a b c d\n", "", 0, "");
}

/* Greedy on the truth finds .01389 after "the dog"; the likeliest sentence has .04286. */
static void test_farm(void **state) {
    (void)state;
    const char *assets = getenv("LANTERN_ASSETS");
    if (!assets) skip();
    char path[500];
    const char **words;
    Truth t;
    Path p;
    int n;
    (void)snprintf(path, sizeof path, "%s/grammars/farm.grammar", assets);
    assert_ok(grammar_read(path, &t.grammar));
    assert_ok(language_new(t.grammar, NULL, NULL, &t.language));
    assert_ok(language_words(t.language, &words, &n));
    t.vocab = vocab_new(words, n);
    mem_free(words);
    int ids[] = {VOCAB_BOS, vocab_find(t.vocab, "the", 3), vocab_find(t.vocab, "dog", 3)};
    path_init(&p);
    assert_ok(greedy_truth(t.language, t.vocab, ids, 3, 64, &p));
    NEAR(exp(p.log_p), 0.45 * 5 / 12 * 4 / 9 / 2 * 3 / 9);
    NEAR(p.true_log_p, p.log_p);
    assert_int_equal(p.count, 8);
    assert_true(p.ended);
    path_done(&p);
    Str mode;
    str_init(&mode);
    double log_p, first;
    assert_ok(language_mode(t.language, "the dog", &mode, &log_p));
    assert_string_equal(mode.s, "the dog eats bones every day .");
    assert_ok(language_log_p(t.language, "the dog chases the cat in the morning .", &first));
    NEAR(exp(log_p - first), 0.04285714285714286 / 0.01388888888888889);
    str_done(&mode);
    truth_done(&t);
}

/* A model without layers whose embedding of every token is (1, 0): its logits are the first column of the head. */
static Model *make_model(int vocab, int context) {
    ModelConfig c = config_modern();
    c.vocab = vocab;
    c.context = context;
    c.d = 2;
    c.layers = 0;
    c.norm = NORM_NONE;
    c.pos = POS_LEARNED;
    Model *m = model_new(&c, 1);
    Params *p = model_params(m);
    memset(p->x, 0, p->count * sizeof *p->x);
    const Slice *token = &p->slice[params_find(p, "token.weight")];
    for (int i = 0; i < vocab; i++) p->x[token->at + 2 * (size_t)i] = 1;
    return m;
}

static void set_logit(Model *m, int id, double logit) {
    Params *p = model_params(m);
    p->x[p->slice[params_find(p, "head.weight")].at + 2 * (size_t)id] = (real)logit;
}

static void test_model(void **state) {
    (void)state;
    Truth t;
    truth_of(&t, "s: 3 a {s} | 1 b\n");
    Model *m = make_model(vocab_size(t.vocab), 6);
    int a = vocab_find(t.vocab, "a", 1), ids[] = {VOCAB_BOS, a};
    Decoder *d = decoder_new(m, 2, 9);
    Path p;
    path_init(&p);
    assert_ok(greedy_model(d, 5, t.vocab, VOCAB_EOS, NULL, ids, 2, 3, &p)); /* all equal: the lowest id */
    assert_int_equal(p.count, 3);
    assert_int_equal(p.step[2].id, 0);
    NEAR(p.step[2].p, .2);
    NEAR(p.log_p, 3 * log(.2));
    assert_true(isnan(p.step[0].true_p) && isnan(p.true_log_p));

    set_logit(m, a, log(4)); /* a again and again, until the context is full: 6 - 2 fed, and one more is known */
    decoder_refresh(d);
    assert_ok(greedy_model(d, 5, t.vocab, VOCAB_EOS, t.language, ids, 2, 64, &p));
    assert_int_equal(p.count, 5);
    assert_false(p.ended);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(p.step[i].id, a);
        assert_true(fabs(p.step[i].p - .5) < 1e-6);
        NEAR(p.step[i].true_p, .75);
    }
    NEAR(p.true_log_p, 5 * log(.75));

    set_logit(m, VOCAB_EOS, log(12)); /* the language cannot end here */
    decoder_refresh(d);
    assert_ok(greedy_model(d, 5, t.vocab, VOCAB_EOS, t.language, ids, 2, 64, &p));
    assert_int_equal(p.count, 1);
    assert_true(p.ended);
    assert_true(p.step[0].true_p == 0 && p.true_log_p == -HUGE_VAL);
    path_done(&p);
    decoder_free(d);
    model_free(m);
    truth_done(&t);
}

static void test_words(void **state) {
    (void)state;
    const char *const words[] = {"dog", "the"};
    Vocab *v = vocab_new(words, 2);
    Str out;
    str_init(&out);
    path_words(v, (int[]){VOCAB_BOS, 4, VOCAB_PAD, 3, VOCAB_EOS}, 5, &out);
    assert_string_equal(out.s, "the dog");
    str_done(&out);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_farm),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
