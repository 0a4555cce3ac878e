/* beam_view: the picture of the beam pane: the tree of the search as the decoding clock has let it grow, the sentences
 * that compete, why it stopped, and the arithmetic of the node under the cursor. The pane itself (pane_beam.c) holds
 * the keys and the commands. */
#ifndef UI_BEAM_VIEW_H
#define UI_BEAM_VIEW_H

#include "draw_tree.h"
#include "reading.h"
#include "tree_table.h"

enum { BEAM_PATH = 64 };

typedef struct {
    int path[BEAM_PATH], depth; /* the cursor: the ids from the root; the tree may change under it. depth 0: none */
    bool no_samples, no_pruned;
} BeamState;

/* What the pane draws of a snapshot. */
typedef struct {
    const Snapshot *snapshot;
    const Table *settings, *tree, *stop, *rivals, *samples;
    TreeTable nodes;
    Tree drawn;
    char root[READING_TOKEN];
    int steps;    /* of the whole search */
    bool growing; /* the decoding clock stands between its steps */
} BeamReading;

/* False while there is no tree. The cursor is the deepest node there of its path. */
bool beam_read(const Snapshot *s, const BeamState *state, Detail detail, BeamReading *out);
void beam_read_done(BeamReading *r);

typedef struct {
    Rect tree, legend, foot; /* height 0: not drawn */
} BeamPlan;
bool beam_is_list(Detail detail, int w); /* too narrow for a tree: beam_list.h in its place */
double beam_score(const BeamReading *r, int node);
bool beam_is_shown(const BeamReading *r, int node);                               /* grown already, and not left out */
void beam_draw_number(Canvas *c, int right, int y, double value, StyleRole role); /* NaN: nothing */
BeamPlan beam_plan(const BeamReading *r, Detail detail, int w, int h);
void beam_draw(const PaneContext *x, Canvas *c);

/* Settings of the search that is shown. */
int beam_width_shown(const Snapshot *s); /* 0: not known */
bool beam_is_of_truth(const Snapshot *s);
bool beam_is_normed(const Snapshot *s);

#endif
