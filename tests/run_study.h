/* run_study: runs an experiment of the catalogue inside a test: run_study("text.batch", "block=8", NULL). */
#ifndef TESTS_RUN_STUDY_H
#define TESTS_RUN_STUDY_H

#include "catalog.h"
#include "study.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The options of an experiment with KEY=VALUE texts applied; the list ends in NULL. */
static inline Options *study_options_of(const char *id, va_list pairs) {
    const CatalogEntry *e = catalog_find(id);
    assert_non_null(e);
    Options *o = catalog_options(e);
    for (const char *pair; (pair = va_arg(pairs, const char *));) {
        Status s = options_set_pair(o, pair);
        if (!status_is_ok(&s)) print_error("%s\n", s.text);
        assert_int_equal(s.code, STATUS_OK);
    }
    return o;
}

/* Runs it to its end and expects STATUS; the caller frees the study. */
static inline Study *run_study_until(StatusCode code, const char *id, ...) {
    va_list pairs;
    va_start(pairs, id);
    Study *study = study_new(catalog_find(id), study_options_of(id, pairs));
    va_end(pairs);
    Status s = study_run(study);
    if (s.code != code) print_error("%s\n", s.text);
    assert_int_equal(s.code, code);
    return study;
}

#define run_study(...) run_study_until(STATUS_OK, __VA_ARGS__)

/* A copy of the table of that name; the caller frees it. */
static inline Table *study_result(const Study *s, const char *name) {
    for (int i = 0; i < study_tables(s); i++) {
        Table *t = study_look(s, i);
        if (strcmp(table_name(t), name) == 0) return t;
        table_free(t);
    }
    fail_msg("no table %s", name);
    return NULL;
}

/* Cells by the name of their column. */
static inline double cell_real(const Table *t, long row, const char *column) {
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    return table_real(t, row, c);
}

static inline long long cell_int(const Table *t, long row, const char *column) {
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    return table_int(t, row, c);
}

static inline const char *cell_text(const Table *t, long row, const char *column) {
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    return table_text(t, row, c);
}

/* The row whose COLUMN reads TEXT; -1: none. */
static inline long row_with(const Table *t, const char *column, const char *text) {
    for (long row = 0; row < table_rows(t); row++)
        if (strcmp(cell_text(t, row, column), text) == 0) return row;
    return -1;
}

/* KEY=VALUE texts, a list that ends in NULL, which are refused one by one or because they do not go together, with a
 * sentence that holds SAYS. */
static inline void expect_refused(const char *says, const char *id, ...) {
    const CatalogEntry *e = catalog_find(id);
    assert_non_null(e);
    Options *o = catalog_options(e);
    Status s = status_ok();
    va_list pairs;
    va_start(pairs, id);
    for (const char *pair; status_is_ok(&s) && (pair = va_arg(pairs, const char *));) s = options_set_pair(o, pair);
    va_end(pairs);
    if (status_is_ok(&s)) s = catalog_check(e, o);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, says)) fail_msg("%s: says %s, not %s", id, s.text, says);
    options_free(o);
}

#define assert_near(got, want, tolerance)                                                                              \
    do {                                                                                                               \
        double got_ = (got), want_ = (want);                                                                           \
        if (!(got_ - want_ <= (tolerance) && want_ - got_ <= (tolerance)))                                             \
            fail_msg("%s is %.17g, not %.17g", #got, got_, want_);                                                     \
    } while (0)

#endif
