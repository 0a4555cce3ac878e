#include "spotlight.h"

#include "draw.h"
#include "mem.h"

static const uint32_t dot = 0x00B7, arrow = 0x25B8;

static bool same(Paint a, Paint b) {
    return a.fg == b.fg && a.bg == b.bg && a.attributes == b.attributes;
}

/* Whether dim text cannot be told from text. */
static bool dim_is_text(const StyleSheet *style) {
    return same(style_role(style, STYLE_DIM, ATTRIBUTE_NONE), style_role(style, STYLE_TEXT, ATTRIBUTE_NONE));
}

static bool is_frame(const Cell *cell) {
    return cell->role == STYLE_BORDER || cell->role == STYLE_BORDER_FOCUS;
}

static void dim_heat(const Canvas *c, Cell *cell) {
    bool empty = cell->void_top && cell->void_bottom;
    int heat = cell->void_bottom ? cell->top : cell->void_top ? cell->bottom : (cell->top + cell->bottom) / 2;
    if (!cell->over) cell->ch = empty ? ' ' : draw_heat_glyph(c, (HeatMap)cell->map, (uint8_t)heat);
    cell->map = HEAT_NONE;
    cell->over = false;
    cell->width = 1;
}

static void dim_cell(const Canvas *c, Cell *cell, bool dots) {
    if (cell->map != HEAT_NONE) dim_heat(c, cell);
    bool frame = is_frame(cell);
    cell->role = frame ? STYLE_BORDER : STYLE_DIM;
    cell->attributes &= ATTRIBUTE_CARET;
    cell->ground = 0;
    if (!dots || frame || cell->ch == ' ') return;
    cell->ch = c->glyphs == GLYPHS_ASCII ? '.' : dot; /* of a wide character each half */
    cell->width = 1;
}

/* What panes point at a row with: an arrow, or brackets on heat. */
static bool is_pointer(const Canvas *c, const Cell *cell) {
    if (cell->over) return cell->ch == '[' || cell->ch == ']';
    return cell->ch == arrow || (c->glyphs == GLYPHS_ASCII && cell->ch == '>' && cell->attributes & ATTRIBUTE_BOLD);
}

static bool is_styled(const Canvas *c, const Cell *cell) {
    (void)c;
    return cell->role == STYLE_CURSOR && !cell->lit;
}

static bool is_lit(const Canvas *c, const Cell *cell) {
    (void)c;
    return cell->lit;
}

/* LIT [h of the canvas]: the rows of R that hold such a cell; whether there are any. */
static bool find_rows(Canvas *c, Rect r, bool (*is)(const Canvas *, const Cell *), bool *lit) {
    bool any = false;
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w && !lit[y]; x++)
            if (is(c, canvas_cell(c, x, y))) lit[y] = any = true;
    return any;
}

/* The frame's own arrow, in its first row, says nothing. */
static bool find_cursor(Canvas *c, Rect pane, bool *lit) {
    Rect inside = {pane.x, pane.y + 1, pane.w, pane.h - 1};
    return find_rows(c, inside, is_pointer, lit) || find_rows(c, inside, is_styled, lit);
}

bool spotlight_finds(Canvas *c, Rect pane) {
    bool *rows = MEM_ARRAY(bool, (size_t)c->h + 1);
    pane = canvas_clip(c, pane);
    bool found = find_cursor(c, pane, rows) || find_rows(c, pane, is_lit, rows);
    mem_free(rows);
    return found;
}

void spotlight_dim(Canvas *c, const StyleSheet *style, Spotlight light, Rect pane) {
    if (light == SPOTLIGHT_OFF) return;
    bool *lit = MEM_ARRAY(bool, (size_t)c->h + 1), dots = dim_is_text(style);
    pane = canvas_clip(c, pane);
    bool rows = light == SPOTLIGHT_CURSOR && spotlight_finds(c, pane);
    if (rows) (void)find_cursor(c, pane, lit);
    for (int y = 0; y < c->h; y++) {
        for (int x = 0; x < c->w; x++) {
            Cell *cell = canvas_cell(c, x, y);
            bool here = x >= pane.x && x < pane.x + pane.w && y >= pane.y && y < pane.y + pane.h;
            if (!here || (rows && !lit[y] && !cell->lit)) dim_cell(c, cell, dots);
        }
    }
    mem_free(lit);
}
