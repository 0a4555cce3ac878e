#include "environment.h"

#include <stdlib.h>

void environment_settle(void) {
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
    (void)setenv("OMP_NUM_THREADS", "1", 0);
}
