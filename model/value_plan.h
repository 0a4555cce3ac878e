/* value_plan: where the values of a lean pass lie (tape_watch): the room of one that nobody reads any more is another's.
 * Private to the tape. */
#ifndef MODEL_VALUE_PLAN_H
#define MODEL_VALUE_PLAN_H

#include "op.h"

/* After recording: places every value behind what is kept, and says how large the arena is. */
void value_plan(Tape *t);

#endif
