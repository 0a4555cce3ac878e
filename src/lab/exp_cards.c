/* arch.cards: real models side by side, by their published dimensions (seminar 3, 7 and 10; lecture 4, 3.1). */
#include "cards.h"
#include "experiment.h"
#include "intl.h"

#include <math.h>

#define CACHE_BITS 16 /* of a cached value: bf16 */

static const Column cards_columns[] = {{"model", COLUMN_TEXT, ""},
                                       {"year", COLUMN_INT, ""},
                                       {"d", COLUMN_INT, ""},
                                       {"layers", COLUMN_INT, ""},
                                       {"heads", COLUMN_INT, ""},
                                       {"kv_heads", COLUMN_INT, ""},
                                       {"head_dim", COLUMN_INT, ""},
                                       {"d_ff", COLUMN_INT, ""},
                                       {"ffn_ratio", COLUMN_DOUBLE, ""},
                                       {"aspect", COLUMN_DOUBLE, ""},
                                       {"vocabulary", COLUMN_INT, "tokens"},
                                       {"norm", COLUMN_TEXT, ""},
                                       {"ffn", COLUMN_TEXT, ""},
                                       {"pos", COLUMN_TEXT, ""},
                                       {"window", COLUMN_INT, "tokens"},
                                       {"kv_bytes_per_token", COLUMN_INT, "bytes"},
                                       {0}};

static Status check(const Options *o) {
    Cards cards;
    if (cards_are_input(o)) return status_ok();
    STATUS_TRY(cards_open(o, &cards));
    cards_done(&cards);
    return status_ok();
}

static void add_word(Table *t, const ModelConfig *c, const char *field) {
    char text[64];
    (void)config_get(c, field, text, sizeof text);
    table_add_text(t, text);
}

static void add_card(Table *t, const Card *card) {
    const ModelConfig *c = &card->config;
    const int sizes[] = {c->d, c->layers, c->heads, c->kv_heads, c->head_dim, c->d_ff};
    table_add_text(t, card->model);
    if (card->year) {
        table_add_int(t, card->year);
    } else {
        table_add_empty(t);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) table_add_int(t, sizes[i]);
    table_add_real(t, (double)c->d_ff / c->d);
    table_add_real(t, c->layers ? (double)c->d / c->layers : (double)NAN);
    table_add_int(t, c->vocab);
    add_word(t, c, "norm");
    add_word(t, c, "ffn");
    table_add_text(t, card->pos);
    table_add_int(t, c->window);
    table_add_int(t, account_bytes(card_cache(card, 1), CACHE_BITS));
}

/* What the columns cannot say of a card, and where it is from. */
static void add_facts(Study *s, const Card *card) {
    Str key, why;
    str_init(&key);
    str_init(&why);
    if (card_is_special(card, &why)) {
        str_addf(&key, "special_%s", card->model);
        study_about(s, key.s, "%s", why.s);
        str_clear(&key);
    }
    str_addf(&key, "source_%s", card->model);
    if (*card->source) study_about(s, key.s, "%s", card->source);
    card_notes(s, card);
    str_done(&why);
    str_done(&key);
}

static Status run(Study *s) {
    Cards cards;
    STATUS_TRY(cards_open(study_options(s), &cards));
    for (int i = 0; i < cards.count; i++) add_card(study_table(s, "cards"), &cards.card[i]);
    study_about(s, "ffn_ratio_rule", "d_ff / d");
    study_about(s, "aspect_rule", "d / layers; of an encoder and decoder, the decoder's layers");
    study_about(s, "window_rule", "counts the current token; 0: none; some layers may be global all the same");
    study_about(s, "kv_bytes_per_token_rule",
                "all layers, 2 bytes a value; latent attention caches its latent vector and one RoPE key");
    for (int i = 0; i < cards.count; i++) add_facts(s, &cards.card[i]);
    cards_done(&cards);
    return status_ok();
}

const Experiment experiment_arch_cards = {
    .entry = {.id = "arch.cards",
              .section = "S3 7",
              .title = N_("real models side by side, by published dimensions"),
              .see = N_("d_ff is 4 d, or about 8/3 d when gated; d / layers lies near 128; T5 is the exception. What "
                        "shrank most over the years is the cache of a token."),
              .options = (const Option *const[]){cards_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"cards", cards_columns}, {0}},
              .figure = {FIGURE_BARS, "cards", "model", "kv_bytes_per_token", NULL}},
    .check = check,
    .run = run,
};
