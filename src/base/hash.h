/* hash: FNV-1a of 64 bits over bytes: file checksums, parameter hashes in tests, keys of the cache. Not for secrets. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ULL

uint64_t hash_bytes(uint64_t h, const void *p, size_t bytes);

#endif
