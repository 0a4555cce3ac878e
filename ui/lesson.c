#include "lesson.h"

#include "assets.h"
#include "command.h"
#include "file.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <string.h>

enum { LESSON_BYTES = 1 << 20 };

/* ---- what is read line by line ---- */

typedef enum { PART_TEXT, PART_COMMANDS, PART_REVEAL, PART_EXPLAINS, PARTS } Part;

typedef struct {
    Lesson *to;
    LessonPage *page; /* NULL: none has begun */
    Str part[PARTS];  /* of that page, as far as it is read */
    bool paragraph;   /* the next line of text begins one */
    int line;
} Reader;

/* MORE at the end of TEXT, in a paragraph of its own or after a blank; between wide characters there is none. */
static void extend(Str *text, const char *more, bool paragraph) {
    bool tight = text->len && (unsigned char)text->s[text->len - 1] >= 0x80 && (unsigned char)more[0] >= 0x80;
    if (text->len) str_add(text, paragraph ? "\n" : tight ? "" : " ");
    str_add(text, more);
}

/* A copy of what TEXT holds, which is emptied; NULL: nothing. */
static char *taken(Str *text) {
    char *s = text->len ? mem_text(text->s) : NULL;
    str_clear(text);
    return s;
}

/* "3" */
static Status read_index(const char *word, LessonCell *out) {
    long long i;
    if (out->keys > 0 || out->indices == FIELD_RANK || !str_to_long(word, &i) || i < 0 || i > 1000000)
        return status_usage(_("'%s' is no COLUMN=VALUE"), word);
    out->index[out->indices++] = (int)i;
    return status_ok();
}

static Status read_condition(const char *word, LessonCell *out) {
    const char *mark = strchr(word, '=');
    if (!mark) return read_index(word, out);
    if (mark == word || out->indices > 0) return status_usage(_("'%s' is no COLUMN=VALUE"), word);
    out->key[out->keys] = mem_text_n(word, (size_t)(mark - word));
    out->value[out->keys++] = mem_text(mark + 1);
    return status_ok();
}

/* "TABLE.COLUMN KEY=VALUE ...", or "FIELD INDEX ..." */
static Status read_cell(const char *text, LessonCell *out) {
    Words w;
    STATUS_TRY(command_split(text, &w));
    const char *dot = w.count > 0 ? strrchr(w.word[0], '.') : NULL;
    if (!dot || dot == w.word[0] || !dot[1]) return status_usage(_("'%s' is no TABLE.COLUMN"), text);
    if (w.count > 1 + LESSON_KEYS) return status_usage(_("'%s' has too many conditions"), text);
    out->table = mem_text_n(w.word[0], (size_t)(dot - w.word[0]));
    out->column = mem_text(dot + 1);
    for (int i = 1; i < w.count; i++) STATUS_TRY(read_condition(w.word[i], out));
    return status_ok();
}

/* Cuts TEXT off before the last " MARK " of one of MARKS; *rest is what stands behind it, NULL: it is not there. */
static char cut_at(char *text, const char *marks, char **rest) {
    *rest = NULL;
    for (size_t i = strlen(text); i-- > 1;) {
        if (!strchr(marks, text[i]) || text[i - 1] != ' ' || text[i + 1] != ' ') continue;
        char mark = text[i];
        text[i - 1] = '\0';
        *rest = text + i + 2;
        return mark;
    }
    return '\0';
}

static Status read_tolerance(LessonPage *p, char *text) {
    size_t n = strlen(text);
    p->relative = n > 0 && text[n - 1] == '%';
    if (p->relative) text[n - 1] = '\0';
    if (!str_to_double(text, &p->tolerance) || !(p->tolerance >= 0))
        return status_usage(_("'%s' is no tolerance"), text);
    if (p->relative) p->tolerance /= 100;
    return status_ok();
}

static Status read_number(LessonPage *p, char *text) {
    char *tolerance;
    if (p->choices > 0 || p->cell.table || !isnan(p->number)) return status_usage(_("a question has one answer"));
    if (cut_at(text, "~", &tolerance)) STATUS_TRY(read_tolerance(p, tolerance));
    return str_to_double(text, &p->number) ? status_ok() : read_cell(text, &p->cell);
}

static Status read_claim(Reader *r, char *text) {
    LessonPage *p = r->page;
    char *number;
    LessonClaim c = {.line = r->line};
    c.relation = cut_at(text, "<=>", &number);
    if (!c.relation || !str_to_double(number, &c.number))
        return status_usage(_("a claim is TABLE.COLUMN [KEY=VALUE ...] < NUMBER, or with = or >"));
    MEM_GROW(p->claim, p->claims, p->claim_capacity);
    p->claim[p->claims++] = c;
    return read_cell(text, &p->claim[p->claims - 1].cell);
}

static Status read_choice(LessonPage *p, const char *text, bool right) {
    if (p->cell.table || !isnan(p->number)) return status_usage(_("a question has one answer"));
    if (p->choices == LESSON_CHOICES) return status_usage(_("more than %d answers"), LESSON_CHOICES);
    if (right && p->right >= 0) return status_usage(_("two answers are right"));
    if (right) p->right = p->choices;
    p->choice[p->choices++] = mem_text(text);
    return status_ok();
}

/* ---- pages ---- */

static void take_parts(Reader *r) {
    LessonPage *p = r->page;
    Str both;
    str_init(&both);
    str_addf(&both, "%s%s", r->part[PART_COMMANDS].s, r->part[PART_REVEAL].s);
    p->both = taken(&both);
    p->text = taken(&r->part[PART_TEXT]);
    p->commands = taken(&r->part[PART_COMMANDS]);
    p->reveal = taken(&r->part[PART_REVEAL]);
    p->explains = taken(&r->part[PART_EXPLAINS]);
    str_done(&both);
}

static Status end_page(Reader *r) {
    LessonPage *p = r->page;
    if (!p) return status_ok();
    take_parts(r);
    if (!p->question) return status_ok();
    if (p->choices == 1 || (p->choices > 1 && p->right < 0))
        return status_usage(_("the question “%s” has no right answer among others"), p->question);
    if (p->choices == 0 && !p->cell.table && isnan(p->number))
        return status_usage(_("the question “%s” has no answer"), p->question);
    return status_ok();
}

static Status begin_page(Reader *r, char *text) {
    char *source;
    STATUS_TRY(end_page(r));
    if (!r->to->title) return status_usage(_("a lesson begins with its title"));
    MEM_GROW(r->to->page, r->to->pages, r->to->page_capacity);
    r->page = &r->to->page[r->to->pages++];
    *r->page = (LessonPage){.right = -1, .number = (double)NAN};
    (void)cut_at(text, "|", &source);
    r->page->title = mem_text(text);
    r->page->source = mem_text(source ? source : "");
    return status_ok();
}

static Status begin_question(LessonPage *p, const char *text) {
    if (p->question) return status_usage(_("a page has one question"));
    p->question = mem_text(text);
    return status_ok();
}

/* What follows the mark; NULL: LINE has another. */
static char *after(char *line, const char *mark) {
    size_t n = strlen(mark);
    if (strncmp(line, mark, n) != 0 || (line[n] != ' ' && line[n] != '\0')) return NULL;
    return line + n + strspn(line + n, " ");
}

static Status read_question(Reader *r, char *line, bool *known) {
    LessonPage *p = r->page;
    char *text;
    *known = true;
    if ((text = after(line, "-"))) return read_choice(p, text, false);
    if ((text = after(line, "+"))) return read_choice(p, text, true);
    if ((text = after(line, "="))) return read_number(p, text);
    if ((text = after(line, ">"))) {
        extend(&r->part[PART_EXPLAINS], text, false);
        return status_ok();
    }
    *known = false;
    return status_ok();
}

static Status read_title(Lesson *l, const char *text) {
    if (l->title) return status_usage(_("a lesson has one title"));
    l->title = mem_text(text);
    return status_ok();
}

static Status read_line(Reader *r, char *line) {
    LessonPage *p = r->page;
    char *text;
    if (line[0] == '#') return status_ok();
    if ((text = after(line, "=="))) return begin_page(r, text);
    if (!p && (text = after(line, "title"))) return read_title(r->to, text);
    if (!line[0]) {
        r->paragraph = true;
        return status_ok();
    }
    if (!p) return status_usage(_("a page begins with =="));
    if ((text = after(line, "?"))) return begin_question(p, text);
    if ((text = after(line, "@"))) return read_claim(r, text);
    if (line[0] == ':') {
        str_addf(&r->part[p->question ? PART_REVEAL : PART_COMMANDS], "%s\n", line + 1 + strspn(line + 1, " \t"));
        return status_ok();
    }
    bool known = false;
    if (p->question) STATUS_TRY(read_question(r, line, &known));
    if (known) return status_ok();
    if (p->question)
        return status_usage(_("'%s': after a question stand its answers (- + =), commands (:) and > text"), line);
    extend(&r->part[PART_TEXT], line, r->paragraph);
    r->paragraph = false;
    return status_ok();
}

/* ---- whole lessons ---- */

static char *trimmed(char *line) {
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1])) line[--n] = '\0';
    return line;
}

static Status read_lines(Reader *r, const char *path, char *text) {
    Status s = status_ok();
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        r->line++;
        s = read_line(r, trimmed(line));
        if (status_is_ok(&s) && !next) s = end_page(r);
        if (!status_is_ok(&s)) return status_usage(_("%s, line %d: %s"), path, r->line, s.text);
    }
    return r->page ? status_ok() : status_usage(_("'%s' has no pages: lines that begin with =="), path);
}

/* Where FILE of the lessons lies, in the language in use or in English. */
static bool find(const char *file, Str *path) {
    const char *folders[] = {/* TRANSLATORS: the folder of the lessons in your language */ _("lessons/en"),
                             "lessons/en"};
    Str relative;
    bool found = false;
    str_init(&relative);
    for (int i = 0; i < 2 && !found; i++) {
        str_clear(&relative);
        str_addf(&relative, "%s/%s", folders[i], file);
        found = assets_find(relative.s, path);
    }
    str_done(&relative);
    return found;
}

bool lesson_is_path(const char *name) {
    return strpbrk(name, "/.") != NULL;
}

static Status path_of(const char *name, Str *path) {
    str_clear(path);
    if (lesson_is_path(name)) {
        str_add(path, name);
        return status_ok();
    }
    Str file;
    str_init(&file);
    str_addf(&file, "%s.lesson", name);
    bool found = find(file.s, path);
    str_done(&file);
    return found ? status_ok() : status_usage(_("there is no lesson '%s'"), name);
}

static Status read_file(const char *path, const char *name, Lesson **out) {
    Str text;
    str_init(&text);
    Lesson *l = MEM_NEW(Lesson);
    l->name = mem_text(name);
    Reader r = {.to = l};
    for (int i = 0; i < PARTS; i++) str_init(&r.part[i]);
    Status s = file_read_text(path, LESSON_BYTES, &text);
    if (status_is_ok(&s)) s = read_lines(&r, path, text.s);
    for (int i = 0; i < PARTS; i++) str_done(&r.part[i]);
    str_done(&text);
    if (status_is_ok(&s))
        *out = l;
    else
        lesson_free(l);
    return s;
}

Status lesson_read(const char *name, Lesson **out) {
    Str path;
    str_init(&path);
    Status s = path_of(name, &path);
    if (status_is_ok(&s)) s = read_file(path.s, name, out);
    str_done(&path);
    return s;
}

static void free_cell(LessonCell *c) {
    mem_free(c->table);
    mem_free(c->column);
    for (int i = 0; i < c->keys; i++) {
        mem_free(c->key[i]);
        mem_free(c->value[i]);
    }
}

static void free_page(LessonPage *p) {
    char *texts[] = {p->title, p->source, p->text, p->commands, p->question, p->reveal, p->both, p->explains};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) mem_free(texts[i]);
    for (int i = 0; i < p->choices; i++) mem_free(p->choice[i]);
    free_cell(&p->cell);
    for (int i = 0; i < p->claims; i++) free_cell(&p->claim[i].cell);
    mem_free(p->claim);
}

void lesson_free(Lesson *l) {
    if (!l) return;
    for (int i = 0; i < l->pages; i++) free_page(&l->page[i]);
    mem_free(l->page);
    mem_free(l->name);
    mem_free(l->title);
    mem_free(l);
}

int lesson_titles(LessonTitle **out) {
    Str path, text;
    int n = 0, capacity = 0;
    *out = NULL;
    str_init(&path);
    str_init(&text);
    Status s = find("contents", &path) ? file_read_text(path.s, LESSON_BYTES, &text) : status_failed("%s", "");
    for (char *line = text.s, *next; status_is_ok(&s) && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        char *name = trimmed(line);
        Lesson *l = NULL;
        if (!name[0]) continue;
        Status read = lesson_read(name, &l);
        if (!status_is_ok(&read)) continue; /* whoever opens it is told why */
        MEM_GROW(*out, n, capacity);
        (*out)[n++] = (LessonTitle){mem_text(name), mem_text(l->title)};
        lesson_free(l);
    }
    str_done(&path);
    str_done(&text);
    return n;
}

void lesson_titles_free(LessonTitle *t, int n) {
    for (int i = 0; i < n; i++) {
        mem_free(t[i].name);
        mem_free(t[i].title);
    }
    mem_free(t);
}

/* ---- answers ---- */

static bool row_fits(const LessonCell *c, const Table *t, long row) {
    Str text;
    bool fits = true;
    str_init(&text);
    for (int i = 0; i < c->keys && fits; i++) {
        int column = table_find(t, c->key[i]);
        str_clear(&text);
        if (column >= 0) table_cell(t, row, column, &text);
        fits = column >= 0 && !strcmp(text.s, c->value[i]);
    }
    str_done(&text);
    return fits;
}

static double field_cell(const LessonCell *c, const Snapshot *s) {
    const Field *f = snapshot_field(s, "%s.%s", c->table, c->column);
    if (!f || f->rank != c->indices) return (double)NAN;
    for (int i = 0; i < c->indices; i++)
        if (c->index[i] >= f->dim[i]) return (double)NAN;
    return (double)field_at(f, c->index[0], c->index[1], c->index[2], c->index[3]);
}

double lesson_cell_of(const LessonCell *c, const Snapshot *s) {
    if (c->indices > 0) return field_cell(c, s);
    const Table *t = snapshot_table(s, c->table);
    int column = t ? table_find(t, c->column) : -1;
    if (column < 0 || table_column(t, column)->type == COLUMN_TEXT) return (double)NAN;
    long row = 0;
    while (row < table_rows(t) && !row_fits(c, t, row)) row++;
    return row < table_rows(t) ? table_real(t, row, column) : (double)NAN;
}

double lesson_number_of(const LessonPage *p, const Snapshot *s) {
    return p->cell.table ? lesson_cell_of(&p->cell, s) : p->number;
}

bool lesson_is_near(const LessonPage *p, double given, double right) {
    double tolerance = p->relative ? p->tolerance * fabs(right) : p->tolerance;
    return fabs(given - right) <= tolerance * (1 + 1e-9) + 1e-12;
}

bool lesson_claim_holds(const LessonClaim *c, const Snapshot *s) {
    double x = lesson_cell_of(&c->cell, s);
    return c->relation == '<' ? x < c->number : c->relation == '>' ? x > c->number : x == c->number;
}
