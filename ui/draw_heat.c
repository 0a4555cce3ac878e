/* Heat maps and their colour bar. A frame says where labels and values stand; drawing and clicks share it. */
#include "draw.h"

#include "mem.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define CELL_W_MOST  12
#define CELL_H_MOST  8
#define UPRIGHT_MOST 8 /* rows of labels that are written downwards */
#define LABEL_SHARE  3 /* row labels take a third of the width at most */

typedef enum { HEADER_NONE, HEADER_LINE, HEADER_TWO_LINES, HEADER_UPRIGHT } HeaderKind;

typedef struct {
    Rect area;                            /* the values */
    int cell_w, cell_h;                   /* columns, half-rows */
    int first_row, first_col, rows, cols; /* shown */
    int label_w;                          /* columns left of the values, mark and gap included; 0: none */
    bool axis;
    HeaderKind header;
    int header_rows, header_gap; /* header_gap: columns of values that a label has to itself */
} HeatFrame;

/* ---- the frame ---- */

static int widest(const char *const *labels, int count) {
    int most = 0;
    for (int i = 0; labels != NULL && i < count; i++) {
        int columns = labels[i] == NULL ? 0 : utf8_columns(labels[i]);
        if (columns > most) most = columns;
    }
    return most;
}

static int least(int a, int b) {
    return a < b ? a : b;
}
static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

static int fit_cell_h(const Canvas *c, const Heat *h, int half_rows) {
    int fit = h->cell_h > 0 ? h->cell_h : clamp(half_rows / (h->rows > 0 ? h->rows : 1), 1, CELL_H_MOST);
    if (h->cell_h <= 0 && fit > 1) fit -= fit % 2; /* whole rows, so that labels stand beside their values */
    return !c->heat_colour && fit < 2 ? 2 : fit;
}

/* Wide enough for words and numbers, but no wider than three times as wide as high. */
static int fit_cell_w(const Heat *h, int columns, int cell_h) {
    if (h->cell_w > 0) return h->cell_w;
    return clamp(columns / (h->cols > 0 ? h->cols : 1), 1, least(CELL_W_MOST, cell_h < 2 ? 2 : 3 * cell_h));
}

/* How far labels are apart at least, in values: numbers need not stand at each. */
static int label_gap(const char *const *labels, int count) {
    int gap = count, last = -1;
    for (int i = 0; labels != NULL && i < count; i++) {
        if (labels[i] == NULL) continue;
        if (last >= 0 && i - last < gap) gap = i - last;
        last = i;
    }
    return gap > 0 ? gap : 1;
}

static void choose_header(HeatFrame *f, const Heat *h, int height) {
    int longest = widest(h->col_label, h->cols);
    if (longest == 0 || height < 4) return;
    f->header_gap = label_gap(h->col_label, h->cols);
    if (longest < f->cell_w * f->header_gap || (longest == f->cell_w && f->cell_w == 1)) {
        f->header = HEADER_LINE;
        f->header_rows = 1;
    } else if (longest < 2 * f->cell_w && height >= 8) {
        f->header = HEADER_TWO_LINES;
        f->header_rows = 2;
    } else if (f->cell_w >= 4) {
        f->header = HEADER_LINE;
        f->header_rows = 1;
    } else if (height >= 9) {
        int spare = height - (h->rows * f->cell_h + 1) / 2; /* what larger values have no use for */
        f->header = HEADER_UPRIGHT;
        f->header_rows = least(least(longest, UPRIGHT_MOST), spare >= 2 ? spare : height / 4);
    }
}

/* FIRST moved so that COUNT values are used well and CURSOR (>= 0) is among them. */
static int scroll(int first, int shown, int count, int cursor) {
    if (cursor >= 0 && cursor < first) first = cursor;
    if (cursor >= first + shown) first = cursor - shown + 1;
    return clamp(first, 0, count > shown ? count - shown : 0);
}

static HeatFrame find_frame(const Canvas *c, Rect r, const Heat *h) {
    HeatFrame f = {.area = r};
    if (r.w < 1 || r.h < 1 || h->rows < 1 || h->cols < 1) return (HeatFrame){.area = {r.x, r.y, 0, 0}};
    f.axis = (h->row_axis != NULL || h->col_axis != NULL) && r.h >= 2;
    int wanted = h->label_w > 0 ? h->label_w : widest(h->row_label, h->rows);
    if (wanted > 0 && r.w >= 8) f.label_w = least(wanted, r.w / LABEL_SHARE) + 2;
    int height = r.h - (f.axis ? 1 : 0), columns = r.w - f.label_w;
    f.cell_h = fit_cell_h(c, h, 2 * height);
    f.cell_w = fit_cell_w(h, columns, f.cell_h);
    choose_header(&f, h, height);
    height -= f.header_rows;
    f.cell_h = fit_cell_h(c, h, 2 * height);
    f.cell_h = least(f.cell_h, 2 * height);
    f.cell_w = least(f.cell_w, columns);
    f.rows = clamp(2 * height / f.cell_h, 1, h->rows);
    f.cols = clamp(columns / f.cell_w, 1, h->cols);
    f.first_row = scroll(h->first_row, f.rows, h->rows, h->cursor_row);
    f.first_col = scroll(h->first_col, f.cols, h->cols, h->cursor_col);
    f.area = (Rect){r.x + f.label_w, r.y + r.h - height, f.cols * f.cell_w, (f.rows * f.cell_h + 1) / 2};
    return f;
}

bool draw_heat_at(const Canvas *c, Rect r, const Heat *h, int x, int y, int *row, int *col) {
    HeatFrame f = find_frame(c, canvas_clip(c, r), h);
    if (x < f.area.x || y < f.area.y || x >= f.area.x + f.area.w || y >= f.area.y + f.area.h) return false;
    *row = least(f.first_row + 2 * (y - f.area.y) / f.cell_h, h->rows - 1);
    *col = f.first_col + (x - f.area.x) / f.cell_w;
    return true;
}

/* ---- values ---- */

uint32_t draw_heat_glyph(const Canvas *c, HeatMap map, uint8_t heat) {
    static const uint32_t shades[] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    static const uint32_t below[] = {' ', 0x2500, '=', 0x2261, 0x25A4};
    if (map == HEAT_DIVERGING && heat < 128) {
        int away = 128 - heat; /* 1 .. 128 */
        return c->glyphs == GLYPHS_ASCII ? (uint32_t) " ,;~oO"[away * 6 / 129] : below[away * 5 / 129];
    }
    int level = map == HEAT_DIVERGING ? 2 * (heat - 128) : heat;
    return c->glyphs == GLYPHS_ASCII ? (uint32_t) " .:-=+*#%@"[level * 10 / 256] : shades[level * 5 / 256];
}

static void put_void(Canvas *c, const HeatFrame *f, int x, int y) {
    bool middle = (x - f->area.x) % f->cell_w == (f->cell_w - 1) / 2;
    bool line = f->cell_h < 4 || 2 * (y - f->area.y) % f->cell_h / 2 == (f->cell_h / 2 - 1) / 2;
    uint32_t dot = c->glyphs == GLYPHS_ASCII ? '\'' : 0x00B7; /* not one of the ramp */
    canvas_put(c, x, y, middle && line ? dot : ' ', STYLE_BORDER, ATTRIBUTE_NONE);
}

/* The values of a half-row, one for each column of values; -1: void or outside. */
static void read_half(const HeatFrame *f, const Heat *h, int half, int *out) {
    int row = half / f->cell_h;
    for (int col = 0; col < f->cols; col++)
        out[col] = row < f->rows ? h->heat(h->data, f->first_row + row, f->first_col + col) : -1;
}

static Cell value_cell(const Canvas *c, const Heat *h, int top, int bottom) {
    int upper = top < 0 ? 0 : clamp(top, 0, 255), lower = bottom < 0 ? 0 : clamp(bottom, 0, 255);
    uint32_t ch = top < 0 ? CANVAS_HALF_LOWER : CANVAS_HALF_UPPER;
    if (!c->heat_colour) ch = draw_heat_glyph(c, h->map, (uint8_t)(top < 0 ? lower : upper));
    return canvas_heat_cell(c, ch, h->map, (uint8_t)upper, (uint8_t)lower, top < 0, bottom < 0);
}

/* A line of the screen: TOP and BOTTOM [cols] are its half-rows. */
static void put_line(Canvas *c, const HeatFrame *f, const Heat *h, int line, const int *top, const int *bottom) {
    int y = f->area.y + line;
    for (int col = 0; col < f->cols; col++) {
        int x = f->area.x + col * f->cell_w;
        bool is_void = top[col] < 0 && bottom[col] < 0;
        Cell cell = is_void ? (Cell){0} : value_cell(c, h, top[col], bottom[col]);
        for (int i = 0; i < f->cell_w; i++)
            if (is_void)
                put_void(c, f, x + i, y);
            else
                canvas_set(c, x + i, y, cell);
    }
}

/* Every value is asked for once, however large it is drawn. */
static void put_lines(Canvas *c, const HeatFrame *f, const Heat *h) {
    int *top = MEM_ARRAY(int, 2 * (size_t)f->cols), *bottom = top + f->cols;
    for (int line = 0, row[2] = {-1, -1}; line < f->area.h; line++) {
        int upper = 2 * line / f->cell_h, lower = (2 * line + 1) / f->cell_h;
        size_t bytes = (size_t)f->cols * sizeof *top;
        if (upper != row[0] && upper == row[1])
            memcpy(top, bottom, bytes);
        else if (upper != row[0])
            read_half(f, h, 2 * line, top);
        if (lower == upper)
            memcpy(bottom, top, bytes);
        else if (lower != row[1])
            read_half(f, h, 2 * line + 1, bottom);
        row[0] = upper;
        row[1] = lower;
        put_line(c, f, h, line, top, bottom);
    }
    mem_free(top);
}

/* Writes over a value without losing its colour. */
static void put_over(Canvas *c, int x, int y, uint32_t ch, bool bottom) {
    Cell *cell = canvas_cell(c, x, y);
    if (cell == NULL) return;
    if (cell->map == HEAT_NONE || !c->heat_colour) {
        canvas_put(c, x, y, ch, STYLE_CURSOR, ATTRIBUTE_BOLD);
        return;
    }
    uint8_t heat = bottom ? cell->bottom : cell->top;
    canvas_heat(c, x, y, ch, (HeatMap)cell->map, heat, heat);
}

/* Glyphs that shade must not touch a number: its whole line of the value is left to it, with a blank to the left. A
 * number that has no room so is left out, and the shade stays; it begins with a blank because a number may stand before
 * it. */
static void put_plain_number(Canvas *c, const HeatFrame *f, int x, int y, const char *text, int columns) {
    const Cell *first = canvas_cell(c, x, y);
    bool fits = columns < f->cell_w;
    if (first == NULL || first->map == HEAT_NONE) return;
    canvas_fill(c, (Rect){x, y, fits ? f->cell_w : 1, 1}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
    if (fits) canvas_text(c, x + (f->cell_w - columns + 1) / 2, y, columns, text, STYLE_TEXT, ATTRIBUTE_NONE);
}

/* The rows of tall digits that every number has room for beside the brackets, so that all are of one size; 0: they are
 * text. */
static int large_rows(const Canvas *c, const HeatFrame *f, const Heat *h) {
    int least = f->cell_h / 2;
    if (!h->large || !c->heat_colour) return 0;
    for (int i = 0; i < f->rows * f->cols; i++) {
        char text[16] = "";
        int row = f->first_row + i / f->cols, col = f->first_col + i % f->cols;
        if (h->heat(h->data, row, col) < 0) continue;
        h->text(h->data, row, col, text, sizeof text);
        if (text[0] != '\0') least = draw_big_size(c, f->cell_w - 2, least, text).h;
    }
    return least > 1 ? least : 0;
}

/* In the middle of a value. */
static void draw_large_number(Canvas *c, const HeatFrame *f, const Heat *h, int row, int col, int rows) {
    char text[16] = "";
    h->text(h->data, f->first_row + row, f->first_col + col, text, sizeof text);
    DrawnSize size = draw_big_size(c, f->cell_w - 2, rows, text);
    int x = f->area.x + col * f->cell_w, y = f->area.y + row * f->cell_h / 2;
    const Cell *first = canvas_cell(c, x, y);
    if (first == NULL || first->map == HEAT_NONE || text[0] == '\0') return;
    draw_big(c, (Rect){x + (f->cell_w - size.w) / 2, y + (f->cell_h / 2 - size.h) / 2, size.w, size.h}, text,
             STYLE_TEXT);
}

static void draw_number(Canvas *c, const HeatFrame *f, const Heat *h, int row, int col) {
    char text[16] = "";
    h->text(h->data, f->first_row + row, f->first_col + col, text, sizeof text);
    int columns = (int)strlen(text);
    if (columns == 0 || (columns > f->cell_w && c->heat_colour)) return;
    bool marked = f->first_row + row == h->cursor_row && f->first_col + col == h->cursor_col;
    if (marked && columns > f->cell_w - 2 && f->cell_h < 4) return; /* the brackets need the only line */
    int left = f->area.x + col * f->cell_w, x = left + (f->cell_w - columns) / 2;
    int y = f->area.y + (row * f->cell_h + (f->cell_h - 2) / 2) / 2;
    if (!c->heat_colour) {
        put_plain_number(c, f, left, y, text, columns);
        return;
    }
    for (int i = 0; i < columns; i++) {
        const Cell *cell = canvas_cell(c, x + i, y);
        if (cell != NULL && cell->map != HEAT_NONE) put_over(c, x + i, y, (unsigned char)text[i], false);
    }
}

static void draw_values(Canvas *c, const HeatFrame *f, const Heat *h) {
    put_lines(c, f, h);
    if (h->text == NULL || f->cell_w < 3 || f->cell_h < 2 || f->cell_h % 2 != 0) return;
    int large = large_rows(c, f, h);
    for (int row = 0; row < f->rows; row++)
        for (int col = 0; col < f->cols; col++)
            if (large > 0)
                draw_large_number(c, f, h, row, col, large);
            else
                draw_number(c, f, h, row, col);
}

/* The line of a cell whose number is so wide that brackets would hide a digit of it; -1: none. */
static int number_line(const HeatFrame *f, const Heat *h, int row, int col) {
    char text[16] = "";
    h->text(h->data, row, col, text, sizeof text);
    int columns = (int)strlen(text);
    if (f->cell_h < 4 || columns > f->cell_w || columns <= f->cell_w - 2) return -1;
    return (f->cell_h - 2) / 4;
}

static uint32_t bracket(const HeatFrame *f, int column) {
    if (f->cell_w == 1) return '+';
    return column == 0 ? '[' : column == f->cell_w - 1 ? ']' : ' ';
}

static void draw_cursor(Canvas *c, const HeatFrame *f, const Heat *h) {
    int row = h->cursor_row - f->first_row, col = h->cursor_col - f->first_col;
    if (h->cursor_row < 0 || h->cursor_col < 0 || row >= f->rows || col >= f->cols) return;
    int x = f->area.x + col * f->cell_w, y = f->area.y + row * f->cell_h / 2;
    bool lower = row * f->cell_h % 2 != 0;
    if (f->cell_h < 2 || f->cell_w < 3) {
        for (int i = 0; i < f->cell_w; i++) put_over(c, x + i, y, bracket(f, i), lower);
        return;
    }
    int wide = h->text ? number_line(f, h, h->cursor_row, h->cursor_col) : -1;
    for (int i = 0; i < f->cell_h / 2; i++) {
        if (i == wide) continue;
        put_over(c, x, y + i, '[', false);
        put_over(c, x + f->cell_w - 1, y + i, ']', false);
    }
}

/* ---- words ---- */

static void draw_row_labels(Canvas *c, const HeatFrame *f, const Heat *h) {
    if (f->label_w < 3) return;
    int last = f->area.y - 1;
    for (int row = 0; row < f->rows; row++) {
        int index = f->first_row + row, y = f->area.y + (row * f->cell_h + (f->cell_h > 2 ? f->cell_h / 2 - 1 : 0)) / 2;
        bool marked = index == h->cursor_row;
        if (y <= last && !marked) continue; /* two values on one line: the first, or the cursor's */
        last = y;
        int x = f->area.x - f->label_w;
        if (marked) {
            canvas_fill(c, (Rect){x + 1, y, f->label_w - 2, 1}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
            canvas_put(c, x, y, 0x25B8, STYLE_STRONG, ATTRIBUTE_BOLD);
        }
        if (h->row_label == NULL || h->row_label[index] == NULL) continue;
        canvas_text(c, x + 1, y, f->label_w - 2, h->row_label[index],
                    marked     ? STYLE_STRONG
                    : h->large ? STYLE_TEXT
                               : STYLE_DIM,
                    CANVAS_ELLIPSIS | (h->large ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE));
    }
}

static void draw_upright(Canvas *c, int x, int y, int rows, const char *label, StyleRole role) {
    int skipped = utf8_columns(label) - rows; /* never halves anything: one character a row */
    for (int i = 0; i < rows && *label != '\0'; i++) {
        uint32_t code;
        int bytes = utf8_decode(label, strlen(label), &code);
        if (bytes == 0) bytes = 1, code = 0xFFFD;
        if (i == rows - 1 && rows > 3 && skipped > 0 && label[bytes] != '\0') code = 0x2026;
        canvas_put(c, x, y + i, utf8_width(code) == 1 ? code : '?', role, ATTRIBUTE_NONE);
        label += bytes;
    }
}

static void draw_col_label(Canvas *c, const HeatFrame *f, const Heat *h, int col) {
    int index = f->first_col + col, x = f->area.x + col * f->cell_w, y = f->area.y - f->header_rows;
    const char *label = h->col_label == NULL ? NULL : h->col_label[index];
    StyleRole role = index == h->cursor_col ? STYLE_STRONG : h->large ? STYLE_TEXT : STYLE_DIM;
    int bold = h->large ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE;
    if (label == NULL) return;
    if (f->header == HEADER_UPRIGHT) {
        draw_upright(c, x + (f->cell_w - 1) / 2, y, f->header_rows, label, role);
    } else if (f->header == HEADER_TWO_LINES) {
        int room = least(2 * f->cell_w - 1, f->area.x + f->area.w - x);
        if (room < utf8_columns(label))
            room = 2 * f->cell_w - 1; /* the last may stand out over the edge of the values */
        canvas_text(c, x, y + index % 2, room, label, role, bold | CANVAS_ELLIPSIS);
    } else if (f->header == HEADER_LINE) {
        int columns = utf8_columns(label), own = f->cell_w * f->header_gap, room = own > 1 ? own - 1 : 1;
        int shift = columns < f->cell_w ? (f->cell_w - columns) / 2 : 0;
        canvas_text(c, x + shift, y, shift > 0 ? -1 : room, label, role, bold | CANVAS_ELLIPSIS);
    }
}

static void add_axis(Str *out, const char *arrow, const char *name, const char *range) {
    if (name == NULL) return;
    if (out->len > 0) str_add(out, "  ");
    str_addf(out, "%s %s%s", arrow, name, range);
}

/* Which show, counted from 0 as positions are everywhere. */
static void write_range(int first, int shown, int count, char *out, size_t bytes) {
    if (shown < count) snprintf(out, bytes, " %d\xE2\x80\x93%d/%d", first, first + shown - 1, count);
}

static void axis_titles(const HeatFrame *f, const Heat *h, bool ranges, Str *out) {
    char rows[48] = "", cols[48] = "";
    if (ranges) write_range(f->first_row, f->rows, h->rows, rows, sizeof rows);
    if (ranges) write_range(f->first_col, f->cols, h->cols, cols, sizeof cols);
    str_clear(out);
    add_axis(out, "\xE2\x86\x93", h->row_axis, rows);
    add_axis(out, "\xE2\x86\x92", h->col_axis, cols);
}

static void draw_axis_titles(Canvas *c, const HeatFrame *f, Rect r, const Heat *h) {
    Str text;
    str_init(&text);
    axis_titles(f, h, true, &text);
    if (utf8_columns(text.s) > r.w) axis_titles(f, h, false, &text);
    canvas_text(c, r.x, r.y, r.w, text.s, STYLE_DIM, CANVAS_ELLIPSIS);
    str_done(&text);
}

Rect draw_heat(Canvas *c, Rect r, const Heat *h) {
    r = canvas_clip(c, r);
    Canvas view = canvas_view(c, r);
    Rect inside = {0, 0, view.w, view.h};
    HeatFrame f = find_frame(&view, inside, h);
    if (f.area.w == 0) return (Rect){r.x, r.y, 0, 0};
    if (f.axis) draw_axis_titles(&view, &f, inside, h);
    for (int col = 0; col < f.cols && f.header != HEADER_NONE; col++) draw_col_label(&view, &f, h, col);
    draw_row_labels(&view, &f, h);
    draw_values(&view, &f, h);
    draw_cursor(&view, &f, h);
    return (Rect){r.x + f.area.x, r.y + f.area.y, f.area.w, f.area.h};
}

void draw_heat_bar(Canvas *c, int x, int y, int w, HeatMap map, const char *low, const char *high) {
    int before = canvas_text(c, x, y, w, low, STYLE_DIM, ATTRIBUTE_NONE) + 1;
    int after = canvas_columns(c, high) + 1;
    int columns = w - before - after;
    if (columns < 2) return;
    for (int i = 0; i < columns; i++) {
        uint8_t heat = (uint8_t)(i * 255 / (columns - 1));
        uint32_t ch = c->heat_colour ? CANVAS_HALF_UPPER : draw_heat_glyph(c, map, heat);
        canvas_heat(c, x + before + i, y, ch, map, heat, heat);
    }
    canvas_text(c, x + w - after + 1, y, -1, high, STYLE_DIM, ATTRIBUTE_NONE);
}
