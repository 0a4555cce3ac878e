#include "dial.h"

#include "mem.h"

#include <math.h>

#define THICK_RADIUS 6.0 /* a hand is a sixth of the radius thick, at least a dot */

enum { EMPTY, RING, HAND }; /* a dot: HAND + i is hand i */

/* Dots of a face. A dot is `wide` x `high` in units of a column's width; a row of cells is two such units high. */
typedef struct {
    uint8_t *dot; /* [h * w] */
    int w, h;
    double wide, high;
    double x, y, radius; /* of the middle and the ring, in units */
} Face;

static Face face_new(Glyphs glyphs, Rect r) {
    int across = glyphs == GLYPHS_BRAILLE ? 2 : 1, down = glyphs == GLYPHS_BRAILLE ? 4 : glyphs == GLYPHS_HALF ? 2 : 1;
    Face f = {.w = r.w * across, .h = r.h * down, .wide = 1.0 / across, .high = 2.0 / down};
    double side = fmin(r.w, 2.0 * r.h);
    f.dot = MEM_ARRAY(uint8_t, (size_t)f.w * (size_t)f.h);
    f.radius = (side - fmax(f.wide, f.high)) / 2;
    f.x = side / 2;
    f.y = side / 2;
    return f;
}

static void put_ring(Face *f) {
    double half = fmax(f->wide, f->high) / 2;
    for (int y = 0; y < f->h; y++)
        for (int x = 0; x < f->w; x++) {
            double dx = (x + 0.5) * f->wide - f->x, dy = (y + 0.5) * f->high - f->y;
            if (fabs(sqrt(dx * dx + dy * dy) - f->radius) < half) f->dot[y * f->w + x] = RING;
        }
}

static void put_dot(Face *f, double x, double y, int dot) {
    int column = (int)floor(x / f->wide), row = (int)floor(y / f->high);
    if (column >= 0 && row >= 0 && column < f->w && row < f->h) f->dot[row * f->w + column] = (uint8_t)dot;
}

/* On a large face a hand is several dots thick. */
static void put_hand(Face *f, const Hand *hand, int number) {
    double length = hand->length * f->radius, dot = fmin(f->wide, f->high), across = sin(hand->angle),
           up = cos(hand->angle);
    double half = fmax(0, f->radius / THICK_RADIUS - dot) / 2;
    for (double aside = -half; aside <= half; aside += dot / 2)
        for (double at = 0; at <= length; at += dot / 4)
            put_dot(f, f->x + at * across + aside * up, f->y - at * up + aside * across, HAND + number);
}

/* --- to cells --- */

static StyleRole role_of(int dot, const Hand *hand) {
    return dot == RING ? STYLE_BORDER : hand[dot - HAND].role;
}

static int dot_at(const Face *f, int x, int y) {
    return f->dot[y * f->w + x];
}

static void put_halves(Canvas *c, int x, int y, const Hand *hand, int top, int bottom) {
    if (top && bottom && role_of(top, hand) != role_of(bottom, hand))
        canvas_halves(c, x, y, role_of(top, hand), role_of(bottom, hand));
    else if (top)
        canvas_put(c, x, y, bottom ? 0x2588 : CANVAS_HALF_UPPER, role_of(top, hand), ATTRIBUTE_NONE);
    else if (bottom)
        canvas_put(c, x, y, CANVAS_HALF_LOWER, role_of(bottom, hand), ATTRIBUTE_NONE);
}

/* A cell has one colour: that of its upper hand, the ring's only where no hand passes. */
static void put_braille(Canvas *c, int x, int y, const Face *f, const Hand *hand, int column, int row) {
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    uint32_t pattern = 0;
    int best = EMPTY;
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) {
            int dot = dot_at(f, 2 * column + i, 4 * row + j);
            if (dot) pattern |= bits[j][i];
            if (dot >= HAND && (best < HAND || dot < best)) best = dot;
            if (dot == RING && best == EMPTY) best = RING;
        }
    if (pattern) canvas_put(c, x, y, 0x2800 + pattern, role_of(best, hand), ATTRIBUTE_NONE);
}

static void put_letter(Canvas *c, int x, int y, const Hand *hand, int dot) {
    if (dot) canvas_put(c, x, y, dot == RING ? '.' : (uint32_t) "#*+x"[(dot - HAND) % 4], role_of(dot, hand), 0);
}

static void put_face(Canvas *c, Rect r, const Face *f, const Hand *hand) {
    for (int row = 0; row < r.h; row++)
        for (int column = 0; column < r.w; column++) {
            int x = r.x + column, y = r.y + row;
            if (c->glyphs == GLYPHS_BRAILLE)
                put_braille(c, x, y, f, hand, column, row);
            else if (c->glyphs == GLYPHS_HALF)
                put_halves(c, x, y, hand, dot_at(f, column, 2 * row), dot_at(f, column, 2 * row + 1));
            else
                put_letter(c, x, y, hand, dot_at(f, column, row));
        }
}

/* What of R the face takes: an odd number of dots across where dots are whole columns, so that there is a middle. */
static Rect square_of(const Canvas *c, Rect r) {
    int w = r.w < 2 * r.h ? r.w : 2 * r.h;
    if (c->glyphs != GLYPHS_BRAILLE && w % 2 == 0) w--;
    int h = (w + 1) / 2;
    return (Rect){r.x + (r.w - w) / 2, r.y + (r.h - h) / 2, w, h};
}

void dial_draw(Canvas *c, Rect r, const Hand *hand, int hands) {
    if (r.w < DIAL_LEAST_W || r.h < DIAL_LEAST_H) return;
    r = square_of(c, r);
    Face f = face_new(c->glyphs, r);
    put_ring(&f);
    for (int i = hands - 1; i >= 0; i--)
        if (isfinite(hand[i].angle)) put_hand(&f, &hand[i], i);
    put_face(c, r, &f, hand);
    mem_free(f.dot);
}
