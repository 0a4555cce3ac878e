/* pane lesson: lessons that lead through what the other panes show, page by page, with questions that are answered
 * before the screen does. A page asks for command lines, which the application carries out. */
#include "file.h"
#include "intl.h"
#include "lesson_view.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- pages ---- */

static void lesson_done(void *state) {
    LessonState *s = state;
    lesson_titles_free(s->title, s->titles);
    lesson_free(s->lesson);
    mem_free(s->answer);
    mem_free(s->lines);
}

static void list(LessonState *s) {
    if (!s->listed) s->titles = lesson_titles(&s->title);
    s->listed = true;
}

static void leave(LessonState *s) {
    lesson_free(s->lesson);
    mem_free(s->answer);
    s->lesson = NULL;
    s->answer = NULL;
    s->typing = false;
    list(s);
}

static void show_page(LessonState *s, int page) {
    s->page = page;
    s->scroll = 0;
    s->choice = -1;
    s->typing = false;
    s->typed[0] = '\0';
    s->begins = false;
}

/* What a typed number is held against is what the run said then, whatever it says later. */
static void settle(const LessonState *s, const Snapshot *seen) {
    LessonAnswer *a = &s->answer[s->page];
    const LessonPage *p = lesson_page(s);
    if (a->given && p->choices == 0 && isnan(a->right)) a->right = lesson_number_of(p, seen);
}

/* What sets the screen for the page; when it was answered it shows the answer. */
static const char *lines_of(const LessonState *s) {
    const LessonPage *p = lesson_page(s);
    return s->answer[s->page].given ? p->both : p->commands;
}

/* Those lines of the first page that make the run which all pages speak of. */
static void add_beginning(const Lesson *l, Str *out) {
    for (const char *line = l->page[0].commands, *end; line && (end = strchr(line, '\n')); line = end + 1)
        if (!strncmp(line, "restart", strlen("restart"))) str_add_n(out, line, (size_t)(end + 1 - line));
}

/* What sets run and screen for a page that was opened by its number, or the screen alone. */
static const char *lines_to_set(LessonState *s) {
    if (!s->begins || s->page == 0) return lines_of(s);
    Str lines;
    str_init(&lines);
    add_beginning(s->lesson, &lines);
    str_add(&lines, lines_of(s) ? lines_of(s) : "");
    mem_free(s->lines);
    s->lines = str_take(&lines);
    return s->lines;
}

/* ... and the screen is set for it. */
static void go_to(PaneCall *call, int page) {
    LessonState *s = call->state;
    settle(s, call->snapshot);
    show_page(s, page);
    call->lines = lines_of(s);
}

/* Shows the first page; PAGE is to be there, else what was open stays. */
static Status open_lesson(LessonState *s, const char *name, long long page) {
    Lesson *l;
    STATUS_TRY(lesson_read(name, &l));
    if (page > l->pages) {
        Status refused = status_usage(_("the pages are 1 to %d"), l->pages);
        lesson_free(l);
        return refused;
    }
    leave(s);
    s->lesson = l;
    s->answer = MEM_ARRAY(LessonAnswer, (size_t)l->pages);
    for (int i = 0; i < s->titles; i++)
        if (!strcmp(s->title[i].name, name)) s->at = i;
    show_page(s, 0);
    return status_ok();
}

/* ---- answers ---- */

enum { TO_THE_END = 1 << 20 };

static void give(PaneCall *call, LessonAnswer answer) {
    LessonState *s = call->state;
    answer.given = true;
    answer.right = (double)NAN;
    s->answer[s->page] = answer;
    s->typing = false;
    s->scroll = TO_THE_END; /* what is said then stands below */
    call->lines = lesson_page(s)->reveal;
    if (!call->lines) settle(s, call->snapshot);
}

/* Commas between groups of three digits, as the screen writes thousands, go; one that is alone is a decimal point. */
static void read_commas(char *text) {
    bool thousands = *text >= '1' && *text <= '9' && strspn(text, "0123456789") <= 3;
    for (const char *c = strchr(text, ','); c; c = strchr(c + 1, ','))
        thousands = thousands && strspn(c + 1, "0123456789") == 3;
    char *to = text, *comma = strchr(text, ',');
    if (!thousands && comma && !strchr(comma + 1, ',')) *comma = '.';
    for (const char *from = text; thousands && (*to = *from); from++) to += *from != ',';
}

/* A number as somebody writes it: 0.18, 0,18, 18%, 3/16 or 1,024. */
static bool read_typed(const char *typed, double *number) {
    char text[sizeof((LessonState *)0)->typed];
    double above, below = 1;
    snprintf(text, sizeof text, "%s", typed);
    size_t n = strlen(text);
    bool percent = n > 0 && text[n - 1] == '%';
    if (percent) text[n - 1] = '\0';
    read_commas(text);
    char *bar = strchr(text, '/');
    if (bar) *bar = '\0';
    if (!str_to_double(text, &above) || (bar && !str_to_double(bar + 1, &below))) return false;
    *number = above / below / (percent ? 100 : 1);
    return isfinite(*number);
}

static bool give_typed(PaneCall *call) {
    double number;
    bool good = read_typed(((const LessonState *)call->state)->typed, &number);
    if (good) give(call, (LessonAnswer){.choice = -1, .number = number});
    return good;
}

/* ---- keys ---- */

static int clamped(int x, int least, int most) {
    return x < least || most < least ? least : x > most ? most : x;
}

static void move_up_down(PaneCall *call, int by) {
    LessonState *s = call->state;
    const LessonPage *p = lesson_page(s);
    if (!p) {
        s->at = clamped(s->at + by, 0, s->titles - 1);
        return;
    }
    bool chooses = lesson_waits(s) && p->choices > 0;
    if (chooses) s->choice = clamped(s->choice < 0 && by < 0 ? p->choices + by : s->choice + by, 0, p->choices - 1);
    s->scroll = lesson_scrolled(s, call->snapshot, call->w, call->h, chooses ? 0 : by);
}

static void lesson_move(PaneCall *call, Move move, int times) {
    LessonState *s = call->state;
    if (move == MOVE_UP || move == MOVE_DOWN) {
        move_up_down(call, move == MOVE_UP ? -times : times);
        return;
    }
    if (!s->lesson) {
        if (move == MOVE_FIRST || move == MOVE_LAST) s->at = move == MOVE_FIRST || s->titles == 0 ? 0 : s->titles - 1;
        return;
    }
    int last = s->lesson->pages - 1, to = s->page;
    if (move == MOVE_LEFT || move == MOVE_PAGE_UP) to -= times;
    if (move == MOVE_RIGHT || move == MOVE_PAGE_DOWN) to += times;
    if (move == MOVE_FIRST) to = 0;
    if (move == MOVE_LAST) to = last;
    to = clamped(to, 0, last);
    if (to != s->page) go_to(call, to);
}

static void enter_page(PaneCall *call) {
    LessonState *s = call->state;
    const LessonPage *p = lesson_page(s);
    bool waits = lesson_waits(s);
    if (waits && p->choices == 0) {
        s->typing = true;
        s->typed[0] = '\0';
        s->scroll = TO_THE_END;
    } else if (waits && s->choice >= 0) {
        give(call, (LessonAnswer){.choice = s->choice});
    } else if (!waits && s->page + 1 < s->lesson->pages) {
        go_to(call, s->page + 1);
    }
}

static bool lesson_enter(PaneCall *call) {
    LessonState *s = call->state;
    if (s->lesson)
        enter_page(call);
    else if (s->at < s->titles)
        snprintf(call->command, sizeof call->command, "lesson %s 1", s->title[s->at].name);
    return true;
}

static bool lesson_escape(PaneCall *call) {
    LessonState *s = call->state;
    bool there = s->lesson != NULL;
    if (there) leave(s);
    return there;
}

static void lesson_click(PaneCall *call, const Canvas *like, int x, int y) {
    LessonState *s = call->state;
    (void)x;
    int row = lesson_row_at(s, call->snapshot, call->detail, like, y);
    if (row < 0) return;
    if (!s->lesson)
        s->at = row;
    else if (lesson_waits(s))
        s->choice = row;
}

static bool lesson_typing(const void *state) {
    return ((const LessonState *)state)->typing;
}

static void type_key(PaneCall *call, Key k) {
    LessonState *s = call->state;
    size_t n = strlen(s->typed);
    if (k == KEYCODE_ENTER && n > 0)
        snprintf(call->command, sizeof call->command, "answer %s", s->typed);
    else if (k == KEYCODE_ESCAPE)
        s->typing = false;
    else if (k == KEYCODE_BACKSPACE && n > 0)
        s->typed[n - 1] = '\0';
    else if (k < 0x80 && strchr("0123456789.,-+eE%/", (int)k) && k && n + 1 < sizeof s->typed)
        s->typed[n] = (char)k, s->typed[n + 1] = '\0';
}

static void lesson_type(PaneCall *call, const Event *e) {
    if (e->kind == EVENT_KEY) type_key(call, e->key);
    for (const char *c = e->kind == EVENT_PASTE ? e->paste : ""; *c; c++)
        if ((unsigned char)*c > ' ' && (unsigned char)*c < 0x80) type_key(call, (Key)*c);
}

/* The run has done what the answer asked for. */
static void lesson_look(void *state, const Snapshot *seen) {
    LessonState *s = state;
    if (s->lesson) settle(s, seen);
}

/* ---- commands ---- */

/* Opens a lesson at a page, from 1: the screen is set for it. */
static Status run_lesson(void *owner, const Words *words) {
    PaneCall *call = owner;
    LessonState *s = call->state;
    long long page = 1;
    list(s);
    if (words->count == 1) return status_ok();
    if (words->count > 2 && (!str_to_long(words->word[2], &page) || page < 1))
        return status_usage(_("a page is a number from 1, not '%s'"), words->word[2]);
    STATUS_TRY(open_lesson(s, words->word[1], page));
    show_page(s, (int)page - 1);
    s->begins = true;
    call->lines = lines_to_set(s);
    return status_ok();
}

static Status run_page(void *owner, const Words *words) {
    PaneCall *call = owner;
    LessonState *s = call->state;
    const char *word = words->word[1];
    long long page;
    if (!s->lesson) return status_usage(_("no lesson is open; ':lesson NAME' opens one"));
    if (!strcmp(word, "next"))
        page = s->page + 2;
    else if (!strcmp(word, "previous"))
        page = s->page;
    else if (!str_to_long(word, &page))
        return status_usage(_("a page is next, previous or a number, not '%s'"), word);
    if (page < 1 || page > s->lesson->pages) return status_usage(_("the pages are 1 to %d"), s->lesson->pages);
    go_to(call, (int)page - 1);
    return status_ok();
}

static Status run_again(void *owner, const Words *words) {
    PaneCall *call = owner;
    (void)words;
    if (!lesson_page(call->state)) return status_usage(_("no lesson is open; ':lesson NAME' opens one"));
    LessonState *s = call->state;
    call->lines = lines_to_set(s);
    s->begins = false;
    return status_ok();
}

/* The number of a choice, from 1, or a number that was asked for. */
static Status run_answer(void *owner, const Words *words) {
    PaneCall *call = owner;
    LessonState *s = call->state;
    if (!lesson_waits(s)) return status_usage(_("nothing is asked here"));
    const LessonPage *p = lesson_page(s);
    if (strlen(words->word[1]) >= sizeof s->typed) return status_usage(_("'%s' is no number"), words->word[1]);
    snprintf(s->typed, sizeof s->typed, "%s", words->word[1]);
    long long choice;
    if (p->choices == 0) return give_typed(call) ? status_ok() : status_usage(_("'%s' is no number"), words->word[1]);
    if (!str_to_long(words->word[1], &choice) || choice < 1 || choice > p->choices)
        return status_usage(_("an answer is a number from 1 to %d"), p->choices);
    give(call, (LessonAnswer){.choice = (int)choice - 1});
    return status_ok();
}

/* ---- the pane ---- */

static void lesson_draw_pane(const PaneContext *x, Canvas *c) {
    const LessonState *s = x->state;
    if (!s->lesson && s->titles == 0)
        pane_draw_empty(&pane_lesson, c);
    else
        lesson_draw(s, x->snapshot, x->detail, c);
}

static void lesson_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const LessonState *s = x->state;
    snprintf(out, bytes, "%s", s->lesson ? s->lesson->title : _("the list"));
}

static const char *lesson_text_of(const LessonPage *p, const LessonAnswer *a) {
    return a->given && p->choices > 0 ? p->choice[a->choice] : "";
}

/* A row for each question. */
static int lesson_tables(const PaneContext *x, Table **out) {
    static const Column columns[] = {{"page", COLUMN_INT, ""},    {"question", COLUMN_TEXT, ""},
                                     {"answer", COLUMN_TEXT, ""}, {"number", COLUMN_DOUBLE, ""},
                                     {"right", COLUMN_TEXT, ""},  {"right_number", COLUMN_DOUBLE, ""},
                                     {"correct", COLUMN_INT, ""}, {0}};
    const LessonState *s = x->state;
    if (!s->lesson) return 0;
    Table *t = out[0] = table_new("answers", columns);
    for (int i = 0; i < s->lesson->pages; i++) {
        const LessonPage *p = &s->lesson->page[i];
        const LessonAnswer *a = &s->answer[i];
        if (!p->question) continue;
        bool typed = a->given && p->choices == 0, now = typed && i == s->page && isnan(a->right);
        double right = now ? lesson_number_of(p, x->snapshot) : typed ? a->right : (double)NAN;
        table_add_int(t, i + 1);
        table_add_text(t, p->question);
        table_add_text(t, lesson_text_of(p, a));
        table_add_known(t, typed ? a->number : (double)NAN);
        table_add_text(t, p->choices > 0 ? p->choice[p->right] : "");
        table_add_known(t, right);
        if (!a->given || (p->choices == 0 && isnan(right)))
            table_add_empty(t);
        else
            table_add_int(t, p->choices > 0 ? a->choice == p->right : lesson_is_near(p, a->number, right));
    }
    return 1;
}

/* Where it was; the screen's own lines set what stands beside it. */
static void lesson_save(const void *state, Str *out) {
    const LessonState *s = state;
    if (!s->lesson) return;
    Str name;
    str_init(&name);
    if (lesson_is_path(s->lesson->name))
        file_add_whole_path(s->lesson->name, &name);
    else
        str_add(&name, s->lesson->name);
    str_addf(out, "turn %d ", s->page + 1);
    command_add_quoted(out, name.s);
    str_add(out, "\n");
    str_done(&name);
}

static Status run_turn(void *owner, const Words *words) {
    LessonState *s = ((PaneCall *)owner)->state;
    long long page;
    list(s);
    if (words->count == 2 && !s->lesson) return status_usage(_("no lesson is open; ':lesson NAME' opens one"));
    if (!str_to_long(words->word[1], &page) || page < 1 || (words->count == 2 && page > s->lesson->pages))
        return s->lesson ? status_usage(_("the pages are 1 to %d"), s->lesson->pages)
                         : status_usage(_("a page is a number from 1, not '%s'"), words->word[1]);
    if (words->count > 2) STATUS_TRY(open_lesson(s, words->word[2], page));
    show_page(s, (int)page - 1);
    return status_ok();
}

static bool lesson_offers(const PaneContext *x, const char *line) {
    const LessonState *s = x->state;
    if (!strcmp(line, "again")) return s->lesson && lines_of(s);
    if (!strcmp(line, "page")) return s->lesson;
    return true;
}

static const KeyRow lesson_keys[] = {
    {"r", "again", N_("set again"), N_("set the screen for this page again")},
    {NULL, NULL, NULL, NULL},
};

static const Command lesson_commands[] = {
    {"lesson", "[NAME|FILE [PAGE]]", N_("open a lesson at its first page or another: run and screen are set for it"), 0,
     2, run_lesson},
    {"page", "next|previous|NUMBER", N_("go to a page of the lesson"), 1, 1, run_page},
    {"again", "", N_("set the screen for this page again"), 0, 0, run_again},
    {"turn", "NUMBER [NAME|FILE]", N_("turn to a page and leave the screen as it is"), 1, 2, run_turn},
    {"answer", "NUMBER", N_("answer the question of the page: the number of a choice, or the number asked for"), 1, 1,
     run_answer},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_lesson = {
    .name = "lesson",
    .title = N_("lesson"),
    .about =
        N_("Lessons lead through what the other panes show. Left and right turn the pages; each sets the screen for "
           "what it speaks of. Questions come first: choose with up and down, or type a number, and enter answers; "
           "then the run does. L opens and leaves the lessons."),
    .empty = N_("L lists the lessons: texts that lead through what the other panes show."),
    .watch = "",
    .min_w = 30,
    .min_h = 8,
    .weight = 5,
    .rank = 0,
    .aside = "L",
    .state_size = sizeof(LessonState),
    .done = lesson_done,
    .draw = lesson_draw_pane,
    .move = lesson_move,
    .enter = lesson_enter,
    .escape = lesson_escape,
    .click = lesson_click,
    .typing = lesson_typing,
    .type = lesson_type,
    .keys = lesson_keys,
    .commands = lesson_commands,
    .offers = lesson_offers,
    .look = lesson_look,
    .tables = lesson_tables,
    .save = lesson_save,
    .subtitle = lesson_subtitle,
};
