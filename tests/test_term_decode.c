/* From bytes to events, without a terminal: keys, characters, reports, pastes, and noise that must not become keys. */
#include "expect.h"

#include "rng.h"
#include "term_decode.h"

#include <stdio.h>
#include <string.h>

/* Feeds bytes and writes what comes of them: "a <Up> press(1,2) [paste]". "\1" stands for the start of an SGR report,
 * "\2" for that of an X10 report, "\3" and "\4" for the two ends of a paste, "\5" for the key <Up>, "\6" for a sequence
 * without meaning. */
static void write_event(const Event *e, Str *out) {
    static const char *const kinds[] = {"press", "release", "drag", "up", "down"};
    char name[32];
    if (out->len > 0) str_add_char(out, ' ');
    if (e->kind == EVENT_KEY) {
        key_label(e->key, name, sizeof name);
        str_add(out, name);
    } else if (e->kind == EVENT_MOUSE) {
        str_addf(out, "%s(%d,%d)", kinds[e->mouse], e->x, e->y);
    } else if (e->kind == EVENT_PASTE) {
        str_addf(out, "[%s]", e->paste);
    } else if (e->kind == EVENT_GROUND) {
        str_addf(out, "ground(%06x)", (unsigned)e->ground);
    }
}

static bool feed(TermDecoder *d, char byte, Event *e) {
    static const InputKind kinds[] = {INPUT_BYTE,      INPUT_MOUSE, INPUT_MOUSE_X10, INPUT_PASTE,
                                      INPUT_PASTE_END, INPUT_KEY,   INPUT_NOTHING};
    if (byte >= 1 && byte <= 6) return term_decode_feed(d, kinds[(int)byte], KEYCODE_UP, e);
    return term_decode_feed(d, INPUT_BYTE, (unsigned char)byte, e);
}

static void assert_events(const char *bytes, const char *want) {
    TermDecoder d;
    Str got;
    Event e;
    term_decode_init(&d);
    str_init(&got);
    for (; *bytes != '\0'; bytes++)
        if (feed(&d, *bytes, &e)) write_event(&e, &got);
    if (term_decode_flush(&d, &e)) write_event(&e, &got);
    assert_false(term_decode_is_waiting(&d));
    assert_string_equal(got.s, want);
    str_done(&got);
    term_decode_done(&d);
}

static void plain_keys(void **state) {
    (void)state;
    assert_events("aZ ~", "a Z <Space> ~");
    assert_events("\t\r\n\x08\x7F", "<Tab> <Enter> <Enter> <Backspace> <Backspace>");
    assert_events("\x0E\x10\x1A\x1C\x1F", "<C-n> <C-p> <C-z> <C-\\> <C-_>");
    assert_events("x\5y", "x <Up> y");
    TermDecoder d;
    Event e;
    term_decode_init(&d);
    assert_true(term_decode_feed(&d, INPUT_BYTE, 0, &e));
    assert_int_equal(e.key, KEYCODE_CTRL | ' ');
    term_decode_done(&d);
}

static void every_byte_of_a_burst_is_a_key(void **state) {
    (void)state;
    TermDecoder d;
    term_decode_init(&d);
    for (long i = 0; i < 5000; i++) {
        Event e;
        uint32_t byte = (uint32_t)("0123456789."[i % 11]);
        assert_true(term_decode_feed(&d, INPUT_BYTE, byte, &e));
        assert_int_equal(e.key, byte);
    }
    assert_false(term_decode_is_waiting(&d));
    term_decode_done(&d);
}

static void characters_of_many_bytes(void **state) {
    (void)state;
    assert_events("\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80", "\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80");
    assert_events("\xFF\xFE"
                  "a\x80\xC0\xAF"
                  "b",
                  "a b");
    assert_events("\xE4\xB8"
                  "a\xE4"
                  "\xC3\xA9",
                  "a \xC3\xA9"); /* what breaks off takes nothing along */
    assert_events("\xED\xA0\x80"
                  "a\xF4\x90\x80\x80"
                  "b\xC2\x9B"
                  "c",
                  "a b c"); /* no scalar value; a control */
    assert_events("\xE4\xB8", "");
    assert_events("\xE4\5", "<Up>");
}

static void an_escape_is_a_key_when_nothing_follows(void **state) {
    (void)state;
    TermDecoder d;
    Event e;
    term_decode_init(&d);
    assert_false(term_decode_feed(&d, INPUT_BYTE, 27, &e));
    assert_true(term_decode_is_waiting(&d) && term_decode_has_escape(&d) && !term_decode_has_paste(&d));
    assert_true(term_decode_flush(&d, &e));
    assert_int_equal(e.key, KEYCODE_ESCAPE);
    assert_false(term_decode_flush(&d, &e));
    term_decode_done(&d);
    assert_events("\033\033", "<Esc> <Esc>");
    assert_events("\033q", "<Esc>"); /* Alt-q is not q */
}

static void unknown_sequences_are_swallowed(void **state) {
    (void)state;
    assert_events("\033[99;5ux", "x");
    assert_events("\033[?1;2cx", "x"); /* an answer of the terminal */
    assert_events("\033Oxy", "y");
    assert_events("\6x", "x");
    assert_events("\033[12", "");
    assert_events("\033[12\xC3\xA9x\033[1\033[2cy", "\xC3\xA9 x y");
    assert_events("\033[1\5x", "<Up> x");
}

static void mouse_reports(void **state) {
    (void)state;
    assert_events("\1"
                  "0;11;6Mx",
                  "press(10,5) x");
    assert_events("\1"
                  "0;300;99M",
                  "press(299,98)");
    assert_events("\1"
                  "0;11;6m",
                  "release(10,5)");
    assert_events("\1"
                  "32;12;7M",
                  "drag(11,6)");
    assert_events("\1"
                  "64;1;1M\1"
                  "65;1;1M",
                  "up(0,0) down(0,0)");
    assert_events("\1"
                  "4;3;2M",
                  "press(2,1)"); /* with shift */
    assert_events("\1"
                  "1;3;2M\1"
                  "2;3;2M\1"
                  "66;3;2M",
                  ""); /* middle, right, sideways */
    assert_events("\2"
                  " +&",
                  "press(10,5)");
    assert_events("\2"
                  "#+&",
                  "release(10,5)");
    assert_events("\2"
                  "`!!",
                  "up(0,0)");
}

static void broken_reports_are_dropped(void **state) {
    (void)state;
    assert_events("\1"
                  "0;11Mx",
                  "x");
    assert_events("\1"
                  ";;Mx",
                  "x");
    assert_events("\1"
                  "0;11;6;3Mx",
                  "x");
    assert_events("\1"
                  "0;0;6Mx",
                  "x");
    assert_events("\1"
                  "0;99999;6Mx",
                  "x");
    assert_events("\1"
                  "0;1qx",
                  "x");
    assert_events("\1"
                  "0;1\033",
                  "<Esc>");
    assert_events("\1"
                  "0000000000000000000000000000000000000000Mx",
                  "x");
    assert_events("\1"
                  "0;1",
                  "");
    assert_events("\1\1"
                  "0;2;2M",
                  "press(1,1)");
}

static void pastes_are_one_event(void **state) {
    (void)state;
    assert_events("\3:quit\r\4x", "[:quit\n] x");
    assert_events("\3\4", "[]");
    assert_events("\3"
                  "a\033[A\5\1\xE4\xB8\xAD\4",
                  "[a\033[A\xE4\xB8\xAD]"); /* nothing in it is a key */
    assert_events("\3"
                  "no end",
                  "[no end]");
    assert_events("\4x", "x");
    assert_events("\3"
                  "a\4\3"
                  "b\4",
                  "[a] [b]");
}

static void a_paste_has_a_limit(void **state) {
    (void)state;
    TermDecoder d;
    Event e;
    term_decode_init(&d);
    term_decode_feed(&d, INPUT_PASTE, 0, &e);
    for (long i = 0; i < 1100000; i++) assert_false(term_decode_feed(&d, INPUT_BYTE, 'x', &e));
    assert_true(term_decode_has_paste(&d));
    assert_true(term_decode_feed(&d, INPUT_PASTE_END, 0, &e));
    assert_int_equal(strlen(e.paste), 1 << 20);
    term_decode_done(&d);
}

static void the_ground_is_no_key(void **state) {
    (void)state;
    assert_events("a\033]11;rgb:ffff/0000/8080\033\\b", "a ground(ff0080) b");
    assert_events("\033]11;rgb:ff/f/fff\x07q", "ground(ffffff) q");
    assert_events("\033]11;rgba:0000/8000/ffff/ffff\033\\q", "ground(007fff) q");
    assert_events("\033]11;rgb:FFFF/FFFF/EEEE\x9Cq", "ground(ffffee) q");
    assert_events("\033]10;rgb:ffff/ffff/ffff\033\\q", "q"); /* another answer */
    assert_events("\033]11;?\033\\q", "q");                  /* an echo of the question */
    assert_events("\033]52;c;YWJj\x07q\033]0;title\033\\r", "q r");
    assert_events("\033]11;rgb:ffff/ff\033\\q", "q");               /* too short */
    assert_events("\033]11;rgb:ffff/ff\033[A\033]0;x\033[Bq", "q"); /* sequences that break it off */
    assert_events("\033]11;rgb:ffff/\rq", "<Enter> q");
    assert_events("\033]11;rgb:ffff/qr\033\\s", "s");
    assert_events("\033]0;title\rq", "<Enter> q");
    assert_events("\033]", "<Esc>"); /* Alt and the key, as with any other */
}

/* In every two pieces, with any time between them: nothing of it is a key, and what comes after it is one. */
static void an_answer_in_pieces_is_one(void **state) {
    (void)state;
    static const char answer[] = "\033]11;rgb:ffff/eeee/dddd\033\\";
    for (size_t cut = 1; cut < sizeof answer - 1; cut++) {
        TermDecoder d;
        Event e;
        int events = 0;
        term_decode_init(&d);
        term_decode_expect_answer(&d, true);
        for (size_t i = 0; i < sizeof answer - 1; i++) {
            bool late = i == cut && cut > 1; /* an escape alone is a key in the end: term_curses waits longer for it */
            assert_false(late && term_decode_is_waiting(&d));
            assert_false(late && term_decode_flush(&d, &e));
            if (!feed(&d, answer[i], &e)) continue;
            assert_int_equal(e.kind, EVENT_GROUND);
            assert_int_equal(e.ground, 0xffeedd);
            events++;
        }
        assert_int_equal(events, 1);
        assert_false(term_decode_expects_answer(&d));
        assert_true(feed(&d, 'q', &e) && e.kind == EVENT_KEY && e.key == 'q');
        term_decode_done(&d);
    }
}

/* Whatever comes, keys are characters or known codes, and no report lies outside of a screen. */
static void noise_makes_no_nonsense(void **state) {
    (void)state;
    Rng rng = rng_at(1, "noise", 0);
    TermDecoder d;
    term_decode_init(&d);
    for (long i = 0; i < 1000000; i++) {
        static const char often[] = "\033[<0123456789;MmO~]1rgb:/\\\xE4\xB8\xAD\x7F";
        Event e = {.kind = EVENT_NONE};
        uint32_t byte = rng_below(&rng, 3) == 0 ? (uint32_t)rng_below(&rng, 256)
                                                : (unsigned char)often[rng_below(&rng, sizeof often - 1)];
        InputKind kind = rng_below(&rng, 20) == 0 ? (InputKind)rng_below(&rng, INPUT_NOTHING + 1) : INPUT_BYTE;
        bool is_event = term_decode_feed(&d, kind, kind == INPUT_KEY ? KEYCODE_UP : byte, &e);
        if (rng_below(&rng, 50) == 0) is_event = term_decode_flush(&d, &e);
        if (!is_event) continue;
        if (e.kind == EVENT_KEY)
            assert_false(e.key < 0x20 || (e.key >= 0x7F && e.key < 0xA0) || (e.key >= 0xD800 && e.key < 0xE000));
        if (e.kind == EVENT_MOUSE) assert_true(e.x >= 0 && e.y >= 0 && e.x < 10000 && e.y < 10000);
    }
    term_decode_done(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_keys),
        cmocka_unit_test(every_byte_of_a_burst_is_a_key),
        cmocka_unit_test(characters_of_many_bytes),
        cmocka_unit_test(an_escape_is_a_key_when_nothing_follows),
        cmocka_unit_test(unknown_sequences_are_swallowed),
        cmocka_unit_test(mouse_reports),
        cmocka_unit_test(broken_reports_are_dropped),
        cmocka_unit_test(pastes_are_one_event),
        cmocka_unit_test(a_paste_has_a_limit),
        cmocka_unit_test(the_ground_is_no_key),
        cmocka_unit_test(an_answer_in_pieces_is_one),
        cmocka_unit_test(noise_makes_no_nonsense),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
