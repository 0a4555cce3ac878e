/* The application without a laboratory: what it asks and says, and what is typed: questions, messages, the line at the
 * bottom, filters, options, cues. */
#include "expect.h"

#include "clock.h"
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void quitting_asks_once_when_a_run_would_be_lost(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "q");
    assert_false(app_wants_quit(a));
    screen_expect(a, "the run is not saved");
    screen_keys(a, "n");
    assert_false(app_wants_quit(a));
    screen_keys(a, "qq");
    assert_true(app_wants_quit(a));
    app_free(a);
    a = screen_new(NULL);
    screen_keys(a, "?q");
    assert_false(app_wants_quit(a)); /* closes the help */
    assert_ok(app_command(a, "quit now"));
    assert_true(app_wants_quit(a));
    app_free(a);
    FixtureSpec p = fixture_spec();
    p.step = p.head = 0;
    a = screen_new(&p);
    screen_keys(a, "q");
    assert_true(app_wants_quit(a));
    app_free(a);
}

/* A line that somebody types and that would drop a run which is in no file. Without a laboratory it is refused, once it
 * is sure. */
static void lines_that_drop_a_run_ask(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, ":set lr=0.001<Enter>"); /* the parameters stay */
    screen_expect(a, "no laboratory that could carry out 'set lr=0.001'");
    screen_keys(a, "<Esc>:set layers 3<Enter>");
    screen_expect(a, "the run of 1,240 steps is not saved");
    screen_keys(a, "q"); /* an answer like any other */
    assert_false(app_wants_quit(a));
    screen_refuse(a, "carry out");
    screen_refuse(a, "not saved");
    screen_keys(a, ":set layers=3<Enter>y");
    screen_expect(a, "no laboratory that could carry out 'set layers=3'");
    screen_keys(a, "<Esc>:restart<Enter>");
    screen_expect(a, "y drops it");
    screen_keys(a, "<Enter>"); /* ends many a line, and is no yes */
    screen_refuse(a, "no laboratory that could carry out");
    screen_keys(a, ":restart<Enter>y");
    screen_expect(a, "no laboratory that could carry out 'restart'");
    screen_keys(a, "<Esc>:open old.ckpt<Enter>");
    screen_expect(a, "y drops it");
    screen_keys(a, "x:resume old<Enter>");
    screen_expect(a, "y drops it");
    app_event(a, &(Event){.kind = EVENT_PASTE, .paste = "y"}); /* is no answer, and goes nowhere */
    screen_expect(a, "y drops it");
    screen_keys(a, "x:leave<Enter>"); /* no run waits: nothing is dropped */
    screen_expect(a, "no laboratory that could carry out 'leave'");
    assert_int_not_equal(app_command(a, "restart").code, STATUS_OK); /* a script's line: nobody could answer */
    app_free(a);
    FixtureSpec p = fixture_spec();
    a = screen_new(&p);
    screen_keys(a, ":fork<Enter>"); /* of the newest step: nothing is dropped */
    screen_expect(a, "no laboratory");
    app_free(a);
    p.step = 300;
    a = screen_new(&p);
    screen_keys(a, ":fork<Enter>");
    screen_expect(a, "the steps after 300 are dropped: the run of 1,240 steps is not saved");
    app_free(a);
    p.step = p.head = 0;
    a = screen_new(&p);
    screen_keys(a, ":restart<Enter>");
    screen_expect(a, "no laboratory");
    app_free(a);
}

static void options_that_drop_a_run_ask(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "o/layers<Enter><Enter><C-u>3<Enter>A");
    screen_expect(a, "the run of 1,240 steps is not saved");
    screen_keys(a, "n"); /* what was changed is still there */
    screen_expect(a, "options of the run");
    screen_keys(a, "Ay");
    screen_expect(a, "no laboratory that could carry out 'set layers=3'");
    screen_keys(a, "<Esc>R");
    screen_expect(a, "y drops it");
    screen_keys(a, "y");
    screen_expect(a, "no laboratory that could carry out 'restart ");
    screen_keys(a, "<Esc>o/lr<Enter><Enter><C-u>0.5<Enter>A"); /* the parameters stay */
    screen_expect(a, "no laboratory that could carry out 'set lr=0.5'");
    app_free(a);
}

static void messages_come_and_go(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    p.message = "the learning rate is now 0.001";
    p.message_number = 1;
    Snapshot *s = fixture_snapshot(&p);
    app_show(a, s);
    screen_expect(a, "the learning rate is now 0.001");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "the learning rate");
    app_show(a, s); /* the same message does not come twice */
    screen_refuse(a, "the learning rate");
    snapshot_unref(s);
    screen_keys(a, ":zzz<Enter>");
    screen_expect(a, "there is no command 'zzz'");
    clock_freeze(2000);
    app_tick(a);
    screen_refuse(a, "zzz");
    app_free(a);
}

static void a_pasted_text_runs_nothing(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    app_event(a, &(Event){.kind = EVENT_PASTE, .paste = "q\nq\n:quit now\n"});
    assert_false(app_wants_quit(a));
    screen_expect(a, "goes into a line that is open");
    screen_keys(a, ":");
    app_event(a, &(Event){.kind = EVENT_PASTE, .paste = "theme\nlight"});
    screen_keys(a, "<Enter>");
    assert_int_equal(app_style(a)->theme, THEME_LIGHT);
    app_free(a);
}

static void keys_that_mean_nothing_say_so(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "Y");
    screen_expect(a, "Y does nothing here; ? lists the keys");
    app_free(a);
}

static void the_prompt_is_edited_as_it_stands(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "e");
    screen_expect(a, "prompt: the dogs near the cat");
    screen_keys(a, "s<Enter>");
    screen_expect(a, "'prompt the dogs near the cats'");
    screen_keys(a, "<Esc>e<Up>"); /* what was refused is not lost */
    screen_expect(a, "prompt: the dogs near the cats");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "prompt: ");
    app_free(a);
}

static void help_scrolls_and_filters(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "?");
    screen_expect(a, "1 train (this pane)");
    screen_keys(a, "<End>");
    screen_refuse(a, "1 train (this pane)");
    screen_expect(a, ":open");
    screen_keys(a, "<Home>/theme<Enter>");
    screen_expect(a, "next theme: dark");
    screen_refuse(a, "one step forward");
    screen_expect(a, "│The screen "); /* where it stands */
    screen_refuse(a, "│The clocks ");
    screen_keys(a, "/<C-u>pane<Enter>");
    Str text;
    str_init(&text);
    screen_text(a, 120, 40, &text);
    const char *heading = strstr(text.s, "│The screen ");
    assert_non_null(heading);
    assert_null(strstr(heading + 1, "│The screen ")); /* once above all of it */
    str_done(&text);
    screen_keys(a, "/<C-u>zoom<Enter>"); /* as the key row calls it */
    screen_expect(a, "this pane alone, or the wall again");
    screen_refuse(a, "wall again zoom");
    screen_keys(a, "/<C-u>whale<Enter>");
    screen_expect(a, "nothing holds");
    screen_keys(a, "<Esc><Esc>");
    screen_refuse(a, "filters, esc");
    app_free(a);
}

/* The help and the list of experiments show what holds a text while that is typed; escape brings back what was there.
 */
static void lists_are_filtered_while_a_text_is_typed(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "?/theme");
    screen_expect(a, "next theme: dark");
    screen_refuse(a, "one step forward");
    screen_keys(a, "<Backspace><Backspace><Backspace><Backspace><Backspace>");
    screen_expect(a, "one step forward");
    screen_keys(a, "theme<Enter>/whal");
    screen_expect(a, "nothing holds");
    screen_keys(a, "<Esc>"); /* the filter from before */
    screen_expect(a, "next theme: dark");
    screen_refuse(a, "one step forward");
    screen_keys(a, "/<C-u><Enter>");
    screen_expect(a, "one step forward");
    screen_keys(a, "<Esc>:pane lab<Enter>z:experiment arch.cards<Enter><Esc>/bpe.trai");
    screen_expect(a, "those with “bpe.trai”");
    screen_expect(a, "▸ bpe.train");
    screen_refuse(a, "arch.cards");
    app_event(a, &(Event){.kind = EVENT_PASTE, .paste = "ning"});
    screen_expect(a, "those with “bpe.training”");
    screen_keys(a, "<Esc>");
    screen_expect(a, " experiments");
    screen_expect(a, "▸ arch.cards");
    screen_keys(a, "/bpe.train<Enter>/<C-u><Enter>");
    screen_expect(a, " experiments");
    app_free(a);
}

/* All that is done to what is looked at: where the row below has no room, it says how many and where they stand. */
static void interventions_are_listed_and_taken_back(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "!");
    screen_expect(a, "Nothing is done to what is looked at");
    screen_keys(a, "<Enter>");
    screen_refuse(a, "Nothing is done");
    app_free(a);
    p.tamper = "layer 1 head 2 off";
    a = screen_new(&p);
    screen_expect(a, "⚠ layer 1 head 2 off");
    app_free(a);
    p.tamper = "layer 1 head 1 off, layer 1 head 2 off, layer 2 head 2 off, window 3, token 2 is owls, token 3 is eat";
    a = screen_new(&p);
    screen_expect(a, "⚠ 6 interventions (!)");
    screen_refuse(a, "window 3");
    screen_keys(a, "!");
    screen_expect(a, "interventions ─ enter takes one back, U all");
    screen_expect(a, "▸ layer 1 head 1 off");
    screen_expect(a, "token 3 is eat");
    screen_keys(a, "jj<Enter>");
    screen_expect(a, "'back 3'");
    screen_keys(a, "<Esc>G<Enter>");
    screen_expect(a, "'back 6'");
    p.tamper = "layer 1 head 1 off, layer 1 head 2 off";
    Snapshot *shorter = fixture_snapshot(&p), *before = snapshot_ref(app_snapshot(a));
    app_show(a, shorter);
    screen_expect(a, "▸ layer 1 head 2 off");
    app_show(a, before);
    snapshot_unref(shorter);
    snapshot_unref(before);
    screen_keys(a, "<Esc>/window<Enter><Enter>");
    screen_expect(a, "'back 4'");
    screen_keys(a, "<Esc>");
    Str text;
    str_init(&text);
    screen_text(a, 40, 8, &text); /* scrolled to the cursor, and counted */
    assert_non_null(strstr(text.s, "▸ window 3"));
    assert_non_null(strstr(text.s, " ▴ "));
    str_done(&text);
    screen_keys(a, "U");
    screen_expect(a, "'undo'");
    screen_keys(a, "<Esc><Esc>");
    screen_refuse(a, "enter takes one back");
    app_free(a);
}

static void the_options_of_the_run_make_a_command(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "o");
    screen_expect(a, "options of the run");
    assert_ok(app_command(a, "find layers"));
    screen_keys(a, "<Enter><C-u>3<Enter>Ry");
    screen_expect(a, "layers=3");
    app_free(a);
}

/* The prompt of the sentence that is looked at is no option of the next run. */
static void the_options_leave_the_prompt(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Str text;
    str_init(&text);
    screen_keys(a, "o");
    assert_ok(app_command(a, "find prompt"));
    screen_text(a, 120, 40, &text);
    char *row = strstr(text.s, " prompt ");
    assert_non_null(row);
    row[strcspn(row, "\n")] = '\0';
    assert_null(strstr(row, "the dogs"));
    str_done(&text);
    app_free(a);
}

static void write_cues(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A clicker goes through them, in the wall too; without cues it goes through the panes. */
static void a_clicker_goes_through_the_cues(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    write_cues("talk", "# here we are\npane rope\n\npane mask\nspotlight pane\n\ncue 1\n");
    write_cues("broken", "pane rope\nplane mask\n");
    screen_keys(a, "1p<PageDown>");
    screen_expect(a, "attention ─");
    screen_keys(a, "<PageUp>p");
    assert_status(app_command(a, "cue 1"), STATUS_USAGE, "there are no cues; ':cues FILE' reads some");
    assert_status(app_command(a, "cues broken"), STATUS_USAGE, "broken, line 2: there is no command 'plane'");
    assert_ok(app_command(a, "cues talk"));
    screen_expect(a, "3 cues");
    screen_keys(a, "<PageDown>");
    screen_expect(a, "▸4 rope");
    screen_expect(a, "here we are");
    screen_keys(a, "<PageDown>");
    screen_expect(a, "▸3 mask");
    screen_keys(a, "<PageDown>");
    screen_expect(a, "a cue cannot go to another cue");
    screen_keys(a, "<PageDown>");
    screen_expect(a, "the last of 3 cues");
    assert_ok(app_command(a, "cue 1"));
    screen_expect(a, "▸4 rope");
    screen_keys(a, "<PageUp>");
    screen_expect(a, "this is the first cue");
    assert_ok(app_command(a, "cues")); /* none */
    assert_ok(app_command(a, "cue next"));
    screen_expect(a, "▸5 bpe");
    assert_status(app_command(a, "spotlight moon"), STATUS_USAGE, "the spotlight is off, pane or cursor, not moon");
    app_free(a);
}

/* A cue that would drop the run is asked about before its first line, unless the file says that it may, or keeps the
 * run. */
static void cues_that_drop_a_run_ask(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    write_cues("drops", "pane rope\n\n:pane mask\nrestart\n\n!restart\n\nsave here\nrestart\n\ncue 5\n");
    assert_ok(app_command(a, "cues drops"));
    screen_keys(a, "<PageDown><PageDown>");
    screen_expect(a, "the run of 1,240 steps is not saved");
    screen_expect(a, "▸4 rope");
    screen_keys(a, "<PageDown>"); /* stays */
    screen_expect(a, "▸4 rope");
    screen_refuse(a, "not saved");
    screen_keys(a, "<PageDown>y");
    screen_expect(a, "▸3 mask");
    screen_expect(a, "no laboratory that could carry out 'restart'");
    for (int i = 0; i < 2; i++) {
        screen_keys(a, "<PageDown>");
        screen_expect(a, "no laboratory that could carry out 'restart'");
        screen_keys(a, "<Esc>");
    }
    screen_keys(a, ":cue 2<Enter>");
    screen_expect(a, "y drops it");
    screen_keys(a, "n");
    assert_ok(app_command(a, "cue 2")); /* a script's */
    screen_expect(a, "no laboratory");
    app_free(a);
}

static void a_line_may_be_there_to_begin_with(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "ask command theme light"));
    screen_expect(a, ":theme light");
    screen_keys(a, "<Enter>");
    screen_expect(a, "theme light");
    assert_ok(app_command(a, "ask find near"));
    screen_expect(a, "/near");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "/near");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quitting_asks_once_when_a_run_would_be_lost),
        cmocka_unit_test(lines_that_drop_a_run_ask),
        cmocka_unit_test(options_that_drop_a_run_ask),
        cmocka_unit_test(messages_come_and_go),
        cmocka_unit_test(a_pasted_text_runs_nothing),
        cmocka_unit_test(keys_that_mean_nothing_say_so),
        cmocka_unit_test(the_prompt_is_edited_as_it_stands),
        cmocka_unit_test(help_scrolls_and_filters),
        cmocka_unit_test(lists_are_filtered_while_a_text_is_typed),
        cmocka_unit_test(interventions_are_listed_and_taken_back),
        cmocka_unit_test(the_options_of_the_run_make_a_command),
        cmocka_unit_test(the_options_leave_the_prompt),
        cmocka_unit_test(a_clicker_goes_through_the_cues),
        cmocka_unit_test(cues_that_drop_a_run_ask),
        cmocka_unit_test(a_line_may_be_there_to_begin_with),
    };
    return cmocka_run_group_tests(tests, screen_enter_folder, screen_leave_folder);
}
