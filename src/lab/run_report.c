/* What a run tells in tables: a row of the curve for every step, and what its parameters are spent on. */
#include "run.h"

#include <math.h>
#include <string.h>

const Column run_curve_columns[] = {RUN_CURVE_COLUMNS, {0}};

const Column run_model_columns[] = {{"part", COLUMN_TEXT, ""}, {"parameters", COLUMN_INT, ""}, {0}};

void run_add_curve(Table *curve, const RunStep *s) {
    table_add_int(curve, s->step);
    table_add_int(curve, s->tokens);
    table_add_real(curve, s->loss);
    table_add_real(curve, s->learning_rate);
    table_add_real(curve, s->grad_norm);
    table_add_real(curve, s->seconds > 0 ? (double)s->tokens / s->seconds : (double)NAN);
}

typedef enum { PART_TOKEN, PART_POSITION, PART_ATTENTION, PART_FFN, PART_NORM, PART_HEAD, PARTS } Part;

static const char *const part_names[PARTS] = {
    "token_embedding", "position_embedding", "attention", "feed_forward", "norm", "output"};

/* By the slice's name: those of queries and keys count as attention, also their norms. */
static Part part_of(const char *name) {
    if (strncmp(name, "token.", 6) == 0) return PART_TOKEN;
    if (strncmp(name, "position.", 9) == 0) return PART_POSITION;
    if (strstr(name, ".attention.")) return PART_ATTENTION;
    if (strstr(name, ".ffn.")) return PART_FFN;
    return strstr(name, "norm") ? PART_NORM : PART_HEAD;
}

Table *run_model_table(const Model *m) {
    const Params *p = model_read_params(m);
    size_t count[PARTS] = {0};
    for (int i = 0; i < p->slices; i++) count[part_of(p->slice[i].name)] += slice_count(&p->slice[i]);
    Table *t = table_new("model", run_model_columns);
    for (int i = 0; i < PARTS; i++) {
        if (count[i] == 0) continue;
        table_add_text(t, part_names[i]);
        table_add_int(t, (long long)count[i]);
    }
    table_add_text(t, "total");
    table_add_int(t, (long long)p->count);
    return t;
}
