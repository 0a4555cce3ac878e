/* Exact probabilities, figures, likeliest sentences and samples of a language; the farm's numbers are those of the
 * lectures. */
#include "expect.h"

#include "mem.h"
#include "text/grammar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(got, expected)                                                                                     \
    do {                                                                                                               \
        double got_ = (got), expected_ = (expected);                                                                   \
        if (!(fabs(got_ - expected_) <= 1e-9 * fabs(expected_) + 1e-15))                                               \
            fail_msg("%s is %.17g, not %.17g", #got, got_, expected_);                                                 \
    } while (0)

typedef struct {
    Grammar *grammar;
    Language *language;
} Pair;

static Pair open_text(const char *text, const char *start, const char *set) {
    Pair p;
    assert_ok(grammar_parse(text, strlen(text), &p.grammar));
    assert_ok(language_new(p.grammar, start, set, &p.language));
    return p;
}

static Pair open_asset(const char *name, const char *start, const char *set) {
    if (!getenv("LANTERN_ASSETS")) skip();
    Pair p;
    Str path;
    str_init(&path);
    str_addf(&path, "%s/grammars/%s.grammar", getenv("LANTERN_ASSETS"), name);
    assert_ok(grammar_read(path.s, &p.grammar));
    assert_ok(language_new(p.grammar, start, set, &p.language));
    str_done(&path);
    return p;
}

static void close_pair(Pair *p) {
    language_free(p->language);
    grammar_free(p->grammar);
}

static double log_p_of(Language *l, const char *text) {
    double log_p;
    assert_ok(language_log_p(l, text, &log_p));
    return log_p;
}

/* p(TOKEN | PREFIX), 0 when it cannot follow. */
static double next_of(Language *l, const char *prefix, const char *token) {
    NextList list;
    assert_ok(language_next(l, prefix, &list));
    double p = 0;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.next[i].token, token) == 0) p = list.next[i].p;
    next_list_done(&list);
    return p;
}

/* ---- The farm ---- */

static void what_follows_the_dog(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, NULL);
    assert_near(next_of(farm.language, "the dog", "chases"), .1875);
    assert_near(next_of(farm.language, "the dog", "near"), .55 / 3);
    assert_near(next_of(farm.language, "the dog", "behind"), .55 / 3);
    assert_near(next_of(farm.language, "the dog", "beside"), .55 / 3);
    assert_near(next_of(farm.language, "the dog", "eats"), .1125);
    assert_near(next_of(farm.language, "the dog", "eat"), 0);
    assert_near(next_of(farm.language, "the dog eats bones every day .", "</s>"), 1);
    close_pair(&farm);
}

static void next_tokens_stand_in_byte_order_with_end_last(void **state) {
    (void)state;
    Pair p = open_text("s: {o*2}\no: b | \\~ | B | {} | bb", NULL, NULL);
    static const char *const order[] = {"B", "b", "bb", "~", "</s>"};
    NextList list;
    assert_ok(language_next(p.language, "", &list));
    assert_int_equal(list.count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(list.next[i].token, order[i]);
    assert_near(list.next[4].p, .04);
    next_list_done(&list);
    assert_ok(language_next(p.language, "B B B", &list));
    assert_int_equal(list.count, 0);
    next_list_done(&list);
    close_pair(&p);
}

static void figures_of_the_farm(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, NULL);
    LanguageStats s;
    assert_ok(language_stats(farm.language, &s));
    assert_true(s.finite);
    assert_near(s.sentences, 53535930);
    assert_near(s.entropy_per_sentence, 10.615587444047138);
    assert_near(s.expected_length, 11.608510101010092);
    assert_near(s.entropy_per_token, 0.9144659695065815);
    assert_near(s.perplexity, 2.4954422537476697);
    assert_near(s.mean_of_sentence_means, 0.8790774582969096);
    assert_near(s.bigram_entropy, 1.3308383614069765);
    assert_int_equal(s.bigram_types, 332);
    assert_int_equal(s.words, 53);
    assert_int_equal(s.lengths, 20);
    assert_near(s.length_p[8], 0.16515151515151513);
    assert_near(s.length_p[7], 0);
    language_stats_done(&s);
    close_pair(&farm);
}

static void likeliest_sentence_of_a_subject(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, NULL);
    Str text;
    str_init(&text);
    double log_p;
    assert_ok(language_mode(farm.language, "the dog", &text, &log_p));
    assert_string_equal(text.s, "the dog eats bones every day .");
    assert_near(log_p, -5.922471675621031);
    assert_ok(language_mode(farm.language, "", &text, &log_p));
    assert_string_equal(text.s, "the bat makes noise at night ."); /* before "the bats make ...", as likely */
    assert_near(log_p, -4.916568785057189);
    assert_ok(language_mode(farm.language, "the the", &text, &log_p));
    assert_string_equal(text.s, "");
    assert_true(isinf(log_p) && log_p < 0);
    str_done(&text);
    close_pair(&farm);
}

static void sums_over_derivations(void **state) {
    (void)state;
    Pair farm = open_asset("farm", "grammatical", NULL);
    assert_near(log_p_of(farm.language, "the fox eats berries at night ."), -9.136682734568323);
    close_pair(&farm);
    farm = open_asset("farm", NULL, NULL);
    assert_near(log_p_of(farm.language, "the fox eats berries at night ."), -6.238324625039508);
    assert_true(isinf(log_p_of(farm.language, "the fox eats berries at night")));
    assert_true(isinf(log_p_of(farm.language, "the foxes eats berries at night .")));
    close_pair(&farm);
}

/* Fixing variables replaces draws: also numbers of phrases that the language never has. */
static void set_replaces_every_draw(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, " k = 5 , n=pl");
    assert_true(isinf(log_p_of(farm.language, "the fox eats berries at night .")));
    assert_near(next_of(farm.language, "the", "dogs"), .125);
    assert_near(next_of(farm.language, "the", "dog"), 0);
    LanguageStats s;
    assert_ok(language_stats(farm.language, &s));
    assert_near(s.expected_length, 8.788510101010103 + 15); /* five phrases of three words */
    language_stats_done(&s);
    close_pair(&farm);
    farm = open_asset("farm", "food.dog", NULL);
    assert_near(log_p_of(farm.language, "bones"), log(6. / 7));
    close_pair(&farm);
    farm = open_asset("farm", NULL, "a:dog");
    assert_near(next_of(farm.language, "the", "dog"), .5);
    close_pair(&farm);
    Pair p = open_text("s: {v=x} {w=x} <{$v}> {$w}\nx: a", NULL, "v=, w = x  y ");
    assert_near(log_p_of(p.language, "<> x y"), 0);
    close_pair(&p);
}

static void starts_and_sets_that_are_none(void **state) {
    (void)state;
    Grammar *g;
    Language *l;
    const char *text = "s: {v=x} {$v} {f.$v}\nx: a\nf.$w: b\ng.a: c";
    assert_ok(grammar_parse(text, strlen(text), &g));
    static const struct {
        const char *start, *set, *why;
    } bad[] = {
        {"t", NULL, "no rule 't'"},      {"f", NULL, "no rule 'f' with 0 parts"},
        {"f.$w", NULL, "no start"},      {"g.b", NULL, "no rule fits"},
        {"", NULL, "no start"},          {"{s}", NULL, "no start"},
        {NULL, "w=a", "never sets"},     {NULL, "v", "VARIABLE:TEXT"},
        {NULL, "v=a,x=b", "never sets"}, {NULL, "v=\x01", "control"},
        {NULL, "v=\xff", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Status s = language_new(g, bad[i].start, bad[i].set, &l);
        assert_int_equal(s.code, STATUS_USAGE);
        assert_null(l);
        if (!strstr(s.text, bad[i].why)) fail_msg("%s, not: %s", s.text, bad[i].why);
    }
    grammar_free(g);
}

/* ---- Recursion, errors in use, limits ---- */

static void rules_may_call_themselves(void **state) {
    (void)state;
    Pair p = open_text("list: 3 a | 1 a , {list}", NULL, NULL);
    assert_near(log_p_of(p.language, "a , a , a"), log(3. / 64));
    assert_near(next_of(p.language, "a , a", ","), .25);
    assert_near(next_of(p.language, "a , a", "</s>"), .75);
    LanguageStats s;
    assert_ok(language_stats(p.language, &s));
    assert_false(s.finite);
    language_stats_done(&s);
    const char **words;
    int n;
    assert_ok(language_words(p.language, &words, &n));
    assert_int_equal(n, 2);
    assert_string_equal(words[0], ",");
    mem_free(words);
    Str text;
    str_init(&text);
    double log_p;
    assert_ok(language_mode(p.language, "a ,", &text, &log_p));
    assert_string_equal(text.s, "a , a");
    str_done(&text);
    close_pair(&p);
    p = open_text("s: {s2} | {s2} {s}\ns2: ( {s} ) | 4 x", NULL, NULL);
    assert_near(log_p_of(p.language, "( x ) x"), log(.2 * .5 * .8 * .8 * .25));
    close_pair(&p);
    p = open_text("s: {v=t} {$v} and {$v}\nt: 3 a | 1 a {t}", NULL, NULL); /* values without end, bound late */
    assert_near(log_p_of(p.language, "a a and a a"), log(.1875));
    close_pair(&p);
}

/* Every question about the grammar fails with this sentence. */
static void assert_fails(const char *text, StatusCode code, const char *why) {
    Pair p = open_text(text, NULL, NULL);
    double log_p, *step;
    int n;
    NextList list;
    LanguageStats stats;
    Rng r = rng_at(1, "test", 0);
    Str out;
    str_init(&out);
    Status s[4] = {language_log_p(p.language, "b", &log_p), language_steps(p.language, "b", &step, &n),
                   language_next(p.language, "", &list), language_sample(p.language, &r, &out)};
    for (int i = 0; i < 4; i++)
        if (s[i].code != code || !strstr(s[i].text, why)) fail_msg("%s\n%d: %s", text, i, s[i].text);
    if (code == STATUS_USAGE) assert_int_equal(language_stats(p.language, &stats).code, code);
    str_done(&out);
    close_pair(&p);
}

static void errors_in_use_name_the_call(void **state) {
    (void)state;
    assert_fails("s: {v=x} {f.$v}\nx: old man\nf.b: c", STATUS_USAGE, "{f.old man}");
    assert_fails("s: {v=x} {x*$v}\nx: a", STATUS_USAGE, "{x*...}");
    assert_fails("s: {v=x} {x*$v}\nx: 1001", STATUS_USAGE, "1001");
    assert_fails("s: {v=x} {x*$v}\nx: {}", STATUS_USAGE, "0 to 1000");
    assert_fails("s: b | {s} a", STATUS_USAGE, "{s} calls itself");
    assert_fails("s: b | {e} {t.1} a\nt.$x: c | {u}\nu: {e} {t.1}\ne: {} | d", STATUS_USAGE, "{t.1} calls itself");
    assert_fails("s: {v=s} b | c", STATUS_USAGE, "{s} calls itself");
    assert_fails("s: {t*2} b\nt: {} | {t*2}", STATUS_USAGE, "calls itself");
}

/* A recursion that something stands before is none, and weight 0 is never taken. */
static void what_looks_like_an_error_in_use(void **state) {
    (void)state;
    Pair p = open_text("s: 0 {s} a | b {v=s} | 2 c", NULL, NULL);
    assert_near(log_p_of(p.language, "b"), log(1. / 3));
    close_pair(&p);
    p = open_text("s: {f.a}\nf.a: b | 0 {f.c}", NULL, NULL);
    assert_near(log_p_of(p.language, "b"), 0);
    close_pair(&p);
}

static void assert_ends(Status s) {
    if (s.code != STATUS_OK && s.code != STATUS_FAILED) fail_msg("%s", s.text);
}

static void ask_for_texts(Language *l) {
    Str out;
    str_init(&out);
    Rng r = rng_at(1, "test", 0);
    double log_p;
    assert_ends(language_sample(l, &r, &out));
    assert_ends(language_log_p(l, "a b", &log_p));
    str_done(&out);
}

static void ask_for_figures(Language *l) {
    Str out;
    str_init(&out);
    LanguageStats stats;
    NextList list;
    double log_p;
    assert_ends(language_next(l, "a", &list));
    next_list_done(&list);
    assert_ok(language_stats(l, &stats));
    assert_false(stats.finite);
    language_stats_done(&stats);
    assert_ends(language_mode(l, "", &out, &log_p));
    str_done(&out);
}

static void hostile_grammars_end_with_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool figures;
    } hostile[] = {
        {"s: a {s}", true},                                                          /* never ends */
        {"s: a{s} | b", true},                                                       /* tokens without end */
        {"s: {v=t} {f.$v}\nt: a | a {t}\nf.$x: b", true},                            /* values without end */
        {"s: {f.a}\nf.$x: {y=g.$x} {f.$y}\ng.$x: {$x}a", true},                      /* calls without end */
        {"s: a {f.a}\nf.$x: b {y=g.$x} {f.$y}\ng.$x: {$x}{$x}", true},               /* texts that double */
        {"s: {t*1000}\nt: {u*1000}\nu: {w*1000}\nw: {x*1000}\nx: a", false},         /* 10^12 words */
        {"s: {v=t} {f.$v}\nt: {u*1000}\nu: {w*1000}\nw: a|b\nf.$x: b", false},       /* 2^1000000 values */
        {"s: {a=x}{b=x}{c=x}{d=x}{e=x}{f=x}{g=x}{h=x} {f.$a.$b.$c.$d.$e.$f.$g.$h}\n" /* 10^8 ways */
         "x: 0|1|2|3|4|5|6|7|8|9\nf.$a.$b.$c.$d.$e.$f.$g.$h: {$a}",
         false},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        Pair p = open_text(hostile[i].text, NULL, NULL);
        ask_for_texts(p.language);
        if (hostile[i].figures) ask_for_figures(p.language);
        close_pair(&p);
    }
}

/* A thousand phrases: the probability is far below the smallest double. */
static void long_texts_do_not_underflow(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, "k=1000");
    Str text;
    str_init(&text);
    str_add(&text, "the dog");
    for (int i = 0; i < 1000; i++) str_add(&text, " near the cats");
    assert_near(next_of(farm.language, text.s, "chases"), 5. / 12);
    str_add(&text, " eats bones every day .");
    double base = log(1. / 16 * 3 / 12 * 6 / 7 * 4 / 9), log_p = log_p_of(farm.language, text.s), *step, sum = 0;
    assert_near(log_p, base - 1000 * log(48));
    int n;
    assert_ok(language_steps(farm.language, text.s, &step, &n));
    assert_int_equal(n, 3007);
    for (int i = 0; i <= n; i++) sum += step[i];
    assert_near(sum, log_p);
    mem_free(step);
    assert_ok(language_log_p(farm.language, "the dog near", &log_p));
    assert_true(isinf(log_p));
    str_done(&text);
    close_pair(&farm);
}

/* ---- Steps ---- */

static void steps_end_at_the_first_impossible_token(void **state) {
    (void)state;
    Pair p = open_text("s: a b c | a b | 2 a bb", NULL, NULL);
    double *step;
    int n;
    assert_ok(language_steps(p.language, "a b", &step, &n));
    assert_int_equal(n, 2);
    assert_near(step[0], 0);
    assert_near(step[1], log(.5));
    assert_near(step[2], log(.5));
    mem_free(step);
    assert_ok(language_steps(p.language, "a x c", &step, &n));
    assert_int_equal(n, 3);
    assert_near(step[0], 0);
    for (int i = 1; i <= 3; i++) assert_true(isinf(step[i]));
    mem_free(step);
    assert_ok(language_steps(p.language, "", &step, &n));
    assert_int_equal(n, 0);
    assert_true(isinf(step[0]));
    mem_free(step);
    close_pair(&p);
}

/* ---- Figures of languages that are not plain ---- */

static void figures_of_an_ambiguous_language(void **state) {
    (void)state;
    Pair p = open_text("s: a {x} | {y} b\nx: b | c\ny: a | a", NULL, NULL); /* a b: .25 + .5, a c: .25 */
    LanguageStats s;
    assert_ok(language_stats(p.language, &s));
    assert_true(s.finite);
    assert_near(s.sentences, 2);
    assert_near(s.entropy_per_sentence, -.75 * log(.75) - .25 * log(.25));
    assert_int_equal(s.bigram_types, 5);
    language_stats_done(&s);
    close_pair(&p);
}

/* A name that is only written is kept anonymous; where it meets another token, it is not. */
static void figures_with_variables_that_are_only_written(void **state) {
    (void)state;
    Str text;
    str_init(&text);
    str_add(&text, "s: {x=name} {y=name} {$x} met {$y} . {opt} {$x} left\nopt: {} | n7\nname: n0");
    for (int i = 1; i < 1000; i++) str_addf(&text, " | n%d", i);
    Pair p = open_text(text.s, NULL, NULL);
    LanguageStats s;
    assert_ok(language_stats(p.language, &s));
    assert_true(s.finite);
    assert_near(s.sentences, 1000. * 1000 * 2);
    assert_near(s.entropy_per_sentence, 2 * log(1000) + log(2));
    assert_near(s.expected_length, 7.5);
    assert_int_equal(s.words, 1003);
    language_stats_done(&s);
    close_pair(&p);
    str_done(&text);
}

static void stories_are_summed_without_their_names(void **state) {
    (void)state;
    Pair p = open_asset("stories", NULL, NULL);
    LanguageStats s;
    assert_ok(language_stats(p.language, &s));
    assert_true(s.finite);
    assert_near(s.sentences, 1382659891200000);
    assert_near(s.entropy_per_sentence, 33.68419542164981);
    assert_near(s.mean_of_sentence_means, 0.6447987222154141);
    language_stats_done(&s);
    close_pair(&p);
}

/* ---- Sampling ---- */

static void samples_follow_the_seed(void **state) {
    (void)state;
    Pair farm = open_asset("farm", NULL, NULL);
    Language *copy = language_copy(farm.language);
    Str a, b;
    str_init(&a);
    str_init(&b);
    int different = 0;
    for (uint64_t i = 0; i < 50; i++) {
        Rng r = rng_at(7, "test", i), same = rng_at(7, "test", i), other = rng_at(8, "test", i);
        str_clear(&a);
        str_clear(&b);
        assert_ok(language_sample(farm.language, &r, &a));
        assert_ok(language_sample(copy, &same, &b));
        assert_string_equal(a.s, b.s);
        assert_true(isfinite(log_p_of(farm.language, a.s)));
        str_clear(&b);
        assert_ok(language_sample(copy, &other, &b));
        different += strcmp(a.s, b.s) != 0;
    }
    assert_true(different > 45);
    str_done(&a);
    str_done(&b);
    language_free(copy);
    close_pair(&farm);
}

enum { DRAWS = 20000, KINDS = 64 };

/* Draws sentences and compares how often each came with its exact probability: chi squared. */
static double chi_squared(Language *l, int *kinds) {
    char *seen[KINDS];
    double count[KINDS] = {0}, sum = 0, p_seen = 0;
    *kinds = 0;
    Str text;
    str_init(&text);
    for (uint64_t i = 0; i < DRAWS; i++) {
        Rng r = rng_at(3, "test", i);
        str_clear(&text);
        assert_ok(language_sample(l, &r, &text));
        int k = 0;
        while (k < *kinds && strcmp(seen[k], text.s) != 0) k++;
        if (k == *kinds) {
            assert_true(*kinds < KINDS);
            seen[(*kinds)++] = mem_text(text.s);
        }
        count[k]++;
    }
    for (int k = 0; k < *kinds; k++) {
        double p = exp(log_p_of(l, seen[k]));
        p_seen += p;
        sum += (count[k] - p * DRAWS) * (count[k] - p * DRAWS) / (p * DRAWS);
        mem_free(seen[k]);
    }
    assert_near(p_seen, 1);
    str_done(&text);
    return sum;
}

/* Beyond mean + 5 standard deviations of chi squared the draws are wrong. */
static void assert_fair(Pair p, int expected) {
    int kinds;
    double x = chi_squared(p.language, &kinds);
    assert_int_equal(kinds, expected);
    if (x > kinds - 1 + 5 * sqrt(2. * (kinds - 1))) fail_msg("chi squared %g with %d kinds", x, kinds);
    close_pair(&p);
}

static void samples_have_their_frequencies(void **state) {
    (void)state;
    assert_fair(open_text("s: {v=x} {y} {$v}{o} {y*2} | 0 never | .5 {k=n} {y*$k}\n"
                          "x: 2 a | b c\ny: d | {}\no: {} | {z} {}\nz: z\nn: 0 | 3",
                          NULL, NULL),
                28);
    assert_fair(open_asset("farm", "food.cow", NULL), 3);
    assert_fair(open_asset("farm", "act.cat", NULL), 4);
    assert_fair(open_asset("farm", "pp", "b=fox,m=pl"), 3);
    assert_fair(open_asset("farm", "pp", NULL), 48);
}

/* ---- Order of questions ---- */

static void answers_do_not_depend_on_what_was_asked_before(void **state) {
    (void)state;
    static const char *const text[] = {"the dogs near the cow eat meat every day .", "the fox eats eggs at night .",
                                       "the owl chases the bats in the barn ."};
    Pair farm = open_asset("farm", NULL, NULL);
    Language *other = language_copy(farm.language);
    double forth[3];
    LanguageStats a, b;
    assert_ok(language_stats(farm.language, &a));
    for (int i = 0; i < 3; i++) forth[i] = log_p_of(farm.language, text[i]);
    for (int i = 2; i >= 0; i--) {
        double back = log_p_of(other, text[i]);
        assert_memory_equal(&back, &forth[i], sizeof back);
        assert_near(next_of(other, "the dog", "chases"), .1875);
    }
    assert_ok(language_stats(other, &b));
    assert_memory_equal(&a.entropy_per_sentence, &b.entropy_per_sentence, sizeof a.entropy_per_sentence);
    assert_memory_equal(&a.bigram_entropy, &b.bigram_entropy, sizeof a.bigram_entropy);
    language_stats_done(&a);
    language_stats_done(&b);
    language_free(other);
    close_pair(&farm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_the_dog),
        cmocka_unit_test(next_tokens_stand_in_byte_order_with_end_last),
        cmocka_unit_test(figures_of_the_farm),
        cmocka_unit_test(likeliest_sentence_of_a_subject),
        cmocka_unit_test(sums_over_derivations),
        cmocka_unit_test(set_replaces_every_draw),
        cmocka_unit_test(starts_and_sets_that_are_none),
        cmocka_unit_test(rules_may_call_themselves),
        cmocka_unit_test(errors_in_use_name_the_call),
        cmocka_unit_test(what_looks_like_an_error_in_use),
        cmocka_unit_test(hostile_grammars_end_with_a_sentence),
        cmocka_unit_test(long_texts_do_not_underflow),
        cmocka_unit_test(steps_end_at_the_first_impossible_token),
        cmocka_unit_test(figures_of_an_ambiguous_language),
        cmocka_unit_test(figures_with_variables_that_are_only_written),
        cmocka_unit_test(stories_are_summed_without_their_names),
        cmocka_unit_test(samples_follow_the_seed),
        cmocka_unit_test(samples_have_their_frequencies),
        cmocka_unit_test(answers_do_not_depend_on_what_was_asked_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
