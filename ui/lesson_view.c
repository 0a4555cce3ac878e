#include "lesson_view.h"

#include "bars.h"
#include "format.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <string.h>

/* ---- a page as rows ---- */

enum { INDENT = 2, FOOT = 1, WIDEST = 76 /* columns that eyes follow */ };

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

static int page_rows(const Canvas *c) {
    return c->h > FOOT + 1 ? c->h - FOOT : c->h;
}

static int first_row(const LessonState *s, int lines, int rows) {
    int most = lines > rows ? lines - rows : 0;
    return s->scroll < most ? s->scroll : most;
}

static void draw_line(Canvas *c, int y, const Line *l) {
    if (l->mark[0]) canvas_text(c, 0, y, c->w, l->mark, l->role, ATTRIBUTE_BOLD);
    char *text = mem_text_n(l->text, l->bytes);
    canvas_text(c, l->indent, y, c->w - l->indent, text, l->role, l->attributes);
    mem_free(text);
}

static const char *hint(const LessonState *s, const LessonPage *p) {
    if (s->typing) return _("enter answers · esc leaves it");
    if (lesson_waits(s)) return p->choices > 0 ? _("↑ ↓ choose · enter answers") : _("enter answers");
    return s->page + 1 < s->lesson->pages ? _("→ goes on") : _("the end: esc lists the lessons");
}

/* How far the lesson is, what goes on, and where the page comes from. */
static void draw_foot(const LessonState *s, const LessonPage *p, int over, Canvas *c) {
    int y = c->h - 1,
        x = canvas_textf(c, 0, y, c->w, STYLE_DIM, ATTRIBUTE_NONE, "%d/%d  ", s->page + 1, s->lesson->pages);
    if (over > 0) x += canvas_textf(c, x, y, c->w - x, STYLE_WARNING, ATTRIBUTE_NONE, _("↓ %d more  "), over);
    int used = canvas_text(c, x, y, c->w - x, hint(s, p), STYLE_DIM, ATTRIBUTE_NONE);
    int w = canvas_columns(c, p->source);
    if (w > 0 && x + used + 2 + w <= c->w) canvas_text(c, c->w - w, y, w, p->source, STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_page(const LessonState *s, const Snapshot *seen, Canvas *c) {
    const LessonPage *p = lesson_page(s);
    Lines l;
    make_lines(s, seen, c->w, &l);
    int rows = page_rows(c), first = first_row(s, l.lines, rows);
    for (int i = 0; i < rows && first + i < l.lines; i++) draw_line(c, i, &l.line[first + i]);
    if (rows < c->h) draw_foot(s, p, l.lines - first - rows, c);
    free_lines(&l);
}

static void draw_list(const LessonState *s, Canvas *c) {
    int y = draw_paragraph(c, (Rect){0, 0, c->w, c->h}, _("What shall it be? enter opens a lesson; L leaves it."),
                           STYLE_DIM) +
            1;
    for (int i = 0; i < s->titles && y + i < c->h; i++) {
        bool at = i == s->at;
        canvas_text(c, 0, y + i, c->w, at ? "▸ " : "  ", STYLE_STRONG, ATTRIBUTE_NONE);
        canvas_text(c, 2, y + i, c->w - 2, s->title[i].title, at ? STYLE_STRONG : STYLE_TEXT, at ? ATTRIBUTE_BOLD : 0);
    }
}

void lesson_draw(const LessonState *s, const Snapshot *seen, Detail detail, Canvas *c) {
    (void)detail;
    if (s->lesson)
        draw_page(s, seen, c);
    else
        draw_list(s, c);
}

int lesson_rows_over(const LessonState *s, const Snapshot *seen, const Canvas *c) {
    if (!s->lesson) return 0;
    Lines l;
    make_lines(s, seen, c->w, &l);
    int over = l.lines - page_rows(c);
    free_lines(&l);
    return over > 0 ? over : 0;
}

int lesson_row_at(const LessonState *s, const Snapshot *seen, const Canvas *c, int y) {
    if (!s->lesson) {
        int first = draw_paragraph_rows(c->w, _("What shall it be? enter opens a lesson; L leaves it.")) + 1;
        return y >= first && y - first < s->titles ? y - first : -1;
    }
    Lines l;
    make_lines(s, seen, c->w, &l);
    int row = first_row(s, l.lines, page_rows(c)) + y;
    int choice = y < page_rows(c) && row < l.lines ? l.line[row].choice : -1;
    free_lines(&l);
    return choice;
}
