/* scene: a model and the sentence that it looks at, and the observers that turn them into fields and tables. Used by
 * the live laboratory and by experiments, so both show the same numbers. Private to the laboratory.
 *
 * Looking changes nothing: the probe is a tape of its own, the parameters are read only, random numbers come from
 * streams of their own. */
#ifndef LAB_SCENE_H
#define LAB_SCENE_H

#include "beam_watch.h"
#include "bpe_live.h"
#include "decode/beam_model.h"
#include "decode/filter.h"
#include "decode/greedy.h"
#include "model.h"
#include "observe.h"
#include "run.h"
#include "sample_run.h"
#include "speaker.h"
#include "status.h"
#include "tape.h"
#include "text/corpus.h"
#include "text/grammar.h"
#include "text/vocab.h"

/* The beam search that is looked at. */
typedef struct {
    int width; /* 0: BEAM_WIDTH */
    bool length_norm, truth;
} BeamSettings;
enum { BEAM_WIDTH = 4, BEAM_WIDTH_MOST = 32 };

typedef struct {
    const Model *model;
    const Vocab *vocab;
    Language *language; /* NULL: no truth */
    const int *ids;     /* [known], <s> first */
    int known, visible; /* 1 <= visible <= known <= context */
    int prompt;         /* of the known tokens, those that were given */
    ModelTweak tweak;
    const int *given; /* [prompt] the prompt before anybody tampered; NULL: nothing of all this is tampered with */
    FilterConfig filter;
    uint64_t seed;           /* of the draws */
    int poke;                /* position of the token that the mask's observer changes; 0: the first word */
    int poke_id;             /* what it becomes; -1: another word */
    int rows;                /* of tables with a row per token of the vocabulary: the likeliest so many; 0: all */
    const char *text;        /* of the prompt, as it was typed; NULL: not known */
    int operation;           /* of the tape, whose numbers are shown where those of all are too many */
    const Sentences *others; /* what is packed beside it in training; NULL: nothing is known */
    BeamSettings beam;
    long step;                 /* of training, after which the model is as it is; 0: not known */
    const Table *curve, *test; /* of a live run; NULL: none */
    BpeLive *bpe;              /* sub-words learnt beside it; NULL: none */
    const SampleRun *samples;  /* sentences drawn beside it; NULL: none */
    const RunUpdate *update;   /* that led to the model; NULL: not known */
    bool whole;                /* the probe keeps every stage, however many there are */
} Scene;

typedef enum {
#define OBSERVER(name, help) OBSERVE_##name,
#include "observers.def"
#undef OBSERVER
    OBSERVERS
} ObserverId;

typedef unsigned ObserverSet; /* bit i: ObserverId i */
#define OBSERVE_ALL ((1u << OBSERVERS) - 1)

typedef struct Observers Observers; /* the probe, and the truth of the sentences seen last */
Observers *observers_new(void);
void observers_free(Observers *o);
void observers_forget(Observers *o); /* what was remembered of a language that is about to go */
/* Adds one name to SET; a wrong one gets a sentence that lists them. */
Status observers_add(const char *name, ObserverSet *set) STATUS_CHECKED;
/* Puts fields and tables of those in SET into S. */
void observers_look(Observers *o, const Scene *scene, ObserverSet set, Snapshot *s);
/* The same bit by bit: what each observer adds is a part of S, that which is quick first, and is kept for the next look
 * as long as all that it rests on is the same. After each PART is told (NULL: nobody is). False: the look is not wanted
 * any more, because PART said so with false or the work of this thread was cancelled; S holds what was finished. */
typedef bool ObserversPart(void *data, const Snapshot *s);
bool observers_look_on(Observers *o, const Scene *scene, ObserverSet set, Snapshot *s, ObserversPart *part,
                       void *data) STATUS_CHECKED;

/* --- for the observers --- */
bool observers_watch(const Observers *o, ObserverId id); /* ID is among those that look now */
/* The probe after a forward pass over the visible tokens, and its logits [visible x V]; at most one pass a look. */
Tape *observers_probe(Observers *o, const Scene *scene);
/* The stages of attention are too many to be kept: the probe has none (attention_stages.h makes them again). */
bool observers_stages_later(const Scene *scene);
/* Then the pass is lean, and what attention's observer needs of it is caught while it runs: the fields query, key and
 * value of every layer, and those before RoPE. */
const Snapshot *observers_caught(const Observers *o);
void observe_attention_catch(Snapshot *to, const Tape *t, int node, int head_dim);
const real *observers_logits(Observers *o, const Scene *scene);
/* A pass of its own with the loss of the next tokens, each visible token but the first being one, and back again. */
typedef struct {
    const Tape *tape;
    Vid loss;         /* mean over the visible tokens but the first; VID_NONE: there is only the first */
    const real *grad; /* [parameters] of the loss; NULL: only forward, without a loss or of too large a model */
} Taught;
/* SEEN is told of every node, in order, while its values stand: they do not longer where the pass is lean, which also
 * gives up the probe's. Borrowed until the next call, or the next pass of the probe. */
typedef void TaughtSeen(void *data, const Taught *t, int node);
Taught observers_taught(Observers *o, const Scene *scene, TaughtSeen *seen, void *data);
/* Another pass over the same tokens, all of them SHIFT positions later (those positions exist in the model). Borrowed
 * until the next call. */
const Tape *observers_later(Observers *o, const Scene *scene, int shift);
/* The logits [V] after the visible tokens of the model and the prompt as they are without tampering; NULL when there is
 * none. */
const double *observers_untouched(Observers *o, const Scene *scene);
/* The sizes of real models' caches (cache_sizes.h), made once; borrowed. */
const Table *observers_card_sizes(Observers *o);
/* How many tokens a look goes on for at most: 64, of a large model 16. */
int observers_tokens(const Scene *scene);
/* Set to the scene's model: its parameters are laid out for decoding once a look, and whoever decodes for himself has
 * a decoder beside it. */
Speaker *observers_speaker(Observers *o, const Scene *scene);
/* A decoder beside the speaker's, its streams empty, the scene's tweak set; kept from look to look. */
Decoder *observers_decoder(Observers *o, const Scene *scene, int streams, int capacity);
/* The same for searches. */
BeamModel *observers_beam_model(Observers *o, const Scene *scene, int width, int capacity);
/* What the beam's observer keeps from look to look. */
BeamWatch *observers_beam_watch(Observers *o);
/* The exact next tokens after ids[0..n-1] (<s> first); count 0 when there is no truth. Remembered; borrowed until the
 * next call. */
const NextList *observers_truth(Observers *o, const Scene *scene, const int *ids, int n);
/* Of one token of such a list; 0 when it is not there. */
double observers_true_p(const NextList *truth, const char *token);
/* The greedy path of the truth from the visible tokens, at most MOST tokens; without one (no truth, an impossible or
 * ended sentence) no step. Remembered; borrowed until the next call. */
const Path *observers_true_path(Observers *o, const Scene *scene, int most);
#define OBSERVER(name, help) void observe_##name(Observers *o, const Scene *scene, Snapshot *s);
#include "observers.def"
#undef OBSERVER

#endif
