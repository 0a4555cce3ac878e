#include "utf8.h"

#include <string.h>
#include <utf8proc.h>

int utf8_decode(const char *s, size_t len, uint32_t *code) {
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, len > 4 ? 4 : (utf8proc_ssize_t)len, &c);
    if (n <= 0) return 0;
    *code = (uint32_t)c;
    return (int)n;
}

int utf8_encode(uint32_t code, char out[4]) {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return (int)utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)out);
}

bool utf8_valid(const char *s, size_t len, size_t *bad_at) {
    uint32_t code;
    for (size_t i = 0; i < len;) {
        int n = utf8_decode(s + i, len - i, &code);
        if (n == 0) {
            if (bad_at) *bad_at = i;
            return false;
        }
        i += (size_t)n;
    }
    return true;
}

int utf8_width(uint32_t code) {
    if (code > 0x10ffff) return 1;
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_CC:
        return 0;
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
        return 1;
    default:
        break;
    }
    int width = utf8proc_charwidth((utf8proc_int32_t)code);
    return width < 0 ? 0 : width > 2 ? 2 : width;
}

int utf8_columns(const char *s) {
    int columns = 0;
    for (size_t len = strlen(s); len > 0;) {
        uint32_t code;
        int n = utf8_decode(s, len, &code);
        columns += n == 0 ? 1 : utf8_width(code);
        s += n == 0 ? 1 : n;
        len -= n == 0 ? 1 : (size_t)n;
    }
    return columns;
}

size_t utf8_fit(const char *s, int columns) {
    size_t len = strlen(s), at = 0;
    while (at < len) {
        uint32_t code;
        int n = utf8_decode(s + at, len - at, &code);
        columns -= n == 0 ? 1 : utf8_width(code);
        if (columns < 0) break;
        at += n == 0 ? 1 : (size_t)n;
    }
    return at;
}

enum { MARK_SPACE = 0x2423, MARK_RETURN = 0x23ce, MARK_TAB = 0x21e5, MARK_DELETE = 0x2421, MARK_CONTROL = 0x2400 };
enum { MARK_UNKNOWN = 0xfffd, MARK_BASE = 0x25cc };

/* Characters that a terminal does not draw, or that change how their neighbours are drawn. */
static bool show_is_invisible(uint32_t code) {
    return utf8proc_category((utf8proc_int32_t)code) == UTF8PROC_CATEGORY_CF || code == 0x34f || code == 0x115f ||
           code == 0x1160 || code == 0x3164 || code == 0xffa0 || (code >= 0x180b && code <= 0x180f) ||
           (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0000 && code <= 0xe0fff);
}

static void show_character(Str *out, uint32_t code, bool first, bool plain) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    if (code == ' ') {
        str_add_code(out, plain ? ' ' : MARK_SPACE);
    } else if (code == '\n' || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP) {
        str_add_code(out, MARK_RETURN);
    } else if (code == '\t') {
        str_add_code(out, MARK_TAB);
    } else if (code < 0x20) {
        str_add_code(out, MARK_CONTROL + code);
    } else if (code == 0x7f) {
        str_add_code(out, MARK_DELETE);
    } else if (category == UTF8PROC_CATEGORY_CC) {
        str_addf(out, "<U+%04X>", (unsigned)code);
    } else if (show_is_invisible(code)) {
        if (!plain) str_addf(out, "<U+%04X>", (unsigned)code);
    } else if (category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO) {
        str_add_code(out, MARK_UNKNOWN);
    } else {
        if (first && utf8_width(code) == 0) str_add_code(out, MARK_BASE);
        str_add_code(out, code);
    }
}

void utf8_show(Str *out, const char *s, size_t len, bool plain) {
    size_t start = out->len;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        int n = utf8_decode(s + i, len - i, &code);
        if (n == 0) {
            str_addf(out, "<%02x>", (unsigned)(unsigned char)s[i]);
            i++;
        } else {
            show_character(out, code, out->len == start, plain);
            i += (size_t)n;
        }
    }
}
