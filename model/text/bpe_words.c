#include "bpe_words.h"

#include "bug.h"
#include "mem.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

void bpe_words_init(BpeWords *w, BpeUnit unit, bool lowercase) {
    *w = (BpeWords){.unit = unit, .lowercase = lowercase};
    texts_init(&w->texts);
    str_init(&w->small);
}

void bpe_words_done(BpeWords *w) {
    texts_done(&w->texts);
    str_done(&w->small);
    mem_free(w->count);
    *w = (BpeWords){0};
}

void bpe_lowercase(const char *s, size_t bytes, Str *out) {
    for (size_t i = 0; i < bytes;) {
        uint32_t code;
        int n = utf8_decode(s + i, bytes - i, &code);
        if (n > 0) {
            str_add_code(out, utf8_lower(code));
            i += (size_t)n;
        } else {
            str_add_char(out, s[i++]);
        }
    }
}

static void count_word(BpeWords *w, const char *s, size_t bytes) {
    int word = texts_add(&w->texts, s, bytes) - 1;
    if (word == w->words) {
        MEM_GROW(w->count, w->words, w->capacity);
        w->count[w->words++] = 0;
        w->letters += bytes;
    }
    w->count[word]++;
    w->total++;
}

void bpe_words_add(BpeWords *w, const char *s, size_t bytes) {
    BUG_ON(bytes > BPE_WORDS_MOST_BYTES || w->total > (long)BPE_WORDS_MOST_BYTES);
    if (w->lowercase) {
        str_clear(&w->small);
        bpe_lowercase(s, bytes, &w->small);
        s = w->small.s;
        bytes = w->small.len;
    }
    while (bytes > 0) {
        size_t blank, word;
        bpe_next_word(s, bytes, w->unit, &blank, &word);
        if (word > 0) count_word(w, s + blank, word);
        s += blank + word;
        bytes -= blank + word;
    }
}

const char *bpe_words_at(const BpeWords *w, int word, size_t *bytes) {
    BUG_ON(word < 0 || word >= w->words);
    *bytes = (size_t)w->texts.length[word + 1];
    return texts_bytes(&w->texts, word + 1);
}

int bpe_words_find(const BpeWords *w, const char *s, size_t bytes) {
    int text = texts_find(&w->texts, s, bytes);
    return text > 0 ? text - 1 : -1; /* text 0 is the empty one, which is no word */
}

/* A word while the words are being sorted. */
typedef struct {
    const char *s;
    size_t bytes;
    int word, count;
} Ranked;

static int by_falling_count(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    int order = memcmp(x->s, y->s, x->bytes < y->bytes ? x->bytes : y->bytes);
    if (order != 0) return order;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

int *bpe_words_by_count(const BpeWords *w) {
    Ranked *ranked = MEM_ARRAY(Ranked, (size_t)w->words);
    int *order = MEM_ARRAY(int, (size_t)w->words);
    for (int i = 0; i < w->words; i++) {
        size_t bytes;
        const char *s = bpe_words_at(w, i, &bytes);
        ranked[i] = (Ranked){s, bytes, i, w->count[i]};
    }
    qsort(ranked, (size_t)w->words, sizeof *ranked, by_falling_count);
    for (int i = 0; i < w->words; i++) order[i] = ranked[i].word;
    mem_free(ranked);
    return order;
}
