/* grammar_internal: what the files of the grammar share. Not for others.
 *
 * The rules live in flat arrays of the grammar and are known by their number. Words of the file are texts of
 * grammar->texts; a language copies these and adds the texts that come up in use, so a number means the same in both.
 * Functions that return bool leave the reason of a failure in language->status. */
#ifndef TEXT_GRAMMAR_INTERNAL_H
#define TEXT_GRAMMAR_INTERNAL_H

#include "grammar.h"
#include "texts.h"

#include <stdint.h>

enum {
    GRAMMAR_FILE_BYTES = 1 << 20,  /* a file */
    GRAMMAR_TOTAL_BYTES = 8 << 20, /* all files together */
    GRAMMAR_FILES = 1000,          /* includes altogether */
    GRAMMAR_INCLUDES = 8,          /* includes within each other */
    GRAMMAR_PARTS = 100,           /* parts of a call */
    GRAMMAR_VARIABLES = 1000,      /* variables of a rule */
    GRAMMAR_COUNT = 1000,          /* draws of a repetition */
    GRAMMAR_VALUES = 500000,       /* values of a variable */
    GRAMMAR_DEPTH = 1000,          /* calls within each other */
    GRAMMAR_TEXT = 1 << 20,        /* bytes of a sentence */
};
#define GRAMMAR_WEIGHT 1e9

/* ---- The rules ---- */

typedef enum { PIECE_TEXT, PIECE_NOTHING, PIECE_VARIABLE, PIECE_CALL, PIECE_BIND, PIECE_REPEAT } PieceKind;

/* What an alternative writes from left to right. A variable is known by its slot in the rule. */
typedef struct {
    PieceKind kind;
    bool glued;      /* no blank between the piece before and this one */
    int line;        /* of the file */
    int text;        /* TEXT: what is written */
    int slot;        /* VARIABLE, BIND: the variable; REPEAT: the variable that counts, or -1 */
    int count;       /* REPEAT by a fixed count */
    int variable;    /* BIND: the variable's name, a text */
    int family;      /* CALL, BIND, REPEAT: what is called */
    int part, parts; /* grammar->part[part ...]: a text, or ~slot */
    int dead, deads; /* grammar->dead[dead ...]: slots whose value nothing needs after this piece */
} Piece;

typedef struct {
    double weight;
    double up_to;      /* sum of the weights up to this one, for drawing */
    int piece, pieces; /* grammar->piece[piece ...] */
    int dead, deads;   /* grammar->dead[dead ...]: slots of the head that it does not use */
} Alternative;

typedef struct {
    int family;
    int part;       /* grammar->part[part ...], one per part of the family: a text, or ~slot */
    int file, line; /* of the head */
    int alternative, alternatives;
    double total; /* of the weights */
    int slots;
    int given;     /* the first so many are those of the head */
    int *variable; /* [slots] names, texts */
} Rule;

/* All rules of one name and number of parts, in file order. */
typedef struct {
    int name; /* a text */
    int parts;
    int *rule; /* [rules] */
    int rules, rule_slots;
} Family;

struct Grammar {
    Texts texts;
    Texts family_key; /* "name number-of-parts"; its texts from 1 on are the families from 0 on */
    Family *family;
    int families, family_slots;
    Rule *rule;
    int rules, rule_slots;
    Alternative *alternative;
    int alternatives, alternative_slots;
    Piece *piece;
    int pieces, piece_slots;
    int *part;
    int parts, part_slots;
    int *dead;
    int deads, dead_slots;
    char **file; /* [files] names of the files, 0: the one that the user named, "" of a text */
    int files, file_slots;
    Str source; /* all lines that were read, without comments, includes in their place */
};

static inline bool grammar_is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

Grammar *grammar_new(void);
int grammar_family(Grammar *g, const char *name, size_t bytes, int parts); /* found or made */
/* What can be said only of the whole: calls without a rule, variables before they are set, rules without weight. */
Status grammar_check(Grammar *g) STATUS_CHECKED;
/* "line 3: WHAT", with the name of the file before it; a text that is none has no name. */
Status grammar_error(const Grammar *g, int file, int line, const char *what) STATUS_CHECKED;
/* Reads one call without variables, such as food.dog. The parts are texts of TEXTS. */
bool grammar_read_call(const char *s, Texts *texts, int *name, int parts[GRAMMAR_PARTS], int *n);

/* ---- A language: goals are calls whose parts are filled in ---- */

typedef enum { GOAL_NEW, GOAL_BUSY, GOAL_KNOWN, GOAL_REFUSED } GoalState;

typedef struct {
    int rule;                /* the rule that fits; -1: a repetition */
    int argument, arguments; /* language->argument[argument ...]: texts */
    int family;
    int inner, count;       /* of a repetition: the goal that is drawn COUNT times */
    double empty, nonempty; /* probabilities of writing nothing, and something */
    unsigned char empty_state, values_state;
    int value, values; /* language->value[value ...] */
} Goal;

/* A text and its probability. */
typedef struct {
    int text;
    double p;
} Value;

/* How far the text that is being written has come, in an alternative. */
typedef enum {
    WRITE_START,   /* nothing is written yet: what comes is glued to what stands before the call */
    WRITE_IN,      /* inside a chunk: what comes is glued */
    WRITE_BETWEEN, /* the chunk is over: a blank comes before what is written next */
} WriteFlag;

/* One way to come to a piece: where the text is, how the variables stand, how likely it is. */
typedef struct {
    double p;
    int pos; /* its meaning is the engine's */
    int env; /* frontier->env[env ...] */
    WriteFlag flag;
} Item;

/* A set of items; equal ones are one, their probabilities added. In the order of arrival. */
typedef struct {
    Item *item;
    int items, item_slots;
    int *env;
    int envs, env_slots;
    int *table; /* item + 1; only used when there are many */
    int table_size;
    bool hashed;
} Frontier;

void frontier_clear(Frontier *f);
void frontier_done(Frontier *f);
/* ENV[slots] is copied, with the DEADS slots of DEAD forgotten. Returns the item's index. */
int frontier_add(Frontier *f, int slots, const int *env, const int *dead, int deads, int pos, WriteFlag flag, double p);

/* The memory of one call in progress, kept for the next one of that depth. */
typedef struct {
    Frontier now, next, ends;
    int *env;
    int env_slots;
} Level;

typedef struct Chart Chart; /* grammar_chart.h */
void chart_free(Chart *c);
typedef struct Automaton Automaton; /* grammar_automaton.h */

struct Language {
    const Grammar *grammar;
    char *start_text, *set_text; /* as given, for copies */
    int start;                   /* goal */
    int *set;      /* [grammar->texts.count] by the variable's name: the text that it always gets, or -1 */
    Status status; /* why the last function said false */
    Texts texts;
    Goal *goal;
    int goals, goal_slots;
    int *goal_table; /* goal + 1 */
    int goal_table_size;
    int *argument;
    int arguments, argument_slots;
    Value *value;
    int values, value_slots;
    Level **level; /* [levels] */
    int levels, level_slots, depth;
    long long limit, work; /* steps for a question; those left to this one */
    Chart *chart;
    Automaton *automaton; /* only while a question is being answered */
    int *draw;            /* variables of the rules being drawn, a stack */
    int draws, draw_slots;
    char **word; /* language_words, once known */
    int words;
    bool words_known;
};

/* Every question begins here: fresh limits, and the memory of earlier ones dropped when it became too much. */
void language_begin(Language *l);
bool language_refuse(Language *l, Status s); /* keeps S, which is about a text, and returns false */
bool language_fail(Language *l, Status s);   /* the same of a fault of the grammar, with the name of its file */
bool language_work(Language *l, int steps);  /* false: the question has taken too long or too much memory */
int language_goal(Language *l, int family, const int *argument); /* -1: no rule fits */
int language_repetition(Language *l, int inner, int count);      /* -1 never; COUNT 1 is INNER itself */
void language_goal_name(const Language *l, int goal, Str *out);
/* Works out goal->empty and goal->nonempty. False when the goal calls itself before anything is written, or no rule
 * fits. */
bool language_empty(Language *l, int goal);
/* The number of draws that TEXT stands for in a repetition of FAMILY. */
bool language_count(Language *l, int text, int family, int *count);
/* Tokens of S[n], single blanks between them. */
void language_normalise(const char *s, size_t n, Str *out);
/* All texts that GOAL can write: language->value[goal->value ...]. False: too many. */
bool language_values(Language *l, int goal);
Level *language_enter(Language *l); /* NULL: nested too deep */
void language_leave(Language *l);

/* ---- Walking an alternative ---- */

typedef struct Walk Walk;

/* What writing means: matching a text, listing texts, ... An engine adds what becomes of walk->item with walk_add. */
typedef struct {
    bool (*text)(Walk *w, int text); /* not the empty one */
    /* What GOAL can write. SLOT >= 0: the variable that keeps the text. */
    bool (*goal)(Walk *w, int goal, int slot);
    void (*end)(Walk *w, const Item *item); /* ITEM came to the alternative's end; NULL: it is put into level->ends */
} Engine;

struct Walk {
    Language *language;
    const Engine *engine;
    Level *level;
    const int *dead; /* of the piece at hand */
    int deads;
    int rule, slots;
    int piece, to;   /* the piece at hand, and where its alternative ends; of a repetition: -1 */
    int inner, left; /* of a repetition: the goal, the draws not yet done, the one at hand counted */
    bool nonempty;   /* the variable at hand is known to hold a text that is not empty */
    int must;        /* the piece (or draw) that is known to write something, + 1; 0: none */
    Item item;       /* at hand */
    int *env;        /* [slots] of the item at hand */
};

/* A variable stands as a text (>= 0), as unset, or as drawn but not looked at: only the goal is known, and perhaps that
 * the text is not empty. */
#define ENV_UNSET (-1)
static inline int env_pending(int goal, bool nonempty) {
    return -2 - 2 * goal - (nonempty ? 1 : 0);
}
static inline bool env_is_pending(int env) {
    return env <= -2;
}
static inline int env_goal(int env) {
    return (-2 - env) / 2;
}
static inline bool env_nonempty(int env) {
    return ((-2 - env) & 1) != 0;
}

/* A walk over the goal's rule. */
void walk_begin(Walk *w, Language *l, const Engine *engine, Level *level, const Goal *goal);
/* level->now becomes one item at the start of alternative A. */
void walk_start(Walk *w, const Goal *goal, const Alternative *a, int pos);
/* Walks level->now through the pieces from FROM to the end of their alternative, w->to. */
bool walk_pieces(Walk *w, int from);
/* COUNT draws of INNER, one after the other, with a blank between those that are not empty. */
bool walk_draws(Walk *w, int inner, int count);
/* All alternatives of the goal from POS; what comes out stands in level->ends (pos, flag WRITE_START: nothing written).
 */
bool walk_goal(Language *l, const Engine *engine, Level *level, int goal, int pos);
/* What becomes of the item at hand: where it is now, its probability times P. */
void walk_add(Walk *w, int pos, WriteFlag flag, double p);
void walk_keep(Walk *w); /* nothing is written */
/* The item at hand ends here, whatever else its alternative would write. */
void walk_finish(Walk *w, int pos, double p);

#endif
