/* key: what a person pressed, and its name: "q", "<Tab>", "<S-Tab>", "<C-p>", "<Up>", "<PageDown>", "<F1>". */
#ifndef UI_KEY_H
#define UI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t Key; /* a code point, or one of these */
enum {
    KEY_CODE = 0x200000, /* above Unicode */
    KEYCODE_UP, KEYCODE_DOWN, KEYCODE_LEFT, KEYCODE_RIGHT, KEYCODE_HOME, KEYCODE_END, KEYCODE_PAGE_UP, KEYCODE_PAGE_DOWN,
    KEYCODE_TAB, KEYCODE_BACK_TAB, KEYCODE_ENTER, KEYCODE_ESCAPE, KEYCODE_BACKSPACE, KEYCODE_DELETE, KEYCODE_INSERT,
    KEYCODE_F1, KEYCODE_F12 = KEYCODE_F1 + 11,
    KEYCODE_CTRL = 0x400000, /* | letter: <C-p> is KEYCODE_CTRL | 'p' */
};

size_t key_label(Key k, char *out, size_t bytes);
/* Reads one name from S; returns the bytes used, 0 when S is empty or no name. Plain characters stand for themselves, "<" alone for
 * itself, "<lt>" too, "<Space>" for a blank. */
size_t key_parse(const char *s, Key *out);

typedef enum { EVENT_NONE, EVENT_KEY, EVENT_MOUSE, EVENT_RESIZE, EVENT_PASTE, EVENT_WAKE, EVENT_QUIT, EVENT_RESUME, EVENT_GROUND } EventKind;
typedef enum { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_DRAG, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN } MouseKind;
typedef struct {
    EventKind kind;
    Key key;
    bool sure; /* KEY: the line that it ends is run without asking (that of a script) */
    MouseKind mouse;
    int x, y;          /* mouse, from 0 */
    const char *paste; /* PASTE: text, borrowed until the next event */
    int signal;        /* QUIT: the signal that asks, 0: the end of input */
    int32_t ground;    /* GROUND: the terminal says that this 0xRRGGBB is its background */
} Event;

#endif
