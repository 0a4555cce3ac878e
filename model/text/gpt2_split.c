#include "gpt2_split.h"

#include "bug.h"
#include "mem.h"
#include "utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

struct Gpt2Split {
    pcre2_code *code;
    pcre2_match_data *match;
    size_t valid_to; /* how far the text is known to be UTF-8 */
};

Gpt2Split *gpt2_split_new(void) {
    Gpt2Split *g = MEM_NEW(Gpt2Split);
    int error;
    PCRE2_SIZE at;
    g->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error,
                            &at, NULL);
    BUG_ON(!g->code);
    (void)pcre2_jit_compile(g->code, PCRE2_JIT_COMPLETE); /* where there is none, it is interpreted */
    g->match = pcre2_match_data_create(1, NULL);
    BUG_ON(!g->match);
    return g;
}

void gpt2_split_free(Gpt2Split *g) {
    if (!g) return;
    pcre2_match_data_free(g->match);
    pcre2_code_free(g->code);
    mem_free(g);
}

void gpt2_split_begin(Gpt2Split *g) {
    g->valid_to = 0;
}

/* Bytes from AT on that are no character. */
static size_t broken_bytes(const char *s, size_t n, size_t at) {
    uint32_t code;
    size_t end = at;
    while (end < n && utf8_decode(s + end, n - end, &code) == 0) end++;
    return end - at;
}

size_t gpt2_split_next(Gpt2Split *g, const char *s, size_t n, size_t at) {
    BUG_ON(at >= n);
    if (at >= g->valid_to) {
        size_t broken = broken_bytes(s, n, at), bad;
        if (broken > 0) return at + broken;
        g->valid_to = utf8_valid(s + at, n - at, &bad) ? n : at + bad;
    }
    size_t end = g->valid_to < n ? g->valid_to : n;
    int found = pcre2_match(g->code, (PCRE2_SPTR)s, end, at, PCRE2_NO_UTF_CHECK, g->match, NULL);
    BUG_ON(found <= 0); /* every sign is in one of the alternatives */
    return pcre2_get_ovector_pointer(g->match)[1];
}
