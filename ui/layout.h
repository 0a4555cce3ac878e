/* layout: where panes stand. A pure function of the view, the size and the panes' needs. */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include "canvas.h"

typedef enum { VIEW_WALL, VIEW_SPLIT, VIEW_FOCUS } ViewKind;

#define LAYOUT_MOST 12
typedef struct {
    int pane; /* index as in panes.def */
    Rect r;   /* border included */
} Place;
typedef struct {
    Rect title, body, transport,
        keys;                 /* height 0 when there is no room; the transport has two rows where one is too short */
    Place place[LAYOUT_MOST]; /* in reading order */
    int count;
} Layout;

typedef struct {
    int min_w, min_h, weight; /* of the contents, border excluded; the weight is the share of the wall, 1..10 */
    int rank;                 /* where not all fit, the wall keeps those of the least rank; equal ones in order */
} PaneNeed;

#define LAYOUT_LEAST_W 20 /* below: one sentence */
#define LAYOUT_LEAST_H 6

/* WALL: as many of the N panes as fit, by rank, the focused one always among them, in order; rows of panes that fill
 * the body, each pane at least as large as it needs, or alone. SPLIT: the focused and the next that is not hidden, side
 * by side or one above the other. FOCUS: one. HIDDEN [n], or NULL: none; the focused pane shows all the same. N at most
 * LAYOUT_MOST. */
void layout_compute(Layout *out, ViewKind view, int w, int h, const PaneNeed *need, int n, int focus,
                    const bool *hidden);
int layout_hit(const Layout *l, int x, int y); /* index into place, -1 */

#endif
