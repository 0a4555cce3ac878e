#include "status.h"

#include "intl.h"
#include "str.h"
#include "utf8.h"

#include <stdarg.h>
#include <string.h>

static const char status_more[] = "\xe2\x80\xa6"; /* U+2026, three points */

/* The longest part of S that fits with the mark for what was left out, ended at a character's edge. */
static size_t status_cut(const char *s) {
    size_t at = sizeof((Status *)0)->text - sizeof status_more;
    while (at > 0 && ((unsigned char)s[at] & 0xc0) == 0x80) at--;
    return at;
}

/* A sentence may quote anything that the world holds, a file's name for instance. Shown text has no newline, no control
 * character and no broken UTF-8, so it can go to any terminal. */
static Status status_make(StatusCode code, const char *format, va_list args) {
    Status s = {.code = code};
    Str raw, shown;
    str_init(&raw);
    str_init(&shown);
    str_addv(&raw, format, args);
    for (size_t i = 0; i < raw.len; i++)
        if (raw.s[i] == '\n') raw.s[i] = ' ';
    utf8_show(&shown, raw.s, raw.len, true);
    if (shown.len < sizeof s.text) {
        memcpy(s.text, shown.s, shown.len + 1);
    } else {
        size_t cut = status_cut(shown.s);
        memcpy(s.text, shown.s, cut);
        memcpy(s.text + cut, status_more, sizeof status_more);
    }
    str_done(&raw);
    str_done(&shown);
    return s;
}

Status status_ok(void) {
    return (Status){.code = STATUS_OK};
}

Status status_failed(const char *format, ...) {
    va_list args;
    va_start(args, format);
    Status s = status_make(STATUS_FAILED, format, args);
    va_end(args);
    return s;
}

Status status_usage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    Status s = status_make(STATUS_USAGE, format, args);
    va_end(args);
    return s;
}

static Status status_make_cancelled(const char *format, ...) {
    va_list args;
    va_start(args, format);
    Status s = status_make(STATUS_CANCELLED, format, args);
    va_end(args);
    return s;
}

Status status_cancelled(void) {
    return status_make_cancelled("%s", _("cancelled"));
}
