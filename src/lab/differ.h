/* differ: how far two arrays are apart. Private to the laboratory. */
#ifndef LAB_DIFFER_H
#define LAB_DIFFER_H

#include "real.h"

#include <stddef.h>

/* The largest |a[i] - b[i]|, 0 for none; NaN when any number is. */
double differ_most(const real *a, const real *b, size_t n);

#endif
