/* Screens as they must look: every pane and the whole wall, from a snapshot made by hand. UPDATE=1 writes them afresh.
 */
#include "expect.h"

#include "screen.h"

#include <stdio.h>

static const struct { int w, h; } sizes[] = {{80, 24}, {120, 40}, {240, 67}};

static void all_sizes(App *a, const char *name) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) screen_golden(a, sizes[i].w, sizes[i].h, name);
}

/* An application whose laboratory lists one experiment, however many there are. */
static App *quiet_new(const FixtureSpec *p) {
    App *a = screen_new(p);
    assert_ok(app_command(a, "pane lab"));
    assert_ok(app_command(a, "find text.batch"));
    assert_ok(app_command(a, "pane train"));
    return a;
}

static void the_wall(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    all_sizes(a, "wall");
    app_free(a);
}

/* Panes that somebody chose, in the small: the leaves of a search as lines, a few operations; a step under the cursor.
 */
static void a_small_wall(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, ":wall train beam step attention<Enter>1<Left><Left>");
    screen_golden(a, 80, 24, "wall-chosen");
    app_free(a);
}

static void one_pane(const char *keys, const char *name) {
    App *a = quiet_new(NULL);
    screen_keys(a, keys);
    all_sizes(a, name);
    app_free(a);
}

/* What KEYS bring up of SPEC (NULL: as usual) at 80 x 24; LARGE: at 120 x 40 too. */
static void one_screen(const FixtureSpec *spec, const char *keys, bool large, const char *name) {
    App *a = quiet_new(spec);
    screen_keys(a, keys);
    screen_golden(a, 80, 24, name);
    if (large) screen_golden(a, 120, 40, name);
    app_free(a);
}

static void train_alone(void **unused) {
    (void)unused;
    one_pane("1z", "train");
}

static void train_with_a_cursor(void **unused) {
    (void)unused;
    one_screen(NULL, "1zay<Left><Left>", false, "train-recent-log");
}

/* Where the options were changed the plot has a mark, and the head line says what the model is now. */
static void train_that_was_changed(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.changed = true;
    one_screen(&p, "1z", true, "train-changed");
}

static void train_beside_another(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.versus = 'B';
    App *a = quiet_new(&p);
    screen_keys(a, "1z");
    all_sizes(a, "train-versus");
    screen_keys(a, "z");
    screen_golden(a, 80, 24, "train-versus-wall");
    app_free(a);
}

static void attention_alone(void **unused) {
    (void)unused;
    one_pane("2z>}}", "attention");
}

static void attention_terms(void **unused) {
    (void)unused;
    one_screen(NULL, "2z<Enter>", false, "attention-terms");
}

static void attention_scores(void **unused) {
    (void)unused;
    one_screen(NULL, "2zss", false, "attention-scores");
}

/* What the weights make of the values: the sum of a cell term by term, and in one line where there is no room. */
static void attention_mix(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, "2zs");
    screen_golden(a, 80, 24, "attention-mix");
    screen_keys(a, "z:wall attention mask<Enter>");
    screen_golden(a, 80, 24, "attention-mix-wall");
    screen_keys(a, "zp");
    screen_golden(a, 120, 40, "attention-mix-present");
    screen_keys(a, "s");
    screen_golden(a, 120, 40, "attention-scores-present");
    app_free(a);
}

static void attention_of_a_long_prompt(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = 24, p.layers = 3, p.heads = 8, p.window = 6;
    one_screen(&p, "2z", false, "attention-long");
}

static void mask_alone(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.window = 3;
    App *a = quiet_new(&p);
    screen_keys(a, ":pane mask<Enter>z");
    all_sizes(a, "mask");
    screen_keys(a, "v");
    screen_golden(a, 80, 24, "mask-packed");
    screen_keys(a, "v");
    screen_golden(a, 80, 24, "mask-padded");
    screen_keys(a, "vp");
    all_sizes(a, "present-mask");
    app_free(a);
}

/* A window for looking alone, laid over by what chunks work out; the second layer sees as far as the text goes. */
static void mask_looked_at_differently(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = 14, p.layers = 6, p.window = 6, p.probe_window = 4;
    one_screen(&p, ":pane mask<Enter>z>sss", true, "mask-chunks");
    p.probe_window = -1, p.global_every = 2;
    one_screen(&p, ":pane mask<Enter>zs>>>", false, "mask-global");
}

static void bpe_alone(void **unused) {
    (void)unused;
    one_pane(":pane bpe<Enter>z", "bpe");
    one_pane(":pane bpe<Enter>p", "present-bpe");
    App *a = quiet_new(NULL);
    screen_keys(a, ":pane bpe<Enter>z:list steps<Enter>");
    screen_golden(a, 80, 24, "bpe-steps");
    screen_keys(a, ":list words<Enter>j");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "bpe-ascii");
    app_free(a);
}

static void rope_alone(void **unused) {
    (void)unused;
    one_pane(":pane rope<Enter>z:cursor layer=2 head=3 query=5 key=2<Enter>", "rope");
}

static void rope_what_if(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, ":pane rope<Enter>z:cursor query=5 key=2<Enter>f");
    screen_golden(a, 80, 24, "rope-single");
    screen_keys(a, "f");
    screen_golden(a, 80, 24, "rope-wrong");
    screen_keys(a, ":formula rope<Enter>BBP++");
    screen_golden(a, 120, 40, "rope-what-if");
    screen_keys(a, "<Enter>");
    screen_golden(a, 80, 24, "rope-numbers");
    app_free(a);
}

static void rope_of_other_models(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.pos = "learned";
    one_screen(&p, ":pane rope<Enter>z:cursor query=5 key=2<Enter>", true, "rope-learned");
    p.pos = "rope", p.head_dim = 128;
    App *a = quiet_new(&p);
    screen_keys(a, ":pane rope<Enter>z");
    screen_golden(a, 120, 40, "rope-wide");
    app_free(a);
}

static void cache_alone(void **unused) {
    (void)unused;
    one_pane(":pane cache<Enter>zs", "cache");
}

static void cache_that_rolls(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = 9, p.window = 4;
    App *a = quiet_new(&p);
    assert_ok(app_command(a, "pane cache"));
    screen_keys(a, "z");
    screen_golden(a, 80, 24, "cache-rolls");
    assert_ok(app_command(a, "card rolling-7b"));
    assert_ok(app_command(a, "show models"));
    screen_golden(a, 80, 24, "cache-models");
    app_free(a);
}

static void cache_of_many_heads(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = 9, p.layers = 5, p.heads = p.kv_heads = 8;
    for (int more = 0; more < 2; more++) {
        App *a = quiet_new(&p);
        assert_ok(app_command(a, "pane cache"));
        screen_keys(a, more ? "z}}}}}}}}}}}}" : "z>>}}}");
        screen_golden(a, 120, 40, more ? "cache-more-heads" : "cache-many");
        app_free(a);
        p.kv_heads = p.heads = 32;
    }
}

static void step_alone(void **unused) {
    (void)unused;
    one_pane(":pane step<Enter>z+++++++", "step");
    App *a = quiet_new(NULL);
    screen_keys(a, ":pane step<Enter>zs");
    screen_golden(a, 80, 24, "step-loss");
    screen_keys(a, "+++<Right><Right>");
    screen_golden(a, 80, 24, "step-backward");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "step-ascii");
    screen_keys(a, "<Enter>");
    screen_golden(a, 80, 24, "step-numbers");
    screen_keys(a, "<Esc>s++");
    screen_golden(a, 80, 24, "step-update");
    screen_golden(a, 120, 40, "step-update");
    app_free(a);
}

static void next_word_alone(void **unused) {
    (void)unused;
    one_pane(":pane sample<Enter>z", "sample");
}

/* One pane of the wall, then the row of its cursor; where dim looks like text there are dots. */
static void a_spotlight(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, "2i");
    screen_golden(a, 80, 24, "spotlight-pane");
    screen_golden(a, 120, 40, "spotlight-pane");
    screen_keys(a, "i");
    screen_golden(a, 120, 40, "spotlight-cursor");
    assert_ok(app_command(a, "theme mono"));
    screen_keys(a, "<Esc>");
    screen_golden_as(a, 80, 24, SCREEN_NO_COLOUR, "spotlight-mono");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "spotlight-ascii");
    app_free(a);
}

/* Another setting under the cursor, and a run of many sentences below. */
static void next_word_many(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.samples = true;
    App *a = quiet_new(&p);
    screen_keys(a, ":pane sample<Enter>z<Right><Right>");
    all_sizes(a, "sample-many");
    app_free(a);
}

static void beam_alone(void **unused) {
    (void)unused;
    one_pane(":pane beam<Enter>z", "beam");
}

static void beam_with_a_cursor(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, ":pane beam<Enter>z<Right><Left><Left><Down>");
    screen_golden(a, 80, 24, "beam-node");
    screen_golden(a, 240, 67, "beam-node");
    screen_keys(a, "<Up><Up>ad");
    screen_golden(a, 80, 24, "beam-bare");
    app_free(a);
}

static void beam_step_by_step(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.tokens = p.position = p.prompt_tokens + 3, p.truth = false, p.length_norm = true;
    one_screen(&p, ":pane beam<Enter>z<Right>", false, "beam-step");
}

static void the_past_while_decoding(void **unused) {
    (void)unused;
    FixtureSpec p = fixture_spec();
    p.step = 300, p.tokens = 9, p.position = 8, p.decode_running = true, p.tamper = "layer 1 head 2 off";
    one_screen(&p, "", false, "past");
}

static void nothing_yet(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    Snapshot *s = fixture_empty();
    app_show(a, s);
    snapshot_unref(s);
    screen_golden(a, 80, 24, "empty");
    app_free(a);
}

static void the_laboratory(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    assert_ok(app_command(a, "pane lab"));
    screen_keys(a, "z<Enter>j");
    all_sizes(a, "lab-options");
    screen_keys(a, "R");
    assert_true(app_wait_jobs(a, 60));
    app_tick(a);
    all_sizes(a, "lab-figure");
    screen_keys(a, "vjj");
    screen_golden(a, 80, 24, "lab-table");
    app_free(a);
}

static void presenter(void **unused) {
    (void)unused;
    one_pane("1p", "present-train");
    one_pane("2p", "present-attention");
    one_pane(":pane cache<Enter>p", "present-cache");
    one_pane(":pane sample<Enter>p", "present-sample");
    one_pane(":pane step<Enter>sp", "present-step");
    one_pane(":pane rope<Enter>p:cursor query=5 key=2<Enter>", "present-rope");
}

static void help_and_lines(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_keys(a, "2?");
    screen_golden(a, 80, 24, "help");
    screen_keys(a, "<Esc>:the");
    screen_golden(a, 80, 24, "command-line");
    screen_keys(a, "<Esc>q");
    screen_golden(a, 80, 24, "quit");
    app_free(a);
}

/* Each word, number and bar can be told from its neighbour without a colour, and without Unicode. */
static void without_colours_and_without_unicode(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_golden_as(a, 80, 24, SCREEN_NO_COLOUR, "wall-plain");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "wall-ascii");
    screen_golden_as(a, 60, 20, SCREEN_ASCII, "wall-ascii");
    screen_keys(a, "2z");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "attention-ascii");
    screen_keys(a, ":pane sample<Enter>");
    screen_golden_as(a, 80, 24, SCREEN_ASCII, "sample-ascii");
    app_free(a);
}

static void too_small(void **unused) {
    (void)unused;
    App *a = quiet_new(NULL);
    screen_golden(a, 19, 5, "too-small");
    screen_golden(a, 20, 6, "smallest");
    screen_golden(a, 40, 10, "small");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wall),
        cmocka_unit_test(a_small_wall),
        cmocka_unit_test(train_alone),
        cmocka_unit_test(train_with_a_cursor),
        cmocka_unit_test(train_that_was_changed),
        cmocka_unit_test(train_beside_another),
        cmocka_unit_test(attention_alone),
        cmocka_unit_test(attention_terms),
        cmocka_unit_test(attention_scores),
        cmocka_unit_test(attention_mix),
        cmocka_unit_test(attention_of_a_long_prompt),
        cmocka_unit_test(mask_alone),
        cmocka_unit_test(mask_looked_at_differently),
        cmocka_unit_test(bpe_alone),
        cmocka_unit_test(rope_alone),
        cmocka_unit_test(rope_what_if),
        cmocka_unit_test(rope_of_other_models),
        cmocka_unit_test(cache_alone),
        cmocka_unit_test(cache_that_rolls),
        cmocka_unit_test(cache_of_many_heads),
        cmocka_unit_test(step_alone),
        cmocka_unit_test(next_word_alone),
        cmocka_unit_test(next_word_many),
        cmocka_unit_test(a_spotlight),
        cmocka_unit_test(beam_alone),
        cmocka_unit_test(beam_with_a_cursor),
        cmocka_unit_test(beam_step_by_step),
        cmocka_unit_test(the_past_while_decoding),
        cmocka_unit_test(nothing_yet),
        cmocka_unit_test(the_laboratory),
        cmocka_unit_test(presenter),
        cmocka_unit_test(help_and_lines),
        cmocka_unit_test(without_colours_and_without_unicode),
        cmocka_unit_test(too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
