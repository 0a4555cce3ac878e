/* What the screen writes is what the laboratory writes headless, byte for byte; the screen goes on meanwhile, and
 * failures are sentences that leave everything as it was. */
#include "expect.h"

#include "clock.h"
#include "csvfile.h"
#include "file.h"
#include "mem.h"
#include "observe.h"
#include "pane.h"
#include "run_study.h"
#include "screen.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
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

static void begin_line(App *a, const char *format, const char *folder) {
    char line[700];
    snprintf(line, sizeof line, format, folder);
    assert_ok(app_command(a, line));
}

/* To the end of the writing, which must go well. */
static void run_line(App *a, const char *format, const char *folder) {
    begin_line(a, format, folder);
    assert_non_null(strstr(app_message(a), "writing to"));
    assert_ok(app_end_writing(a));
}

/* Its end must be this sentence, also on the screen. */
static void assert_refused(App *a, const char *format, const char *folder, int code, const char *sentence) {
    begin_line(a, format, folder);
    Status s = app_end_writing(a);
    assert_int_equal(s.code, code);
    if (!strstr(s.text, sentence)) fail_msg("%s", s.text);
    assert_string_equal(app_message(a), s.text);
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
    assert_non_null(strstr(app_message(a), "wrote 4 files to "));
    assert_null(strstr(app_message(a), "replaced"));
    Str path;
    str_init(&path);
    str_addf(&path, "%s/attention.vectors.csv", screen);
    assert_int_equal(unlink(path.s), 0);
    str_done(&path);
    run_line(a, "export %s", screen);
    assert_non_null(strstr(app_message(a), " (3 replaced): "));
    table_free(tables[0]);
    table_free(tables[1]);
    app_free(a);
    folder_free(screen);
    folder_free(own);
}

static int tables_of_all_panes(const Snapshot *s) {
    int n = 0;
    for (int i = 0; i < pane_count(); i++) {
        const PaneType *p = pane_at(i);
        Table *tables[PANE_TABLES];
        void *state = mem_zero(1, p->state_size + 1);
        if (p->init) p->init(state);
        Cursor cursor = {.step = -1};
        PaneContext x = {.snapshot = s, .cursor = &cursor, .state = state};
        int here = p->tables ? p->tables(&x, tables) : 0;
        for (int k = 0; k < here; k++) table_free(tables[k]);
        if (p->done) p->done(state);
        mem_free(state);
        n += here;
    }
    return n;
}

static void everything_is_written_at_once(void **unused) {
    (void)unused;
    char *screen = folder_new();
    App *a = screen_new(NULL);
    run_line(a, "export-all %s/new", screen); /* the folder is made */
    char folder[300];
    snprintf(folder, sizeof folder, "%s/new", screen);
    assert_int_equal(folder_files(folder, true), tables_of_all_panes(app_snapshot(a)) + 1); /* and about */
    rmdir(folder);
    app_free(a);
    folder_free(screen);
}

static void failures_are_sentences_and_leave_nothing(void **unused) {
    (void)unused;
    App *a = screen_new(NULL);
    assert_refused(a, "export %s", "/proc/no/such", STATUS_USAGE, "/proc/no");
    assert_refused(a, "dump %s", "/proc/no/such", STATUS_USAGE, "/proc/no");
    assert_ok(app_command(a, "pane lab"));
    Status s = app_command(a, "export");
    assert_string_equal(s.text, "laboratory shows nothing yet that could be written");
    Snapshot *empty = fixture_empty();
    app_show(a, empty);
    snapshot_unref(empty);
    char *folder = folder_new();
    assert_refused(a, "export-all %s", folder, STATUS_FAILED, "no pane shows anything yet that could be written");
    assert_int_equal(folder_files(folder, false), 0);
    app_free(a);
    folder_free(folder);
}

/* ---- beside the screen ---- */

/* A table that is written to a pipe nobody reads from does not end; the screen does not wait for it. */
static void the_screen_goes_on_while_files_are_written(void **unused) {
    (void)unused;
    char *folder = folder_new(), pipe_name[300], bytes[4096];
    FixtureSpec spec = fixture_spec();
    spec.tokens = spec.position = 40; /* more vectors than a pipe takes */
    spec.head_dim = 64;
    App *a = screen_new(&spec);
    snprintf(pipe_name, sizeof pipe_name, "%s/attention.vectors.csv", folder);
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    int reader = open(pipe_name, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(app_command(a, "pane attention"));
    begin_line(a, "export %s", folder);
    struct pollfd some = {.fd = reader, .events = POLLIN};
    assert_int_equal(poll(&some, 1, -1), 1); /* it is at work */
    assert_ok(app_command(a, "cursor right"));
    assert_ok(app_command(a, "cursor head=+1")); /* not in the file: that holds what was shown */
    app_tick(a);
    screen_expect(a, "writing to ");
    Status s = app_command(a, "export elsewhere");
    assert_string_equal(s.text, "the files asked for before are still being written; try again");
    long total = 0;
    for (ssize_t n; (n = read(reader, bytes, sizeof bytes)) != 0; total += n > 0 ? n : 0) poll(&some, 1, -1);
    close(reader);
    assert_true(total > 65536);
    assert_ok(app_end_writing(a));
    assert_non_null(strstr(app_message(a), "wrote 4 files"));
    Table *shown = observe_attention_table(app_snapshot(a), 0, 0);
    Str path;
    CsvText text;
    str_init(&path);
    str_addf(&path, "%s/attention.attention.csv", folder);
    assert_ok(csvfile_read(path.s, &text));
    assert_int_equal(text.rows, table_rows(shown) + 1);
    assert_string_equal(text.cell[1][1], "0"); /* the head that was under the cursor */
    csv_text_done(&text);
    str_done(&path);
    table_free(shown);
    app_free(a);
    folder_free(folder);
}

static void the_outcome_arrives_by_itself(void **unused) {
    (void)unused;
    char *folder = folder_new();
    App *a = screen_new(NULL);
    begin_line(a, "export %s", folder);
    for (double until = clock_now() + 60; !strstr(app_message(a), "wrote") && clock_now() < until;) app_tick(a);
    screen_expect(a, "wrote 3 files");
    begin_line(a, "dump %s/screen", folder);
    app_free(a); /* waits */
    assert_int_equal(folder_files(folder, false), 4);
    folder_free(folder);
}

/* A limit on the size of files is met where a full disk would be. */
static void a_full_disk_loses_nothing(void **unused) {
    (void)unused;
    static const char old[] = "what was here before\n";
    char *folder = folder_new(), path[300];
    App *a = screen_new(NULL);
    static const char *const names[] = {"train.curve.csv", "attention.attention.csv", "screen.txt"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(old, f);
        assert_int_equal(fclose(f), 0);
    }
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 600; /* some tables fit, some do not */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    Str screen;
    str_init(&screen);
    screen_text(a, 80, 24, &screen); /* a dump is as large as the last drawing */
    str_done(&screen);
    assert_refused(a, "export-all %s", folder, STATUS_FAILED, "cannot write '/tmp/lantern-test-");
    assert_refused(a, "dump %s/screen.txt", folder, STATUS_FAILED, "cannot write '");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(folder_files(folder, false), 3);
    for (int i = 0; i < 3; i++) {
        Str text;
        str_init(&text);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_ok(file_read(path, 0, &text));
        assert_string_equal(text.s, old);
        str_done(&text);
    }
    app_free(a);
    folder_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_experiment_is_written_as_headless),
        cmocka_unit_test(attention_is_written_from_the_fields_shown),
        cmocka_unit_test(everything_is_written_at_once),
        cmocka_unit_test(failures_are_sentences_and_leave_nothing),
        cmocka_unit_test(the_screen_goes_on_while_files_are_written),
        cmocka_unit_test(the_outcome_arrives_by_itself),
        cmocka_unit_test(a_full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
