/* lm.count and lm.end: counting is maximum likelihood (lecture 3, 2.2), and END makes the sums add up (2.4). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

static char path[] = "/tmp/lantern-test-XXXXXX";
static char corpus[64];

static void write_corpus(const char *text) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    snprintf(corpus, sizeof corpus, "corpus=%s", path);
    return fd < 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

typedef struct {
    const char *token;
    long long count;
} Want;

static void expect_next(const char *context, const Want *want, long n) {
    Study *s = run_study("lm.count", corpus, context, NULL);
    Table *t = study_result(s, "next");
    long long total = 0;
    for (long i = 0; i < n; i++) total += want[i].count;
    assert_int_equal(table_rows(t), n);
    for (long i = 0; i < n; i++) {
        assert_string_equal(cell_text(t, i, "token"), want[i].token);
        assert_int_equal(cell_int(t, i, "count"), want[i].count);
        assert_near(cell_real(t, i, "p"), (double)want[i].count / (double)total, 0);
    }
    table_free(t);
    study_free(s);
}

/* Section 2.2: corn 4, grass 3, hay 2, if 1, which 1, so p(corn | cows eat) = 4/11. */
static void cows_eat(void **state) {
    (void)state;
    write_corpus("the cows eat corn\ncows eat grass when cows eat corn\ncows eat corn\ncows eat grass\ncows eat hay\n"
                 "cows eat if they eat\nthe cows  eat\tcorn\r\nhens and cows eat grass\ncows eat hay\n"
                 "cows eat which corn\n\n");
    static const Want want[] = {{"corn", 4}, {"grass", 3}, {"hay", 2}, {"if", 1}, {"which", 1}};
    expect_next("context=cows eat", want, 5);
    Study *s = run_study("lm.count", corpus, NULL); /* the default is the lecture's */
    Table *t = study_result(s, "next");
    assert_near(cell_real(t, 0, "p"), 4. / 11, 1e-15);
    table_free(t);
    study_free(s);
}

static void contexts_of_any_length(void **state) {
    (void)state;
    write_corpus("a b a b c\nb\na a a\n");
    expect_next("context=", (const Want[]){{"a", 5}, {"b", 3}, {"</s>", 3}, {"c", 1}}, 4);
    expect_next("context=a", (const Want[]){{"a", 2}, {"b", 2}, {"</s>", 1}}, 3);
    expect_next("context=a a", (const Want[]){{"a", 1}, {"</s>", 1}}, 2); /* places may overlap */
    expect_next("context=<s>", (const Want[]){{"a", 2}, {"b", 1}}, 2);
    expect_next("context=<s> b", (const Want[]){{"</s>", 1}}, 1);
    expect_next("context=a b a b c", (const Want[]){{"</s>", 1}}, 1);
    expect_next("context=a b a b c a", NULL, 0); /* no sentence goes on in the next */
    expect_next("context=</s>", NULL, 0);
    expect_next("context=zebra", NULL, 0);
}

/* On many sentences of the farm the counts come near the truth: after "the dog" at the beginning. */
static void counts_come_near_the_truth(void **state) {
    (void)state;
    Study *count = run_study("lm.count", "context=<s> the dog", "sentences=60000", NULL);
    Study *truth = run_study("grammar.next", "prefix=the dog", NULL);
    Table *c = study_result(count, "next"), *t = study_result(truth, "next");
    assert_int_equal(table_rows(c), table_rows(t));
    for (long i = 0; i < table_rows(c); i++)
        for (long k = 0; k < table_rows(t); k++)
            if (strcmp(cell_text(c, i, "token"), cell_text(t, k, "token")) == 0)
                assert_near(cell_real(c, i, "p"), cell_real(t, k, "p"), .03);
    table_free(c);
    table_free(t);
    study_free(count);
    study_free(truth);
}

static void bad_corpora_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"", " \n\t\n", "a <s> b\n", "a\xff\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_corpus(bad[i]);
        study_free(run_study_until(STATUS_USAGE, "lm.count", corpus, NULL));
    }
    study_free(run_study_until(STATUS_USAGE, "lm.count", "corpus=nowhere", NULL));
}

/* ---- lm.end ---- */

static void expect_sums(const char *longest, const char *seed, long rows) {
    Study *s = run_study("lm.end", longest, seed, NULL);
    Table *t = study_result(s, "sums");
    assert_int_equal(table_rows(t), rows);
    double so_far = 0;
    for (long i = 0; i < rows; i++) {
        double with = cell_real(t, i, "with_end");
        so_far += with;
        assert_int_equal(cell_int(t, i, "length"), i);
        assert_true(with > 0 && with < 1);
        assert_near(cell_real(t, i, "with_end_so_far"), so_far, 1e-12);
        assert_near(cell_real(t, i, "without_end"), 1, 1e-9); /* exercise 9: each length adds 1 */
    }
    assert_true(so_far < 1);
    table_free(t);
    study_free(s);
}

static void every_length_adds_one_without_end(void **state) {
    (void)state;
    expect_sums("longest=8", "seed=1", 9);
    expect_sums("longest=0", "seed=2", 1);
    expect_sums("longest=3", "seed=3", 4);
}

/* With END the sums go to 1 whatever the numbers in the model are. */
static void with_end_they_go_to_one(void **state) {
    (void)state;
    Study *s = run_study("lm.end", "longest=14", NULL);
    Table *t = study_result(s, "sums");
    assert_true(cell_real(t, 14, "with_end_so_far") > .999);
    assert_true(cell_real(t, 0, "with_end_so_far") < .9);
    table_free(t);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cows_eat),
        cmocka_unit_test(contexts_of_any_length),
        cmocka_unit_test(counts_come_near_the_truth),
        cmocka_unit_test(bad_corpora_are_refused),
        cmocka_unit_test(every_length_adds_one_without_end),
        cmocka_unit_test(with_end_they_go_to_one),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
