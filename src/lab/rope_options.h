/* rope_options: what the experiments on rotary positions share: base=, scaling= and how they and d= are
 * checked. Private to the laboratory. */
#ifndef LAB_ROPE_OPTIONS_H
#define LAB_ROPE_OPTIONS_H

#include "option.h"
#include "rotary.h"

#define ROPE_PI       3.14159265358979323846
#define ROPE_FARTHEST 1e9 /* the largest position */

extern const Option rope_base_rows[]; /* base=, scaling= */
Status rope_check_scaling(const Options *o) STATUS_CHECKED;
/* With base= and scaling=, which passed. */
void rope_options_init(Rotary *r, const Options *o, int d, Pairing pairing);
/* d= must be even; scaling= as well. */
Status rope_check_width(const Options *o) STATUS_CHECKED;

#endif
