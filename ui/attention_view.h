/* attention_view: the picture of the attention pane: where its parts stand, and how each is drawn from the snapshot.
 * The pane itself (pane_attention.c) holds the keys and the commands. */
#ifndef UI_ATTENTION_VIEW_H
#define UI_ATTENTION_VIEW_H

#include "cell_sum.h"
#include "draw.h"

typedef enum {
    STAGE_SCORES,
    STAGE_SCALED,
    STAGE_SOFTCAPPED,
    STAGE_MASKED,
    STAGE_WEIGHTS,
    STAGE_MIX,
    STAGE_COUNT
} AttentionStage;

typedef struct {
    AttentionStage stage;
    bool per_row;  /* each row by its own largest value */
    bool terms;    /* the terms of q·k in place of the map */
    bool blocks;   /* all tokens at once, several to a cell where there are more than cells */
    int dimension; /* of the mix stage: the column under the cursor */
} AttentionState;

/* The parts, in cells of the pane; a part without room has height 0. */
typedef struct {
    int layers, heads, tokens;
    AttentionStage stage;
    int rows, cols; /* of the large map */
    int block;      /* tokens along an edge of one of its cells: the largest value of a block shows */
    Rect map, sum, maps, looks, foot, stages;
    int cell_w, cell_h; /* of the large map; cell_h in half rows */
    int label_w;
    int small, zoom; /* edge of a small map in values (longer prompts are pooled), columns and half rows of one */
    int first_row, first_col; /* scrolled */
} AttentionPlan;

/* NULL: the snapshot has none. */
const Field *attention_stage_field(const Snapshot *s, int layer, AttentionStage stage);
const char *attention_stage_name(AttentionStage stage); /* as the command spells it */
/* The stage shown: the one asked for, or the nearest that this model has. */
AttentionStage attention_stage(const Snapshot *s, const AttentionState *state);

bool attention_plan(const PaneContext *x, int w, int h, AttentionPlan *out); /* false: the snapshot has no attention */
/* The value that has the strongest colour where the whole map has one scale. */
double attention_map_scale(const PaneContext *x, const AttentionPlan *p);
void attention_draw_map(const PaneContext *x, const AttentionPlan *p, Canvas *c);
/* The value of the large map at (PX, PY) of a pane that is drawn to a canvas LIKE this. */
bool attention_map_hit(const PaneContext *x, const AttentionPlan *p, const Canvas *like, int px, int py, int *row, int *col);
void attention_draw_maps(const PaneContext *x, const AttentionPlan *p, Canvas *c);
void attention_draw_looks(const PaneContext *x, const AttentionPlan *p, Canvas *c); /* the key that each head looks at most */
/* The head whose small map is at (x, y). */
bool attention_maps_hit(const AttentionPlan *p, const Cursor *cursor, int x, int y, int *layer, int *head);
void attention_draw_sum(const PaneContext *x, const AttentionPlan *p, Canvas *c);
void attention_draw_terms(const PaneContext *x, const AttentionPlan *p, Canvas *c);
void attention_draw_foot(const PaneContext *x, const AttentionPlan *p, Canvas *c);
void attention_draw_stages(const PaneContext *x, const AttentionPlan *p, Canvas *c);

#endif
