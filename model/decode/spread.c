#include "decode/spread.h"

#include "bug.h"
#include "cancel.h"
#include "mem.h"

#include <math.h>
#include <string.h>

enum { PIECE = 32 }; /* tokens fed to one before the other */

typedef struct {
    const Spread *s;
    int layers, d;
    real *state; /* [L x PIECE x D] of the first text's piece */
    int *seen;   /* [L] tokens of this piece that came through each layer */
    int done;    /* tokens of the pieces before */
} Sides;

static real *state_at(const Sides *g, int layer) {
    return g->state + ((size_t)layer * PIECE + (size_t)g->seen[layer]) * (size_t)g->d;
}

static void keep(void *data, int layer, int rows, const real *x) {
    Sides *g = data;
    BUG_ON(g->seen[layer] + rows > PIECE);
    memcpy(state_at(g, layer), x, (size_t)rows * (size_t)g->d * sizeof *x);
    g->seen[layer] += rows;
}

/* A NaN on one side alone is an infinite difference. */
static double largest_difference(int n, const real *a, const real *b) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        double difference = isnan(a[i]) && isnan(b[i]) ? 0 : fabs((double)a[i] - (double)b[i]);
        if (isnan(difference)) difference = a[i] == b[i] ? 0 : (double)INFINITY;
        most = fmax(most, difference);
    }
    return most;
}

static void compare(void *data, int layer, int rows, const real *x) {
    Sides *g = data;
    for (int r = 0; r < rows; r++, x += g->d) {
        double difference = largest_difference(g->d, state_at(g, layer), x);
        g->s->tell(g->s->data, layer, g->done + g->seen[layer]++, difference);
    }
}

static void forget_piece(Sides *g) {
    memset(g->seen, 0, (size_t)g->layers * sizeof *g->seen);
}

/* Two streams of one decoder; who watches changes with the text that is fed. */
static bool feed(Sides *g, Decoder *d) {
    const Spread *s = g->s;
    for (int n; g->done < s->n; g->done += n) {
        n = s->n - g->done < PIECE ? s->n - g->done : PIECE;
        forget_piece(g);
        decoder_watch(d, keep, g);
        (void)decoder_feed(d, 0, s->ids + g->done, n);
        forget_piece(g);
        decoder_watch(d, compare, g);
        (void)decoder_feed(d, 1, s->other + g->done, n);
        if (cancel_wanted()) return false;
    }
    return true;
}

/* A cache that rolls holds no more than the widest window; where none rolls, the text may be longer than the context.
 */
static int capacity_for(const Spread *s) {
    int slots = decoder_slots(s->m, s->tweak);
    return slots < model_config(s->m)->context && slots < s->n ? slots : s->n;
}

bool spread_run(const Spread *s) {
    const ModelConfig *c = model_config(s->m);
    Sides g = {.s = s,
               .layers = c->layers,
               .d = c->d,
               .state = MEM_ARRAY(real, (size_t)c->layers * PIECE * (size_t)c->d),
               .seen = MEM_ARRAY(int, (size_t)c->layers)};
    int capacity = capacity_for(s);
    Decoder *d = s->beside ? decoder_beside(s->beside, 2, capacity) : decoder_new(s->m, 2, capacity);
    decoder_set_tweak(d, s->tweak);
    bool whole = feed(&g, d);
    decoder_free(d);
    mem_free(g.state);
    mem_free(g.seen);
    return whole;
}
