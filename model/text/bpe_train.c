#include "bpe_train.h"

#include "bpe_queue.h"
#include "bug.h"
#include "mem.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* The words stand one behind the other, a cell for each unit and one for </w>. A piece is known by its first cell,
 * which holds its symbol; a longer one notes in its last cell where it begins. Where a word ends is known from the
 * symbol, so words need no cell between them. */
typedef struct {
    int symbol; /* first cell: the symbol; last cell of a longer piece: ~first; between: below 0, of no meaning */
    int weight; /* how often the word occurs */
} Cell;

/* Where a pair began to stand in one step: at[0 ... n-1], rising. A pair may have several such lists; places at which
 * it stands no longer are still there and are passed over. */
typedef struct {
    size_t at; /* in BpeTrainer.place */
    int n, next;
} Places;

typedef struct {
    int pair, place;
} Found;

struct BpeTrainer {
    Bpe *bpe;
    BpeQueue queue; /* the pairs with their counts */
    Cell *cell;     /* [cells] */
    int cells;
    int *word; /* [words + 1] first cells */
    int words, most_pieces;
    long long tokens;
    int *length; /* [symbols] cells that a symbol covers */
    bool *ends;  /* [symbols] whether it ends a word */
    int symbols, length_capacity, ends_capacity;
    int *place; /* [place_used] */
    size_t place_used, place_capacity;
    Places *places;
    int lists, list_capacity;
    int *first_list; /* [pairs] -1: none */
    int *fresh;      /* [pairs] places found in this step; 0 between steps */
    int pairs, first_list_capacity, fresh_capacity;
    Found *found; /* [founds] */
    size_t founds, found_capacity;
    int *scratch;
    size_t scratch_capacity;
};

/* ---- the beginning ---- */

static int by_bytes(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y; /* UTF-8 sorts as code points do */
}

/* A character as a number that sorts as its bytes do; bytes that are not UTF-8 come behind all characters. */
static uint32_t number_of(const char *s, size_t bytes) {
    uint32_t code;
    return utf8_decode(s, bytes, &code) ? code : 0x110000u + (unsigned char)*s;
}

/* All characters of the words become units, in byte order. */
static void add_characters(Bpe *b, const BpeWords *w) {
    unsigned char *seen = MEM_ARRAY(unsigned char, 0x110000 + 256);
    uint32_t *code = NULL;
    int codes = 0, capacity = 0;
    for (int i = 0; i < w->words; i++) {
        size_t bytes;
        const char *s = bpe_words_at(w, i, &bytes);
        for (size_t at = 0, n; at < bytes; at += n) {
            n = bpe_unit_bytes(s + at, bytes - at, BPE_CHAR);
            uint32_t number = number_of(s + at, n);
            if (seen[number]) continue;
            seen[number] = 1;
            MEM_GROW(code, codes, capacity);
            code[codes++] = number;
        }
    }
    if (codes) qsort(code, (size_t)codes, sizeof *code, by_bytes);
    for (int i = 0; i < codes; i++) {
        char s[4];
        int n = utf8_encode(code[i], s);
        if (n == 0) s[0] = (char)(code[i] - 0x110000u);
        bpe_add_unit(b, s, n ? (size_t)n : 1);
    }
    mem_free(code);
    mem_free(seen);
}

static void know_symbols(BpeTrainer *t, int cells) {
    for (; t->symbols < bpe_symbols(t->bpe); t->symbols++) {
        MEM_GROW(t->length, t->symbols, t->length_capacity);
        MEM_GROW(t->ends, t->symbols, t->ends_capacity);
        t->length[t->symbols] = cells;
        t->ends[t->symbols] = bpe_ends_word(t->bpe, t->symbols);
    }
}

static int lay_word(BpeTrainer *t, const char *s, size_t bytes, int weight, int at) {
    int first = at;
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bpe_unit_bytes(s + i, bytes - i, bpe_unit(t->bpe));
        int symbol = bpe_unit(t->bpe) == BPE_BYTE ? 1 + (unsigned char)s[i] : bpe_find(t->bpe, s + i, n, false);
        t->cell[at++] = (Cell){symbol, weight};
    }
    t->cell[at++] = (Cell){0, weight};
    if (at - first > t->most_pieces) t->most_pieces = at - first;
    t->tokens += (long long)(at - first) * weight;
    return at;
}

static void lay_words(BpeTrainer *t, const BpeWords *w) {
    t->words = w->words;
    t->word = MEM_ARRAY(int, (size_t)w->words + 1);
    t->cell = mem_alloc((w->letters + (size_t)w->words) * sizeof *t->cell);
    for (int i = 0; i < w->words; i++) {
        size_t bytes;
        const char *s = bpe_words_at(w, i, &bytes);
        t->cells = t->word[i + 1] = lay_word(t, s, bytes, w->count[i], t->cells);
    }
}

/* ---- pairs and where they stand ---- */

static void note_found(BpeTrainer *t, int left, int right, int place) {
    int pair = bpe_queue_pair(&t->queue, left, right);
    for (; t->pairs <= pair; t->pairs++) {
        MEM_GROW(t->first_list, t->pairs, t->first_list_capacity);
        MEM_GROW(t->fresh, t->pairs, t->fresh_capacity);
        t->first_list[t->pairs] = -1;
        t->fresh[t->pairs] = 0;
    }
    bpe_queue_change(&t->queue, pair, t->cell[place].weight);
    MEM_GROW(t->found, t->founds, t->found_capacity);
    t->found[t->founds++] = (Found){pair, place};
    t->fresh[pair]++;
}

static size_t reserve_places(BpeTrainer *t, size_t n) {
    while (t->place_capacity - t->place_used < n) {
        t->place_capacity = t->place_capacity ? 2 * t->place_capacity : 4096;
        t->place = mem_resize(t->place, t->place_capacity, sizeof *t->place);
    }
    size_t at = t->place_used;
    t->place_used += n;
    return at;
}

/* Sorts the places found into lists, a list for each pair, places in the order in which they were found. */
static void file_found(BpeTrainer *t) {
    for (size_t i = 0; i < t->founds; i++) {
        int pair = t->found[i].pair;
        if (t->fresh[pair] > 0) {
            MEM_GROW(t->places, t->lists, t->list_capacity);
            t->places[t->lists] = (Places){reserve_places(t, (size_t)t->fresh[pair]), 0, t->first_list[pair]};
            t->first_list[pair] = t->lists++;
            t->fresh[pair] = 0;
        }
        Places *list = &t->places[t->first_list[pair]];
        t->place[list->at + (size_t)list->n++] = t->found[i].place;
    }
    t->founds = 0;
}

static void find_pairs(BpeTrainer *t) {
    for (int i = 0; i < t->cells; i++)
        if (!t->ends[t->cell[i].symbol]) note_found(t, t->cell[i].symbol, t->cell[i + 1].symbol, i);
    file_found(t);
    bpe_queue_settle(&t->queue, t->bpe);
}

BpeTrainer *bpe_trainer_new(const BpeWords *w) {
    BpeTrainer *t = MEM_NEW(BpeTrainer);
    t->bpe = bpe_new(w->unit);
    bpe_queue_init(&t->queue);
    if (w->unit == BPE_CHAR) add_characters(t->bpe, w);
    know_symbols(t, 1);
    lay_words(t, w);
    find_pairs(t);
    return t;
}

void bpe_trainer_free(BpeTrainer *t) {
    if (!t) return;
    bpe_free(t->bpe);
    bpe_queue_done(&t->queue);
    mem_free(t->cell);
    mem_free(t->word);
    mem_free(t->length);
    mem_free(t->ends);
    mem_free(t->place);
    mem_free(t->places);
    mem_free(t->first_list);
    mem_free(t->fresh);
    mem_free(t->found);
    mem_free(t->scratch);
    mem_free(t);
}

/* ---- a step ---- */

static int by_place(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Where PAIR may stand, rising; borrowed. */
static const int *places_of(BpeTrainer *t, int pair, size_t *n) {
    int list = t->first_list[pair];
    *n = (size_t)t->places[list].n;
    if (t->places[list].next < 0) return t->place + t->places[list].at;
    *n = 0;
    for (; list >= 0; list = t->places[list].next)
        for (int i = 0; i < t->places[list].n; i++) {
            MEM_GROW(t->scratch, *n, t->scratch_capacity);
            t->scratch[(*n)++] = t->place[t->places[list].at + (size_t)i];
        }
    qsort(t->scratch, *n, sizeof *t->scratch, by_place);
    return t->scratch;
}

static void change(BpeTrainer *t, int left, int right, int by) {
    bpe_queue_change(&t->queue, bpe_queue_pair(&t->queue, left, right), by);
}

/* The first cell of the piece before PLACE in the same word; -1: there is none. */
static int before(const BpeTrainer *t, int place) {
    if (place == 0) return -1;
    int last = t->cell[place - 1].symbol, first = last < 0 ? ~last : place - 1;
    return t->ends[t->cell[first].symbol] ? -1 : first;
}

static void merge_at(BpeTrainer *t, int left, int right, int merged, int place) {
    int middle = place + t->length[left], after = middle + t->length[right], weight = t->cell[place].weight;
    int previous = before(t, place);
    change(t, left, right, -weight);
    if (previous >= 0) {
        change(t, t->cell[previous].symbol, left, -weight);
        note_found(t, t->cell[previous].symbol, merged, previous);
    }
    if (!t->ends[right]) {
        change(t, right, t->cell[after].symbol, -weight);
        note_found(t, merged, t->cell[after].symbol, place);
    }
    t->cell[place].symbol = merged;
    t->cell[middle].symbol = ~place;
    t->cell[after - 1].symbol = ~place;
    t->tokens -= weight;
}

/* The order of what happens: the place lists do not move while they are walked, for what is found is filed after. */
static void merge_everywhere(BpeTrainer *t, int pair, int left, int right, int merged) {
    size_t n;
    const int *place = places_of(t, pair, &n);
    for (size_t i = 0; i < n; i++) {
        if (t->cell[place[i]].symbol != left) continue;
        if (t->cell[place[i] + t->length[left]].symbol != right) continue;
        merge_at(t, left, right, merged, place[i]);
    }
    file_found(t);
    bpe_queue_settle(&t->queue, t->bpe);
}

bool bpe_trainer_step(BpeTrainer *t) {
    int ties;
    BpePair top;
    int pair = bpe_queue_top(&t->queue, t->bpe, &top, &ties);
    if (pair < 0) return false;
    int cells = t->length[top.left] + t->length[top.right];
    int merged = bpe_add_merge(t->bpe, top.left, top.right, top.count, ties);
    know_symbols(t, cells);
    merge_everywhere(t, pair, top.left, top.right, merged);
    return true;
}

/* ---- looking at it ---- */

const Bpe *bpe_trainer_bpe(const BpeTrainer *t) {
    return t->bpe;
}

Bpe *bpe_trainer_take(BpeTrainer *t) {
    Bpe *b = t->bpe;
    t->bpe = NULL;
    return b;
}

long long bpe_trainer_tokens(const BpeTrainer *t) {
    return t->tokens;
}

int bpe_trainer_most_pieces(const BpeTrainer *t) {
    return t->most_pieces;
}

int bpe_trainer_word(const BpeTrainer *t, int word, int *symbol) {
    BUG_ON(word < 0 || word >= t->words);
    int n = 0;
    for (int at = t->word[word]; at < t->word[word + 1]; at += t->length[symbol[n - 1]])
        symbol[n++] = t->cell[at].symbol;
    return n;
}

int bpe_trainer_pairs(const BpeTrainer *t, BpePair *out, int most) {
    return bpe_queue_list(&t->queue, t->bpe, out, most);
}
