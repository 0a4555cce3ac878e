/* The grammar against exact values that were worked out independently ($LANTERN_SHARED/data/reference/farm.json). */
#include "expect.h"

#include "text/grammar.h"
#include "mem.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9

static bool near(double a, double b) {
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b)) + 1e-300;
}

static void check_near(const char *what, const char *where, double got, double expected) {
    if (!near(got, expected)) fail_msg("%s of '%s': %.17g, expected %.17g", what, where, got, expected);
}

/* A number of the reference; null is an impossible text. */
static double number(const json_t *j) {
    return json_is_null(j) ? -(double)INFINITY : json_number_value(j);
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* ---- The file ---- */

static json_t *reference;

static char *shared_path(const char *file) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/data/%s", getenv("LANTERN_SHARED"), file);
    return str_take(&path);
}

static int open_reference(void **state) {
    (void)state;
    if (!getenv("LANTERN_SHARED")) return 0;
    char *path = shared_path("reference/farm.json");
    json_error_t error;
    reference = json_load_file(path, 0, &error);
    mem_free(path);
    return 0;
}

static int close_reference(void **state) {
    (void)state;
    json_decref(reference);
    return 0;
}

static Grammar *open_grammar(const json_t *entry) {
    Str file;
    str_init(&file);
    str_addf(&file, "farm/%s", text_of(entry, "grammar"));
    char *path = shared_path(file.s);
    Grammar *g;
    assert_ok(grammar_read(path, &g));
    mem_free(path);
    str_done(&file);
    return g;
}

static Language *open_language(const Grammar *g, const char *start, const json_t *set) {
    Str text;
    str_init(&text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)set, key, value)
        str_addf(&text, "%s%s=%s", text.len ? "," : "", key, json_string_value(value));
    Language *l;
    assert_ok(language_new(g, start, text.s, &l));
    str_done(&text);
    return l;
}

/* ---- The kinds of values ---- */

static bool is_word(const char **words, int n, const char *word, size_t bytes) {
    for (int i = 0; i < n; i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], word, bytes) == 0) return true;
    return false;
}

/* The tokens of TEXT that the language does not have are those of UNKNOWN, in any order. */
static void check_unknown(Language *l, const char *text, const json_t *unknown) {
    const char **words;
    int n, found = 0;
    assert_ok(language_words(l, &words, &n));
    for (size_t bytes; *text; text += bytes) {
        text += strspn(text, " ");
        bytes = strcspn(text, " ");
        if (bytes > 0 && !is_word(words, n, text, bytes)) found++;
    }
    assert_int_equal(found, json_array_size(unknown));
    for (size_t i = 0; i < json_array_size(unknown); i++) {
        const char *word = json_string_value(json_array_get(unknown, i));
        assert_false(is_word(words, n, word, strlen(word)));
    }
    mem_free(words);
}

/* The steps of a text sum up to its logarithm, and are what language_next says. */
static void check_steps(Language *l, const char *text, double log_p) {
    double *step, sum = 0;
    int n;
    assert_ok(language_steps(l, text, &step, &n));
    for (int i = 0; i <= n; i++) sum += step[i];
    check_near("sum of steps", text, sum, log_p);
    mem_free(step);
}

static void check_sentences(Language *l, Language *grammatical, const json_t *sentences) {
    size_t i;
    json_t *s;
    json_array_foreach((json_t *)sentences, i, s) {
        const char *text = text_of(s, "text");
        double log_p, expected = number(json_object_get(s, "log_p"));
        assert_ok(language_log_p(l, text, &log_p));
        check_near("log p", text, log_p, expected);
        check_steps(l, text, expected);
        if (json_object_get(s, "unknown")) check_unknown(l, text, json_object_get(s, "unknown"));
        if (!grammatical || !json_object_get(s, "grammatical_log_p")) continue;
        assert_ok(language_log_p(grammatical, text, &log_p));
        check_near("grammatical log p", text, log_p, number(json_object_get(s, "grammatical_log_p")));
    }
}

static void check_next(Language *l, const json_t *all) {
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)all, i, entry) {
        const char *prefix = text_of(entry, "prefix");
        const json_t *p = json_object_get(entry, "p");
        NextList list;
        assert_ok(language_next(l, prefix, &list));
        assert_int_equal(list.count, json_object_size(p));
        for (int k = 0; k < list.count; k++) {
            const json_t *expected = json_object_get(p, list.next[k].token);
            if (!expected) fail_msg("'%s' cannot follow '%s'", list.next[k].token, prefix);
            check_near(list.next[k].token, prefix, list.next[k].p, number(expected));
            bool last = k == list.count - 1;
            if (!last && strcmp(list.next[k + 1].token, "</s>") != 0)
                assert_true(strcmp(list.next[k].token, list.next[k + 1].token) < 0);
        }
        next_list_done(&list);
    }
}

/* The first of those that are likeliest within 1e-9; *tied: how many these are. */
static const NextToken *greedy_choice(const NextList *list, int *tied) {
    double best = 0;
    for (int i = 0; i < list->count; i++) best = fmax(best, list->next[i].p);
    const NextToken *choice = NULL;
    *tied = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->next[i].p < best - 1e-9) continue;
        if (!choice) choice = &list->next[i];
        ++*tied;
    }
    return choice;
}

static void check_greedy(Language *l, const json_t *all) {
    size_t i, k;
    json_t *entry, *step;
    json_array_foreach((json_t *)all, i, entry) {
        Str text;
        str_init(&text);
        str_add(&text, text_of(entry, "prefix"));
        double p = 1;
        json_array_foreach(json_object_get(entry, "steps"), k, step) {
            NextList list;
            int tied;
            assert_ok(language_next(l, text.s, &list));
            const NextToken *choice = greedy_choice(&list, &tied);
            assert_string_equal(choice->token, text_of(step, "token"));
            check_near("greedy p", text.s, choice->p, number(json_object_get(step, "p")));
            assert_int_equal(tied, json_integer_value(json_object_get(step, "tied")));
            p *= choice->p;
            if (strcmp(choice->token, "</s>") != 0) str_addf(&text, " %s", choice->token);
            next_list_done(&list);
        }
        assert_string_equal(text.s, text_of(entry, "text"));
        check_near("p of the continuation", text.s, p, number(json_object_get(entry, "p")));
        str_done(&text);
    }
}

static void check_modes(Language *l, const json_t *all) {
    size_t i, k;
    json_t *entry, *expected;
    json_array_foreach((json_t *)all, i, entry) {
        Str text;
        str_init(&text);
        double log_p;
        assert_ok(language_mode(l, text_of(entry, "subject"), &text, &log_p));
        check_near("log p of the mode", text.s, log_p, number(json_object_get(entry, "log_p")));
        const char *first = NULL;
        json_array_foreach(json_object_get(entry, "texts"), k, expected) {
            const char *t = json_string_value(expected);
            if (!first || strcmp(t, first) < 0) first = t;
        }
        assert_string_equal(text.s, first);
        str_done(&text);
    }
}

static void check_most_probable(Language *l, const json_t *all) {
    Str text;
    str_init(&text);
    double log_p;
    assert_ok(language_mode(l, "", &text, &log_p));
    assert_string_equal(text.s, text_of(json_array_get(all, 0), "text"));
    check_near("log p", text.s, log_p, number(json_object_get(json_array_get(all, 0), "log_p")));
    str_done(&text);
}

static void check_lengths(const LanguageStats *s, const json_t *expected) {
    size_t entries = 0;
    for (int i = 0; i < s->lengths; i++) {
        if (s->length_p[i] <= 0) continue;
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        check_near("length", key, s->length_p[i], number(json_object_get(expected, key)));
        entries++;
    }
    assert_int_equal(entries, json_object_size(expected));
}

static void check_stat(const json_t *stats, const char *key, double got) {
    const json_t *expected = json_object_get(stats, key);
    if (expected) check_near("statistic", key, got, number(expected));
}

static void check_stats(Language *l, const json_t *stats) {
    if (!stats || json_is_null(stats)) return;
    LanguageStats s;
    assert_ok(language_stats(l, &s));
    assert_true(s.finite);
    check_stat(stats, "sentences", s.sentences);
    check_stat(stats, "entropy_per_sentence_nats", s.entropy_per_sentence);
    check_stat(stats, "expected_length", s.expected_length);
    check_stat(stats, "entropy_per_token_nats", s.entropy_per_token);
    check_stat(stats, "perplexity_per_token", s.perplexity);
    check_stat(stats, "mean_of_sentence_means_nats", s.mean_of_sentence_means);
    check_stat(stats, "bigram_entropy_nats", s.bigram_entropy);
    check_stat(stats, "bigram_types", (double)s.bigram_types);
    check_stat(stats, "words", (double)s.words);
    check_lengths(&s, json_object_get(stats, "length_distribution"));
    language_stats_done(&s);
}

/* Everything that ENTRY says about L. */
static void check_all(Language *l, Language *grammatical, const json_t *entry) {
    check_sentences(l, grammatical, json_object_get(entry, "sentences"));
    check_next(l, json_object_get(entry, "next"));
    check_greedy(l, json_object_get(entry, "greedy"));
    check_modes(l, json_object_get(entry, "modes"));
    if (json_object_get(entry, "most_probable")) check_most_probable(l, json_object_get(entry, "most_probable"));
    check_stats(l, json_object_get(entry, "stats"));
}

static void check_variants(const Grammar *g, const json_t *variants) {
    size_t i;
    json_t *variant;
    json_array_foreach((json_t *)variants, i, variant) {
        Language *l = open_language(g, text_of(variant, "start"), json_object_get(variant, "set"));
        check_all(l, NULL, variant);
        language_free(l);
    }
}

/* ---- The grammars ---- */

static const json_t *entry_of(const char *key) {
    if (!reference) skip();
    const json_t *entry = json_object_get(reference, key);
    assert_non_null(entry);
    return entry;
}

static void check_grammar(const char *key, bool grammatical) {
    const json_t *entry = entry_of(key);
    Grammar *g = open_grammar(entry);
    Language *l = open_language(g, NULL, NULL), *other = grammatical ? open_language(g, "grammatical", NULL) : NULL;
    check_all(l, other, entry);
    check_variants(g, json_object_get(entry, "variants"));
    language_free(l);
    language_free(other);
    grammar_free(g);
}

static void test_farm(void **state) {
    (void)state;
    check_grammar("farm", true);
}

static void test_farm_tests(void **state) {
    (void)state;
    check_grammar("farm-tests", false);
}

static void test_morph(void **state) {
    (void)state;
    check_grammar("morph", false);
}

static void test_stories(void **state) {
    (void)state;
    check_grammar("stories", false);
}

static void test_tags(void **state) {
    (void)state;
    check_grammar("tags", false);
}

/* A form is written with + between its parts. */
static void test_heldout(void **state) {
    (void)state;
    const json_t *entry = entry_of("morph"), *heldout = json_object_get(entry, "heldout");
    Grammar *g = open_grammar(entry);
    Language *l = open_language(g, "heldout", NULL);
    size_t i, k;
    json_t *form, *part;
    json_array_foreach((json_t *)heldout, i, form) {
        Str text;
        str_init(&text);
        json_array_foreach(json_object_get(form, "parts"), k, part)
            str_addf(&text, "%s%s", k ? "+" : "", json_string_value(part));
        double log_p;
        assert_ok(language_log_p(l, text.s, &log_p));
        check_near("log p", text.s, log_p, -log((double)json_array_size(heldout)));
        str_done(&text);
    }
    language_free(l);
    grammar_free(g);
}

static void test_tricky(void **state) {
    (void)state;
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)entry_of("tricky"), i, entry) {
        const char *text = text_of(entry, "text");
        Grammar *g;
        assert_ok(grammar_parse(text, strlen(text), &g));
        Language *l = open_language(g, NULL, NULL);
        check_all(l, NULL, entry);
        language_free(l);
        grammar_free(g);
    }
}

static void test_malformed(void **state) {
    (void)state;
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)entry_of("malformed"), i, entry) {
        const char *text = text_of(entry, "text");
        Grammar *g;
        Status s = grammar_parse(text, strlen(text), &g);
        assert_int_equal(s.code, STATUS_USAGE);
        assert_null(g);
        assert_int_equal(grammar_error_line(&s), json_integer_value(json_object_get(entry, "line")));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_farm),    cmocka_unit_test(test_farm_tests), cmocka_unit_test(test_morph),
        cmocka_unit_test(test_stories), cmocka_unit_test(test_tags),       cmocka_unit_test(test_heldout),
        cmocka_unit_test(test_tricky),  cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, open_reference, close_reference);
}
