/* little: whole numbers as files of every kind here hold them: the lowest byte first, at any place. */
#ifndef IO_LITTLE_H
#define IO_LITTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether this machine holds its own numbers so. */
static inline bool little_is_native(void) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* The number in BYTES bytes, at most 8. */
static inline uint64_t little_get(const unsigned char *p, size_t bytes) {
    uint64_t x = 0;
    for (size_t i = 0; i < bytes; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

/* Of four bytes and of two, fit for loops over a whole file. */
static inline uint32_t little_word(const unsigned char *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return little_is_native() ? x : (uint32_t)little_get(p, sizeof x);
}

static inline uint16_t little_half(const unsigned char *p) {
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return little_is_native() ? x : (uint16_t)little_get(p, sizeof x);
}

/* Puts the lowest BYTES bytes of X. */
static inline void little_put(unsigned char *p, uint64_t x, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i));
}

#endif
