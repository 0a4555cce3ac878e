#include "mask_view.h"

#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LABEL_MOST = 10, /* columns of a row label */
    HEADER_ROWS = 2, /* axis title and column labels, as draw_heat stands them */
    REACH_MOST = 7,  /* rows of the reach: the input and six layers; more are scrolled */
    SIDE_W = 41,     /* the words beside the map */
    SIDE_LEAST_W = 74,
    SIDE_LEAST_H = 12,
    NUMBER_LEAST_W = 5, /* of a cell that shows how far back it is */
    REACH_LEAST_H = 11,
};

enum { HEAT_NOT_FELT = 1, HEAT_FAINT = 40 };

#define FAINTEST 6 /* powers of ten below the largest change that still have a shade of their own */

const char *mask_view_name(MaskView v) {
    static const char *const names[MASK_VIEWS] = {"sentence", "packed", "padded"};
    return names[v];
}

const char *mask_method_name(MaskMethod m) {
    static const char *const names[MASK_METHODS] = {"none", "masked", "loop", "chunks"};
    return names[m];
}

/* Reading. */

static const Field *mask_field(const Snapshot *s, int layer, MaskView v) {
    if (v == MASK_SENTENCE) return snapshot_field(s, "mask.%d", layer);
    return snapshot_field(s, "mask.%d.%s", layer, mask_view_name(v));
}

const Table *mask_rows(const Snapshot *s, MaskView v) {
    return snapshot_table(s, v == MASK_SENTENCE ? "tokens" : mask_view_name(v));
}

long long mask_number(const Snapshot *s, const char *table, long row, const char *column, long long fallback) {
    const Table *t = snapshot_table(s, table);
    int at = t ? table_find(t, column) : -1;
    return at < 0 || row >= table_rows(t) || table_is_empty(t, row, at) ? fallback : table_int(t, row, at);
}

MaskMethod mask_method(const MaskState *state) {
    return state->view == MASK_SENTENCE ? state->method : MASK_PLAIN;
}

static bool is_allowed(const MaskPlan *p, int row, int col) {
    return field_at(p->mask, row, col, 0, 0) > 0;
}

bool mask_works_out(const PaneContext *x, const MaskPlan *p, int row, int col) {
    const Field *chunks;
    switch (mask_method(x->state)) {
    case MASK_MASKED:
        return true;
    case MASK_CHUNKS:
        chunks = snapshot_field(x->snapshot, "mask.%d.chunks", x->cursor->layer);
        return chunks && field_at(chunks, row, col, 0, 0) > 0;
    default:
        return is_allowed(p, row, col);
    }
}

/* Where the parts stand. */

static int at_least(int x, int least) {
    return x > least ? x : least;
}
static int at_most(int x, int most) {
    return x < most ? x : most;
}

/* Rows that the reach takes of H: a line of words, the input, the layers; 0: nothing to show, or no room. */
static int reach_rows(const PaneContext *x, const MaskPlan *p, int h) {
    const Field *change = snapshot_field(x->snapshot, "poke.change");
    if (!change || p->view != MASK_SENTENCE || h < REACH_LEAST_H) return 0;
    return 1 + at_most(at_most(1 + change->dim[0], REACH_MOST), h / 3);
}

/* The map and, below it, the reach, in R. */
static void plan_column(const PaneContext *x, MaskPlan *p, Rect r) {
    int reach = reach_rows(x, p, r.h);
    p->map = (Rect){r.x, r.y, r.w, r.h - reach};
    p->reach = (Rect){r.x, r.y + r.h - reach, r.w, reach};
}

static void plan_wall(const PaneContext *x, MaskPlan *p, int w, int h) {
    int foot = h >= 8 ? 2 : h >= 4 ? 1 : 0;
    p->foot = (Rect){0, h - foot, w, foot};
    plan_column(x, p, (Rect){0, 0, w, h - foot});
}

static void plan_focus(const PaneContext *x, MaskPlan *p, int w, int h) {
    if (w < SIDE_LEAST_W || h < SIDE_LEAST_H) {
        plan_wall(x, p, w, h);
        return;
    }
    int side = at_least(SIDE_W, w / 3);
    p->foot = (Rect){0, h - 1, w, 1};
    p->legend = (Rect){0, h - 2, w - side - 2, 1};
    p->side = (Rect){w - side, 0, side, h - 1};
    plan_column(x, p, (Rect){0, 0, w - side - 2, h - 2});
}

static void plan_present(const PaneContext *x, MaskPlan *p, int w, int h) {
    int foot = h >= 4 ? 1 : 0, side = w >= SIDE_LEAST_W ? w / 3 : 0;
    p->foot = (Rect){0, h - foot, w, foot};
    if (side) p->side = (Rect){w - side, 0, side, h - foot};
    plan_column(x, p, (Rect){0, 0, w - side - (side ? 2 : 0), h - foot});
}

static void plan_labels(const PaneContext *x, MaskPlan *p, int w) {
    const Table *rows = mask_rows(x->snapshot, p->view);
    for (int i = 0; i < p->rows; i++) {
        char token[READING_TOKEN];
        reading_cell(rows, i, "token", token);
        p->label_w = at_least(p->label_w, utf8_columns(token));
    }
    p->label_w =
        at_least(at_most(at_most(p->label_w, LABEL_MOST), w / 5), at_most(5, w / 5)); /* "input" stands there */
}

/* The size of a cell: all of them in sight while they can be, about square, alone as large as there is room for. */
static void plan_cells(const PaneContext *x, MaskPlan *p) {
    int w = at_least(p->map.w - p->label_w - 2, 1), h = at_least(p->map.h - HEADER_ROWS, 1);
    int reach = at_least(p->reach.h - 1, 0);
    if (x->detail == DETAIL_FOCUS && h - reach >= 4 * p->rows) h -= reach; /* which may be taller then */
    int most = x->detail != DETAIL_WALL ? at_least((5 * (h / p->rows) + 2) / 2, 8) : 8;
    p->cell_w = at_least(at_most(w / p->cols, most), 1);
    p->cell_h = at_least(at_most(2 * h / p->rows, at_least(p->cell_w, 2)), 1);
    if (p->cell_h > 1) p->cell_h &= ~1;
    if (p->cell_w > 3 * p->cell_h) p->cell_w = 3 * p->cell_h;
}

/* Rows that the map does not need make the reach taller. */
static void share_rows(MaskPlan *p) {
    int cells = p->reach.h - 1, spare = p->map.h - HEADER_ROWS - (p->rows * p->cell_h + 1) / 2;
    p->reach_cell_h = 2;
    if (cells < 1 || spare < cells) return;
    p->reach_cell_h = 4;
    p->map.h -= cells;
    p->reach.y -= cells;
    p->reach.h += cells;
}

static int bounded(int x, int n) {
    return x >= n ? n - 1 : x < 0 ? 0 : x;
}

bool mask_plan(const PaneContext *x, int w, int h, MaskPlan *out) {
    const MaskState *state = x->state;
    MaskPlan p = {.view = state->view, .mask = mask_field(x->snapshot, x->cursor->layer, state->view)};
    if (!p.mask || p.mask->dim[0] < 1) return false;
    p.rows = p.mask->dim[0];
    p.cols = p.mask->dim[1];
    bool shared = p.view == MASK_SENTENCE;
    p.row = bounded(shared ? x->cursor->query : state->row, p.rows);
    p.col = bounded(shared ? x->cursor->key : state->col, p.cols);
    if (x->detail == DETAIL_WALL)
        plan_wall(x, &p, w, h);
    else if (x->detail == DETAIL_FOCUS)
        plan_focus(x, &p, w, h);
    else
        plan_present(x, &p, w, h);
    plan_labels(x, &p, p.map.w);
    plan_cells(x, &p);
    share_rows(&p);
    *out = p;
    return true;
}

/* The map. */

typedef struct {
    const PaneContext *x;
    const MaskPlan *plan;
    const Table *rows;
    char (*text)[READING_TOKEN]; /* [rows] */
    const char **label;
    Heat heat;
} Map;

static int map_heat(const void *data, int row, int col) {
    const Map *m = data;
    if (is_allowed(m->plan, row, col)) return MASK_HEAT_ALLOWED;
    return mask_works_out(m->x, m->plan, row, col) ? MASK_HEAT_IN_VAIN : -1;
}

/* How many tokens back the key is, where the query may look. */
static void map_text(const void *data, int row, int col, char *out, size_t bytes) {
    const Map *m = data;
    out[0] = '\0';
    int at = m->rows ? table_find(m->rows, "position") : -1;
    if (at < 0 || !is_allowed(m->plan, row, col)) return;
    snprintf(out, bytes, "%lld", table_int(m->rows, row, at) - table_int(m->rows, col, at));
}

bool mask_has_numbers(const PaneContext *x, const MaskPlan *p) {
    return x->detail == DETAIL_FOCUS && p->cell_w >= NUMBER_LEAST_W && p->cell_h >= 4;
}

/* Words above the columns: side by side, or written downwards where there are rows to spare. */
static bool columns_are_named(const MaskPlan *p) {
    enum { UPRIGHT = 4 };
    return p->cell_w >= 4 || (p->cell_w >= 2 && p->map.h - 1 - (p->rows * p->cell_h + 1) / 2 >= UPRIGHT);
}

static void map_init(Map *m, const PaneContext *x, const MaskPlan *p) {
    const Table *rows = mask_rows(x->snapshot, p->view);
    *m = (Map){.x = x,
               .plan = p,
               .rows = rows,
               .text = mem_zero((size_t)p->rows, READING_TOKEN),
               .label = MEM_ARRAY(const char *, (size_t)p->rows)};
    for (int i = 0; i < p->rows; i++) {
        reading_cell(rows, i, "token", m->text[i]);
        m->label[i] = m->text[i];
    }
    m->heat = (Heat){.rows = p->rows,
                     .cols = p->cols,
                     .heat = map_heat,
                     .text = mask_has_numbers(x, p) ? map_text : NULL,
                     .data = m,
                     .map = HEAT_SEQUENTIAL,
                     .cell_w = p->cell_w,
                     .cell_h = p->cell_h,
                     .cursor_row = p->row,
                     .cursor_col = p->col,
                     .row_label = m->label,
                     .col_label = columns_are_named(p) ? m->label : NULL,
                     .row_axis = _("query"),
                     .col_axis = _("key"),
                     .label_w = p->label_w,
                     .large = x->detail == DETAIL_PRESENT};
}

static void map_done(Map *m) {
    mem_free(m->text);
    mem_free(m->label);
}

void mask_draw_map(const PaneContext *x, const MaskPlan *p, Canvas *c) {
    Map m;
    map_init(&m, x, p);
    draw_heat(c, p->map, &m.heat);
    map_done(&m);
}

bool mask_map_hit(const PaneContext *x, const MaskPlan *p, const Canvas *like, int px, int py, int *row, int *col) {
    Map m;
    map_init(&m, x, p);
    bool hit = draw_heat_at(like, p->map, &m.heat, px, py, row, col);
    map_done(&m);
    return hit;
}

/* The reach: row 0 is the input, row l + 1 what layer l gives. */

typedef struct {
    const Snapshot *snapshot;
    const Field *change;
    int position; /* of the changed word */
    double most;
    char (*text)[24]; /* [rows] "input", "L1" */
    const char **label;
    Heat heat;
} ReachMap;

/* What reaches no cell is void; within reach a change is at least a shade, also one that rounding swallowed. */
static int reach_heat(const void *data, int row, int col) {
    const ReachMap *m = data;
    if (row == 0) return col == m->position ? 255 : -1;
    double change = (double)field_at(m->change, row - 1, col, 0, 0);
    long long reach = mask_number(m->snapshot, "reach", row - 1, "farthest_formula", m->change->dim[1]);
    if (!(change > 0)) return col >= m->position && col <= m->position + reach ? HEAT_NOT_FELT : -1;
    double level = isfinite(change) ? 1 + log10(change / m->most) / FAINTEST : 1;
    return level < 0 ? HEAT_FAINT : (int)(HEAT_FAINT + (255 - HEAT_FAINT) * fmin(level, 1));
}

static void reach_init(ReachMap *m, const PaneContext *x, const MaskPlan *p) {
    const Field *change = snapshot_field(x->snapshot, "poke.change");
    int rows = 1 + change->dim[0];
    *m = (ReachMap){.snapshot = x->snapshot,
                    .change = change,
                    .position = (int)mask_number(x->snapshot, "poke", 0, "position", 0),
                    .text = mem_zero((size_t)rows, sizeof *m->text),
                    .label = MEM_ARRAY(const char *, (size_t)rows)};
    for (size_t i = 0; i < field_count(change); i++)
        if (isfinite(change->x[i])) m->most = fmax(m->most, (double)change->x[i]);
    for (int i = 0; i < rows; i++) {
        if (i > 0)
            snprintf(m->text[i], sizeof *m->text, "L%d", i);
        else
            snprintf(m->text[i], sizeof *m->text, "%s", _("input"));
        m->label[i] = m->text[i];
    }
    m->heat = (Heat){.rows = rows,
                     .cols = change->dim[1],
                     .heat = reach_heat,
                     .data = m,
                     .map = HEAT_SEQUENTIAL,
                     .cell_w = p->cell_w,
                     .cell_h = p->reach_cell_h,
                     .cursor_row = x->cursor->layer + 1,
                     .cursor_col = p->col,
                     .row_label = m->label,
                     .label_w = p->label_w,
                     .large = x->detail == DETAIL_PRESENT};
}

static void reach_done(ReachMap *m) {
    mem_free(m->text);
    mem_free(m->label);
}

static Rect reach_cells(const MaskPlan *p) {
    return (Rect){p->reach.x, p->reach.y + 1, p->reach.w, p->reach.h - 1};
}

/* "“the” becomes “cat”: felt in" */
static void draw_reach_head(const PaneContext *x, Canvas *c, Rect r) {
    const Table *t = snapshot_table(x->snapshot, "poke");
    if (!t || table_rows(t) == 0) return;
    char word[READING_TOKEN], other[READING_TOKEN], text[2 * READING_TOKEN + 48];
    reading_cell(t, 0, "token", word);
    reading_cell(t, 0, "other", other);
    snprintf(text, sizeof text, _("“%s” becomes “%s”: felt in"), word, other);
    if (utf8_columns(text) > r.w) snprintf(text, sizeof text, _("“%s” becomes “%s”"), word, other);
    canvas_text(c, r.x, r.y, r.w, text, STYLE_DIM, CANVAS_ELLIPSIS);
}

void mask_draw_reach(const PaneContext *x, const MaskPlan *p, Canvas *c) {
    if (p->reach.h < 2) return;
    ReachMap m;
    reach_init(&m, x, p);
    draw_reach_head(x, c, p->reach);
    draw_heat(c, reach_cells(p), &m.heat);
    reach_done(&m);
}

bool mask_reach_hit(const PaneContext *x, const MaskPlan *p, const Canvas *like, int px, int py, int *layer, int *position) {
    if (p->reach.h < 2) return false;
    ReachMap m;
    int row;
    reach_init(&m, x, p);
    bool hit = draw_heat_at(like, reach_cells(p), &m.heat, px, py, &row, position) && row > 0;
    if (hit) *layer = row - 1;
    reach_done(&m);
    return hit;
}
