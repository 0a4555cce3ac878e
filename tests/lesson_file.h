/* lesson_file: the file of a lesson that a test writes, which is gone afterwards. */
#ifndef TESTS_LESSON_FILE_H
#define TESTS_LESSON_FILE_H

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/lantern_test_lesson_XXXXXX.lesson";

static inline int make_path(void **state) {
    (void)state;
    int fd = mkstemps(path, 7);
    return fd < 0 ? 1 : close(fd);
}

static inline int remove_path(void **state) {
    (void)state;
    return remove(path);
}

static inline void write_lesson(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#endif
