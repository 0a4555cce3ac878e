#include "sizes.h"

#include "intl.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

Status sizes_bits(const Options *o, int *bits) {
    double exact = 8 * options_real(o, "bytes");
    *bits = (int)exact;
    if (exact == *bits) return status_ok();
    return status_usage(_("bytes: %s is no whole number of bits"), options_value(o, "bytes"));
}

static const struct {
    const char *name;
    double bytes;
} units[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"PB", 1e15},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", SIZES_GIB},
    {"TiB", 1024 * SIZES_GIB},
    {"PiB", 1048576 * SIZES_GIB},
};

/* 0: no such unit. */
static double unit_named(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == n && strncmp(units[i].name, name, n) == 0) return units[i].bytes;
    return 0;
}

static bool in_number(char c) {
    return isdigit((unsigned char)c) || strchr(".+-", c);
}

/* Where the number at the start of TEXT ends: an e belongs to it when a number follows. */
static size_t number_ends(const char *text) {
    size_t n = 0;
    while (text[n] && (in_number(text[n]) || (strchr("eE", text[n]) && n > 0 && text[n + 1] && in_number(text[n + 1]))))
        n++;
    return n;
}

Status sizes_parse(const char *name, const char *text, const char *per, double *bytes) {
    size_t digits = number_ends(text), blank = strspn(text + digits, " ");
    const char *unit = text + digits + blank;
    size_t n = strlen(unit), tail = strlen(per);
    if (n >= tail && strcmp(unit + n - tail, per) == 0) n -= tail;
    double number, factor = unit_named(unit, n);
    Str part;
    str_init(&part);
    str_add_n(&part, text, digits);
    bool good = str_to_double(part.s, &number) && number > 0 && factor > 0;
    str_done(&part);
    if (good) *bytes = number * factor;
    if (good && isfinite(*bytes)) return status_ok();
    return status_usage(_("%s: '%s' is no amount above 0 like 80GB%s or 16GiB%s (units: B, kB, MB, GB, TB, KiB, MiB, "
                          "GiB, TiB)"),
                        name, text, per, per);
}

Status sizes_check(Count n, const char *what) {
    if (n < ACCOUNT_TOO_MANY) return status_ok();
    return status_usage(_("%s would be more than 9.2e18: too many to count"), what);
}

void sizes_about(Study *s) {
    study_about(s, "gb", "10^9 bytes");
    study_about(s, "gib", "2^30 bytes");
}
