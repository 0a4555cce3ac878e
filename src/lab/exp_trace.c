/* model.trace: every named stage of a forward pass as numbers: what each node of the tape gives, and every stage inside
 * attention (seminar 3, 2). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <stdio.h>
#include <string.h>

enum { TRACE_MOST = 5000000 }; /* rows of the table */

static const Option trace_options[] = {
    {"prompt", OPTION_TEXT, "the dogs near the cat", 0, 0, NULL, "", N_("the sentence; <s> is added")},
    {"name", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("only stages whose name begins so; not given: all")},
    {"layer", OPTION_INT, NULL, 0, 1e6, NULL, "", N_("only this layer, from 0; not given: all, and what is in none")},
    {0},
};

static const Column values_columns[] = {{"name", COLUMN_TEXT, ""},
                                        {"layer", COLUMN_INT, ""},
                                        {"head", COLUMN_INT, ""},
                                        {"row", COLUMN_INT, ""},
                                        {"column", COLUMN_INT, ""},
                                        {"value", COLUMN_REAL, ""},
                                        {0}};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

/* HEADS matrices [ROWS x COLS]. A row of matrix h begins at x + h * head_step + row * row_step. */
typedef struct {
    char name[64];
    int layer; /* -1: of no layer */
    int heads; /* 0: the stage has no heads */
    int rows, cols;
    const real *x;
    size_t head_step, row_step;
} Stage;

typedef Status Visit(void *user, const Stage *stage);

/* "block3.ffn.up" is ffn.up of layer 3. */
static void set_name(Stage *s, const char *full) {
    int at = 0;
    s->layer = -1;
    if (sscanf(full, "block%d.%n", &s->layer, &at) == 1 && at > 0) full += at;
    snprintf(s->name, sizeof s->name, "%s", full);
}

/* A stage inside attention: [H x T x T]. */
static Status visit_inside(const Tape *t, int node, int layer, Visit *visit, void *user) {
    static const char *const names[] = {"scores", "scaled", "softcapped", "masked", "weights"};
    for (int i = 0; i < 5; i++) {
        int dim[3];
        const real *x = tape_stage(t, node, names[i], dim);
        if (!x) continue;
        size_t row_step = (size_t)dim[2];
        Stage s = {.layer = layer,
                   .heads = dim[0],
                   .rows = dim[1],
                   .cols = dim[2],
                   .x = x,
                   .head_step = row_step * (size_t)dim[1],
                   .row_step = row_step};
        snprintf(s.name, sizeof s.name, "attention.%s", names[i]);
        STATUS_TRY(visit(user, &s));
    }
    return status_ok();
}

static bool begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* How many heads lie side by side in a value of this name. */
static int heads_in(const ModelConfig *c, const char *name) {
    if (begins(name, "attention.query") || strcmp(name, "attention.mix") == 0) return c->heads;
    return begins(name, "attention.key") || begins(name, "attention.value") ? c->kv_heads : 0;
}

/* Every stage in the order of the pass. */
static Status visit_all(const ModelConfig *c, const Tape *t, Visit *visit, void *user) {
    for (int node = 0; node < tape_nodes(t); node++) {
        NodeInfo info = tape_node(t, node);
        Stage s;
        set_name(&s, info.name);
        if (strcmp(s.name, "attention") == 0) {
            STATUS_TRY(visit_inside(t, node, s.layer, visit, user));
            snprintf(s.name, sizeof s.name, "attention.mix");
        }
        int cols;
        s.x = tape_value(t, info.out, &s.rows, &cols);
        s.heads = heads_in(c, s.name);
        s.cols = s.heads > 0 ? c->head_dim : cols;
        s.head_step = (size_t)s.cols;
        s.row_step = (size_t)cols;
        STATUS_TRY(visit(user, &s));
    }
    return status_ok();
}

typedef struct {
    Study *study;
    Table *table;
    long long rows, all; /* counted first, then added */
} Trace;

static bool is_asked(const Options *o, const Stage *s) {
    if (options_is_set(o, "layer") && options_int(o, "layer") != s->layer) return false;
    return !options_is_set(o, "name") || begins(s->name, options_text(o, "name"));
}

static Status count_stage(void *user, const Stage *s) {
    Trace *t = user;
    if (!is_asked(study_options(t->study), s)) return status_ok();
    t->all += (long long)(s->heads > 0 ? s->heads : 1) * s->rows * s->cols;
    return status_ok();
}

static void add_value(Table *t, const Stage *s, int head, int row, int col) {
    table_add_text(t, s->name);
    if (s->layer < 0) {
        table_add_empty(t);
    } else {
        table_add_int(t, s->layer);
    }
    if (s->heads == 0) {
        table_add_empty(t);
    } else {
        table_add_int(t, head);
    }
    table_add_int(t, row);
    table_add_int(t, col);
    table_add_real(t, (double)s->x[(size_t)head * s->head_step + (size_t)row * s->row_step + (size_t)col]);
}

static Status add_stage(void *user, const Stage *s) {
    Trace *t = user;
    if (!is_asked(study_options(t->study), s)) return status_ok();
    for (int head = 0; head < (s->heads > 0 ? s->heads : 1); head++)
        for (int row = 0; row < s->rows; row++) {
            for (int col = 0; col < s->cols; col++) add_value(t->table, s, head, row, col);
            t->rows += s->cols;
            if (!study_progress(t->study, (double)t->rows / (double)t->all, "%s", s->name)) return status_cancelled();
        }
    return status_ok();
}

static Status check_size(const Study *s, const ModelConfig *c, const Trace *t) {
    const Options *o = study_options(s);
    if (options_is_set(o, "layer") && options_int(o, "layer") >= c->layers)
        return status_usage(_("layer: there is no %lld; the model has 0 to %d"), options_int(o, "layer"),
                            c->layers - 1);
    if (t->all == 0) return status_usage(_("name: no stage of this pass begins with '%s'"), options_value(o, "name"));
    if (t->all > TRACE_MOST)
        return status_usage(_("%lld numbers are more than the %d that a table takes: name= and layer= take a part"),
                            t->all, TRACE_MOST);
    return status_ok();
}

static Status trace(Study *s, const TrainedModel *m) {
    const ModelConfig *c = model_config(m->model);
    int *ids, n;
    STATUS_TRY(models_ids(m, study_options(s), "prompt", MODELS_PROMPT, &ids, &n));
    Observers *o = observers_new();
    Scene scene = models_scene(m, ids, n, study_seed(s));
    scene.whole = true;
    const Tape *probe = observers_probe(o, &scene);
    Trace t = {.study = s, .table = study_table(s, "values")};
    Status status = visit_all(c, probe, count_stage, &t);
    if (status_is_ok(&status)) status = check_size(s, c, &t);
    if (status_is_ok(&status)) status = visit_all(c, probe, add_stage, &t);
    observers_free(o);
    mem_free(ids);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = trace(s, &m);
    models_done(&m);
    study_about(s, "order", "as the pass goes: embedding, blocks, final norm, logits");
    study_about(s, "row_rule",
                "the position; of attention.scores to attention.weights row is the query, column the key");
    study_about(s, "column_rule", "the number within the row, or within the head");
    study_about(s, "head_rule",
                "of attention.key and attention.value the KV head: query head i reads KV head i / group");
    study_about(s, "masked_rule", "attention.masked is -inf where the query may not look");
    return status;
}

static void follow(const Options *o, const char *name, Str *out) {
    (void)o;
    if (strcmp(name, "layer") == 0 || strcmp(name, "name") == 0) str_add(out, _("all"));
}

const Experiment experiment_model_trace = {
    .entry = {.id = "model.trace",
              .section = "S3 2",
              .title = N_("every named stage of a forward pass as numbers"),
              .see = N_("Everything between the tokens and the logits: each stage can be worked out again from those "
                        "before it."),
              .options = (const Option *const[]){models_modern_option_rows, trace_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"values", values_columns}, {0}}},
    .check = check,
    .run = run,
    .follow = follow,
};
