#include "io/llama2c_write.h"

#include "bug.h"
#include "file.h"
#include "intl.h"
#include "io/little.h"
#include "io/llama2c.h"
#include "rope_scaling.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static bool is_near(double x, double y) {
    return fabs(x - y) <= 1e-12 * fabs(y);
}

Status llama2c_write_check(const ModelConfig *c) {
    const struct {
        bool fits;
        const char *reason;
    } need[] = {
        {c->norm == NORM_RMS && c->norm_place == PLACE_PRE, N_("its norms are not RMS, before each part")},
        {c->ffn == FFN_SWIGLU, N_("its feed-forward layer (ffn) is not swiglu")},
        {c->pos == POS_ROPE && c->pairing == PAIRING_ADJACENT, N_("its positions are not RoPE in adjacent pairs")},
        {is_near(c->rope_base, 10000) && c->rope_scaling.kind == SCALING_NONE,
         N_("its RoPE has another base than 10000, or is scaled")},
        {is_near(c->norm_eps, 1e-5), N_("its norm_eps is not 1e-5")},
        {!config_has_qkv_bias(c) && !config_has_out_bias(c) && !config_has_ffn_bias(c), N_("it has biases")},
        {c->heads * c->head_dim == c->d, N_("d is not heads x head_dim")},
        {c->window == 0 && c->global_every == 0, N_("it has a window")},
        {!c->parallel && !c->qk_norm && !(c->softcap > 0), N_("its blocks are of another kind")}};
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        if (!need[i].fits) return status_usage(_("a file of llama2.c cannot say this model: %s"), _(need[i].reason));
    return status_ok();
}

/* --- numbers --- */

static void put_word(FILE *f, uint32_t x) {
    unsigned char byte[4];
    little_put(byte, x, sizeof byte);
    (void)fwrite(byte, 1, sizeof byte, f); /* file_commit finds every failure */
}

static void put_number(FILE *f, double x) {
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_word(f, bits);
}

static void put_header(FILE *f, const ModelConfig *c) {
    const int n[] = {c->d, c->d_ff, c->layers, c->heads, c->kv_heads, c->tie ? c->vocab : -c->vocab, c->context};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) put_word(f, (uint32_t)n[i]);
}

static void put_slice(FILE *f, const Params *p, const char *name) {
    int slice = params_find(p, name);
    BUG_ON(slice < 0);
    for (int r = 0; r < p->slice[slice].rows; r++)
        for (int c = 0; c < p->slice[slice].cols; c++) put_number(f, (double)params_number(p, slice, r, c));
}

static void put_layers(FILE *f, const Model *m, const char *name) {
    for (int l = 0; l < model_config(m)->layers; l++) {
        char full[80];
        (void)snprintf(full, sizeof full, "block%d.%s", l, name);
        put_slice(f, model_read_params(m), full);
    }
}

/* Of every position and pair: first all cosines, then all sines. */
static void put_angles(FILE *f, const ModelConfig *c) {
    for (int sine = 0; sine < 2; sine++)
        for (int position = 0; position < c->context; position++)
            for (int pair = 0; pair < c->head_dim / 2; pair++) {
                double angle = position * rope_speed(c->rope_base, c->head_dim, pair, &c->rope_scaling);
                put_number(f, sine ? sin(angle) : cos(angle));
            }
}

static void put_all(FILE *f, const Model *m) {
    const ModelConfig *c = model_config(m);
    const Params *p = model_read_params(m);
    put_header(f, c);
    for (const char *const *name = llama2c_order; *name; name++) {
        if (**name == '*')
            put_layers(f, m, *name + 1);
        else
            put_slice(f, p, *name);
    }
    put_angles(f, c);
    if (!c->tie) put_slice(f, p, "head.weight");
}

static Status check_finite(const Params *p) {
    int bad = params_first_bad(p);
    return bad < 0 ? status_ok() : status_failed(_("%s has a number that is not finite"), p->slice[bad].name);
}

Status llama2c_write(const char *path, const Model *m) {
    FileWriter *w;
    STATUS_TRY(check_finite(model_read_params(m)));
    STATUS_TRY(file_begin(path, &w));
    put_all(file_stream(w), m);
    return file_commit(w);
}
