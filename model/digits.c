#include "digits.h"

#include "bug.h"

#include <math.h>

enum { POINTS_MOST = 16 };

typedef struct {
    double x, y;
} Point;

/* The corners of a stroke in a square from 0 to 1, y downwards. */
static const Point strokes[10][POINTS_MOST] = {
    {{.5, .1}, {.27, .2}, {.2, .5}, {.27, .8}, {.5, .9}, {.73, .8}, {.8, .5}, {.73, .2}, {.5, .1}},
    {{.35, .28}, {.53, .1}, {.53, .9}},
    {{.22, .3}, {.3, .14}, {.5, .1}, {.7, .16}, {.75, .33}, {.62, .52}, {.25, .9}, {.78, .9}},
    {{.25, .16},
     {.5, .1},
     {.7, .17},
     {.73, .32},
     {.6, .46},
     {.42, .48},
     {.62, .5},
     {.76, .64},
     {.72, .82},
     {.5, .9},
     {.24, .84}},
    {{.64, .9}, {.64, .1}, {.2, .64}, {.82, .64}},
    {{.74, .1}, {.3, .1}, {.27, .46}, {.5, .41}, {.7, .5}, {.76, .67}, {.67, .85}, {.45, .9}, {.24, .83}},
    {{.68, .12},
     {.45, .2},
     {.28, .45},
     {.24, .68},
     {.34, .86},
     {.52, .9},
     {.71, .81},
     {.74, .65},
     {.62, .52},
     {.45, .5},
     {.27, .62}},
    {{.22, .1}, {.78, .1}, {.6, .4}, {.43, .9}},
    {{.5, .48},
     {.3, .38},
     {.28, .2},
     {.5, .1},
     {.72, .2},
     {.7, .38},
     {.5, .48},
     {.26, .62},
     {.26, .8},
     {.5, .9},
     {.74, .8},
     {.74, .62},
     {.5, .48}},
    {{.74, .36},
     {.58, .5},
     {.38, .49},
     {.26, .34},
     {.31, .17},
     {.5, .1},
     {.68, .16},
     {.74, .34},
     {.72, .6},
     {.62, .78},
     {.4, .9}},
};

/* How one of them is written: a matrix, a shift, and how far its corners move. */
typedef struct {
    double a, b, c, d, dx, dy, pen;
} Hand;

static double between(Rng *r, double from, double to) {
    return from + (to - from) * rng_unit(r);
}

static Hand draw_hand(Rng *r) {
    double turn = between(r, -0.15, 0.15), slant = between(r, -0.25, 0.25);
    double wide = between(r, 0.75, 1.0), high = between(r, 0.85, 1.0);
    Hand h = {.dx = between(r, -0.04, 0.04), .dy = between(r, -0.04, 0.04), .pen = between(r, 0.035, 0.075)};
    h.a = wide * cos(turn);
    h.b = high * (slant * cos(turn) - sin(turn));
    h.c = wide * sin(turn);
    h.d = high * (slant * sin(turn) + cos(turn));
    return h;
}

static Point place(const Hand *h, Point p, Rng *r) {
    double x = p.x - 0.5 + between(r, -0.07, 0.07), y = p.y - 0.5 + between(r, -0.07, 0.07);
    return (Point){0.5 + h->dx + h->a * x + h->b * y, 0.5 + h->dy + h->c * x + h->d * y};
}

/* From P to the nearest point of the line from A to B. */
static double distance(Point p, Point a, Point b) {
    double x = b.x - a.x, y = b.y - a.y, length2 = x * x + y * y;
    double along = length2 > 0 ? ((p.x - a.x) * x + (p.y - a.y) * y) / length2 : 0;
    along = fmin(fmax(along, 0), 1);
    return hypot(p.x - a.x - along * x, p.y - a.y - along * y);
}

/* Ink where the pen passed, paler over the width of a pixel at its edge. */
static double ink(Point p, const Point *corner, int n, double pen, double pixel) {
    double nearest = 1;
    for (int i = 0; i + 1 < n; i++) nearest = fmin(nearest, distance(p, corner[i], corner[i + 1]));
    return fmin(fmax((pen - nearest) / pixel + 0.5, 0), 1);
}

void digits_draw(Rng *r, int digit, int size, double noise, real *pixel) {
    BUG_ON(digit < 0 || digit > 9);
    Hand h = draw_hand(r);
    Point corner[POINTS_MOST];
    int n = 0;
    for (; n < POINTS_MOST && strokes[digit][n].x > 0; n++) corner[n] = place(&h, strokes[digit][n], r);
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            Point p = {(x + 0.5) / size, (y + 0.5) / size};
            double value = ink(p, corner, n, h.pen, 1.0 / size) + noise * rng_normal(r);
            pixel[y * size + x] = (real)fmin(fmax(value, 0), 1);
        }
    }
}
