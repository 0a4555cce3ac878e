#include "grouping.h"

#include "bug.h"

#include <string.h>

/* Whether a slice holds K or V heads, one after the other, head_dim rows (or numbers of a bias) each. */
static bool has_heads(const char *name) {
    static const char *const parts[] = {".attention.key.weight", ".attention.value.weight", ".attention.key.bias",
                                        ".attention.value.bias"};
    for (int i = 0; i < 4; i++) {
        const char *at = strstr(name, parts[i]);
        if (at && at[strlen(parts[i])] == '\0') return true;
    }
    return false;
}

/* TO [groups x n] becomes the mean of every GROUP heads of FROM [groups * group x n]. */
static void take_means(real *to, const real *from, int groups, int group, size_t n) {
    for (int g = 0; g < groups; g++)
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (int i = 0; i < group; i++) sum += (double)from[((size_t)(g * group + i)) * n + k];
            to[(size_t)g * n + k] = (real)(sum / group);
        }
}

Model *grouping_mean(const Model *m, int kv_heads) {
    ModelConfig c = *model_config(m);
    int group = c.kv_heads / kv_heads;
    BUG_ON(c.kv_heads % kv_heads != 0);
    c.kv_heads = kv_heads;
    Model *out = model_new(&c, 0);
    const Params *from = model_read_params(m);
    Params *to = model_params(out);
    BUG_ON(from->slices != to->slices);
    for (int i = 0; i < to->slices; i++) {
        const Slice *a = &from->slice[i], *b = &to->slice[i];
        if (has_heads(b->name)) {
            take_means(to->x + b->at, from->x + a->at, kv_heads, group, slice_count(b) / (size_t)kv_heads);
        } else {
            memcpy(to->x + b->at, from->x + a->at, slice_count(b) * sizeof *to->x);
        }
    }
    return out;
}
