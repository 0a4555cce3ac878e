#include "tune.h"

#include "corpora.h"
#include "intl.h"
#include "io/tensor.h"
#include "loaded.h"
#include "model.h"
#include "room.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

#define GB 1e9

static const char *path_of(const Options *o, const char *name) {
    const char *path = options_find(o, name) ? options_text(o, name) : NULL;
    return path && strcmp(path, RUN_NO_MODEL) != 0 ? path : NULL;
}

const char *tune_model(const Options *o) {
    return path_of(o, "model");
}

const char *tune_tokenizer(const Options *o) {
    return path_of(o, "tokenizer");
}

bool tune_wanted(const Options *o) {
    const char *model = tune_model(o);
    return model && options_find(o, "corpus") && options_is_given(o, "corpus") && loaded_is(model);
}

/* --- what follows --- */

/* A model that was trained for days forgets with the steps of a new one: its rate is a thirtieth of ours, risen to in
 * ten steps because the moments begin at nothing, and no step is longer than a gradient of norm 1. A step has some
 * hundred tokens, of large models fewer, so that it does not take minutes. */
static void assume_plan(Options *o, bool large) {
    options_assume(o, "lr", "0.0001");
    options_assume(o, "warmup", "10");
    options_assume(o, "clip", "1");
    options_assume(o, "batch", large ? "4" : "16");
    if (options_find(o, "start")) options_assume(o, "start", "pause");
}

void tune_settle(Options *o) {
    enum { PART = 256, LARGE_PART = 128 };
    ModelConfig c;
    char context[32];
    options_forget_assumed(o);
    if (!tune_wanted(o)) return;
    Status s = loaded_config(tune_model(o), &c);
    if (!status_is_ok(&s)) return; /* those who read it say why */
    bool large = model_count(&c) > TENSORS_COPIED_MOST;
    int most = large ? LARGE_PART : PART;
    snprintf(context, sizeof context, "%d", c.context < most ? c.context : most);
    options_assume(o, "arch", c.pos == POS_ROPE ? "modern" : "gpt");
    options_assume(o, "context", context);
    assume_plan(o, large);
}

/* --- what cannot be --- */

Status tune_refuses_field(const char *name, const char *model) {
    return status_usage(_("%s= is of a model that is to be trained; '%s' brings its own"), name, model);
}

/* Fields of a model that is there already, and tokens of a vocabulary that is: context= is how its text is cut. */
static Status check_fields(const Options *o, const char *model) {
    static const char *const tokens[] = {"tokens", "merges"};
    for (const Option *row = run_model_rows; row->name; row++)
        if (options_is_given(o, row->name) && options_is_set(o, row->name) && strcmp(row->name, "arch") != 0 &&
            strcmp(row->name, "context") != 0)
            return tune_refuses_field(row->name, model);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (options_is_given(o, tokens[i])) return tune_refuses_field(tokens[i], model);
    return status_ok();
}

Status tune_check(const Options *o) {
    const char *model = tune_model(o);
    ModelConfig c;
    STATUS_TRY(check_fields(o, model));
    STATUS_TRY(loaded_check(model, tune_tokenizer(o)));
    STATUS_TRY(loaded_config(model, &c));
    STATUS_TRY(config_check(&c));
    if (options_is_set(o, "context") && options_int(o, "context") > c.context)
        return status_usage(_("context=%lld is longer than that of '%s', %d"), options_int(o, "context"), model,
                            c.context);
    return run_check_plan(o);
}

/* --- work --- */

long tune_affordable(size_t parameters, const Sentences *s, double flop, long most) {
    double tokens = s->sentences ? (double)s->start[s->sentences] / (double)s->sentences : 1;
    double n = flop / (2 * (double)parameters * tokens); /* a product and a sum for each parameter and token */
    return n >= (double)most ? most : n < 1 ? 1 : (long)n;
}

/* --- memory --- */

/* Numbers that a pass and its way back keep of a token: about what each layer's operations give, and the logits with
 * their gradient. */
static double numbers_of_token(const ModelConfig *c) {
    double q = (double)c->heads * c->head_dim, kv = (double)c->kv_heads * c->head_dim;
    double layer = 8 * (double)c->d + 3 * q + 4 * kv + (config_is_gated(c->ffn) ? 4 : 2) * (double)c->d_ff;
    return 2 * c->layers * layer + 3 * (double)c->vocab;
}

TuneNeed tune_need(const ModelConfig *c, long tokens) {
    enum { GRADIENTS = 1 + SHARDS, MOMENTS = 2, LOOKS = 2, UPDATE = 1 };
    const int alive = 1 + GRADIENTS + MOMENTS, kept = 1 + MOMENTS;
    double numbers = (double)model_count(c) * sizeof(real), pass = numbers_of_token(c) * (double)tokens * sizeof(real);
    return (TuneNeed){.run = (size_t)((alive + LOOKS) * numbers + pass),
                      .past = (size_t)((kept + alive + 2 * UPDATE) * numbers + pass)};
}

long tune_tokens(const Options *o, const ModelConfig *c) {
    return (long)options_int(o, "batch") *
           (options_is_set(o, "context") ? (long)options_int(o, "context") : c->context);
}

/* Bytes that are left for us: others want some, too. */
static size_t usable(void) {
    return room_left() / 10 * 9;
}

static Status no_room(const ModelConfig *c, long tokens, size_t need, size_t left) {
    return status_usage(
        _("to train %zu parameters takes about %.1f GB of memory (they, gradients, moments, and %ld tokens "
          "at a time), and %.1f GB are free; a smaller batch= or context= needs less"),
        model_count(c), (double)need / GB, tokens, (double)left / GB);
}

Status tune_room(const ModelConfig *c, long tokens, bool *past) {
    TuneNeed need = tune_need(c, tokens);
    size_t left = usable();
    *past = need.run + need.past <= left;
    return need.run <= left ? status_ok() : no_room(c, tokens, need.run, left);
}

Status tune_room_for(const ModelConfig *c, long before, long after) {
    size_t had = tune_need(c, before).run, need = tune_need(c, after).run, left = usable();
    return need <= had || need - had <= left ? status_ok() : no_room(c, after, need, left + had);
}
