/* samples_view: a run of many sentences: how far it is, what they are worth beside the truth, and the newest of them.
 */
#ifndef UI_SAMPLES_VIEW_H
#define UI_SAMPLES_VIEW_H

#include "draw.h"
#include "snapshot.h"

bool samples_running(const Snapshot *s);
/* Returns the rows used; one that says which key begins while nothing was drawn yet. */
int samples_draw(const Snapshot *s, Canvas *c, Rect r);
/* The newest sentences, the last at the bottom, with a mark for what is impossible. */
void samples_draw_newest(const Snapshot *s, Canvas *c, Rect r);

#endif
