/* saved_model: models that lm.train saves in a moment, for tests that need one of a certain kind. */
#ifndef TESTS_SAVED_MODEL_H
#define TESTS_SAVED_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

typedef struct {
    char path[40];
    char pair[60]; /* model=FILE */
} SavedModel;

/* Of lm.train with the pairs A to D, any of which may be NULL. */
static inline SavedModel saved_model(const char *a, const char *b, const char *c, const char *d) {
    SavedModel m = {.path = "/tmp/lantern-test-XXXXXX"};
    char save[60];
    int fd = mkstemp(m.path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(m.pair, sizeof m.pair, "model=%s", m.path);
    snprintf(save, sizeof save, "save=%s", m.path);
    study_free(run_study("lm.train", "sentences=256", save, a, b, c, d, NULL));
    return m;
}

static inline void saved_model_remove(const SavedModel *m) {
    unlink(m->path);
}

#endif
