#include "mix_sum.h"

bool mix_sum(const Snapshot *s, const Cursor *at, int dimension, MixSum *out) {
    int layers, heads, tokens;
    if (!reading_attention(s, &layers, &heads, &tokens)) return false;
    const Field *mix = snapshot_field(s, "attention.%d.mix", at->layer),
                *value = snapshot_field(s, "attention.%d.value", at->layer),
                *weights = snapshot_field(s, "attention.%d.weights", at->layer);
    if (!mix || !value || !weights || at->head >= heads || at->query >= tokens) return false;
    if (dimension < 0 || dimension >= mix->dim[2]) return false;
    *out = (MixSum){.layer = at->layer,
                    .head = at->head,
                    .kv_head = at->head / (heads / value->dim[0]),
                    .query = at->query,
                    .dimension = dimension,
                    .tokens = tokens,
                    .mix = (double)field_at(mix, at->head, at->query, dimension, 0)};
    out->again = mix_sum_term(s, out, tokens - 1).so_far;
    return true;
}

MixTerm mix_sum_term(const Snapshot *s, const MixSum *m, int j) {
    const Field *value = snapshot_field(s, "attention.%d.value", m->layer),
                *weights = snapshot_field(s, "attention.%d.weights", m->layer);
    MixTerm t = {.so_far = 0};
    for (int i = 0; i <= j; i++) {
        t.weight = (double)field_at(weights, m->head, m->query, i, 0);
        t.value = (double)field_at(value, m->kv_head, i, m->dimension, 0);
        t.product = t.weight * t.value;
        t.so_far += t.product;
    }
    return t;
}
