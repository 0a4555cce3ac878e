/* fixture_step: what the observer of a training step would have added to a fixture. */
#ifndef TESTS_FIXTURE_STEP_H
#define TESTS_FIXTURE_STEP_H

#include "fixture.h"

void fixture_add_step(Snapshot *s, const FixtureSpec *p);

#endif
