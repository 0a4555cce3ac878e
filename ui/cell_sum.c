#include "cell_sum.h"

#include <math.h>

static double dot(const Field *q, const Field *k, const CellSum *c, int key) {
    double sum = 0;
    for (int i = 0; i < c->head_dim; i++) {
        sum += (double)field_at(q, c->head, c->query, i, 0) * (double)field_at(k, c->kv_head, key, i, 0);
    }
    return sum;
}

/* The row as the model computed it: what entered the softmax, and what came out. */
static void add_row(const Field *masked, const Field *weights, CellSum *c) {
    c->largest = -(double)INFINITY;
    for (int j = 0; j < c->tokens; j++) {
        double x = (double)field_at(masked, c->head, c->query, j, 0);
        if (!isinf(x)) c->allowed++;
        if (x > c->largest) c->largest = x;
    }
    for (int j = 0; j < c->tokens; j++) {
        double x = (double)field_at(masked, c->head, c->query, j, 0),
               w = (double)field_at(weights, c->head, c->query, j, 0);
        if (!isinf(x)) c->denominator += exp(x - c->largest);
        c->row_sum += w;
        if (w > 0) c->entropy -= w * log(w);
    }
    c->numerator = c->masked ? 0 : exp(c->entered - c->largest);
}

/* What enters the softmax for one key, in double. */
static double entering(const Field *q, const Field *k, const CellSum *c, int key) {
    double scaled = dot(q, k, c, key) / sqrt((double)c->head_dim);
    return c->cap > 0 ? c->cap * tanh(scaled / c->cap) : scaled;
}

/* The weight from nothing but q, k, the cap, and which keys are hidden. */
static double again(const Field *q, const Field *k, const Field *masked, const CellSum *c) {
    double largest = -(double)INFINITY, sum = 0;
    for (int j = 0; j < c->tokens; j++) {
        if (isinf(field_at(masked, c->head, c->query, j, 0))) continue;
        largest = fmax(largest, entering(q, k, c, j));
    }
    for (int j = 0; j < c->tokens; j++) {
        if (isinf(field_at(masked, c->head, c->query, j, 0))) continue;
        sum += exp(entering(q, k, c, j) - largest);
    }
    return c->masked ? 0 : exp(entering(q, k, c, c->key) - largest) / sum;
}

bool cell_sum(const Snapshot *s, const Cursor *at, CellSum *out) {
    int layers, heads, tokens;
    if (!reading_attention(s, &layers, &heads, &tokens)) return false;
    const Field *q = snapshot_field(s, "attention.%d.query", at->layer),
                *k = snapshot_field(s, "attention.%d.key", at->layer);
    const Field *scores = snapshot_field(s, "attention.%d.scores", at->layer),
                *scaled = snapshot_field(s, "attention.%d.scaled", at->layer);
    const Field *masked = snapshot_field(s, "attention.%d.masked", at->layer),
                *weights = snapshot_field(s, "attention.%d.weights", at->layer);
    if (!q || !k || !scores || !scaled || !masked || !weights) return false;
    if (at->head >= heads || at->query >= tokens || at->key >= tokens) return false;
    CellSum c = {.layer = at->layer, .head = at->head, .query = at->query, .key = at->key, .tokens = tokens};
    c.kv_head = c.head / (heads / k->dim[0]);
    c.head_dim = q->dim[2];
    c.dot = (double)field_at(scores, c.head, c.query, c.key, 0);
    c.scaled = (double)field_at(scaled, c.head, c.query, c.key, 0);
    c.entered = (double)field_at(masked, c.head, c.query, c.key, 0);
    c.weight = (double)field_at(weights, c.head, c.query, c.key, 0);
    c.masked = isinf(c.entered);
    const Field *cap = snapshot_field(s, "attention.softcap");
    c.cap = cap ? (double)field_at(cap, 0, 0, 0, 0) : 0;
    add_row(masked, weights, &c);
    c.again = again(q, k, masked, &c);
    *out = c;
    return true;
}

CellTerm cell_sum_term(const Snapshot *s, const CellSum *c, int i) {
    const Field *q = snapshot_field(s, "attention.%d.query", c->layer),
                *k = snapshot_field(s, "attention.%d.key", c->layer);
    CellTerm t = {.so_far = 0};
    for (int j = 0; j <= i; j++) {
        t.q = (double)field_at(q, c->head, c->query, j, 0);
        t.k = (double)field_at(k, c->kv_head, c->key, j, 0);
        t.product = t.q * t.k;
        t.so_far += t.product;
    }
    return t;
}
