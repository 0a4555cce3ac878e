#include "observe.h"

#include "bug.h"

const Column observe_attention_columns[] = {
    {"layer", COLUMN_INT, ""},   {"head", COLUMN_INT, ""},         {"query", COLUMN_INT, ""},
    {"key", COLUMN_INT, ""},     {"query_token", COLUMN_TEXT, ""}, {"key_token", COLUMN_TEXT, ""},
    {"score", COLUMN_REAL, ""},  {"scaled", COLUMN_REAL, ""},      {"softcapped", COLUMN_REAL, ""},
    {"masked", COLUMN_REAL, ""}, {"weight", COLUMN_REAL, ""},      {0},
};

const Column observe_vectors_columns[] = {
    {"layer", COLUMN_INT, ""},
    {"head", COLUMN_INT, ""},
    {"position", COLUMN_INT, ""},
    {"which", COLUMN_TEXT, ""},
    {"index", COLUMN_INT, ""},
    {"value", COLUMN_REAL, ""},
    {0},
};

static const Column mix_columns[] = {{"layer", COLUMN_INT, ""},    {"head", COLUMN_INT, ""},
                                     {"position", COLUMN_INT, ""}, {"index", COLUMN_INT, ""},
                                     {"value", COLUMN_REAL, ""},   {0}};

int observe_layers(const Snapshot *s) {
    int n = 0;
    bool blocks = snapshot_field(s, "attention.0.blocks") != NULL; /* of long texts: weights are made when asked for */
    while (snapshot_field(s, blocks ? "attention.%d.blocks" : "attention.%d.weights", n)) n++;
    return n;
}

static const char *token_at(const Snapshot *s, int position) {
    const Table *t = snapshot_table(s, "tokens");
    return t && position < table_rows(t) ? table_text(t, position, table_find(t, "token")) : "";
}

static void add_head(Table *t, const Snapshot *s, int layer, int head) {
    const Field *score = snapshot_field(s, "attention.%d.scores", layer);
    const Field *scaled = snapshot_field(s, "attention.%d.scaled", layer);
    const Field *capped = snapshot_field(s, "attention.%d.softcapped", layer);
    const Field *masked = snapshot_field(s, "attention.%d.masked", layer);
    const Field *weight = snapshot_field(s, "attention.%d.weights", layer);
    BUG_ON(!score || !scaled || !masked || !weight);
    if (!capped) capped = scaled; /* the stage changes nothing when it is off */
    for (int q = 0; q < weight->dim[1]; q++)
        for (int k = 0; k < weight->dim[2]; k++) {
            table_add_int(t, layer);
            table_add_int(t, head);
            table_add_int(t, q);
            table_add_int(t, k);
            table_add_text(t, token_at(s, q));
            table_add_text(t, token_at(s, k));
            table_add_real(t, (double)field_at(score, head, q, k, 0));
            table_add_real(t, (double)field_at(scaled, head, q, k, 0));
            table_add_real(t, (double)field_at(capped, head, q, k, 0));
            table_add_real(t, (double)field_at(masked, head, q, k, 0));
            table_add_real(t, (double)field_at(weight, head, q, k, 0));
        }
}

Table *observe_attention_table(const Snapshot *s, int layer, int head) {
    int layers = observe_layers(s);
    if (layers == 0 || layer >= layers) return NULL;
    Table *t = table_new("attention", observe_attention_columns);
    for (int l = layer < 0 ? 0 : layer; l < (layer < 0 ? layers : layer + 1); l++) {
        int heads = snapshot_field(s, "attention.%d.weights", l)->dim[0];
        for (int h = head < 0 ? 0 : head; h < (head < 0 ? heads : head + 1) && h < heads; h++) add_head(t, s, l, h);
    }
    return t;
}

/* Head HEAD of a field [H T hd]. */
static void add_vectors(Table *t, const Field *f, int layer, int head, const char *which) {
    for (int i = 0; i < f->dim[1]; i++)
        for (int k = 0; k < f->dim[2]; k++) {
            table_add_int(t, layer);
            table_add_int(t, head);
            table_add_int(t, i);
            table_add_text(t, which);
            table_add_int(t, k);
            table_add_real(t, (double)field_at(f, head, i, k, 0));
        }
}

static void add_layer_vectors(Table *t, const Snapshot *s, int layer, int head) {
    static const struct { const char *which, *field; } kinds[] = {{"q", "query"}, {"k", "key"}, {"v", "value"}};
    int heads = snapshot_field(s, "attention.%d.query", layer)->dim[0];
    for (int i = 0; i < 3; i++) {
        const Field *f = snapshot_field(s, "attention.%d.%s", layer, kinds[i].field);
        BUG_ON(!f);
        int group = heads / f->dim[0]; /* query heads that share a key/value head */
        for (int h = 0; h < f->dim[0]; h++)
            if (head < 0 || head / group == h) add_vectors(t, f, layer, h, kinds[i].which);
    }
}

Table *observe_vectors_table(const Snapshot *s, int layer, int head) {
    int layers = observe_layers(s);
    if (layers == 0 || layer >= layers) return NULL;
    Table *t = table_new("vectors", observe_vectors_columns);
    for (int l = layer < 0 ? 0 : layer; l < (layer < 0 ? layers : layer + 1); l++) add_layer_vectors(t, s, l, head);
    return t;
}

static void add_mix(Table *t, const Field *f, int layer, int head) {
    for (int i = 0; i < f->dim[1]; i++)
        for (int k = 0; k < f->dim[2]; k++) {
            table_add_int(t, layer);
            table_add_int(t, head);
            table_add_int(t, i);
            table_add_int(t, k);
            table_add_real(t, (double)field_at(f, head, i, k, 0));
        }
}

Table *observe_mix_table(const Snapshot *s, int layer, int head) {
    const Field *f = snapshot_field(s, "attention.%d.mix", layer);
    if (!f || head >= f->dim[0]) return NULL;
    Table *t = table_new("mix", mix_columns);
    add_mix(t, f, layer, head);
    return t;
}

static const Column mask_columns[] = {
    {"layer", COLUMN_INT, ""},      {"query", COLUMN_INT, ""},
    {"key", COLUMN_INT, ""},        {"query_token", COLUMN_TEXT, ""},
    {"key_token", COLUMN_TEXT, ""}, {"allowed", COLUMN_INT, ""},
    {"chunks", COLUMN_INT, ""},     {0},
};

static const Column poke_columns[] = {
    {"layer", COLUMN_INT, ""},
    {"position", COLUMN_INT, ""},
    {"token", COLUMN_TEXT, ""},
    {"change", COLUMN_REAL, ""},
    {0},
};

Table *observe_mask_table(const Snapshot *s, int layer, const char *view) {
    const Field *mask = snapshot_field(s, "mask.%d%s%s", layer, view[0] ? "." : "", view);
    const Field *chunks = view[0] ? NULL : snapshot_field(s, "mask.%d.chunks", layer);
    const Table *rows = snapshot_table(s, view[0] ? view : "tokens");
    if (!mask || !rows) return NULL;
    Table *t = table_new("mask", mask_columns);
    int token = table_find(rows, "token");
    for (int q = 0; q < mask->dim[0]; q++)
        for (int k = 0; k < mask->dim[1]; k++) {
            table_add_int(t, layer);
            table_add_int(t, q);
            table_add_int(t, k);
            table_add_text(t, table_text(rows, q, token));
            table_add_text(t, table_text(rows, k, token));
            table_add_int(t, field_at(mask, q, k, 0, 0) != 0);
            if (chunks)
                table_add_int(t, field_at(chunks, q, k, 0, 0) != 0);
            else
                table_add_empty(t);
        }
    return t;
}

Table *observe_poke_table(const Snapshot *s, int layer) {
    const Field *change = snapshot_field(s, "poke.change");
    if (!change) return NULL;
    Table *t = table_new("changes", poke_columns);
    for (int l = layer < 0 ? 0 : layer; l < (layer < 0 ? change->dim[0] : layer + 1); l++)
        for (int i = 0; i < change->dim[1]; i++) {
            table_add_int(t, l);
            table_add_int(t, i);
            table_add_text(t, token_at(s, i));
            table_add_real(t, (double)field_at(change, l, i, 0, 0));
        }
    return t;
}
