/* fixture_cache: what the observer of the cache would have added to a fixture. */
#ifndef TESTS_FIXTURE_CACHE_H
#define TESTS_FIXTURE_CACHE_H

#include "fixture.h"

/* WORDS [n] are the tokens, over and over. */
void fixture_add_cache(Snapshot *s, const FixtureSpec *p, const char *const *words, int n);

#endif
