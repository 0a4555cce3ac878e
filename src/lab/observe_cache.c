/* The observer of the cache: what a decoder holds after the prompt and what follows, what each step of decoding cost
 * with it and would cost without, and how its logits differ from those of the whole pass. */
#include "account.h"
#include "cache_sizes.h"
#include "cancel.h"
#include "decode/greedy.h"
#include "differ.h"
#include "mem.h"
#include "scene.h"
#include "tokens.h"

#include <string.h>

enum { PIECE = 64 }; /* tokens whose logits are held at once */

typedef struct {
    const Scene *scene;
    ModelConfig config; /* with the window that is looked at */
    Decoder *decoder;
    int prefill;       /* tokens fed at once */
    const real *whole; /* [visible x V] of the whole pass */
    Table *steps, *check;
} Look;

static const char *phase_of(const Look *l, int position) {
    return position < l->prefill ? "prefill" : "decode";
}

/* --- step by step --- */

/* After T tokens, FED of them in this step, by the rule of kv.flops: once with a cache, all of them again without. */
static void add_step(const Look *l, int step, int T, int fed) {
    int slots = decoder_capacity(l->decoder), cached = T < slots ? T : slots;
    Count all = account_flops(&l->config, T, 1, ACCOUNT_ALLOWED_SCORES).total;
    Count before = T > fed ? account_flops(&l->config, T - fed, 1, ACCOUNT_ALLOWED_SCORES).total : 0;
    table_add_int(l->steps, step);
    table_add_text(l->steps, step == 0 ? "prefill" : "decode");
    table_add_int(l->steps, T);
    table_add_int(l->steps, cached);
    table_add_int(l->steps, account_bytes(account_cache(&l->config, cached), 8 * (int)sizeof(real)));
    table_add_int(l->steps, all);
    table_add_int(l->steps, all - before);
}

/* The row of one position: LOGITS of the decoder against those of the whole pass. */
static void add_check(const Look *l, int position, const real *logits) {
    int vocab = l->config.vocab;
    const real *whole = l->whole + (size_t)position * (size_t)vocab;
    table_add_int(l->check, position);
    table_add_text(l->check, tokens_name(l->scene->vocab, l->scene->ids[position]));
    table_add_real(l->check, differ_most(logits, whole, (size_t)vocab));
    table_add_int(l->check, greedy_best(logits, vocab) == greedy_best(whole, vocab));
}

/* What a token gives does not depend on how a text is cut into calls, so all of them go through the layers together, a
 * piece at a time; the steps of decoding are what they would have been. */
static void feed_all(const Look *l) {
    for (int from = 0, n; from < l->scene->visible && !cancel_wanted(); from += n) {
        n = l->scene->visible - from < PIECE ? l->scene->visible - from : PIECE;
        const real *logits = decoder_feed_all(l->decoder, 0, l->scene->ids + from, n);
        for (int i = 0; i < n; i++) add_check(l, from + i, logits + (size_t)i * (size_t)l->config.vocab);
    }
    add_step(l, 0, l->prefill, l->prefill);
    for (int T = l->prefill + 1; T <= l->scene->visible; T++) add_step(l, T - l->prefill, T, 1);
}

/* --- what is held in the end --- */

/* Slot by slot [slots x Hkv hd] becomes head by head [Hkv slots hd]. */
static void add_layer(Snapshot *s, const Look *l, int layer, bool values, real *room) {
    const ModelConfig *c = &l->config;
    int slots = decoder_cached(l->decoder, 0);
    size_t hd = (size_t)c->head_dim, width = (size_t)c->kv_heads * hd;
    Field *f =
        field_new(3, (const int[]){c->kv_heads, slots, c->head_dim}, "cache.%d.%s", layer, values ? "values" : "keys");
    decoder_cache(l->decoder, 0, layer, values, room);
    for (size_t h = 0; h < (size_t)c->kv_heads; h++)
        for (size_t i = 0; i < (size_t)slots; i++)
            memcpy(f->x + (h * (size_t)slots + i) * hd, room + i * width + h * hd, hd * sizeof *room);
    snapshot_add_field(s, f);
}

static void add_layers(Snapshot *s, const Look *l) {
    static const Column columns[] = {
        {"layer", COLUMN_INT, ""}, {"window", COLUMN_INT, "tokens"}, {"slots", COLUMN_INT, ""}, {0}};
    const ModelConfig *c = &l->config;
    size_t width = (size_t)c->kv_heads * (size_t)c->head_dim;
    real *room = MEM_ARRAY(real, (size_t)decoder_cached(l->decoder, 0) * width);
    Table *t = table_new("cache_layers", columns);
    for (int layer = 0; layer < c->layers; layer++) {
        add_layer(s, l, layer, false, room);
        add_layer(s, l, layer, true, room);
        int slots = decoder_slots(l->scene->model, &l->scene->tweak);
        table_add_int(t, layer);
        table_add_int(t, model_mask(l->scene->model, &l->scene->tweak, layer).window);
        table_add_int(t, slots < c->context ? slots : 0);
    }
    mem_free(room);
    snapshot_add_table(s, t);
}

static void add_slots(Snapshot *s, const Look *l) {
    static const Column columns[] = {{"slot", COLUMN_INT, ""},
                                     {"position", COLUMN_INT, ""},
                                     {"token", COLUMN_TEXT, ""},
                                     {"phase", COLUMN_TEXT, ""},
                                     {0}};
    Table *t = table_new("cache_slots", columns);
    for (int slot = 0; slot < decoder_cached(l->decoder, 0); slot++) {
        int position = decoder_slot_position(l->decoder, 0, slot);
        table_add_int(t, slot);
        table_add_int(t, position);
        table_add_text(t, tokens_name(l->scene->vocab, l->scene->ids[position]));
        table_add_text(t, phase_of(l, position));
    }
    snapshot_add_table(s, t);
}

static void add_sizes(Snapshot *s, Observers *o, const Look *l) {
    Table *t = table_copy(observers_card_sizes(o));
    cache_sizes_add_model(t, &l->config, l->scene->visible, 8 * (int)sizeof(real));
    snapshot_add_table(s, t);
}

/* --- all of it --- */

static ModelConfig config_looked_at(const Scene *scene) {
    ModelConfig c = *model_config(scene->model);
    if (scene->tweak.window >= 0) {
        c.window = scene->tweak.window;
        c.global_every = 0;
    }
    return c;
}

/* So that a sentence that grows does not want another decoder at every word. */
static int rounded_up(int n, int piece) {
    return (n + piece - 1) / piece * piece;
}

void observe_cache(Observers *o, const Scene *scene, Snapshot *s) {
    static const Column step_columns[] = {{"step", COLUMN_INT, ""},       {"phase", COLUMN_TEXT, ""},
                                          {"tokens", COLUMN_INT, ""},     {"cached", COLUMN_INT, "tokens"},
                                          {"bytes", COLUMN_INT, "bytes"}, {"without", COLUMN_INT, "FLOPs"},
                                          {"with", COLUMN_INT, "FLOPs"},  {0}};
    static const Column check_columns[] = {{"position", COLUMN_INT, ""},
                                           {"token", COLUMN_TEXT, ""},
                                           {"max_difference", COLUMN_DOUBLE, "logits"},
                                           {"same_token", COLUMN_INT, ""},
                                           {0}};
    int slots = decoder_slots(scene->model, &scene->tweak), visible = scene->visible;
    bool rolls = slots < model_config(scene->model)->context;
    Look l = {.scene = scene,
              .config = config_looked_at(scene),
              .decoder = observers_decoder(o, scene, 1, rolls ? slots : rounded_up(visible, PIECE)),
              .prefill = visible < scene->prompt ? visible : scene->prompt,
              .whole = observers_logits(o, scene),
              .steps = table_new("cache_steps", step_columns),
              .check = table_new("cache_check", check_columns)};
    feed_all(&l);
    snapshot_add_table(s, l.steps);
    snapshot_add_table(s, l.check);
    add_layers(s, &l);
    add_slots(s, &l);
    add_sizes(s, o, &l);
}

/* --- as a table --- */

const Column observe_cache_columns[] = {
    {"layer", COLUMN_INT, ""},    {"head", COLUMN_INT, ""},
    {"which", COLUMN_TEXT, ""},   {"slot", COLUMN_INT, ""},
    {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""},
    {"phase", COLUMN_TEXT, ""},   {"index", COLUMN_INT, ""},
    {"value", COLUMN_REAL, ""},   {0},
};

static void add_cells(Table *t, const Table *slots, const Field *f, int layer, int head, const char *which) {
    int position = table_find(slots, "position"), token = table_find(slots, "token"),
        phase = table_find(slots, "phase");
    for (int slot = 0; slot < f->dim[1]; slot++)
        for (int i = 0; i < f->dim[2]; i++) {
            table_add_int(t, layer);
            table_add_int(t, head);
            table_add_text(t, which);
            table_add_int(t, slot);
            table_add_int(t, table_int(slots, slot, position));
            table_add_text(t, table_text(slots, slot, token));
            table_add_text(t, table_text(slots, slot, phase));
            table_add_int(t, i);
            table_add_real(t, (double)field_at(f, head, slot, i, 0));
        }
}

Table *observe_cache_table(const Snapshot *s, int layer, int head) {
    const Table *slots = snapshot_table(s, "cache_slots");
    if (!slots || !snapshot_field(s, "cache.%d.keys", layer < 0 ? 0 : layer)) return NULL;
    Table *t = table_new("cache", observe_cache_columns);
    const Field *keys;
    for (int l = layer < 0 ? 0 : layer; (keys = snapshot_field(s, "cache.%d.keys", l)); l++) {
        const Field *values = snapshot_field(s, "cache.%d.values", l);
        for (int h = head < 0 ? 0 : head; h < keys->dim[0] && (head < 0 || h == head); h++) {
            add_cells(t, slots, keys, l, h, "k");
            add_cells(t, slots, values, l, h, "v");
        }
        if (layer >= 0) break;
    }
    return t;
}
