#include "run.h"

#include "bug.h"
#include "corpora.h"
#include "intl.h"
#include "loaded.h"
#include "tune.h"

#include <string.h>

enum { VOCAB_UNKNOWN = 1 };

#define BIG 1e9

const Option run_model_rows[] = {
    {"arch", OPTION_CHOICE, "gpt", 0, 0, "gpt|modern", "",
     N_("preset: gpt (layer norm, GELU, learned positions) or modern (RMS norm, SwiGLU, RoPE, grouped queries)")},
    {"vocab", OPTION_INT, NULL, 1, 1e6, NULL, "tokens",
     N_("rows of the embedding; default: as many as the corpus has")},
    {"context", OPTION_INT, NULL, 2, 4096, NULL, "tokens", N_("longest sequence; default: the preset's 64")},
    {"d", OPTION_INT, NULL, 1, 8192, NULL, "", N_("width of the residual stream; default: the preset's 64")},
    {"layers", OPTION_INT, NULL, 1, 128, NULL, "", N_("blocks; default: the preset's 2")},
    {"heads", OPTION_INT, NULL, 1, 256, NULL, "", N_("query heads; default: the preset's 4")},
    {"kv_heads", OPTION_INT, NULL, 1, 256, NULL, "",
     N_("key and value heads; default: heads (gpt) or half of them (modern, when even)")},
    {"head_dim", OPTION_INT, NULL, 1, 1024, NULL, "", N_("width of a head; default: d / heads")},
    {"d_ff", OPTION_INT, NULL, 1, 65536, NULL, "",
     N_("width of the feed-forward layer; default: 4 d, or 8/3 d rounded up to a multiple of 16 when gated")},
    {"norm", OPTION_CHOICE, NULL, 0, 0, "layer|rms|none", "", N_("normalisation; default: the preset's")},
    {"norm_place", OPTION_CHOICE, NULL, 0, 0, "pre|post|both|output", "", N_("where it stands; default: pre")},
    {"norm_eps", OPTION_REAL, NULL, 1e-12, 1, NULL, "", N_("added to the variance; default: 1e-5 (layer), 1e-6 (rms)")},
    {"ffn", OPTION_CHOICE, NULL, 0, 0, "relu|gelu|gelu_tanh|silu|squared_relu|swiglu|geglu|reglu", "",
     N_("activation of the feed-forward layer; default: the preset's")},
    {"pos", OPTION_CHOICE, NULL, 0, 0, "none|learned|sinusoid|rope", "", N_("positions; default: the preset's")},
    {"rope_base", OPTION_REAL, NULL, 1, 1e12, NULL, "", N_("base of the RoPE angles; default: 10000")},
    {"rope_scaling", OPTION_TEXT, NULL, 0, 0, NULL, "",
     N_("angles slowed for longer texts: none, linear:FACTOR or llama3:FACTOR:LOW:HIGH:ORIGINAL; default: none")},
    {"pairing", OPTION_CHOICE, NULL, 0, 0, "adjacent|half", "",
     N_("which numbers RoPE turns together; default: adjacent")},
    {"window", OPTION_INT, NULL, 0, 1e6, NULL, "tokens", N_("tokens a query sees, itself included; 0: all before it")},
    {"global_every", OPTION_INT, NULL, 0, 128, NULL, "layers", N_("every n-th layer ignores the window; 0: none")},
    {"bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("biases in linear layers; default: the preset's")},
    {"qkv_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: biases of queries, keys and values; default: 0")},
    {"out_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: a bias behind attention; default: 0")},
    {"ffn_bias", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("without bias: biases in the feed-forward layer; default: 0")},
    {"tie", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("the output layer's weight is the embedding; default: 0")},
    {"qk_norm", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("RMS norm of each query and key; default: 0")},
    {"softcap", OPTION_REAL, NULL, 0, 1e6, NULL, "", N_("cap c of attention scores, c tanh(s/c); 0: off")},
    {"z_loss", OPTION_REAL, NULL, 0, 1e6, NULL, "", N_("coefficient of (log Z)^2 in the loss; 0: off")},
    {"parallel", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("attention and feed-forward side by side; default: 0")},
    {"dropout", OPTION_REAL, NULL, 0, 0.9, NULL, "", N_("share dropped while training; 0: off")},
    {0},
};

const Option run_plan_rows[] = {
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file",
     N_("farm, morph, stories, tags, a .grammar file, or a text file with one sentence a line")},
    {"tokens", OPTION_CHOICE, "word", 0, 0, "word|char|byte|bpe", "",
     N_("what a token is: a word, split at blanks; a character; a byte; a sub-word (bpe)")},
    {"merges", OPTION_INT, "400", 0, 1e6, NULL, "", N_("merges that tokens=bpe learns from the corpus")},
    {"sentences", OPTION_INT, "20000", 1, 1e8, NULL, "",
     N_("training sentences (of a text file: at most so many, parts of long lines counted)")},
    {"epochs", OPTION_INT, "5", 0, 100000, NULL, "", N_("how often every sentence is seen; 0: the untrained model")},
    {"batch", OPTION_INT, "64", 1, 65536, NULL, "sentences", N_("sentences per step")},
    {"lr", OPTION_REAL, "0.003", 0, BIG, NULL, "", N_("highest learning rate")},
    {"lr_min", OPTION_REAL, NULL, 0, BIG, NULL, "", N_("learning rate at the end of the schedule; default: lr / 10")},
    {"schedule", OPTION_CHOICE, "cosine", 0, 0, "constant|cosine|linear", "", N_("how it falls over all steps")},
    {"warmup", OPTION_INT, "0", 0, BIG, NULL, "steps", N_("linear rise from 0 at the start")},
    {"weight_decay", OPTION_REAL, "0", 0, 1000, NULL, "", N_("decay of matrices, decoupled (AdamW)")},
    {"clip", OPTION_REAL, "0", 0, BIG, NULL, "", N_("largest gradient norm; 0: off")},
    {"optimizer", OPTION_CHOICE, "adamw", 0, 0, "adamw|sgd", "", N_("optimiser")},
    {0},
};

Options *run_options(void) {
    return options_join(options_new(run_model_rows), run_plan_rows);
}

Status run_set_fields(const Options *o, ModelConfig *c) {
    for (const char *const *field = config_fields(); *field; field++)
        if (options_is_set(o, *field)) STATUS_TRY(config_set(c, *field, options_value(o, *field)));
    return status_ok();
}

Status run_split_heads(ModelConfig *c) {
    if (c->d % c->heads != 0)
        return status_usage(_("head_dim is d / heads when it is not given, and %d / %d is no whole number"), c->d,
                            c->heads);
    c->head_dim = c->d / c->heads;
    return status_ok();
}

/* Fields that were not given follow from those that were. */
static Status derive(const Options *o, ModelConfig *c) {
    bool grouped = strcmp(options_text(o, "arch"), "modern") == 0;
    if (!options_is_set(o, "kv_heads")) c->kv_heads = grouped && c->heads % 2 == 0 ? c->heads / 2 : c->heads;
    if (!options_is_set(o, "head_dim")) STATUS_TRY(run_split_heads(c));
    if (!options_is_set(o, "d_ff")) c->d_ff = config_usual_d_ff(c->ffn, c->d);
    if (!options_is_set(o, "norm_eps")) c->norm_eps = c->norm == NORM_RMS ? 1e-6 : 1e-5;
    return status_ok();
}

OptimConfig run_optim_config(const Options *o) {
    OptimConfig c = optim_defaults();
    c.kind = options_choice(o, "optimizer") == 1 ? OPTIM_SGD : OPTIM_ADAMW;
    c.lr = options_real(o, "lr");
    c.lr_min = options_is_set(o, "lr_min") ? options_real(o, "lr_min") : c.lr / 10;
    c.schedule = (ScheduleKind)options_choice(o, "schedule");
    c.warmup = (long)options_int(o, "warmup");
    c.weight_decay = options_real(o, "weight_decay");
    c.clip = options_real(o, "clip");
    return c;
}

/* Everything but the vocabulary, which stays the preset's when it is not given. */
static Status fill(const Options *o, ModelConfig *out) {
    (void)config_preset(options_text(o, "arch"), out);
    STATUS_TRY(run_set_fields(o, out));
    return derive(o, out);
}

Status run_config(const Options *o, int vocab, ModelConfig *out) {
    STATUS_TRY(fill(o, out));
    if (!options_is_set(o, "vocab")) out->vocab = vocab;
    if (out->vocab < vocab)
        return status_usage(_("vocab=%d is too small: the corpus has %d tokens"), out->vocab, vocab);
    return config_check(out);
}

CorpusTokens run_tokens(const Options *o) {
    CorpusTokens tokens = {.merges = (int)options_int(o, "merges")};
    bool known = vocab_unit_find(options_text(o, "tokens"), &tokens.unit);
    BUG_ON(!known); /* options allow no other */
    return tokens;
}

Status run_shape(const Options *o, ModelConfig *out) {
    STATUS_TRY(fill(o, out));
    return config_check_shape(out);
}

/* The fields as far as they can be known without a corpus; nothing while the options contradict each other. */
static void follow_field(const Options *o, const char *name, Str *out) {
    ModelConfig c;
    char value[64];
    (void)config_preset(options_text(o, "arch"), &c);
    Status s = run_set_fields(o, &c);
    if (status_is_ok(&s)) s = derive(o, &c);
    if (status_is_ok(&s) && config_get(&c, name, value, sizeof value)) str_add(out, value);
}

/* What the file of a model of others says of the field; false: none is named. */
static bool follow_file(const Options *o, const char *name, Str *out) {
    ModelConfig c;
    char value[64];
    const char *model = tune_model(o);
    if (!model || !loaded_is(model)) return false;
    Status s = loaded_config(model, &c);
    if (status_is_ok(&s) && config_get(&c, name, value, sizeof value)) str_add(out, value);
    return true;
}

void run_follow(const Options *o, const char *name, Str *out) {
    if (strcmp(name, "lr_min") != 0 && follow_file(o, name, out)) return;
    if (strcmp(name, "vocab") == 0 && options_find(o, "corpus"))
        str_add(out, _("the corpus's"));
    else if (strcmp(name, "lr_min") == 0)
        str_addf(out, "%.15g", options_real(o, "lr") / 10);
    else
        follow_field(o, name, out);
}

Status run_check_plan(const Options *o) {
    if (options_is_set(o, "lr_min") && options_real(o, "lr_min") > options_real(o, "lr"))
        return status_usage(_("lr_min (%g) is above lr (%g): a schedule only falls"), options_real(o, "lr_min"),
                            options_real(o, "lr"));
    return corpora_check(options_text(o, "corpus"));
}

Status run_check(const Options *o) {
    ModelConfig c;
    if (tune_wanted(o)) return tune_check(o);
    STATUS_TRY(run_config(o, VOCAB_UNKNOWN, &c));
    if (options_is_given(o, "merges") && run_tokens(o).unit != VOCAB_BPE)
        return status_usage(_("merges= are what tokens=bpe learns; tokens=%s has none"), options_text(o, "tokens"));
    return run_check_plan(o);
}
