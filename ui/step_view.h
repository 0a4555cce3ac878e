/* step_view: the pictures of the step pane: the operations in the order in which they run, with the residual stream
 * beside them; the numbers of the one that the program counter stands on; what the last update changed. The words and
 * the table of tensors are step_words.c's, keys and commands pane_step.c's. */
#ifndef UI_STEP_VIEW_H
#define UI_STEP_VIEW_H

#include "draw.h"
#include "reading.h"

typedef enum { STEP_FORWARD, STEP_LOSS, STEP_BACKWARD, STEP_UPDATE, STEP_STAGES } StepStage;

typedef struct {
    StepStage stage;
    int op, tensor; /* the program counter within its stage */
    int column;     /* of the numbers; their row is the cursor's query */
    bool large;     /* the numbers alone */
} StepState;

/* What a snapshot, the cursor and the state say; indices are in range. */
typedef struct {
    const Snapshot *snapshot;
    const Table *ops, *tensors, *pass;
    int count, run; /* operations, and those before the loss */
    bool taught;    /* there are gradients */
    StepStage stage;
    int op, tensor;
    const Field *shown; /* values, going back gradients, of the operation; NULL: none */
    int row, column;
} StepSeen;

bool step_see(const PaneContext *x, StepSeen *out); /* false: nothing is known yet */
/* The program counter: the operations, the loss, the operations again from the last to the first, the tensors. */
int step_counters(const StepSeen *s);
int step_counter(const StepSeen *s);
void step_go(const StepSeen *s, int counter, StepState *state); /* COUNTER is brought into range */
const char *step_stage_name(StepStage stage);                   /* as the command spells it */
StepStage step_stage_of(const StepSeen *s, int counter);
const char *step_op_text(const StepSeen *s, int op, const char *column);
double step_op_number(const StepSeen *s, int op, const char *column); /* NaN: empty */

/* Where the parts stand; a part without room has height 0. */
typedef struct {
    Rect tabs, diagram, list, words, heat, foot, tensors;
} StepPlan;
StepPlan step_plan(const PaneContext *x, const StepSeen *s, int w, int h);

/* TEXT at the right end of W columns. */
void step_draw_right(Canvas *c, int x, int y, int w, const char *text, StyleRole role);
void step_draw_tabs(const StepSeen *s, Canvas *c, Rect r);
bool step_tab_at(Rect r, int x, StepStage *stage);
void step_draw_diagram(const StepSeen *s, Canvas *c, Rect r);
void step_draw_list(const StepSeen *s, Canvas *c, Rect r);
int step_list_at(const StepSeen *s, Rect r, int y); /* the counter of that line; -1: none */
void step_draw_heat(const StepSeen *s, Canvas *c, Rect r);
bool step_heat_at(const StepSeen *s, const Canvas *like, Rect r, int x, int y, int *row, int *col);
void step_draw_words(const PaneContext *x, const StepSeen *s, Canvas *c, Rect r);
void step_draw_foot(const StepSeen *s, Canvas *c, Rect r);
/* The tensors, the one under the program counter marked while the stage is the update. */
void step_draw_tensors(const StepSeen *s, Canvas *c, Rect r);
int step_tensor_at(const StepSeen *s, Rect r, int y); /* -1: none */

#endif
