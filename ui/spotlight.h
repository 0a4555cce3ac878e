/* spotlight: all but what is talked about goes dim: a pane, or the rows of it that the cursor is on. Works on the finished
 * cells, so it knows no pane: the rows are those with an arrow or with brackets on heat, else with something in the
 * cursor's style; and what was drawn with canvas_light stays wherever it is.
 *
 * What is dim has no colours and no weight, and heat is a ramp of glyphs. Where dim looks like any other text (few colours, none)
 * letters become dots, so that the shape stays and the words go. */
#ifndef UI_SPOTLIGHT_H
#define UI_SPOTLIGHT_H

#include "canvas.h"

typedef enum { SPOTLIGHT_OFF, SPOTLIGHT_PANE, SPOTLIGHT_CURSOR, SPOTLIGHTS } Spotlight;

bool spotlight_finds(Canvas *c, Rect pane); /* whether a cursor shows in it */
/* PANE: the rectangle of the pane that is talked about, its frame included. */
void spotlight_dim(Canvas *c, const StyleSheet *style, Spotlight light, Rect pane);

#endif
