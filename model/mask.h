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

/* Pairs of query and key that the rule allows over T positions. */
static inline long long mask_pairs(const MaskRule *m, int T) {
    long long n = T, window = m->window > 0 && m->window < T ? m->window : T;
    long long far = (n - window) * (n - window + 1) / 2; /* too far back */
    return m->causal ? n * (n + 1) / 2 - far : n * n - far;
}

#endif
