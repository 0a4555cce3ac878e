/* grammar_automaton: a language token by token. A state is all that a prefix tells about what follows: what may be left
 * to write (rests) and how likely each is. Prefixes that tell the same share a state, so 50 million sentences of the
 * farm are some thousand states; sums over all sentences become sums over states, exact also where a sentence has many
 * derivations.
 *
 * A variable that is only written, never part of a call, may be kept anonymous: a state then knows that there is a
 * text, not which. Tokens that contain it carry a mark (HOLDER). This is only right while such a token never competes
 * with another; where it does, the variable is made known and the work begins again (automaton->conflict).
 *
 * Lives for one question; numbers of states, rests and tokens depend on nothing but the grammar, start and set. */
#ifndef TEXT_GRAMMAR_AUTOMATON_H
#define TEXT_GRAMMAR_AUTOMATON_H

#include "grammar_internal.h"

#define HOLDER '\x01' /* no text of a grammar contains it */

typedef enum {
    REST_RULE,  /* the pieces from one on, up to the end of their alternative */
    REST_DRAWS, /* so many draws of a goal */
    REST_TEXT,  /* a text that is not empty */
    REST_GOAL,  /* a call */
} RestKind;

/* What is left to write when a token is over: a list from the innermost call to the outermost. Rest 0 is nothing. */
typedef struct {
    RestKind kind;
    bool must;      /* what comes first writes something */
    int what;       /* the piece; the goal; the text; the goal */
    int to;         /* RULE: where the alternative ends; DRAWS: how many */
    int rule;       /* RULE */
    int env, slots; /* RULE: automaton->env[env ...] */
    int next;       /* the rest around it */
    int depth;
} Rest;

/* A token begun or finished. */
typedef struct {
    int text;
    int rest; /* what follows the token; 0: the writer came to its end, and the token may go on outside */
    double p;
} Outcome;

typedef struct {
    int first, count; /* count < 0: not known yet */
} Range;

typedef struct {
    int rest;
    double p;
} Member;

typedef struct {
    int token;  /* a text; 0: END */
    int target; /* state; -1: END */
    int held;   /* automaton->held[held ...]: what the target's holders stand for, in terms of this state */
    double p;
} Arc;

typedef struct {
    Range members, arcs;
    int holder, holders; /* automaton->holder_slot[holder ...]: the variables that it keeps anonymous */
} State;

struct Automaton {
    Language *language;
    bool anonymous; /* variables may be kept so */
    bool conflict;
    bool *known;    /* [slots of all rules] the variable is never anonymous */
    int *rule_slot; /* [rules] where a rule's variables begin there */
    int most_states, most_arcs;
    Rest *rest;
    int rests, rest_slots;
    int *rest_table, rest_table_size;
    int *env;
    int envs, env_slots;
    Outcome *outcome;
    int outcomes, outcome_slots;
    Range *goal_first; /* [goal_firsts] by goal: how what it writes begins */
    int goal_firsts;
    Range *rest_first; /* [rest_firsts] by rest */
    int rest_firsts;
    State *state;
    int states, state_slots;
    int *state_table, state_table_size;
    Member *member;
    int members, member_slots;
    Arc *arc;
    int arcs, arc_slots;
    int *held;
    int helds, held_slots;
    int *holder_slot;
    int holder_slots, holder_slot_slots;
    Frontier carry, gather, found, tokens; /* places to work */
};

/* MOST_STATES, MOST_ARCS: more are too many. Belongs to L until it is freed. */
Automaton *automaton_new(Language *l, bool anonymous, int most_states, int most_arcs);
void automaton_restart(Automaton *a); /* forgets everything but which variables must be known */
void automaton_free(Automaton *a);
/* The state before the first token; -1: see language->status. */
int automaton_start(Automaton *a);
/* Works out the state's arcs. False: language->status, or automaton->conflict. */
bool automaton_expand(Automaton *a, int state);

/* ---- For its own files ---- */

bool rest_outcomes(Automaton *a, int rest, Range *out); /* grammar_rest.c */
int rest_add(Automaton *a, Rest rest, const int *env);
bool text_is_token(const Texts *t, int text);

#endif
