/* op_rope: rotary positions (Su et al. 2021): each head is cut into pairs, and pair i is turned by the angle position *
 * base^(-2i/hd), or a smaller one (rope_scaling.h). A pair is (2i, 2i+1) with PAIRING_ADJACENT and (i, i + hd/2) with
 * PAIRING_HALF.
 *   y_a = x_a cos - x_b sin,   y_b = x_a sin + x_b cos;   backward turns the gradient by the opposite angle */
#include "bug.h"
#include "op.h"
#include "simd.h"

Vid tape_rope(Tape *t, Vid x, int head_dim, double base, const RopeScaling *scaling, Pairing pairing) {
    BUG_ON(head_dim % 2 || t->value[x].cols % head_dim || t->value[x].rows != t->rows);
    int table = op_angles(t, head_dim, base, scaling);
    Node *n = op_record(t, OP_ROPE);
    op_input(t, n, 0, x);
    n->arg.rope.head_dim = head_dim;
    n->arg.rope.pairing = pairing;
    n->arg.rope.table = table;
    Vid y = op_output(t, n, t->rows, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

/* One head of one row; sign -1 turns back. A pair is (first + i * step, second + i * step). ADD and STEP are constants
 * where this is inlined. */
SIMD_INLINE void turn_head(int half, int step, int second, bool add, const real *x, const real *cosine,
                           const real *sine, real sign, real *y) {
    SIMD_LOOP for (int i = 0; i < half; i++) {
        real s = sign * sine[i], a = x[i * step], b = x[i * step + second];
        real ya = a * cosine[i] - b * s, yb = a * s + b * cosine[i];
        y[i * step] = add ? y[i * step] + ya : ya;
        y[i * step + second] = add ? y[i * step + second] + yb : yb;
    }
}

typedef struct {
    const AngleTable *angles;
    const int *position; /* [rows] */
    int rows, cols;
    Pairing pairing;
    real sign;
    const real *x;
    real *y;
    int ldx, ldy;
} Turn;

SIMD_INLINE void turn_as(const Turn *t, int step, bool add) {
    int half = t->angles->size / 2, second = step == 2 ? 1 : half;
    for (int r = 0; r < t->rows; r++) {
        size_t at = (size_t)t->position[r] * (size_t)half;
        const real *x = t->x + (size_t)r * (size_t)t->ldx;
        real *y = t->y + (size_t)r * (size_t)t->ldy;
        for (int c = 0; c < t->cols; c += 2 * half)
            turn_head(half, step, second, add, x + c, t->angles->cosine + at, t->angles->sine + at, t->sign, y + c);
    }
}

/* All heads of all rows. */
SIMD_CLONES static void turn_rows(const Turn *t, bool add) {
    if (t->pairing == PAIRING_ADJACENT && add)
        turn_as(t, 2, true);
    else if (t->pairing == PAIRING_ADJACENT)
        turn_as(t, 2, false);
    else if (add)
        turn_as(t, 1, true);
    else
        turn_as(t, 1, false);
}

static Turn turn_of(const Tape *t, const Node *n) {
    return (Turn){.angles = &t->table[n->arg.rope.table],
                  .position = t->batch->position,
                  .rows = t->rows,
                  .cols = t->value[n->in[0]].cols,
                  .pairing = n->arg.rope.pairing};
}

void op_rope_forward(Tape *t, const Node *n) {
    Turn turn = turn_of(t, n);
    turn.sign = 1;
    turn.x = op_x(t, n->in[0]);
    turn.ldx = t->value[n->in[0]].ld;
    turn.y = op_x(t, n->out[0]);
    turn.ldy = t->value[n->out[0]].ld;
    turn_rows(&turn, false);
}

void op_rope_backward(Tape *t, const Node *n) {
    bool add;
    Turn turn = turn_of(t, n);
    turn.sign = -1;
    turn.x = op_out_grad(t, n->out[0]);
    turn.ldx = t->value[n->out[0]].ld;
    turn.y = op_grad(t, n->in[0], &add);
    turn.ldy = t->value[n->in[0]].ld;
    if (turn.y) turn_rows(&turn, add);
}
