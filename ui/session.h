/* session: what a person was looking at, as a file of command lines: the model beside it (FILE.model), the sentence and
 * what is done to it, then, behind a line "screen", how the screen stands. */
#ifndef UI_SESSION_H
#define UI_SESSION_H

#include "app.h"

/* Writes PATH, and has the laboratory write PATH.model. QUIET: nothing is said of it. STATUS_FAILED while there is no run. */
Status session_keep(App *a, const char *path, bool quiet) STATUS_CHECKED;
Status session_check(const char *path) STATUS_CHECKED; /* whether PATH is one */
/* Returns to what PATH says: the laboratory's lines are posted at once, the screen's run when it has carried them out.
 * A file that is no session gets a sentence, and nothing changes. */
Status session_resume(App *a, const char *path) STATUS_CHECKED;
/* Brings another model before the panes: LINES as in a session, "visit" the first of them. What shows now is remembered. */
Status session_visit(App *a, const char *lines) STATUS_CHECKED;
/* Back to the run that waits, and to what showed before the visit. */
Status session_return(App *a) STATUS_CHECKED;
/* Of LINES, which were carried out just now, those that move the cursor once more when the laboratory has done its part: before
 * that it could not stand where there is no token yet. */
void session_cursor(App *a, const char *lines);
/* Runs the screen's lines once the snapshot shows that the laboratory is done. Called with every new snapshot. */
void session_arrive(App *a);

#endif
