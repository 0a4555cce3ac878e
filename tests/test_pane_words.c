/* What panes say: legends, figures and what they are of, keys that do something, and nothing of what is not there. */
#include "expect.h"

#include "catalog.h"
#include "fixture.h"
#include "next_view.h"
#include "screen.h"

#include <stdio.h>
#include <string.h>

/* On a wall there is no room for both names: what B differs by is whole. */
static void the_other_run_is_called_by_what_differs(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.versus = 'B', p.rival = "window=2";
    App *a = screen_new(&p);
    screen_expect(a, " A  ━━ ▸B window=2");
    screen_keys(a, ":wall train<Enter>");
    screen_expect(a, "test perplexity A "); /* and whose is the other */
    screen_expect(a, " at 1,100, B ");
    app_free(a);
}

/* Large counts have their commas, also those of scores in vain. */
static void scores_in_vain_are_counted(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.prompt_tokens = p.position = 64;
    App *a = screen_new(&p);
    assert_ok(app_command(a, "pane mask"));
    screen_keys(a, "z");
    screen_expect(a, " 4,096  2,016 in vain"); /* 64 * 64, and 64 * 63 / 2 of them hidden */
    app_free(a);
}

static void a_model_from_a_file_has_no_curve(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.no_curve = true;
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "This model was read at step 1,240");
    Snapshot *unseen = snapshot_new(snapshot_facts(app_snapshot(a)));
    app_show(a, unseen); /* which says nothing about the curve */
    snapshot_unref(unseen);
    screen_refuse(a, "This model was read");
    app_free(a);
    p.step = p.head = 0;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "The loss of every training step will appear here");
    app_free(a);
}

/* The row to come has its word, however short the tokens are. */
static void the_next_row_of_the_cache_is_named(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.prompt_tokens = p.position = 1, p.letters = true;
    App *a = screen_new(&p);
    assert_ok(app_command(a, "pane cache"));
    screen_keys(a, "z");
    screen_expect(a, " · 1 token by prefill");
    screen_expect(a, "▸p0 A ");
    screen_expect(a, " next ");
    app_free(a);
}

static void words_stand_in_the_order_of_truth_or_model(void **unused) {
    (void)unused;
    Snapshot *s = fixture_plain();
    const Table *next = snapshot_table(s, "next");
    for (int by_model = 0; by_model < 2; by_model++) {
        NextOrder o = next_order(next, by_model);
        int column = table_find(next, by_model ? "model_p" : "true_p");
        for (long i = 1; i < o.n; i++)
            assert_true(table_real(next, o.row[i - 1], column) >= table_real(next, o.row[i], column));
        assert_true(o.truth);
        next_order_done(&o);
    }
    snapshot_unref(s);
}

/* Whatever the look, the pane of the next word says whose which bar and number is, where it has a line for it. */
static void the_next_word_has_a_legend(void **unused) {
    (void)unused;
    static const struct { int w, h; } sizes[] = {{60, 20}, {70, 22}, {80, 24}, {110, 30}, {120, 40}, {240, 67}};
    App *a = screen_new(NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int look = SCREEN_COLOUR; look <= SCREEN_ASCII; look++) {
            Str text;
            str_init(&text);
            screen_text_as(a, sizes[i].w, sizes[i].h, (ScreenLook)look, &text);
            const char *model = strstr(text.s, " model  "), *truth = model ? strstr(model, "truth") : NULL;
            if (!truth || truth - model > 24) fail_msg("%dx%d, look %d:\n%s", sizes[i].w, sizes[i].h, look, text.s);
            str_done(&text);
        }
    app_free(a);
}

/* The two lines of the loss are named at every size that has a line for it. */
static void the_loss_has_a_legend(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    for (int w = 60; w < 130; w += 5) {
        Str text;
        str_init(&text);
        screen_text_as(a, w, 24, SCREEN_ASCII, &text);
        if (!strstr(text.s, "* training") || !strstr(text.s, "o test")) fail_msg("%d columns:\n%s", w, text.s);
        str_done(&text);
    }
    app_free(a);
}

/* "perplexity 2.601  loss": what is not known leaves no gap behind, and no lack of one. */
static void figures_stand_apart(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.truth = false;
    App *a = screen_new(&p);
    Str text;
    str_init(&text);
    screen_text_as(a, 110, 30, SCREEN_COLOUR, &text);
    const char *at = strstr(text.s, "\n\xE2\x94\x82perplexity ");
    assert_non_null(at);
    const char *loss = strstr(at, "loss");
    assert_true(loss[-1] == ' ' && loss[-2] == ' ' && loss[-3] >= '0' && loss[-3] <= '9');
    str_done(&text);
    app_free(a);
}

/* Whichever floor it is, the plot and the figures say so; of two runs each test has its step. */
static void floors_and_tests_say_what_they_are_of(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.untested = true;
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, language 0.9145");
    app_free(a);
    p = fixture_spec();
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, part of test 0.9142");
    app_free(a);
    p.whole_test = true;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "floor, whole test 0.9142");
    app_free(a);
    p.versus = 'B';
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "at step 1,100       +7.56 %");
    screen_expect(a, "at step 1,200       +1.76 %");
    app_free(a);
}

/* Each of KEYS, "v model/truth", stands in the key row of PANE alone, or none does. */
static void expect_keys(const FixtureSpec *p, const char *pane, bool offered, const char *const *keys) {
    App *a = screen_new(p);
    Str text;
    char line[32];
    str_init(&text);
    snprintf(line, sizeof line, "pane %s", pane);
    assert_ok(app_command(a, "view focus"));
    assert_ok(app_command(a, line));
    screen_text(a, 240, 40, &text);
    text.s[--text.len] = '\0';
    const char *row = strrchr(text.s, '\n');
    for (; *keys; keys++)
        if (!strstr(row, *keys) == offered) fail_msg("%s: '%s' in%s", pane, *keys, row);
    str_done(&text);
    app_free(a);
}

/* Keys that do nothing as things are do not stand in the key row. */
static void only_keys_that_do_something_are_offered(void **unused) {
    (void)unused;
    static const char *const turns[] = {"f formula", "B base", "P pairing", "+ further", "enter into", NULL};
    static const char *const curve[] = {"a all/recent", "y linear", "c clock", "[ rewind", NULL};
    static const char *const learns[] = {"+ merge", "- back", "r go on", "T to", "u unit", "enter into", NULL};
    static const char *const job[] = {"S stop", "O model", NULL};
    static const char *const trains[] = {"space run", "n step", NULL};
    FixtureSpec p = fixture_spec();
    expect_keys(&p, "rope", true, turns);
    expect_keys(&p, "train", true, curve);
    expect_keys(&p, "train", true, trains);
    expect_keys(&p, "train", false, (const char *const[]){"enter into", NULL}); /* there is no step under the cursor */
    expect_keys(&p, "bpe", true, learns);
    expect_keys(&p, "lab", false, job);
    expect_keys(&p, "lab", true, (const char *const[]){"R run it", "tab pane", NULL});
    expect_keys(&p, "beam", true, (const char *const[]){"v model/truth", NULL});
    expect_keys(&p, "sample", true, (const char *const[]){"v order", NULL});
    expect_keys(&p, "mask", true, (const char *const[]){"- narrower", NULL});
    expect_keys(&p, "mask", false, (const char *const[]){"+ wider", NULL}); /* it has no window */
    p.window = 3;
    expect_keys(&p, "mask", true, (const char *const[]){"+ wider", "- narrower", NULL});
    p.pos = "learned";
    expect_keys(&p, "rope", false, turns);
    expect_keys(&p, "rope", true, (const char *const[]){"tab pane", NULL});
    p.truth = false;
    expect_keys(&p, "beam", false, (const char *const[]){"v model/truth", NULL});
    expect_keys(&p, "sample", false, (const char *const[]){"v order", NULL});
    p.state = RUN_FINISHED, p.head = p.step;
    expect_keys(&p, "train", false, trains);
    p.reads_only = true;
    expect_keys(&p, "train", false, curve);
    expect_keys(&p, "bpe", false, learns);
    expect_keys(&p, "bpe", true, (const char *const[]){"w text", "C corpus", NULL});
}

/* The marks before drawn sentences are explained above them. */
static void marks_of_samples_are_explained(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.samples = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "✗ eats bones .");
    screen_expect(a, "· possible  ~ legal alone  ✗ neither");
    app_free(a);
    p.truth = false; /* as of a text of characters: its tokens stand apart, the prompt's do not */
    a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "  eats bones . "); /* without the words that were there */
    screen_refuse(a, "possible");
    screen_refuse(a, "nats/token");
    screen_expect(a, "distinct       0.6150");
    app_free(a);
}

/* What comes next stands there also where the text does not say where the prompt ends. */
static void pieces_go_on_from_here(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.pieces = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "chasethecateveryday");
    screen_refuse(a, "the-dogs");
    app_free(a);
}

/* What a pane says of things that are not there: a run, a floor, a truth, a curve. */
static void what_is_not_there_is_not_spoken_of(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, "The floor is what the language itself costs");
    screen_keys(a, ":pane sample<Enter>");
    screen_expect(a, "true -3.8653");
    app_free(a);
    p.truth = false;
    a = screen_new(&p);
    screen_keys(a, "1z");
    screen_refuse(a, "floor");
    screen_keys(a, ":pane sample<Enter>");
    screen_expect(a, "ln p -3.8714");
    screen_refuse(a, "true –");
    app_free(a);
    p.reads_only = true;
    a = screen_new(&p);
    screen_refuse(a, "all steps");
    app_free(a);
    Snapshot *s = fixture_empty();
    SnapshotFacts f = *snapshot_facts(s);
    snapshot_unref(s);
    f.state = RUN_FAILED;
    snprintf(f.failure, sizeof f.failure, "'x.bin' is a folder");
    s = snapshot_new(&f);
    a = app_new(NULL, GLYPHS_HALF, DEPTH_256);
    app_show(a, s);
    snapshot_unref(s);
    screen_keys(a, "1z");
    screen_expect(a, "There is no run: 'x.bin' is a folder");
    screen_refuse(a, "y linear");
    screen_refuse(a, "space run");
    screen_expect(a, "tab pane");
    screen_keys(a, ":pane lab<Enter>");
    char experiments[40];
    (void)snprintf(experiments, sizeof experiments, "%d experiments", catalog_count());
    screen_expect(a, experiments);
    app_free(a);
}

/* Beside the loss stand the tests up to the step that is looked at, and none of later ones. */
static void tests_up_to_the_step_are_listed(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    App *a = screen_new(&p);
    screen_keys(a, "1z");
    screen_expect(a, " 1,100     2.5427   +1.9 %");
    p.step = 330;
    Snapshot *s = fixture_snapshot(&p);
    app_show(a, s);
    snapshot_unref(s);
    screen_refuse(a, "2.5427");
    screen_expect(a, "   300     2.6660   +6.9 %");
    screen_expect(a, "   200     2.7488  +10.2 %");
    app_free(a);
}

/* Sentences that were drawn from another place are said to be. */
static void samples_say_where_they_begin(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.samples = p.sampled = true;
    App *a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>z");
    screen_expect(a, "sentences, step 1,240");
    screen_refuse(a, ", elsewhere");
    p.position--;
    Snapshot *s = fixture_snapshot(&p);
    app_show(a, s);
    snapshot_unref(s);
    screen_expect(a, ", elsewhere");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_run_is_called_by_what_differs),
        cmocka_unit_test(scores_in_vain_are_counted),
        cmocka_unit_test(a_model_from_a_file_has_no_curve),
        cmocka_unit_test(the_next_row_of_the_cache_is_named),
        cmocka_unit_test(words_stand_in_the_order_of_truth_or_model),
        cmocka_unit_test(the_next_word_has_a_legend),
        cmocka_unit_test(the_loss_has_a_legend),
        cmocka_unit_test(figures_stand_apart),
        cmocka_unit_test(floors_and_tests_say_what_they_are_of),
        cmocka_unit_test(only_keys_that_do_something_are_offered),
        cmocka_unit_test(marks_of_samples_are_explained),
        cmocka_unit_test(pieces_go_on_from_here),
        cmocka_unit_test(what_is_not_there_is_not_spoken_of),
        cmocka_unit_test(tests_up_to_the_step_are_listed),
        cmocka_unit_test(samples_say_where_they_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
