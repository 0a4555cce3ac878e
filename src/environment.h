/* environment: what libraries read when they are loaded. */
#ifndef SRC_ENVIRONMENT_H
#define SRC_ENVIRONMENT_H

/* OpenBLAS makes its threads when it is loaded, and they spin for a tenth of a second before they sleep; its OpenMP
 * builds ask for the number anew at each call. Ours are the only threads, so unless the user has said how many,
 * OPENBLAS_NUM_THREADS and OMP_NUM_THREADS become 1. The library is loaded later (blas.h). Call it before there is
 * another thread. */
void environment_settle(void);

#endif
