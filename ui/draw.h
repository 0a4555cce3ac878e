/* draw: the shapes that panes are made of: boxes, bars, plots, heat maps, tables. All clip; all work in ASCII.
 *
 * Nothing here knows a pane or a snapshot; colour comes from roles and heat only, and no meaning is carried by colour
 * alone. */
#ifndef UI_DRAW_H
#define UI_DRAW_H

#include "canvas.h"
#include "table.h"

/* A frame with a title in its top edge (cut to fit); with FOCUS the edge is strong and a mark stands before the title.
 * Returns what is inside; no width or height where there is no room. */
Rect draw_box(Canvas *c, Rect r, const char *title, bool focus);
/* In its lower edge: that there are ABOVE and BELOW more rows than show. */
void draw_box_more(Canvas *c, Rect r, int above, int below);
void draw_rule(Canvas *c, int x, int y, int w, StyleRole role); /* horizontal line */

/* A horizontal bar of VALUE in 0..1 over W columns, in eighths. What is above zero shows at least a sliver. */
void draw_bar(Canvas *c, int x, int y, int w, double value, StyleRole role);
/* The same of VALUE in -1..1, from the middle to the right or to the left. */
void draw_bar_signed(Canvas *c, int x, int y, int w, double value, StyleRole role);
/* Model and truth of one item, both 0..1, always in this order: two bars on two rows that touch, so that
 * pairs stand apart, on more ROWS bars that are half of them thick, or on ROWS = 1 one row with the model in the
 * upper half and the truth in the lower (where heat is no colour: the model's bar with a mark where the truth is).
 * TRUTH NaN: none. Where there may be no colours the two differ in their glyphs. */
void draw_pair(Canvas *c, int x, int y, int w, int rows, double model, double truth);
/* What the bars of draw_pair are made of, for a legend. */
uint32_t draw_pair_glyph(const Canvas *c, int rows, bool truth);
/* A transport line: played up to VALUE, there up to HEAD, the rest to come; all 0..1. */
void draw_progress(Canvas *c, int x, int y, int w, double value, double head, StyleRole role);
/* N values as a line of columns over W cells, from their least to their greatest; NaN leaves a gap. */
void draw_spark(Canvas *c, int x, int y, int w, const double *values, int n, StyleRole role);

typedef struct {
    const double *x, *y; /* [n]; NaN breaks the line */
    int n;
    StyleRole role;
    const char *label; /* NULL: none */
    int dash;          /* 0: a whole line; 1 and more: with gaps, told apart from others of its colour */
} Series;
/* A place on the x axis where something happened. */
typedef struct {
    double x;
    const char *label; /* may be "" */
} PlotMark;
typedef struct {
    const Series *series;
    int count;
    double x0, x1, y0, y1; /* ranges; x0 == x1, y0 == y1: from the data */
    bool whole_x;          /* x are whole numbers, and so are its ticks */
    bool log_y;            /* only what is above zero is drawn */
    const char *x_label, *y_label;
    double level; /* a horizontal dashed line (the floor); NaN: none */
    const char *level_label;
    double cursor_x;      /* a vertical mark; NaN: none */
    const PlotMark *mark; /* [marks] by rising x */
    int marks;
} Plot;
/* Axes with round ticks, labels never cut, lines drawn at half-block or braille resolution; the names of lines above, in
 * several rows where the plot can spare them, and how many have no room. */
void draw_plot(Canvas *c, Rect r, const Plot *p);
/* The x under a column of a plot drawn in R, for clicks; NaN outside of its lines. */
double draw_plot_x(const Canvas *c, Rect r, const Plot *p, int x);

typedef struct {
    int rows, cols;
    /* Value 0..255 of a cell, or -1: void (masked, not there). */
    int (*heat)(const void *data, int row, int col);
    /* The text on a cell ("87"), NULL: none; drawn where cells are wide enough for it. */
    void (*text)(const void *data, int row, int col, char *out, size_t bytes);
    const void *data;
    HeatMap map;
    int cell_w,
        cell_h; /* columns and half-rows of one value: 1x1 = two values a cell, 2x2, 4x2 ...; 0: chosen to fit */
    int first_row, first_col;                        /* scrolled; moved when the cursor would not show */
    int cursor_row, cursor_col;                      /* -1: none */
    const char *const *row_label, *const *col_label; /* NULL: none; borrowed */
    const char *row_axis, *col_axis;                 /* "queries", "keys"; NULL: none */
    int label_w;                                     /* columns for row labels, 0: chosen */
    bool large; /* for a hall: numbers as tall digits where cells have room for them, labels strong */
} Heat;
/* The cursor's cell is marked without colour too ([ ] or a mark). Void cells show a faint dot. Axis titles show
 * wherever one row of values is left beside them. Returns the rectangle of the values, labels excluded. */
Rect draw_heat(Canvas *c, Rect r, const Heat *h);
/* The value that draw_heat, called alike, would show at (x, y). False outside of the values. */
bool draw_heat_at(const Canvas *c, Rect r, const Heat *h, int x, int y, int *row, int *col);
/* The colour bar, LOW and HIGH at its ends, over W columns in all. */
void draw_heat_bar(Canvas *c, int x, int y, int w, HeatMap map, const char *low, const char *high);
/* The glyph that stands for HEAT where it is not a colour. */
uint32_t draw_heat_glyph(const Canvas *c, HeatMap map, uint8_t heat);

/* A table, as table_print would align it, scrolled to FIRST; CURSOR row is marked (-1: none). */
void draw_table(Canvas *c, Rect r, const Table *t, long first, long cursor);
/* The same from COLUMN on. Columns are shown whole or not at all, marks in the heading say that there are more; returns
 * how many. */
int draw_table_from(Canvas *c, Rect r, const Table *t, long first, int column, long cursor);

/* The bytes of S that fill one line of COLUMNS (> 0), broken at a blank or between wide characters (not before closing
 * punctuation); *next is where the next line begins. */
size_t draw_wrap(const char *s, int columns, size_t *next);
/* One line that ends where R ends, cut to fit. */
void draw_right(Canvas *c, Rect r, const char *text, StyleRole role);
/* Text in paragraphs, broken as draw_wrap does; returns the rows used, at most the rectangle's. Where the text has more
 * it ends in an ellipsis, or in ENDING. */
int draw_paragraph(Canvas *c, Rect r, const char *text, StyleRole role);
int draw_paragraph_ending(Canvas *c, Rect r, const char *text, StyleRole role, const char *ending);
int draw_paragraph_rows(int columns, const char *text); /* rows that it takes in full */
/* Tall digits as large as fit (3 rows and more) for the presenter, on top of heat where there is some; text when too
 * small or not digits. */
typedef struct {
    int w, h;
} DrawnSize;
DrawnSize draw_big_size(const Canvas *c, int w, int h,
                        const char *text); /* of what draw_big makes of it in W x H; h 1: text */
void draw_big(Canvas *c, Rect r, const char *text, StyleRole role);

#endif
