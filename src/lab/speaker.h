/* speaker: what a model says next: the logits after a sentence, for the model as it is or tweaked. Reads parameters,
 * changes nothing. Private to the laboratory. */
#ifndef LAB_SPEAKER_H
#define LAB_SPEAKER_H

#include "decode/decoder.h"

typedef struct Speaker Speaker;

Speaker *speaker_new(void);
void speaker_free(Speaker *s);
/* To be called for every other model and whenever its parameters have changed. M and TWEAK (NULL: none) are borrowed.
 */
void speaker_reset(Speaker *s, const Model *m, const ModelTweak *tweak);
/* Whether it has been set to M before, the same number of parameters in the same places: then speaker_reset keeps its
 * decoder, and those beside it stay good. */
bool speaker_knows(const Speaker *s, const Model *m);
/* The decoder behind it, for those who walk on by themselves; its stream 0 must be reset when they have done. */
Decoder *speaker_decoder(Speaker *s);
/* Texts of N tokens come: where those are long for the model memory is dear, and parameters that are only read go again
 * once they were used. Of the decoders beside it too. speaker_logits does so by itself. */
void speaker_expect(Speaker *s, int n);
/* Logits [V] after ids[0..n-1], 1 <= n <= context; borrowed until the next call. */
const double *speaker_logits(Speaker *s, const int *ids, int n);
/* The likeliest token, ties by lowest id. */
int speaker_best(const double *logits, int vocab);
/* log sum exp: the log-probability of a token is its logit minus this. */
double speaker_log_z(const double *logits, int vocab);

#endif
