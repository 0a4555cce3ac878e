#include "cache_sizes.h"

#include "account.h"
#include "bug.h"
#include "cards.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 8, BF16_BITS = 16 };

static const Column columns[] = {{"model", COLUMN_TEXT, ""},
                                 {"scheme", COLUMN_TEXT, ""},
                                 {"own", COLUMN_INT, ""},
                                 {"kv_heads", COLUMN_INT, ""},
                                 {"layers", COLUMN_INT, ""},
                                 {"head_dim", COLUMN_INT, ""},
                                 {"window", COLUMN_INT, "tokens"},
                                 {"tokens", COLUMN_INT, ""},
                                 {"value_bytes", COLUMN_DOUBLE, "bytes"},
                                 {"bytes_per_token", COLUMN_INT, "bytes"},
                                 {"bytes", COLUMN_INT, "bytes"},
                                 {"rolling_bytes", COLUMN_INT, "bytes"},
                                 {"weights_bytes", COLUMN_DOUBLE, "bytes"},
                                 {0}};

Table *cache_sizes_new(void) {
    return table_new("cache_sizes", columns);
}

typedef enum { MHA, GQA, MQA, MLA, SCHEMES } Scheme;

/* A model, and what it has in common in all its rows. */
typedef struct {
    const char *model;
    const ModelConfig *config;
    Scheme own;
    Count latent; /* values that MLA keeps of a token in a layer */
    Count T;
    int bits;
    double weights; /* bytes; NaN: not known */
} Sized;

static Scheme scheme_of(const ModelConfig *c) {
    return c->kv_heads == c->heads ? MHA : c->kv_heads == 1 ? MQA : GQA;
}

/* The own number where that is the scheme; else groups of equal size, at most GROUPS. */
static int heads_of(const Sized *m, Scheme scheme) {
    const ModelConfig *c = m->config;
    if (scheme == m->own) return c->kv_heads;
    if (scheme != GQA) return scheme == MHA ? c->heads : 1;
    int groups = c->heads / 2 < GROUPS ? c->heads / 2 : GROUPS;
    while (groups > 1 && c->heads % groups != 0) groups--;
    return groups;
}

static void add_row(Table *t, const Sized *m, Scheme scheme) {
    static const char *const names[] = {"mha", "gqa", "mqa", "mla"};
    ModelConfig c = *m->config;
    Count token = m->latent * c.layers;
    c.kv_heads = scheme == MLA ? 1 : heads_of(m, scheme);
    if (scheme != MLA) token = account_cache(&c, 1);
    Count rolling = scheme == MLA ? token * m->T : account_rolling_cache(&c, m->T);
    table_add_text(t, m->model);
    table_add_text(t, names[scheme]);
    table_add_int(t, scheme == m->own);
    table_add_int(t, c.kv_heads);
    table_add_int(t, c.layers);
    table_add_int(t, c.head_dim);
    table_add_int(t, c.window);
    table_add_int(t, m->T);
    table_add_real(t, m->bits / 8.0);
    table_add_int(t, account_bytes(token, m->bits));
    table_add_int(t, account_bytes(token * m->T, m->bits));
    table_add_int(t, account_bytes(rolling, m->bits));
    table_add_known(t, m->weights);
}

static void add_model(Table *t, const Sized *m) {
    for (Scheme scheme = 0; scheme < SCHEMES; scheme++) {
        bool twice = scheme == GQA && m->own != GQA && heads_of(m, GQA) <= 1; /* no group but all and one */
        if (!twice) add_row(t, m, scheme);
    }
}

/* In DeepSeek's proportions: a latent vector of four heads, and half a head that carries the position. */
static Count usual_latent(const ModelConfig *c) {
    return 4 * (Count)c->head_dim + c->head_dim / 2;
}

void cache_sizes_add_model(Table *t, const ModelConfig *c, long long T, int bits) {
    Sized m = {.model = "",
               .config = c,
               .own = scheme_of(c),
               .latent = usual_latent(c),
               .T = T,
               .bits = bits,
               .weights = (double)account_bytes(account_parameters(c).total, bits)};
    add_model(t, &m);
}

static double weights_of(const Card *card) {
    Str why;
    str_init(&why);
    bool counted = !card_is_special(card, &why);
    str_done(&why);
    double values = counted ? (double)account_parameters(&card->config).total : 1e9 * card->parameters;
    return values * BF16_BITS / 8;
}

static void add_card(Table *t, const Card *card, Count T) {
    Sized m = {.model = card->model,
               .config = &card->config,
               .own = card->latent > 0 ? MLA : scheme_of(&card->config),
               .latent = card->latent > 0 ? card->latent + card->latent_rope : usual_latent(&card->config),
               .T = T,
               .bits = BF16_BITS,
               .weights = weights_of(card)};
    add_model(t, &m);
}

void cache_sizes_add_cards(Table *t) {
    Cards cards;
    Status s = cards_read(NULL, &cards);
    for (int i = 0; status_is_ok(&s) && i < cards.count; i++) {
        if (cards.card[i].encoder_layers > 0) continue;
        add_card(t, &cards.card[i], 8192);
        add_card(t, &cards.card[i], 131072);
    }
    cards_done(&cards);
}
