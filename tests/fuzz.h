/* fuzz: what a fuzz target gives. With libFuzzer it is driven by that; without, fuzz_main.c runs it over a folder. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>

/* Any bytes at all; crashes or aborts when something is wrong. Returns 0. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

#endif
