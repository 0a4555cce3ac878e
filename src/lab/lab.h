/* lab: a live run and everything that can be asked of it: train, step, go back, decode, look. One thread at a time. The
 * worker owns it on the screen; headless programs and tests call it directly. Names no type of the engine.
 *
 * Two clocks: the training step and the decoding position. Going back never touches the newest step: a second state of
 * the run is set to the nearest checkpoint and replays from there, with the same bits. */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "command.h"
#include "option.h"
#include "snapshot.h"
#include "status.h"

typedef struct Lab Lab;

/* The options of a live run: those of lm.train (arch is modern here), model= and tokenizer= (of others: it is read, or
 * learns on when corpus= is given), prompt=, history= (MB), start=run|pause, threads=, seed=. */
Options *lab_options(void);
/* Refuses what cannot be built, before anything is made. lab_prepare may still fail on what the corpus holds. */
Status lab_check(const Options *o) STATUS_CHECKED;

/* What it comes to when the options BEFORE of a run that learns VOCAB tokens become AFTER. WHY (may stay empty) says in
 * one sentence which tensors differ, or what else there is to know. Options that describe no run are refused. */
typedef enum {
    LAB_SAME,     /* they say the same */
    LAB_KEEPS,    /* parameters, moments and step stay, training goes on from there */
    LAB_RESTARTS, /* it begins again from the seed */
} LabChange;
Status lab_compare(const Options *before, const Options *after, int vocab, LabChange *change, Str *why) STATUS_CHECKED;

/* What the words of "set" behind the first say: "OPTION VALUE" (with blanks) or "KEY=VALUE ...". */
Status lab_read_set(Options *o, const Words *w) STATUS_CHECKED;

/* Cheap: takes the options over. lab_prepare makes corpus and model and may take a second. */
Lab *lab_new(Options *o);
void lab_free(Lab *l);
Status lab_prepare(Lab *l) STATUS_CHECKED;

/* Carries out one command line of the laboratory's table (commands.def): "run", "step 5", "seek 137", "prompt the dog",
 * "head 1 2 off" ... A refusal is a sentence, which is also the message of the next snapshot; the run is as it was. */
Status lab_do(Lab *l, const char *line) STATUS_CHECKED;

/* One unit of pending work: a training step, a replayed step, a decoding step, a run to be made. False when there is
 * nothing to do. */
bool lab_turn(Lab *l);
/* Whether somebody looks after the next turns (at first: yes). What an update of a running run did, parameter by
 * parameter, is kept only then; lab_do first makes another one where it was not, so that a held run always shows it. */
void lab_expect_look(Lab *l, bool look);
bool lab_busy(const Lab *l);   /* whether lab_turn would do something */
double lab_wait(const Lab *l); /* seconds until it would: 0 now, INFINITY when nothing is pending */
/* Whether the decoding clock keeps to its tokens per second (for eyes) or goes as fast as it can (at first). */
void lab_set_paced(Lab *l, bool paced);

/* What is true now, with what the observers in the watch list add (at first: all). The caller owns one reference. Once
 * there is a run it holds the tables settings: option,value, a row for each option given and for the prompt; and state:
 * line, the commands that bring prompt, position, filter and tampering to a fresh run; tampering: what,back, a row for
 * each thing that is done to what is looked at and the command that takes it back; and once something was set,
 * changes: step,option,value. */
Snapshot *lab_snapshot(Lab *l);
/* The same for those who cannot wait: PART is told whenever something of it is finished, with a snapshot of its own
 * that says that it is unfinished; when it answers false, or this thread's work is cancelled, the look is given up and
 * NULL returned. */
typedef bool LabPart(void *data, const Snapshot *so_far);
Snapshot *lab_look(Lab *l, LabPart *part, void *data);

/* Tables of two runs side by side, from a snapshot with what `curve` adds; NULL: there is one run. versus: run and the
 * columns of curve; versus_test: run and those of test. */
Table *lab_versus_curve(const Snapshot *s);
Table *lab_versus_test(const Snapshot *s);

uint64_t lab_hash(const Lab *l); /* of the parameters looked at */

#endif
