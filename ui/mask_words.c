/* The words of the mask pane: why the cell under the cursor is open or hidden, what each method works out, how far the
 * changed word is felt beside the formula, and which window is in use. */
#include "mask_view.h"

#include "format.h"
#include "intl.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_AT = 10, NUMBER_W = 7, NOTE_AT = 19 };

static bool take_row(Rect r, int *y) {
    return *y < r.y + r.h;
}

static void draw_heading(Canvas *c, Rect r, int *y, const char *text) {
    if (*y > r.y && take_row(r, y)) ++*y;
    if (!take_row(r, y)) return;
    canvas_text(c, r.x, *y, r.w, text, STYLE_DIM, CANVAS_ELLIPSIS);
    ++*y;
}

/* --- the cell under the cursor --- */

static long long row_number(const Table *rows, int row, const char *column) {
    int at = rows ? table_find(rows, column) : -1;
    return at < 0 || row >= table_rows(rows) ? 0 : table_int(rows, row, at);
}

static void write_why(const PaneContext *x, const MaskPlan *p, char *out, size_t bytes) {
    const Table *rows = mask_rows(x->snapshot, p->view);
    long long back = row_number(rows, p->row, "position") - row_number(rows, p->col, "position");
    if (row_number(rows, p->row, "sentence") != row_number(rows, p->col, "sentence"))
        snprintf(out, bytes, "%s", _("no: of another sentence"));
    else if (row_number(rows, p->col, "pad"))
        snprintf(out, bytes, "%s", _("no: it is a pad"));
    else if (back < 0)
        snprintf(out, bytes, "%s", _("no: it comes later"));
    else if (field_at(p->mask, p->row, p->col, 0, 0) == 0)
        snprintf(out, bytes, _("no: %lld back, at most %lld"), back,
                 mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0) - 1);
    else if (back == 0)
        snprintf(out, bytes, "%s", _("yes: itself"));
    else
        snprintf(out, bytes, _("yes: %lld back"), back);
}

static void write_word(const PaneContext *x, const MaskPlan *p, int i, char out[READING_TOKEN + 16]) {
    if (p->view == MASK_SENTENCE)
        reading_token_place(x->snapshot, i, out);
    else
        reading_cell(mask_rows(x->snapshot, p->view), i, "token", out);
}

/* "cat → the (1)  yes: 4 back" */
static void draw_cell(const PaneContext *x, const MaskPlan *p, Canvas *c, Rect r) {
    char query[READING_TOKEN + 16], key[READING_TOKEN + 16], why[96];
    write_word(x, p, p->row, query);
    write_word(x, p, p->col, key);
    write_why(x, p, why, sizeof why);
    bool open = field_at(p->mask, p->row, p->col, 0, 0) > 0;
    if (utf8_columns(query) + utf8_columns(key) + utf8_columns(why) + 5 > r.w) { /* labels and cursor name the words */
        canvas_text(c, r.x, r.y, r.w, why, open ? STYLE_GOOD : STYLE_WARNING, CANVAS_ELLIPSIS);
        return;
    }
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS, "%s → %s  ", query, key);
    canvas_text(c, r.x + at, r.y, r.w - at, why, open ? STYLE_GOOD : STYLE_WARNING, CANVAS_ELLIPSIS);
}

/* --- the window of the layer --- */

/* "window 4: itself and 3 before" */
static void write_window(const PaneContext *x, char *out, size_t bytes) {
    long long window = mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0);
    if (window == 0)
        snprintf(out, bytes, "%s", _("no window: itself and all before"));
    else if (window == 1)
        snprintf(out, bytes, "%s", _("window 1: itself alone"));
    else
        snprintf(out, bytes, _("window %lld: itself and %lld before"), window, window - 1);
}

/* " L1 5 [L2 all] L3 5": as many as fit, the one under the cursor among them. */
static void draw_layers(const PaneContext *x, Canvas *c, Rect r, int y) {
    enum { EACH_W = 9 };
    const Table *t = snapshot_table(x->snapshot, "scores");
    int layers = t ? (int)table_rows(t) : 0, at = 0;
    int shown = r.w / EACH_W, first = x->cursor->layer - shown / 2; /* "[L12 64] " */
    if (first > layers - shown) first = layers - shown;
    int l = first > 0 ? first : 0;
    if (l > 0) at += canvas_text(c, r.x, y, r.w, "…", STYLE_DIM, ATTRIBUTE_NONE);
    for (; l < layers && at + EACH_W <= r.w + 1; l++) {
        char name[32];
        long long window = mask_number(x->snapshot, "scores", l, "window", 0);
        bool here = l == x->cursor->layer;
        snprintf(name, sizeof name, window > 0 ? "L%d %lld" : _("L%d all"), l + 1, window);
        at += canvas_textf(c, r.x + at, y, r.w - at, here ? STYLE_CURSOR : STYLE_TEXT, CANVAS_ELLIPSIS,
                           here ? "[%s]" : " %s ", name);
        at++;
    }
    if (l < layers) canvas_text(c, r.x + at - 1, y, r.w - at + 1, "…", STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_window(const PaneContext *x, Canvas *c, Rect r, int *y) {
    char text[96];
    long long window = mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0);
    write_window(x, text, sizeof text);
    if (*y + 2 > r.y + r.h) return;
    draw_layers(x, c, r, (*y)++);
    canvas_text(c, r.x + 2, *y, r.w - 2, text, STYLE_STRONG, CANVAS_ELLIPSIS);
    ++*y;
    if (window == 0 || !take_row(r, y)) return;
    canvas_textf(c, r.x + 2, *y, r.w - 2, STYLE_DIM, CANVAS_ELLIPSIS, _("Longformer's w = %lld: w/2 + 1 = %lld"),
                 2 * (window - 1), window);
    ++*y;
}

/* --- scores --- */

static void draw_score(const PaneContext *x, Canvas *c, Rect r, int *y, const char *column, const char *label,
                       bool here, const char *note) {
    if (!take_row(r, y)) return;
    StyleRole role = here ? STYLE_STRONG : STYLE_TEXT;
    Text n = format_count(mask_number(x->snapshot, "scores", x->cursor->layer, column, 0));
    if (here) canvas_text(c, r.x, *y, 1, "▸", STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_text(c, r.x + 2, *y, NUMBER_AT - 2, label, here ? STYLE_STRONG : STYLE_DIM, CANVAS_ELLIPSIS);
    canvas_textf(c, r.x + NUMBER_AT, *y, NUMBER_W, role, ATTRIBUTE_NONE, "%*s", NUMBER_W, n.s);
    canvas_text(c, r.x + NOTE_AT, *y, r.w - NOTE_AT, note, STYLE_DIM, CANVAS_ELLIPSIS);
    ++*y;
}

static void draw_share(const PaneContext *x, Canvas *c, Rect r, int *y, const char *column, const char *label) {
    char note[FORMAT_BYTES + 8];
    double full = (double)mask_number(x->snapshot, "scores", x->cursor->layer, "full", 1);
    double part = (double)mask_number(x->snapshot, "scores", x->cursor->layer, column, 0);
    snprintf(note, sizeof note, "%6s %%", format_fixed(100 * part / full, 1).s);
    draw_score(x, c, r, y, column, label, false, note);
}

static void draw_method(const PaneContext *x, Canvas *c, Rect r, int *y, MaskMethod m) {
    char note[64] = "";
    int layer = x->cursor->layer;
    long long allowed = mask_number(x->snapshot, "scores", layer, "allowed", 0);
    long long vain = mask_number(x->snapshot, "scores", layer, mask_method_name(m), 0) - allowed;
    long long window = mask_number(x->snapshot, "scores", layer, "window", 0), T = reading_visible(x->snapshot);
    int used = vain > 0 ? snprintf(note, sizeof note, _("%s in vain"), format_count(vain).s) : 0;
    if (m == MASK_CHUNKS && window > 0 && window < T)
        snprintf(note + used, sizeof note - (size_t)used, _("%s2WT %s"), used ? " · " : "",
                 format_count(2 * window * T).s);
    draw_score(x, c, r, y, mask_method_name(m), mask_method_name(m), mask_method(x->state) == m, note);
}

static void draw_scores(const PaneContext *x, Canvas *c, Rect r, int *y) {
    char heading[64];
    snprintf(heading, sizeof heading, _("scores of one head, T = %d"), reading_visible(x->snapshot));
    draw_heading(c, r, y, heading);
    draw_share(x, c, r, y, "full", _("all, T²"));
    draw_share(x, c, r, y, "causal", _("causal"));
    draw_share(x, c, r, y, "allowed", _("allowed"));
    draw_heading(c, (Rect){r.x, *y, r.w, r.y + r.h - *y}, y, _("worked out by"));
    for (MaskMethod m = MASK_MASKED; m <= MASK_CHUNKS; m++) draw_method(x, c, r, y, m);
}

/* --- the reach --- */

/* "2(W−1) = 6", as long as all layers up to here have one window. */
static void write_formula(const Snapshot *s, int layer, char *out, size_t bytes) {
    long long sum = mask_number(s, "reach", layer, "farthest_formula", -1);
    long long window = mask_number(s, "reach", layer, "window", 0);
    bool alike = true;
    for (int l = 0; l < layer; l++) alike = alike && mask_number(s, "reach", l, "window", 0) == window;
    if (sum < 0)
        snprintf(out, bytes, "%s", _("no bound"));
    else if (!alike)
        snprintf(out, bytes, "Σ(W−1) = %lld", sum);
    else if (layer == 0)
        snprintf(out, bytes, "W−1 = %lld", sum);
    else
        snprintf(out, bytes, "%d(W−1) = %lld", layer + 1, sum);
}

/* "felt 5 on, where the text ends" */
static void write_felt(const Snapshot *s, int layer, char *out, size_t bytes) {
    long long felt = mask_number(s, "reach", layer, "farthest_measured", -1);
    long long formula = mask_number(s, "reach", layer, "farthest_formula", -1);
    long long left = reading_visible(s) - 1 - mask_number(s, "poke", 0, "position", 0);
    const char *why = "";
    if (felt == left && (formula < 0 || formula > left))
        why = _(", to the end");
    else if (formula >= 0 ? felt < formula : felt < left)
        why = _(", too faint on");
    if (felt < 0)
        snprintf(out, bytes, "%s", _("not felt"));
    else
        snprintf(out, bytes, _("felt %lld on%s"), felt, why);
}

static void draw_reach_words(const PaneContext *x, Canvas *c, Rect r, int *y) {
    const Table *reach = snapshot_table(x->snapshot, "reach");
    if (!reach) return;
    char word[READING_TOKEN + 16], heading[READING_TOKEN + 64];
    reading_token_place(x->snapshot, (int)mask_number(x->snapshot, "poke", 0, "position", 0), word);
    snprintf(heading, sizeof heading, _("how far a change of “%s” is felt"), word);
    draw_heading(c, r, y, heading);
    int layers = (int)table_rows(reach), room = r.y + r.h - *y, first = x->cursor->layer - room / 2;
    if (first > layers - room) first = layers - room;
    for (int l = first > 0 ? first : 0; l < layers && take_row(r, y); l++, ++*y) {
        char formula[48], felt[64];
        bool here = l == x->cursor->layer;
        write_formula(x->snapshot, l, formula, sizeof formula);
        write_felt(x->snapshot, l, felt, sizeof felt);
        if (here) canvas_text(c, r.x, *y, 1, "▸", STYLE_STRONG, ATTRIBUTE_BOLD);
        canvas_textf(c, r.x + 2, *y, 5, here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE, "L%d", l + 1);
        canvas_text(c, r.x + 6, *y, 12, formula, here ? STYLE_STRONG : STYLE_TEXT, CANVAS_ELLIPSIS);
        canvas_text(c, r.x + NOTE_AT, *y, r.w - NOTE_AT, felt, here ? STYLE_STRONG : STYLE_TEXT, CANVAS_ELLIPSIS);
    }
}

/* --- together --- */

static void draw_other_view(const MaskPlan *p, Canvas *c, Rect r, int *y) {
    const char *text =
        p->view == MASK_PACKED
            ? _("Packed: a batch holds whole sentences one after the other and no pads. Attention goes through one "
                "sentence at a time, so the rows of different sentences never meet, and positions begin again at 0.")
            : _("Padded: where all sentences of a batch must have one length, pads fill them up. No query may look at "
                "a pad; the rows of the pads are worked out and thrown away.");
    if (*y > r.y && take_row(r, y)) ++*y;
    if (take_row(r, y)) *y += draw_paragraph(c, (Rect){r.x, *y, r.w, r.y + r.h - *y}, text, STYLE_TEXT);
}

static void draw_present_side(const PaneContext *x, Canvas *c, Rect r) {
    char text[96];
    int y = r.y, layer = x->cursor->layer;
    write_window(x, text, sizeof text);
    y += draw_paragraph(c, (Rect){r.x, y, r.w, r.h}, text, STYLE_STRONG) + 1;
    if (!snapshot_table(x->snapshot, "reach")) return;
    canvas_textf(c, r.x, y, r.w, STYLE_DIM, CANVAS_ELLIPSIS,
                 ngettext("reach of %d layer", "reach of %d layers", (unsigned long)layer + 1), layer + 1);
    write_formula(x->snapshot, layer, text, sizeof text);
    canvas_text(c, r.x, y + 1, r.w, text, STYLE_STRONG, CANVAS_ELLIPSIS);
    long long felt = mask_number(x->snapshot, "reach", layer, "farthest_measured", 0);
    canvas_text(c, r.x, y + 3, r.w, _("felt this many tokens on"), STYLE_DIM, CANVAS_ELLIPSIS);
    draw_big(c, (Rect){r.x, y + 4, r.w, 5}, format_count(felt).s, STYLE_STRONG);
}

void mask_draw_side(const PaneContext *x, const MaskPlan *p, Canvas *c) {
    Rect r = p->side;
    int y = r.y;
    if (r.h == 0) return;
    if (x->detail == DETAIL_PRESENT) {
        draw_present_side(x, c, r);
        return;
    }
    draw_cell(x, p, c, (Rect){r.x, y++, r.w, 1});
    draw_window(x, c, r, &y);
    if (p->view != MASK_SENTENCE) {
        draw_other_view(p, c, r, &y);
        return;
    }
    draw_scores(x, c, r, &y);
    draw_reach_words(x, c, r, &y);
}

/* Which window is in use, and what may be done about it. */
static void draw_use(const PaneContext *x, Canvas *c, Rect r) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    char own[48], look[64], text[160];
    snprintf(own, sizeof own, f->window > 0 ? "%d" : _("none"), f->window);
    snprintf(look, sizeof look, f->probe_window > 0 ? "%d" : _("none"), f->probe_window);
    if (f->probe_window >= 0)
        snprintf(text, sizeof text, _("window to look with: %s, trained with: %s"), look, own);
    else
        snprintf(text, sizeof text, _("window: %s, as the model is trained"), own);
    int at = canvas_text(c, r.x, r.y, r.w, text, f->probe_window < 0 ? STYLE_DIM : STYLE_WARNING, CANVAS_ELLIPSIS);
    const char *keys = f->probe_window < 0         ? _("   + − look with another")
                       : f->reads_only || f->tunes ? _("   = back")
                                                   : _("   = back   W trains with it");
    if (at + utf8_columns(keys) <= r.w) canvas_text(c, r.x + at, r.y, r.w - at, keys, STYLE_DIM, ATTRIBUTE_NONE);
}

/* "window 4: itself and 3 before · 2(W−1) = 6" */
static void draw_essence(const PaneContext *x, Canvas *c, Rect r) {
    char window[96], formula[48] = "";
    write_window(x, window, sizeof window);
    long long short_one = mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0);
    if (utf8_columns(window) > r.w)
        snprintf(window, sizeof window, short_one > 0 ? _("window %lld") : _("no window"), short_one);
    bool known = mask_number(x->snapshot, "reach", x->cursor->layer, "farthest_formula", -1) >= 0;
    if (known) write_formula(x->snapshot, x->cursor->layer, formula, sizeof formula);
    int at = canvas_text(c, r.x, r.y, r.w, window, STYLE_TEXT, CANVAS_ELLIPSIS);
    if (known && at + utf8_columns(formula) + 3 <= r.w)
        canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_STRONG, ATTRIBUTE_NONE, " · %s", formula);
}

void mask_draw_foot(const PaneContext *x, const MaskPlan *p, Canvas *c) {
    if (p->foot.h == 0) return;
    Rect last = {p->foot.x, p->foot.y + p->foot.h - 1, p->foot.w, 1};
    if (p->foot.h > 1) draw_essence(x, c, (Rect){p->foot.x, p->foot.y, p->foot.w, 1});
    if (x->detail == DETAIL_FOCUS && p->side.h > 0)
        draw_use(x, c, last);
    else
        draw_cell(x, p, c, last);
}

/* A cell of heat and what it means. */
static int draw_sample(Canvas *c, Rect r, int at, int heat, const char *meaning) {
    if (at + 3 + utf8_columns(meaning) > r.w) return at;
    for (int i = 0; i < 2; i++) {
        uint32_t ch = c->heat_colour ? CANVAS_HALF_UPPER : draw_heat_glyph(c, HEAT_SEQUENTIAL, (uint8_t)heat);
        canvas_heat(c, r.x + at + i, r.y, ch, HEAT_SEQUENTIAL, (uint8_t)heat, (uint8_t)heat);
    }
    return at + 3 + canvas_text(c, r.x + at + 3, r.y, -1, meaning, STYLE_DIM, ATTRIBUTE_NONE) + 2;
}

void mask_draw_legend(const PaneContext *x, const MaskPlan *p, Canvas *c) {
    if (p->legend.h == 0) return;
    int at = draw_sample(c, p->legend, 0, MASK_HEAT_ALLOWED, _("may look"));
    if (mask_method(x->state) == MASK_MASKED || mask_method(x->state) == MASK_CHUNKS)
        at = draw_sample(c, p->legend, at, MASK_HEAT_IN_VAIN, _("in vain"));
    at += canvas_textf(c, p->legend.x + at, p->legend.y, p->legend.w - at, STYLE_DIM, ATTRIBUTE_NONE, "· %s",
                       _("hidden"));
    const char *numbers = _("   number: how many tokens back");
    if (mask_has_numbers(x, p) && at + utf8_columns(numbers) <= p->legend.w)
        canvas_text(c, p->legend.x + at, p->legend.y, p->legend.w - at, numbers, STYLE_DIM, ATTRIBUTE_NONE);
}
