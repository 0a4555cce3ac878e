/* stories.copy: what attention is good for: names that were never seen are copied from the text before, by a head that
 * looks at the letter that comes next (seminar 3, 8; Olsson et al. 2022). */
#include "bug.h"
#include "cancel.h"
#include "copying.h"
#include "decode/sampling.h"
#include "experiment.h"
#include "intl.h"
#include "kept.h"
#include "mem.h"
#include "trainings.h"
#include "window_lm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOKED_AT = 20, HEADS_MOST = 64 * 64 };

static const Option copy_options[] = {
    {"steps", OPTION_INT, "600", 1, 1e6, NULL, "", N_("updates of both models")},
    {"window", OPTION_INT, "8", 1, WINDOW_LM_MOST, NULL, "bytes", N_("what the window model sees")},
    {"embed", OPTION_INT, "16", 1, 1024, NULL, "", N_("numbers of a byte in the window model")},
    {"hidden", OPTION_INT, "64", 1, 8192, NULL, "", N_("width of its hidden layer")},
    {"prompt", OPTION_TEXT, NULL, 0, 0, NULL, "",
     N_("beginning of a story to go on from; default: those of test stories, up to where a name comes again")},
    {"texts", OPTION_INT, "3", 0, 1000, NULL, "", N_("stories to be continued when no prompt is given")},
    {"top_p", OPTION_REAL, "0.9", 0, 1, NULL, "", N_("how continuations are drawn")},
    {"batch", OPTION_INT, "32", 1, 1024, NULL, "stories", N_("stories per step")},
    {"lr", OPTION_REAL, "0.004", 1e-9, 10, NULL, "", N_("highest learning rate")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("width of the Transformer")},
    {"layers", OPTION_INT, "2", 1, 64, NULL, "", N_("its blocks")},
    {"heads", OPTION_INT, "8", 1, 64, NULL, "", N_("its heads")},
    {0},
};

static const Column bits_columns[] = {{"model", COLUMN_TEXT, ""},
                                      {"parameters", COLUMN_INT, ""},
                                      {"repeat_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {"other_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {0}};
static const Column induction_columns[] = {{"layer", COLUMN_INT, ""},     {"head", COLUMN_INT, ""},
                                           {"position", COLUMN_INT, ""},  {"target", COLUMN_INT, ""},
                                           {"weight", COLUMN_DOUBLE, ""}, {0}};
static const Column heads_columns[] = {{"layer", COLUMN_INT, ""},
                                       {"head", COLUMN_INT, ""},
                                       {"induction_score", COLUMN_DOUBLE, ""},
                                       {"largest_weight", COLUMN_DOUBLE, ""},
                                       {0}};
static const Column text_columns[] = {{"prompt", COLUMN_TEXT, ""}, {"continuation", COLUMN_TEXT, ""}, {0}};
static const Column look_columns[] = {
    {"text", COLUMN_TEXT, ""}, {"next", COLUMN_TEXT, ""}, {"layer", COLUMN_INT, ""}, {"head", COLUMN_INT, ""}, {0}};

typedef struct {
    Study *study;
    Corpus *corpus;
    CopyTask task;
    CopyBits bits; /* of the Transformer */
    CopyHeads heads;
} Copy;

static Status check(const Options *o) {
    if (options_int(o, "layers") * options_int(o, "heads") > HEADS_MOST)
        return status_usage(_("at most %d heads in all"), HEADS_MOST);
    return copying_check(o);
}

static void add_bits(Study *s, const char *model, size_t parameters, CopyBits bits) {
    Table *t = study_table(s, "bits");
    table_add_text(t, model);
    table_add_int(t, (long long)parameters);
    table_add_real(t, bits.copied);
    table_add_real(t, bits.other);
}

/* ---- the model that sees a few bytes ---- */

static const real *window_logits(void *model, const Batch *b) {
    return window_lm_logits(model, b);
}

static Status train_window(Copy *x, WindowLm *m) {
    const Options *o = study_options(x->study);
    long steps = (long)options_int(o, "steps");
    Sampler *sampler = sampler_new(&x->corpus->train, (int)options_int(o, "batch"), study_seed(x->study),
                                   (int)options_int(o, "context"));
    Status status = status_ok();
    Batch b;
    batch_init(&b);
    for (long i = 0; i < steps && status_is_ok(&status); i++) {
        sampler_batch(sampler, i, &b);
        double loss = window_lm_step(m, &b, options_real(o, "lr"), i, steps);
        if (!study_progress(x->study, 0.2 * (double)i / (double)steps,
                            _("training the window model: step %ld of %ld, loss %.3f"), i + 1, steps, loss))
            status = status_cancelled();
    }
    batch_done(&b);
    sampler_free(sampler);
    return status;
}

/* Where the cache keeps it; empty: nowhere. */
static void window_path(const Copy *x, const WindowConfig *c, Str *path) {
    const Options *o = study_options(x->study);
    const char *const numbers[] = {"steps", "batch", "context"};
    KeptRecipe r = kept_recipe();
    kept_add_number(&r, study_seed(x->study));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        kept_add_number(&r, (uint64_t)options_int(o, numbers[i]));
    kept_add_text(&r, options_value(o, "lr"));
    kept_add_number(&r, (uint64_t)c->window);
    kept_add_number(&r, (uint64_t)c->embed);
    kept_add_number(&r, (uint64_t)c->hidden);
    kept_add_corpus(&r, x->corpus);
    if (!study_caches(x->study) || !kept_path(&r, "stories-window", path)) str_clear(path);
}

static Status trained_window(Copy *x, const WindowConfig *c, WindowLm *m) {
    Str path;
    str_init(&path);
    window_path(x, c, &path);
    Params *p = window_lm_params(m);
    Status s = status_ok();
    if (path.len == 0 || !kept_read(path.s, p->x, p->count)) {
        s = train_window(x, m);
        if (status_is_ok(&s) && path.len) {
            Status kept = kept_write(path.s, p->x, p->count);
            if (!status_is_ok(&kept)) study_warn(x->study, _("the trained model is not kept: %s"), kept.text);
        }
    }
    str_done(&path);
    return s;
}

static Status window_model(Copy *x) {
    const Options *o = study_options(x->study);
    int vocab = vocab_size(x->corpus->vocab);
    WindowConfig c = {vocab, (int)options_int(o, "window"), (int)options_int(o, "embed"),
                      (int)options_int(o, "hidden")};
    WindowLm *m = window_lm_new(&c, study_seed(x->study));
    Status status = trained_window(x, &c, m);
    if (status_is_ok(&status))
        add_bits(x->study, "window", window_lm_params(m)->count, copying_bits(&x->task, vocab, window_logits, m));
    window_lm_free(m);
    return cancel_wanted() ? status_cancelled() : status;
}

/* ---- the Transformer ---- */

static Status measure(void *user, int job, Trained *t) {
    Copy *x = user;
    (void)job;
    x->bits = copying_bits_of(&x->task, t->model);
    copying_heads(&x->task, t->model, LOOKED_AT, &x->heads);
    return cancel_wanted() ? status_cancelled() : status_ok();
}

static int heaviest(const double *weight, int heads) {
    int best = 0;
    for (int i = 1; i < heads; i++)
        if (weight[i] > weight[best]) best = i;
    return best;
}

static void add_heads(Copy *x, const ModelConfig *c) {
    Table *t = study_table(x->study, "heads");
    for (int h = 0; h < c->layers * c->heads; h++) {
        table_add_int(t, h / c->heads);
        table_add_int(t, h % c->heads);
        table_add_real(t, x->heads.induction[h]);
        table_add_real(t, x->heads.largest[h]);
    }
}

/* The text of the first N tokens of a story. */
static void story_text(const Copy *x, const Story *s, int n, Str *out) {
    vocab_join(x->corpus->vocab, s->id + 1, n - 1, out);
}

static void offer(Copy *x, const Trained *t, const Str *text, int head, int query, int key) {
    int heads = model_config(t->model)->heads;
    StudyLook look = {.layer = head / heads, .head = head % heads, .query = query, .key = key};
    study_set_prompt(&look, text->s);
    study_offer_model(x->study, t->path);
    study_offer_look(x->study, &look);
}

/* Every head at one place of the first test story that has one. */
static void look(Copy *x, const Trained *t) {
    const ModelConfig *c = model_config(t->model);
    int at = 0, query;
    while ((query = copying_query(&x->task.story[at])) < 0 && at < x->task.count - 1) at++;
    if (query < 0) return;
    const Story *s = &x->task.story[at];
    Table *induction = study_table(x->study, "induction"), *seen = study_table(x->study, "look");
    double *weight;
    int *target;
    copying_look(s, t->model, query, &weight, &target);
    int best = heaviest(weight, c->layers * c->heads);
    for (int h = 0; h < c->layers * c->heads; h++) {
        table_add_int(induction, h / c->heads);
        table_add_int(induction, h % c->heads);
        table_add_int(induction, query);
        table_add_int(induction, target[h]);
        table_add_real(induction, weight[h]);
    }
    Str text;
    str_init(&text);
    story_text(x, s, query + 1, &text);
    table_add_text(seen, text.s);
    table_add_text(seen, vocab_token(x->corpus->vocab, s->id[query + 1]));
    table_add_int(seen, best / c->heads);
    table_add_int(seen, best % c->heads);
    offer(x, t, &text, best, query, target[best]);
    str_done(&text);
    mem_free(weight);
    mem_free(target);
}

/* ---- going on ---- */

typedef struct {
    const Copy *copy;
    Str *out;
} Continuation;

static Status take(void *user, const Sample *s) {
    Continuation *c = user;
    vocab_join(c->copy->corpus->vocab, s->ids, s->length, c->out);
    return status_ok();
}

/* What a young model writes need not be UTF-8. */
static void table_add_bytes(Table *t, const Str *text) {
    Str clean;
    str_init(&clean);
    for (size_t i = 0; i < text->len; i++)
        str_add_char(&clean, (unsigned char)text->s[i] < 0x20 || (unsigned char)text->s[i] >= 0x7f ? '?' : text->s[i]);
    table_add_text(t, clean.s);
    str_done(&clean);
}

static Status go_on(Copy *x, const Model *m, const int *ids, int n, const char *prompt) {
    const Options *o = study_options(x->study);
    SamplingPlan plan = {.model = m,
                         .filter = filter_defaults(),
                         .ids = ids,
                         .n = n,
                         .sentences = 1,
                         .tokens = model_config(m)->context,
                         .end = VOCAB_EOS,
                         .seed = study_seed(x->study)};
    plan.filter.top_p = options_real(o, "top_p");
    Str text;
    str_init(&text);
    Continuation c = {x, &text};
    Sampling *s = sampling_new(&plan);
    Status status = sampling_run(s, take, &c);
    sampling_free(s);
    if (status_is_ok(&status)) {
        table_add_text(study_table(x->study, "text"), prompt);
        table_add_bytes(study_table(x->study, "text"), &text);
    }
    str_done(&text);
    return status;
}

static Status go_on_from_prompt(Copy *x, const Model *m, const char *prompt) {
    int *word, words;
    STATUS_TRY(vocab_encode(x->corpus->vocab, prompt, &word, &words));
    if (words + 1 > model_config(m)->context) {
        mem_free(word);
        return status_usage(_("prompt: %d bytes and <s> do not fit into the context of %d"), words,
                            model_config(m)->context);
    }
    int *ids = MEM_ARRAY(int, (size_t)words + 1);
    ids[0] = VOCAB_BOS;
    if (words) memcpy(ids + 1, word, (size_t)words * sizeof *word);
    Status s = go_on(x, m, ids, words + 1, prompt);
    mem_free(word);
    mem_free(ids);
    return s;
}

static Status continuations(Copy *x, const Model *m) {
    const Options *o = study_options(x->study);
    if (options_is_set(o, "prompt")) return go_on_from_prompt(x, m, options_text(o, "prompt"));
    int wanted = (int)options_int(o, "texts");
    Str text;
    str_init(&text);
    Status s = status_ok();
    for (int i = 0; i < x->task.count && wanted > 0 && status_is_ok(&s); i++) {
        const Story *story = &x->task.story[i];
        int n = 1;
        while (n < story->n && story->earlier[n] < 0) n++;
        if (n == story->n) continue;
        wanted--;
        str_clear(&text);
        story_text(x, story, n, &text);
        s = cancel_wanted() ? status_cancelled() : go_on(x, m, story->id, n, text.s);
    }
    str_done(&text);
    return s;
}

static Status transformer_done(void *user, int job, Trained *t) {
    Copy *x = user;
    (void)job;
    add_bits(x->study, "transformer", model_read_params(t->model)->count, x->bits);
    add_heads(x, model_config(t->model));
    look(x, t);
    return continuations(x, t->model);
}

static Status transformer(Copy *x) {
    Options *o = copying_model(study_options(x->study), "");
    Model *begin = copying_begin(study_options(x->study), o, vocab_size(x->corpus->vocab), study_seed(x->study));
    Training job = {
        .name = "stories",
        .options = o,
        .seed = study_seed(x->study),
        .from = {.corpus = x->corpus, .model = begin, .steps = (long)options_int(study_options(x->study), "steps")}};
    Status s =
        trainings_run(x->study, &job, 1,
                      &(TrainingsCalls){.measure = measure, .done = transformer_done, .user = x, .from = 0.2, .to = 1});
    options_free(o);
    model_free(begin);
    return s;
}

static void add_conventions(Study *s) {
    copying_conventions(s);
    study_about(s, "induction_score_rule",
                "mean weight that a head gives, before a letter of a name that has begun, to the places of that letter "
                "where the name stood before; over %d stories",
                LOOKED_AT);
    study_about(
        s, "induction_rule",
        "one place of a test story (table look): position looks, target is the earlier place of the letter that "
        "comes next that the head looks at most; the head of look is the one that gives it most");
    study_about(s, "window_model", "bytes' embeddings side by side, one ReLU layer, AdamW, the same batches");
}

static Status run(Study *s) {
    Copy x = {.study = s};
    const Options *o = study_options(s);
    if (!study_progress(s, 0, _("writing stories"))) return status_cancelled();
    STATUS_TRY(copying_corpus(o, study_seed(s), &x.corpus));
    Status status = copying_open(o, x.corpus, study_seed(s), &x.task);
    add_conventions(s);
    if (status_is_ok(&status)) status = window_model(&x);
    if (status_is_ok(&status)) status = transformer(&x);
    copying_heads_done(&x.heads);
    copying_done(&x.task);
    corpus_free(x.corpus);
    return status;
}

const Experiment experiment_stories_copy = {
    .entry = {.id = "stories.copy",
              .section = "S3 8",
              .title = N_("names never seen before are copied: attention against a window"),
              .see = N_(
                  "Where a name comes again the window model can only guess; the Transformer copies: nothing is left "
                  "to guess there, and it comes near 0. A head of the last layer looks at the letter that comes "
                  "next, where the name stood before: O shows it."),
              .options = (const Option *const[]){copy_options, copying_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"bits", bits_columns},
                                            {"induction", induction_columns},
                                            {"text", text_columns},
                                            {"heads", heads_columns},
                                            {"look", look_columns},
                                            {0}},
              .figure = {FIGURE_BARS, "bits", "model", "repeat_bits other_bits", NULL}},
    .check = check,
    .run = run,
};
