/* mem: the only door to the heap. Never returns NULL except mem_try; a request that cannot be met is fatal, with a
 * sentence. Tests can count, limit and poison. Thread-safe. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define MEM_ALIGN 64 /* bytes: a cache line, and the widest vector */

void *mem_alloc(size_t bytes);                        /* not cleared; bytes may be 0 */
void *mem_zero(size_t count, size_t size);            /* cleared; checks count*size */
void *mem_resize(void *p, size_t count, size_t size); /* like realloc; checks count*size */
void *mem_aligned(size_t count, size_t size);         /* cleared, MEM_ALIGN aligned; mem_free frees it */
void *mem_room(size_t count, size_t size); /* aligned like that, not cleared: the system may give it bit by bit */
void *mem_try(size_t count, size_t size);  /* like mem_zero, NULL when it cannot be had: for sizes a file names */
char *mem_text(const char *s);             /* copy of a string; NULL gives NULL */
char *mem_text_n(const char *s, size_t bytes);
void mem_free(void *p);

#define MEM_NEW(type)          ((type *)mem_zero(1, sizeof(type)))
#define MEM_ARRAY(type, count) ((type *)mem_zero((count), sizeof(type)))

/* Makes room for one more element: doubles *capacity when used == *capacity. */
#define MEM_GROW(array, used, capacity)                                                                                \
    ((used) < (capacity) ? (void)0                                                                                     \
                         : (void)((capacity) = (capacity) ? (capacity)*2 : 8,                                          \
                                  (array) = mem_resize((array), (size_t)(capacity), sizeof *(array))))

/* Test modes. */
typedef struct {
    size_t allocations; /* calls so far that gave memory */
    size_t live;        /* blocks not yet freed */
} MemCount;
MemCount mem_count(void);
void mem_set_poison(bool on);     /* fill fresh memory of mem_alloc with a pattern that is NaN as float and double */
void mem_set_limit(size_t bytes); /* a single request above this cannot be met; 0: no limit */
void mem_set_fail(size_t k);      /* the k-th request from now cannot be met, once; 0: none */

/* HOOK is told the sentence when a request cannot be met: main gives the terminal back there and ends the program. When
 * there is none, or it returns, the sentence goes to standard error and the program aborts. */
void mem_set_hook(void (*hook)(const char *sentence));

#endif
