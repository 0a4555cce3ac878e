#include "rng.h"

#include "bug.h"
#include "hash.h"

#include <math.h>
#include <string.h>

static uint64_t rng_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

uint64_t rng_split(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15ULL;
    return rng_mix(*state);
}

/* Each of the three is mixed in before the next one comes, so that no sum of two can stand for another pair. */
Rng rng_at(uint64_t seed, const char *stream, uint64_t step) {
    uint64_t key = seed;
    key = rng_split(&key) ^ hash_bytes(HASH_START, stream, strlen(stream));
    key = rng_split(&key) ^ step;
    Rng r;
    for (int i = 0; i < 4; i++) r.s[i] = rng_split(&key);
    return r;
}

static uint64_t rng_rotate(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(Rng *r) {
    uint64_t *s = r->s;
    uint64_t result = rng_rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate(s[3], 45);
    return result;
}

double rng_unit(Rng *r) {
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* The 128 bits of x*y in portable C. */
static uint64_t rng_multiply(uint64_t x, uint64_t y, uint64_t *low) {
    uint64_t x0 = x & 0xffffffff, x1 = x >> 32;
    uint64_t y0 = y & 0xffffffff, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
    uint64_t carry = x0 * y1 + (middle & 0xffffffff);
    *low = x * y;
    return x1 * y1 + (middle >> 32) + (carry >> 32);
}

/* Lemire 2019, "Fast random integer generation in an interval": the high half of x*n, drawn again in the few cases that
 * would make small results more likely. */
uint64_t rng_below(Rng *r, uint64_t n) {
    BUG_ON(n == 0);
    uint64_t low;
    uint64_t high = rng_multiply(rng_next(r), n, &low);
    if (low < n) {
        uint64_t threshold = (0 - n) % n;
        while (low < threshold) high = rng_multiply(rng_next(r), n, &low);
    }
    return high;
}

/* Marsaglia and Bray 1964. The second value of a pair is thrown away: kept, it would be hidden state. */
double rng_normal(Rng *r) {
    double u, v, square;
    do {
        u = 2 * rng_unit(r) - 1;
        v = 2 * rng_unit(r) - 1;
        square = u * u + v * v;
    } while (square >= 1 || square == 0);
    return u * sqrt(-2 * log(square) / square);
}

void rng_shuffle(Rng *r, int *x, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint64_t)i + 1);
        int swap = x[i];
        x[i] = x[j];
        x[j] = swap;
    }
}
