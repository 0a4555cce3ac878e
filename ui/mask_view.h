/* mask_view: the picture of the mask pane: where its parts stand; the map of who may look at whom, with what a method
 * works out laid over it; and below it, column under column, how far a changed word is felt in every layer. The words
 * beside them are mask_words.c's; keys and commands are pane_mask.c's. */
#ifndef UI_MASK_VIEW_H
#define UI_MASK_VIEW_H

#include "draw.h"
#include "reading.h"

typedef enum { MASK_SENTENCE, MASK_PACKED, MASK_PADDED, MASK_VIEWS } MaskView;
typedef enum { MASK_PLAIN, MASK_MASKED, MASK_LOOP, MASK_CHUNKS, MASK_METHODS } MaskMethod;

typedef struct {
    MaskView view;
    MaskMethod method; /* whose scores are laid over the map; only of the sentence */
    int row, col;      /* the cursor in the other views: what stands there is not all of the sentence */
} MaskState;

/* The parts, in cells of the pane; a part without room has height 0. */
typedef struct {
    MaskView view;
    const Field *mask; /* [rows cols] of the layer under the cursor */
    int rows, cols, row, col;
    Rect map, reach, side, foot, legend;
    int cell_w, label_w;      /* of the map and of the reach below it */
    int cell_h, reach_cell_h; /* in half rows */
} MaskPlan;

enum { MASK_HEAT_ALLOWED = 208, MASK_HEAT_IN_VAIN = 64 };

const char *mask_view_name(MaskView v);     /* sentence, packed, padded: as the command spells it */
const char *mask_method_name(MaskMethod m); /* none, masked, loop, chunks */
/* The rows of the view: table tokens, packed or padded. */
const Table *mask_rows(const Snapshot *s, MaskView v);
/* A cell of a table of whole numbers; FALLBACK where it is empty or not there. */
long long mask_number(const Snapshot *s, const char *table, long row, const char *column, long long fallback);
/* The method that is shown: none where the view is not of the sentence alone. */
MaskMethod mask_method(const MaskState *state);
/* Whether that method works out the score of a cell. */
bool mask_works_out(const PaneContext *x, const MaskPlan *p, int row, int col);

bool mask_plan(const PaneContext *x, int w, int h, MaskPlan *out); /* false: the snapshot has no mask */
bool mask_has_numbers(const PaneContext *x, const MaskPlan *p); /* cells say how many tokens back they are */
void mask_draw_map(const PaneContext *x, const MaskPlan *p, Canvas *c);
bool mask_map_hit(const PaneContext *x, const MaskPlan *p, const Canvas *like, int px, int py, int *row, int *col);
void mask_draw_reach(const PaneContext *x, const MaskPlan *p, Canvas *c);
/* The layer and position at (PX, PY) of the reach; the input above the first layer is none. */
bool mask_reach_hit(const PaneContext *x, const MaskPlan *p, const Canvas *like, int px, int py, int *layer, int *position);

void mask_draw_side(const PaneContext *x, const MaskPlan *p, Canvas *c);
void mask_draw_foot(const PaneContext *x, const MaskPlan *p, Canvas *c);
void mask_draw_legend(const PaneContext *x, const MaskPlan *p, Canvas *c);

#endif
