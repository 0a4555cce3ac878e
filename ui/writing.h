/* writing: files on their way out in a thread of their own, so that neither a slow disk nor a long table stops the
 * keys. Gathered first, then started once, then ended; the outcome is one Status. All files of one folder or none: what
 * was there before stays as it was when the disk is full. */
#ifndef UI_WRITING_H
#define UI_WRITING_H

#include "pane.h"
#include "status.h"

typedef struct Writing Writing;

Writing *writing_tables(const char *folder); /* as FOLDER/PREFIX.NAME.csv */
/* Takes TEXT over, for the file PATH. */
Writing *writing_text(const char *path, Str *text);
void writing_free(Writing *w); /* one that was never started */

/* What the pane shows. Its tables are made now, or, where the pane allows that (tables_beside), in the thread from
 * copies of all that X points to. False: it shows nothing. */
bool writing_add_pane(Writing *w, const PaneType *pane, const PaneContext *x);

/* T, which passes to it, goes with the others: where there is none it is not written either. */
void writing_add_table(Writing *w, const char *prefix, Table *t);

void writing_start(Writing *w);
bool writing_is_over(const Writing *w);
/* Waits for the end and frees W. *FILES: how many were written; *REPLACED: how many of their tables in place of an
 * earlier file; their names, separated by ", ", are added to NAMES. */
Status writing_end(Writing *w, int *files, int *replaced, Str *names) STATUS_CHECKED;

#endif
