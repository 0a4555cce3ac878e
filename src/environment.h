/* environment: what a library reads before main begins. */
#ifndef SRC_ENVIRONMENT_H
#define SRC_ENVIRONMENT_H

/* OpenBLAS makes its threads when it is loaded, and they spin for a tenth of a second before they sleep; its OpenMP
 * builds ask for the number anew at each call. Ours are the only threads, so unless the user has said how many, the
 * program begins once more in the same process with OPENBLAS_NUM_THREADS=1 (and OMP_NUM_THREADS=1). Call it first. It
 * returns when there is nothing to do, or when it cannot be done: then the threads stay and sleep. (A tool that loses a
 * program when it begins anew, as valgrind does, wants the variable set by hand.) */
void environment_settle(char **argv);

#endif
