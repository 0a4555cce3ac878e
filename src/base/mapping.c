#include "mapping.h"

#include "intl.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct Mapping {
    void *data;
    size_t bytes;
    bool own; /* data is not a file's */
};

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
    if (m->own)
        mem_free(m->data);
    else
        munmap(m->data, m->bytes);
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
