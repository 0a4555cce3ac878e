/* Lessons and the run: what opening a page does to it, when it is asked about, and which of its looks answers. */
#include "expect.h"

#include "lab.h"
#include "lesson_file.h"
#include "mem.h"
#include "pane.h"
#include "screen.h"
#include "worker.h"

#include <string.h>

/* What NEXT says of chase; JUMPS: on the way to where it was asked for. */
static void show_chase(App *a, double p, bool jumps) {
    static const Column columns[] = {{"token", COLUMN_TEXT, ""}, {"model_p", COLUMN_DOUBLE, ""}, {0}};
    Snapshot *like = fixture_plain();
    SnapshotFacts facts = *snapshot_facts(like);
    facts.jumps = jumps;
    Snapshot *s = snapshot_new(&facts);
    Table *next = table_new("next", columns);
    table_add_text(next, "chase");
    table_add_known(next, p);
    snapshot_add_table(s, next);
    app_show(a, s);
    snapshot_unref(s);
    snapshot_unref(like);
}

/* The steps that a jump into the past passes are held too, and answer nothing. */
static void a_number_waits_for_the_end_of_a_jump(void **state) {
    (void)state;
    char line[sizeof path + 16];
    write_lesson("title T\n== P\n? Q\n= next.model_p token=chase\n: wall lesson train\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, "lesson %s", path);
    assert_ok(app_command(a, line));
    screen_keys(a, "<Enter>1<Enter>");
    show_chase(a, 0.125, true);
    show_chase(a, 0.25, false);
    show_chase(a, 0.5, false);
    screen_expect(a, "✗ you say 1, the run says 0.25");
    app_free(a);
}

/* :lesson FILE is its first page, whose lines are carried out or asked about; a session turns to where it was. */
static void a_file_opens_with_its_first_page(void **state) {
    (void)state;
    char line[sizeof path + 32];
    write_lesson("title T\n== One\n: wall lesson attention\n: restart\nFirst.\n== Two\n: wall lesson rope\nSecond.\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, ":lesson %s<Enter>", path);
    screen_keys(a, line);
    screen_expect(a, "y drops it");
    screen_keys(a, "y");
    screen_expect(a, "2 attention");
    screen_refuse(a, "1 train");
    app_free(a);
    a = screen_new(NULL);
    snprintf(line, sizeof line, "turn 2 %s", path);
    assert_ok(app_command(a, line));
    screen_keys(a, ":wall lesson train<Enter>");
    screen_expect(a, "Second.");
    screen_refuse(a, "4 rope");
    app_free(a);
}

static void a_session_keeps_the_page(void **state) {
    (void)state;
    char line[sizeof path + 32];
    const PaneType *p = pane_at(pane_find("lesson"));
    PaneCall call = {.state = mem_zero(1, p->state_size)};
    bool found;
    Str kept;
    write_lesson("title T\n== One\n== Two\n== Three\n");
    snprintf(line, sizeof line, "turn 3 \"%s\"", path);
    str_init(&kept);
    p->save(call.state, &kept);
    assert_string_equal(kept.s, "");
    assert_ok(command_run(p->commands, &call, line, &found));
    p->save(call.state, &kept);
    assert_true(strstr(kept.s, line) == kept.s);
    assert_null(call.lines);
    p->done(call.state);
    mem_free(call.state);
    str_done(&kept);
}

/* Pages begin with undo, whatever was done before: only who asks by hand is told that there was nothing. */
static void a_page_does_not_say_what_it_did_not_undo(void **state) {
    (void)state;
    char line[sizeof path + 16];
    Options *o = lab_options();
    assert_ok(options_set_pair(o, "start=pause"));
    Worker *w = worker_new(lab_new(o), WORKER_INLINE);
    App *a = app_new(w, GLYPHS_HALF, DEPTH_256);
    write_lesson("title T\n== One\n: undo\nFirst.\n");
    snprintf(line, sizeof line, "lesson %s", path);
    for (int pass = 0; pass < 2; pass++) {
        assert_ok(app_command(a, pass ? "undo" : line));
        for (bool busy = true; busy;) {
            bool worked = worker_pump(w), news = app_tick(a);
            busy = worked || news;
        }
        assert_string_equal(app_message(a), pass ? "nothing is done to what is looked at" : "");
    }
    app_free(a);
    worker_free(w);
}

/* Whoever opens a page by its number gets the run that the lesson is about, and is asked before another one goes. */
static void a_page_by_its_number_has_the_run(void **state) {
    (void)state;
    char line[sizeof path + 32];
    write_lesson("title T\n== One\n: restart seed=2\n: wall lesson rope\n== Two\n: wall lesson mask\nThe second.\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, ":lesson %s 2<Enter>", path);
    screen_keys(a, line);
    screen_expect(a, "y drops it");
    screen_keys(a, "y");
    screen_expect(a, "no laboratory that could carry out 'restart seed=2'");
    screen_expect(a, "3 mask ─");
    screen_refuse(a, "4 rope");
    screen_expect(a, "The second.");
    screen_keys(a, ":pane lesson<Enter>r"); /* the screen alone */
    screen_refuse(a, "no laboratory");
    app_free(a);
}

/* The run that lantern begins by itself, or a page did, is not missed: who comes to the first lesson is not asked. */
static void a_plain_run_is_dropped_unasked(void **state) {
    (void)state;
    static const char *const chosen[] = {"seed", "lr"};
    static const Column columns[] = {{"option", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {0}};
    char line[sizeof path + 16];
    write_lesson("title T\n== One\n: restart\nThe first.\n");
    snprintf(line, sizeof line, ":lesson %s<Enter>", path);
    for (int i = 0; i < 2; i++) {
        App *a = screen_new(NULL);
        Snapshot *like = fixture_plain(), *s = snapshot_new(snapshot_facts(like));
        Table *settings = table_new("settings", columns);
        table_add_text(settings, chosen[i]);
        table_add_text(settings, "1");
        snapshot_add_table(s, settings);
        app_show(a, s);
        screen_keys(a, line);
        screen_expect(a, i ? "y drops it" : "no laboratory that could carry out 'restart'");
        app_free(a);
        snapshot_unref(s);
        snapshot_unref(like);
    }
}

/* A page that would drop the run asks; where it stays, the text is there all the same. */
static void a_page_that_drops_a_run_asks(void **state) {
    (void)state;
    char line[sizeof path + 32];
    write_lesson("title T\n== One\nThe first.\n== Two\n: wall lesson rope\n: restart\nThe second.\n");
    App *a = screen_new(NULL);
    snprintf(line, sizeof line, ":lesson %s 1<Enter>", path);
    screen_keys(a, line);
    screen_expect(a, "The first.");
    screen_keys(a, ":pane lesson<Enter><Right>");
    screen_expect(a, "The second.");
    screen_expect(a, "y drops it");
    screen_keys(a, "n");
    screen_expect(a, "The second.");
    screen_refuse(a, "no laboratory");
    screen_keys(a, "r<Enter>"); /* what turns pages is no yes */
    screen_refuse(a, "y drops it");
    screen_refuse(a, "no laboratory");
    screen_keys(a, "ry");
    screen_expect(a, "no laboratory that could carry out 'restart'");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_waits_for_the_end_of_a_jump),
        cmocka_unit_test(a_file_opens_with_its_first_page),
        cmocka_unit_test(a_session_keeps_the_page),
        cmocka_unit_test(a_page_does_not_say_what_it_did_not_undo),
        cmocka_unit_test(a_page_by_its_number_has_the_run),
        cmocka_unit_test(a_plain_run_is_dropped_unasked),
        cmocka_unit_test(a_page_that_drops_a_run_asks),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
