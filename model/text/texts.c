#include "texts.h"

#include "bug.h"
#include "hash.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

enum { TEXTS_TABLE = 64 };

/* The place of a text in the table: where it is, or the free one where it would go. */
static int texts_slot(const Texts *t, const char *s, size_t bytes) {
    uint64_t h = hash_bytes(HASH_START, s, bytes);
    unsigned mask = (unsigned)t->table_size - 1;
    unsigned at = (unsigned)(h ^ (h >> 32)) & mask;
    for (; t->table[at]; at = (at + 1) & mask) {
        int text = t->table[at] - 1;
        if ((size_t)t->length[text] == bytes && memcmp(texts_bytes(t, text), s, bytes) == 0) break;
    }
    return (int)at;
}

static void texts_widen(Texts *t) {
    mem_free(t->table);
    t->table_size = t->table_size ? t->table_size * 2 : TEXTS_TABLE;
    t->table = MEM_ARRAY(int, (size_t)t->table_size);
    for (int text = 0; text < t->count; text++)
        t->table[texts_slot(t, texts_bytes(t, text), (size_t)t->length[text])] = text + 1;
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
}

/* Makes the BYTES that already stand behind the last text a text of their own, unless it is there already. */
static int texts_commit(Texts *t, size_t bytes) {
    BUG_ON(bytes > INT_MAX);
    const char *s = t->bytes + t->used;
    int at = texts_slot(t, s, bytes);
    if (t->table[at]) return t->table[at] - 1;
    texts_grow(t);
    t->bytes[t->used + bytes] = '\0';
    t->start[t->count] = t->used;
    t->length[t->count] = (int)bytes;
    t->used += bytes + 1;
    t->table[at] = ++t->count;
    if (t->count > t->table_size / 2) texts_widen(t);
    return t->count - 1;
}

int texts_add(Texts *t, const char *s, size_t bytes) {
    int at = texts_slot(t, s, bytes);
    if (t->table[at]) return t->table[at] - 1;
    if (bytes > 0)
        memcpy(texts_reserve(t, bytes), s, bytes);
    else
        texts_reserve(t, 0);
    return texts_commit(t, bytes);
}

int texts_find(const Texts *t, const char *s, size_t bytes) {
    return t->table[texts_slot(t, s, bytes)] - 1;
}

int texts_join(Texts *t, int a, int b, int c) {
    const int part[3] = {a, b, c};
    size_t bytes = (size_t)t->length[a] + (size_t)t->length[b] + (size_t)t->length[c];
    char *to = texts_reserve(t, bytes);
    for (int i = 0; i < 3; i++) {
        memcpy(to, texts_bytes(t, part[i]), (size_t)t->length[part[i]]);
        to += t->length[part[i]];
    }
    return texts_commit(t, bytes);
}
