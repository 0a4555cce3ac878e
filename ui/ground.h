/* ground: what the terminal says about its own background, and the theme that can be read on it.
 *
 * Terminals answer the question GROUND_ASK with "11;rgb:RRRR/GGGG/BBBB" between ESC ] and BEL or ESC \ (xterm's control
 * sequences, "Operating System Commands"); some set COLORFGBG, "foreground;background" as indexes, in the environment. */
#ifndef UI_GROUND_H
#define UI_GROUND_H

#include "style.h"

#define GROUND_ASK "\033]11;?\033\\"

typedef enum { GROUND_PART, GROUND_WHOLE, GROUND_OTHER } GroundMatch;
/* Whether the N bytes are the beginning of an answer (without its ends), a whole one, or no answer. */
GroundMatch ground_match(const char *bytes, int n);
int32_t ground_colour(const char *bytes, int n); /* of a whole answer, as 0xRRGGBB */

ThemeName ground_theme(int32_t rgb); /* dark or light */
/* What COLORFGBG says; false when it says nothing (NULL, other words). */
bool ground_hint(const char *colorfgbg, ThemeName *out);

#endif
