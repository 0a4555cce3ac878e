/* grammar.stats: entropy, floor, lengths and likeliest sentences of a language
 * (lecture 3, 0.5). */
#include "experiment.h"
#include "intl.h"
#include "languages.h"

#include <math.h>
#include <string.h>

static const Column stats_columns[] = {
    {"quantity", COLUMN_TEXT, ""}, {"value", COLUMN_DOUBLE, ""}, {"unit", COLUMN_TEXT, ""}, {0}};
static const Column length_columns[] = {{"length", COLUMN_INT, "predictions"}, {"p", COLUMN_DOUBLE, ""}, {0}};
static const Column mode_columns[] = {
    {"subject", COLUMN_TEXT, ""}, {"text", COLUMN_TEXT, ""}, {"log_p", COLUMN_DOUBLE, "nats"}, {0}};

static void add_stat(Table *t, const char *quantity, double value, const char *unit) {
    table_add_text(t, quantity);
    table_add_known(t, value);
    table_add_text(t, unit);
}

static void add_stats(Study *s, const LanguageStats *stats) {
    Table *t = study_table(s, "stats");
    add_stat(t, "entropy_per_token", stats->entropy_per_token, "nats");
    add_stat(t, "perplexity", stats->perplexity, "");
    add_stat(t, "mean_of_sentence_means", stats->mean_of_sentence_means, "nats");
    add_stat(t, "bigram_entropy", stats->bigram_entropy, "nats");
    add_stat(t, "expected_length", stats->expected_length, "predictions");
    add_stat(t, "words", (double)stats->words, "words");
    t = study_table(s, "lengths");
    for (int i = 0; i < stats->lengths; i++) {
        if (stats->length_p[i] == 0) continue;
        table_add_int(t, i);
        table_add_real(t, stats->length_p[i]);
    }
}

/* Goes on with tokens as long as there is only one that can come. */
static Status follow_to_choice(Language *l, Str *prefix, NextList *list) {
    for (;;) {
        STATUS_TRY(language_next(l, prefix->s, list));
        if (list->count != 1 || strcmp(list->next[0].token, LANGUAGES_END) == 0) return status_ok();
        str_addf(prefix, "%s%s", prefix->len ? " " : "", list->next[0].token);
        next_list_done(list);
    }
}

static Status add_mode(Table *t, Language *l, const char *subject) {
    double log_p;
    Str text;
    str_init(&text);
    Status s = language_mode(l, subject, &text, &log_p);
    if (status_is_ok(&s)) {
        table_add_text(t, subject);
        table_add_text(t, text.s);
        table_add_real(t, log_p);
    }
    str_done(&text);
    return s;
}

/* The subject of a sentence: its tokens up to the first that could have been another. */
static Status add_modes(Study *s, Language *l) {
    Str prefix, subject;
    str_init(&prefix);
    str_init(&subject);
    NextList list = {0};
    Status status = follow_to_choice(l, &prefix, &list);
    for (int i = 0; status_is_ok(&status) && i < list.count; i++) {
        if (strcmp(list.next[i].token, LANGUAGES_END) == 0) continue;
        str_clear(&subject);
        str_addf(&subject, "%s%s%s", prefix.s, prefix.len ? " " : "", list.next[i].token);
        status = add_mode(study_table(s, "modes"), l, subject.s);
        if (status_is_ok(&status) &&
            !study_progress(s, (double)(i + 1) / (double)list.count, _("likeliest sentence: %s"), subject.s))
            status = status_cancelled();
    }
    next_list_done(&list);
    str_done(&prefix);
    str_done(&subject);
    return status;
}

static Status measure(Study *s, Language *l) {
    LanguageStats stats;
    STATUS_TRY(language_stats(l, &stats));
    bool finite = stats.finite;
    if (finite) add_stats(s, &stats);
    language_stats_done(&stats);
    if (!finite)
        return status_failed(_("this language has infinitely many sentences, or "
                               "too many to add up: no figures"));
    if (!study_progress(s, -1, _("likeliest sentences"))) return status_cancelled();
    return add_modes(s, l);
}

static Status run_stats(Study *s) {
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(study_options(s), &g, &l));
    Status status = measure(s, l);
    languages_close(g, l);
    languages_conventions(s);
    study_about(s, "length", "a sentence of n tokens has n + 1 predictions: every token and END");
    study_about(s, "entropy_per_token",
                "entropy of a sentence / expected length; perplexity is its "
                "exponential: the floor of any model");
    study_about(s, "subject", "the tokens of a sentence up to the first that could have been another");
    study_about(s, "ties", "of equally likely sentences the first in byte order");
    return status;
}

const Experiment experiment_grammar_stats = {
    .entry = {.id = "grammar.stats",
              .section = "L3 0.5",
              .title = N_("entropy, perplexity floor and likeliest sentences of a language"),
              .see = N_("No model can have a lower perplexity than the language "
                        "itself: 2.4954 on the farm."),
              .options = (const Option *const[]){languages_option_rows, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"stats", stats_columns}, {"lengths", length_columns}, {"modes", mode_columns}, {0}},
              .figure = {FIGURE_BARS, "lengths", "length", "p", NULL}},
    .check = languages_check,
    .run = run_stats,
};
