/* Snapshots: fields and tables by name, counted references, contents that stay as they were published. */
#include "mem.h"
#include "snapshot.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const Column columns[] = {{"step", COLUMN_INT, ""}, {"loss", COLUMN_DOUBLE, "nats"}, {0}};

static Field *ramp(const char *name, int n) {
    Field *f = field_new(1, &n, "%s", name);
    for (int i = 0; i < n; i++) f->x[i] = (real)i;
    return f;
}

static void finds_fields_and_tables_by_name(void **state) {
    (void)state;
    SnapshotFacts facts = {.state = RUN_PAUSED, .step = 7};
    Snapshot *s = snapshot_new(&facts);
    facts.step = 8; /* copied, not kept */
    snapshot_add_field(s, ramp("attention.0.weights", 3));
    snapshot_add_field(s, ramp("attention.1.weights", 4));
    snapshot_add_table(s, table_new("curve", columns));
    assert_int_equal(snapshot_facts(s)->step, 7);
    assert_int_equal(snapshot_field(s, "attention.%d.weights", 1)->dim[0], 4);
    assert_null(snapshot_field(s, "attention.%d.weights", 2));
    assert_non_null(snapshot_table(s, "curve"));
    assert_null(snapshot_table(s, "test"));
    assert_int_equal(snapshot_fields(s), 2);
    assert_int_equal(snapshot_tables(s), 1);
    assert_string_equal(snapshot_field_at(s, 0)->name, "attention.0.weights");
    assert_string_equal(table_name(snapshot_table_at(s, 0)), "curve");
    snapshot_unref(s);
}

static void the_last_reference_frees_all(void **state) {
    (void)state;
    size_t before = mem_count().live;
    SnapshotFacts facts = {0};
    Snapshot *s = snapshot_new(&facts);
    snapshot_add_field(s, ramp("x", 5));
    snapshot_add_table(s, table_new("curve", columns));
    Snapshot *other = snapshot_ref(s);
    snapshot_unref(s);
    assert_true(mem_count().live > before);
    assert_int_equal(field_count(snapshot_field(other, "x")), 5);
    snapshot_unref(other);
    assert_int_equal(mem_count().live, before);
    snapshot_unref(NULL);
}

static void parts_are_shared(void **state) {
    (void)state;
    size_t before = mem_count().live;
    SnapshotFacts facts = {0};
    Snapshot *part = snapshot_new(&facts), *whole = snapshot_new(&facts), *other = snapshot_new(&facts);
    snapshot_add_field(part, ramp("x", 5));
    snapshot_add_table(part, table_new("curve", columns));
    snapshot_include(whole, part);
    snapshot_share(other, whole);
    snapshot_add_field(whole, ramp("y", 2));
    assert_ptr_equal(snapshot_field(whole, "x"), snapshot_field(part, "x"));
    assert_ptr_equal(snapshot_table(other, "curve"), snapshot_table(part, "curve"));
    assert_null(snapshot_field(other, "y"));
    assert_int_equal(snapshot_fields(whole), 2);
    assert_string_equal(snapshot_field_at(whole, 0)->name, "x");
    assert_string_equal(snapshot_field_at(whole, 1)->name, "y");
    assert_int_equal(snapshot_tables(other), 1);
    snapshot_unref(part);
    snapshot_unref(whole);
    assert_int_equal(field_count(snapshot_field(other, "x")), 5);
    snapshot_unref(other);
    assert_int_equal(mem_count().live, before);
}

/* What a maker was asked to make, and how many blocks of memory lived each time. */
typedef struct {
    int made;
    size_t live[8];
} Made;

/* Groups "N.a" and "N.b", N below 3. */
static bool knows_two(const void *data, const char *name) {
    (void)data;
    return name[0] >= '0' && name[0] <= '2' && name[1] == '.' && (name[2] == 'a' || name[2] == 'b') && !name[3];
}

static int make_two(const void *data, const char *name, Field **out) {
    Made *made = *(Made *const *)data;
    made->live[made->made++ % 8] = mem_count().live;
    out[0] = ramp("?.a", 2);
    out[1] = ramp("?.b", 3);
    out[0]->name[0] = out[1]->name[0] = name[0];
    return 2;
}

static const SnapshotMaker two = {knows_two, make_two, mem_free};

static void *ask(void *snapshot) {
    return (void *)snapshot_field(snapshot, "2.b");
}

static void fields_are_made_when_they_are_asked_for(void **state) {
    (void)state;
    size_t before = mem_count().live;
    Made made = {0};
    SnapshotFacts facts = {0};
    Snapshot *part = snapshot_new(&facts), *whole = snapshot_new(&facts);
    Made **data = mem_zero(1, sizeof *data);
    *data = &made;
    snapshot_set_maker(part, &two, data);
    snapshot_include(whole, part);
    const Field *a = snapshot_field(whole, "1.a");
    assert_int_equal(field_count(a), 2);
    assert_int_equal(field_count(snapshot_field(whole, "1.b")), 3);
    assert_ptr_equal(snapshot_field(part, "1.a"), a);
    assert_int_equal(made.made, 1);
    assert_null(snapshot_field(whole, "1.c"));
    assert_null(snapshot_field(whole, "x"));
    assert_int_equal(field_count(a), 2); /* what nobody knows ends nothing */
    pthread_t thread;
    void *theirs;
    assert_int_equal(pthread_create(&thread, NULL, ask, whole), 0);
    assert_int_equal(pthread_join(thread, &theirs), 0);
    assert_non_null(theirs);
    assert_int_equal(field_count(a), 2); /* ours stay */
    int ours = made.made;
    size_t full = mem_count().live;
    assert_non_null(snapshot_field(whole, "0.b"));
    assert_int_equal(made.made, ours + 1);
    assert_true(made.live[ours] < full); /* the old group had gone */
    assert_int_equal(snapshot_fields(whole), 0);
    snapshot_unref(part);
    snapshot_unref(whole);
    assert_int_equal(mem_count().live, before);
}

static void a_published_table_does_not_grow(void **state) {
    (void)state;
    Table *curve = table_new("curve", columns);
    SnapshotFacts facts = {0};
    for (int i = 1; i <= 3000; i++) {
        table_add_int(curve, i);
        table_add_real(curve, 1.0 / i);
        if (i % 500 != 0) continue;
        Snapshot *s = snapshot_new(&facts);
        snapshot_add_table(s, table_copy(curve));
        table_add_int(curve, -1); /* another row after the copy */
        table_add_real(curve, 0);
        const Table *seen = snapshot_table(s, "curve");
        assert_int_equal(table_rows(seen), i + i / 500 - 1);
        assert_int_equal(table_int(seen, table_rows(seen) - 1, 0), i);
        snapshot_unref(s);
    }
    table_free(curve);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_fields_and_tables_by_name),
        cmocka_unit_test(the_last_reference_frees_all),
        cmocka_unit_test(parts_are_shared),
        cmocka_unit_test(fields_are_made_when_they_are_asked_for),
        cmocka_unit_test(a_published_table_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
