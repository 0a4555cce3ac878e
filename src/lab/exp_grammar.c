/* grammar.*: a language whose exact probabilities are known: sentences, scores, next words, figures (lecture 3, 0.5).
 */
#include "experiment.h"
#include "intl.h"
#include "languages.h"
#include "lines.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAMMAR_END "</s>"

static void close_language(Grammar *g, Language *l) {
    language_free(l);
    grammar_free(g);
}

static void add_conventions(Study *s) {
    study_about(s, "probability", "exact: the sum over all derivations, END included");
    study_about(s, "logarithms", "natural (nats)");
}

/* The grammar can be read and has what start= and set= name. */
static Status check(const Options *o) {
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(o, &g, &l));
    close_language(g, l);
    return status_ok();
}

/* ---- grammar.sample ---- */

static const Option sample_options[] = {
    {"n", OPTION_INT, "10", 1, 10000000, NULL, "", N_("sentences to draw")},
    {0},
};
static const Column sample_columns[] = {
    {"sentence", COLUMN_INT, ""}, {"log_p", COLUMN_DOUBLE, "nats"}, {"text", COLUMN_TEXT, ""}, {0}};

static Status add_sample(Study *s, Language *l, long i, Str *text) {
    Rng rng = rng_at(study_seed(s), "grammar.sample", (uint64_t)i);
    double log_p;
    str_clear(text);
    STATUS_TRY(language_sample(l, &rng, text));
    STATUS_TRY(language_log_p(l, text->s, &log_p));
    Table *t = study_table(s, "sentences");
    table_add_int(t, i);
    table_add_real(t, log_p);
    table_add_text(t, text->s);
    return status_ok();
}

static Status run_sample(Study *s) {
    const Options *o = study_options(s);
    long n = (long)options_int(o, "n");
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(o, &g, &l));
    Str text;
    str_init(&text);
    Status status = status_ok();
    for (long i = 0; status_is_ok(&status) && i < n; i++) {
        status = add_sample(s, l, i, &text);
        if (status_is_ok(&status) &&
            !study_progress(s, (double)(i + 1) / (double)n, _("sentence %ld of %ld"), i + 1, n))
            status = status_cancelled();
    }
    str_done(&text);
    close_language(g, l);
    add_conventions(s);
    return status;
}

const Experiment experiment_grammar_sample = {
    .entry = {.id = "grammar.sample",
              .section = "L3 0.5",
              .title = N_("sentences of a language, each with its exact probability"),
              .see = N_("Every sentence carries its exact log-probability: a model can be held against the truth."),
              .options =
                  (const Option *const[]){sample_options, languages_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"sentences", sample_columns}, {0}}},
    .check = check,
    .run = run_sample,
};

/* ---- grammar.score ---- */

static const Option score_options[] = {
    {"text", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("one sentence")},
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("a sentence a line, - for standard input")},
    {0},
};
static const Column score_columns[] = {{"sentence", COLUMN_INT, ""},     {"tokens", COLUMN_INT, ""},
                                       {"log_p", COLUMN_DOUBLE, "nats"}, {"unknown", COLUMN_TEXT, ""},
                                       {"text", COLUMN_TEXT, ""},        {0}};
static const Column step_columns[] = {{"sentence", COLUMN_INT, ""},     {"position", COLUMN_INT, ""},
                                      {"token", COLUMN_TEXT, ""},       {"p", COLUMN_DOUBLE, ""},
                                      {"log_p", COLUMN_DOUBLE, "nats"}, {0}};

static Status check_score(const Options *o) {
    if (options_is_set(o, "text") == options_is_set(o, "file"))
        return status_usage(_("give the sentences as text=SENTENCE or as file=FILE (- for standard input)"));
    return check(o);
}

/* The next token of a text at *S, which moves behind it; its bytes, 0 at the end. */
static size_t next_token(const char **s, const char **token) {
    const char *at = *s;
    while (*at == ' ' || *at == '\t') at++;
    size_t n = strcspn(at, " \t");
    *token = at;
    *s = at + n;
    return n;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of TEXT that no sentence of the language has, each once, with blanks between. */
static Status find_unknown(Language *l, const char *text, Str *unknown) {
    const char **words;
    int n;
    STATUS_TRY(language_words(l, &words, &n));
    const char *token;
    for (size_t bytes; (bytes = next_token(&text, &token)) > 0;) {
        char *word = mem_text_n(token, bytes);
        const char *key = word;
        bool known = bsearch(&key, words, (size_t)n, sizeof *words, by_bytes) != NULL;
        if (!known) str_addf(unknown, "%s%s", unknown->len ? " " : "", word);
        mem_free(word);
    }
    mem_free(words);
    return status_ok();
}

static void add_step(Table *t, long sentence, int position, const char *token, size_t bytes, double log_p) {
    table_add_int(t, sentence);
    table_add_int(t, position);
    table_add_text_n(t, token, bytes);
    table_add_real(t, exp(log_p));
    table_add_real(t, log_p);
}

/* Position 0 is the start of the sentence, so the first token stands at 1. */
static Status add_steps(Table *t, Language *l, long sentence, const char *text, int *n) {
    double *log_p;
    STATUS_TRY(language_steps(l, text, &log_p, n));
    const char *token;
    for (int i = 0; i < *n; i++) {
        size_t bytes = next_token(&text, &token);
        add_step(t, sentence, i + 1, token, bytes, log_p[i]);
    }
    add_step(t, sentence, *n + 1, GRAMMAR_END, strlen(GRAMMAR_END), log_p[*n]);
    mem_free(log_p);
    return status_ok();
}

static Status score_line(Study *s, Language *l, long sentence, const char *text, Str *unknown) {
    double log_p;
    int tokens;
    str_clear(unknown);
    STATUS_TRY(language_log_p(l, text, &log_p));
    STATUS_TRY(add_steps(study_table(s, "steps"), l, sentence, text, &tokens));
    if (isinf(log_p)) STATUS_TRY(find_unknown(l, text, unknown));
    Table *t = study_table(s, "score");
    table_add_int(t, sentence);
    table_add_int(t, tokens);
    table_add_real(t, log_p);
    if (unknown->len) {
        table_add_text(t, unknown->s);
    } else {
        table_add_empty(t);
    }
    table_add_text(t, text);
    return status_ok();
}

static Status score_lines(Study *s, Language *l, char *const *line, long n) {
    Str unknown;
    str_init(&unknown);
    Status status = status_ok();
    for (long i = 0; status_is_ok(&status) && i < n; i++) {
        status = score_line(s, l, i, line[i], &unknown);
        if (status_is_ok(&status) &&
            !study_progress(s, (double)(i + 1) / (double)n, _("sentence %ld of %ld"), i + 1, n))
            status = status_cancelled();
    }
    str_done(&unknown);
    return status;
}

static Status run_score(Study *s) {
    const Options *o = study_options(s);
    Lines lines = {0};
    if (options_is_set(o, "file")) STATUS_TRY(lines_read(options_text(o, "file"), &lines));
    char *text = mem_text(options_text(o, "text"));
    Grammar *g;
    Language *l;
    Status status = languages_open(o, &g, &l);
    if (status_is_ok(&status)) {
        status = text ? score_lines(s, l, &text, 1) : score_lines(s, l, lines.line, lines.count);
        close_language(g, l);
    }
    mem_free(text);
    lines_done(&lines);
    add_conventions(s);
    study_about(s, "tokens", "what blanks separate, END not counted");
    study_about(s, "position_rule", "0 is the start of the sentence, the first token stands at 1, END is %s",
                GRAMMAR_END);
    return status;
}

const Experiment experiment_grammar_score = {
    .entry = {.id = "grammar.score",
              .section = "L3 0.5",
              .title = N_("the exact probability of sentences, token by token"),
              .see = N_("The logarithms of the steps add up to that of the sentence. What the language cannot say has "
                        "probability 0: -inf."),
              .options = (const Option *const[]){score_options, languages_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"score", score_columns}, {"steps", step_columns}, {0}}},
    .check = check_score,
    .run = run_score,
};

/* ---- grammar.next ---- */

static const Option next_options[] = {
    {"prefix", OPTION_TEXT, "the dog", 0, 0, NULL, "", N_("how the sentence begins")},
    {0},
};
static const Column next_columns[] = {{"token", COLUMN_TEXT, ""}, {"p", COLUMN_DOUBLE, ""}, {0}};

/* Falling probability, differences below 1e-9 being rounding; of equals as they came: byte order, END last. */
static int by_falling_p(const void *a, const void *b) {
    const NextToken *x = *(const NextToken *const *)a, *y = *(const NextToken *const *)b;
    double px = round(x->p * 1e9), py = round(y->p * 1e9);
    if (px != py) return px > py ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void add_next(Table *t, const NextList *list) {
    const NextToken **order = MEM_ARRAY(const NextToken *, (size_t)list->count + 1);
    for (int i = 0; i < list->count; i++) order[i] = &list->next[i];
    qsort(order, (size_t)list->count, sizeof *order, by_falling_p);
    for (int i = 0; i < list->count; i++) {
        table_add_text(t, order[i]->token);
        table_add_real(t, order[i]->p);
    }
    mem_free(order);
}

static Status run_next(Study *s) {
    const Options *o = study_options(s);
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(o, &g, &l));
    NextList list;
    Status status = language_next(l, options_text(o, "prefix"), &list);
    if (status_is_ok(&status)) {
        add_next(study_table(s, "next"), &list);
        next_list_done(&list);
    }
    close_language(g, l);
    add_conventions(s);
    study_about(s, "next_rows", "falling probability, then byte order; END is %s; an impossible prefix has no rows",
                GRAMMAR_END);
    return status;
}

const Experiment experiment_grammar_next = {
    .entry = {.id = "grammar.next",
              .section = "L3 6.2",
              .title = N_("the true distribution of the next word"),
              .see = N_(
                  "After \"the dog\" the likeliest word is chases, though the likeliest sentence goes on with eats."),
              .options = (const Option *const[]){next_options, languages_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"next", next_columns}, {0}},
              .figure = {FIGURE_BARS, "next", "token", "p", NULL}},
    .check = check,
    .run = run_next,
};

/* ---- grammar.stats ---- */

static const Column stats_columns[] = {
    {"quantity", COLUMN_TEXT, ""}, {"value", COLUMN_DOUBLE, ""}, {"unit", COLUMN_TEXT, ""}, {0}};
static const Column length_columns[] = {{"length", COLUMN_INT, "predictions"}, {"p", COLUMN_DOUBLE, ""}, {0}};
static const Column mode_columns[] = {
    {"subject", COLUMN_TEXT, ""}, {"text", COLUMN_TEXT, ""}, {"log_p", COLUMN_DOUBLE, "nats"}, {0}};

static void add_stat(Table *t, const char *quantity, double value, const char *unit) {
    table_add_text(t, quantity);
    if (isnan(value)) {
        table_add_empty(t);
    } else {
        table_add_real(t, value);
    }
    table_add_text(t, unit);
}

static void add_stats(Study *s, const LanguageStats *stats) {
    Table *t = study_table(s, "stats");
    add_stat(t, "entropy_per_token", stats->entropy_per_token, "nats");
    add_stat(t, "perplexity", stats->perplexity, "tokens");
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
        if (list->count != 1 || strcmp(list->next[0].token, GRAMMAR_END) == 0) return status_ok();
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
        if (strcmp(list.next[i].token, GRAMMAR_END) == 0) continue;
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
        return status_failed(_("this language has infinitely many sentences, or too many to add up: no figures"));
    if (!study_progress(s, -1, _("likeliest sentences"))) return status_cancelled();
    return add_modes(s, l);
}

static Status run_stats(Study *s) {
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(study_options(s), &g, &l));
    Status status = measure(s, l);
    close_language(g, l);
    add_conventions(s);
    study_about(s, "length", "a sentence of n tokens has n + 1 predictions: every token and END");
    study_about(s, "entropy_per_token",
                "entropy of a sentence / expected length; perplexity is its exponential: the floor of any model");
    study_about(s, "subject", "the tokens of a sentence up to the first that could have been another");
    study_about(s, "ties", "of equally likely sentences the first in byte order");
    return status;
}

const Experiment experiment_grammar_stats = {
    .entry = {.id = "grammar.stats",
              .section = "L3 0.5",
              .title = N_("entropy, perplexity floor and likeliest sentences of a language"),
              .see = N_("No model can have a lower perplexity than the language itself: 2.4954 on the farm."),
              .options = (const Option *const[]){languages_option_rows, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"stats", stats_columns}, {"lengths", length_columns}, {"modes", mode_columns}, {0}},
              .figure = {FIGURE_BARS, "lengths", "length", "p", NULL}},
    .check = check,
    .run = run_stats,
};
