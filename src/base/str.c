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

_Bool str_ends_in(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}
