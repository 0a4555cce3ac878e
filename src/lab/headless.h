/* headless: an experiment for the command line: runs it in a thread, shows how far it is, and puts its tables where
 * they belong: aligned on a stream for a person, or as CSV on a stream or in a folder. Where they go is tried out
 * before the work begins. Prints only on the streams it is given. */
#ifndef LAB_HEADLESS_H
#define LAB_HEADLESS_H

#include "catalog.h"

#include <stdio.h>

typedef enum { PROGRESS_NEVER, PROGRESS_ALWAYS, PROGRESS_ON_TERMINAL } ProgressKind;

typedef struct {
    const CatalogEntry *entry;
    Options *options;  /* taken over */
    const char *csv;   /* NULL: tables for a person; "-": one table on OUT; else a folder for all of them */
    const char *table; /* with csv "-": which one; NULL: the first */
    ProgressKind progress;
    bool no_cache;         /* of trained models */
    FILE *out, *err;       /* ERR: progress and notes */
    bool (*stopped)(void); /* asked some fifty times a second; true: cancel */
} Headless;

/* STATUS_CANCELLED: stopped within 200 ms, the rows so far are printed (a folder gets nothing).
 * STATUS_FAILED with an empty sentence: nobody reads OUT any more.
 * *running: the experiment did not let itself be stopped in that time, and its thread still runs. The caller then ends
 * the program at once, without what runs at an ordinary exit: that thread still needs it. */
Status headless_run(const Headless *h, bool *running) STATUS_CHECKED;

void headless_list(Str *out);                        /* a line per experiment */
void headless_help(const CatalogEntry *e, Str *out); /* options and tables of one */
/* Writes TEXT and flushes; failures as above. */
Status headless_print(FILE *out, const Str *text) STATUS_CHECKED;

#endif
