#include "decode/matrix.h"

#include "decode/direct_kernel.h"

enum {
    SHARED_LEAST = 1 << 16, /* numbers of a matrix that is worth more than one thread */
    SHARES = 4,             /* parts for each thread: who is held up leaves the rest to others */
    GRAIN = 16,             /* outputs: whole cache lines of y belong to one thread */
};

void matrix_done(Matrix *m) {
    packed_done(&m->packed);
    *m = (Matrix){0};
}

typedef struct {
    const Matrix *matrix;
    int rows, ldx, ldy;
    const real *x;
    real *y;
} Product;

/* Outputs [first, last) of the whole matrix, part by part. */
static void apply_range(const Product *p, int first, int last) {
    const Matrix *m = p->matrix;
    for (int i = 0; i < m->parts; i++) {
        int begin = m->part[i].first, end = i + 1 < m->parts ? m->part[i + 1].first : m->out;
        int from = first > begin ? first : begin, to = last < end ? last : end;
        if (from < to)
            direct_apply(&m->part[i].view, m->part[i].bias, m->in, from - begin, to - begin, p->rows, p->x, p->ldx,
                         p->y + begin, p->ldy);
    }
}

static void apply_share(void *data, int part, int parts) {
    const Product *p = data;
    int grains = (p->matrix->out + GRAIN - 1) / GRAIN;
    int first = (int)((long long)grains * part / parts) * GRAIN;
    int last = (int)((long long)grains * (part + 1) / parts) * GRAIN;
    apply_range(p, first, last < p->matrix->out ? last : p->matrix->out);
}

void matrix_apply(const Matrix *m, Team *team, int rows, const real *x, int ldx, real *y, int ldy) {
    if (m->parts == 0) {
        packed_apply(&m->packed, rows, x, ldx, y, ldy);
        return;
    }
    Product p = {.matrix = m, .rows = rows, .ldx = ldx, .ldy = ldy, .x = x, .y = y};
    int parts = team_threads(team) * SHARES, most = (m->out + GRAIN - 1) / GRAIN;
    if (team_threads(team) > 1 && (long long)m->in * m->out >= SHARED_LEAST)
        team_run(team, parts < most ? parts : most, apply_share, &p);
    else
        apply_range(&p, 0, m->out);
}
