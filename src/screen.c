/* screen: see screen.h. */
#include "screen.h"

#include "app.h"
#include "bug.h"
#include "ground.h"
#include "intl.h"
#include "script.h"
#include "session.h"
#include "str.h"
#include "term.h"
#include "tui.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_LEAST 1
#define FRAMES_MOST  60
#define FRAMES_USUAL 20

/* The names of --color, in the order of Depth. */
static const char *const depth_names[] = {"mono", "8", "16", "256", "true"};

typedef struct {
    StyleSheet style;
    TermOptions term;
    TuiOptions tui;
    bool theme_chosen;
} Settings;

static Status read_color(const char *name, int *depth) {
    *depth = -1;
    if (!name || strcmp(name, "auto") == 0) return status_ok();
    for (int i = 0; i < (int)(sizeof depth_names / sizeof *depth_names); i++) {
        if (strcmp(name, depth_names[i]) != 0) continue;
        *depth = i;
        return status_ok();
    }
    return status_usage(_("--color: '%s' is not one of auto, mono, 8, 16, 256, true"), name);
}

static Status read_settings(const ScreenOptions *o, Settings *s) {
    *s = (Settings){.style = {.theme = THEME_DARK, .map = MAP_VIRIDIS, .depth = DEPTH_256, .ground = THEME_DARK},
                    .tui = {.frames_per_second = FRAMES_USUAL}};
    if (o->theme && !style_theme_find(o->theme, &s->style.theme))
        return status_usage(_("--theme: '%s' is not one of dark, light, contrast, mono"), o->theme);
    if (!o->script) ground_hint(getenv("COLORFGBG"), &s->style.ground);
    if (!o->theme) s->style.theme = s->style.ground;
    s->theme_chosen = o->theme != NULL;
    if (o->map && !style_map_find(o->map, &s->style.map))
        return status_usage(_("--map: '%s' is not one of viridis, cividis, magma, gray"), o->map);
    double *frames = &s->tui.frames_per_second;
    if (o->frames && (!str_to_double(o->frames, frames) || !(*frames >= FRAMES_LEAST && *frames <= FRAMES_MOST)))
        return status_usage(_("--fps: '%s' is not a number from %d to %d"), o->frames, FRAMES_LEAST, FRAMES_MOST);
    int glyphs = o->ascii ? GLYPHS_ASCII : o->braille ? GLYPHS_BRAILLE : -1;
    bool grounded = s->theme_chosen && (s->style.theme == THEME_DARK || s->style.theme == THEME_LIGHT);
    s->term = (TermOptions){.glyphs = glyphs, .mouse = !o->no_mouse, .utf8 = o->utf8, .ask_ground = !grounded};
    return read_color(o->color, &s->term.depth);
}

static App *make_app(Worker *w, const Settings *set, Glyphs glyphs, Depth depth) {
    App *a = app_new(w, glyphs, depth);
    StyleSheet style = set->style;
    style.depth = depth;
    app_set_style(a, &style, set->theme_chosen);
    if (!set->term.mouse) {
        Status s = app_command(a, "mouse off"); /* else it would ask the terminal for it */
        BUG_ON(!status_is_ok(&s));
    }
    return a;
}

/* A script plays the whole application in this thread. */
static Status play(const char *path, Lab *lab, const Settings *set) {
    Worker *w = worker_new(lab, WORKER_INLINE);
    App *a = make_app(w, set, set->term.glyphs < 0 ? GLYPHS_HALF : (Glyphs)set->term.glyphs,
                      set->term.depth < 0 ? DEPTH_256 : (Depth)set->term.depth);
    Str picture;
    str_init(&picture);
    Status s = script_run_file(path, a, w, &picture);
    if (picture.len) fprintf(stderr, "%s\n", picture.s);
    str_done(&picture);
    app_free(a);
    worker_free(w);
    return s;
}

static void resume(App *a, const char *path) {
    Str line;
    str_init(&line);
    str_addf(&line, "resume \"%s\"", path);
    app_run(a, line.s);
    str_done(&line);
}

static Status project(Term *t, Lab *lab, const Settings *set, const char *open, int *signal_number) {
    Worker *w = worker_new(lab, WORKER_THREAD);
    App *a = make_app(w, set, t->glyphs(t), t->depth(t));
    if (open) resume(a, open);
    *signal_number = tui_run(a, t, w, &set->tui);
    t->free(t);
    Status written = app_end_writing(a); /* nobody sees the message line any more */
    app_free(a);
    worker_free(w);
    return written;
}

Status screen_run(const ScreenOptions *o, Options *run, int *signal_number) {
    *signal_number = 0;
    Settings set;
    Term *t = NULL;
    Status s = read_settings(o, &set);
    if (status_is_ok(&s) && !o->script && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
        s = status_usage(
            _("the screen needs a terminal for input and output; without one: lantern run ID [key=value ...], and "
              "lantern list names every ID"));
    if (status_is_ok(&s) && o->open) s = session_check(o->open);
    if (status_is_ok(&s) && !o->script) s = term_curses_open(&set.term, &t);
    if (!status_is_ok(&s)) {
        options_free(run);
        return s;
    }
    Lab *lab = lab_new(run);
    if (o->script) return play(o->script, lab, &set);
    return project(t, lab, &set, o->open, signal_number);
}
