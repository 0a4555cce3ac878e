/* The vectors of the rope pane: as strips of colour, and number by number (rope_view.h). */
#include "rope_view.h"

#include "format.h"
#include "intl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STRIPS = 5, NUMBER_W = 9, INDEX_W = 9, LABEL_W = 8 };

/* Rows of table vectors begin with all of q, then k, then v. */
static int width_of(const RopeSeen *s) {
    return s->facts.head_dim;
}

static double number(const RopeSeen *s, int vector, int index, const char *column) {
    long row = (long)vector * width_of(s) + index;
    if (row >= table_rows(s->vectors)) return (double)NAN;
    return table_real(s->vectors, row, table_find(s->vectors, column));
}

/* --- strips --- */

static const struct {
    int vector;
    const char *column;
} strips[STRIPS] = {{0, "before"}, {0, "after"}, {1, "before"}, {1, "after"}, {2, "after"}};

typedef struct {
    const RopeSeen *seen;
    double most;
} Strips;

static int strip_heat(const void *data, int row, int col) {
    const Strips *p = data;
    double x = number(p->seen, strips[row].vector, col, strips[row].column);
    if (!isfinite(x)) return -1;
    return (int)lround(128 + 127 * x / p->most);
}

static double largest(const RopeSeen *s) {
    double most = 1e-30;
    for (int i = 0; i < STRIPS; i++)
        for (int k = 0; k < width_of(s); k++) {
            double x = fabs(number(s, strips[i].vector, k, strips[i].column));
            if (isfinite(x)) most = fmax(most, x);
        }
    return most;
}

/* Above the values: which pair each belongs to, or how many are in sight when not all are. */
static void draw_pair_row(const RopeSeen *s, Canvas *c, Rect r, const Rect *values, int cell_w) {
    int d = width_of(s), pair = table_find(s->vectors, "pair"), shown = values->w / cell_w;
    if (shown < d)
        canvas_textf(c, values->x, r.y, values->w, STYLE_DIM, CANVAS_ELLIPSIS, _("the first %d of %d"), shown, d);
    if (shown < d || cell_w < 2) return;
    canvas_text(c, r.x, r.y, LABEL_W, _("pair"), STYLE_DIM, ATTRIBUTE_NONE);
    for (int i = 0; i < d; i++)
        canvas_textf(c, values->x + i * cell_w, r.y, cell_w, STYLE_DIM, ATTRIBUTE_NONE, "%*lld", cell_w - 1,
                     table_int(s->vectors, i, pair) + 1);
}

void rope_draw_strips(const RopeSeen *s, Canvas *c, Rect r) {
    Strips p = {s, largest(s)};
    char query[24], key[24];
    snprintf(query, sizeof query, _("q turned"));
    snprintf(key, sizeof key, _("k turned"));
    const char *const label[STRIPS] = {_("q"), query, _("k"), key, _("v stays")};
    int label_w = LABEL_W, room = r.w - label_w - 2; /* draw_heat keeps two columns beside its labels */
    Heat heat = {.rows = STRIPS,
                 .cols = width_of(s),
                 .heat = strip_heat,
                 .data = &p,
                 .map = HEAT_DIVERGING,
                 .cell_w = room >= 3 * width_of(s)   ? 3
                           : room >= 2 * width_of(s) ? 2
                                                     : 1,
                 .cell_h = 2,
                 .cursor_row = -1,
                 .cursor_col = -1,
                 .row_label = label,
                 .label_w = label_w};
    Rect values = draw_heat(c, (Rect){r.x, r.y + 1, r.w, r.h - 1}, &heat);
    draw_pair_row(s, c, r, &values, heat.cell_w);
}

/* --- numbers --- */

int rope_number_rows(const RopeSeen *s) {
    return s->turns ? width_of(s) : 0;
}

static void draw_titles(const RopeSeen *s, Canvas *c, Rect r) {
    static const char *const titles[] = {N_("q"),   N_("turned"), N_("k"), N_("turned"),
                                         N_("q·k"), N_("so far"), N_("v")};
    static const StyleRole roles[] = {ROPE_QUERY, ROPE_QUERY, ROPE_KEY, ROPE_KEY, STYLE_DIM, STYLE_DIM, STYLE_DIM};
    canvas_text(c, r.x, r.y, INDEX_W, _(" i pair"), STYLE_DIM, ATTRIBUTE_NONE);
    (void)s;
    for (int i = 0; i < 7; i++)
        canvas_textf(c, r.x + INDEX_W + i * NUMBER_W, r.y, r.w - INDEX_W - i * NUMBER_W, roles[i], ATTRIBUTE_NONE,
                     "%*s", i == 4 ? NUMBER_W + 1 : NUMBER_W, _(titles[i]));
}

static void draw_row(const RopeSeen *s, Canvas *c, Rect r, int index, double so_far) {
    double q = number(s, 0, index, "after"), k = number(s, 1, index, "after");
    const double x[7] = {number(s, 0, index, "before"), q, number(s, 1, index, "before"), k, q * k, so_far,
                         number(s, 2, index, "after")};
    static const StyleRole roles[] = {STYLE_DIM, ROPE_QUERY, STYLE_DIM, ROPE_KEY, STYLE_TEXT, STYLE_STRONG, STYLE_DIM};
    canvas_textf(c, r.x, r.y, INDEX_W, STYLE_DIM, ATTRIBUTE_NONE, "%3d %4lld", index + 1,
                 table_int(s->vectors, index, table_find(s->vectors, "pair")) + 1);
    for (int i = 0; i < 7; i++) {
        if (r.w < INDEX_W + (i + 1) * NUMBER_W) return; /* whole numbers only */
        canvas_textf(c, r.x + INDEX_W + i * NUMBER_W, r.y, NUMBER_W, roles[i], ATTRIBUTE_NONE, "%*s", NUMBER_W,
                     format_fixed(x[i], 4).s);
    }
}

void rope_draw_numbers(const RopeSeen *s, Canvas *c, Rect r, int first) {
    double so_far = 0;
    draw_titles(s, c, r);
    for (int i = 0; i < width_of(s); i++) {
        so_far += number(s, 0, i, "after") * number(s, 1, i, "after");
        int y = r.y + 1 + i - first;
        if (i >= first && y < r.y + r.h) draw_row(s, c, (Rect){r.x, y, r.w, 1}, i, so_far);
    }
}
