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
    languages_close(g, l);
    languages_conventions(s);
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
    .check = languages_check,
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
    return languages_check(o);
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
    add_step(t, sentence, *n + 1, LANGUAGES_END, strlen(LANGUAGES_END), log_p[*n]);
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
        languages_close(g, l);
    }
    mem_free(text);
    lines_done(&lines);
    languages_conventions(s);
    study_about(s, "tokens", "what blanks separate, END not counted");
    study_about(s, "position_rule", "0 is the start of the sentence, the first token stands at 1, END is %s",
                LANGUAGES_END);
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

static Status say_impossible(Study *s, Language *l, const char *prefix) {
    Str unknown;
    str_init(&unknown);
    Status status = find_unknown(l, prefix, &unknown);
    if (unknown.len)
        study_warn(s, _("the language has no such words: %s"), unknown.s);
    else
        study_warn(s, _("no sentence of the language begins with \"%s\""), prefix);
    str_done(&unknown);
    return status;
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
        if (list.count == 0) status = say_impossible(s, l, options_text(o, "prefix"));
        next_list_done(&list);
    }
    languages_close(g, l);
    languages_conventions(s);
    study_about(s, "next_rows", "falling probability, then byte order; END is %s; an impossible prefix has no rows",
                LANGUAGES_END);
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
    .check = languages_check,
    .run = run_next,
};
