/* op: what the tape and the operations share; nobody else includes it, except tests that look at rows of the table or
 * at where things lie.
 *
 * An operation is a row in ops.def and a pair of functions. forward reads the inputs and writes the output. backward
 * reads the output's gradient and gives each input its share: op_grad says where, and whether to add or to overwrite. A
 * share must be written before the next op_grad of the same node when two inputs may be the same value. */
#ifndef MODEL_OP_H
#define MODEL_OP_H

#include "attention_kernel.h"
#include "tape.h"

typedef enum {
#define OP(constant, name, formula) OP_##constant,
#include "ops.def"
#undef OP
    OP_COUNT
} OpKind;

#define NODE_INPUTS  3
#define NODE_OUTPUTS 3

/* A matrix [rows x cols] in the arenas. A part of a wider matrix has ld > cols. */
typedef struct {
    int rows, cols, ld;
    size_t x, grad; /* offsets in the arena of numbers and, from grad_plan, in that of gradients */
    Vid whole;      /* the matrix it is a part of, from `column` on; or itself */
    int column;
    bool planned;    /* grad_plan found a node that writes to its gradient */
    int room;        /* of a whole: in the tape's list, -1: none */
    bool wants_grad; /* a parameter that is not frozen stands behind it */
    bool has_grad;   /* in this backward pass something was written to its gradient */
    int node;        /* who writes it */
    double scalar;   /* of a [1 x 1] loss, before rounding to real */
    char name[56];
} Value;

typedef struct {
    OpKind op;
    Vid in[NODE_INPUTS], out[NODE_OUTPUTS]; /* VID_NONE where unused */
    int outputs;
    int weight, bias;
    size_t keep[2];  /* offsets in the arena of what backward needs */
    size_t integers; /* offset in the tape's integers */
    union {
        EmbedBy embed;
        struct {
            NormKind kind;
            int group;
            double eps;
        } norm;
        struct {
            int head_dim;
            Pairing pairing;
            int table;
        } rope;
        struct {
            AttentionShape shape;
            size_t stage[ATTENTION_STAGES]; /* offsets, probe tapes only */
        } attention;
        ActKind act;
        double number; /* factor, cap or probability */
        int count;
        struct {
            double z_loss, denominator;
        } loss;
    } arg;
} Node;

/* Cosines and sines (angles.h) of every position below `positions`. */
typedef struct {
    int size;
    double base;
    RopeScaling scaling;
    int positions;
    real *cosine, *sine; /* [positions x size/2] */
} AngleTable;

/* A stretch of the gradients' arena, used by one gradient after the other. */
typedef struct {
    size_t at, numbers;
    bool taken;
} GradRoom;

struct Tape {
    TapeMode mode;
    bool lean; /* tape_begin_lean began it */
    TapeSeen *seen;
    void *seen_data;
    const Params *params;
    const Batch *batch;
    uint64_t seed, step;
    int rows, last_position;

    Node *node;
    int nodes, node_capacity;
    Value *value;
    int values, value_capacity;

    real *arena, *grad_arena, *scratch; /* values and kept numbers; their gradients; room for one node at a time */
    size_t used, size, grad_used, grad_size, scratch_used, scratch_size;
    int *integer;
    size_t integers_used, integers_size;

    struct ValueLife *life; /* [life_capacity] of value_plan */
    int life_capacity;

    GradRoom *room;
    int rooms, room_capacity;

    AngleTable *table;
    int tables, table_capacity;

    real *param_grad;             /* [params->count] of the running backward pass */
    unsigned char *slice_written; /* [slices] 1: add to the slice's gradient, 0: overwrite it */
    int slice_capacity;
};

typedef struct {
    const char *name, *formula;
    void (*forward)(Tape *t, const Node *n);
    void (*backward)(Tape *t, const Node *n);
} OpInfo;

const OpInfo *op_info(OpKind op);

/* That of layer norm or of RMS norm, whichever the node is. */
const char *op_norm_formula(const Node *n);

#define OP(constant, name, formula)                                                                                    \
    void op_##name##_forward(Tape *t, const Node *n);                                                                  \
    void op_##name##_backward(Tape *t, const Node *n);
#include "ops.def"
#undef OP

/* Rounded up to whole cache lines. */
size_t op_aligned(size_t numbers);

/* --- recording --- */
Node *op_record(Tape *t, OpKind op);                 /* inputs, outputs and slices empty; valid until the next */
Vid op_output(Tape *t, Node *n, int rows, int cols); /* adds an output */
Vid op_output_part(Tape *t, Node *n, Vid whole, int at,
                   int cols);               /* columns at .. of a matrix that is no output itself */
Vid op_matrix(Tape *t, int rows, int cols); /* room without a node */
void op_input(Tape *t, Node *n, int i, Vid v);
bool op_slice_learns(const Tape *t, int slice);
void op_wants_grad(Tape *t, Node *n);                   /* marks the outputs when an input or a slice learns */
size_t op_keep(Tape *t, size_t numbers);                /* room in the arena, whatever comes after */
size_t op_keep_for_backward(Tape *t, size_t numbers);   /* the same; none where no backward can follow */
int *op_integers(Tape *t, size_t integers, size_t *at); /* room and its offset; valid until the next call */
void op_scratch(Tape *t, size_t numbers);               /* room that is any node's while it runs */
/* Number of a table for the batch's positions. */
int op_angles(Tape *t, int size, double base, const RopeScaling *scaling);

/* --- running --- */
static inline real *op_x(const Tape *t, Vid v) {
    return t->arena + t->value[v].x;
}
static inline const real *op_param(const Tape *t, int slice) {
    const Params *p = t->params;
    return p->view ? p->view[slice].x : p->x + p->slice[slice].at; /* vectors and tables are never turned */
}
static inline const real *op_out_grad(const Tape *t, Vid v) {
    return t->grad_arena + t->value[v].grad;
}
/* Where to write the gradient of input v: NULL when nobody wants it. */
real *op_grad(Tape *t, Vid v, bool *add);
/* The same for a slice of the parameters. */
real *op_param_grad(Tape *t, int slice, bool *add);
/* Whether a backward pass can follow, so that what it needs is kept. */
static inline bool op_has_backward(const Tape *t) {
    return t->mode != TAPE_EVAL && !t->lean;
}

#endif
