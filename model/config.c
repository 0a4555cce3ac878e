#include "config.h"

#include "intl.h"
#include "str.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

ModelConfig config_gpt(void) {
    return (ModelConfig){.vocab = 56,
                         .context = 64,
                         .d = 64,
                         .layers = 2,
                         .heads = 4,
                         .kv_heads = 4,
                         .head_dim = 16,
                         .d_ff = 256,
                         .norm = NORM_LAYER,
                         .norm_place = PLACE_PRE,
                         .ffn = FFN_GELU,
                         .pos = POS_LEARNED,
                         .rope_base = 10000,
                         .bias = true,
                         .norm_eps = 1e-5};
}

ModelConfig config_modern(void) {
    return (ModelConfig){.vocab = 56,
                         .context = 64,
                         .d = 64,
                         .layers = 2,
                         .heads = 4,
                         .kv_heads = 2,
                         .head_dim = 16,
                         .d_ff = 176,
                         .norm = NORM_RMS,
                         .norm_place = PLACE_PRE,
                         .ffn = FFN_SWIGLU,
                         .pos = POS_ROPE,
                         .rope_base = 10000,
                         .pairing = PAIRING_ADJACENT,
                         .norm_eps = 1e-6};
}

bool config_preset(const char *name, ModelConfig *out) {
    bool gpt = strcmp(name, "gpt") == 0;
    if (!gpt && strcmp(name, "modern") != 0) return false;
    *out = gpt ? config_gpt() : config_modern();
    return true;
}

/* --- fields by name: one row each --- */

typedef enum { FIELD_INT, FIELD_DOUBLE, FIELD_BOOL, FIELD_ENUM, FIELD_SCALING } FieldType;

typedef struct {
    const char *name;
    FieldType type;
    size_t at;                /* offset in ModelConfig */
    double min, max;          /* of INT and DOUBLE */
    const char *const *words; /* of ENUM: NULL-terminated, in the order of its constants */
} FieldRow;

static const char *const norm_words[] = {"layer", "rms", "none", NULL};
static const char *const place_words[] = {"pre", "post", "both", "output", NULL};
static const char *const ffn_words[] = {"relu",   "gelu",  "gelu_tanh", "silu", "squared_relu",
                                        "swiglu", "geglu", "reglu",     NULL};
static const char *const pos_words[] = {"none", "learned", "sinusoid", "rope", NULL};
static const char *const pairing_words[] = {"adjacent", "half", NULL};

#define AT(field) offsetof(ModelConfig, field)
#define SIZE_MOST 1e6

/* name, type, least, most, words: the order is the order of display. */
#define CONFIG_FIELDS(X)                                                                                               \
    X(vocab, FIELD_INT, 1, SIZE_MOST, NULL)                                                                            \
    X(context, FIELD_INT, 1, SIZE_MOST, NULL)                                                                          \
    X(d, FIELD_INT, 1, SIZE_MOST, NULL)                                                                                \
    X(layers, FIELD_INT, 0, 1000, NULL)                                                                                \
    X(heads, FIELD_INT, 1, 1000, NULL)                                                                                 \
    X(kv_heads, FIELD_INT, 1, 1000, NULL)                                                                              \
    X(head_dim, FIELD_INT, 1, 100000, NULL)                                                                            \
    X(d_ff, FIELD_INT, 1, SIZE_MOST, NULL)                                                                             \
    X(norm, FIELD_ENUM, 0, 0, norm_words)                                                                              \
    X(norm_place, FIELD_ENUM, 0, 0, place_words)                                                                       \
    X(ffn, FIELD_ENUM, 0, 0, ffn_words)                                                                                \
    X(pos, FIELD_ENUM, 0, 0, pos_words)                                                                                \
    X(rope_base, FIELD_DOUBLE, 1, 1e12, NULL)                                                                          \
    X(rope_scaling, FIELD_SCALING, 0, 0, NULL)                                                                         \
    X(pairing, FIELD_ENUM, 0, 0, pairing_words)                                                                        \
    X(window, FIELD_INT, 0, SIZE_MOST, NULL)                                                                           \
    X(global_every, FIELD_INT, 0, 1000, NULL)                                                                          \
    X(bias, FIELD_BOOL, 0, 1, NULL)                                                                                    \
    X(qkv_bias, FIELD_BOOL, 0, 1, NULL)                                                                                \
    X(out_bias, FIELD_BOOL, 0, 1, NULL)                                                                                \
    X(ffn_bias, FIELD_BOOL, 0, 1, NULL)                                                                                \
    X(tie, FIELD_BOOL, 0, 1, NULL)                                                                                     \
    X(qk_norm, FIELD_BOOL, 0, 1, NULL)                                                                                 \
    X(softcap, FIELD_DOUBLE, 0, 1e6, NULL)                                                                             \
    X(z_loss, FIELD_DOUBLE, 0, 1e6, NULL)                                                                              \
    X(parallel, FIELD_BOOL, 0, 1, NULL)                                                                                \
    X(dropout, FIELD_DOUBLE, 0, 0.999, NULL)                                                                           \
    X(norm_eps, FIELD_DOUBLE, 0, 1, NULL)

#define ROW(name, type, least, most, words) {#name, type, AT(name), least, most, words},
static const FieldRow rows[] = {CONFIG_FIELDS(ROW)};
#define ROWS ((int)(sizeof rows / sizeof *rows))

static const FieldRow *find_row(const char *name) {
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

#define NAME(name, type, least, most, words) #name,
const char *const *config_fields(void) {
    static const char *const names[] = {CONFIG_FIELDS(NAME) NULL};
    return names;
}

static void list_words(const char *const *words, char *out, size_t bytes) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; words[i] && used < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", i ? ", " : "", words[i]);
}

static int *as_int(ModelConfig *c, size_t at) {
    return (int *)(void *)((char *)c + at);
}
static double *as_double(ModelConfig *c, size_t at) {
    return (double *)(void *)((char *)c + at);
}
static bool *as_bool(ModelConfig *c, size_t at) {
    return (bool *)(void *)((char *)c + at);
}

/* An enum is written through its own type: the compiler may have chosen any size for it. */
static void put_enum(ModelConfig *c, size_t at, int i) {
    if (at == AT(norm)) c->norm = (NormKind)i;
    if (at == AT(norm_place)) c->norm_place = (NormPlace)i;
    if (at == AT(ffn)) c->ffn = (FfnKind)i;
    if (at == AT(pos)) c->pos = (PosKind)i;
    if (at == AT(pairing)) c->pairing = (Pairing)i;
}

static int get_enum(const ModelConfig *c, size_t at) {
    if (at == AT(norm)) return (int)c->norm;
    if (at == AT(norm_place)) return (int)c->norm_place;
    if (at == AT(ffn)) return (int)c->ffn;
    if (at == AT(pos)) return (int)c->pos;
    return (int)c->pairing;
}

static Status set_int(ModelConfig *c, const FieldRow *row, const char *value) {
    long long x;
    if (!str_to_long(value, &x) || (double)x < row->min || (double)x > row->max)
        return status_usage(_("%s must be a whole number from %.0f to %.0f, not \"%s\""), row->name, row->min, row->max,
                            value);
    *as_int(c, row->at) = (int)x;
    return status_ok();
}

static Status set_double(ModelConfig *c, const FieldRow *row, const char *value) {
    double x;
    if (!str_to_double(value, &x) || !(x >= row->min && x <= row->max))
        return status_usage(_("%s must be a number from %g to %g, not \"%s\""), row->name, row->min, row->max, value);
    *as_double(c, row->at) = x;
    return status_ok();
}

static Status set_bool(ModelConfig *c, const FieldRow *row, const char *value) {
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return status_usage(_("%s must be 0 or 1, not \"%s\""), row->name, value);
    *as_bool(c, row->at) = value[0] == '1';
    return status_ok();
}

static Status set_enum(ModelConfig *c, const FieldRow *row, const char *value) {
    for (int i = 0; row->words[i]; i++) {
        if (strcmp(row->words[i], value) != 0) continue;
        put_enum(c, row->at, i);
        return status_ok();
    }
    char words[200];
    list_words(row->words, words, sizeof words);
    return status_usage(_("%s must be one of %s, not \"%s\""), row->name, words, value);
}

static Status set_scaling(ModelConfig *c, const char *value) {
    RopeScaling scaling;
    STATUS_TRY(rope_scaling_parse(value, &scaling));
    c->rope_scaling = scaling;
    return status_ok();
}

Status config_set(ModelConfig *c, const char *field, const char *value) {
    const FieldRow *row = find_row(field);
    if (!row) return status_usage(_("a model has no field \"%s\""), field);
    switch (row->type) {
    case FIELD_INT:
        return set_int(c, row, value);
    case FIELD_DOUBLE:
        return set_double(c, row, value);
    case FIELD_BOOL:
        return set_bool(c, row, value);
    case FIELD_SCALING:
        return set_scaling(c, value);
    case FIELD_ENUM:
        break;
    }
    return set_enum(c, row, value);
}

bool config_get(const ModelConfig *c, const char *field, char *out, size_t bytes) {
    const FieldRow *row = find_row(field);
    if (!row) return false;
    ModelConfig copy = *c;
    Str text;
    str_init(&text);
    switch (row->type) {
    case FIELD_INT:
        str_addf(&text, "%d", *as_int(&copy, row->at));
        break;
    case FIELD_DOUBLE:
        str_add_double(&text, *as_double(&copy, row->at));
        break;
    case FIELD_BOOL:
        str_add(&text, *as_bool(&copy, row->at) ? "1" : "0");
        break;
    case FIELD_SCALING:
        rope_scaling_text(&copy.rope_scaling, &text);
        break;
    case FIELD_ENUM:
        str_add(&text, row->words[get_enum(c, row->at)]);
        break;
    }
    (void)snprintf(out, bytes, "%s", text.s);
    str_done(&text);
    return true;
}

/* --- shapes --- */

/* Range of every field: a configuration may come from a file. */
static Status check_ranges(const ModelConfig *c) {
    for (int i = 0; i < ROWS; i++) {
        ModelConfig copy = *c;
        const FieldRow *r = &rows[i];
        double x = r->type == FIELD_INT      ? *as_int(&copy, r->at)
                   : r->type == FIELD_DOUBLE ? *as_double(&copy, r->at)
                                             : r->min;
        if (!(x >= r->min && x <= r->max))
            return status_usage(_("%s is %g; it must be from %g to %g"), r->name, x, r->min, r->max);
        if (r->type != FIELD_ENUM) continue;
        int n = 0;
        while (r->words[n]) n++;
        if (get_enum(c, r->at) < 0 || get_enum(c, r->at) >= n)
            return status_usage(_("%s has the unknown number %d"), r->name, get_enum(c, r->at));
    }
    return status_ok();
}

#define NUMBERS_MOST 1e9 /* parameters: 4 GB in float */

static Status check_size(const ModelConfig *c) {
    double heads = (double)c->heads * c->head_dim, kv = (double)c->kv_heads * c->head_dim;
    double matrices = config_is_gated(c->ffn) ? 3 : 2;
    double block = c->d * (2 * heads + 2 * kv + matrices * c->d_ff);
    double total = c->layers * block + (double)c->d * c->vocab * (c->tie ? 1 : 2);
    if (c->pos == POS_LEARNED) total += (double)c->d * c->context;
    if (total > NUMBERS_MOST)
        return status_usage(_("the model would have %.0f parameters; at most %.0f are allowed"), total, NUMBERS_MOST);
    return status_ok();
}

Status config_check_shape(const ModelConfig *c) {
    STATUS_TRY(check_ranges(c));
    STATUS_TRY(rope_scaling_check(&c->rope_scaling));
    if (c->kv_heads > c->heads || c->heads % c->kv_heads)
        return status_usage(
            _("heads (%d) must be a multiple of kv_heads (%d): each key/value head serves equally many queries"),
            c->heads, c->kv_heads);
    if (c->pos == POS_ROPE && c->head_dim % 2)
        return status_usage(_("head_dim (%d) must be even: RoPE turns pairs of numbers"), c->head_dim);
    if (c->pos == POS_SINUSOID && c->d % 2)
        return status_usage(_("d (%d) must be even: sinusoids come in pairs of sine and cosine"), c->d);
    if (c->global_every > 0 && c->window == 0)
        return status_usage(_("global_every (%d) needs a window: without one every layer sees everything"),
                            c->global_every);
    if (c->norm != NORM_NONE && !(c->norm_eps > 0))
        return status_usage(_("norm_eps must be above 0: a row of zeros would divide by 0"));
    return status_ok();
}

Status config_check(const ModelConfig *c) {
    STATUS_TRY(config_check_shape(c));
    return check_size(c);
}

int config_window(const ModelConfig *c, int layer) {
    if (c->global_every > 0 && (layer + 1) % c->global_every == 0) return 0;
    return c->window;
}

bool config_has_qkv_bias(const ModelConfig *c) {
    return c->bias || c->qkv_bias;
}

bool config_has_out_bias(const ModelConfig *c) {
    return c->bias || c->out_bias;
}

bool config_has_ffn_bias(const ModelConfig *c) {
    return c->bias || c->ffn_bias;
}

bool config_is_gated(FfnKind kind) {
    return kind == FFN_SWIGLU || kind == FFN_GEGLU || kind == FFN_REGLU;
}

int config_usual_d_ff(FfnKind kind, int d) {
    enum { MULTIPLE = 16 };
    int gated = (8 * d + 2) / 3; /* rounded up */
    return config_is_gated(kind) ? (gated + MULTIPLE - 1) / MULTIPLE * MULTIPLE : 4 * d;
}
