#include "step_view.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SIDE_LEAST_W = 72,
    SIDE_LEAST_H = 12,
    WIDE_W = 150,   /* the tensors stand beside */
    DIAGRAM_H = 20, /* rows from which there is room for it */
    TENSORS_W = 74,
    NAME_W = 17, /* of an operation, shortened */
    NUMBER_W = 9,
    LABEL_MOST = 10,
    CELL_W_MOST = 8, /* of a number in the map */
    CELL_H_MOST = 12,
};

/* Reading. */

const char *step_stage_name(StepStage stage) {
    static const char *const names[STEP_STAGES] = {"forward", "loss", "backward", "update"};
    return names[stage];
}

const char *step_op_text(const StepSeen *s, int op, const char *column) {
    return table_text(s->ops, op, table_find(s->ops, column));
}

double step_op_number(const StepSeen *s, int op, const char *column) {
    return table_real(s->ops, op, table_find(s->ops, column));
}

static int within(int x, int n) {
    return x >= n ? (n > 0 ? n - 1 : 0) : x < 0 ? 0 : x;
}

bool step_see(const PaneContext *x, StepSeen *out) {
    const StepState *state = x->state;
    StepSeen s = {.snapshot = x->snapshot,
                  .ops = snapshot_table(x->snapshot, "ops"),
                  .tensors = snapshot_table(x->snapshot, "tensors"),
                  .pass = snapshot_table(x->snapshot, "pass"),
                  .stage = state->stage};
    if (!s.ops || !s.tensors || !s.pass || table_rows(s.ops) < 1 || table_rows(s.pass) < 1) return false;
    s.count = (int)table_rows(s.ops);
    s.run = s.count - (strcmp(step_op_text(&s, s.count - 1, "name"), "loss") == 0);
    s.taught = isfinite(step_op_number(&s, s.count - 1, "grad_rms"));
    s.op = s.stage == STEP_LOSS ? s.count - 1 : within(state->op, s.stage == STEP_FORWARD ? s.run : s.count);
    s.tensor = within(state->tensor, (int)table_rows(s.tensors));
    if (s.stage == STEP_BACKWARD || (s.stage == STEP_LOSS && s.run == s.count))
        s.shown = snapshot_field(x->snapshot, "step.%d.gradient", s.op);
    else if (s.stage != STEP_UPDATE)
        s.shown = snapshot_field(x->snapshot, "step.%d.value", s.op);
    if (s.shown) {
        s.row = within(x->cursor->query, s.shown->dim[0]);
        s.column = within(state->column, s.shown->dim[1]);
    }
    *out = s;
    return true;
}

/* The program counter. */

int step_counters(const StepSeen *s) {
    return s->run + 1 + s->count + (int)table_rows(s->tensors);
}

int step_counter(const StepSeen *s) {
    switch (s->stage) {
    case STEP_FORWARD:
        return s->op;
    case STEP_LOSS:
        return s->run;
    case STEP_BACKWARD:
        return s->run + s->count - s->op;
    default:
        return s->run + 1 + s->count + s->tensor;
    }
}

StepStage step_stage_of(const StepSeen *s, int counter) {
    if (counter < s->run) return STEP_FORWARD;
    if (counter == s->run) return STEP_LOSS;
    return counter <= s->run + s->count ? STEP_BACKWARD : STEP_UPDATE;
}

void step_go(const StepSeen *s, int counter, StepState *state) {
    counter = within(counter, step_counters(s));
    state->stage = step_stage_of(s, counter);
    if (state->stage == STEP_FORWARD) state->op = counter;
    if (state->stage == STEP_LOSS) state->op = s->count - 1;
    if (state->stage == STEP_BACKWARD) state->op = s->run + s->count - counter;
    if (state->stage == STEP_UPDATE) state->tensor = counter - s->run - 1 - s->count;
}

/* Where the parts stand. */

static StepPlan plan_wall(const StepSeen *s, int w, int h) {
    StepPlan p = {.tabs = {0, 0, w, 1}};
    if (s->stage == STEP_UPDATE) {
        p.tensors = (Rect){0, 1, w, h - 1};
        return p;
    }
    int heat = h >= 14 ? h / 3 : 0, words = h >= 6 ? 2 : 1;
    p.list = (Rect){0, 1, w, h - 1 - words - heat};
    p.words = (Rect){0, h - words - heat, w, words};
    p.heat = (Rect){0, h - heat, w, heat};
    return p;
}

static StepPlan plan_large(int w, int h) {
    return (StepPlan){.tabs = {0, 0, w, 1}, .words = {0, 1, w, 2}, .heat = {0, 3, w, h - 4}, .foot = {0, h - 1, w, 1}};
}

/* The list at the left, the operation in the middle, and where there is room the tensors at the right. */
static StepPlan plan_focus(const StepSeen *s, int w, int h, bool present) {
    StepPlan p = {.tabs = {0, 0, w, 1}};
    int y = 1, list = w >= 110 ? 42 : 36, tensors = w >= WIDE_W && !present ? TENSORS_W : 0;
    if (h >= DIAGRAM_H) p.diagram = (Rect){0, 1, w, 2}, y = 4;
    if (s->stage == STEP_UPDATE && !tensors) {
        p.tensors = (Rect){0, y, w, h - y};
        return p;
    }
    int x = list + 2, middle = w - x - (tensors ? tensors + 2 : 0), words = h - y >= 24 || middle < 62 ? 8 : 6;
    if (s->shown && field_count(s->shown) == 1) words = h - y; /* one number is no map */
    p.list = (Rect){0, y, list, h - y};
    p.words = (Rect){x, y, middle, words};
    p.heat = (Rect){x, y + words, middle, h - y - words - 2};
    p.foot = (Rect){x, h - 2, middle, 2};
    if (tensors) p.tensors = (Rect){w - tensors, y, tensors, h - y};
    return p;
}

StepPlan step_plan(const PaneContext *x, const StepSeen *s, int w, int h) {
    const StepState *state = x->state;
    if (x->detail == DETAIL_WALL || w < SIDE_LEAST_W || h < SIDE_LEAST_H) return plan_wall(s, w, h);
    if (state->large && s->shown) return plan_large(w, h);
    return plan_focus(s, w, h, x->detail == DETAIL_PRESENT);
}

void step_draw_right(Canvas *c, int x, int y, int w, const char *text, StyleRole role) {
    int used = utf8_columns(text);
    if (used > w) used = w;
    canvas_text(c, x + w - used, y, used, text, role, ATTRIBUTE_NONE);
}

/* The stages. */

/* 0: there is only room for the one that it is. */
static int tab_w(Rect r) {
    return r.w >= 60 ? 12 : r.w >= 40 ? 10 : r.w >= 36 ? 9 : 0;
}

void step_draw_tabs(const StepSeen *s, Canvas *c, Rect r) {
    static const char *const labels[STEP_STAGES] = {N_("forward"), N_("loss"), N_("backward"), N_("update")};
    int w = tab_w(r);
    if (w == 0) {
        canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, CANVAS_ELLIPSIS, _("%s  %d of %d"), _(labels[s->stage]),
                     step_counter(s) + 1, step_counters(s));
        return;
    }
    for (int i = 0; i < (int)STEP_STAGES; i++) {
        bool here = s->stage == (StepStage)i;
        char text[48];
        snprintf(text, sizeof text, "%s%s", here ? "▸" : " ", _(labels[i]));
        canvas_text(c, r.x + i * w, r.y, w, text, here ? STYLE_STRONG : STYLE_DIM,
                    here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    }
    int at = STEP_STAGES * w;
    if (r.w - at >= 16)
        canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, _("%d of %d"), step_counter(s) + 1,
                     step_counters(s));
}

bool step_tab_at(Rect r, int x, StepStage *stage) {
    if (tab_w(r) == 0) return false;
    int i = (x - r.x) / tab_w(r);
    if (x < r.x || i >= (int)STEP_STAGES) return false;
    *stage = (StepStage)i;
    return true;
}

/* The residual stream: an addition whose other input was made before is spanned by a branch. */

static int find_op(const StepSeen *s, const char *name, size_t bytes) {
    for (int i = 0; i < s->count; i++) {
        const char *other = step_op_text(s, i, "name");
        if (strlen(other) == bytes && memcmp(other, name, bytes) == 0) return i;
    }
    return -1;
}

/* The operation that the branch of addition ADD leaves behind; -1: it adds what lies side by side. */
static int fork_of(const StepSeen *s, int add) {
    if (strcmp(step_op_text(s, add, "kind"), "add") != 0) return -1;
    const char *inputs = step_op_text(s, add, "inputs");
    int first = add;
    while (*inputs) {
        size_t bytes = strcspn(inputs, " ");
        int at = find_op(s, inputs, bytes);
        if (at >= 0 && at < first) first = at;
        inputs += bytes + (inputs[bytes] == ' ');
    }
    return first < add - 1 && strncmp(step_op_text(s, add, "name"), "block", 5) == 0 ? first : -1;
}

/* The addition whose branch OP is part of; OP itself where it is one; -1: it lies on the stream. */
static int join_of(const StepSeen *s, int op) {
    for (int add = op; add < s->count; add++) {
        int fork = fork_of(s, add);
        if (fork >= 0) return fork < op ? add : -1;
    }
    return -1;
}

static const char *gutter_of(const StepSeen *s, int op, bool back) {
    int join = join_of(s, op);
    if (join < 0) return "│ ";
    if (join == op) return back ? "+╮" : "+╯";
    if (fork_of(s, join) == op - 1) return back ? "├╯" : "├╮";
    return "││";
}

/* "block1.attention.query.rope" is "L2 query.rope". */
static void short_name(const StepSeen *s, int op, char *out, size_t bytes) {
    const char *name = step_op_text(s, op, "name");
    int layer, at = 0;
    if (sscanf(name, "block%d.%n", &layer, &at) != 1 || at == 0) {
        snprintf(out, bytes, "%s", name);
        return;
    }
    name += at;
    if (strncmp(name, "attention.", 10) == 0) name += 10;
    snprintf(out, bytes, "L%d %s", layer + 1, name);
}

/* A piece of the diagram: an operation on the stream, or a branch with its addition. */
typedef struct {
    int first, last; /* operations */
    char label[24];
} Piece;

static Piece piece_from(const StepSeen *s, int op) {
    Piece p = {.first = op, .last = join_of(s, op)};
    if (p.last < 0) {
        p.last = op;
        short_name(s, op, p.label, sizeof p.label);
        return p;
    }
    bool attends = false;
    for (int i = op; i < p.last; i++) attends = attends || !strcmp(step_op_text(s, i, "kind"), "attention");
    int layer = 0;
    (void)sscanf(step_op_text(s, op, "name"), "block%d", &layer);
    snprintf(p.label, sizeof p.label, attends ? _("attention %d") : _("ffn %d"), layer + 1);
    return p;
}

static bool is_branch(const Piece *p) {
    return p->last > p->first;
}

static int piece_w(const Piece *p) {
    return utf8_columns(p->label) + (is_branch(p) ? 6 : 2);
}

static int draw_piece(const StepSeen *s, Canvas *c, Rect r, const Piece *p, int at) {
    bool here = s->stage != STEP_UPDATE && s->op >= p->first && s->op <= p->last;
    StyleRole role = here ? STYLE_STRONG : STYLE_DIM;
    int bold = here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE, w = piece_w(p);
    if (at + w > r.w) return r.w;
    if (!is_branch(p)) {
        at += canvas_text(c, r.x + at, r.y, -1, p->label, role, bold);
    } else {
        canvas_text(c, r.x + at, r.y, -1, "┬", STYLE_TEXT, ATTRIBUTE_NONE);
        for (int i = 1; i < w - 2; i++) canvas_text(c, r.x + at + i, r.y, 1, "─", STYLE_TEXT, ATTRIBUTE_NONE);
        canvas_text(c, r.x + at + w - 2, r.y, 1, "+", STYLE_TEXT, ATTRIBUTE_BOLD);
        canvas_text(c, r.x + at, r.y + 1, 1, "╰", STYLE_TEXT, ATTRIBUTE_NONE);
        canvas_text(c, r.x + at + 2, r.y + 1, -1, p->label, role, bold);
        canvas_text(c, r.x + at + w - 2, r.y + 1, 1, "╯", STYLE_TEXT, ATTRIBUTE_NONE);
        at += w - 1;
    }
    if (p->last < s->count - 1) canvas_text(c, r.x + at, r.y, 2, "──", STYLE_TEXT, ATTRIBUTE_NONE);
    return at + 2;
}

/* From the piece on that still lets the one under the program counter show. */
void step_draw_diagram(const StepSeen *s, Canvas *c, Rect r) {
    int first = 0, used = 0;
    for (int op = 0; op < s->count && op <= s->op;) {
        Piece p = piece_from(s, op);
        used += piece_w(&p) + 1;
        op = p.last + 1;
        while (used > r.w - 4 && first < p.first) {
            Piece gone = piece_from(s, first);
            used -= piece_w(&gone) + 1;
            first = gone.last + 1;
        }
    }
    int at = first > 0 ? canvas_text(c, r.x, r.y, 3, "… ", STYLE_DIM, ATTRIBUTE_NONE) : 0;
    for (int op = first; op < s->count && at < r.w;) {
        Piece p = piece_from(s, op);
        at = draw_piece(s, c, r, &p, at);
        op = p.last + 1;
    }
}

/* The list. */

static int list_first(const StepSeen *s, Rect r) {
    int most = step_counters(s), first = step_counter(s) - r.h / 2;
    return first > most - r.h ? (most > r.h ? most - r.h : 0) : first < 0 ? 0 : first;
}

int step_list_at(const StepSeen *s, Rect r, int y) {
    int counter = list_first(s, r) + y - r.y;
    return y >= r.y && y < r.y + r.h && counter < step_counters(s) ? counter : -1;
}

static void draw_op_line(const StepSeen *s, Canvas *c, Rect r, const StepState *at, bool here) {
    bool back = at->stage == STEP_BACKWARD;
    StyleRole role = here ? STYLE_CURSOR : at->stage == s->stage ? STYLE_TEXT : STYLE_DIM;
    char name[64], shape[32];
    short_name(s, at->op, name, sizeof name);
    if (here) canvas_fill(c, (Rect){r.x + 3, r.y, r.w - 3, 1}, ' ', STYLE_CURSOR, ATTRIBUTE_NONE);
    snprintf(shape, sizeof shape, "%.0f×%.0f", step_op_number(s, at->op, "rows"), step_op_number(s, at->op, "columns"));
    canvas_text(c, r.x, r.y, 1, here ? "▸" : back ? "↑" : "↓", here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 1, r.y, 2, gutter_of(s, at->op, back), STYLE_TEXT, ATTRIBUTE_NONE);
    int shape_w = utf8_columns(shape), number = r.w >= 30 ? NUMBER_W : 0;
    canvas_text(c, r.x + 4, r.y, r.w - 5 - shape_w - number, name, role, CANVAS_ELLIPSIS);
    canvas_text(c, r.x + r.w - number - shape_w, r.y, shape_w, shape, here ? STYLE_CURSOR : STYLE_DIM, ATTRIBUTE_NONE);
    if (number)
        step_draw_right(c, r.x + r.w - number, r.y, number,
                        format_small(step_op_number(s, at->op, back ? "grad_rms" : "rms")).s, role);
}

static void draw_tensor_line(const StepSeen *s, Canvas *c, Rect r, int tensor, bool here) {
    StyleRole role = here ? STYLE_CURSOR : s->stage == STEP_UPDATE ? STYLE_TEXT : STYLE_DIM;
    if (here) canvas_fill(c, (Rect){r.x + 3, r.y, r.w - 3, 1}, ' ', STYLE_CURSOR, ATTRIBUTE_NONE);
    canvas_text(c, r.x, r.y, 2, here ? "▸Δ" : " Δ", here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 4, r.y, r.w - 4 - NUMBER_W, table_text(s->tensors, tensor, table_find(s->tensors, "name")),
                role, CANVAS_ELLIPSIS);
    step_draw_right(c, r.x + r.w - NUMBER_W, r.y, NUMBER_W,
                    format_small(table_real(s->tensors, tensor, table_find(s->tensors, "delta_rms"))).s, role);
}

void step_draw_list(const StepSeen *s, Canvas *c, Rect r) {
    for (int i = 0; i < r.h; i++) {
        int counter = step_list_at(s, r, r.y + i);
        if (counter < 0) break;
        StepState at = {0};
        step_go(s, counter, &at);
        bool here = counter == step_counter(s);
        Rect line = {r.x, r.y + i, r.w, 1};
        if (at.stage == STEP_UPDATE)
            draw_tensor_line(s, c, line, at.tensor, here);
        else if (at.stage != STEP_LOSS || s->run < s->count)
            draw_op_line(s, c, line, &at, here);
        else
            canvas_text(c, r.x + 4, r.y + i, r.w - 4, _("no loss"), STYLE_DIM, CANVAS_ELLIPSIS);
    }
}

/* The numbers of an operation. */

typedef struct {
    const StepSeen *seen;
    double most;
    char (*text)[READING_TOKEN]; /* [rows] */
    const char **label;
    Heat heat;
} Numbers;

static int number_heat(const void *data, int row, int col) {
    const Numbers *n = data;
    double x = (double)field_at(n->seen->shown, row, col, 0, 0);
    if (isnan(x)) return -1;
    double share = n->most > 0 ? x / n->most : 0;
    return 128 + (int)lround(127 * (share > 1 ? 1 : share < -1 ? -1 : share));
}

/* As large as there is room for, about square: the numbers of a token side by side. */
static void fit_cells(Heat *heat, Rect r) {
    int w = (r.w - heat->label_w - 2) / heat->cols, h = 2 * r.h / heat->rows;
    heat->cell_w = w < 1 ? 1 : w > CELL_W_MOST ? CELL_W_MOST : w;
    heat->cell_h = h < 1 ? 1 : h > CELL_H_MOST ? CELL_H_MOST : h;
    if (heat->cell_h > 1) heat->cell_h &= ~1;
}

static void numbers_init(Numbers *n, const StepSeen *s, Rect r) {
    int rows = s->shown->dim[0];
    *n = (Numbers){.seen = s,
                   .most = field_most(s->shown),
                   .text = mem_zero((size_t)rows, READING_TOKEN),
                   .label = MEM_ARRAY(const char *, (size_t)rows)};
    int wide = 1;
    for (int i = 0; i < rows; i++) {
        if (rows > 1) reading_token(s->snapshot, i, n->text[i]);
        n->label[i] = n->text[i];
        if (utf8_columns(n->text[i]) > wide) wide = utf8_columns(n->text[i]);
    }
    n->heat = (Heat){.rows = rows,
                     .cols = s->shown->dim[1],
                     .heat = number_heat,
                     .data = n,
                     .map = HEAT_DIVERGING,
                     .cursor_row = s->row,
                     .cursor_col = s->column,
                     .row_label = n->label,
                     .label_w = wide < LABEL_MOST ? wide : LABEL_MOST};
    fit_cells(&n->heat, r);
}

static void numbers_done(Numbers *n) {
    mem_free(n->text);
    mem_free(n->label);
}

/* One number is no map: the words say it. */
static bool has_map(const StepSeen *s, Rect r) {
    return s->shown && field_count(s->shown) > 1 && r.h > 0 && r.w >= 6;
}

void step_draw_heat(const StepSeen *s, Canvas *c, Rect r) {
    if (!has_map(s, r)) return;
    Numbers n;
    numbers_init(&n, s, r);
    draw_heat(c, r, &n.heat);
    numbers_done(&n);
}

bool step_heat_at(const StepSeen *s, const Canvas *like, Rect r, int x, int y, int *row, int *col) {
    if (!has_map(s, r)) return false;
    Numbers n;
    numbers_init(&n, s, r);
    bool hit = draw_heat_at(like, r, &n.heat, x, y, row, col);
    numbers_done(&n);
    return hit;
}

void step_draw_foot(const StepSeen *s, Canvas *c, Rect r) {
    if (!has_map(s, r)) return;
    char token[READING_TOKEN] = "", most[40], least[40];
    if (s->shown->dim[0] > 1) reading_token(s->snapshot, s->row, token);
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("%s number %d of %d: "), token, s->column + 1,
                          s->shown->dim[1]);
    canvas_text(c, r.x + at, r.y, r.w - at, format_figures((double)field_at(s->shown, s->row, s->column, 0, 0)).s,
                STYLE_STRONG, ATTRIBUTE_BOLD);
    if (r.h < 2) return;
    double high = field_most(s->shown);
    snprintf(most, sizeof most, "%s", format_small(high).s);
    snprintf(least, sizeof least, "%s", format_small(-high).s);
    draw_heat_bar(c, r.x, r.y + 1, r.w < 40 ? r.w : 40, HEAT_DIVERGING, least, most);
}
