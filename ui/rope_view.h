/* rope_view: the pictures of the rope pane: clock hands, the product against the distance, the same two vectors further
 * on, vectors before and after. Every number comes from the tables that the pane exports. The pane itself (pane_rope.c)
 * holds the keys and the commands. */
#ifndef UI_ROPE_VIEW_H
#define UI_ROPE_VIEW_H

#include "draw.h"
#include "observe_rope.h"
#include "pane.h"

typedef struct {
    RopeFormula formula;
    double base; /* 0: the model's */
    int pairing; /* -1: the model's */
    long shift;
    bool numbers; /* the vectors number by number in place of the pictures */
    int first;    /* row of the numbers at the top */
} RopeState;

/* What is drawn and exported at one cursor; tables that are not there are NULL. */
typedef struct {
    PositionFacts facts;
    RopeLook look;
    bool turns; /* the model has RoPE */
    Table *hands, *vectors, *distance, *shift, *similarity;
} RopeSeen;

bool rope_see(const PaneContext *x, RopeSeen *out); /* false: nothing is known yet */
void rope_seen_done(RopeSeen *s);

#define ROPE_QUERY STYLE_SERIES_A /* whatever is of the query, and of the key */
#define ROPE_KEY   STYLE_SERIES_B

/* Query and key with their positions, and, at the right, what is turned how. */
void rope_draw_head(const PaneContext *x, const RopeSeen *s, Canvas *c, Rect r);
/* A face for each pair, or for some of them, evenly chosen, where not all have room. */
void rope_draw_dials(const RopeSeen *s, Canvas *c, Rect r);
/* The curve in W columns; *columns: mem_free after drawing. */
Plot rope_plot(const RopeSeen *s, int w, Series series[2], double **columns);
void rope_draw_distance(const RopeSeen *s, Canvas *c, Rect r);
void rope_draw_spark(const RopeSeen *s, Canvas *c, Rect r); /* one row */
/* Both vectors some tokens later: what each formula, and the model itself, makes of it. */
void rope_draw_shift(const RopeSeen *s, Canvas *c, Rect r);
void rope_draw_pair(const RopeSeen *s, Canvas *c, Rect r); /* the same in one or two rows */
void rope_draw_big(const RopeSeen *s, Canvas *c, Rect r);  /* the same in tall digits */
void rope_draw_strips(const RopeSeen *s, Canvas *c, Rect r);
int rope_number_rows(const RopeSeen *s);
void rope_draw_numbers(const RopeSeen *s, Canvas *c, Rect r, int first);

/* A model without RoPE: what its positions are instead. */
void rope_draw_added(const PaneContext *x, const RopeSeen *s, Canvas *c);

#endif
