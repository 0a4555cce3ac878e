/* bpe.train, bpe.tradeoff: which pairs byte-pair encoding merges, and what more merges buy (lecture 3, 5.3). */
#include "bpe_tables.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"

/* ---- bpe.train ---- */

static const Option train_options[] = {
    {"merges", OPTION_INT, "400", 0, BPE_MOST_MERGES, NULL, "", N_("how many to learn; fewer when no pair is left")},
    {0},
};

static Status learn(Study *s, BpeTrainer *t, long merges) {
    bool more = true;
    for (long i = 0; i < merges; i++) {
        STATUS_TRY(bpe_corpus_step(s, t, i, merges, &more));
        if (!more) break;
        bpe_add_merge_row(study_table(s, "merges"), bpe_trainer_bpe(t), (int)i + 1);
    }
    return status_ok();
}

static Status run_train(Study *s) {
    BpeWords words;
    STATUS_TRY(bpe_corpus_words(s, bpe_unit_option(study_options(s)), &words));
    BpeTrainer *t = bpe_trainer_new(&words);
    Status status = learn(s, t, (long)options_int(study_options(s), "merges"));
    bpe_add_word_rows(study_table(s, "words"), &words, t, -1);
    const Bpe *b = bpe_trainer_bpe(t);
    study_about(s, "merges_found", "%d", bpe_merges(b));
    study_about(s, "vocabulary", "%d symbols: %d to begin with (%s is one of them) and those that merges made",
                bpe_symbols(b), bpe_units(b), BPE_END);
    study_about(s, "distinct_words", "%d of %ld", words.words, words.total);
    study_about(s, "words_order", "falling count, then by bytes");
    bpe_corpus_conventions(s, words.unit);
    bpe_trainer_free(t);
    bpe_words_done(&words);
    return status;
}

const Experiment experiment_bpe_train = {
    .entry = {.id = "bpe.train",
              .section = "L3 5.3",
              .title = N_("learning sub-words: the most frequent pair is merged, again and again"),
              .see = N_("Frequent letters and whole words come first, then the regular endings: s, ing, ed, est, ness. "
                        "Nothing but counting finds them."),
              .options = (const Option *const[]){bpe_corpus_rows, bpe_unit_rows, train_options,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"merges", bpe_merges_columns}, {"words", bpe_words_columns}, {0}},
              .figure = {FIGURE_LINE, "merges", "rank", "count", NULL}},
    .check = bpe_corpus_check,
    .run = run_train,
};

/* ---- bpe.tradeoff ---- */

static const Option tradeoff_options[] = {
    {"merges", OPTION_INTS, "0,25,50,100,200,400", 0, BPE_MOST_MERGES, NULL, "", N_("after how many to look")},
    {0},
};
static const Column tradeoff_columns[] = {{"merges", COLUMN_INT, ""},
                                          {"vocabulary", COLUMN_INT, "symbols"},
                                          {"tokens_per_word", COLUMN_DOUBLE, "tokens"},
                                          {0}};

/* tokens[i]: what the corpus has after i merges, or after all that there are. */
static Status count_tokens(Study *s, BpeTrainer *t, long merges, long long *tokens) {
    bool more = true;
    tokens[0] = bpe_trainer_tokens(t);
    for (long i = 0; i < merges; i++) {
        if (more) STATUS_TRY(bpe_corpus_step(s, t, i, merges, &more));
        tokens[i + 1] = bpe_trainer_tokens(t);
    }
    return status_ok();
}

static void add_tradeoffs(Table *table, const Bpe *b, const long long *at, int n, const long long *tokens, long words) {
    for (int i = 0; i < n; i++) {
        int found = at[i] < bpe_merges(b) ? (int)at[i] : bpe_merges(b);
        table_add_int(table, at[i]);
        table_add_int(table, bpe_symbols_after(b, found));
        table_add_real(table, (double)tokens[at[i]] / (double)words);
    }
}

static Status run_tradeoff(Study *s) {
    const long long *at;
    int n = options_ints(study_options(s), "merges", &at);
    long merges = (long)options_ints_most(study_options(s), "merges");
    BpeWords words;
    STATUS_TRY(bpe_corpus_words(s, bpe_unit_option(study_options(s)), &words));
    long long *tokens = MEM_ARRAY(long long, (size_t)merges + 1);
    BpeTrainer *t = bpe_trainer_new(&words);
    Status status = count_tokens(s, t, merges, tokens);
    if (status_is_ok(&status))
        add_tradeoffs(study_table(s, "tradeoff"), bpe_trainer_bpe(t), at, n, tokens, words.total);
    study_about(s, "merges_found", "%d", bpe_merges(bpe_trainer_bpe(t)));
    study_about(s, "vocabulary_rule", "distinct symbols: %s, the units and what merges made", BPE_END);
    study_about(s, "tokens_per_word_rule", "symbols of the whole corpus, a lone %s counted as one, / its words",
                BPE_END);
    bpe_corpus_conventions(s, words.unit);
    bpe_trainer_free(t);
    mem_free(tokens);
    bpe_words_done(&words);
    return status;
}

const Experiment experiment_bpe_tradeoff = {
    .entry = {.id = "bpe.tradeoff",
              .section = "L3 5.3",
              .title = N_("more merges: a larger vocabulary, shorter sequences"),
              .see =
                  N_("Each merge adds a symbol and shortens the text; after some hundred nearly every word of a small "
                     "language is one token: words again."),
              .options = (const Option *const[]){bpe_corpus_rows, bpe_unit_rows, tradeoff_options,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"tradeoff", tradeoff_columns}, {0}},
              .figure = {FIGURE_LINE, "tradeoff", "merges", "tokens_per_word", NULL}},
    .check = bpe_corpus_check,
    .run = run_tradeoff,
};
