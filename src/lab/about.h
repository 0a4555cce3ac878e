/* about: the table that goes with every result: which program made it, the command line that makes it again, every
 * option, and every convention that the numbers rest on. */
#ifndef LAB_ABOUT_H
#define LAB_ABOUT_H

#include "catalog.h"
#include "snapshot.h"

/* A table `about` (key,value) with the version, the number type, the experiment, the command line and every option;
 * THREADS is the number in use. A convention is a further row. */
Table *about_new(const CatalogEntry *e, const Options *o, int threads);
void about_add(Table *about, const char *key, const char *value); /* BUG when the key is there */

/* The same of what a screen shows: the run, where its two clocks stand, how tokens are chosen, what is tampered with, and
 * the conventions of the panes' tables. */
Table *about_snapshot(const Snapshot *s);

/* Adds the command line with all options that were given, and the seed: "lantern run decode.filter tau=0.5 seed=1". */
void about_command(const CatalogEntry *e, const Options *o, Str *out);
/* Adds TEXT as one word for a shell: as it is where it can be, else in quotes; bytes that are not UTF-8 or control
 * become $'\xhh'. */
void about_shell_word(Str *out, const char *text);

#endif
