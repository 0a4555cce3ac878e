/* option: typed options in rows: one row gives the key, its type, range and default, the help, the form and the
 * completion. Values are read from key=value texts and checked here, once, with a sentence that says what is allowed.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "status.h"
#include "str.h"

#include <stdbool.h>

typedef enum {
    OPTION_INT,
    OPTION_REAL,
    OPTION_TEXT,
    OPTION_CHOICE, /* one of choices */
    OPTION_FLAG,   /* 0 or 1 */
    OPTION_INTS,   /* comma separated, each within min..max */
    OPTION_REALS,
    OPTION_CHOICES, /* comma separated */
} OptionType;

typedef struct {
    const char *name;
    OptionType type;
    const char *initial; /* as the user would write it; NULL: not set (optional without default) */
    double min, max;     /* INT, REAL and their lists; both 0: unlimited; HUGE_VAL: on that side */
    const char *choices; /* "gpt|modern" */
    const char *unit;    /* "tokens", "nats"; "" when none */
    const char *help;    /* one line, marked for gettext */
} Option;

typedef struct Options Options; /* the values of an array of rows */

/* ROWS is a static array that ends in a row whose name is NULL. Several arrays may be joined with options_join. */
Options *options_new(const Option *rows);
Options *options_join(Options *o, const Option *rows); /* adds rows; returns o. A name already there is a BUG */
Options *options_copy(const Options *o);
void options_free(Options *o);

/* What an option that is not set comes to, for people: "16", or a few words. Adds nothing when it does not know NAME.
 */
typedef void (*OptionFollow)(const Options *o, const char *name, Str *out);
void options_let_follow(Options *o, OptionFollow follow); /* one more to ask, after the others; copies keep them */
/* Adds what NAME comes to. False: it is set, or it is simply left out. */
bool options_follow(const Options *o, const char *name, Str *out);

Status options_set(Options *o, const char *name, const char *value) STATUS_CHECKED; /* checks type and range */
Status options_set_pair(Options *o, const char *key_value) STATUS_CHECKED;          /* "n=10" */
/* Words that somebody typed as one line: each is a pair, and none says a name for the second time: nobody could tell
 * which of them is meant. */
Status options_set_pairs(Options *o, const char *const *pair, int n) STATUS_CHECKED;
/* That last part alone, of words of which some may be no pairs. */
Status options_once(const char *const *word, int n) STATUS_CHECKED;
/* A value that follows from what was given: NAME has it unless the user gave another, and does not count as given.
 * VALUE is one that options_set would take. */
void options_assume(Options *o, const char *name, const char *value);
void options_forget_assumed(Options *o);          /* all of these are as their rows say again */
void options_reset(Options *o, const char *name); /* as its row says, not given */

int options_count(const Options *o);
const Option *options_row(const Options *o, int i);
const Option *options_find(const Options *o, const char *name); /* NULL: no such option */
bool options_is_set(const Options *o, const char *name);        /* has a value: given or by default */
bool options_is_given(const Options *o, const char *name);      /* the user gave it */
bool options_is_assumed(const Options *o, const char *name);    /* options_assume did */
const char *options_value(const Options *o, const char *name);  /* as text, "" when not set; borrowed */

/* BUG when the name or the type is wrong: those are the caller's rows. */
long long options_int(const Options *o, const char *name);
double options_real(const Options *o, const char *name);
const char *options_text(const Options *o, const char *name); /* TEXT and CHOICE; NULL when not set; borrowed */
bool options_flag(const Options *o, const char *name);
int options_choice(const Options *o, const char *name);                    /* index into choices */
int options_ints(const Options *o, const char *name, const long long **x); /* count; borrowed */
bool options_differ(const Options *a, const Options *b, const char *name); /* as texts */
long long options_ints_most(const Options *o, const char *name);           /* the largest of them; at least 0 */
int options_reals(const Options *o, const char *name, const double **x);
int options_choices(const Options *o, const char *name, const int **x);

/* One line per option: name, type, range, value (the default while nothing is set), help, aligned. */
void options_help(const Options *o, Str *out);

#endif
