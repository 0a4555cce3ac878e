/* The real terminal, inside a pseudo-terminal that libvterm shows: what is drawn, what is typed, sizes, modes, signals,
 * and what it costs in writes and bytes. */
#include "expect.h"

#include "draw.h"
#include "pty.h"
#include "rng.h"
#include "style.h"
#include "term.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDE "\xE4\xB8\xAD\xE6\x96\x87" /* 中文 */

/* ---- the program under test: shows a picture and the last event; some keys make it do things ---- */

typedef struct {
    TermOptions options;
    const char *locale; /* NULL: C.UTF-8 */
    StyleSheet style;
    /* written by the child */
    long writes, bytes, same_writes, same_bytes;
    bool counted;
} Stage;

static Stage *stage; /* shared with the child */

static void new_stage(void) {
    stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(stage != MAP_FAILED);
    *stage = (Stage){.options = {.depth = -1, .glyphs = -1, .mouse = true, .utf8 = true},
                     .style = {THEME_DARK, MAP_VIRIDIS, DEPTH_256}};
}

static void free_stage(void) {
    munmap(stage, sizeof *stage);
}

/* Calls of write and their bytes by this process, as the kernel counts them. */
static bool count_writes(long *calls, long *bytes) {
    char line[128];
    int found = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (f == NULL) return false;
    while (fgets(line, sizeof line, f) != NULL) {
        found += sscanf(line, "syscw: %ld", calls);
        found += sscanf(line, "wchar: %ld", bytes);
    }
    fclose(f);
    return found == 2;
}

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
    canvas_text(c, 0, 2, -1, WIDE "|e\xCC\x81|\xE2\x94\x82", STYLE_TEXT, ATTRIBUTE_NONE);
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

/* Words, wide characters and heat, some of them otherwise in each PHASE, the more the later it began to differ. */
static void draw_mixed_frame(Canvas *c, int phase) {
    static const char *const texts[] = {"a", WIDE, "\xE2\x94\x82", "lantern", "x" WIDE "x"};
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

enum { MIXED = 60 };

static void draw_mixed(Term *t, Canvas *c) {
    for (int phase = 0; phase < MIXED; phase++) {
        draw_mixed_frame(c, phase);
        t->present(t, c, &stage->style);
    }
    (void)t->next(t, -1, -1);
}

/* The dearest of ten full frames, and ten that change nothing. */
static void measure(Term *t, Canvas *c) {
    for (int phase = 0; phase < 10; phase++) {
        long writes = 0, bytes = 0, writes_after = 0, bytes_after = 0;
        draw_heat_frame(c, phase);
        stage->counted = count_writes(&writes, &bytes);
        t->present(t, c, &stage->style);
        count_writes(&writes_after, &bytes_after);
        if (phase > 0 && writes_after - writes > stage->writes) stage->writes = writes_after - writes;
        if (phase > 0 && bytes_after - bytes > stage->bytes) stage->bytes = bytes_after - bytes;
    }
    long writes = 0, bytes = 0;
    count_writes(&writes, &bytes);
    for (int i = 0; i < 10; i++) t->present(t, c, &stage->style);
    count_writes(&stage->same_writes, &stage->same_bytes);
    stage->same_writes -= writes;
    stage->same_bytes -= bytes;
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
        stage->style.theme = THEME_LIGHT;
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
        c->heat_colour = c->heat_colour && style_heat_is_colour(&stage->style);
        draw_picture(c, text.s);
        t->present(t, c, &stage->style);
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

static int run_stage(void *user) {
    (void)user;
    Term *t = NULL;
    setlocale(LC_ALL, stage->locale == NULL ? "C.UTF-8" : stage->locale);
    Status s = term_curses_open(&stage->options, &t);
    if (!status_is_ok(&s)) {
        printf("%s\n", s.text);
        return s.code;
    }
    stage->style.depth = t->depth(t);
    int signal_number = play(t);
    t->free(t);
    if (signal_number > 0) raise(signal_number);
    return 0;
}

static const PtyOptions plain;

static Pty *open_stage(const PtyOptions *o) {
    return pty_call(o, run_stage, NULL);
}

static void close_stage(Pty *p) {
    pty_type(p, "q");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_free(p);
    free_stage();
}

/* ---- drawing ---- */

/* Halves may come with either in front, and what is in front of a cell of one colour does not show. */
static void assert_cell(Pty *p, int x, int y, uint32_t ch, int fg, int bg) {
    PtyCell cell = pty_cell(p, x, y);
    if (cell.ch == 0x2584 && ch == 0x2580 && cell.bg >= 0) cell = (PtyCell){.ch = 0x2580, .fg = cell.bg, .bg = cell.fg};
    if (cell.ch == 0xA0 && ch == 0xA0) cell.fg = fg;
    if (cell.ch != ch || cell.fg != fg || cell.bg != bg)
        fail_msg("(%d, %d): U+%04X %d on %d, not U+%04X %d on %d", x, y, cell.ch, cell.fg, cell.bg, ch, fg, bg);
}

static void cells_come_out_as_drawn(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 2, WIDE "|\xC3\xA9|\xE2\x94\x82");
    const StyleSheet *s = &stage->style;
    PtyCell model = pty_cell(p, 0, 1), truth = pty_cell(p, 6, 1), reversed = pty_cell(p, 12, 1);
    assert_int_equal(model.fg, style_role(s, STYLE_MODEL, 0).fg);
    assert_int_equal(model.bg, -1);
    assert_true(model.bold && !model.underline && !model.reverse);
    assert_int_equal(truth.fg, style_role(s, STYLE_TRUTH, 0).fg);
    assert_true(!truth.bold && truth.underline);
    assert_true(reversed.reverse);
    assert_int_equal(pty_cell(p, 0, 2).width, 2);
    assert_int_equal(pty_cell(p, 2, 2).ch, 0x6587);
    close_stage(p);
}

static void heat_comes_out_in_its_colours(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    const StyleSheet *s = &stage->style;
    int low = style_heat(s, HEAT_SEQUENTIAL, 0), middle = style_heat(s, HEAT_SEQUENTIAL, 90),
        high = style_heat(s, HEAT_SEQUENTIAL, 255);
    int model = style_role(s, STYLE_MODEL, 0).fg, truth = style_role(s, STYLE_TRUTH, 0).fg;
    assert_cell(p, 0, 3, 0x2580, low, high);
    assert_cell(p, 1, 3, 0xA0, -1, middle);
    assert_cell(p, 2, 3, 0x2580, style_heat(s, HEAT_DIVERGING, 255), style_heat(s, HEAT_DIVERGING, 0));
    assert_cell(p, 3, 3, '7', style_on_heat(s, HEAT_SEQUENTIAL, 255).fg, high);
    assert_cell(p, 4, 3, 0x2584, high, -1);
    assert_cell(p, 5, 3, 0x2580, high, -1);
    assert_cell(p, 6, 3, 0x2580, model, truth);
    assert_cell(p, 7, 3, 0xA0, -1, model);
    pty_type(p, "l");
    pty_expect_line(p, 0, "#1 key l"); /* the theme changes: every cell follows */
    s = &stage->style;
    assert_cell(p, 6, 3, 0x2580, style_role(s, STYLE_MODEL, 0).fg, style_role(s, STYLE_TRUTH, 0).fg);
    assert_int_not_equal(model, style_role(s, STYLE_MODEL, 0).fg);
    close_stage(p);
}

static bool is_mixed(Pty *p, void *user) {
    const Canvas *c = user;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *want = &c->cell[(size_t)y * (size_t)c->stride + (size_t)x];
            PtyCell cell = pty_cell(p, x, y);
            if (want->map == HEAT_NONE && cell.ch != want->ch) return false;
            if (want->map == HEAT_NONE) continue;
            int top = style_heat(&stage->style, HEAT_SEQUENTIAL, want->top),
                bottom = style_heat(&stage->style, HEAT_SEQUENTIAL, want->bottom);
            bool up = cell.ch == 0x2580 && cell.fg == top && cell.bg == bottom;
            bool down = cell.ch == 0x2584 && cell.fg == bottom && cell.bg == top;
            if (!up && !down && !(cell.ch == 0xA0 && cell.bg == top && top == bottom)) return false;
        }
    return true;
}

/* Of each frame only what differs is sent: after many the screen is as if the last had come alone. */
static void frame_after_frame_is_as_drawn(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    Canvas *c = canvas_new(80, 24, GLYPHS_HALF);
    pty_expect_line(p, 0, "ready");
    draw_mixed_frame(c, MIXED - 1);
    pty_type(p, "D");
    pty_expect_if(p, is_mixed, c, "the last frame");
    canvas_free(c);
    pty_type(p, "x");
    pty_expect_line(p, 0, "#1 key D");
    close_stage(p);
}

static void the_cursor_is_hidden_at_the_caret(void **state) {
    (void)state;
    int x = 0, y = 0;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    assert_false(pty_cursor_visible(p));
    pty_cursor(p, &x, &y);
    assert_int_equal(x, 5);
    assert_int_equal(y, 23);
    assert_true(pty_alternate(p));
    close_stage(p);
}

/* ---- input ---- */

static int events;

static void assert_event(Pty *p, const char *bytes, const char *want) {
    char line[200];
    pty_type(p, bytes);
    snprintf(line, sizeof line, "#%d %s", ++events, want);
    pty_expect_line(p, 0, line);
}

static void keys_of_all_terminals(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *name;
    } keys[] = {
        {"a", "a"},
        {"\xE4\xB8\xAD", "\xE4\xB8\xAD"},
        {"\r", "<Enter>"},
        {"\t", "<Tab>"},
        {"\x7F", "<Backspace>"},
        {"\033", "<Esc>"},
        {"\x03", "<C-c>"},
        {"\x1A", "<C-z>"},
        {"\x13", "<C-s>"},
        {"\x16", "<C-v>"},
        {"\x0F", "<C-o>"},
        {"\033[A", "<Up>"},
        {"\033OA", "<Up>"},
        {"\033[B", "<Down>"},
        {"\033OB", "<Down>"},
        {"\033[C", "<Right>"},
        {"\033OC", "<Right>"},
        {"\033[D", "<Left>"},
        {"\033OD", "<Left>"},
        {"\033[H", "<Home>"},
        {"\033OH", "<Home>"},
        {"\033[1~", "<Home>"},
        {"\033[7~", "<Home>"},
        {"\033[F", "<End>"},
        {"\033OF", "<End>"},
        {"\033[4~", "<End>"},
        {"\033[8~", "<End>"},
        {"\033[2~", "<Insert>"},
        {"\033[3~", "<Delete>"},
        {"\033[5~", "<PageUp>"},
        {"\033[6~", "<PageDown>"},
        {"\033[Z", "<S-Tab>"},
        {"\033OP", "<F1>"},
        {"\033OS", "<F4>"},
        {"\033[15~", "<F5>"},
        {"\033[24~", "<F12>"},
        {"\033[99;5u\033[?62cx", "x"},
        {"\xFF\xFEy", "y"},
        {"\033[I\033[Oz", "z"},
    };
    static const char *const terms[] = {"xterm-256color", "tmux-256color", "screen-256color", "linux", "vt100"};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        new_stage();
        events = 0;
        Pty *p = open_stage(&(PtyOptions){.term = terms[t]});
        pty_expect_line(p, 0, "ready");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            char want[40];
            snprintf(want, sizeof want, "key %s", keys[i].name);
            assert_event(p, keys[i].bytes, want);
        }
        close_stage(p);
    }
}

static void what_is_split_is_joined(void **state) {
    (void)state;
    new_stage();
    events = 0;
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "\xE4\xB8");
    assert_event(p, "\xAD", "key \xE4\xB8\xAD");
    pty_type(p, "\033");
    assert_event(p, "[A", "key <Up>");
    pty_type(p, "\033[<0;1");
    assert_event(p, "1;6M", "mouse press 10,5");
    close_stage(p);
}

/* Typed faster than it is read: more than any buffer on the way holds. */
static void a_burst_comes_whole(void **state) {
    (void)state;
    static const int lengths[] = {500, 5000};
    for (int i = 0; i < 2; i++) {
        Str burst;
        str_init(&burst);
        for (int n = 0; n < lengths[i]; n++) str_add_char(&burst, "123456789."[n % 10]);
        new_stage();
        Pty *p = open_stage(&plain);
        pty_expect_line(p, 0, "ready");
        events = lengths[i];
        pty_type(p, burst.s);
        assert_event(p, "x", "key x");
        str_done(&burst);
        close_stage(p);
    }
}

static void the_mouse_is_reported_and_can_be_switched_off(void **state) {
    (void)state;
    new_stage();
    events = 0;
    Pty *p = open_stage(&(PtyOptions){.w = 250, .h = 30, .term = "tmux-256color"});
    pty_expect_line(p, 0, "ready");
    assert_true(pty_mouse(p));
    assert_event(p, "\033[<0;240;6M", "mouse press 239,5"); /* beyond what the old reports can say */
    assert_event(p, "\033[<32;241;7M", "mouse drag 240,6");
    assert_event(p, "\033[<0;241;7m", "mouse release 240,6");
    assert_event(p, "\033[<64;1;1M", "mouse up 0,0");
    assert_event(p, "\033[<65;1;1M", "mouse down 0,0");
    assert_event(p, "\033[M +&", "mouse press 10,5");
    assert_event(p, "m", "key m");
    assert_false(pty_mouse(p));
    assert_event(p, "M", "key M");
    assert_true(pty_mouse(p));
    close_stage(p);
}

static void a_paste_runs_nothing(void **state) {
    (void)state;
    new_stage();
    events = 0;
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    assert_true(pty_paste(p));
    assert_event(p, "\033[200~q \xE4\xB8\xAD\033[A!\033[201~", "paste [q \xE4\xB8\xAD!]");
    assert_event(p, "x", "key x");
    close_stage(p);
}

/* Asked at once, answered whenever: keys before it are answered, and nothing of it becomes one. */
static void the_ground_is_asked_for(void **state) {
    (void)state;
    new_stage();
    events = 0;
    stage->options.ask_ground = true;
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    assert_non_null(strstr(pty_bytes(p)->s, "\033]11;?\033\\"));
    assert_event(p, "x", "key x");
    assert_event(p, "\033", "key <Esc>");
    assert_event(p, "\033]11;rgb:ffff/0000/8080\033\\", "ground ff0080");
    assert_event(p, "\033]11;rgb:0000/0000/8080\x07", "ground 000080"); /* a second one, unasked */
    assert_event(p, "y", "key y");
    close_stage(p);
}

static void an_answer_may_come_in_pieces(void **state) {
    (void)state;
    static const char *const pieces[] = {"\033", "]", "1", "1;rg", "b:ffff/", "eeee", "/dddd", "\033", NULL};
    new_stage();
    events = 0;
    stage->options.ask_ground = true;
    Pty *p = open_stage(&(PtyOptions){.term = "screen-256color"});
    pty_expect_line(p, 0, "ready");
    for (int i = 0; pieces[i] != NULL; i++) {
        pty_type(p, pieces[i]);
        pty_expect_read(p);
    }
    assert_event(p, "\\", "ground ffeedd");
    assert_event(p, "x", "key x");
    close_stage(p);
}

static void who_would_print_the_question_is_not_asked(void **state) {
    (void)state;
    static const char *const terms[] = {"linux", "vt100"};
    for (int i = 0; i < 2; i++) {
        new_stage();
        stage->options.ask_ground = true;
        Pty *p = open_stage(&(PtyOptions){.term = terms[i]});
        pty_expect_line(p, 0, "ready");
        assert_null(strstr(pty_bytes(p)->s, "\033]11"));
        close_stage(p);
    }
}

static void a_wake_and_time_outs(void **state) {
    (void)state;
    new_stage();
    events = 0;
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "w");
    pty_expect_line(p, 0, "#2 wake");
    events = 2;
    assert_event(p, "0", "key 0");
    close_stage(p);
}

/* ---- size ---- */

static void a_new_size_is_followed(void **state) {
    (void)state;
    static const int sizes[][2] = {{40, 10}, {120, 50}, {20, 6}, {200, 60}, {12, 3}};
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char line[60];
        snprintf(line, sizeof line, "#%d resize %dx%d", (int)i + 1, sizes[i][0], sizes[i][1]);
        if (strlen(line) > (size_t)sizes[i][0]) line[sizes[i][0]] = '\0';
        pty_resize(p, sizes[i][0], sizes[i][1]);
        pty_expect_line(p, 0, line);
    }
    pty_resize(p, 1, 2);
    pty_expect_line(p, 1, "m");
    pty_resize(p, 1, 1); /* may go by unseen */
    pty_resize(p, 80, 24);
    pty_expect(p, "resize 80x24");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 23, "     c");
    close_stage(p);
}

/* Smaller and back before anybody looks: the size is the same, what was on the terminal is gone. */
static void a_size_that_comes_back_is_drawn_again(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 1, "model truth plain");
    pty_print(p, "\033[2J");
    pty_expect_line(p, 1, "");
    pty_signal(p, SIGWINCH);
    pty_expect_line(p, 0, "#1 resize 80x24");
    pty_expect_line(p, 1, "model truth plain");
    close_stage(p);
}

/* Hundreds of sizes at once, most of them never seen: the last one counts. */
static void a_storm_of_sizes(void **state) {
    (void)state;
    Rng rng = rng_at(1, "sizes", 0);
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    for (int i = 0; i < 400; i++) {
        pty_resize(p, 1 + (int)rng_below(&rng, 300), 1 + (int)rng_below(&rng, 100));
        if (i % 7 == 0) pty_type(p, "\033[A\xE4\xB8\xAD\033[<0;9;9M\xFFx");
    }
    pty_resize(p, 70, 20);
    pty_expect_line(p, 19, "     c");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 2, WIDE "|\xC3\xA9|\xE2\x94\x82");
    pty_expect_line(p, 10, "");
    close_stage(p);
}

/* ---- restoring ---- */

static void every_end_gives_the_terminal_back(void **state) {
    (void)state;
    static const int signals[] = {0, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        new_stage();
        Pty *p = open_stage(&plain);
        pty_expect_line(p, 0, "ready");
        assert_false(pty_is_given_back(p));
        if (signals[i] == 0)
            pty_type(p, "q");
        else
            pty_signal(p, signals[i]);
        assert_int_equal(pty_expect_exit(p), signals[i] == 0 ? 0 : 128 + signals[i]);
        pty_expect_given_back(p);
        pty_free(p);
        free_stage();
    }
}

static void the_quit_character_is_a_way_out(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "\x1C");
    assert_int_equal(pty_expect_exit(p), 128 + SIGQUIT);
    pty_expect_given_back(p);
    pty_free(p);
    free_stage();
}

static void a_bug_is_told_on_a_terminal_given_back(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "B");
    assert_int_equal(pty_expect_exit(p), 128 + SIGABRT);
    pty_expect_given_back(p);
    pty_expect(p, "lantern: bug at ");
    pty_free(p);
    free_stage();
}

static void stop_and_go_on(Pty *p, int number) {
    char line[60];
    pty_expect_stop(p);
    pty_expect_given_back(p);
    pty_resize(p, 60, 20 + number); /* while it is stopped */
    pty_continue(p);
    snprintf(line, sizeof line, "#%d resume 60x%d", number, 20 + number);
    pty_expect_line(p, 0, line);
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 19 + number, "     c");
    assert_true(pty_alternate(p) && pty_mouse(p) && pty_paste(p) && !pty_cursor_visible(p));
}

static void stopping_and_going_on(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_signal(p, SIGTSTP); /* from outside */
    stop_and_go_on(p, 1);
    pty_type(p, "S"); /* by a key: event 2 is the key, event 3 the return */
    stop_and_go_on(p, 3);
    pty_type(p, "x");
    pty_expect_line(p, 0, "#4 key x");
    close_stage(p);
}

static void a_stop_that_nobody_sees_coming(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_signal(p, SIGSTOP);
    pty_expect_stop(p);
    pty_continue(p);
    pty_expect_line(p, 0, "#1 resume 80x24");
    pty_expect_line(p, 1, "model truth plain");
    close_stage(p);
}

static void a_repaint_draws_everything(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    size_t before = pty_bytes(p)->len;
    pty_type(p, "R");
    pty_expect_line(p, 0, "#1 key R");
    pty_expect_line(p, 1, "model truth plain");
    assert_non_null(strstr(pty_bytes(p)->s + before, "model"));
    before = pty_bytes(p)->len;
    pty_type(p, "x");
    pty_expect_line(p, 0, "#2 key x");
    assert_null(strstr(pty_bytes(p)->s + before, "model")); /* and otherwise only what changed */
    close_stage(p);
}

/* ---- cost ---- */

static void frames_cost_few_writes(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&(PtyOptions){.w = 200, .h = 60});
    pty_expect_line(p, 0, "ready");
    pty_type(p, "C");
    pty_expect_line(p, 0, "#1 key C");
    if (stage->counted) {
        assert_in_range(stage->writes, 1, 20);
        assert_in_range(stage->bytes, 1000, 35 * 1024);
        assert_int_equal(stage->same_writes, 0);
        assert_int_equal(stage->same_bytes, 0);
    } else {
        print_message("no /proc/self/io: writes are not counted\n");
    }
    close_stage(p);
}

/* Each frame lies between the two marks of synchronised output, and no frame is sent in parts without them. */
static void frames_are_synchronised(void **state) {
    (void)state;
    new_stage();
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "x");
    pty_expect_line(p, 0, "#1 key x");
    const char *s = pty_bytes(p)->s;
    const char *begin = strstr(s, "\033[?2026h"), *text = strstr(s, "ready"), *end = strstr(s, "\033[?2026l");
    assert_true(begin != NULL && begin < text && text < end);
    close_stage(p);
}

/* ---- kinds of terminals ---- */

static void assert_refused(const char *term, const char *sentence) {
    Pty *p = pty_call(&(PtyOptions){.w = 200, .h = 10, .term = term}, run_stage, NULL);
    assert_int_equal(pty_expect_exit(p), STATUS_USAGE);
    pty_expect_line(p, 0, sentence);
    assert_false(pty_alternate(p));
    pty_free(p);
}

static void what_cannot_be_used_is_refused(void **state) {
    (void)state;
    new_stage();
    assert_refused("", "TERM is not set; it names the kind of terminal, for example TERM=xterm-256color");
    assert_refused("nosuch", "the terminal TERM=nosuch is not known here; TERM=xterm-256color fits most");
    assert_refused("dumb", "the terminal TERM=dumb cannot move its cursor, so no picture can be drawn");
    stage->options.depth = DEPTH_TRUE;
    assert_refused("screen-256color",
                   "GNU screen (TERM=screen-256color) garbles true colour; allowed: 256 colours and less");
    stage->options.depth = DEPTH_256;
    assert_refused(
        "vt100",
        "TERM=vt100 has no such colours, and vt100-256color is not known here; leave the colours to be found out");
    stage->options.depth = -1;
    stage->options.utf8 = false;
    stage->options.glyphs = GLYPHS_BRAILLE;
    assert_refused("xterm", "these glyphs need a UTF-8 locale, for example LANG=C.UTF-8; allowed without one: ascii");
    free_stage();
}

static int open_without_terminal(void *user) {
    (void)user;
    Term *t;
    int saved = dup(1), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    Status s = term_curses_open(&stage->options, &t);
    dup2(saved, 1);
    printf("%s\n", s.text);
    return s.code;
}

static void no_terminal_no_screen(void **state) {
    (void)state;
    new_stage();
    Pty *p = pty_call(&plain, open_without_terminal, NULL);
    assert_int_equal(pty_expect_exit(p), STATUS_USAGE);
    pty_expect_line(p, 0, "the screen needs a terminal: standard input or output is none");
    pty_free(p);
    free_stage();
}

static void assert_depth(const char *term, const char *const *env, Depth want) {
    Pty *p = open_stage(&(PtyOptions){.term = term, .env = env});
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 1, "model truth plain");
    assert_int_equal(stage->style.depth, want);
    int fg = pty_cell(p, 0, 1).fg;
    StyleSheet s = stage->style;
    assert_int_equal(fg, style_role(&s, STYLE_MODEL, 0).fg);
    pty_type(p, "q");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_free(p);
}

static void the_depth_is_found_out(void **state) {
    (void)state;
    static const char *const no_color[] = {"NO_COLOR=1", NULL}, *const empty[] = {"NO_COLOR=", NULL};
    static const char *const true_color[] = {"COLORTERM=truecolor", NULL};
    new_stage();
    assert_depth("xterm-256color", NULL, DEPTH_256);
    assert_depth("tmux-256color", NULL, DEPTH_256);
    assert_depth("xterm-256color", no_color, DEPTH_MONO);
    assert_depth("xterm-256color", empty, DEPTH_256);
    assert_depth("xterm-256color", true_color, DEPTH_256); /* only when asked for */
    assert_depth("xterm", NULL, DEPTH_8);
    assert_depth("linux", NULL, DEPTH_8);
    assert_depth("vt100", NULL, DEPTH_MONO);
    stage->options.depth = DEPTH_256;
    assert_depth("xterm", no_color, DEPTH_256); /* what is asked for beats the environment */
    stage->options.depth = DEPTH_MONO;
    assert_depth("xterm-256color", NULL, DEPTH_MONO);
    stage->options.depth = DEPTH_8;
    assert_depth("xterm-256color", NULL, DEPTH_8);
    free_stage();
}

/* True colour in the ";" form, which libvterm reads well; the description comes with ncurses-term. */
static void true_colour_when_asked_for(void **state) {
    (void)state;
    if (access("/usr/share/terminfo/v/vte-direct", R_OK) != 0) skip();
    new_stage();
    stage->options.depth = DEPTH_TRUE;
    Pty *p = open_stage(&(PtyOptions){.term = "vte-256color"});
    pty_expect_line(p, 0, "ready");
    assert_int_equal(stage->style.depth, DEPTH_TRUE);
    const StyleSheet *s = &stage->style;
    assert_cell(p, 0, 3, 0x2580, style_heat(s, HEAT_SEQUENTIAL, 0), style_heat(s, HEAT_SEQUENTIAL, 255));
    assert_int_equal(pty_cell(p, 0, 1).fg, style_role(s, STYLE_MODEL, 0).fg);
    close_stage(p);
}

static void without_utf8_all_is_ascii(void **state) {
    (void)state;
    new_stage();
    stage->options.utf8 = false;
    stage->locale = "C";
    Pty *p = open_stage(&plain);
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 2,
                    "????|e|"
                    "|");
    for (size_t i = 0; i < pty_bytes(p)->len; i++) assert_in_range((unsigned char)pty_bytes(p)->s[i], 1, 0x7F);
    close_stage(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_out_as_drawn),
        cmocka_unit_test(heat_comes_out_in_its_colours),
        cmocka_unit_test(frame_after_frame_is_as_drawn),
        cmocka_unit_test(the_cursor_is_hidden_at_the_caret),
        cmocka_unit_test(keys_of_all_terminals),
        cmocka_unit_test(what_is_split_is_joined),
        cmocka_unit_test(a_burst_comes_whole),
        cmocka_unit_test(the_mouse_is_reported_and_can_be_switched_off),
        cmocka_unit_test(a_paste_runs_nothing),
        cmocka_unit_test(the_ground_is_asked_for),
        cmocka_unit_test(an_answer_may_come_in_pieces),
        cmocka_unit_test(who_would_print_the_question_is_not_asked),
        cmocka_unit_test(a_wake_and_time_outs),
        cmocka_unit_test(a_new_size_is_followed),
        cmocka_unit_test(a_size_that_comes_back_is_drawn_again),
        cmocka_unit_test(a_storm_of_sizes),
        cmocka_unit_test(every_end_gives_the_terminal_back),
        cmocka_unit_test(the_quit_character_is_a_way_out),
        cmocka_unit_test(a_bug_is_told_on_a_terminal_given_back),
        cmocka_unit_test(stopping_and_going_on),
        cmocka_unit_test(a_stop_that_nobody_sees_coming),
        cmocka_unit_test(a_repaint_draws_everything),
        cmocka_unit_test(frames_cost_few_writes),
        cmocka_unit_test(frames_are_synchronised),
        cmocka_unit_test(what_cannot_be_used_is_refused),
        cmocka_unit_test(no_terminal_no_screen),
        cmocka_unit_test(the_depth_is_found_out),
        cmocka_unit_test(true_colour_when_asked_for),
        cmocka_unit_test(without_utf8_all_is_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
