/* decode.strategies: counting against closed forms on a small grammar, and what each strategy must come to. */
#include "expect.h"
#include "small_model.h"

#include "mem.h"
#include "tally.h"

#include <math.h>

/* Twelve sentences are legal, eight of them possible. */
static const char pets[] = "sentence: {a=animal} the {$a} {food.$a} .\n"
                           "animal: 3 cat | 1 dog\n"
                           "food.cat: 3 eats fish | 1 eats milk | sleeps\n"
                           "food.dog: eats bones | sleeps\n"
                           "grammatical: {a=animal} {b=animal} the {$a} {food.$b} .\n";

typedef struct {
    Grammar *grammar;
    Language *language;
    Vocab *vocab;
} Pets;

static void pets_open(Pets *p, const char *text) {
    const char **words;
    int n;
    assert_ok(grammar_parse(text, strlen(text), &p->grammar));
    assert_ok(language_new(p->grammar, NULL, NULL, &p->language));
    assert_ok(language_words(p->language, &words, &n));
    p->vocab = vocab_new(words, n);
    mem_free(words);
}

static void pets_close(Pets *p) {
    vocab_free(p->vocab);
    language_free(p->language);
    grammar_free(p->grammar);
}

static Verdict judge(Judge *j, const Vocab *v, const char *text, bool ended) {
    int *ids, n;
    assert_ok(vocab_encode(v, text, &ids, &n));
    ids = mem_resize(ids, (size_t)n + 1, sizeof *ids);
    ids[n] = VOCAB_EOS;
    Verdict out;
    assert_ok(judge_sentence(j, ids, n + ended, ended, &out));
    mem_free(ids);
    return out;
}

static const int bos = VOCAB_BOS;

static void verdicts_are_exact(void **state) {
    (void)state;
    Pets p;
    pets_open(&p, pets);
    Judge *j = judge_new(p.grammar, p.language, p.vocab, &bos, 1);
    Verdict fish = judge(j, p.vocab, "the cat eats fish .", true),
            bones = judge(j, p.vocab, "the cat eats bones .", true);
    Verdict open = judge(j, p.vocab, "the cat eats fish .", false), odd = judge(j, p.vocab, "cat the eats .", true);
    assert_true(fish.possible && fish.legal);
    assert_near(fish.log_p, log(.75 * .6), 1e-12);
    assert_int_equal(fish.tokens, 6);
    assert_true(!bones.possible && bones.legal && isinf(bones.log_p));
    assert_true(!open.possible && !open.legal && !odd.possible && !odd.legal);
    assert_int_not_equal(open.text, fish.text);
    assert_int_equal(judge(j, p.vocab, "the cat eats fish .", true).text, fish.text);
    int with_pad[] = {vocab_find(p.vocab, "the", 3), VOCAB_PAD,
                      vocab_find(p.vocab, "dog", 3), vocab_find(p.vocab, "sleeps", 6),
                      vocab_find(p.vocab, ".", 1),   VOCAB_EOS};
    Verdict pad;
    assert_ok(judge_sentence(j, with_pad, 6, true, &pad));
    assert_false(pad.legal); /* though its words would be possible */
    Str text;
    str_init(&text);
    judge_text(j, pad.text, &text);
    assert_string_equal(text.s, "the <pad> dog sleeps .");
    str_done(&text);
    judge_free(j);
    pets_close(&p);
}

/* After a prompt log p is of what comes after it. */
static void a_prompt_is_not_counted(void **state) {
    (void)state;
    Pets p;
    pets_open(&p, pets);
    const int start[] = {VOCAB_BOS, vocab_find(p.vocab, "the", 3), vocab_find(p.vocab, "dog", 3)};
    Judge *j = judge_new(p.grammar, p.language, p.vocab, start, 3);
    Verdict v = judge(j, p.vocab, "sleeps .", true);
    assert_true(v.possible);
    assert_near(v.log_p, log(.5), 1e-12);
    assert_int_equal(v.tokens, 3);
    assert_false(judge(j, p.vocab, "eats fish .", true).possible);
    judge_free(j);
    const int wrong[] = {VOCAB_BOS, vocab_find(p.vocab, "dog", 3)};
    j = judge_new(p.grammar, p.language, p.vocab, wrong, 2);
    assert_false(judge(j, p.vocab, "sleeps .", true).possible);
    judge_free(j);
    pets_close(&p);
}

static void without_habits_legal_is_possible(void **state) {
    (void)state;
    Pets p;
    char strict[sizeof pets];
    snprintf(strict, sizeof strict, "%s", pets);
    strstr(strict, "grammatical:")[0] = '#';
    pets_open(&p, strict);
    Judge *j = judge_new(p.grammar, p.language, p.vocab, &bos, 1);
    assert_false(judge(j, p.vocab, "the cat eats bones .", true).legal);
    assert_true(judge(j, p.vocab, "the cat eats milk .", true).legal);
    judge_free(j);
    j = judge_new(NULL, NULL, p.vocab, &bos, 1);
    assert_false(judge_knows(j));
    assert_false(judge(j, p.vocab, "the cat eats milk .", true).possible);
    judge_free(j);
    pets_close(&p);
}

static void tallies_add_up(void **state) {
    (void)state;
    Pets p;
    pets_open(&p, pets);
    Judge *j = judge_new(p.grammar, p.language, p.vocab, &bos, 1);
    Tally t;
    tally_init(&t);
    Verdict fish = judge(j, p.vocab, "the cat eats fish .", true), dog = judge(j, p.vocab, "the dog sleeps .", true);
    Verdict bones = judge(j, p.vocab, "the cat eats bones .", true), odd = judge(j, p.vocab, "the the .", true);
    tally_add(&t, &fish, 4);
    tally_add(&t, &dog, 1);
    tally_add(&t, &fish, 1);
    tally_add(&t, &bones, 2);
    tally_add(&t, &odd, 2);
    Table *to = table_new("result", tally_columns);
    tally_add_row(&t, "some", true, to);
    tally_add_row(&t, "some", false, to);
    assert_near(cell_real(to, 0, "legal"), .8, 1e-12);
    assert_near(cell_real(to, 0, "possible"), .6, 1e-12);
    assert_near(cell_real(to, 0, "distinct"), .4, 1e-12);
    assert_near(cell_real(to, 0, "coverage"), .45 + .125, 1e-12);
    assert_near(cell_real(to, 0, "true_nll"), -(5 * log(.45) / 6 + log(.125) / 5) / 6, 1e-12);
    assert_true(table_is_empty(to, 1, 1) && table_is_empty(to, 1, 2) && table_is_empty(to, 1, 3) &&
                table_is_empty(to, 1, 5));
    assert_near(cell_real(to, 1, "distinct"), .4, 1e-12);
    table_free(to);
    tally_done(&t);
    judge_free(j);
    pets_close(&p);
}

/* 2,000 sentences of the farm: all possible, and as likely as its statistics say. */
static void the_truth_is_typical(void **state) {
    (void)state;
    Study *s = run_study("decode.strategies", small_model_pair, NULL), *stats = run_study("grammar.stats", NULL);
    Table *t = study_result(s, "result"), *known = study_result(stats, "stats");
    long row = row_with(t, "strategy", "truth");
    assert_near(cell_real(t, row, "legal"), 1, 0);
    assert_near(cell_real(t, row, "possible"), 1, 0);
    double mean = cell_real(known, row_with(known, "quantity", "mean_of_sentence_means"), "value");
    assert_near(cell_real(t, row, "true_nll"), mean, .02);
    assert_true(cell_real(t, row, "coverage") > .3 && cell_real(t, row, "coverage") < 1);
    /* search writes one sentence */
    for (long i = 0; i < 2; i++) assert_near(cell_real(t, i, "distinct"), 1 / 2000., 1e-12);
    assert_string_equal(cell_text(t, 0, "strategy"), "greedy");
    assert_string_equal(cell_text(t, 1, "strategy"), "beam");
    /* the hotter, the less possible and the more various */
    static const char *const hotter[] = {"tau=0.5", "tau=1", "tau=1.5", "tau=2.5"};
    for (int i = 1; i < 4; i++) {
        long cold = row_with(t, "strategy", hotter[i - 1]), hot = row_with(t, "strategy", hotter[i]);
        assert_true(cell_real(t, hot, "possible") <= cell_real(t, cold, "possible") + .02);
        assert_true(cell_real(t, hot, "distinct") >= cell_real(t, cold, "distinct") - .02);
    }
    for (long i = 0; i < table_rows(t); i++) assert_true(cell_real(t, i, "legal") >= cell_real(t, i, "possible"));
    table_free(t);
    table_free(known);
    study_free(s);
    study_free(stats);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    expect_refused("nothing", "decode.strategies", "model=nothing", NULL);
    Options *o = catalog_options(catalog_find("decode.strategies"));
    Status s = options_set_pair(o, "n=0");
    assert_int_equal(s.code, STATUS_USAGE);
    options_free(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_exact),   cmocka_unit_test(a_prompt_is_not_counted),
        cmocka_unit_test(tallies_add_up),       cmocka_unit_test(without_habits_legal_is_possible),
        cmocka_unit_test(the_truth_is_typical), cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
