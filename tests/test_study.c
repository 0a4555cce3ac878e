/* study: an experiment of the test's own that waits for the test: what others see meanwhile, cancelling, the end; and
 * the `about` table. */
#include "about.h"
#include "clock.h"
#include "csvfile.h"
#include "expect.h"
#include "experiment.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_study.h"

/* The experiment: adds a row, says so, waits to be let on. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int rows_made, rows_allowed;

static const Option own_options[] = {
    {"rows", OPTION_INT, "3", 1, 100, NULL, "", "rows to make"},
    {"note", OPTION_TEXT, NULL, 0, 0, NULL, "", "a text"},
    {0},
};
static const Column own_columns[] = {{"row", COLUMN_INT, ""}, {0}};

static Status check_rows(const Options *o) {
    return options_int(o, "rows") == 13 ? status_usage("13 is not allowed") : status_ok();
}

static Status make_rows(Study *s) {
    long long n = options_int(study_options(s), "rows");
    for (int i = 0; i < n; i++) {
        table_add_int(study_table(s, "rows"), i);
        bool go_on = study_progress(s, (double)(i + 1) / (double)n, "row %d", i);
        pthread_mutex_lock(&gate);
        rows_made = i + 1;
        pthread_cond_broadcast(&moved);
        while (rows_allowed <= i + 1) pthread_cond_wait(&moved, &gate);
        pthread_mutex_unlock(&gate);
        if (!go_on) return status_cancelled();
    }
    study_about(s, "rule", "%s", "as many as asked");
    study_warn(s, "a warning");
    return status_ok();
}

static const Experiment own = {
    .entry = {.id = "test.own",
              .section = "-",
              .title = "rows",
              .see = "rows",
              .options = (const Option *const[]){own_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"rows", own_columns}, {0}}},
    .check = check_rows,
    .run = make_rows,
};

static Study *own_study(const char *pair) {
    Options *o = catalog_options(&own.entry);
    Status s = pair ? options_set_pair(o, pair) : status_ok();
    assert_int_equal(s.code, STATUS_OK);
    return study_new(&own.entry, o);
}

static void allow(int rows) {
    pthread_mutex_lock(&gate);
    rows_allowed = rows;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&gate);
}

static void wait_for(int rows) {
    pthread_mutex_lock(&gate);
    while (rows_made < rows) pthread_cond_wait(&moved, &gate);
    pthread_mutex_unlock(&gate);
}

static int reset(void **state) {
    (void)state;
    rows_made = rows_allowed = 0;
    clock_freeze(1000);
    return 0;
}

static int thaw(void **state) {
    (void)state;
    clock_freeze(-1);
    return 0;
}

static long rows_seen(const Study *s) {
    Table *t = study_look(s, 0);
    long rows = table_rows(t);
    table_free(t);
    return rows;
}

static void runs_to_its_end(void **state) {
    (void)state;
    allow(100);
    Study *s = own_study(NULL);
    Status status = study_run(s);
    assert_int_equal(status.code, STATUS_OK);
    StudyState now = study_state(s);
    assert_true(now.finished && !now.running);
    assert_int_equal(now.status.code, STATUS_OK);
    assert_string_equal(now.warning, "a warning");
    assert_int_equal(rows_seen(s), 3);
    assert_true(study_wait(s, 0));
    study_free(s);
}

static void others_see_the_rows_so_far(void **state) {
    (void)state;
    Job *j = job_start(own_study("rows=4"));
    wait_for(1);
    assert_int_equal(rows_seen(job_study(j)), 1); /* the first at once */
    allow(2);
    wait_for(2);
    assert_int_equal(rows_seen(job_study(j)), 1); /* within 50 ms nothing is copied again */
    clock_freeze(1001);
    allow(3);
    wait_for(3);
    assert_int_equal(rows_seen(job_study(j)), 3);
    StudyState now = study_state(job_study(j));
    assert_true(now.running && !now.finished);
    assert_string_equal(now.what, "row 2");
    assert_near(now.done, 3.0 / 4, 1e-12);
    assert_near(now.seconds_left, 1.0 / 3, 1e-12);
    assert_false(study_wait(job_study(j), 0));
    allow(100);
    assert_true(study_wait(job_study(j), 60));
    assert_int_equal(rows_seen(job_study(j)), 4);
    job_free(j);
}

static void cancelling_keeps_the_rows(void **state) {
    (void)state;
    Job *j = job_start(own_study("rows=50"));
    wait_for(1);
    job_cancel(j);
    allow(100);
    assert_true(study_wait(job_study(j), 60));
    StudyState now = study_state(job_study(j));
    assert_int_equal(now.status.code, STATUS_CANCELLED);
    long rows = rows_seen(job_study(j));
    assert_true(rows >= 1 && rows <= 3);
    job_free(j);
}

static void a_job_may_be_freed_while_it_runs(void **state) {
    (void)state;
    Job *j = job_start(own_study("rows=100"));
    wait_for(1);
    allow(1000);
    job_free(j);
}

/* A process that gets no more memory gets no more threads, unless it has had some: so this comes first. */
static int run_without_threads(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1) return 77;
    fclose(f);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (2 << 20);
    if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0) return 77;
    allow(100);
    Job *j = job_start(own_study("rows=4"));
    bool good = study_wait(job_study(j), 0) && study_state(job_study(j)).status.code == STATUS_OK &&
                rows_seen(job_study(j)) == 4;
    job_free(j);
    return good ? 0 : 1;
}

static void without_room_for_a_thread_it_runs_at_once(void **state) {
    (void)state;
    int status;
    if (EXPECT_SANITIZER || access("/proc/self/statm", R_OK) != 0) skip();
    pid_t child = fork();
    if (child == 0) _exit(run_without_threads());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void check_comes_first(void **state) {
    (void)state;
    Study *s = own_study("rows=13");
    Status status = study_run(s);
    assert_int_equal(status.code, STATUS_USAGE);
    assert_int_equal(rows_made, 0);
    assert_int_equal(study_state(s).status.code, STATUS_USAGE);
    study_free(s);
}

static const char *about_value(const Table *about, const char *key) {
    for (long row = 0; row < table_rows(about); row++)
        if (strcmp(table_text(about, row, 0), key) == 0) return table_text(about, row, 1);
    fail_msg("about has no %s", key);
    return "";
}

static void about_says_everything(void **state) {
    (void)state;
    allow(100);
    Study *s = own_study("note=it's so");
    Status status = study_run(s);
    assert_int_equal(status.code, STATUS_OK);
    Table *about = study_result(s, "about");
    assert_string_equal(about_value(about, "command"), "lantern run test.own 'note=it'\\''s so' seed=1");
    assert_string_equal(about_value(about, "rows"), "3");
    assert_string_equal(about_value(about, "note"), "it's so");
    assert_string_equal(about_value(about, "seed"), "1");
    assert_string_equal(about_value(about, "rule"), "as many as asked");
    assert_true(*about_value(about, "version"));
    double threads;
    assert_true(str_to_double(about_value(about, "threads"), &threads) && threads >= 1);
    table_free(about);
    study_free(s);
}

static void expect_word(const char *text, const char *word) {
    Str out;
    str_init(&out);
    about_shell_word(&out, text);
    assert_string_equal(out.s, word);
    str_done(&out);
}

static void words_are_safe_for_a_shell(void **state) {
    (void)state;
    expect_word("tau=0.5", "tau=0.5");
    expect_word("", "''");
    expect_word("the dog", "'the dog'");
    expect_word("$(rm x)", "'$(rm x)'");
    expect_word("a'b", "'a'\\''b'");
    expect_word("猫", "'猫'");
    expect_word("a\nb", "$'a\\x0ab'");
    expect_word("\xff'\\", "$'\\xff\\'\\\\'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_room_for_a_thread_it_runs_at_once, reset, thaw),
        cmocka_unit_test_setup_teardown(runs_to_its_end, reset, thaw),
        cmocka_unit_test_setup_teardown(others_see_the_rows_so_far, reset, thaw),
        cmocka_unit_test_setup_teardown(cancelling_keeps_the_rows, reset, thaw),
        cmocka_unit_test_setup_teardown(a_job_may_be_freed_while_it_runs, reset, thaw),
        cmocka_unit_test_setup_teardown(check_comes_first, reset, thaw),
        cmocka_unit_test_setup_teardown(about_says_everything, reset, thaw),
        cmocka_unit_test(words_are_safe_for_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
