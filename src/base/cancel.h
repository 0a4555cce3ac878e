/* cancel: whether the work of this thread is still wanted. Whoever begins long work lends its thread a flag; loops that
 * can be long, however deep below, look at it and give up with status_cancelled(). So corpora, grammars and files need
 * no word about studies and workers to be stopped by both. */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

/* FLAG is borrowed until the next call in this thread; NULL: nobody stops it, as at first. Returns what was lent
 * before, so that work within work can give it back. */
const atomic_bool *cancel_lend(const atomic_bool *flag);
bool cancel_wanted(void); /* cheap: for every turn of a loop */

#endif
