/* bug: our own mistakes. A broken assumption restores the terminal, says where it broke and aborts.
 *
 * Three kinds of failure exist here. Ours: BUG_ON. The world's (a file, an argument): a Status.
 * Numbers (NaN): not an error, the run is marked as diverged. */
#ifndef BASE_BUG_H
#define BASE_BUG_H

#define BUG_ON(condition) ((condition) ? bug_abort(__FILE__, __LINE__, #condition) : (void)0)

/* Prints FILE:LINE and the condition on standard error, after the hook, and aborts. */
_Noreturn void bug_abort(const char *file, int line, const char *condition);

/* HOOK runs first: it gives the terminal back. NULL removes it. */
void bug_set_hook(void (*hook)(void));
/* Runs the hook, once, for an end that is nobody's bug (no memory is left) but also needs the terminal back. */
void bug_run_hook(void);

#endif
