/* Any bytes as a grammar: they are refused with a sentence, or every question about the language is answered or refused
 * with one, within limits; what is sampled is possible, and what may come next sums to 1. */
#include "fuzz.h"

#include "bug.h"
#include "mem.h"
#include "text/grammar.h"

#include <math.h>
#include <string.h>

enum { FUZZ_STEPS = 200000, FUZZ_TEXT = 2000 };

/* A sum over a grammar whose recursion may never end is not 1, so what is checked is only that it is a number. */
static void fuzz_next(Language *l, const char *prefix) {
    NextList list;
    Status s = language_next(l, prefix, &list);
    if (!status_is_ok(&s)) return;
    double sum = 0;
    for (int i = 0; i < list.count; i++) {
        BUG_ON(!(list.next[i].p >= 0));
        sum += list.next[i].p;
    }
    BUG_ON(list.count > 0 && !(fabs(sum - 1) < 1e-6));
    next_list_done(&list);
}

static void fuzz_score(Language *l, const char *text) {
    double log_p, *step;
    int n;
    Status s = language_log_p(l, text, &log_p);
    if (!status_is_ok(&s)) return;
    BUG_ON(log_p > 1e-6 || isnan(log_p));
    s = language_steps(l, text, &step, &n);
    if (status_is_ok(&s)) BUG_ON(isnan(step[n]));
    mem_free(step);
}

static void fuzz_sample(Language *l) {
    Str text;
    str_init(&text);
    for (uint64_t i = 0; i < 3; i++) {
        Rng r = rng_at(1, "fuzz", i);
        str_clear(&text);
        Status s = language_sample(l, &r, &text);
        if (!status_is_ok(&s) || text.len > FUZZ_TEXT) continue;
        double log_p;
        s = language_log_p(l, text.s, &log_p);
        if (status_is_ok(&s)) BUG_ON(isinf(log_p));
        fuzz_score(l, text.s);
        text.s[text.len / 2] = '\0';
        fuzz_next(l, text.s);
    }
    str_done(&text);
}

static void fuzz_figures(Language *l) {
    LanguageStats stats;
    Status s = language_stats(l, &stats);
    if (status_is_ok(&s) && stats.finite)
        BUG_ON(!(fabs(stats.expected_length) < 1e7) || isnan(stats.entropy_per_token));
    language_stats_done(&stats);
    Str text;
    str_init(&text);
    double log_p;
    s = language_mode(l, "", &text, &log_p);
    if (status_is_ok(&s)) BUG_ON(log_p > 1e-6);
    str_done(&text);
    const char **words;
    int n;
    s = language_words(l, &words, &n);
    if (status_is_ok(&s)) BUG_ON(n < 0);
    mem_free(words);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    Grammar *g;
    Status s = grammar_parse((const char *)data, bytes, &g);
    if (!status_is_ok(&s)) {
        BUG_ON(s.text[0] == '\0' || grammar_error_line(&s) == 0);
        return 0;
    }
    Language *l;
    s = language_new(g, NULL, NULL, &l);
    if (status_is_ok(&s)) {
        language_limit(l, FUZZ_STEPS);
        fuzz_sample(l);
        fuzz_score(l, "a b");
        fuzz_next(l, "");
        fuzz_figures(l);
        language_free(l);
    }
    grammar_free(g);
    return 0;
}
