/* mask: the one predicate that says whether a query sees a key. Attention uses it, the mask pane draws it. */
#ifndef MODEL_MASK_H
#define MODEL_MASK_H

#include <stdbool.h>

typedef struct {
    int window;  /* keys a query sees, itself included; 0: no window */
    bool causal; /* key position <= query position */
} MaskRule;

static inline bool mask_allows(const MaskRule *m, int query_position, int key_position) {
    if (m->causal && key_position > query_position) return false;
    return m->window == 0 || query_position - key_position < m->window;
}

#endif
