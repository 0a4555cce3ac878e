#include "variant.h"

#include "bug.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

/* The word at *AT, which moves on; false: there is none. */
static bool next_word(const char **at, char *out, size_t bytes) {
    *at += strspn(*at, " ");
    size_t n = strcspn(*at, " ");
    BUG_ON(n >= bytes);
    snprintf(out, bytes, "%.*s", (int)n, *at);
    *at += n;
    return n > 0;
}

void variant_set(Options *o, const char *pairs) {
    char pair[128];
    while (next_word(&pairs, pair, sizeof pair)) {
        Status s = options_set_pair(o, pair);
        BUG_ON(!status_is_ok(&s));
    }
}

Options *variant_new(const char *pairs) {
    Options *o = run_options();
    variant_set(o, pairs);
    return o;
}

void variant_take(Options *o, const Options *from, const char *names) {
    char name[64];
    while (next_word(&names, name, sizeof name)) {
        if (!options_is_set(from, name)) continue;
        Status s = options_set(o, name, options_value(from, name));
        BUG_ON(!status_is_ok(&s)); /* the rows take the same values */
    }
}
