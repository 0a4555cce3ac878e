#include "tokenizer.h"

#include "bug.h"
#include "mem.h"
#include "texts.h"
#include "utf8.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

enum {
    TOKENIZER_LONGEST = 64,         /* bytes of a word that is remembered */
    TOKENIZER_REMEMBERED = 1 << 18, /* words */
    TOKENIZER_NAMED = 3             /* characters that are left out */
};

struct Tokenizer {
    const TokenizerKind *kind;
    void *self;
    TokenizerFacts facts;
    pthread_mutex_t lock; /* of all below, and of SELF while it cuts */
    Merger *merger;
    Units units; /* of the word at hand */
    int *count;  /* [count_capacity] units that each piece of the word is made of */
    int count_capacity;
    Texts words;  /* remembered; word w is text w + 1, its pieces piece[end[w-1]] ... piece[end[w] - 1] */
    Pieces known; /* starts count from the word's */
    long *end;    /* [words] */
    int ends, end_capacity;
};

void pieces_done(Pieces *p) {
    mem_free(p->piece);
    mem_free(p->gaps.gap);
    *p = (Pieces){0};
}

static void pieces_add(Pieces *p, int id, size_t start, size_t bytes) {
    MEM_GROW(p->piece, p->count, p->capacity);
    p->piece[p->count++] = (Piece){id, start, bytes};
}

void units_done(Units *u) {
    mem_free(u->symbol);
    mem_free(u->start);
    mem_free(u->ends);
    mem_free(u->gaps.gap);
    *u = (Units){0};
}

static void add_gap(Gaps *g, size_t start, size_t bytes) {
    MEM_GROW(g->gap, g->count, g->capacity);
    g->gap[g->count++] = (Gap){start, bytes};
}

void units_leave_out(Units *u, size_t start, size_t bytes) {
    add_gap(&u->gaps, start, bytes);
}

void units_add(Units *u, int symbol, size_t start, bool ends) {
    BUG_ON(u->n == INT_MAX);
    MEM_GROW(u->symbol, u->n, u->symbol_capacity);
    MEM_GROW(u->start, u->n, u->start_capacity);
    MEM_GROW(u->ends, u->n, u->end_capacity);
    u->symbol[u->n] = symbol;
    u->start[u->n] = start;
    u->ends[u->n++] = ends;
}

Tokenizer *tokenizer_new(const TokenizerKind *kind, void *self, TokenizerFacts facts) {
    Tokenizer *t = MEM_NEW(Tokenizer);
    *t = (Tokenizer){.kind = kind, .self = self, .facts = facts};
    BUG_ON(pthread_mutex_init(&t->lock, NULL) != 0);
    t->merger = merger_new(facts.rules);
    texts_init(&t->words);
    return t;
}

void tokenizer_free(Tokenizer *t) {
    if (!t) return;
    if (t->kind->free) t->kind->free(t->self);
    pthread_mutex_destroy(&t->lock);
    merger_free(t->merger);
    units_done(&t->units);
    mem_free(t->count);
    texts_done(&t->words);
    pieces_done(&t->known);
    mem_free(t->end);
    mem_free(t);
}

bool tokenizer_refuses(const Tokenizer *t) {
    return t->facts.refuses;
}

int tokenizer_size(const Tokenizer *t) {
    return t->facts.size;
}

int tokenizer_first(const Tokenizer *t) {
    return t->facts.first;
}

int tokenizer_last(const Tokenizer *t) {
    return t->facts.last;
}

const MergeRules *tokenizer_rules(const Tokenizer *t) {
    return t->facts.rules;
}

void tokenizer_name(const Tokenizer *t, int id, Str *out) {
    BUG_ON(id < 0 || id >= t->facts.size);
    t->kind->name(t->self, id, out);
}

void tokenizer_bytes(const Tokenizer *t, int id, int previous, Str *out) {
    BUG_ON(id < 0 || id >= t->facts.size);
    t->kind->bytes(t->self, id, previous, out);
}

/* ---- one word ---- */

static int *reserve_counts(Tokenizer *t, int n) {
    if (n > t->count_capacity) {
        t->count_capacity = n < 64 ? 64 : n;
        t->count = mem_resize(t->count, (size_t)t->count_capacity, sizeof *t->count);
    }
    return t->count;
}

static void cut_word(Tokenizer *t, const char *s, size_t at, size_t end, Pieces *out) {
    Units *u = &t->units;
    u->n = 0;
    u->gaps.count = 0;
    t->kind->lay(t->self, s, at, end, u);
    u->end = end;
    int units = u->n, *count = reserve_counts(t, units);
    int n = merger_run(t->merger, u->symbol, count, units, u->ends, t->facts.limit, NULL, NULL);
    for (int i = 0, unit = 0; i < n; unit += count[i++]) {
        int last = unit + count[i] - 1;
        size_t stop = last + 1 < units ? u->start[last + 1] : end;
        pieces_add(out, u->symbol[i], u->start[unit], stop - u->start[unit]);
    }
    for (long i = 0; i < u->gaps.count; i++) add_gap(&out->gaps, u->gaps.gap[i].start, u->gaps.gap[i].bytes);
}

/* Adds the pieces of a word that was cut before; false: it was not. */
static bool recall(const Tokenizer *t, const char *s, size_t at, size_t end, Pieces *out) {
    int word = end > at ? texts_find(&t->words, s + at, end - at) - 1 : -1;
    if (word < 0) return false;
    for (long i = word > 0 ? t->end[word - 1] : 0; i < t->end[word]; i++) {
        const Piece *p = &t->known.piece[i];
        pieces_add(out, p->id, at + p->start, p->bytes);
    }
    return true;
}

static void remember(Tokenizer *t, const char *s, size_t at, size_t end, const Pieces *from, long first) {
    if (end == at || end - at > TOKENIZER_LONGEST || t->ends == TOKENIZER_REMEMBERED) return;
    texts_add(&t->words, s + at, end - at);
    for (long i = first; i < from->count; i++)
        pieces_add(&t->known, from->piece[i].id, from->piece[i].start - at, from->piece[i].bytes);
    MEM_GROW(t->end, t->ends, t->end_capacity);
    t->end[t->ends++] = t->known.count;
}

static void cut_next(Tokenizer *t, const char *s, const Word *w, Pieces *out) {
    long first = out->count;
    if (w->id >= 0) {
        pieces_add(out, w->id, w->start, w->end - w->start);
    } else if (!recall(t, s, w->start, w->end, out)) {
        cut_word(t, s, w->start, w->end, out);
        if (t->units.gaps.count == 0) remember(t, s, w->start, w->end, out, first);
    }
    if (out->count > first) out->piece[out->count - 1].bytes += w->stop - w->end;
}

/* ---- a text ---- */

static Cuttable begin_text(Tokenizer *t, const char *s, size_t n) {
    return t->kind->begin ? t->kind->begin(t->self, s, n) : (Cuttable){s, n, NULL};
}

/* Gaps from FIRST on, as places of the text that was given. */
static void place_gaps(const Cuttable *c, Gaps *g, long first) {
    for (long i = first; c->from && i < g->count; i++) {
        size_t start = c->from[g->gap[i].start];
        g->gap[i] = (Gap){start, c->from[g->gap[i].start + g->gap[i].bytes] - start};
    }
}

static bool next_word(Tokenizer *t, const Cuttable *c, size_t at, Word *w) {
    if (at >= c->n || !t->kind->next(t->self, c->s, c->n, at, w)) return false;
    BUG_ON(w->start < at || w->end < w->start || w->stop < w->end || w->stop <= at || w->stop > c->n);
    return true;
}

void tokenizer_encode(Tokenizer *t, const char *s, size_t n, Pieces *out) {
    if (t->facts.first >= 0) pieces_add(out, t->facts.first, 0, 0);
    pthread_mutex_lock(&t->lock);
    Cuttable c = begin_text(t, s, n);
    long given = out->count, gaps = out->gaps.count;
    Word w;
    for (size_t at = 0; next_word(t, &c, at, &w); at = w.stop) cut_next(t, c.s, &w, out);
    for (long i = given; c.from && i < out->count; i++) {
        Piece *p = &out->piece[i];
        size_t start = c.from[p->start];
        *p = (Piece){p->id, start, c.from[p->start + p->bytes] - start};
    }
    place_gaps(&c, &out->gaps, gaps);
    pthread_mutex_unlock(&t->lock);
}

/* ---- what vanishes ---- */

/* Whether the character AT ... END-1, or a part of it, is in a gap; *next is the first that those behind may be in. */
static bool is_left_out(const Gaps *g, long *next, size_t at, size_t end) {
    bool found = false;
    for (; *next < g->count; ++*next) {
        const Gap *gap = &g->gap[*next];
        size_t stop = gap->start + gap->bytes, start = gap->bytes || gap->start == 0 ? gap->start : gap->start - 1;
        found = found || (start < end && stop > at);
        if (stop > end) break;
    }
    return found;
}

/* Adds a character that KNOWN does not have yet. */
static void name_character(Texts *known, const char *s, size_t n, Str *names) {
    if (texts_find(known, s, n) >= 0) return;
    texts_add(known, s, n);
    int different = known->count - 1; /* text 0 is none */
    if (different > TOKENIZER_NAMED + 1) return;
    if (different > 1) str_add(names, ", ");
    if (different <= TOKENIZER_NAMED)
        utf8_show(names, s, n, false);
    else
        str_add_code(names, 0x2026);
}

int tokenizer_left_out(Tokenizer *t, const char *s, size_t n, Str *names) {
    if (!t->facts.leaves_out) return 0;
    Pieces pieces = {0};
    Texts known;
    long next = 0;
    int count = 0;
    texts_init(&known);
    tokenizer_encode(t, s, n, &pieces);
    for (size_t at = 0, bytes; next < pieces.gaps.count && at < n; at += bytes) {
        bytes = utf8_bytes(s + at, n - at);
        if (!is_left_out(&pieces.gaps, &next, at, at + bytes)) continue;
        name_character(&known, s + at, bytes, names);
        count++;
    }
    texts_done(&known);
    pieces_done(&pieces);
    return count;
}

/* ---- step by step ---- */

size_t tokenizer_lay(Tokenizer *t, const char *s, size_t n, int most, Units *units) {
    if (t->facts.first >= 0) units_add(units, t->facts.first, 0, true);
    pthread_mutex_lock(&t->lock);
    Cuttable c = begin_text(t, s, n);
    size_t at = 0;
    int given = units->n;
    long gaps = units->gaps.count;
    for (Word w; units->n < most && next_word(t, &c, at, &w); at = w.stop) {
        int first = units->n;
        if (w.id >= 0) {
            units_add(units, w.id, w.start, true);
        } else {
            t->kind->lay(t->self, c.s, w.start, w.end, units);
        }
        if (units->n > first) units->ends[units->n - 1] = true;
    }
    for (int i = given; c.from && i < units->n; i++) units->start[i] = c.from[units->start[i]];
    place_gaps(&c, &units->gaps, gaps);
    units->end = c.from ? c.from[at] : at;
    pthread_mutex_unlock(&t->lock);
    return units->end;
}

void tokenizer_watch(Tokenizer *t, const Units *units, MergeWatch *watch, void *data) {
    int *symbol = mem_alloc((size_t)units->n * sizeof *symbol);
    if (units->n > 0) memcpy(symbol, units->symbol, (size_t)units->n * sizeof *symbol);
    pthread_mutex_lock(&t->lock);
    merger_run(t->merger, symbol, reserve_counts(t, units->n), units->n, units->ends, t->facts.limit, watch, data);
    pthread_mutex_unlock(&t->lock);
    mem_free(symbol);
}
