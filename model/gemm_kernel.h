/* gemm_kernel: C (+)= A B, written once and included by gemm.c for each width of vectors: KERNEL_BYTES of a vector,
 * KERNEL_TARGET the function attribute that allows it, KERNEL(name) the name with the width in it. No guard.
 *
 * C is made in blocks of four rows and two vectors that stay in registers while k runs; B comes in panels of two
 * vectors' width. Every number of C is summed in the order of k, whatever the number of rows and columns: the rows of a
 * product do not depend on how many there are. */

typedef real KERNEL(Vector) SIMD_VECTOR(KERNEL_BYTES);
enum { KERNEL(WIDTH) = KERNEL_BYTES / sizeof(real), KERNEL(PANEL) = 2 * KERNEL(WIDTH) };

#define LOAD(vector, from) memcpy(&(vector), (from), KERNEL_BYTES)
#define STORE(to, vector)  memcpy((to), &(vector), KERNEL_BYTES)

/* Rows row[0..3] of A against a panel: two vectors of each of four rows, into c [4][2 WIDTH] with a step of LDC. */
KERNEL_TARGET static void KERNEL(block)(const real *const row[4], ptrdiff_t step, const real *b, ptrdiff_t ldb, int k,
                                        bool add, real *const c[4]) {
    const real *a0 = row[0], *a1 = row[1], *a2 = row[2], *a3 = row[3];
    KERNEL(Vector) s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0}, b0, b1;
    const int next = KERNEL(WIDTH);
    if (add) {
        LOAD(s00, c[0]), LOAD(s01, c[0] + next), LOAD(s10, c[1]), LOAD(s11, c[1] + next);
        LOAD(s20, c[2]), LOAD(s21, c[2] + next), LOAD(s30, c[3]), LOAD(s31, c[3] + next);
    }
    for (int i = 0; i < k; i++, b += ldb) {
        LOAD(b0, b);
        LOAD(b1, b + next);
        s00 += *a0 * b0, s01 += *a0 * b1, a0 += step;
        s10 += *a1 * b0, s11 += *a1 * b1, a1 += step;
        s20 += *a2 * b0, s21 += *a2 * b1, a2 += step;
        s30 += *a3 * b0, s31 += *a3 * b1, a3 += step;
    }
    STORE(c[0], s00), STORE(c[0] + next, s01), STORE(c[1], s10), STORE(c[1] + next, s11);
    STORE(c[2], s20), STORE(c[2] + next, s21), STORE(c[3], s30), STORE(c[3] + next, s31);
}

/* The same for one vector of each row. */
KERNEL_TARGET static void KERNEL(half_block)(const real *const row[4], ptrdiff_t step, const real *b, ptrdiff_t ldb,
                                             int k, bool add, real *const c[4]) {
    const real *a0 = row[0], *a1 = row[1], *a2 = row[2], *a3 = row[3];
    KERNEL(Vector) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, b0;
    if (add) LOAD(s0, c[0]), LOAD(s1, c[1]), LOAD(s2, c[2]), LOAD(s3, c[3]);
    for (int i = 0; i < k; i++, b += ldb) {
        LOAD(b0, b);
        s0 += *a0 * b0, a0 += step;
        s1 += *a1 * b0, a1 += step;
        s2 += *a2 * b0, a2 += step;
        s3 += *a3 * b0, a3 += step;
    }
    STORE(c[0], s0), STORE(c[1], s1), STORE(c[2], s2), STORE(c[3], s3);
}

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

/* Four rows of C from r, columns of a panel. What lies outside C goes to, and comes from, SPARE. */
KERNEL_TARGET static void KERNEL(rows)(const GemmSides *g, int k_first, int k, int r, int first, const real *b,
                                       ptrdiff_t ldb, bool add) {
    int cols = g->n - first, rows = g->m - r < 4 ? g->m - r : 4;
    int vectors = cols > KERNEL(WIDTH) ? 2 : 1, width = vectors * KERNEL(WIDTH);
    bool partial = cols < width;
    real spare[4 * KERNEL(PANEL)], *c[4];
    const real *a[4];
    for (int i = 0; i < 4; i++) {
        int row = i < rows ? r + i : r; /* rows that are not there repeat the first and go nowhere */
        a[i] = g->a + row * g->a_row + k_first * g->a_step;
        c[i] = i < rows && !partial ? g->c + row * g->ldc + first : spare + i * KERNEL(PANEL);
    }
    if (partial || rows < 4) memset(spare, 0, sizeof spare);
    if (partial && add)
        for (int i = 0; i < rows; i++) memcpy(c[i], g->c + (r + i) * g->ldc + first, (size_t)cols * sizeof(real));
    if (vectors == 2)
        KERNEL(block)(a, g->a_step, b, ldb, k, add, c);
    else
        KERNEL(half_block)(a, g->a_step, b, ldb, k, add, c);
    if (partial)
        for (int i = 0; i < rows; i++) memcpy(g->c + (r + i) * g->ldc + first, c[i], (size_t)cols * sizeof(real));
}

/* Panel after panel, and in each all rows: the panel stays in the first cache. */
KERNEL_TARGET static void KERNEL(product)(const GemmSides *g) {
    real panel[GEMM_K * KERNEL(PANEL)] SIMD_ALIGNED(64);
    for (int k_first = 0; k_first < g->k; k_first += GEMM_K) {
        int k = g->k - k_first < GEMM_K ? g->k - k_first : GEMM_K;
        bool add = g->add || k_first > 0;
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
            for (int r = 0; r < g->m; r += 4) KERNEL(rows)(g, k_first, k, r, first, b, ldb, add);
        }
    }
}

#undef LOAD
#undef STORE
