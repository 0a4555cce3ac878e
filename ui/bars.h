/* bars: the rows around the panes: what runs (title), both clocks (transport), and the keys that help now. Pure
 * drawing. */
#ifndef UI_BARS_H
#define UI_BARS_H

#include "keymap.h"

void bars_draw_title(Canvas *c, const Snapshot *s, const StyleSheet *style);

/* Two rows: training above, decoding below. One wide row: side by side. One short row: the focused clock. */
void bars_draw_transport(Canvas *c, const Snapshot *s, Clock clock);
/* The training step under a click on the time line; false: it is elsewhere. *CLOCK is the clock of the part that was
 * hit. */
bool bars_hit(const Canvas *c, const Snapshot *s, Clock focused, int x, int y, Clock *clock, long *step);

/* As many keys as fit: those of PLACE, of the pane in X, of every pane; none that does nothing now. */
void bars_draw_keys(Canvas *c, KeyPlace place, const PaneType *pane, const PaneContext *x, Clock clock);

#endif
