/* dial: a clock face of dots: a ring and hands, as fine as the terminal's glyphs are: half blocks, braille, or letters.
 */
#ifndef UI_DIAL_H
#define UI_DIAL_H

#include "canvas.h"

typedef struct {
    double angle;  /* radians, clockwise from the top; any number of turns */
    double length; /* of the radius, 0 .. 1 */
    StyleRole role;
} Hand;

/* The largest face that fits into R, in its middle. The first hand lies on top; a hand whose angle is not a number is
 * left out. Nothing is drawn where R is smaller than DIAL_LEAST_W x DIAL_LEAST_H. */
#define DIAL_LEAST_W 5
#define DIAL_LEAST_H 3
void dial_draw(Canvas *c, Rect r, const Hand *hand, int hands);

#endif
