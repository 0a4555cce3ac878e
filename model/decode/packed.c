#include "decode/packed.h"

#include "bug.h"
#include "mem.h"
#include "simd.h"

#include <string.h>

enum {
    PANELS = 2,                        /* at a time for a single row */
    OUTPUTS = 128 / (int)sizeof(real), /* of a panel: two vectors of 64 bytes */
    AHEAD = 16,                        /* steps that a single row asks for its weights before it needs them */
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

static int least(int a, int b) {
    return a < b ? a : b;
}

/* What a processor has decides the width of vectors, never the numbers. Three rows make 3 x 4 sums, which fit in 16
 * registers of 32 bytes with a weight and a number of x; six make 6 x 2 in those of 64. */
#define KERNEL(name) name##_plain
#define KERNEL_BYTES 32
#define KERNEL_ROWS  3
#define KERNEL_TARGET
#include "decode/packed_kernel.h"

#ifdef SIMD_TARGET_256
#define KERNEL(name)  name##_256
#define KERNEL_BYTES  32
#define KERNEL_ROWS   3
#define KERNEL_TARGET SIMD_TARGET_256
#include "decode/packed_kernel.h"

#define KERNEL(name)  name##_512
#define KERNEL_BYTES  64
#define KERNEL_ROWS   6
#define KERNEL_TARGET SIMD_TARGET_512
#include "decode/packed_kernel.h"
#endif

static int chosen = -1; /* of packed_choose; -1: the widest that there is */

static int widest(void) {
#ifdef SIMD_TARGET_256
    return simd_has_512() ? 512 : simd_has_256() ? 256 : 0;
#else
    return 0;
#endif
}

bool packed_choose(int bits) {
    bool there = bits == -1 || bits == 0 || (bits == 256 && widest() >= 256) || (bits == 512 && widest() == 512);
    if (there) chosen = bits;
    return there;
}

void packed_apply(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy) {
    int bits = chosen < 0 ? widest() : chosen;
#ifdef SIMD_TARGET_256
    if (bits == 512) apply_512(p, rows, x, ldx, y, ldy);
    if (bits == 256) apply_256(p, rows, x, ldx, y, ldy);
#endif
    if (bits == 0) apply_plain(p, rows, x, ldx, y, ldy);
}
