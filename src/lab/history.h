/* history: the past of a run: full checkpoints, evenly spaced, that thin out when a limit of memory is reached. Any
 * step between two is replayed bit for bit. Private to the laboratory.
 *
 * Kept are the first state given, whatever the limit (there must be one to replay from), and every state whose step is
 * a multiple of the spacing. When there is no room for another, every second one goes and the spacing doubles. */
#ifndef LAB_HISTORY_H
#define LAB_HISTORY_H

#include "run.h"

typedef struct History History;

History *history_new(size_t limit_bytes);
void history_free(History *h);
void history_set_limit(History *h, size_t limit_bytes); /* kept to when the next one is kept */
/* After a step; keeps or not as the spacing says; the first is always kept, unless R keeps no past. */
void history_keep(History *h, const Run *r);
const RunMemory *history_nearest(const History *h, long step); /* the latest at or before STEP; NULL: none; borrowed */
void history_forget_after(History *h, long step);              /* a fork */
size_t history_bytes(const History *h);
long history_spacing(const History *h);
int history_kept(const History *h, const long **steps); /* rising; borrowed */

#endif
