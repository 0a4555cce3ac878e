#include "io/llama2c.h"

#include "account.h"
#include "bug.h"
#include "intl.h"
#include "io/little.h"
#include "mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBERS = 7, /* of the header: dim, hidden, layers, heads, kv heads, vocabulary, context */
    V0_HEADER = 4 * NUMBERS,
    V1_HEADER = 256,
    V1_SHARED = 8 + 4 * NUMBERS, /* where the byte "shared classifier" stands */
};
#define V1_MAGIC 0x616b3432u

typedef struct {
    int version;
    size_t begin; /* of the numbers */
    ModelConfig config;
} Header;

static bool is_versioned(const unsigned char *data, size_t bytes) {
    return bytes >= 4 && little_word(data) == V1_MAGIC;
}

/* --- the header --- */

static Status take_numbers(const unsigned char *p, Header *h) {
    int32_t n[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t word = little_word(p + 4 * i);
        memcpy(&n[i], &word, sizeof word);
    }
    ModelConfig *c = &h->config;
    *c = config_modern();
    c->d = n[0];
    c->d_ff = n[1];
    c->layers = n[2];
    c->heads = n[3];
    c->kv_heads = n[4];
    c->tie = h->version > 0 || n[5] > 0;
    c->vocab = n[5] < 0 && n[5] > INT32_MIN ? -n[5] : n[5];
    c->context = n[6];
    c->norm_eps = 1e-5;
    if (h->version > 0 && n[5] < 0) return status_usage(_("its vocabulary has %d tokens"), n[5]);
    if (c->heads < 1 || c->d < 1 || c->d % c->heads)
        return status_usage(_("its width of %d is not that of %d heads"), c->d, c->heads);
    c->head_dim = c->d / c->heads;
    return config_check_shape(c);
}

static Status take_header(const unsigned char *data, size_t bytes, Header *h) {
    h->version = is_versioned(data, bytes);
    h->begin = h->version ? V1_HEADER : V0_HEADER;
    if (bytes < h->begin) return status_usage(_("it ends within its header, after %zu bytes"), bytes);
    if (!h->version) return take_numbers(data, h);
    uint32_t version = little_word(data + 4);
    if (version != 1) return status_usage(_("it has version %u; 0 and 1 are read"), (unsigned)version);
    STATUS_TRY(take_numbers(data + 8, h));
    if (data[V1_SHARED] > 1)
        return status_usage(_("its mark for a shared output layer is %d, not 0 or 1"), data[V1_SHARED]);
    h->config.tie = data[V1_SHARED] == 1;
    return status_ok();
}

/* What the numbers of the header come to, to the byte. */
static Status check_length(const Header *h, size_t bytes) {
    const ModelConfig *c = &h->config;
    Count angles = h->version ? 0 : account_times(c->context, c->head_dim); /* cosines and sines */
    Count numbers = account_add(account_parameters(c).total, angles);
    Count should = account_add(account_times(numbers, 4), (Count)h->begin);
    if (should == ACCOUNT_TOO_MANY || (unsigned long long)should != bytes)
        return status_usage(_("it has %zu bytes; its header (d=%d d_ff=%d layers=%d heads=%d kv_heads=%d vocab=%d "
                              "context=%d) asks for %s%lld"),
                            bytes, c->d, c->d_ff, c->layers, c->heads, c->kv_heads, c->vocab, c->context,
                            should == ACCOUNT_TOO_MANY ? _("more than ") : "", (long long)should);
    return status_ok();
}

static Status read_header(const char *name, const unsigned char *data, size_t bytes, Header *h) {
    *h = (Header){0};
    Status s = take_header(data, bytes, h);
    if (status_is_ok(&s)) s = check_length(h, bytes);
    return status_is_ok(&s) ? s : status_usage(_("'%s' is no llama2.c file: %s"), name, s.text);
}

Status llama2c_config(const char *name, const unsigned char *data, size_t bytes, ModelConfig *out) {
    Header h;
    STATUS_TRY(read_header(name, data, bytes, &h));
    *out = h.config;
    return status_ok();
}

/* --- the numbers --- */

/* In version 0 cosines and sines follow, which are skipped. */
const char *const llama2c_order[] = {"token.weight",
                                     "*norm1.gain",
                                     "*attention.query.weight",
                                     "*attention.key.weight",
                                     "*attention.value.weight",
                                     "*attention.out.weight",
                                     "*norm2.gain",
                                     "*ffn.gate.weight",
                                     "*ffn.down.weight",
                                     "*ffn.up.weight",
                                     "final_norm.gain",
                                     NULL};
static const char *const v1_order[] = {"*norm1.gain",
                                       "*norm2.gain",
                                       "final_norm.gain",
                                       "token.weight",
                                       "*attention.query.weight",
                                       "*attention.key.weight",
                                       "*attention.value.weight",
                                       "*attention.out.weight",
                                       "*ffn.gate.weight",
                                       "*ffn.down.weight",
                                       "*ffn.up.weight",
                                       NULL};

static const unsigned char *place(const Params *p, const char *name, const unsigned char *at, TensorSource *source) {
    int slice = params_find(p, name);
    BUG_ON(slice < 0);
    source[slice] = (TensorSource){.data = at, .kind = TENSOR_F32, .ld = p->slice[slice].cols};
    (void)snprintf(source[slice].name, sizeof source[slice].name, "%s", name);
    return at + 4 * slice_count(&p->slice[slice]);
}

static const unsigned char *place_layers(const Params *p, int layers, const char *name, const unsigned char *at,
                                         TensorSource *source) {
    for (int l = 0; l < layers; l++) {
        char full[80];
        (void)snprintf(full, sizeof full, "block%d.%s", l, name);
        at = place(p, full, at, source);
    }
    return at;
}

/* Where each slice lies. */
static void place_all(const Header *h, const Params *p, const unsigned char *at, TensorSource *source) {
    const ModelConfig *c = &h->config;
    for (const char *const *name = h->version ? v1_order : llama2c_order; *name; name++)
        at = **name == '*' ? place_layers(p, c->layers, *name + 1, at, source) : place(p, *name, at, source);
    if (!h->version) at += 4 * (size_t)c->context * (size_t)c->head_dim;
    if (!c->tie) (void)place(p, "head.weight", at, source);
}

Status llama2c_parse(const char *name, Mapping *mapping, TensorUse use, Model **out) {
    Header h;
    *out = NULL;
    const unsigned char *data = mapping_data(mapping);
    Status s = read_header(name, data, mapping_bytes(mapping), &h);
    if (!status_is_ok(&s)) {
        mapping_close(mapping);
        return s;
    }
    Model *m = model_shell(&h.config);
    const Params *p = model_read_params(m);
    TensorSource *source = MEM_ARRAY(TensorSource, (size_t)p->slices);
    place_all(&h, p, data + h.begin, source);
    s = tensors_adopt(name, m, source, use, &mapping, 1);
    mem_free(source);
    if (status_is_ok(&s))
        *out = m;
    else
        model_free(m);
    return s;
}

Status llama2c_read(const char *path, TensorUse use, Model **out) {
    Mapping *mapping;
    *out = NULL;
    STATUS_TRY(mapping_open(path, &mapping));
    return llama2c_parse(path, mapping, use, out);
}
