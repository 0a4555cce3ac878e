/* Corpora: sampled from a grammar or read from a file; the batches of training. */
#include "expect.h"

#include "cancel.h"
#include "mem.h"
#include "text/corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Corpus *sample_farm(const char *set, long n, long test, uint64_t seed) {
    if (!getenv("LANTERN_ASSETS")) skip();
    Str path;
    str_init(&path);
    str_addf(&path, "%s/grammars/farm.grammar", getenv("LANTERN_ASSETS"));
    Grammar *g;
    assert_ok(grammar_read(path.s, &g));
    str_done(&path);
    Corpus *c;
    assert_ok(corpus_sample(g, "farm", NULL, set, (CorpusTokens){0}, n, test, seed, &c));
    return c;
}

/* ---- Sampled ---- */

static void the_farm_has_56_entries(void **state) {
    (void)state;
    Corpus *c = sample_farm(NULL, 20, 5, 1);
    assert_int_equal(vocab_size(c->vocab), 56);
    assert_string_equal(vocab_token(c->vocab, 3), ".");
    assert_string_equal(vocab_token(c->vocab, 4), "apples");
    assert_string_equal(vocab_token(c->vocab, 55), "worms");
    assert_string_equal(c->name, "farm");
    assert_int_equal(c->train.sentences, 20);
    assert_int_equal(c->test.sentences, 5);
    corpus_free(c);
}

static void check_sentences(const Corpus *c, const Sentences *s) {
    Str text;
    str_init(&text);
    assert_int_equal(s->start[0], 0);
    for (long i = 0; i < s->sentences; i++) {
        const int *id = s->id + s->start[i];
        long n = s->start[i + 1] - s->start[i];
        assert_int_equal(id[0], VOCAB_BOS);
        assert_int_equal(id[n - 1], VOCAB_EOS);
        for (long k = 1; k < n - 1; k++) assert_in_range(id[k], VOCAB_SPECIALS, vocab_size(c->vocab) - 1);
        str_clear(&text);
        corpus_text(c, s, i, &text);
        double log_p;
        assert_ok(language_log_p(c->language, text.s, &log_p));
        assert_true(isfinite(log_p));
    }
    str_done(&text);
}

static bool same_sentences(const Sentences *a, const Sentences *b) {
    return a->sentences == b->sentences && a->start[a->sentences] == b->start[b->sentences] &&
           memcmp(a->id, b->id, (size_t)a->start[a->sentences] * sizeof *a->id) == 0;
}

static void sentences_follow_the_seed(void **state) {
    (void)state;
    Corpus *a = sample_farm(NULL, 300, 50, 1), *b = sample_farm(NULL, 300, 50, 1), *c = sample_farm(NULL, 300, 300, 2);
    check_sentences(a, &a->train);
    check_sentences(a, &a->test);
    assert_true(same_sentences(&a->train, &b->train));
    assert_true(same_sentences(&a->test, &b->test));
    assert_false(same_sentences(&a->train, &c->train));
    assert_false(same_sentences(&c->train, &c->test)); /* streams of their own */
    Corpus *more = sample_farm(NULL, 400, 50, 1);      /* more sentences begin with the same */
    assert_memory_equal(a->train.id, more->train.id, (size_t)a->train.start[300] * sizeof(int));
    corpus_free(a);
    corpus_free(b);
    corpus_free(c);
    corpus_free(more);
}

/* The vocabulary is that of the language, whatever the sample has. */
static void words_are_those_of_the_language(void **state) {
    (void)state;
    Corpus *c = sample_farm("a=dog,n=sg,k=0", 1, 0, 1);
    assert_int_equal(vocab_find(c->vocab, "dogs", 4), -1);
    assert_int_equal(vocab_find(c->vocab, "owl", 3), -1);
    assert_true(vocab_find(c->vocab, "meat", 4) > 0);
    assert_int_equal(c->test.sentences, 0);
    corpus_free(c);
}

/* Within 5 standard errors of the entropy per token; a sentence's -log p has a deviation of about 3. */
static void true_log_p_is_near_the_entropy(void **state) {
    (void)state;
    Corpus *c = sample_farm(NULL, 1, 2000, 1);
    double predictions = (double)(c->test.start[2000] - 2000);
    double sum = 0;
    Str text;
    str_init(&text);
    for (long i = 0; i < 2000; i++) {
        double log_p;
        str_clear(&text);
        corpus_text(c, &c->test, i, &text);
        assert_ok(language_log_p(c->language, text.s, &log_p));
        sum -= log_p;
    }
    str_done(&text);
    if (fabs(sum / predictions - 0.9144659695065815) > 5 * 3 * sqrt(2000) / predictions)
        fail_msg("%g", sum / predictions);
    corpus_free(c);
}

static void corpora_that_cannot_be(void **state) {
    (void)state;
    static const struct {
        const char *grammar, *start;
        long n;
        const char *why;
    } bad[] = {
        {"s: a", "t", 10, "no rule 't'"},
        {"s: a", NULL, 0, "at least 1"},
        {"s: a </s> b", NULL, 10, "': the word '</s>' is reserved"},
        {"s: {s} a | b", NULL, 10, "calls itself"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Grammar *g;
        Corpus *c;
        assert_ok(grammar_parse(bad[i].grammar, strlen(bad[i].grammar), &g));
        Status s = corpus_sample(g, "x", bad[i].start, NULL, (CorpusTokens){0}, bad[i].n, 1, 1, &c);
        assert_int_equal(s.code, STATUS_USAGE);
        assert_null(c);
        if (!strstr(s.text, bad[i].why)) fail_msg("%s", s.text);
    }
}

static void a_corpus_that_is_not_wanted_any_more(void **state) {
    (void)state;
    atomic_bool cancelled = true;
    Grammar *g;
    Corpus *c;
    assert_ok(grammar_parse("s: a", 4, &g));
    cancel_lend(&cancelled);
    Status sampled = corpus_sample(g, "x", NULL, NULL, (CorpusTokens){0}, 10, 1, 1, &c);
    assert_null(c);
    Status read = corpus_read_lines("test_corpus.c", (CorpusTokens){0}, &c); /* tests run beside their sources */
    cancel_lend(NULL);
    assert_null(c);
    assert_int_equal(sampled.code, STATUS_CANCELLED);
    assert_int_equal(read.code, STATUS_CANCELLED);
}

/* A language without end of sentences has words all the same. */
static void a_recursive_grammar_has_a_vocabulary(void **state) {
    (void)state;
    const char *text = "s: 3 a | 1 ( {s} , {s} ) | b{x}\nx: c | {} d";
    Grammar *g;
    Corpus *c;
    assert_ok(grammar_parse(text, strlen(text), &g));
    assert_ok(corpus_sample(g, "trees", NULL, NULL, (CorpusTokens){0}, 200, 50, 1, &c));
    assert_int_equal(vocab_size(c->vocab), VOCAB_SPECIALS + 6); /* ( ) , a bc bd */
    check_sentences(c, &c->train);
    corpus_free(c);
}

/* ---- Read ---- */

static char path[] = "/tmp/lantern-corpus-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void write_text(const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void lines_become_sentences(void **state) {
    (void)state;
    write_text("\xef\xbb\xbfthe  dog\tsleeps\r\n\n  \t\nthe cat\n b a ");
    Corpus *c;
    assert_ok(corpus_read_lines(path, (CorpusTokens){0}, &c));
    assert_int_equal(c->train.sentences, 2);
    assert_int_equal(c->test.sentences, 1);
    assert_int_equal(vocab_size(c->vocab), VOCAB_SPECIALS + 6);
    assert_null(c->grammar);
    assert_null(c->language);
    assert_string_equal(c->name, strrchr(path, '/') + 1);
    Str text;
    str_init(&text);
    corpus_text(c, &c->train, 0, &text);
    assert_string_equal(text.s, "the dog sleeps");
    str_clear(&text);
    corpus_text(c, &c->test, 0, &text);
    assert_string_equal(text.s, "b a");
    str_done(&text);
    corpus_free(c);
}

static void expect_text(const Corpus *c, const Sentences *s, long i, const char *want) {
    Str text;
    str_init(&text);
    corpus_text(c, s, i, &text);
    assert_string_equal(text.s, want);
    str_done(&text);
}

static void lines_become_what_tokens_are(void **state) {
    (void)state;
    static const struct {
        VocabUnit unit;
        int vocabulary, first; /* tokens of all, and ids of the first sentence */
    } kinds[] = {{VOCAB_WORD, 4, 4}, {VOCAB_CHAR, 4, 7}, {VOCAB_BYTE, 256, 7}, {VOCAB_BPE, 6, 4}};
    for (int i = 0; i < 4; i++) {
        Corpus *c;
        write_text("ab ab\nab abc\nb ba\n");
        assert_ok(corpus_read_lines(path, (CorpusTokens){.unit = kinds[i].unit, .merges = 2}, &c));
        assert_int_equal(vocab_size(c->vocab), VOCAB_SPECIALS + kinds[i].vocabulary);
        assert_int_equal(c->train.start[1], kinds[i].first);
        expect_text(c, &c->train, 0, "ab ab");
        expect_text(c, &c->train, 1, "ab abc");
        expect_text(c, &c->test, 0, "b ba");
        corpus_free(c);
    }
}

/* To sub-words an ideographic blank is one, too: no word in front of the first, and no sentence alone. */
static void sub_words_know_all_blanks(void **state) {
    (void)state;
    Corpus *c;
    write_text("\xe3\x80\x80"
               "ab ab\n\xe3\x80\x80\nb\xc2\xa0"
               "a\n");
    assert_ok(corpus_read_lines(path, (CorpusTokens){.unit = VOCAB_BPE, .merges = 1}, &c));
    assert_int_equal(c->train.sentences, 1);
    assert_int_equal(c->test.sentences, 1);
    expect_text(c, &c->train, 0, "ab ab");
    expect_text(c, &c->test, 0, "b a");
    assert_int_equal(vocab_find(c->vocab, "\xe3\x80\x80", 3), -1);
    corpus_free(c);
}

/* Parts overlap by the token that one ends in and the next begins with: every token is predicted once. */
static void long_sentences_go_in_parts(void **state) {
    (void)state;
    write_text("abcdefg\nab\nx\n");
    Corpus *c;
    assert_ok(corpus_read_lines(path, (CorpusTokens){.unit = VOCAB_CHAR}, &c));
    corpus_part(c, 3);
    const Sentences *s = &c->train;
    assert_int_equal(s->sentences, 4); /* 8 predictions: 3 + 3 + 2; and 3 */
    static const long lengths[] = {4, 4, 3, 4};
    for (int i = 0; i < 4; i++) assert_int_equal(s->start[i + 1] - s->start[i], lengths[i]);
    for (int i = 0; i < 2; i++) assert_int_equal(s->id[s->start[i + 1] - 1], s->id[s->start[i + 1]]);
    expect_text(c, s, 0, "abc");
    expect_text(c, s, 1, "cdef");
    expect_text(c, s, 2, "fg");
    assert_int_equal(s->id[0], VOCAB_BOS);
    assert_int_equal(s->id[s->start[3] - 1], VOCAB_EOS);
    assert_int_equal(c->test.sentences, 1);
    corpus_free(c);
}

static void other_tokens_of_a_grammar(void **state) {
    (void)state;
    static const char text_of_two[] = "s: the dog | the bird sings\n";
    Grammar *g;
    Corpus *words, *bytes;
    assert_ok(grammar_parse(text_of_two, strlen(text_of_two), &g));
    assert_ok(corpus_sample(g, "x", NULL, NULL, (CorpusTokens){0}, 20, 5, 1, &words));
    assert_ok(grammar_parse(text_of_two, strlen(text_of_two), &g));
    assert_ok(corpus_sample(g, "x", NULL, NULL, (CorpusTokens){.unit = VOCAB_BYTE}, 20, 5, 1, &bytes));
    assert_non_null(words->language);
    assert_null(bytes->language); /* it does not know what a byte is worth */
    for (long i = 0; i < 20; i++) {
        Str text;
        str_init(&text);
        corpus_text(words, &words->train, i, &text);
        expect_text(bytes, &bytes->train, i, text.s);
        assert_int_equal(bytes->train.start[i + 1] - bytes->train.start[i], (long)text.len + 2);
        str_done(&text);
    }
    corpus_free(words);
    corpus_free(bytes);
}

static void the_last_twentieth_is_held_out(void **state) {
    (void)state;
    Str text;
    str_init(&text);
    for (int i = 0; i < 100; i++) str_addf(&text, "w%d\n", i);
    write_text(text.s);
    Corpus *c;
    assert_ok(corpus_read_lines(path, (CorpusTokens){0}, &c));
    assert_int_equal(c->train.sentences, 95);
    assert_int_equal(c->test.sentences, 5);
    str_clear(&text);
    corpus_text(c, &c->test, 0, &text);
    assert_string_equal(text.s, "w95");
    corpus_free(c);
    str_done(&text);
}

/* The end of it is held out, cut at a blank where there is one, else between two characters. */
static void one_line_is_two_sentences(void **state) {
    (void)state;
    static const struct {
        VocabUnit unit;
        const char *text, *train, *test;
    } lines[] = {
        {VOCAB_WORD, "\n  a b \n\n", "a", "b"},
        {VOCAB_WORD, "a long-word-at-the-end", "a", "long-word-at-the-end"},
        {VOCAB_WORD, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
         "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18", "19 20"},
        {VOCAB_CHAR, "long-word-at-the-beginning b", "long-word-at-the-beginning ", "b"},
        {VOCAB_CHAR, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvw", "xyz"},
        {VOCAB_CHAR, "\xe6\x88\x91\xe4\xbb\xac", "\xe6\x88\x91", "\xe4\xbb\xac"},
        {VOCAB_BYTE, "\xc3\xa9t", "\xc3\xa9", "t"},
        {VOCAB_BPE, "abababab", "abababa", "b"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Corpus *c;
        write_text(lines[i].text);
        assert_ok(corpus_read_lines(path, (CorpusTokens){.unit = lines[i].unit, .merges = 2}, &c));
        assert_int_equal(c->train.sentences, 1);
        assert_int_equal(c->test.sentences, 1);
        expect_text(c, &c->train, 0, lines[i].train);
        expect_text(c, &c->test, 0, lines[i].test);
        corpus_free(c);
    }
}

static void files_that_are_no_corpus(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
        VocabUnit unit;
    } bad[] = {{"", "has no text to learn from", VOCAB_WORD},
               {"\n \t\n", "has no text to learn from", VOCAB_CHAR},
               {"word\n\n", "has one word; a corpus needs two at least, or tokens=char", VOCAB_WORD},
               {"\xe6\x88\x91", "has one character; a corpus needs two at least", VOCAB_CHAR},
               {"a\n\nb\xff\nc", "line 3", VOCAB_WORD},
               {"a\nb <s>\n", "reserved", VOCAB_WORD}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Corpus *c;
        write_text(bad[i].text);
        Status s = corpus_read_lines(path, (CorpusTokens){.unit = bad[i].unit, .merges = 0}, &c);
        assert_int_equal(s.code, STATUS_USAGE);
        assert_null(c);
        if (!strstr(s.text, bad[i].why)) fail_msg("%s", s.text);
    }
}

/* ---- Batches ---- */

static void check_batch(const Corpus *c, Batch *b, int context, int *seen) {
    for (int k = 0; k < b->sequences; k++) {
        int first = b->start[k], rows = b->start[k + 1] - first;
        assert_true(rows <= context);
        long found = -1;
        for (long i = 0; i < c->train.sentences && found < 0; i++) {
            const int *id = c->train.id + c->train.start[i];
            long ids = c->train.start[i + 1] - c->train.start[i];
            long inputs = ids - 1 < context ? ids - 1 : context;
            if (seen[i] || inputs != rows || memcmp(id, b->id + first, (size_t)rows * sizeof *id) != 0) continue;
            if (memcmp(id + 1, b->target + first, (size_t)rows * sizeof *id) == 0) found = i;
        }
        assert_true(found >= 0);
        seen[found] = 1;
        for (int r = 0; r < rows; r++) assert_int_equal(b->position[first + r], r);
    }
}

static void an_epoch_has_every_sentence_once(void **state) {
    (void)state;
    enum { SENTENCES = 100, BATCH = 16, CONTEXT = 12 };
    Corpus *c = sample_farm(NULL, SENTENCES, 0, 1);
    assert_int_equal(corpus_steps_per_epoch(c, BATCH), 7);
    Sampler *s = sampler_new(&c->train, BATCH, 1, CONTEXT);
    Batch b;
    batch_init(&b);
    for (int epoch = 0; epoch < 2; epoch++) {
        int seen[SENTENCES] = {0};
        for (int step = 0; step < 7; step++) {
            sampler_batch(s, epoch * 7 + step, &b);
            assert_int_equal(b.sequences, step < 6 ? BATCH : SENTENCES % BATCH);
            check_batch(c, &b, CONTEXT, seen);
        }
        for (int i = 0; i < SENTENCES; i++) assert_true(seen[i]);
    }
    batch_done(&b);
    sampler_free(s);
    corpus_free(c);
}

static bool same_batch(const Batch *a, const Batch *b) {
    return a->sequences == b->sequences && batch_rows(a) == batch_rows(b) &&
           memcmp(a->id, b->id, (size_t)batch_rows(a) * sizeof *a->id) == 0;
}

static void any_step_in_any_order_gives_the_same_batch(void **state) {
    (void)state;
    Corpus *c = sample_farm(NULL, 200, 0, 1);
    Sampler *forth = sampler_new(&c->train, 64, 5, 64), *back = sampler_new(&c->train, 64, 5, 64);
    Sampler *other = sampler_new(&c->train, 64, 6, 64);
    Batch a[9], b;
    batch_init(&b);
    for (int step = 0; step < 9; step++) {
        batch_init(&a[step]);
        sampler_batch(forth, step, &a[step]);
    }
    for (int step = 8; step >= 0; step--) {
        sampler_batch(back, step, &b);
        assert_true(same_batch(&a[step], &b));
        sampler_batch(other, step, &b);
        assert_false(same_batch(&a[step], &b));
        if (step >= 4) assert_false(same_batch(&a[step], &a[step - 4])); /* another epoch, another order */
        batch_done(&a[step]);
    }
    batch_done(&b);
    sampler_free(forth);
    sampler_free(back);
    sampler_free(other);
    corpus_free(c);
}

static void twenty_thousand_in_64s_are_313_steps(void **state) {
    (void)state;
    Corpus c = {.train.sentences = 20000};
    assert_int_equal(corpus_steps_per_epoch(&c, 64), 313);
    c.train.sentences = 64;
    assert_int_equal(corpus_steps_per_epoch(&c, 64), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_farm_has_56_entries),
        cmocka_unit_test(sentences_follow_the_seed),
        cmocka_unit_test(words_are_those_of_the_language),
        cmocka_unit_test(true_log_p_is_near_the_entropy),
        cmocka_unit_test(corpora_that_cannot_be),
        cmocka_unit_test(a_corpus_that_is_not_wanted_any_more),
        cmocka_unit_test(a_recursive_grammar_has_a_vocabulary),
        cmocka_unit_test(lines_become_sentences),
        cmocka_unit_test(lines_become_what_tokens_are),
        cmocka_unit_test(sub_words_know_all_blanks),
        cmocka_unit_test(long_sentences_go_in_parts),
        cmocka_unit_test(one_line_is_two_sentences),
        cmocka_unit_test(other_tokens_of_a_grammar),
        cmocka_unit_test(the_last_twentieth_is_held_out),
        cmocka_unit_test(files_that_are_no_corpus),
        cmocka_unit_test(an_epoch_has_every_sentence_once),
        cmocka_unit_test(any_step_in_any_order_gives_the_same_batch),
        cmocka_unit_test(twenty_thousand_in_64s_are_313_steps),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
