#include "mapping.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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
    bool own;                /* data is not a file's */
    char *sentence;          /* for its end; NULL: it is nobody's file */
    _Atomic(Mapping *) next; /* of the files that are watched */
};

/* --- the end of who reads what is no longer there --- */

enum { FAILED = 1 };

/* The files that are mapped now, which a handler has no other way to know. Threads change the list one at a time; a
 * handler walks it whenever it must, and what has been taken out is freed when nobody walks any more. */
static _Atomic(Mapping *) watched;
static atomic_int walking;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct sigaction before;              /* ours was there */
static _Atomic(MappingFault *) other_faults; /* NULL: as before */

/* Async-signal-safe calls only. */
static void end_with(const char *sentence) {
    bug_run_hook();
    ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written;
    _exit(FAILED);
}

static void end_if_watched(const char *at) {
    atomic_fetch_add(&walking, 1);
    for (const Mapping *m = atomic_load(&watched); m; m = atomic_load(&m->next))
        if (at >= (const char *)m->data && at < (const char *)m->data + m->bytes) end_with(m->sentence);
    atomic_fetch_sub(&walking, 1);
}

static void bus_handler(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code > 0) end_if_watched(info->si_addr);
    MappingFault *other = atomic_load(&other_faults);
    if (other) {
        other(number);
        return;
    }
    sigaction(number, &before, NULL); /* a fault comes again, to whoever had it; what was sent does not */
    if (info->si_code <= 0) raise(number);
}

/* Our handler in front of whatever is there now, with `changing` held: it may have been replaced. */
static void install(void) {
    struct sigaction action, now;
    sigaction(SIGBUS, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == bus_handler) return;
    before = now; /* before ours is there, which needs it */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = bus_handler;
    action.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void mapping_set_fault(MappingFault *other) {
    pthread_mutex_lock(&changing);
    install();
    atomic_store(&other_faults, other);
    pthread_mutex_unlock(&changing);
}

static void watch(Mapping *m, const char *path) {
    Str s;
    str_init(&s);
    str_add(&s, "lantern: ");
    str_addf(&s, _("'%s' was cut short while it was open"), path);
    str_add_char(&s, '\n');
    m->sentence = str_take(&s);
    pthread_mutex_lock(&changing);
    install();
    atomic_store(&m->next, atomic_load(&watched));
    atomic_store(&watched, m);
    pthread_mutex_unlock(&changing);
}

static void forget_it(const Mapping *m) {
    if (!m->sentence) return;
    pthread_mutex_lock(&changing);
    _Atomic(Mapping *) *at = &watched;
    for (Mapping *here; (here = atomic_load(at)) && here != m;) at = &here->next;
    if (atomic_load(at)) atomic_store(at, atomic_load(&m->next));
    pthread_mutex_unlock(&changing);
    while (atomic_load(&walking) > 0) sched_yield();
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
