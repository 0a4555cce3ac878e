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

/* Least insertions, deletions, replacements and swaps of neighbours that make B of A, in bytes. */
static int vocab_distance(const char *a, int m, const char *b, int n) {
    int row[3][VOCAB_LONGEST + 1];
    for (int k = 0; k <= n; k++) row[0][k] = k;
    for (int i = 1; i <= m; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int k = 1; k <= n; k++) {
            int least = last[k - 1] + (a[i - 1] != b[k - 1]);
            if (last[k] + 1 < least) least = last[k] + 1;
            if (now[k - 1] + 1 < least) least = now[k - 1] + 1;
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped && before[k - 2] + 1 < least) least = before[k - 2] + 1;
            now[k] = least;
        }
    }
    return row[m % 3][n];
}

/* The word that is nearest to S, the first of those alike; -1 when none is near. */
static int vocab_nearest(const Vocab *v, const char *s, int n) {
    int best = -1, least = n <= 3 ? 2 : n / 2 + 1;
    for (int id = VOCAB_SPECIALS; n <= VOCAB_LONGEST && id < vocab_size(v); id++) {
        int length = v->texts.length[id + 1];
        if (length > VOCAB_LONGEST) continue;
        int distance = vocab_distance(s, n, vocab_token(v, id), length);
        if (distance < least) {
            least = distance;
            best = id;
        }
    }
    return best;
}

static void vocab_name_unknown(const Vocab *v, const char *s, int n, int unknown, Str *out) {
    if (unknown > VOCAB_NAMED) return;
    if (unknown > 1) str_add(out, ", ");
    str_addf(out, "'%.*s'", n, s);
    int nearest = vocab_nearest(v, s, n);
    if (nearest >= 0) str_addf(out, _(" (near: %s)"), vocab_token(v, nearest));
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
        status = status_usage(_("unknown words: %s; the vocabulary has %d words"), names.s, vocab_size(v) - VOCAB_SPECIALS);
        mem_free(*ids);
        *ids = NULL;
        *n = 0;
    }
    str_done(&names);
    return status;
}
