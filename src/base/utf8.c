#include "utf8.h"

#include "mem.h"

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

bool utf8_is_space(uint32_t code) {
    if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0d);
    return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

uint32_t utf8_lower(uint32_t code) {
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
}

static utf8proc_category_t category_of(uint32_t code) {
    return utf8proc_category((utf8proc_int32_t)code);
}

bool utf8_is_number(uint32_t code) {
    utf8proc_category_t c = category_of(code);
    return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool utf8_is_mark(uint32_t code) {
    return category_of(code) == UTF8PROC_CATEGORY_MN;
}

bool utf8_is_word(uint32_t code) {
    utf8proc_category_t c = category_of(code);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NL) || c == UTF8PROC_CATEGORY_PC;
}

bool utf8_is_punctuation(uint32_t code) {
    utf8proc_category_t c = category_of(code);
    if (code < 0x80) return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_SO;
    return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}

/* ---- several characters ---- */

size_t utf8_bytes(const char *s, size_t len) {
    uint32_t code;
    int n = utf8_decode(s, len, &code);
    return n ? (size_t)n : 1;
}

enum { CLUSTER = 512 }; /* bytes, beyond which more marks are another cluster */

/* Signs of Hangul for compatibility: apart as they are, they combine when they are decomposed. */
static bool is_apart_jamo(uint32_t code) {
    return (code >= 0x3131 && code <= 0x318e) || (code >= 0xffa0 && code <= 0xffdc);
}

size_t utf8_cluster(const char *s, size_t len) {
    uint32_t code, next;
    size_t bytes = utf8_bytes(s, len);
    if (!utf8_decode(s, len, &code)) return bytes;
    utf8proc_int32_t state = 0;
    for (int n; bytes < len && bytes < CLUSTER && (n = utf8_decode(s + bytes, len - bytes, &next)) > 0;
         bytes += (size_t)n) {
        bool edge = utf8proc_grapheme_break_stateful((utf8proc_int32_t)code, (utf8proc_int32_t)next, &state);
        if (edge && !(is_apart_jamo(code) && is_apart_jamo(next))) break;
        code = next;
    }
    return bytes;
}

void utf8_normalize(Str *out, const char *s, size_t len, Utf8Form form) {
    static const utf8proc_option_t options[] = {
        [UTF8_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [UTF8_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [UTF8_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [UTF8_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    utf8proc_int32_t *code = NULL;
    utf8proc_ssize_t n = -1, room = 0;
    for (size_t i = 0; room == 0 && i < len; i++) room = s[i] & 0x80; /* ASCII is in every form */
    if (room) room = utf8proc_decompose((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, NULL, 0, options[form]);
    if (room > 0) {
        code = mem_zero((size_t)room + 1, sizeof *code);
        n = utf8proc_decompose((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, code, room, options[form]);
        if (n >= 0) n = utf8proc_reencode(code, n, options[form]);
    }
    str_add_n(out, n < 0 ? s : (const char *)code, n < 0 ? len : (size_t)n);
    mem_free(code);
}

/* Signs that stand before digits or letters and are drawn around them, though they count as format characters. */
static bool is_prepended_mark(uint32_t code) {
    return (code >= 0x600 && code <= 0x605) || code == 0x6dd || code == 0x70f || code == 0x890 || code == 0x891 ||
           code == 0x8e2 || code == 0x110bd || code == 0x110cd;
}

/* Vowels and finals of Hangul that join the syllable before them. */
static bool is_joining_jamo(uint32_t code) {
    return (code >= 0x1160 && code <= 0x11ff) || (code >= 0xd7b0 && code <= 0xd7fb);
}

/* utf8proc, put right where terminals and the C library agree on something else: spacing marks take a column. */
int utf8_width(uint32_t code) {
    bool ascii = code >= 0x20 && code < 0x7f, drawn = code >= 0x2500 && code < 0x25a0; /* lines and blocks */
    if (ascii || drawn) return 1;
    if (is_prepended_mark(code)) return 1;
    if (is_joining_jamo(code)) return 0;
    switch (category_of(code)) {
    case UTF8PROC_CATEGORY_CC:
        return 0;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
        return 1;
    default:
        return utf8proc_charwidth((utf8proc_int32_t)code);
    }
}

uint32_t utf8_compose(uint32_t letter, uint32_t mark) {
    utf8proc_int32_t pair[2] = {(utf8proc_int32_t)letter, (utf8proc_int32_t)mark};
    utf8proc_ssize_t n = utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    return n == 1 ? (uint32_t)pair[0] : 0;
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
static bool is_invisible(uint32_t code) {
    if (is_prepended_mark(code)) return false;
    return category_of(code) == UTF8PROC_CATEGORY_CF || code == 0x34f || code == 0x115f || code == 0x1160 ||
           code == 0x3164 || code == 0xffa0 || (code >= 0x180b && code <= 0x180f) ||
           (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

/* The mark that stands for a character, 0 when it may stand for itself. */
static uint32_t mark_for(uint32_t code, bool plain) {
    if (code == ' ') return plain ? 0 : MARK_SPACE;
    if (code == '\n') return MARK_RETURN;
    if (code == '\t') return MARK_TAB;
    if (code < ' ') return MARK_CONTROL + code;
    if (code == 0x7f) return MARK_DELETE;
    switch (category_of(code)) {
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return MARK_RETURN;
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
        return MARK_UNKNOWN;
    default:
        return 0;
    }
}

/* Adds one character. BASE says whether a combining mark finds a character to sit on, and is brought up to date. */
static void show_character(Str *out, uint32_t code, bool plain, bool *base) {
    uint32_t mark = mark_for(code, plain);
    if (mark) {
        str_add_code(out, mark);
        *base = false;
    } else if (is_invisible(code) || category_of(code) == UTF8PROC_CATEGORY_CC) {
        if (plain && code >= 0xa0) return;
        str_addf(out, "<U+%04X>", (unsigned)code);
        *base = false;
    } else {
        if (!*base && utf8_width(code) == 0) str_add_code(out, MARK_BASE);
        str_add_code(out, code);
        *base = true;
    }
}

void utf8_show(Str *out, const char *s, size_t len, bool plain) {
    bool base = false;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        int n = utf8_decode(s + i, len - i, &code);
        if (n > 0) {
            show_character(out, code, plain, &base);
            i += (size_t)n;
        } else {
            str_addf(out, "<%02x>", (unsigned)(unsigned char)s[i++]);
            base = false;
        }
    }
}
