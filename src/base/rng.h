/* rng: random numbers without hidden state. Every random choice in lantern comes from a generator that is made from
 * (seed, stream, step), so any step can be computed again alone.
 *
 * xoshiro256** 1.0 (Blackman and Vigna 2018), its state filled by SplitMix64 from a hash of the three. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

typedef struct {
    uint64_t s[4];
} Rng;

Rng rng_at(uint64_t seed, const char *stream, uint64_t step); /* stream: "init", "batch", "corpus.train", ... */
uint64_t rng_next(Rng *r);
uint64_t rng_split(uint64_t *state);     /* one step of SplitMix64, which fills the state of the generator */
double rng_unit(Rng *r);                 /* uniform in [0, 1), 53 bits */
uint64_t rng_below(Rng *r, uint64_t n);  /* uniform in 0 .. n-1 without bias, n > 0 */
double rng_normal(Rng *r);               /* mean 0, standard deviation 1 (polar method) */
void rng_shuffle(Rng *r, int *x, int n); /* Fisher-Yates */

#endif
