#include "picture.h"

#include "glyph_shape.h"
#include "mem.h"
#include "paint.h"

#include <string.h>

#define CELL_W    10 /* SVG units */
#define CELL_H    20
#define BASE_LINE 15
#define FONT_SIZE 16.6 /* the monospaced fonts in use are 0.6 wide */

static bool ends_in(const char *path, const char *end) {
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

PictureKind picture_kind(const char *path) {
    if (ends_in(path, ".svg")) return PICTURE_SVG;
    return ends_in(path, ".ans") || ends_in(path, ".ansi") ? PICTURE_ANSI : PICTURE_TEXT;
}

/* ---- ANSI ---- */

static void ansi_colour(Str *out, int32_t colour, int base) {
    if (colour < 0) return;
    if (colour > 0xFFFFFF)
        str_addf(out, ";%d;2;%d;%d;%d", base + 8, colour >> 16 & 0xFF, colour >> 8 & 0xFF, colour & 0xFF);
    else if (colour < 16)
        str_addf(out, ";%d", colour < 8 ? base + colour : base + 60 + colour - 8);
    else
        str_addf(out, ";%d;5;%d", base + 8, colour);
}

static void ansi_paint(Str *out, Paint p) {
    str_add(out, "\033[0");
    if ((p.attributes & ATTRIBUTE_BOLD) != 0) str_add(out, ";1");
    if ((p.attributes & ATTRIBUTE_UNDERLINE) != 0) str_add(out, ";4");
    if ((p.attributes & ATTRIBUTE_REVERSE) != 0) str_add(out, ";7");
    ansi_colour(out, p.fg, 30);
    ansi_colour(out, p.bg, 40);
    str_add(out, "m");
}

static bool same_paint(Paint a, Paint b) {
    int looks = ATTRIBUTE_BOLD | ATTRIBUTE_UNDERLINE | ATTRIBUTE_REVERSE;
    return a.fg == b.fg && a.bg == b.bg && (a.attributes & looks) == (b.attributes & looks);
}

static void ansi_add(const Canvas *c, const Painter *painter, Str *out) {
    const Paint plain = {-1, -1, ATTRIBUTE_NONE};
    for (int y = 0; y < c->h; y++) {
        Paint now = plain;
        for (int x = 0; x < c->w; x++) {
            Look look = painter_look(painter, c, x, y, c->w);
            if (look.ch == 0) continue;
            if (!same_paint(look.paint, now)) ansi_paint(out, look.paint);
            now = look.paint;
            str_add_code(out, look.ch);
        }
        if (!same_paint(now, plain)) str_add(out, "\033[0m");
        str_add(out, "\n");
    }
}

/* ---- SVG ---- */

typedef struct {
    Str *out;
    int32_t text, ground; /* what the terminal's own colours are here */
} Svg;

/* The colours 0..15 are the terminal's own; a picture needs some. */
static int32_t rgb_of(int32_t colour, int32_t own) {
    static const int32_t first[16] = {0x000000, 0xCD3131, 0x0DBC79, 0xC5A500, 0x2472C8, 0xBC3FBC, 0x11A8CD, 0xC8C8C8,
                                      0x666666, 0xF14C4C, 0x23D18B, 0xE5C100, 0x3B8EEA, 0xD670D6, 0x29B8DB, 0xFFFFFF};
    static const int steps[6] = {0, 95, 135, 175, 215, 255};
    if (colour < 0) return own;
    if (colour > 0xFFFFFF) return colour & 0xFFFFFF;
    if (colour < 16) return first[colour];
    if (colour >= 232) return (8 + 10 * (colour - 232)) * 0x010101;
    int at = colour - 16;
    return steps[at / 36] << 16 | steps[at / 6 % 6] << 8 | steps[at % 6];
}

/* Foreground and ground of a cell, reversed or not. */
static void svg_colours(const Svg *s, Paint p, int32_t *fg, int32_t *bg) {
    *fg = rgb_of(p.fg, s->text);
    *bg = rgb_of(p.bg, s->ground);
    if ((p.attributes & ATTRIBUTE_REVERSE) == 0) return;
    int32_t before = *fg;
    *fg = *bg;
    *bg = before;
}

static void svg_rect(Svg *s, double x, double y, double w, double h, int32_t rgb, double opacity) {
    str_addf(s->out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%06x\"", x, y, w, h, (unsigned)rgb);
    if (opacity < 1) str_addf(s->out, " fill-opacity=\"%g\"", opacity);
    if (w < 2 || h < 2) str_add(s->out, " shape-rendering=\"auto\""); /* crisp, a thin line vanishes when it shrinks */
    str_add(s->out, "/>\n");
}

static void svg_escaped(Str *out, uint32_t ch) {
    if (ch == '<')
        str_add(out, "&lt;");
    else if (ch == '&')
        str_add(out, "&amp;");
    else
        str_add_code(out, ch);
}

/* The grounds of row Y, runs of one colour as one rectangle. */
static void svg_grounds(Svg *s, const Look *row, int columns, int y) {
    for (int x = 0, to; x < columns; x = to) {
        int32_t fg, ground, next;
        svg_colours(s, row[x].paint, &fg, &ground);
        for (to = x + 1; to < columns; to++) {
            svg_colours(s, row[to].paint, &fg, &next);
            if (next != ground && row[to].ch != 0) break;
        }
        if (ground != s->ground) svg_rect(s, x * CELL_W, y * CELL_H, (to - x) * CELL_W, CELL_H, ground, 1);
    }
}

static void svg_shapes(Svg *s, const Look *row, int columns, int y) {
    for (int x = 0; x < columns; x++) {
        GlyphShape shape;
        int32_t fg, ground;
        if (!glyph_shape(row[x].ch, &shape)) continue;
        svg_colours(s, row[x].paint, &fg, &ground);
        for (int i = 0; i < shape.count; i++) {
            const GlyphPart *p = &shape.part[i];
            svg_rect(s, (x + p->x) * CELL_W, (y + p->y) * CELL_H, p->w * CELL_W, p->h * CELL_H, fg, shape.opacity);
        }
    }
}

static bool is_letter(Look look) {
    GlyphShape shape;
    return look.ch > ' ' && look.ch != 0xA0 && !glyph_shape(look.ch, &shape);
}

/* A run of characters of one paint is one text that is told its width, so that columns stay columns in any font. */
static int svg_run(Svg *s, const Look *row, int columns, int x, int y) {
    int to = x;
    int32_t fg, ground;
    svg_colours(s, row[x].paint, &fg, &ground);
    while (to < columns && same_paint(row[to].paint, row[x].paint) && (is_letter(row[to]) || row[to].ch == 0)) to++;
    str_addf(s->out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"", x * CELL_W, y * CELL_H + BASE_LINE,
             (to - x) * CELL_W, (unsigned)fg);
    if ((row[x].paint.attributes & ATTRIBUTE_BOLD) != 0) str_add(s->out, " font-weight=\"bold\"");
    if ((row[x].paint.attributes & ATTRIBUTE_UNDERLINE) != 0) str_add(s->out, " text-decoration=\"underline\"");
    str_add(s->out, ">");
    for (int i = x; i < to; i++)
        if (row[i].ch != 0) svg_escaped(s->out, row[i].ch);
    str_add(s->out, "</text>\n");
    return to;
}

static void svg_add(const Canvas *c, const Painter *painter, Str *out) {
    bool light = style_on_light(&painter->style);
    Svg s = {out, light ? 0x1B1D22 : 0xD8DBE0, light ? 0xFFFFFF : 0x101216};
    int w = c->w * CELL_W, h = c->h * CELL_H;
    str_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
             "font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"%g\" "
             "shape-rendering=\"crispEdges\">\n",
             w, h, w, h, FONT_SIZE);
    svg_rect(&s, 0, 0, w, h, s.ground, 1);
    Look *row = MEM_ARRAY(Look, (size_t)c->w + 1);
    for (int y = 0; y < c->h; y++) {
        for (int x = 0; x < c->w; x++) row[x] = painter_look(painter, c, x, y, c->w);
        svg_grounds(&s, row, c->w, y);
        svg_shapes(&s, row, c->w, y);
        for (int x = 0; x < c->w;) x = is_letter(row[x]) ? svg_run(&s, row, c->w, x, y) : x + 1;
    }
    mem_free(row);
    str_add(out, "</svg>\n");
}

/* SVG has true colour wherever there is any. */
static StyleSheet sheet_of(const StyleSheet *style, PictureKind kind) {
    StyleSheet sheet = *style;
    if (kind == PICTURE_SVG && sheet.depth > DEPTH_MONO) sheet.depth = DEPTH_TRUE;
    return sheet;
}

bool picture_heat_is_colour(const StyleSheet *style, PictureKind kind) {
    StyleSheet sheet = sheet_of(style, kind);
    return kind != PICTURE_TEXT && style_heat_is_colour(&sheet);
}

void picture_add(const Canvas *c, const StyleSheet *style, PictureKind kind, Str *out) {
    if (kind == PICTURE_TEXT) {
        canvas_dump(c, false, out);
        return;
    }
    Painter painter = {.known = false};
    StyleSheet sheet = sheet_of(style, kind);
    painter_set(&painter, &sheet);
    if (kind == PICTURE_ANSI)
        ansi_add(c, &painter, out);
    else
        svg_add(c, &painter, out);
}
