#include "added_tokens.h"

#include "mem.h"
#include "utf8.h"

#include <string.h>

void added_tokens_done(AddedTokens *a) {
    for (int i = 0; i < a->count; i++) str_done(&a->spelling[i]);
    mem_free(a->token);
    mem_free(a->spelling);
    *a = (AddedTokens){0};
}

void added_tokens_add(AddedTokens *a, AddedToken token, const char *spelling, size_t bytes) {
    if (bytes == 0) return;
    MEM_GROW(a->token, a->count, a->capacity);
    MEM_GROW(a->spelling, a->count, a->spelling_capacity);
    a->token[a->count] = token;
    str_init(&a->spelling[a->count]);
    str_add_n(&a->spelling[a->count++], spelling, bytes);
    a->begins[token.normalized][(unsigned char)*spelling] = true;
}

bool added_tokens_has(const AddedTokens *a, int id) {
    for (int i = 0; i < a->count; i++)
        if (a->token[i].id == id) return true;
    return false;
}

/* ---- what stands beside one ---- */

static size_t character_before(const char *s, size_t start, size_t at, uint32_t *code) {
    for (size_t bytes = 1; bytes <= 4 && at - bytes + 1 > start; bytes++)
        if (utf8_decode(s + at - bytes, bytes, code) == (int)bytes) return bytes;
    return 0;
}

static bool is_word_before(const char *s, size_t start, size_t at) {
    uint32_t code;
    return at > start && character_before(s, start, at, &code) > 0 && utf8_is_word(code);
}

static bool is_word_behind(const char *s, size_t end, size_t at) {
    uint32_t code;
    return at < end && utf8_decode(s + at, end - at, &code) > 0 && utf8_is_word(code);
}

static size_t blanks_before(const char *s, size_t start, size_t at) {
    uint32_t code;
    for (size_t bytes; at > start; at -= bytes) {
        bytes = character_before(s, start, at, &code);
        if (bytes == 0 || !utf8_is_space(code)) break;
    }
    return at;
}

static size_t blanks_behind(const char *s, size_t end, size_t at) {
    uint32_t code;
    for (int bytes; at < end; at += (size_t)bytes) {
        bytes = utf8_decode(s + at, end - at, &code);
        if (bytes == 0 || !utf8_is_space(code)) break;
    }
    return at;
}

/* ---- cutting ---- */

typedef struct {
    const AddedTokens *tokens;
    bool normalized;
} Cutter;

/* The longest one that begins at AT, -1: none. */
static int longest_at(const Cutter *c, const char *s, size_t at, size_t end) {
    int found = -1;
    size_t longest = 0;
    for (int i = 0; i < c->tokens->count; i++) {
        const Str *spelling = &c->tokens->spelling[i];
        if (c->tokens->token[i].normalized != c->normalized || spelling->len <= longest || spelling->len > end - at)
            continue;
        if (memcmp(spelling->s, s + at, spelling->len) != 0) continue;
        found = i;
        longest = spelling->len;
    }
    return found;
}

static void cut_span(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const Cutter *c = self;
    const char *s = from->s;
    const bool *begins = c->tokens->begins[c->normalized];
    size_t kept = start;
    for (size_t at = start, stop; at < end; at = stop) {
        int found = begins[(unsigned char)s[at]] ? longest_at(c, s, at, end) : -1;
        stop = at + (found < 0 ? 1 : c->tokens->spelling[found].len);
        if (found < 0) continue;
        const AddedToken *token = &c->tokens->token[found];
        if (token->single_word && (is_word_before(s, start, at) || is_word_behind(s, end, stop))) continue;
        size_t left = token->left ? blanks_before(s, kept, at) : at;
        if (token->right) stop = blanks_behind(s, end, stop);
        cutting_keep(to, kept, left, -1);
        cutting_keep(to, left, stop, token->id);
        kept = stop;
    }
    cutting_keep(to, kept, end, -1);
}

void added_tokens_cut(const AddedTokens *a, bool normalized, Cutting *c, Cutting *spare) {
    Cutter cutter = {a, normalized};
    for (int i = 0; i < a->count; i++)
        if (a->token[i].normalized == normalized) {
            cutting_split(c, spare, cut_span, &cutter);
            return;
        }
}
