/* arch.account: what a Transformer costs: parameters, operations of a forward pass, memory while it trains (seminar 3,
 * 11; lecture 4, 7.1; lecture 3, 3.1). */
#include "cards.h"
#include "experiment.h"
#include "flop_count.h"
#include "intl.h"
#include "shape.h"
#include "sizes.h"

#include <string.h>

#define TOKENS_MOST   1e18
#define LENGTH_MOST   1e9
#define COUNTED_ROOM  20000000LL   /* numbers that a real forward may take */
#define COUNTED_FLOPS 5000000000LL /* and operations: a fraction of a second */

static const Option account_options[] = {
    {"T", OPTION_INT, "1024", 1, LENGTH_MOST, NULL, "tokens",
     N_("of a sequence; not given and more than learned positions have: as many as they have")},
    {"batch", OPTION_INT, "1", 1, LENGTH_MOST, NULL, "sequences", N_("for operations and activations")},
    SIZES_BYTES_OPTION("4"),
    {"scores", OPTION_CHOICE, "all", 0, 0, "all|allowed", "",
     N_("attention scores that are counted: all of T x T, or those that masks and windows leave")},
    {"tokens", OPTION_REAL, NULL, 1, TOKENS_MOST, NULL, "tokens", N_("to train on: adds the table training")},
    {"count", OPTION_FLAG, "0", 0, 0, NULL, "",
     N_("build it, run it, count its matrix products: adds the table counted (small models, T above 64)")},
    {0},
};

static const Column parameters_columns[] = {
    {"part", COLUMN_TEXT, ""}, {"count", COLUMN_INT, ""}, {"share", COLUMN_DOUBLE, ""}, {0}};
static const Column flops_columns[] = {
    {"part", COLUMN_TEXT, ""}, {"flops", COLUMN_INT, ""}, {"share", COLUMN_DOUBLE, ""}, {0}};
static const Column memory_columns[] = {{"part", COLUMN_TEXT, ""},
                                        {"bytes", COLUMN_INT, ""},
                                        {"gb", COLUMN_DOUBLE, "GB"},
                                        {"gib", COLUMN_DOUBLE, "GiB"},
                                        {0}};
static const Column training_columns[] = {
    {"quantity", COLUMN_TEXT, ""}, {"value", COLUMN_DOUBLE, ""}, {"unit", COLUMN_TEXT, ""}, {0}};
static const Column counted_columns[] = {
    {"part", COLUMN_TEXT, ""}, {"flops", COLUMN_INT, ""}, {"counted", COLUMN_INT, ""}, {0}};

/* What is asked. */
typedef struct {
    Shape shape;
    Count T, batch;
    int bits;
    AccountScores scores;
} Question;

/* ---- asking ---- */

static Status choose_length(const Options *o, Question *q) {
    const ModelConfig *c = &q->shape.config;
    if (c->pos != POS_LEARNED || q->T <= c->context) return status_ok();
    if (options_is_given(o, "T"))
        return status_usage(_("T=%lld is more than the %d learned positions that the model has; context= or pos=rope "
                              "changes that"),
                            q->T, c->context);
    q->T = c->context;
    return status_ok();
}

static Status check_sizes(const Question *q) {
    const ModelConfig *c = &q->shape.config;
    Count numbers = account_parameters(c).total, kept = account_activations(c, q->T, q->batch).total;
    STATUS_TRY(sizes_check(numbers, _("the number of parameters")));
    STATUS_TRY(sizes_check(account_flops(c, q->T, q->batch, q->scores).total, _("the number of operations")));
    Count values = account_add(account_times(4, numbers), kept);
    return sizes_check(account_bytes(values, q->bits), _("the memory in bits"));
}

static Status check_countable(const Question *q) {
    const ModelConfig *c = &q->shape.config;
    STATUS_TRY(config_check(c));
    if (q->scores != ACCOUNT_ALL_SCORES) return status_usage(_("count=1 works out all scores; leave scores= out"));
    if (q->T < FLOP_COUNT_SHORTEST)
        return status_usage(_("count=1 needs a T of at least %d: shorter attention makes no counted products"),
                            FLOP_COUNT_SHORTEST);
    Count room = flop_count_room(c, q->T, q->batch), flops = account_flops(c, q->T, q->batch, q->scores).total;
    if (room > COUNTED_ROOM || flops > COUNTED_FLOPS)
        return status_usage(_("count=1 would take %.3g numbers and %.3g operations; at most %.3g and %.3g are allowed"),
                            (double)room, (double)flops, (double)COUNTED_ROOM, (double)COUNTED_FLOPS);
    return status_ok();
}

static Status read_question(const Options *o, Question *q) {
    *q = (Question){.T = options_int(o, "T"),
                    .batch = options_int(o, "batch"),
                    .scores = options_choice(o, "scores") == 0 ? ACCOUNT_ALL_SCORES : ACCOUNT_ALLOWED_SCORES};
    STATUS_TRY(sizes_bits(o, &q->bits));
    STATUS_TRY(shape_config(o, q->T, &q->shape));
    STATUS_TRY(choose_length(o, q));
    STATUS_TRY(check_sizes(q));
    return options_flag(o, "count") ? check_countable(q) : status_ok();
}

static Status check(const Options *o) {
    Question q;
    if (cards_are_input(o)) return status_ok();
    return read_question(o, &q);
}

/* ---- answering ---- */

typedef struct {
    const char *name;
    Count count;
} Part;

/* Parts that are 0 are left out, as in lm.train; the last one is the total. */
static void add_parts(Table *t, const Part *part, int n) {
    for (int i = 0; i < n; i++) {
        if (part[i].count == 0) continue;
        table_add_text(t, part[i].name);
        table_add_int(t, part[i].count);
        table_add_real(t, (double)part[i].count / (double)part[n - 1].count);
    }
}

static void add_parameters(Table *t, const ParameterAccount *a) {
    const Part parts[] = {{"token_embedding", a->token_embedding},
                          {"position_embedding", a->position_embedding},
                          {"attention", a->attention},
                          {"feed_forward", a->feed_forward},
                          {"norm", a->norm},
                          {"output", a->output},
                          {"total", a->total}};
    add_parts(t, parts, sizeof parts / sizeof *parts);
}

enum { FLOP_PARTS = 5 };

static void name_flops(const FlopAccount *a, Part part[FLOP_PARTS]) {
    part[0] = (Part){"attention_projections", a->projections};
    part[1] = (Part){"attention_core", a->core};
    part[2] = (Part){"feed_forward", a->feed_forward};
    part[3] = (Part){"output", a->output};
    part[4] = (Part){"total", a->total};
}

static void add_memory(Table *t, const Question *q, const ParameterAccount *a) {
    ActivationAccount kept = account_activations(&q->shape.config, q->T, q->batch);
    Count state = 4 * a->total;
    const Part parts[] = {{"parameters", a->total},          {"gradients", a->total},
                          {"adamw_moments", 2 * a->total},   {"training_state", state},
                          {"attention_scores", kept.square}, {"other_activations", kept.rows},
                          {"total", state + kept.total}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Count bytes = account_bytes(parts[i].count, q->bits);
        table_add_text(t, parts[i].name);
        table_add_int(t, bytes);
        table_add_real(t, (double)bytes / SIZES_GB);
        table_add_real(t, (double)bytes / SIZES_GIB);
    }
}

static void add_quantity(Table *t, const char *name, double value, const char *unit) {
    table_add_text(t, name);
    table_add_real(t, value);
    table_add_text(t, unit);
}

#define FLOPS_OF_PETAFLOP_DAY (1e15 * 86400)

/* 6 N D: two operations for a parameter and token forward, four back (Kaplan et al. 2020). */
static void add_training(Table *t, const Question *q, double parameters, double forward, double tokens) {
    double flops = 6 * parameters * tokens, exact = 3 * forward / ((double)q->T * (double)q->batch) * tokens;
    add_quantity(t, "parameters", parameters, "parameters");
    add_quantity(t, "tokens", tokens, "tokens");
    add_quantity(t, "tokens_per_parameter", tokens / parameters, "tokens");
    add_quantity(t, "flops_6nd", flops, "FLOP");
    add_quantity(t, "petaflop_s_days", flops / FLOPS_OF_PETAFLOP_DAY, "petaflop/s-days");
    add_quantity(t, "flops_three_forwards", exact, "FLOP");
}

static void add_counted(Table *t, const Question *q, const FlopAccount *flops) {
    FlopAccount counted = flop_count(&q->shape.config, (int)q->T, (int)q->batch);
    Part want[FLOP_PARTS], made[FLOP_PARTS];
    name_flops(flops, want);
    name_flops(&counted, made);
    for (int i = 0; i < FLOP_PARTS; i++) {
        table_add_text(t, want[i].name);
        table_add_int(t, want[i].count);
        table_add_int(t, made[i].count);
    }
}

static void add_conventions(Study *s, const Question *q) {
    char text[64];
    for (const char *const *field = config_fields(); *field; field++) {
        Str key;
        str_init(&key);
        str_addf(&key, "model_%s", *field);
        if (shape_get(&q->shape, *field, text, sizeof text)) study_about(s, key.s, "%s", text);
        str_done(&key);
    }
    if (*q->shape.name) study_about(s, "model_card", "%s", q->shape.name);
    if (*q->shape.note) study_about(s, "model_card_note", "%s", q->shape.note);
    study_about(s, "sequence_length", "%lld tokens", q->T);
    study_about(s, "flops_rule", "forward pass, matrix products alone: [m x k] by [k x n] is 2 m n k");
    study_about(s, "scores_rule", "%s",
                q->scores == ACCOUNT_ALL_SCORES ? "all T x T scores in every layer, hidden ones included"
                                                : "only scores that the causal mask and a layer's window leave");
    study_about(s, "activations_rule",
                "kept for backward: outputs of norms and matrices, q, k, v, scores, weights, mix, "
                "activations, logits, probabilities");
    study_about(s, "training_state_rule", "parameters + gradients + two moments of AdamW, all of the same bytes");
    sizes_about(s);
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    Question q;
    STATUS_TRY(read_question(o, &q));
    const ModelConfig *c = &q.shape.config;
    ParameterAccount parameters = account_parameters(c);
    FlopAccount flops = account_flops(c, q.T, q.batch, q.scores);
    Part parts[FLOP_PARTS];
    name_flops(&flops, parts);
    add_parameters(study_table(s, "parameters"), &parameters);
    add_parts(study_table(s, "flops"), parts, FLOP_PARTS);
    add_memory(study_table(s, "memory"), &q, &parameters);
    if (options_is_set(o, "tokens"))
        add_training(study_table(s, "training"), &q, (double)parameters.total, (double)flops.total,
                     options_real(o, "tokens"));
    add_conventions(s, &q);
    if (options_flag(o, "count")) add_counted(study_table(s, "counted"), &q, &flops);
    return status_ok();
}

const Experiment experiment_arch_account = {
    .entry = {.id = "arch.account",
              .section = "S3 11",
              .title = N_("what a Transformer costs: parameters, FLOPs, memory"),
              .see = N_(
                  "The feed-forward layers hold most of a large model; in a small one nearly half is vocabulary. The "
                  "scores grow with T squared, everything else with T."),
              .options = (const Option *const[]){shape_option_rows, account_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"parameters", parameters_columns},
                                            {"flops", flops_columns},
                                            {"memory", memory_columns},
                                            {"training", training_columns},
                                            {"counted", counted_columns},
                                            {0}},
              .figure = {FIGURE_BARS, "parameters", "part", "share", NULL},
              .on_request = (const char *const[]){"training", "counted", NULL}},
    .check = check,
    .run = run,
};
