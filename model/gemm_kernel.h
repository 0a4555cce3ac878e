/* gemm_kernel: C (+)= A B, written once and included by gemm.c for each width of vectors: KERNEL_BYTES of a vector,
 * KERNEL_ROWS rows at a time, KERNEL_TARGET the function attribute that allows it, KERNEL(name) the name with the width
 * in it. No guard.
 *
 * C is made in blocks of KERNEL_ROWS rows and two vectors that stay in registers while k runs; B comes in panels of two
 * vectors' width. Every number of C is summed in the order of k, whatever the number of rows and columns: the rows of a
 * product do not depend on how many there are. */

typedef real KERNEL(Vector) SIMD_VECTOR(KERNEL_BYTES);
enum { KERNEL(WIDTH) = KERNEL_BYTES / sizeof(real), KERNEL(PANEL) = 2 * KERNEL(WIDTH) };

/* KERNEL(name): ROWS rows a, a + row, ... against N vectors of a panel, from and to c, c + ldc, ... EACH(f) is f for
 * every row: f(r, third, of), where third is the nearest third row and of how many rows further it lies; so only those
 * pointers count up with k. Each sum is a variable of its own: an array would go through memory. */
#define ZERO_1(r, third, of) KERNEL(Vector) s##r##_0 = {0};
#define ZERO_2(r, third, of) KERNEL(Vector) s##r##_0 = {0}, s##r##_1 = {0};
#define LOAD_1               memcpy(&b0, b, KERNEL_BYTES);
#define LOAD_2               memcpy(&b0, b, KERNEL_BYTES), memcpy(&b1, b + KERNEL(WIDTH), KERNEL_BYTES);
#define STEP_1(r, third, of) s##r##_0 += third[(of)*row] * b0;
#define STEP_2(r, third, of) x = third[(of)*row], s##r##_0 += x * b0, s##r##_1 += x * b1;
#define TAKE_1(r, third, of) memcpy(&s##r##_0, c + r * ldc, KERNEL_BYTES);
#define TAKE_2(r, third, of) TAKE_1(r, third, of) memcpy(&s##r##_1, c + r * ldc + KERNEL(WIDTH), KERNEL_BYTES);
#define GIVE_1(r, third, of) memcpy(c + r * ldc, &s##r##_0, KERNEL_BYTES);
#define GIVE_2(r, third, of) GIVE_1(r, third, of) memcpy(c + r * ldc + KERNEL(WIDTH), &s##r##_1, KERNEL_BYTES);

#define EACH_1(f)  f(0, a, 0)
#define EACH_2(f)  EACH_1(f) f(1, a, 1)
#define EACH_4(f)  EACH_2(f) f(2, a, 2) f(3, a3, 0)
#define EACH_6(f)  EACH_4(f) f(4, a3, 1) f(5, a3, 2)
#define EACH_12(f) EACH_6(f) f(6, a6, 0) f(7, a6, 1) f(8, a6, 2) f(9, a9, 0) f(10, a9, 1) f(11, a9, 2)

#define BLOCK(name, rows, N)                                                                                           \
    KERNEL_TARGET static void KERNEL(name)(const real *a, ptrdiff_t row, ptrdiff_t step, const real *b, ptrdiff_t ldb, \
                                           int k, bool add, real *c, ptrdiff_t ldc) {                                  \
        const real *a3 = a + (rows > 3 ? 3 * row : 0), *a6 = a + (rows > 6 ? 6 * row : 0);                             \
        const real *a9 = a + (rows > 9 ? 9 * row : 0);                                                                 \
        KERNEL(Vector) b0, b1 = {0};                                                                                   \
        real x = 0;                                                                                                    \
        EACH_##rows(ZERO_##N);                                                                                         \
        if (add) {                                                                                                     \
            EACH_##rows(TAKE_##N);                                                                                     \
        }                                                                                                              \
        for (int i = 0; i < k; i++, b += ldb, a += step, a3 += step, a6 += step, a9 += step) {                         \
            LOAD_##N;                                                                                                  \
            EACH_##rows(STEP_##N);                                                                                     \
        }                                                                                                              \
        EACH_##rows(GIVE_##N);                                                                                         \
        (void)a3, (void)a6, (void)a9, (void)b1, (void)x;                                                               \
    }
BLOCK(one_1, 1, 1)
BLOCK(one_2, 1, 2)
BLOCK(two_1, 2, 1)
BLOCK(two_2, 2, 2)
BLOCK(four_1, 4, 1)
BLOCK(four_2, 4, 2)
#if KERNEL_ROWS == 12
BLOCK(most_1, 12, 1)
BLOCK(most_2, 12, 2)
#else
BLOCK(most_1, 6, 1)
BLOCK(most_2, 6, 2)
#endif

/* panel [k x PANEL] = columns first .. of B, zeros beyond n. */
KERNEL_TARGET static void KERNEL(pack)(const GemmSides *g, int k_first, int k, int first, real *panel) {
    int cols = g->n - first < KERNEL(PANEL) ? g->n - first : KERNEL(PANEL);
    if (!g->b_turned) {
        for (int i = 0; i < k; i++, panel += KERNEL(PANEL)) {
            const real *b = g->b + (k_first + i) * g->ldb + first;
            for (int j = 0; j < cols; j++) panel[j] = b[j];
            for (int j = cols; j < KERNEL(PANEL); j++) panel[j] = 0;
        }
        return;
    }
    if (cols < KERNEL(PANEL)) memset(panel, 0, (size_t)(k * KERNEL(PANEL)) * sizeof *panel);
    product_turn(g->b + first * g->ldb + k_first, g->ldb, cols, k, panel, KERNEL(PANEL));
}

/* How many rows of those that are LEFT go together. */
static int KERNEL(rows_of)(int left) {
    return left >= KERNEL_ROWS ? KERNEL_ROWS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* ROWS rows of C from r, columns of a panel. What lies outside C goes to, and comes from, SPARE. */
KERNEL_TARGET static void KERNEL(rows)(const GemmSides *g, int k_first, int k, int r, int rows, int first,
                                       const real *b, ptrdiff_t ldb, bool add) {
    int cols = g->n - first;
    bool two = cols > KERNEL(WIDTH), partial = cols < (two ? KERNEL(PANEL) : KERNEL(WIDTH));
    real spare[KERNEL_ROWS * KERNEL(PANEL)];
    const real *a = g->a + r * g->a_row + k_first * g->a_step;
    real *c = partial ? spare : g->c + r * g->ldc + first;
    ptrdiff_t ldc = partial ? KERNEL(PANEL) : g->ldc;
    if (partial) memset(spare, 0, sizeof spare);
    if (partial && add)
        for (int i = 0; i < rows; i++)
            memcpy(c + i * ldc, g->c + (r + i) * g->ldc + first, (size_t)cols * sizeof(real));
    if (rows == KERNEL_ROWS)
        (two ? KERNEL(most_2) : KERNEL(most_1))(a, g->a_row, g->a_step, b, ldb, k, add, c, ldc);
    else if (rows == 4)
        (two ? KERNEL(four_2) : KERNEL(four_1))(a, g->a_row, g->a_step, b, ldb, k, add, c, ldc);
    else if (rows == 2)
        (two ? KERNEL(two_2) : KERNEL(two_1))(a, g->a_row, g->a_step, b, ldb, k, add, c, ldc);
    else
        (two ? KERNEL(one_2) : KERNEL(one_1))(a, g->a_row, g->a_step, b, ldb, k, add, c, ldc);
    if (partial)
        for (int i = 0; i < rows; i++)
            memcpy(g->c + (r + i) * g->ldc + first, c + i * ldc, (size_t)cols * sizeof(real));
}

/* C += the columns of a panel after the other, and in each all rows: the panel stays in the first cache. */
KERNEL_TARGET static void KERNEL(panels)(const GemmSides *g, int k_first, int k, bool add) {
    real panel[GEMM_K * KERNEL(PANEL)] SIMD_ALIGNED(64);
    for (int first = 0; first < g->n; first += KERNEL(PANEL)) {
        const real *b = g->b + k_first * g->ldb + first;
        ptrdiff_t ldb = g->ldb;
        int cols = g->n - first;
        bool whole = cols >= KERNEL(PANEL) || cols == KERNEL(WIDTH); /* vectors do not reach beyond B */
        if (g->b_turned || g->ldb > GEMM_NEAR || !whole) {
            KERNEL(pack)(g, k_first, k, first, panel);
            b = panel;
            ldb = KERNEL(PANEL);
        }
        for (int r = 0, rows; r < g->m; r += rows) {
            rows = KERNEL(rows_of)(g->m - r);
            KERNEL(rows)(g, k_first, k, r, rows, first, b, ldb, add);
        }
    }
}

/* The same for few rows of an A that lies turned, with its columns far apart: they are copied together first. */
KERNEL_TARGET static void KERNEL(far_panels)(const GemmSides *g, int k_first, int k, bool add) {
    real near[GEMM_K * GEMM_FAR_ROWS] SIMD_ALIGNED(64);
    const real *a = g->a + k_first * g->a_step;
    for (int i = 0; i < k; i++, a += g->a_step) memcpy(near + i * GEMM_FAR_ROWS, a, (size_t)g->m * sizeof *near);
    GemmSides sides = *g;
    sides.a = near;
    sides.a_step = GEMM_FAR_ROWS;
    sides.b += g->b_turned ? k_first : k_first * g->ldb;
    KERNEL(panels)(&sides, 0, k, add);
}

/* So many rows at a time that their part of A stays in the second cache. */
KERNEL_TARGET static void KERNEL(product)(const GemmSides *g) {
    bool far = g->a_row == 1 && g->a_step > GEMM_NEAR;
    int most = far ? GEMM_FAR_ROWS : GEMM_ROWS;
    for (int k_first = 0; k_first < g->k; k_first += GEMM_K) {
        int k = g->k - k_first < GEMM_K ? g->k - k_first : GEMM_K;
        bool add = g->add || k_first > 0;
        for (int r = 0; r < g->m; r += most) {
            GemmSides slab = *g;
            slab.m = g->m - r < most ? g->m - r : most;
            slab.a += r * g->a_row;
            slab.c += r * g->ldc;
            if (far)
                KERNEL(far_panels)(&slab, k_first, k, add);
            else
                KERNEL(panels)(&slab, k_first, k, add);
        }
    }
}

#undef ZERO_1
#undef ZERO_2
#undef LOAD_1
#undef LOAD_2
#undef STEP_1
#undef STEP_2
#undef TAKE_1
#undef TAKE_2
#undef GIVE_1
#undef GIVE_2
#undef EACH_1
#undef EACH_2
#undef EACH_4
#undef EACH_6
#undef EACH_12
#undef BLOCK
