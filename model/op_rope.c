/* op_rope: rotary positions (Su et al. 2021): each head is cut into pairs, pair i is turned by position *
 * base^(-2i/hd). A pair is (2i, 2i+1) with PAIRING_ADJACENT and (i, i + hd/2) with PAIRING_HALF. y_a = x_a cos - x_b
 * sin,  y_b = x_a sin + x_b cos;   backward turns the gradient by the opposite angle. */
#include "bug.h"
#include "op.h"
#include "simd.h"

Vid tape_rope(Tape *t, Vid x, int head_dim, double base, Pairing pairing) {
    BUG_ON(head_dim % 2 || t->value[x].cols % head_dim || t->value[x].rows != t->rows);
    int table = op_angles(t, head_dim, base);
    Node *n = op_record(t, OP_ROPE);
    op_input(t, n, 0, x);
    n->arg.rope.head_dim = head_dim;
    n->arg.rope.pairing = pairing;
    n->arg.rope.table = table;
    Vid y = op_output(t, n, t->rows, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

/* One head of one row; sign -1 turns back. */
SIMD_INLINE void turn_adjacent(int half, const real *x, const real *cosine, const real *sine, real sign, bool add,
                               real *y) {
    for (int i = 0; i < half; i++) {
        real s = sign * sine[i], a = x[2 * i], b = x[2 * i + 1];
        real ya = a * cosine[i] - b * s, yb = a * s + b * cosine[i];
        y[2 * i] = add ? y[2 * i] + ya : ya;
        y[2 * i + 1] = add ? y[2 * i + 1] + yb : yb;
    }
}

SIMD_INLINE void turn_half(int half, const real *x, const real *cosine, const real *sine, real sign, bool add,
                           real *y) {
    for (int i = 0; i < half; i++) {
        real s = sign * sine[i], a = x[i], b = x[i + half];
        real ya = a * cosine[i] - b * s, yb = a * s + b * cosine[i];
        y[i] = add ? y[i] + ya : ya;
        y[i + half] = add ? y[i + half] + yb : yb;
    }
}

/* All heads of all rows. */
SIMD_CLONES static void turn(const Tape *t, const Node *n, const real *x, int ldx, real sign, bool add, real *y,
                             int ldy) {
    const AngleTable *a = &t->table[n->arg.rope.table];
    int half = a->size / 2, cols = t->value[n->in[0]].cols;
    for (int r = 0; r < t->rows; r++, x += ldx, y += ldy) {
        size_t at = (size_t)t->batch->position[r] * (size_t)half;
        for (int c = 0; c < cols; c += a->size) {
            if (n->arg.rope.pairing == PAIRING_ADJACENT)
                turn_adjacent(half, x + c, a->cosine + at, a->sine + at, sign, add, y + c);
            else
                turn_half(half, x + c, a->cosine + at, a->sine + at, sign, add, y + c);
        }
    }
}

void op_rope_forward(Tape *t, const Node *n) {
    turn(t, n, op_x(t, n->in[0]), t->value[n->in[0]].ld, 1, false, op_x(t, n->out[0]), t->value[n->out[0]].ld);
}

void op_rope_backward(Tape *t, const Node *n) {
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    if (dx) turn(t, n, op_out_grad(t, n->out[0]), t->value[n->out[0]].ld, -1, add, dx, t->value[n->in[0]].ld);
}
