/* rope.cache: rotary positions and the cache of keys go together: a key is turned once, by its own position, stored,
 * and never touched again (lecture 4, 4.7). */
#include "decode/decoder.h"
#include "differ.h"
#include "experiment.h"
#include "feeds.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <math.h>
#include <string.h>

static const Option cache_options[] = {
    {"text", OPTION_TEXT, "the dogs near the cat chase the owl every day .", 0, 0, NULL, "",
     N_("what goes in; <s> is added")},
    {0},
};

static const Column diff_columns[] = {{"feed", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, "logits"}, {0}};

static Status check(const Options *o) {
    if (strcmp(options_text(o, "model"), "gpt") == 0)
        return status_usage(_("model: gpt has learned positions; rope.cache is about RoPE, as modern has it"));
    STATUS_TRY(feeds_check(o));
    return models_check(o, "text");
}

/* The sentence, and what the full forward pass says of it. */
typedef struct {
    const TrainedModel *m;
    const int *ids;
    int n;
    const real *logits; /* [n x V] */
    Decoder *decoder;
    real *stored; /* [layers][n x kv_heads*head_dim] keys as they were stored */
} Question;

static size_t layer_room(const Question *q) {
    const ModelConfig *c = model_config(q->m->model);
    return (size_t)q->n * (size_t)c->kv_heads * (size_t)c->head_dim;
}

static void read_keys(const Question *q, real *out) {
    int layers = model_config(q->m->model)->layers;
    for (int i = 0; i < layers; i++) decoder_cache(q->decoder, 0, i, false, out + (size_t)i * layer_room(q));
}

/* How far keys that were stored first move while the rest of the sentence comes. */
static double stored_keys_move(Question *q) {
    const ModelConfig *c = model_config(q->m->model);
    int first = (q->n + 1) / 2;
    size_t row = (size_t)c->kv_heads * (size_t)c->head_dim, room = layer_room(q);
    real *later = MEM_ARRAY(real, room * (size_t)c->layers);
    decoder_reset(q->decoder);
    (void)decoder_feed(q->decoder, 0, q->ids, first);
    read_keys(q, q->stored);
    if (first < q->n) (void)decoder_feed(q->decoder, 0, q->ids + first, q->n - first);
    read_keys(q, later);
    double most = 0;
    for (int i = 0; i < c->layers; i++)
        most = fmax(most, differ_most(q->stored + (size_t)i * room, later + (size_t)i * room, (size_t)first * row));
    mem_free(later);
    return most;
}

static Status add_feeds(Study *s, Question *q) {
    Table *t = study_table(s, "diff");
    int vocab = model_config(q->m->model)->vocab;
    Status status = status_ok();
    for (const char *list = options_text(study_options(s), "feeds"); list && status_is_ok(&status);) {
        char *feed = feeds_next(&list);
        const real *last;
        table_add_text(t, feed);
        table_add_real(t, feeds_differ(q->decoder, q->ids, q->n, q->logits, vocab, feed, &last));
        if (!study_progress(s, -1, _("fed by %s"), feed)) status = status_cancelled();
        mem_free(feed);
    }
    STATUS_TRY(status);
    study_about(s, "stored_keys", "the first half's keys, read again after the rest has come, moved by %.3g",
                stored_keys_move(q));
    return status_ok();
}

static Status compare(Study *s, const TrainedModel *m, const int *ids, int n) {
    const ModelConfig *c = model_config(m->model);
    Observers *observers = observers_new();
    Scene scene = models_scene(m, ids, n, study_seed(s));
    Question q = {.m = m, .ids = ids, .n = n, .logits = observers_logits(observers, &scene)};
    q.decoder = decoder_new(m->model, 1, n);
    q.stored = MEM_ARRAY(real, layer_room(&q) * (size_t)c->layers + 1);
    Status status = add_feeds(s, &q);
    mem_free(q.stored);
    decoder_free(q.decoder);
    observers_free(observers);
    return status;
}

static Status feed(Study *s, const TrainedModel *m) {
    char pos[32];
    (void)config_get(model_config(m->model), "pos", pos, sizeof pos);
    if (strcmp(pos, "rope") != 0) return status_usage(_("rope.cache is about RoPE, and this model has pos=%s"), pos);
    int *ids, n;
    STATUS_TRY(models_ids(m, study_options(s), "text", MODELS_PROMPT, &ids, &n));
    Status status = compare(s, m, ids, n);
    mem_free(ids);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = feed(s, &m);
    models_done(&m);
    study_about(
        s, "max_difference_rule",
        "of the logits after every token: fed through the cache, and the whole sentence in one pass without it");
    study_about(s, "feed_rule", "all: in one call; 1: one by one; 5+1: five, then one by one; 3: three a call");
    study_about(s, "rounding", "numbers are %s: what is equal up to rounding differs by about %s of its size",
                REAL_IS_DOUBLE ? "double" : "float", REAL_IS_DOUBLE ? "1e-16" : "1e-7");
    study_about(s, "position_rule", "every key is turned by its own absolute position before it is stored");
    return status;
}

const Experiment experiment_rope_cache = {
    .entry = {.id = "rope.cache",
              .section = "L4 4.7",
              .title = N_("RoPE and the cache: turned once, stored, never touched again"),
              .see = N_("Fed token by token or all at once, the model says the same, up to rounding: every key was "
                        "turned by its own position, so the cache needs no repair when more tokens come."),
              .options = (const Option *const[]){models_modern_option_rows, cache_options, feeds_option_rows,
                                                 models_ids_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}}},
    .check = check,
    .run = run,
};
