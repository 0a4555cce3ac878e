/* csvfile: what is written is read back by libcsv, byte for byte; faults are seen and named; nothing half-written
 * stays. */
#include "csvfile.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/lantern-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    Str command;
    str_init(&command);
    str_addf(&command, "rm -rf '%s'", folder);
    int result = system(command.s);
    str_done(&command);
    return result;
}

static const char *in_folder(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int files_in(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return -1;
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static const Column mixed[] = {
    {"name", COLUMN_TEXT, ""}, {"n", COLUMN_INT, "tokens"}, {"x", COLUMN_DOUBLE, "nats"}, {0}};

static Table *mixed_table(const char *name) {
    Table *t = table_new(name, mixed);
    table_add_text(t, "plain");
    table_add_int(t, -3);
    table_add_real(t, 0.1);
    table_add_text(t, "");
    table_add_empty(t);
    table_add_real(t, (double)-INFINITY);
    table_add_empty(t);
    table_add_int(t, 0);
    table_add_real(t, (double)NAN);
    return t;
}

static char *written(const Table *t) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    Status s = csvfile_write(t, out, "memory");
    assert_int_equal(s.code, STATUS_OK);
    fclose(out);
    return text;
}

static void bytes_are_exact(void **state) {
    (void)state;
    Table *t = mixed_table("mixed");
    char *text = written(t);
    assert_string_equal(text, "name,n,x\nplain,-3,0.1\n\"\",,-inf\n,0,nan\n");
    free(text);
    table_free(t);
}

static void decimal_is_a_point_in_every_locale(void **state) {
    (void)state;
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it is installed */
    Table *t = mixed_table("mixed");
    char *text = written(t);
    setlocale(LC_NUMERIC, "C");
    assert_non_null(strstr(text, "plain,-3,0.1\n"));
    free(text);
    table_free(t);
}

static const Column texts[] = {{"first", COLUMN_TEXT, ""}, {"second", COLUMN_TEXT, ""}, {0}};

/* Everything that a reader could take for something else. */
static const char *const hard[] = {
    "a,b",  "say \"so\"", "\"",      " the", "the ",        "\tx",  "x\t",           "two\nlines",
    "cr\r", "\r\n",       "ends,\"", ",",    "猫 · 生成式", "=1+1", "</s>",          "'",
    "\n",   " ",          "\"\"",    "#x",   "a\"b",        "-",    "\xEF\xBB\xBFx",
};

static void hard_texts_come_back(void **state) {
    (void)state;
    Table *t = table_new("texts", texts);
    int n = (int)(sizeof hard / sizeof *hard);
    for (int i = 0; i < n; i++) {
        table_add_text(t, hard[i]);
        table_add_text(t, hard[(i + 1) % n]);
    }
    Status s = csvfile_save(t, in_folder("texts.csv"));
    assert_int_equal(s.code, STATUS_OK);
    CsvText back;
    s = csvfile_read(in_folder("texts.csv"), &back);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(back.columns, 2);
    assert_int_equal(back.rows, n + 1);
    assert_string_equal(back.cell[0][1], "second");
    for (int i = 0; i < n; i++) {
        assert_string_equal(back.cell[i + 1][0], hard[i]);
        assert_string_equal(back.cell[i + 1][1], hard[(i + 1) % n]);
    }
    csv_text_done(&back);
    table_free(t);
}

static void numbers_come_back(void **state) {
    (void)state;
    static const double numbers[] = {0.1, 1.0 / 3, 1e-320, -2.5e300, 123456789.125, 0, 5e-324, 1e22};
    static const Column columns[] = {{"x", COLUMN_DOUBLE, ""}, {0}};
    int n = (int)(sizeof numbers / sizeof *numbers);
    Table *t = table_new("numbers", columns);
    for (int i = 0; i < n; i++) table_add_real(t, numbers[i]);
    table_add_empty(t); /* one column: an empty cell still is a row */
    Status s = csvfile_save(t, in_folder("numbers.csv"));
    assert_int_equal(s.code, STATUS_OK);
    CsvText back;
    s = csvfile_read(in_folder("numbers.csv"), &back);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(back.rows, n + 2);
    for (int i = 0; i < n; i++) {
        double x;
        assert_true(str_to_double(back.cell[i + 1][0], &x));
        assert_memory_equal(&x, &numbers[i], sizeof x);
    }
    csv_text_done(&back);
    table_free(t);
}

static void put_file(const char *name, const char *text, size_t bytes) {
    FILE *f = fopen(in_folder(name), "w");
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
}

static void expect_fault(const char *text, const char *part) {
    CsvText t;
    put_file("faulty.csv", text, strlen(text));
    Status s = csvfile_read(in_folder("faulty.csv"), &t);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, part)) fail_msg("'%s' does not say '%s'", s.text, part);
    assert_null(t.cell);
}

static void faults_are_named_by_line(void **state) {
    (void)state;
    expect_fault("a,b\n1,2\n3\n4,5\n", "line 3: 1 cell where the header has 2");
    expect_fault("a,b\n1,2\n\n3,4,5", "line 4: 3 cells");
    expect_fault("a,b\n\"x\ny\",2\n3\n", "line 4: 1 cell where"); /* a cell of two lines counts as two */
    expect_fault("a,b\n1,\"x\"y\n3,4\n", "line 2: a quotation mark");
    expect_fault("a,b\n1,x\"y\n3,4\n", "line 2: a quotation mark");
    expect_fault("a,b\n1,2\n3,\"open\n4,5\n", "line 3: a quotation mark");
    expect_fault("", "has no rows");
    expect_fault("\n\n", "has no rows");
}

static void odd_files_are_read(void **state) {
    (void)state;
    CsvText t;
    const char text[] = "\xEF\xBB\xBF\"a\",b\r\n\r\n 1 ,\" 2 \"\r\n3,4";
    put_file("odd.csv", text, sizeof text - 1);
    Status s = csvfile_read(in_folder("odd.csv"), &t);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(t.rows, 3);
    assert_string_equal(t.cell[0][0], "a");
    assert_string_equal(t.cell[1][0], "1");
    assert_string_equal(t.cell[1][1], " 2 ");
    assert_string_equal(t.cell[2][1], "4");
    csv_text_done(&t);
    s = csvfile_read(in_folder("missing.csv"), &t);
    assert_int_equal(s.code, STATUS_USAGE);
}

static void full_disk_is_seen(void **state) {
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    Table *t = mixed_table("mixed");
    Status s = csvfile_write(t, full, "the full one");
    assert_int_equal(s.code, STATUS_FAILED);
    assert_int_equal(errno, ENOSPC);
    assert_non_null(strstr(s.text, "cannot write 'the full one': "));
    fclose(full);
    s = csvfile_save(t, "/dev/full");
    assert_int_equal(s.code, STATUS_FAILED);
    assert_non_null(strstr(s.text, "cannot write '/dev/full': "));
    table_free(t);
}

static void folder_gets_all(void **state) {
    (void)state;
    Table *a = mixed_table("a"), *b = mixed_table("b");
    const Table *both[] = {a, b};
    char dir[128];
    strcpy(dir, in_folder("out"));
    Status s = csvfile_check_folder(dir);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(files_in(dir), -1); /* the check leaves nothing */
    s = csvfile_save_folder(both, 2, dir, "x.y");
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(files_in(dir), 2);
    assert_int_equal(access(in_folder("out/x.y.a.csv"), R_OK), 0);
    assert_int_equal(access(in_folder("out/x.y.b.csv"), R_OK), 0);
    table_free(a);
    table_free(b);
}

/* The second file cannot be made: a folder has its name. */
static void folder_gets_none(void **state) {
    (void)state;
    Table *a = mixed_table("a"), *b = mixed_table("b");
    const Table *both[] = {a, b};
    char dir[128];
    strcpy(dir, in_folder("none"));
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(mkdir(in_folder("none/x.b.csv"), 0777), 0);
    Status s = csvfile_save_folder(both, 2, dir, "x");
    assert_int_equal(s.code, STATUS_USAGE);
    assert_int_equal(files_in(dir), 1);
    table_free(a);
    table_free(b);
}

static void folders_that_cannot_be_are_refused(void **state) {
    (void)state;
    put_file("file", "x", 1);
    static const char *const bad[] = {"file", "file/under", "no/parent", "/proc/lantern", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char dir[128];
        strcpy(dir, bad[i][0] == '/' || !bad[i][0] ? bad[i] : in_folder(bad[i]));
        Status s = csvfile_check_folder(dir);
        assert_int_equal(s.code, STATUS_USAGE);
        Table *t = mixed_table("a");
        const Table *one[] = {t};
        s = csvfile_save_folder(one, 1, dir, "x");
        assert_int_equal(s.code, STATUS_USAGE);
        table_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_exact),          cmocka_unit_test(decimal_is_a_point_in_every_locale),
        cmocka_unit_test(hard_texts_come_back),     cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(faults_are_named_by_line), cmocka_unit_test(odd_files_are_read),
        cmocka_unit_test(full_disk_is_seen),        cmocka_unit_test(folder_gets_all),
        cmocka_unit_test(folder_gets_none),         cmocka_unit_test(folders_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
