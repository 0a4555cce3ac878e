#include "figure.h"

#include "draw.h"
#include "figure_grid.h"
#include "format.h"
#include "intl.h"
#include "mem.h"
#include "tree_table.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERIES_MOST = 6, LINES_MOST = 12, LABEL_MOST = 24, NUMBER_W = 11, PANEL_W = 46 };

static const StyleRole series_roles[SERIES_MOST] = {STYLE_SERIES_A, STYLE_SERIES_B, STYLE_SERIES_C,
                                                    STYLE_SERIES_D, STYLE_MODEL,    STYLE_TRUTH};

/* A cell as a label. */
static void label_of(const Table *t, long row, int column, char *out, size_t bytes) {
    Str s;
    str_init(&s);
    if (column >= 0) table_cell(t, row, column, &s);
    snprintf(out, bytes, "%.*s", (int)bytes - 1, s.s);
    str_done(&s);
}

static bool is_number(const Table *t, int column) {
    return column >= 0 && table_column(t, column)->type != COLUMN_TEXT;
}

/* Everything else is a whole number or the place of a row. */
static bool is_fraction(const Table *t, int column) {
    return is_number(t, column) && table_column(t, column)->type != COLUMN_INT;
}

static double number_at(const Table *t, long row, int column) {
    return is_number(t, column) && !table_is_empty(t, row, column) ? table_real(t, row, column) : (double)NAN;
}

/* Lines. */

typedef struct {
    char label[LABEL_MOST];
    double *x, *y;
    int n;
} Line;

typedef struct {
    Line *line; /* [count] */
    int count, capacity;
} Lines;

static Line *line_named(Lines *l, const char *label, long rows) {
    for (int i = 0; i < l->count; i++) {
        if (!strcmp(l->line[i].label, label)) return &l->line[i];
    }
    MEM_GROW(l->line, l->count, l->capacity);
    Line *line = &l->line[l->count++];
    *line = (Line){.x = MEM_ARRAY(double, (size_t)rows), .y = MEM_ARRAY(double, (size_t)rows)};
    snprintf(line->label, sizeof line->label, "%s", label);
    return line;
}

static void free_lines(Lines *l) {
    for (int i = 0; i < l->count; i++) {
        mem_free(l->line[i].x);
        mem_free(l->line[i].y);
    }
    mem_free(l->line);
}

/* The columns that NAMES has, in order; how many. */
static int columns_of(const char *names, const Table *t, int column[SERIES_MOST]) {
    int n = 0;
    for (const char *at = names; *at && n < SERIES_MOST; at += strspn(at, " ")) {
        char name[64];
        size_t bytes = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)bytes, at);
        column[n] = table_find(t, name);
        if (column[n] >= 0) n++;
        at += bytes;
    }
    return n;
}

/* What one of several columns is called on the screen; alone it needs no name. */
static const char *column_label(const Table *t, int column, int columns) {
    return columns > 1 ? table_column(t, column)->name : "";
}

/* The label of a line or a bar: its series, or its column. */
static void series_of(const Figure *f, const Table *t, long row, int column, int columns, char *out, size_t bytes) {
    int series[SERIES_MOST], n = f->series ? columns_of(f->series, t, series) : 0;
    snprintf(out, bytes, "%s", column_label(t, column, columns));
    for (int i = 0; i < n; i++) {
        size_t at = i ? strlen(out) + 1 : 0;
        if (at >= bytes) return;
        if (at) snprintf(out + at - 1, bytes - at + 1, " ");
        label_of(t, row, series[i], out + at, bytes - at);
    }
}

static void add_point(Line *l, const Table *t, long row, int x, int y) {
    double value = number_at(t, row, y);
    if (isinf(value)) return;
    l->x[l->n] = is_number(t, x) ? number_at(t, row, x) : (double)l->n;
    l->y[l->n++] = value;
}

static Lines collect_lines(const Figure *f, const Table *t, const int *column, int columns) {
    Lines lines = {0};
    int x = table_find(t, f->x);
    long rows = table_rows(t);
    for (int i = 0; i < columns; i++) {
        for (long row = 0; row < rows; row++) {
            char label[LABEL_MOST];
            series_of(f, t, row, column[i], columns, label, sizeof label);
            add_point(line_named(&lines, label, rows), t, row, x, column[i]);
        }
    }
    return lines;
}

/* Returns how many: not all where colours and dashes would repeat. */
static int series_from(const Lines *l, Series out[LINES_MOST]) {
    int n = l->count < LINES_MOST ? l->count : LINES_MOST;
    for (int i = 0; i < n; i++) {
        const Line *line = &l->line[i];
        const char *label = line->label[0] ? line->label : NULL;
        out[i] = (Series){line->x, line->y, line->n, series_roles[i % SERIES_MOST], label, i / SERIES_MOST};
    }
    return n;
}

static void draw_lines(Canvas *c, Rect r, const Figure *f, const Table *t, const FigureMore *more) {
    int column[SERIES_MOST], columns = columns_of(f->y, t, column);
    Lines lines = collect_lines(f, t, column, columns);
    Series drawn[LINES_MOST];
    int count = series_from(&lines, drawn), left_out = lines.count - count;
    Plot plot = {.series = drawn,
                 .count = count,
                 .whole_x = !is_fraction(t, table_find(t, f->x)),
                 .log_y = f->kind == FIGURE_LOG_LINE,
                 .x_label = f->x,
                 .y_label = columns == 1 ? f->y : NULL,
                 .level = more ? more->level : (double)NAN,
                 .level_label = more ? more->level_label : NULL,
                 .cursor_x = (double)NAN};
    draw_plot(c, (Rect){r.x, r.y, r.w, left_out > 0 ? r.h - 1 : r.h}, &plot);
    if (left_out > 0)
        canvas_textf(c, r.x, r.y + r.h - 1, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("… and %ld more in the table"),
                     (long)left_out);
    free_lines(&lines);
}

/* Bars: one for each row and column, the columns of a row below each other; from the middle where there are negative
 * values. Before a bar stands its row's x, once for bars that share it, and its series or column where there are
 * several. */

typedef struct {
    const Figure *figure;
    const Table *table;
    long *row, rows; /* that are drawn */
    int x, column[SERIES_MOST], columns;
    double most;
    bool negative;
    int x_w, name_w; /* of the longest labels; name_w 0: bars need no name */
    int decimals;    /* of all numbers; -1: each has figures of its own */
    int number_w;    /* of the longest number */
} Bars;

/* Rows of a series that is in another unit are left out. */
static void find_rows(Bars *b, const char *without) {
    char label[LABEL_MOST];
    b->row = MEM_ARRAY(long, (size_t)table_rows(b->table) + 1);
    for (long i = 0; i < table_rows(b->table); i++) {
        series_of(b->figure, b->table, i, b->column[0], b->columns, label, sizeof label);
        if (!without || strcmp(label, without) != 0) b->row[b->rows++] = i;
    }
}

static long row_of(const Bars *b, long bar) {
    return b->row[bar / b->columns];
}

static void x_label(const Bars *b, long bar, char *out, size_t bytes) {
    label_of(b->table, row_of(b, bar), b->x, out, bytes);
}

static void name_label(const Bars *b, long bar, char *out, size_t bytes) {
    series_of(b->figure, b->table, row_of(b, bar), b->column[bar % b->columns], b->columns, out, bytes);
}

static void widen(int *w, const char *label) {
    int columns = utf8_columns(label);
    if (columns > *w) *w = columns;
}

/* Numbers. Those of one figure are compared: they have as many decimals as give the greatest of them five figures, less
 * the zeros that all of them end in. */

enum { FIGURES = 5, DECIMALS_MOST = 8 };

static int decimals_needed(double value, int most) {
    Text text = format_fixed(value, most);
    const char *point = strchr(text.s, '.');
    if (!point) return 0;
    size_t n = strlen(point + 1);
    while (n > 0 && point[n] == '0') n--;
    return (int)n;
}

static double value_of(const Bars *b, long bar) {
    return number_at(b->table, row_of(b, bar), b->column[bar % b->columns]);
}

static int decimals_of(const Bars *b) {
    if (b->most >= 99999999.5) return -1; /* with a sign and its separators it has no room */
    int most = b->most > 0 ? FIGURES - 1 - (int)floor(log10(b->most)) : 0, decimals = 0;
    if (most > DECIMALS_MOST) return -1;
    for (long i = 0; most > 0 && i < b->rows * b->columns; i++) {
        int needed = isfinite(value_of(b, i)) ? decimals_needed(value_of(b, i), most) : 0;
        if (needed > decimals) decimals = needed;
    }
    return decimals;
}

/* What the common decimals leave nothing of has figures of its own. */
static Text number_text(const Bars *b, double value, int column) {
    if (table_column(b->table, column)->type == COLUMN_INT && fabs(value) < 1e8) return format_count((long long)value);
    if (b->decimals < 0 || !isfinite(value)) return format_figures(value);
    if (value != 0 && fabs(value) < pow(10, 1 - b->decimals)) return format_figures(value);
    return b->decimals == 0 || value == 0 ? format_count(llround(value)) : format_fixed(value, b->decimals);
}

static Bars bars_of(const Figure *f, const Table *t, const char *without) {
    Bars b = {.figure = f, .table = t, .x = table_find(t, f->x)};
    b.columns = columns_of(f->y, t, b.column);
    find_rows(&b, without);
    widen(&b.x_w, f->x);
    for (long i = 0; i < b.rows * b.columns; i++) {
        char label[LABEL_MOST * 2];
        double v = value_of(&b, i);
        if (isfinite(v)) b.most = fmax(b.most, fabs(v)), b.negative |= v < 0;
        x_label(&b, i, label, sizeof label);
        widen(&b.x_w, label);
        name_label(&b, i, label, sizeof label);
        widen(&b.name_w, label);
    }
    b.decimals = decimals_of(&b);
    for (long i = 0; i < b.rows * b.columns; i++)
        widen(&b.number_w, number_text(&b, value_of(&b, i), b.column[i % b.columns]).s);
    return b;
}

/* Whole numbers stand on their last digit, the others on their point. */
static void draw_number(Canvas *c, int x, int y, const Bars *b, double value, int column) {
    Text text = number_text(b, value, column);
    int columns = canvas_columns(c, text.s);
    bool whole = table_column(b->table, column)->type == COLUMN_INT;
    int behind = !whole && value == 0 && b->decimals > 0 ? b->decimals + 1 : 0; /* what is exactly 0 is no 0.0000 */
    int shift = (whole ? NUMBER_W : b->number_w) - columns - behind;
    if (shift < 0) shift = 0;
    canvas_text(c, x + shift, y, NUMBER_W - shift, text.s, STYLE_DIM, ATTRIBUTE_NONE);
}

/* The colour of a bar is that of its column, or of the first row with its series. */
static StyleRole role_of(const Bars *b, long bar) {
    char name[LABEL_MOST], other[LABEL_MOST];
    if (!b->figure->series) return series_roles[bar % b->columns];
    name_label(b, bar, name, sizeof name);
    int order = 0;
    for (long i = 0; i < bar; i++) {
        bool first = true;
        name_label(b, i, other, sizeof other);
        if (!strcmp(name, other)) return series_roles[order % SERIES_MOST];
        for (long k = 0; k < i && first; k++) {
            char before[LABEL_MOST];
            name_label(b, k, before, sizeof before);
            first = strcmp(before, other) != 0;
        }
        order += first;
    }
    return series_roles[order % SERIES_MOST];
}

/* Columns of the labels in a panel of W. */
typedef struct {
    int x, name;
} Labels;

static Labels labels_of(const Bars *b, int w) {
    int most = w * 9 / 20;
    Labels l = {.x = b->x_w < most ? b->x_w : most, .name = b->name_w < most ? b->name_w : most};
    if (l.x + l.name <= most) return l;
    if (l.x > most / 2) l.x = l.name < most / 2 ? most - l.name : most / 2;
    if (l.name > most - l.x) l.name = most - l.x;
    return l;
}

static int bar_x(Labels l) {
    return l.x + 1 + (l.name > 0 ? l.name + 1 : 0);
}

/* Bar I in row Y of the panel at X, W wide; FIRST: in its panel. */
static void draw_one_bar(Canvas *c, const Bars *b, long i, bool first, int x, int y, int w) {
    void (*draw)(Canvas *, int, int, int, double, StyleRole) = b->negative ? draw_bar_signed : draw_bar;
    int which = (int)(i % b->columns), column = b->column[which];
    Labels l = labels_of(b, w);
    char label[LABEL_MOST * 2], before[LABEL_MOST * 2] = "";
    x_label(b, i, label, sizeof label);
    if (!first) x_label(b, i - 1, before, sizeof before);
    if (first || strcmp(label, before) != 0) canvas_text(c, x, y, l.x, label, STYLE_TEXT, CANVAS_ELLIPSIS);
    name_label(b, i, label, sizeof label);
    StyleRole role = role_of(b, i);
    canvas_text(c, x + l.x + 1, y, l.name, label, role, CANVAS_ELLIPSIS);
    double v = value_of(b, i);
    double share = b->most > 0 && isfinite(v) ? v / b->most : 0;
    draw(c, x + bar_x(l), y, w - bar_x(l) - NUMBER_W - 1, share, role);
    draw_number(c, x + w - NUMBER_W, y, b, v, column);
}

/* The names of the columns from X to END in row Y, or only how wide they are: C NULL. */
static int draw_columns(Canvas *c, const Bars *b, int x, int y, int end, bool units) {
    int at = x;
    for (int i = 0; i < b->columns; i++) {
        const Column *column = table_column(b->table, b->column[i]);
        Str name;
        str_init(&name);
        str_addf(&name, units && *column->unit ? "%s (%s)" : "%s", column->name, column->unit);
        if (c && at < end)
            canvas_text(c, at, y, end - at, name.s, b->columns > 1 ? series_roles[i] : STYLE_DIM, CANVAS_ELLIPSIS);
        at += utf8_columns(name.s) + 2;
        str_done(&name);
    }
    return at - 2 - x;
}

/* What labels and bars are, above them: "strategy", and "possible" or, of a column alone, "p" with its unit. Where
 * there is no room for the units of several, they are left out. */
static void draw_bars_head(Canvas *c, const Bars *b, Rect r, int w) {
    Labels l = labels_of(b, w);
    int x = r.x + bar_x(l), end = r.x + r.w;
    canvas_text(c, r.x, r.y, l.x, b->figure->x, STYLE_DIM, CANVAS_ELLIPSIS);
    (void)draw_columns(c, b, x, r.y, end, draw_columns(NULL, b, x, r.y, end, true) <= end - x);
}

/* Below each other, in several panels when they are many; how many do not fit is said. */
static void draw_bars(Canvas *c, Rect r, const Figure *f, const Table *t, const char *without) {
    Bars b = bars_of(f, t, without);
    long n = b.rows * b.columns;
    int head = r.h > 3, h = r.h - head;
    if (h > 0 && n > 0) {
        long panels = (n + h - 1) / h, most = r.w / PANEL_W > 1 ? r.w / PANEL_W : 1;
        if (panels > most) panels = most;
        long shown = panels * h < n ? panels * h - 1 : n;
        int step = r.w / (int)panels, w = panels > 1 ? step - 2 : step;
        if (head) draw_bars_head(c, &b, r, w);
        for (long i = 0; i < shown; i++)
            draw_one_bar(c, &b, i, i % h == 0, r.x + (int)(i / h) * step, r.y + head + (int)(i % h), w);
        if (shown < n)
            canvas_textf(c, r.x + (int)(panels - 1) * step, r.y + r.h - 1, w, STYLE_DIM, CANVAS_ELLIPSIS,
                         _("… and %ld more in the table"), n - shown);
    }
    mem_free(b.row);
}

/* A tree of nodes; y is what a leaf is worth, series the same by the truth. */

static bool has_numbers(const Table *t, const char *column) {
    int at = column ? table_find(t, column) : -1;
    return at >= 0 && !table_is_empty(t, 0, at);
}

static void draw_nodes(Canvas *c, Rect r, const Figure *f, const Table *t) {
    TreeTable nodes;
    if (!tree_table_read(&nodes, t, f->x, f->y, f->series)) {
        draw_table(c, r, t, 0, -1);
        return;
    }
    Tree tree = {.node = nodes.node,
                 .nodes = nodes.nodes,
                 .depth = nodes.depth,
                 .root = "",
                 .value_label = _("log p"),
                 .value_role = STYLE_MODEL,
                 .truth_label = has_numbers(t, f->series) ? _("truth") : NULL,
                 .best = nodes.best,
                 .cursor = -1};
    TreeShown shown = draw_tree(c, (Rect){r.x, r.y, r.w, r.h - 1}, &tree);
    (void)draw_tree_legend(c, r.x, r.y + r.h - 1, r.w, shown.hidden);
    tree_table_done(&nodes);
}

void figure_draw(Canvas *c, Rect r, const Figure *f, const Table *t, const FigureMore *more) {
    if (!t || table_rows(t) == 0) {
        draw_paragraph(c, r, _("The figure appears with the first rows; R runs the experiment."), STYLE_DIM);
        return;
    }
    switch (f->kind) {
    case FIGURE_LINE:
    case FIGURE_LOG_LINE:
        draw_lines(c, r, f, t, more);
        break;
    case FIGURE_BARS:
        draw_bars(c, r, f, t, more ? more->without : NULL);
        break;
    case FIGURE_HEAT:
        figure_draw_grid(c, r, f, t);
        break;
    case FIGURE_TREE:
        draw_nodes(c, r, f, t);
        break;
    case FIGURE_NONE:
        draw_table(c, r, t, 0, -1);
        break;
    }
}
