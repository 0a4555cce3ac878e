/* gradient: compares the gradient that a graph gives with central differences, over every parameter, in double. Under a
 * sanitizer, which asks what memory is touched and not whether a number is right, over one in thirteen, by turns. */
#ifndef TESTS_GRADIENT_H
#define TESTS_GRADIENT_H

#include "tape.h"

/* Records a graph on T (already begun) and returns its loss [1 x 1]. */
typedef Vid (*GraphBuilder)(Tape *t, const void *context);

typedef struct {
    double error;  /* |g - n| / |n| over the whole gradient */
    double norm;   /* |n| */
    double frozen; /* largest number written to a frozen slice's gradient */
    double over;   /* largest difference between tape_backward into zeros and tape_backward_over into rubbish */
} GradientCheck;

#define GRADIENT_SMOOTH 1e-4 /* steps of the difference: rounding is small, curvature is of fourth order */
#define GRADIENT_KINKED 1e-6 /* relu: hardly any number crosses its kink within a step */

GradientCheck gradient_check(TapeMode mode, double step, Params *p, const Batch *b, GraphBuilder build,
                             const void *context);

#endif
