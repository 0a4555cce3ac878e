/* Line plots: a raster of dots finer than cells, round ticks, labels that are placed where nothing else stands. */
#include "draw.h"

#include "mem.h"
#include "plot_legend.h"
#include "ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_LEAST = 8 }; /* rows of lines and axis before names take more than one */

/* Where a plot stands: the same for drawing and for clicks. */
typedef struct {
    double x0, x1, y0, y1; /* y in the plot's own scale: log10 where it is logarithmic */
    bool log_y;
    Rect area;          /* cells of the lines */
    int dots_x, dots_y; /* dots of a cell */
    bool axis, tick_row;
    Legend legend; /* above the lines */
    Ticks x_ticks, y_ticks;
} Frame;

/* ---- the frame ---- */

static double tick_value(const Frame *f, double at) {
    return f->log_y ? pow(10, at) : at;
}

static int widest_label(const Frame *f) {
    int widest = 0;
    for (int i = 0; i < f->y_ticks.count; i++) {
        char text[32];
        ticks_label(&f->y_ticks, tick_value(f, f->y_ticks.at[i]), text, sizeof text);
        int columns = (int)strlen(text);
        if (columns > widest) widest = columns;
    }
    return widest;
}

static double scaled(bool log_y, double y) {
    return log_y ? (y > 0 ? log10(y) : (double)NAN) : y;
}

static void widen(double *low, double *high, double value) {
    if (!isfinite(value)) return;
    if (!(value > *low)) *low = value;
    if (!(value < *high)) *high = value;
}

/* The ranges of the data where the caller gave none. False when there is nothing to show. */
static bool find_ranges(Frame *f, const Plot *p) {
    double x0 = HUGE_VAL, x1 = -HUGE_VAL, y0 = HUGE_VAL, y1 = -HUGE_VAL;
    for (int s = 0; s < p->count; s++)
        for (int i = 0; i < p->series[s].n; i++) {
            double y = scaled(p->log_y, p->series[s].y[i]);
            if (!isfinite(y) || !isfinite(p->series[s].x[i])) continue;
            widen(&x0, &x1, p->series[s].x[i]);
            widen(&y0, &y1, y);
        }
    if (isfinite(y0)) widen(&y0, &y1, scaled(p->log_y, p->level));
    double air = (y1 - y0) * 0.04;
    if (air == 0) air = y1 == 0 || p->log_y ? 0.5 : fabs(y1) * 0.1;
    bool given_x = p->x0 < p->x1, given_y = p->y0 < p->y1;
    f->x0 = given_x ? p->x0 : x0;
    f->x1 = given_x ? p->x1 : x1;
    f->y0 = given_y ? scaled(p->log_y, p->y0) : y0 - air;
    f->y1 = given_y ? scaled(p->log_y, p->y1) : y1 + air;
    if (f->x0 == f->x1) f->x0 -= 0.5, f->x1 += 0.5;
    return isfinite(f->x0) && isfinite(f->x1) && isfinite(f->y0) && isfinite(f->y1);
}

/* Rows that names may take: a plot needs some for its lines first. */
static int legend_most(int h) {
    int spare = h - LINES_LEAST;
    if (spare > h / 4) spare = h / 4;
    return spare > 1 ? spare : 1;
}

static bool find_frame(Frame *f, const Canvas *c, Rect r, const Plot *p) {
    *f = (Frame){.log_y = p->log_y};
    if (r.w < 1 || r.h < 1 || !find_ranges(f, p)) return false;
    f->dots_x = c->glyphs == GLYPHS_BRAILLE ? 2 : 1;
    f->dots_y = c->glyphs == GLYPHS_BRAILLE ? 4 : c->glyphs == GLYPHS_HALF ? 2 : 1;
    if (r.h >= 4) f->legend = plot_legend(c, r.w, legend_most(r.h), p);
    f->tick_row = r.h >= 5;
    f->axis = r.h >= 7;
    int top = f->legend.rows, bottom = (f->tick_row ? 1 : 0) + (f->axis ? 1 : 0);
    f->area = (Rect){r.x, r.y + top, r.w, r.h - top - bottom};
    int most = f->area.h / 2 > 8 ? 8 : f->area.h / 2;
    f->y_ticks = f->log_y ? ticks_log(f->y0, f->y1, most) : ticks_linear(f->y0, f->y1, most);
    int gutter = widest_label(f) + 2;
    if (r.w < gutter + 8) {
        gutter = 0;
        f->y_ticks.count = 0;
        f->axis = false;
        f->area.h = r.h - top - (f->tick_row ? 1 : 0);
    }
    f->area.x += gutter;
    f->area.w -= gutter;
    int most_x = f->area.w / 8 > 0 ? f->area.w / 8 : 1;
    f->x_ticks = p->whole_x ? ticks_whole(f->x0, f->x1, most_x) : ticks_linear(f->x0, f->x1, most_x);
    return true;
}

/* Dots from the left and from the top. */
static double dot_x(const Frame *f, double x) {
    return (x - f->x0) / (f->x1 - f->x0) * (f->area.w * f->dots_x - 1);
}
static double dot_y(const Frame *f, double y) {
    return (f->y1 - y) / (f->y1 - f->y0) * (f->area.h * f->dots_y - 1);
}

static int cell_x(const Frame *f, double x) {
    return f->area.x + (int)lround(dot_x(f, x)) / f->dots_x;
}
static int cell_y(const Frame *f, double y) {
    return f->area.y + (int)lround(dot_y(f, y)) / f->dots_y;
}

double draw_plot_x(const Canvas *c, Rect r, const Plot *p, int x) {
    Frame f;
    if (!find_frame(&f, c, canvas_clip(c, r), p) || x < f.area.x || x >= f.area.x + f.area.w || f.area.w < 2)
        return (double)NAN;
    return f.x0 + (f.x1 - f.x0) * (x - f.area.x) / (f.area.w - 1);
}

/* ---- lines ---- */

typedef struct {
    uint8_t *dot; /* [h * w], 0 or 1 + series */
    int w, h;
} Raster;

/* What a line is drawn with. */
typedef struct {
    int series, gap; /* gap: every how many columns there is one; 0: none */
} Pen;

static void set_dot(Raster *g, int x, int y, Pen pen) {
    if (x < 0 || y < 0 || x >= g->w || y >= g->h) return;
    if (pen.gap > 0 && x % pen.gap == 0) return;
    uint8_t *dot = &g->dot[(size_t)y * (size_t)g->w + (size_t)x];
    if (*dot == 0) *dot = (uint8_t)(pen.series + 1); /* the first series lies on top */
}

/* Bresenham's line. */
static void set_line(Raster *g, int x0, int y0, int x1, int y1, Pen pen) {
    int dx = x1 > x0 ? x1 - x0 : x0 - x1, dy = y1 > y0 ? y0 - y1 : y1 - y0;
    int step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1, error = dx + dy;
    for (;;) {
        set_dot(g, x0, y0, pen);
        if (x0 == x1 && y0 == y1) return;
        int twice = 2 * error;
        if (twice >= dy) error += dy, x0 += step_x;
        if (twice <= dx) error += dx, y0 += step_y;
    }
}

static int clamp_dot(double at, int dots) {
    return (int)lround(fmin(fmax(at, -2.0 * dots), 3.0 * dots)); /* far outside is as good as anywhere outside */
}

static void raster_series(Raster *g, const Frame *f, const Series *s, Pen pen) {
    bool drawing = false;
    int last_x = 0, last_y = 0;
    for (int i = 0; i < s->n; i++) {
        double y = scaled(f->log_y, s->y[i]);
        if (!isfinite(y) || !isfinite(s->x[i])) {
            drawing = false;
            continue;
        }
        int x_dot = clamp_dot(dot_x(f, s->x[i]), g->w), y_dot = clamp_dot(dot_y(f, y), g->h);
        if (drawing)
            set_line(g, last_x, last_y, x_dot, y_dot, pen);
        else
            set_dot(g, x_dot, y_dot, pen);
        drawing = true;
        last_x = x_dot;
        last_y = y_dot;
    }
}

static int dot_at(const Raster *g, int x, int y) {
    return g->dot[(size_t)y * (size_t)g->w + (size_t)x];
}

static void put_halves(Canvas *c, int x, int y, const Plot *p, int top, int bottom) {
    StyleRole upper = top > 0 ? p->series[top - 1].role : STYLE_TEXT;
    StyleRole lower = bottom > 0 ? p->series[bottom - 1].role : STYLE_TEXT;
    if (top > 0 && bottom > 0 && upper != lower)
        canvas_halves(c, x, y, upper, lower);
    else if (top > 0)
        canvas_put(c, x, y, bottom > 0 ? 0x2588 : CANVAS_HALF_UPPER, upper, ATTRIBUTE_NONE);
    else if (bottom > 0)
        canvas_put(c, x, y, CANVAS_HALF_LOWER, lower, ATTRIBUTE_NONE);
}

static void put_braille(Canvas *c, const Raster *g, int column, int row, int x, int y, const Plot *p) {
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    uint32_t pattern = 0;
    int series = 0;
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) {
            int dot = dot_at(g, 2 * column + i, 4 * row + j);
            if (dot == 0) continue;
            pattern |= bits[j][i];
            if (series == 0 || dot < series) series = dot;
        }
    if (pattern != 0) canvas_put(c, x, y, 0x2800 + pattern, p->series[series - 1].role, ATTRIBUTE_NONE);
}

static void put_raster(Canvas *c, const Frame *f, const Raster *g, const Plot *p) {
    for (int row = 0; row < f->area.h; row++)
        for (int column = 0; column < f->area.w; column++) {
            int x = f->area.x + column, y = f->area.y + row;
            if (f->dots_y == 4) {
                put_braille(c, g, column, row, x, y, p);
            } else if (f->dots_y == 2) {
                put_halves(c, x, y, p, dot_at(g, column, 2 * row), dot_at(g, column, 2 * row + 1));
            } else {
                int dot = dot_at(g, column, row);
                if (dot > 0) canvas_put(c, x, y, plot_ascii_mark(dot - 1), p->series[dot - 1].role, ATTRIBUTE_NONE);
            }
        }
}

static void draw_lines(Canvas *c, const Frame *f, const Plot *p) {
    Raster g = {.w = f->area.w * f->dots_x, .h = f->area.h * f->dots_y};
    g.dot = MEM_ARRAY(uint8_t, (size_t)g.w * (size_t)g.h + 1);
    for (int s = 0; s < p->count; s++) raster_series(&g, f, &p->series[s], (Pen){s, plot_gap(c, &p->series[s], s)});
    put_raster(c, f, &g, p);
    mem_free(g.dot);
}

/* ---- axes and words ---- */

static void draw_y_axis(Canvas *c, const Frame *f, int left) {
    if (f->y_ticks.count == 0 && !f->axis) return;
    for (int y = f->area.y; f->axis && y < f->area.y + f->area.h; y++)
        canvas_put(c, f->area.x - 1, y, 0x2502, STYLE_BORDER, ATTRIBUTE_NONE);
    int last = f->area.y + f->area.h;
    for (int i = 0; i < f->y_ticks.count; i++) {
        int y = cell_y(f, f->y_ticks.at[i]);
        if (y >= last) continue; /* two on one row */
        last = y;
        char text[32];
        ticks_label(&f->y_ticks, tick_value(f, f->y_ticks.at[i]), text, sizeof text);
        int x = f->area.x - 2 - (int)strlen(text);
        canvas_text(c, x > left ? x : left, y, -1, text, STYLE_DIM, ATTRIBUTE_NONE);
        if (f->axis) canvas_put(c, f->area.x - 1, y, 0x2524, STYLE_BORDER, ATTRIBUTE_NONE);
    }
}

/* The x label stands under the y labels where it fits there, else at the right end; returns the columns it takes from
 * that end. */
static int draw_x_label(Canvas *c, const Frame *f, Rect r, int y, const char *label) {
    if (label == NULL) return 0;
    int columns = canvas_columns(c, label);
    if (columns < f->area.x - r.x) {
        canvas_text(c, r.x, y, -1, label, STYLE_DIM, ATTRIBUTE_NONE);
        return 0;
    }
    if (columns + 6 > f->area.w) return 0;
    canvas_text(c, r.x + r.w - columns, y, -1, label, STYLE_DIM, ATTRIBUTE_NONE);
    return columns + 1;
}

static void draw_x_axis(Canvas *c, const Frame *f, Rect r, const Plot *p) {
    int axis_y = f->area.y + f->area.h, label_y = axis_y + (f->axis ? 1 : 0);
    if (f->axis) {
        canvas_put(c, f->area.x - 1, axis_y, 0x2514, STYLE_BORDER, ATTRIBUTE_NONE);
        draw_rule(c, f->area.x, axis_y, f->area.w, STYLE_BORDER);
    }
    if (!f->tick_row) return;
    int right = r.x + r.w - draw_x_label(c, f, r, label_y, p->x_label);
    int free_from = f->area.x;
    for (int i = 0; i < f->x_ticks.count; i++) {
        char text[32];
        ticks_label(&f->x_ticks, f->x_ticks.at[i], text, sizeof text);
        int columns = (int)strlen(text), tick = cell_x(f, f->x_ticks.at[i]);
        int x = tick - (columns - 1) / 2;
        if (x < free_from && i == 0) x = free_from;
        if (x + columns > right) x = right - columns;
        if (x < free_from || x > tick || x + columns <= tick) continue;
        canvas_text(c, x, label_y, -1, text, STYLE_DIM, ATTRIBUTE_NONE);
        if (f->axis) canvas_put(c, tick, axis_y, 0x252C, STYLE_BORDER, ATTRIBUTE_NONE);
        free_from = x + columns + 1;
    }
}

/* ---- labels among the lines ---- */

static bool is_free(Canvas *c, const Frame *f, int x, int y, int columns) {
    if (y < f->area.y || y >= f->area.y + f->area.h || x < f->area.x) return false;
    if (x + columns > f->area.x + f->area.w) return false;
    for (int i = 0; i < columns; i++) {
        const Cell *cell = canvas_cell(c, x + i, y);
        if (cell == NULL || (cell->ch != ' ' && cell->role != STYLE_BORDER)) return false;
    }
    return true;
}

/* Writes LABEL on or beside row Y, as far right as nothing else stands there; with air around it where there is room.
 */
static void place_label(Canvas *c, const Frame *f, int y, const char *label, StyleRole role) {
    static const int offsets[] = {0, -1, 1, -2, 2};
    int columns = canvas_columns(c, label);
    for (int air = 1; air >= 0; air--)
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
            for (int x = f->area.x + f->area.w - columns - air; x >= f->area.x + air; x--) {
                if (!is_free(c, f, x - air, y + offsets[i], columns + 2 * air)) continue;
                canvas_text(c, x, y + offsets[i], columns, label, role, ATTRIBUTE_NONE);
                return;
            }
}

/* Whether a letter of the level's label stands there. */
static bool is_word(Canvas *c, int x, int y) {
    const Cell *cell = canvas_cell(c, x, y);
    return cell != NULL && cell->role == STYLE_TRUTH && cell->ch != 0x2504 && cell->ch != '-' && cell->ch < 0x2500;
}

static void draw_level(Canvas *c, const Frame *f, const Plot *p) {
    double level = scaled(p->log_y, p->level);
    if (!isfinite(level) || level < f->y0 || level > f->y1) return;
    int y = cell_y(f, level);
    if (p->level_label != NULL && !f->legend.level) place_label(c, f, y, p->level_label, STYLE_TRUTH);
    for (int x = f->area.x; x < f->area.x + f->area.w; x++) {
        if (!is_free(c, f, x, y, 1) || is_word(c, x - 1, y) || is_word(c, x + 1, y)) continue;
        canvas_put(c, x, y, 0x2504, STYLE_TRUTH, ATTRIBUTE_NONE);
    }
}

static void draw_cursor(Canvas *c, const Frame *f, Rect r, const Plot *p) {
    if (!(p->cursor_x >= f->x0 && p->cursor_x <= f->x1)) return;
    int x = cell_x(f, p->cursor_x);
    for (int y = f->area.y; y < f->area.y + f->area.h; y++)
        if (is_free(c, f, x, y, 1)) canvas_put(c, x, y, 0x2506, STYLE_DIM, ATTRIBUTE_NONE);
    canvas_light(c, (Rect){x - 1, f->area.y, 3, f->area.h}); /* with the lines that pass there */
    if (!f->tick_row) return;
    char text[32];
    snprintf(text, sizeof text, " %.6g ", p->cursor_x);
    int columns = (int)strlen(text), at = x - columns / 2;
    if (at + columns > r.x + r.w) at = r.x + r.w - columns;
    if (at < r.x) at = r.x;
    int y = f->area.y + f->area.h + (f->axis ? 1 : 0);
    for (int i = at - 1; i >= r.x && canvas_cell(c, i, y) != NULL && canvas_cell(c, i, y)->ch != ' '; i--)
        canvas_put(c, i, y, ' ', STYLE_TEXT, ATTRIBUTE_NONE); /* a number cut by this one is none */
    for (int i = at + columns; i < r.x + r.w && canvas_cell(c, i, y) != NULL && canvas_cell(c, i, y)->ch != ' '; i++)
        canvas_put(c, i, y, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
    canvas_text(c, at, y, r.x + r.w - at, text, STYLE_CURSOR, ATTRIBUTE_NONE);
    canvas_light(c, (Rect){at, y, columns, 1});
}

/* A dotted line each, and its label at the top where there is room beside it. */
static void draw_marks(Canvas *c, const Frame *f, const Plot *p) {
    for (int i = 0; i < p->marks; i++) {
        const PlotMark *m = &p->mark[i];
        if (!(m->x >= f->x0 && m->x <= f->x1)) continue;
        int x = cell_x(f, m->x), columns = canvas_columns(c, m->label);
        for (int y = f->area.y; y < f->area.y + f->area.h; y++)
            if (is_free(c, f, x, y, 1)) canvas_put(c, x, y, 0x2506, STYLE_WARNING, ATTRIBUTE_NONE);
        for (int y = f->area.y; columns > 0 && y < f->area.y + 3; y++) {
            if (!is_free(c, f, x + 1, y, columns + 1)) continue;
            canvas_text(c, x + 1, y, columns, m->label, STYLE_WARNING, ATTRIBUTE_NONE);
            break;
        }
    }
}

void draw_plot(Canvas *c, Rect r, const Plot *p) {
    Canvas view = canvas_view(c, r);
    r = (Rect){0, 0, view.w, view.h};
    Frame f;
    if (!find_frame(&f, &view, r, p)) return;
    if (f.legend.rows > 0) plot_legend_draw(&view, r, &f.legend, p->y_label);
    draw_y_axis(&view, &f, r.x);
    draw_x_axis(&view, &f, r, p);
    draw_lines(&view, &f, p);
    draw_level(&view, &f, p);
    draw_marks(&view, &f, p);
    draw_cursor(&view, &f, r, p);
}
