#include "plot_legend.h"

#include <math.h>
#include <stdio.h>

enum { LINE_W = 3, APART = 2, COUNT_BYTES = 16 }; /* columns of a line and its blank; between two names */

uint32_t plot_ascii_mark(int series) {
    return (uint32_t) "*o+x#%@=&~"[series % 10];
}

int plot_gap(const Canvas *c, const Series *s, int index) {
    if (c->glyphs == GLYPHS_ASCII) return 0; /* marks tell them apart */
    int rank = c->heat_colour ? s->dash : index;
    return rank > 0 ? rank + 1 : 0;
}

static uint32_t line_of(const Canvas *c, const Series *s, int index) {
    static const uint32_t dashes[] = {0x2501, 0x254D, 0x2505, 0x2509};
    if (c->glyphs == GLYPHS_ASCII) return plot_ascii_mark(index);
    return dashes[(c->heat_colour ? s->dash : index) % 4];
}

/* Returns how many. */
static int series_entries(const Canvas *c, const Plot *p, LegendEntry *out) {
    int n = 0;
    for (int s = 0; s < p->count && n < LEGEND_MOST - 1; s++)
        if (p->series[s].label)
            out[n++] = (LegendEntry){line_of(c, &p->series[s], s), p->series[s].label, p->series[s].role, 0, 0, 0};
    return n;
}

/* In a row of W; a longer name is cut. */
static int entry_columns(const Canvas *c, const LegendEntry *e, int w) {
    int columns = LINE_W + canvas_columns(c, e->label);
    return columns < w ? columns : w;
}

static int label_columns(const Canvas *c, const char *y_label) {
    return y_label ? canvas_columns(c, y_label) + APART : 0;
}

/* Columns of "+4", with what keeps it apart. */
static int count_columns(int hidden) {
    char text[COUNT_BYTES];
    return hidden > 0 ? APART + snprintf(text, sizeof text, "+%d", hidden) : 0;
}

/* How many of the N entries at E fit in ROOM columns of a row of W, and the columns they use. */
static int fitting(const Canvas *c, const LegendEntry *e, int n, int w, int room, int *used) {
    int fit = 0;
    *used = 0;
    for (; fit < n; fit++) {
        int columns = entry_columns(c, &e[fit], w) + (fit > 0 ? APART : 0);
        if (*used + columns > room) break;
        *used += columns;
    }
    return fit;
}

/* The same beside the count of those that do not. */
static int fitting_counted(const Canvas *c, const LegendEntry *e, int n, int w, int room, int *used) {
    int fit = fitting(c, e, n, w, room, used);
    while (fit > 0 && *used + count_columns(n - fit) > room) fit = fitting(c, e, fit - 1, w, room, used);
    return fit;
}

/* Gives the N entries at E their places in a row, from X on. */
static void place(const Canvas *c, LegendEntry *e, int n, int x, int row, int w) {
    for (int i = 0; i < n; i++) {
        e[i].x = x;
        e[i].row = row;
        e[i].columns = entry_columns(c, &e[i], w);
        x += e[i].columns + APART;
    }
}

/* N entries in at most MOST rows that end at the right. A name that is alone and has no room is not missed. */
static void lay(Legend *l, const Canvas *c, int n, int w, int most, const char *y_label) {
    l->shown = l->rows = 0;
    while (l->rows == 0 || (l->shown < n && l->rows < most)) {
        int room = w - (l->rows == 0 ? label_columns(c, y_label) : 0), left = n - l->shown, used;
        bool counted = l->rows + 1 == most && n > 1;
        LegendEntry *e = l->entry + l->shown;
        int fit = (counted ? fitting_counted : fitting)(c, e, left, w, room, &used);
        place(c, e, fit, w - used - (counted ? count_columns(left - fit) : 0), l->rows++, w);
        l->shown += fit;
    }
    l->hidden = n > 1 ? n - l->shown : 0;
}

/* The level has its name in the legend where that takes no row: there it stands still whatever the lines do. */
static bool lay_with_level(Legend *l, const Canvas *c, int n, int w, int most, const Plot *p) {
    if (isnan(p->level) || !p->level_label) return false;
    Legend without = *l;
    lay(&without, c, n, w, most, p->y_label);
    if (without.shown < n) return false;
    l->entry[n] = (LegendEntry){c->glyphs == GLYPHS_ASCII ? '-' : 0x2504, p->level_label, STYLE_TRUTH, 0, 0, 0};
    lay(l, c, n + 1, w, without.rows, p->y_label);
    return l->shown == n + 1;
}

Legend plot_legend(const Canvas *c, int w, int most, const Plot *p) {
    Legend l = {0};
    int n = series_entries(c, p, l.entry);
    if (n == 0 && !p->y_label) return l;
    if (n < 2) most = 1;
    l.level = lay_with_level(&l, c, n, w, most, p);
    if (!l.level) lay(&l, c, n, w, most, p->y_label);
    return l;
}

void plot_legend_draw(Canvas *c, Rect r, const Legend *l, const char *y_label) {
    int counted = count_columns(l->hidden);
    if (y_label) canvas_text(c, r.x, r.y, r.w - (l->rows == 1 ? counted : 0), y_label, STYLE_DIM, CANVAS_ELLIPSIS);
    for (int i = 0; i < l->shown; i++) {
        const LegendEntry *e = &l->entry[i];
        int x = r.x + e->x, y = r.y + e->row;
        canvas_put(c, x, y, c->glyphs == GLYPHS_ASCII ? ' ' : e->line, e->role, ATTRIBUTE_NONE);
        canvas_put(c, x + 1, y, e->line, e->role, ATTRIBUTE_NONE);
        canvas_text(c, x + LINE_W, y, e->columns - LINE_W, e->label, e->role, CANVAS_ELLIPSIS);
    }
    if (l->hidden > 0)
        canvas_textf(c, r.x + r.w - counted + APART, r.y + l->rows - 1, counted, STYLE_DIM, ATTRIBUTE_NONE, "+%d",
                     l->hidden);
}
