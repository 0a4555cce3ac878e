#include "expect.h"

#include "gradient.h"

#include "mem.h"

#include <math.h>
#include <string.h>

static double loss_at(Tape *t, Params *p, const Batch *b, GraphBuilder build, const void *context) {
    tape_begin(t, p, b, 7, 3);
    Vid loss = build(t, context);
    tape_forward(t);
    return tape_scalar(t, loss);
}

enum { EVERY = EXPECT_SANITIZER ? 13 : 1 };

/* Fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. */
static double difference(Tape *t, double h, Params *p, const Batch *b, GraphBuilder build, const void *context,
                         size_t i) {
    const double at[4] = {1, -1, 2, -2};
    real x = p->x[i];
    double f[4];
    for (int k = 0; k < 4; k++) {
        p->x[i] = x + (real)(at[k] * h);
        f[k] = loss_at(t, p, b, build, context);
    }
    p->x[i] = x;
    return (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
}

GradientCheck gradient_check(TapeMode mode, double step, Params *p, const Batch *b, GraphBuilder build,
                             const void *context) {
    static size_t turn;
    size_t first = turn++ % EVERY;
    GradientCheck c = {0};
    Tape *t = tape_new(mode);
    real *g = MEM_ARRAY(real, p->count), *over = MEM_ARRAY(real, p->count);
    tape_begin(t, p, b, 7, 3);
    Vid loss = build(t, context);
    tape_forward(t);
    tape_backward(t, loss, g);
    for (size_t i = 0; i < p->count; i++) over[i] = (real)1e30;
    tape_backward_over(t, loss, over);
    double wrong = 0, whole = 0;
    for (int s = 0; s < p->slices; s++) {
        const Slice *slice = &p->slice[s];
        for (size_t i = slice->at; i < slice->at + slice_count(slice); i++) {
            c.over = fmax(c.over, fabs((double)(g[i] - over[i])));
            if (slice->frozen) {
                c.frozen = fmax(c.frozen, fabs((double)g[i]));
                continue;
            }
            if (i % EVERY != first) continue;
            double n = difference(t, step, p, b, build, context, i);
            wrong += ((double)g[i] - n) * ((double)g[i] - n);
            whole += n * n;
        }
    }
    c.norm = sqrt(whole);
    c.error = whole > 0 ? sqrt(wrong / whole) : wrong > 0 ? 1 : 0;
    mem_free(g);
    mem_free(over);
    tape_free(t);
    return c;
}
