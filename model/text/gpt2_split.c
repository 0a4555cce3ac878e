#include "gpt2_split.h"

#include "bug.h"
#include "mem.h"
#include "pattern.h"
#include "utf8.h"

#include <string.h>

/* GPT-2's pattern with White_Space spelt out. Possessive where giving back cannot help, so that long runs need no
 * memory; its last alternative, \s+, only ever matches one sign, for a longer run ends in (?!\S) before. */
#define SPACES "\\x09-\\x0d\\x20\\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
static const char pattern[] = "'(?:[stmd]|re|ve|ll)"
                              "| ?\\p{L}++"
                              "| ?\\p{N}++"
                              "| ?[^" SPACES "\\p{L}\\p{N}]++"
                              "|[" SPACES "]++\\z"
                              "|[" SPACES "]+(?=[" SPACES "])"
                              "|[" SPACES "]";

enum { FOREIGN, SPACE, LETTER, DIGIT, SIGN }; /* bytes: none of ASCII, and what it has */

struct Gpt2Split {
    Pattern *pattern;
    unsigned char kind[256];
    size_t valid_to; /* how far the text is known to be UTF-8 */
};

static int kind_of(int byte) {
    if (byte >= 0x80) return FOREIGN;
    if (byte == ' ' || (byte >= 0x09 && byte <= 0x0d)) return SPACE;
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') return LETTER;
    return byte >= '0' && byte <= '9' ? DIGIT : SIGN;
}

Gpt2Split *gpt2_split_new(void) {
    Gpt2Split *g = MEM_NEW(Gpt2Split);
    g->pattern = pattern_own(pattern);
    for (int byte = 0; byte < 256; byte++) g->kind[byte] = (unsigned char)kind_of(byte);
    return g;
}

void gpt2_split_free(Gpt2Split *g) {
    if (!g) return;
    pattern_free(g->pattern);
    mem_free(g);
}

void gpt2_split_begin(Gpt2Split *g) {
    g->valid_to = 0;
}

/* ---- ASCII, of which nearly all of an English text is ---- */

static size_t contraction_end(const char *s, size_t n, size_t at) {
    if (n - at < 2 || s[at] != '\'') return at;
    if (strchr("stmd", s[at + 1]) && s[at + 1]) return at + 2;
    if (n - at < 3) return at;
    const char *two = s + at + 1;
    return memcmp(two, "re", 2) == 0 || memcmp(two, "ve", 2) == 0 || memcmp(two, "ll", 2) == 0 ? at + 3 : at;
}

static size_t run_end(const Gpt2Split *g, const char *s, size_t n, size_t at) {
    int kind = g->kind[(unsigned char)s[at]];
    while (at < n && g->kind[(unsigned char)s[at]] == kind) at++;
    return at;
}

/* Where the stretch ends when all of it and what follows is ASCII; AT: the pattern has to say. */
static size_t ascii_end(const Gpt2Split *g, const char *s, size_t n, size_t at) {
    size_t end = contraction_end(s, n, at), word = at;
    if (end > at) return end;
    if (s[at] == ' ' && at + 1 < n && g->kind[(unsigned char)s[at + 1]] != SPACE) word++;
    int kind = g->kind[(unsigned char)s[word]];
    if (kind == FOREIGN) return at;
    end = run_end(g, s, n, word);
    if (end < n && (s[end] & 0x80)) return at;
    return kind == SPACE && end < n && end - at > 1 ? end - 1 : end;
}

/* ---- anything ---- */

/* Bytes from AT on that are no character. */
static size_t broken_bytes(const char *s, size_t n, size_t at) {
    uint32_t code;
    size_t end = at;
    while (end < n && utf8_decode(s + end, n - end, &code) == 0) end++;
    return end - at;
}

size_t gpt2_split_next(Gpt2Split *g, const char *s, size_t n, size_t at) {
    BUG_ON(at >= n);
    size_t plain = ascii_end(g, s, n, at), start, end;
    if (plain > at) return plain;
    if (at >= g->valid_to) {
        size_t broken = broken_bytes(s, n, at), bad;
        if (broken > 0) return at + broken;
        g->valid_to = utf8_valid(s + at, n - at, &bad) ? n : at + bad;
    }
    size_t valid = g->valid_to < n ? g->valid_to : n;
    bool found = pattern_find(g->pattern, s, valid, at, &start, &end);
    BUG_ON(!found || end <= at); /* every sign is in one of the alternatives */
    return end;
}
