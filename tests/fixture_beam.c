/* fixture_beam: a beam search of width 3 after "the dogs near the cat" that could have been: 26 nodes, two finished. */
#include "fixture.h"

#include <math.h>
#include <string.h>

static const struct {
    int parent, depth;
    const char *token;
    int id;
    double log_p, truth;
    const char *state;
    int greedy, samples, fresh;
} nodes[] = {
    {-1, 1, "chase", 15, -1.475, -1.551, "kept", 1, 7, 0},   {-1, 1, "eat", 23, -1.857, -2.061, "kept", 0, 3, 1},
    {-1, 1, "beside", 11, -1.882, -1.810, "kept", 0, 4, 0},  {-1, 1, "behind", 9, -1.937, -1.810, "pruned", 0, 3, 0},
    {-1, 1, "make", 41, -3.360, -3.160, "pruned", 0, 1, 0},  {0, 2, "the", 54, -1.475, -1.551, "kept", 1, 7, 0},
    {2, 2, "the", 54, -1.882, -1.810, "kept", 0, 4, 0},      {1, 2, "bones", 12, -1.975, -2.216, "kept", 0, 3, 1},
    {1, 2, "meat", 43, -4.130, -4.007, "pruned", 0, 0, 0},   {0, 2, "oats", 50, -11.195, -HUGE_VAL, "pruned", 0, 0, 0},
    {7, 3, "in", 40, -2.571, -2.803, "kept", 0, 1, 1},       {7, 3, "every", 26, -2.792, -3.027, "kept", 0, 2, 1},
    {5, 3, "cat", 13, -2.951, -3.055, "kept", 1, 2, 0},      {5, 3, "foxes", 33, -3.249, -3.342, "pruned", 0, 1, 0},
    {6, 3, "owl", 51, -4.460, -4.583, "pruned", 0, 1, 0},    {10, 4, "the", 54, -2.571, -2.803, "kept", 0, 1, 1},
    {11, 4, "day", 20, -2.792, -3.027, "kept", 0, 2, 1},     {12, 4, "in", 40, -3.520, -3.642, "kept", 1, 1, 0},
    {12, 4, "every", 26, -3.826, -3.866, "pruned", 0, 1, 0}, {16, 5, ".", 3, -2.792, -3.027, "kept", 0, 2, 1},
    {15, 5, "morning", 45, -3.138, -3.314, "kept", 0, 1, 1}, {17, 5, "the", 54, -3.520, -3.642, "kept", 1, 1, 0},
    {15, 5, "field", 27, -3.571, -3.720, "pruned", 0, 0, 0}, {19, 6, "</s>", 2, -2.793, -3.027, "finished", 0, 2, 1},
    {20, 6, ".", 3, -3.138, -3.314, "open", 0, 1, 1},        {21, 6, "morning", 45, -4.028, -4.153, "open", 1, 1, 0},
};
enum { NODES = sizeof nodes / sizeof nodes[0], BEST = 23, LAST_STEP = 5, SAMPLES = 20 };

static const Column tree_columns[] = {{"node", COLUMN_INT, ""},
                                      {"parent", COLUMN_INT, ""},
                                      {"depth", COLUMN_INT, "tokens"},
                                      {"token", COLUMN_TEXT, ""},
                                      {"id", COLUMN_INT, ""},
                                      {"log_p", COLUMN_DOUBLE, "nats"},
                                      {"score", COLUMN_DOUBLE, ""},
                                      {"state", COLUMN_TEXT, ""},
                                      {"true_log_p", COLUMN_DOUBLE, "nats"},
                                      {NULL, 0, NULL}};
static const Column best_columns[] = {{"rank", COLUMN_INT, ""},
                                      {"text", COLUMN_TEXT, ""},
                                      {"log_p", COLUMN_DOUBLE, "nats"},
                                      {"score", COLUMN_DOUBLE, ""},
                                      {"true_log_p", COLUMN_DOUBLE, "nats"},
                                      {NULL, 0, NULL}};
static const Column stop_columns[] = {{"reason", COLUMN_TEXT, ""}, {"step", COLUMN_INT, ""}, {NULL, 0, NULL}};
static const Column beam_columns[] = {
    {"width", COLUMN_INT, "beams"},   {"length_norm", COLUMN_INT, ""},         {"of", COLUMN_TEXT, ""},
    {"tokens", COLUMN_INT, "tokens"}, {"prompt_tokens", COLUMN_INT, "tokens"}, {"since_step", COLUMN_INT, ""},
    {"before", COLUMN_TEXT, ""},      {"compared_step", COLUMN_INT, ""},       {NULL, 0, NULL}};
static const Column mark_columns[] = {{"node", COLUMN_INT, ""},
                                      {"greedy", COLUMN_INT, ""},
                                      {"samples", COLUMN_INT, ""},
                                      {"new", COLUMN_INT, ""},
                                      {NULL, 0, NULL}};
static const Column rival_columns[] = {{"of", COLUMN_TEXT, ""},
                                       {"text", COLUMN_TEXT, ""},
                                       {"log_p", COLUMN_DOUBLE, "nats"},
                                       {"score", COLUMN_DOUBLE, ""},
                                       {"true_log_p", COLUMN_DOUBLE, "nats"},
                                       {NULL, 0, NULL}};
static const Column sample_columns[] = {{"sample", COLUMN_INT, ""}, {"node", COLUMN_INT, ""}, {NULL, 0, NULL}};

static void add_true(Table *t, const FixtureSpec *p, double x) {
    if (p->truth)
        table_add_real(t, x);
    else
        table_add_empty(t);
}

static Table *tree(const FixtureSpec *p) {
    Table *t = table_new("tree", tree_columns);
    for (int i = 0; i < NODES; i++) {
        table_add_int(t, i);
        if (nodes[i].parent < 0)
            table_add_empty(t);
        else
            table_add_int(t, nodes[i].parent);
        table_add_int(t, nodes[i].depth);
        table_add_text(t, nodes[i].token);
        table_add_int(t, nodes[i].id);
        table_add_real(t, nodes[i].log_p);
        table_add_real(t, p->length_norm ? nodes[i].log_p / nodes[i].depth : nodes[i].log_p);
        table_add_text(t, nodes[i].state);
        add_true(t, p, nodes[i].truth);
    }
    return t;
}

static Table *best(const FixtureSpec *p) {
    Table *t = table_new("best", best_columns);
    table_add_int(t, 1);
    table_add_text(t, "the dogs near the cat eat bones every day .");
    table_add_real(t, nodes[BEST].log_p);
    table_add_real(t, p->length_norm ? nodes[BEST].log_p / nodes[BEST].depth : nodes[BEST].log_p);
    add_true(t, p, nodes[BEST].truth);
    return t;
}

static Table *stop(void) {
    Table *t = table_new("stop", stop_columns);
    table_add_text(t, "finished");
    table_add_int(t, LAST_STEP);
    return t;
}

static Table *settings(const FixtureSpec *p) {
    Table *t = table_new("beam", beam_columns);
    table_add_int(t, 3);
    table_add_int(t, p->length_norm);
    table_add_text(t, "model");
    table_add_int(t, 64);
    table_add_int(t, p->prompt_tokens);
    table_add_int(t, p->step > 20 ? p->step - 20 : 0);
    table_add_text(t, p->step > 20 ? "the dogs near the cat chase the cat in the morning ." : "");
    if (p->step > 20)
        table_add_int(t, p->step - 10);
    else
        table_add_empty(t);
    return t;
}

static Table *marks(const FixtureSpec *p) {
    Table *t = table_new("beam_marks", mark_columns);
    for (int i = 0; i < NODES; i++) {
        table_add_int(t, i);
        table_add_int(t, nodes[i].greedy);
        table_add_int(t, nodes[i].samples);
        if (p->step > 20)
            table_add_int(t, nodes[i].fresh);
        else
            table_add_empty(t);
    }
    return t;
}

static void add_rival(Table *t, const FixtureSpec *p, const char *of, const char *text, double log_p, double truth) {
    int tokens = strcmp(of, "greedy") == 0 ? 8 : 6;
    table_add_text(t, of);
    table_add_text(t, text);
    table_add_real(t, log_p);
    table_add_real(t, p->length_norm ? log_p / tokens : log_p);
    add_true(t, p, truth);
}

static Table *rivals(const FixtureSpec *p) {
    Table *t = table_new("beam_rivals", rival_columns);
    add_rival(t, p, "beam", "the dogs near the cat eat bones every day .", -2.793, -3.027);
    add_rival(t, p, "greedy", "the dogs near the cat chase the cat in the morning .", -4.029, -4.153);
    if (p->truth) add_rival(t, p, "mode", "the dogs near the cat eat bones every day .", -2.793, -3.027);
    return t;
}

static Table *samples(void) {
    Table *t = table_new("beam_samples", sample_columns);
    for (int i = 0; i < SAMPLES; i++) {
        table_add_int(t, i);
        table_add_int(t, i % NODES);
    }
    return t;
}

void fixture_add_beam(Snapshot *s, const FixtureSpec *p) {
    Table *all[] = {tree(p), best(p), stop(), settings(p), marks(p), rivals(p), samples()};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) snapshot_add_table(s, all[i]);
}
