#include "attention_view.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LABEL_MOST = 10,  /* columns of a row label */
    HEADER_ROWS = 2,  /* axis title and column labels, as draw_heat stands them */
    SMALL_MOST = 12,  /* values along an edge of a small map; longer prompts are pooled */
    SMALL_GUTTER = 3, /* "L1 "; of more than nine layers one more */
    SMALL_LEAST = 3,
    SUM_W = 40,
    SUM_LEAST_W = 34,
    SUM_H = 11,
    SIDE_BY_SIDE_W = 76,
    LARGE_LEAST_W = 13, /* of a value that shows tall digits */
    CELL_MOST_W = 12,   /* of a value alone on the screen, unless the rows are taller */
    LOOKS_LEAST_W = 30, /* of what each head looks at most */
    LOOKS_NAME_W = 12,
};

static const char *const stage_names[] = {"scores", "scaled", "softcapped", "masked", "weights", "mix"};

const char *attention_stage_name(AttentionStage stage) {
    return stage_names[stage];
}

const Field *attention_stage_field(const Snapshot *s, int layer, AttentionStage stage) {
    return snapshot_field(s, "attention.%d.%s", layer, stage_names[stage]);
}

AttentionStage attention_stage(const Snapshot *s, const AttentionState *state) {
    if (state->stage == STAGE_SOFTCAPPED && !attention_stage_field(s, 0, STAGE_SOFTCAPPED)) return STAGE_SCALED;
    return state->stage;
}

/* Where the parts stand. */

static int at_least(int x, int least) {
    return x > least ? x : least;
}
static int at_most(int x, int most) {
    return x < most ? x : most;
}

/* Size of a small map in cells, and of all of them. */
static int small_w(const AttentionPlan *p) {
    return p->small * p->zoom;
}
static int small_h(const AttentionPlan *p) {
    return (p->small * p->zoom + 1) / 2;
}
static int small_gutter(const AttentionPlan *p) {
    return SMALL_GUTTER + (p->layers > 9);
}
static int small_block_w(const AttentionPlan *p) {
    return small_gutter(p) + p->heads * (small_w(p) + 1) - 1;
}
static int small_block_h(const AttentionPlan *p) {
    return p->layers * (small_h(p) + 1);
}

/* The edge of a small map in values: the whole prompt when all heads fit in W x H so, pooled when they do not. */
static void fit_small(AttentionPlan *p, int w, int h) {
    for (p->small = at_most(p->tokens, SMALL_MOST); p->small > SMALL_LEAST; p->small--) {
        if (small_block_w(p) <= w && small_block_h(p) <= h) return;
    }
    p->small = SMALL_LEAST;
}

/* Values of the small maps as large as W x H can hold all of them. */
static void zoom_small(AttentionPlan *p, int w, int h) {
    for (p->zoom = 4; p->zoom > 1; p->zoom--)
        if (small_block_w(p) <= w && small_block_h(p) <= h) break;
}

/* Columns that the large map needs at least, all its values in sight up to a limit. */
static int map_least_w(const AttentionPlan *p) {
    return p->label_w + 2 + 3 * at_most(p->tokens, SMALL_MOST);
}

static void plan_wall(AttentionPlan *p, int w, int h) {
    int foot = h >= 8 ? 2 : h >= 4 ? 1 : 0, body = h - foot, beside = w - map_least_w(p) - 1;
    fit_small(p, beside, body);
    if (beside > small_block_w(p)) beside = small_block_w(p);
    bool maps = body >= small_h(p) + 1 && beside >= small_gutter(p) + small_w(p);
    p->foot = (Rect){0, body, w, foot};
    if (maps && body >= small_block_h(p) + SUM_H &&
        w >= map_least_w(p) + SUM_LEAST_W + 2) { /* room for the arithmetic too */
        beside = at_least(beside, w >= 3 * SUM_W ? SUM_W : SUM_LEAST_W);
        p->sum = (Rect){w - beside, small_block_h(p), beside, SUM_H};
    }
    if (maps) p->maps = (Rect){w - beside, 0, beside, p->sum.h > 0 ? small_block_h(p) : body};
    p->map = (Rect){0, 0, maps ? w - beside - 1 : w, body};
}

static void plan_focus(AttentionPlan *p, int w, int h) {
    if (w < SIDE_BY_SIDE_W || h < SUM_H) {
        plan_wall(p, w, h > 6 ? h - 1 : h);
        if (h > 6) p->stages = (Rect){0, h - 1, w, 1};
        return;
    }
    int left = h - 1 - SUM_H;
    fit_small(p, w / 2, left);
    zoom_small(p, at_least(SUM_W, w / 3), left / 2);
    int side = at_most(at_least(SUM_W, small_block_w(p)), w / 2);
    p->stages = (Rect){0, h - 1, w, 1};
    p->foot = (Rect){0, h - 2, w - side - 2, 1};
    p->map = (Rect){0, 0, w - side - 2, h - 2};
    p->sum = (Rect){w - side, 0, side, SUM_H};
    if (left < small_h(p) + 1) return;
    bool spare = left > small_block_h(p);
    p->maps = (Rect){w - side, SUM_H + spare, side, left - spare};
    int used = small_block_h(p) + 1, looks = p->layers * p->heads + 1;
    if (p->maps.h >= used + looks && side >= LOOKS_LEAST_W) p->looks = (Rect){w - side, p->maps.y + used, side, looks};
}

/* Values as large as the map can hold all of, and not much wider than high; what is left is the side's: the number
 * under the cursor, and the small maps as large as they can be. */
static void plan_present(AttentionPlan *p, int w, int h) {
    int foot = h >= 6 ? 1 : 0, side = w >= SIDE_BY_SIDE_W ? w / 4 : 0;
    p->foot = (Rect){0, h - foot, w, foot};
    p->map = (Rect){0, 0, w - side - (side ? 2 : 0), h - foot};
    int room_w = p->map.w - p->label_w - 2, rows = (p->map.h - HEADER_ROWS) / p->rows;
    p->cell_w = at_least(at_most(room_w / p->cols, (5 * at_least(rows, 1) + 2) / 2), 2);
    p->cell_h = 2 * at_least(at_most(rows, (p->cell_w + 1) / 2), 1);
    int used = p->label_w + 2 + p->cols * p->cell_w;
    if (!side) return;
    if (used < p->map.w) side = at_most(w - used - 2, w / 2);
    p->map.w = w - side - 2;
    p->sum = (Rect){w - side, 0, side, at_most(at_least(side / 4, 5), 22) + 2};
    p->sum.h = at_most(p->sum.h, at_least(h / 2, 7));
    int left = h - foot - p->sum.h - 1;
    fit_small(p, side, left);
    zoom_small(p, side, left);
    p->maps = (Rect){w - side, p->sum.h + 1, side, left};
}

static void plan_labels(const PaneContext *x, AttentionPlan *p, int w) {
    for (int i = 0; i < p->tokens; i++) {
        char token[READING_TOKEN];
        reading_token(x->snapshot, i, token);
        p->label_w = at_least(p->label_w, utf8_columns(token));
    }
    p->label_w = at_most(at_most(p->label_w, LABEL_MOST), at_least(w / 5, 1));
}

/* The size of a value in the large map: as large as fits, about square, scrolled when it must. */
static void plan_cells(const PaneContext *x, AttentionPlan *p) {
    bool wall = x->detail == DETAIL_WALL;
    if (x->detail == DETAIL_PRESENT) return; /* they are already */
    int w = at_least(p->map.w - p->label_w - 2, 1), h = at_least(p->map.h - HEADER_ROWS, 1);
    int most = wall ? CELL_MOST_W : at_least((5 * (h / p->rows) + 2) / 2, CELL_MOST_W); /* not much wider than high */
    p->cell_w = at_least(at_most(w / p->cols, most), 2);
    if (p->stage == STAGE_MIX) p->cell_w = at_least(at_most(w / p->cols, 6), 2);
    if (!wall && p->stage != STAGE_MIX && p->label_w >= p->cell_w && h > 1) h--; /* tokens stand above it in two rows */
    p->cell_h = at_least(at_most(2 * h / p->rows, at_least(p->cell_w, 2)), wall ? 1 : 2);
    if (p->cell_h > 1) p->cell_h &= ~1;
}

/* As many tokens to a cell, at least two columns and a row (on a wall half of one), as it takes to show all. */
static void plan_blocks(const PaneContext *x, AttentionPlan *p) {
    if (!((const AttentionState *)x->state)->blocks || p->stage == STAGE_MIX) return;
    int w = at_least((p->map.w - p->label_w - 2) / 2, 1),
        h = at_least(p->map.h - HEADER_ROWS - 1, 1); /* labels of positions may take one more row */
    if (x->detail == DETAIL_WALL) h *= 2;
    int across = (p->tokens + w - 1) / w, down = (p->tokens + h - 1) / h;
    p->block = at_least(across > down ? across : down, 1);
    p->rows = p->cols = (p->tokens + p->block - 1) / p->block;
}

static void plan_scroll(const PaneContext *x, AttentionPlan *p) {
    if (p->block > 1) return; /* all of it is there */
    int w = at_least(p->map.w - p->label_w - 2, 1), h = at_least(p->map.h - HEADER_ROWS, 1);
    int seen_rows = 2 * h / p->cell_h, seen_cols = w / p->cell_w;
    int col = p->stage == STAGE_MIX ? ((const AttentionState *)x->state)->dimension : x->cursor->key;
    p->first_row = at_least(at_most(x->cursor->query - seen_rows / 2, p->rows - seen_rows), 0);
    p->first_col = at_least(at_most(col - seen_cols / 2, p->cols - seen_cols), 0);
}

bool attention_plan(const PaneContext *x, int w, int h, AttentionPlan *out) {
    AttentionPlan p = {.stage = attention_stage(x->snapshot, x->state), .zoom = 1};
    if (!reading_attention(x->snapshot, &p.layers, &p.heads, &p.tokens)) return false;
    const Field *f = attention_stage_field(x->snapshot, x->cursor->layer, p.stage);
    if (!f) return false;
    p.rows = f->dim[1];
    p.cols = f->dim[2];
    p.block = 1;
    plan_labels(x, &p, w);
    if (x->detail == DETAIL_WALL)
        plan_wall(&p, w, h);
    else if (x->detail == DETAIL_FOCUS)
        plan_focus(&p, w, h);
    else
        plan_present(&p, w, h);
    if (snapshot_field(x->snapshot, "attention.0.blocks")) p.looks.h = 0; /* weights of long texts are dear */
    plan_blocks(x, &p);
    plan_cells(x, &p);
    plan_scroll(x, &p);
    *out = p;
    return true;
}

/* The large map. */

typedef struct {
    const Field *field;
    int head;
    bool weights;        /* 0..1; else signed, around zero */
    double *row_scale;   /* [rows] what full heat stands for */
    const Field *masked; /* where it is -inf a cell is void; NULL: nothing is */
    int decimals, room;  /* of the number on a cell: at most, and columns that leave it a neighbour's distance */
    bool tight;          /* without the zero before the point */
    int block;           /* values along an edge of a cell */
} MapData;

/* What a cell shows: its value, or of a block the one farthest from zero; NaN: all of it is hidden. */
static double cell_value(const MapData *m, int row, int col) {
    double most = (double)NAN;
    for (int i = row * m->block; i < (row + 1) * m->block && i < m->field->dim[1]; i++)
        for (int j = col * m->block; j < (col + 1) * m->block && j < m->field->dim[2]; j++) {
            double x = (double)field_at(m->field, m->head, i, j, 0);
            if (m->masked && isinf(field_at(m->masked, m->head, i, j, 0))) continue;
            if (isfinite(x) && !(fabs(x) <= fabs(most))) most = x;
        }
    return most;
}

static int map_heat(const void *data, int row, int col) {
    const MapData *m = data;
    double x = cell_value(m, row, col);
    if (isnan(x)) return -1;
    double share = m->row_scale[row] > 0 ? x / m->row_scale[row] : 0;
    double heat = m->weights ? 255 * share : 128 + 127 * share;
    return heat < 0 ? 0 : heat > 255 ? 255 : (int)(heat + 0.5);
}

static double largest_in_row(const Field *f, int head, int row) {
    double most = 0;
    for (int j = 0; j < f->dim[2]; j++) {
        double x = fabs((double)field_at(f, head, row, j, 0));
        if (isfinite(x)) most = fmax(most, x);
    }
    return most;
}

double attention_map_scale(const PaneContext *x, const AttentionPlan *p) {
    const Field *f = attention_stage_field(x->snapshot, x->cursor->layer, p->stage);
    double whole = p->stage == STAGE_WEIGHTS ? 1 : 0;
    for (int i = 0; i < f->dim[1] && p->stage != STAGE_WEIGHTS; i++)
        whole = fmax(whole, largest_in_row(f, x->cursor->head, i));
    return whole;
}

static MapData map_data(const PaneContext *x, const AttentionPlan *p) {
    const AttentionState *state = x->state;
    MapData m = {.field = attention_stage_field(x->snapshot, x->cursor->layer, p->stage),
                 .head = x->cursor->head,
                 .block = p->block,
                 .weights = p->stage == STAGE_WEIGHTS};
    bool hides = p->stage == STAGE_MASKED || p->stage == STAGE_WEIGHTS;
    if (hides) m.masked = attention_stage_field(x->snapshot, x->cursor->layer, STAGE_MASKED);
    m.row_scale = MEM_ARRAY(double, (size_t)p->rows);
    double whole = attention_map_scale(x, p);
    for (int i = 0; i < p->rows; i++) m.row_scale[i] = state->per_row ? 0 : whole;
    for (int i = 0; i < m.field->dim[1] && state->per_row; i++)
        m.row_scale[i / p->block] = fmax(m.row_scale[i / p->block], largest_in_row(m.field, m.head, i));
    return m;
}

typedef struct {
    char (*text)[READING_TOKEN];
    const char **label;
} Labels;

/* Of blocks: the position where each begins. */
static Labels labels_new(const Snapshot *s, int n, bool tokens, int block) {
    Labels l = {mem_zero((size_t)n, READING_TOKEN), MEM_ARRAY(const char *, (size_t)n)};
    for (int i = 0; i < n; i++) {
        if (tokens && block > 1)
            snprintf(l.text[i], READING_TOKEN, "%d", i * block);
        else if (tokens)
            reading_token(s, i, l.text[i]);
        else
            snprintf(l.text[i], READING_TOKEN, "%d", i + 1);
        l.label[i] = l.text[i];
    }
    return l;
}

static void labels_free(Labels *l) {
    mem_free(l->text);
    mem_free(l->label);
}

/* The number on a cell, as exact as there is room for. */
static void map_text(const void *data, int row, int col, char *out, size_t bytes) {
    const MapData *m = data;
    double x = (double)field_at(m->field, m->head, row, col, 0);
    Text number = format_fixed(x, m->decimals);
    for (int d = m->decimals - 1; d >= 0 && utf8_columns(number.s) > m->room; d--) number = format_fixed(x, d);
    bool tight = m->tight && m->weights && m->decimals == 2; /* .87 and 1.0 where 0.87 and 1.00 are too wide */
    if (tight && number.s[0] == '1')
        snprintf(out, bytes, "%.3s", number.s);
    else
        snprintf(out, bytes, "%s", number.s + (tight && number.s[0] == '0' ? 1 : 0));
}

/* The large map as draw_heat takes it, with all that it borrows. */
typedef struct {
    MapData data;
    Labels rows, cols;
    Heat heat;
} LargeMap;

static void large_map_init(LargeMap *m, const PaneContext *x, const AttentionPlan *p) {
    const AttentionState *state = x->state;
    bool mix = p->stage == STAGE_MIX;
    bool large = x->detail == DETAIL_PRESENT && p->cell_w >= LARGE_LEAST_W;
    m->data = map_data(x, p);
    m->data.decimals = !m->data.weights ? 1 : p->cell_w >= 8 && !large ? 3 : 2;
    m->data.room = p->cell_w - 1;
    m->data.tight = p->cell_w < 6 || large;
    m->rows = labels_new(x->snapshot, p->rows, true, p->block);
    m->cols = labels_new(x->snapshot, p->cols, !mix, p->block);
    m->heat = (Heat){.rows = p->rows,
                     .cols = p->cols,
                     .heat = map_heat,
                     .text = p->cell_w >= 5 && p->block == 1 ? map_text : NULL,
                     .data = &m->data,
                     .map = m->data.weights ? HEAT_SEQUENTIAL : HEAT_DIVERGING,
                     .cell_w = p->cell_w,
                     .cell_h = p->cell_h,
                     .first_row = p->first_row,
                     .first_col = p->first_col,
                     .cursor_row = x->cursor->query / p->block,
                     .cursor_col = mix ? state->dimension : x->cursor->key / p->block,
                     .row_label = m->rows.label,
                     .col_label = m->cols.label,
                     .row_axis = _("query"),
                     .col_axis = mix ? _("dimension of the head") : _("key"),
                     .label_w = p->label_w,
                     .large = x->detail == DETAIL_PRESENT};
}

static void large_map_done(LargeMap *m) {
    labels_free(&m->rows);
    labels_free(&m->cols);
    mem_free(m->data.row_scale);
}

void attention_draw_map(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    LargeMap m;
    large_map_init(&m, x, p);
    draw_heat(c, p->map, &m.heat);
    large_map_done(&m);
}

bool attention_map_hit(const PaneContext *x, const AttentionPlan *p, const Canvas *like, int px, int py, int *row, int *col) {
    LargeMap m;
    large_map_init(&m, x, p);
    bool hit = draw_heat_at(like, p->map, &m.heat, px, py, row, col);
    if (hit) *row *= p->block, *col *= p->block;
    large_map_done(&m);
    return hit;
}

/* The small maps: weights of every layer and head. */

typedef struct {
    const Field *weights, *masked;
    int head, edge, tokens;
} SmallData;

/* The largest weight of a block of cells; void where all of it is hidden. Read through pointers: there may be hundreds
 * of heads. */
static int small_heat(const void *data, int row, int col) {
    const SmallData *d = data;
    int T = d->tokens;
    double most = -1;
    for (int i = row * T / d->edge; i < (row + 1) * T / d->edge; i++) {
        size_t start = ((size_t)d->head * (size_t)T + (size_t)i) * (size_t)T;
        const real *weight = d->weights->x + start, *masked = d->masked ? d->masked->x + start : NULL;
        for (int j = col * T / d->edge; j < (col + 1) * T / d->edge; j++) {
            if (masked && isinf(masked[j])) continue;
            if ((double)weight[j] > most) most = (double)weight[j];
        }
    }
    return most < 0 ? -1 : at_most((int)(255 * most + 0.5), 255);
}

/* Which layers and heads the small maps show: all, or a range around the selected one. */
typedef struct {
    int layer, layers, head, heads;
} Seen;

static Seen seen_maps(const AttentionPlan *p, const Cursor *cursor) {
    Seen s;
    s.layers = at_most(at_least(p->maps.h / (small_h(p) + 1), 1), p->layers);
    s.heads = at_most(at_least((p->maps.w - small_gutter(p) + 1) / (small_w(p) + 1), 1), p->heads);
    s.layer = at_least(at_most(cursor->layer - s.layers / 2, p->layers - s.layers), 0);
    s.head = at_least(at_most(cursor->head - s.heads / 2, p->heads - s.heads), 0);
    return s;
}

/* "4", "[4]" under the cursor, "[4×]" when it is switched off too: from the gap before the map where it is wider than
 * that. */
static void draw_small_name(Canvas *c, int left, int top, int room, int head, bool here, bool off) {
    char name[24];
    snprintf(name, sizeof name, here ? "[%d%s]" : "%d%s", head + 1, off ? "×" : "");
    int over = utf8_columns(name) - room;
    if (over > 1) snprintf(name, sizeof name, "%d%s", head + 1, off ? "×" : "");
    if (over > 0) left--;
    canvas_text(c, left, top, room + 1, name, here ? STYLE_CURSOR : off ? STYLE_WARNING : STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_small(const PaneContext *x, const AttentionPlan *p, Canvas *c, int layer, int head, int left,
                       int top) {
    bool here = layer == x->cursor->layer && head == x->cursor->head;
    bool off = reading_is_off(x->snapshot, layer, head);
    draw_small_name(c, left, top, small_w(p), head, here, off);
    const Field *blocks = snapshot_field(x->snapshot, "attention.%d.blocks", layer);
    SmallData data = {.weights = blocks, .head = head, .edge = p->small};
    if (!blocks) data.weights = attention_stage_field(x->snapshot, layer, STAGE_WEIGHTS);
    if (!blocks) data.masked = attention_stage_field(x->snapshot, layer, STAGE_MASKED);
    data.tokens = data.weights->dim[1];
    Heat heat = {.rows = data.edge,
                 .cols = data.edge,
                 .heat = small_heat,
                 .data = &data,
                 .map = HEAT_SEQUENTIAL,
                 .cell_w = p->zoom,
                 .cell_h = p->zoom,
                 .cursor_row = -1,
                 .cursor_col = -1};
    draw_heat(c, (Rect){left, top + 1, small_w(p), small_h(p)}, &heat);
}

void attention_draw_maps(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    if (p->maps.h < small_h(p) + 1 || p->maps.w < small_gutter(p) + small_w(p)) return;
    Seen s = seen_maps(p, x->cursor);
    for (int l = 0; l < s.layers; l++) {
        int top = p->maps.y + l * (small_h(p) + 1);
        canvas_textf(c, p->maps.x, top, small_gutter(p) - 1, STYLE_DIM, ATTRIBUTE_NONE, "L%d", s.layer + l + 1);
        bool above = l == 0 && s.layer > 0, below = l + 1 == s.layers && s.layer + s.layers < p->layers;
        if (above || below) /* more layers there: < and > page */
            canvas_text(c, p->maps.x, top + 1, 1, below ? "▾" : "▴", STYLE_DIM, ATTRIBUTE_NONE);
        for (int h = 0; h < s.heads; h++) {
            draw_small(x, p, c, s.layer + l, s.head + h, p->maps.x + small_gutter(p) + h * (small_w(p) + 1), top);
        }
    }
}

/* The key that a query looks at most. */
static int looked_at(const Field *weights, int head, int query) {
    int most = 0;
    for (int j = 1; j <= query && j < weights->dim[2]; j++)
        if (field_at(weights, head, query, j, 0) > field_at(weights, head, query, most, 0)) most = j;
    return most;
}

void attention_draw_looks(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    Rect r = p->looks;
    if (r.h == 0) return;
    char token[READING_TOKEN + 16];
    reading_token_place(x->snapshot, x->cursor->query, token);
    canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("where each head looks most from %s"), token);
    for (int i = 0; i < p->layers * p->heads; i++) {
        int layer = i / p->heads, head = i % p->heads, y = r.y + 1 + i;
        const Field *weights = attention_stage_field(x->snapshot, layer, STAGE_WEIGHTS);
        if (!weights || x->cursor->query >= weights->dim[1]) continue;
        bool here = layer == x->cursor->layer && head == x->cursor->head;
        int key = looked_at(weights, head, x->cursor->query);
        double weight = (double)field_at(weights, head, x->cursor->query, key, 0);
        StyleRole role = here ? STYLE_STRONG : STYLE_TEXT;
        canvas_textf(c, r.x, y, LOOKS_NAME_W, here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE, _("%sL%d head %d"),
                     here ? "▸" : " ", layer + 1, head + 1);
        reading_token_place(x->snapshot, key, token);
        canvas_text(c, r.x + LOOKS_NAME_W, y, r.w / 3, token, role, CANVAS_ELLIPSIS);
        draw_bar(c, r.x + LOOKS_NAME_W + r.w / 3, y, r.w - LOOKS_NAME_W - r.w / 3 - 6, weight, STYLE_MODEL);
        canvas_text(c, r.x + r.w - 5, y, 5, format_fixed(weight, 3).s, role, ATTRIBUTE_NONE);
    }
}

bool attention_maps_hit(const AttentionPlan *p, const Cursor *cursor, int x, int y, int *layer, int *head) {
    if (p->maps.h == 0) return false;
    Seen s = seen_maps(p, cursor);
    int dx = x - p->maps.x - small_gutter(p), dy = y - p->maps.y;
    if (dx < 0 || dy < 0 || dx / (small_w(p) + 1) >= s.heads || dy / (small_h(p) + 1) >= s.layers) return false;
    *layer = s.layer + dy / (small_h(p) + 1);
    *head = s.head + dx / (small_w(p) + 1);
    return true;
}
