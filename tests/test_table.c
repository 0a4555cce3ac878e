#include "expect.h"

#include "mem.h"
#include "rng.h"
#include "table.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const Column columns[] = {
    {"step", COLUMN_INT, ""}, {"loss", COLUMN_DOUBLE, "nats"}, {"p", COLUMN_REAL, ""}, {"word", COLUMN_TEXT, NULL}, {0},
};

/* What row I of a test table holds; every third word and every fifth loss is empty. */
static void word_of(long i, char word[40]) {
    snprintf(word, 40, "word%.*s%ld", (int)(i % 7), "-------", i);
}

static void add_row(Table *t, long i) {
    char word[40];
    word_of(i, word);
    table_add_int(t, i * i);
    if (i % 5) {
        table_add_real(t, 1.0 / (double)i);
    } else {
        table_add_empty(t);
    }
    table_add_real(t, 0.1 * (double)i);
    if (i % 3) {
        table_add_text(t, word);
    } else {
        table_add_empty(t);
    }
}

static void check_row(const Table *t, long i) {
    char word[40];
    word_of(i, word);
    assert_true(table_int(t, i, 0) == (long long)i * i);
    assert_true(table_real(t, i, 0) == (double)i * (double)i);
    assert_true(table_is_empty(t, i, 1) == (i % 5 == 0));
    assert_true(i % 5 ? table_real(t, i, 1) == 1.0 / (double)i : isnan(table_real(t, i, 1)));
    assert_true(table_real(t, i, 2) == (double)(real)(0.1 * (double)i));
    assert_true(table_is_empty(t, i, 3) == (i % 3 == 0));
    assert_string_equal(table_text(t, i, 3), i % 3 ? word : "");
    assert_int_equal(table_text_bytes(t, i, 3), i % 3 ? strlen(word) : 0);
}

static Table *make_table(long rows) {
    Table *t = table_new("made", columns);
    for (long i = 0; i < rows; i++) add_row(t, i);
    return t;
}

static void check_table(const Table *t, long rows) {
    assert_int_equal(table_rows(t), rows);
    for (long i = 0; i < rows; i++) check_row(t, i);
}

static void columns_are_known_by_name(void **state) {
    (void)state;
    char name[] = "losses";
    Table *t = table_new(name, columns);
    name[0] = 'X';
    assert_string_equal(table_name(t), "losses");
    assert_int_equal(table_columns(t), 4);
    assert_int_equal(table_find(t, "word"), 3);
    assert_int_equal(table_find(t, "step"), 0);
    assert_int_equal(table_find(t, "wor"), -1);
    assert_ptr_equal(table_column(t, 1), &columns[1]);
    assert_bug(table_column(t, 4));
    assert_bug(table_column(t, -1));
    assert_int_equal(table_rows(t), 0);
    table_free(t);
    table_free(NULL);
}

static void rows_are_kept_at_every_length(void **state) {
    (void)state;
    static const long length[] = {0, 1, 15, 16, 17, 1023, 1024, 1025, 2048, 5000};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        Table *t = make_table(length[i]);
        check_table(t, length[i]);
        table_free(t);
    }
}

static void a_row_counts_when_it_is_complete(void **state) {
    (void)state;
    Table *t = table_new("t", columns);
    table_add_int(t, 1);
    table_add_real(t, 2);
    table_add_real(t, 3);
    assert_int_equal(table_rows(t), 0);
    assert_bug(table_int(t, 0, 0));
    assert_bug(table_copy(t));
    table_add_text(t, "four");
    assert_int_equal(table_rows(t), 1);
    table_free(t);
}

static void cells_are_taken_over(void **state) {
    (void)state;
    static const Column three[] = {
        {"n", COLUMN_INT, ""}, {"x", COLUMN_DOUBLE, ""}, {"s", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    Table *from = table_new("from", three), *to = table_new("to", three);
    for (int row = 0; row < 2; row++) {
        table_add_int(from, 7 + row);
        table_add_known(from, row ? (double)NAN : 0.5);
        table_add_text_n(from, "a\0b", 3);
    }
    for (int row = 1; row >= 0; row--)
        for (int c = 0; c < 3; c++) table_add_cell(to, from, row, c);
    assert_int_equal(table_rows(to), 2);
    assert_int_equal(table_int(to, 0, 0), 8);
    assert_true(table_is_empty(to, 0, 1) && !table_is_empty(to, 1, 1));
    assert_true(table_real(to, 1, 1) == 0.5);
    assert_int_equal(table_text_bytes(to, 1, 2), 3);
    table_free(from);
    table_free(to);
}

static void wrong_types_and_places_are_bugs(void **state) {
    (void)state;
    Table *t = make_table(3);
    assert_bug(table_add_real(t, 1));
    assert_bug(table_add_text(t, "x"));
    assert_bug(table_int(t, 1, 1));
    assert_bug(table_int(t, 1, 3));
    assert_bug(table_real(t, 1, 3));
    assert_bug(table_text(t, 1, 0));
    assert_bug(table_text_bytes(t, 1, 2));
    assert_bug(table_int(t, 3, 0));
    assert_bug(table_int(t, -1, 0));
    assert_bug(table_is_empty(t, 0, 4));
    assert_bug(table_is_empty(t, 0, -1));
    table_add_int(t, 1);
    assert_bug(table_add_int(t, 1));
    assert_bug(table_add_text(t, "x"));
    table_free(t);
}

static void a_copy_never_changes(void **state) {
    (void)state;
    static const long length[] = {0, 1, 16, 500, 1023, 1024, 1025, 3000};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        Table *t = make_table(length[i]);
        Table *copy = table_copy(t);
        Table *second = table_copy(copy);
        for (long k = 0; k < 1500; k++) add_row(t, length[i] + k);
        check_table(copy, length[i]);
        check_table(t, length[i] + 1500);
        table_free(t);
        check_table(copy, length[i]);
        for (long k = 0; k < 1100; k++) add_row(copy, length[i] + k);
        check_table(copy, length[i] + 1100);
        table_free(copy);
        check_table(second, length[i]);
        assert_string_equal(table_name(second), "made");
        table_free(second);
    }
}

/* The bytes that a copy takes, in allocations: those of the partial block only. */
static void a_copy_shares_the_complete_blocks(void **state) {
    (void)state;
    Table *t = make_table(50 * 1024);
    size_t before = mem_count().allocations;
    Table *copy = table_copy(t);
    assert_true(mem_count().allocations - before <= 3);
    for (long row = 0; row < 50 * 1024; row += 1000) assert_ptr_equal(table_text(t, row, 3), table_text(copy, row, 3));
    table_free(copy);
    add_row(t, 50 * 1024);
    add_row(t, 50 * 1024 + 1);
    copy = table_copy(t);
    assert_ptr_equal(table_text(t, 50 * 1024 - 1, 3), table_text(copy, 50 * 1024 - 1, 3));
    assert_true(table_text(t, 50 * 1024, 3) != table_text(copy, 50 * 1024, 3));
    table_free(copy);
    table_free(t);
}

static void a_borrowed_text_stays_while_the_table_grows(void **state) {
    (void)state;
    Table *t = make_table(3);
    const char *word = table_text(t, 1, 3);
    for (long i = 3; i < 4000; i++) add_row(t, i);
    assert_ptr_equal(word, table_text(t, 1, 3));
    assert_string_equal(word, "word-1");
    table_free(t);
}

static void texts_may_be_long_and_hold_nul(void **state) {
    (void)state;
    static const Column text[] = {{"s", COLUMN_TEXT, ""}, {0}};
    Table *t = table_new("t", text);
    Rng r = rng_at(1, "test.table", 0);
    static char bytes[40000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)rng_next(&r);
    for (size_t i = 0; i < 300; i++) table_add_text_n(t, bytes + i, i % 10 ? i : 130 * i);
    Table *copy = table_copy(t);
    table_free(t);
    for (size_t i = 0; i < 300; i++) {
        size_t len = i % 10 ? i : 130 * i;
        assert_int_equal(table_text_bytes(copy, (long)i, 0), len);
        assert_memory_equal(table_text(copy, (long)i, 0), bytes + i, len);
        assert_int_equal(table_text(copy, (long)i, 0)[len], 0);
        assert_false(table_is_empty(copy, (long)i, 0)); /* no bytes are a value too */
        Str cell;
        str_init(&cell);
        table_cell(copy, (long)i, 0, &cell);
        assert_int_equal(cell.len, len);
        assert_true(len == 0 || memcmp(cell.s, bytes + i, len) == 0);
        str_done(&cell);
    }
    table_free(copy);
}

static void cells_are_exact_in_csv(void **state) {
    (void)state;
    Table *t = table_new("t", columns);
    table_add_int(t, -9223372036854775807LL - 1);
    table_add_real(t, 0.1);
    table_add_real(t, 0.1);
    table_add_text(t, "a,\"b\"\n");
    table_add_int(t, 7);
    table_add_real(t, (double)NAN);
    table_add_real(t, 1.0 / 3);
    table_add_text(t, "");
    for (int c = 0; c < 4; c++) table_add_empty(t);
    Str out;
    str_init(&out);
    for (long row = 0; row < 3; row++)
        for (int c = 0; c < 4; c++) {
            table_cell(t, row, c, &out);
            str_add_char(&out, '|');
        }
    const char *third = sizeof(real) == 8 ? "0.3333333333333333" : "0.33333334";
    char expected[200];
    snprintf(expected, sizeof expected, "-9223372036854775808|0.1|0.1|a,\"b\"\n|7|nan|%s||||||", third);
    assert_string_equal(out.s, expected);
    assert_true(isnan(table_real(t, 1, 1)) && !table_is_empty(t, 1, 1));
    assert_true(isnan(table_real(t, 2, 0)) && table_is_empty(t, 2, 0));
    assert_int_equal(table_int(t, 2, 0), 0);
    str_done(&out);
    table_free(t);
}

static void assert_printed(const Table *t, long first, long rows, const char *expected) {
    Str out;
    str_init(&out);
    table_print(t, first, rows, &out);
    assert_string_equal(out.s, expected);
    str_done(&out);
}

static void assert_within(const Table *t, int from, int width, int shown, const char *expected) {
    Str out;
    str_init(&out);
    assert_int_equal(table_print_within(t, 0, 1, from, width, &out), shown);
    assert_string_equal(out.s, expected);
    str_done(&out);
}

static void columns_that_do_not_fit_are_left_out(void **state) {
    (void)state;
    static const Column print[] = {{"n", COLUMN_INT, ""}, {"text", COLUMN_TEXT, ""}, {"p", COLUMN_DOUBLE, ""}, {0}};
    Table *t = table_new("words", print);
    table_add_int(t, 12);
    table_add_text(t, "a long sentence");
    table_add_real(t, 0.125);
    assert_within(t, 0, 26, 3, " n  text                 p\n12  a long sentence  0.125\n");
    assert_within(t, 0, 25, 2, " n  text\n12  a long sentence\n");
    assert_within(t, 0, 12, 2, " n  text\n12  a long sentence\n"); /* it may stick out */
    assert_within(t, 0, 11, 1, " n\n12\n");
    assert_within(t, 0, -5, 1, " n\n12\n");
    assert_within(t, 2, 5, 1, "    p\n0.125\n");
    static const Column wide[] = {
        {"n", COLUMN_INT, ""}, {"a_long_heading", COLUMN_DOUBLE, "logits"}, {"p", COLUMN_DOUBLE, ""}, {0}};
    Table *u = table_new("wide", wide);
    table_add_int(u, 12), table_add_real(u, 0.5), table_add_real(u, 0.125);
    assert_within(u, 0, 34, 3, " n  a_long_heading (logits)      p\n12                      0.5  0.125\n");
    assert_within(u, 0, 33, 3, " n  a_long_heading      p\n12             0.5  0.125\n");
    assert_within(u, 0, 24, 3, " n  a_long_headi…      p\n12            0.5  0.125\n");
    assert_within(u, 0, 21, 3, " n  a_long_he…      p\n12         0.5  0.125\n");
    assert_within(u, 0, 20, 1, " n\n12\n"); /* headings are whole where there are columns to go to anyway */
    table_free(u);
    assert_bug(table_print_within(t, 0, 1, 3, 80, NULL));
    table_free(t);
}

static void a_table_is_printed_in_aligned_columns(void **state) {
    (void)state;
    static const Column print[] = {
        {"n", COLUMN_INT, ""},
        {"log_p", COLUMN_DOUBLE, "nats"},
        {"word", COLUMN_TEXT, ""},
        {"x", COLUMN_DOUBLE, NULL},
        {0},
    };
    Table *t = table_new("words", print);
    table_add_int(t, 1);
    table_add_real(t, -0.25);
    table_add_text(t, "cow");
    table_add_real(t, 1234567);
    table_add_int(t, -100);
    table_add_real(t, 12.123456789);
    table_add_text(t, "\xe4\xb8\xad\xe6\x96\x87\n");
    table_add_real(t, 1e-7);
    table_add_empty(t);
    table_add_real(t, (double)-INFINITY);
    table_add_empty(t);
    table_add_empty(t);
    table_add_int(t, 5);
    table_add_empty(t);
    table_add_text_n(t, "a\0b", 3);
    table_add_real(t, 2.5);
    assert_printed(t, 0, -1,
                   "words\n"
                   "   n  log_p (nats)  word             x\n"
                   "   1       -0.25    cow    1234567\n"
                   "-100       12.1235  \xe4\xb8\xad\xe6\x96\x87\xe2\x8f\x8e        1e-07\n"
                   "         -inf\n"
                   "   5                a\xe2\x90\x80"
                   "b          2.5\n");
    table_free(t);
}

static void some_rows_can_be_printed(void **state) {
    (void)state;
    static const Column one[] = {{"n", COLUMN_INT, ""}, {0}};
    Table *t = table_new("numbers", one);
    assert_printed(t, 0, -1, "numbers\nn\n");
    for (int i = 0; i < 5; i++) table_add_int(t, i);
    assert_printed(t, 1, 2, "numbers\nn\n1\n2\n");
    assert_printed(t, 3, -1, "numbers\nn\n3\n4\n");
    assert_printed(t, 4, 100, "numbers\nn\n4\n");
    assert_printed(t, 99, 1, "numbers\nn\n");
    assert_printed(t, 0, 0, "numbers\nn\n");
    table_free(t);
}

/* One thread appends and publishes copies; others read and free them. */
enum { SHARE_COPIES = 200, SHARE_ROWS = 37, SHARE_READERS = 3 };

static _Atomic(Table *) published[SHARE_READERS];
static atomic_int readers_failed;

static void read_copy(const Table *t) {
    for (long i = 0; i < table_rows(t); i += 11) {
        char word[40];
        word_of(i, word);
        if (table_int(t, i, 0) != (long long)i * i) atomic_fetch_add(&readers_failed, 1);
        if (strcmp(table_text(t, i, 3), i % 3 ? word : "") != 0) atomic_fetch_add(&readers_failed, 1);
    }
}

static void *read_copies(void *slot) {
    for (int seen = 0; seen < SHARE_COPIES;) {
        Table *t = atomic_exchange((_Atomic(Table *) *)slot, NULL);
        if (!t) {
            sched_yield();
            continue;
        }
        read_copy(t);
        Table *again = table_copy(t);
        table_free(t);
        read_copy(again);
        seen = (int)(table_rows(again) / SHARE_ROWS);
        table_free(again);
    }
    return NULL;
}

static void copies_may_live_in_other_threads(void **state) {
    (void)state;
    pthread_t thread[SHARE_READERS];
    for (int i = 0; i < SHARE_READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_copies, &published[i]), 0);
    Table *t = table_new("shared", columns);
    for (int n = 0; n < SHARE_COPIES; n++) {
        for (int i = 0; i < SHARE_ROWS; i++) add_row(t, table_rows(t));
        for (int i = 0; i < SHARE_READERS; i++) table_free(atomic_exchange(&published[i], table_copy(t)));
    }
    table_free(t);
    for (int i = 0; i < SHARE_READERS; i++) pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&readers_failed), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_known_by_name),
        cmocka_unit_test(rows_are_kept_at_every_length),
        cmocka_unit_test(a_row_counts_when_it_is_complete),
        cmocka_unit_test(cells_are_taken_over),
        cmocka_unit_test(wrong_types_and_places_are_bugs),
        cmocka_unit_test(a_copy_never_changes),
        cmocka_unit_test(a_copy_shares_the_complete_blocks),
        cmocka_unit_test(a_borrowed_text_stays_while_the_table_grows),
        cmocka_unit_test(texts_may_be_long_and_hold_nul),
        cmocka_unit_test(cells_are_exact_in_csv),
        cmocka_unit_test(columns_that_do_not_fit_are_left_out),
        cmocka_unit_test(a_table_is_printed_in_aligned_columns),
        cmocka_unit_test(some_rows_can_be_printed),
        cmocka_unit_test(copies_may_live_in_other_threads),
        cmocka_unit_test(all_is_freed),
    };
    mem_set_poison(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
