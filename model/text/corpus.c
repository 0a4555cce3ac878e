#include "corpus.h"

#include "bpe_train.h"
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

static Status corpus_reserved(const char *name, const char *word) {
    return status_usage(_("'%s': the word '%s' is reserved; a corpus cannot have it"), name, word);
}

/* IDS, which are of V and known, as one sentence of the corpus NAME. */
static Status gather_own(Gather *g, const char *name, const Vocab *v, const TokenIds *ids) {
    gather_id(g, VOCAB_BOS);
    for (int i = 0; i < ids->count; i++) {
        if (ids->id[i] < VOCAB_SPECIALS) return corpus_reserved(name, vocab_token(v, ids->id[i]));
        gather_id(g, ids->id[i]);
    }
    gather_id(g, VOCAB_EOS);
    gather_end(g);
    return status_ok();
}

/* The same of a tokenizer of others; a sentence without a prediction is none. */
static void gather_foreign(Gather *g, const Vocab *v, const TokenIds *ids) {
    int last = vocab_last(v), first = vocab_first(v) >= 0 ? vocab_first(v) : last;
    if (ids->count + (first >= 0) + (last >= 0) < 2 || ids->count == 0) return;
    if (first >= 0) gather_id(g, first);
    for (int i = 0; i < ids->count; i++) gather_id(g, ids->id[i]);
    if (last >= 0) gather_id(g, last);
    gather_end(g);
}

/* Why not every token of a sentence is known. */
static Status unknown_in(const char *name, const Vocab *v, const char *s, size_t n) {
    int *ids, count;
    char *text = mem_text_n(s, n);
    Status status = vocab_encode(v, text, &ids, &count);
    BUG_ON(status_is_ok(&status)); /* they were not */
    mem_free(text);
    return status_usage("'%s': %s", name, status.text);
}

/* Adds one sentence of the corpus C. */
static Status gather_sentence(Gather *g, const Corpus *c, Tokenizer *cutter, const char *s, size_t n) {
    TokenIds ids = {0};
    vocab_cut(c->vocab, cutter, s, n, &ids);
    bool known = true, foreign = vocab_is_foreign(c->vocab);
    for (int i = 0; i < ids.count; i++) known = known && ids.id[i] >= 0;
    Status status = known ? status_ok() : unknown_in(c->name, c->vocab, s, n);
    if (known && foreign) gather_foreign(g, c->vocab, &ids);
    if (known && !foreign) status = gather_own(g, c->name, c->vocab, &ids);
    mem_free(ids.id);
    return status;
}

/* ---- Texts, a sentence each ---- */

typedef struct {
    const char *s;
    size_t n;
} Span;

typedef struct {
    Span *span; /* [count] */
    long count, capacity;
    size_t bytes; /* of all together */
} Spans;

static void spans_add(Spans *l, const char *s, size_t n) {
    MEM_GROW(l->span, l->count, l->capacity);
    l->span[l->count++] = (Span){s, n};
    l->bytes += n;
}

/* Counts what a tokenizer of others leaves out of a sentence. */
static void count_left_out(Corpus *c, const Span *l) {
    Tokenizer *t = vocab_tokenizer(c->vocab);
    Str names;
    if (!t) return;
    str_init(&names);
    c->left_out += tokenizer_left_out(t, l->s, l->n, &names);
    str_done(&names);
}

/* Sentences FROM to TO-1 of the texts. */
static Status gather_spans(Corpus *c, const Spans *l, long from, long to, Sentences *out) {
    Gather g = {.to = out};
    Tokenizer *cutter = vocab_cutter(c->vocab);
    Status s = status_ok();
    for (long i = from; i < to && status_is_ok(&s); i++) {
        count_left_out(c, &l->span[i]);
        s = cancel_wanted() ? status_cancelled() : gather_sentence(&g, c, cutter, l->span[i].s, l->span[i].n);
    }
    tokenizer_free(cutter);
    return s;
}

/* ---- Vocabularies of texts ---- */

static Vocab *vocab_of_texts(VocabUnit unit, const Texts *texts) {
    const char **token = MEM_ARRAY(const char *, (size_t)texts->count);
    for (int i = 1; i < texts->count; i++) token[i - 1] = texts_bytes(texts, i);
    Vocab *v = unit == VOCAB_WORD ? vocab_new(token, texts->count - 1) : vocab_new_chars(token, texts->count - 1);
    mem_free(token);
    return v;
}

static void add_words(Texts *texts, Span l) {
    for (size_t at = 0, end; at < l.n; at = end + 1) {
        for (end = at; end < l.n && l.s[end] != ' ' && l.s[end] != '\t';) end++;
        if (end > at) texts_add(texts, l.s + at, end - at);
    }
}

static void add_chars(Texts *texts, Span l) {
    for (size_t at = 0, n; at < l.n; at += n) {
        n = bpe_unit_bytes(l.s + at, l.n - at, BPE_CHAR);
        texts_add(texts, l.s + at, n);
    }
}

static Vocab *vocab_of_spans(VocabUnit unit, const Spans *l) {
    Texts texts;
    texts_init(&texts);
    for (long i = 0; i < l->count; i++) {
        if (unit == VOCAB_WORD)
            add_words(&texts, l->span[i]);
        else
            add_chars(&texts, l->span[i]);
    }
    Vocab *v = vocab_of_texts(unit, &texts);
    texts_done(&texts);
    return v;
}

static Status learn_pieces(const Spans *l, int merges, Vocab **out) {
    *out = NULL;
    if (l->bytes > BPE_WORDS_MOST_BYTES) return status_usage(_("the texts have too many bytes to learn merges from"));
    BpeWords words;
    bpe_words_init(&words, BPE_CHAR, false);
    for (long i = 0; i < l->count; i++) bpe_words_add(&words, l->span[i].s, l->span[i].n);
    BpeTrainer *t = bpe_trainer_new(&words);
    bool cancelled = false;
    for (int i = 0; i < merges && !cancelled && bpe_trainer_step(t); i++) cancelled = cancel_wanted();
    if (!cancelled) *out = vocab_new_bpe(bpe_trainer_take(t));
    bpe_trainer_free(t);
    bpe_words_done(&words);
    return cancelled ? status_cancelled() : status_ok();
}

static Status learn_vocab(CorpusTokens tokens, const Spans *l, Vocab **out) {
    if (tokens.vocab) {
        *out = vocab_copy(tokens.vocab);
        return status_ok();
    }
    if (tokens.unit == VOCAB_BPE) return learn_pieces(l, tokens.merges, out);
    *out = tokens.unit == VOCAB_BYTE ? vocab_new_bytes() : vocab_of_spans(tokens.unit, l);
    return status_ok();
}

/* ---- From a grammar ---- */

/* Adds N sentences of STREAM to TEXT, one after the other; ends[i] is where the i-th ends. */
static Status corpus_draw(const Corpus *c, const char *stream, long n, uint64_t seed, Str *text, size_t *ends) {
    Str one;
    str_init(&one);
    Status s = status_ok();
    for (long i = 0; i < n && status_is_ok(&s); i++) {
        Rng r = rng_at(seed, stream, (uint64_t)i);
        str_clear(&one);
        s = cancel_wanted() ? status_cancelled() : language_sample(c->language, &r, &one);
        str_add_n(text, one.s, one.len);
        ends[i] = text->len;
    }
    str_done(&one);
    return s;
}

static Status language_vocab(Language *l, Vocab **out) {
    const char **words;
    int count;
    STATUS_TRY(language_words(l, &words, &count));
    *out = vocab_new(words, count);
    mem_free(words);
    return status_ok();
}

static Status corpus_cut_drawn(Corpus *c, CorpusTokens tokens, const Spans *l, long n) {
    if (tokens.unit == VOCAB_WORD && !tokens.vocab)
        STATUS_TRY(language_vocab(c->language, &c->vocab));
    else
        STATUS_TRY(learn_vocab(tokens, l, &c->vocab));
    STATUS_TRY(gather_spans(c, l, 0, n, &c->train));
    return gather_spans(c, l, n, l->count, &c->test);
}

/* Whether the tokens are the words of the grammar, so that it knows what they are worth. */
static bool has_words(const Corpus *c, CorpusTokens tokens) {
    Vocab *words;
    if (!tokens.vocab || vocab_unit(tokens.vocab) != VOCAB_WORD) return !tokens.vocab && tokens.unit == VOCAB_WORD;
    Status s = language_vocab(c->language, &words);
    if (!status_is_ok(&s)) return false;
    bool same = vocab_same(words, tokens.vocab);
    vocab_free(words);
    return same;
}

static Status corpus_fill(Corpus *c, const char *start, const char *set, CorpusTokens tokens, long n, long test,
                          uint64_t seed) {
    if (n < 1 || test < 0) return status_usage(_("a corpus needs at least 1 sentence to train on"));
    STATUS_TRY(language_new(c->grammar, start, set, &c->language));
    Str text;
    str_init(&text);
    size_t *ends = MEM_ARRAY(size_t, (size_t)(n + test));
    Status s = corpus_draw(c, "corpus.train", n, seed, &text, ends);
    if (status_is_ok(&s)) s = corpus_draw(c, "corpus.test", test, seed, &text, ends + n);
    Spans l = {0};
    for (long i = 0; i < n + test && status_is_ok(&s); i++)
        spans_add(&l, text.s + (i > 0 ? ends[i - 1] : 0), ends[i] - (i > 0 ? ends[i - 1] : 0));
    if (status_is_ok(&s)) s = corpus_cut_drawn(c, tokens, &l, n);
    mem_free(l.span);
    mem_free(ends);
    str_done(&text);
    if (!status_is_ok(&s) || has_words(c, tokens)) return s;
    language_free(c->language); /* it knows what its words are worth, not their parts */
    c->language = NULL;
    return s;
}

static Corpus *corpus_new(const char *name) {
    Corpus *c = MEM_NEW(Corpus);
    size_t n = strlen(name);
    if (n >= sizeof c->name) n = sizeof c->name - 1;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) n--; /* never half a character */
    memcpy(c->name, name, n);
    return c;
}

Status corpus_sample(Grammar *g, const char *name, const char *start, const char *set, CorpusTokens tokens, long n,
                     long test, uint64_t seed, Corpus **out) {
    Corpus *c = corpus_new(name);
    c->grammar = g;
    Status s = corpus_fill(c, start, set, tokens, n, test, seed);
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
    vocab_join(c->vocab, s->id + s->start[i], (int)(s->start[i + 1] - s->start[i]), out);
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

/* Sub-words know more blanks than the two of ASCII, and an empty sentence is none. */
static bool has_word(VocabUnit unit, const Lines *l) {
    size_t blank, word = 1;
    if (unit == VOCAB_BPE) bpe_next_word(l->s, l->n, BPE_CHAR, &blank, &word);
    return word > 0;
}

static Status lines_check(const char *path, VocabUnit unit, const Str *text, Spans *out) {
    for (Lines l = lines_of(text); lines_next(&l);) {
        if (!utf8_valid(l.s, l.n, NULL))
            return status_usage(_("'%s', line %ld: these bytes are not UTF-8"), path, l.line);
        if (memchr(l.s, '\0', l.n)) return status_usage(_("'%s', line %ld: a byte 0 in a text"), path, l.line);
        if (has_word(unit, &l)) spans_add(out, l.s, l.n);
    }
    return out->count > 0 ? status_ok() : status_usage(_("'%s' has no text to learn from"), path);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Where the second of two sentences may begin in a line, behind a blank and next to WANT; 0: nowhere. */
static size_t word_near(const Span *line, size_t want) {
    size_t first = 0, found = 0;
    while (first < line->n && is_blank(line->s[first])) first++;
    for (size_t i = first + 1; i < line->n && (found == 0 || i <= want); i++)
        if (is_blank(line->s[i - 1]) && !is_blank(line->s[i])) found = i;
    return found;
}

/* The same between two characters. */
static size_t character_near(const Span *line, size_t want) {
    while (want > 0 && ((unsigned char)line->s[want] & 0xc0) == 0x80) want--;
    if (want > 0) return want;
    size_t n = bpe_unit_bytes(line->s, line->n, BPE_CHAR);
    return n < line->n ? n : 0;
}

/* A text of one line: what is learned from, and behind it a twentieth to test with. */
static Status split_line(const char *path, VocabUnit unit, Spans *l) {
    Span line = l->span[0];
    size_t want = line.n - 1 - (line.n - 1) / 20, at = word_near(&line, want);
    if (at == 0 && unit == VOCAB_WORD)
        return status_usage(_("'%s' has one word; a corpus needs two at least, or tokens=char"), path);
    if (at == 0) at = character_near(&line, want);
    if (at == 0) return status_usage(_("'%s' has one character; a corpus needs two at least"), path);
    l->span[0].n = at;
    spans_add(l, line.s + at, line.n - at);
    l->bytes = line.n;
    return status_ok();
}

static Status corpus_fill_lines(Corpus *c, const char *path, CorpusTokens tokens, const Str *text, Spans *l) {
    VocabUnit unit = tokens.vocab ? vocab_unit(tokens.vocab) : tokens.unit;
    STATUS_TRY(lines_check(path, unit, text, l));
    if (l->count == 1) STATUS_TRY(split_line(path, unit, l));
    long test = l->count / 20 > 0 ? l->count / 20 : 1;
    STATUS_TRY(learn_vocab(tokens, l, &c->vocab));
    STATUS_TRY(gather_spans(c, l, 0, l->count - test, &c->train));
    return gather_spans(c, l, l->count - test, l->count, &c->test);
}

Status corpus_read_lines(const char *path, CorpusTokens tokens, Corpus **out) {
    const char *slash = strrchr(path, '/');
    Corpus *c = corpus_new(slash ? slash + 1 : path);
    Str text;
    str_init(&text);
    Status s = file_read(path, CORPUS_FILE_BYTES, &text);
    Spans l = {0};
    if (status_is_ok(&s)) s = corpus_fill_lines(c, path, tokens, &text, &l);
    mem_free(l.span);
    str_done(&text);
    *out = status_is_ok(&s) ? c : NULL;
    if (!*out) corpus_free(c);
    return s;
}

/* ---- Parts of long sentences ---- */

static void part_sentence(Gather *g, const int *id, long n, int context) {
    for (long from = 0; from == 0 || from < n - 1; from += context) {
        for (long i = from; i < n && i <= from + context; i++) gather_id(g, id[i]);
        gather_end(g);
    }
}

static void sentences_part(Sentences *s, int context) {
    Sentences parts = {0};
    Gather g = {.to = &parts};
    for (long i = 0; i < s->sentences; i++)
        part_sentence(&g, s->id + s->start[i], s->start[i + 1] - s->start[i], context);
    mem_free(s->id);
    mem_free(s->start);
    *s = parts;
}

void corpus_part(Corpus *c, int context) {
    sentences_part(&c->train, context);
    sentences_part(&c->test, context);
}

/* ---- Packing ---- */

static void sentences_pack(Sentences *s, int block) {
    if (s->sentences == 0) return;
    Sentences stream = {0};
    Gather g = {.to = &stream};
    gather_id(&g, VOCAB_EOS);
    for (long i = 0; i < s->sentences; i++)
        for (long k = s->start[i] + 1; k < s->start[i + 1]; k++) gather_id(&g, s->id[k]);
    gather_end(&g);
    mem_free(s->id);
    mem_free(s->start);
    *s = stream;
    sentences_part(s, block);
}

void corpus_pack(Corpus *c, int block) {
    sentences_pack(&c->train, block);
    sentences_pack(&c->test, block);
    if (c->language) language_free(c->language);
    if (c->grammar) grammar_free(c->grammar);
    c->language = NULL;
    c->grammar = NULL;
}
