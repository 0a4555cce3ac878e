#include "form.h"

#include "bug.h"
#include "draw.h"
#include "format.h"
#include "intl.h"
#include "mem.h"
#include "prompt.h"
#include "reading.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HELP_ROWS = 3, JUDGE_ROWS = 2, JUDGE_LEAST_H = 10, CHOICES_MOST = 64 };

struct Form {
    Options *options;
    Options *before; /* as the form was opened */
    char **follow;   /* [rows] what a row that is not set comes to; NULL: it is set, or left out */
    Prompt *prompt;
    FormJudge *judge; /* NULL: none */
    const void *judge_user;
    Str judgement;
    StyleRole judgement_role;
    int at;
    bool typing;
    Status problem; /* with the text as it stands, or the last one refused */
    char *choices;  /* of the row that is edited, cut into words */
    const char *choice[CHOICES_MOST];
    int choice_count;
};

static void forget_follow(Form *f) {
    for (int i = 0; f->follow && i < options_count(f->options); i++) mem_free(f->follow[i]);
    mem_free(f->follow);
    f->follow = NULL;
}

static void judge(Form *f) {
    str_clear(&f->judgement);
    f->judgement_role = STYLE_DIM;
    if (f->judge) f->judge(f->judge_user, f->before, f->options, &f->judgement, &f->judgement_role);
}

void form_let_judge(Form *f, FormJudge *how, const void *user) {
    f->judge = how;
    f->judge_user = user;
    judge(f);
}

/* After every change: what follows may follow from any of the others. */
static void follow(Form *f) {
    judge(f);
    int n = options_count(f->options);
    forget_follow(f);
    f->follow = MEM_ARRAY(char *, (size_t)n);
    for (int i = 0; i < n; i++) {
        Str value;
        str_init(&value);
        if (options_follow(f->options, options_row(f->options, i)->name, &value)) f->follow[i] = mem_text(value.s);
        str_done(&value);
    }
}

Form *form_new(Options *o) {
    Form *f = MEM_NEW(Form);
    f->options = o;
    f->before = options_copy(o);
    f->prompt = prompt_new();
    f->problem = status_ok();
    str_init(&f->judgement);
    follow(f);
    return f;
}

void form_free(Form *f) {
    if (!f) return;
    forget_follow(f);
    str_done(&f->judgement);
    options_free(f->options);
    options_free(f->before);
    prompt_free(f->prompt);
    mem_free(f->choices);
    mem_free(f);
}

const Options *form_options(const Form *f) {
    return f->options;
}

static const Option *row_at(const Form *f) {
    return options_row(f->options, f->at);
}

void form_move(Form *f, int rows) {
    int most = options_count(f->options) - 1;
    f->at += rows;
    if (f->at > most) f->at = most;
    if (f->at < 0) f->at = 0;
    f->problem = status_ok();
}

bool form_find(Form *f, const char *text) {
    int n = options_count(f->options);
    for (int i = 1; i <= n; i++) {
        const Option *row = options_row(f->options, (f->at + i) % n);
        if (!reading_holds(row->name, text) && !reading_holds(_(row->help), text)) continue;
        f->at = (f->at + i) % n;
        return true;
    }
    return false;
}

/* Changing. */

Status form_set(Form *f, const char *name, const char *value) {
    Status s = options_set(f->options, name, value);
    f->problem = s;
    if (status_is_ok(&s)) follow(f);
    return s;
}

/* What the row under the cursor is now: its value, or what it comes to where that could be its value, or "". */
static const char *value_now(const Form *f) {
    const char *name = row_at(f)->name, *follows = f->follow[f->at];
    if (!follows) return options_value(f->options, name);
    Options *trial = options_copy(f->options);
    Status s = options_set(trial, name, follows);
    options_free(trial);
    return status_is_ok(&s) && row_at(f)->type != OPTION_TEXT ? follows : "";
}

/* Takes VALUE over for the row under the cursor. VALUE may be one of what follows. */
static void take(Form *f, const char *value) {
    char *copy = mem_text(value);
    Status s = form_set(f, row_at(f)->name, copy);
    (void)s; /* it is the problem now */
    mem_free(copy);
}

static void cut_choices(Form *f, const Option *row) {
    mem_free(f->choices);
    f->choices = mem_text(row->choices);
    f->choice_count = 0;
    if (!f->choices) return;
    char *rest = f->choices;
    for (char *word; (word = strtok_r(rest, "|", &rest)) && f->choice_count < CHOICES_MOST;)
        f->choice[f->choice_count++] = word;
}

static int complete(void *user, const char *line, size_t cursor, const char *const **items, size_t *from) {
    Form *f = user;
    *from = 0;
    for (size_t i = 0; i < cursor; i++) {
        if (line[i] == ',') *from = i + 1;
    }
    *items = f->choice;
    return f->choice_count;
}

static void next_choice(Form *f) {
    const char *now = value_now(f);
    int at = 0;
    while (at < f->choice_count && strcmp(f->choice[at], now)) at++;
    bool known = at < f->choice_count;
    if (f->choice_count > 0) take(f, f->choice[known ? (at + 1) % f->choice_count : 0]);
}

void form_enter(Form *f) {
    const Option *row = row_at(f);
    cut_choices(f, row);
    if (row->type == OPTION_FLAG) {
        take(f, !strcmp(value_now(f), "1") ? "0" : "1");
    } else if (row->type == OPTION_CHOICE) {
        next_choice(f);
    } else {
        f->typing = true;
        prompt_open(f->prompt, "", value_now(f), f->choice_count > 0 ? complete : NULL, f);
    }
}

/* There is no taking a value back, so all others are given again to a fresh copy. */
void form_reset(Form *f) {
    Options *fresh = options_copy(f->before);
    for (int i = 0; i < options_count(fresh); i++) {
        const char *name = options_row(fresh, i)->name;
        if (i == f->at || !options_is_given(f->options, name)) continue;
        Status s = options_set(fresh, name, options_value(f->options, name));
        BUG_ON(!status_is_ok(&s)); /* it was taken before */
    }
    options_free(f->options);
    f->options = fresh;
    f->problem = status_ok();
    follow(f);
}

bool form_typing(const Form *f) {
    return f->typing;
}

/* Says what is wrong with the text as it stands, without taking it over. */
static void check(Form *f) {
    Options *trial = options_copy(f->options);
    f->problem = options_set(trial, row_at(f)->name, prompt_text(f->prompt));
    options_free(trial);
}

void form_type(Form *f, const Event *e) {
    if (e->kind == EVENT_PASTE) prompt_paste(f->prompt, e->paste);
    PromptState state = e->kind == EVENT_KEY ? prompt_key(f->prompt, e->key) : PROMPT_EDITING;
    if (state == PROMPT_EDITING) {
        check(f);
        return;
    }
    f->typing = false;
    f->problem = status_ok();
    if (state == PROMPT_DONE) {
        take(f, prompt_text(f->prompt));
        f->typing = !status_is_ok(&f->problem);
    }
}

/* Drawing. */

static int name_width(const Form *f, int w) {
    int most = 4;
    for (int i = 0; i < options_count(f->options); i++) {
        int columns = utf8_columns(options_row(f->options, i)->name);
        if (columns > most) most = columns;
    }
    return most < w / 2 ? most : w / 2;
}

static int first_row(const Form *f, int room) {
    int n = options_count(f->options), first = f->at - room / 2;
    if (first > n - room) first = n - room;
    return first > 0 ? first : 0;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the row has another value than when the form was opened. */
static bool changed(const Form *f, const char *name) {
    bool set = options_is_set(f->options, name);
    if (set != options_is_set(f->before, name)) return true;
    return set && !same_text(options_value(f->options, name), options_value(f->before, name));
}

/* Columns of the widest value that follows, with its unit: the words behind them stand in one column. */
static int follow_width(const Form *f) {
    int most = 0;
    for (int i = 0; i < options_count(f->options); i++) {
        const char *unit = options_row(f->options, i)->unit;
        int columns = f->follow[i] ? utf8_columns(f->follow[i]) + (unit && *unit ? 1 + utf8_columns(unit) : 0) : 0;
        if (columns > most) most = columns;
    }
    return most;
}

/* The value with its unit, and a word when it is there only because nobody said otherwise. */
static void draw_value(const Form *f, Canvas *c, Rect r, int i) {
    const Option *row = options_row(f->options, i);
    const char *follows = f->follow[i], *value = follows ? follows : options_value(f->options, row->name);
    bool set = options_is_set(f->options, row->name), given = options_is_given(f->options, row->name);
    StyleRole role = !set ? STYLE_DIM : given ? STYLE_STRONG : STYLE_TEXT;
    int used = canvas_text(c, r.x, r.y, r.w, set || follows ? value : _("not set"), role, CANVAS_ELLIPSIS);
    if ((set || follows) && row->unit && *row->unit)
        used += 1 + canvas_text(c, r.x + used + 1, r.y, r.w - used - 1, row->unit, STYLE_DIM, ATTRIBUTE_NONE);
    if (!follows) return;
    int at = follow_width(f);
    if (at < used) at = used;
    canvas_text(c, r.x + at + 2, r.y, r.w - at - 2, _("follows"), STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_row(const Form *f, Canvas *c, Rect r, int y, int i, int name_w, bool focus) {
    const Option *row = options_row(f->options, i);
    bool here = focus && i == f->at;
    if (here) canvas_text(c, r.x, y, 1, "▸", STYLE_CURSOR, ATTRIBUTE_NONE);
    if (changed(f, row->name)) canvas_text(c, r.x + 1, y, 1, "*", STYLE_GOOD, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 2, y, name_w, row->name, here ? STYLE_STRONG : STYLE_DIM,
                here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    Rect field = {r.x + 3 + name_w, y, r.w - 3 - name_w, 1};
    if (here && f->typing)
        prompt_draw(f->prompt, c, field);
    else
        draw_value(f, c, field, i);
}

/* 1,000,000 rather than 1e+06. */
static Text limit(double x) {
    Text t;
    bool whole = fabs(x) < 1e16 && x == floor(x);
    if (whole) return format_count((long long)x);
    snprintf(t.s, sizeof t.s, "%g", x);
    return t;
}

static void allowed(const Option *row, char *out, size_t bytes) {
    out[0] = '\0';
    if (row->choices)
        snprintf(out, bytes, "  (%s)", row->choices);
    else if (row->min != 0 || row->max != 0)
        snprintf(out, bytes, "  (%s … %s)", limit(row->min).s, limit(row->max).s);
}

static void draw_help(const Form *f, Canvas *c, Rect r) {
    if (!status_is_ok(&f->problem)) {
        draw_paragraph(c, r, f->problem.text, STYLE_ERROR);
        return;
    }
    char range[200], text[600];
    const Option *row = row_at(f);
    allowed(row, range, sizeof range);
    snprintf(text, sizeof text, "%s%s", _(row->help), range);
    draw_paragraph(c, r, text, STYLE_DIM);
}

static int judge_rows(const Form *f, Rect r) {
    return f->judge && r.h >= JUDGE_LEAST_H ? JUDGE_ROWS : 0;
}

/* What stands below the rows. */
static int foot_rows(const Form *f, Rect r) {
    return judge_rows(f, r) + (r.h >= 8 ? HELP_ROWS : r.h >= 4 ? 1 : 0);
}

void form_draw(const Form *f, Canvas *c, Rect r, bool focus) {
    int foot = foot_rows(f, r), judged = judge_rows(f, r), room = r.h - foot, name_w = name_width(f, r.w),
        first = first_row(f, room);
    for (int i = 0; i < room && first + i < options_count(f->options); i++)
        draw_row(f, c, r, r.y + i, first + i, name_w, focus);
    if (judged > 0) draw_paragraph(c, (Rect){r.x, r.y + room, r.w, judged}, f->judgement.s, f->judgement_role);
    if (foot > judged) draw_help(f, c, (Rect){r.x, r.y + room + judged, r.w, foot - judged});
}

void form_hidden(const Form *f, Rect r, int *above, int *below) {
    int room = r.h - foot_rows(f, r), n = options_count(f->options);
    *above = first_row(f, room);
    *below = n - *above - room > 0 ? n - *above - room : 0;
}

bool form_click(Form *f, Rect r, int x, int y) {
    int room = r.h - foot_rows(f, r), row = first_row(f, room) + y - r.y;
    if (x < r.x || y < r.y || x >= r.x + r.w || y >= r.y + room || row >= options_count(f->options)) return false;
    form_move(f, row - f->at);
    return true;
}

static void add_value(Str *out, const char *value) {
    if (!value[strcspn(value, " \t\"\\")] && *value) {
        str_add(out, value);
        return;
    }
    str_add_char(out, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') str_add_char(out, '\\');
        str_add_char(out, *value);
    }
    str_add_char(out, '"');
}

static void add_pair(const Form *f, const char *name, Str *out) {
    if (out->len) str_add_char(out, ' ');
    str_addf(out, "%s=", name);
    if (options_is_set(f->options, name)) add_value(out, options_value(f->options, name));
}

void form_line(const Form *f, Str *out) {
    for (int i = 0; i < options_count(f->options); i++) {
        const char *name = options_row(f->options, i)->name;
        if (options_is_given(f->options, name)) add_pair(f, name, out);
    }
}

void form_changes(const Form *f, Str *out) {
    for (int i = 0; i < options_count(f->options); i++) {
        const char *name = options_row(f->options, i)->name;
        if (changed(f, name)) add_pair(f, name, out);
    }
}
