/* The part of a fixture that the mask pane reads: masks by the rule itself, a change that fades with distance. */
#include "fixture.h"

#include <math.h>

enum { OTHERS = 2, OTHER_TOKENS = 5, PADS = 4 };

typedef struct {
    const FixtureSpec *p;
    int n;
    int sentence[256], position[256];
    bool pad[256];
} Rows;

static void add_sentence(Rows *r, int number, int tokens, bool pad) {
    for (int i = 0; i < tokens; i++, r->n++) {
        r->sentence[r->n] = number;
        r->position[r->n] = pad ? r->p->position + i : i;
        r->pad[r->n] = pad;
    }
}

static int window_of(const FixtureSpec *p, int layer) {
    if (p->probe_window >= 0) return p->probe_window;
    return p->global_every > 0 && (layer + 1) % p->global_every == 0 ? 0 : p->window;
}

static bool allows(const Rows *r, int window, int query, int key) {
    int back = r->position[query] - r->position[key];
    return r->sentence[query] == r->sentence[key] && !r->pad[key] && back >= 0 && (window == 0 || back < window);
}

static long long add_mask(Snapshot *s, const Rows *r, int layer, const char *view) {
    Field *f = field_new(2, (int[]){r->n, r->n}, "mask.%d%s%s", layer, view[0] ? "." : "", view);
    long long allowed = 0;
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < r->n; j++) {
            f->x[i * r->n + j] = allows(r, window_of(r->p, layer), i, j);
            allowed += f->x[i * r->n + j] > 0;
        }
    snapshot_add_field(s, f);
    return allowed;
}

static void add_rows(Snapshot *s, const Rows *r, const char *name) {
    static const Column columns[] = {{"row", COLUMN_INT, ""},      {"sentence", COLUMN_INT, ""},
                                     {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""},
                                     {"pad", COLUMN_INT, ""},      {0}};
    Table *t = table_new(name, columns);
    for (int i = 0; i < r->n; i++) {
        table_add_int(t, i);
        table_add_int(t, r->sentence[i]);
        table_add_int(t, r->position[i]);
        table_add_text(t, r->pad[i] ? "<pad>" : fixture_word(r->position[i] + 3 * r->sentence[i]));
        table_add_int(t, r->pad[i]);
    }
    snapshot_add_table(s, t);
}

/* Whole chunks of WINDOW queries, each against its own keys and those of the chunk before. */
static long long add_chunks(Snapshot *s, int T, int window, int layer) {
    Field *f = field_new(2, (int[]){T, T}, "mask.%d.chunks", layer);
    long long n = 0;
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
            bool in = j / window == i / window || j / window == i / window - 1;
            f->x[i * T + j] = in;
            n += in;
        }
    snapshot_add_field(s, f);
    return n;
}

static void add_scores(Snapshot *s, const FixtureSpec *p, const long long *allowed) {
    static const Column columns[] = {
        {"layer", COLUMN_INT, ""},  {"window", COLUMN_INT, "tokens"}, {"full", COLUMN_INT, ""},
        {"causal", COLUMN_INT, ""}, {"allowed", COLUMN_INT, ""},      {"masked", COLUMN_INT, ""},
        {"loop", COLUMN_INT, ""},   {"chunks", COLUMN_INT, ""},       {0}};
    Table *t = table_new("scores", columns);
    int T = p->position;
    for (int l = 0; l < p->layers; l++) {
        int window = window_of(p, l);
        table_add_int(t, l);
        table_add_int(t, window);
        table_add_int(t, T * T);
        table_add_int(t, T * (T + 1) / 2);
        table_add_int(t, allowed[l]);
        table_add_int(t, T * T);
        table_add_int(t, allowed[l]);
        table_add_int(t, add_chunks(s, T, window > 0 && window < T ? window : T, l));
    }
    snapshot_add_table(s, t);
}

/* Of the first word: a tenth is left at every step. */
static void add_poke(Snapshot *s, const FixtureSpec *p) {
    static const Column poke_columns[] = {
        {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""}, {"other", COLUMN_TEXT, ""}, {0}};
    static const Column reach_columns[] = {{"layer", COLUMN_INT, ""},
                                           {"window", COLUMN_INT, "tokens"},
                                           {"farthest_measured", COLUMN_INT, "positions"},
                                           {"farthest_formula", COLUMN_INT, "positions"},
                                           {0}};
    int T = p->position, reach = 0;
    bool bounded = true;
    if (T < 2) return;
    Table *poke = table_new("poke", poke_columns), *table = table_new("reach", reach_columns);
    Field *change = field_new(2, (int[]){p->layers, T}, "poke.change");
    for (int l = 0; l < p->layers; l++) {
        reach += window_of(p, l) - 1;
        bounded = bounded && window_of(p, l) > 0;
        int felt = bounded && reach < T - 2 ? reach : T - 2;
        for (int i = 0; i <= felt; i++) change->x[l * T + 1 + i] = (real)(2 * pow(0.1, i) * (l + 1));
        table_add_int(table, l);
        table_add_int(table, window_of(p, l));
        table_add_int(table, felt);
        if (bounded)
            table_add_int(table, reach);
        else
            table_add_empty(table);
    }
    table_add_int(poke, 1);
    table_add_text(poke, "the");
    table_add_text(poke, "every");
    snapshot_add_field(s, change);
    snapshot_add_table(s, poke);
    snapshot_add_table(s, table);
}

void fixture_add_mask(Snapshot *s, const FixtureSpec *p) {
    Rows plain = {.p = p}, packed = {.p = p}, padded = {.p = p};
    long long allowed[256];
    add_sentence(&plain, 0, p->position, false);
    for (int i = 0; i <= OTHERS; i++) add_sentence(&packed, i, i ? OTHER_TOKENS : p->position, false);
    add_sentence(&padded, 0, p->position, false);
    add_sentence(&padded, 0, PADS, true);
    for (int l = 0; l < p->layers; l++) {
        allowed[l] = add_mask(s, &plain, l, "");
        (void)add_mask(s, &packed, l, "packed");
        (void)add_mask(s, &padded, l, "padded");
    }
    add_rows(s, &packed, "packed");
    add_rows(s, &padded, "padded");
    add_scores(s, p, allowed);
    add_poke(s, p);
}
