#include "lines.h"

#include "file.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

static Status check_line(const char *path, long number, const char *s, size_t n) {
    if (memchr(s, '\0', n)) return status_usage(_("'%s' line %ld: a NUL byte is no text"), path, number);
    if (!utf8_valid(s, n, NULL)) return status_usage(_("'%s' line %ld is not UTF-8"), path, number);
    return status_ok();
}

static Status split(const char *path, const char *s, const char *end, Lines *out) {
    long capacity = 0;
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        const char *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        if (stop > s && stop[-1] == '\r') stop--;
        STATUS_TRY(check_line(path, out->count + 1, s, (size_t)(stop - s)));
        MEM_GROW(out->line, out->count, capacity);
        out->line[out->count++] = mem_text_n(s, (size_t)(stop - s));
        s = next;
    }
    return status_ok();
}

Status lines_read(const char *path, Lines *out) {
    *out = (Lines){0};
    Str text;
    str_init(&text);
    Status s = file_read(path, 0, &text);
    size_t mark = text.len >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (status_is_ok(&s)) s = split(path, text.s + mark, text.s + text.len, out);
    str_done(&text);
    if (!status_is_ok(&s)) lines_done(out);
    return s;
}

void lines_done(Lines *l) {
    for (long i = 0; i < l->count; i++) mem_free(l->line[i]);
    mem_free(l->line);
    *l = (Lines){0};
}
