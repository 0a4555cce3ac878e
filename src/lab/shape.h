/* shape: which configuration an experiment counts: a card by its name, or fields of a model; fields that are given
 * beside a card replace its own. Private to the laboratory. */
#ifndef LAB_SHAPE_H
#define LAB_SHAPE_H

#include "config.h"
#include "option.h"
#include "study.h"

/* card, file, arch, and every field of ModelConfig. Without any of them it is the model of seminar 3, section 13. */
extern const Option shape_option_rows[];

enum { SHAPE_SILENT = 6 };

typedef struct {
    ModelConfig config;
    char name[64]; /* of the card; "" when there is none */
    char note[512];
    bool silent[SHAPE_SILENT]; /* of the fields that change no count: neither the card nor an option says it */
} Shape;

/* What the options describe, for sequences of T tokens. What is not given follows: kv_heads is heads (or the card's,
 * when that has fewer than heads), head_dim is d / heads, d_ff is 4 d, or 8/3 d rounded up to a multiple of 16 when
 * gated, as lm.train takes them, once d or the kind has changed; learned positions have T rows. Size does not matter;
 * a card that is more than a configuration (experts, latent attention, an encoder) is refused. */
Status shape_config(const Options *o, long long T, Shape *out) STATUS_CHECKED;
/* The field as text; false: nobody says it, and nothing that is counted rests on it. */
bool shape_get(const Shape *s, const char *field, char *out, size_t bytes);
/* What the fields come to that are not set (see options_let_follow). */
void shape_follow(const Options *o, const char *name, Str *out);

#endif
