/* grad_plan: where each gradient of a backward pass lies. A gradient is needed from its first writer, the last node
 * that uses the value, to the backward of the node that made the value; then its room is given to the next. So a
 * training pass works on memory that is in the cache. Probe tapes keep all gradients apart, to be looked at. */
#ifndef MODEL_GRAD_PLAN_H
#define MODEL_GRAD_PLAN_H

#include "op.h"

/* Sets grad of every value that a pass from LOSS writes to, and grad_used to the room that they need. */
void grad_plan(Tape *t, Vid loss);

#endif
