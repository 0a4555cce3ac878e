/* value_plan: where the values of a lean recording lie (tape_begin_lean): the room of one that nobody reads any more is
 * another's. Private to the tape. */
#ifndef MODEL_VALUE_PLAN_H
#define MODEL_VALUE_PLAN_H

#include "op.h"

/* After recording: places every value behind what is kept, and gives the numbers that the arena must hold. Twice is as
 * good as once. */
size_t value_plan(Tape *t);

#endif
