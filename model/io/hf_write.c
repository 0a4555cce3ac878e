#include "io/hf_write.h"

#include "bug.h"
#include "file.h"
#include "intl.h"
#include "io/hf_names.h"
#include "io/little.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- what can be said --- */

static const char *gpt2_activation(FfnKind kind) {
    switch (kind) {
    case FFN_GELU_TANH:
        return "gelu_new";
    case FFN_GELU:
        return "gelu";
    case FFN_RELU:
        return "relu";
    case FFN_SILU:
        return "silu";
    default:
        return NULL;
    }
}

static const char *llama_activation(FfnKind kind) {
    switch (kind) {
    case FFN_SWIGLU:
        return "silu";
    case FFN_GEGLU:
        return "gelu";
    case FFN_REGLU:
        return "relu";
    default:
        return NULL;
    }
}

typedef struct {
    bool fits;
    const char *reason; /* when it does not */
} Need;

/* The first of N needs that is not met. */
static const char *unmet(const Need *need, int n) {
    for (int i = 0; i < n; i++)
        if (!need[i].fits) return need[i].reason;
    return NULL;
}

static const char *against_both(const ModelConfig *c) {
    const Need need[] = {{c->norm_place == PLACE_PRE, N_("norm_place is not pre")},
                         {!c->parallel, N_("attention and feed-forward stand side by side (parallel)")},
                         {!c->qk_norm, N_("queries and keys are normalised (qk_norm)")},
                         {!(c->softcap > 0), N_("attention scores are capped (softcap)")},
                         {!(c->z_loss > 0), N_("the loss has a term for log Z (z_loss)")},
                         {c->global_every == 0, N_("some layers see everything, others a window (global_every)")}};
    return unmet(need, (int)(sizeof need / sizeof *need));
}

static const char *against_gpt2(const ModelConfig *c) {
    const Need need[] = {
        {c->norm == NORM_LAYER, N_("norm is not layer")},
        {c->bias, N_("it has no biases")},
        {gpt2_activation(c->ffn), N_("its feed-forward layer (ffn) is none of gelu, gelu_tanh, relu, silu")},
        {c->kv_heads == c->heads, N_("kv_heads is not heads")},
        {c->heads * c->head_dim == c->d, N_("d is not heads x head_dim")},
        {c->window == 0, N_("it has a window")}};
    return unmet(need, (int)(sizeof need / sizeof *need));
}

static bool is_qwen2(const ModelConfig *c) {
    return config_has_qkv_bias(c) && !config_has_out_bias(c);
}

static const char *against_llama(const ModelConfig *c) {
    bool biased = config_has_qkv_bias(c) || config_has_out_bias(c) || config_has_ffn_bias(c);
    const Need need[] = {
        {c->norm == NORM_RMS, N_("norm is not rms")},
        {llama_activation(c->ffn), N_("its feed-forward layer (ffn) is none of swiglu, geglu, reglu")},
        {config_has_qkv_bias(c) || !config_has_out_bias(c), N_("out_bias stands without qkv_bias")},
        {!is_qwen2(c) || !config_has_ffn_bias(c), N_("ffn_bias stands with qkv_bias and without out_bias")},
        {!(c->dropout > 0), N_("it drops numbers of the residual stream (dropout)")},
        {c->window == 0 || !biased, N_("it has a window, and biases")}};
    return unmet(need, (int)(sizeof need / sizeof *need));
}

Status hf_write_check(const ModelConfig *c, HfLayout *layout) {
    bool gpt2 = c->pos == POS_LEARNED, rope = c->pos == POS_ROPE;
    const char *reason = against_both(c);
    if (!reason) reason = gpt2 ? against_gpt2(c) : rope ? against_llama(c) : N_("pos is neither learned nor rope");
    if (layout) *layout = gpt2 ? HF_GPT2 : HF_LLAMA;
    if (!reason) return status_ok();
    return status_usage(_("the Hugging Face layout cannot say this model (as %s): %s"),
                        gpt2   ? "gpt2"
                        : rope ? "llama"
                               : "gpt2, llama",
                        _(reason));
}

/* --- config.json --- */

static void add_int(Str *t, const char *key, int x) {
    str_addf(t, ",\n  \"%s\": %d", key, x);
}

static void add_flag(Str *t, const char *key, bool x) {
    str_addf(t, ",\n  \"%s\": %s", key, x ? "true" : "false");
}

static void add_real(Str *t, const char *key, double x) {
    str_addf(t, ",\n  \"%s\": ", key);
    str_add_double(t, x);
}

static void add_text(Str *t, const char *key, const char *x) {
    str_addf(t, ",\n  \"%s\": \"%s\"", key, x);
}

static void add_ids(Str *t, const ModelConfig *c, int first, int last) {
    add_int(t, "vocab_size", c->vocab);
    add_flag(t, "tie_word_embeddings", c->tie);
    if (first >= 0) add_int(t, "bos_token_id", first);
    if (last >= 0) add_int(t, "eos_token_id", last);
    add_text(t, "torch_dtype", "float32");
    str_add(t, "\n}\n");
}

static void add_gpt2(Str *t, const ModelConfig *c) {
    str_add(t, "{\n  \"model_type\": \"gpt2\",\n  \"architectures\": [\"GPT2LMHeadModel\"]");
    add_int(t, "n_layer", c->layers);
    add_int(t, "n_head", c->heads);
    add_int(t, "n_embd", c->d);
    add_int(t, "n_positions", c->context);
    add_int(t, "n_ctx", c->context);
    add_int(t, "n_inner", c->d_ff);
    add_text(t, "activation_function", gpt2_activation(c->ffn));
    add_real(t, "layer_norm_epsilon", c->norm_eps);
    add_real(t, "embd_pdrop", c->dropout);
    add_real(t, "resid_pdrop", c->dropout);
    add_real(t, "attn_pdrop", 0);
}

static void add_kind(Str *t, const ModelConfig *c) {
    bool qwen2 = is_qwen2(c), mistral = c->window > 0;
    str_addf(t, "{\n  \"model_type\": \"%s\",\n  \"architectures\": [\"%sForCausalLM\"]",
             qwen2     ? "qwen2"
             : mistral ? "mistral"
                       : "llama",
             qwen2     ? "Qwen2"
             : mistral ? "Mistral"
                       : "Llama");
    if (mistral) add_int(t, "sliding_window", c->window);
    if (!qwen2 && !mistral) add_flag(t, "attention_bias", config_has_qkv_bias(c));
    if (!qwen2 && !mistral) add_flag(t, "mlp_bias", config_has_ffn_bias(c));
}

/* With a point: some programs take no whole number for a factor. */
static void add_factor(Str *t, const char *key, double x) {
    str_addf(t, ", \"%s\": ", key);
    size_t at = t->len;
    str_add_double(t, x);
    if (!strpbrk(t->s + at, ".e")) str_add(t, ".0");
}

static void add_scaling(Str *t, const RopeScaling *s) {
    if (s->kind == SCALING_NONE) return;
    bool linear = s->kind == SCALING_LINEAR;
    str_addf(t, ",\n  \"rope_scaling\": {\"rope_type\": \"%s\"", linear ? "linear" : "llama3");
    add_factor(t, "factor", s->factor);
    if (!linear) {
        add_factor(t, "low_freq_factor", s->low);
        add_factor(t, "high_freq_factor", s->high);
        str_add(t, ", \"original_max_position_embeddings\": ");
        str_add_double(t, s->original);
    }
    str_add_char(t, '}');
}

static void add_llama(Str *t, const ModelConfig *c) {
    add_kind(t, c);
    add_int(t, "hidden_size", c->d);
    add_int(t, "intermediate_size", c->d_ff);
    add_int(t, "num_hidden_layers", c->layers);
    add_int(t, "num_attention_heads", c->heads);
    add_int(t, "num_key_value_heads", c->kv_heads);
    add_int(t, "head_dim", c->head_dim);
    add_int(t, "max_position_embeddings", c->context);
    add_real(t, "rms_norm_eps", c->norm_eps);
    add_real(t, "rope_theta", c->rope_base);
    add_scaling(t, &c->rope_scaling);
    add_text(t, "hidden_act", llama_activation(c->ffn));
    if (c->pairing == PAIRING_ADJACENT) add_text(t, HF_PAIRING, "adjacent");
}

/* --- model.safetensors --- */

typedef struct {
    const Model *model;
    HfLayout layout;
    Str header;
    size_t at;  /* bytes of numbers so far */
    FILE *file; /* NULL while the header is made */
} Writing;

static void put_number(Writing *w, real x) {
    float narrow = (float)x;
    uint32_t bits;
    unsigned char byte[4];
    memcpy(&bits, &narrow, sizeof bits);
    little_put(byte, bits, sizeof byte);
    (void)fwrite(byte, 1, sizeof byte, w->file); /* file_commit finds every failure */
}

/* The output of the slice that stands at OUT in the file: the other way round than in tensor.c. */
static int place_in_slice(int head_dim, int out) {
    int head = out / head_dim * head_dim, i = out - head, half = head_dim / 2;
    return head + (i < half ? 2 * i : 2 * (i - half) + 1);
}

static void put_rows(Writing *w, const HfName *n, int slice) {
    const ModelConfig *c = model_config(w->model);
    const Params *p = model_read_params(w->model);
    const Slice *s = &p->slice[slice];
    bool interleaved = hf_is_interleaved(c, n), vector = s->rows == 1 && !str_ends_in(n->slice, ".weight");
    for (int r = 0; r < s->rows; r++) {
        int row = interleaved && !vector ? place_in_slice(c->head_dim, r) : r;
        for (int col = 0; col < s->cols; col++)
            put_number(w, params_number(p, slice, row, interleaved && vector ? place_in_slice(c->head_dim, col) : col));
    }
}

/* The parts that begin with N, side by side: [in x parts out], or their biases. */
static void put_joined(Writing *w, const HfName *n, int layer) {
    const Params *p = model_read_params(w->model);
    enum { PARTS_MOST = 3 };
    int slice[PARTS_MOST] = {0}, parts = n->parts ? n->parts : 1;
    for (int i = 0; i < parts && i < PARTS_MOST; i++) slice[i] = hf_slice(p, n + i, layer);
    const Slice *s = &p->slice[slice[0]];
    for (int in = 0; in < (n->turned ? s->cols : 1); in++)
        for (int i = 0; i < parts; i++)
            for (int out = 0; out < (n->turned ? s->rows : s->cols); out++)
                put_number(w, n->turned ? params_number(p, slice[i], out, in) : params_number(p, slice[i], 0, out));
}

/* A tensor's line of the header, or its numbers. */
static void add_tensor(Writing *w, const HfName *n, int layer) {
    const Params *p = model_read_params(w->model);
    int slice = hf_slice(p, n, layer), parts = n->parts ? n->parts : 1;
    if (slice < 0 || n->part > 0) return;
    const Slice *s = &p->slice[slice];
    bool vector = s->rows == 1 && !str_ends_in(n->slice, ".weight");
    if (w->file && (n->turned || parts > 1)) put_joined(w, n, layer);
    if (w->file && !n->turned && parts == 1) put_rows(w, n, slice);
    if (w->file) return;
    char name[HF_NAME_BYTES];
    size_t end = w->at + 4 * slice_count(s) * (size_t)parts;
    hf_file_name(w->layout, true, n, layer, name);
    str_addf(&w->header, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", name);
    if (vector)
        str_addf(&w->header, "%d", s->cols * parts);
    else
        str_addf(&w->header, "%d,%d", n->turned ? s->cols : s->rows * parts, n->turned ? s->rows * parts : s->cols);
    str_addf(&w->header, "],\"data_offsets\":[%zu,%zu]}", w->at, end);
    w->at = end;
}

static void add_all(Writing *w) {
    const HfNames *names = &hf_layouts[w->layout];
    for (const HfName *n = names->whole; n->slice; n++) add_tensor(w, n, -1);
    for (int l = 0; l < model_config(w->model)->layers; l++)
        for (const HfName *n = names->layer; n->slice; n++) add_tensor(w, n, l);
}

static void put_header(Writing *w) {
    str_add_char(&w->header, '}');
    while (w->header.len % 8) str_add_char(&w->header, ' ');
    unsigned char length[8];
    little_put(length, w->header.len, sizeof length);
    (void)fwrite(length, 1, sizeof length, w->file);
    (void)fwrite(w->header.s, 1, w->header.len, w->file);
}

static Status check_finite(const Params *p) {
    int bad = params_first_bad(p);
    return bad < 0 ? status_ok() : status_failed(_("%s has a number that is not finite"), p->slice[bad].name);
}

static char *in_folder(const char *folder, const char *name) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/%s", folder, name);
    return str_take(&path);
}

static Status write_tensors(const char *path, const Model *m, HfLayout layout) {
    Writing w = {.model = m, .layout = layout};
    FileWriter *file;
    STATUS_TRY(check_finite(model_read_params(m)));
    STATUS_TRY(file_begin(path, &file));
    str_init(&w.header);
    str_add(&w.header, "{\"__metadata__\":{\"format\":\"pt\"}");
    add_all(&w);
    w.file = file_stream(file);
    put_header(&w);
    add_all(&w);
    str_done(&w.header);
    return file_commit(file);
}

static Status write_text(const char *path, const Str *text) {
    FileWriter *file;
    STATUS_TRY(file_begin(path, &file));
    (void)fwrite(text->s, 1, text->len, file_stream(file));
    return file_commit(file);
}

Status hf_write(const char *folder, const Model *m, int first, int last) {
    HfLayout layout = HF_LLAMA;
    const ModelConfig *c = model_config(m);
    STATUS_TRY(hf_write_check(c, &layout));
    Str config;
    str_init(&config);
    if (layout == HF_GPT2)
        add_gpt2(&config, c);
    else
        add_llama(&config, c);
    add_ids(&config, c, first, last);
    char *path = in_folder(folder, "model.safetensors");
    Status s = write_tensors(path, m, layout);
    mem_free(path);
    path = in_folder(folder, "config.json");
    if (status_is_ok(&s)) s = write_text(path, &config);
    mem_free(path);
    str_done(&config);
    return s;
}
