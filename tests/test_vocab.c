/* The vocabulary: ids, order, look-up, words that are not there. Also the texts that it stands on. */
#include "expect.h"

#include "mem.h"
#include "text/texts.h"
#include "text/vocab.h"

#include <stdio.h>
#include <string.h>

static Vocab *small(void) {
    static const char *const words[] = {"dog", "cat", "the", "Dog", "dog", "\xc3\xa4pfel", "."};
    return vocab_new(words, 7);
}

static void specials_come_first_then_words_in_byte_order(void **state) {
    (void)state;
    static const char *const order[] = {"<pad>", "<s>", "</s>", ".", "Dog", "cat", "dog", "the", "\xc3\xa4pfel"};
    Vocab *v = small();
    assert_int_equal(vocab_size(v), 9);
    for (int id = 0; id < 9; id++) {
        assert_string_equal(vocab_token(v, id), order[id]);
        assert_int_equal(vocab_find(v, order[id], strlen(order[id])), id);
    }
    assert_int_equal(vocab_find(v, "do", 2), -1);
    assert_int_equal(vocab_find(v, "dogs", 3), 6); /* only so many bytes */
    assert_int_equal(vocab_find(v, "", 0), -1);
    assert_bug(vocab_token(v, 9));
    assert_bug(vocab_token(v, -1));
    vocab_free(v);
    vocab_free(NULL);
}

static void a_copy_stands_alone(void **state) {
    (void)state;
    Vocab *v = small(), *copy = vocab_copy(v);
    vocab_free(v);
    assert_int_equal(vocab_size(copy), 9);
    assert_string_equal(vocab_token(copy, 6), "dog");
    assert_int_equal(vocab_find(copy, "cat", 3), 5);
    vocab_free(copy);
}

static void a_vocabulary_may_have_no_words(void **state) {
    (void)state;
    Vocab *v = vocab_new(NULL, 0);
    assert_int_equal(vocab_size(v), VOCAB_SPECIALS);
    int *ids, n;
    assert_ok(vocab_encode(v, " \t ", &ids, &n));
    assert_int_equal(n, 0);
    mem_free(ids);
    vocab_free(v);
}

static void texts_become_ids(void **state) {
    (void)state;
    Vocab *v = small();
    int *ids, n;
    assert_ok(vocab_encode(v, "\tthe  dog . ", &ids, &n));
    assert_int_equal(n, 3);
    assert_int_equal(ids[0], 7);
    assert_int_equal(ids[1], 6);
    assert_int_equal(ids[2], 3);
    mem_free(ids);
    vocab_free(v);
}

static void unknown_words_are_named(void **state) {
    (void)state;
    Vocab *v = small();
    int *ids, n;
    assert_status(vocab_encode(v, "the dug runs", &ids, &n), STATUS_USAGE,
                  "unknown words: 'dug' (near: dog), 'runs'; the vocabulary has 6 words");
    assert_null(ids);
    assert_int_equal(n, 0);
    assert_status(vocab_encode(v, "w1 w2 w3 w4 w5", &ids, &n), STATUS_USAGE,
                  "unknown words: 'w1', 'w2', 'w3' and 2 more; the vocabulary has 6 words");
    vocab_free(v);
}

static void every_text_has_one_number(void **state) {
    (void)state;
    enum { MANY = 5000 };
    Texts t, copy;
    texts_init(&t);
    assert_int_equal(texts_add(&t, "", 0), 0);
    char s[16];
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(s, sizeof s, "x%d", i);
        assert_int_equal(texts_add(&t, s, (size_t)n), i + 1);
    }
    texts_copy(&copy, &t);
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(s, sizeof s, "x%d", i);
        assert_int_equal(texts_find(&t, s, (size_t)n), i + 1);
        assert_int_equal(texts_add(&copy, s, (size_t)n), i + 1);
        assert_string_equal(texts_bytes(&copy, i + 1), s);
    }
    assert_int_equal(texts_find(&t, "x", 1), -1);
    assert_int_equal(texts_join(&t, 2, 0, 1), MANY + 1); /* x1 x0 */
    assert_string_equal(texts_bytes(&t, MANY + 1), "x1x0");
    assert_int_equal(texts_join(&t, 2, 2 - 2, 0), 2);
    assert_int_equal(copy.count, MANY + 1);
    texts_done(&t);
    texts_done(&copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specials_come_first_then_words_in_byte_order),
        cmocka_unit_test(a_copy_stands_alone),
        cmocka_unit_test(a_vocabulary_may_have_no_words),
        cmocka_unit_test(texts_become_ids),
        cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(every_text_has_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
