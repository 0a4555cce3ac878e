/* The arithmetic of the attention pane: the sum beside the map, all its terms, the line below, and the row of stages.
 */
#include "attention_view.h"

#include "format.h"
#include "intl.h"
#include "mix_sum.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERM_W = 39 };

/* A label and its number, the decimal points below each other at the right edge. */
static void line(Canvas *c, Rect r, int *y, const char *label, Text number, StyleRole role) {
    if (*y >= r.y + r.h) return;
    canvas_text(c, r.x, *y, r.w - 9, label, STYLE_DIM, CANVAS_ELLIPSIS);
    int columns = canvas_columns(c, number.s);
    canvas_text(c, r.x + r.w - columns, *y, columns, number.s, role,
                role == STYLE_STRONG ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    ++*y;
}

static void draw_words(const PaneContext *x, const CellSum *s, Canvas *c, Rect r, int *y) {
    char query[READING_TOKEN + 16], key[READING_TOKEN + 16];
    reading_token_place(x->snapshot, s->query, query);
    reading_token_place(x->snapshot, s->key, key);
    int at = r.x;
    at += canvas_text(c, at, *y, r.x + r.w - at, query, STYLE_STRONG, ATTRIBUTE_BOLD);
    at += canvas_textf(c, at, *y, r.x + r.w - at, STYLE_DIM, ATTRIBUTE_NONE, " %s ",
                       s->masked ? _("may not look at") : _("looks at"));
    canvas_text(c, at, *y, r.x + r.w - at, key, STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    ++*y;
}

static void draw_softmax(const CellSum *s, Canvas *c, Rect r, int *y) {
    char label[96];
    if (s->cap > 0) {
        snprintf(label, sizeof label, _("soft cap %g tanh(score / %g)"), s->cap, s->cap);
        line(c, r, y, label, format_fixed(s->entered, 4), STYLE_TEXT);
    }
    snprintf(label, sizeof label, _("exp(score − largest %s)"), format_fixed(s->largest, 4).s);
    line(c, r, y, label, format_fixed(s->numerator, 4), STYLE_TEXT);
    snprintf(label, sizeof label,
             ngettext("Σ exp over %d visible key", "Σ exp over %d visible keys", (unsigned long)s->allowed),
             s->allowed);
    line(c, r, y, label, format_fixed(s->denominator, 4), STYLE_TEXT);
    line(c, r, y, _("weight = exp ÷ Σ exp"), format_fixed(s->weight, 4), STYLE_STRONG);
    line(c, r, y, _("again in double, from q and k"), format_fixed(s->again, 4), STYLE_TEXT);
    line(c, r, y, _("difference"), format_small(fabs(s->again - s->weight)), STYLE_DIM);
}

static void draw_hidden(const CellSum *s, Canvas *c, Rect r, int *y) {
    const char *why =
        s->key > s->query
            ? _("Hidden: the key comes after the query. The mask sets the score to −∞, so the weight is exactly 0.")
            : _("Hidden: the key is outside the window. The mask sets the score to −∞, so the weight is exactly 0.");
    *y += draw_paragraph(c, (Rect){r.x, *y, r.w, r.y + r.h - *y}, why, STYLE_WARNING);
    line(c, r, y, _("weight"), format_fixed(s->weight, 4), STYLE_STRONG);
}

/* What the map shows of the cell. */
static double at_stage(const PaneContext *x, const CellSum *s, AttentionStage stage) {
    const Field *f = attention_stage_field(x->snapshot, s->layer, stage);
    return f ? (double)field_at(f, s->head, s->query, s->key, 0) : s->weight;
}

static void draw_present_number(Canvas *c, Rect r, int y, double value) {
    Text number = isinf(value) ? (Text){"−∞"} : format_fixed(value, 2);
    draw_big(c, (Rect){r.x, y + 1, r.w, r.y + r.h - y - 1}, number.s, STYLE_STRONG);
}

static void draw_present_sum(const PaneContext *x, const CellSum *s, AttentionStage stage, Canvas *c, Rect r) {
    int y = r.y;
    draw_words(x, s, c, r, &y);
    draw_present_number(c, r, y, at_stage(x, s, stage));
}

/* ---- the mix ---- */

static bool read_mix(const PaneContext *x, MixSum *m) {
    return mix_sum(x->snapshot, x->cursor, ((const AttentionState *)x->state)->dimension, m);
}

static void draw_mix_words(const PaneContext *x, const MixSum *m, Canvas *c, Rect r, int *y) {
    char query[READING_TOKEN + 16];
    reading_token_place(x->snapshot, m->query, query);
    int at = r.x;
    at += canvas_textf(c, at, *y, r.x + r.w - at, STYLE_STRONG, ATTRIBUTE_BOLD, "%s ", query);
    canvas_textf(c, at, *y, r.x + r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, _("gathers dimension %d of head %d"),
                 m->dimension + 1, m->head + 1);
    ++*y;
}

/* A line for each key that gives something, as many as there is room for. */
static void draw_mix_keys(const PaneContext *x, const MixSum *m, Canvas *c, Rect r, int *y, int keep) {
    for (int j = 0; j < m->tokens && *y < r.y + r.h - keep; j++) {
        char key[READING_TOKEN], label[READING_TOKEN + 80];
        MixTerm t = mix_sum_term(x->snapshot, m, j);
        if (t.weight == 0) continue;
        reading_token(x->snapshot, j, key);
        snprintf(label, sizeof label, "%s %s × %s", key, format_fixed(t.weight, 4).s, format_fixed(t.value, 4).s);
        line(c, r, y, label, format_fixed(t.product, 4), STYLE_TEXT);
    }
}

static void draw_mix(const PaneContext *x, Canvas *c, Rect r) {
    MixSum m;
    int y = r.y;
    if (!read_mix(x, &m)) return;
    draw_mix_words(x, &m, c, r, &y);
    if (x->detail == DETAIL_PRESENT) {
        draw_present_number(c, r, y, m.mix);
        return;
    }
    canvas_text(c, r.x, y++, r.w, _("weight × value of each key"), STYLE_DIM, CANVAS_ELLIPSIS);
    draw_mix_keys(x, &m, c, r, &y, 3);
    line(c, r, &y, _("mix = Σ weight · value"), format_fixed(m.mix, 4), STYLE_STRONG);
    line(c, r, &y, _("again in double, from both"), format_fixed(m.again, 4), STYLE_TEXT);
    line(c, r, &y, _("difference"), format_small(fabs(m.again - m.mix)), STYLE_DIM);
}

static void draw_mix_terms(const PaneContext *x, Canvas *c) {
    MixSum m;
    int y = 0;
    if (!read_mix(x, &m)) return;
    draw_mix_words(x, &m, c, (Rect){0, 0, c->w, c->h}, &y);
    canvas_textf(c, 0, y++, -1, STYLE_DIM, ATTRIBUTE_NONE,
                 _("Σ weight · value = %s  in double %s  head %d reads KV head %d"), format_fixed(m.mix, 6).s,
                 format_fixed(m.again, 6).s, m.head + 1, m.kv_head + 1);
    canvas_text(c, 0, y++, -1, _(" j key           weight    value    product   so far"), STYLE_DIM, ATTRIBUTE_NONE);
    for (int j = 0; j < m.tokens && y < c->h; j++, y++) {
        char key[READING_TOKEN];
        MixTerm t = mix_sum_term(x->snapshot, &m, j);
        reading_token(x->snapshot, j, key);
        canvas_textf(c, 0, y, 3, STYLE_DIM, ATTRIBUTE_NONE, "%2d", j);
        canvas_text(c, 3, y, 12, key, STYLE_TEXT, CANVAS_ELLIPSIS);
        canvas_textf(c, 15, y, -1, STYLE_TEXT, ATTRIBUTE_NONE, "%8.4f ×%8.4f = %8.4f %8.4f", t.weight, t.value,
                     t.product, t.so_far);
    }
}

void attention_draw_sum(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    CellSum s;
    if (p->sum.h > 0 && p->stage == STAGE_MIX) {
        draw_mix(x, c, p->sum);
        return;
    }
    if (p->sum.h == 0 || !cell_sum(x->snapshot, x->cursor, &s)) return;
    if (x->detail == DETAIL_PRESENT) {
        draw_present_sum(x, &s, p->stage, c, p->sum);
        return;
    }
    Rect r = p->sum;
    int y = r.y;
    char label[64];
    draw_words(x, &s, c, r, &y);
    snprintf(label, sizeof label, _("q·k, %d terms (enter)"), s.head_dim);
    line(c, r, &y, label, format_fixed(s.dot, 4), STYLE_TEXT);
    snprintf(label, sizeof label, "÷ √%d", s.head_dim);
    line(c, r, &y, label, format_fixed(s.scaled, 4), STYLE_TEXT);
    if (s.masked)
        draw_hidden(&s, c, r, &y);
    else
        draw_softmax(&s, c, r, &y);
    if (y + 1 < r.y + r.h) {
        if (y + 2 < r.y + r.h) y++;
        line(c, r, &y, _("sum of the row"), format_fixed(s.row_sum, 4), STYLE_TEXT);
        snprintf(label, sizeof label, _("entropy, at most ln %d = %s"), s.allowed, format_fixed(log(s.allowed), 3).s);
        line(c, r, &y, label, format_fixed(s.entropy, 4), STYLE_TEXT);
    }
}

/* All terms of q·k, in as many columns as it takes. */
void attention_draw_terms(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    CellSum s;
    if (p->stage == STAGE_MIX) {
        draw_mix_terms(x, c);
        return;
    }
    if (!cell_sum(x->snapshot, x->cursor, &s)) return;
    int y = 0;
    draw_words(x, &s, c, (Rect){0, 0, c->w, c->h}, &y);
    canvas_textf(c, 0, y, -1, STYLE_DIM, ATTRIBUTE_NONE,
                 _("q·k = Σ qᵢ·kᵢ = %s   in double %s   head %d reads KV head %d"), format_fixed(s.dot, 6).s,
                 format_fixed(cell_sum_term(x->snapshot, &s, s.head_dim - 1).so_far, 6).s, s.head + 1, s.kv_head + 1);
    int rows = c->h - 4, groups = c->w / TERM_W > 0 ? c->w / TERM_W : 1;
    if (rows < 1) return;
    int each = (s.head_dim + groups - 1) / groups;
    for (int i = 0; i < s.head_dim; i++) {
        int left = i / each * TERM_W, top = y + 2 + i % each;
        CellTerm t = cell_sum_term(x->snapshot, &s, i);
        if (i % each == 0)
            canvas_text(c, left, y + 1, TERM_W, _(" i        q        k      q·k   so far"), STYLE_DIM, ATTRIBUTE_NONE);
        canvas_textf(c, left, top, TERM_W, STYLE_TEXT, ATTRIBUTE_NONE, "%2d%9.4f×%8.4f=%8.4f%9.4f", i + 1, t.q, t.k,
                     t.product, t.so_far);
    }
}

/* The line below the map. */
static void draw_equation(const PaneContext *x, const CellSum *s, Canvas *c, Rect r, int y) {
    char query[READING_TOKEN + 16], key[READING_TOKEN + 16];
    reading_token_place(x->snapshot, s->query, query);
    reading_token_place(x->snapshot, s->key, key);
    int at = canvas_textf(c, r.x, y, r.w, STYLE_TEXT, ATTRIBUTE_NONE, "%s → %s ", query, key);
    if (s->masked) {
        canvas_text(c, r.x + at, y, r.w - at, _("hidden by the mask"), STYLE_WARNING, ATTRIBUTE_NONE);
        return;
    }
    char sum[128];
    snprintf(sum, sizeof sum, _("q·k %s ÷√%d = %s  exp %s ÷ Σ %s = "), format_fixed(s->dot, 3).s, s->head_dim,
             format_fixed(s->scaled, 3).s, format_fixed(s->numerator, 3).s, format_fixed(s->denominator, 3).s);
    if (s->cap == 0 && at + canvas_columns(c, sum) + 6 <= r.w) {
        at += canvas_text(c, r.x + at, y, r.w - at, sum, STYLE_DIM, ATTRIBUTE_NONE);
    }
    at += canvas_text(c, r.x + at, y, r.w - at, format_fixed(s->weight, 3).s, STYLE_STRONG, ATTRIBUTE_BOLD);
    if (r.w - at >= 12)
        canvas_textf(c, r.x + at, y, r.w - at, STYLE_DIM, ATTRIBUTE_NONE, _("  row Σ %s"),
                     format_fixed(s->row_sum, 3).s);
}

static void draw_mix_equation(const PaneContext *x, Canvas *c, Rect r, int y) {
    MixSum m;
    if (!read_mix(x, &m)) return;
    draw_mix_words(x, &m, c, (Rect){r.x, y, r.w - 8, 1}, &(int){y});
    canvas_text(c, r.x + r.w - 8, y, 8, format_fixed(m.mix, 4).s, STYLE_STRONG, ATTRIBUTE_BOLD);
}

static void draw_scale(const PaneContext *x, const AttentionPlan *p, Canvas *c, Rect r) {
    const AttentionState *state = x->state;
    bool weights = p->stage == STAGE_WEIGHTS;
    int w = r.w < 34 ? r.w : 34;
    char low[FORMAT_BYTES + 4], high[FORMAT_BYTES];
    snprintf(high, sizeof high, "%s", format_figures(attention_map_scale(x, p)).s);
    snprintf(low, sizeof low, "−%s", high);
    if (state->per_row) snprintf(low, sizeof low, "−");
    draw_heat_bar(c, r.x, r.y, w, weights ? HEAT_SEQUENTIAL : HEAT_DIVERGING, weights ? "0" : low,
                  state->per_row ? _("row's largest") : high);
    if (r.w >= w + 10) canvas_textf(c, r.x + w + 2, r.y, r.w - w - 2, STYLE_DIM, ATTRIBUTE_NONE, "· %s", _("hidden"));
}

void attention_draw_foot(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    CellSum s;
    if (p->foot.h == 0 || !cell_sum(x->snapshot, x->cursor, &s)) return;
    bool beside = p->sum.h > 0 && x->detail == DETAIL_FOCUS; /* the sum says it all */
    if (x->detail == DETAIL_PRESENT) beside = p->sum.h > 0;
    if (p->foot.h > 1 || beside) draw_scale(x, p, c, (Rect){p->foot.x, p->foot.y, p->foot.w, 1});
    if (beside) return;
    int y = p->foot.y + p->foot.h - 1;
    if (p->stage == STAGE_MIX)
        draw_mix_equation(x, c, p->foot, y);
    else
        draw_equation(x, &s, c, p->foot, y);
}

static bool has_stage(const PaneContext *x, int stage) {
    return stage != STAGE_SOFTCAPPED || snapshot_field(x->snapshot, "attention.0.softcapped");
}

/* Of the stages from FIRST to the one that is shown, as they are drawn. */
static int stages_width(const PaneContext *x, const AttentionPlan *p, int first) {
    int columns = 2; /* the brackets */
    for (int i = first; i <= (int)p->stage; i++)
        if (has_stage(x, i)) columns += (i > first ? 3 : 0) + utf8_columns(attention_stage_name((AttentionStage)i));
    return columns;
}

/* Where there is no room for all, the first ones are left out, so that the one that is shown is there. */
void attention_draw_stages(const PaneContext *x, const AttentionPlan *p, Canvas *c) {
    if (p->stages.h == 0) return;
    int at = canvas_textf(c, p->stages.x, p->stages.y, p->stages.w, STYLE_DIM, ATTRIBUTE_NONE, "%s  ", _("stage"));
    int first = 0;
    while (first < (int)p->stage && stages_width(x, p, first) > p->stages.w - at - (first > 0 ? 2 : 0)) first++;
    if (first > 0) at += canvas_text(c, p->stages.x + at, p->stages.y, p->stages.w - at, "… ", STYLE_DIM, ATTRIBUTE_NONE);
    for (int i = first; i < STAGE_COUNT; i++) {
        if (!has_stage(x, i)) continue;
        if (i > first)
            at += canvas_text(c, p->stages.x + at, p->stages.y, p->stages.w - at, " ▸ ", STYLE_DIM, ATTRIBUTE_NONE);
        bool here = i == (int)p->stage;
        at += canvas_textf(c, p->stages.x + at, p->stages.y, p->stages.w - at, here ? STYLE_CURSOR : STYLE_TEXT,
                           CANVAS_ELLIPSIS, here ? "[%s]" : "%s", attention_stage_name((AttentionStage)i));
    }
    const AttentionState *state = x->state;
    canvas_textf(c, p->stages.x + at, p->stages.y, p->stages.w - at, STYLE_DIM, ATTRIBUTE_NONE, "   %s: %s", _("scale"),
                 state->per_row ? _("each row") : _("whole"));
}
