#include "status.h"

#include "intl.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that was cut may end inside a character: drop that part. */
static void status_trim(char *text) {
    size_t len = strlen(text);
    size_t start = len;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
    if (start > 0) start--;
    uint32_t code;
    if (start < len && utf8_decode(text + start, len - start, &code) != (int)(len - start)) text[start] = '\0';
}

static Status status_make(StatusCode code, const char *format, va_list args) {
    Status s = {.code = code};
    int length = vsnprintf(s.text, sizeof s.text, format, args);
    if (length >= (int)sizeof s.text) status_trim(s.text);
    for (char *c = s.text; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
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

Status status_cancelled(void) {
    Status s = {.code = STATUS_CANCELLED};
    snprintf(s.text, sizeof s.text, "%s", _("cancelled"));
    status_trim(s.text);
    return s;
}
