#include "expect.h"

#include "screen.h"

#include "clock.h"
#include "golden.h"
#include "key.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void draw(App *a, int w, int h, ScreenLook look, bool styles, Str *out) {
    Canvas *c = canvas_new(w, h, look == SCREEN_ASCII ? GLYPHS_ASCII : GLYPHS_HALF);
    c->heat_colour = look == SCREEN_COLOUR;
    app_draw(a, c);
    canvas_dump(c, styles, out);
    canvas_free(c);
}

void screen_text(App *a, int w, int h, Str *out) {
    draw(a, w, h, SCREEN_COLOUR, false, out);
}

void screen_text_as(App *a, int w, int h, ScreenLook look, Str *out) {
    draw(a, w, h, look, false, out);
}

void screen_golden(App *a, int w, int h, const char *name) {
    screen_golden_as(a, w, h, SCREEN_COLOUR, name);
}

void screen_golden_as(App *a, int w, int h, ScreenLook look, const char *name) {
    char file[256];
    snprintf(file, sizeof file, "%s.%dx%d", name, w, h);
    Str got;
    str_init(&got);
    draw(a, w, h, look, true, &got);
    golden_check(file, got.s);
    str_done(&got);
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

static char folder[] = "/tmp/lantern-screen-XXXXXX";

int screen_enter_folder(void **state) {
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

int screen_leave_folder(void **state) {
    (void)state;
    DIR *d = opendir(folder);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}
