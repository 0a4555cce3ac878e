#include "bpe_view.h"

#include "format.h"
#include "intl.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum {
    COUNT_W = 9,
    RANK_W = 5,
    TWO_W = 64,    /* lists side by side */
    THREE_W = 112, /* three of them */
    FOCUS_W = 72,
    FOCUS_H = 15,
    FOOT_H = 2,
    WORDS_W = 42, /* of a column of words */
};

/* ---- what is there ---- */

bool bpe_see(const PaneContext *x, BpeSeen *out) {
    const Snapshot *s = x->snapshot;
    *out = (BpeSeen){snapshot_table(s, "bpe"),     snapshot_table(s, "pairs"),
                     snapshot_table(s, "words"),   snapshot_table(s, "merges"),
                     snapshot_table(s, "growth"),  snapshot_table(s, "steps"),
                     snapshot_table(s, "encoded"), false};
    if (!out->facts || table_rows(out->facts) == 0 || !out->steps || !out->encoded) return false;
    out->own = !out->pairs;
    return out->own || (out->words && out->merges && out->growth);
}

BpeList bpe_list(const PaneContext *x, const BpeSeen *s) {
    return s->own ? BPE_STEPS : ((const BpeState *)x->state)->list;
}

long long bpe_fact(const BpeSeen *s, const char *name) {
    return table_int(s->facts, 0, table_find(s->facts, name));
}

const char *bpe_text(const Table *t, long row, const char *name) {
    return row >= 0 && row < table_rows(t) ? table_text(t, row, table_find(t, name)) : "";
}

long long bpe_int(const Table *t, long row, const char *name) {
    return row >= 0 && row < table_rows(t) ? table_int(t, row, table_find(t, name)) : 0;
}

const char *bpe_fact_text(const BpeSeen *s, const char *name) {
    return bpe_text(s->facts, 0, name);
}

int bpe_rows(const BpeSeen *s, BpeList list) {
    const Table *const tables[BPE_LISTS] = {s->pairs, s->words, s->merges, s->steps};
    return (tables[list] ? (int)table_rows(tables[list]) : 0) +
           (list == BPE_STEPS); /* before the first step there are units */
}

int bpe_row(const PaneContext *x, const BpeSeen *s, BpeList list) {
    const BpeState *state = x->state;
    int rows = bpe_rows(s, list), row = state->row[list];
    return row >= rows ? (rows > 0 ? rows - 1 : 0) : row < 0 ? 0 : row;
}

const char *bpe_list_name(BpeList list) {
    static const char *const names[BPE_LISTS] = {"pairs", "words", "merges", "steps"};
    return names[list];
}

const char *bpe_word_of(const BpeSeen *s, int row) {
    return bpe_text(s->words, row, "word");
}

long bpe_rank_of(const BpeSeen *s, int row) {
    return (long)table_rows(s->merges) - row;
}

/* ---- where the parts stand ---- */

static BpePlan plan_focus(int w, int h) {
    int top = 1, foot = h - FOOT_H, upper = (foot - top) * 11 / 20, lower = top + upper, below = foot - lower;
    BpePlan p = {.head = {0, 0, w, 1}, .foot = {0, foot, w, FOOT_H}};
    bool wide = w >= THREE_W;
    int a = wide ? w * 3 / 10 : w * 9 / 20, b = wide ? w * 4 / 10 : w - a - 2, left = wide ? w * 4 / 10 : a;
    p.list[BPE_PAIRS] = (Rect){0, top, a, upper};
    p.list[BPE_WORDS] = (Rect){a + 2, top, b, upper};
    if (wide) {
        p.list[BPE_MERGES] = (Rect){a + b + 4, top, w - a - b - 4, upper};
        p.plot = (Rect){0, lower, left, below};
    } else {
        p.list[BPE_MERGES] = (Rect){0, lower, left, below - 2};
        p.spark = (Rect){0, foot - 2, left, 2};
    }
    p.list[BPE_STEPS] = (Rect){left + 2, lower, w - left - 2, below};
    return p;
}

/* On a wall, and large for the back row: pairs and words, side by side where both have room. */
static BpePlan plan_wall(int w, int h) {
    int top = h >= 5, spark = h >= 9 ? 2 : 0, body = h - top - spark;
    BpePlan p = {.head = {0, 0, w, top}};
    if (w >= TWO_W) {
        int a = w * 9 / 20;
        p.list[BPE_PAIRS] = (Rect){0, top, a, body};
        p.list[BPE_WORDS] = (Rect){a + 2, top, w - a - 2, body};
    } else {
        int pairs = body < 4 ? body : body * 2 / 5 > 2 ? body * 2 / 5 : 2;
        p.list[BPE_PAIRS] = (Rect){0, top, w, pairs};
        p.list[BPE_WORDS] = (Rect){0, top + pairs, w, body - pairs};
    }
    if (spark) p.spark = (Rect){0, h - spark, w, spark};
    return p;
}

/* Large for the back row: the curves take the place of most of the rows. */
static BpePlan plan_present(int w, int h) {
    int below = h * 2 / 5;
    BpePlan p = plan_wall(w, h - below);
    p.spark.h = 0;
    for (int i = 0; i < BPE_LISTS; i++)
        if (p.list[i].h > 0) p.list[i].h = h - below - p.list[i].y - 1;
    p.plot = (Rect){0, h - below, w, below};
    return p;
}

/* Of the model's own there are only the steps. */
static BpePlan plan_own(int w, int h) {
    int top = h >= 5, foot = h >= 10 ? FOOT_H + 1 : 0;
    return (BpePlan){
        .head = {0, 0, w, top}, .list[BPE_STEPS] = {0, top, w, h - top - foot}, .foot = {0, h - foot, w, foot}};
}

BpePlan bpe_plan(const PaneContext *x, const BpeSeen *s, int w, int h) {
    if (s->own) return plan_own(w, h);
    if (x->detail == DETAIL_PRESENT && w >= FOCUS_W && h >= FOCUS_H) return plan_present(w, h);
    if (x->detail == DETAIL_FOCUS && w >= FOCUS_W && h >= FOCUS_H) return plan_focus(w, h);
    return plan_wall(w, h);
}

/* ---- lists ---- */

static bool is_headed(const Rect *r) {
    return r->h >= 3;
}

/* Words stand in several columns where there is room for it. */
static int columns_of(BpeList list, const Rect *r) {
    return list == BPE_WORDS && r->w >= 2 * WORDS_W ? r->w / WORDS_W : 1;
}

/* The first row that shows, so that the cursor's does. */
static int first_row(const PaneContext *x, const BpeSeen *s, BpeList list, const Rect *r) {
    int room = (r->h - is_headed(r)) * columns_of(list, r), row = bpe_row(x, s, list);
    return row >= room && room > 0 ? row - room + 1 : 0;
}

static bool has_cursor(const PaneContext *x, const BpeSeen *s, BpeList list) {
    return x->focus && bpe_list(x, s) == list;
}

/* The pair to be underlined: the one under the cursor, else the next. */
static BpeMarks marks_of(const PaneContext *x, const BpeSeen *s) {
    BpeMarks m = {.byte = !strcmp(bpe_fact_text(s, "unit"), "byte")};
    if (s->own) return m;
    int row = bpe_list(x, s) == BPE_PAIRS ? bpe_row(x, s, BPE_PAIRS) : 0;
    long merges = table_rows(s->merges);
    if (merges > 0) m.newest = bpe_text(s->merges, merges - 1, "merged");
    if (table_rows(s->pairs) == 0) return m;
    m.left = bpe_text(s->pairs, row, "left");
    m.right = bpe_text(s->pairs, row, "right");
    return m;
}

static StyleRole role_of(const BpeMarks *m, const char *piece) {
    return bpe_piece_role(piece, strlen(piece), m->byte);
}

/* "e + s → es" in the colours of the pieces. */
static void draw_sum(Canvas *c, Rect r, const Table *t, long row, const BpeMarks *m, int bold) {
    const char *const part[] = {bpe_text(t, row, "left"), bpe_text(t, row, "right"), bpe_text(t, row, "merged")};
    static const char *const before[] = {"", " + ", " → "};
    int at = 0;
    for (int i = 0; i < 3; i++) {
        if (i == 2 && canvas_columns(c, part[i]) + 3 > r.w - at) break; /* what it makes can be seen anyway */
        at += canvas_text(c, r.x + at, r.y, r.w - at, before[i], STYLE_DIM, ATTRIBUTE_NONE);
        at += canvas_text(c, r.x + at, r.y, r.w - at, part[i], role_of(m, part[i]), bold | CANVAS_ELLIPSIS);
    }
}

static void draw_pair_row(const BpeSeen *s, const BpeMarks *m, Canvas *c, Rect r, int row) {
    bool next = row == 0, tied = bpe_int(s->pairs, row, "tied") > 0;
    const char *note = next ? _("next") : tied ? _("tied") : "";
    int bold = next ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE, w = canvas_columns(c, note);
    canvas_textf(c, r.x, r.y, COUNT_W,
                 next   ? STYLE_STRONG
                 : tied ? STYLE_TEXT
                        : STYLE_DIM,
                 bold, "%*s", COUNT_W - 1, format_count(bpe_int(s->pairs, row, "count")).s);
    canvas_text(c, r.x + COUNT_W - 1, r.y, 1, tied ? "=" : " ", STYLE_DIM, ATTRIBUTE_NONE);
    int at = COUNT_W + 1, room = r.w - at - (w > 0 ? w + 1 : 0);
    draw_sum(c, (Rect){r.x + at, r.y, room, 1}, s->pairs, row, m, bold);
    canvas_text(c, r.x + r.w - w, r.y, w, note, next ? STYLE_GOOD : STYLE_WARNING, bold);
}

static void draw_word_row(const BpeSeen *s, const BpeMarks *m, Canvas *c, Rect r, int row) {
    canvas_textf(c, r.x, r.y, COUNT_W, STYLE_DIM, ATTRIBUTE_NONE, "%*s", COUNT_W - 1,
                 format_count(bpe_int(s->words, row, "count")).s);
    bpe_draw_pieces(c, r.x + COUNT_W + 1, r.y, r.w - COUNT_W - 1, bpe_text(s->words, row, "pieces"), m);
}

static void draw_merge_row(const BpeSeen *s, const BpeMarks *m, Canvas *c, Rect r, int row) {
    long at = table_rows(s->merges) - 1 - row;
    long long ties = bpe_int(s->merges, at, "ties");
    char count[64];
    if (ties > 1)
        snprintf(count, sizeof count, _("%s, %lld tied"), format_count(bpe_int(s->merges, at, "count")).s, ties);
    else
        snprintf(count, sizeof count, "%s", format_count(bpe_int(s->merges, at, "count")).s);
    canvas_textf(c, r.x, r.y, RANK_W, STYLE_DIM, ATTRIBUTE_NONE, "%*ld", RANK_W, at + 1);
    int before = RANK_W + 2, w = canvas_columns(c, count), bold = row == 0 ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE;
    draw_sum(c, (Rect){r.x + before, r.y, r.w - before - w - 1, 1}, s->merges, at, m, bold);
    canvas_text(c, r.x + r.w - w, r.y, w, count, STYLE_DIM, ATTRIBUTE_NONE);
}

/* Row 0: the units. Bold is what the step has just made. */
static void draw_step_row(const BpeSeen *s, const BpeMarks *m, Canvas *c, Rect r, int row) {
    long at = row - 1;
    char made[256] = "";
    if (row > 0) snprintf(made, sizeof made, "%s%s", bpe_text(s->steps, at, "left"), bpe_text(s->steps, at, "right"));
    BpeMarks marks = {.newest = row > 0 ? made : NULL, .byte = m->byte};
    if (row > 0)
        canvas_textf(c, r.x, r.y, RANK_W, STYLE_DIM, ATTRIBUTE_NONE, "%*lld", RANK_W, bpe_int(s->steps, at, "rank"));
    bpe_draw_pieces(c, r.x + RANK_W + 2, r.y, r.w - RANK_W - 2,
                    row > 0 ? bpe_text(s->steps, at, "pieces") : bpe_fact_text(s, "text_units"), &marks);
}

static void write_heading(const BpeSeen *s, BpeList list, int w, char *out, size_t bytes) {
    long long ties = s->own ? 0 : bpe_fact(s, "ties");
    switch (list) {
    case BPE_PAIRS:
        if (ties > 1)
            snprintf(out, bytes, _("pairs by count · %lld tied: by bytes"), ties);
        else
            snprintf(out, bytes, "%s", _("pairs by count"));
        break;
    case BPE_WORDS:
        snprintf(out, bytes, "%s", w < 38 ? _("words by count") : _("words · bold newest · underlined pair"));
        break;
    case BPE_MERGES:
        snprintf(out, bytes, "%s", _("merges, the newest first"));
        break;
    case BPE_STEPS:
    case BPE_LISTS:
        snprintf(out, bytes,
                 ngettext("“%s” by rank: %ld token", "“%s” by rank: %ld tokens",
                          (unsigned long)table_rows(s->encoded)),
                 bpe_fact_text(s, "text"), table_rows(s->encoded));
        break;
    }
}

typedef void DrawRow(const BpeSeen *s, const BpeMarks *m, Canvas *c, Rect r, int row);

static void draw_list(const PaneContext *x, const BpeSeen *s, Canvas *c, Rect r, BpeList list) {
    static DrawRow *const draw[BPE_LISTS] = {draw_pair_row, draw_word_row, draw_merge_row, draw_step_row};
    BpeMarks marks = marks_of(x, s);
    int y = r.y, rows = bpe_rows(s, list), first = first_row(x, s, list, &r), here = bpe_row(x, s, list);
    if (is_headed(&r)) {
        char heading[640];
        bool strong = has_cursor(x, s, list);
        write_heading(s, list, r.w, heading, sizeof heading);
        canvas_text(c, r.x, y++, r.w, heading, strong ? STYLE_TITLE : STYLE_DIM,
                    (strong ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE) | CANVAS_ELLIPSIS);
    }
    int room = r.y + r.h - y, columns = columns_of(list, &r), w = r.w / columns;
    for (int i = 0; i < room * columns && first + i < rows; i++) {
        Rect cell = {r.x + i / room * w, y + i % room, columns > 1 ? w - 2 : w, 1};
        bool marked = has_cursor(x, s, list) && first + i == here;
        if (marked) canvas_text(c, cell.x, cell.y, 1, "▸", STYLE_CURSOR, ATTRIBUTE_NONE);
        draw[list](s, &marks, c, (Rect){cell.x + 1, cell.y, cell.w - 1, 1}, first + i);
    }
    if (rows == 0 && y < r.y + r.h)
        canvas_text(c, r.x + 1, y, r.w - 1,
                    list == BPE_PAIRS ? _("none is left: words are tokens") : _("none yet: + takes the next pair"),
                    STYLE_DIM, CANVAS_ELLIPSIS);
}

bool bpe_hit(const PaneContext *x, const BpeSeen *s, const BpePlan *p, int px, int py, BpeList *list, int *row) {
    for (int i = 0; i < BPE_LISTS; i++) {
        const Rect *r = &p->list[i];
        int top = r->y + is_headed(r), room = r->y + r->h - top, columns = columns_of((BpeList)i, r);
        if (px < r->x || px >= r->x + r->w || py < top || py >= r->y + r->h) continue;
        int column = (px - r->x) / (r->w / columns), at = first_row(x, s, (BpeList)i, r) + column * room + py - top;
        if (column >= columns || at >= bpe_rows(s, (BpeList)i)) return false;
        *list = (BpeList)i;
        *row = at;
        return true;
    }
    return false;
}

/* ---- the whole ---- */

static int draw_number(Canvas *c, Rect r, const char *label, const char *number) {
    if (canvas_columns(c, label) + canvas_columns(c, number) + 1 > r.w) return 0;
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, ATTRIBUTE_NONE, "%s ", label);
    at += canvas_text(c, r.x + at, r.y, r.w - at, number, STYLE_STRONG, ATTRIBUTE_BOLD);
    return at + 3;
}

static void draw_own_head(const BpeSeen *s, Canvas *c, Rect r) {
    int at = draw_number(c, r, _("vocabulary"), format_count(bpe_fact(s, "vocabulary")).s);
    at += draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, _("merges"), format_count(bpe_fact(s, "merges")).s);
    draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, _("tokens"), format_count(bpe_fact(s, "tokens")).s);
}

static void draw_head(const PaneContext *x, const BpeSeen *s, Canvas *c, Rect r) {
    if (s->own) {
        draw_own_head(s, c, r);
        return;
    }
    double per_word = (double)bpe_fact(s, "tokens") / (double)bpe_fact(s, "words");
    bool narrow = r.w < 40;
    int at = draw_number(c, r, narrow ? _("symbols") : _("vocabulary"), format_count(bpe_fact(s, "vocabulary")).s);
    at += draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, narrow ? _("tokens/word") : _("tokens per word"),
                      format_fixed(per_word, 3).s);
    if (x->detail == DETAIL_WALL) return;
    at += draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, _("words"), format_count(bpe_fact(s, "words")).s);
    at += draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, _("distinct"), format_count(bpe_fact(s, "distinct")).s);
    if (!bpe_fact(s, "running")) return;
    double rate = table_real(s->facts, 0, table_find(s->facts, "rate"));
    draw_number(c, (Rect){r.x + at, r.y, r.w - at, 1}, _("merges/s"), format_figures(rate).s);
}

void bpe_draw_parts(const PaneContext *x, const BpeSeen *s, const BpePlan *p, Canvas *c) {
    if (p->head.h) draw_head(x, s, c, p->head);
    for (int i = 0; i < BPE_LISTS; i++)
        if (p->list[i].h > 0) draw_list(x, s, c, p->list[i], (BpeList)i);
    if (p->plot.h > 0) bpe_draw_growth(s, c, p->plot);
    if (p->spark.h > 0) bpe_draw_spark(s, c, p->spark);
    if (p->foot.h > 0) bpe_draw_foot(x, s, c, p->foot);
}
