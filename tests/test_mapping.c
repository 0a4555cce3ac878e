/* mapping: a file as memory, and the end that comes when it is cut while it is open. */
#include "expect.h"

#include "child.h"
#include "mapping.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BYTES = 3 << 16 };

static char path[] = "/tmp/lantern-mapping-XXXXXX";

/* A file of BYTES bytes, open for writing. */
static int make_file(void) {
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static char block[BYTES];
    memset(block, 'x', sizeof block);
    assert_int_equal(write(fd, block, sizeof block), BYTES);
    return fd;
}

static void a_file_is_memory(void **state) {
    (void)state;
    Mapping *m;
    int fd = make_file();
    assert_ok(mapping_open(path, &m));
    assert_int_equal(mapping_bytes(m), BYTES);
    assert_true(mapping_data(m)[BYTES - 1] == 'x');
    mapping_forget(m);
    assert_true(mapping_data(m)[0] == 'x');
    mapping_close(m);
    mapping_close(NULL);
    close(fd);
    unlink(path);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    Mapping *m;
    assert_status(mapping_open("/tmp", &m), STATUS_USAGE, "'/tmp' is a directory, not a file");
    assert_status(mapping_open("/dev/null", &m), STATUS_USAGE, "'/dev/null' is not a regular file");
    Status s = mapping_open("/tmp/lantern-is-not-there", &m);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_null(m);
}

typedef struct {
    int fd;    /* of the file at PATH */
    bool ours; /* through a mapping of ours */
} Reader;

/* Reads what is gone. */
static void read_cut_file(const void *data) {
    const Reader *r = data;
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
    Mapping *m;
    Status s = mapping_open(path, &m);
    const volatile unsigned char *theirs = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, r->fd, 0);
    if (s.code != STATUS_OK || theirs == MAP_FAILED) _exit(9);
    bug_set_hook(child_say_hook);
    if (ftruncate(r->fd, 0) != 0) _exit(9);
    const volatile unsigned char *x = r->ours ? mapping_data(m) : theirs;
    _exit(x[BYTES / 2] == 0 ? 7 : 8);
}

/* How a child ends that reads so, and what it says. */
static int end_of_reader(bool ours, char said[300]) {
    Reader r = {make_file(), ours};
    int status = child_end(read_cut_file, &r, said, 300);
    close(r.fd);
    unlink(path);
    return status;
}

static void a_file_that_is_cut_ends_in_a_sentence(void **state) {
    (void)state;
    char said[300], want[300];
    int status = end_of_reader(true, said);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    (void)snprintf(want, sizeof want, "hook lantern: '%s' was cut short while it was open\n", path);
    assert_string_equal(said, want);
}

/* The signal kills, as it would without mappings of ours; a sanitizer has an end of its own. */
static void other_faults_are_as_before(void **state) {
    (void)state;
    char said[300];
    int status = end_of_reader(false, said);
    if (EXPECT_SANITIZER) {
        assert_true(WIFSIGNALED(status) || strstr(said, "Sanitizer"));
    } else {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGBUS);
        assert_string_equal(said, "");
    }
    assert_null(strstr(said, "cut short"));
}

static void exit_five(int number) {
    (void)number;
    _exit(5);
}

/* What the child does that is not to come back. */
static int end_of(void (*child_does)(int fd)) {
    int fd = make_file(), status;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        child_does(fd);
        _exit(9);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    close(fd);
    unlink(path);
    return status;
}

enum { MANY = 300 };

static void cut_and_read(int fd, const Mapping *m) {
    if (ftruncate(fd, 0) != 0) _exit(9);
    const volatile unsigned char *x = mapping_data(m);
    _exit(x[BYTES / 2] == 0 ? 7 : 8);
}

static void read_one_of_many(int fd) {
    Mapping *m[MANY];
    for (int i = 0; i < MANY; i++) {
        Status s = mapping_open(path, &m[i]);
        if (s.code != STATUS_OK) _exit(9);
    }
    for (int i = 0; i < MANY; i++)
        if (i != MANY / 2 && i % 3) mapping_close(m[i]);
    cut_and_read(fd, m[MANY / 2]);
}

static void however_many_files_are_open(void **state) {
    (void)state;
    int status = end_of(read_one_of_many);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void fault_elsewhere(int fd) {
    mapping_set_fault(exit_five);
    const volatile unsigned char *theirs = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    if (theirs == MAP_FAILED || ftruncate(fd, 0) != 0) _exit(9);
    _exit(theirs[0] == 0 ? 7 : 8);
}

static void fault_after_that(int fd) {
    Mapping *m;
    mapping_set_fault(exit_five);
    Status s = mapping_open(path, &m);
    if (s.code != STATUS_OK) _exit(9);
    mapping_set_fault(NULL);
    cut_and_read(fd, m);
}

static void other_faults_have_a_handler_for_a_while(void **state) {
    (void)state;
    int status = end_of(fault_elsewhere);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    status = end_of(fault_after_that);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

/* Threads that open and close at once, the first of them also putting the handler there. */
static void *open_and_close(void *user) {
    (void)user;
    for (int i = 0; i < 200; i++) {
        Mapping *m;
        Status s = mapping_open(path, &m);
        if (s.code != STATUS_OK) return (void *)path;
        mapping_close(m);
    }
    return NULL;
}

static void open_from_threads(int fd) {
    pthread_t thread[4];
    void *failed[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, open_and_close, NULL) != 0) _exit(9);
    for (int i = 0; i < 4; i++)
        if (pthread_join(thread[i], &failed[i]) != 0 || failed[i]) _exit(9);
    Mapping *m;
    Status s = mapping_open(path, &m);
    if (s.code != STATUS_OK) _exit(9);
    cut_and_read(fd, m);
}

static void threads_may_open_files_at_once(void **state) {
    (void)state;
    int status = end_of(open_from_threads);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_memory),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_file_that_is_cut_ends_in_a_sentence),
        cmocka_unit_test(other_faults_are_as_before),
        cmocka_unit_test(however_many_files_are_open),
        cmocka_unit_test(other_faults_have_a_handler_for_a_while),
        cmocka_unit_test(threads_may_open_files_at_once),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
