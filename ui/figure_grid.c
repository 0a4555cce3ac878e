#include "figure_grid.h"

#include "draw.h"
#include "format.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EDGE_MOST = 4096, NUMBER = 12 };

typedef struct {
    int rows, cols;
    double *value; /* [rows x cols], NaN where there is none */
    double least, most;
    const char **row_label, **col_label; /* borrowed from the table or from `numbers` */
    char *numbers;
} Grid;

static int grid_heat(const void *data, int row, int col) {
    const Grid *g = data;
    double v = g->value[row * g->cols + col];
    if (!isfinite(v)) return -1;
    if (g->least >= 0) return g->most > 0 ? (int)(255 * v / g->most) : 0;
    double edge = fmax(-g->least, g->most);
    return (int)(128 + 127 * v / edge);
}

static void grid_text(const void *data, int row, int col, char *out, size_t bytes) {
    const Grid *g = data;
    double v = g->value[row * g->cols + col];
    bool whole = v == rint(v) && fabs(v) < 1e6;
    snprintf(out, bytes, "%s", !isfinite(v) ? "" : whole ? format_count((long)v).s : format_fixed(v, 2).s);
}

static int edge_of(const Table *t, int column) {
    long long most = -1;
    for (long i = 0; i < table_rows(t); i++) {
        if (!table_is_empty(t, i, column) && table_int(t, i, column) > most) most = table_int(t, i, column);
    }
    return most < EDGE_MOST ? (int)most + 1 : EDGE_MOST;
}

/* ---- labels ---- */

/* The column that names what column NAME counts: "query_token" of "query"; -1: none. */
static int naming_column(const Table *t, const char *name) {
    char naming[64];
    snprintf(naming, sizeof naming, "%s_token", name);
    int column = table_find(t, naming);
    return column >= 0 && table_column(t, column)->type == COLUMN_TEXT ? column : -1;
}

static void label_edge(const Table *t, const char *name, int n, const char **label, char *numbers) {
    int at = table_find(t, name), naming = naming_column(t, name);
    for (int i = 0; i < n; i++) {
        snprintf(numbers + NUMBER * i, NUMBER, "%d", i);
        label[i] = numbers + NUMBER * i;
    }
    for (long row = 0; naming >= 0 && row < table_rows(t); row++) {
        long long i = table_int(t, row, at);
        if (i >= 0 && i < n) label[i] = table_text(t, row, naming);
    }
}

static void grid_label(Grid *g, const Figure *f, const Table *t) {
    g->numbers = MEM_ARRAY(char, NUMBER *(size_t)(g->rows + g->cols));
    g->row_label = MEM_ARRAY(const char *, (size_t)g->rows);
    g->col_label = MEM_ARRAY(const char *, (size_t)g->cols);
    label_edge(t, f->y, g->rows, g->row_label, g->numbers);
    label_edge(t, f->x, g->cols, g->col_label, g->numbers + NUMBER * g->rows);
}

/* "layer 0, head 0: the first of several" when whole numbers before x and y tell maps apart; else nothing. */
static void which_map(const Figure *f, const Table *t, char *out, size_t bytes) {
    size_t used = 0;
    bool several = false;
    out[0] = '\0';
    for (int c = 0; c < table_columns(t); c++) {
        const Column *column = table_column(t, c);
        if (!strcmp(column->name, f->x) || !strcmp(column->name, f->y)) break;
        if (column->type != COLUMN_INT || table_rows(t) == 0) continue;
        long long first = table_int(t, 0, c), last = table_int(t, table_rows(t) - 1, c);
        several = several || first != last;
        if (used < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s %lld", used ? ", " : "", column->name, first);
    }
    if (several && used < bytes)
        snprintf(out + used, bytes - used, "%s", _(": the first of several; options choose others"));
}

/* ---- values ---- */

static bool is_whole(const Table *t, int column) {
    return column >= 0 && table_column(t, column)->type == COLUMN_INT;
}

/* What is hidden has no value: a column "masked" that is minus infinite. */
static double value_at(const Table *t, long row, int value, int masked) {
    if (table_is_empty(t, row, value)) return (double)NAN;
    if (masked >= 0 && table_real(t, row, masked) == -(double)INFINITY) return -(double)INFINITY;
    return table_real(t, row, value);
}

static bool grid_fill(Grid *g, const Figure *f, const Table *t) {
    int x = table_find(t, f->x), y = table_find(t, f->y), value = f->series ? table_find(t, f->series) : -1;
    if (!is_whole(t, x) || !is_whole(t, y) || value < 0) return false;
    g->cols = edge_of(t, x);
    g->rows = edge_of(t, y);
    if (g->cols < 1 || g->rows < 1) return false;
    size_t cells = (size_t)g->rows * (size_t)g->cols;
    int masked = table_find(t, "masked");
    g->value = MEM_ARRAY(double, cells);
    for (size_t i = 0; i < cells; i++) g->value[i] = (double)NAN;
    for (long i = 0; i < table_rows(t); i++) {
        long long col = table_int(t, i, x), row = table_int(t, i, y);
        if (col < 0 || row < 0 || col >= g->cols || row >= g->rows || !isnan(g->value[row * g->cols + col])) continue;
        double v = value_at(t, i, value, masked);
        g->value[row * g->cols + col] = v;
        if (isfinite(v)) g->least = fmin(g->least, v), g->most = fmax(g->most, v);
    }
    grid_label(g, f, t);
    return true;
}

static void grid_done(Grid *g) {
    mem_free(g->value);
    mem_free(g->row_label);
    mem_free(g->col_label);
    mem_free(g->numbers);
}

static void draw_scale(const Grid *g, const Heat *heat, Canvas *c, int x, int y, int w) {
    double edge = fmax(-g->least, g->most);
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    snprintf(low, sizeof low, "%s", format_figures(g->least < 0 ? -edge : 0).s);
    snprintf(high, sizeof high, "%s", format_figures(edge).s);
    draw_heat_bar(c, x, y, w < 40 ? w : 40, heat->map, low, high);
}

void figure_draw_grid(Canvas *c, Rect r, const Figure *f, const Table *t) {
    Grid g = {0};
    if (!grid_fill(&g, f, t)) return;
    char which[160];
    which_map(f, t, which, sizeof which);
    if (which[0] && r.h > 6) {
        canvas_text(c, r.x, r.y, r.w, which, STYLE_DIM, CANVAS_ELLIPSIS);
        r = (Rect){r.x, r.y + 1, r.w, r.h - 1};
    }
    Heat heat = {.rows = g.rows,
                 .cols = g.cols,
                 .heat = grid_heat,
                 .text = grid_text,
                 .data = &g,
                 .map = g.least < 0 ? HEAT_DIVERGING : HEAT_SEQUENTIAL,
                 .cursor_row = -1,
                 .cursor_col = -1,
                 .row_label = g.row_label,
                 .col_label = g.col_label,
                 .row_axis = f->y,
                 .col_axis = f->x};
    draw_heat(c, (Rect){r.x, r.y, r.w, r.h - 1}, &heat);
    draw_scale(&g, &heat, c, r.x, r.y + r.h - 1, r.w);
    grid_done(&g);
}
