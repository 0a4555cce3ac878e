/* mapping: a file as memory, and the end that comes when it is cut while it is open. */
#include "expect.h"

#include "child.h"
#include "mapping.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_memory),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_file_that_is_cut_ends_in_a_sentence),
        cmocka_unit_test(other_faults_are_as_before),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
