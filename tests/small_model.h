/* small_model: a checkpoint of a small model, trained in a blink, for tests of what needs one. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

static char small_model_path[40]; /* the file */
static char small_model_pair[60]; /* model=FILE */

/* Group setup and teardown. */
static inline int small_model_make(void **state) {
    (void)state;
    char save[60];
    snprintf(small_model_path, sizeof small_model_path, "/tmp/lantern-test-XXXXXX");
    int fd = mkstemp(small_model_path);
    if (fd < 0) return -1;
    close(fd);
    snprintf(small_model_pair, sizeof small_model_pair, "model=%s", small_model_path);
    snprintf(save, sizeof save, "save=%s", small_model_path);
    study_free(run_study("lm.train", "arch=modern", "d=16", "sentences=256", "epochs=2", save, NULL));
    return 0;
}

static inline int small_model_remove(void **state) {
    (void)state;
    return unlink(small_model_path);
}

#endif
