#include "plain_attention.h"

#include "mem.h"

#include <math.h>

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* score [T]: of one query with every key; returns the largest, -INFINITY when none is allowed. */
static double scores(int T, int dim, const MaskRule *m, int row, const double *q, const double *k, double *score) {
    double largest = -(double)INFINITY;
    for (int j = 0; j < T; j++) {
        score[j] = mask_allows(m, row, j) ? dot(q, k + (size_t)j * (size_t)dim, dim) / sqrt(dim) : -(double)INFINITY;
        if (score[j] > largest) largest = score[j];
    }
    return largest;
}

void plain_attention(int T, int dim, int dv, const MaskRule *m, const double *q, const double *k, const double *v,
                     double *y) {
    double *score = MEM_ARRAY(double, (size_t)T);
    for (int i = 0; i < T; i++, y += dv) {
        double largest = scores(T, dim, m, i, q + (size_t)i * (size_t)dim, k, score), sum = 0;
        for (int c = 0; c < dv; c++) y[c] = 0;
        if (isinf(largest)) continue;
        for (int j = 0; j < T; j++) sum += exp(score[j] - largest);
        for (int j = 0; j < T; j++) {
            double weight = exp(score[j] - largest) / sum;
            for (int c = 0; c < dv; c++) y[c] += weight * v[(size_t)j * (size_t)dv + (size_t)c];
        }
    }
    mem_free(score);
}
