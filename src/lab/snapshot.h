/* snapshot: what was true of a run at one moment: facts, fields and tables. Immutable once made, counted, shared
 * between threads. Panes draw it, export writes it, tests make it by hand. No number reaches a screen or a file in
 * another way. */
#ifndef LAB_SNAPSHOT_H
#define LAB_SNAPSHOT_H

#include "field.h"
#include "table.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    RUN_LOADING, /* corpus and model are being made */
    RUN_PAUSED,
    RUN_RUNNING,
    RUN_FINISHED, /* the last step of the plan is done */
    RUN_DIVERGED, /* a loss or gradient is not a number; bad_tensor says where it began */
    RUN_FAILED,   /* could not be prepared; message says why */
} RunState;

/* The facts that fit no array. Numbers that do not exist yet are NaN; texts are "". */
typedef struct {
    RunState state;
    char arch[16], corpus[64], name[64]; /* "modern", "farm", what the title shows */
    char recipe[160];                    /* what of the model is not as its arch has it: "window=3 softcap=20" */
    uint64_t seed;
    int threads;
    long parameters;
    int vocab, context, d, layers, heads, kv_heads, head_dim, d_ff, window;
    bool reads_only; /* somebody else's model: nothing is trained */
    bool tunes;      /* somebody else's model, which learns on: `name` on `corpus` */
    bool unfinished; /* more is being worked out: what is missing comes with the next one */
    bool jumps;      /* on the way to a step that was asked for: the one that is looked at will not stay */
    /* training clock: steps count from 1; 0 is the model as it was initialised */
    long step;  /* what is looked at */
    long head;  /* the newest step trained; step < head: the past */
    long steps; /* of the plan */
    long per_epoch;
    long saved; /* the step of this run that was last written to a file, or read from one; -1: none */
    double loss, learning_rate, grad_norm; /* of `step`; nats per token */
    double tokens_per_s;                   /* real tokens, measured over the last second or so; NaN when paused */
    double test_nll, floor_nll; /* latest evaluation at or before `step`; exact floor on those same sentences */
    long test_step;
    bool test_whole;       /* on all test sentences; else on the first of them */
    double language_floor; /* entropy per token of the language itself, nats */
    /* two runs side by side */
    char versus;                                        /* which one this is, 'A' or 'B'; 0: there is one alone */
    char run_name[2][96];                               /* of A and B: "modern", "window=4" */
    long rival_head;                                    /* the newest step of the other one */
    double rival_loss, rival_test_nll, rival_floor_nll; /* of the other one at `step` */
    long rival_test_step;
    /* decoding clock */
    bool decode_running;
    int prompt_tokens;    /* <s> included */
    int generated_tokens; /* known after the prompt, </s> included */
    int position;         /* tokens visible: the next word is predicted after token position-1; 1 .. prompt+generated */
    bool ended;           /* the last known token is </s> */
    /* how the next token is chosen: greedily, or drawn after the filter */
    bool sampling;
    double tau, top_p; /* 1: as it is; 1: off */
    int top_k;         /* 0: off */
    bool tau_last;
    uint64_t draw_seed; /* of the draws */
    /* tampering: what differs from the plain model, "" when nothing */
    char tamper[160];
    int probe_window; /* -1: the model's own; 0: none; n: n tokens */
    char bad_tensor[64];
    char failure[500]; /* of RUN_FAILED: why there is no run */
    char missing[500]; /* why a run of our own cannot go on: its corpus; "" when it can */
    /* another model is looked at: the run that waits, "" when none does */
    char waiting[64];
    long waiting_step;
    bool waiting_unsaved; /* it has steps that are in no file */
    long mark;            /* of the newest command `mark`; 0: none yet */
    /* the newest sentence for the user and its number; level 0 information, 1 warning, 2 error */
    char message[500];
    long message_number;
    int message_level;
} SnapshotFacts;

/* What is true before anything is known: loading, every number that does not exist yet NaN. */
SnapshotFacts snapshot_facts_unknown(void);

typedef struct Snapshot Snapshot;

/* Building (one owner, then published). Takes fields and tables over. A name may occur once. */
Snapshot *snapshot_new(const SnapshotFacts *facts);
void snapshot_add_field(Snapshot *s, Field *f);
void snapshot_add_table(Snapshot *s, Table *t);
void snapshot_include(Snapshot *s, const Snapshot *part); /* its fields and tables too, shared; takes a reference */
void snapshot_share(Snapshot *s, const Snapshot *from);   /* includes the parts of FROM, which has nothing else */

/* Fields that are too many to be there all at once: made again from others, with the same numbers, when one of them is
 * asked for. They are made in groups, whose fields need the same work. Each thread has one group at most: a field that
 * was made lasts until the same thread asks this maker for a field of another group, whose fields are made when those
 * of the old one are gone. A name that it does not know costs nothing and ends no field. */
enum { SNAPSHOT_GROUP = 8 };
typedef struct {
    bool (*knows)(const void *data, const char *name); /* whether it can be made */
    /* All of the group that NAME belongs to, NAME among them, 1 to SNAPSHOT_GROUP; one thread at a time. */
    int (*make)(const void *data, const char *name, Field **out);
    void (*free)(void *data);
} SnapshotMaker;
void snapshot_set_maker(Snapshot *s, const SnapshotMaker *calls, void *data); /* S has one maker; takes DATA over */

Snapshot *snapshot_ref(const Snapshot *s); /* thread-safe */
void snapshot_unref(const Snapshot *s);    /* thread-safe; NULL is allowed */

const SnapshotFacts *snapshot_facts(const Snapshot *s);
const Field *snapshot_field(const Snapshot *s, const char *name_format, ...)
    __attribute__((format(printf, 2, 3)));                        /* NULL: not there */
const Table *snapshot_table(const Snapshot *s, const char *name); /* NULL: not there */
int snapshot_tables(const Snapshot *s);
const Table *snapshot_table_at(const Snapshot *s, int i);
int snapshot_fields(const Snapshot *s);
const Field *snapshot_field_at(const Snapshot *s, int i);

#endif
