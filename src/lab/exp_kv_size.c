/* kv.size: what a sequence must keep while it is continued: cache, rolling cache, a recurrent network's state, and the
 * weights beside them (lecture 3, 4.5 and exercise 3; lecture 4, exercise 3; seminar 3, exercise 5). */
#include "cards.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "sizes.h"

#include <string.h>

#define LENGTH_MOST 1e9

static const Option size_options[] = {
    {"cards", OPTION_TEXT, NULL, 0, 0, NULL, "",
     N_("real models by name, commas between them (arch.cards lists them); default: "
        "llama2-7b,llama3-8b,mistral-7b,deepseek-v3")},
    {"layers", OPTION_INT, NULL, 0, 1000, NULL, "", N_("without cards: blocks; beside cards= it replaces theirs")},
    {"kv_heads", OPTION_INT, NULL, 1, 1000, NULL, "",
     N_("without cards: key and value heads; beside cards= it replaces theirs")},
    {"head_dim", OPTION_INT, NULL, 1, 1e5, NULL, "",
     N_("without cards: width of a head; beside cards= it replaces theirs")},
    {"T", OPTION_INT, "4096", 1, LENGTH_MOST, NULL, "tokens", N_("of a sequence")},
    {"batch", OPTION_INT, "1", 1, LENGTH_MOST, NULL, "sequences", N_("kept at once")},
    {"window", OPTION_INT, NULL, 0, 1e6, NULL, "tokens",
     N_("that a rolling cache keeps, in every layer; 0: no window; not given: the card's own")},
    SIZES_BYTES_OPTION("2"),
    {0},
};
static const char default_cards[] = "llama2-7b,llama3-8b,mistral-7b,deepseek-v3";

static const Column size_columns[] = {{"model", COLUMN_TEXT, ""},    {"kind", COLUMN_TEXT, ""},
                                      {"tokens", COLUMN_INT, ""},    {"bytes", COLUMN_INT, ""},
                                      {"gib", COLUMN_DOUBLE, "GiB"}, {0}};

/* ---- asking ---- */

/* Which cards, or one that the numbers make; and what of each. */
typedef struct {
    Cards cards;
    Card *card; /* [count] what is shown: copies that borrow from CARDS */
    int count, capacity;
    bool plain; /* from numbers: nothing is known of the weights */
    Count T, batch;
    int bits;
} Question;

static void question_done(Question *q) {
    mem_free(q->card);
    cards_done(&q->cards);
}

static void add_card(Question *q, const Card *card) {
    MEM_GROW(q->card, q->count, q->capacity);
    q->card[q->count++] = *card;
}

static bool is_there(const Question *q, const char *model) {
    for (int i = 0; i < q->count; i++)
        if (strcmp(q->card[i].model, model) == 0) return true;
    return false;
}

static Status add_named(Question *q, const char *names) {
    for (;;) {
        size_t n = strcspn(names, ",");
        const Card *card;
        char *name = mem_text_n(names, n);
        Status s = cards_find(&q->cards, name, &card);
        if (status_is_ok(&s) && is_there(q, card->model)) s = status_usage(_("cards: %s is there twice"), card->model);
        mem_free(name);
        STATUS_TRY(s);
        add_card(q, card);
        if (names[n] == '\0') return status_ok();
        names += n + 1;
    }
}

/* One model of which only the cache is known. */
static Status add_numbers(const Options *o, Question *q) {
    static const char *const needed[] = {"layers", "kv_heads", "head_dim"};
    for (int i = 0; i < 3; i++)
        if (!options_is_set(o, needed[i]))
            return status_usage(_("layers=, kv_heads= and head_dim= go together; %s= is missing"), needed[i]);
    Card card = {.config = config_modern(), .model = (char *)"given", .note = (char *)""};
    card.config.heads = (int)options_int(o, "kv_heads");
    card.config.pos = POS_NONE; /* an odd head_dim has a cache too */
    q->plain = true;
    add_card(q, &card);
    return status_ok();
}

static bool has_numbers(const Options *o) {
    return options_is_set(o, "layers") || options_is_set(o, "kv_heads") || options_is_set(o, "head_dim");
}

static Status choose(const Options *o, Question *q) {
    if (has_numbers(o) && !options_is_set(o, "cards") && !options_is_set(o, "file")) return add_numbers(o, q);
    STATUS_TRY(cards_open(o, &q->cards));
    return add_named(q, options_is_set(o, "cards") ? options_text(o, "cards") : default_cards);
}

/* What is given beside a card replaces its own. */
static Status replace(const Options *o, Card *card) {
    ModelConfig *c = &card->config;
    if (card->latent > 0 && (options_is_set(o, "kv_heads") || options_is_set(o, "head_dim")))
        return status_usage(_("kv_heads and head_dim say nothing of %s: it caches a latent vector"), card->model);
    if (options_is_set(o, "layers")) c->layers = (int)options_int(o, "layers");
    if (options_is_set(o, "head_dim")) c->head_dim = (int)options_int(o, "head_dim");
    if (options_is_set(o, "kv_heads")) c->kv_heads = (int)options_int(o, "kv_heads");
    if (options_is_set(o, "window")) {
        c->window = (int)options_int(o, "window");
        c->global_every = 0;
    }
    return config_check_shape(c);
}

static Count state_values(const Card *card) {
    const ModelConfig *c = &card->config;
    return (Count)c->layers * c->d;
}

/* Local layers keep their window; latent vectors as well as keys and values. */
static Count rolling_values(const Card *card, Count T) {
    const ModelConfig *c = &card->config;
    if (card->latent == 0) return account_rolling_cache(c, T);
    return card_cache(card, c->window < T ? c->window : T);
}

static Status check_size(const Question *q, const Card *card) {
    Str why;
    str_init(&why);
    Count weights = card_is_special(card, &why) ? 0 : account_parameters(&card->config).total;
    str_done(&why);
    Count kept = account_times(q->batch, account_add(card_cache(card, q->T), state_values(card)));
    return sizes_check(account_bytes(account_add(kept, weights), q->bits), _("the memory in bits"));
}

static Status fill_question(const Options *o, Question *q) {
    STATUS_TRY(sizes_bits(o, &q->bits));
    STATUS_TRY(choose(o, q));
    for (int i = 0; i < q->count; i++) {
        STATUS_TRY(replace(o, &q->card[i]));
        STATUS_TRY(check_size(q, &q->card[i]));
    }
    return status_ok();
}

static Status read_question(const Options *o, Question *q) {
    *q = (Question){.T = options_int(o, "T"), .batch = options_int(o, "batch")};
    Status s = fill_question(o, q);
    if (!status_is_ok(&s)) question_done(q);
    return s;
}

static Status check(const Options *o) {
    Question q;
    if (cards_are_input(o)) return status_ok();
    STATUS_TRY(read_question(o, &q));
    question_done(&q);
    return status_ok();
}

/* ---- answering ---- */

static void add_size(Table *t, const Question *q, const Card *card, const char *kind, Count tokens, Count values) {
    Count bytes = account_bytes(values, q->bits);
    table_add_text(t, card->model);
    table_add_text(t, kind);
    if (tokens) {
        table_add_int(t, tokens);
    } else {
        table_add_empty(t);
    }
    table_add_int(t, bytes);
    table_add_real(t, (double)bytes / SIZES_GIB);
}

static void add_sizes(Table *t, const Question *q, const Card *card) {
    const ModelConfig *c = &card->config;
    Str why;
    str_init(&why);
    add_size(t, q, card, "kv_cache", q->T, q->batch * card_cache(card, q->T));
    if (c->window > 0)
        add_size(t, q, card, "rolling", c->window < q->T ? c->window : q->T, q->batch * rolling_values(card, q->T));
    if (!q->plain) add_size(t, q, card, "rnn_state", q->T, q->batch * state_values(card));
    if (!q->plain && !card_is_special(card, &why)) add_size(t, q, card, "weights", 0, account_parameters(c).total);
    str_done(&why);
}

static Status run(Study *s) {
    Question q;
    STATUS_TRY(read_question(study_options(s), &q));
    for (int i = 0; i < q.count; i++) {
        const Card *card = &q.card[i];
        add_sizes(study_table(s, "size"), &q, card);
        card_notes(s, card);
        if (card->config.pos == POS_LEARNED && q.T > card->config.context)
            study_warn(s, _("%s has learned positions for %d tokens: it cannot see %lld"), card->model,
                       card->config.context, q.T);
    }
    question_done(&q);
    study_about(s, "kv_cache_rule",
                "batch x T x 2 x layers x kv_heads x head_dim values; with latent attention its vector "
                "and key; of an encoder and decoder, the decoder's own attention");
    study_about(s, "rolling_rule",
                "a layer with a window keeps its window's tokens, the current one included; a global "
                "layer keeps all");
    study_about(s, "rnn_state_rule", "a recurrent network as wide and deep: batch x layers x d values, whatever T");
    study_about(s, "weights_rule", "all parameters, once; left out where a configuration cannot count them");
    sizes_about(s);
    return status_ok();
}

const Experiment experiment_kv_size = {
    .entry = {.id = "kv.size",
              .section = "L3 4.5",
              .title = N_("caches of real models beside state and weights"),
              .see = N_(
                  "A recurrent state stays as it is, a cache grows with every token: at 4096 tokens Llama-2 7B keeps "
                  "2 GiB for one sequence. A rolling cache stops at its window."),
              .options = (const Option *const[]){size_options, cards_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"size", size_columns}, {0}},
              .figure = {FIGURE_BARS, "size", "model", "gib", "kind"}},
    .check = check,
    .run = run,
};
