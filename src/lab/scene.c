#include "scene.h"

#include "attention_stages.h"
#include "bug.h"
#include "cache_sizes.h"
#include "cancel.h"
#include "hash.h"
#include "intl.h"
#include "mem.h"
#include "speaker.h"
#include "str.h"
#include "truths.h"

#include <string.h>

/* Parameters times tokens of a backward pass at a look: six FLOPs each, a tenth of a second or so. */
#define TAUGHT_MOST 2e8

#define LARGE 20000000 /* parameters, beyond which a token takes long */

struct Observers {
    Tape *probe, *later, *taught; /* the last two NULL until asked for */
    Batch batch, later_batch, taught_batch;
    real *taught_grad; /* [taught_count] */
    size_t taught_count;
    Vid logits;
    ObserverSet set;          /* of this look */
    bool probed;              /* in this look */
    Snapshot *caught;         /* what attention's observer needs of a lean pass; NULL: none */
    Speaker *speaker, *plain; /* plain: NULL until asked for */
    BeamWatch *beam_watch;
    bool speaking;         /* the speaker is set for this look */
    Decoder *decoder;      /* beside the speaker's; NULL: none yet */
    int streams;           /* of it */
    BeamModel *beam_model; /* beside the speaker's; NULL: none yet */
    int beam_width, beam_capacity;
    Truths *truths;
    Table *card_sizes; /* NULL: not made yet */
    struct {
        uint64_t key; /* of all that it rests on */
        Snapshot *part;
    } kept[OBSERVERS]; /* what each saw last; NULL: nothing that will be seen again */
};

typedef void Observe(Observers *o, const Scene *scene, Snapshot *s);

static const struct {
    const char *name;
    Observe *observe;
} rows[OBSERVERS] = {
#define OBSERVER(name, help) {#name, observe_##name},
#include "observers.def"
#undef OBSERVER
};

/* Life. */

Observers *observers_new(void) {
    Observers *o = MEM_NEW(Observers);
    o->probe = tape_new(TAPE_PROBE);
    batch_init(&o->batch);
    batch_init(&o->later_batch);
    batch_init(&o->taught_batch);
    o->speaker = speaker_new();
    o->beam_watch = beam_watch_new();
    o->truths = truths_new();
    return o;
}

/* What is beside the speaker's decoder. */
static void drop_decoders(Observers *o) {
    decoder_free(o->decoder);
    beam_model_free(o->beam_model);
    o->decoder = NULL;
    o->beam_model = NULL;
}

void observers_forget(Observers *o) {
    truths_forget(o->truths);
    beam_watch_forget(o->beam_watch);
    for (int i = 0; i < OBSERVERS; i++) {
        snapshot_unref(o->kept[i].part);
        o->kept[i].part = NULL;
    }
}

void observers_free(Observers *o) {
    if (!o) return;
    observers_forget(o);
    drop_decoders(o);
    snapshot_unref(o->caught);
    tape_free(o->probe);
    batch_done(&o->batch);
    tape_free(o->later);
    batch_done(&o->later_batch);
    tape_free(o->taught);
    batch_done(&o->taught_batch);
    mem_free(o->taught_grad);
    speaker_free(o->speaker);
    if (o->plain) speaker_free(o->plain);
    beam_watch_free(o->beam_watch);
    truths_free(o->truths);
    table_free(o->card_sizes);
    mem_free(o);
}

/* Names. */

Status observers_add(const char *name, ObserverSet *set) {
    const char *near = NULL;
    Str names;
    str_init(&names);
    bool found = false;
    for (int i = 0; i < OBSERVERS; i++) {
        near = str_likelier(name, near, rows[i].name);
        str_addf(&names, "%s%s", i ? ", " : "", rows[i].name);
        if (strcmp(rows[i].name, name) != 0) continue;
        *set |= 1u << i;
        found = true;
    }
    Status s = status_ok();
    if (!found && near) s = status_usage(_("nothing to watch is called '%s'; did you mean '%s'?"), name, near);
    if (!found && !near) s = status_usage(_("nothing to watch is called '%s'; there are %s"), name, names.s);
    str_done(&names);
    return s;
}

/* Looking. */

/* Samples stand on the tree of the search; what positions do is seen on the vectors of attention; tables of attention
 * and masks name the tokens by those of the sentence. */
static ObserverSet with_needs(ObserverSet set) {
    if (set & (1u << OBSERVE_beam_samples)) set |= 1u << OBSERVE_beam;
    if (set & (1u << OBSERVE_rope)) set |= 1u << OBSERVE_attention;
    if (set & (1u << OBSERVE_attention | 1u << OBSERVE_mask)) set |= 1u << OBSERVE_tokens;
    return set;
}

void observers_look(Observers *o, const Scene *scene, ObserverSet set, Snapshot *s) {
    BUG_ON(scene->visible < 1 || scene->visible > scene->known);
    o->probed = o->speaking = false;
    o->set = set = with_needs(set);
    for (int i = 0; i < OBSERVERS; i++)
        if (set & (1u << i)) rows[i].observe(o, scene, s);
}

bool observers_watch(const Observers *o, ObserverId id) {
    return o->set & 1u << id;
}

/* --- bit by bit --- */

/* What an observer rests on besides the model, the settings of the look and the visible tokens. */
enum { FRESH = 1, KNOWN = 2, PROMPT = 4, FILTER = 8, POKE = 16, OPERATION = 32, BEAM = 64, ONLY_PROMPT = 128 };

static const unsigned rests_on[OBSERVERS] = {
    [OBSERVE_tokens] = KNOWN | PROMPT,
    [OBSERVE_curve] = FRESH,
    [OBSERVE_model] = FRESH,
    [OBSERVE_filter] = FILTER,
    [OBSERVE_beam] = BEAM | ONLY_PROMPT,
    [OBSERVE_mask] = POKE,
    [OBSERVE_step] = OPERATION,
    [OBSERVE_cache] = PROMPT,
    [OBSERVE_beam_samples] = BEAM | ONLY_PROMPT,
    [OBSERVE_samples] = FRESH,
    [OBSERVE_bpe] = FRESH,
};

/* Those that may take long come last, in this order: cache before step, which may give up the probe's pass. */
static const ObserverId slow[] = {OBSERVE_path, OBSERVE_cache, OBSERVE_step, OBSERVE_beam, OBSERVE_beam_samples};
enum { SLOW = sizeof slow / sizeof *slow };

static bool is_slow(ObserverId id) {
    for (int i = 0; i < SLOW; i++)
        if (slow[i] == id) return true;
    return false;
}

/* The I-th observer of a look, 0 <= i < OBSERVERS. */
static ObserverId in_turn(int i) {
    if (i >= OBSERVERS - SLOW) return slow[i - (OBSERVERS - SLOW)];
    int id = 0;
    for (int quick = 0; quick <= i; id++) quick += !is_slow((ObserverId)id);
    return (ObserverId)(id - 1);
}

static uint64_t add_ids(uint64_t h, const int *ids, int n) {
    return hash_bytes(hash_bytes(h, &n, sizeof n), ids, (size_t)n * sizeof *ids);
}

#define ADD(h, x) hash_bytes((h), &(x), sizeof(x))

/* Of the model and of what is done to it for the look. */
static uint64_t key_of_model(const Scene *scene) {
    const ModelConfig *c = model_config(scene->model);
    uint64_t h = ADD(ADD(ADD(ADD(HASH_START, scene->model), scene->language), scene->step), scene->seed);
    h = ADD(hash_bytes(h, c, sizeof *c), scene->tweak.window);
    if (scene->tweak.head_off) h = hash_bytes(h, scene->tweak.head_off, (size_t)c->layers * (size_t)c->heads);
    bool tampered = scene->given != NULL;
    h = ADD(h, tampered);
    return tampered ? add_ids(h, scene->given, scene->prompt) : h;
}

static uint64_t key_of(const Observers *o, const Scene *scene, ObserverId id) {
    unsigned on = rests_on[id];
    uint64_t h = key_of_model(scene);
    bool sampled = observers_watch(o, OBSERVE_beam_samples);
    bool only = on & ONLY_PROMPT && scene->prompt < scene->visible;
    h = add_ids(h, scene->ids, only ? scene->prompt : scene->visible);
    if (on & KNOWN) h = add_ids(h, scene->ids, scene->known);
    if (on & PROMPT) h = ADD(h, scene->prompt);
    if (on & FILTER)
        h = ADD(ADD(ADD(ADD(h, scene->filter.tau), scene->filter.top_k), scene->filter.top_p), scene->filter.order);
    if (on & POKE) h = ADD(ADD(h, scene->poke), scene->poke_id);
    bool updated = scene->update != NULL;
    if (on & OPERATION) h = ADD(ADD(h, scene->operation), updated);
    if (on & BEAM) h = ADD(ADD(ADD(h, scene->beam.width), scene->beam.length_norm), scene->beam.truth);
    if (on & BEAM) h = ADD(h, sampled);
    return h;
}

/* The part of one observer, as it was kept or anew; NULL: cancelled. */
static const Snapshot *part_of(Observers *o, const Scene *scene, ObserverId id, const SnapshotFacts *facts) {
    uint64_t key = key_of(o, scene, id);
    if (o->kept[id].part && o->kept[id].key == key && !(rests_on[id] & FRESH)) return o->kept[id].part;
    snapshot_unref(o->kept[id].part); /* there may be no room for two of them */
    o->kept[id].part = NULL;
    Snapshot *part = snapshot_new(facts);
    rows[id].observe(o, scene, part);
    if (cancel_wanted()) {
        snapshot_unref(part);
        return NULL;
    }
    o->kept[id].key = key;
    return o->kept[id].part = part;
}

/* A lean pass is one over a long text by a large model, whose logits alone are a large part of all: once nobody asks
 * for them any more, there is room for something else. */
static void give_up_probe(Observers *o) {
    tape_rest(o->probe);
    o->probed = false;
}

bool observers_look_on(Observers *o, const Scene *scene, ObserverSet set, Snapshot *s, ObserversPart *part,
                       void *data) {
    BUG_ON(scene->visible < 1 || scene->visible > scene->known);
    o->probed = o->speaking = false;
    o->set = set = with_needs(set);
    for (int i = 0; i < OBSERVERS; i++) {
        ObserverId id = in_turn(i);
        if (!(set & (1u << id))) continue;
        if (id == OBSERVE_beam && observers_stages_later(scene))
            give_up_probe(o); /* neither it nor what follows asks */
        const Snapshot *seen = part_of(o, scene, id, snapshot_facts(s));
        if (!seen) return false;
        snapshot_include(s, seen);
        if (part && !part(data, s)) return false;
    }
    return true;
}

/* --- for the observers --- */

/* --- a lean pass: what is not taken while it runs is gone --- */

typedef struct {
    Observers *observers;
    const Scene *scene;
} Catching;

static void forget_caught(Observers *o) {
    snapshot_unref(o->caught);
    o->caught = NULL;
}

static void catch_node(void *data, const Tape *t, int node) {
    const Catching *c = data;
    if (observers_watch(c->observers, OBSERVE_attention))
        observe_attention_catch(c->observers->caught, t, node, model_config(c->scene->model)->head_dim);
    if (strcmp(tape_node(t, node).op, "attention") == 0) params_forget(model_read_params(c->scene->model));
}

const Snapshot *observers_caught(const Observers *o) {
    return o->caught;
}

bool observers_stages_later(const Scene *scene) {
    return !scene->whole && attention_stages_are_many(model_config(scene->model), scene->visible);
}

Tape *observers_probe(Observers *o, const Scene *scene) {
    if (o->probed) return o->probe;
    bool lean = observers_stages_later(scene);
    Catching catching = {.observers = o, .scene = scene};
    const Params *p = model_read_params(scene->model);
    forget_caught(o);
    if (lean) o->caught = snapshot_new(&(SnapshotFacts){0});
    batch_clear(&o->batch);
    batch_add(&o->batch, scene->ids, scene->visible, false);
    if (lean)
        tape_begin_lean(o->probe, p, &o->batch, catch_node, &catching);
    else
        tape_begin(o->probe, p, &o->batch, 0, 0);
    o->logits = model_graph(scene->model, o->probe, &scene->tweak);
    tape_forward(o->probe);
    if (lean) params_forget(p); /* what came after the last attention, and the head */
    o->probed = true;
    return o->probe;
}

const Tape *observers_later(Observers *o, const Scene *scene, int shift) {
    if (!o->later) o->later = tape_new(TAPE_PROBE);
    batch_clear(&o->later_batch);
    batch_add(&o->later_batch, scene->ids, scene->visible, false);
    for (int i = 0; i < scene->visible; i++) o->later_batch.position[i] += shift;
    tape_begin(o->later, model_read_params(scene->model), &o->later_batch, 0, 0);
    (void)model_graph(scene->model, o->later, &scene->tweak);
    tape_forward(o->later);
    return o->later;
}

/* Room for the gradient of N parameters. */
static real *taught_room(Observers *o, size_t n) {
    if (o->taught_count < n) {
        mem_free(o->taught_grad);
        o->taught_grad = mem_aligned(n, sizeof *o->taught_grad);
        o->taught_count = n;
    }
    return o->taught_grad;
}

/* A lean pass that is watched. */
typedef struct {
    TaughtSeen *seen;
    void *data;
    const Params *params;
    const Taught *taught; /* as far as it is known */
} Teaching;

static void teach_node(void *data, const Tape *t, int node) {
    const Teaching *g = data;
    g->seen(g->data, g->taught, node);
    if (strcmp(tape_node(t, node).op, "attention") == 0) params_forget(g->params);
}

static void teach_all(const Taught *t, TaughtSeen *seen, void *data) {
    for (int node = 0; node < tape_nodes(t->tape); node++) seen(data, t, node);
}

Taught observers_taught(Observers *o, const Scene *scene, TaughtSeen *seen, void *data) {
    const Params *p = model_read_params(scene->model);
    bool forward = scene->visible < 2 || (double)p->count * scene->visible > TAUGHT_MOST;
    bool lean = forward && observers_stages_later(scene);
    if (lean) give_up_probe(o);
    if (!o->taught) o->taught = tape_new(TAPE_PROBE);
    Taught t = {.tape = o->taught, .loss = VID_NONE};
    Teaching teaching = {seen, data, p, &t};
    batch_clear(&o->taught_batch);
    batch_add(&o->taught_batch, scene->ids, scene->visible, false);
    if (lean)
        tape_begin_lean(o->taught, p, &o->taught_batch, teach_node, &teaching);
    else
        tape_begin(o->taught, p, &o->taught_batch, 0, 0);
    Vid logits = model_graph(scene->model, o->taught, &scene->tweak);
    if (scene->visible > 1) {
        t.loss = tape_cross_entropy(o->taught, logits, 0, 0);
        tape_name(o->taught, "loss");
    }
    tape_forward(o->taught);
    if (lean) {
        params_forget(p);
        tape_rest(o->taught);
    }
    if (forward && !lean) teach_all(&t, seen, data);
    if (forward) return t;
    real *grad = taught_room(o, p->count);
    tape_backward_over(o->taught, t.loss, grad);
    t.grad = grad;
    teach_all(&t, seen, data);
    return t;
}

const real *observers_logits(Observers *o, const Scene *scene) {
    const Tape *probe = observers_probe(o, scene); /* says which value the logits are */
    return tape_value(probe, o->logits, NULL, NULL);
}

const double *observers_untouched(Observers *o, const Scene *scene) {
    if (!scene->given) return NULL;
    if (!o->plain) o->plain = speaker_new();
    speaker_reset(o->plain, scene->model, NULL);
    int *ids = MEM_ARRAY(int, (size_t)scene->visible);
    for (int i = 0; i < scene->visible; i++) ids[i] = i < scene->prompt ? scene->given[i] : scene->ids[i];
    const double *logits = speaker_logits(o->plain, ids, scene->visible);
    mem_free(ids);
    return logits;
}

const Table *observers_card_sizes(Observers *o) {
    if (!o->card_sizes) {
        o->card_sizes = cache_sizes_new();
        cache_sizes_add_cards(o->card_sizes);
    }
    return o->card_sizes;
}

int observers_tokens(const Scene *scene) {
    return model_read_params(scene->model)->count < LARGE ? 64 : 16;
}

Speaker *observers_speaker(Observers *o, const Scene *scene) {
    if (!o->speaking && !speaker_knows(o->speaker, scene->model)) drop_decoders(o);
    if (!o->speaking) speaker_reset(o->speaker, scene->model, &scene->tweak);
    if (!o->speaking) speaker_expect(o->speaker, scene->visible);
    o->speaking = true;
    return o->speaker;
}

Decoder *observers_decoder(Observers *o, const Scene *scene, int streams, int capacity) {
    Decoder *beside = speaker_decoder(observers_speaker(o, scene));
    if (o->decoder && (o->streams != streams || decoder_capacity(o->decoder) != capacity)) {
        decoder_free(o->decoder);
        o->decoder = NULL;
    }
    if (!o->decoder) o->decoder = decoder_beside(beside, streams, capacity);
    o->streams = streams;
    decoder_set_tweak(o->decoder, &scene->tweak);
    return o->decoder;
}

BeamModel *observers_beam_model(Observers *o, const Scene *scene, int width, int capacity) {
    Decoder *beside = speaker_decoder(observers_speaker(o, scene));
    if (o->beam_model && (o->beam_width != width || o->beam_capacity != capacity)) {
        beam_model_free(o->beam_model);
        o->beam_model = NULL;
    }
    if (!o->beam_model) o->beam_model = beam_model_beside(beside, width, capacity);
    o->beam_width = width;
    o->beam_capacity = capacity;
    beam_model_set_tweak(o->beam_model, &scene->tweak);
    return o->beam_model;
}

BeamWatch *observers_beam_watch(Observers *o) {
    return o->beam_watch;
}

/* Truth. */

const NextList *observers_truth(Observers *o, const Scene *scene, const int *ids, int n) {
    if (truths_turn_to(o->truths, scene->language)) beam_watch_forget(o->beam_watch);
    return truths_next(o->truths, scene->vocab, ids, n);
}

double observers_true_p(const NextList *truth, const char *token) {
    for (int i = 0; i < truth->count; i++)
        if (strcmp(truth->next[i].token, token) == 0) return truth->next[i].p;
    return 0;
}

const Path *observers_true_path(Observers *o, const Scene *scene, int most) {
    if (truths_turn_to(o->truths, scene->language)) beam_watch_forget(o->beam_watch);
    return truths_path(o->truths, scene->vocab, scene->ids, scene->visible, most);
}
