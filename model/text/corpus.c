#include "corpus.h"

#include "bug.h"
#include "cancel.h"
#include "file.h"
#include "intl.h"
#include "mem.h"
#include "texts.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

enum { CORPUS_FILE_BYTES = 256 << 20 };

/* ---- Sentences being gathered ---- */

typedef struct {
    Sentences *to;
    size_t ids, id_slots;
    long start_slots;
} Gather;

static void gather_id(Gather *g, int id) {
    MEM_GROW(g->to->id, g->ids, g->id_slots);
    g->to->id[g->ids++] = id;
}

static void gather_end(Gather *g) {
    Sentences *s = g->to;
    while (g->start_slots < s->sentences + 2) {
        g->start_slots = g->start_slots ? g->start_slots * 2 : 64;
        s->start = mem_resize(s->start, (size_t)g->start_slots, sizeof *s->start);
    }
    if (s->sentences == 0) s->start[0] = 0;
    s->start[++s->sentences] = (long)g->ids;
}

static Status corpus_reserved(const char *word) {
    return status_usage(_("the word '%s' is reserved; a corpus cannot have it"), word);
}

/* Adds one sentence, its words split at single or more blanks. They are all known. */
static Status gather_sentence(Gather *g, const Vocab *v, const char *s, size_t n) {
    gather_id(g, VOCAB_BOS);
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && s[i] != ' ' && s[i] != '\t') i++;
        if (i > from) {
            int id = vocab_find(v, s + from, i - from);
            BUG_ON(id < 0);
            if (id < VOCAB_SPECIALS) return corpus_reserved(vocab_token(v, id));
            gather_id(g, id);
        } else {
            i++;
        }
    }
    gather_id(g, VOCAB_EOS);
    gather_end(g);
    return status_ok();
}

/* ---- From a grammar ---- */

static Status corpus_draw(Corpus *c, const char *stream, long n, uint64_t seed, Sentences *to) {
    Gather g = {.to = to};
    Str text;
    str_init(&text);
    Status s = status_ok();
    for (long i = 0; i < n && status_is_ok(&s); i++) {
        Rng r = rng_at(seed, stream, (uint64_t)i);
        str_clear(&text);
        s = cancel_wanted() ? status_cancelled() : language_sample(c->language, &r, &text);
        if (status_is_ok(&s)) s = gather_sentence(&g, c->vocab, text.s, text.len);
    }
    str_done(&text);
    return s;
}

static Status corpus_fill(Corpus *c, const char *start, const char *set, long n, long test, uint64_t seed) {
    if (n < 1 || test < 0) return status_usage(_("a corpus needs at least 1 sentence to train on"));
    STATUS_TRY(language_new(c->grammar, start, set, &c->language));
    const char **words;
    int count;
    STATUS_TRY(language_words(c->language, &words, &count));
    c->vocab = vocab_new(words, count);
    mem_free(words);
    STATUS_TRY(corpus_draw(c, "corpus.train", n, seed, &c->train));
    return corpus_draw(c, "corpus.test", test, seed, &c->test);
}

static Corpus *corpus_new(const char *name) {
    Corpus *c = MEM_NEW(Corpus);
    size_t n = strlen(name);
    if (n >= sizeof c->name) n = sizeof c->name - 1;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) n--; /* never half a character */
    memcpy(c->name, name, n);
    c->floor_nll = (double)NAN;
    return c;
}

Status corpus_sample(Grammar *g, const char *name, const char *start, const char *set, long n, long test, uint64_t seed,
                     Corpus **out) {
    Corpus *c = corpus_new(name);
    c->grammar = g;
    Status s = corpus_fill(c, start, set, n, test, seed);
    *out = status_is_ok(&s) ? c : NULL;
    if (!*out) corpus_free(c);
    return s;
}

void corpus_free(Corpus *c) {
    if (!c) return;
    language_free(c->language);
    grammar_free(c->grammar);
    vocab_free(c->vocab);
    mem_free(c->train.id);
    mem_free(c->train.start);
    mem_free(c->test.id);
    mem_free(c->test.start);
    mem_free(c);
}

void corpus_text(const Corpus *c, const Sentences *s, long i, Str *out) {
    for (long k = s->start[i] + 1; k < s->start[i + 1] - 1; k++) {
        if (k > s->start[i] + 1) str_add_char(out, ' ');
        str_add(out, vocab_token(c->vocab, s->id[k]));
    }
}

static Status corpus_sum(Corpus *c, Str *text, double *sum) {
    *sum = 0;
    for (long i = 0; i < c->test.sentences; i++) {
        double log_p;
        str_clear(text);
        corpus_text(c, &c->test, i, text);
        STATUS_TRY(language_log_p(c->language, text->s, &log_p));
        *sum += log_p;
    }
    return status_ok();
}

Status corpus_floor(Corpus *c) {
    if (!c->language || c->test.sentences == 0) return status_ok();
    Str text;
    str_init(&text);
    double sum;
    Status s = corpus_sum(c, &text, &sum);
    str_done(&text);
    long predictions = c->test.start[c->test.sentences] - c->test.sentences;
    if (status_is_ok(&s)) c->floor_nll = -sum / (double)predictions;
    return s;
}

/* ---- From a text, one sentence a line ---- */

/* The lines of a text that have words. */
typedef struct {
    const char *s; /* [n] of the line at hand */
    size_t n;
    const char *rest, *end;
    long line;
} Lines;

static Lines lines_of(const Str *text) {
    Lines l = {.rest = text->s, .end = text->s + text->len};
    if (text->len >= 3 && memcmp(text->s, "\xef\xbb\xbf", 3) == 0) l.rest += 3;
    return l;
}

static bool lines_next(Lines *l) {
    while (l->rest < l->end) {
        const char *end = memchr(l->rest, '\n', (size_t)(l->end - l->rest));
        if (!end) end = l->end;
        l->s = l->rest;
        l->n = (size_t)(end - l->s);
        l->rest = end + 1;
        l->line++;
        if (l->n > 0 && l->s[l->n - 1] == '\r') l->n--;
        for (size_t i = 0; i < l->n; i++)
            if (l->s[i] != ' ' && l->s[i] != '\t') return true;
    }
    return false;
}

static Status lines_check(const char *path, const Str *text, long *sentences) {
    *sentences = 0;
    for (Lines l = lines_of(text); lines_next(&l); ++*sentences) {
        if (!utf8_valid(l.s, l.n, NULL))
            return status_usage(_("'%s', line %ld: these bytes are not UTF-8"), path, l.line);
        if (memchr(l.s, '\0', l.n)) return status_usage(_("'%s', line %ld: a byte 0 in a text"), path, l.line);
    }
    if (*sentences < 2)
        return status_usage(_("'%s' has %ld sentences; a corpus needs 2 at least, one a line"), path, *sentences);
    return status_ok();
}

static Vocab *lines_vocab(const Str *text) {
    Texts texts;
    texts_init(&texts);
    for (Lines l = lines_of(text); lines_next(&l);)
        for (size_t i = 0, from; i < l.n; i++) {
            for (from = i; i < l.n && l.s[i] != ' ' && l.s[i] != '\t';) i++;
            if (i > from) texts_add(&texts, l.s + from, i - from);
        }
    const char **words = MEM_ARRAY(const char *, (size_t)texts.count);
    for (int i = 1; i < texts.count; i++) words[i - 1] = texts_bytes(&texts, i);
    Vocab *v = vocab_new(words, texts.count - 1);
    mem_free(words);
    texts_done(&texts);
    return v;
}

static Status corpus_fill_lines(Corpus *c, const char *path, const Str *text) {
    long sentences, i = 0;
    STATUS_TRY(lines_check(path, text, &sentences));
    long test = sentences / 20 > 0 ? sentences / 20 : 1;
    c->vocab = lines_vocab(text);
    Gather train = {.to = &c->train}, held_out = {.to = &c->test};
    for (Lines l = lines_of(text); lines_next(&l); i++) {
        if (cancel_wanted()) return status_cancelled();
        STATUS_TRY(gather_sentence(i < sentences - test ? &train : &held_out, c->vocab, l.s, l.n));
    }
    return status_ok();
}

Status corpus_read_lines(const char *path, Corpus **out) {
    const char *slash = strrchr(path, '/');
    Corpus *c = corpus_new(slash ? slash + 1 : path);
    Str text;
    str_init(&text);
    Status s = file_read(path, CORPUS_FILE_BYTES, &text);
    if (status_is_ok(&s)) s = corpus_fill_lines(c, path, &text);
    str_done(&text);
    *out = status_is_ok(&s) ? c : NULL;
    if (!*out) corpus_free(c);
    return s;
}
