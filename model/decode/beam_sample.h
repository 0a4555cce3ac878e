/* beam_sample: ancestral samples from what a beam search goes over (lecture 3, 6.3): every token is drawn with its
 * probability, many sentences side by side. */
#ifndef DECODE_BEAM_SAMPLE_H
#define DECODE_BEAM_SAMPLE_H

#include "decode/beam.h"

#include <stdint.h>

typedef struct {
    int *ids; /* [length] generated, END included */
    int length;
    bool ended;   /* the last is END */
    double log_p; /* of the generated tokens, nats */
} BeamSample;

/* N sentences of at most TOKENS tokens each into OUT [n]; S takes N beams. Sample i draws its numbers from (seed,
 * "ancestral", i), so that it changes only where the distribution does. Fails when S does or gives what is no
 * distribution; the samples are good for beam_samples_done in any case. */
Status beam_samples(const BeamSource *s, int n, int tokens, int end, uint64_t seed, BeamSample *out) STATUS_CHECKED;
void beam_samples_done(BeamSample *samples, int n);
/* log p of ids[0..n-1] one after the other by S, from the prompt on; -INFINITY when S has no room for all. */
Status beam_log_p(const BeamSource *s, const int *ids, int n, double *log_p) STATUS_CHECKED;

#endif
