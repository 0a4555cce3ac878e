#include "beams.h"

#include "mem.h"
#include "tokens.h"

#include <string.h>

const Column beams_tree_columns[] = {
    {"node", COLUMN_INT, ""},
    {"parent", COLUMN_INT, ""},
    {"depth", COLUMN_INT, "tokens"},
    {"token", COLUMN_TEXT, ""},
    {"id", COLUMN_INT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"score", COLUMN_DOUBLE, ""},
    {"state", COLUMN_TEXT, ""},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};

const Column beams_best_columns[] = {
    {"rank", COLUMN_INT, ""},
    {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"score", COLUMN_DOUBLE, ""},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};

const Column beams_stop_columns[] = {{"reason", COLUMN_TEXT, ""}, {"step", COLUMN_INT, ""}, {0}};

static void add_true(Table *t, const BeamView *v, int node) {
    if (v->true_log_p)
        table_add_real(t, v->true_log_p[node]);
    else
        table_add_empty(t);
}

void beams_add_tree(Table *t, const BeamView *v) {
    for (int i = 0; i < beam_nodes(v->beam); i++) {
        const BeamNode *node = beam_node(v->beam, i);
        table_add_int(t, i);
        if (node->parent < 0)
            table_add_empty(t);
        else
            table_add_int(t, node->parent);
        table_add_int(t, node->depth);
        table_add_text(t, tokens_name(v->vocab, node->id));
        table_add_int(t, node->id);
        table_add_real(t, node->log_p);
        table_add_real(t, node->score);
        table_add_text(t, beam_state_name(node->state));
        add_true(t, v, i);
    }
}

void beams_text(const BeamView *v, int node, Str *out) {
    int depth = beam_node(v->beam, node)->depth, *ids = MEM_ARRAY(int, (size_t)(v->n + depth));
    memcpy(ids, v->ids, (size_t)v->n * sizeof *ids);
    beam_path(v->beam, node, ids + v->n);
    if (v->vocab) tokens_text(v->vocab, ids, v->n + depth, out);
    mem_free(ids);
}

void beams_add_best(Table *t, const BeamView *v) {
    int *best, n = beam_best(v->beam, &best);
    Str text;
    str_init(&text);
    for (int i = 0; i < n; i++) {
        const BeamNode *node = beam_node(v->beam, best[i]);
        str_clear(&text);
        beams_text(v, best[i], &text);
        table_add_int(t, i + 1);
        table_add_text(t, text.s);
        table_add_real(t, node->log_p);
        table_add_real(t, node->score);
        add_true(t, v, best[i]);
    }
    str_done(&text);
    mem_free(best);
}

void beams_add_stop(Table *t, const Beam *b) {
    table_add_text(t, beam_reason_name(beam_reason(b)));
    table_add_int(t, beam_steps(b) - 1);
}
