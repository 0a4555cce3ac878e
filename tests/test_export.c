/* What the screen writes is what the laboratory writes headless, byte for byte; failures are sentences. */
#include "expect.h"

#include "csvfile.h"
#include "file.h"
#include "mem.h"
#include "observe.h"
#include "run_study.h"
#include "screen.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_new(void) {
    char *path = mem_text("/tmp/lantern-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static int folder_files(const char *path, bool remove_them) {
    DIR *d = opendir(path);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        char file[600];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (remove_them) unlink(file);
        n++;
    }
    closedir(d);
    return n;
}

static void folder_free(char *path) {
    folder_files(path, true);
    rmdir(path);
    mem_free(path);
}

static void assert_same_file(const char *dir_a, const char *dir_b, const char *name) {
    char path[600];
    Str a, b;
    str_init(&a);
    str_init(&b);
    snprintf(path, sizeof path, "%s/%s", dir_a, name);
    assert_ok(file_read(path, 0, &a));
    snprintf(path, sizeof path, "%s/%s", dir_b, name);
    assert_ok(file_read(path, 0, &b));
    assert_true(a.len > 0);
    assert_string_equal(a.s, b.s);
    str_done(&a);
    str_done(&b);
}

static void run_line(App *a, const char *format, const char *folder) {
    char line[700];
    snprintf(line, sizeof line, format, folder);
    assert_ok(app_command(a, line));
}

static void an_experiment_is_written_as_headless(void **unused) {
    (void)unused;
    char *screen = folder_new(), *headless = folder_new();
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "experiment text.batch block=8"));
    assert_ok(app_command(a, "pane lab"));
    assert_ok(app_command(a, "start"));
    assert_true(app_wait_jobs(a, 60));
    app_tick(a);
    run_line(a, "export %s", screen);
    assert_non_null(strstr(app_message(a), "wrote 3 files"));
    Study *study = run_study("text.batch", "block=8", NULL);
    Table *tables[8];
    for (int i = 0; i < study_tables(study); i++) tables[i] = study_look(study, i);
    assert_ok(csvfile_save_folder((const Table *const *)tables, study_tables(study), headless, "text.batch"));
    static const char *const names[] = {"text.batch.batch.csv", "text.batch.waste.csv", "text.batch.about.csv"};
    for (int i = 0; i < 3; i++) assert_same_file(screen, headless, names[i]);
    for (int i = 0; i < study_tables(study); i++) table_free(tables[i]);
    study_free(study);
    app_free(a);
    folder_free(screen);
    folder_free(headless);
}

static void attention_is_written_from_the_fields_shown(void **unused) {
    (void)unused;
    char *screen = folder_new(), *own = folder_new();
    App *a = screen_new(NULL);
    assert_ok(app_command(a, "pane attention"));
    assert_ok(app_command(a, "cursor layer=2 head=3"));
    run_line(a, "export %s", screen);
    Table *tables[] = {observe_attention_table(app_snapshot(a), 1, 2), observe_vectors_table(app_snapshot(a), 1, 2)};
    assert_non_null(tables[0]);
    assert_non_null(tables[1]);
    assert_ok(csvfile_save_folder((const Table *const *)tables, 2, own, "attention"));
    assert_same_file(screen, own, "attention.attention.csv");
    assert_same_file(screen, own, "attention.vectors.csv");
    table_free(tables[0]);
    table_free(tables[1]);
    app_free(a);
    folder_free(screen);
    folder_free(own);
}

static void everything_is_written_at_once(void **unused) {
    (void)unused;
    char *screen = folder_new();
    App *a = screen_new(NULL);
    run_line(a, "export-all %s/new", screen); /* the folder is made */
    char folder[300];
    snprintf(folder, sizeof folder, "%s/new", screen);
    assert_int_equal(folder_files(folder, true), 9); /* 2 of train, 2 of attention, 5 of sample, none of lab */
    rmdir(folder);
    app_free(a);
    folder_free(screen);
}

static void failures_are_sentences_and_leave_nothing(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    Status s = app_command(a, "export /proc/no/such");
    assert_false(status_is_ok(&s));
    assert_non_null(strstr(s.text, "/proc/no"));
    assert_ok(app_command(a, "pane lab"));
    s = app_command(a, "export");
    assert_string_equal(s.text, "laboratory shows nothing yet that could be written");
    Snapshot *empty = fixture_empty();
    app_show(a, empty);
    snapshot_unref(empty);
    s = app_command(a, "export-all");
    assert_string_equal(s.text, "no pane shows anything yet that could be written");
    app_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_experiment_is_written_as_headless),
        cmocka_unit_test(attention_is_written_from_the_fields_shown),
        cmocka_unit_test(everything_is_written_at_once),
        cmocka_unit_test(failures_are_sentences_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
