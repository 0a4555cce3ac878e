/* flop_count: the operations of a real forward pass, counted where the matrix products are made: the proof of
 * account.h.
 */
#ifndef MODEL_FLOP_COUNT_H
#define MODEL_FLOP_COUNT_H

#include "account.h"

/* Shorter sequences go through attention's own loops, which are not products of gemm.h. */
#define FLOP_COUNT_SHORTEST 65

/* Builds the model, lets it look at BATCH sequences of T tokens on a probe tape (all scores are worked out there) and
 * adds up, operation by operation, what gemm was asked for. CONFIG was checked; T >= FLOP_COUNT_SHORTEST. */
FlopAccount flop_count(const ModelConfig *c, int T, int batch);
/* Numbers that this takes: the parameters and all that the tape keeps. */
Count flop_count_room(const ModelConfig *c, Count T, Count batch);

#endif
