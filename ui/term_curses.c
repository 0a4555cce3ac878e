/* term_curses: the real terminal, by ncurses with wide characters. The only file that sees curses.
 *
 * The picture is kept as it was sent (Painted), and only rows that differ are given to curses, which sends the cells
 * that differ: an unchanged frame costs nothing. Colour pairs are made when first used and never changed, so that
 * nothing on the screen is redrawn because a pair is. Our own modes (mouse, paste, synchronised output) and curses'
 * bytes meet on one file descriptor: curses writes its own buffer in doupdate, ours are written directly before and
 * after. */
#include "term.h"

#include "bug.h"
#include "clock.h"
#include "colour_pairs.h"
#include "ground.h"
#include "intl.h"
#include "mem.h"
#include "painted.h"
#include "str.h"
#include "term_decode.h"
#include "term_describe.h"
#include "term_signals.h"
#include "term_wait.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define ESCAPE_DELAY 100  /* ms that a sequence may be late after its escape */
#define ANSWER_DELAY 0.05 /* s that what follows the escape of an answer may be later still */
#define ANSWER_LEAVE 0.1  /* s that leaving waits for an answer that would come to the shell */
#define INPUT_FD     STDIN_FILENO
#define OUTPUT_FD    STDOUT_FILENO

/* Codes for define_key, above all of curses' own. */
enum { CODE_MOUSE = KEY_MAX + 1000, CODE_X10, CODE_PASTE, CODE_PASTE_END, CODE_FOCUS, CODE_KEY };

typedef struct {
    Term term;
    SCREEN *screen;
    WINDOW *keys; /* input comes by a pad: reading by a window would refresh it */
    bool mouse, resumed;
    Painted *shown; /* [h * w] as sent */
    Cell *drawn;    /* [h * w] what that was painted from; a row of ch UINT32_MAX: not known */
    cchar_t *line;  /* [w] one row on its way */
    int w, h;
    bool heat_colour; /* of the canvas that was drawn */
    ColourPairs pairs;
    Painting painting;
    TermDecoder decoder;
    TermWait wait;
} CursesTerm;

static CursesTerm *self(Term *t) {
    return (CursesTerm *)t;
}

static void send(const char *bytes) {
    for (size_t at = 0, count = strlen(bytes); at < count;) {
        ssize_t n = write(OUTPUT_FD, bytes + at, count - at);
        if (n > 0) at += (size_t)n;
        if (n >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) return; /* the terminal is gone: the next read says so */
        poll(&(struct pollfd){OUTPUT_FD, POLLOUT, 0}, 1, -1);
    }
}

/* ---- colours ---- */

/* What curses calls a colour: an index, -1, or RGB in a direct-colour terminal, where numbers below 8 are the palette
 * all the same. */
static int curses_colour(int32_t colour) {
    if (colour < 0) return -1;
    int value = colour & 0xFFFFFF;
    return colour > 0xFFFFFF && value < 8 ? 8 : value;
}

static int pair_of(CursesTerm *c, int32_t fg, int32_t bg) {
    if ((fg < 0 && bg < 0) || c->painting.depth == DEPTH_MONO) return 0;
    int pair = colour_pairs_find(&c->pairs, fg, bg), next = c->pairs.count + 1;
    if (pair != 0) return pair;
    if (next >= COLOR_PAIRS) return 0; /* a terminal of few pairs: the text is there, in its own colour */
    if (init_extended_pair(next, curses_colour(fg), curses_colour(bg)) == ERR) return 0;
    return colour_pairs_add(&c->pairs, fg, bg);
}

/* ---- painting ---- */

static attr_t curses_attributes(int attributes) {
    attr_t a = A_NORMAL;
    if ((attributes & ATTRIBUTE_BOLD) != 0) a |= A_BOLD;
    if ((attributes & ATTRIBUTE_REVERSE) != 0) a |= A_REVERSE;
    if ((attributes & ATTRIBUTE_UNDERLINE) != 0) a |= A_UNDERLINE;
    return a;
}

static int put_painted(CursesTerm *c, int n, const Painted *p, int width) {
    wchar_t text[2] = {(wchar_t)p->ch, L'\0'};
    int pair = pair_of(c, p->sent.fg, p->sent.bg);
    attr_t attributes = curses_attributes(p->sent.attributes);
    if (p->ch >= 0x80 && wcwidth((wchar_t)p->ch) != width) {
        text[0] = L'?';
        setcchar(&c->line[n], text, attributes, 0, &pair);
        for (int i = 1; i < width; i++) c->line[n + i] = c->line[n];
        return width;
    }
    setcchar(&c->line[n], text, attributes, 0, &pair);
    return 1;
}

/* The row is drawn as it was: most are, and then nothing of it need be painted. */
static bool is_as_drawn(CursesTerm *c, const Canvas *canvas, int y, int columns) {
    const Cell *row = &canvas->cell[(size_t)y * (size_t)canvas->stride];
    Cell *drawn = &c->drawn[(size_t)y * (size_t)c->w];
    if (columns > 0 && memcmp(row, drawn, (size_t)columns * sizeof *row) == 0) return true;
    memcpy(drawn, row, (size_t)columns * sizeof *row);
    return false;
}

/* Gives what differs of row Y from what was sent to curses, from the first such column to the last. */
static bool present_row(CursesTerm *c, const Canvas *canvas, int y) {
    Painted *shown = &c->shown[(size_t)y * (size_t)c->w];
    int columns = canvas->w < c->w ? canvas->w : c->w, first = columns, last = -1;
    if (is_as_drawn(c, canvas, y, columns)) return false;
    for (int x = 0; x < columns; x++) {
        Look look = painter_look(&c->painting.painter, canvas, x, y, c->w);
        if (painted_same(&look, &shown[x].look)) continue;
        /* where a wide character was or will be, both of its halves are concerned */
        int from = x > 0 && (look.ch == 0 || shown[x].ch == 0) ? x - 1 : x;
        if (from < first) first = from;
        shown[x] = painted_as(&c->painting, canvas, x, y, &look, x > 0 ? &shown[x - 1] : NULL);
        last = x;
    }
    if (last < 0) return false;
    while (last + 1 < columns && shown[last + 1].ch == 0) last++;
    int n = 0;
    for (int x = first; x <= last; x++) {
        if (shown[x].ch == 0) continue; /* curses fills the right half itself */
        n += put_painted(c, n, &shown[x], x + 1 < columns && shown[x + 1].ch == 0 ? 2 : 1);
    }
    mvadd_wchnstr(y, first, c->line, n);
    return true;
}

/* The terminal's own cursor, though hidden, stands at the caret or at the shared cursor: screen readers and input
 * methods look there. */
static void park_cursor(CursesTerm *c, const Canvas *canvas) {
    int at_x = -1, at_y = -1;
    bool caret = false;
    for (int y = 0; y < canvas->h && y < c->h && !caret; y++)
        for (int x = 0; x < canvas->w && x < c->w && !caret; x++) {
            const Cell *cell = &canvas->cell[(size_t)y * (size_t)canvas->stride + (size_t)x];
            caret = (cell->attributes & ATTRIBUTE_CARET) != 0;
            if (!caret && (cell->role != STYLE_CURSOR || at_x >= 0)) continue;
            at_x = x;
            at_y = y;
        }
    leaveok(stdscr, at_x < 0);
    if (at_x >= 0) wmove(stdscr, at_y, at_x);
}

/* What was drawn would look otherwise now. */
static void forget_drawn(CursesTerm *c) {
    size_t cells = (size_t)c->w * (size_t)c->h;
    for (size_t i = 0; i < cells; i++) c->drawn[i] = (Cell){.ch = UINT32_MAX};
}

static void present(Term *t, const Canvas *canvas, const StyleSheet *style) {
    CursesTerm *c = self(t);
    if (signals_gave_back()) return;
    if (!c->painting.painter.known || memcmp(&c->painting.painter.style, style, sizeof *style) != 0) forget_drawn(c);
    painter_set(&c->painting.painter, style);
    if (canvas->heat_colour != c->heat_colour) forget_drawn(c);
    c->heat_colour = canvas->heat_colour;
    bool changed = false;
    for (int y = 0; y < canvas->h && y < c->h; y++) changed = present_row(c, canvas, y) || changed;
    if (!changed) return;
    park_cursor(c, canvas);
    wnoutrefresh(stdscr);
    send(TERM_BEGIN_FRAME);
    doupdate();
    send(TERM_END_FRAME);
}

/* ---- size and modes ---- */

/* Forgets what was sent, so that the next frame is whole. */
static void forget_shown(CursesTerm *c) {
    getmaxyx(stdscr, c->h, c->w);
    c->painting.columns = c->w;
    size_t cells = (size_t)c->w * (size_t)c->h;
    c->shown = mem_resize(c->shown, cells + 1, sizeof *c->shown);
    c->drawn = mem_resize(c->drawn, cells + 1, sizeof *c->drawn);
    c->line = mem_resize(c->line, (size_t)c->w + 1, sizeof *c->line);
    for (size_t i = 0; i < cells; i++) c->shown[i] = (Painted){.ch = UINT32_MAX, .look.ch = UINT32_MAX};
    forget_drawn(c);
}

/* Asks for the size; false when it is the same. */
static bool follow_size(CursesTerm *c) {
    struct winsize size;
    if (ioctl(OUTPUT_FD, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return false;
    if (size.ws_row == c->h && size.ws_col == c->w) return false;
    resizeterm(size.ws_row, size.ws_col);
    forget_shown(c);
    return true;
}

static void set_modes(const CursesTerm *c) {
    send(TERM_ON_PASTE);
    if (c->mouse) send(TERM_ON_MOUSE);
}

static void clear_modes(void) {
    send(TERM_END_FRAME TERM_OFF_MOUSE TERM_OFF_PASTE);
}

static void repaint(Term *t) {
    forget_shown(self(t));
    clearok(stdscr, TRUE);
}

/* Ours again, after another program had the terminal. */
static void take_back(CursesTerm *c) {
    reset_prog_mode();
    refresh(); /* leaves the state that endwin made */
    curs_set(0);
    set_modes(c);
    follow_size(c);
    repaint(&c->term);
    c->resumed = true;
}

static void suspend(Term *t) {
    clear_modes();
    endwin();
    signals_stop_process();
    take_back(self(t));
}

static void set_mouse(Term *t, bool on) {
    CursesTerm *c = self(t);
    if (on == c->mouse) return;
    c->mouse = on;
    send(on ? TERM_ON_MOUSE : TERM_OFF_MOUSE);
}

static void get_size(Term *t, int *w, int *h) {
    *w = self(t)->w;
    *h = self(t)->h;
}

static Glyphs get_glyphs(Term *t) {
    return self(t)->painting.glyphs;
}
static Depth get_depth(Term *t) {
    return self(t)->painting.depth;
}

/* ---- input ---- */

static Key key_of_code(int code) {
    static const struct {
        int code;
        Key key;
    } codes[] = {
        {KEY_UP, KEYCODE_UP},
        {KEY_DOWN, KEYCODE_DOWN},
        {KEY_LEFT, KEYCODE_LEFT},
        {KEY_RIGHT, KEYCODE_RIGHT},
        {KEY_SR, KEYCODE_UP},
        {KEY_SF, KEYCODE_DOWN},
        {KEY_SLEFT, KEYCODE_LEFT},
        {KEY_SRIGHT, KEYCODE_RIGHT},
        {KEY_HOME, KEYCODE_HOME},
        {KEY_END, KEYCODE_END},
        {KEY_SHOME, KEYCODE_HOME},
        {KEY_SEND, KEYCODE_END},
        {KEY_PPAGE, KEYCODE_PAGE_UP},
        {KEY_NPAGE, KEYCODE_PAGE_DOWN},
        {KEY_BTAB, KEYCODE_BACK_TAB},
        {KEY_ENTER, KEYCODE_ENTER},
        {KEY_BACKSPACE, KEYCODE_BACKSPACE},
        {KEY_DC, KEYCODE_DELETE},
        {KEY_IC, KEYCODE_INSERT},
        {KEY_SDC, KEYCODE_DELETE},
        {KEY_A1, KEYCODE_HOME},
        {KEY_A3, KEYCODE_PAGE_UP},
        {KEY_C1, KEYCODE_END},
        {KEY_C3, KEYCODE_PAGE_DOWN},
        {KEY_SUSPEND, KEYCODE_CTRL | 'z'},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return codes[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12)) return KEYCODE_F1 + (Key)(code - KEY_F(1));
    return 0;
}

/* Sequences that terminals send whatever their description says. */
static void define_keys(void) {
    static const struct {
        const char *sequence;
        int code;
    } keys[] = {
        {"\033[A", KEY_UP},        {"\033[B", KEY_DOWN},          {"\033[C", KEY_RIGHT},  {"\033[D", KEY_LEFT},
        {"\033OA", KEY_UP},        {"\033OB", KEY_DOWN},          {"\033OC", KEY_RIGHT},  {"\033OD", KEY_LEFT},
        {"\033[H", KEY_HOME},      {"\033[F", KEY_END},           {"\033OH", KEY_HOME},   {"\033OF", KEY_END},
        {"\033[1~", KEY_HOME},     {"\033[4~", KEY_END},          {"\033[7~", KEY_HOME},  {"\033[8~", KEY_END},
        {"\033[2~", KEY_IC},       {"\033[3~", KEY_DC},           {"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE},
        {"\033[Z", KEY_BTAB},      {"\033OM", KEY_ENTER},         {"\033OP", KEY_F(1)},   {"\033OQ", KEY_F(2)},
        {"\033OR", KEY_F(3)},      {"\033OS", KEY_F(4)},          {"\033[15~", KEY_F(5)}, {"\033[17~", KEY_F(6)},
        {"\033[18~", KEY_F(7)},    {"\033[19~", KEY_F(8)},        {"\033[20~", KEY_F(9)}, {"\033[21~", KEY_F(10)},
        {"\033[23~", KEY_F(11)},   {"\033[24~", KEY_F(12)},       {"\033[<", CODE_MOUSE}, {"\033[M", CODE_X10},
        {"\033[200~", CODE_PASTE}, {"\033[201~", CODE_PASTE_END}, {"\033[I", CODE_FOCUS}, {"\033[O", CODE_FOCUS},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) define_key(keys[i].sequence, keys[i].code);
}

static bool feed(CursesTerm *c, int code, Event *out) {
    if (code < KEY_MIN) return term_decode_feed(&c->decoder, INPUT_BYTE, (uint32_t)code, out);
    switch (code) {
    case CODE_MOUSE:
        return term_decode_feed(&c->decoder, INPUT_MOUSE, 0, out);
    case CODE_X10:
    case KEY_MOUSE:
        return term_decode_feed(&c->decoder, INPUT_MOUSE_X10, 0, out);
    case CODE_PASTE:
        return term_decode_feed(&c->decoder, INPUT_PASTE, 0, out);
    case CODE_PASTE_END:
        return term_decode_feed(&c->decoder, INPUT_PASTE_END, 0, out);
    default:
        break;
    }
    Key key = key_of_code(code);
    return term_decode_feed(&c->decoder, key != 0 ? INPUT_KEY : INPUT_NOTHING, key, out);
}

/* Everything that has arrived, up to the first event. Bytes are read one by one and decoded here: get_wch would take
 * good ones along with a bad one. */
static bool read_codes(CursesTerm *c, Event *out) {
    for (int code; (code = wgetch(c->keys)) != ERR;) {
        c->wait.silent = 0;
        if (feed(c, code, out)) return true;
    }
    return false;
}

/* An escape that nothing has followed for ESCAPE_DELAY, and for ANSWER_DELAY more when it may begin an answer, is the
 * key: it is waited for here, so that no picture that is drawn meanwhile begins the time anew. */
static bool read_input(CursesTerm *c, Event *out) {
    TermDecoder *d = &c->decoder;
    if (read_codes(c, out)) return true;
    bool answer = term_decode_has_escape(d) && term_decode_expects_answer(d);
    if (answer && term_wait_input(&c->wait, ANSWER_DELAY) && read_codes(c, out)) return true;
    return term_decode_has_escape(d) && term_decode_flush(d, out);
}

static void ask_ground(CursesTerm *c) {
    send(GROUND_ASK);
    term_wait_for_answer(&c->wait, &c->decoder);
}

/* An answer that is on its way is not left to the shell. */
static void take_answer(CursesTerm *c) {
    Event event;
    double end = clock_now() + ANSWER_LEAVE, left = ANSWER_LEAVE;
    if (!term_wait_expects_answer(&c->wait, &c->decoder, 1)) return;
    for (; left > 0 && term_decode_expects_answer(&c->decoder); left = end - clock_now()) {
        if (!term_wait_input(&c->wait, left)) return;
        read_input(c, &event);
    }
}

/* A window that is of the same size again was another one in between, and may have lost what was on it. */
static void meet_resize(CursesTerm *c) {
    if (!follow_size(c)) repaint(&c->term);
}

static bool read_signals(CursesTerm *c, Event *out) {
    SignalNews news = signals_take();
    if (news.stop) suspend(&c->term);
    if (news.resume && !c->resumed) take_back(c);
    if (news.resize) meet_resize(c);
    *out = (Event){.kind = EVENT_NONE};
    if (news.quit != 0)
        *out = (Event){.kind = EVENT_QUIT, .signal = news.quit};
    else if (c->resumed)
        out->kind = EVENT_RESUME;
    else if (news.resize)
        out->kind = EVENT_RESIZE;
    c->resumed = false;
    return out->kind != EVENT_NONE;
}

static Event next(Term *t, double timeout, int wake_fd) {
    CursesTerm *c = self(t);
    double end = clock_now() + timeout;
    for (;;) {
        Event event;
        if (read_signals(c, &event) || read_input(c, &event)) return event;
        double left = timeout < 0 ? -1 : end - clock_now() > 0 ? end - clock_now() : 0;
        switch (term_wait(&c->wait, &c->decoder, left, wake_fd)) {
        case WAIT_INPUT:
            continue;
        case WAIT_LATE:
            if (term_decode_flush(&c->decoder, &event)) return event;
            continue;
        case WAIT_WAKE:
            return (Event){.kind = EVENT_WAKE};
        case WAIT_END:
            return (Event){.kind = EVENT_QUIT, .signal = SIGHUP};
        case WAIT_NOTHING:
            return (Event){.kind = EVENT_NONE};
        }
    }
}

/* ---- opening ---- */

/* Ctrl-C and Ctrl-Z are keys; Ctrl-\ stays a way out when all else fails. */
static void set_input(void) {
    cbreak();
    noecho();
    nonl();
    struct termios settings;
    if (tcgetattr(INPUT_FD, &settings) != 0) return;
    settings.c_cc[VINTR] = settings.c_cc[VSUSP] = _POSIX_VDISABLE;
    settings.c_iflag &= ~(tcflag_t)(IXON | IXOFF | ISTRIP);
    settings.c_lflag &= ~(tcflag_t)IEXTEN;
    tcsetattr(INPUT_FD, TCSADRAIN, &settings);
    def_prog_mode();
}

/* A fresh screen flushes at every move of the cursor until it has been ended and begun again once. */
static void kick(void) {
    refresh();
    endwin();
    refresh();
}

static void start(CursesTerm *c) {
    set_escdelay(ESCAPE_DELAY);
    set_input();
    if (c->painting.depth != DEPTH_MONO) {
        start_color();
        use_default_colors();
    }
    c->keys = newpad(1, 1);
    BUG_ON(c->keys == NULL);
    keypad(c->keys, TRUE);
    nodelay(c->keys, TRUE);
    define_keys();
    kick();
    curs_set(0);
    term_decode_init(&c->decoder);
    forget_shown(c);
    follow_size(c);
    set_modes(c);
}

static void close_term(Term *t) {
    CursesTerm *c = self(t);
    if (!signals_gave_back()) {
        take_answer(c);
        clear_modes();
        endwin();
    }
    bug_set_hook(NULL);
    signals_end();
    delwin(c->keys);
    delscreen(c->screen);
    term_decode_done(&c->decoder);
    mem_free(c->shown);
    mem_free(c->drawn);
    mem_free(c->line);
    colour_pairs_done(&c->pairs);
    mem_free(c);
}

static const Term methods = {get_size, get_glyphs, get_depth, present, next, suspend, repaint, set_mouse, close_term};

static Status begin(const char *name, SCREEN **screen) {
    Str restore;
    STATUS_TRY(signals_begin());
    str_init(&restore);
    term_restore_bytes(name, &restore);
    signals_set_restore(OUTPUT_FD, restore.s, restore.len);
    str_done(&restore);
    *screen = newterm(name, stdout, stdin);
    if (*screen != NULL) return status_ok();
    signals_end();
    return status_failed(_("the terminal %s could not be opened"), name);
}

Status term_curses_open(const TermOptions *o, Term **out) {
    TermChoice choice;
    SCREEN *screen;
    if (!isatty(INPUT_FD) || !isatty(OUTPUT_FD))
        return status_usage(_("the screen needs a terminal: standard input or output is none"));
    STATUS_TRY(term_choose(o, &choice));
    STATUS_TRY(begin(choice.name, &screen));
    CursesTerm *c = MEM_NEW(CursesTerm);
    c->term = methods;
    c->screen = screen;
    c->painting.depth = choice.depth;
    c->painting.glyphs = choice.glyphs;
    c->mouse = o->mouse;
    c->wait.fd = INPUT_FD;
    bug_set_hook(signals_give_back);
    start(c);
    if (o->ask_ground && choice.can_answer && c->painting.depth != DEPTH_MONO) ask_ground(c);
    *out = &c->term;
    return status_ok();
}
