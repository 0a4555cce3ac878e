#include "canvas.h"

#include "ascii.h"
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
        cell.ch = ascii_cell(ch);
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
    cell.ch = c->glyphs == GLYPHS_ASCII ? ascii_cell(ch) : ch;
    cell.role = (uint8_t)role;
    cell.attributes = (uint8_t)(attributes & 0xFF);
    for (int y = 0; y < view.h; y++) {
        Cell *row = view.cell + (size_t)y * (size_t)view.stride;
        for (int x = 0; x < view.w; x++) row[x] = cell;
    }
}

void canvas_halves(Canvas *c, int x, int y, StyleRole role, StyleRole lower) {
    canvas_put(c, x, y, CANVAS_HALF_UPPER, role, ATTRIBUTE_NONE);
    Cell *cell = canvas_cell(c, x, y);
    if (cell != NULL && c->glyphs != GLYPHS_ASCII) cell->ground = (uint8_t)(1 + lower);
}

Cell canvas_heat_cell(const Canvas *c, uint32_t ch, HeatMap map, uint8_t top, uint8_t bottom, bool void_top,
                      bool void_bottom) {
    return (Cell){.ch = c->glyphs == GLYPHS_ASCII ? ascii_cell(ch) : ch,
                  .width = 1,
                  .role = STYLE_TEXT,
                  .map = (uint8_t)map,
                  .top = top,
                  .bottom = bottom,
                  .void_top = void_top,
                  .void_bottom = void_bottom};
}

void canvas_heat(Canvas *c, int x, int y, uint32_t ch, HeatMap map, uint8_t top, uint8_t bottom) {
    set_cell(c, x, y, canvas_heat_cell(c, ch, map, top, bottom, false, false));
}

void canvas_set(Canvas *c, int x, int y, Cell cell) {
    BUG_ON(cell.width != 1);
    set_cell(c, x, y, cell);
}

void canvas_light(Canvas *c, Rect r) {
    r = canvas_clip(c, r);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) canvas_cell(c, x, y)->lit = true;
}

void canvas_over(Canvas *c, int x, int y, uint32_t ch) {
    Cell *cell = canvas_cell(c, x, y);
    if (cell == NULL || cell->map == HEAT_NONE) {
        canvas_put(c, x, y, ch, STYLE_TEXT, ATTRIBUTE_BOLD);
        return;
    }
    cell->ch = c->glyphs == GLYPHS_ASCII ? ascii_cell(ch) : ch;
    cell->over = true;
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

static int put_text(Canvas *c, int x, int y, int room, const char *text, StyleRole role, int attributes) {
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

/* Words instead of signs where all of them have room. */
static int put_ascii_text(Canvas *c, int x, int y, int room, const char *text, StyleRole role, int attributes) {
    Str words;
    str_init(&words);
    ascii_words(text, &words);
    int used = put_text(c, x, y, room, utf8_columns(words.s) <= room ? words.s : text, role, attributes);
    str_done(&words);
    return used;
}

int canvas_text(Canvas *c, int x, int y, int columns, const char *text, StyleRole role, int attributes) {
    int room = c->w - x;
    if (columns >= 0 && columns < room) room = columns;
    if (room <= 0 || y < 0 || y >= c->h) return 0;
    return c->glyphs == GLYPHS_ASCII ? put_ascii_text(c, x, y, room, text, role, attributes)
                                     : put_text(c, x, y, room, text, role, attributes);
}

int canvas_columns(const Canvas *c, const char *text) {
    if (c->glyphs != GLYPHS_ASCII) return utf8_columns(text);
    Str words;
    str_init(&words);
    ascii_words(text, &words);
    int columns = utf8_columns(words.s);
    str_done(&words);
    return columns;
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
