/* The observer of masks: the rule that attention is given in every layer, spelt out for the sentence, for a batch of
 * packed sentences and for one with pads; what each way of making a window works out; and how far the change of one
 * word is felt, measured on the model. */
#include "scene.h"

#include "bug.h"
#include "decode/spread.h"
#include "mem.h"
#include "tokens.h"
#include "window_kernel.h"

#include <stdio.h>
#include <string.h>

enum {
    OWN_TOKENS = 48,  /* of the sentence that is looked at, at most so many in a batch */
    OTHERS = 2,       /* sentences packed behind it */
    OTHER_TOKENS = 8, /* of each at most so many */
    PADS = 4,
};

static int at_most(long n, int most) {
    return n < most ? (int)n : most;
}

/* --- a batch: who may look at whom --- */

/* Rows of different sentences never meet: attention goes through one sentence at a time. */
static bool allows(const Batch *b, const MaskRule *m, int query, int key) {
    return batch_sequence(b, query) == batch_sequence(b, key) && batch_allows(b, m, query, key);
}

static void add_mask(Snapshot *s, const Batch *b, const MaskRule *m, int layer, const char *view) {
    int n = batch_rows(b);
    Field *f = field_new(2, (const int[]){n, n}, "mask.%d%s%s", layer, view[0] ? "." : "", view);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) f->x[(size_t)i * (size_t)n + (size_t)j] = allows(b, m, i, j);
    snapshot_add_field(s, f);
}

static void add_rows(Snapshot *s, const Scene *scene, const Batch *b, const char *view) {
    static const Column columns[] = {{"row", COLUMN_INT, ""},      {"sentence", COLUMN_INT, ""},
                                     {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""},
                                     {"pad", COLUMN_INT, ""},      {0}};
    Table *t = table_new(view, columns);
    for (int i = 0; i < batch_rows(b); i++) {
        table_add_int(t, i);
        table_add_int(t, batch_sequence(b, i));
        table_add_int(t, b->position[i]);
        table_add_text(t, tokens_name(scene->vocab, b->id[i]));
        table_add_int(t, b->pad && b->pad[i]);
    }
    snapshot_add_table(s, t);
}

/* The sentence, and behind it the beginnings of others, as in a training batch. */
static void pack(const Scene *scene, Batch *b) {
    batch_add(b, scene->ids, at_most(scene->visible, OWN_TOKENS), false);
    for (long i = 0; scene->others && i < scene->others->sentences && i < OTHERS; i++) {
        long n = scene->others->start[i + 1] - scene->others->start[i] - 1; /* the last is only predicted */
        batch_add(b, scene->others->id + scene->others->start[i], at_most(n, OTHER_TOKENS), false);
    }
}

/* The sentence as a longer one in the batch would have it. */
static void pad(const Scene *scene, Batch *b) {
    int n = at_most(scene->visible, OWN_TOKENS), ids[OWN_TOKENS + PADS] = {VOCAB_PAD};
    memcpy(ids, scene->ids, (size_t)n * sizeof *ids);
    batch_add(b, ids, n + PADS, false);
    for (int i = 0; i < PADS; i++) batch_mark_pad(b, n + i);
}

static void plain(const Scene *scene, Batch *b) {
    batch_add(b, scene->ids, scene->visible, false);
}

static void add_view(Snapshot *s, const Scene *scene, const char *view, void (*fill)(const Scene *, Batch *)) {
    Batch b;
    batch_init(&b);
    fill(scene, &b);
    for (int layer = 0; layer < model_config(scene->model)->layers; layer++) {
        MaskRule rule = model_mask(scene->model, &scene->tweak, layer);
        add_mask(s, &b, &rule, layer, view);
    }
    if (view[0]) add_rows(s, scene, &b, view);
    batch_done(&b);
}

/* --- what it costs --- */

static void add_chunks(Snapshot *s, int T, int window, int layer) {
    Field *f = field_new(2, (const int[]){T, T}, "mask.%d.chunks", layer);
    for (int row = 0; row < T;) {
        WindowTile tile = window_tile(WINDOW_CHUNKS, T, window, row);
        for (int i = tile.row; i < tile.row + tile.rows; i++)
            for (int j = tile.key; j < tile.key + tile.keys; j++) f->x[(size_t)i * (size_t)T + (size_t)j] = 1;
        row += tile.rows;
    }
    snapshot_add_field(s, f);
}

static void add_scores(Snapshot *s, const Scene *scene) {
    static const Column columns[] = {
        {"layer", COLUMN_INT, ""},  {"window", COLUMN_INT, "tokens"}, {"full", COLUMN_INT, ""},
        {"causal", COLUMN_INT, ""}, {"allowed", COLUMN_INT, ""},      {"masked", COLUMN_INT, ""},
        {"loop", COLUMN_INT, ""},   {"chunks", COLUMN_INT, ""},       {0}};
    const MaskRule full = {0}, causal = {.causal = true};
    int T = scene->visible;
    Table *t = table_new("scores", columns);
    for (int layer = 0; layer < model_config(scene->model)->layers; layer++) {
        MaskRule rule = model_mask(scene->model, &scene->tweak, layer);
        int window = rule.window > 0 ? rule.window : T;
        add_chunks(s, T, window, layer);
        table_add_int(t, layer);
        table_add_int(t, rule.window);
        table_add_int(t, mask_pairs(&full, T));
        table_add_int(t, mask_pairs(&causal, T));
        table_add_int(t, mask_pairs(&rule, T));
        for (WindowMethod m = 0; m < WINDOW_METHODS; m++) table_add_int(t, window_scores(m, T, window));
    }
    snapshot_add_table(s, t);
}

/* --- one word changed --- */

typedef struct {
    Field *change; /* [L T] */
    int *farthest; /* [L] last position that felt it; -1: none */
} Felt;

static void note(void *data, int layer, int position, double difference) {
    Felt *f = data;
    f->change->x[(size_t)layer * (size_t)f->change->dim[1] + (size_t)position] = (real)difference;
    if (difference > 0) f->farthest[layer] = position;
}

/* The word in place of the one at POSITION: the one asked for, or the next of the vocabulary. */
static int other_word(const Scene *scene, int position) {
    int vocab = model_config(scene->model)->vocab, id = scene->ids[position];
    if (scene->poke_id >= 0 && scene->poke_id < vocab && scene->poke_id != id) return scene->poke_id;
    if (vocab <= VOCAB_SPECIALS + 1) return (id + 1) % vocab;
    return id < VOCAB_SPECIALS || id + 1 >= vocab ? VOCAB_SPECIALS + (id == VOCAB_SPECIALS) : id + 1;
}

static void add_poke(Snapshot *s, const Scene *scene, int position, int other) {
    static const Column columns[] = {
        {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""}, {"other", COLUMN_TEXT, ""}, {0}};
    Table *t = table_new("poke", columns);
    table_add_int(t, position);
    table_add_text(t, tokens_name(scene->vocab, scene->ids[position]));
    table_add_text(t, tokens_name(scene->vocab, other));
    snapshot_add_table(s, t);
}

static void add_reach(Snapshot *s, const Scene *scene, int position, const int *farthest) {
    static const Column columns[] = {{"layer", COLUMN_INT, ""},
                                     {"window", COLUMN_INT, "tokens"},
                                     {"farthest_measured", COLUMN_INT, "positions"},
                                     {"farthest_formula", COLUMN_INT, "positions"},
                                     {0}};
    Table *t = table_new("reach", columns);
    long long formula = 0;
    bool bounded = true;
    for (int layer = 0; layer < model_config(scene->model)->layers; layer++) {
        MaskRule rule = model_mask(scene->model, &scene->tweak, layer);
        formula += rule.window - 1;
        bounded = bounded && rule.window > 0;
        table_add_int(t, layer);
        table_add_int(t, rule.window);
        if (farthest[layer] < 0)
            table_add_empty(t);
        else
            table_add_int(t, farthest[layer] - position);
        if (bounded)
            table_add_int(t, formula);
        else
            table_add_empty(t);
    }
    snapshot_add_table(s, t);
}

/* <s> is always there: the first word is what can be changed first. */
static void poke(Observers *o, Snapshot *s, const Scene *scene) {
    const ModelConfig *c = model_config(scene->model);
    int T = scene->visible, position = scene->poke > 0 ? scene->poke : 1;
    if (T < 2 || c->vocab < 2 || c->layers == 0) return;
    if (position >= T) position = T - 1;
    int *other = MEM_ARRAY(int, (size_t)T);
    memcpy(other, scene->ids, (size_t)T * sizeof *other);
    other[position] = other_word(scene, position);
    Felt felt = {.change = field_new(2, (const int[]){c->layers, T}, "poke.change"),
                 .farthest = MEM_ARRAY(int, (size_t)c->layers)};
    for (int layer = 0; layer < c->layers; layer++) felt.farthest[layer] = -1;
    (void)spread_run(&(Spread){.m = scene->model,
                               .tweak = &scene->tweak,
                               .beside = speaker_decoder(observers_speaker(o, scene)),
                               .ids = scene->ids,
                               .other = other,
                               .n = T,
                               .tell = note,
                               .data = &felt});
    snapshot_add_field(s, felt.change);
    add_poke(s, scene, position, other[position]);
    add_reach(s, scene, position, felt.farthest);
    mem_free(felt.farthest);
    mem_free(other);
}

void observe_mask(Observers *o, const Scene *scene, Snapshot *s) {
    add_view(s, scene, "", plain);
    add_view(s, scene, "packed", pack);
    add_view(s, scene, "padded", pad);
    add_scores(s, scene);
    poke(o, s, scene);
}
