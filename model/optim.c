#include "optim.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <math.h>
#include <string.h>

OptimConfig optim_defaults(void) {
    return (OptimConfig){.kind = OPTIM_ADAMW,
                         .lr = 3e-3,
                         .lr_min = 3e-4,
                         .schedule = SCHEDULE_COSINE,
                         .beta1 = .9,
                         .beta2 = .999,
                         .eps = 1e-8};
}

void optim_init(Optim *o, const OptimConfig *config, size_t count) {
    *o = (Optim){.config = *config, .count = count};
    o->m = mem_aligned(count, sizeof *o->m);
    o->v = mem_aligned(count, sizeof *o->v);
}

void optim_done(Optim *o) {
    mem_free(o->m);
    mem_free(o->v);
    *o = (Optim){0};
}

double optim_rate(const OptimConfig *c, long step, long steps) {
    if (step < c->warmup) return c->lr * (double)(step + 1) / (double)c->warmup;
    if (c->schedule == SCHEDULE_CONSTANT || steps <= c->warmup) return c->lr;
    double share = (double)(step - c->warmup) / (double)(steps - c->warmup);
    if (share > 1) share = 1;
    if (c->schedule == SCHEDULE_LINEAR) return c->lr + (c->lr_min - c->lr) * share;
    return c->lr_min + (c->lr - c->lr_min) * 0.5 * (1 + cos(3.14159265358979323846 * share));
}

/* In double and in eight sums: exact to far more digits than the numbers have, and the same for every machine. */
SIMD_CLONES static double sum_of_squares(size_t n, const real *x) {
    enum { LANES = 8 };
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int c = 0; c < LANES; c++) lane[c] += (double)x[i + c] * (double)x[i + c];
    for (; i < n; i++) lane[0] += (double)x[i] * (double)x[i];
    for (int c = 0; c < LANES; c++) sum += lane[c];
    return sum;
}

double optim_squares(const Params *p, int slice, const real *grad) {
    const Slice *s = &p->slice[slice];
    return s->frozen ? 0 : sum_of_squares(slice_count(s), grad + s->at);
}

double optim_norm(const Params *p, const real *grad) {
    double sum = 0;
    for (int i = 0; i < p->slices; i++) sum += optim_squares(p, i, grad);
    return sqrt(sum);
}

typedef struct {
    real beta1, rest1, beta2, rest2, eps; /* rest = 1 - beta, from double: in float 1 - .999 is off by 5e-5 of itself */
    real clip;                            /* factor for the gradient */
    real step, root, shrink;              /* rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t), 1 - rate * decay */
} AdamStep;

/* m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2,  x = shrink x - step m / (sqrt(v) root + eps) */
SIMD_CLONES static void adam_slice(size_t n, const AdamStep *a, const real *g, real *m, real *v, real *x) {
    real beta1 = a->beta1, beta2 = a->beta2, rest1 = a->rest1, rest2 = a->rest2;
    real eps = a->eps, clip = a->clip, step = a->step, root = a->root, shrink = a->shrink;
    for (size_t i = 0; i < n; i++) {
        real gi = g[i] * clip;
        real mi = beta1 * m[i] + rest1 * gi, vi = beta2 * v[i] + rest2 * gi * gi;
        m[i] = mi;
        v[i] = vi;
        x[i] = shrink * x[i] - step * mi / (scalar_sqrt(vi) * root + eps);
    }
}

typedef struct {
    real momentum, clip, rate, decay;
} SgdStep;

/* m = momentum m + (g + decay x),  x = x - rate m */
SIMD_CLONES static void sgd_slice(size_t n, const SgdStep *s, const real *g, real *m, real *x) {
    real momentum = s->momentum, clip = s->clip, rate = s->rate, decay = s->decay;
    for (size_t i = 0; i < n; i++) {
        real mi = momentum * m[i] + (g[i] * clip + decay * x[i]);
        m[i] = mi;
        x[i] -= rate * mi;
    }
}

/* Parameters [from, to) of slice S. */
static void update_slice(const Update *u, const Slice *s, size_t from, size_t to) {
    const Optim *o = u->optim;
    const OptimConfig *c = &o->config;
    size_t n = to - from;
    double decay = s->decay ? c->weight_decay : 0, rate = u->rate * s->rate;
    if (c->kind == OPTIM_SGD) {
        SgdStep step = {(real)c->momentum, (real)u->clip, (real)rate, (real)decay};
        sgd_slice(n, &step, u->grad + from, o->m + from, u->params->x + from);
        return;
    }
    double t = (double)o->updates;
    AdamStep step = {.beta1 = (real)c->beta1,
                     .rest1 = (real)(1 - c->beta1),
                     .beta2 = (real)c->beta2,
                     .rest2 = (real)(1 - c->beta2),
                     .eps = (real)c->eps,
                     .clip = (real)u->clip,
                     .step = (real)(rate / (1 - pow(c->beta1, t))),
                     .root = (real)(1 / sqrt(1 - pow(c->beta2, t))),
                     .shrink = (real)(1 - rate * decay)};
    adam_slice(n, &step, u->grad + from, o->m + from, o->v + from, u->params->x + from);
}

double optim_clip_factor(const OptimConfig *c, double norm) {
    return c->clip > 0 && norm > c->clip ? c->clip / (norm + 1e-6) : 1;
}

Update optim_begin(Optim *o, Params *p, const real *grad, double norm, double rate) {
    BUG_ON(o->count != p->count);
    o->updates++;
    return (Update){.optim = o, .params = p, .grad = grad, .rate = rate, .clip = optim_clip_factor(&o->config, norm)};
}

/* Stretch by stretch, so that what was kept is still at hand when it changes. */
void optim_apply(const Update *u, size_t from, size_t to) {
    const Params *p = u->params;
    for (int i = 0; i < p->slices; i++) {
        const Slice *s = &p->slice[i];
        size_t end = s->at + slice_count(s);
        if (end <= from || s->at >= to) continue;
        size_t first = s->at > from ? s->at : from, last = end < to ? end : to;
        if (u->before) memcpy(u->before + first, p->x + first, (last - first) * sizeof *p->x);
        if (!s->frozen) update_slice(u, s, first, last);
    }
}

double optim_update(Optim *o, Params *p, const real *grad, double rate) {
    double norm = optim_norm(p, grad);
    Update u = optim_begin(o, p, grad, norm, rate);
    optim_apply(&u, 0, p->count);
    return norm;
}
