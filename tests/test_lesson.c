/* Lessons: what a file may say and what is refused, numbers of the run, and the pane: pages, questions, answers. */
#include "expect.h"

#include "lesson.h"
#include "lesson_file.h"
#include "pane.h"
#include "screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Lesson *lesson_of(const char *text) {
    Lesson *l;
    write_lesson(text);
    assert_ok(lesson_read(path, &l));
    return l;
}

static const char sample[] = "# of a test\n"
                             "title Where it looks\n"
                             "== The sentence | L3 2.1\n"
                             ": wall lesson attention\n"
                             ":cursor query=5 key=2\n"
                             "\n"
                             "One line\n"
                             "and another.\n"
                             "\n"
                             "A second paragraph.\n"
                             "== A choice\n"
                             "? Which word decides?\n"
                             "- the nearest noun\n"
                             "+ the subject\n"
                             ": pane attention\n"
                             "> It was\n"
                             "> the subject.\n"
                             "@ next.model_p token=chase > 0.1\n"
                             "@ next.model_p token=chase < 2\n"
                             "== A number\n"
                             "? How likely is \"chase\"?\n"
                             "= next.model_p token=chase ~ 0.05\n"
                             "== One that is known\n"
                             "? How many heads?\n"
                             "= 8 ~ 10%\n";

static void a_file_is_read(void **state) {
    (void)state;
    Lesson *l = lesson_of(sample);
    assert_string_equal(l->title, "Where it looks");
    assert_int_equal(l->pages, 4);
    const LessonPage *p = l->page;
    assert_string_equal(p[0].title, "The sentence");
    assert_string_equal(p[0].source, "L3 2.1");
    assert_string_equal(p[0].text, "One line and another.\nA second paragraph.");
    assert_string_equal(p[0].commands, "wall lesson attention\ncursor query=5 key=2\n");
    assert_null(p[0].question);
    assert_int_equal(p[1].choices, 2);
    assert_int_equal(p[1].right, 1);
    assert_string_equal(p[1].choice[0], "the nearest noun");
    assert_string_equal(p[1].reveal, "pane attention\n");
    assert_string_equal(p[1].explains, "It was the subject.");
    assert_int_equal(p[1].claims, 2);
    assert_int_equal(p[1].claim[1].line, 19);
    assert_string_equal(p[2].cell.table, "next");
    assert_string_equal(p[2].cell.column, "model_p");
    assert_string_equal(p[2].cell.value[0], "chase");
    assert_true(p[2].tolerance == 0.05 && !p[2].relative);
    assert_true(p[3].number == 8 && p[3].tolerance == 0.1 && p[3].relative);
    lesson_free(l);
    l = lesson_of("title 文\n== 页\n第一行\n第二行\nand more\n");
    assert_string_equal(l->page[0].text, "第一行第二行 and more");
    lesson_free(l);
}

static void what_is_wrong_has_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"== A page\n", "line 1: a lesson begins with its title"},
        {"title T\ntext\n", "line 2: a page begins with =="},
        {"title T\n", "has no pages"},
        {"title T\ntitle U\n== P\n", "line 2: a lesson has one title"},
        {"", "has no pages"},
        {"title T\n== P\n? Q\n", "the question “Q” has no answer"},
        {"title T\n== P\n? Q\n- a\n- b\n", "has no right answer"},
        {"title T\n== P\n? Q\n+ a\n", "has no right answer among others"},
        {"title T\n== P\n? Q\n- a\n+ b\n+ c\n", "line 6: two answers are right"},
        {"title T\n== P\n? Q\n- a\n= 3\n", "line 5: a question has one answer"},
        {"title T\n== P\n? Q\n= 3\n- a\n", "line 5: a question has one answer"},
        {"title T\n== P\n? Q\n= 3\n= 4\n", "line 5: a question has one answer"},
        {"title T\n== P\n? Q\n= 3\n? R\n", "line 5: a page has one question"},
        {"title T\n== P\n? Q\n= three\n", "line 4: 'three' is no TABLE.COLUMN"},
        {"title T\n== P\n? Q\n= next.model_p cat\n", "line 4: 'cat' is no COLUMN=VALUE"},
        {"title T\n== P\n? Q\n= 3 ~ much\n", "line 4: 'much' is no tolerance"},
        {"title T\n== P\n? Q\n= 3 ~ -1\n", "line 4: '-1' is no tolerance"},
        {"title T\n== P\n? Q\n= 3\ntext\n", "line 5: 'text': after a question"},
        {"title T\n== P\n@ next.model_p 3\n", "line 3: a claim is"},
        {"title T\n== P\n? Q\n- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n+ 7\n", "line 10: more than 6 answers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Lesson *l = NULL;
        write_lesson(bad[i].text);
        Status s = lesson_read(path, &l);
        if (status_is_ok(&s) || !strstr(s.text, bad[i].says)) fail_msg("'%s' does not say '%s'", s.text, bad[i].says);
        assert_null(l);
    }
    Lesson *l;
    assert_status(lesson_read("no-such", &l), STATUS_USAGE, "there is no lesson 'no-such'");
}

static void numbers_come_from_the_run(void **state) {
    (void)state;
    Lesson *l = lesson_of(
        "title T\n== P\n? Q\n= next.model_p token=chase\n@ next.model_p token=chase > 0\n@ next.model_p token=x > 0\n"
        "@ none.p < 1\n@ next.none < 1\n@ next.model_p = 2\n== R\n? Q\n= 8 ~ 10%\n");
    Snapshot *s = fixture_plain();
    const Table *next = snapshot_table(s, "next");
    int token = table_find(next, "token"), p = table_find(next, "model_p");
    long row = 0;
    while (strcmp(table_text(next, row, token), "chase") != 0) row++;
    assert_true(lesson_number_of(&l->page[0], s) == table_real(next, row, p));
    static const bool holds[] = {true, false, false, false, false};
    for (int i = 0; i < 5; i++) assert_int_equal(lesson_claim_holds(&l->page[0].claim[i], s), holds[i]);
    assert_true(isnan(lesson_cell_of(&l->page[0].claim[1].cell, s)));
    assert_true(lesson_is_near(&l->page[1], 8.8, 8) && lesson_is_near(&l->page[1], 7.2, 8));
    assert_false(lesson_is_near(&l->page[1], 8.81, 8) || lesson_is_near(&l->page[1], 7.19, 8));
    assert_true(lesson_is_near(&l->page[0], 1, 1) && !lesson_is_near(&l->page[0], 1.001, 1));
    lesson_free(l);
    l = lesson_of("title T\n== P\n? Q\n= attention.0.weights 0 5 2\n@ attention.0.weights 0 5 9 < 9\n"
                  "@ attention.0.weights 0 5 < 9\n");
    assert_true(lesson_number_of(&l->page[0], s) ==
                (double)field_at(snapshot_field(s, "attention.0.weights"), 0, 5, 2, 0));
    for (int i = 0; i < 2; i++) assert_false(lesson_claim_holds(&l->page[0].claim[i], s));
    snapshot_unref(s);
    lesson_free(l);
}

/* ---- the pane ---- */

static App *open_sample(void) {
    char line[sizeof path + 16];
    write_lesson(sample);
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, "lesson %s 1", path);
    screen_keys(a, "L");
    assert_ok(app_command(a, line));
    return a;
}

static void pages_are_turned_and_set_the_screen(void **state) {
    (void)state;
    App *a = open_sample();
    screen_expect(a, "▸L lesson ─ Where it looks");
    screen_expect(a, "2 attention");
    screen_refuse(a, "1 train");
    screen_expect(a, "One line and another.");
    screen_expect(a, "1/4");
    screen_expect(a, "L3 2.1");
    screen_keys(a, "<Right>");
    screen_expect(a, "2/4");
    screen_keys(a, "<PageDown>");
    screen_expect(a, "3/4");
    screen_keys(a, "<Home>");
    screen_expect(a, "1/4");
    screen_keys(a, "<Enter><Left>");
    screen_expect(a, "1/4");
    screen_keys(a, ":wall train<Enter>:pane lesson<Enter>");
    screen_refuse(a, "2 attention");
    screen_keys(a, "r"); /* the screen is set again */
    screen_expect(a, "2 attention");
    screen_keys(a, "<Esc>");
    screen_expect(a, "What shall it be?");
    screen_keys(a, "L"); /* as it was before */
    screen_refuse(a, "What shall it be?");
    screen_expect(a, "1 train");
    screen_expect(a, "8 next word");
    screen_keys(a, "8zLL");
    screen_refuse(a, "1 train");
    screen_keys(a, "zL");
    screen_refuse(a, "1 train");
    screen_keys(a, "L");
    screen_expect(a, "1 train");
    screen_keys(a, "z");
    screen_refuse(a, "1 train");
    screen_expect(a, "8 next word");
    app_free(a);
}

/* A clicker has two keys, and they lead through the lesson that is presented. */
static void a_clicker_turns_pages(void **state) {
    (void)state;
    App *a = open_sample();
    screen_keys(a, "p");
    screen_expect(a, "1/4");
    screen_keys(a, "<PageDown><PageDown>");
    screen_expect(a, "3/4");
    screen_keys(a, "<PageUp>");
    screen_expect(a, "2/4");
    screen_keys(a, "<Esc><PageDown>"); /* the list has no pages */
    screen_refuse(a, "What shall it be?");
    app_free(a);
}

static void a_choice_is_answered_before_it_is_told(void **state) {
    (void)state;
    App *a = open_sample();
    screen_keys(a, "<Right>");
    screen_expect(a, "Which word decides?");
    screen_refuse(a, "It was the subject.");
    screen_keys(a, "<Enter>"); /* nothing is chosen */
    screen_refuse(a, "It was the subject.");
    screen_expect(a, "2 attention");
    screen_keys(a, "<Down>");
    screen_expect(a, "▸ the nearest noun");
    screen_keys(a, "<Enter>");
    screen_expect(a, "✗ the nearest noun");
    screen_expect(a, "✓ the subject");
    screen_expect(a, "It was the subject.");
    screen_expect(a, "▸L lesson"); /* whatever the lines of the answer point at */
    screen_keys(a, "<Right><Left>");
    screen_expect(a, "✗ the nearest noun"); /* an answer stays */
    assert_status(app_command(a, "answer 2"), STATUS_USAGE, "nothing is asked here");
    app_free(a);
}

static void a_number_is_typed_and_held_against_the_run(void **state) {
    (void)state;
    App *a = open_sample();
    screen_keys(a, "<Right><Right><Enter>x2<BackSpace>");
    screen_expect(a, "▏");
    screen_keys(a, "5<Enter>");
    screen_expect(a, "✗ you say 5, the run says");
    screen_keys(a, "<Right><Enter>7.5<Enter>");
    screen_expect(a, "✓ you say 7.5, it is 8");
    screen_keys(a, "<Left>");
    screen_expect(a, "✗ you say 5, the run says");
    app_free(a);
    a = open_sample();
    assert_ok(app_command(a, "page 3"));
    assert_status(app_command(a, "answer much"), STATUS_USAGE, "'much' is no number");
    assert_status(app_command(a, "page 5"), STATUS_USAGE, "the pages are 1 to 4");
    assert_ok(app_command(a, "answer 800%"));
    screen_expect(a, "✗ you say 8, the run says");
    app_free(a);
}

static void type_and_expect(const char *typed, const char *said) {
    char keys[64];
    App *a = open_sample();
    snprintf(keys, sizeof keys, "<End><Enter>%s<Enter>", typed);
    screen_keys(a, keys);
    screen_expect(a, said);
    app_free(a);
}

static void numbers_are_typed_as_people_write_them(void **state) {
    (void)state;
    type_and_expect("15/2", "✓ you say 7.5, it is 8");
    type_and_expect("7,5", "✓ you say 7.5, it is 8");
    type_and_expect("750%", "✓ you say 7.5, it is 8");
    type_and_expect("1,024", "✗ you say 1024, it is 8");
    type_and_expect("1,234,000", "✗ you say 1.234e+06, it is 8");
    type_and_expect("0,188", "✗ you say 0.188, it is 8");
    type_and_expect("1,02", "✗ you say 1.02, it is 8");
    type_and_expect("1/0", "'1/0' is no number");
    type_and_expect("1-2", "'1-2' is no number");
    type_and_expect("0,1,2", "'0,1,2' is no number");
    type_and_expect("", "4/4");
}

static void lessons_are_completed_by_name(void **state) {
    (void)state;
    if (!getenv("LANTERN_ASSETS")) skip();
    App *a = screen_new(NULL);
    screen_keys(a, ":lesson fir<Tab>");
    screen_expect(a, ":lesson first");
    screen_keys(a, "<Esc>L");
    screen_expect(a, "L lesson ─ the list");
    screen_keys(a, "?");
    screen_expect(a, "L lesson (this pane)");
    app_free(a);
}

/* In a pane that is too low the choice under the cursor shows, and what was scrolled away comes back row by row. */
static void a_long_page_is_scrolled(void **state) {
    (void)state;
    char line[sizeof path + 64];
    write_lesson("title T\n== Long\nfirst words\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n\nh\n\ni\n\nj\n\nk\n? Which?\n- this\n"
                 "+ that\n> last words\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, ":lesson %s 1<Enter>:pane lesson<Enter>z", path);
    screen_keys(a, line);
    Str text;
    str_init(&text);
    for (int i = 0; i < 4; i++) {
        static const char *const keys[] =
            {"", "<Down><Down>", "<Enter><Down><Down><Down><Down><Down><Down><Down><Down><Down><Down><Down><Down>",
             "<Up><Up><Up><Up><Up><Up><Up><Up><Up><Up><Up><Up>"},
                                 *const shown[] = {"first words", "▸ that", "last words", "first words"},
                                 *const hidden[] = {"▸ that", "first words", "first words", "last words"};
        screen_keys(a, keys[i]);
        str_clear(&text);
        screen_text(a, 80, 24, &text);
        assert_non_null(strstr(text.s, shown[i]));
        assert_null(strstr(text.s, hidden[i]));
        assert_non_null(strstr(text.s, i == 0 || i == 3 ? "1/1  ↓ " : "1/1  ↑ "));
    }
    str_done(&text);
    app_free(a);
}

/* Answers that do not all show: the one under the cursor does, down to the last and up again. */
static void the_answer_under_the_cursor_shows(void **state) {
    (void)state;
    char line[sizeof path + 64];
    write_lesson("title T\n== P\n? Which?\n- one\n- two\n- three\n- four\n- five\n+ six\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, ":lesson %s 1<Enter>:pane lesson<Enter>z", path);
    screen_keys(a, line);
    Str text;
    str_init(&text);
    for (int i = 0; i < 3; i++) {
        static const char *const keys[] = {"<Down>", "<Down><Down><Down><Down><Down>", "<Up><Up><Up><Up><Up>"},
                                 *const shown[] = {"▸ one", "▸ six", "▸ one"}, *const hidden[] = {"six", "one", "six"};
        str_clear(&text);
        screen_text(a, 80, 11, &text);
        screen_keys(a, keys[i]);
        str_clear(&text);
        screen_text(a, 80, 11, &text);
        assert_non_null(strstr(text.s, shown[i]));
        assert_null(strstr(text.s, hidden[i]));
    }
    str_done(&text);
    app_free(a);
}

/* Rows above the first line of a page, and columns before it; STEP: rows to the next line of its paragraph. */
static void place_of_page(App *a, int w, int h, int *row, int *column, int *step) {
    Str text;
    str_init(&text);
    screen_text(a, w, h, &text);
    char *first = strstr(text.s, "One line"), *next = strstr(text.s, "A second");
    assert_true(first && next);
    *row = *step = 0;
    for (char *at = text.s; at < first; at++) *row += *at == '\n';
    for (char *at = first; at < next; at++) *step += *at == '\n';
    while (first > text.s && first[-1] == ' ') first--, ++*column;
    str_done(&text);
}

/* In a wide and high pane a page stands away from the edges; the presenter has air between the lines. */
static void a_page_stands_where_eyes_are(void **state) {
    (void)state;
    App *a = open_sample();
    int row, column = 0, step;
    screen_keys(a, "z");
    place_of_page(a, 80, 24, &row, &column, &step);
    assert_true(row == 4 && column < 2 && step == 2);
    place_of_page(a, 240, 67, &row, &column, &step);
    assert_true(row > 8 && column > 60 && step == 2);
    assert_ok(app_command(a, "present on"));
    place_of_page(a, 80, 24, &row, &column, &step);
    assert_int_equal(step, 4);
    app_free(a);
}

/* Wherever the page stands, a click is on the answer that shows there. */
static void a_click_is_on_what_shows(void **state) {
    (void)state;
    static const struct {
        int w, h;
        const char *line;
    } look[] = {{80, 24, "present off"}, {240, 67, "present off"}, {240, 67, "present on"}};
    for (size_t i = 0; i < sizeof look / sizeof *look; i++) {
        App *a = open_sample();
        screen_keys(a, "z<Right>");
        assert_ok(app_command(a, look[i].line));
        Str text;
        str_init(&text);
        screen_text(a, look[i].w, look[i].h, &text);
        char *answer = strstr(text.s, "the subject");
        assert_non_null(answer);
        int y = 0;
        for (char *at = text.s; at < answer; at++) y += *at == '\n';
        const Event press = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .x = look[i].w / 2, .y = y};
        app_event(a, &press);
        str_clear(&text);
        screen_text(a, look[i].w, look[i].h, &text);
        assert_non_null(strstr(text.s, "▸ the subject"));
        str_done(&text);
        app_free(a);
    }
}

static void a_lesson_looks_as_it_did(void **state) {
    (void)state;
    App *a = open_sample();
    screen_golden(a, 80, 24, "lesson");
    screen_keys(a, "<Right><Down><Enter>");
    screen_golden(a, 80, 24, "lesson-answered");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "lesson-ascii");
    screen_keys(a, "z");
    screen_golden(a, 120, 40, "lesson");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(what_is_wrong_has_its_line),
        cmocka_unit_test(numbers_come_from_the_run),
        cmocka_unit_test(pages_are_turned_and_set_the_screen),
        cmocka_unit_test(a_clicker_turns_pages),
        cmocka_unit_test(a_choice_is_answered_before_it_is_told),
        cmocka_unit_test(a_number_is_typed_and_held_against_the_run),
        cmocka_unit_test(numbers_are_typed_as_people_write_them),
        cmocka_unit_test(lessons_are_completed_by_name),
        cmocka_unit_test(a_long_page_is_scrolled),
        cmocka_unit_test(the_answer_under_the_cursor_shows),
        cmocka_unit_test(a_page_stands_where_eyes_are),
        cmocka_unit_test(a_click_is_on_what_shows),
        cmocka_unit_test(a_lesson_looks_as_it_did),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
