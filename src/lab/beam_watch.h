/* beam_watch: what the beam's observer keeps from look to look: what the language said, its likeliest sentence, and the
 * trees before, so that it can be told truly what changed. Private to the laboratory.
 *
 * A KEY stands for everything a search rests on but the parameters: the prompt, the settings, the tampering. */
#ifndef LAB_BEAM_WATCH_H
#define LAB_BEAM_WATCH_H

#include "decode/beam.h"
#include "text/next_memo.h"

#include <stdint.h>

typedef struct BeamWatch BeamWatch;

BeamWatch *beam_watch_new(void);
void beam_watch_free(BeamWatch *w);
void beam_watch_forget(BeamWatch *w); /* the language and the run are about to go */

NextMemo *beam_watch_memo(BeamWatch *w, Language *l);
/* The likeliest sentence that begins with PREFIX; "" when there is none, or when it takes too long to find out.
 * Borrowed until the next call. */
const char *beam_watch_mode(BeamWatch *w, Language *l, const char *prefix);

/* The tree of this look, of the model after STEP. is_new [beam_nodes]: taken here, but not in the tree that was looked
 * at last for the same key at another step. Returns that step; -1: there was none, and nothing is new. */
long beam_watch_tree(BeamWatch *w, uint64_t key, long step, const Beam *b, bool *is_new);
/* TEXT is the best sentence of this look. *since: the step from which on every look has found it; *before: what the one
 * before those found, "" when there was none. Looking back at an earlier step begins afresh. */
void beam_watch_best(BeamWatch *w, uint64_t key, long step, const char *text, long *since, const char **before);

#endif
