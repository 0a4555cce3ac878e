#include "mem.h"

#include "intl.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*MemHook)(const char *sentence);

static atomic_size_t mem_allocations;
static atomic_size_t mem_live;
static atomic_size_t mem_limit; /* 0: none */
static atomic_size_t mem_fail;  /* calls to go until one fails; 0: none */
static atomic_bool mem_poison;
static _Atomic(MemHook) mem_hook;

static _Noreturn void mem_fatal(size_t count, size_t size) {
    char sentence[200];
    MemHook hook = atomic_load(&mem_hook);
    snprintf(sentence, sizeof sentence, _("out of memory: cannot get %zu x %zu bytes"), count, size);
    if (hook) hook(sentence);
    fprintf(stderr, "lantern: %s\n", sentence);
    abort();
}

/* Whether a request may be tried at all: it does not overflow, and no test forbids it. */
static bool mem_allowed(size_t count, size_t size) {
    if (size && count > (PTRDIFF_MAX - MEM_ALIGN) / size) return false;
    size_t limit = atomic_load(&mem_limit);
    if (limit && count * size > limit) return false;
    size_t left = atomic_load(&mem_fail);
    while (left && !atomic_compare_exchange_weak(&mem_fail, &left, left - 1)) {}
    return left != 1;
}

static void *mem_counted(void *p) {
    if (!p) return NULL;
    atomic_fetch_add(&mem_allocations, 1);
    atomic_fetch_add(&mem_live, 1);
    return p;
}

void *mem_alloc(size_t bytes) {
    void *p = mem_allowed(1, bytes) ? mem_counted(malloc(bytes ? bytes : 1)) : NULL;
    if (!p) mem_fatal(1, bytes);
    if (atomic_load(&mem_poison)) memset(p, 0xff, bytes);
    return p;
}

void *mem_try(size_t count, size_t size) {
    if (!mem_allowed(count, size)) return NULL;
    return mem_counted(count && size ? calloc(count, size) : calloc(1, 1));
}

void *mem_zero(size_t count, size_t size) {
    void *p = mem_try(count, size);
    if (!p) mem_fatal(count, size);
    return p;
}

void *mem_resize(void *p, size_t count, size_t size) {
    size_t bytes = count * size;
    void *q = mem_allowed(count, size) ? realloc(p, bytes ? bytes : 1) : NULL;
    if (!q) mem_fatal(count, size);
    atomic_fetch_add(&mem_allocations, 1);
    if (!p) atomic_fetch_add(&mem_live, 1);
    return q;
}

static size_t mem_rounded(size_t bytes) {
    return bytes ? (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN : MEM_ALIGN;
}

static void *mem_lines(size_t count, size_t size) {
    void *p = mem_allowed(count, size) ? mem_counted(aligned_alloc(MEM_ALIGN, mem_rounded(count * size))) : NULL;
    if (!p) mem_fatal(count, size);
    return p;
}

void *mem_aligned(size_t count, size_t size) {
    void *p = mem_lines(count, size);
    memset(p, 0, mem_rounded(count * size));
    return p;
}

void *mem_room(size_t count, size_t size) {
    void *p = mem_lines(count, size);
    if (atomic_load(&mem_poison)) memset(p, 0xff, mem_rounded(count * size));
    return p;
}

char *mem_text_n(const char *s, size_t bytes) {
    if (bytes == SIZE_MAX) mem_fatal(1, bytes);
    char *copy = mem_alloc(bytes + 1);
    if (bytes) memcpy(copy, s, bytes);
    copy[bytes] = '\0';
    return copy;
}

char *mem_text(const char *s) {
    return s ? mem_text_n(s, strlen(s)) : NULL;
}

void mem_free(void *p) {
    if (!p) return;
    atomic_fetch_sub(&mem_live, 1);
    free(p);
}

MemCount mem_count(void) {
    return (MemCount){.allocations = atomic_load(&mem_allocations), .live = atomic_load(&mem_live)};
}

void mem_set_poison(bool on) {
    atomic_store(&mem_poison, on);
}

void mem_set_limit(size_t bytes) {
    atomic_store(&mem_limit, bytes);
}

void mem_set_fail(size_t k) {
    atomic_store(&mem_fail, k);
}

void mem_set_hook(void (*hook)(const char *sentence)) {
    atomic_store(&mem_hook, hook);
}
