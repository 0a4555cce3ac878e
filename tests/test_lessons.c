/* Every lesson is gone through from its first page to its last as somebody would who answers all questions, and back:
 * no line is refused, every claim holds, every number that is asked for is there; and the lessons of other languages
 * are those, in other words. test_lessons [LANGUAGE/NAME]   that one alone, with what it saw */
#include "expect.h"

#include "app.h"
#include "file.h"
#include "lab.h"
#include "lesson.h"
#include "mem.h"
#include "pane.h"
#include "worker.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *only;

typedef struct {
    App *app;
    Worker *worker;
    Canvas *canvas;
} Stage;

static Stage stage_open(int w, int h) {
    Options *o = lab_options();
    assert_ok(options_set_pair(o, "start=pause"));
    Stage s = {.worker = worker_new(lab_new(o), WORKER_INLINE), .canvas = canvas_new(w, h, GLYPHS_HALF)};
    s.app = app_new(s.worker, GLYPHS_HALF, DEPTH_256);
    return s;
}

/* Until nobody has anything to do, drawn as a screen would. */
static void settle(Stage *s) {
    for (bool busy = true; busy;) {
        app_draw(s->app, s->canvas);
        bool news = app_tick(s->app);
        bool worked = worker_pump(s->worker);
        busy = news || worked;
    }
    assert_true(app_wait_jobs(s->app, 300));
    (void)app_tick(s->app);
    app_draw(s->app, s->canvas);
}

static void stage_close(Stage *s) {
    app_free(s->app);
    worker_free(s->worker);
    canvas_free(s->canvas);
}

static void carry_out(Stage *s, const char *where, const char *line) {
    Status status = app_command(s->app, line);
    if (!status_is_ok(&status)) fail_msg("%s: %s: %s", where, line, status.text);
    settle(s);
}

/* A line of a page that was refused is said at the bottom. */
static void expect_no_refusal(const Stage *s, const char *where) {
    const SnapshotFacts *f = snapshot_facts(app_snapshot(s->app));
    if (f->message_level == 2 && f->message[0]) fail_msg("%s: %s", where, f->message);
    if (strstr(app_message(s->app), "there is no") || strstr(app_message(s->app), "did you mean"))
        fail_msg("%s: %s", where, app_message(s->app));
}

static void expect_claims(const Stage *s, const LessonPage *p, const char *where) {
    for (int i = 0; i < p->claims; i++) {
        const LessonClaim *c = &p->claim[i];
        double x = lesson_cell_of(&c->cell, app_snapshot(s->app));
        if (only) printf("%s: line %d: %s.%s is %g\n", where, c->line, c->cell.table, c->cell.column, x);
        if (!lesson_claim_holds(c, app_snapshot(s->app)))
            fail_msg("%s: line %d: %s.%s is %g, not %c %g", where, c->line, c->cell.table, c->cell.column, x,
                     c->relation, c->number);
    }
}

/* A page shows whole before it is answered: text, question and all there is to choose from. */
static void expect_in_sight(const Stage *s, const Lesson *l, int page, const char *where) {
    char foot[40];
    Str text;
    str_init(&text);
    canvas_dump(s->canvas, false, &text);
    snprintf(foot, sizeof foot, "%d/%d  ↓", page + 1, l->pages);
    if (strstr(text.s, foot)) fail_msg("%s does not show whole:\n%s", where, text.s);
    str_done(&text);
}

static void answer(Stage *s, const LessonPage *p, const char *where) {
    char line[64];
    if (p->choices > 0)
        snprintf(line, sizeof line, "answer %d", p->right + 1);
    else
        snprintf(line, sizeof line, "answer 1");
    carry_out(s, where, line);
    expect_no_refusal(s, where);
    if (p->choices > 0) return;
    double right = lesson_number_of(p, app_snapshot(s->app));
    if (isnan(right)) fail_msg("%s: %s.%s is not there when it is asked for", where, p->cell.table, p->cell.column);
    if (only) printf("%s: the answer is %g\n", where, right);
}

static void go_through(const char *path, int w, int h) {
    Lesson *l;
    Status read = lesson_read(path, &l);
    if (!status_is_ok(&read)) fail_msg("%s", read.text);
    Stage s = stage_open(w, h);
    settle(&s);
    char line[600], where[700];
    for (int i = 0; i < l->pages; i++) {
        snprintf(where, sizeof where, "%s, page %d (%s), %dx%d", path, i + 1, l->page[i].title, w, h);
        snprintf(line, sizeof line, "page %d", i + 1);
        if (i == 0) snprintf(line, sizeof line, "lesson \"%s\" 1", path);
        carry_out(&s, where, line);
        expect_no_refusal(&s, where);
        expect_in_sight(&s, l, i, where);
        if (l->page[i].question) answer(&s, &l->page[i], where);
        expect_claims(&s, &l->page[i], where);
    }
    for (int i = l->pages - 1; i > 0; i--) { /* and back: what a page shows does not rest on the one before */
        snprintf(where, sizeof where, "%s, back on page %d (%s), %dx%d", path, i + 1, l->page[i].title, w, h);
        snprintf(line, sizeof line, "page %d", i + 1);
        carry_out(&s, where, line);
        expect_no_refusal(&s, where);
        expect_claims(&s, &l->page[i], where);
    }
    stage_close(&s);
    lesson_free(l);
}

/* Calls each with the path of every lesson of LANGUAGE; returns how many there are. */
static int each_lesson(const char *language, void (*each)(const char *path, const char *name)) {
    char folder[400], path[700];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/lessons/%s", getenv("LANTERN_ASSETS"), language);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const char *end = strstr(e->d_name, ".lesson");
        snprintf(path, sizeof path, "%s/%s", language, e->d_name);
        if (!end || end[7] || (only && strncmp(path, only, strlen(only)) != 0)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        each(path, e->d_name);
        n++;
    }
    closedir(d);
    return n;
}

static void on_a_small_screen(const char *path, const char *name) {
    (void)name;
    go_through(path, 80, 24);
}

static void lessons_hold(void **state) {
    (void)state;
    if (!getenv("LANTERN_ASSETS")) skip();
    int n = each_lesson("en", on_a_small_screen);
    if (only) n += each_lesson("zh_CN", on_a_small_screen);
    assert_true(n >= 1);
}

/* What a page says holds for whoever comes to it straight away, from another run. */
static void a_page_by_its_number_holds(void **state) {
    (void)state;
    if (!getenv("LANTERN_ASSETS") || only) skip();
    enum { PAGE = 9 };
    Lesson *l;
    assert_ok(lesson_read("first", &l));
    Stage s = stage_open(80, 24);
    settle(&s);
    carry_out(&s, "first", "lesson first 9");
    carry_out(&s, "first", "answer 3");
    assert_true(l->page[PAGE - 1].claims > 0);
    expect_claims(&s, &l->page[PAGE - 1], "first, page 9 straight away");
    stage_close(&s);
    lesson_free(l);
}

/* ---- languages ---- */

static bool same_cell(const LessonCell *a, const LessonCell *b) {
    bool same = a->keys == b->keys && a->indices == b->indices && !a->table == !b->table;
    if (!same || !a->table) return same;
    same = !strcmp(a->table, b->table) && !strcmp(a->column, b->column);
    for (int i = 0; i < a->keys && same; i++) same = !strcmp(a->key[i], b->key[i]) && !strcmp(a->value[i], b->value[i]);
    for (int i = 0; i < a->indices && same; i++) same = a->index[i] == b->index[i];
    return same;
}

static const char *or_nothing(const char *text) {
    return text ? text : "";
}

static void is_like_the_english_one(const char *path, const char *name) {
    char english[700];
    Lesson *here, *there;
    snprintf(english, sizeof english, "%s/lessons/en/%s", getenv("LANTERN_ASSETS"), name);
    assert_ok(lesson_read(path, &here));
    assert_ok(lesson_read(english, &there));
    assert_int_equal(here->pages, there->pages);
    for (int i = 0; i < here->pages; i++) {
        const LessonPage *a = &here->page[i], *b = &there->page[i];
        bool same = !strcmp(or_nothing(a->commands), or_nothing(b->commands)) &&
                    !strcmp(or_nothing(a->reveal), or_nothing(b->reveal)) && !a->question == !b->question &&
                    a->choices == b->choices && a->right == b->right && same_cell(&a->cell, &b->cell) &&
                    (a->number == b->number || (isnan(a->number) && isnan(b->number))) &&
                    a->tolerance == b->tolerance && a->relative == b->relative && !a->explains == !b->explains &&
                    !strcmp(a->source, b->source);
        if (!same) fail_msg("%s, page %d is another one than in English", path, i + 1);
    }
    lesson_free(here);
    lesson_free(there);
}

static void languages_ask_the_same(void **state) {
    (void)state;
    if (!getenv("LANTERN_ASSETS")) skip();
    only = NULL;
    assert_int_equal(each_lesson("zh_CN", is_like_the_english_one), each_lesson("en", is_like_the_english_one));
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lessons_hold),
        cmocka_unit_test(a_page_by_its_number_holds),
        cmocka_unit_test(languages_ask_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
