/* batch.pad: a short sentence in a batch that is padded on one side or the other, against the sentence alone (lecture
 * 3, 3.4). */
#include "differ.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <string.h>

static const Option pad_options[] = {
    {"text", OPTION_TEXT, "the hens eat corn every day .", 0, 0, NULL, "", N_("the short sentence; <s> is added")},
    {"to", OPTION_INT, "19", 1, 100000, NULL, "tokens", N_("as long as the longest sentence of the batch")},
    {0},
};

static const Column diff_columns[] = {
    {"variant", COLUMN_TEXT, ""}, {"max_abs_logit_difference", COLUMN_DOUBLE, "logits"}, {0}};

static Status check(const Options *o) {
    return models_check(o, "text");
}

typedef struct {
    const char *name;
    bool left;    /* the pads stand before the sentence */
    bool masked;  /* nobody sees them */
    bool shifted; /* positions are counted from the sentence's first token */
} Variant;

static const Variant variants[] = {
    {"right", false, false, false},
    {"left_plain", true, false, false},
    {"left_masked", true, true, false},
    {"left_masked_shifted", true, true, true},
};

typedef struct {
    const TrainedModel *m;
    Forward *forward;
    const int *ids;
    int n, to;
    real *alone; /* [n x V] */
} Padding;

/* ids[0..n-1] among pads, one sequence of `to` rows. */
static void fill(const Padding *p, const Variant *v, Batch *b) {
    int *row = MEM_ARRAY(int, (size_t)p->to), first = v->left ? p->to - p->n : 0;
    for (int i = 0; i < p->to; i++) row[i] = i < first || i >= first + p->n ? VOCAB_PAD : p->ids[i - first];
    batch_clear(b);
    batch_add(b, row, p->to, false);
    for (int i = 0; i < p->to; i++) {
        if (v->masked && (i < first || i >= first + p->n)) batch_mark_pad(b, i);
        if (v->shifted) b->position[i] = i < first ? 0 : i - first;
    }
    mem_free(row);
}

/* Over the tokens of the sentence; what stands at the pads is nobody's business. */
static double difference(const Padding *p, const Variant *v, Batch *b) {
    size_t vocab = (size_t)model_config(p->m->model)->vocab;
    fill(p, v, b);
    const real *logits = forward_batch(p->forward, p->m->model, b);
    if (v->left) logits += (size_t)(p->to - p->n) * vocab;
    return differ_most(logits, p->alone, (size_t)p->n * vocab);
}

static Status compare(Study *s, Padding *p) {
    size_t numbers = (size_t)p->n * (size_t)model_config(p->m->model)->vocab;
    p->alone = MEM_ARRAY(real, numbers);
    memcpy(p->alone, forward_ids(p->forward, p->m->model, p->ids, p->n), numbers * sizeof *p->alone);
    Status status = status_ok();
    Batch b;
    batch_init(&b);
    for (int i = 0; i < 4 && status_is_ok(&status); i++) {
        table_add_text(study_table(s, "diff"), variants[i].name);
        table_add_real(study_table(s, "diff"), difference(p, &variants[i], &b));
        if (!study_progress(s, (i + 1) / 4.0, "%s", variants[i].name)) status = status_cancelled();
    }
    batch_done(&b);
    mem_free(p->alone);
    return status;
}

static Status pad(Study *s, const TrainedModel *m) {
    const ModelConfig *c = model_config(m->model);
    int *ids;
    Padding p = {.m = m, .to = (int)options_int(study_options(s), "to")};
    STATUS_TRY(models_ids(m, study_options(s), "text", MODELS_PROMPT, &ids, &p.n));
    p.ids = ids;
    Status status = status_ok();
    if (p.to < p.n) status = status_usage(_("to: the sentence has %d tokens, more than %d"), p.n, p.to);
    if (p.to > c->context)
        status = status_usage(_("to: %d tokens, and the model's context has room for %d"), p.to, c->context);
    if (status_is_ok(&status)) {
        p.forward = forward_new();
        status = compare(s, &p);
        forward_free(p.forward);
    }
    mem_free(ids);
    study_about(s, "pads", "%d of %d positions, id %d", p.to - p.n, p.to, VOCAB_PAD);
    study_about(s, "positions", "%s",
                c->pos == POS_ROPE || c->pos == POS_NONE
                    ? "scores depend on distances alone: left_masked needs no shift"
                    : "part of the embedding: left_masked needs the shift");
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = pad(s, &m);
    models_done(&m);
    study_about(s, "difference_rule", "largest |logit in the batch - logit alone| over the sentence's tokens");
    study_about(s, "variants",
                "right: pads behind, not masked; left_plain: before, seen; left_masked: before, unseen; "
                "left_masked_shifted: unseen, and positions count from the sentence's first token");
    return status;
}

const Experiment experiment_batch_pad = {
    .entry = {.id = "batch.pad",
              .section = "L3 3.4",
              .title = N_("padding on the right or on the left: what becomes of the logits"),
              .see = N_("Pads on the right change nothing: nobody looks ahead. Pads on the left must be masked, and "
                        "positions counted from the first real token."),
              .options = (const Option *const[]){models_gpt_option_rows, pad_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}}},
    .check = check,
    .run = run,
};
