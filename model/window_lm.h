/* window_lm: a language model that sees the last few tokens and nothing before them: their embeddings side by side, one
 * hidden layer, logits (Bengio et al. 2003). What lies before the text counts as its first token. */
#ifndef MODEL_WINDOW_LM_H
#define MODEL_WINDOW_LM_H

#include "batch.h"
#include "params.h"
#include "real.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int vocab;         /* V */
    int window;        /* tokens seen, the current one included; at most WINDOW_LM_MOST */
    int embed, hidden; /* numbers of a token, of the hidden layer */
} WindowConfig;

#define WINDOW_LM_MOST 64

typedef struct WindowLm WindowLm;

WindowLm *window_lm_new(const WindowConfig *c, uint64_t seed);
void window_lm_free(WindowLm *m);
Params *window_lm_params(WindowLm *m);
/* Update STEP (from 0) of STEPS on B with AdamW, cosine from LR to a tenth. Mean loss before it, nats per target. */
double window_lm_step(WindowLm *m, const Batch *b, double lr, long step, long steps);
/* [R x V], borrowed until the next call. */
const real *window_lm_logits(WindowLm *m, const Batch *b);

#endif
