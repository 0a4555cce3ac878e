#include "pattern.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    PATTERN_LONGEST = 16384,     /* bytes of a pattern from a file */
    PATTERN_STEPS = 1000000,     /* backtracking of one match */
    PATTERN_HEAP = 16384,        /* KiB of one match that is interpreted */
    PATTERN_STACK = 1024 * 1024, /* bytes of one match that is compiled */
    PATTERN_PROBE = 4096
};

struct Pattern {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    bool gave_up; /* a match in this text went beyond the limits */
};

void pattern_free(Pattern *p) {
    if (!p) return;
    pcre2_match_data_free(p->match);
    pcre2_match_context_free(p->context);
    pcre2_jit_stack_free(p->stack);
    pcre2_code_free(p->code);
    mem_free(p);
}

static Pattern *pattern_new(pcre2_code *code, bool limited) {
    Pattern *p = MEM_NEW(Pattern);
    p->code = code;
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* where there is none, it is interpreted */
    p->match = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    p->stack = pcre2_jit_stack_create(32 * 1024, PATTERN_STACK, NULL);
    BUG_ON(!p->match || !p->context);
    if (limited) pcre2_set_match_limit(p->context, PATTERN_STEPS);
    if (limited) pcre2_set_heap_limit(p->context, PATTERN_HEAP);
    if (p->stack) pcre2_jit_stack_assign(p->context, NULL, p->stack);
    return p;
}

Pattern *pattern_own(const char *pattern) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED,
                                     &error, &at, NULL);
    BUG_ON(!code);
    return pattern_new(code, false);
}

void pattern_begin(Pattern *p) {
    p->gave_up = false;
}

bool pattern_find(Pattern *p, const char *s, size_t n, size_t at, size_t *start, size_t *end) {
    if (p->gave_up) return false;
    int found = pcre2_match(p->code, (PCRE2_SPTR)s, n, at, PCRE2_NO_UTF_CHECK, p->match, p->context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(p->code, (PCRE2_SPTR)s, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, p->match, p->context);
    p->gave_up = found < 0 && found != PCRE2_ERROR_NOMATCH;
    if (found < 0) return false;
    const PCRE2_SIZE *edge = pcre2_get_ovector_pointer(p->match);
    *start = edge[0] < at ? at : edge[0]; /* \K in a lookahead may put the two in any order */
    *end = edge[1] < *start ? *start : edge[1];
    return true;
}

/* ---- patterns of others ---- */

/* A pattern while it is read. */
typedef struct {
    const char *s;
    size_t at;
    bool in_class;
    Str out;
} Reading;

/* What stands there, to the end of its last character. */
static Status refuse(const Reading *r, size_t bytes) {
    while (((unsigned char)r->s[r->at + bytes] & 0xc0) == 0x80) bytes++;
    return status_usage(_("'%.*s' in a pattern is not known here"), (int)bytes, r->s + r->at);
}

#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"

/* What follows a backslash: PCRE2 and Oniguruma agree on these, except for white space and word, which are spelt out.
 */
static Status read_escape(Reading *r) {
    const char *s = r->s + r->at, *same = r->in_class ? "pPdDrntfex" : "pPdDrntfexAz";
    unsigned char c = (unsigned char)s[1];
    const char *end = c && s[2] == '{' && strchr("pPx", c) ? strchr(s, '}') : NULL;
    size_t bytes = end ? (size_t)(end + 1 - s) : 2;
    if (c == 's' || c == 'S') {
        str_add(&r->out, c == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
    } else if (c == 'w' && r->in_class) {
        str_add(&r->out, WORD);
    } else if ((c == 'w' || c == 'W') && !r->in_class) {
        str_addf(&r->out, "[%s" WORD "]", c == 'W' ? "^" : "");
    } else if (c && c < 0x80 && (strchr(same, c) || ispunct(c) || c == ' ')) {
        str_add_n(&r->out, s, bytes);
    } else {
        return refuse(r, c ? 2 : 1);
    }
    r->at += bytes;
    return status_ok();
}

static Status read_group(Reading *r) {
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"};
    size_t bytes = 1;
    if (r->s[r->at + 1] == '*') return refuse(r, 2); /* PCRE2's verbs */
    if (r->s[r->at + 1] == '?') {
        bytes = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strncmp(r->s + r->at, known[i], strlen(known[i])) == 0) bytes = strlen(known[i]);
        if (bytes == 0) return refuse(r, strnlen(r->s + r->at, 4));
    }
    str_add_n(&r->out, r->s + r->at, bytes);
    r->at += bytes;
    return status_ok();
}

/* In a class an open bracket begins another class for Oniguruma, && an intersection; {,n} and {n}+ mean other things
 * there. */
static Status read_sign(Reading *r) {
    const char *s = r->s + r->at;
    if (*s == '\\') return read_escape(r);
    if (!r->in_class && *s == '(') return read_group(r);
    if (r->in_class && (*s == '[' || strncmp(s, "&&", 2) == 0)) return refuse(r, *s == '[' ? 1 : 2);
    if (!r->in_class && (strncmp(s, "{,", 2) == 0 || strncmp(s, "}+", 2) == 0)) return refuse(r, 2);
    size_t bytes = 1;
    if (*s == '[') {
        r->in_class = true;
        if (s[bytes] == '^') bytes++;
        if (s[bytes] == ']') return refuse(r, bytes + 1);
    } else if (*s == ']') {
        r->in_class = false;
    }
    str_add_n(&r->out, s, bytes);
    r->at += bytes;
    return status_ok();
}

static Status compile(const char *translated, Pattern **out) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)translated, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &at, NULL);
    if (code) {
        *out = pattern_new(code, true);
        return status_ok();
    }
    PCRE2_UCHAR message[200];
    if (pcre2_get_error_message(error, message, sizeof message) < 0) message[0] = '\0';
    return status_usage(_("a pattern is wrong: %s"), (const char *)message);
}

/* A pattern that goes back and back on a plain run would make nonsense of a text: better to say so now. */
static Status probe(Pattern *p) {
    static const char runs[] = "a1 .\n";
    char *s = mem_alloc(PATTERN_PROBE);
    for (size_t run = 0; runs[run]; run++) {
        memset(s, runs[run], PATTERN_PROBE);
        s[PATTERN_PROBE - 1] = '!';
        for (size_t at = 0, start, end; at < PATTERN_PROBE && pattern_find(p, s, PATTERN_PROBE, at, &start, &end);)
            at = end > at ? end : at + 1;
    }
    mem_free(s);
    return p->gave_up ? status_usage(_("a pattern takes too long on a plain text")) : status_ok();
}

Status pattern_parse(const char *pattern, Pattern **out) {
    *out = NULL;
    if (strlen(pattern) > PATTERN_LONGEST) return status_usage(_("a pattern is longer than %d bytes"), PATTERN_LONGEST);
    Reading r = {.s = pattern};
    str_init(&r.out);
    Status s = status_ok();
    while (status_is_ok(&s) && r.s[r.at]) s = read_sign(&r);
    if (status_is_ok(&s)) s = compile(r.out.s, out);
    str_done(&r.out);
    if (status_is_ok(&s)) s = probe(*out);
    if (!status_is_ok(&s)) {
        pattern_free(*out);
        *out = NULL;
    }
    return s;
}
