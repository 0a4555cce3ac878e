/* tokenizer_write: what it writes of each kind of vocabulary is read back as a tokenizer that cuts into the same ids.
 */
#include "expect.h"

#include "io/tokenizer_json.h"
#include "io/tokenizer_write.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

/* The tokenizer of the file that V becomes, as a vocabulary. */
static Vocab *through_file(const Vocab *v) {
    Str json;
    Tokenizer *t;
    str_init(&json);
    assert_null(tokenizer_write(v, &json));
    assert_ok(tokenizer_json_parse("t.json", json.s, json.len, &t));
    str_done(&json);
    assert_int_equal(tokenizer_size(t), vocab_size(v));
    assert_int_equal(tokenizer_first(t), VOCAB_BOS);
    return vocab_new_tokenizer(t, tokenizer_first(t), VOCAB_EOS);
}

static void check_same(const Vocab *a, const Vocab *b, const char *text) {
    int *x, *y, n, m;
    assert_ok(vocab_encode(a, text, &x, &n));
    assert_ok(vocab_encode(b, text, &y, &m));
    assert_int_equal(n, m);
    for (int i = 0; i < n; i++)
        if (x[i] != y[i]) fail_msg("'%s': token %d is %d, not %d", text, i, y[i], x[i]);
    mem_free(x);
    mem_free(y);
}

static void check_unknown(const Vocab *v, const char *text, const char *part) {
    int *ids, n;
    Status s = vocab_encode(v, text, &ids, &n);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, part)) fail_msg("'%s' is not in: %s", part, s.text);
}

static void words(void **state) {
    (void)state;
    static const char *const word[] = {"the", "dog", "chases", ".", "\xe4\xb8\x96\xe7\x95\x8c", "a\"b\\", "<unk>"};
    Vocab *v = vocab_new(word, 7), *same = through_file(v);
    static const char *const texts[] = {"the dog chases .", " the\t dog  ", "", "\xe4\xb8\x96\xe7\x95\x8c a\"b\\",
                                        "the <s> dog </s> <pad>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_same(v, same, texts[i]);
    check_unknown(same, "the cat", "unknown words: 'cat'");
    check_unknown(same, "dog<s>", "'dog<s>'");
    check_unknown(same, "the\ndog", "unknown words");
    vocab_free(same);
    vocab_free(v);
}

static void characters(void **state) {
    (void)state;
    static const char *const chars[] = {"a", "b", " ", "\xc3\xa9", "<", "s", ">", "\xe4\xb8\x96"};
    Vocab *v = vocab_new_chars(chars, 8), *same = through_file(v);
    static const char *const texts[] = {"ab ba", "  \xc3\xa9\xe4\xb8\x96", "", "<s>a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_same(v, same, texts[i]);
    check_unknown(same, "ac", "'c'");
    vocab_free(same);
    vocab_free(v);
}

static void bytes(void **state) {
    (void)state;
    char all[256];
    Vocab *v = vocab_new_bytes(), *same = through_file(v);
    for (int i = 0; i < 255; i++) all[i] = (char)(i + 1);
    all[255] = '\0';
    static const char *const texts[] = {"the dog", "  \xc3\xa9\n\n", "", "<s>a</s>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_same(v, same, texts[i]);
    check_same(v, same, all);
    vocab_free(same);
    vocab_free(v);
}

/* l o w e r and U+2581, which stands for the end of a word unless it is a unit. */
static Bpe *sub_words(bool marker) {
    Bpe *b = bpe_new(BPE_CHAR);
    int e = bpe_add_unit(b, "e", 1), l = bpe_add_unit(b, "l", 1), o = bpe_add_unit(b, "o", 1);
    int r = bpe_add_unit(b, "r", 1), w = bpe_add_unit(b, "w", 1);
    if (marker) bpe_add_unit(b, "\xe2\x96\x81", 3);
    int lo = bpe_add_merge(b, l, o, 0, 0), low = bpe_add_merge(b, lo, w, 0, 0);
    bpe_add_merge(b, low, 0, 0, 0);
    int er = bpe_add_merge(b, e, r, 0, 0);
    bpe_add_merge(b, er, 0, 0, 0);
    return b;
}

static void merges(void **state) {
    (void)state;
    static const char *const texts[] = {"low lower lowerlow", "  low\t\tlo ", "e", "", "wol  re\nlow"};
    for (int marker = 0; marker < 2; marker++) {
        Vocab *v = vocab_new_bpe(sub_words(marker)), *same = through_file(v);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_same(v, same, texts[i]);
        if (marker) check_same(v, same, "lo\xe2\x96\x81 low");
        vocab_free(same);
        vocab_free(v);
    }
}

/* White space of any kind before the first word is no word; the file's own steps say the same. */
static void blanks_in_front(void **state) {
    (void)state;
    static const char *const blank[] = {
        "\n", "\r\n", "\v", "\f", "\xc2\x85", "\xc2\xa0", "\xe2\x80\xa8", "\xe3\x80\x80", " \n\t\xc2\xa0 "};
    Vocab *v = vocab_new_bpe(sub_words(false)), *same = through_file(v);
    int *want, *ids, n, m;
    assert_ok(vocab_encode(v, "low lower", &want, &n));
    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++) {
        char text[64];
        check_same(v, same, blank[i]);
        (void)snprintf(text, sizeof text, "%slow%slower%s", blank[i], blank[i], blank[i]);
        check_same(v, same, text);
        assert_ok(vocab_encode(v, text, &ids, &m));
        assert_int_equal(m, n);
        assert_memory_equal(ids, want, (size_t)n * sizeof *ids);
        mem_free(ids);
    }
    mem_free(want);
    vocab_free(same);
    vocab_free(v);
}

static void check_unsayable(Vocab *v, const char *part) {
    Str json;
    str_init(&json);
    const char *reason = tokenizer_write(v, &json);
    assert_non_null(reason);
    if (!strstr(reason, part)) fail_msg("'%s' is not in: %s", part, reason);
    assert_int_equal(json.len, 0);
    str_done(&json);
    vocab_free(v);
}

static void what_cannot_be_said(void **state) {
    (void)state;
    static const char *const broken[] = {"the", "\xff"};
    check_unsayable(vocab_new(broken, 2), "UTF-8");
    check_unsayable(vocab_new_chars(broken + 1, 1), "UTF-8");
    Bpe *b = bpe_new(BPE_CHAR); /* ab is made, abc of it, and ab again, by then in vain */
    int x = bpe_add_unit(b, "a", 1), y = bpe_add_unit(b, "b", 1), z = bpe_add_unit(b, "c", 1);
    int xy = bpe_add_merge(b, x, y, 0, 0), yz = bpe_add_merge(b, y, z, 0, 0);
    int xyz = bpe_add_merge(b, xy, z, 0, 0);
    bpe_add_merge(b, xyz, x, 0, 0);
    bpe_add_merge(b, x, yz, 0, 0);
    check_unsayable(vocab_new_bpe(b), "later merge");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),        cmocka_unit_test(characters),      cmocka_unit_test(bytes),
        cmocka_unit_test(merges),       cmocka_unit_test(blanks_in_front), cmocka_unit_test(what_cannot_be_said),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
