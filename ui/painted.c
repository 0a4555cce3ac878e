#include "painted.h"

#include <stddef.h>

#define HARD_SPACE 0xA0u

/* A cell of one colour is a hard space on a ground of that colour, or reversed where the colour is the terminal's own:
 * half the bytes of two colours, and no seam between rows, which glyphs leave in some fonts. (Not a plain space: curses
 * would erase those, and terminals differ in the colour of what is erased.) What it would have in front does not show:
 * where the cell before it has the ground already, its colours stay, and nothing need be said of them. */
static Painted painted_whole(const Look *look, const Painted *before) {
    int32_t colour = look->paint.fg;
    Painted p = {.ch = HARD_SPACE, .sent = {.fg = -1, .bg = colour}, .ground = colour, .look = *look};
    if (colour < 0)
        p.sent.attributes = ATTRIBUTE_REVERSE;
    else if (before != NULL && before->ground == colour && before->sent.attributes == 0)
        p.sent = before->sent;
    return p;
}

bool painted_same(const Look *a, const Look *b) {
    return a->ch == b->ch && a->paint.fg == b->paint.fg && a->paint.bg == b->paint.bg &&
           a->paint.attributes == b->paint.attributes;
}

static bool is_whole(const Painting *p, const Look *look) {
    if (p->depth < DEPTH_256 || p->glyphs == GLYPHS_ASCII) return false;
    if (look->ch == FULL_BLOCK) return (look->paint.attributes & ATTRIBUTE_REVERSE) == 0;
    return look->ch == CANVAS_HALF_UPPER && look->paint.fg == look->paint.bg && look->paint.fg >= 0;
}

static bool is_halves(const Painting *p, const Look *look) {
    return look->ch == CANVAS_HALF_UPPER && look->paint.fg >= 0 && look->paint.bg >= 0 && p->depth >= DEPTH_256;
}

/* The first cell from X on that looks otherwise, when it is whole: its colour; -1: it is not, or there is none. */
static int32_t whole_behind(const Painting *p, const Canvas *c, int x, int y, const Look *look) {
    Look next = *look;
    for (; x < c->w && x < p->columns && painted_same(&next, look); x++)
        next = painter_look(&p->painter, c, x, y, p->columns);
    return is_whole(p, &next) && !painted_same(&next, look) ? next.paint.fg : -1;
}

static Painted painted_plain(const Look *look) {
    Painted p = {.ch = look->ch, .sent = look->paint, .look = *look};
    p.ground = look->paint.fg >= 0 ? look->paint.bg : -1;
    p.sent.attributes &= ATTRIBUTE_BOLD | ATTRIBUTE_REVERSE | ATTRIBUTE_UNDERLINE;
    return p;
}

/* Two halves may be drawn with either in front; the one that goes on to the right of all that look alike is the ground,
 * which then need not be said again. */
static Painted painted_halves(const Painting *p, const Canvas *c, int x, int y, const Look *look,
                              const Painted *before) {
    if (before != NULL && painted_same(&before->look, look)) return *before;
    Painted halves = painted_plain(look);
    if (whole_behind(p, c, x + 1, y, look) != look->paint.fg) return halves;
    halves.ch = CANVAS_HALF_LOWER;
    halves.sent.fg = look->paint.bg;
    halves.sent.bg = look->paint.fg;
    halves.ground = look->paint.fg;
    return halves;
}

Painted painted_as(const Painting *p, const Canvas *c, int x, int y, const Look *look, const Painted *before) {
    if (is_whole(p, look)) return painted_whole(look, before);
    return is_halves(p, look) ? painted_halves(p, c, x, y, look, before) : painted_plain(look);
}
