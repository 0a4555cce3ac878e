#include "paint.h"

#include <string.h>

void painter_set(Painter *p, const StyleSheet *style) {
    if (p->known && memcmp(&p->style, style, sizeof *style) == 0) return;
    p->style = *style;
    p->known = true;
    for (int heat = 0; heat < 256; heat++) {
        p->heat[HEAT_SEQUENTIAL][heat] = style_heat(style, HEAT_SEQUENTIAL, (uint8_t)heat);
        p->heat[HEAT_DIVERGING][heat] = style_heat(style, HEAT_DIVERGING, (uint8_t)heat);
    }
}

static Look look_heat(const Painter *p, const Cell *cell, bool in_colour) {
    HeatMap map = (HeatMap)cell->map;
    if (!in_colour) return (Look){cell->ch, style_ramp(&p->style, map, cell->void_top ? cell->bottom : cell->top)};
    Paint paint = {-1, -1, ATTRIBUTE_NONE};
    if (cell->over) {
        paint = style_on_heat(&p->style, map, cell->top);
    } else if (cell->ch == CANVAS_HALF_UPPER) {
        paint.fg = p->heat[map][cell->top];
        if (!cell->void_bottom) paint.bg = p->heat[map][cell->bottom];
    } else if (cell->ch == CANVAS_HALF_LOWER) {
        paint.fg = p->heat[map][cell->bottom];
    } else {
        paint = style_on_heat(&p->style, map, cell->top);
    }
    return (Look){cell->ch, paint};
}

static Look look_cell(const Painter *p, const Cell *cell, bool in_colour) {
    if (cell->map != HEAT_NONE) return look_heat(p, cell, in_colour && style_heat_is_colour(&p->style));
    Paint paint = style_role(&p->style, (StyleRole)cell->role, cell->attributes);
    if (cell->ground == 0) return (Look){cell->ch, paint};
    Paint ground = style_role(&p->style, (StyleRole)(cell->ground - 1), ATTRIBUTE_NONE);
    if (paint.fg < 0 || ground.fg < 0) return (Look){FULL_BLOCK, paint}; /* no colour for the ground */
    paint.bg = ground.fg;
    return (Look){cell->ch, paint};
}

Look painter_look(const Painter *p, const Canvas *c, int x, int y, int columns) {
    const Cell *row = &c->cell[(size_t)y * (size_t)c->stride];
    Look look = look_cell(p, &row[x], c->heat_colour);
    bool half = look.ch == 0 && (x == 0 || row[x - 1].width != 2);
    bool cut = row[x].width == 2 && (x + 1 >= columns || x + 1 >= c->w || row[x + 1].ch != 0);
    if (half || cut) look.ch = ' ';
    return look;
}
