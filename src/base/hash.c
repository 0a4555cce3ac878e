#include "hash.h"

#define HASH_PRIME 0x100000001b3ULL

uint64_t hash_bytes(uint64_t h, const void *p, size_t bytes) {
    const unsigned char *b = p;
    for (size_t i = 0; i < bytes; i++) h = (h ^ b[i]) * HASH_PRIME;
    return h;
}
