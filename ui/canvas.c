#include "canvas.h"

#include "bug.h"
#include "mem.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT 0xFFFDu

static const Cell blank = {.ch = ' ', .width = 1, .role = STYLE_TEXT};

Canvas *canvas_new(int w, int h, Glyphs glyphs) {
    Canvas *c = MEM_NEW(Canvas);
    c->owner = true;
    c->glyphs = glyphs;
    c->heat_colour = glyphs != GLYPHS_ASCII;
    canvas_resize(c, w, h);
    return c;
}

void canvas_free(Canvas *c) {
    if (c == NULL) return;
    BUG_ON(!c->owner);
    mem_free(c->cell);
    mem_free(c);
}

void canvas_resize(Canvas *c, int w, int h) {
    BUG_ON(!c->owner);
    c->w = c->stride = w > 0 ? w : 0;
    c->h = h > 0 ? h : 0;
    c->cell = mem_resize(c->cell, (size_t)c->w * (size_t)c->h + 1, sizeof *c->cell);
    canvas_clear(c);
}

Rect canvas_clip(const Canvas *c, Rect r) {
    int x0 = r.x > 0 ? r.x : 0, y0 = r.y > 0 ? r.y : 0;
    int x1 = r.x + r.w < c->w ? r.x + r.w : c->w;
    int y1 = r.y + r.h < c->h ? r.y + r.h : c->h;
    if (x1 <= x0 || y1 <= y0) return (Rect){0, 0, 0, 0};
    return (Rect){x0, y0, x1 - x0, y1 - y0};
}

Canvas canvas_view(const Canvas *c, Rect r) {
    r = canvas_clip(c, r);
    Canvas view = *c;
    view.owner = false;
    view.w = r.w;
    view.h = r.h;
    view.cell = c->cell + (size_t)r.y * (size_t)c->stride + (size_t)r.x;
    return view;
}

void canvas_clear(Canvas *c) {
    canvas_fill(c, (Rect){0, 0, c->w, c->h}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
}

Cell *canvas_cell(Canvas *c, int x, int y) {
    if (x < 0 || y < 0 || x >= c->w || y >= c->h) return NULL;
    return &c->cell[(size_t)y * (size_t)c->stride + (size_t)x];
}

/* ---- characters ---- */

typedef struct {
    uint32_t first, last;
    char ascii;
} Substitute;

/* What an ASCII terminal shows instead; the first row that holds the code point counts. */
static const Substitute substitutes[] = {
    {0x00A0, 0x00A0, ' '}, {0x00B1, 0x00B1, '~'}, {0x00B2, 0x00B2, '2'}, {0x00B7, 0x00B7, '.'},  {0x00D7, 0x00D7, 'x'},
    {0x00F7, 0x00F7, '/'}, {0x0394, 0x0394, 'D'}, {0x03A3, 0x03A3, 'S'}, {0x03B1, 0x03B1, 'a'},  {0x03B2, 0x03B2, 'b'},
    {0x03B8, 0x03B8, 'o'}, {0x03BB, 0x03BB, 'l'}, {0x03BC, 0x03BC, 'u'}, {0x03C0, 0x03C0, 'p'},  {0x03C3, 0x03C3, 's'},
    {0x03C4, 0x03C4, 't'}, {0x2010, 0x2015, '-'}, {0x2016, 0x2016, '"'}, {0x2018, 0x2019, '\''}, {0x201C, 0x201D, '"'},
    {0x2022, 0x2022, '*'}, {0x2026, 0x2026, '~'}, {0x2190, 0x2190, '<'}, {0x2191, 0x2191, '^'},  {0x2192, 0x2192, '>'},
    {0x2193, 0x2193, 'v'}, {0x2202, 0x2202, 'd'}, {0x2207, 0x2207, 'V'}, {0x2211, 0x2211, 'S'},  {0x2212, 0x2212, '-'},
    {0x221A, 0x221A, 'V'}, {0x221E, 0x221E, '8'}, {0x2248, 0x2248, '~'}, {0x2260, 0x2260, '!'},  {0x2264, 0x2264, '<'},
    {0x2265, 0x2265, '>'}, {0x23CE, 0x23CE, '$'}, {0x23F8, 0x23F8, '"'}, {0x2420, 0x2420, '_'},  {0x2423, 0x2423, '_'},
    {0x2424, 0x2424, '$'}, {0x2500, 0x2501, '-'}, {0x2502, 0x2503, '|'}, {0x2504, 0x2505, '-'},  {0x2506, 0x2507, '|'},
    {0x2508, 0x2509, '-'}, {0x250A, 0x250B, '|'}, {0x250C, 0x254B, '+'}, {0x254C, 0x254D, '-'},  {0x254E, 0x254F, '|'},
    {0x2550, 0x2550, '='}, {0x2551, 0x2551, '|'}, {0x2552, 0x2570, '+'}, {0x2571, 0x2571, '/'},  {0x2572, 0x2572, '\\'},
    {0x2573, 0x2573, 'x'}, {0x2574, 0x2574, '-'}, {0x2575, 0x2575, '|'}, {0x2576, 0x2576, '-'},  {0x2577, 0x2577, '|'},
    {0x2578, 0x2578, '='}, {0x2579, 0x2579, '|'}, {0x257A, 0x257A, '-'}, {0x257B, 0x257F, '|'},  {0x2580, 0x2580, '"'},
    {0x2581, 0x2582, '_'}, {0x2583, 0x2584, '_'}, {0x2585, 0x2586, '='}, {0x2587, 0x258B, '#'},  {0x258C, 0x258F, '|'},
    {0x2590, 0x2590, '|'}, {0x2591, 0x2591, '.'}, {0x2592, 0x2592, ':'}, {0x2593, 0x2593, '%'},  {0x2594, 0x2594, '"'},
    {0x2595, 0x2595, '|'}, {0x2596, 0x259F, '#'}, {0x25A0, 0x25A0, '#'}, {0x25A1, 0x25A1, 'o'},  {0x25B2, 0x25B5, '^'},
    {0x25B6, 0x25BB, '>'}, {0x25BC, 0x25BF, 'v'}, {0x25C0, 0x25C5, '<'}, {0x25C6, 0x25C6, '*'},  {0x25C7, 0x25CC, 'o'},
    {0x25CF, 0x25CF, '*'}, {0x25E6, 0x25E6, 'o'}, {0x2605, 0x2605, '*'}, {0x2702, 0x2702, 'x'},  {0x2713, 0x2714, 'v'},
    {0x2717, 0x2718, 'x'}, {0x2800, 0x2800, ' '}, {0x2801, 0x28FF, '*'}, {0xFFFD, 0xFFFD, '?'},
};

static uint32_t as_ascii(uint32_t ch) {
    if (ch < 0x7F) return ch;
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (ch >= substitutes[i].first && ch <= substitutes[i].last) return (uint32_t)substitutes[i].ascii;
    return '?';
}

static bool is_control(uint32_t ch) {
    return ch < 0x20 || (ch >= 0x7F && ch < 0xA0) || ch > 0x10FFFF;
}

/* Marks that join, hide or turn the direction of what follows: a terminal must never get them. */
static bool is_invisible(uint32_t ch) {
    return utf8_width(ch) == 0;
}

/* ---- cells ---- */

/* Writes one cell and blanks the other half of a wide character that loses one. */
static void set_cell(Canvas *c, int x, int y, Cell cell) {
    Cell *at = canvas_cell(c, x, y);
    if (at == NULL) return;
    if (at->width == 0 && x > 0) at[-1].ch = ' ', at[-1].width = 1;
    if (at->width == 2 && x + 1 < c->w) at[1].ch = ' ', at[1].width = 1;
    *at = cell;
}

/* Writes a character that fits in COLUMNS; returns its columns, 0 when it does not fit or is invisible. */
static int set_char(Canvas *c, int x, int y, int columns, uint32_t ch, StyleRole role, int attributes) {
    if (is_control(ch)) ch = REPLACEMENT;
    int width = utf8_width(ch);
    if (width == 0 || width > columns) return 0;
    Cell cell = {.ch = ch, .width = (uint8_t)width, .role = (uint8_t)role, .attributes = (uint8_t)(attributes & 0xFF)};
    if (c->glyphs == GLYPHS_ASCII) {
        cell.ch = as_ascii(ch);
        cell.width = 1;
        for (int i = 0; i < width; i++) set_cell(c, x + i, y, cell);
        return width;
    }
    if (width == 2 && (x < 0 || x + 1 >= c->w)) { /* half of it would be outside */
        cell.ch = ' ';
        cell.width = 1;
        set_cell(c, x, y, cell);
        set_cell(c, x + 1, y, cell);
        return width;
    }
    if (width == 2) { /* the right half first: it repairs what it breaks, the left half then stays whole */
        Cell right = cell;
        right.ch = 0;
        right.width = 0;
        set_cell(c, x + 1, y, right);
        canvas_cell(c, x + 1, y)->width = 1; /* not yet half of anything */
        set_cell(c, x, y, cell);
        canvas_cell(c, x + 1, y)->width = 0;
        return width;
    }
    set_cell(c, x, y, cell);
    return width;
}

void canvas_put(Canvas *c, int x, int y, uint32_t ch, StyleRole role, int attributes) {
    set_char(c, x, y, 2, ch, role, attributes);
}

void canvas_fill(Canvas *c, Rect r, uint32_t ch, StyleRole role, int attributes) {
    Canvas view = canvas_view(c, r);
    Cell cell = blank;
    if (is_control(ch) || utf8_width(ch) != 1) ch = ' ';
    cell.ch = c->glyphs == GLYPHS_ASCII ? as_ascii(ch) : ch;
    cell.role = (uint8_t)role;
    cell.attributes = (uint8_t)(attributes & 0xFF);
    for (int y = 0; y < view.h; y++)
        for (int x = 0; x < view.w; x++) *canvas_cell(&view, x, y) = cell;
}

void canvas_halves(Canvas *c, int x, int y, StyleRole role, StyleRole lower) {
    canvas_put(c, x, y, CANVAS_HALF_UPPER, role, ATTRIBUTE_NONE);
    Cell *cell = canvas_cell(c, x, y);
    if (cell != NULL && c->glyphs != GLYPHS_ASCII) cell->ground = (uint8_t)(1 + lower);
}

void canvas_heat(Canvas *c, int x, int y, uint32_t ch, HeatMap map, uint8_t top, uint8_t bottom) {
    Cell cell = {.ch = c->glyphs == GLYPHS_ASCII ? as_ascii(ch) : ch, .width = 1, .role = STYLE_TEXT};
    cell.map = (uint8_t)map;
    cell.top = top;
    cell.bottom = bottom;
    set_cell(c, x, y, cell);
}

/* ---- text ---- */

/* Reads the next character of *S with the marks that follow it; false at the end. */
static bool next_char(const char **s, size_t *left, uint32_t *code) {
    if (*left == 0) return false;
    int bytes = utf8_decode(*s, *left, code);
    if (bytes == 0) *code = REPLACEMENT, bytes = 1;
    *s += bytes;
    *left -= (size_t)bytes;
    return true;
}

/* Puts MARK on the narrow letter at (x, y) when there is one letter for both. */
static void compose_at(Canvas *c, int x, int y, uint32_t mark) {
    Cell *cell = canvas_cell(c, x, y);
    if (cell == NULL || cell->width != 1 || c->glyphs == GLYPHS_ASCII) return;
    uint32_t letter = utf8_compose(cell->ch, mark);
    if (letter != 0 && utf8_width(letter) == 1) cell->ch = letter;
}

int canvas_text(Canvas *c, int x, int y, int columns, const char *text, StyleRole role, int attributes) {
    int room = c->w - x;
    if (columns >= 0 && columns < room) room = columns;
    if (room <= 0 || y < 0 || y >= c->h) return 0;
    bool ellipsis = (attributes & CANVAS_ELLIPSIS) != 0 && utf8_columns(text) > room;
    if (ellipsis) room--;
    int used = 0;
    size_t left = strlen(text);
    for (uint32_t code; next_char(&text, &left, &code);) {
        if (!is_control(code) && is_invisible(code)) {
            if (used > 0) compose_at(c, x + used - 1, y, code);
            continue;
        }
        int width = set_char(c, x + used, y, room - used, code, role, attributes);
        if (width == 0) break;
        used += width;
    }
    if (ellipsis) used += set_char(c, x + used, y, 1, 0x2026, role, attributes);
    return used;
}

int canvas_textf(Canvas *c, int x, int y, int columns, StyleRole role, int attributes, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return canvas_text(c, x, y, columns, text, role, attributes);
}

/* ---- dump ---- */

static void trim_line(Str *out, size_t start) {
    while (out->len > start && out->s[out->len - 1] == ' ') out->s[--out->len] = '\0';
    str_add_char(out, '\n');
}

static void dump_text(const Canvas *c, Str *out) {
    for (int y = 0; y < c->h; y++) {
        size_t start = out->len;
        for (int x = 0; x < c->w; x++) {
            const Cell *cell = &c->cell[(size_t)y * (size_t)c->stride + (size_t)x];
            if (cell->ch != 0) str_add_code(out, cell->ch);
        }
        trim_line(out, start);
    }
}

static char heat_letter(uint8_t heat, bool is_void) {
    return is_void ? '_' : "0123456789abcdef"[heat >> 4];
}

static char cell_letter(const Cell *cell, bool bottom) {
    if (cell->map != HEAT_NONE)
        return bottom ? heat_letter(cell->bottom, cell->void_bottom) : heat_letter(cell->top, cell->void_top);
    if (bottom && cell->ground != 0) return style_letter((StyleRole)(cell->ground - 1));
    if (cell->ch == ' ' && cell->role == STYLE_TEXT && (cell->attributes & ATTRIBUTE_REVERSE) == 0) return ' ';
    return style_letter((StyleRole)cell->role);
}

static void dump_styles(const Canvas *c, bool bottom, Str *out) {
    for (int y = 0; y < c->h; y++) {
        size_t start = out->len;
        for (int x = 0; x < c->w; x++)
            str_add_char(out, cell_letter(&c->cell[(size_t)y * (size_t)c->stride + (size_t)x], bottom));
        trim_line(out, start);
    }
}

static bool halves_differ(const Canvas *c) {
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *cell = &c->cell[(size_t)y * (size_t)c->stride + (size_t)x];
            if (cell_letter(cell, false) != cell_letter(cell, true)) return true;
        }
    return false;
}

void canvas_dump(const Canvas *c, bool styles, Str *out) {
    dump_text(c, out);
    if (!styles) return;
    str_add(out, "-- styles\n");
    dump_styles(c, false, out);
    if (!halves_differ(c)) return;
    str_add(out, "-- lower halves\n");
    dump_styles(c, true, out);
}
