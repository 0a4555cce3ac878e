/* Tables of the rope pane, worked out from what the snapshot holds (observe_rope.h). */
#include "observe_rope.h"

#include "bug.h"
#include "mem.h"
#include "rope_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const observe_rope_formulas[ROPE_FORMULAS] = {"rope", "single", "wrong", "none"};

bool observe_positions(const Snapshot *s, PositionFacts *out) {
    const Table *t = snapshot_table(s, "rope");
    if (!t || table_rows(t) == 0) return false;
    int base = table_find(t, "base"), pairing = table_find(t, "pairing"), shift = table_find(t, "shift");
    bool turns = !table_is_empty(t, 0, base);
    *out = (PositionFacts){.kind = table_text(t, 0, table_find(t, "kind")),
                           .base = turns ? table_real(t, 0, base) : (double)NAN,
                           .half = turns && strcmp(table_text(t, 0, pairing), "half") == 0,
                           .head_dim = (int)table_int(t, 0, table_find(t, "head_dim")),
                           .farthest = (long)table_int(t, 0, table_find(t, "farthest")),
                           .shift = table_is_empty(t, 0, shift) ? 0 : (long)table_int(t, 0, shift)};
    int scaling = table_find(t, "scaling");
    bool said = turns && scaling >= 0;
    snprintf(out->scaling, sizeof out->scaling, "%s", said ? table_text(t, 0, scaling) : "none");
    return true;
}

/* --- one cell of attention before anything is turned --- */

typedef struct {
    PositionFacts facts;
    RopeLook look;
    Rotary turn, model;     /* as LOOK says, and as the model is */
    int d, kv_head;         /* numbers of a head; the KV head that the query head reads */
    double *q, *k;          /* [d] before */
    double *placed, *other; /* [d] room */
} RopeCell;

static bool has_cell(const Field *q, const Field *k, const RopeLook *look) {
    return q && k && q->rank == 3 && k->rank == 3 && look->head >= 0 && look->head < q->dim[0] && look->query >= 0 &&
           look->query < q->dim[1] && look->key >= 0 && look->key < k->dim[1] && k->dim[0] > 0 &&
           q->dim[0] % k->dim[0] == 0 && q->dim[2] == k->dim[2];
}

static void read_row(const Field *f, int head, int row, double *x) {
    for (int i = 0; i < f->dim[2]; i++) x[i] = (double)field_at(f, head, row, i, 0);
}

static Pairing pairing_of(bool half) {
    return half ? PAIRING_HALF : PAIRING_ADJACENT;
}

static void init_turns(RopeCell *c) {
    bool half = c->look.pairing < 0 ? c->facts.half : c->look.pairing > 0;
    double base = c->look.base > 0 ? c->look.base : c->facts.base;
    RopeScaling scaling;
    Status s = rope_scaling_parse(c->facts.scaling, &scaling);
    BUG_ON(!status_is_ok(&s));
    rotary_init_scaled(&c->model, c->d, c->facts.base, &scaling, pairing_of(c->facts.half));
    if (c->look.formula == ROPE_SINGLE)
        rotary_init_single(&c->turn, c->d, pairing_of(half));
    else
        rotary_init_scaled(&c->turn, c->d, base, &scaling, pairing_of(half));
}

/* False: no RoPE, or no such cell. */
static bool cell_init(RopeCell *c, const Snapshot *s, const RopeLook *look) {
    *c = (RopeCell){.look = *look};
    const Field *q = snapshot_field(s, "attention.%d.query_before", look->layer),
                *k = snapshot_field(s, "attention.%d.key_before", look->layer);
    if (!observe_positions(s, &c->facts) || !(c->facts.base > 0) || !has_cell(q, k, look) || q->dim[2] % 2)
        return false;
    c->d = q->dim[2];
    c->kv_head = look->head / (q->dim[0] / k->dim[0]);
    c->q = MEM_ARRAY(double, 4 * (size_t)c->d);
    c->k = c->q + c->d;
    c->placed = c->k + c->d;
    c->other = c->placed + c->d;
    read_row(q, look->head, look->query, c->q);
    read_row(k, c->kv_head, look->key, c->k);
    init_turns(c);
    return true;
}

static void cell_done(RopeCell *c) {
    rotary_done(&c->turn);
    rotary_done(&c->model);
    mem_free(c->q);
}

/* The position that a formula turns a vector at POSITION by, DISTANCE away from the other. */
static double turned_by(RopeFormula formula, double position, double distance) {
    if (formula == ROPE_NONE) return 0;
    return formula == ROPE_WRONG ? distance : position;
}

/* q.k with q at T and k at J. */
static double score(RopeCell *c, const Rotary *r, RopeFormula formula, double t, double j) {
    double sum = 0;
    rotary_turn(r, turned_by(formula, t, t - j), c->q, c->placed);
    rotary_turn(r, turned_by(formula, j, t - j), c->k, c->other);
    for (int i = 0; i < c->d; i++) sum += c->placed[i] * c->other[i];
    return sum;
}

/* --- tables --- */

static const Column hands_columns[] = {{"pair", COLUMN_INT, ""},
                                       {"radians_per_token", COLUMN_DOUBLE, "rad/token"},
                                       {"period_tokens", COLUMN_DOUBLE, "tokens"},
                                       {"query_angle", COLUMN_DOUBLE, "rad"},
                                       {"key_angle", COLUMN_DOUBLE, "rad"},
                                       {0}};

Table *observe_rope_hands(const Snapshot *s, const RopeLook *look) {
    RopeCell c;
    if (!cell_init(&c, s, look)) return NULL;
    double t = look->query + (double)look->shift, j = look->key + (double)look->shift;
    Table *table = table_new("hands", hands_columns);
    for (int i = 0; i < c.d / 2; i++) {
        double speed = look->formula == ROPE_NONE ? 0 : c.turn.speed[i];
        table_add_int(table, i);
        table_add_real(table, speed);
        table_add_real(table, speed > 0 ? 2 * ROPE_PI / speed : (double)INFINITY);
        table_add_real(table, turned_by(look->formula, t, t - j) * speed);
        table_add_real(table, turned_by(look->formula, j, t - j) * speed);
    }
    cell_done(&c);
    return table;
}

static const Column vectors_columns[] = {{"which", COLUMN_TEXT, ""},
                                         {"index", COLUMN_INT, ""},
                                         {"pair", COLUMN_INT, ""},
                                         {"before", COLUMN_DOUBLE, ""},
                                         {"after", COLUMN_DOUBLE, ""},
                                         {"engine", COLUMN_REAL, ""},
                                         {0}};

/* The vector X [d] before and after; ENGINE is the model's own, NULL: nothing of it is known. */
static void add_vector(Table *t, const RopeCell *c, const char *which, const double *x, double position,
                       const Field *engine, int head, int row) {
    rotary_turn(&c->turn, position, x, c->placed);
    for (int i = 0; i < c->d; i++) {
        table_add_text(t, which);
        table_add_int(t, i);
        table_add_int(t, rotary_pair(&c->turn, i));
        table_add_real(t, x[i]);
        table_add_real(t, position == 0 ? x[i] : c->placed[i]);
        if (engine)
            table_add_real(t, (double)field_at(engine, head, row, i, 0));
        else
            table_add_empty(t);
    }
}

Table *observe_rope_vectors(const Snapshot *s, const RopeLook *look) {
    RopeCell c;
    if (!cell_init(&c, s, look)) return NULL;
    const Field *q = snapshot_field(s, "attention.%d.query", look->layer),
                *k = snapshot_field(s, "attention.%d.key", look->layer),
                *v = snapshot_field(s, "attention.%d.value", look->layer);
    double t = look->query + (double)look->shift, j = look->key + (double)look->shift;
    Table *table = table_new("vectors", vectors_columns);
    add_vector(table, &c, "q", c.q, turned_by(look->formula, t, t - j), q, look->head, look->query);
    add_vector(table, &c, "k", c.k, turned_by(look->formula, j, t - j), k, c.kv_head, look->key);
    if (v) {
        read_row(v, c.kv_head, look->key, c.other);
        add_vector(table, &c, "v", c.other, 0, v, c.kv_head, look->key);
    }
    cell_done(&c);
    return table;
}

static const Column distance_columns[] = {
    {"distance", COLUMN_INT, "tokens"}, {"score", COLUMN_DOUBLE, ""}, {"model_score", COLUMN_DOUBLE, ""}, {0}};

Table *observe_rope_distance(const Snapshot *s, const RopeLook *look) {
    RopeCell c;
    if (!cell_init(&c, s, look)) return NULL;
    Table *t = table_new("distance", distance_columns);
    for (long i = 0; i <= c.facts.farthest; i++) {
        table_add_int(t, i);
        table_add_real(t, score(&c, &c.turn, look->formula, (double)i, 0));
        table_add_real(t, score(&c, &c.model, ROPE_TURNED, (double)i, 0));
    }
    cell_done(&c);
    return t;
}

static const Column shift_columns[] = {{"scheme", COLUMN_TEXT, ""},
                                       {"t", COLUMN_INT, ""},
                                       {"j", COLUMN_INT, ""},
                                       {"score", COLUMN_DOUBLE, ""},
                                       {"t_shifted", COLUMN_INT, ""},
                                       {"j_shifted", COLUMN_INT, ""},
                                       {"score_shifted", COLUMN_DOUBLE, ""},
                                       {"difference", COLUMN_DOUBLE, ""},
                                       {0}};

/* A row; LATER NaN: not known. */
static void add_shift(Table *t, const char *scheme, const RopeLook *look, long shift, double now, double later) {
    table_add_text(t, scheme);
    table_add_int(t, look->query);
    table_add_int(t, look->key);
    table_add_real(t, now);
    if (isnan(later)) {
        for (int i = 0; i < 4; i++) table_add_empty(t);
        return;
    }
    table_add_int(t, look->query + shift);
    table_add_int(t, look->key + shift);
    table_add_real(t, later);
    table_add_real(t, later - now);
}

/* Every formula once, with LOOK's base and pairing. */
static void add_formulas(Table *t, const Snapshot *s, const RopeLook *look) {
    for (int formula = 0; formula < ROPE_FORMULAS; formula++) {
        RopeLook one = *look;
        RopeCell c;
        one.formula = (RopeFormula)formula;
        if (!cell_init(&c, s, &one)) return;
        double now = score(&c, &c.turn, one.formula, look->query, look->key);
        double later =
            score(&c, &c.turn, one.formula, look->query + (double)look->shift, look->key + (double)look->shift);
        add_shift(t, observe_rope_formulas[formula], look, look->shift, now, later);
        cell_done(&c);
    }
}

static bool has_score(const Field *f, const RopeLook *look) {
    return f && f->rank == 3 && look->head >= 0 && look->head < f->dim[0] && look->query >= 0 &&
           look->query < f->dim[1] && look->key >= 0 && look->key < f->dim[2];
}

Table *observe_rope_shift(const Snapshot *s, const RopeLook *look) {
    const Field *now = snapshot_field(s, "attention.%d.scores", look->layer),
                *later = snapshot_field(s, "rope.%d.shifted", look->layer);
    PositionFacts facts;
    if (!observe_positions(s, &facts) || !has_score(now, look)) return NULL;
    Table *t = table_new("shift", shift_columns);
    double after =
        has_score(later, look) ? (double)field_at(later, look->head, look->query, look->key, 0) : (double)NAN;
    add_shift(t, "engine", look, facts.shift, (double)field_at(now, look->head, look->query, look->key, 0), after);
    add_formulas(t, s, look);
    return t;
}

static const Column similarity_columns[] = {
    {"a", COLUMN_INT, ""}, {"b", COLUMN_INT, ""}, {"cosine", COLUMN_REAL, ""}, {0}};

Table *observe_rope_similarity(const Snapshot *s) {
    const Field *f = snapshot_field(s, "rope.cosine");
    if (!f) return NULL;
    Table *t = table_new("similarity", similarity_columns);
    for (int a = 0; a < f->dim[0]; a++)
        for (int b = 0; b < f->dim[1]; b++) {
            table_add_int(t, a);
            table_add_int(t, b);
            table_add_real(t, (double)field_at(f, a, b, 0, 0));
        }
    return t;
}
