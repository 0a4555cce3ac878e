#include "key.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Key key;
    const char *name;
} KeyName;

static const KeyName names[] = {
    {' ', "Space"},
    {'<', "lt"},
    {KEYCODE_UP, "Up"},
    {KEYCODE_DOWN, "Down"},
    {KEYCODE_LEFT, "Left"},
    {KEYCODE_RIGHT, "Right"},
    {KEYCODE_HOME, "Home"},
    {KEYCODE_END, "End"},
    {KEYCODE_PAGE_UP, "PageUp"},
    {KEYCODE_PAGE_DOWN, "PageDown"},
    {KEYCODE_TAB, "Tab"},
    {KEYCODE_BACK_TAB, "S-Tab"},
    {KEYCODE_ENTER, "Enter"},
    {KEYCODE_ESCAPE, "Esc"},
    {KEYCODE_BACKSPACE, "Backspace"},
    {KEYCODE_DELETE, "Delete"},
    {KEYCODE_INSERT, "Insert"},
    {KEYCODE_CTRL | ' ', "C-Space"},
    {KEYCODE_F1, "F1"},
    {KEYCODE_F1 + 1, "F2"},
    {KEYCODE_F1 + 2, "F3"},
    {KEYCODE_F1 + 3, "F4"},
    {KEYCODE_F1 + 4, "F5"},
    {KEYCODE_F1 + 5, "F6"},
    {KEYCODE_F1 + 6, "F7"},
    {KEYCODE_F1 + 7, "F8"},
    {KEYCODE_F1 + 8, "F9"},
    {KEYCODE_F1 + 9, "F10"},
    {KEYCODE_F1 + 10, "F11"},
    {KEYCODE_F12, "F12"},
};

size_t key_label(Key k, char *out, size_t bytes) {
    char text[32] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == k) snprintf(text, sizeof text, "<%s>", names[i].name);
    if (text[0] == '\0' && (k & KEYCODE_CTRL) != 0 && (k & 0xFF) > ' ' && (k & 0xFF) < 0x7F)
        snprintf(text, sizeof text, "<C-%c>", (char)(k & 0xFF));
    if (text[0] == '\0' && k < KEY_CODE) {
        char utf8[4];
        int n = utf8_encode(k, utf8);
        memcpy(text, utf8, (size_t)n);
        text[n] = '\0';
    }
    int length = snprintf(out, bytes, "%s", text);
    return length > 0 ? (size_t)length : 0;
}

/* The bytes of "<Name>" at S when it has that form, 0 otherwise. */
static size_t bracketed(const char *s) {
    size_t n = 1;
    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || (s[n] >= '0' && s[n] <= '9') || s[n] == '-')
        n++;
    if (strncmp(s, "<C-", 3) == 0 && s[3] > ' ' && s[3] < 0x7F && s[4] == '>') return 5;
    return n > 1 && s[n] == '>' ? n + 1 : 0;
}

static bool same_name(const char *name, const char *s, size_t n) {
    if (strlen(name) != n) return false;
    for (size_t i = 0; i < n; i++) {
        int difference = name[i] ^ s[i];
        bool letter = (name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z';
        if (difference != 0 && !(difference == 0x20 && letter)) return false;
    }
    return true;
}

static size_t parse_bracketed(const char *s, size_t n, Key *out) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_name(names[i].name, s + 1, n - 2)) {
            *out = names[i].key;
            return n;
        }
    if (n == 5 && (s[1] | 0x20) == 'c' && s[2] == '-') {
        Key letter = (unsigned char)s[3];
        if (letter >= 'A' && letter <= 'Z') letter |= 0x20;
        *out = KEYCODE_CTRL | letter;
        return n;
    }
    return 0;
}

size_t key_parse(const char *s, Key *out) {
    if (s[0] == '\0') return 0;
    size_t n = s[0] == '<' ? bracketed(s) : 0;
    if (n > 0) return parse_bracketed(s, n, out);
    uint32_t code;
    int bytes = utf8_decode(s, strlen(s), &code);
    if (bytes == 0 || code < 0x20 || code == 0x7F) return 0;
    *out = code;
    return (size_t)bytes;
}
