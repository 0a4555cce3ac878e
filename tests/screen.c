#include "expect.h"

#include "screen.h"

#include "clock.h"
#include "file.h"
#include "key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

App *screen_new(const FixtureSpec *spec) {
    FixtureSpec plain = fixture_spec();
    clock_freeze(1000);
    App *a = app_new(NULL, GLYPHS_HALF, DEPTH_256);
    Snapshot *s = fixture_snapshot(spec ? spec : &plain);
    app_show(a, s);
    snapshot_unref(s);
    Str nowhere;
    str_init(&nowhere);
    screen_text(a, 120, 40, &nowhere); /* what is shown decides where clicks and keys go */
    str_done(&nowhere);
    return a;
}

void screen_keys(App *a, const char *keys) {
    while (*keys) {
        Event e = {.kind = EVENT_KEY};
        size_t bytes = key_parse(keys, &e.key);
        assert_true(bytes > 0);
        app_event(a, &e);
        app_tick(a);
        keys += bytes;
    }
}

static void draw(App *a, int w, int h, bool styles, Str *out) {
    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
    app_draw(a, c);
    canvas_dump(c, styles, out);
    canvas_free(c);
}

void screen_text(App *a, int w, int h, Str *out) {
    draw(a, w, h, false, out);
}

static void write_golden(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Says which line differs first; a whole screen would drown it. */
static void compare(const char *path, const char *want, const char *got) {
    for (int line = 1; *want || *got; line++) {
        size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");
        if (w != g || strncmp(want, got, w) != 0)
            fail_msg("%s:%d\n want %.*s\n  got %.*s\n(UPDATE=1 rewrites it)", path, line, (int)w, want, (int)g, got);
        want += w + (want[w] == '\n');
        got += g + (got[g] == '\n');
    }
}

void screen_golden(App *a, int w, int h, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "golden/%s.%dx%d.txt", name, w, h);
    Str got, want;
    str_init(&got);
    str_init(&want);
    draw(a, w, h, true, &got);
    const char *update = getenv("UPDATE");
    if (update && update[0] == '1') write_golden(path, got.s);
    assert_ok(file_read(path, 0, &want));
    compare(path, want.s, got.s);
    str_done(&got);
    str_done(&want);
}

static bool holds(App *a, const char *text, Str *screen) {
    screen_text(a, 120, 40, screen);
    return strstr(screen->s, text) != NULL;
}

void screen_expect(App *a, const char *text) {
    Str screen;
    str_init(&screen);
    if (!holds(a, text, &screen)) fail_msg("the screen does not hold '%s':\n%s", text, screen.s);
    str_done(&screen);
}

void screen_refuse(App *a, const char *text) {
    Str screen;
    str_init(&screen);
    if (holds(a, text, &screen)) fail_msg("the screen holds '%s':\n%s", text, screen.s);
    str_done(&screen);
}
