/* catalog: every row is complete, and every experiment runs small with 1 and with 2 threads to the same bytes. */
#include "catalog.h"
#include "csvfile.h"

#include <stdlib.h>
#include <string.h>

#include "small_model.h"

/* What makes an experiment small enough for here. One that is not named runs at its defaults. */
static const struct {
    const char *id;
    const char *pairs[6];
} small[] = {
    {"arch.ablate", {"d=16", "steps=2", "sentences=60", "tests=4", "batch=2"}},
    {"stories.copy", {"d=16", "steps=2", "sentences=60", "tests=4", "batch=2"}},
    {"window.quality", {"d=16", "sentences=64", "epochs=1", "tests=10"}},
    {"arch.account", {"d=16", "heads=4", "T=65", "count=1", "tokens=1e9"}},
    {"arch.compare", {"d=16", "sentences=64", "epochs=1", "variants=gpt,relu"}},
    {"arch.norm", {"d=16", "rows=64"}},
    {"decode.repeat", {"block=32", "tokens=20", "starts=2", "sentences=64", "epochs=1"}},
    {"arch.order", {"d=16", "layers=2", "steps=3", "context=16", "batch=2"}},
    {"gqa.quality", {"d=16", "sentences=64", "epochs=1"}},
    {"decode.strategies", {"n=40"}},
    {"kv.speed", {"d=16", "batch=2", "tokens=5"}},
    {"lm.autoencoder", {"unlabelled=100", "tests=50", "pretrain=20", "finetune=20", "seeds=2"}},
    {"lm.bigram", {"steps=50", "sentences=500"}},
    {"lm.finetune", {"samples=16", "steps=10", "tests=20", "seeds=2"}},
    {"lm.minibatch", {"d=16", "sentences=128"}},
    {"lm.score", {"text=the dog eats bones every day ."}},
    {"lm.tagger", {"sentences=200", "epochs=2"}},
    {"lm.train", {"d=16", "sentences=128", "epochs=1"}},
    {"grammar.score", {"text=the dog eats bones every day ."}},
    {"pos.extrapolate", {"d=16", "sentences=128", "epochs=1", "seeds=2", "tests=20"}},
    {"text.batch", {"block=8"}},
    {"window.cost", {"T=60,200", "window=16", "d=8"}},
    {"window.mask", {"layers=4", "global_every=2"}},
};

static void ids_are_sorted_and_found(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const char *id = catalog_at(i)->id;
        if (i > 0 && strcmp(catalog_at(i - 1)->id, id) >= 0) fail_msg("%s is not in its place", id);
        assert_ptr_equal(catalog_find(id), catalog_at(i));
        assert_string_equal(catalog_likely(id), id);
    }
    assert_null(catalog_find("nothing"));
    assert_null(catalog_likely("nothing"));
    assert_string_equal(catalog_likely("text.bach"), "text.batch");
}

static bool says_something(const char *text) {
    return text && strlen(text) >= 3 && !strchr(text, '\n');
}

static void check_options(const CatalogEntry *e) {
    Options *o = catalog_options(e);
    assert_non_null(options_find(o, "seed"));
    assert_non_null(options_find(o, "threads"));
    for (int i = 0; i < options_count(o); i++) {
        const Option *row = options_row(o, i);
        if (!says_something(row->help)) fail_msg("%s: option %s has no help", e->id, row->name);
        assert_non_null(row->unit);
    }
    options_free(o);
}

static const TableSpec *find_table(const CatalogEntry *e, const char *name) {
    for (const TableSpec *t = e->tables; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    fail_msg("%s has no table %s", e->id, name);
    return NULL;
}

static void check_column(const CatalogEntry *e, const TableSpec *t, const char *name) {
    if (!name) return;
    for (const Column *c = t->columns; c->name; c++)
        if (strcmp(c->name, name) == 0) return;
    fail_msg("%s: table %s has no column %s", e->id, t->name, name);
}

/* Several names, separated by blanks. */
static void check_columns(const CatalogEntry *e, const TableSpec *t, const char *names) {
    char copy[200];
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " ")) check_column(e, t, name);
}

static void check_figure(const CatalogEntry *e) {
    if (e->figure.kind == FIGURE_NONE) return;
    const TableSpec *t = find_table(e, e->figure.table);
    check_column(e, t, e->figure.x);
    check_columns(e, t, e->figure.y);
    check_columns(e, t, e->figure.series ? e->figure.series : "");
}

static void check_floor(const CatalogEntry *e) {
    char table[64] = "", column[64] = "";
    if (!e->figure_floor) return;
    assert_int_equal(sscanf(e->figure_floor, "%63s %63s", table, column), 2);
    check_column(e, find_table(e, table), column);
}

static void check_names(const CatalogEntry *e) {
    for (const TableSpec *t = e->tables; t->name; t++) {
        assert_ptr_equal(find_table(e, t->name), t); /* no name twice */
        assert_string_not_equal(t->name, "about");
        for (const Column *c = t->columns; c->name; c++) {
            assert_int_equal(strspn(c->name, "abcdefghijklmnopqrstuvwxyz0123456789_T"), strlen(c->name));
            assert_non_null(c->unit);
        }
    }
}

static void rows_are_complete(void **state) {
    (void)state;
    assert_true(catalog_count() > 0);
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogEntry *e = catalog_at(i);
        if (!says_something(e->title) || !says_something(e->see)) fail_msg("%s has no words", e->id);
        assert_true(e->section[0] == 'L' || e->section[0] == 'S');
        assert_true(catalog_tables(e) > 0);
        check_options(e);
        check_names(e);
        check_figure(e);
        check_floor(e);
    }
}

static Study *run_small(const CatalogEntry *e, const char *threads) {
    Options *o = catalog_options(e);
    Status s = options_set(o, "threads", threads);
    assert_int_equal(s.code, STATUS_OK);
    bool trains = strcmp(e->id, "lm.train") == 0; /* without a model of others it makes one */
    if (options_find(o, "model") && !trains) s = options_set(o, "model", small_model_path);
    assert_int_equal(s.code, STATUS_OK);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        for (int j = 0; strcmp(small[i].id, e->id) == 0 && j < 6 && small[i].pairs[j]; j++) {
            s = options_set_pair(o, small[i].pairs[j]);
            assert_int_equal(s.code, STATUS_OK);
        }
    Study *study = study_new(e, o);
    s = study_run(study);
    if (!status_is_ok(&s)) fail_msg("%s: %s", e->id, s.text);
    return study;
}

static void expect_same(const CatalogEntry *e, const Table *a, const Table *b) {
    Str x, y;
    str_init(&x);
    str_init(&y);
    assert_int_equal(table_rows(a), table_rows(b));
    for (int c = 0; c < table_columns(a); c++) {
        if (catalog_is_time(table_column(a, c)->name)) continue;
        for (long row = 0; row < table_rows(a); row++) {
            str_clear(&x);
            str_clear(&y);
            table_cell(a, row, c, &x);
            table_cell(b, row, c, &y);
            if (strcmp(x.s, y.s) != 0)
                fail_msg("%s: %s of row %ld is %s with 1 thread and %s with 2", e->id, table_column(a, c)->name, row,
                         x.s, y.s);
        }
    }
    str_done(&x);
    str_done(&y);
}

static void threads_change_nothing(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogEntry *e = catalog_at(i);
        Study *one = run_small(e, "1"), *two = run_small(e, "2");
        for (int t = 0; t < study_tables(one) - 1; t++) {
            Table *a = study_look(one, t), *b = study_look(two, t);
            if (table_rows(a) == 0 && !catalog_leaves_out(e, a))
                fail_msg("%s: table %s is empty", e->id, table_name(a));
            expect_same(e, a, b);
            table_free(a);
            table_free(b);
        }
        study_free(one);
        study_free(two);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_sorted_and_found),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
