/* Byte-pair encoding: training against a recount of everything at every step, and merging against the plain loops that
 * its definition says. */
#include "expect.h"

#include "rng.h"
#include "text/bpe_train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static BpeTrainer *trainer_of(const char *text, BpeUnit unit, bool lowercase) {
    BpeWords w;
    bpe_words_init(&w, unit, lowercase);
    bpe_words_add(&w, text, strlen(text));
    BpeTrainer *t = bpe_trainer_new(&w);
    bpe_words_done(&w);
    return t;
}

/* ---- words ---- */

static void expect_words(BpeUnit unit, const char *text, int n, const char *const *word) {
    BpeWords w;
    bpe_words_init(&w, unit, false);
    bpe_words_add(&w, text, strlen(text));
    assert_int_equal(w.words, n);
    for (int i = 0; i < n; i++) {
        size_t bytes;
        const char *s = bpe_words_at(&w, i, &bytes);
        assert_int_equal(bytes, strlen(word[i]));
        assert_memory_equal(s, word[i], bytes);
        assert_int_equal(bpe_words_find(&w, word[i], bytes), i);
    }
    assert_int_equal(bpe_words_find(&w, "nowhere", 7), -1);
    assert_int_equal(bpe_words_find(&w, "", 0), -1);
    bpe_words_done(&w);
}

static void words_end_at_white_space(void **state) {
    (void)state;
    const char *text =
        "a\tb\nc\vd\fe\rf g\xc2\x85h\xc2\xa0i\xe1\x9a\x80j\xe2\x80\x80k\xe2\x80\x8al\xe2\x80\xa8m\xe2\x80"
        "\xa9n\xe2\x80\xafo\xe2\x81\x9fp\xe3\x80\x80q";
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q"};
    expect_words(BPE_CHAR, text, 17, letters);
    const char *const bytes[] = {"a", "b", "c", "d", "e", "f", strchr(text, 'g')};
    expect_words(BPE_BYTE, text, 7, bytes);
    /* Not white space: unit separator, Mongolian vowel separator, zero width space, byte order mark, a lone 0x85. */
    static const char *const joined[] = {"a\037b\341\240\216c\342\200\213d\357\273\277e\205f"};
    expect_words(BPE_CHAR, joined[0], 1, joined);
    expect_words(BPE_CHAR, " \t\n", 0, NULL);
}

static void words_are_counted(void **state) {
    (void)state;
    BpeWords w;
    bpe_words_init(&w, BPE_CHAR, true);
    bpe_words_add(&w, "The the \xc3\x89t\xc3\xa9 b a", strlen("The the \xc3\x89t\xc3\xa9 b a"));
    bpe_words_add(&w, "THE", 3);
    assert_int_equal(w.words, 4);
    assert_int_equal(w.total, 6);
    assert_int_equal(w.count[bpe_words_find(&w, "the", 3)], 3);
    assert_int_equal(w.count[bpe_words_find(&w, "\xc3\xa9t\xc3\xa9", 5)], 1);
    int *order = bpe_words_by_count(&w);
    static const char *const sorted[] = {"the", "a", "b", "\xc3\xa9t\xc3\xa9"};
    for (int i = 0; i < 4; i++) assert_int_equal(order[i], bpe_words_find(&w, sorted[i], strlen(sorted[i])));
    mem_free(order);
    bpe_words_done(&w);
}

/* ---- the example of the lecture ---- */

#define LOW "low low low low low lower lower newest newest newest newest newest newest widest widest widest"

static void expect_merge(const Bpe *b, int rank, const char *left, const char *right, long long count, int ties) {
    const BpeMerge *m = bpe_merge(b, rank);
    size_t n;
    const char *name = bpe_name(b, m->left, &n);
    assert_int_equal(n, strlen(left));
    assert_memory_equal(name, left, n);
    name = bpe_name(b, m->right, &n);
    assert_int_equal(n, strlen(right));
    assert_memory_equal(name, right, n);
    assert_int_equal(m->count, count);
    assert_int_equal(m->ties, ties);
}

static void exercise_5(void **state) {
    (void)state;
    BpeTrainer *t = trainer_of(LOW, BPE_CHAR, false);
    const Bpe *b = bpe_trainer_bpe(t);
    assert_int_equal(bpe_symbols(b), 11);
    BpePair top[4];
    assert_int_equal(bpe_trainer_pairs(t, top, 4), 4);
    assert_int_equal(top[2].count, 9);
    assert_int_equal(top[3].count, 8);
    for (int i = 0; i < 6; i++) assert_true(bpe_trainer_step(t));
    expect_merge(b, 1, "e", "s", 9, 3);
    expect_merge(b, 2, "es", "t", 9, 2);
    expect_merge(b, 3, "est", "</w>", 9, 1);
    expect_merge(b, 4, "l", "o", 7, 2);
    expect_merge(b, 5, "lo", "w", 7, 1);
    expect_merge(b, 6, "e", "w", 6, 3);
    assert_int_equal(bpe_symbols_after(b, 0), 11);
    assert_int_equal(bpe_symbols_after(b, 6), 17);
    while (bpe_trainer_step(t)) {}
    assert_int_equal(bpe_merges(b), 15);
    assert_int_equal(bpe_trainer_tokens(t), 16);
    assert_int_equal(bpe_trainer_pairs(t, top, 4), 0);
    bpe_trainer_free(t);
}

/* </w> sorts as its four bytes: behind a semicolon, before a letter. */
static void the_end_of_a_word_sorts_as_bytes(void **state) {
    (void)state;
    BpeTrainer *t = trainer_of("a a a; ab", BPE_CHAR, false);
    assert_true(bpe_trainer_step(t));
    expect_merge(bpe_trainer_bpe(t), 1, "a", "</w>", 2, 1);
    assert_true(bpe_trainer_step(t));
    expect_merge(bpe_trainer_bpe(t), 2, ";", "</w>", 1, 4);
    assert_true(bpe_trainer_step(t));
    expect_merge(bpe_trainer_bpe(t), 3, "a", ";</w>", 1, 3);
    bpe_trainer_free(t);
}

/* The four characters are not the end of a word, whatever is merged. */
static void the_end_of_a_word_is_no_text(void **state) {
    (void)state;
    BpeTrainer *t = trainer_of("</w></w>x</w> </w></w>", BPE_CHAR, false);
    while (bpe_trainer_step(t)) {}
    const Bpe *b = bpe_trainer_bpe(t);
    int text = bpe_find(b, "</w>", 4, false), end = bpe_find(b, "", 0, true);
    assert_true(text > 0);
    assert_int_equal(end, 0);
    assert_true(bpe_ends_word(b, end));
    assert_false(bpe_ends_word(b, text));
    assert_int_equal(bpe_trainer_tokens(t), 2);
    bpe_trainer_free(t);
}

/* ---- against a recount ---- */

enum { LONGEST = 4000, NAMES = 100 };

/* Words as lists of names, as the definition has them. */
typedef struct {
    char name[LONGEST][NAMES]; /* one piece behind the other, words end where the name ends in $ */
    int pieces;
} Plain;

static Plain plain;

/* Letters a to z and the end of a word as $, which stands for </w> and sorts before letters as that does. */
static void plain_lay(const char *text) {
    plain.pieces = 0;
    for (const char *s = text; *s; s++) {
        bool blank = *s == ' ';
        if (blank && (plain.pieces == 0 || strcmp(plain.name[plain.pieces - 1], "$") == 0)) continue;
        snprintf(plain.name[plain.pieces++], NAMES, "%c", blank ? '$' : *s);
    }
    if (strcmp(plain.name[plain.pieces - 1], "$") != 0) snprintf(plain.name[plain.pieces++], NAMES, "$");
}

static bool plain_pair(int i) {
    return i + 1 < plain.pieces && !strchr(plain.name[i], '$');
}

static int plain_count(const char *left, const char *right) {
    int n = 0;
    for (int i = 0; i < plain.pieces; i++)
        n += plain_pair(i) && strcmp(plain.name[i], left) == 0 && strcmp(plain.name[i + 1], right) == 0;
    return n;
}

static bool plain_first(int i, const char *left, const char *right) {
    for (int j = 0; j < i; j++)
        if (plain_pair(j) && strcmp(plain.name[j], left) == 0 && strcmp(plain.name[j + 1], right) == 0) return false;
    return true;
}

/* The pair to merge, its count and ties; false: none. */
static bool plain_top(char *left, char *right, int *count, int *ties) {
    *count = *ties = 0;
    for (int i = 0; i < plain.pieces; i++) {
        if (!plain_pair(i) || !plain_first(i, plain.name[i], plain.name[i + 1])) continue;
        int n = plain_count(plain.name[i], plain.name[i + 1]);
        if (n < *count) continue;
        *ties = n == *count ? *ties + 1 : 1;
        int order = strcmp(plain.name[i], left);
        if (order == 0) order = strcmp(plain.name[i + 1], right);
        if (n > *count || order < 0) {
            strcpy(left, plain.name[i]);
            strcpy(right, plain.name[i + 1]);
        }
        *count = n;
    }
    return *count > 0;
}

static void plain_merge(const char *left, const char *right) {
    int n = 0;
    char l[NAMES], r[NAMES], name[2 * NAMES];
    strcpy(l, left);
    strcpy(r, right);
    snprintf(name, sizeof name, "%s%s", l, r);
    for (int i = 0; i < plain.pieces; n++) {
        bool here = plain_pair(i) && strcmp(plain.name[i], l) == 0 && strcmp(plain.name[i + 1], r) == 0;
        memmove(plain.name[n], here ? name : plain.name[i], NAMES);
        i += here ? 2 : 1;
    }
    plain.pieces = n;
}

/* A symbol's name with $ for </w>. */
static void dollar(const Bpe *b, int symbol, char *out) {
    size_t n;
    const char *name = bpe_name(b, symbol, &n);
    if (bpe_ends_word(b, symbol)) n -= BPE_END_BYTES;
    memcpy(out, name, n);
    strcpy(out + n, bpe_ends_word(b, symbol) ? "$" : "");
}

static void agree_with_recount(const char *text, BpeUnit unit) {
    BpeTrainer *t = trainer_of(text, unit, false);
    plain_lay(text);
    char left[NAMES], right[NAMES], got[NAMES];
    for (int rank = 1, count, ties;; rank++) {
        assert_int_equal(bpe_trainer_tokens(t), plain.pieces);
        bool more = plain_top(left, right, &count, &ties);
        assert_int_equal(bpe_trainer_step(t), more);
        if (!more) break;
        const BpeMerge *m = bpe_merge(bpe_trainer_bpe(t), rank);
        dollar(bpe_trainer_bpe(t), m->left, got);
        if (strcmp(got, left) != 0) fail_msg("%s, rank %d: left is %s, not %s", text, rank, got, left);
        dollar(bpe_trainer_bpe(t), m->right, got);
        if (strcmp(got, right) != 0) fail_msg("%s, rank %d: right is %s, not %s", text, rank, got, right);
        assert_int_equal(m->count, count);
        assert_int_equal(m->ties, ties);
        plain_merge(left, right);
    }
    bpe_trainer_free(t);
}

static void random_text(char *out, uint64_t number) {
    Rng r = rng_at(1, "test.bpe", number);
    int n = 2 + (int)rng_below(&r, 90), letters = 1 + (int)rng_below(&r, 3);
    bool blanks = rng_below(&r, 3) > 0;
    out[0] = 'a';
    for (int i = 1; i < n; i++)
        out[i] = blanks && rng_below(&r, 6) == 0 ? ' ' : (char)('a' + rng_below(&r, (uint64_t)letters));
    out[n] = '\0';
}

static void training_agrees_with_a_recount(void **state) {
    (void)state;
    char text[100];
    for (uint64_t i = 0; i < 400; i++) {
        random_text(text, i);
        agree_with_recount(text, i % 2 ? BPE_BYTE : BPE_CHAR);
    }
}

/* ---- merging ---- */

typedef struct {
    int symbol[100], n;
} Sequence;

/* Everywhere, or only at the place AT when that is not negative. */
static bool apply(Sequence *s, const MergeRule *rule, int at) {
    int n = 0;
    for (int i = 0; i < s->n; n++) {
        bool here =
            (at < 0 || at == i) && i + 1 < s->n && s->symbol[i] == rule->left && s->symbol[i + 1] == rule->right;
        s->symbol[n] = here ? rule->merged : s->symbol[i];
        i += here ? 2 : 1;
    }
    bool applied = n < s->n;
    s->n = n;
    return applied;
}

/* As the three definitions say it. */
static void merge_plainly(Sequence *s, const MergeRules *r) {
    for (int i = 0; r->order == MERGE_IN_ORDER && i < r->count; i++) apply(s, &r->rule[i], -1);
    while (r->order != MERGE_IN_ORDER) {
        int lowest = -1, at = -1;
        for (int i = 0; i + 1 < s->n; i++) {
            int rule = merge_rules_find(r, s->symbol[i], s->symbol[i + 1]);
            if (rule < 0 || (lowest >= 0 && r->rule[rule].rank >= r->rule[lowest].rank)) continue;
            lowest = rule;
            at = i;
        }
        if (lowest < 0) break;
        apply(s, &r->rule[lowest], r->order == MERGE_ONE_BY_ONE ? at : -1);
    }
}

/* Rules that training would not learn: any symbol may come of any pair that is not longer, several ways. */
static void random_rules(MergeRules *r, Rng *g) {
    int symbols = 3, length[100] = {1, 1, 1};
    for (int i = 0; i < 30; i++) {
        int left = (int)rng_below(g, (uint64_t)symbols), right = (int)rng_below(g, (uint64_t)symbols);
        int merged = -1;
        for (int s = 0; s < symbols; s++)
            if (length[s] == length[left] + length[right] && rng_below(g, 3) == 0) merged = s;
        if (merged < 0) length[merged = symbols++] = length[left] + length[right];
        if (r->order != MERGE_IN_ORDER && merge_rules_find(r, left, right) >= 0) continue;
        if (r->order == MERGE_ONE_BY_ONE) {
            merge_rules_add_ranked(r, left, right, merged, (int)rng_below(g, 8));
        } else {
            merge_rules_add(r, left, right, merged);
        }
    }
}

static void merging_is_as_defined(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        Rng g = rng_at(1, "test.merge", i);
        MergeRules r;
        merge_rules_init(&r, (MergeOrder)(i % 3));
        random_rules(&r, &g);
        Merger *m = merger_new(&r);
        Sequence want = {.n = 1 + (int)rng_below(&g, 60)}, got;
        int units[100], sum = 0;
        for (int k = 0; k < want.n; k++) want.symbol[k] = (int)rng_below(&g, 3);
        got = want;
        got.n = merger_run(m, got.symbol, units, got.n, NULL, -1, NULL, NULL);
        for (int k = 0; k < got.n; k++) sum += units[k];
        assert_int_equal(sum, want.n);
        merge_plainly(&want, &r);
        assert_int_equal(got.n, want.n);
        for (int k = 0; k < got.n; k++) assert_int_equal(got.symbol[k], want.symbol[k]);
        merger_free(m);
        merge_rules_done(&r);
    }
}

static bool count_steps(void *data, int rule, const int *symbol, const int *units, int n) {
    (void)rule;
    (void)symbol;
    (void)units;
    assert_true(n > 0);
    return ++*(int *)data < 2;
}

static void merging_stops_where_it_must(void **state) {
    (void)state;
    MergeRules r;
    merge_rules_init(&r, MERGE_BY_RANK);
    merge_rules_add(&r, 0, 1, 2);
    merge_rules_add(&r, 2, 2, 3);
    merge_rules_add(&r, 3, 2, 4);
    Merger *m = merger_new(&r);
    int a[] = {0, 1, 0, 1, -1, 0, 1, 0, 1}, units[9];
    const bool ends[] = {0, 0, 0, 0, 0, 0, 1, 0, 0};
    assert_int_equal(merger_run(m, a, units, 9, ends, -1, NULL, NULL), 4);
    const int want[] = {3, -1, 2, 2}, want_units[] = {4, 1, 2, 2};
    assert_memory_equal(a, want, sizeof want);
    assert_memory_equal(units, want_units, sizeof want_units);
    int b[] = {0, 1, 0, 1, 0, 1};
    assert_int_equal(merger_run(m, b, units, 6, NULL, 1, NULL, NULL), 3);
    int c[] = {0, 1, 0, 1, 0, 1}, steps = 0;
    assert_int_equal(merger_run(m, c, units, 6, NULL, -1, count_steps, &steps), 2);
    assert_int_equal(steps, 2);
    assert_int_equal(merger_run(m, c, units, 0, NULL, -1, NULL, NULL), 0);
    merger_free(m);
    merge_rules_done(&r);
}

/* What was learnt cuts the words of the text as they stood at the end of training. */
static void encoding_ends_where_training_ended(void **state) {
    (void)state;
    char text[100];
    for (uint64_t i = 0; i < 300; i++) {
        random_text(text, i);
        BpeWords w;
        bpe_words_init(&w, BPE_CHAR, false);
        bpe_words_add(&w, text, strlen(text));
        BpeTrainer *t = bpe_trainer_new(&w);
        for (int k = 0; k < 12; k++) bpe_trainer_step(t);
        Merger *m = merger_new(bpe_rules(bpe_trainer_bpe(t)));
        for (int word = 0; word < w.words; word++) {
            size_t bytes;
            const char *s = bpe_words_at(&w, word, &bytes);
            int symbol[100], units[100], want[100], n = 0;
            for (; n < (int)bytes; n++) symbol[n] = bpe_find(bpe_trainer_bpe(t), s + n, 1, false);
            symbol[n++] = 0;
            n = merger_run(m, symbol, units, n, NULL, -1, NULL, NULL);
            assert_int_equal(bpe_trainer_word(t, word, want), n);
            assert_memory_equal(symbol, want, (size_t)n * sizeof *want);
        }
        merger_free(m);
        bpe_trainer_free(t);
        bpe_words_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_end_at_white_space),
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(exercise_5),
        cmocka_unit_test(the_end_of_a_word_sorts_as_bytes),
        cmocka_unit_test(the_end_of_a_word_is_no_text),
        cmocka_unit_test(training_agrees_with_a_recount),
        cmocka_unit_test(merging_is_as_defined),
        cmocka_unit_test(merging_stops_where_it_must),
        cmocka_unit_test(encoding_ends_where_training_ended),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
