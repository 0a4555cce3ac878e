#include "recipe.h"

#include "bug.h"
#include "corpora.h"
#include "intl.h"
#include "lab_internal.h"
#include "tune.h"

#include <stdio.h>
#include <string.h>

enum { PASSES = 3 };

const char *recipe_next_difference(const Options *a, const Options *b, int *at) {
    while (*at < options_count(a)) {
        const char *name = options_row(a, (*at)++)->name;
        if (strcmp(options_value(a, name), options_value(b, name)) != 0) return name;
    }
    return NULL;
}

/* ---- what a change comes to ---- */

/* Whether sentences go in parts of the context: all but those of a grammar's own words (corpora_fit). */
static bool is_cut(const Options *o) {
    return strcmp(options_text(o, "tokens"), "word") != 0 || !corpora_is_grammar(options_text(o, "corpus"));
}

/* The option that makes other sentences or other first parameters; NULL: none does. CONTEXT: it is another one. */
static const char *other_data(const Options *before, const Options *after, bool context) {
    static const char *const names[] = {"corpus", "tokens", "merges", "sentences", "seed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (options_differ(before, after, names[i])) return names[i];
    return context && is_cut(after) ? "context" : NULL;
}

const char *recipe_other_batches(const Options *before, const Options *after) {
    static const char *const names[] = {"batch", "epochs", "model", "tokenizer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (options_differ(before, after, names[i])) return names[i];
    return other_data(before, after, options_differ(before, after, "context"));
}

static bool same_sentences(const Sentences *a, const Sentences *b) {
    if (a->sentences != b->sentences || a->sentences == 0) return a->sentences == b->sentences;
    size_t starts = (size_t)a->sentences + 1, ids = (size_t)a->start[a->sentences];
    return memcmp(a->start, b->start, starts * sizeof *a->start) == 0 && memcmp(a->id, b->id, ids * sizeof *a->id) == 0;
}

bool recipe_same_batches(const Run *a, const Run *b) {
    const Corpus *x = run_read_corpus(a), *y = run_read_corpus(b);
    return run_seed(a) == run_seed(b) && run_steps(a) == run_steps(b) && run_recipe(a).batch == run_recipe(b).batch &&
           vocab_same(x->vocab, y->vocab) && same_sentences(&x->train, &y->train);
}

static void say_difference(const ParamsDifference *d, Str *why) {
    const Slice *a = &d->a, *b = &d->b;
    int all = d->gone + d->fresh + d->reshaped;
    if (a->rows && b->rows)
        str_addf(why, _("%s would be %d × %d, not %d × %d"), a->name, b->rows, b->cols, a->rows, a->cols);
    else if (a->rows)
        str_addf(why, _("%s would go"), a->name);
    else
        str_addf(why, _("%s would be new"), b->name);
    if (all > 1) str_addf(why, _(" (%d tensors differ)"), all);
}

/* Whether both fine-tune the same model. */
static bool same_tuning(const Options *before, const Options *after) {
    return tune_wanted(before) && tune_wanted(after) && !options_differ(before, after, "model") &&
           !options_differ(before, after, "tokenizer");
}

/* Of two that do. */
static Status compare_tunings(const Options *before, const Options *after, LabChange *change, Str *why) {
    bool context = options_differ(before, after, "context");
    const char *data = other_data(before, after, context);
    if (options_differ(before, after, "arch")) return tune_refuses_field("arch", lab_model(after));
    if (!data && context) data = "context";
    *change = data ? LAB_RESTARTS : LAB_KEEPS;
    if (data)
        str_addf(why, strcmp(data, "seed") == 0 ? _("%s makes other batches") : _("%s makes other sentences"), data);
    else if (options_differ(before, after, "optimizer"))
        str_add(why, _("the moments begin again from 0"));
    return status_ok();
}

/* One of them, or both, is with a model of others. */
static void compare_with_others(const Options *before, const Options *after, Str *why) {
    if (tune_wanted(after))
        str_addf(why, _("%s is fine-tuned from the numbers of its file"), lab_model(after));
    else if (tune_wanted(before) && !lab_model(after))
        str_addf(why, _("%s makes other parameters"), "model");
    else
        str_addf(why, _("%s is a model of others, which is only read"), lab_model(lab_model(after) ? after : before));
}

Status recipe_compare(const Options *before, const Options *after, int vocab, LabChange *change, Str *why) {
    ModelConfig a, b;
    int at = 0;
    ParamsDifference difference;
    *change = recipe_next_difference(before, after, &at) ? LAB_KEEPS : LAB_SAME;
    STATUS_TRY(lab_check(after));
    if (*change == LAB_SAME) return status_ok();
    if (same_tuning(before, after)) return compare_tunings(before, after, change, why);
    if (lab_model(before) || lab_model(after)) {
        *change = LAB_RESTARTS;
        compare_with_others(before, after, why);
        return status_ok();
    }
    STATUS_TRY(run_config(before, vocab, &a));
    STATUS_TRY(run_config(after, vocab, &b));
    const char *data = other_data(before, after, a.context != b.context);
    if (data) {
        *change = LAB_RESTARTS;
        str_addf(why, strcmp(data, "seed") == 0 ? _("%s makes other parameters") : _("%s makes other sentences"), data);
    } else if (!model_same_slices(&a, &b, &difference)) {
        *change = LAB_RESTARTS;
        say_difference(&difference, why);
    } else if (options_differ(before, after, "optimizer")) {
        str_add(why, _("the moments begin again from 0"));
    }
    return status_ok();
}

Status recipe_of(const Run *r, const Options *before, const Options *after, Recipe *out) {
    *out = run_recipe(r);
    ParamsDifference difference;
    if (!run_tunes(r)) STATUS_TRY(run_config(after, out->model.vocab, &out->model));
    if (!model_same_slices(model_config(run_read_model(r)), &out->model, &difference))
        return status_usage(_("the model of this file is none that options describe; it stays as it is"));
    out->optim = run_optim_config(after);
    if (!options_differ(before, after, "epochs") && !options_differ(before, after, "batch")) return status_ok();
    if (run_tunes(r))
        STATUS_TRY(tune_room_for(&out->model, tune_tokens(before, &out->model), tune_tokens(after, &out->model)));
    out->batch = (int)options_int(after, "batch");
    out->steps = (long)options_int(after, "epochs") * run_steps_of_epoch(r, out->batch);
    if (out->steps >= run_done(r)) return status_ok();
    return status_usage(_("the plan would end at step %ld, and this is step %ld; give more epochs"), out->steps,
                        run_done(r));
}

/* ---- options of a file ---- */

/* A value that the options do not allow is left out: then they do not describe the file. */
static void put(Options *o, const char *name, const char *value) {
    if (strcmp(options_value(o, name), value) == 0) return;
    Status s = options_set(o, name, value);
    (void)s;
}

static void put_real(Options *o, const char *name, double value) {
    Str text;
    str_init(&text);
    str_add_double(&text, value);
    put(o, name, text.s);
    str_done(&text);
}

static void put_int(Options *o, const char *name, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    put(o, name, text);
}

/* Gives the fields that do not follow by themselves; true when there was one. */
static bool give_fields(const ModelConfig *c, Options *o) {
    bool gave = false;
    for (const char *const *field = config_fields(); *field; field++) {
        char want[64];
        Str is;
        if (strcmp(*field, "vocab") == 0) continue; /* the corpus says it */
        str_init(&is);
        run_follow(o, *field, &is); /* what it is, given or not */
        bool known = config_get(c, *field, want, sizeof want) && strcmp(want, is.s) == 0;
        str_done(&is);
        if (known) continue;
        put(o, *field, want);
        gave = true;
    }
    return gave;
}

static void describe_model(const ModelConfig *c, Options *o) {
    for (const char *const *field = config_fields(); *field; field++) options_reset(o, *field);
    for (int pass = 0; pass < PASSES && give_fields(c, o); pass++) {} /* those that follow may follow from later ones */
}

static void describe_optim(const OptimConfig *c, Options *o) {
    static const char *const schedules[] = {"constant", "cosine", "linear"};
    put(o, "optimizer", c->kind == OPTIM_SGD ? "sgd" : "adamw");
    put_real(o, "lr", c->lr);
    put(o, "lr_min", "");
    if (c->lr_min < c->lr / 10 || c->lr_min > c->lr / 10) put_real(o, "lr_min", c->lr_min);
    put(o, "schedule", schedules[c->schedule]);
    put_int(o, "warmup", c->warmup);
    put_real(o, "weight_decay", c->weight_decay);
    put_real(o, "clip", c->clip);
}

static void describe_data(const Run *r, Options *o) {
    const Corpus *corpus = run_read_corpus(r);
    char seed[32];
    long per_epoch = run_per_epoch(r);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run_seed(r));
    put(o, "seed", seed);
    put(o, "corpus", run_spec(r));
    if (run_sentences(r) > 0) put_int(o, "sentences", run_sentences(r));
    put(o, "tokens", vocab_unit_name(vocab_unit(corpus->vocab)));
    if (vocab_unit(corpus->vocab) == VOCAB_BPE) put_int(o, "merges", vocab_merges(corpus->vocab));
    put_int(o, "batch", run_recipe(r).batch);
    if (per_epoch > 0) put_int(o, "epochs", (run_steps(r) + per_epoch - 1) / per_epoch);
}

const char *recipe_arch(const Run *r) {
    return model_config(run_read_model(r))->pos == POS_ROPE ? "modern" : "gpt";
}

/* A model of others brings its fields and its tokens; its text counts as given, else it would only be read. */
static void describe_tuning(const Run *r, Options *o) {
    for (const char *const *field = config_fields(); *field; field++) options_reset(o, *field);
    options_reset(o, "tokens");
    options_reset(o, "merges");
    put_int(o, "context", run_part(r));
    Status s = options_set(o, "corpus", run_spec(r));
    BUG_ON(!status_is_ok(&s)); /* any text is a name */
}

void recipe_describe_model(const Run *r, Options *o) {
    Recipe recipe = run_recipe(r);
    put(o, "arch", recipe_arch(r));
    if (!run_tunes(r)) describe_model(&recipe.model, o);
    describe_optim(&recipe.optim, o);
}

static void comes_to(const Options *o, const char *name, Str *out) {
    if (options_is_set(o, name))
        str_add(out, options_value(o, name));
    else
        (void)options_follow(o, name, out);
}

void recipe_say_as(const Options *a, Options *o) {
    for (int i = 0; i < options_count(o); i++) {
        const char *name = options_row(o, i)->name;
        Str theirs, ours;
        str_init(&theirs);
        str_init(&ours);
        comes_to(a, name, &theirs);
        comes_to(o, name, &ours);
        if (strcmp(theirs.s, ours.s) == 0) put(o, name, options_value(a, name));
        str_done(&theirs);
        str_done(&ours);
    }
}

void recipe_describe(const Run *r, Options *o) {
    if (run_reads_only(r)) return;
    recipe_describe_model(r, o);
    describe_data(r, o);
    if (run_tunes(r)) describe_tuning(r, o);
}

/* ---- words ---- */

void recipe_words(const Options *o, Str *out) {
    static const char *const shown[] = {"vocab", "d", "layers", "heads", "kv_heads"};
    ModelConfig preset;
    if (lab_model(o)) return; /* the file says them all */
    (void)config_preset(options_text(o, "arch"), &preset);
    for (const char *const *field = config_fields(); *field; field++) {
        char usual[64];
        bool left_out = !options_is_given(o, *field) || !options_is_set(o, *field) ||
                        !config_get(&preset, *field, usual, sizeof usual) ||
                        strcmp(usual, options_value(o, *field)) == 0;
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) left_out = left_out || !strcmp(shown[i], *field);
        if (!left_out) str_addf(out, "%s%s=%s", out->len ? " " : "", *field, options_value(o, *field));
    }
}
