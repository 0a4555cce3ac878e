#include "samples_view.h"

#include "format.h"
#include "intl.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

enum { NAME_W = 12, NUMBER_W = 10 };

static long long cell(const Table *t, const char *column) {
    return table_int(t, 0, table_find(t, column));
}

static const char *state_of(const Table *t) {
    return table_text(t, 0, table_find(t, "state"));
}

bool samples_running(const Snapshot *s) {
    const Table *t = snapshot_table(s, "sampling");
    return t && !strcmp(state_of(t), "running");
}

/* Whether the sentences begin with the words that the model sees now. */
static bool begin_here(const Snapshot *s, const Table *t) {
    const char *prompt = table_text(t, 0, table_find(t, "prompt"));
    int visible = reading_visible(s);
    return prompt[0] ? !*reading_continuation(s, visible, prompt) : visible <= 1;
}

/* "640 of 1,000 sentences at step 522", and how it ended. */
static void draw_head(const Snapshot *s, const Table *t, Canvas *c, Rect r) {
    const char *state = state_of(t);
    bool running = !strcmp(state, "running");
    if (running) {
        double share = (double)cell(t, "taken") / (double)cell(t, "wanted");
        int at = canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, CANVAS_ELLIPSIS, _("%s of %s "),
                              format_count(cell(t, "taken")).s, format_count(cell(t, "wanted")).s);
        if (r.w - at >= 8) draw_progress(c, r.x + at, r.y, r.w - at, share, share, STYLE_GOOD);
        return;
    }
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_STRONG, CANVAS_ELLIPSIS, _("%s sentences, step %s"),
                          format_count(cell(t, "taken")).s, format_count(cell(t, "step")).s);
    const char *end = !strcmp(state, "stopped")  ? _(" stopped")
                      : !strcmp(state, "failed") ? _(" failed")
                      : begin_here(s, t)         ? ""
                                                 : _(", elsewhere");
    canvas_text(c, r.x + at, r.y, r.w - at, end, STYLE_WARNING, CANVAS_ELLIPSIS);
}

static bool is_known(const Table *t, long row, const char *column) {
    return row < table_rows(t) && !table_is_empty(t, row, table_find(t, column));
}

static void draw_number(Canvas *c, int x, int y, const Table *t, long row, const char *column, StyleRole role) {
    int at = table_find(t, column);
    if (is_known(t, row, column))
        draw_right(c, (Rect){x, y, NUMBER_W - 1, 1}, format_fixed(table_real(t, row, at), 4).s, role);
}

int samples_draw(const Snapshot *s, Canvas *c, Rect r) {
    static const struct {
        const char *column, *name;
    } rows[] = {{"legal", N_("legal")},
                {"possible", N_("possible")},
                {"distinct", N_("distinct")},
                {"coverage", N_("coverage")},
                {"true_nll", N_("nats/token")}};
    const Table *run = snapshot_table(s, "sampling"), *worth = snapshot_table(s, "worth");
    if (r.h < 1) return 0;
    if (!run || !worth || table_rows(run) == 0) {
        canvas_text(c, r.x, r.y, r.w, _("S draws many sentences from here"), STYLE_DIM, CANVAS_ELLIPSIS);
        return 1;
    }
    draw_head(s, run, c, r);
    int y = 1;
    if (y < r.h) {
        draw_right(c, (Rect){r.x + NAME_W, r.y + y, NUMBER_W - 1, 1}, _("model"), STYLE_MODEL);
        if (is_known(worth, 1, "distinct"))
            draw_right(c, (Rect){r.x + NAME_W + NUMBER_W, r.y + y, NUMBER_W - 1, 1}, _("truth"), STYLE_TRUTH);
        y++;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows && y < r.h; i++) {
        if (!is_known(worth, 0, rows[i].column) && !is_known(worth, 1, rows[i].column)) continue;
        canvas_text(c, r.x, r.y + y, NAME_W, _(rows[i].name), STYLE_DIM, CANVAS_ELLIPSIS);
        draw_number(c, r.x + NAME_W, r.y + y, worth, 0, rows[i].column, STYLE_MODEL);
        draw_number(c, r.x + NAME_W + NUMBER_W, r.y + y, worth, 1, rows[i].column, STYLE_TRUTH);
        y++;
    }
    return y;
}

/* What was drawn: TEXT without the words that were there; of a corpus of characters its tokens stand apart, and those
 * that the model sees still are left out. */
static const char *without(const Snapshot *s, const char *prompt, const char *text) {
    size_t n = strlen(prompt);
    if (n > 0 && !strncmp(text, prompt, n) && text[n] == ' ') return text + n + 1;
    return reading_continuation(s, reading_visible(s), text);
}

/* Whether it is known which sentences the language has. */
static bool are_judged(const Table *samples) {
    int possible = table_find(samples, "possible");
    return possible >= 0 && table_rows(samples) > 0 && !table_is_empty(samples, 0, possible);
}

/* Row I of the samples; JUDGED: behind a mark. */
static void draw_sample(const Snapshot *s, const Table *t, long i, const char *prompt, bool judged, Canvas *c, Rect r) {
    bool fine = !judged || table_int(t, i, table_find(t, "possible"));
    const char *mark = fine ? "·" : table_int(t, i, table_find(t, "legal")) ? "~" : "✗";
    int at = judged ? 2 : 0;
    if (judged) canvas_text(c, r.x, r.y, 1, mark, fine ? STYLE_DIM : STYLE_WARNING, ATTRIBUTE_NONE);
    canvas_text(c, r.x + at, r.y, r.w - at, without(s, prompt, table_text(t, i, table_find(t, "text"))),
                fine ? STYLE_TEXT : STYLE_WARNING, CANVAS_ELLIPSIS);
}

void samples_draw_newest(const Snapshot *s, Canvas *c, Rect r) {
    const Table *t = snapshot_table(s, "samples"), *run = snapshot_table(s, "sampling");
    const char *prompt = run && table_rows(run) ? table_text(run, 0, table_find(run, "prompt")) : "";
    if (!t || r.h < 1 || table_rows(t) == 0) return;
    bool judged = are_judged(t) && r.h > 1; /* the marks and what they mean, or neither */
    if (judged) canvas_text(c, r.x, r.y, r.w, _("· possible  ~ legal alone  ✗ neither"), STYLE_DIM, CANVAS_ELLIPSIS);
    int head = judged ? 1 : 0, room = r.h - head;
    long rows = table_rows(t), first = rows > room ? rows - room : 0;
    for (long i = first; i < rows; i++)
        draw_sample(s, t, i, prompt, judged, c, (Rect){r.x, r.y + head + (int)(i - first), r.w, 1});
}
