#include "expect.h"

#include "file.h"
#include "mem.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker sends these calls here, so that each can be made to fail (see CMakeLists.txt). */
typedef enum { CALL_NONE, CALL_OPEN_STREAM, CALL_FLUSH, CALL_SYNC, CALL_CLOSE, CALL_RENAME, CALL_COUNT } Call;

static Call failing_call;
static int calls_to_go; /* this many calls of that kind succeed */

static bool must_fail(Call call) {
    if (call != failing_call || calls_to_go-- > 0) return false;
    errno = ENOSPC;
    return true;
}

FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode) {
    return must_fail(CALL_OPEN_STREAM) ? NULL : __real_fdopen(fd, mode);
}

int __real_fflush(FILE *f);
int __wrap_fflush(FILE *f);
int __wrap_fflush(FILE *f) {
    int result = __real_fflush(f);
    return f != stdout && must_fail(CALL_FLUSH) ? EOF : result;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    return must_fail(CALL_SYNC) ? -1 : __real_fsync(fd);
}

int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f) {
    int result = __real_fclose(f);
    return must_fail(CALL_CLOSE) ? EOF : result;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    return must_fail(CALL_RENAME) ? -1 : __real_rename(from, to);
}

/* Each test has an empty folder and works inside it. */
static char folder[] = "/tmp/lantern-file-XXXXXX";
static int home = -1;

static int enter_folder(void **state) {
    (void)state;
    home = open(".", O_RDONLY | O_DIRECTORY);
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return home >= 0 && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static void remove_all(const char *path) {
    chmod(path, 0700);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (unlink(name) != 0) remove_all(name);
    }
    if (d) closedir(d);
    rmdir(path);
}

static int leave_folder(void **state) {
    (void)state;
    failing_call = CALL_NONE;
    int result = fchdir(home);
    close(home);
    remove_all(folder);
    return result;
}

static int entries(const char *path) {
    int n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void assert_content(const char *path, const char *text) {
    Str s;
    str_init(&s);
    assert_ok(file_read(path, 0, &s));
    assert_string_equal(s.s, text);
    str_done(&s);
}

static Status write_text(const char *path, const char *text) {
    FileWriter *w;
    STATUS_TRY(file_begin(path, &w));
    fputs(text, file_stream(w));
    return file_commit(w);
}

/* Reading. */

static void a_file_is_read_whole(void **state) {
    (void)state;
    FILE *f = fopen("x", "wb");
    for (int i = 0; i < 300000; i++) fputc(i * 31 / 7 & 0xff, f);
    fclose(f);
    Str s;
    str_init(&s);
    str_add(&s, "before");
    assert_ok(file_read("x", 0, &s));
    assert_int_equal(s.len, 300006);
    assert_memory_equal(s.s, "before", 6);
    for (int i = 0; i < 300000; i++) assert_int_equal((unsigned char)s.s[i + 6], i * 31 / 7 & 0xff);
    str_done(&s);
    put("empty", "");
    assert_content("empty", "");
}

static void names_and_folders(void **state) {
    (void)state;
    assert_string_equal(file_base_name("a/b.txt"), "b.txt");
    assert_string_equal(file_base_name("b.txt"), "b.txt");
    assert_string_equal(file_base_name("a/b/"), "a/b/");
    assert_true(file_is_folder("/") && file_is_folder("."));
    assert_false(file_is_folder("/nowhere/at/all") || file_is_folder("/dev/null"));
}

static void a_file_without_a_known_size_is_read(void **state) {
    (void)state;
    Str s;
    str_init(&s);
    if (access("/proc/self/status", R_OK) != 0) skip();
    assert_ok(file_read("/proc/self/status", 0, &s));
    assert_non_null(strstr(s.s, "VmPeak"));
    str_done(&s);
}

static void what_cannot_be_read_is_refused(void **state) {
    (void)state;
    Str s;
    str_init(&s);
    str_add(&s, "kept");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_status(file_read("none", 0, &s), STATUS_USAGE, "cannot open 'none': No such file or directory");
    assert_status(file_read("", 0, &s), STATUS_USAGE, "cannot open '': No such file or directory");
    assert_status(file_read(".", 0, &s), STATUS_USAGE, "'.' is a directory, not a file");
    assert_status(file_read("fifo", 0, &s), STATUS_USAGE, "'fifo' is not a regular file");
    assert_status(file_read("/dev/zero", 0, &s), STATUS_USAGE, "'/dev/zero' is not a regular file");
    assert_string_equal(s.s, "kept");
    str_done(&s);
}

static void a_file_that_is_too_long_is_refused(void **state) {
    (void)state;
    Str s;
    str_init(&s);
    put("ten", "0123456789");
    assert_status(file_read("ten", 9, &s), STATUS_USAGE, "'ten' has 10 bytes, more than the 9 allowed");
    assert_ok(file_read("ten", 10, &s));
    assert_int_equal(truncate("ten", (off_t)1 << 40), 0); /* a hole: no disk is used */
    assert_int_equal(file_read("ten", 0, &s).code, STATUS_USAGE);
    assert_string_equal(s.s, "0123456789");
    mem_set_limit(1000000);
    assert_int_equal(truncate("ten", 2000000), 0);
    assert_status(file_read("ten", 0, &s), STATUS_FAILED, "not enough memory to read 'ten'");
    mem_set_limit(0);
    str_done(&s);
}

static void minus_is_standard_input(void **state) {
    (void)state;
    int saved = dup(STDIN_FILENO), pipes[2];
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[0], STDIN_FILENO);
    assert_int_equal(write(pipes[1], "from a pipe", 11), 11);
    close(pipes[1]);
    close(pipes[0]);
    Str s;
    str_init(&s);
    Status done = file_read("-", 0, &s);
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_ok(done);
    assert_string_equal(s.s, "from a pipe");
    str_done(&s);
}

/* Writing. */

static void a_file_is_written_and_replaced(void **state) {
    (void)state;
    assert_ok(write_text("x", "one"));
    assert_content("x", "one");
    assert_ok(write_text("x", "two"));
    assert_content("x", "two");
    assert_ok(write_text(".//x", ""));
    assert_content("x", "");
    assert_int_equal(entries("."), 1);
}

static void the_old_file_stays_until_the_commit(void **state) {
    (void)state;
    put("x", "old");
    FileWriter *w;
    assert_ok(file_begin("x", &w));
    fputs("new", file_stream(w));
    fflush(file_stream(w));
    assert_content("x", "old");
    file_discard(w);
    assert_content("x", "old");
    assert_ok(file_begin("y", &w));
    file_discard(w);
    file_discard(NULL);
    assert_int_equal(entries("."), 1);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void modes_come_from_the_umask_or_the_old_file(void **state) {
    (void)state;
    mode_t saved = umask(027);
    assert_ok(write_text("new", "x"));
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(chmod("new", 0604), 0);
    assert_ok(write_text("new", "y"));
    assert_int_equal(mode_of("new"), 0604);
    umask(saved);
}

static void links_are_followed(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(mkdir("a", 0700) | mkdir("b", 0700), 0);
    put("b/target", "old");
    assert_int_equal(symlink("../b/target", "a/second"), 0);
    assert_int_equal(symlink("a/second", "first"), 0);
    assert_ok(write_text("first", "new"));
    assert_content("b/target", "new");
    assert_int_equal(lstat("first", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("a/second", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(entries("a"), 1);
    assert_int_equal(entries("b"), 1);
    assert_int_equal(symlink("b/made", "dangling"), 0);
    assert_ok(write_text("dangling", "made"));
    assert_content("b/made", "made");
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_status(write_text("loop", "x"), STATUS_USAGE,
                  "cannot open 'loop' for writing: Too many levels of symbolic links");
}

static void what_cannot_be_written_to_is_refused(void **state) {
    (void)state;
    FileWriter *w = (FileWriter *)&state;
    assert_status(file_begin("none/x", &w), STATUS_USAGE,
                  "cannot open 'none/x' for writing: No such file or directory");
    assert_null(w);
    assert_status(file_begin("", &w), STATUS_USAGE, "cannot open '' for writing: No such file or directory");
    assert_status(file_begin(".", &w), STATUS_USAGE, "cannot open '.' for writing: Is a directory");
    put("x", "old");
    assert_status(file_begin("x/y", &w), STATUS_USAGE, "cannot open 'x/y' for writing: Not a directory");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(file_begin("fifo", &w).code, STATUS_USAGE); /* nobody reads it: must not wait */
    assert_int_equal(entries("."), 2);
}

static void what_may_not_be_written_to_is_refused(void **state) {
    (void)state;
    if (geteuid() == 0) skip(); /* root may do all */
    put("x", "old");
    assert_int_equal(chmod("x", 0400), 0);
    assert_status(write_text("x", "new"), STATUS_USAGE, "cannot open 'x' for writing: Permission denied");
    assert_int_equal(mkdir("d", 0500), 0);
    assert_status(write_text("d/x", "new"), STATUS_USAGE, "cannot open 'd/x' for writing: Permission denied");
    assert_content("x", "old");
}

static void devices_are_written_directly(void **state) {
    (void)state;
    struct stat st;
    assert_ok(write_text("/dev/null", "x"));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) != 0) return;
    assert_status(write_text("/dev/full", "x"), STATUS_FAILED, "cannot write '/dev/full': No space left on device");
    FileWriter *w;
    assert_ok(file_begin("/dev/full", &w));
    for (int i = 0; i < 100000; i++) fputs("0123456789", file_stream(w)); /* fails long before the commit */
    Status s = file_commit(w);
    assert_int_equal(s.code, STATUS_FAILED);
    static const char block[1 << 20];
    assert_ok(file_begin("/dev/full", &w));
    fwrite(block, 1, sizeof block, file_stream(w)); /* goes past the buffer: only ferror remembers */
    assert_int_equal(fflush(file_stream(w)), 0);
    assert_status(file_commit(w), STATUS_FAILED, "cannot write '/dev/full': a write failed; the disk may be full");
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void minus_is_standard_output(void **state) {
    (void)state;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), to = open("out", O_CREAT | O_WRONLY, 0600);
    dup2(to, STDOUT_FILENO);
    close(to);
    fputs("before ", stdout);
    Status first = write_text("-", "one ");
    Status second = write_text("-", "two");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_ok(first);
    assert_ok(second);
    assert_content("out", "before one two");
}

static void every_call_may_fail_and_the_old_file_stays(void **state) {
    (void)state;
    put("x", "old");
    for (Call call = CALL_OPEN_STREAM; call < CALL_COUNT; call++) {
        failing_call = call;
        calls_to_go = 0;
        Status s = write_text("x", "new");
        assert_int_equal(calls_to_go, -1);
        failing_call = CALL_NONE;
        const char *expected = call == CALL_OPEN_STREAM ? "cannot open 'x' for writing: No space left on device"
                                                        : "cannot write 'x': No space left on device";
        assert_string_equal(s.text, expected);
        assert_int_equal(s.code, call == CALL_OPEN_STREAM ? STATUS_USAGE : STATUS_FAILED);
        assert_content("x", "old");
        assert_int_equal(entries("."), 1);
    }
}

static void a_folder_that_cannot_be_synced_is_told(void **state) {
    (void)state;
    put("x", "old");
    failing_call = CALL_SYNC;
    calls_to_go = 1;
    Status s = write_text("x", "new");
    failing_call = CALL_NONE;
    assert_int_equal(s.code, STATUS_FAILED);
    assert_non_null(strstr(s.text, "is written, but its folder cannot be synced"));
    assert_content("x", "new");
    assert_int_equal(entries("."), 1);
}

/* A real full disk as far as the program can tell: files may not grow beyond 100 kB. */
static void write_beyond_the_limit(size_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {100000, 100000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(10);
    FileWriter *w;
    Status s = file_begin("x", &w);
    if (!status_is_ok(&s)) _exit(11);
    for (size_t i = 0; i < bytes; i++) fputc('x', file_stream(w));
    s = file_commit(w);
    _exit(s.code == STATUS_FAILED && entries(".") == 1 ? 0 : 12);
}

static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    static const size_t bytes[] = {100001, 101000, 1000000};
    put("x", "old");
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        int end;
        fflush(stdout);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_beyond_the_limit(bytes[i]);
        assert_int_equal(waitpid(child, &end, 0), child);
        assert_true(WIFEXITED(end));
        assert_int_equal(WEXITSTATUS(end), 0);
        assert_content("x", "old");
    }
}

static void two_writers_do_not_meet(void **state) {
    (void)state;
    FileWriter *a, *b;
    assert_ok(file_begin("x", &a));
    assert_ok(file_begin("x", &b));
    fputs("a", file_stream(a));
    fputs("b", file_stream(b));
    assert_ok(file_commit(b));
    assert_content("x", "b");
    assert_ok(file_commit(a));
    assert_content("x", "a");
    assert_int_equal(entries("."), 1);
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_is_read_whole),
        FILE_TEST(names_and_folders),
        FILE_TEST(a_file_without_a_known_size_is_read),
        FILE_TEST(what_cannot_be_read_is_refused),
        FILE_TEST(a_file_that_is_too_long_is_refused),
        FILE_TEST(minus_is_standard_input),
        FILE_TEST(a_file_is_written_and_replaced),
        FILE_TEST(the_old_file_stays_until_the_commit),
        FILE_TEST(modes_come_from_the_umask_or_the_old_file),
        FILE_TEST(links_are_followed),
        FILE_TEST(what_cannot_be_written_to_is_refused),
        FILE_TEST(what_may_not_be_written_to_is_refused),
        FILE_TEST(devices_are_written_directly),
        FILE_TEST(minus_is_standard_output),
        FILE_TEST(every_call_may_fail_and_the_old_file_stays),
        FILE_TEST(a_folder_that_cannot_be_synced_is_told),
        FILE_TEST(a_full_disk_leaves_the_old_file),
        FILE_TEST(two_writers_do_not_meet),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
