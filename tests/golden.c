#include "expect.h"

#include "golden.h"

#include "file.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT    2
#define LINES_MOST 4000

typedef struct {
    const char *line[LINES_MOST];
    int length[LINES_MOST];
    int count;
} Lines;

static void split(const char *text, Lines *out) {
    out->count = 0;
    while (*text != '\0' && out->count < LINES_MOST) {
        size_t n = strcspn(text, "\n");
        out->line[out->count] = text;
        out->length[out->count++] = (int)n;
        text += n + (text[n] == '\n');
    }
}

static bool same(const Lines *a, int i, const Lines *b, int k) {
    return a->length[i] == b->length[k] && memcmp(a->line[i], b->line[k], (size_t)a->length[i]) == 0;
}

static void add_lines(Str *out, char mark, const Lines *lines, int from, int to) {
    for (int i = from < 0 ? 0 : from; i < to && i < lines->count; i++)
        str_addf(out, "%c%.*s\n", mark, lines->length[i], lines->line[i]);
}

/* One hunk from the first line that differs to the last. */
static void diff(const char *want_text, const char *got_text, Str *out) {
    static Lines want, got;
    split(want_text, &want);
    split(got_text, &got);
    int head = 0, tail = 0;
    while (head < want.count && head < got.count && same(&want, head, &got, head)) head++;
    while (tail < want.count - head && tail < got.count - head &&
           same(&want, want.count - 1 - tail, &got, got.count - 1 - tail))
        tail++;
    str_addf(out, "@@ -%d,%d +%d,%d @@\n", head + 1, want.count - head - tail, head + 1, got.count - head - tail);
    add_lines(out, ' ', &want, head - CONTEXT, head);
    add_lines(out, '-', &want, head, want.count - tail);
    add_lines(out, '+', &got, head, got.count - tail);
    add_lines(out, ' ', &want, want.count - tail, want.count - tail + CONTEXT);
}

static void write_golden(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

void golden_check(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "golden/%s.txt", name);
    const char *update = getenv("UPDATE");
    if (update != NULL && strcmp(update, "1") == 0) write_golden(path, text);
    Str want, difference;
    str_init(&want);
    str_init(&difference);
    Status status = file_read(path, 0, &want);
    if (!status_is_ok(&status)) fail_msg("%s (UPDATE=1 writes it)", status.text);
    if (strcmp(want.s, text) != 0) {
        diff(want.s, text, &difference);
        fail_msg("--- %s\n+++ drawn now\n%s(UPDATE=1 takes it)", path, difference.s);
    }
    str_done(&want);
    str_done(&difference);
}
