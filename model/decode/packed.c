#include "decode/packed.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"

#include <string.h>

enum {
    VECTORS = 4, /* a panel is so many vectors wide */
    ROWS = 3,    /* rows at a time: 3 x 4 sums, a weight and a number of x fit in 16 registers */
    PANELS = 2,  /* panels at a time for a single row */
    OUTPUTS = VECTORS * SIMD_BYTES / (int)sizeof(real),
};

static int panels_of(const Packed *p) {
    return (p->out + OUTPUTS - 1) / OUTPUTS;
}

static size_t panel_size(const Packed *p) {
    return ((size_t)p->in + 1) * OUTPUTS;
}

void packed_init(Packed *p, int out, int in) {
    BUG_ON(out < 1 || in < 1);
    *p = (Packed){.in = in, .out = out};
    p->w = mem_aligned((size_t)panels_of(p) * panel_size(p), sizeof *p->w);
}

void packed_done(Packed *p) {
    mem_free(p->w);
    *p = (Packed){0};
}

void packed_set(Packed *p, int first, int rows, const real *weight, const real *bias) {
    BUG_ON(first < 0 || rows < 0 || first + rows > p->out);
    for (int r = 0; r < rows; r++, weight += p->in) {
        int o = first + r;
        real *w = p->w + (size_t)(o / OUTPUTS) * panel_size(p) + o % OUTPUTS;
        *w = bias ? bias[r] : 0;
        for (int i = 0; i < p->in; i++) w[(size_t)(i + 1) * OUTPUTS] = weight[i];
    }
}

typedef struct {
    int in;
    size_t panel; /* numbers from one panel to the next */
    const real *x;
    int ldx;
    real *y;
    int ldy, outputs; /* outputs to be stored; less than the panels have in the last tile */
} Tile;

/* ROWS rows times PANELS panels from W; both are constants where this is compiled in, so that the sums stay in
 * registers. */
SIMD_INLINE void tile(const Tile *t, int rows, int panels, const real *w) {
    SimdReal sum[ROWS][PANELS * VECTORS], weight;
    for (int v = 0; v < panels * VECTORS; v++) {
        SIMD_LOAD(weight, w + (size_t)(v / VECTORS) * t->panel + v % VECTORS * SIMD_WIDTH);
        for (int r = 0; r < rows; r++) sum[r][v] = weight;
    }
    const real *x = t->x;
    for (int i = 0; i < t->in; i++) {
        w += OUTPUTS;
        for (int v = 0; v < panels * VECTORS; v++) {
            SIMD_LOAD(weight, w + (size_t)(v / VECTORS) * t->panel + v % VECTORS * SIMD_WIDTH);
            for (int r = 0; r < rows; r++) SIMD_ADD_SCALED(sum[r][v], x[r * t->ldx + i], weight);
        }
    }
    if (t->outputs == panels * OUTPUTS) {
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < panels * VECTORS; v++) SIMD_STORE(t->y + r * t->ldy + v * SIMD_WIDTH, sum[r][v]);
    } else {
        for (int r = 0; r < rows; r++) memcpy(t->y + r * t->ldy, sum[r], (size_t)t->outputs * sizeof(real));
    }
}

static int least(int a, int b) {
    return a < b ? a : b;
}

SIMD_CLONES static void apply_one(const Packed *p, const real *x, real *y) {
    Tile t = {.in = p->in, .panel = panel_size(p), .x = x};
    int first = 0;
    for (; first + OUTPUTS < p->out; first += t.outputs) {
        t.y = y + first;
        t.outputs = least(PANELS * OUTPUTS, p->out - first);
        tile(&t, 1, PANELS, p->w + (size_t)(first / OUTPUTS) * t.panel);
    }
    if (first < p->out) {
        t.y = y + first;
        t.outputs = p->out - first;
        tile(&t, 1, 1, p->w + (size_t)(first / OUTPUTS) * t.panel);
    }
}

SIMD_CLONES static void apply_many(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy) {
    Tile t = {.in = p->in, .panel = panel_size(p), .ldx = ldx, .ldy = ldy};
    for (int first = 0; first < p->out; first += OUTPUTS) {
        const real *w = p->w + (size_t)(first / OUTPUTS) * t.panel;
        t.outputs = least(OUTPUTS, p->out - first);
        t.x = x;
        t.y = y + first;
        int left = rows;
        for (; left >= ROWS; left -= ROWS, t.x += ROWS * ldx, t.y += ROWS * ldy) tile(&t, ROWS, 1, w);
        if (left == 2) tile(&t, 2, 1, w);
        if (left == 1) tile(&t, 1, 1, w);
    }
}

void packed_apply(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy) {
    if (rows == 1)
        apply_one(p, x, y);
    else
        apply_many(p, rows, x, ldx, y, ldy);
}
