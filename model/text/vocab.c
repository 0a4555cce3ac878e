#include "vocab_internal.h"

#include "bpe_encode.h"
#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

const char *const vocab_special[VOCAB_SPECIALS] = {"<pad>", "<s>", "</s>"};
static const char *const unit_names[VOCAB_UNITS + 1] = {"word", "char", "byte", "bpe", "tokenizer"};

const char *vocab_unit_name(VocabUnit u) {
    return unit_names[u];
}

bool vocab_unit_find(const char *name, VocabUnit *out) {
    for (int u = 0; u < VOCAB_UNITS; u++) {
        if (strcmp(name, unit_names[u]) != 0) continue;
        *out = (VocabUnit)u;
        return true;
    }
    return false;
}

/* ---- Making ---- */

static int vocab_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static Vocab *vocab_begin(VocabUnit unit) {
    Vocab *v = MEM_NEW(Vocab);
    v->unit = unit;
    texts_init(&v->texts);
    str_init(&v->names);
    str_init(&v->source);
    for (int i = 0; i < VOCAB_SPECIALS; i++) texts_add(&v->texts, vocab_special[i], strlen(vocab_special[i]));
    return v;
}

/* The specials and N tokens in byte order. */
static Vocab *vocab_sorted(VocabUnit unit, const char *const *tokens, int n) {
    Vocab *v = vocab_begin(unit);
    const char **sorted = MEM_ARRAY(const char *, (size_t)n);
    for (int i = 0; i < n; i++) sorted[i] = tokens[i];
    qsort(sorted, (size_t)n, sizeof *sorted, vocab_compare);
    for (int i = 0; i < n; i++) {
        BUG_ON(sorted[i][0] == '\0');
        texts_add(&v->texts, sorted[i], strlen(sorted[i]));
    }
    mem_free(sorted);
    v->size = v->texts.count - 1;
    return v;
}

/* The bytes of a token that is no special; borrowed. */
static const char *token_bytes(const Vocab *v, int id, char byte[1], size_t *n) {
    *n = 1;
    byte[0] = (char)(id - VOCAB_SPECIALS);
    if (v->unit == VOCAB_BYTE) return byte;
    if (v->unit == VOCAB_BPE) return bpe_name(v->bpe, id - VOCAB_SPECIALS, n);
    *n = (size_t)v->texts.length[id + 1];
    return texts_bytes(&v->texts, id + 1);
}

/* Bytes that cannot be seen get a name that can. */
static void add_name(Str *out, const char *s, size_t n) {
    for (size_t i = 0, bytes; i < n; i += bytes) {
        uint32_t code;
        int length = utf8_decode(s + i, n - i, &code);
        bytes = length > 0 ? (size_t)length : 1;
        if (length > 0 && code == ' ')
            str_add_code(out, 0x2423);
        else if (length <= 0 || code < 0x20 || code == 0x7F)
            str_addf(out, "<0x%02X>", (unsigned)(unsigned char)s[i]);
        else
            str_add_n(out, s + i, bytes);
    }
}

static void vocab_name_tokens(Vocab *v) {
    v->name = MEM_ARRAY(size_t, (size_t)v->size);
    for (int id = 0; id < v->size; id++) {
        char byte[1];
        size_t n;
        v->name[id] = v->names.len;
        const char *s = id < VOCAB_SPECIALS ? NULL : token_bytes(v, id, byte, &n);
        if (s)
            add_name(&v->names, s, n);
        else
            str_add(&v->names, vocab_special[id]);
        str_add_char(&v->names, '\0');
    }
}

Vocab *vocab_new(const char *const *words, int n) {
    return vocab_sorted(VOCAB_WORD, words, n);
}

Vocab *vocab_new_chars(const char *const *chars, int n) {
    Vocab *v = vocab_sorted(VOCAB_CHAR, chars, n);
    vocab_name_tokens(v);
    return v;
}

Vocab *vocab_new_bytes(void) {
    Vocab *v = vocab_begin(VOCAB_BYTE);
    v->size = VOCAB_SPECIALS + 256;
    vocab_name_tokens(v);
    return v;
}

Vocab *vocab_new_bpe(Bpe *b) {
    Vocab *v = vocab_begin(VOCAB_BPE);
    v->bpe = b;
    v->size = VOCAB_SPECIALS + bpe_symbols(b);
    vocab_name_tokens(v);
    return v;
}

/* A token that writes nothing is called by its name. */
static void name_foreign(Vocab *v) {
    Str bytes;
    str_init(&bytes);
    v->name = MEM_ARRAY(size_t, (size_t)v->size);
    for (int id = 0; id < v->size; id++) {
        v->name[id] = v->names.len;
        str_clear(&bytes);
        tokenizer_bytes(v->tokenizer, id, -1, &bytes);
        if (bytes.len) add_name(&v->names, bytes.s, bytes.len);
        if (v->names.len == v->name[id]) tokenizer_name(v->tokenizer, id, &v->names);
        str_add_char(&v->names, '\0');
    }
    str_done(&bytes);
}

Vocab *vocab_new_tokenizer(Tokenizer *t, int first, int last) {
    Vocab *v = MEM_NEW(Vocab);
    v->unit = VOCAB_TOKENIZER;
    texts_init(&v->texts);
    str_init(&v->names);
    str_init(&v->source);
    v->tokenizer = t;
    v->first = first;
    v->last = last;
    v->size = tokenizer_size(t);
    v->holders = 1;
    name_foreign(v);
    return v;
}

static Bpe *copy_bpe(const Bpe *from) {
    Bpe *b = bpe_new(bpe_unit(from));
    for (int symbol = bpe_symbols(b); symbol < bpe_units(from); symbol++) {
        size_t n;
        const char *s = bpe_name(from, symbol, &n);
        bpe_add_unit(b, s, n);
    }
    for (int rank = 1; rank <= bpe_merges(from); rank++) {
        const BpeMerge *m = bpe_merge(from, rank);
        bpe_add_merge(b, m->left, m->right, m->count, m->ties);
    }
    return b;
}

Vocab *vocab_copy(const Vocab *v) {
    if (v->unit == VOCAB_BPE) return vocab_new_bpe(copy_bpe(v->bpe));
    if (v->unit == VOCAB_TOKENIZER) {
        Vocab *same = (Vocab *)v; /* only its holders are counted */
        same->holders++;
        return same;
    }
    Vocab *copy = MEM_NEW(Vocab);
    copy->unit = v->unit;
    copy->size = v->size;
    texts_copy(&copy->texts, &v->texts);
    str_init(&copy->names);
    str_init(&copy->source);
    if (v->name) vocab_name_tokens(copy);
    return copy;
}

void vocab_free(Vocab *v) {
    if (!v || (v->unit == VOCAB_TOKENIZER && --v->holders > 0)) return;
    tokenizer_free(v->tokenizer);
    texts_done(&v->texts);
    str_done(&v->names);
    str_done(&v->source);
    mem_free(v->name);
    bpe_free(v->bpe);
    mem_free(v);
}

VocabUnit vocab_unit(const Vocab *v) {
    return v->unit;
}

int vocab_merges(const Vocab *v) {
    return v->unit == VOCAB_BPE ? bpe_merges(v->bpe) : 0;
}

int vocab_size(const Vocab *v) {
    return v->size;
}

int vocab_first(const Vocab *v) {
    return v->unit == VOCAB_TOKENIZER ? v->first : VOCAB_BOS;
}

int vocab_last(const Vocab *v) {
    return v->unit == VOCAB_TOKENIZER ? v->last : VOCAB_EOS;
}

Tokenizer *vocab_tokenizer(const Vocab *v) {
    return v->tokenizer;
}

void vocab_set_source(Vocab *v, const Str *source) {
    str_clear(&v->source);
    str_add_n(&v->source, source->s, source->len);
}

const Str *vocab_source(const Vocab *v) {
    return &v->source;
}

const Bpe *vocab_bpe(const Vocab *v) {
    return v->bpe;
}

bool vocab_is_foreign(const Vocab *v) {
    return v->unit == VOCAB_TOKENIZER;
}

bool vocab_is_word(const Vocab *v, int id) {
    if (v->unit == VOCAB_TOKENIZER) return id >= 0 && id < v->size && id != v->first && id != v->last;
    return id >= VOCAB_SPECIALS && id < vocab_size(v);
}

const char *vocab_token(const Vocab *v, int id) {
    BUG_ON(id < 0 || id >= v->size);
    return v->name ? v->names.s + v->name[id] : texts_bytes(&v->texts, id + 1);
}

/* The token that this text alone is cut into; -1: it becomes more than one, or not all of it is a token's. */
static int find_foreign(const Vocab *v, const char *token, size_t bytes) {
    Pieces pieces = {0};
    tokenizer_encode(v->tokenizer, token, bytes, &pieces);
    long first = tokenizer_first(v->tokenizer) >= 0;
    bool whole = pieces.count == first + 1 && pieces.gaps.count == 0;
    int id = whole ? pieces.piece[first].id : -1;
    pieces_done(&pieces);
    return id;
}

int vocab_find(const Vocab *v, const char *token, size_t bytes) {
    if (v->unit == VOCAB_BYTE) return bytes == 1 ? VOCAB_SPECIALS + (unsigned char)token[0] : -1;
    if (v->unit == VOCAB_BPE) {
        int symbol = bpe_find(v->bpe, token, bytes, false);
        return symbol >= 0 ? symbol + VOCAB_SPECIALS : -1;
    }
    if (v->unit == VOCAB_TOKENIZER) return find_foreign(v, token, bytes);
    int text = texts_find(&v->texts, token, bytes);
    return text > 0 ? text - 1 : -1;
}

bool vocab_same(const Vocab *a, const Vocab *b) {
    if (a->unit != b->unit || a->size != b->size) return false;
    for (int id = 0; id < a->size; id++)
        if (strcmp(vocab_token(a, id), vocab_token(b, id)) != 0) return false;
    return true;
}

/* ---- Unknown tokens ---- */

enum { VOCAB_NAMED = 3, VOCAB_LONGEST = 40 }; /* unknown words named in a sentence; bytes of a word that is compared */

/* The word that S was probably meant to be; NULL: none is like it. */
static const char *vocab_nearest(const Vocab *v, const char *s) {
    const char *best = NULL;
    for (int id = VOCAB_SPECIALS; strlen(s) <= VOCAB_LONGEST && id < vocab_size(v); id++)
        if (v->texts.length[id + 1] <= VOCAB_LONGEST) best = str_likelier(s, best, vocab_token(v, id));
    return best;
}

static void vocab_name_unknown(const Vocab *v, const char *s, size_t n, int unknown, Str *out) {
    if (unknown > VOCAB_NAMED) return;
    char *word = mem_text_n(s, n);
    const char *nearest = v->unit == VOCAB_WORD ? vocab_nearest(v, word) : NULL;
    str_addf(out, unknown > 1 ? ", '%s'" : "'%s'", word);
    if (nearest) str_addf(out, _(" (near: %s)"), nearest);
    mem_free(word);
}

static Status vocab_unknown(const Vocab *v, Str *names, int unknown) {
    if (unknown == 0) return status_ok();
    if (unknown > VOCAB_NAMED) str_addf(names, _(" and %d more"), unknown - VOCAB_NAMED);
    int known = v->tokenizer ? v->size : v->size - VOCAB_SPECIALS;
    if (v->unit == VOCAB_WORD || (v->tokenizer && tokenizer_refuses(v->tokenizer)))
        return status_usage(_("unknown words: %s; the vocabulary has %d words"), names->s, known);
    return status_usage(_("unknown characters: %s; the vocabulary has %d tokens"), names->s, known);
}

/* ---- Cutting ---- */

Tokenizer *vocab_cutter(const Vocab *v) {
    return v->unit == VOCAB_BPE ? bpe_tokenizer(v->bpe, -1) : NULL;
}

/* A token that was cut: its id, -1: unknown, and where it stands. */
typedef void CutToken(void *to, int id, const char *s, size_t n);

static size_t unit_bytes(VocabUnit unit, const char *s, size_t n) {
    if (unit == VOCAB_BYTE) return 1;
    uint32_t code;
    int length = utf8_decode(s, n, &code);
    return length > 0 ? (size_t)length : 1;
}

static void cut_words(const Vocab *v, const char *s, size_t n, CutToken *token, void *to) {
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && s[end] != ' ' && s[end] != '\t';) end++;
        if (end > at) token(to, vocab_find(v, s + at, end - at), s + at, end - at);
    }
}

static void cut_units(const Vocab *v, const char *s, size_t n, CutToken *token, void *to) {
    for (size_t at = 0, bytes; at < n; at += bytes) {
        bytes = unit_bytes(v->unit, s + at, n - at);
        token(to, vocab_find(v, s + at, bytes), s + at, bytes);
    }
}

/* What is blank before the first word is left out: there is no empty word in front. */
static void cut_merged(const Vocab *v, Tokenizer *cutter, const char *s, size_t n, CutToken *token, void *to) {
    Pieces pieces = {0};
    size_t blank, word;
    bpe_next_word(s, n, bpe_unit(v->bpe), &blank, &word);
    s += blank;
    tokenizer_encode(cutter, s, n - blank, &pieces);
    for (long i = 0; i < pieces.count; i++) {
        Piece p = pieces.piece[i];
        token(to, p.id < 0 ? -1 : p.id + VOCAB_SPECIALS, s + p.start, p.bytes);
    }
    pieces_done(&pieces);
}

/* What a tokenizer puts before a text is not of the text; what it does not have vanishes, as it says. */
static void cut_foreign(const Vocab *v, const char *s, size_t n, CutToken *token, void *to) {
    Pieces pieces = {0};
    tokenizer_encode(v->tokenizer, s, n, &pieces);
    for (long i = tokenizer_first(v->tokenizer) >= 0; i < pieces.count; i++) {
        Piece p = pieces.piece[i];
        if (p.id >= 0 || tokenizer_refuses(v->tokenizer)) token(to, p.id, s + p.start, p.bytes);
    }
    pieces_done(&pieces);
}

static void cut(const Vocab *v, Tokenizer *cutter, const char *s, size_t n, CutToken *token, void *to) {
    if (v->unit == VOCAB_WORD)
        cut_words(v, s, n, token, to);
    else if (v->unit == VOCAB_TOKENIZER)
        cut_foreign(v, s, n, token, to);
    else if (v->unit == VOCAB_BPE)
        cut_merged(v, cutter, s, n, token, to);
    else
        cut_units(v, s, n, token, to);
}

static void take_id(void *to, int id, const char *s, size_t n) {
    TokenIds *out = to;
    (void)s, (void)n;
    MEM_GROW(out->id, out->count, out->capacity);
    out->id[out->count++] = id;
}

void vocab_cut(const Vocab *v, Tokenizer *cutter, const char *s, size_t n, TokenIds *out) {
    cut(v, cutter, s, n, take_id, out);
}

typedef struct {
    const Vocab *vocab;
    TokenIds ids;
    Str names;
    int unknown;
} Encoding;

static void take_token(void *to, int id, const char *s, size_t n) {
    Encoding *e = to;
    take_id(&e->ids, id, s, n);
    if (id < 0) vocab_name_unknown(e->vocab, s, n, ++e->unknown, &e->names);
}

Status vocab_encode(const Vocab *v, const char *text, int **ids, int *n) {
    Encoding e = {.vocab = v};
    str_init(&e.names);
    Tokenizer *cutter = vocab_cutter(v);
    cut(v, cutter, text, strlen(text), take_token, &e);
    tokenizer_free(cutter);
    Status status = vocab_unknown(v, &e.names, e.unknown);
    str_done(&e.names);
    *ids = e.ids.id;
    *n = e.ids.count;
    if (status_is_ok(&status) && !*ids) *ids = MEM_ARRAY(int, 0);
    if (status_is_ok(&status)) return status;
    mem_free(*ids);
    *ids = NULL;
    *n = 0;
    return status;
}

static void join_foreign(const Vocab *v, const int *ids, int n, Str *out) {
    for (int i = 0; i < n; i++)
        if (vocab_is_word(v, ids[i])) tokenizer_bytes(v->tokenizer, ids[i], i > 0 ? ids[i - 1] : -1, out);
}

void vocab_join(const Vocab *v, const int *ids, int n, Str *out) {
    if (v->unit == VOCAB_TOKENIZER) {
        join_foreign(v, ids, n, out);
        return;
    }
    bool blank = false; /* before the next token */
    for (int i = 0; i < n; i++) {
        char byte[1];
        size_t bytes;
        if (ids[i] < VOCAB_SPECIALS || ids[i] >= v->size) continue;
        const char *s = token_bytes(v, ids[i], byte, &bytes);
        bool ends = v->unit == VOCAB_BPE && bpe_ends_word(v->bpe, ids[i] - VOCAB_SPECIALS);
        if (blank) str_add_char(out, ' ');
        str_add_n(out, s, ends ? bytes - BPE_END_BYTES : bytes);
        blank = ends || v->unit == VOCAB_WORD;
    }
}
