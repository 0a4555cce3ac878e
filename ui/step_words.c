/* step_view: what is said of the operation under the program counter, and the tensors with what the update changed. */
#include "step_view.h"

#include "format.h"
#include "intl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_W = 9, NUMBERS = 4, STATISTICS_W = 62 };

static double cell(const Table *t, long row, const char *column) {
    return table_real(t, row, table_find(t, column));
}

static const char *word(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}

/* "value mean .. rms .. least .. most ..", in one row or, where that is too narrow, in two; returns the rows. */
static int draw_statistics(const StepSeen *s, Canvas *c, Rect r, const char *what, const char *prefix, bool here) {
    static const char *const names[] = {"mean", "rms", "least", "most"};
    static const char *const labels[] = {N_("mean"), N_("rms"), N_("least"), N_("most")};
    StyleRole role = here ? STYLE_STRONG : STYLE_DIM;
    int at = canvas_textf(c, r.x, r.y, r.w, role, here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE, "%-9s", what), rows = 1;
    for (int i = 0; i < 4; i++) {
        char column[24];
        if (i == 2 && r.w < STATISTICS_W) {
            if (r.h < 2) break;
            at = 9, rows = 2, r.y++;
        }
        snprintf(column, sizeof column, "%s%s", prefix, names[i]);
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, ATTRIBUTE_NONE, "%s ", _(labels[i]));
        at += canvas_textf(c, r.x + at, r.y, r.w - at, role, CANVAS_ELLIPSIS, "%s",
                           format_small(step_op_number(s, s->op, column)).s) +
              2;
    }
    return rows;
}

/* Why there is nothing to look at; NULL: there is. */
static const char *absence(const StepSeen *s) {
    bool back = s->stage == STEP_BACKWARD || s->stage == STEP_LOSS;
    if (back && s->run == s->count) return _("A token alone has no next one: no loss, and no way back.");
    if (s->stage == STEP_BACKWARD && !s->taught)
        return _("This model is too large for a way back at every look; the loss is all there is.");
    if (s->stage == STEP_BACKWARD && isnan(step_op_number(s, s->op, "grad_rms")))
        return _("No gradient arrives here: nothing before it learns.");
    if (!s->shown) return _("Its numbers are not here yet; + and - ask for those of the next operation.");
    return NULL;
}

static void draw_loss(const PaneContext *x, const StepSeen *s, Canvas *c, Rect r) {
    double loss = cell(s->pass, 0, "loss");
    int targets = (int)cell(s->pass, 0, "targets");
    if (x->detail == DETAIL_PRESENT && r.h >= 9) {
        draw_big(c, (Rect){r.x, r.y + 1, r.w, 5}, format_fixed(loss, 3).s, STYLE_STRONG);
        r.y += 7, r.h -= 7;
    }
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, ATTRIBUTE_BOLD, _("loss %s nats"), format_fixed(loss, 4).s);
    canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, _(", perplexity %s"),
                 format_fixed(exp(loss), 3).s);
    if (r.h > 1)
        canvas_textf(c, r.x, r.y + 1, r.w, STYLE_DIM, CANVAS_ELLIPSIS,
                     ngettext("−log p of %d next token", "mean of −log p of %d next tokens", (unsigned long)targets),
                     targets);
}

static void draw_title(const StepSeen *s, Canvas *c, Rect r) {
    int at =
        canvas_text(c, r.x, r.y, r.w, step_op_text(s, s->op, "name"), STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, "  %s  %.0f×%.0f",
                 step_op_text(s, s->op, "kind"), step_op_number(s, s->op, "rows"), step_op_number(s, s->op, "columns"));
}

/* NAMES without the block where it is that of the operation itself. */
static Str without_block(const StepSeen *s, const char *names) {
    Str out;
    str_init(&out);
    char block[24];
    int layer;
    bool inside = sscanf(step_op_text(s, s->op, "name"), "block%d.", &layer) == 1;
    int bytes = inside ? snprintf(block, sizeof block, "block%d.", layer) : 0;
    for (const char *at = names; *at; at++) {
        bool begins = at == names || at[-1] == ' ';
        if (bytes > 0 && begins && strncmp(at, block, (size_t)bytes) == 0) at += bytes;
        str_add_n(&out, at, 1);
    }
    return out;
}

static void draw_sources(const StepSeen *s, Canvas *c, Rect r) {
    Str inputs = without_block(s, step_op_text(s, s->op, "inputs"));
    Str parameters = without_block(s, step_op_text(s, s->op, "parameters"));
    int at = 0;
    if (inputs.len) at += canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("of %s  "), inputs.s);
    if (parameters.len)
        canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, _("with %s"), parameters.s);
    str_done(&inputs);
    str_done(&parameters);
}

static void draw_update_facts(const StepSeen *s, Canvas *c, Rect r);

static void draw_tensor_words(const StepSeen *s, Canvas *c, Rect r) {
    static const char *const names[NUMBERS] = {"theta_rms", "grad_rms", "delta_rms", "ratio"};
    static const char *const labels[NUMBERS] = {N_("θ rms"), N_("gradient rms"), N_("Δθ rms"), N_("Δθ/θ")};
    canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS, "%s",
                 word(s->tensors, s->tensor, "name"));
    for (int i = 0; i < NUMBERS && i + 1 < r.h; i++)
        canvas_textf(c, r.x, r.y + 1 + i, r.w, STYLE_TEXT, CANVAS_ELLIPSIS, "%s  %s", _(labels[i]),
                     format_small(cell(s->tensors, s->tensor, names[i])).s);
    if (r.h > NUMBERS + 1) draw_update_facts(s, c, (Rect){r.x, r.y + NUMBERS + 1, r.w, r.h - NUMBERS - 1});
}

void step_draw_words(const PaneContext *x, const StepSeen *s, Canvas *c, Rect r) {
    if (r.h < 1) return;
    if (s->stage == STEP_UPDATE) {
        draw_tensor_words(s, c, r);
        return;
    }
    bool back = s->stage == STEP_BACKWARD;
    const char *none = absence(s);
    Canvas view = canvas_view(c, r);
    if (r.h < 5) {
        canvas_text(&view, 0, 0, r.w, step_op_text(s, s->op, "formula"), STYLE_TEXT, CANVAS_ELLIPSIS);
        if (none)
            draw_paragraph(&view, (Rect){0, 1, r.w, r.h - 1}, none, STYLE_DIM);
        else
            (void)draw_statistics(s, &view, (Rect){0, 1, r.w, 1}, back ? _("gradient") : _("value"),
                                  back ? "grad_" : "", true);
        return;
    }
    draw_title(s, &view, (Rect){0, 0, r.w, 1});
    int y = 1 + draw_paragraph(&view, (Rect){0, 1, r.w, 2}, step_op_text(s, s->op, "formula"), STYLE_TEXT);
    draw_sources(s, &view, (Rect){0, y++, r.w, 1});
    if (s->stage == STEP_LOSS && !none) {
        draw_loss(x, s, &view, (Rect){0, y, r.w, r.h - y});
        return;
    }
    y += draw_statistics(s, &view, (Rect){0, y, r.w, 2}, _("value"), "", !back);
    if (none)
        draw_paragraph(&view, (Rect){0, y, r.w, r.h - y}, none, STYLE_DIM);
    else if (s->taught)
        draw_statistics(s, &view, (Rect){0, y, r.w, 2}, _("gradient"), "grad_", back);
}

/* The update. */

static void draw_update_facts(const StepSeen *s, Canvas *c, Rect r) {
    if (table_is_empty(s->pass, 0, table_find(s->pass, "update"))) {
        draw_paragraph(c, r, _("No update led here that is known; n makes the next one."), STYLE_DIM);
        return;
    }
    char text[240];
    double factor = cell(s->pass, 0, "clip_factor");
    int used =
        snprintf(text, sizeof text, _("Step %.0f: %s, learning rate %s, gradient norm %s"), cell(s->pass, 0, "update"),
                 word(s->pass, 0, "optimizer"), format_small(cell(s->pass, 0, "learning_rate")).s,
                 format_fixed(cell(s->pass, 0, "grad_norm"), 3).s);
    if (factor < 1 && used > 0 && used < (int)sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, _(", clipped to %s of it"), format_fixed(factor, 3).s);
    int rows = draw_paragraph(c, r, text, STYLE_DIM);
    bool adamw = !strcmp(word(s->pass, 0, "optimizer"), "adamw");
    draw_paragraph(c, (Rect){r.x, r.y + rows, r.w, r.h - rows},
                   adamw ? _("θ = (1 - lr wd) θ - lr m / (sqrt(v) + eps); m, v: means of g, g^2")
                         : _("θ = θ - lr m; m = momentum m + g + wd θ"),
                   STYLE_DIM);
}

/* As many numbers as there is room for: Δθ/θ last of all to go. */
static int shown_numbers(Rect r) {
    int n = (r.w - 14) / NUMBER_W;
    return n < 1 ? 1 : n > NUMBERS ? NUMBERS : n;
}

static int facts_rows(Rect r) {
    return r.h >= 10 ? 3 : r.h >= 6 ? 2 : 0;
}

static int tensors_first(const StepSeen *s, Rect r) {
    int rows = r.h - 1 - facts_rows(r), most = (int)table_rows(s->tensors);
    int first = s->tensor - rows / 2;
    return first > most - rows ? (most > rows ? most - rows : 0) : first < 0 ? 0 : first;
}

int step_tensor_at(const StepSeen *s, Rect r, int y) {
    int rows = r.h - 1 - facts_rows(r), i = y - r.y - 1;
    if (i < 0 || i >= rows) return -1;
    int tensor = tensors_first(s, r) + i;
    return tensor < table_rows(s->tensors) ? tensor : -1;
}

static void draw_tensor(const StepSeen *s, Canvas *c, Rect r, int tensor) {
    static const char *const names[NUMBERS] = {"theta_rms", "grad_rms", "delta_rms", "ratio"};
    bool here = s->stage == STEP_UPDATE && tensor == s->tensor;
    StyleRole role = here ? STYLE_CURSOR : STYLE_TEXT;
    int numbers = shown_numbers(r), name = r.w - 1 - numbers * NUMBER_W;
    if (here) canvas_fill(c, (Rect){r.x + 1, r.y, r.w - 1, 1}, ' ', STYLE_CURSOR, ATTRIBUTE_NONE);
    canvas_text(c, r.x, r.y, 1, here ? "▸" : " ", STYLE_STRONG, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 1, r.y, name, word(s->tensors, tensor, "name"), role, CANVAS_ELLIPSIS);
    for (int i = 0; i < numbers; i++)
        step_draw_right(c, r.x + 1 + name + i * NUMBER_W, r.y, NUMBER_W,
                        format_small(cell(s->tensors, tensor, names[NUMBERS - numbers + i])).s, role);
}

void step_draw_tensors(const StepSeen *s, Canvas *c, Rect r) {
    static const char *const heads[NUMBERS] = {N_("θ rms"), N_("g rms"), N_("Δθ rms"), N_("Δθ/θ")};
    int numbers = shown_numbers(r), name = r.w - 1 - numbers * NUMBER_W, facts = facts_rows(r);
    canvas_text(c, r.x + 1, r.y, name, _("tensor"), STYLE_DIM, CANVAS_ELLIPSIS);
    for (int i = 0; i < numbers; i++) {
        const char *head = _(heads[NUMBERS - numbers + i]);
        step_draw_right(c, r.x + 1 + name + i * NUMBER_W, r.y, NUMBER_W, head, STYLE_DIM);
    }
    for (int y = r.y + 1; y < r.y + r.h - facts; y++) {
        int tensor = step_tensor_at(s, r, y);
        if (tensor < 0) break;
        draw_tensor(s, c, (Rect){r.x, y, r.w, 1}, tensor);
    }
    if (facts) draw_update_facts(s, c, (Rect){r.x, r.y + r.h - facts + (facts > 2), r.w, facts - (facts > 2)});
}
