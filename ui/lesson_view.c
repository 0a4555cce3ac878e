#include "lesson_view.h"

#include "bars.h"
#include "format.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <string.h>

/* ---- a page as rows ---- */

enum {
    INDENT = 2,
    FOOT = 1,
    WIDEST = 76, /* columns that eyes follow */
    ROOMY_H = 45 /* a page does not stick to the edge of so high a pane */
};

typedef struct {
    const char *text; /* borrowed, BYTES of it */
    size_t bytes;
    int indent, choice; /* choice: which answer it belongs to; -1: none */
    const char *mark;   /* before the text of the first row of an answer; "" */
    StyleRole role;
    int attributes;
} Line;

typedef struct {
    Line *line;
    int lines, capacity, columns;
    Str result; /* what the rows of the result point to */
} Lines;

static void add_line(Lines *to, Line line) {
    MEM_GROW(to->line, to->lines, to->capacity);
    to->line[to->lines++] = line;
}

static void add_gap(Lines *to) {
    add_line(to, (Line){.text = "", .choice = -1, .mark = ""});
}

/* TEXT in paragraphs as rows like LINE; the mark stands before the first alone. */
static void add_text(Lines *to, const char *text, bool gaps, Line line) {
    int columns = to->columns - line.indent > 4 ? to->columns - line.indent : 4;
    for (size_t next; *text; text += next) {
        line.bytes = draw_wrap(text, columns, &next);
        line.text = text;
        add_line(to, line);
        line.mark = "";
        if (gaps && next > 0 && text[next - 1] == '\n') add_gap(to);
    }
}

static const char *choice_mark(const LessonState *s, const LessonPage *p, int i) {
    const LessonAnswer *a = &s->answer[s->page];
    if (!a->given) return i == s->choice ? "▸ " : "· ";
    return i == p->right ? "✓ " : i == a->choice ? "✗ " : "· ";
}

static StyleRole choice_role(const LessonState *s, const LessonPage *p, int i) {
    const LessonAnswer *a = &s->answer[s->page];
    if (!a->given) return i == s->choice ? STYLE_STRONG : STYLE_TEXT;
    return i == p->right ? STYLE_GOOD : i == a->choice ? STYLE_ERROR : STYLE_DIM;
}

static void add_choices(const LessonState *s, const LessonPage *p, Lines *to) {
    for (int i = 0; i < p->choices; i++)
        add_text(to, p->choice[i], false,
                 (Line){.indent = INDENT, .choice = i, .mark = choice_mark(s, p, i), .role = choice_role(s, p, i)});
}

/* A row of its own; S keeps the text. */
static void add_result(Lines *to, StyleRole role, const char *mark) {
    add_text(to, to->result.s, false, (Line){.indent = INDENT, .choice = -1, .mark = mark, .role = role});
}

static void add_number(const LessonState *s, const LessonPage *p, const Snapshot *seen, Lines *to) {
    const LessonAnswer *a = &s->answer[s->page];
    if (!a->given && s->typing) {
        str_addf(&to->result, "%s▏", s->typed);
        add_result(to, STYLE_STRONG, "▸ ");
    } else if (!a->given) {
        str_add(&to->result, _("enter: type a number"));
        add_result(to, STYLE_DIM, "▸ ");
    }
    if (!a->given) return;
    double right = isnan(a->right) ? lesson_number_of(p, seen) : a->right;
    if (isnan(right)) {
        str_addf(&to->result, _("you say %.6g; the run does not show it yet"), a->number);
        add_result(to, STYLE_WARNING, "… ");
        return;
    }
    bool good = lesson_is_near(p, a->number, right);
    str_addf(&to->result, p->cell.table ? _("you say %.6g, the run says %.6g") : _("you say %.6g, it is %.6g"),
             a->number, right);
    add_result(to, good ? STYLE_GOOD : STYLE_ERROR, good ? "✓ " : "✗ ");
}

static void add_question(const LessonState *s, const LessonPage *p, const Snapshot *seen, Lines *to) {
    if (!p->question) return;
    add_gap(to);
    add_text(to, p->question, false,
             (Line){.choice = -1, .mark = "", .role = STYLE_TITLE, .attributes = ATTRIBUTE_BOLD});
    if (p->choices > 0)
        add_choices(s, p, to);
    else
        add_number(s, p, seen, to);
    if (!s->answer[s->page].given || !p->explains) return;
    add_gap(to);
    add_text(to, p->explains, true, (Line){.choice = -1, .mark = "", .role = STYLE_TEXT});
}

static void make_lines(const LessonState *s, const Snapshot *seen, int columns, Lines *to) {
    const LessonPage *p = lesson_page(s);
    *to = (Lines){.columns = columns < WIDEST ? columns : WIDEST};
    str_init(&to->result);
    add_text(to, p->title, false, (Line){.choice = -1, .mark = "", .role = STYLE_STRONG, .attributes = ATTRIBUTE_BOLD});
    if (p->text) add_gap(to);
    if (p->text) add_text(to, p->text, true, (Line){.choice = -1, .mark = "", .role = STYLE_TEXT});
    add_question(s, p, seen, to);
}

static void free_lines(Lines *l) {
    mem_free(l->line);
    str_done(&l->result);
}

/* ---- drawing ---- */

const LessonPage *lesson_page(const LessonState *s) {
    return s->lesson ? &s->lesson->page[s->page] : NULL;
}

bool lesson_waits(const LessonState *s) {
    const LessonPage *p = lesson_page(s);
    return p && p->question && !s->answer[s->page].given;
}

/* Where a page, or the list, stands: in a column in the middle of a wide pane, below the edge of a high one. */
typedef struct {
    int x, y, w;
    int step;        /* rows from line to line */
    int rows, first; /* rows for lines; the first line that shows */
    int foot;        /* its row; -1: none */
} Sheet;

static Sheet sheet_of(const LessonState *s, int lines, Detail detail, int w, int h) {
    int rows = h > FOOT + 1 ? h - FOOT : h, most = lines > rows ? lines - rows : 0;
    Sheet t = {.w = w < WIDEST ? w : WIDEST, .rows = rows, .foot = rows < h ? rows : -1};
    t.x = (w - t.w) / 2;
    t.first = s->scroll < most ? s->scroll : most;
    t.step = detail == DETAIL_PRESENT && 2 * lines <= rows ? 2 : 1;
    int spare = rows - t.step * lines;
    if (h < ROOMY_H || spare <= 0) return t;
    t.y = h / 8 < spare ? h / 8 : spare;
    if (t.y + t.step * lines + 1 < t.foot) t.foot = t.y + t.step * lines + 1;
    return t;
}

/* The presenter's answers are strong, like titles and questions. */
static void draw_line(Canvas *c, int y, const Line *l, Detail detail) {
    int strong = detail == DETAIL_PRESENT && l->choice >= 0 ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE;
    if (l->mark[0]) canvas_text(c, 0, y, c->w, l->mark, l->role, ATTRIBUTE_BOLD);
    char *text = mem_text_n(l->text, l->bytes);
    canvas_text(c, l->indent, y, c->w - l->indent, text, l->role, l->attributes | strong);
    mem_free(text);
}

static const char *hint(const LessonState *s, const LessonPage *p) {
    if (s->typing) return _("enter answers · esc leaves it");
    if (lesson_waits(s)) return p->choices > 0 ? _("↑ ↓ choose · enter answers") : _("enter answers");
    return s->page + 1 < s->lesson->pages ? _("→ goes on") : _("the end: esc lists the lessons");
}

/* How far the lesson is, lines that do not show, what goes on, and where the page comes from. */
static void draw_foot(const LessonState *s, const LessonPage *p, int above, int below, Canvas *c) {
    int x = canvas_textf(c, 0, 0, c->w, STYLE_DIM, ATTRIBUTE_NONE, "%d/%d  ", s->page + 1, s->lesson->pages);
    if (below > 0)
        x += canvas_textf(c, x, 0, c->w - x, STYLE_WARNING, ATTRIBUTE_NONE, _("↓ %d more  "), below);
    else if (above > 0)
        x += canvas_textf(c, x, 0, c->w - x, STYLE_DIM, ATTRIBUTE_NONE, _("↑ %d more  "), above);
    int used = canvas_text(c, x, 0, c->w - x, hint(s, p), STYLE_DIM, ATTRIBUTE_NONE);
    int w = canvas_columns(c, p->source);
    if (w > 0 && x + used + 2 + w <= c->w) canvas_text(c, c->w - w, 0, w, p->source, STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_page(const LessonState *s, const Snapshot *seen, Detail detail, Canvas *c) {
    Lines l;
    make_lines(s, seen, c->w, &l);
    Sheet t = sheet_of(s, l.lines, detail, c->w, c->h);
    Canvas page = canvas_view(c, (Rect){t.x, t.y, t.w, t.rows - t.y});
    int shown = 0;
    for (; shown * t.step < page.h && t.first + shown < l.lines; shown++)
        draw_line(&page, shown * t.step, &l.line[t.first + shown], detail);
    Canvas foot = canvas_view(c, (Rect){t.x, t.foot, t.w, FOOT});
    if (t.foot >= 0) draw_foot(s, lesson_page(s), t.first, l.lines - t.first - shown, &foot);
    free_lines(&l);
}

static const char *list_head(void) {
    return _("What shall it be? enter opens a lesson; L leaves it.");
}

/* The lines of the list: its head, a gap and the titles, from FIRST on so that the one under the cursor shows. */
static Sheet list_sheet(const LessonState *s, int w, int h, int *head) {
    *head = draw_paragraph_rows(w < WIDEST ? w : WIDEST, list_head()) + 1;
    if (*head >= h) *head = 0; /* no room for both */
    Sheet t = sheet_of(s, *head + s->titles, DETAIL_FOCUS, w, h);
    int rows = h - t.y - *head;
    t.first = s->at >= rows ? s->at - rows + 1 : 0;
    return t;
}

static void draw_list(const LessonState *s, Canvas *c) {
    int head;
    Sheet t = list_sheet(s, c->w, c->h, &head);
    Canvas list = canvas_view(c, (Rect){t.x, t.y, t.w, c->h - t.y});
    if (head > 0) draw_paragraph(&list, (Rect){0, 0, list.w, head}, list_head(), STYLE_DIM);
    for (int i = t.first, y = head; i < s->titles && y < list.h; i++, y++) {
        bool at = i == s->at;
        canvas_text(&list, 0, y, list.w, at ? "▸ " : "  ", STYLE_STRONG, ATTRIBUTE_NONE);
        canvas_text(&list, 2, y, list.w - 2, s->title[i].title, at ? STYLE_STRONG : STYLE_TEXT,
                    at ? ATTRIBUTE_BOLD : 0);
    }
}

void lesson_draw(const LessonState *s, const Snapshot *seen, Detail detail, Canvas *c) {
    if (s->lesson)
        draw_page(s, seen, detail, c);
    else
        draw_list(s, c);
}

/* ---- where things stand ---- */

int lesson_scrolled(const LessonState *s, const Snapshot *seen, int w, int h, int by) {
    if (!s->lesson || w < 1 || h < 1) return 0;
    Lines l;
    make_lines(s, seen, w, &l);
    Sheet t = sheet_of(s, l.lines, DETAIL_FOCUS, w, h);
    int first = t.first + by;
    for (int i = 0; by == 0 && i < l.lines; i++) {
        if (l.line[i].choice < 0 || l.line[i].choice != s->choice) continue;
        if (i < first) first = i;
        if (i >= first + t.rows) first = i - t.rows + 1;
    }
    int most = l.lines > t.rows ? l.lines - t.rows : 0;
    free_lines(&l);
    return first < 0 ? 0 : first < most ? first : most;
}

static int title_at(const LessonState *s, const Canvas *c, int y) {
    int head;
    Sheet t = list_sheet(s, c->w, c->h, &head);
    int row = y - t.y - head;
    return row >= 0 && t.first + row < s->titles ? t.first + row : -1;
}

int lesson_row_at(const LessonState *s, const Snapshot *seen, Detail detail, const Canvas *c, int y) {
    if (!s->lesson) return title_at(s, c, y);
    Lines l;
    make_lines(s, seen, c->w, &l);
    Sheet t = sheet_of(s, l.lines, detail, c->w, c->h);
    int row = t.first + (y - t.y) / t.step;
    int choice = y >= t.y && y < t.rows && row < l.lines ? l.line[row].choice : -1;
    free_lines(&l);
    return choice;
}
