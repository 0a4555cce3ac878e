#include "io/hf_config.h"

#include "file.h"
#include "intl.h"
#include "io/json_text.h"
#include "str.h"

#include <math.h>
#include <string.h>

enum { CONFIG_BYTES = 16 << 20, INT_MOST = 1000000000, MISTRAL_WINDOW = 4096 };

/* --- fields --- */

static Status take_int(const json_t *root, const char *key, int otherwise, int *out) {
    const json_t *x = json_object_get(root, key);
    *out = otherwise;
    if (json_text_is_absent(x)) return otherwise < 0 ? status_usage(_("it does not say %s"), key) : status_ok();
    if (!json_is_integer(x) || json_integer_value(x) < 0 || json_integer_value(x) > INT_MOST)
        return status_usage(_("%s is not a whole number from 0 on"), key);
    *out = (int)json_integer_value(x);
    return status_ok();
}

static Status take_real(const json_t *root, const char *key, double otherwise, double *out) {
    const json_t *x = json_object_get(root, key);
    *out = otherwise;
    if (json_text_is_absent(x)) return status_ok();
    if (!json_is_number(x)) return status_usage(_("%s is not a number"), key);
    *out = json_number_value(x);
    return isfinite(*out) ? status_ok() : status_usage(_("%s is not finite"), key);
}

static Status take_bool(const json_t *root, const char *key, bool otherwise, bool *out) {
    const json_t *x = json_object_get(root, key);
    *out = otherwise;
    if (json_text_is_absent(x)) return status_ok();
    if (!json_is_boolean(x)) return status_usage(_("%s is neither true nor false"), key);
    *out = json_is_true(x);
    return status_ok();
}

/* KEY must be WANTED where it is said at all. */
static Status must_be(const json_t *root, const char *key, bool wanted) {
    bool is;
    STATUS_TRY(take_bool(root, key, wanted, &is));
    return is == wanted ? status_ok()
                        : status_usage(_("%s is %s, which is not known here"), key, is ? "true" : "false");
}

/* An id, the first of a list of ids, or none. */
static int id_of(const json_t *root, const char *key) {
    const json_t *x = json_object_get(root, key);
    if (json_is_array(x)) x = json_array_get(x, 0);
    bool good = json_is_integer(x) && json_integer_value(x) >= 0 && json_integer_value(x) < INT_MOST;
    return good ? (int)json_integer_value(x) : -1;
}

/* --- activations --- */

typedef struct {
    const char *name;
    FfnKind kind;
} Activation;

static const Activation plain_activations[] = {{"gelu_new", FFN_GELU_TANH},
                                               {"gelu_pytorch_tanh", FFN_GELU_TANH},
                                               {"gelu", FFN_GELU},
                                               {"relu", FFN_RELU},
                                               {"silu", FFN_SILU},
                                               {"swish", FFN_SILU},
                                               {NULL, FFN_RELU}};
static const Activation gated_activations[] = {
    {"silu", FFN_SWIGLU}, {"swish", FFN_SWIGLU}, {"gelu", FFN_GEGLU}, {"relu", FFN_REGLU}, {NULL, FFN_RELU}};

static Status take_activation(const json_t *root, const char *key, const char *otherwise, const Activation *known,
                              FfnKind *out) {
    const json_t *x = json_object_get(root, key);
    const char *name = json_text_is_absent(x) ? otherwise : json_string_value(x);
    Str names;
    str_init(&names);
    for (int i = 0; known[i].name; i++) {
        str_addf(&names, "%s%s", i ? ", " : "", known[i].name);
        if (!name || strcmp(name, known[i].name) != 0) continue;
        *out = known[i].kind;
        str_done(&names);
        return status_ok();
    }
    Status s = status_usage(_("%s '%s' is not known here; known are %s"), key, name ? name : "?", names.s);
    str_done(&names);
    return s;
}

/* --- gpt2 --- */

static Status check_gpt2(const json_t *root) {
    STATUS_TRY(must_be(root, "scale_attn_weights", true));
    STATUS_TRY(must_be(root, "scale_attn_by_inverse_layer_idx", false));
    return must_be(root, "add_cross_attention", false);
}

static Status read_gpt2(const json_t *root, ModelConfig *c) {
    *c = config_gpt();
    STATUS_TRY(check_gpt2(root));
    STATUS_TRY(take_int(root, "n_layer", -1, &c->layers));
    STATUS_TRY(take_int(root, "n_head", -1, &c->heads));
    STATUS_TRY(take_int(root, "n_embd", -1, &c->d));
    STATUS_TRY(take_int(root, "vocab_size", -1, &c->vocab));
    const char *context = json_object_get(root, "n_positions") ? "n_positions" : "n_ctx";
    STATUS_TRY(take_int(root, context, -1, &c->context));
    if (c->heads < 1 || c->d < 1 || c->d % c->heads)
        return status_usage(_("n_embd (%d) is not that of %d heads"), c->d, c->heads);
    c->kv_heads = c->heads;
    c->head_dim = c->d / c->heads;
    STATUS_TRY(take_int(root, "n_inner", c->d < INT_MOST / 4 ? 4 * c->d : INT_MOST, &c->d_ff));
    STATUS_TRY(take_activation(root, "activation_function", "gelu_new", plain_activations, &c->ffn));
    STATUS_TRY(take_real(root, "layer_norm_epsilon", 1e-5, &c->norm_eps));
    return take_bool(root, "tie_word_embeddings", true, &c->tie);
}

/* --- llama and its relatives --- */

static Status read_sizes(const json_t *root, ModelConfig *c) {
    STATUS_TRY(take_int(root, "hidden_size", -1, &c->d));
    STATUS_TRY(take_int(root, "intermediate_size", -1, &c->d_ff));
    STATUS_TRY(take_int(root, "num_hidden_layers", -1, &c->layers));
    STATUS_TRY(take_int(root, "num_attention_heads", -1, &c->heads));
    STATUS_TRY(take_int(root, "num_key_value_heads", c->heads, &c->kv_heads));
    STATUS_TRY(take_int(root, "vocab_size", -1, &c->vocab));
    STATUS_TRY(take_int(root, "max_position_embeddings", -1, &c->context));
    if (c->heads < 1 || c->kv_heads < 1) return status_usage(_("it says that there are no heads"));
    int derived = c->d % c->heads == 0 ? c->d / c->heads : -1;
    if (derived < 0 && json_text_is_absent(json_object_get(root, "head_dim")))
        return status_usage(_("hidden_size (%d) is not that of %d heads, and head_dim is not given"), c->d, c->heads);
    return take_int(root, "head_dim", derived, &c->head_dim);
}

/* --- RoPE: older files say its base at the top and its scaling in rope_scaling, newer ones both in rope_parameters.
 * What is said in several places must be the same; what the objects leave out stands at the top, or is the usual. ---
 */

enum { ROPE_TOP, ROPE_SCALING, ROPE_PARAMETERS, ROPE_PLACES };

typedef struct {
    const char *name;
    const json_t *object; /* NULL: the file does not have it */
} RopePlace;

static Status find_places(const json_t *root, RopePlace *place) {
    static const char *const names[ROPE_PLACES] = {"config.json", "rope_scaling", "rope_parameters"};
    for (int i = 0; i < ROPE_PLACES; i++) {
        const json_t *object = i == ROPE_TOP ? root : json_object_get(root, names[i]);
        place[i] = (RopePlace){names[i], json_text_is_absent(object) ? NULL : object};
        if (place[i].object && !json_is_object(object)) return status_usage(_("%s is no object"), names[i]);
    }
    return status_ok();
}

/* The number KEY, the same wherever it is said; OTHERWISE where it is not. */
static Status take_same(const RopePlace *place, const char *key, double otherwise, double *out) {
    bool said = false;
    *out = otherwise;
    for (int i = 0; i < ROPE_PLACES; i++) {
        double x;
        if (json_text_is_absent(json_object_get(place[i].object, key))) continue;
        STATUS_TRY(take_real(place[i].object, key, otherwise, &x));
        if (said && (x < *out || x > *out))
            return status_usage(_("it says %s twice: %g and, in %s, %g"), key, *out, place[i].name, x);
        *out = x;
        said = true;
    }
    return status_ok();
}

/* A number that must be there; what sense it makes is checked with the others. */
static Status take_factor(const RopePlace *p, const char *key, double *out) {
    const json_t *x = json_object_get(p->object, key);
    if (json_text_is_absent(x)) return status_usage(_("%s does not say %s"), p->name, key);
    return take_real(p->object, key, 0, out);
}

/* A key that is of no kind known here may change the angles. */
static Status check_keys(const RopePlace *p) {
    static const char *const known[] = {"rope_type",       "type",
                                        "rope_theta",      "partial_rotary_factor",
                                        "factor",          "original_max_position_embeddings",
                                        "low_freq_factor", "high_freq_factor"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)p->object, key, value) {
        bool is_known = json_is_null(value);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known = is_known || strcmp(key, known[i]) == 0;
        if (!is_known) return status_usage(_("%s: '%s' is not known here"), p->name, key);
    }
    return status_ok();
}

/* The kind of scaling; NULL: an object that says none and no factor either, which slows nothing. */
static Status read_type(const RopePlace *p, const char **name) {
    const json_t *type = json_object_get(p->object, "rope_type");
    if (json_text_is_absent(type)) type = json_object_get(p->object, "type");
    *name = json_string_value(type);
    bool silent = json_text_is_absent(type) && json_text_is_absent(json_object_get(p->object, "factor"));
    return *name || silent ? status_ok() : status_usage(_("%s does not say %s"), p->name, "rope_type");
}

static Status read_scaling(const RopePlace *p, bool *says, RopeScaling *out) {
    const char *name = NULL;
    *out = rope_unscaled;
    if (p->object) STATUS_TRY(read_type(p, &name));
    *says = name != NULL;
    bool linear = name && strcmp(name, "linear") == 0, llama3 = name && strcmp(name, "llama3") == 0;
    if (name && !linear && !llama3 && strcmp(name, "default") != 0)
        return status_usage(_("%s '%s' is not known here; known are default, linear and llama3"), p->name, name);
    if (p->object) STATUS_TRY(check_keys(p));
    if (!linear && !llama3) return status_ok();
    out->kind = linear ? SCALING_LINEAR : SCALING_LLAMA3;
    STATUS_TRY(take_factor(p, "factor", &out->factor));
    if (llama3) {
        STATUS_TRY(take_factor(p, "low_freq_factor", &out->low));
        STATUS_TRY(take_factor(p, "high_freq_factor", &out->high));
        STATUS_TRY(take_factor(p, "original_max_position_embeddings", &out->original));
    }
    return rope_scaling_check(out);
}

static Status read_rope(const json_t *root, ModelConfig *c) {
    RopePlace place[ROPE_PLACES];
    RopeScaling newer;
    double share;
    bool older_says, newer_says;
    STATUS_TRY(find_places(root, place));
    STATUS_TRY(take_same(place, "rope_theta", 10000, &c->rope_base));
    STATUS_TRY(take_same(place, "partial_rotary_factor", 1, &share)); /* of each head that is turned */
    if (share < 1 || share > 1) return status_usage(_("partial_rotary_factor is %g, which is not known here"), share);
    STATUS_TRY(read_scaling(&place[ROPE_SCALING], &older_says, &c->rope_scaling));
    STATUS_TRY(read_scaling(&place[ROPE_PARAMETERS], &newer_says, &newer));
    if (older_says && newer_says && !rope_scaling_same(&newer, &c->rope_scaling))
        return status_usage(_("rope_parameters and rope_scaling say different things"));
    if (newer_says) c->rope_scaling = newer;
    return status_ok();
}

static Status read_window(const json_t *root, const char *type, ModelConfig *c) {
    bool used = false;
    int full = 0;
    if (strcmp(type, "mistral") == 0) {
        bool said = json_object_get(root, "sliding_window");
        return take_int(root, "sliding_window", said ? 0 : MISTRAL_WINDOW, &c->window);
    }
    if (strcmp(type, "qwen2") == 0) STATUS_TRY(take_bool(root, "use_sliding_window", false, &used));
    if (!used) return status_ok();
    STATUS_TRY(take_int(root, "max_window_layers", 0, &full));
    if (full >= c->layers) return status_ok();
    if (full > 0)
        return status_usage(_("max_window_layers is %d: a window in some layers only is not known here"), full);
    return take_int(root, "sliding_window", 0, &c->window);
}

static Status read_llama(const json_t *root, const char *type, ModelConfig *c) {
    bool attention, mlp, qwen = strcmp(type, "qwen2") == 0;
    *c = config_modern();
    STATUS_TRY(read_sizes(root, c));
    STATUS_TRY(take_activation(root, "hidden_act", "silu", gated_activations, &c->ffn));
    STATUS_TRY(take_real(root, "rms_norm_eps", 1e-6, &c->norm_eps));
    STATUS_TRY(take_bool(root, "attention_bias", false, &attention));
    STATUS_TRY(take_bool(root, "mlp_bias", false, &mlp));
    STATUS_TRY(take_bool(root, "tie_word_embeddings", false, &c->tie));
    const char *pairing = json_string_value(json_object_get(root, HF_PAIRING));
    c->pairing = pairing && strcmp(pairing, "adjacent") == 0 ? PAIRING_ADJACENT : PAIRING_HALF;
    c->qkv_bias = attention || qwen;
    c->out_bias = attention && !qwen;
    c->ffn_bias = mlp;
    STATUS_TRY(read_rope(root, c));
    return read_window(root, type, c);
}

/* --- all of it --- */

static Status read_model(const json_t *root, HfConfig *out) {
    const char *type = json_string_value(json_object_get(root, "model_type"));
    if (!type) return status_usage(_("it does not say model_type"));
    if (!json_text_is_absent(json_object_get(root, "quantization_config")))
        return status_usage(_("quantization_config is not known here"));
    bool gpt2 = strcmp(type, "gpt2") == 0;
    if (!gpt2 && strcmp(type, "llama") != 0 && strcmp(type, "mistral") != 0 && strcmp(type, "qwen2") != 0)
        return status_usage(_("model_type '%s' is not known here; known are gpt2, llama, mistral and qwen2"), type);
    out->layout = gpt2 ? HF_GPT2 : HF_LLAMA;
    STATUS_TRY(gpt2 ? read_gpt2(root, &out->model) : read_llama(root, type, &out->model));
    out->first = id_of(root, "bos_token_id");
    out->last = id_of(root, "eos_token_id");
    return config_check_shape(&out->model);
}

Status hf_config_parse(const char *name, const char *s, size_t bytes, HfConfig *out) {
    json_t *root;
    *out = (HfConfig){0};
    Status status = json_text_parse(s, bytes, &root);
    if (status_is_ok(&status)) {
        status = read_model(root, out);
        json_decref(root);
    }
    return status_is_ok(&status) ? status : status_usage("'%s': %s", name, status.text);
}

Status hf_config_read(const char *path, HfConfig *out) {
    Str text;
    str_init(&text);
    Status s = file_read(path, CONFIG_BYTES, &text);
    if (status_is_ok(&s)) s = hf_config_parse(path, text.s, text.len, out);
    str_done(&text);
    return s;
}
