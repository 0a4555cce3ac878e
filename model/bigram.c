#include "bigram.h"

#include "mem.h"

#include <math.h>

void bigram_init(BigramCounts *c, int n) {
    *c = (BigramCounts){.n = n};
    c->count = MEM_ARRAY(double, (size_t)n *(size_t)n);
    c->row_total = MEM_ARRAY(double, (size_t)n);
}

void bigram_done(BigramCounts *c) {
    mem_free(c->count);
    mem_free(c->row_total);
    *c = (BigramCounts){0};
}

static size_t row_at(const BigramCounts *c, int a) {
    return (size_t)a * (size_t)c->n;
}

void bigram_add(BigramCounts *c, int a, int b) {
    c->count[row_at(c, a) + (size_t)b]++;
    c->row_total[a]++;
    c->total++;
}

double bigram_count_loss(const BigramCounts *c) {
    double sum = 0;
    for (int a = 0; a < c->n; a++) {
        const double *count = c->count + row_at(c, a);
        for (int b = 0; b < c->n; b++)
            if (count[b] > 0) sum -= count[b] * log(count[b] / c->row_total[a]);
    }
    return sum / c->total;
}

/* log of the sum of exp over a row. */
static double log_sum(const real *logits, int n) {
    double most = (double)-INFINITY, sum = 0;
    for (int b = 0; b < n; b++) most = fmax(most, (double)logits[b]);
    for (int b = 0; b < n; b++) sum += exp((double)logits[b] - most);
    return most + log(sum);
}

double bigram_loss(const BigramCounts *c, const real *logits, real *grad) {
    double loss = 0;
    for (int a = 0; a < c->n; a++) {
        const double *count = c->count + row_at(c, a);
        const real *z = logits + row_at(c, a);
        double all = c->row_total[a] > 0 ? log_sum(z, c->n) : 0;
        for (int b = 0; b < c->n; b++) {
            loss += count[b] > 0 ? count[b] * (all - (double)z[b]) : 0;
            if (!grad) continue;
            double p = c->row_total[a] > 0 ? exp((double)z[b] - all) : 0;
            grad[row_at(c, a) + (size_t)b] = (real)((c->row_total[a] * p - count[b]) / c->total);
        }
    }
    return loss / c->total;
}

BigramDifference bigram_compare(const BigramCounts *c, const real *logits) {
    BigramDifference d = {0, (double)NAN};
    for (int a = 0; a < c->n; a++) {
        if (c->row_total[a] == 0) continue;
        const double *count = c->count + row_at(c, a);
        const real *z = logits + row_at(c, a);
        double all = log_sum(z, c->n);
        for (int b = 0; b < c->n; b++) {
            double p = exp((double)z[b] - all);
            if (count[b] > 0)
                d.most_seen = fmax(d.most_seen, fabs(p - count[b] / c->row_total[a]));
            else
                d.least_unseen = fmin(d.least_unseen, p); /* NaN gives way */
        }
    }
    return d;
}
