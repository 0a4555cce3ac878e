/* history: the past of a run: full checkpoints that thin out as they grow old, within a limit of memory. Any step between two is
 * replayed bit for bit. Commands that changed the run on the way (set lr ...) are replayed at their step. Private to the laboratory. */
#ifndef LAB_HISTORY_H
#define LAB_HISTORY_H

#include "run.h"

typedef struct History History;

History *history_new(size_t limit_bytes);
void history_free(History *h);
void history_keep(History *h, const Run *r);           /* after a step; keeps or not as the spacing says; step 0 and the newest stay */
const RunMemory *history_nearest(const History *h, long step); /* the latest at or before STEP; NULL: none */
void history_forget_after(History *h, long step);      /* a fork */
size_t history_bytes(const History *h);
int history_kept(const History *h, const long **steps); /* for marks on the time line; borrowed */

#endif
