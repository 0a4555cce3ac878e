/* draw: the shapes that panes are made of: boxes, bars, plots, heat maps, tables. All clip; all work in ASCII. */
#ifndef UI_DRAW_H
#define UI_DRAW_H

#include "canvas.h"
#include "table.h"

/* A frame with a title in its top edge (cut to fit); returns what is inside. */
Rect draw_box(Canvas *c, Rect r, const char *title, bool focus);
void draw_rule(Canvas *c, int x, int y, int w, StyleRole role); /* horizontal line */

/* A horizontal bar of VALUE in 0..1 over W columns, eighths where glyphs allow. */
void draw_bar(Canvas *c, int x, int y, int w, double value, StyleRole role);
/* Two bars of one item on one row or two: the model above, the truth below, always in this order. */
void draw_progress(Canvas *c, int x, int y, int w, double value, double head, StyleRole role);
void draw_spark(Canvas *c, int x, int y, int w, const double *values, int n, StyleRole role);

typedef struct {
    const double *x, *y; /* [n]; NaN breaks the line */
    int n;
    StyleRole role;
    const char *label;   /* NULL: none */
} Series;
typedef struct {
    const Series *series;
    int count;
    double x0, x1, y0, y1; /* ranges; y0 == y1: from the data */
    bool log_y;
    const char *x_label, *y_label;
    double level;          /* a horizontal dashed line (the floor); NaN: none */
    const char *level_label;
    double cursor_x;       /* a vertical mark; NaN: none */
} Plot;
/* Axes with round ticks, labels never cut, lines drawn at half-block or braille resolution. */
void draw_plot(Canvas *c, Rect r, const Plot *p);

typedef struct {
    int rows, cols;
    /* Value 0..255 of a cell, or -1: void (masked, not there). */
    int (*heat)(const void *data, int row, int col);
    const void *data;
    HeatMap map;
    int cell_w, cell_h;      /* columns and half-rows of one value: 1x1 = two values a cell, 2x2, 4x2 ...; 0: chosen to fit */
    int first_row, first_col;/* scrolled */
    int cursor_row, cursor_col; /* -1: none */
    const char *const *row_label, *const *col_label; /* NULL: none; borrowed */
    const char *row_axis, *col_axis; /* "queries", "keys" */
    int label_w;             /* columns for row labels, 0: chosen */
} Heat;
/* The cursor's cell is marked without colour too ([ ] or a mark). Void cells show a faint dot. Returns the size of a cell drawn. */
Rect draw_heat(Canvas *c, Rect r, const Heat *h); /* the rectangle of the values, labels excluded */
void draw_heat_bar(Canvas *c, int x, int y, int w, HeatMap map, const char *low, const char *high); /* the colour bar */

/* A table, as table_print would align it, scrolled to FIRST; CURSOR row is marked (-1: none). */
void draw_table(Canvas *c, Rect r, const Table *t, long first, long cursor);
/* Text in paragraphs, broken at blanks, by columns; returns the rows used. */
int draw_paragraph(Canvas *c, Rect r, const char *text, StyleRole role);
/* Lines of tall digits (5 rows) for the presenter; falls back to text when too small. */
void draw_big(Canvas *c, Rect r, const char *text, StyleRole role);

#endif
