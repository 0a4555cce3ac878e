#include "glyph_shape.h"

static void add(GlyphShape *s, double x, double y, double w, double h) {
    if (w > 0 && h > 0) s->part[s->count++] = (GlyphPart){x, y, w, h};
}

/* U+2580..U+259F: halves, eighths, shades, quadrants. */
static bool block(uint32_t ch, GlyphShape *s) {
    static const uint8_t quadrants[] = {4, 8,  1, 13, 9,
                                        7, 11, 2, 6,  14}; /* U+2596..: 1 and 2 the upper, 4 and 8 the lower */
    if (ch == 0x2580)
        add(s, 0, 0, 1, 0.5);
    else if (ch <= 0x2588)
        add(s, 0, 1 - (ch - 0x2580) / 8.0, 1, (ch - 0x2580) / 8.0);
    else if (ch <= 0x258F)
        add(s, 0, 0, (0x2590 - ch) / 8.0, 1);
    else if (ch == 0x2590)
        add(s, 0.5, 0, 0.5, 1);
    else if (ch <= 0x2593)
        add(s, 0, 0, 1, 1), s->opacity = (ch - 0x2590) / 4.0;
    else if (ch == 0x2594)
        add(s, 0, 0, 1, 0.125);
    else if (ch == 0x2595)
        add(s, 0.875, 0, 0.125, 1);
    else
        for (int i = 0; i < 4; i++)
            if ((quadrants[ch - 0x2596] >> i & 1) != 0) add(s, i % 2 * 0.5, i / 2 * 0.5, 0.5, 0.5);
    return true;
}

/* The arms of box lines that are drawn here: left, right, up, down; 1 light, 2 heavy. */
typedef struct {
    uint16_t ch;
    uint8_t left, right, up, down;
} Arms;
static const Arms arms[] = {
    {0x2500, 1, 1, 0, 0}, {0x2501, 2, 2, 0, 0}, {0x2502, 0, 0, 1, 1}, {0x2503, 0, 0, 2, 2}, {0x250C, 0, 1, 0, 1},
    {0x250F, 0, 2, 0, 2}, {0x2510, 1, 0, 0, 1}, {0x2513, 2, 0, 0, 2}, {0x2514, 0, 1, 1, 0}, {0x2517, 0, 2, 2, 0},
    {0x2518, 1, 0, 1, 0}, {0x251B, 2, 0, 2, 0}, {0x251C, 0, 1, 1, 1}, {0x2523, 0, 2, 2, 2}, {0x2524, 1, 0, 1, 1},
    {0x252B, 2, 0, 2, 2}, {0x252C, 1, 1, 0, 1}, {0x2533, 2, 2, 0, 2}, {0x2534, 1, 1, 1, 0}, {0x253B, 2, 2, 2, 0},
    {0x253C, 1, 1, 1, 1}, {0x254B, 2, 2, 2, 2}, {0x2574, 1, 0, 0, 0}, {0x2575, 0, 0, 1, 0}, {0x2576, 0, 1, 0, 0},
    {0x2577, 0, 0, 0, 1}, {0x2578, 2, 0, 0, 0}, {0x2579, 0, 0, 2, 0}, {0x257A, 0, 2, 0, 0}, {0x257B, 0, 0, 0, 2},
    {0x257C, 1, 2, 0, 0}, {0x257E, 2, 1, 0, 0},
};

static bool box(uint32_t ch, GlyphShape *s) {
    const double thick[] = {0, 0.1, 0.2}, tall[] = {0, 0.05, 0.1}; /* a cell is twice as high as wide */
    for (unsigned i = 0; i < sizeof arms / sizeof *arms; i++) {
        const Arms *a = &arms[i];
        if (a->ch != ch) continue;
        double most = thick[a->up > a->down ? a->up : a->down] / 2; /* arms meet at the far side of the others */
        if (a->left != 0) add(s, 0, 0.5 - tall[a->left] / 2, 0.5 + most, tall[a->left]);
        if (a->right != 0) add(s, 0.5 - most, 0.5 - tall[a->right] / 2, 0.5 + most, tall[a->right]);
        if (a->up != 0) add(s, 0.5 - thick[a->up] / 2, 0, thick[a->up], 0.5);
        if (a->down != 0) add(s, 0.5 - thick[a->down] / 2, 0.5, thick[a->down], 0.5);
        return true;
    }
    return false;
}

static bool braille(uint32_t ch, GlyphShape *s) {
    static const uint8_t column[] = {0, 0, 0, 1, 1, 1, 0, 1}, row[] = {0, 1, 2, 0, 1, 2, 3, 3};
    for (int i = 0; i < 8; i++)
        if ((ch >> i & 1) != 0) add(s, 0.15 + column[i] * 0.5, 0.075 + row[i] * 0.25, 0.2, 0.1);
    return true;
}

bool glyph_shape(uint32_t ch, GlyphShape *out) {
    out->count = 0;
    out->opacity = 1;
    if (ch >= 0x2580 && ch <= 0x259F) return block(ch, out);
    if (ch >= 0x2800 && ch <= 0x28FF) return braille(ch, out);
    return ch >= 0x2500 && ch <= 0x257F && box(ch, out);
}
