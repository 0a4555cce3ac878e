/* packed_kernel: the product of packed.h, written once and included by packed.c for each width of vectors: KERNEL_BYTES
 * of a vector, KERNEL_TARGET the function attribute that allows it, KERNEL_ROWS rows at a time, KERNEL(name) the name
 * with the width in it. No guard. All widths that fuse products and sums give the same bits. */

typedef real KERNEL(Vector) SIMD_VECTOR(KERNEL_BYTES);
enum { KERNEL(WIDTH) = KERNEL_BYTES / sizeof(real), KERNEL(VECTORS) = OUTPUTS / KERNEL(WIDTH) /* of a panel */ };

/* Asks for what comes AHEAD steps later, behind the end of the panels in the next ones: short streams of a small matrix
 * would else wait at each beginning. */
KERNEL_TARGET SIMD_INLINE void KERNEL(ask)(const Tile *t, int panels, int i, const real *w) {
    const real *ahead = w + AHEAD * OUTPUTS + (i + AHEAD >= t->in ? (size_t)(panels - 1) * t->panel : 0);
    for (int p = 0; p < panels; p++)
        for (int line = 0; line < OUTPUTS; line += 64 / (int)sizeof(real))
            SIMD_PREFETCH(ahead + (size_t)p * t->panel + line);
}

/* ROWS rows times PANELS panels from W; both are constants where this is compiled in, so that the sums stay in
 * registers. */
KERNEL_TARGET SIMD_INLINE void KERNEL(tile)(const Tile *t, int rows, int panels, const real *w) {
    KERNEL(Vector) sum[KERNEL_ROWS][PANELS * KERNEL(VECTORS)], weight;
    for (int v = 0; v < panels * KERNEL(VECTORS); v++) {
        memcpy(&weight, w + (size_t)(v / KERNEL(VECTORS)) * t->panel + v % KERNEL(VECTORS) * KERNEL(WIDTH),
               sizeof weight);
        for (int r = 0; r < rows; r++) sum[r][v] = weight;
    }
    const real *x = t->x;
    for (int i = 0; i < t->in; i++) {
        w += OUTPUTS;
        if (rows == 1) KERNEL(ask)(t, panels, i, w);
        for (int v = 0; v < panels * KERNEL(VECTORS); v++) {
            memcpy(&weight, w + (size_t)(v / KERNEL(VECTORS)) * t->panel + v % KERNEL(VECTORS) * KERNEL(WIDTH),
                   sizeof weight);
            for (int r = 0; r < rows; r++) sum[r][v] += x[r * t->ldx + i] * weight;
        }
    }
    if (t->outputs == panels * OUTPUTS) {
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < panels * KERNEL(VECTORS); v++)
                memcpy(t->y + r * t->ldy + v * KERNEL(WIDTH), &sum[r][v], sizeof sum[r][v]);
    } else {
        for (int r = 0; r < rows; r++) memcpy(t->y + r * t->ldy, sum[r], (size_t)t->outputs * sizeof(real));
    }
}

KERNEL_TARGET static void KERNEL(apply_one)(const Packed *p, const real *x, real *y) {
    Tile t = {.in = p->in, .panel = panel_size(p), .x = x};
    int first = 0;
    for (; first + OUTPUTS < p->out; first += t.outputs) {
        t.y = y + first;
        t.outputs = least(PANELS * OUTPUTS, p->out - first);
        KERNEL(tile)(&t, 1, PANELS, p->w + (size_t)(first / OUTPUTS) * t.panel);
    }
    if (first < p->out) {
        t.y = y + first;
        t.outputs = p->out - first;
        KERNEL(tile)(&t, 1, 1, p->w + (size_t)(first / OUTPUTS) * t.panel);
    }
}

/* The rows that are left, fewer than KERNEL_ROWS. */
KERNEL_TARGET SIMD_INLINE void KERNEL(rest)(const Tile *t, int rows, const real *w) {
    switch (rows) {
    case 1:
        KERNEL(tile)(t, 1, 1, w);
        break;
    case 2:
        KERNEL(tile)(t, 2, 1, w);
        break;
#if KERNEL_ROWS > 3
    case 3:
        KERNEL(tile)(t, 3, 1, w);
        break;
    case 4:
        KERNEL(tile)(t, 4, 1, w);
        break;
    case 5:
        KERNEL(tile)(t, 5, 1, w);
        break;
#endif
    default:
        break;
    }
}

KERNEL_TARGET static void KERNEL(apply_many)(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy) {
    Tile t = {.in = p->in, .panel = panel_size(p), .ldx = ldx, .ldy = ldy};
    for (int first = 0; first < p->out; first += OUTPUTS) {
        const real *w = p->w + (size_t)(first / OUTPUTS) * t.panel;
        t.outputs = least(OUTPUTS, p->out - first);
        t.x = x;
        t.y = y + first;
        int left = rows;
        for (; left >= KERNEL_ROWS; left -= KERNEL_ROWS, t.x += KERNEL_ROWS * ldx, t.y += KERNEL_ROWS * ldy)
            KERNEL(tile)(&t, KERNEL_ROWS, 1, w);
        KERNEL(rest)(&t, left, w);
    }
}

KERNEL_TARGET static void KERNEL(apply)(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy) {
    if (rows == 1)
        KERNEL(apply_one)(p, x, y);
    else
        KERNEL(apply_many)(p, rows, x, ldx, y, ldy);
}

#undef KERNEL
#undef KERNEL_BYTES
#undef KERNEL_ROWS
#undef KERNEL_TARGET
