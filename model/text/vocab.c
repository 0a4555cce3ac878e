#include "vocab.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

/* The number of a token's text is its id + 1: text 0 is the empty one. */
struct Vocab {
    Texts texts;
};

static const char *const vocab_special[VOCAB_SPECIALS] = {"<pad>", "<s>", "</s>"};

static int vocab_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

Vocab *vocab_new(const char *const *words, int n) {
    Vocab *v = MEM_NEW(Vocab);
    texts_init(&v->texts);
    for (int i = 0; i < VOCAB_SPECIALS; i++) texts_add(&v->texts, vocab_special[i], strlen(vocab_special[i]));
    const char **sorted = MEM_ARRAY(const char *, (size_t)n);
    for (int i = 0; i < n; i++) sorted[i] = words[i];
    qsort(sorted, (size_t)n, sizeof *sorted, vocab_compare);
    for (int i = 0; i < n; i++) {
        BUG_ON(sorted[i][0] == '\0');
        texts_add(&v->texts, sorted[i], strlen(sorted[i]));
    }
    mem_free(sorted);
    return v;
}

Vocab *vocab_copy(const Vocab *v) {
    Vocab *copy = MEM_NEW(Vocab);
    texts_copy(&copy->texts, &v->texts);
    return copy;
}

void vocab_free(Vocab *v) {
    if (!v) return;
    texts_done(&v->texts);
    mem_free(v);
}

int vocab_size(const Vocab *v) {
    return v->texts.count - 1;
}

const char *vocab_token(const Vocab *v, int id) {
    BUG_ON(id < 0 || id >= vocab_size(v));
    return texts_bytes(&v->texts, id + 1);
}

int vocab_find(const Vocab *v, const char *token, size_t bytes) {
    int text = texts_find(&v->texts, token, bytes);
    return text > 0 ? text - 1 : -1;
}

/* ---- Unknown words ---- */

enum { VOCAB_NAMED = 3, VOCAB_LONGEST = 40 }; /* unknown words named in a sentence; bytes of a word that is compared */

/* The word that S was probably meant to be; NULL: none is like it. */
static const char *vocab_nearest(const Vocab *v, const char *s) {
    const char *best = NULL;
    for (int id = VOCAB_SPECIALS; strlen(s) <= VOCAB_LONGEST && id < vocab_size(v); id++)
        if (v->texts.length[id + 1] <= VOCAB_LONGEST) best = str_likelier(s, best, vocab_token(v, id));
    return best;
}

static void vocab_name_unknown(const Vocab *v, const char *s, int n, int unknown, Str *out) {
    if (unknown > VOCAB_NAMED) return;
    char *word = mem_text_n(s, (size_t)n);
    const char *nearest = vocab_nearest(v, word);
    str_addf(out, unknown > 1 ? ", '%s'" : "'%s'", word);
    if (nearest) str_addf(out, _(" (near: %s)"), nearest);
    mem_free(word);
}

/* The next word of *s, its bytes; 0 at the end. */
static int vocab_word(const char **s) {
    *s += strspn(*s, " \t");
    return (int)strcspn(*s, " \t");
}

Status vocab_encode(const Vocab *v, const char *text, int **ids, int *n) {
    int capacity = 0, unknown = 0, bytes;
    Str names;
    str_init(&names);
    *ids = MEM_ARRAY(int, 0);
    *n = 0;
    for (const char *s = text; (bytes = vocab_word(&s)) > 0; s += bytes) {
        MEM_GROW(*ids, *n, capacity);
        (*ids)[*n] = vocab_find(v, s, (size_t)bytes);
        if ((*ids)[(*n)++] < 0) vocab_name_unknown(v, s, bytes, ++unknown, &names);
    }
    if (unknown > VOCAB_NAMED) str_addf(&names, _(" and %d more"), unknown - VOCAB_NAMED);
    Status status = status_ok();
    if (unknown > 0) {
        status =
            status_usage(_("unknown words: %s; the vocabulary has %d words"), names.s, vocab_size(v) - VOCAB_SPECIALS);
        mem_free(*ids);
        *ids = NULL;
        *n = 0;
    }
    str_done(&names);
    return status;
}
