#include "io/hf_model.h"

#include "bug.h"
#include "intl.h"
#include "io/hf_names.h"
#include "mem.h"
#include "str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- names --- */

/* Of masks and angles, which a model makes for itself. */
static bool is_needless(const char *name) {
    static const char *const endings[] = {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends_in(name, endings[i])) return true;
    return false;
}

/* --- from tensors to slices --- */

typedef struct {
    const HfConfig *config;
    const Safetensors *tensors;
    const Params *params;
    TensorSource *source; /* [slices] */
    bool prefixed;
    int used; /* different tensors that slices were found for */
} Reading;

static bool kind_of(const SafeTensor *t, TensorKind *out) {
    for (int k = 0; k < TENSOR_KINDS; k++) {
        if (strcmp(t->dtype, tensor_name((TensorKind)k)) != 0) continue;
        *out = (TensorKind)k;
        return true;
    }
    return false;
}

static void add_dims(Str *out, int dims, const long long *dim) {
    for (int i = 0; i < dims; i++) str_addf(out, "%s%lld", i ? " x " : "", dim[i]);
}

/* What the slice wants the whole tensor to be. */
static int wanted_shape(const Slice *s, const HfName *n, long long dim[2]) {
    int parts = n->parts ? n->parts : 1;
    bool vector = s->rows == 1 && !str_ends_in(n->slice, ".weight");
    if (vector) {
        dim[0] = (long long)s->cols * parts;
        return 1;
    }
    dim[0] = n->turned ? s->cols : (long long)s->rows * parts;
    dim[1] = n->turned ? (long long)s->rows * parts : s->cols;
    return 2;
}

static Status check_shape(const SafeTensor *t, const Slice *s, const HfName *n) {
    long long wanted[2];
    int dims = wanted_shape(s, n, wanted);
    bool same = dims == t->dims;
    for (int i = 0; i < dims && same; i++) same = wanted[i] == t->dim[i];
    if (same) return status_ok();
    Str is, should;
    str_init(&is);
    str_init(&should);
    add_dims(&is, t->dims, t->dim);
    add_dims(&should, dims, wanted);
    Status status = status_usage(_("tensor '%s' is %s; by config.json it should be %s"), t->name, is.s, should.s);
    str_done(&is);
    str_done(&should);
    return status;
}

static Status find_source(Reading *r, const HfName *n, int layer, int slice) {
    char name[HF_NAME_BYTES];
    TensorKind kind;
    const Slice *s = &r->params->slice[slice];
    hf_file_name(r->config->layout, r->prefixed, n, layer, name);
    const SafeTensor *t = safetensors_find(r->tensors, name);
    if (!t) return status_usage(_("there is no tensor '%s'"), name);
    if (!kind_of(t, &kind))
        return status_usage(_("tensor '%s' is of type %s; F32, F16 and BF16 are read"), name, t->dtype);
    STATUS_TRY(check_shape(t, s, n));
    int line = n->turned ? s->rows : s->cols, parts = n->parts ? n->parts : 1;
    size_t first = (size_t)n->part * (size_t)line * tensor_bytes(kind);
    r->source[slice] = (TensorSource){.data = t->data + first, .kind = kind, .ld = line * parts, .turned = n->turned};
    if (hf_is_interleaved(&r->config->model, n)) r->source[slice].interleaved = r->config->model.head_dim;
    memcpy(r->source[slice].name, name, sizeof name);
    r->used += n->part == 0;
    return status_ok();
}

/* The slices of LAYER (-1: of none) that the model has. */
static Status find_sources(Reading *r, const HfName *names, int layer) {
    for (const HfName *n = names; n->slice; n++) {
        int slice = hf_slice(r->params, n, layer);
        if (slice >= 0) STATUS_TRY(find_source(r, n, layer, slice));
    }
    return status_ok();
}

static bool is_known(const Reading *r, const char *name) {
    for (int i = 0; i < r->params->slices; i++)
        if (strcmp(r->source[i].name, name) == 0) return true;
    return is_needless(name) || (r->config->model.tie && strcmp(name, "lm_head.weight") == 0);
}

/* A tensor that nobody asked for is one of another model. */
static Status check_all_known(const Reading *r) {
    if (r->used == safetensors_count(r->tensors)) return status_ok();
    for (int i = 0; i < safetensors_count(r->tensors); i++)
        if (!is_known(r, safetensors_at(r->tensors, i)->name))
            return status_usage(_("tensor '%s' has no place in this model"), safetensors_at(r->tensors, i)->name);
    return status_ok();
}

static bool has_prefix(const Safetensors *s, const char *prefix) {
    for (int i = 0; i < safetensors_count(s); i++)
        if (strncmp(safetensors_at(s, i)->name, prefix, strlen(prefix)) == 0) return true;
    return false;
}

static Status find_all(Reading *r) {
    r->prefixed = has_prefix(r->tensors, hf_layouts[r->config->layout].prefix);
    STATUS_TRY(find_sources(r, hf_layouts[r->config->layout].whole, -1));
    for (int l = 0; l < r->config->model.layers; l++)
        STATUS_TRY(find_sources(r, hf_layouts[r->config->layout].layer, l));
    return check_all_known(r);
}

/* Before room is made for slices: the layers must be there. */
static Status check_layers(const HfConfig *config, const Safetensors *s) {
    if (config->model.layers <= safetensors_count(s)) return status_ok();
    return status_usage(_("config.json says %d layers, and there are only %d tensors"), config->model.layers,
                        safetensors_count(s));
}

Status hf_model_take(const char *name, const HfConfig *config, Safetensors *s, TensorUse use, Model **out) {
    *out = NULL;
    Status status = check_layers(config, s);
    if (!status_is_ok(&status)) {
        safetensors_close(s);
        return status_usage("'%s': %s", name, status.text);
    }
    Model *m = model_shell(&config->model);
    Reading r = {.config = config, .tensors = s, .params = model_read_params(m)};
    r.source = MEM_ARRAY(TensorSource, (size_t)r.params->slices);
    status = find_all(&r);
    if (status_is_ok(&status)) {
        Mapping **mapping;
        int n = safetensors_release(s, &mapping);
        status = tensors_adopt(name, m, r.source, use, mapping, n);
        mem_free(mapping);
    } else {
        safetensors_close(s);
        status = status_usage("'%s': %s", name, status.text);
    }
    mem_free(r.source);
    if (status_is_ok(&status))
        *out = m;
    else
        model_free(m);
    return status;
}

/* --- files --- */

static char *beside(const char *folder, size_t n, const char *file) {
    Str path;
    str_init(&path);
    str_add_n(&path, folder, n);
    str_addf(&path, "%s%s", n && folder[n - 1] != '/' ? "/" : "", file);
    return str_take(&path);
}

bool hf_model_files(const char *path, char **config, char **weights) {
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
    if (str_ends_in(path, ".safetensors")) {
        const char *slash = strrchr(path, '/');
        *config = beside(path, slash ? (size_t)(slash - path) + 1 : 0, "config.json");
        *weights = mem_text(path);
        return true;
    }
    *config = beside(path, strlen(path), "config.json");
    for (int i = 0; i < 2; i++) {
        *weights = beside(path, strlen(path), names[i]);
        if (access(*weights, F_OK) == 0) return true;
        mem_free(*weights);
    }
    *weights = NULL;
    return false;
}

Status hf_model_read(const char *path, TensorUse use, HfConfig *config, Model **out) {
    char *config_path, *weights;
    Safetensors *s;
    *out = NULL;
    bool found = hf_model_files(path, &config_path, &weights);
    Status status = hf_config_read(config_path, config);
    if (status_is_ok(&status) && !found)
        status = status_usage(_("'%s' has neither model.safetensors nor model.safetensors.index.json"), path);
    if (status_is_ok(&status)) status = safetensors_open(weights, &s);
    if (status_is_ok(&status)) status = hf_model_take(weights, config, s, use, out);
    mem_free(config_path);
    mem_free(weights);
    return status;
}
