/* gqa.cost: cache, weights and the time of a decoding step for every number of key/value heads (lecture 4, 5.3).
 * mla.cost: what latent attention caches, beside the others (seminar 3, 10.3). */
#include "cards.h"
#include "experiment.h"
#include "intl.h"
#include "sizes.h"

#include <string.h>

#define LENGTH_MOST 1e9

/* ---- gqa.cost ---- */

static const Option gqa_options[] = {
    {"card", OPTION_TEXT, "llama3-8b", 0, 0, NULL, "", N_("a real model by name; arch.cards lists them")},
    {"kv_heads", OPTION_INT, NULL, 1, 1000, NULL, "",
     N_("of the row gqa; not given: the card's, or a quarter of heads when it has all or one")},
    {"batch", OPTION_INT, "32", 1, LENGTH_MOST, NULL, "sequences", N_("decoded together")},
    {"T", OPTION_INT, "8192", 1, LENGTH_MOST, NULL, "tokens", N_("in the cache of each")},
    SIZES_BYTES_OPTION("2"),
    {"memory", OPTION_TEXT, "80GB", 0, 0, NULL, "", N_("of the machine: 80GB, 24GiB ...")},
    {"bandwidth", OPTION_TEXT, "3.35TB/s", 0, 0, NULL, "", N_("of that memory: 3.35TB/s, 900GB/s ...")},
    {0},
};

static const Column gqa_columns[] = {{"scheme", COLUMN_TEXT, ""},
                                     {"kv_heads", COLUMN_INT, ""},
                                     {"cache_bytes", COLUMN_INT, "bytes"},
                                     {"weights_bytes", COLUMN_INT, "bytes"},
                                     {"fits", COLUMN_INT, ""},
                                     {"step_ms", COLUMN_DOUBLE, "ms"},
                                     {0}};

typedef struct {
    ModelConfig config; /* of the card */
    int grouped;        /* KV heads of the row gqa, 0: no such row */
    Count T, batch;
    int bits;
    double memory, bandwidth; /* bytes, bytes/s */
} GqaQuestion;

static Status read_model(const Options *o, ModelConfig *config) {
    Cards cards;
    const Card *card;
    Str why;
    STATUS_TRY(cards_open(o, &cards));
    str_init(&why);
    Status s = cards_find(&cards, options_text(o, "card"), &card);
    if (status_is_ok(&s)) *config = card->config;
    if (status_is_ok(&s) && card_is_special(card, &why))
        s = status_usage(_("%s cannot be counted: it has %s, which a configuration does not describe"), card->model,
                         why.s);
    str_done(&why);
    cards_done(&cards);
    return s;
}

static Status choose_grouped(const Options *o, GqaQuestion *q) {
    int heads = q->config.heads, own = q->config.kv_heads;
    q->grouped = own > 1 && own < heads ? own : heads % 4 == 0 && heads > 4 ? heads / 4 : 0;
    if (!options_is_set(o, "kv_heads")) return status_ok();
    q->grouped = (int)options_int(o, "kv_heads");
    if (q->grouped <= heads && heads % q->grouped == 0) return status_ok();
    return status_usage(_("kv_heads: %d heads cannot share %d key/value heads equally"), heads, q->grouped);
}

static ModelConfig with_kv_heads(const ModelConfig *c, int kv_heads) {
    ModelConfig changed = *c;
    changed.kv_heads = kv_heads;
    return changed;
}

static Count cache_bytes(const GqaQuestion *q, const ModelConfig *c) {
    return account_bytes(account_times(q->batch, account_cache(c, q->T)), q->bits);
}

static Status read_gqa(const Options *o, GqaQuestion *q) {
    *q = (GqaQuestion){.T = options_int(o, "T"), .batch = options_int(o, "batch")};
    STATUS_TRY(sizes_bits(o, &q->bits));
    STATUS_TRY(sizes_parse("memory", options_text(o, "memory"), "", &q->memory));
    STATUS_TRY(sizes_parse("bandwidth", options_text(o, "bandwidth"), "/s", &q->bandwidth));
    STATUS_TRY(read_model(o, &q->config));
    STATUS_TRY(choose_grouped(o, q));
    ModelConfig most = with_kv_heads(&q->config, q->config.heads);
    Count weights = account_bytes(account_parameters(&most).total, q->bits);
    return sizes_check(account_add(weights, cache_bytes(q, &most)), _("the memory in bits"));
}

static Status check_gqa(const Options *o) {
    GqaQuestion q;
    if (cards_are_input(o)) return status_ok();
    return read_gqa(o, &q);
}

/* A step reads all weights and the whole cache once, and waits for nothing else. */
static void add_scheme(Table *t, const GqaQuestion *q, const char *scheme, int kv_heads) {
    ModelConfig c = with_kv_heads(&q->config, kv_heads);
    Count cache = cache_bytes(q, &c), weights = account_bytes(account_parameters(&c).total, q->bits);
    double both = (double)cache + (double)weights;
    table_add_text(t, scheme);
    table_add_int(t, kv_heads);
    table_add_int(t, cache);
    table_add_int(t, weights);
    table_add_int(t, both <= q->memory);
    table_add_real(t, 1000 * both / q->bandwidth);
}

static Status run_gqa(Study *s) {
    GqaQuestion q;
    STATUS_TRY(read_gqa(study_options(s), &q));
    Table *t = study_table(s, "cost");
    add_scheme(t, &q, "mha", q.config.heads);
    if (q.grouped) add_scheme(t, &q, "gqa", q.grouped);
    add_scheme(t, &q, "mqa", 1);
    study_about(s, "cache_rule", "2 x layers x kv_heads x head_dim values a token, all tokens kept%s",
                q.config.window ? "; a rolling cache would keep a window's (kv.size)" : "");
    study_about(s, "weights_rule", "all parameters, counted anew for each number of key/value heads");
    study_about(s, "fits_rule", "cache and weights within %.17g bytes", q.memory);
    study_about(s, "step_rule", "one token for each sequence: cache and weights are read once, at %.17g bytes/s",
                q.bandwidth);
    sizes_about(s);
    return status_ok();
}

static void follow_gqa(const Options *o, const char *name, Str *out) {
    GqaQuestion q;
    if (cards_are_input(o)) return;
    Status s = read_gqa(o, &q);
    if (status_is_ok(&s) && strcmp(name, "kv_heads") == 0 && q.grouped) str_addf(out, "%d", q.grouped);
}

const Experiment experiment_gqa_cost = {
    .entry = {.id = "gqa.cost",
              .section = "L4 5.3",
              .title = N_("grouped queries: cache, memory, time of a step"),
              .see = N_(
                  "A quarter of the key/value heads is a quarter of the cache and about three times as many tokens a "
                  "second; with all heads the batch does not fit."),
              .options = (const Option *const[]){gqa_options, cards_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"cost", gqa_columns}, {0}},
              .figure = {FIGURE_BARS, "cost", "scheme", "step_ms", NULL}},
    .check = check_gqa,
    .run = run_gqa,
    .follow = follow_gqa,
};

/* ---- mla.cost ---- */

static const Option mla_options[] = {
    {"card", OPTION_TEXT, "deepseek-v3", 0, 0, NULL, "", N_("a real model by name; arch.cards lists them")},
    {"kv_heads", OPTION_INT, NULL, 1, 1000, NULL, "",
     N_("of the row gqa; not given: the card's when it has some but not all, else 8 where that divides heads")},
    {"latent", OPTION_INT, NULL, 1, 1e6, NULL, "",
     N_("numbers of the latent vector; not given: the card's, or 4 head_dim as in DeepSeek-V2")},
    {"latent_rope", OPTION_INT, NULL, 0, 1e6, NULL, "",
     N_("numbers of the key that carries the position; not given: the card's, or head_dim / 2")},
    SIZES_BYTES_OPTION("2"),
    {0},
};

static const Column mla_columns[] = {{"scheme", COLUMN_TEXT, ""},
                                     {"values_per_token_per_layer", COLUMN_INT, ""},
                                     {"values_per_token", COLUMN_INT, ""},
                                     {"bytes_per_token", COLUMN_INT, "bytes"},
                                     {0}};

enum { MLA_GROUPED = 8 };

typedef struct {
    int layers, heads, head_dim, grouped, latent, latent_rope, bits;
    bool own_latent; /* of the card */
} MlaQuestion;

static void from_card(const Card *card, MlaQuestion *q) {
    const ModelConfig *c = &card->config;
    q->layers = c->layers;
    q->heads = c->heads;
    q->head_dim = c->head_dim;
    q->own_latent = card->latent > 0;
    q->latent = q->own_latent ? card->latent : 4 * c->head_dim;
    q->latent_rope = q->own_latent ? card->latent_rope : c->head_dim / 2;
    bool some = c->kv_heads > 1 && c->kv_heads < c->heads;
    q->grouped = some ? c->kv_heads : c->heads > MLA_GROUPED && c->heads % MLA_GROUPED == 0 ? MLA_GROUPED : 0;
}

static Status read_mla(const Options *o, MlaQuestion *q) {
    Cards cards;
    const Card *card;
    *q = (MlaQuestion){0};
    STATUS_TRY(sizes_bits(o, &q->bits));
    STATUS_TRY(cards_open(o, &cards));
    Status s = cards_find(&cards, options_text(o, "card"), &card);
    if (status_is_ok(&s)) from_card(card, q);
    cards_done(&cards);
    STATUS_TRY(s);
    if (options_is_set(o, "latent")) q->latent = (int)options_int(o, "latent");
    if (options_is_set(o, "latent_rope")) q->latent_rope = (int)options_int(o, "latent_rope");
    if (!options_is_set(o, "kv_heads")) return status_ok();
    q->grouped = (int)options_int(o, "kv_heads");
    if (q->grouped <= q->heads && q->heads % q->grouped == 0) return status_ok();
    return status_usage(_("kv_heads: %d heads cannot share %d key/value heads equally"), q->heads, q->grouped);
}

static Status check_mla(const Options *o) {
    MlaQuestion q;
    if (cards_are_input(o)) return status_ok();
    return read_mla(o, &q);
}

static void add_cache(Table *t, const MlaQuestion *q, const char *scheme, Count values) {
    Count all = values * q->layers;
    table_add_text(t, scheme);
    table_add_int(t, values);
    table_add_int(t, all);
    table_add_int(t, account_bytes(all, q->bits));
}

static Status run_mla(Study *s) {
    MlaQuestion q;
    STATUS_TRY(read_mla(study_options(s), &q));
    Table *t = study_table(s, "cost");
    Count pair = 2 * (Count)q.head_dim; /* a key and a value */
    add_cache(t, &q, "mha", pair * q.heads);
    if (q.grouped) add_cache(t, &q, "gqa", pair * q.grouped);
    add_cache(t, &q, "mqa", pair);
    add_cache(t, &q, "mla", (Count)q.latent + q.latent_rope);
    study_about(s, "gqa_kv_heads", "%d", q.grouped);
    study_about(s, "mla_rule", "a latent vector of %d and one key of %d that carries the position, for all heads (%s)",
                q.latent, q.latent_rope,
                q.own_latent ? "as in the card" : "what if: 4 head_dim and head_dim / 2, unless they were given");
    study_about(s, "mha_rule", "2 x heads x head_dim: a key and a value for each head");
    study_about(s, "mla_equals_gqa_groups", "%.17g", ((double)q.latent + q.latent_rope) / (double)pair);
    return status_ok();
}

static void follow_mla(const Options *o, const char *name, Str *out) {
    MlaQuestion q;
    if (cards_are_input(o)) return;
    Status s = read_mla(o, &q);
    if (!status_is_ok(&s)) return;
    if (strcmp(name, "kv_heads") == 0 && q.grouped) str_addf(out, "%d", q.grouped);
    if (strcmp(name, "latent") == 0) str_addf(out, "%d", q.latent);
    if (strcmp(name, "latent_rope") == 0) str_addf(out, "%d", q.latent_rope);
}

const Experiment experiment_mla_cost = {
    .entry = {.id = "mla.cost",
              .section = "S3 10.3",
              .title = N_("latent attention: what is cached for a token"),
              .see =
                  N_("One latent vector and one key with the position stand for all heads: as small as grouped queries "
                     "with two or three groups."),
              .options = (const Option *const[]){mla_options, cards_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"cost", mla_columns}, {0}},
              .figure = {FIGURE_BARS, "cost", "scheme", "values_per_token_per_layer", NULL}},
    .check = check_mla,
    .run = run_mla,
    .follow = follow_mla,
};
