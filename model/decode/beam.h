/* beam: beam search (lecture 3, 6.4): of everything that may follow the open beams the likeliest go on, step after
 * step. Over anything that says what comes next (BeamSource): a model (beam_model.h), the language itself
 * (beam_truth.h).
 *
 * A step continues every open beam with every token and takes the WIDTH likeliest of these candidates. Those that end
 * in END are finished; the others are the open beams of the next step. So fewer than WIDTH may be open after a step,
 * and the next one fills up again. Of equal candidates the lower parent wins, then the lower id. Width 1 is greedy.
 *
 * log_p counts the generated tokens, END included, in nats. The score is log_p, or with length_norm log_p divided by
 * the generated tokens. The best that an open beam can still attain is its log_p, or with length_norm log_p / tokens:
 * no further token makes it likelier, and none may be longer. The search stops when no open beam can attain more than
 * the best finished sentence has.
 *
 * The tree keeps every candidate that was taken and, of each step, the likeliest of those that were not. */
#ifndef DECODE_BEAM_H
#define DECODE_BEAM_H

#include "status.h"

#include <stdbool.h>

typedef struct {
    int width;  /* >= 1 */
    int tokens; /* >= 1, at most so many are generated */
    int end;    /* the id that finishes a sentence */
    int pruned; /* >= 0, candidates kept in the tree per step though they were not taken */
    bool length_norm;
} BeamConfig;

/* What comes next. The open beams of a call are numbered 0 .. n-1. */
typedef struct {
    void *owner;
    int vocabulary; /* V */
    double same;    /* log-probabilities nearer than this are equal; 0: only the same number */
    /* The first call: one beam, the prompt; PARENT and ID are NULL. After that beam i is beam parent[i] of the call
     * before and the token id[i]; n is at most the width. Both are borrowed until the next call. */
    Status (*advance)(void *owner, int n, const int *parent, const int *id);
    /* Natural log-probabilities [V] of what follows beam i; -INFINITY: impossible, never a candidate. Asked for in
     * turn, once each; not of the last beams when they are less likely than all that can be taken. */
    Status (*row)(void *owner, int i, double *log_p);
    /* Of the open beams those from END on will not be asked for. NULL: it makes no difference. */
    void (*only)(void *owner, int end);
    /* Whether another call of advance has room. NULL: always. */
    bool (*has_room)(void *owner);
} BeamSource;

typedef enum {
    BEAM_OPEN,     /* in the beam when the search stopped */
    BEAM_KEPT,     /* was in the beam and was continued */
    BEAM_PRUNED,   /* not among the likeliest of its step */
    BEAM_FINISHED, /* ends in END */
} BeamState;

typedef struct {
    int parent; /* a node, always a lower one; -1: the prompt */
    int depth;  /* tokens generated, this one included: the step it was made in, counted from 1 */
    int id;
    double log_p, score;
    BeamState state;
} BeamNode;

typedef enum {
    BEAM_RUNNING,
    BEAM_FOUND,   /* no open beam can attain more than the best finished sentence, or none is open */
    BEAM_TOKENS,  /* as many tokens as were asked for */
    BEAM_CONTEXT, /* the source has no room for more */
    BEAM_NOTHING, /* nothing can follow, and nothing is finished */
} BeamReason;

typedef struct Beam Beam;

Beam *beam_new(const BeamConfig *c, const BeamSource *s); /* S's owner is borrowed */
void beam_free(Beam *b);
/* One step. BUG when the search has stopped. Fails when the source does or gives what is not a number. */
Status beam_step(Beam *b) STATUS_CHECKED;
Status beam_run(Beam *b) STATUS_CHECKED; /* steps until it stops */

BeamReason beam_reason(const Beam *b);
int beam_steps(const Beam *b); /* taken */
int beam_nodes(const Beam *b);
const BeamNode *beam_node(const Beam *b, int node); /* step after step, the likelier first; borrowed */
void beam_path(const Beam *b, int node, int *ids);  /* the generated tokens up to it: [depth] */
/* The finished sentences, the best score first, of equals the older; when none is finished the open beams. *node is
 * allocated; returns how many. */
int beam_best(const Beam *b, int **node);

const char *beam_state_name(BeamState s);   /* open, kept, pruned, finished; not translated */
const char *beam_reason_name(BeamReason r); /* running, finished, tokens, context, nothing; not translated */

#endif
