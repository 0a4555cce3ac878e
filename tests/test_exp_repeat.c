/* decode.repeat: that its tables agree with each other and with what is written, on a small model that has hardly
 * learned; that the truth of the stream is the corpus; how a corpus is packed. */
#include "expect.h"
#include "run_study.h"

#include "mem.h"
#include "text/corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char cache[] = "/tmp/lantern-test-XXXXXX";

static Study *repeat(void) {
    return run_study("decode.repeat", "block=64", "tokens=60", "starts=4", "sentences=300", "epochs=1", "batch=4",
                     "seed=3", NULL);
}

/* Sentences of TEXT's letters, and how many of them stood before. */
static void count_letters(const char *letters, long *all, long *repeated) {
    for (const char *at = letters; *at; at++) {
        ++*all;
        *repeated += memchr(letters, *at, (size_t)(at - letters)) != NULL;
    }
}

static void rates_are_of_the_patterns(void **state) {
    (void)state;
    Study *s = repeat();
    Table *pattern = study_result(s, "pattern"), *rate = study_result(s, "rate"), *growth = study_result(s, "growth");
    static const char *const strategies[] = {"greedy", "top_p=0.9", "truth"};
    assert_int_equal(table_rows(pattern), 3 * 4);
    assert_int_equal(table_rows(rate), 3);
    for (int k = 0; k < 3; k++) {
        long all = 0, repeated = 0, long_enough[64] = {0}, rows = 0;
        assert_string_equal(cell_text(rate, k, "strategy"), strategies[k]);
        for (int i = 0; i < 4; i++) {
            assert_string_equal(cell_text(pattern, 4 * k + i, "strategy"), strategies[k]);
            assert_string_equal(cell_text(pattern, 4 * k + i, "start"), cell_text(pattern, i, "start"));
            const char *letters = cell_text(pattern, 4 * k + i, "letters");
            count_letters(letters, &all, &repeated);
            for (size_t at = 0; at < strlen(letters) && at < 64; at++) long_enough[at]++;
        }
        if (all == 0) continue; /* the model has not learned to end a sentence */
        assert_near(cell_real(rate, k, "repeated_sentence_share"), (double)repeated / (double)all, 1e-12);
        for (long row = 0; row < table_rows(growth); row++) {
            if (strcmp(cell_text(growth, row, "strategy"), strategies[k]) != 0) continue;
            assert_int_equal(cell_int(growth, row, "sentence"), ++rows);
            assert_int_equal(cell_int(growth, row, "texts"), long_enough[rows - 1]);
            assert_true(long_enough[rows - 1] >= 3);
        }
        assert_true(long_enough[rows] < 3); /* three of four texts come no further */
    }
    table_free(pattern);
    table_free(rate);
    table_free(growth);
    study_free(s);
}

/* The truth's texts are the language's own: all possible; its choice is 1/16 for each subject. */
static void the_truth_is_the_language(void **state) {
    (void)state;
    Study *s = repeat();
    Table *worth = study_result(s, "worth"), *choice = study_result(s, "choice"), *growth = study_result(s, "growth");
    long row = row_with(worth, "strategy", "truth");
    assert_near(cell_real(worth, row, "legal"), 1, 0);
    assert_near(cell_real(worth, row, "possible"), 1, 0);
    double share = 0, p = 0;
    for (long i = 0; i < table_rows(choice); i++) {
        if (strcmp(cell_text(choice, i, "strategy"), "truth") != 0) continue;
        assert_near(cell_real(choice, i, "true_p"), 1 / 16., 1e-12);
        share += cell_real(choice, i, "share");
        p += cell_real(choice, i, "model_p");
    }
    assert_near(share, 1, 1e-12);
    assert_true(p > .2 && p <= 1 + 1e-9);
    for (long i = 0; i < table_rows(growth); i++) {
        assert_near(cell_real(growth, i, "true_best_p"), 1 / 16., 1e-12);
        assert_int_equal(table_is_empty(growth, i, table_find(growth, "best_p")), cell_int(growth, i, "sentence") == 1);
    }
    table_free(worth);
    table_free(choice);
    table_free(growth);
    study_free(s);
}

static void packing_keeps_every_prediction(void **state) {
    (void)state;
    static const char text[] = "s: a b | c\n";
    Grammar *g;
    Corpus *c;
    assert_ok(grammar_parse(text, strlen(text), &g));
    assert_ok(corpus_sample(g, "letters", NULL, NULL, (CorpusTokens){.unit = VOCAB_WORD}, 50, 3, 1, &c));
    long words = c->train.start[50] - 50; /* and their ends */
    int *stream = MEM_ARRAY(int, (size_t)words + 1), n = 0;
    stream[n++] = VOCAB_EOS;
    for (long i = 0; i < 50; i++)
        for (long k = c->train.start[i] + 1; k < c->train.start[i + 1]; k++) stream[n++] = c->train.id[k];
    corpus_pack(c, 16);
    assert_null(c->language);
    assert_int_equal(c->train.sentences, (words + 15) / 16);
    long at = 0;
    for (long i = 0; i < c->train.sentences; i++) {
        long size = c->train.start[i + 1] - c->train.start[i];
        assert_true(size == 17 || (i == c->train.sentences - 1 && size >= 2));
        assert_memory_equal(c->train.id + c->train.start[i], stream + at, (size_t)size * sizeof(int));
        at += size - 1;
    }
    assert_int_equal(at, words);
    mem_free(stream);
    corpus_free(c);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    expect_refused("room for 124 after 4 words", "decode.repeat", "words=4", "tokens=125", NULL);
    expect_refused("a block of 64", "decode.repeat", "block=64", NULL);
    Study *s = run_study_until(STATUS_USAGE, "decode.repeat", "starts=17", "words=2", "sentences=2", NULL);
    study_free(s); /* there are 16 subjects */
}

static int make_cache(void **state) {
    (void)state;
    return mkdtemp(cache) && setenv("XDG_CACHE_HOME", cache, 1) == 0 ? 0 : -1;
}

static int remove_cache(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_of_the_patterns),
        cmocka_unit_test(the_truth_is_the_language),
        cmocka_unit_test(packing_keeps_every_prediction),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
