#include "file.h"

#include "intl.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LINKS = 40, FILE_CHUNK = 65536, FILE_TRIES = 1000, FILE_LIMIT = 1 << 30 };

/* Adds to OUT until the file ends; HINT bytes are expected. */
static Status read_all(int fd, const char *path, size_t hint, size_t limit, Str *out) {
    size_t start = out->len;
    if (!str_try_reserve(out, hint + FILE_CHUNK)) return status_failed(_("not enough memory to read '%s'"), path);
    for (;;) {
        str_reserve(out, FILE_CHUNK);
        ssize_t n = read(fd, out->s + out->len, FILE_CHUNK);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return status_failed(_("cannot read '%s': %s"), path, strerror(errno));
        if (n == 0) return status_ok();
        out->len += (size_t)n;
        out->s[out->len] = '\0';
        if (out->len - start > limit) return status_usage(_("'%s' is longer than the %zu bytes allowed"), path, limit);
    }
}

/* Files without an end or without content are refused, and those that are too long. */
static Status check_file(int fd, const char *path, size_t limit, size_t *size) {
    struct stat st;
    if (fstat(fd, &st) != 0) return status_usage(_("cannot open '%s': %s"), path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return status_usage(_("'%s' is a directory, not a file"), path);
    if (!S_ISREG(st.st_mode)) return status_usage(_("'%s' is not a regular file"), path);
    if ((unsigned long long)st.st_size > limit)
        return status_usage(_("'%s' has %lld bytes, more than the %zu allowed"), path, (long long)st.st_size, limit);
    *size = (size_t)st.st_size;
    return status_ok();
}

static Status read_path(const char *path, size_t limit, Str *out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not make us wait */
    if (fd < 0) return status_usage(_("cannot open '%s': %s"), path, strerror(errno));
    size_t size = 0;
    Status s = check_file(fd, path, limit, &size);
    if (status_is_ok(&s)) s = read_all(fd, path, size, limit, out);
    close(fd);
    return s;
}

Status file_read(const char *path, size_t limit, Str *out) {
    size_t start = out->len;
    if (limit == 0) limit = FILE_LIMIT;
    Status s = strcmp(path, "-") == 0 ? read_all(STDIN_FILENO, _("standard input"), 0, limit, out)
                                      : read_path(path, limit, out);
    if (!status_is_ok(&s)) str_truncate(out, start);
    return s;
}

Status file_read_text(const char *path, size_t limit, Str *out) {
    size_t start = out->len;
    STATUS_TRY(file_read(path, limit, out));
    if (strlen(out->s + start) == out->len - start) return status_ok();
    str_truncate(out, start);
    return status_usage(_("'%s' is no text: it holds a byte 0"), strcmp(path, "-") ? path : _("standard input"));
}

struct FileWriter {
    FILE *stream;
    char *path;      /* as the user wrote it, for sentences */
    char *target;    /* the file to replace, links followed; NULL when written directly */
    char *temporary; /* beside the target; NULL when written directly */
};

static void writer_free(FileWriter *w) {
    mem_free(w->path);
    mem_free(w->target);
    mem_free(w->temporary);
    mem_free(w);
}

/* Length of the folder part of PATH with its last '/', 0 when there is none. */
static size_t path_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The file that PATH stands for when it is a symbolic link, also one to a file that is yet to be made. NULL: too many.
 */
static char *path_follow(const char *path) {
    char *at = mem_text(path);
    char link[PATH_MAX];
    for (int i = 0; i < FILE_LINKS; i++) {
        ssize_t n = readlink(at, link, sizeof link);
        if (n < 0 || n == (ssize_t)sizeof link) return at;
        Str next;
        str_init(&next);
        if (link[0] != '/') str_add_n(&next, at, path_folder(at));
        str_add_n(&next, link, (size_t)n);
        mem_free(at);
        at = str_take(&next);
    }
    mem_free(at);
    errno = ELOOP;
    return NULL;
}

/* Opens a new file beside the target with the mode that the umask gives. Its name depends on the process and on a
 * counter, so neither threads nor a second lantern can meet. */
static int writer_open_temporary(FileWriter *w) {
    static atomic_uint counter;
    for (int i = 0; i < FILE_TRIES; i++) {
        Str name;
        str_init(&name);
        str_add_n(&name, w->target, path_folder(w->target));
        str_addf(&name, ".lantern-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&counter, 1));
        int fd = open(name.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int problem = errno;
        if (fd >= 0) w->temporary = str_take(&name);
        str_done(&name);
        errno = problem;
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* EXISTING is the mode of the file to be replaced, 0 when there is none. */
static int writer_open_beside(FileWriter *w, mode_t existing) {
    w->target = path_follow(w->path);
    if (!w->target) return -1;
    if (existing && access(w->target, W_OK) != 0) return -1;
    int fd = writer_open_temporary(w);
    if (fd >= 0 && existing) (void)fchmod(fd, existing & 0777); /* a file system without modes gives its own */
    return fd;
}

/* Devices and pipes have no old content to protect. Opening without waiting refuses a FIFO that nobody reads. */
static int writer_open_directly(FileWriter *w) {
    int fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

static int writer_open(FileWriter *w) {
    struct stat st;
    if (strcmp(w->path, "-") == 0) {
        fflush(stdout); /* what was printed before comes before */
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    }
    if (*w->path == '\0') {
        errno = ENOENT;
        return -1;
    }
    if (stat(w->path, &st) != 0) return errno == ENOENT ? writer_open_beside(w, 0) : -1;
    if (S_ISREG(st.st_mode)) return writer_open_beside(w, st.st_mode);
    if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) return writer_open_directly(w);
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    return -1;
}

Status file_begin(const char *path, FileWriter **out) {
    FileWriter *w = MEM_NEW(FileWriter);
    w->path = mem_text(path);
    int fd = writer_open(w);
    if (fd >= 0) w->stream = fdopen(fd, "w");
    if (!w->stream) {
        Status s = status_usage(_("cannot open '%s' for writing: %s"), path, strerror(errno));
        if (fd >= 0) close(fd);
        if (w->temporary) unlink(w->temporary);
        writer_free(w);
        *out = NULL;
        return s;
    }
    *out = w;
    return status_ok();
}

const char *file_name(const FileWriter *w) {
    return strcmp(w->path, "-") == 0 ? _("standard output") : w->path;
}

FILE *file_stream(FileWriter *w) {
    return w->stream;
}

/* Some file systems cannot sync some kinds of file: that is no failure. */
static int sync_fd(int fd) {
    if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS) return 0;
    return errno;
}

/* Makes the new name itself last. 0 or an errno. */
static int sync_folder(const char *path) {
    size_t n = path_folder(path);
    char *folder = n ? mem_text_n(path, n) : mem_text(".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mem_free(folder);
    if (fd < 0) return 0; /* a folder that may be written to but not read */
    int problem = sync_fd(fd);
    close(fd);
    return problem;
}

enum { PROBLEM_UNKNOWN = -1 };

/* Everything that may fail while the old file is still there. 0 or an errno; the stream is closed in every case. A
 * write that failed earlier shows only in ferror: the later calls may well succeed, and nobody knows its reason any
 * more. */
static int writer_close(FileWriter *w) {
    int problem = 0;
    bool failed = ferror(w->stream) != 0;
    if (fflush(w->stream) != 0) problem = errno;
    if (!problem && !failed && w->target) problem = sync_fd(fileno(w->stream));
    if (fclose(w->stream) != 0 && !problem) problem = errno;
    return problem ? problem : failed ? PROBLEM_UNKNOWN : 0;
}

Status file_commit(FileWriter *w) {
    Status s = status_ok();
    int problem = writer_close(w);
    if (!problem && w->temporary && rename(w->temporary, w->target) != 0) problem = errno;
    if (problem) {
        if (w->temporary) unlink(w->temporary);
        const char *reason = problem == PROBLEM_UNKNOWN ? _("a write failed; the disk may be full") : strerror(problem);
        s = status_failed(_("cannot write '%s': %s"), file_name(w), reason);
    } else if (w->target && (problem = sync_folder(w->target)) != 0) {
        s = status_failed(_("'%s' is written, but its folder cannot be synced: %s"), w->path, strerror(problem));
    }
    writer_free(w);
    return s;
}

void file_discard(FileWriter *w) {
    if (!w) return;
    fclose(w->stream);
    if (w->temporary) unlink(w->temporary);
    writer_free(w);
}

const char *file_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void file_add_whole_path(const char *path, Str *out) {
    char *whole = realpath(path, NULL);
    str_add(out, whole ? whole : path);
    free(whole);
}

bool file_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
