/* table_print: a table as text for a terminal. Every cell is written once to measure and once to print. */
#include "table.h"

#include "bug.h"
#include "mem.h"
#include "utf8.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { PRINT_DIGITS = 6, PRINT_GAP = 2, PRINT_LEAST_TEXT = 8, HEADING_MOST = 24, HEADING_LEAST = 10 };

/* How headings are written: what gives way where columns have no room is their units, then their ends. */
typedef struct {
    bool units;
    int most; /* columns of one that is longer than its values */
} Heading;

/* Columns on the screen that one column takes: numbers have a part before the point and one from it on. */
typedef struct {
    int left, right;
    int width; /* of the whole, with the heading */
} Layout;

static bool is_number(const Table *t, int column) {
    return table_column(t, column)->type != COLUMN_TEXT;
}

/* Whole numbers in full, others with six significant digits. */
static void print_real(Str *out, double x) {
    if (isnan(x)) {
        str_add(out, "nan");
    } else if (isfinite(x) && fabs(x) < 1e9 && x == trunc(x)) {
        str_addf(out, "%.0f", x == 0 ? 0.0 : x);
    } else {
        str_addf(out, "%.*g", PRINT_DIGITS, x);
    }
}

static void print_cell(const Table *t, long row, int column, Str *out) {
    str_clear(out);
    if (table_is_empty(t, row, column)) return;
    switch (table_column(t, column)->type) {
    case COLUMN_INT:
        str_addf(out, "%lld", table_int(t, row, column));
        break;
    case COLUMN_DOUBLE:
    case COLUMN_REAL:
        print_real(out, table_real(t, row, column));
        break;
    case COLUMN_TEXT:
        utf8_show(out, table_text(t, row, column), table_text_bytes(t, row, column), true);
        break;
    }
}

/* Above values that are VALUE columns wide. */
static void print_heading(const Table *t, int column, Heading h, int value, Str *out) {
    const Column *c = table_column(t, column);
    int most = value > h.most ? value : h.most;
    str_clear(out);
    if (utf8_columns(c->name) > most)
        str_addf(out, "%.*s…", (int)utf8_fit(c->name, most - 1), c->name);
    else
        str_add(out, c->name);
    if (h.units && c->unit && *c->unit) str_addf(out, " (%s)", c->unit);
}

/* Columns before the point, or before the exponent where there is no point. */
static int columns_left(const char *number) {
    return (int)strcspn(number, ".e");
}

static void measure(const Table *t, int column, long first, long end, Layout *l, Str *cell) {
    *l = (Layout){0};
    for (long row = first; row < end; row++) {
        print_cell(t, row, column, cell);
        int width = utf8_columns(cell->s);
        int left = is_number(t, column) ? columns_left(cell->s) : width;
        if (left > l->left) l->left = left;
        if (width - left > l->right) l->right = width - left;
    }
}

static void measure_heading(const Table *t, int column, Heading h, Layout *l, Str *cell) {
    int value = l->left + l->right;
    print_heading(t, column, h, value, cell);
    l->width = utf8_columns(cell->s);
    if (l->width < value) l->width = value;
}

static void print_padded(Str *out, int before, const char *s, int after) {
    str_add_repeat(out, ' ', (size_t)before);
    str_add(out, s);
    str_add_repeat(out, ' ', (size_t)after);
}

static void end_line(Str *out) {
    size_t len = out->len;
    while (len > 0 && out->s[len - 1] == ' ') len--;
    str_truncate(out, len);
    str_add_char(out, '\n');
}

static void print_headings(const Table *t, int from, int to, Heading h, const Layout *layout, Str *cell, Str *out) {
    for (int c = from; c < to; c++) {
        print_heading(t, c, h, layout[c].left + layout[c].right, cell);
        int space = layout[c].width - utf8_columns(cell->s);
        print_padded(out, is_number(t, c) ? space : 0, cell->s, (is_number(t, c) ? 0 : space) + PRINT_GAP);
    }
    end_line(out);
}

static void print_row(const Table *t, long row, int from, int to, const Layout *layout, Str *cell, Str *out) {
    for (int c = from; c < to; c++) {
        const Layout *l = &layout[c];
        print_cell(t, row, c, cell);
        int before = is_number(t, c) ? l->width - l->right - columns_left(cell->s) : 0;
        print_padded(out, before, cell->s, l->width - before - utf8_columns(cell->s) + PRINT_GAP);
    }
    end_line(out);
}

/* One past the last column that WIDTH takes when FROM is the first; that one is always taken. A number is whole or not
 * there, a text may stick out when its beginning says something. */
static int columns_within(const Table *t, int from, int width, const Layout *layout) {
    int to = from, left = width;
    for (; to < table_columns(t); to++) {
        int least = is_number(t, to) || layout[to].width < PRINT_LEAST_TEXT ? layout[to].width : PRINT_LEAST_TEXT;
        if (to > from && left < least) break;
        left -= layout[to].width + PRINT_GAP;
    }
    return to;
}

/* Lays the columns out from FROM on with these headings; as columns_within. */
static int lay_out(const Table *t, int from, int width, Heading h, Layout *layout, Str *cell) {
    for (int c = from; c < table_columns(t); c++) measure_heading(t, c, h, &layout[c], cell);
    return columns_within(t, from, width, layout);
}

/* Those that give way least where all columns have room; where they never have, whole ones: there are columns to go to
 * anyway. */
static Heading choose_heading(const Table *t, int from, int width, Layout *layout, Str *cell) {
    const Heading whole = {true, INT_MAX};
    if (lay_out(t, from, width, whole, layout, cell) == table_columns(t)) return whole;
    for (Heading h = {false, INT_MAX}; h.most >= HEADING_LEAST;
         h.most = h.most > HEADING_MOST ? HEADING_MOST : h.most - 1)
        if (lay_out(t, from, width, h, layout, cell) == table_columns(t)) return h;
    return whole;
}

int table_print_within(const Table *t, long first, long rows, int from, int width, Str *out) {
    BUG_ON(first < 0 || from < 0 || from >= table_columns(t));
    if (first > table_rows(t)) first = table_rows(t);
    long end = rows < 0 || rows > table_rows(t) - first ? table_rows(t) : first + rows;
    Layout *layout = MEM_ARRAY(Layout, (size_t)table_columns(t));
    Str cell;
    str_init(&cell);
    for (int c = from; c < table_columns(t); c++) measure(t, c, first, end, &layout[c], &cell);
    Heading heading = choose_heading(t, from, width, layout, &cell);
    int to = lay_out(t, from, width, heading, layout, &cell);
    print_headings(t, from, to, heading, layout, &cell, out);
    for (long row = first; row < end; row++) print_row(t, row, from, to, layout, &cell, out);
    str_done(&cell);
    mem_free(layout);
    return to - from;
}

void table_print(const Table *t, long first, long rows, Str *out) {
    str_addf(out, "%s\n", table_name(t));
    table_print_within(t, first, rows, 0, INT_MAX, out);
}
