#include "paths.h"

#include "mem.h"
#include "tokens.h"

#include <math.h>

const Column paths_step_columns[] = {
    {"step", COLUMN_INT, ""},
    {"token", COLUMN_TEXT, ""},
    {"id", COLUMN_INT, ""},
    {"p", COLUMN_DOUBLE, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"true_p", COLUMN_DOUBLE, ""},
    {0},
};

const Column paths_sentence_columns[] = {
    {"of", COLUMN_TEXT, ""},
    {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};

void paths_add_steps(Table *t, const Vocab *v, const Path *p) {
    for (int i = 0; i < p->count; i++) {
        const PathStep *step = &p->step[i];
        table_add_int(t, i);
        table_add_text(t, tokens_name(v, step->id));
        table_add_int(t, step->id);
        table_add_real(t, step->p);
        table_add_real(t, step->log_p);
        table_add_known(t, step->true_p);
    }
}

void paths_add_text(Table *t, const char *of, const char *text, double log_p, double true_log_p) {
    table_add_text(t, of);
    table_add_text(t, text);
    table_add_known(t, log_p);
    table_add_known(t, true_log_p);
}

/* Their tokens bring their own blanks. */
static void add_foreign(Str *text, const Vocab *v, const Path *p) {
    int *ids = MEM_ARRAY(int, (size_t)p->count);
    for (int i = 0; i < p->count; i++) ids[i] = p->step[i].id;
    tokens_text(v, ids, p->count, text);
    mem_free(ids);
}

void paths_add_sentence(Table *t, const Vocab *v, const char *of, const char *prefix, const Path *p) {
    Str text;
    str_init(&text);
    str_add(&text, prefix);
    if (v && vocab_is_foreign(v)) add_foreign(&text, v, p);
    for (int i = 0; i < p->count; i++) {
        if (p->step[i].id < VOCAB_SPECIALS || (v && vocab_is_foreign(v))) continue;
        str_addf(&text, "%s%s", text.len ? " " : "", tokens_name(v, p->step[i].id));
    }
    paths_add_text(t, of, text.s, p->log_p, p->true_log_p);
    str_done(&text);
}
