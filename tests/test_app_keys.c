/* Keys of the application without a laboratory: none shadows another, each runs a command, what those of the panes ask
 * for, and any keys at all. */
#include "expect.h"

#include "keymap.h"
#include "pane.h"
#include "rng.h"
#include "screen.h"

#include <stdlib.h>
#include <string.h>

static void pane_keys_do_not_shadow_those_of_every_pane(void **unused) {
    (void)unused;
    for (int i = 0; i < pane_count(); i++) {
        for (const KeyRow *row = pane_at(i)->keys; row && row->key; row++) {
            Key k;
            key_parse(row->key, &k);
            if (keymap_find(KEYMAP_PANE, NULL, k))
                fail_msg("%s of %s means something else everywhere", row->key, pane_at(i)->name);
        }
    }
}

/* A key's line must be known to some table; without a laboratory its own lines are refused, but by name. */
static void every_key_runs_a_command(void **unused) {
    (void)unused;
    for (const KeyRow *row = keymap_rows(); row->key; row++) {
        if (!row->key[0]) continue;
        Key k;
        assert_int_equal(key_parse(row->key, &k), strlen(row->key));
        if (!strncmp(row->command, "export", 6)) continue; /* test_export.c knows where they may write */
        App *a = screen_new(NULL);
        screen_keys(a, "o"); /* begin and default need the options to be open */
        Status s = app_command(a, row->command);
        if (strstr(s.text, "there is no command") || strstr(s.text, "could be") || strstr(s.text, "takes"))
            fail_msg("%s: %s", row->command, s.text);
        app_free(a);
    }
}

static void only_c_moves_the_clock(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_expect(a, "▸train");
    screen_keys(a, "2z"); /* space goes on training: that is what one wants to watch there */
    screen_expect(a, "▸train");
    screen_keys(a, "c");
    screen_expect(a, "▸decode");
    screen_keys(a, "c<Space>");
    screen_expect(a, "there is no laboratory that could carry out 'run'");
    screen_keys(a, "<Esc>c<Space>");
    screen_expect(a, "'decode run'");
    app_free(a);
}

static void stages_of_attention(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2z");
    screen_expect(a, "[weights]");
    screen_keys(a, "s");
    screen_expect(a, "[mix]");
    screen_expect(a, "dimension of the head");
    screen_expect(a, "cat gathers dimension 1 of head 1");
    screen_expect(a, "mix = Σ weight · value");
    screen_keys(a, "s");
    screen_expect(a, "[scores]");
    screen_keys(a, "ss");
    screen_expect(a, "[masked]"); /* no soft cap, no stage of it */
    screen_keys(a, "r");
    screen_expect(a, "scale: each row");
    screen_keys(a, "<Enter>");
    screen_expect(a, "so far");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "so far");
    app_free(a);
}

static void a_head_is_switched_off_and_on(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "2>}-");
    screen_expect(a, "'head 2 2 toggle'");
    app_free(a);
    FixtureSpec p = fixture_spec();
    p.head_off = 6;
    a = screen_new(&p);
    screen_keys(a, "2>}");
    screen_expect(a, "layer 2 head 2 (off)");
    app_free(a);
}

/* Escape takes the cursor off the curve, at step 0, too; only the next one leaves the pane. */
static void escape_first_leaves_the_curve(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "1z<Home>");
    for (int i = 0; i < 20; i++) screen_keys(a, "k");
    screen_expect(a, "step under the cursor");
    screen_keys(a, "<Esc>");
    screen_refuse(a, "under the cursor");
    screen_refuse(a, "attention ─");
    screen_keys(a, "<Esc>");
    screen_expect(a, "attention ─");
    app_free(a);
}

/* On the wall enter gives a pane the whole screen; alone it steps into it. */
static void enter_leads_from_the_wall(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    screen_keys(a, "4");
    screen_expect(a, "attention ─");
    screen_keys(a, "<Enter>");
    screen_refuse(a, "attention ─");
    app_free(a);
}

static void keys_of_the_bpe_pane_ask_the_laboratory(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    static const struct {
        const char *keys, *sent;
    } rows[] = {{"+", "'bpe next'"},
                {"-", "'bpe back'"},
                {"r", "'bpe run'"},
                {"u", "'bpe learn unit=byte merges=3'"},
                {"T40<Enter>", "'bpe to 40'"},
                {"wthe newest<Enter>", "'bpe text the newest'"},
                {"Cfarm<Enter>", "'bpe learn corpus=farm'"},
                {":merge 5<Enter>", "'bpe next 5'"},
                {":learn run<Enter>", "'bpe learn corpus=run'"},
                {":cut newest lowest<Enter>", "'bpe text newest lowest'"}};
    screen_keys(a, ":pane bpe<Enter>z");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        screen_keys(a, rows[i].keys);
        screen_expect(a, rows[i].sent);
    }
    app_free(a);
}

/* tau 1, top-p 0.9, drawn with the likeliest, seed 1 to begin with. */
static void keys_of_the_next_word_change_the_filter(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    static const struct {
        const char *keys, *sent;
    } rows[] = {{"+", "'filter tau=1.1'"},
                {"-", "'filter tau=0.9'"},
                {"<Enter>0.25<Enter>", "'filter tau=0.25'"},
                {"<Right>+", "'filter top_k=1'"},
                {"-", "'filter top_k=0'"},
                {"<Right>-", "'filter top_p=0.85'"},
                {"+", "'filter top_p=0.95'"},
                {"<Right>+", "'filter order=tau_last'"},
                {"<Right>+", "'filter seed=2'"},
                {"<Right>+S", "'sampling 2000'"},
                {"---S", "'sampling 200'"},
                {"<Enter>30<Enter>", "'sampling 30'"},
                {"S", "'sampling 30'"},
                {"<Right>+", "'filter greedy'"},
                {":sentences stop<Enter>", "'sampling stop'"},
                {":sentences 0<Enter>", "from 1 to 1000000"}};
    screen_keys(a, ":pane sample<Enter>z");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        screen_keys(a, rows[i].keys);
        screen_expect(a, rows[i].sent);
    }
    app_free(a);
    FixtureSpec p = fixture_spec();
    p.samples = true; /* a run is on */
    a = screen_new(&p);
    screen_keys(a, ":pane sample<Enter>zS");
    screen_expect(a, "'sampling stop'");
    app_free(a);
}

/* Any key but those that write files or begin something long (x, X, R), or a click, or a paste. */
static void press_anything(App *a, Rng *r, int w, int h) {
    static const char keys[] =
        " nN,.[]hjkl<lt>>{}123450zeoptmb?/"
        "cgG%sr-ayvSDOw7P+=i!UBfTCud<Tab><S-Tab><Enter><Esc><Up><Down><Left><Right><PageUp><PageDown>"
        "<Home><End><C-l><Delete><Backspace><F1>中";
    Key key[100];
    int n = 0;
    for (const char *at = keys; *at; n++) at += key_parse(at, &key[n]);
    Event e = {.kind = EVENT_KEY, .key = key[rng_below(r, (uint64_t)n)]};
    if (rng_below(r, 6) == 0) {
        e = (Event){.kind = EVENT_MOUSE,
                    .mouse = (MouseKind)rng_below(r, 5),
                    .x = (int)rng_below(r, (uint64_t)w),
                    .y = (int)rng_below(r, (uint64_t)h)};
    }
    if (rng_below(r, 40) == 0) e = (Event){.kind = EVENT_PASTE, .paste = "中文 the\tdogs"};
    app_event(a, &e);
    app_tick(a);
}

static void any_keys_at_any_size(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        Rng r = rng_at(seed, "keys", 0);
        FixtureSpec p = fixture_spec();
        if (seed % 2 == 0) p.tamper = "layer 1 head 2 off, window 3, token 2 is owls, token 3 is eat";
        if (seed % 3 == 0) p.tokens = 20, p.position = 17, p.layers = 3, p.softcap = 3;
        App *a = screen_new(&p);
        int w = 80, h = 24;
        for (int i = 0; i < 1500; i++) {
            if (rng_below(&r, 30) == 0) w = 1 + (int)rng_below(&r, 130), h = 1 + (int)rng_below(&r, 45);
            press_anything(a, &r, w, h);
            Canvas *c = canvas_new(w, h, GLYPHS_HALF);
            app_draw(a, c);
            canvas_free(c);
        }
        app_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pane_keys_do_not_shadow_those_of_every_pane),
        cmocka_unit_test(every_key_runs_a_command),
        cmocka_unit_test(only_c_moves_the_clock),
        cmocka_unit_test(stages_of_attention),
        cmocka_unit_test(a_head_is_switched_off_and_on),
        cmocka_unit_test(escape_first_leaves_the_curve),
        cmocka_unit_test(enter_leads_from_the_wall),
        cmocka_unit_test(keys_of_the_bpe_pane_ask_the_laboratory),
        cmocka_unit_test(keys_of_the_next_word_change_the_filter),
        cmocka_unit_test(any_keys_at_any_size),
    };
    return cmocka_run_group_tests(tests, screen_enter_folder, screen_leave_folder);
}
