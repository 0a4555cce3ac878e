#include "cancel.h"

#include <stddef.h>

static _Thread_local const atomic_bool *lent;

const atomic_bool *cancel_lend(const atomic_bool *flag) {
    const atomic_bool *before = lent;
    lent = flag;
    return before;
}

bool cancel_wanted(void) {
    return lent != NULL && atomic_load_explicit(lent, memory_order_relaxed);
}
