/* The observer of beam search: the tree from the prompt, the greedy path and samples on it, and what has changed. */
#include "beams.h"
#include "bug.h"
#include "decode/beam_model.h"
#include "decode/beam_sample.h"
#include "decode/beam_truth.h"
#include "hash.h"
#include "mem.h"
#include "scene.h"
#include "tokens.h"

#include <math.h>
#include <string.h>

enum {
    TOKENS = 64,        /* at most so many are generated, as in decode.beam; of a large model fewer */
    SAMPLES = 20,       /* BeamSource takes as many beams */
    SAMPLE_TOKENS = 40, /* an untrained model comes to no end */
};

static const Column beam_columns[] = {
    {"width", COLUMN_INT, "beams"},   {"length_norm", COLUMN_INT, ""},         {"of", COLUMN_TEXT, ""},
    {"tokens", COLUMN_INT, "tokens"}, {"prompt_tokens", COLUMN_INT, "tokens"}, {"since_step", COLUMN_INT, ""},
    {"before", COLUMN_TEXT, ""},      {"compared_step", COLUMN_INT, ""},       {0},
};
static const Column mark_columns[] = {
    {"node", COLUMN_INT, ""}, {"greedy", COLUMN_INT, ""}, {"samples", COLUMN_INT, ""}, {"new", COLUMN_INT, ""}, {0},
};
static const Column rival_columns[] = {
    {"of", COLUMN_TEXT, ""},
    {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"score", COLUMN_DOUBLE, ""},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};
static const Column sample_columns[] = {
    {"sample", COLUMN_INT, ""},       {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"}, {"true_log_p", COLUMN_DOUBLE, "nats"},
    {"ended", COLUMN_INT, ""},        {"node", COLUMN_INT, ""},
    {"depth", COLUMN_INT, "tokens"},  {0},
};

/* One look. */
typedef struct {
    const Scene *scene;
    BeamWatch *watch;
    NextMemo *memo; /* NULL: no truth, or no sentence begins so */
    int n;          /* the root: ids[0..n-1] of the scene */
    bool truth;     /* the search goes over the truth */
    bool sampled;   /* there are samples on the tree */
    BeamConfig config;
    BeamModel *model; /* borrowed */
    BeamTruth *language;
    Beam *tree;
    int *greedy, *visits; /* [nodes] */
    bool *is_new;
    long compared; /* -1: with nothing */
    uint64_t key;
} Look;

/* ---- what is searched ---- */

static BeamSource source_of(Look *k) {
    return k->truth ? beam_truth_source(k->language, k->scene->ids, k->n)
                    : beam_model_source(k->model, k->scene->ids, k->n);
}

static void open_source(Look *k, Observers *o) {
    const Scene *scene = k->scene;
    int width = k->config.width > SAMPLES ? k->config.width : SAMPLES;
    int context = model_config(scene->model)->context, most = k->n + observers_tokens(scene),
        capacity = context < most ? context : most;
    if (k->truth)
        k->language = beam_truth_new(k->memo, scene->vocab, width);
    else
        k->model = observers_beam_model(o, scene, width, capacity);
}

/* Everything but the parameters that the tree rests on. */
static uint64_t key_of(const Look *k) {
    const Scene *scene = k->scene;
    const ModelConfig *c = model_config(scene->model);
    const int settings[] = {k->config.width, k->config.length_norm, k->truth, scene->tweak.window};
    uint64_t h = hash_bytes(HASH_START, scene->ids, (size_t)k->n * sizeof *scene->ids);
    h = hash_bytes(h, settings, sizeof settings);
    if (scene->tweak.head_off) h = hash_bytes(h, scene->tweak.head_off, (size_t)c->layers * (size_t)c->heads);
    return h;
}

/* The root is what is visible of the prompt. False: nothing follows it, or the truth is asked and knows nothing. */
static bool begin(Look *k, Observers *o) {
    const Scene *scene = k->scene;
    const BeamSettings *b = &scene->beam;
    k->watch = observers_beam_watch(o);
    k->n = scene->visible < scene->prompt ? scene->visible : scene->prompt;
    k->config = (BeamConfig){.width = b->width ? b->width : BEAM_WIDTH,
                             .tokens = observers_tokens(scene),
                             .end = vocab_last(scene->vocab),
                             .length_norm = b->length_norm};
    k->config.pruned = k->config.width;
    k->truth = b->truth;
    k->compared = -1;
    if (observers_truth(o, scene, scene->ids, k->n)->count > 0) k->memo = beam_watch_memo(k->watch, scene->language);
    bool ended = k->n > 1 && scene->ids[k->n - 1] == vocab_last(scene->vocab);
    if (ended || (k->truth && !k->memo)) return false;
    k->key = key_of(k);
    open_source(k, o);
    return true;
}

static void end(Look *k) {
    beam_free(k->tree);
    beam_truth_free(k->language);
    mem_free(k->greedy);
    mem_free(k->visits);
    mem_free(k->is_new);
}

/* ---- rows that several tables have ---- */

static void add_text(Table *t, const Look *k, const int *path, int length) {
    int *ids = MEM_ARRAY(int, (size_t)(k->n + length));
    memcpy(ids, k->scene->ids, (size_t)k->n * sizeof *ids);
    if (length > 0) memcpy(ids + k->n, path, (size_t)length * sizeof *ids);
    Str text;
    str_init(&text);
    if (k->scene->vocab) tokens_text(k->scene->vocab, ids, k->n + length, &text);
    table_add_text_n(t, text.s, text.len);
    str_done(&text);
    mem_free(ids);
}

/* NaN without a truth. */
static double true_log_p(const Look *k, const int *path, int length) {
    double log_p = (double)NAN;
    if (!k->memo) return log_p;
    Status s = beam_true_path(k->memo, k->scene->vocab, k->scene->ids, k->n, path, length, &log_p);
    return status_is_ok(&s) ? log_p : (double)NAN;
}

/* Counts 1 in MARKS [nodes] for every node on the path; the last of them, -1: none. Nodes stand in the order of their
 * depth. */
static int walk(const Look *k, const int *path, int length, int *marks) {
    int at = -1, depth = 1;
    for (int i = 0; i < beam_nodes(k->tree) && depth <= length; i++) {
        const BeamNode *node = beam_node(k->tree, i);
        if (node->depth > depth) break; /* the path has left the tree */
        if (node->depth < depth || node->parent != at || node->id != path[depth - 1]) continue;
        marks[i]++;
        at = i;
        depth++;
    }
    return at;
}

/* ---- tables ---- */

static void add_tree(Snapshot *s, const Look *k) {
    Table *tree = table_new("tree", beams_tree_columns), *best = table_new("best", beams_best_columns),
          *stop = table_new("stop", beams_stop_columns);
    double *truth = k->memo ? MEM_ARRAY(double, (size_t)beam_nodes(k->tree)) : NULL;
    Status status = status_ok();
    if (truth) status = beam_true_log_p(k->tree, k->memo, k->scene->vocab, k->scene->ids, k->n, truth);
    BeamView v = {.beam = k->tree,
                  .vocab = k->scene->vocab,
                  .ids = k->scene->ids,
                  .n = k->n,
                  .true_log_p = status_is_ok(&status) ? truth : NULL};
    beams_add_tree(tree, &v);
    beams_add_best(best, &v);
    beams_add_stop(stop, k->tree);
    mem_free(truth);
    snapshot_add_table(s, tree);
    snapshot_add_table(s, best);
    snapshot_add_table(s, stop);
}

static void add_rival(Table *t, const Look *k, const char *of, const int *path, int length, double log_p) {
    table_add_text(t, of);
    add_text(t, k, path, length);
    table_add_known(t, log_p);
    table_add_known(t, k->config.length_norm ? log_p / length : log_p);
    table_add_known(t, true_log_p(k, path, length));
}

static void add_best(Table *t, const Look *k) {
    int *best, path[TOKENS];
    if (beam_best(k->tree, &best) > 0) {
        beam_path(k->tree, best[0], path);
        add_rival(t, k, "beam", path, beam_node(k->tree, best[0])->depth, beam_node(k->tree, best[0])->log_p);
    }
    mem_free(best);
}

/* Width 1; its nodes in the tree are marked. */
static void add_greedy(Table *t, Look *k) {
    BeamConfig one = k->config;
    one.width = 1;
    one.pruned = 0;
    BeamSource source = source_of(k);
    Beam *b = beam_new(&one, &source);
    Status s = beam_run(b);
    if (status_is_ok(&s)) {
        int path[TOKENS], last = beam_nodes(b) - 1;
        beam_path(b, last, path);
        (void)walk(k, path, last + 1, k->greedy);
        add_rival(t, k, "greedy", path, last + 1, beam_node(b, last)->log_p);
    }
    beam_free(b);
}

/* The likeliest sentence of the language, and what the one that searches thinks of it. */
static void add_mode(Table *t, Look *k) {
    Str prefix;
    str_init(&prefix);
    tokens_text(k->scene->vocab, k->scene->ids, k->n, &prefix);
    const char *mode = beam_watch_mode(k->watch, k->scene->language, prefix.s);
    int *ids, n;
    Status s = vocab_encode(k->scene->vocab, mode, &ids, &n);
    int length = n - (k->n - 1) + 1; /* END, but not <s> */
    if (status_is_ok(&s) && mode[0] && length >= 1) {
        int *path = MEM_ARRAY(int, (size_t)length);
        memcpy(path, ids + k->n - 1, (size_t)(length - 1) * sizeof *path);
        path[length - 1] = VOCAB_EOS;
        double log_p;
        BeamSource source = source_of(k);
        s = beam_log_p(&source, path, length, &log_p);
        add_rival(t, k, "mode", path, length, status_is_ok(&s) && log_p > (double)-INFINITY ? log_p : (double)NAN);
        mem_free(path);
    }
    mem_free(ids);
    str_done(&prefix);
}

static void add_sample(Table *t, Look *k, int i, const BeamSample *sample) {
    int node = walk(k, sample->ids, sample->length, k->visits);
    table_add_int(t, i);
    add_text(t, k, sample->ids, sample->length);
    table_add_real(t, sample->log_p);
    table_add_known(t, true_log_p(k, sample->ids, sample->length));
    table_add_int(t, sample->ended);
    if (node < 0)
        table_add_empty(t);
    else
        table_add_int(t, node);
    table_add_int(t, node < 0 ? 0 : beam_node(k->tree, node)->depth);
}

static void add_samples(Snapshot *s, Look *k) {
    Table *t = table_new("beam_samples", sample_columns);
    BeamSample sample[SAMPLES];
    BeamSource source = source_of(k);
    int most = observers_tokens(k->scene), sample_tokens = most < SAMPLE_TOKENS ? most : SAMPLE_TOKENS;
    Status status = beam_samples(&source, SAMPLES, sample_tokens, vocab_last(k->scene->vocab), k->scene->seed, sample);
    for (int i = 0; i < SAMPLES && status_is_ok(&status); i++) add_sample(t, k, i, &sample[i]);
    beam_samples_done(sample, SAMPLES);
    snapshot_add_table(s, t);
}

static void add_marks(Snapshot *s, const Look *k) {
    Table *t = table_new("beam_marks", mark_columns);
    for (int i = 0; i < beam_nodes(k->tree); i++) {
        table_add_int(t, i);
        table_add_int(t, k->greedy[i]);
        if (k->sampled)
            table_add_int(t, k->visits[i]);
        else
            table_add_empty(t);
        if (k->compared < 0)
            table_add_empty(t);
        else
            table_add_int(t, k->is_new[i]);
    }
    snapshot_add_table(s, t);
}

/* One row: what was searched, and since when its best sentence is the best. BEST: that sentence, NULL: none. */
static void add_settings(Snapshot *s, const Look *k, const char *best) {
    Table *t = table_new("beam", beam_columns);
    long since = 0;
    const char *before = "";
    if (best) beam_watch_best(k->watch, k->key, k->scene->step, best, &since, &before);
    table_add_int(t, k->config.width);
    table_add_int(t, k->config.length_norm);
    table_add_text(t, k->truth ? "truth" : "model");
    table_add_int(t, observers_tokens(k->scene));
    table_add_int(t, k->n);
    if (best)
        table_add_int(t, since);
    else
        table_add_empty(t);
    table_add_text(t, before);
    if (k->compared < 0)
        table_add_empty(t);
    else
        table_add_int(t, k->compared);
    snapshot_add_table(s, t);
}

static Table *add_rivals(Snapshot *s, Look *k) {
    Table *t = table_new("beam_rivals", rival_columns);
    add_best(t, k);
    add_greedy(t, k);
    if (k->memo) add_mode(t, k);
    snapshot_add_table(s, t);
    return t;
}

static bool search(Look *k, Observers *o) {
    if (!begin(k, o)) return false;
    BeamSource source = source_of(k);
    k->tree = beam_new(&k->config, &source);
    Status s = beam_run(k->tree);
    return status_is_ok(&s);
}

/* A model that gives no distribution has no tree: then there is the row of settings alone. */
void observe_beam(Observers *o, const Scene *scene, Snapshot *s) {
    Look k = {.scene = scene};
    const Table *rivals = NULL;
    if (search(&k, o)) {
        size_t nodes = (size_t)beam_nodes(k.tree);
        k.greedy = MEM_ARRAY(int, nodes);
        k.visits = MEM_ARRAY(int, nodes);
        k.is_new = MEM_ARRAY(bool, nodes);
        k.compared = beam_watch_tree(k.watch, k.key, scene->step, k.tree, k.is_new);
        add_tree(s, &k);
        rivals = add_rivals(s, &k);
        k.sampled = observers_watch(o, OBSERVE_beam_samples);
        if (k.sampled) add_samples(s, &k);
        add_marks(s, &k);
    }
    add_settings(s, &k, rivals && table_rows(rivals) ? table_text(rivals, 0, 1) : NULL);
    end(&k);
}

/* They need the tree and its source, which are the search's: observe_beam draws them when they are watched. */
void observe_beam_samples(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    (void)scene;
    (void)s;
}
