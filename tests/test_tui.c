/* The loop, on a terminal made for the test, with the clock standing still: it draws when something changed and only
 * then, leaves at least three times a frame's cost between frames that nobody asked for, and ends when it should. */
#include "expect.h"

#include "clock.h"
#include "prompt.h"
#include "screen.h"
#include "tui.h"

#include <string.h>

enum { EVENTS_MOST = 64 };

typedef struct {
    Term term; /* first */
    int w;
    Event event[EVENTS_MOST];
    double due[EVENTS_MOST]; /* not before this time */
    const char *typed;       /* NULL, or characters that come at once, before the other events */
    Str bottom;              /* of the last frame: the row of the prompt */
    int at, count;
    int frames, repaints, suspends;
    int idle_left;    /* turns without an event before the end */
    double now, cost; /* the clock, and what a frame takes */
    double asked;     /* the longest time that next was allowed */
    double frame_at[EVENTS_MOST];
} Fake;

static void fake_size(Term *t, int *w, int *h) {
    *w = ((Fake *)t)->w;
    *h = 24;
}
static Glyphs fake_glyphs(Term *t) {
    (void)t;
    return GLYPHS_HALF;
}
static Depth fake_depth(Term *t) {
    (void)t;
    return DEPTH_256;
}
static void fake_present(Term *t, const Canvas *c, const StyleSheet *style) {
    Fake *f = (Fake *)t;
    (void)style;
    assert_int_equal(c->w, f->w);
    Canvas row = canvas_view(c, (Rect){0, c->h - 1, c->w, 1});
    str_clear(&f->bottom);
    canvas_dump(&row, false, &f->bottom);
    if (f->frames < EVENTS_MOST) f->frame_at[f->frames] = f->now;
    f->frames++;
    f->now += f->cost;
    clock_freeze(f->now);
}
static Event fake_next(Term *t, double timeout, int wake_fd) {
    Fake *f = (Fake *)t;
    (void)wake_fd;
    if (f->typed != NULL && *f->typed != '\0') return (Event){.kind = EVENT_KEY, .key = (unsigned char)*f->typed++};
    if (timeout > f->asked) f->asked = timeout;
    bool more = f->at < f->count, in_time = more && f->due[f->at] <= f->now + timeout;
    if (in_time && f->due[f->at] > f->now) f->now = f->due[f->at];
    if (!in_time) f->now += timeout;
    clock_freeze(f->now);
    if (in_time) return f->event[f->at++];
    if (more || timeout == 0) return (Event){.kind = EVENT_NONE};
    return (Event){.kind = f->idle_left-- > 0 ? EVENT_NONE : EVENT_QUIT, .signal = 15};
}
static void fake_suspend(Term *t) {
    ((Fake *)t)->suspends++;
}
static void fake_repaint(Term *t) {
    ((Fake *)t)->repaints++;
}
static void fake_mouse(Term *t, bool on) {
    (void)t;
    (void)on;
}
static void fake_free(Term *t) {
    str_done(&((Fake *)t)->bottom);
}

static Fake fake_new(void) {
    Fake f = {.term = {fake_size, fake_glyphs, fake_depth, fake_present, fake_next, fake_suspend, fake_repaint,
                       fake_mouse, fake_free},
              .w = 80,
              .now = 1000};
    str_init(&f.bottom);
    clock_freeze(f.now);
    return f;
}

static void press(Fake *f, Key k) {
    f->event[f->count++] = (Event){.kind = EVENT_KEY, .key = k};
}

static int run(Fake *f, App *a) {
    return tui_run(a, &f->term, NULL, &(TuiOptions){.frames_per_second = 20});
}

static void end(Fake *f, App *a) {
    f->term.free(&f->term);
    app_free(a);
}

static void nothing_new_is_not_drawn(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Fake f = fake_new();
    f.idle_left = 40;
    assert_int_equal(run(&f, a), 15);
    assert_int_equal(f.frames, 1);
    assert_true(f.asked > 0.2);
    end(&f, a);
}

static void a_burst_of_keys_is_one_frame(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Fake f = fake_new();
    f.idle_left = 3;
    for (int i = 0; i < 20; i++) press(&f, 'l');
    run(&f, a);
    assert_int_equal(f.frames, 2);
    end(&f, a);
}

/* More keys than one turn works off: what is typed stands in the prompt, each character of it. */
static void a_long_burst_loses_nothing(void **unused) {
    (void)unused;
    static const int lengths[] = {63, 64, 65, 129, 500, PROMPT_BYTES};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        App *a = screen_new(NULL);
        Fake f = fake_new();
        Str typed;
        str_init(&typed);
        str_add(&typed, ":");
        for (int group = 0; (int)typed.len <= lengths[i]; group++) str_addf(&typed, "%03d.", group);
        typed.s[typed.len = (size_t)lengths[i] + 1] = '\0';
        f.w = lengths[i] + 10;
        f.typed = typed.s;
        f.idle_left = 2;
        run(&f, a);
        str_add(&typed, "\n");
        assert_string_equal(f.bottom.s, typed.s);
        str_done(&typed);
        end(&f, a);
    }
}

/* Before the frames of the usual rate, 20 a second, have their turn; a slow terminal draws half the time at most. */
static void a_key_is_answered_at_once(void **unused) {
    (void)unused;
    static const double costs[] = {0, 0.001, 0.01, 0.2};
    for (int i = 0; i < 4; i++) {
        App *a = screen_new(NULL);
        Fake f = fake_new();
        f.cost = costs[i];
        f.idle_left = 2;
        press(&f, 'l');
        run(&f, a);
        assert_int_equal(f.frames, 2);
        double rest = f.frame_at[1] - (f.frame_at[0] + f.cost);
        assert_true(rest >= f.cost - 1e-9 && rest < f.cost + 1e-9);
        end(&f, a);
    }
}

/* The message that m makes goes by itself after 8 seconds, and a new size is drawn just before: the frame without the
 * message waits for its turn. */
static void a_slow_terminal_gets_fewer_frames(void **unused) {
    (void)unused;
    static const double costs[] = {0.001, 0.2}, rests[] = {0.05, 0.6};
    for (int i = 0; i < 2; i++) {
        App *a = screen_new(NULL);
        Fake f = fake_new();
        f.cost = costs[i];
        press(&f, 'm');
        f.due[f.count] = f.now + f.cost + 8 - f.cost / 2;
        f.event[f.count++] = (Event){.kind = EVENT_RESIZE};
        f.idle_left = 3;
        run(&f, a);
        assert_int_equal(f.frames, 4);
        assert_true(f.frame_at[2] >= f.due[1]);
        double rest = f.frame_at[3] - (f.frame_at[2] + f.cost);
        assert_true(rest >= rests[i] - 1e-9 && rest < rests[i] + 1e-9);
        end(&f, a);
    }
}

static void wishes_reach_the_terminal(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Fake f = fake_new();
    press(&f, KEYCODE_CTRL | 'l');
    press(&f, KEYCODE_CTRL | 'z');
    f.idle_left = 2;
    run(&f, a);
    assert_int_equal(f.suspends, 1);
    assert_int_equal(f.repaints, 1);
    end(&f, a);
}

static void the_user_ends_it_with_zero(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Fake f = fake_new();
    press(&f, 'q');
    press(&f, 'q');
    f.idle_left = 5;
    assert_int_equal(run(&f, a), 0);
    end(&f, a);
}

static void a_message_goes_by_itself(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Fake f = fake_new();
    press(&f, 'm');
    f.idle_left = 60;
    run(&f, a);
    assert_string_equal(app_message(a), "");
    assert_int_equal(f.frames, 3); /* the first, with the message, without */
    end(&f, a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_new_is_not_drawn),          cmocka_unit_test(a_burst_of_keys_is_one_frame),
        cmocka_unit_test(a_long_burst_loses_nothing),        cmocka_unit_test(a_key_is_answered_at_once),
        cmocka_unit_test(a_slow_terminal_gets_fewer_frames), cmocka_unit_test(wishes_reach_the_terminal),
        cmocka_unit_test(the_user_ends_it_with_zero),        cmocka_unit_test(a_message_goes_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
