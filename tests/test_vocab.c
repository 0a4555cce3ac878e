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

/* ---- Characters, bytes, sub-words ---- */

static Vocab *chars(void) {
    static const char *const char_list[] = {"b", " ", "a", "\xC3\xA9", "a", "\x01"};
    return vocab_new_chars(char_list, 6);
}

/* ab, abb, "ab</w>" and so on: a b</w> is learnt first, then a b. */
static Vocab *pieces(void) {
    Bpe *b = bpe_new(BPE_CHAR);
    int x = bpe_add_unit(b, "a", 1), y = bpe_add_unit(b, "b", 1);
    int end = bpe_add_merge(b, y, 0, 3, 1);
    bpe_add_merge(b, x, end, 2, 1);
    return vocab_new_bpe(b);
}

/* Cuts TEXT, compares the names of its tokens (blanks between) with WANT, joins them and compares with BACK. */
static void expect_cut(const Vocab *v, const char *text, const char *want, const char *back) {
    int *ids, n;
    assert_ok(vocab_encode(v, text, &ids, &n));
    Str got;
    str_init(&got);
    for (int i = 0; i < n; i++) str_addf(&got, "%s%s", i ? " " : "", vocab_token(v, ids[i]));
    assert_string_equal(got.s, want);
    str_clear(&got);
    vocab_join(v, ids, n, &got);
    assert_string_equal(got.s, back);
    str_done(&got);
    mem_free(ids);
}

static void characters_keep_their_blanks(void **state) {
    (void)state;
    Vocab *v = chars();
    assert_int_equal(vocab_size(v), VOCAB_SPECIALS + 5);
    expect_cut(v, "a  b\xC3\xA9\x01", "a \xE2\x90\xA3 \xE2\x90\xA3 b \xC3\xA9 <0x01>", "a  b\xC3\xA9\x01");
    expect_cut(v, "", "", "");
    int *ids, n;
    assert_status(vocab_encode(v, "abc\xC3\xA8", &ids, &n), STATUS_USAGE,
                  "unknown characters: 'c', '\xC3\xA8'; the vocabulary has 5 tokens");
    vocab_free(v);
}

static void no_byte_is_unknown(void **state) {
    (void)state;
    Vocab *v = vocab_new_bytes();
    assert_int_equal(vocab_size(v), VOCAB_SPECIALS + 256);
    expect_cut(v, "a \xC3\xA9~\x7F", "a \xE2\x90\xA3 <0xC3> <0xA9> ~ <0x7F>", "a \xC3\xA9~\x7F");
    assert_int_equal(vocab_find(v, "\xFF", 1), VOCAB_SPECIALS + 255);
    assert_int_equal(vocab_find(v, "", 1), VOCAB_SPECIALS); /* the byte 0 */
    vocab_free(v);
}

static void sub_words_know_where_words_end(void **state) {
    (void)state;
    Vocab *v = pieces();
    assert_int_equal(vocab_size(v), VOCAB_SPECIALS + 5);
    expect_cut(v, "  ab  ba abb ", "ab</w> b a </w> a b b</w>", "ab ba abb");
    int *ids, n;
    assert_status(vocab_encode(v, "ab x", &ids, &n), STATUS_USAGE,
                  "unknown characters: 'x'; the vocabulary has 5 tokens");
    vocab_free(v);
}

static void stored_vocabularies_come_back(void **state) {
    (void)state;
    Vocab *kinds[] = {small(), chars(), vocab_new_bytes(), pieces()};
    for (int u = 0; u < VOCAB_UNITS; u++) {
        VocabUnit unit;
        assert_true(vocab_unit_find(vocab_unit_name((VocabUnit)u), &unit));
        assert_int_equal(unit, u);
        Str bytes;
        str_init(&bytes);
        vocab_store(kinds[u], &bytes);
        int size = vocab_size(kinds[u]);
        Vocab *back = vocab_restore(unit, bytes.s, bytes.len, size), *copy = vocab_copy(kinds[u]);
        assert_non_null(back);
        assert_true(vocab_same(back, kinds[u]) && vocab_same(copy, kinds[u]));
        assert_int_equal(vocab_merges(back), vocab_merges(kinds[u]));
        assert_null(vocab_restore(unit, bytes.s, bytes.len, size - 1));
        for (size_t cut = 0; cut < bytes.len; cut++) vocab_free(vocab_restore(unit, bytes.s, cut, size));
        str_done(&bytes);
        vocab_free(back);
        vocab_free(copy);
    }
    for (int u = 1; u < VOCAB_UNITS; u++) {
        assert_false(vocab_same(kinds[0], kinds[u]));
        vocab_free(kinds[u]);
    }
    vocab_free(kinds[0]);
}

static void damaged_merges_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool good;
    } cases[] = {{"a\0b\0\0"
                  "1\0"
                  "0",
                  9, true},
                 {"a\0b\0\0"
                  "0\0"
                  "1",
                  9, false}, /* nothing follows the end of a word */
                 {"a\0b\0\0"
                  "1\0"
                  "3",
                  9, false},
                 {"a\0b\0\0"
                  "1",
                  7, false},
                 {"a\0b\0\0"
                  "x\0"
                  "1",
                  9, false},
                 {"a\0b", 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Vocab *v = vocab_restore(VOCAB_BPE, cases[i].bytes, cases[i].n, 100);
        if ((v != NULL) != cases[i].good) fail_msg("case %zu", i);
        vocab_free(v);
    }
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
        cmocka_unit_test(characters_keep_their_blanks),
        cmocka_unit_test(no_byte_is_unknown),
        cmocka_unit_test(sub_words_know_where_words_end),
        cmocka_unit_test(stored_vocabularies_come_back),
        cmocka_unit_test(damaged_merges_are_refused),
        cmocka_unit_test(every_text_has_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
