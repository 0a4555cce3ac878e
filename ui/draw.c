/* Boxes, bars and sparks. */
#include "draw.h"

#include "format.h"
#include "intl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_BLOCK   0x2588u
#define RIGHT_HALF   0x2590u
#define MEDIUM_SHADE 0x2592u
#define LEFT_EIGHTH  0x258Fu /* one eighth; each code point before it is an eighth more */
#define LOW_EIGHTH   0x2581u /* one eighth; each code point after it is an eighth more */

Rect draw_box(Canvas *c, Rect r, const char *title, bool focus) {
    Rect inside = {r.x + 1, r.y + 1, r.w - 2, r.h - 2};
    if (r.w < 2 || r.h < 2) return (Rect){r.x, r.y, 0, 0};
    StyleRole role = focus ? STYLE_BORDER_FOCUS : STYLE_BORDER;
    int right = r.x + r.w - 1, bottom = r.y + r.h - 1;
    for (int x = r.x + 1; x < right; x++) {
        canvas_put(c, x, r.y, 0x2500, role, ATTRIBUTE_NONE);
        canvas_put(c, x, bottom, 0x2500, role, ATTRIBUTE_NONE);
    }
    for (int y = r.y + 1; y < bottom; y++) {
        canvas_put(c, r.x, y, 0x2502, role, ATTRIBUTE_NONE);
        canvas_put(c, right, y, 0x2502, role, ATTRIBUTE_NONE);
    }
    canvas_put(c, r.x, r.y, 0x250C, role, ATTRIBUTE_NONE);
    canvas_put(c, right, r.y, 0x2510, role, ATTRIBUTE_NONE);
    canvas_put(c, r.x, bottom, 0x2514, role, ATTRIBUTE_NONE);
    canvas_put(c, right, bottom, 0x2518, role, ATTRIBUTE_NONE);
    if (title == NULL || title[0] == '\0' || r.w < 6) return inside;
    canvas_put(c, r.x + 1, r.y, focus ? 0x25B8 : ' ', STYLE_TITLE, ATTRIBUTE_BOLD);
    int attributes = CANVAS_ELLIPSIS | (focus ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    int used = canvas_text(c, r.x + 2, r.y, r.w - 4, title, STYLE_TITLE, attributes);
    canvas_put(c, r.x + 2 + used, r.y, ' ', STYLE_TITLE, ATTRIBUTE_NONE);
    return inside;
}

void draw_box_more(Canvas *c, Rect r, int above, int below) {
    char up[48] = "", down[48] = "";
    if (above > 0) snprintf(up, sizeof up, " \xE2\x96\xB4 %s", format_count(above).s);
    if (below > 0) snprintf(down, sizeof down, " \xE2\x96\xBE %s", format_count(below).s);
    if (up[0] == '\0' && down[0] == '\0') return;
    char text[128];
    snprintf(text, sizeof text, "%s%s %s ", up, down, _("more rows"));
    int columns = canvas_columns(c, text);
    if (columns > r.w - 4) return;
    canvas_text(c, r.x + r.w - 2 - columns, r.y + r.h - 1, columns, text, STYLE_STRONG, ATTRIBUTE_NONE);
}

void draw_rule(Canvas *c, int x, int y, int w, StyleRole role) {
    for (int i = 0; i < w; i++) canvas_put(c, x + i, y, 0x2500, role, ATTRIBUTE_NONE);
}

static double clamp_unit(double x) {
    return x > 0 ? (x < 1 ? x : 1) : 0; /* NaN is 0 */
}

/* VALUE of W columns in units of 1/PARTS column, at least one where there is anything. */
static int parts_of(double value, int w, int parts) {
    value = clamp_unit(value);
    int n = (int)lround(value * w * parts);
    return n == 0 && value > 0 ? 1 : n;
}

void draw_bar(Canvas *c, int x, int y, int w, double value, StyleRole role) {
    if (w <= 0) return;
    if (c->glyphs == GLYPHS_ASCII) {
        int n = parts_of(value, w, 1);
        for (int i = 0; i < n; i++) canvas_put(c, x + i, y, '#', role, ATTRIBUTE_NONE);
        return;
    }
    int eighths = parts_of(value, w, 8);
    for (int i = 0; i < eighths / 8; i++) canvas_put(c, x + i, y, FULL_BLOCK, role, ATTRIBUTE_NONE);
    if (eighths % 8 > 0)
        canvas_put(c, x + eighths / 8, y, LEFT_EIGHTH - (uint32_t)(eighths % 8 - 1), role, ATTRIBUTE_NONE);
}

void draw_bar_signed(Canvas *c, int x, int y, int w, double value, StyleRole role) {
    int left = w / 2, zero = x + left;
    if (!(value < 0)) {
        draw_bar(c, zero, y, w - left, value, role);
        return;
    }
    bool ascii = c->glyphs == GLYPHS_ASCII;
    int halves = parts_of(-value, left, ascii ? 1 : 2) * (ascii ? 2 : 1);
    for (int i = 1; i <= halves / 2; i++) canvas_put(c, zero - i, y, ascii ? '#' : FULL_BLOCK, role, ATTRIBUTE_NONE);
    if (halves % 2) canvas_put(c, zero - halves / 2 - 1, y, RIGHT_HALF, role, ATTRIBUTE_NONE);
}

/* The model's bar with a mark in the column where the truth ends. */
static void draw_bar_with_mark(Canvas *c, int x, int y, int w, double model, double truth) {
    draw_bar(c, x, y, w, model, STYLE_MODEL);
    if (isnan(truth)) return;
    int at = (int)lround(clamp_unit(truth) * w) - 1;
    canvas_put(c, x + (at > 0 ? at : 0), y, 0x2502, STYLE_TRUTH, ATTRIBUTE_BOLD);
}

static void draw_half_pair(Canvas *c, int x, int y, int w, double model, double truth) {
    int m = parts_of(model, w, 1), t = parts_of(truth, w, 1);
    for (int i = 0; i < m || i < t; i++) {
        if (i < m && i < t)
            canvas_halves(c, x + i, y, STYLE_MODEL, STYLE_TRUTH);
        else if (i < m)
            canvas_put(c, x + i, y, CANVAS_HALF_UPPER, STYLE_MODEL, ATTRIBUTE_NONE);
        else
            canvas_put(c, x + i, y, CANVAS_HALF_LOWER, STYLE_TRUTH, ATTRIBUTE_NONE);
    }
}

uint32_t draw_pair_glyph(const Canvas *c, int rows, bool truth) {
    if (c->heat_colour) return 0x25A0; /* the colours tell them apart */
    if (truth && rows < 2) return 0x2502;
    if (c->glyphs == GLYPHS_ASCII) return truth ? '=' : '#';
    return truth ? MEDIUM_SHADE : rows < 2 ? FULL_BLOCK : CANVAS_HALF_LOWER;
}

/* A bar of HALF, usually half a row high; less than half a column is a THIN one. */
static void draw_flat_bar(Canvas *c, int x, int y, int w, double value, StyleRole role, uint32_t half, uint32_t thin) {
    bool is_thin = clamp_unit(value) * w < 0.5;
    int n = parts_of(value, w, 1);
    for (int i = 0; i < n; i++) canvas_put(c, x + i, y, is_thin ? thin : half, role, ATTRIBUTE_NONE);
}

/* Bars of whole rows. */
static void draw_thick_pair(Canvas *c, int x, int y, int w, int thick, double model, double truth) {
    for (int i = 0; i < thick; i++) {
        draw_bar(c, x, y + i, w, model, STYLE_MODEL);
        if (isnan(truth)) continue;
        if (c->heat_colour)
            draw_bar(c, x, y + thick + i, w, truth, STYLE_TRUTH);
        else
            for (int k = 0; k < parts_of(truth, w, 1); k++)
                canvas_put(c, x + k, y + thick + i, draw_pair_glyph(c, 2, true), STYLE_TRUTH, ATTRIBUTE_NONE);
    }
}

void draw_pair(Canvas *c, int x, int y, int w, int rows, double model, double truth) {
    if (rows < 2 && isnan(truth)) {
        draw_bar(c, x, y, w, model, STYLE_MODEL); /* alone it has the whole row, and eighths */
    } else if (rows >= 4) {
        draw_thick_pair(c, x, y, w, rows / 2, model, truth);
    } else if (rows >= 2) {
        bool colour = c->heat_colour, ascii = c->glyphs == GLYPHS_ASCII;
        uint32_t upper = colour ? CANVAS_HALF_LOWER : draw_pair_glyph(c, rows, false);
        uint32_t lower = colour ? CANVAS_HALF_UPPER : draw_pair_glyph(c, rows, true);
        draw_flat_bar(c, x, y, w, model, STYLE_MODEL, upper, ascii ? upper : 0x2581);
        if (!isnan(truth)) draw_flat_bar(c, x, y + 1, w, truth, STYLE_TRUTH, lower, ascii ? lower : 0x2594);
    } else if (!c->heat_colour) {
        draw_bar_with_mark(c, x, y, w, model, truth);
    } else {
        draw_half_pair(c, x, y, w, model, truth);
    }
}

void draw_progress(Canvas *c, int x, int y, int w, double value, double head, StyleRole role) {
    if (w <= 0) return;
    bool ascii = c->glyphs == GLYPHS_ASCII;
    int at = (int)lround(clamp_unit(value) * (w - 1));
    int to = (int)lround(clamp_unit(head) * (w - 1));
    for (int i = 0; i < w; i++) {
        if (i < at)
            canvas_put(c, x + i, y, ascii ? '=' : 0x2501, role, ATTRIBUTE_NONE);
        else if (i == at)
            canvas_put(c, x + i, y, ascii ? '>' : 0x25CF, role, ATTRIBUTE_BOLD);
        else if (i <= to)
            canvas_put(c, x + i, y, ascii ? '-' : 0x2501, STYLE_DIM, ATTRIBUTE_NONE);
        else
            canvas_put(c, x + i, y, ascii ? '.' : 0x2500, STYLE_BORDER, ATTRIBUTE_NONE);
    }
}

/* The mean of those of VALUES[from .. to-1] that are numbers; NaN when there is none. */
static double mean_of(const double *values, int from, int to) {
    double sum = 0;
    int count = 0;
    for (int i = from; i < to; i++)
        if (isfinite(values[i])) sum += values[i], count++;
    return count > 0 ? sum / count : (double)NAN;
}

static double spark_value(const double *values, int n, int w, int i) {
    if (n <= w) return i < n ? values[i] : (double)NAN;
    return mean_of(values, (int)((long)i * n / w), (int)((long)(i + 1) * n / w));
}

void draw_spark(Canvas *c, int x, int y, int w, const double *values, int n, StyleRole role) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < w && i < n; i++) {
        double value = spark_value(values, n, w, i);
        if (isfinite(value)) low = fmin(low, value), high = fmax(high, value);
    }
    for (int i = 0; i < w && i < n; i++) {
        double value = spark_value(values, n, w, i);
        if (!isfinite(value)) continue;
        int level = high > low ? (int)((value - low) / (high - low) * 7.999) : 0;
        uint32_t ch = c->glyphs == GLYPHS_ASCII ? (uint32_t) "_.-=+*%#"[level] : LOW_EIGHTH + (uint32_t)level;
        canvas_put(c, x + i, y, ch, role, ATTRIBUTE_NONE);
    }
}
