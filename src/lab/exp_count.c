/* lm.count: maximum likelihood of an n-gram is counting: what came after a context, and how often (lecture 3, 2.2). */
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "languages.h"
#include "mem.h"
#include "text/texts.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_START "<s>"

static const Option count_options[] = {
    {"context", OPTION_TEXT, "cows eat", 0, 0, NULL, "",
     N_("the words before, anywhere in a sentence; <s> in front: at its beginning; empty: every token")},
    {0},
};

static const Column next_columns[] = {
    {"token", COLUMN_TEXT, ""}, {"count", COLUMN_INT, ""}, {"p", COLUMN_DOUBLE, ""}, {0}};

static Status check(const Options *o) {
    return corpora_check(options_text(o, "corpus"));
}

typedef struct {
    CorporaWord *context; /* [words] */
    int words;
    Texts tokens;
    long long *count; /* [capacity] by the number of a token in TOKENS */
    int capacity;
    long long total;
} Count;

static void split_context(Count *c, const char *s) {
    int capacity = 0;
    for (s += strspn(s, " \t"); *s; s += strspn(s, " \t")) {
        MEM_GROW(c->context, c->words, capacity);
        c->context[c->words] = (CorporaWord){s, strcspn(s, " \t")};
        s += c->context[c->words++].bytes;
    }
}

static void add(Count *c, CorporaWord token) {
    int number = texts_add(&c->tokens, token.s, token.bytes), before = c->capacity;
    while (number >= c->capacity) c->capacity = c->capacity ? 2 * c->capacity : 64;
    if (c->capacity > before) {
        c->count = mem_resize(c->count, (size_t)c->capacity, sizeof *c->count);
        memset(c->count + before, 0, (size_t)(c->capacity - before) * sizeof *c->count);
    }
    c->count[number]++;
    c->total++;
}

/* Token I of <s> w[0] .. w[words-1] </s>. */
static CorporaWord token_at(const CorporaWord *word, int words, int i) {
    if (i == 0) return (CorporaWord){COUNT_START, strlen(COUNT_START)};
    return i <= words ? word[i - 1] : (CorporaWord){LANGUAGES_END, strlen(LANGUAGES_END)};
}

static Status take(void *user, const CorporaWord *word, int words) {
    Count *c = user;
    for (int i = c->words > 0 ? c->words : 1; i <= words + 1; i++) {
        bool same = true;
        for (int k = 0; k < c->words && same; k++) {
            CorporaWord token = token_at(word, words, i - c->words + k);
            same = token.bytes == c->context[k].bytes && memcmp(token.s, c->context[k].s, token.bytes) == 0;
        }
        if (same) add(c, token_at(word, words, i));
    }
    return status_ok();
}

typedef struct {
    const char *token;
    long long count;
} Row;

static int by_count(const void *a, const void *b) {
    const Row *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    int end = (strcmp(x->token, LANGUAGES_END) == 0) - (strcmp(y->token, LANGUAGES_END) == 0);
    return end ? end : strcmp(x->token, y->token);
}

static void add_rows(Table *t, const Count *c) {
    Row *row = MEM_ARRAY(Row, (size_t)c->tokens.count);
    for (int i = 1; i < c->tokens.count; i++) row[i - 1] = (Row){texts_bytes(&c->tokens, i), c->count[i]};
    qsort(row, (size_t)(c->tokens.count - 1), sizeof *row, by_count);
    for (int i = 0; i < c->tokens.count - 1; i++) {
        table_add_text(t, row[i].token);
        table_add_int(t, row[i].count);
        table_add_real(t, (double)row[i].count / (double)c->total);
    }
    mem_free(row);
}

static Status run(Study *s) {
    Count c = {0};
    texts_init(&c.tokens);
    split_context(&c, options_text(study_options(s), "context"));
    Status status = corpora_each(s, CORPORA_TRAIN, 1, take, &c);
    if (status_is_ok(&status)) add_rows(study_table(s, "next"), &c);
    study_about(s, "context_count", "%lld", c.total);
    study_about(s, "p_rule", "count / context_count: the maximum-likelihood estimate of an n-gram");
    study_about(s, "next_rows", "falling count, then byte order, %s last; a context that never occurs has none",
                LANGUAGES_END);
    mem_free(c.context);
    mem_free(c.count);
    texts_done(&c.tokens);
    return status;
}

const Experiment experiment_lm_count = {
    .entry = {.id = "lm.count",
              .section = "L3 2.2",
              .title = N_("what came after a context, counted: the maximum likelihood of an n-gram"),
              .see =
                  N_("The likelihood of the corpus is largest where every probability is a share of the counts. What "
                     "was never seen gets none."),
              .options = (const Option *const[]){count_options, corpora_option_rows, corpora_sentences_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"next", next_columns}, {0}},
              .figure = {FIGURE_BARS, "next", "token", "p", NULL}},
    .check = check,
    .run = run,
};
