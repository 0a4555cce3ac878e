/* real: the number type of the engine: float, or double with -DLANTERN_DOUBLE (gradient tests; a whole build too). */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#ifdef LANTERN_DOUBLE
typedef double real;
#define REAL_IS_DOUBLE 1
#else
typedef float real;
#define REAL_IS_DOUBLE 0
#endif

#endif
