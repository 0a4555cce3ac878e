#include "rotary.h"

#include "bug.h"
#include "mem.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static void make(Rotary *r, int d, Pairing pairing) {
    BUG_ON(d < 2 || d % 2);
    *r = (Rotary){.d = d, .pairing = pairing, .speed = MEM_ARRAY(double, (size_t)d / 2)};
}

void rotary_init(Rotary *r, int d, double base, Pairing pairing) {
    rotary_init_scaled(r, d, base, &rope_unscaled, pairing);
}

void rotary_init_scaled(Rotary *r, int d, double base, const RopeScaling *scaling, Pairing pairing) {
    BUG_ON(!(base > 0));
    make(r, d, pairing);
    for (int i = 0; i < d / 2; i++) r->speed[i] = rope_speed(base, d, i, scaling);
}

void rotary_init_single(Rotary *r, int d, Pairing pairing) {
    make(r, d, pairing);
    for (int i = 0; i < d / 2; i++) r->speed[i] = 1;
}

void rotary_done(Rotary *r) {
    mem_free(r->speed);
    *r = (Rotary){0};
}

void rotary_places(const Rotary *r, int pair, int *first, int *second) {
    bool adjacent = r->pairing == PAIRING_ADJACENT;
    *first = adjacent ? 2 * pair : pair;
    *second = adjacent ? 2 * pair + 1 : pair + r->d / 2;
}

int rotary_pair(const Rotary *r, int place) {
    return r->pairing == PAIRING_ADJACENT ? place / 2 : place % (r->d / 2);
}

/* Cosine and sine of high + low, where low is what rounding took from the product. */
static void point(const Rotary *r, int pair, double position, double *cosine, double *sine) {
    double high = position * r->speed[pair], low = fma(position, r->speed[pair], -high);
    double c = cos(high), s = sin(high);
    *cosine = c - low * s;
    *sine = s + low * c;
}

void rotary_turn(const Rotary *r, double position, const double *x, double *y) {
    for (int i = 0; i < r->d / 2; i++) {
        int a, b;
        double c, s;
        rotary_places(r, i, &a, &b);
        point(r, i, position, &c, &s);
        double xa = x[a], xb = x[b];
        y[a] = xa * c - xb * s;
        y[b] = xa * s + xb * c;
    }
}

double rotary_similarity(const Rotary *r, double distance) {
    double sum = 0;
    for (int i = 0; i < r->d / 2; i++) {
        double c, s;
        point(r, i, distance, &c, &s);
        sum += c;
    }
    return sum / (r->d / 2);
}

/* --- other ways of writing it --- */

void rotary_matrix(const Rotary *r, double position, double *matrix) {
    size_t d = (size_t)r->d;
    memset(matrix, 0, d * d * sizeof *matrix);
    for (int i = 0; i < r->d / 2; i++) {
        int a, b;
        double c, s;
        rotary_places(r, i, &a, &b);
        point(r, i, position, &c, &s);
        matrix[(size_t)a * d + (size_t)a] = c;
        matrix[(size_t)a * d + (size_t)b] = 0 - s; /* never -0 */
        matrix[(size_t)b * d + (size_t)a] = s;
        matrix[(size_t)b * d + (size_t)b] = c;
    }
}

void rotary_by_matrix(const Rotary *r, double position, const double *x, double *y) {
    size_t d = (size_t)r->d;
    double *matrix = MEM_ARRAY(double, d *d);
    rotary_matrix(r, position, matrix);
    for (size_t row = 0; row < d; row++) {
        y[row] = 0;
        for (size_t i = 0; i < d; i++) y[row] += matrix[row * d + i] * x[i];
    }
    mem_free(matrix);
}

/* a + ib; CMPLX is not everywhere. */
static double complex as_complex(double a, double b) {
    double complex z;
    memcpy(&z, (const double[2]){a, b}, sizeof z); /* the layout that C promises */
    return z;
}

void rotary_by_complex(const Rotary *r, double position, const double *x, double *y) {
    for (int i = 0; i < r->d / 2; i++) {
        int a, b;
        double c, s;
        rotary_places(r, i, &a, &b);
        point(r, i, position, &c, &s);
        double complex z = as_complex(x[a], x[b]) * as_complex(c, s);
        y[a] = creal(z);
        y[b] = cimag(z);
    }
}

void rotary_by_halves(const Rotary *r, double position, const double *x, double *y) {
    int half = r->d / 2;
    double *put = MEM_ARRAY(double, (size_t)r->d), *angle = MEM_ARRAY(double, (size_t)r->d * 2);
    double *cosine = angle, *sine = angle + r->d;
    for (int i = 0; i < half; i++) {
        int a, b;
        rotary_places(r, i, &a, &b);
        put[i] = x[a];
        put[i + half] = x[b];
        point(r, i, position, &cosine[i], &sine[i]);
        cosine[i + half] = cosine[i];
        sine[i + half] = sine[i];
    }
    for (int place = 0; place < r->d; place++) {
        int a, b;
        rotary_places(r, place % half, &a, &b);
        double swapped = place < half ? -put[place + half] : put[place - half];
        y[place < half ? a : b] = put[place] * cosine[place] + swapped * sine[place];
    }
    mem_free(angle);
    mem_free(put);
}

void rotary_exact(const Rotary *r, double position, const double *x, long double *y) {
    for (int i = 0; i < r->d / 2; i++) {
        int a, b;
        double c, s;
        rotary_places(r, i, &a, &b);
        point(r, i, position, &c, &s);
        y[a] = (long double)x[a] * (long double)c - (long double)x[b] * (long double)s;
        y[b] = (long double)x[a] * (long double)s + (long double)x[b] * (long double)c;
    }
}
