#include "str.h"

#include "bug.h"
#include "mem.h"
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What an empty Str points to: never written to, because capacity 0 says that it is not ours. */
static char str_nothing[1];

void str_init(Str *t) {
    *t = (Str){.s = str_nothing};
}

void str_done(Str *t) {
    if (t->capacity) mem_free(t->s);
    str_init(t);
}

void str_truncate(Str *t, size_t len) {
    BUG_ON(len > t->len);
    t->len = len;
    if (t->capacity) t->s[len] = '\0';
}

void str_clear(Str *t) {
    str_truncate(t, 0);
}

void str_reserve(Str *t, size_t bytes) {
    BUG_ON(bytes > SIZE_MAX / 4 || t->len > SIZE_MAX / 4);
    size_t need = t->len + bytes + 1;
    if (need <= t->capacity) return;
    size_t capacity = t->capacity ? t->capacity * 2 : 32;
    if (capacity < need) capacity = need;
    char *s = mem_resize(t->capacity ? t->s : NULL, capacity, 1);
    s[t->len] = '\0';
    t->s = s;
    t->capacity = capacity;
}

_Bool str_try_reserve(Str *t, size_t bytes) {
    if (bytes > SIZE_MAX / 4) return false;
    size_t need = t->len + bytes + 1;
    if (need <= t->capacity) return true;
    char *s = mem_try(need, 1);
    if (!s) return false;
    if (t->capacity) {
        memcpy(s, t->s, t->len);
        mem_free(t->s);
    }
    t->s = s;
    t->capacity = need;
    return true;
}

void str_add_n(Str *t, const char *s, size_t bytes) {
    if (bytes == 0) return;
    str_reserve(t, bytes);
    memcpy(t->s + t->len, s, bytes);
    t->len += bytes;
    t->s[t->len] = '\0';
}

void str_add(Str *t, const char *s) {
    str_add_n(t, s, strlen(s));
}

void str_add_char(Str *t, char c) {
    str_add_n(t, &c, 1);
}

void str_add_repeat(Str *t, char c, size_t times) {
    if (times == 0) return;
    str_reserve(t, times);
    memset(t->s + t->len, c, times);
    t->len += times;
    t->s[t->len] = '\0';
}

void str_add_code(Str *t, unsigned code_point) {
    char bytes[4];
    int n = utf8_encode(code_point, bytes);
    BUG_ON(n == 0);
    str_add_n(t, bytes, (size_t)n);
}

void str_addv(Str *t, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    BUG_ON(length < 0);
    str_reserve(t, (size_t)length);
    vsnprintf(t->s + t->len, (size_t)length + 1, format, again);
    va_end(again);
    t->len += (size_t)length;
}

void str_addf(Str *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    str_addv(t, format, args);
    va_end(args);
}

char *str_take(Str *t) {
    str_reserve(t, 0);
    char *s = t->s;
    str_init(t);
    return s;
}

static int smallest(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Row i holds the distances of the first i letters of A from every beginning of B. */
int str_distance(const char *a, const char *b) {
    size_t n = strlen(b);
    int *rows = MEM_ARRAY(int, 3 * (n + 1));
    int *before = rows, *above = rows + n + 1, *row = rows + 2 * (n + 1);
    for (size_t j = 0; j <= n; j++) row[j] = (int)j;
    for (size_t i = 0; a[i]; i++) {
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = (int)i + 1;
        for (size_t j = 1; j <= n; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i] != b[j - 1]));
            bool swapped = i > 0 && j > 1 && a[i] == b[j - 2] && a[i - 1] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
    }
    int distance = row[n];
    mem_free(rows);
    return distance;
}

const char *str_likelier(const char *meant, const char *best, const char *candidate) {
    int distance = str_distance(meant, candidate);
    if (distance > ((int)strlen(candidate) + 1) / 3) return best;
    return best && str_distance(meant, best) <= distance ? best : candidate;
}
