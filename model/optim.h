/* optim: AdamW (Loshchilov and Hutter 2019) and SGD over flat parameters, gradient clipping by the global norm,
 * schedules. */
#ifndef MODEL_OPTIM_H
#define MODEL_OPTIM_H

#include "params.h"

typedef enum { OPTIM_ADAMW, OPTIM_SGD } OptimKind;
typedef enum { SCHEDULE_CONSTANT, SCHEDULE_COSINE, SCHEDULE_LINEAR } ScheduleKind;

typedef struct {
    OptimKind kind;
    double lr, lr_min; /* peak, and where the schedule ends */
    ScheduleKind schedule;
    long warmup;              /* steps of linear rise: (step + 1) / warmup of the peak */
    double beta1, beta2, eps; /* AdamW: .9 .999 1e-8 */
    double weight_decay; /* of slices marked decay; AdamW shrinks the weight, SGD adds to the gradient (as PyTorch) */
    double momentum;     /* SGD */
    double clip;         /* greatest global norm, 0: off */
} OptimConfig;

typedef struct {
    OptimConfig config;
    real *m, *v; /* [count] first and second moments; SGD uses m alone */
    size_t count;
    long updates;
} Optim;

OptimConfig optim_defaults(void); /* AdamW 3e-3, cosine to a tenth, no warm-up, no decay, no clipping */
void optim_init(Optim *o, const OptimConfig *config, size_t count);
void optim_done(Optim *o);
/* Learning rate of update STEP (from 0) of STEPS; after the last one it stays at the end of the schedule. */
double optim_rate(const OptimConfig *c, long step, long steps);
/* sqrt of the sum of squares in double; frozen slices count not. */
double optim_norm(const Params *p, const real *grad);
/* What a gradient of that norm is multiplied by; 1 where it is not clipped. */
double optim_clip_factor(const OptimConfig *c, double norm);
/* One update with the already averaged gradient: AdamW with bias correction, or SGD. Frozen slices stay as they are.
 * Clipping is a factor on the way: GRAD itself is not changed. Returns the norm before clipping. Allocates nothing. */
double optim_update(Optim *o, Params *p, const real *grad, double rate);

/* The parts of these, for several threads: together they give the same bits. */
double optim_squares(const Params *p, int slice, const real *grad); /* sum of them; 0 for a frozen slice */
typedef struct {
    const Optim *optim;
    Params *params;
    const real *grad;  /* [count] */
    real *before;      /* [count] where the parameters are kept as they were; NULL: nowhere */
    double rate, clip; /* clip: factor for the gradient */
} Update;
/* Counts the update; NORM is that of GRAD. */
Update optim_begin(Optim *o, Params *p, const real *grad, double norm, double rate);
void optim_apply(const Update *u, size_t from, size_t to); /* to parameters [from, to) */

#endif
