/* beam_list: the leaves of a search as lines, for a place too small for a tree: those that compete first, the best on top. */
#ifndef UI_BEAM_LIST_H
#define UI_BEAM_LIST_H

#include "beam_view.h"

void beam_draw_list(const BeamReading *r, Canvas *c, Rect at);
int beam_list_at(const BeamReading *r, Rect at, int y); /* the node of that line; -1: none */

#endif
