/* cards: real models by their published dimensions: a CSV file that anybody can extend (assets/cards.csv, or file=).
 * Private to the laboratory.
 *
 * Columns are named in the first row, in any order: `model`, the fields of a configuration by their names (vocab, d,
 * layers, ...), and what a configuration cannot say (experts, latent attention, an encoder). An empty cell, or a column
 * that is not there, means the usual: as many kv_heads as heads, head_dim = d / heads, a Llama in all else. A bad cell
 * is refused with the number of its line. */
#ifndef LAB_CARDS_H
#define LAB_CARDS_H

#include "account.h"
#include "option.h"
#include "study.h"

#include <stdint.h>

typedef struct {
    char *model;        /* "llama3-8b" */
    char *aliases;      /* other names, with blanks between them */
    int year;           /* 0: not given */
    ModelConfig config; /* checked by config_check_shape */
    uint64_t says;      /* a bit for each of config_fields() that the card gives itself (card_says) */
    char *pos;          /* "relative" and "alibi" besides the words of a configuration, which then has none */
    int experts, experts_used;
    int latent, latent_rope; /* numbers that latent attention caches for a token in a layer: the latent vector, the key
                              * that carries the position; 0: ordinary attention */
    int encoder_layers;
    double parameters; /* published, in billions; NaN: not given */
    char *source, *note;
} Card;

typedef struct {
    Card *card;
    int count, capacity;
} Cards;

extern const Option cards_option_rows[]; /* file= */

/* The cards of PATH; NULL: those that lantern ships. */
Status cards_read(const char *path, Cards *out) STATUS_CHECKED;
/* What file= says. */
Status cards_open(const Options *o, Cards *out) STATUS_CHECKED;
/* file= is standard input, which can be read once: who only looks must leave it to the run. */
bool cards_are_input(const Options *o);
void cards_done(Cards *c);
/* The card of that name or alias; capitals, blanks and marks in a name do not matter. Borrowed. */
Status cards_find(const Cards *c, const char *name, const Card **out) STATUS_CHECKED;

/* Whether the card itself gives the field, so that it is not what a card usually means. */
bool card_says(const Card *card, const char *field);
/* Why account.h cannot count the whole model: it has experts, latent attention, an encoder. False: it can. */
bool card_is_special(const Card *card, Str *why);
/* Values that one sequence of T tokens keeps, in all layers: keys and values, or latent vectors. */
Count card_cache(const Card *card, Count T);
/* A row of `about` for each note of a card. */
void card_notes(Study *s, const Card *card);

#endif
