#include "mapping.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct Mapping {
    void *data;
    size_t bytes;
    bool own;       /* data is not a file's */
    char *sentence; /* for its end; NULL: it is nobody's file */
};

/* --- the end of who reads what is no longer there --- */

enum { WATCHED = 64, FAILED = 1 };

static _Atomic(const Mapping *) watched[WATCHED]; /* handlers have no other way to know */
static struct sigaction before;

/* Async-signal-safe calls only. */
static void end_with(const char *sentence) {
    bug_run_hook();
    ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written;
    _exit(FAILED);
}

static void bus_handler(int number, siginfo_t *info, void *context) {
    (void)context;
    for (int i = 0; info->si_code > 0 && i < WATCHED; i++) {
        const Mapping *m = atomic_load(&watched[i]);
        const char *at = info->si_addr;
        if (m && at >= (const char *)m->data && at < (const char *)m->data + m->bytes) end_with(m->sentence);
    }
    sigaction(number, &before, NULL); /* a fault comes again, to whoever had it; what was sent does not */
    if (info->si_code <= 0) raise(number);
}

void mapping_watch(void) {
    struct sigaction action, now;
    if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == bus_handler) return;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = bus_handler;
    action.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

static void watch(Mapping *m, const char *path) {
    Str s;
    str_init(&s);
    str_add(&s, "lantern: ");
    str_addf(&s, _("'%s' was cut short while it was open"), path);
    str_add_char(&s, '\n');
    m->sentence = str_take(&s);
    mapping_watch();
    for (int i = 0; i < WATCHED; i++) {
        const Mapping *none = NULL;
        if (atomic_compare_exchange_strong(&watched[i], &none, m)) return;
    }
}

static void forget_it(const Mapping *m) {
    for (int i = 0; i < WATCHED; i++) {
        const Mapping *same = m;
        if (atomic_compare_exchange_strong(&watched[i], &same, NULL)) return;
    }
}

/* --- files --- */

static Status check(int fd, const char *path, size_t *bytes) {
    struct stat st;
    if (fstat(fd, &st) != 0) return status_usage(_("cannot open '%s': %s"), path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return status_usage(_("'%s' is a directory, not a file"), path);
    if (!S_ISREG(st.st_mode)) return status_usage(_("'%s' is not a regular file"), path);
    if (st.st_size == 0) return status_usage(_("'%s' is empty"), path);
    if ((uintmax_t)st.st_size > PTRDIFF_MAX) return status_usage(_("'%s' is too long to be mapped"), path);
    *bytes = (size_t)st.st_size;
    return status_ok();
}

static Status map(int fd, const char *path, Mapping **out) {
    size_t bytes = 0;
    STATUS_TRY(check(fd, path, &bytes));
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return status_failed(_("cannot map '%s': %s"), path, strerror(errno));
    *out = MEM_NEW(Mapping);
    **out = (Mapping){.data = data, .bytes = bytes};
    watch(*out, path);
    return status_ok();
}

Status mapping_open(const char *path, Mapping **out) {
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not make us wait */
    if (fd < 0) return status_usage(_("cannot open '%s': %s"), path, strerror(errno));
    Status s = map(fd, path, out);
    close(fd);
    return s;
}

Mapping *mapping_of(const void *data, size_t bytes) {
    Mapping *m = MEM_NEW(Mapping);
    *m = (Mapping){.data = mem_aligned(bytes, 1), .bytes = bytes, .own = true};
    if (bytes) memcpy(m->data, data, bytes);
    return m;
}

void mapping_close(Mapping *m) {
    if (!m) return;
    forget_it(m);
    if (m->own)
        mem_free(m->data);
    else
        munmap(m->data, m->bytes);
    mem_free(m->sentence);
    mem_free(m);
}

const unsigned char *mapping_data(const Mapping *m) {
    return m->data;
}

size_t mapping_bytes(const Mapping *m) {
    return m->bytes;
}

void mapping_forget(const Mapping *m) {
    if (!m->own) (void)madvise(m->data, m->bytes, MADV_DONTNEED); /* only advice */
}
