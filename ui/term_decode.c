#include "term_decode.h"

#include "ground.h"
#include "utf8.h"

#include <string.h>

enum {
    STATE_GROUND,
    STATE_UTF8,     /* inside a character */
    STATE_ESCAPE,   /* after ESC */
    STATE_SEQUENCE, /* inside an unknown ESC [ ... */
    STATE_SINGLE,   /* after an unknown ESC O: one more byte */
    STATE_MOUSE,
    STATE_X10,
    STATE_PASTE,
    STATE_ANSWER,     /* after ESC ]: so far what the terminal says of its ground */
    STATE_ANSWER_END, /* after the ESC of ESC \ */
    STATE_STRING,     /* inside another string, to its end */
    STATE_STRING_END,
};

#define BELL              0x07u
#define STRING_TERMINATOR 0x9Cu

#define PASTE_MOST (1u << 20) /* bytes of one paste; what is beyond is dropped */

void term_decode_init(TermDecoder *d) {
    memset(d, 0, sizeof *d);
    str_init(&d->paste);
    str_init(&d->given);
}

void term_decode_done(TermDecoder *d) {
    str_done(&d->paste);
    str_done(&d->given);
}

void term_decode_expect_answer(TermDecoder *d, bool expect) {
    d->asked = expect;
}
bool term_decode_expects_answer(const TermDecoder *d) {
    return d->asked;
}

/* An answer that has begun, or may have. */
static bool is_answer(const TermDecoder *d) {
    return d->state == STATE_ANSWER_END || (d->state == STATE_ANSWER && (d->used > 0 || d->asked));
}

bool term_decode_is_waiting(const TermDecoder *d) {
    return d->state != STATE_GROUND && !is_answer(d);
}
bool term_decode_has_escape(const TermDecoder *d) {
    return d->state == STATE_ESCAPE;
}

bool term_decode_has_paste(const TermDecoder *d) {
    return d->state == STATE_PASTE;
}

static bool key_event(TermDecoder *d, Key k, Event *out) {
    d->state = STATE_GROUND;
    *out = (Event){.kind = EVENT_KEY, .key = k};
    return true;
}

static void begin(TermDecoder *d, int state) {
    d->state = state;
    d->used = 0;
}

/* ---- plain bytes ---- */

static bool control_event(TermDecoder *d, uint32_t byte, Event *out) {
    switch (byte) {
    case 0:
        return key_event(d, KEYCODE_CTRL | ' ', out);
    case '\t':
        return key_event(d, KEYCODE_TAB, out);
    case '\r':
    case '\n':
        return key_event(d, KEYCODE_ENTER, out);
    case 0x08:
    case 0x7F:
        return key_event(d, KEYCODE_BACKSPACE, out);
    case 0x1B:
        begin(d, STATE_ESCAPE);
        return false;
    default:
        return key_event(d, KEYCODE_CTRL | (byte < 27 ? byte + 'a' - 1 : byte + '@'), out);
    }
}

static int expected_bytes(uint32_t lead) {
    if (lead >= 0xC2 && lead < 0xE0) return 2;
    if (lead >= 0xE0 && lead < 0xF0) return 3;
    return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

static bool ground_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte < 0x20 || byte == 0x7F) return control_event(d, byte, out);
    if (byte < 0x80) return key_event(d, byte, out);
    d->expected = expected_bytes(byte);
    if (d->expected == 0) return false; /* no character begins like this */
    begin(d, STATE_UTF8);
    d->bytes[d->used++] = (char)byte;
    return false;
}

static bool utf8_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if ((byte & 0xC0) != 0x80) { /* the character broke off; this byte is its own */
        d->state = STATE_GROUND;
        return ground_byte(d, byte, out);
    }
    d->bytes[d->used++] = (char)byte;
    if (d->used < d->expected) return false;
    uint32_t code;
    d->state = STATE_GROUND;
    bool good = utf8_decode(d->bytes, (size_t)d->used, &code) == d->used && code >= 0xA0;
    return good && key_event(d, code, out);
}

static bool escape_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == '[' || byte == 'O') {
        begin(d, byte == '[' ? STATE_SEQUENCE : STATE_SINGLE);
        return false;
    }
    if (byte == ']') {
        begin(d, STATE_ANSWER);
        return false;
    }
    if (byte == 0x1B) return *out = (Event){.kind = EVENT_KEY, .key = KEYCODE_ESCAPE}, true; /* the second one waits */
    return key_event(d, KEYCODE_ESCAPE, out); /* Alt and a key: an escape; the key alone could run a command */
}

static bool sequence_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == 0x1B || byte >= 0x80) { /* it broke off */
        d->state = STATE_GROUND;
        return ground_byte(d, byte, out);
    }
    if (byte >= 0x40 && byte < 0x7F) d->state = STATE_GROUND;
    return false;
}

/* ---- strings ---- */

static bool answer_event(TermDecoder *d, Event *out) {
    d->state = STATE_GROUND;
    if (ground_match(d->bytes, d->used) != GROUND_WHOLE) return false;
    d->asked = false;
    *out = (Event){.kind = EVENT_GROUND, .ground = ground_colour(d->bytes, d->used)};
    return true;
}

static bool string_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == 0x1B) {
        d->state = STATE_STRING_END;
        return false;
    }
    bool control = byte < 0x20;
    if (control || byte == STRING_TERMINATOR) d->state = STATE_GROUND;
    return control && byte != BELL && ground_byte(d, byte, out); /* it broke off */
}

static bool answer_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == BELL || byte == STRING_TERMINATOR) return answer_event(d, out);
    if (byte == 0x1B) {
        d->state = STATE_ANSWER_END;
        return false;
    }
    d->bytes[d->used++] = (char)byte;
    if (ground_match(d->bytes, d->used) != GROUND_OTHER) return false;
    d->state = STATE_STRING;
    return string_byte(d, byte, out);
}

/* The byte after an ESC inside a string. */
static bool string_end_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == '\\') {
        if (d->state == STATE_ANSWER_END) return answer_event(d, out);
        d->state = STATE_GROUND;
        return false;
    }
    begin(d, STATE_ESCAPE); /* the string broke off */
    return escape_byte(d, byte, out);
}

/* ---- mouse ---- */

static bool mouse_event(int button, int x, int y, bool released, Event *out) {
    bool wheel = (button & 64) != 0, motion = (button & 32) != 0;
    int which = button & 3;
    if (wheel && which > 1) return false;   /* sideways */
    if (!wheel && which != 0) return false; /* the left button only; middle and right belong to the terminal's user */
    MouseKind kind = wheel      ? (which == 0 ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN)
                     : released ? MOUSE_RELEASE
                     : motion   ? MOUSE_DRAG
                                : MOUSE_PRESS;
    *out = (Event){.kind = EVENT_MOUSE, .mouse = kind, .x = x - 1, .y = y - 1};
    return x >= 1 && y >= 1;
}

/* Reads "B;X;Y" of at most four digits each. */
static bool read_report(const char *s, int n, int *values) {
    int field = 0, digits = 0;
    values[0] = values[1] = values[2] = 0;
    for (int i = 0; i < n; i++) {
        if (s[i] == ';') {
            if (digits == 0 || ++field > 2) return false;
            digits = 0;
        } else if (s[i] >= '0' && s[i] <= '9' && digits < 4) {
            values[field] = values[field] * 10 + (s[i] - '0');
            digits++;
        } else {
            return false;
        }
    }
    return field == 2 && digits > 0;
}

static bool mouse_byte(TermDecoder *d, uint32_t byte, Event *out) {
    if (byte == 'M' || byte == 'm') {
        int values[3];
        d->state = STATE_GROUND;
        return read_report(d->bytes, d->used, values) && mouse_event(values[0], values[1], values[2], byte == 'm', out);
    }
    bool known = (byte >= '0' && byte <= '9') || byte == ';';
    if (!known || d->used == (int)sizeof d->bytes) { /* no report: it is swallowed to its end like any sequence */
        begin(d, STATE_SEQUENCE);
        return sequence_byte(d, byte, out);
    }
    d->bytes[d->used++] = (char)byte;
    return false;
}

static bool x10_byte(TermDecoder *d, uint32_t byte, Event *out) {
    d->bytes[d->used++] = (char)byte;
    if (d->used < 3) return false;
    d->state = STATE_GROUND;
    int button = (unsigned char)d->bytes[0] - 32, x = (unsigned char)d->bytes[1] - 32,
        y = (unsigned char)d->bytes[2] - 32;
    if ((button & 64) == 0 && (button & 3) == 3) return mouse_event(0, x, y, true, out);
    return mouse_event(button, x, y, false, out);
}

/* ---- paste ---- */

static void paste_byte(TermDecoder *d, uint32_t byte) {
    if (d->paste.len < PASTE_MOST) str_add_char(&d->paste, byte == '\r' || byte == 0 ? '\n' : (char)byte);
}

static bool paste_event(TermDecoder *d, Event *out) {
    Str empty = d->given;
    d->given = d->paste;
    d->paste = empty;
    str_clear(&d->paste);
    d->state = STATE_GROUND;
    *out = (Event){.kind = EVENT_PASTE, .paste = d->given.s};
    return true;
}

/* ---- all together ---- */

static bool feed_byte(TermDecoder *d, uint32_t byte, Event *out) {
    switch (d->state) {
    case STATE_UTF8:
        return utf8_byte(d, byte, out);
    case STATE_ESCAPE:
        return escape_byte(d, byte, out);
    case STATE_SEQUENCE:
        return sequence_byte(d, byte, out);
    case STATE_SINGLE:
        d->state = STATE_GROUND;
        return false;
    case STATE_MOUSE:
        return mouse_byte(d, byte, out);
    case STATE_X10:
        return x10_byte(d, byte, out);
    case STATE_PASTE:
        paste_byte(d, byte);
        return false;
    case STATE_ANSWER:
        return answer_byte(d, byte, out);
    case STATE_STRING:
        return string_byte(d, byte, out);
    case STATE_ANSWER_END:
    case STATE_STRING_END:
        return string_end_byte(d, byte, out);
    default:
        return ground_byte(d, byte, out);
    }
}

bool term_decode_feed(TermDecoder *d, InputKind kind, uint32_t value, Event *out) {
    if (kind == INPUT_BYTE) return feed_byte(d, value & 0xFF, out);
    if (d->state == STATE_PASTE) return kind == INPUT_PASTE_END && paste_event(d, out);
    switch (kind) {
    case INPUT_MOUSE:
        begin(d, STATE_MOUSE);
        return false;
    case INPUT_MOUSE_X10:
        begin(d, STATE_X10);
        return false;
    case INPUT_PASTE:
        begin(d, STATE_PASTE);
        str_clear(&d->paste);
        return false;
    case INPUT_KEY:
        return key_event(d, value, out);
    default:
        d->state = STATE_GROUND;
        return false;
    }
}

bool term_decode_flush(TermDecoder *d, Event *out) {
    int state = d->state;
    if (is_answer(d)) return false;
    d->state = STATE_GROUND;
    bool alt = state == STATE_ANSWER; /* Alt and a bracket */
    if (state == STATE_ESCAPE || alt) return key_event(d, KEYCODE_ESCAPE, out);
    return state == STATE_PASTE && paste_event(d, out);
}
