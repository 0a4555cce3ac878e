/* cues: what a speaker wants to come to, one after the other: a text file of command lines, as they are typed with the
 * ':' before them or without. Cues are separated by empty lines; a cue is its lines in turn, and what stands behind a #
 * in it is said at the bottom. A line with a '!' before it may drop a run that is in no file; without one that is asked
 * about. */
#ifndef UI_CUES_H
#define UI_CUES_H

#include "status.h"
#include "str.h"

typedef struct {
    char *text;    /* its command lines, each ended by a line feed; "" when there are none */
    char *comment; /* "" when there is none */
    bool sure;     /* it may drop the run */
} Cue;

typedef struct {
    char *path; /* NULL: none are read */
    Cue *cue;   /* [count] */
    int count, at; /* at: the one that was run last; -1: none yet */
} Cues;

typedef Status CuesKnown(const char *line); /* refuses what is no command */
/* Reads PATH in place of what C holds, which stays when that fails: a file that cannot be read, one without a cue, a line that
 * KNOWN refuses (with its number). */
Status cues_read(Cues *c, const char *path, CuesKnown *known) STATUS_CHECKED;
/* The cue that WORD is, "next", "previous" or a number from 1; -1: there is no such. */
int cues_find(const Cues *c, const char *word);
void cues_done(Cues *c); /* as zeroed, with no cue */

#endif
