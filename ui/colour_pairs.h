/* colour_pairs: numbers for the pairs of colours that were used so far: 1, 2, 3 ..., in their order. Knows no curses.
 */
#ifndef UI_COLOUR_PAIRS_H
#define UI_COLOUR_PAIRS_H

#include <stdint.h>

typedef struct {
    int32_t fg, bg;
    int pair; /* 0: the slot is free */
} PairSlot;

typedef struct {
    PairSlot *slot;  /* [room] by hash; what does not find its place goes on to the next free one */
    int count, room; /* room: a power of two, or 0 */
} ColourPairs;

void colour_pairs_done(ColourPairs *p);
int colour_pairs_find(const ColourPairs *p, int32_t fg, int32_t bg); /* its number; 0: it has none */
int colour_pairs_add(ColourPairs *p, int32_t fg, int32_t bg);        /* a pair that has none: the number that it gets */

#endif
