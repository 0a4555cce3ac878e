#include "shape.h"

#include "cards.h"
#include "intl.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

#define BIG 1e6

const Option shape_option_rows[] = {
    {"card", OPTION_TEXT, NULL, 0, 0, NULL, "",
     N_("a real model by name (arch.cards lists them); given fields replace its own")},
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("the cards, a CSV file; not given: those of lantern")},
    {"arch", OPTION_CHOICE, NULL, 0, 0, "modern|gpt", "",
     N_("without a card: modern (RMS norm, SwiGLU, RoPE, no biases) or gpt (layer norm, GELU, learned positions, "
        "biases)")},
    {"vocab", OPTION_INT, NULL, 1, BIG, NULL, "tokens", N_("rows of the embedding; default: 10000")},
    {"context", OPTION_INT, NULL, 1, BIG, NULL, "tokens", N_("rows of learned positions; default: T")},
    {"d", OPTION_INT, NULL, 1, BIG, NULL, "", N_("width of the residual stream; default: 512")},
    {"layers", OPTION_INT, NULL, 0, 1000, NULL, "", N_("blocks; default: 4")},
    {"heads", OPTION_INT, NULL, 1, 1000, NULL, "", N_("query heads; default: 16")},
    {"kv_heads", OPTION_INT, NULL, 1, 1000, NULL, "", N_("key and value heads; default: heads")},
    {"head_dim", OPTION_INT, NULL, 1, 1e5, NULL, "", N_("width of a head; default: d / heads")},
    {"d_ff", OPTION_INT, NULL, 1, BIG, NULL, "",
     N_("width of the feed-forward layer; default: 4 d, or 8/3 d rounded up to a multiple of 16 when gated (1344 at "
        "d=512)")},
    {"norm", OPTION_CHOICE, NULL, 0, 0, "layer|rms|none", "", N_("normalisation")},
    {"norm_place", OPTION_CHOICE, NULL, 0, 0, "pre|post|both|output", "", N_("where it stands; default: pre")},
    {"norm_eps", OPTION_REAL, NULL, 1e-12, 1, NULL, "", N_("changes no count")},
    {"ffn", OPTION_CHOICE, NULL, 0, 0, "relu|gelu|gelu_tanh|silu|squared_relu|swiglu|geglu|reglu", "",
     N_("activation of the feed-forward layer; the last three are gated")},
    {"pos", OPTION_CHOICE, NULL, 0, 0, "none|learned|sinusoid|rope", "", N_("positions")},
    {"rope_base", OPTION_REAL, NULL, 1, 1e12, NULL, "", N_("changes no count")},
    {"rope_scaling", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("changes no count")},
    {"pairing", OPTION_CHOICE, NULL, 0, 0, "adjacent|half", "", N_("changes no count")},
    {"window", OPTION_INT, NULL, 0, BIG, NULL, "tokens", N_("tokens a query sees, itself included; 0: all before it")},
    {"global_every", OPTION_INT, NULL, 0, 1000, NULL, "layers", N_("every n-th layer ignores the window; 0: none")},
    {"bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("biases in linear layers and layer norms")},
    {"qkv_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: biases of queries, keys and values")},
    {"out_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: a bias behind attention")},
    {"ffn_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: biases in the feed-forward layer")},
    {"tie", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("the output layer's weight is the embedding")},
    {"qk_norm", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("RMS norm of each query and key")},
    {"softcap", OPTION_REAL, NULL, 0, BIG, NULL, "", N_("cap of attention scores; 0: off")},
    {"z_loss", OPTION_REAL, NULL, 0, BIG, NULL, "", N_("changes no count")},
    {"parallel", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("attention and feed-forward side by side, with one norm")},
    {"dropout", OPTION_REAL, NULL, 0, 0.9, NULL, "", N_("changes no count")},
    {0},
};

/* The model of seminar 3, section 13 (assignment 1 on TinyStories), or its fields in the manner of GPT-2. */
static ModelConfig without_card(bool gpt) {
    ModelConfig c = gpt ? config_gpt() : config_modern();
    c.vocab = 10000;
    c.d = 512;
    c.layers = 4;
    c.heads = c.kv_heads = 16;
    c.head_dim = 32;
    c.d_ff = gpt ? 2048 : 1344;
    return c;
}

static Status refuse_special(const Card *card) {
    Str why;
    str_init(&why);
    Status s = status_ok();
    if (card_is_special(card, &why))
        s = status_usage(_("%s cannot be counted: it has %s, which a configuration does not describe"), card->model,
                         why.s);
    str_done(&why);
    return s;
}

/* Fields that change no count: what a card leaves out of them is not made up. */
static const char *const uncounted[SHAPE_SILENT] = {"norm_eps", "rope_base", "rope_scaling",
                                                    "pairing",  "z_loss",    "dropout"};

bool shape_get(const Shape *s, const char *field, char *out, size_t bytes) {
    for (int i = 0; i < SHAPE_SILENT; i++)
        if (s->silent[i] && strcmp(field, uncounted[i]) == 0) return false;
    return config_get(&s->config, field, out, bytes);
}

static Status from_card(const Options *o, Shape *out) {
    Cards cards;
    const Card *card;
    if (options_is_set(o, "arch")) return status_usage(_("give card= or arch=, not both"));
    STATUS_TRY(cards_open(o, &cards));
    Status s = cards_find(&cards, options_text(o, "card"), &card);
    if (status_is_ok(&s)) s = refuse_special(card);
    if (status_is_ok(&s)) {
        out->config = card->config;
        (void)snprintf(out->name, sizeof out->name, "%s", card->model);
        (void)snprintf(out->note, sizeof out->note, "%s", card->note);
        for (int i = 0; i < SHAPE_SILENT; i++)
            out->silent[i] = !card_says(card, uncounted[i]) && !options_is_set(o, uncounted[i]);
    }
    cards_done(&cards);
    return s;
}

/* Fields that were not given follow from those that were; BASE is what they were before. */
static Status derive(const Options *o, const ModelConfig *base, ModelConfig *c) {
    if (!options_is_set(o, "kv_heads") && base->kv_heads == base->heads) c->kv_heads = c->heads;
    if (!options_is_set(o, "head_dim") && (c->d != base->d || c->heads != base->heads)) STATUS_TRY(run_split_heads(c));
    bool other_kind = config_is_gated(c->ffn) != config_is_gated(base->ffn);
    if (!options_is_set(o, "d_ff") && (c->d != base->d || other_kind)) c->d_ff = config_usual_d_ff(c->ffn, c->d);
    return status_ok();
}

Status shape_config(const Options *o, long long T, Shape *out) {
    *out = (Shape){0};
    bool has_card = options_is_set(o, "card");
    if (!has_card && options_is_set(o, "file")) return status_usage(_("file= goes with card="));
    if (has_card) {
        STATUS_TRY(from_card(o, out));
    } else {
        out->config = without_card(options_is_set(o, "arch") && options_choice(o, "arch") == 1);
        out->config.context = T < (long long)BIG ? (int)T : (int)BIG;
    }
    ModelConfig base = out->config;
    STATUS_TRY(run_set_fields(o, &out->config));
    STATUS_TRY(derive(o, &base, &out->config));
    return config_check_shape(&out->config);
}

void shape_follow(const Options *o, const char *name, Str *out) {
    Shape shape;
    char value[64];
    if (cards_are_input(o)) return;
    bool has_length = options_find(o, "T") && options_is_set(o, "T");
    Status s = shape_config(o, has_length ? options_int(o, "T") : 1, &shape);
    if (status_is_ok(&s) && shape_get(&shape, name, value, sizeof value)) str_add(out, value);
}
