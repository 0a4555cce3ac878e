/* command: the one way to ask for anything: keys, the ':' prompt, scripts, lessons and tests all run a line of words.
 * Two tables of the same kind exist: commands.def of the laboratory and commands.def of the screen. */
#ifndef LAB_COMMAND_H
#define LAB_COMMAND_H

#include "status.h"
#include "str.h"

#define COMMAND_WORDS 1024 /* a prompt is a command, too */
#define COMMAND_BYTES 4096

/* A line and its words. Points into itself: not to be copied. */
typedef struct {
    int count;
    const char *word[COMMAND_WORDS]; /* word[0] is the command's name */
    const char *rest[COMMAND_WORDS]; /* the line from word i on, as typed (for texts with blanks) */
    char line[COMMAND_BYTES], buffer[COMMAND_BYTES];
} Words;

typedef struct {
    const char *name;      /* "seek" */
    const char *arguments; /* "STEP", for the help */
    const char *help;      /* one line, marked for gettext */
    int least, most;       /* number of arguments; most -1: any */
    Status (*run)(void *owner, const Words *words);
} Command;

/* Splits at blanks; "quoted words" keep theirs, and \" and \\ inside them mean a quote and a backslash. An empty line
 * has no words. Too many words or bytes, a quote that does not close: a sentence. */
Status command_split(const char *line, Words *out) STATUS_CHECKED;
void command_add_quoted(Str *line, const char *text); /* TEXT as one word of a line, whatever is in it */
void command_add_word(Str *line, const char *text);   /* the same, in quotes only where it needs them */
/* Looks the first word up in TABLE (ends in a row without a name), checks the number of arguments and runs it on OWNER.
 * A unique beginning of a name will do. *found says whether the name belongs to the table, whatever the status: a
 * beginning that fits several rows does, and the sentence names them. An empty line is found and does nothing. */
Status command_run(const Command *table, void *owner, const char *line, bool *found) STATUS_CHECKED;
/* A command with one optional word that is FIRST or SECOND: *SECOND_IS_ON becomes what the word says, and without one
 * the other of what it is. */
Status command_choose(const Words *words, const char *first, const char *second, bool *second_is_on) STATUS_CHECKED;
Status command_switch(const Words *words, bool *on) STATUS_CHECKED; /* the same of the words on and off */
/* The row of this name or of the only name that begins so; NULL when there is none or several. */
const Command *command_find(const Command *table, const char *name);
/* What to say of a name that no table has: the nearest of TABLES (ends in NULL) is offered. */
Status command_unknown(const Command *const *tables, const char *name) STATUS_CHECKED;
/* The laboratory's table, for help and completion. */
const Command *lab_commands(void);

#endif
