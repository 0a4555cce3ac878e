/* Lessons that nobody should write: pages that go elsewhere, close their lesson or drop runs, files and lists of any
 * length. */
#include "expect.h"

#include "file.h"
#include "lab.h"
#include "lesson.h"
#include "lesson_file.h"
#include "mem.h"
#include "pane.h"
#include "screen.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines of pages that go elsewhere ---- */

static App *open_text(const char *text) {
    char line[sizeof path + 16];
    write_lesson(text);
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, "lesson %s", path);
    screen_keys(a, "L");
    assert_ok(app_command(a, line));
    return a;
}

static void a_page_sets_the_screen_for_itself_alone(void **state) {
    (void)state;
    static const char *const lines[] = {"again", "page 1", "page next", "answer 1"};
    char text[512];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "title T\n== One\n: %s\n? Q\n+ a\n- b\n: again\n== Two\n: page 1\n", lines[i]);
        App *a = open_text(text);
        assert_ok(app_command(a, "page 1"));
        screen_expect(a, "a page cannot set the screen for another page");
        app_free(a);
    }
    App *a = open_text("title T\n== One\n: pane train\n== Two\n");
    snprintf(text, sizeof text, "title T\n== One\n: lesson %s 1\n", path);
    write_lesson(text);
    snprintf(text, sizeof text, "lesson %s 1", path);
    assert_ok(app_command(a, text));
    screen_expect(a, "a page cannot set the screen for another page");
    app_free(a);
}

/* The lesson goes while its lines are carried out. */
static void a_page_may_close_its_lesson(void **state) {
    (void)state;
    static const char *const lines[] = {"escape", "lesson first", "lessons"};
    char text[256];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "title T\n== One\n== Two\n: %s\n: %s\n: cursor query=2 key=1\n", lines[i],
                 lines[i]);
        App *a = open_text(text);
        assert_ok(app_command(a, "page 2"));
        screen_expect(a, "lesson");
        app_free(a);
    }
}

/* Somebody goes through the pages by cues: what a page drops is asked about, and the end of the program too. */
static void what_a_page_of_a_cue_drops_is_asked_about(void **state) {
    (void)state;
    char cues[sizeof path + 8], line[sizeof cues + 16];
    snprintf(cues, sizeof cues, "%s.cues", path);
    FILE *f = fopen(cues, "w");
    assert_non_null(f);
    assert_true(fputs("# one\npage 2\n\n# two\n! page 2\n\n# three\nquit now\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    App *a = open_text("title T\n== One\nThe first.\n== Two\n: restart\nThe second.\n");
    snprintf(line, sizeof line, "cues %s", cues);
    assert_ok(app_command(a, line));
    screen_keys(a, ":cue 1<Enter>");
    screen_expect(a, "y drops it");
    screen_refuse(a, "no laboratory");
    screen_keys(a, "n:page 1<Enter>:cue 2<Enter>"); /* sure */
    screen_refuse(a, "y drops it");
    screen_keys(a, ":cue 3<Enter>");
    screen_expect(a, "y drops it");
    assert_false(app_wants_quit(a));
    screen_keys(a, "y");
    assert_true(app_wants_quit(a));
    app_free(a);
    assert_int_equal(remove(cues), 0);
}

/* ---- long pages, long lists ---- */

/* In folders of our own: a list that is empty, and one that is longer than the screen. */
static void lists_of_any_length_are_walked(void **state) {
    (void)state;
    char root[] = "/tmp/lantern_test_lessons_XXXXXX", contents[64], command[128];
    const char *assets = getenv("LANTERN_ASSETS");
    char *before = assets ? strdup(assets) : NULL;
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof command, "mkdir -p %s/lessons/en", root);
    assert_int_equal(system(command), 0);
    snprintf(contents, sizeof contents, "%s/lessons/en/contents", root);
    FILE *f = fopen(contents, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    setenv("LANTERN_ASSETS", root, 1);
    App *a = screen_new(NULL);
    screen_keys(a, "L<Up><Down><Enter><PageDown><End><Enter>");
    screen_expect(a, "L lesson");
    app_free(a);
    write_lesson("title A title\n== One\n");
    f = fopen(contents, "w");
    assert_non_null(f);
    for (int i = 0; i < 80; i++) fprintf(f, "%s\n", path);
    assert_int_equal(fclose(f), 0);
    a = screen_new(NULL);
    screen_keys(a, "L");
    screen_expect(a, "▸ A title");
    screen_keys(a, "<End>");
    screen_expect(a, "▸ A title");
    app_free(a);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    if (before)
        setenv("LANTERN_ASSETS", before, 1);
    else
        unsetenv("LANTERN_ASSETS");
    free(before);
}

/* In lines of a letter, in lines of commands that nobody knows, or in one word. */
static void large_files_are_read_and_drawn(void **state) {
    (void)state;
    static const struct {
        const char *part, *shown;
        size_t bytes;
    } kinds[] = {{"x\n", "x", 900000}, {":x\n", "One", 30000}, {"x", "x", 900000}};
    Str text;
    str_init(&text);
    for (int i = 0; i < 3; i++) {
        str_clear(&text);
        str_add(&text, "title T\n== One\n");
        while (text.len < kinds[i].bytes) str_add(&text, kinds[i].part);
        App *a = open_text(text.s);
        screen_expect(a, kinds[i].shown);
        app_free(a);
    }
    str_done(&text);
}

static void what_is_open_stays_when_another_is_refused(void **state) {
    (void)state;
    char line[sizeof path + 40];
    App *a = open_text("title T\n== One\n== Two\n== Three\n? Q\n= 7\n== Four\n? Q\n= 8\n");
    assert_ok(app_command(a, "page 4"));
    assert_ok(app_command(a, "answer 8"));
    snprintf(line, sizeof line, "lesson %s 5", path);
    assert_status(app_command(a, line), STATUS_USAGE, "the pages are 1 to 4");
    screen_expect(a, "you say 8");
    assert_ok(app_command(a, "page 3"));
    assert_status(app_command(a, "answer 0.000000000000000000000000001"), STATUS_USAGE,
                  "'0.000000000000000000000000001' is no number");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    static const char zero[] = "title T\n== One\nseen\0unseen\n";
    assert_int_equal(fwrite(zero, 1, sizeof zero - 1, f), sizeof zero - 1);
    assert_int_equal(fclose(f), 0);
    Lesson *l;
    snprintf(line, sizeof line, "'%s' is no text: it holds a byte 0", path);
    assert_status(lesson_read(path, &l), STATUS_USAGE, line);
    app_free(a);
}

static void work_off(App *a, Worker *w) {
    Canvas *c = canvas_new(120, 40, GLYPHS_HALF);
    for (bool busy = true; busy;) {
        app_draw(a, c);
        bool news = app_tick(a), worked = worker_pump(w);
        busy = news || worked;
    }
    canvas_free(c);
}

/* The laboratory is still at the first page when the second is turned to: its cursor is the one that stays. */
static void pages_that_are_turned_fast_leave_the_last_cursor(void **state) {
    (void)state;
    static const char *const pairs[] = {"start=pause", "d=16", "layers=1", "sentences=512", "threads=1"};
    char line[sizeof path + 32], kept[sizeof path + 16];
    Options *o = lab_options();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_ok(options_set_pair(o, pairs[i]));
    Worker *w = worker_new(lab_new(o), WORKER_INLINE);
    App *a = app_new(w, GLYPHS_HALF, DEPTH_256);
    work_off(a, w);
    write_lesson("title T\n== One\n: prompt the owl near the dogs\n: cursor query=1 key=0\n== Two\n"
                 ": cursor query=4 key=2\n");
    snprintf(line, sizeof line, "lesson %s 1", path);
    assert_ok(app_command(a, line));
    assert_ok(app_command(a, "page 2"));
    work_off(a, w);
    snprintf(kept, sizeof kept, "%s.kept", path);
    snprintf(line, sizeof line, "keep %s", kept);
    assert_ok(app_command(a, line));
    work_off(a, w);
    assert_ok(app_end_writing(a));
    Str text;
    str_init(&text);
    assert_ok(file_read(kept, 0, &text));
    assert_non_null(strstr(text.s, "query=4 key=2"));
    assert_int_equal(remove(kept), 0);
    snprintf(line, sizeof line, "%s.model", kept);
    assert_int_equal(remove(line), 0);
    str_done(&text);
    app_free(a);
    worker_free(w);
}

/* A session finds it again, wherever it is opened. */
static void a_lesson_is_kept_by_its_whole_path(void **state) {
    (void)state;
    const PaneType *pane = pane_at(pane_find("lesson"));
    const char *name = strrchr(path, '/') + 1;
    char here[4096], line[sizeof path + 16], kept[sizeof path + 32];
    assert_non_null(getcwd(here, sizeof here));
    write_lesson("title T\n== One\n");
    assert_int_equal(chdir("/tmp"), 0);
    PaneCall call = {.state = mem_zero(1, pane->state_size), .snapshot = fixture_plain()};
    bool found;
    Str out;
    str_init(&out);
    snprintf(line, sizeof line, "lesson %s", name);
    assert_ok(command_run(pane->commands, &call, line, &found));
    pane->save(call.state, &out);
    snprintf(kept, sizeof kept, "turn 1 \"%s\"\n", path);
    assert_string_equal(out.s, kept);
    assert_int_equal(chdir(here), 0);
    str_done(&out);
    pane->done(call.state);
    mem_free(call.state);
    snapshot_unref(call.snapshot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_sets_the_screen_for_itself_alone),
        cmocka_unit_test(a_page_may_close_its_lesson),
        cmocka_unit_test(what_a_page_of_a_cue_drops_is_asked_about),
        cmocka_unit_test(lists_of_any_length_are_walked),
        cmocka_unit_test(large_files_are_read_and_drawn),
        cmocka_unit_test(what_is_open_stays_when_another_is_refused),
        cmocka_unit_test(pages_that_are_turned_fast_leave_the_last_cursor),
        cmocka_unit_test(a_lesson_is_kept_by_its_whole_path),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
