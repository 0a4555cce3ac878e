#include "texts.h"

#include "bug.h"
#include "hash.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

enum { TEXTS_TABLE = 64 };

static unsigned texts_hash(const char *s, size_t bytes) {
    return (unsigned)((hash_bytes(HASH_START, s, bytes) * 0x9e3779b97f4a7c15ULL) >> 32);
}

/* The place of a text in the table: where it is, or the free one where it would go. */
static int texts_slot(const Texts *t, const char *s, size_t bytes, unsigned hash) {
    unsigned mask = (unsigned)t->table_size - 1, at = hash & mask;
    for (; t->table[at]; at = (at + 1) & mask) {
        int text = t->table[at] - 1;
        if (t->hash[text] == hash && (size_t)t->length[text] == bytes && memcmp(texts_bytes(t, text), s, bytes) == 0)
            break;
    }
    return (int)at;
}

static void texts_widen(Texts *t) {
    mem_free(t->table);
    t->table_size = t->table_size ? t->table_size * 2 : TEXTS_TABLE;
    t->table = MEM_ARRAY(int, (size_t)t->table_size);
    unsigned mask = (unsigned)t->table_size - 1;
    for (int text = 0; text < t->count; text++) {
        unsigned at = t->hash[text] & mask;
        while (t->table[at]) at = (at + 1) & mask;
        t->table[at] = text + 1;
    }
}

void texts_init(Texts *t) {
    *t = (Texts){0};
    texts_widen(t);
    texts_add(t, "", 0);
}

void texts_done(Texts *t) {
    mem_free(t->bytes);
    mem_free(t->start);
    mem_free(t->length);
    mem_free(t->hash);
    mem_free(t->table);
    *t = (Texts){0};
}

static void *texts_duplicate(const void *from, size_t count, size_t size) {
    void *to = mem_resize(NULL, count, size);
    memcpy(to, from, count * size);
    return to;
}

void texts_copy(Texts *to, const Texts *from) {
    *to = *from;
    to->capacity = from->used;
    to->slots = from->count;
    to->bytes = texts_duplicate(from->bytes, from->used, 1);
    to->start = texts_duplicate(from->start, (size_t)from->count, sizeof *from->start);
    to->length = texts_duplicate(from->length, (size_t)from->count, sizeof *from->length);
    to->hash = texts_duplicate(from->hash, (size_t)from->count, sizeof *from->hash);
    to->table = texts_duplicate(from->table, (size_t)from->table_size, sizeof *from->table);
}

/* Room for BYTES more and a terminator. */
static char *texts_reserve(Texts *t, size_t bytes) {
    if (t->capacity - t->used < bytes + 1) {
        size_t capacity = t->capacity ? t->capacity * 2 : 256;
        while (capacity - t->used < bytes + 1) capacity *= 2;
        t->bytes = mem_resize(t->bytes, capacity, 1);
        t->capacity = capacity;
    }
    return t->bytes + t->used;
}

static void texts_grow(Texts *t) {
    BUG_ON(t->count >= INT_MAX / 4);
    if (t->count < t->slots) return;
    t->slots = t->slots ? t->slots * 2 : 32;
    t->start = mem_resize(t->start, (size_t)t->slots, sizeof *t->start);
    t->length = mem_resize(t->length, (size_t)t->slots, sizeof *t->length);
    t->hash = mem_resize(t->hash, (size_t)t->slots, sizeof *t->hash);
}

/* Makes the BYTES that already stand behind the last text a text of their own, for the free place AT of the table. */
static int texts_commit(Texts *t, size_t bytes, unsigned hash, int at) {
    BUG_ON(bytes > INT_MAX);
    texts_grow(t);
    t->bytes[t->used + bytes] = '\0';
    t->start[t->count] = t->used;
    t->length[t->count] = (int)bytes;
    t->hash[t->count] = hash;
    t->used += bytes + 1;
    t->table[at] = ++t->count;
    if (t->count > t->table_size / 2) texts_widen(t);
    return t->count - 1;
}

int texts_add(Texts *t, const char *s, size_t bytes) {
    unsigned hash = texts_hash(s, bytes);
    int at = texts_slot(t, s, bytes, hash);
    if (t->table[at]) return t->table[at] - 1;
    char *to = texts_reserve(t, bytes);
    if (bytes > 0) memcpy(to, s, bytes);
    return texts_commit(t, bytes, hash, at);
}

int texts_find(const Texts *t, const char *s, size_t bytes) {
    return t->table[texts_slot(t, s, bytes, texts_hash(s, bytes))] - 1;
}

int texts_join(Texts *t, int a, int b, int c) {
    const int part[3] = {a, b, c};
    size_t bytes = (size_t)t->length[a] + (size_t)t->length[b] + (size_t)t->length[c];
    char *to = texts_reserve(t, bytes);
    for (int i = 0; i < 3; i++) {
        memcpy(to, texts_bytes(t, part[i]), (size_t)t->length[part[i]]);
        to += t->length[part[i]];
    }
    const char *s = t->bytes + t->used;
    unsigned hash = texts_hash(s, bytes);
    int at = texts_slot(t, s, bytes, hash);
    return t->table[at] ? t->table[at] - 1 : texts_commit(t, bytes, hash, at);
}
