/* lab_internal: what a laboratory is made of, for the files that carry out its commands: lab_make.c (runs that begin),
 * lab_train.c (the training clock), lab_change.c (what is changed meanwhile), lab_versus.c (a second run), lab_decode.c
 * (the decoding clock and tampering), lab_beam.c, lab_bpe.c, lab_swap.c, lab_sampling.c, lab_files.c, lab_visit.c.
 * Private to lab. */
#ifndef LAB_INTERNAL_H
#define LAB_INTERNAL_H

#include "beside.h"
#include "bpe_live.h"
#include "command.h"
#include "history.h"
#include "lab.h"
#include "run.h"
#include "sample_run.h"
#include "scene.h"
#include "speaker.h"

/* What the run is made of from one step on. */
typedef struct {
    long step; /* updates made when it was changed: it holds from step+1 on; of the first: below every step */
    Recipe recipe;
    Options *options; /* owned; that describe it */
} Change;

typedef struct {
    long step, tokens;
    bool whole;        /* of all test sentences */
    double nll, floor; /* nats per prediction */
} Evaluation;

/* Tokens per second over about the last second of work. */
enum { METER_MARKS = 256 };
typedef struct {
    double time[METER_MARKS];
    long tokens[METER_MARKS];
    int marks; /* in all; the ring holds the last METER_MARKS */
} Meter;

/* The training clock. `goal` is the step that is wanted of the run looked at; work is pending while that is behind. */
typedef struct {
    Run *live;   /* the newest step; NULL before the first run is made */
    Run *viewer; /* a twin for the past; NULL until it is needed */
    bool past;   /* the viewer is looked at */
    long goal;
    bool seeking; /* the replay towards goal is a jump, not a run */
    bool diverged;
    char bad_tensor[64];
    long base; /* the first step of this run: 0, or that of an opened file */
    History *history;
    Change *change; /* [changes] by rising step; the first is how the run began */
    int changes, change_capacity;
    Table *curve; /* rows base+1 .. the newest step */
    Evaluation *evaluation;
    int evaluations, evaluation_capacity; /* by rising step */
    Table *test;                          /* the same as a table */
    Meter meter;
    double language_floor;
} TrainClock;

/* The decoding clock: a prompt and what the model looked at adds to it. */
typedef struct {
    Str text;   /* of the prompt */
    int *ids;   /* [context] <s>, the prompt, what was generated */
    int *given; /* [context] <s> and the prompt as it was given */
    int *swap;  /* [context] the token that somebody put at a position, -1: none */
    int room;   /* the context */
    int last;   /* the id that ends a sentence; -1: none */
    int prompt; /* tokens given, <s> included */
    int known;
    int wanted; /* tokens that were asked for after the prompt; after a change of the model they are generated again */
    int position; /* visible tokens that were asked for; more than `known` when the model now ends earlier */
    bool stale;   /* the generated tokens are of another model */
    bool running;
    bool paced;
    double rate, due; /* tokens per second; the time of the next one */
    bool sampling;
    FilterConfig filter;
    bool seed_given;
    uint64_t seed; /* of the draws; the run's unless it is given */
    Speaker *speaker;
    bool silent; /* the speaker has not been set to the model yet */
} Decoding;

struct Lab {
    Options *options;
    Options *pending;  /* of a run that is to be made; NULL: none */
    bool pending_runs; /* whether it trains at once */
    bool failed;       /* there is no run, and this says why */
    char failure[sizeof((SnapshotFacts *)0)->message];
    char name[64]; /* what the title shows */
    long saved;    /* step last written to a file, or read from one; -1: none */
    TrainClock train;
    Decoding decode;
    BpeLive *bpe;
    SampleRun *samples;
    unsigned char *head_off; /* [layers x heads] */
    int fitted[3];           /* layers, heads and context that head_off and the sentence have room for */
    int window;              /* -1: the model's */
    int operation;           /* as in a scene */
    int poke, poke_id;       /* as in a scene */
    BeamSettings beam;
    ObserverSet watch;
    long mark;
    Observers *observers;
    char message[500];
    long message_number;
    int message_level;
    bool warned;     /* that products are slow */
    bool unseen;     /* nobody looks after the next turn */
    bool aside;      /* holds a run for another laboratory: nobody looks at it */
    Lab *rival;      /* holds the run beside the one that is looked at; NULL: none */
    bool rival_is_a; /* and B is looked at */
    Beside *beside;  /* makes its steps at the same time; NULL: not needed yet */
    Lab *waiting;    /* holds the run that was there before another model is looked at; NULL: none */
};

enum { MESSAGE_INFORMATION, MESSAGE_WARNING, MESSAGE_ERROR };

void lab_say(Lab *l, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
Run *lab_shown(const Lab *l); /* what is looked at */
/* A run of O is to be made, which passes into L; it trains at once when the one before did. */
void lab_begin(Lab *l, Options *o);
Status lab_make_run(Lab *l) STATUS_CHECKED; /* that one, now; what fails is also said */
/* Refuses where the corpus of an opened run is missing: none other is taken in its place unasked. */
Status lab_knows_corpus(const Lab *l) STATUS_CHECKED;
/* The parameters looked at, or what is made of them, are others now. */
void lab_changed(Lab *l);
/* R, made from O, becomes the live run. Both pass into L. RUNS: it trains at once. */
void lab_adopt(Lab *l, Run *r, Options *o, const char *name, bool runs);
bool lab_watches_updates(const Lab *l); /* somebody looks at what a step changed */
ModelTweak lab_tweak(const Lab *l);
int lab_threads(const Options *o); /* as given, else all cores */
#define LAB_NO_MODEL RUN_NO_MODEL
const char *lab_model(const Options *o); /* the file or folder that O names; NULL: none, a model is trained */

/* --- lab_eval.c: tests of the training clock --- */
/* clang-format off */
#define EVAL_COLUMNS                  \
    {"step", COLUMN_INT, ""},         \
    {"tokens", COLUMN_INT, ""},       \
    {"nll", COLUMN_DOUBLE, "nats"},   \
    {"perplexity", COLUMN_DOUBLE, ""}, \
    {"floor_perplexity", COLUMN_DOUBLE, ""}
/* clang-format on */
void eval_show(TrainClock *t); /* the table of tests is made again */
void eval_on_the_way(Lab *l);  /* after an update: where one is due */
void eval_say_tuned(Lab *l);   /* a model of others begins to learn on: what it is worth at first */
void eval_forget_after(TrainClock *t, long step);
void eval_facts(const TrainClock *t, long step, SnapshotFacts *f); /* the latest at or before STEP */

/* --- lab_train.c --- */
void train_adopt(TrainClock *t, Run *r, const Options *o);
void train_done(TrainClock *t);
bool train_pending(const Lab *l);
bool train_turn(Lab *l);
void train_watch(Lab *l); /* what is looked at may be something else now: a past update that it needs is made again */
bool train_watches(const Lab *l); /* what the next update of the live run does is kept: somebody may look at it */
void train_catch_up(Lab *l);      /* one more update where the last one was not kept, before the clock may be held */
void train_facts(const Lab *l, SnapshotFacts *f);

long train_standing(const Lab *l); /* where the clock stands for the user: where it is going when it jumps */

/* One update was made: the curve, the past and the tests have it, or the run has diverged. */
void train_take(Lab *l, const RunStep *s);
void train_facts_at(const TrainClock *t, long step, SnapshotFacts *f); /* loss, learning rate, norm and test of STEP */
void train_rest(TrainClock *t);                                        /* the newest step, held */
/* STEP of the run, in the PAST or the newest, with the clock on its way to GOAL. */
void train_look(Lab *l, bool past, long step, long goal);
void train_fork(Lab *l, long step); /* the run goes on from STEP, which it has been at */

/* --- lab_versus.c: two runs side by side --- */
void versus_done(Lab *l);                                     /* A alone stays */
bool versus_pending(const Lab *l);                            /* the other one is behind */
bool versus_turn(Lab *l);                                     /* one update of the other one when it is behind */
bool versus_steps(Lab *l, RunStep *mine, RunStep *others);    /* one update of each; false: none, there is one alone */
void versus_take(Lab *l, const RunStep *s);                   /* train_take of the other one */
Status versus_begin(Lab *l, const Options *o) STATUS_CHECKED; /* B is a run of O from its first step on */
char versus_letter(const Lab *l);                             /* of the one that is looked at */
void versus_name(const Lab *l, char letter, Str *out);        /* "modern", "window=4" */
void versus_facts(const Lab *l, SnapshotFacts *f);
void versus_tables(const Lab *l, Snapshot *s);

/* --- lab_change.c: what the run is made of, step by step --- */
void change_begin(TrainClock *t, const Options *o); /* the run is fresh: O describes it */
void change_done(TrainClock *t);
void change_forget_after(TrainClock *t, long step); /* a fork: what was set at STEP or later */
/* What made the model of step DONE, and what makes the next one. */
const Change *change_before(const TrainClock *t, long done);
const Change *change_after(const TrainClock *t, long done);
const Options *change_shown(const Lab *l); /* options of the model looked at */
Table *change_table(const TrainClock *t);  /* NULL: nothing was set */

/* --- lab_decode.c --- */
void decode_init(Decoding *d);
void decode_done(Decoding *d);
/* The prompt for a new run: TEXT if it is given (then unknown words are refused), else the last one if its words are
 * known, else a default. */
Status decode_adopt(Lab *l, Run *r, const char *text) STATUS_CHECKED;
/* Says which characters of TEXT the live run's tokenizer has nothing for and leaves out, if there are any. TOO: behind
 * what was said just now. */
void decode_tell_left_out(Lab *l, const char *text, bool too);
double decode_wait(const Lab *l); /* seconds until a token is due; INFINITY: none */
bool decode_turn(Lab *l);
void decode_refresh(Lab *l); /* the generated tokens are those of the model looked at */
int decode_visible(const Decoding *d);
void decode_facts(const Lab *l, SnapshotFacts *f);
/* The commands that bring prompt, position, filter and tampering of L to a fresh run, a row each: line. */
Table *decode_state(const Lab *l);
uint64_t decode_seed(const Lab *l); /* of what is drawn */

/* --- lab_swap.c: other tokens in the sentence than those that were given or that the model chose --- */
void swap_clear(Decoding *d); /* for a new prompt: none */
void swap_back(Decoding *d);  /* all of them */
void swap_tampering(const Lab *l, Table *t);
void swap_state(const Lab *l, Table *lines);
/* The one token that WORD is as a text, else the one that is called so where tokens are shown, else that of "id=7". */
Status swap_read_token(const Vocab *v, const char *word, int *id) STATUS_CHECKED;
void swap_add_token(const Vocab *v, int id, Str *line); /* as a word that reads so */

/* --- lab_tamper.c: what is done to what is looked at --- */
/* A row each: what ("layer 2 head 1 off"), back (the command that takes it back). */
Table *tamper_table(const Lab *l);
void tamper_add(Table *t, const char *back, const char *format, ...) __attribute__((format(printf, 3, 4)));
void tamper_facts(const Lab *l, SnapshotFacts *f);

/* --- lab_visit.c: another model is looked at while the run waits --- */
void visit_done(Lab *l);
void visit_facts(const Lab *l, SnapshotFacts *f);

/* --- lab_files.c --- */
/* O says what R is, which was opened from a file: of ours its fields and plan, of others model= and tokenizer=, with
 * the plan when it learns. */
Status files_remember(Options *o, Run *r) STATUS_CHECKED;
/* The model of a file becomes the run. NAME is what the title shows; NULL: that of the file, or of the one that it
 * began as. */
Status files_open(Lab *l, const char *path, const char *tokenizer, const char *name) STATUS_CHECKED;

/* --- lab_beam.c --- */
void beam_adopt(Lab *l);                     /* a fresh run: what it cannot be asked is given up */
void beam_add_state(const Lab *l, Table *t); /* the command that makes the settings these */

/* --- lab_bpe.c: sub-words that are learnt beside the run --- */
Tokenizer *lab_tokenizer(const Lab *l); /* of the model that is looked at; NULL: it has none of its own */
double bpe_wait(const Lab *l);          /* seconds until a merge is due; INFINITY: none */
bool bpe_turn(Lab *l);

/* Numbers in commands: a sentence unless TEXT is a whole number from LEAST to MOST. */
Status lab_number(const char *what, const char *text, long least, long most, long *out) STATUS_CHECKED;

#define COMMAND(name, arguments, least, most, help) Status lab_do_##name(Lab *l, const Words *w) STATUS_CHECKED;
#include "commands.def"
#undef COMMAND

#endif
