/* rope_options: what the experiments on rotary positions share: base= and how it and d= are checked. Private to the
 * laboratory. */
#ifndef LAB_ROPE_OPTIONS_H
#define LAB_ROPE_OPTIONS_H

#include "option.h"
#include "rotary.h"

#define ROPE_PI       3.14159265358979323846
#define ROPE_FARTHEST 1e9 /* the largest position */

extern const Option rope_base_rows[]; /* base= */
/* d= must be even. */
Status rope_check_width(const Options *o) STATUS_CHECKED;

#endif
