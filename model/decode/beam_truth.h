/* beam_truth: a beam search over the language itself, and the language's opinion of any tree.
 *
 * Log-probabilities nearer than 1e-9 are equal: sums that ought to be the same are. Everything after what no sentence
 * begins with is impossible. */
#ifndef DECODE_BEAM_TRUTH_H
#define DECODE_BEAM_TRUTH_H

#include "decode/beam.h"
#include "text/next_memo.h"
#include "text/vocab.h"

typedef struct BeamTruth BeamTruth;

/* V has every word of the language (else it is a BUG); both are borrowed. */
BeamTruth *beam_truth_new(NextMemo *memo, const Vocab *v, int width);
void beam_truth_free(BeamTruth *t);
/* The next search is one after ids[0..n-1] (<s> first, n >= 1); they are borrowed until its first step is done. */
BeamSource beam_truth_source(BeamTruth *t, const int *ids, int n);

/* true_log_p [beam_nodes]: log p of the tokens after ids[0..n-1] up to each node by the language; -INFINITY where they
 * are impossible or no words. */
Status beam_true_log_p(const Beam *b, NextMemo *memo, const Vocab *v, const int *ids, int n,
                       double *true_log_p) STATUS_CHECKED;

/* log p of path[0..length-1] after ids[0..n-1] by the language, in the same way. */
Status beam_true_path(NextMemo *memo, const Vocab *v, const int *ids, int n, const int *path, int length,
                      double *log_p) STATUS_CHECKED;

#endif
