#include "expect.h"

#include "term_stage.h"

#include "draw.h"
#include "rng.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TermStage *term_stage;

static void describe(const Event *e, Term *t, Str *out) {
    static const char *const mice[] = {"press", "release", "drag", "up", "down"};
    char name[32];
    int w, h;
    t->size(t, &w, &h);
    switch (e->kind) {
    case EVENT_KEY:
        key_label(e->key, name, sizeof name);
        str_addf(out, "key %s", name);
        return;
    case EVENT_MOUSE:
        str_addf(out, "mouse %s %d,%d", mice[e->mouse], e->x, e->y);
        return;
    case EVENT_PASTE:
        str_addf(out, "paste [%s]", e->paste);
        return;
    case EVENT_RESIZE:
        str_addf(out, "resize %dx%d", w, h);
        return;
    case EVENT_WAKE:
        str_add(out, "wake");
        return;
    case EVENT_GROUND:
        str_addf(out, "ground %06x", (unsigned)e->ground);
        return;
    case EVENT_RESUME:
        str_addf(out, "resume %dx%d", w, h);
        return;
    default:
        str_addf(out, "event %d", (int)e->kind);
    }
}

/* Row 0: the event; 1: roles; 2: wide characters; 3: heat; the last: a caret. */
static void draw_picture(Canvas *c, const char *event) {
    canvas_clear(c);
    canvas_text(c, 0, 0, -1, event, STYLE_TEXT, ATTRIBUTE_NONE);
    canvas_text(c, 0, 1, -1, "model", STYLE_MODEL, ATTRIBUTE_BOLD);
    canvas_text(c, 6, 1, -1, "truth", STYLE_TRUTH, ATTRIBUTE_UNDERLINE);
    canvas_text(c, 12, 1, -1, "plain", STYLE_TEXT, ATTRIBUTE_REVERSE);
    canvas_text(c, 0, 2, -1, TERM_STAGE_WIDE "|e\xCC\x81|\xE2\x94\x82", STYLE_TEXT, ATTRIBUTE_NONE);
    canvas_heat(c, 0, 3, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 0, 255);
    canvas_heat(c, 1, 3, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 90, 90);
    canvas_heat(c, 2, 3, CANVAS_HALF_UPPER, HEAT_DIVERGING, 255, 0);
    canvas_heat(c, 3, 3, '7', HEAT_SEQUENTIAL, 255, 255);
    canvas_heat(c, 4, 3, CANVAS_HALF_LOWER, HEAT_SEQUENTIAL, 0, 255);
    if (canvas_cell(c, 4, 3) != NULL) canvas_cell(c, 4, 3)->void_top = true;
    canvas_heat(c, 5, 3, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 255, 0);
    if (canvas_cell(c, 5, 3) != NULL) canvas_cell(c, 5, 3)->void_bottom = true;
    canvas_halves(c, 6, 3, STYLE_MODEL, STYLE_TRUTH);
    canvas_put(c, 7, 3, 0x2588, STYLE_MODEL, ATTRIBUTE_NONE);
    canvas_put(c, 5, c->h - 1, 'c', STYLE_CURSOR, ATTRIBUTE_CARET);
}

/* A full screen of heat, another one for each PHASE. */
static void draw_heat_frame(Canvas *c, int phase) {
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            uint8_t heat[2];
            for (int k = 0; k < 2; k++) {
                double dx = (double)x / c->w - 0.5 - 0.02 * phase,
                       dy = (2.0 * y + k) / (2.0 * c->h) - 0.5 + 0.01 * phase;
                heat[k] = (uint8_t)(250 / (1 + 9 * (dx * dx + dy * dy)));
            }
            canvas_heat(c, x, y, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, heat[0], heat[1]);
        }
}

void term_stage_mixed(Canvas *c, int phase) {
    static const char *const texts[] = {"a", TERM_STAGE_WIDE, "\xE2\x94\x82", "lantern", "x" TERM_STAGE_WIDE "x"};
    Rng rng = rng_at(7, "mixed", 0);
    canvas_clear(c);
    for (int i = 0; i < 400; i++) {
        if (i == 200) rng = rng_at(7, "mixed", (uint64_t)phase);
        int x = (int)rng_below(&rng, (uint64_t)c->w), y = (int)rng_below(&rng, (uint64_t)c->h);
        uint8_t top = (uint8_t)(rng_below(&rng, 3) * 100), bottom = (uint8_t)(rng_below(&rng, 3) * 100);
        int n = 1 + (int)rng_below(&rng, 6);
        if (rng_below(&rng, 2)) canvas_text(c, x, y, -1, texts[rng_below(&rng, 5)], STYLE_MODEL, ATTRIBUTE_NONE);
        for (int k = 0; k < n; k++) canvas_heat(c, x + k, y, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, top, bottom);
    }
}

static void draw_mixed(Term *t, Canvas *c) {
    for (int phase = 0; phase < TERM_STAGE_MIXED; phase++) {
        term_stage_mixed(c, phase);
        t->present(t, c, &term_stage->style);
    }
    (void)t->next(t, -1, -1);
}

/* The dearest of ten full frames, and ten that change nothing. */
static void measure(Term *t, Canvas *c) {
    for (int phase = 0; phase < 10; phase++) {
        long writes = 0, bytes = 0, writes_after = 0, bytes_after = 0;
        draw_heat_frame(c, phase);
        term_stage->counted = pty_count_writes(&writes, &bytes);
        t->present(t, c, &term_stage->style);
        pty_count_writes(&writes_after, &bytes_after);
        if (phase > 0 && writes_after - writes > term_stage->writes) term_stage->writes = writes_after - writes;
        if (phase > 0 && bytes_after - bytes > term_stage->bytes) term_stage->bytes = bytes_after - bytes;
    }
    long writes = 0, bytes = 0;
    pty_count_writes(&writes, &bytes);
    for (int i = 0; i < 10; i++) t->present(t, c, &term_stage->style);
    pty_count_writes(&term_stage->same_writes, &term_stage->same_bytes);
    term_stage->same_writes -= writes;
    term_stage->same_bytes -= bytes;
}

static void act(Term *t, Canvas *c, const Event *e, int wake) {
    if (e->kind != EVENT_KEY) return;
    switch (e->key) {
    case 'S':
        t->suspend(t);
        break;
    case 'R':
        t->repaint(t);
        break;
    case 'm':
        t->set_mouse(t, false);
        break;
    case 'M':
        t->set_mouse(t, true);
        break;
    case 'w':
        if (write(wake, "x", 1) != 1) abort();
        break;
    case 'B':
        BUG_ON(c->w > 0);
        break;
    case 'C':
        measure(t, c);
        break;
    case 'D':
        draw_mixed(t, c);
        break;
    case 'l':
        term_stage->style.theme = THEME_LIGHT;
        break;
    case '0': {
        Event none = t->next(t, 0, -1);
        Event soon = t->next(t, 0.01, -1);
        if (none.kind != EVENT_NONE || soon.kind != EVENT_NONE) abort();
        break;
    }
    default:
        break;
    }
}

static int play(Term *t) {
    int wake[2], w, h, number = 0, signal_number = -1;
    Str text;
    Event e = {0};
    char byte;
    if (pipe(wake) != 0) return 90;
    str_init(&text);
    str_add(&text, "ready");
    while (signal_number < 0) {
        t->size(t, &w, &h);
        Canvas *c = canvas_new(w, h, t->glyphs(t));
        c->heat_colour = c->heat_colour && style_heat_is_colour(&term_stage->style);
        draw_picture(c, text.s);
        t->present(t, c, &term_stage->style);
        e = t->next(t, -1, wake[0]);
        if (e.kind == EVENT_WAKE && read(wake[0], &byte, 1) != 1) return 91;
        act(t, c, &e, wake[1]);
        canvas_free(c);
        str_clear(&text);
        str_addf(&text, "#%d ", ++number);
        describe(&e, t, &text);
        if (e.kind == EVENT_QUIT) signal_number = e.signal;
        if (e.kind == EVENT_KEY && e.key == 'q') signal_number = 0;
    }
    str_done(&text);
    return signal_number;
}

int term_stage_run(void *user) {
    (void)user;
    Term *t = NULL;
    setlocale(LC_ALL, term_stage->locale == NULL ? "C.UTF-8" : term_stage->locale);
    Status s = term_curses_open(&term_stage->options, &t);
    if (!status_is_ok(&s)) {
        printf("%s\n", s.text);
        return s.code;
    }
    term_stage->style.depth = t->depth(t);
    int signal_number = play(t);
    t->free(t);
    if (signal_number > 0) raise(signal_number);
    return 0;
}

void term_stage_new(void) {
    term_stage = mmap(NULL, sizeof *term_stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(term_stage != MAP_FAILED);
    *term_stage = (TermStage){.options = {.depth = -1, .glyphs = -1, .mouse = true, .utf8 = true},
                              .style = {.theme = THEME_DARK, .map = MAP_VIRIDIS, .depth = DEPTH_256}};
}

void term_stage_free(void) {
    munmap(term_stage, sizeof *term_stage);
}

Pty *term_stage_open(const PtyOptions *o) {
    return pty_call(o, term_stage_run, NULL);
}

void term_stage_close(Pty *p) {
    pty_type(p, "q");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_free(p);
    term_stage_free();
}
