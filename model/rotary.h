/* rotary: rotary positions as formulas, in double: what the lessons on RoPE show, and what the engine's own rotation
 * (op_rope, decode/row) is checked against (Su et al. 2021; lecture 4, 4.2-4.6; seminar 3, 5.4).
 *
 * A vector of d numbers is d/2 pairs. At position m pair i is turned by the angle m speed[i]: (a, b) -> (a cos - b sin,
 * a sin + b cos). Angles keep all their digits at any position: the product m speed[i] is taken with its rounding
 * error. */
#ifndef MODEL_ROTARY_H
#define MODEL_ROTARY_H

#include "config.h"

typedef struct {
    int d; /* numbers of a vector, even, >= 2 */
    Pairing pairing;
    double *speed; /* [d/2] radians per position, owned */
} Rotary;

/* speed[i] = base^(-2i/d), base > 0. */
void rotary_init(Rotary *r, int d, double base, Pairing pairing);
void rotary_init_scaled(Rotary *r, int d, double base, const RopeScaling *scaling, Pairing pairing);
/* Every pair turns by one radian per position: what many speeds are good for. */
void rotary_init_single(Rotary *r, int d, Pairing pairing);
void rotary_done(Rotary *r);

/* Where the two numbers of a pair stand: (2i, 2i+1), or (i, i + d/2) with PAIRING_HALF; and the pair of a place. */
void rotary_places(const Rotary *r, int pair, int *first, int *second);
int rotary_pair(const Rotary *r, int place);

/* y [d] = x [d] at POSITION (a whole number of any sign); y may be x. */
void rotary_turn(const Rotary *r, double position, const double *x, double *y);
/* The mean over the pairs of cos(distance speed[i]): the cosine between one vector of equally long pairs and the same
 * vector so many positions away. A vector of ones has the product d times this with itself. */
double rotary_similarity(const Rotary *r, double distance);

/* --- the same rotation in other ways of writing, for adjacent pairs --- */
void rotary_matrix(const Rotary *r, double position, double *matrix); /* [d x d], block diagonal; any pairing */
void rotary_by_matrix(const Rotary *r, double position, const double *x, double *y);
void rotary_by_complex(const Rotary *r, double position, const double *x, double *y); /* (a + ib) e^(i angle) */
/* All places a are put into one half and all b into the other, there x cos + swapped(x) sin, and back: how Llama and
 * GPT-NeoX write it. */
void rotary_by_halves(const Rotary *r, double position, const double *x, double *y);
/* The definition summed in long double, with the same cosines and sines. */
void rotary_exact(const Rotary *r, double position, const double *x, long double *y);

#endif
