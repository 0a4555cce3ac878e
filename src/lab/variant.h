/* variant: the options of lm.train that an experiment of several trainings makes from its own. Private to the
 * laboratory. */
#ifndef LAB_VARIANT_H
#define LAB_VARIANT_H

#include "option.h"

#include <stdint.h>

/* The options of lm.train with PAIRS ("arch=modern epochs=3") set; a BUG when they are refused. */
Options *variant_new(const char *pairs);
/* Sets PAIRS in O; a BUG when they are refused. */
void variant_set(Options *o, const char *pairs);
/* Takes over what FROM says of those NAMES ("d layers lr") that are set there; both have such rows. */
void variant_take(Options *o, const Options *from, const char *names);

#endif
