#include "corpora.h"

#include "assets.h"
#include "intl.h"
#include "lines.h"
#include "mem.h"
#include "rng.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TEST_PART = 20 }; /* of a text, one sentence in so many is for testing */

static bool ends_in(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

bool corpora_is_grammar(const char *spec, Str *path) {
    str_clear(path);
    if (ends_in(spec, ".grammar")) {
        str_add(path, spec);
        return true;
    }
    if (strchr(spec, '/') || !*spec || strcmp(spec, "-") == 0) return false;
    Str relative;
    str_init(&relative);
    str_addf(&relative, "grammars/%s.grammar", spec);
    bool found = assets_find(relative.s, path);
    str_done(&relative);
    return found;
}

Status corpora_check(const char *spec) {
    Str path;
    str_init(&path);
    bool grammar = corpora_is_grammar(spec, &path);
    str_done(&path);
    if ((grammar && !ends_in(spec, ".grammar")) || strcmp(spec, "-") == 0) return status_ok();
    struct stat s;
    if (stat(spec, &s) == 0) return status_ok();
    return status_usage(_("corpus: '%s' is neither a file nor a built-in grammar (farm, morph, stories, tags)"), spec);
}

/* Of a grammar. */

static Status load_grammar(const char *spec, const char *path, long sentences, long test, uint64_t seed, Corpus **out) {
    Grammar *g;
    STATUS_TRY(grammar_read(path, &g));
    return corpus_sample(g, spec, NULL, NULL, sentences, test, seed, out);
}

/* Of a text. */

/* The next word of a line from *at on: its first character, and its length in *bytes; NULL at the end. */
static const char *next_word(const char **at, size_t *bytes) {
    const char *word = *at + strspn(*at, " \t");
    *bytes = strcspn(word, " \t");
    *at = word + *bytes;
    return *bytes ? word : NULL;
}

static Vocab *vocab_of(const Lines *l) {
    char **word = NULL;
    int words = 0, capacity = 0;
    for (long i = 0; i < l->count; i++) {
        const char *at = l->line[i], *w;
        size_t bytes;
        while ((w = next_word(&at, &bytes)) != NULL) {
            MEM_GROW(word, words, capacity);
            word[words++] = mem_text_n(w, bytes);
        }
    }
    Vocab *v = vocab_new((const char *const *)word, words);
    for (int i = 0; i < words; i++) mem_free(word[i]);
    mem_free(word);
    return v;
}

/* Lines without a word are no sentences. */
static void drop_empty(Lines *l) {
    long kept = 0;
    for (long i = 0; i < l->count; i++) {
        const char *at = l->line[i];
        size_t bytes;
        if (next_word(&at, &bytes))
            l->line[kept++] = l->line[i];
        else
            mem_free(l->line[i]);
    }
    l->count = kept;
}

/* Grows with the sentences put in. */
typedef struct {
    Sentences s;
    size_t ids, id_capacity, start_capacity;
} Filling;

static void fill(Filling *f, const int *ids, int n) {
    Sentences *s = &f->s;
    while (f->ids + (size_t)n + 2 > f->id_capacity) {
        f->id_capacity = f->id_capacity ? 2 * f->id_capacity : 1024;
        s->id = mem_resize(s->id, f->id_capacity, sizeof *s->id);
    }
    s->id[f->ids++] = VOCAB_BOS;
    for (int i = 0; i < n; i++) s->id[f->ids++] = ids[i];
    s->id[f->ids++] = VOCAB_EOS;
    MEM_GROW(s->start, (size_t)s->sentences + 1, f->start_capacity);
    s->start[++s->sentences] = (long)f->ids;
}

static Filling filling_new(void) {
    Filling f = {0};
    f.start_capacity = 1024;
    f.s.start = MEM_ARRAY(long, f.start_capacity);
    f.s.id = MEM_ARRAY(int, 1);
    f.id_capacity = 1;
    return f;
}

/* Which lines are for testing: [lines], at least one, not all. */
static unsigned char *choose_test(long lines, long test, uint64_t seed) {
    int *order = MEM_ARRAY(int, (size_t)lines);
    unsigned char *chosen = MEM_ARRAY(unsigned char, (size_t)lines);
    for (long i = 0; i < lines; i++) order[i] = (int)i;
    Rng r = rng_at(seed, "corpus.test", 0);
    rng_shuffle(&r, order, (int)lines);
    long n = (lines + TEST_PART - 1) / TEST_PART;
    if (n > test) n = test;
    for (long i = 0; i < n; i++) chosen[order[i]] = 1;
    mem_free(order);
    return chosen;
}

static Status fill_from(const Lines *l, const Vocab *v, const unsigned char *for_test, long sentences, Filling *train,
                        Filling *test) {
    for (long i = 0; i < l->count; i++) {
        Filling *to = for_test[i] ? test : train;
        if (to == train && sentences > 0 && train->s.sentences >= sentences) continue;
        int *ids, n;
        STATUS_TRY(vocab_encode(v, l->line[i], &ids, &n));
        fill(to, ids, n);
        mem_free(ids);
    }
    return status_ok();
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static Status from_lines(const char *spec, const Lines *l, long sentences, long test, uint64_t seed, Corpus **out) {
    if (l->count < 2 || l->count > INT_MAX)
        return status_usage(_("corpus: '%s' has %ld sentences; training and testing need at least 2, one a line"), spec,
                            l->count);
    Corpus *c = MEM_NEW(Corpus);
    snprintf(c->name, sizeof c->name, "%s", base_name(spec));
    c->vocab = vocab_of(l);
    c->floor_nll = (double)NAN;
    unsigned char *for_test = choose_test(l->count, test, seed);
    Filling training = filling_new(), testing = filling_new();
    Status s = fill_from(l, c->vocab, for_test, sentences, &training, &testing);
    mem_free(for_test);
    c->train = training.s;
    c->test = testing.s;
    *out = c;
    if (!status_is_ok(&s)) corpus_free(c);
    return s;
}

static Status load_text(const char *spec, long sentences, long test, uint64_t seed, Corpus **out) {
    Lines l;
    STATUS_TRY(lines_read(spec, &l));
    drop_empty(&l);
    Status s = from_lines(spec, &l, sentences, test, seed, out);
    lines_done(&l);
    return s;
}

Status corpora_load(const char *spec, long sentences, long test, uint64_t seed, Corpus **out) {
    Str path;
    str_init(&path);
    bool grammar = corpora_is_grammar(spec, &path);
    Status s =
        grammar ? load_grammar(spec, path.s, sentences, test, seed, out) : load_text(spec, sentences, test, seed, out);
    str_done(&path);
    return s;
}
