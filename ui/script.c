#include "script.h"

#include "clock.h"
#include "file.h"
#include "intl.h"
#include "mem.h"
#include "term_script.h"
#include "tui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_MOST = 256, PUMPS_MOST = 2000000, LINE_MOST = 1024 };
static const double job_seconds = 300;

struct Script {
    char *name, *text;
    const char *at; /* the next line */
    int line;       /* number of the line at work */
    Event queue[QUEUE_MOST];
    int first, count;
    char paste[LINE_MOST];
    bool rest; /* the application must draw before the next line */
    Status status;
    Str screen; /* when a line about it failed */
};

Script *script_new(const char *name, const char *text) {
    Script *s = MEM_NEW(Script);
    s->name = mem_text(name);
    s->text = mem_text(text);
    s->at = s->text;
    s->status = status_ok();
    str_init(&s->screen);
    return s;
}

void script_free(Script *s) {
    if (!s) return;
    str_done(&s->screen);
    mem_free(s->name);
    mem_free(s->text);
    mem_free(s);
}

static Status fail(const Script *s, const char *what, const char *text) {
    return status_failed("%s:%d: %s: %s", s->name, s->line, what, text);
}

/* Events. */

static Status push(Script *s, Event e) {
    if (s->first + s->count == QUEUE_MOST) return fail(s, _("too many keys in one line"), "");
    s->queue[s->first + s->count++] = e;
    return status_ok();
}

static Status push_keys(Script *s, const char *text) {
    while (*text) {
        Key k;
        size_t bytes = key_parse(text, &k);
        if (bytes == 0) return fail(s, _("no key"), text);
        STATUS_TRY(push(s, (Event){.kind = EVENT_KEY, .key = k}));
        text += bytes;
    }
    return status_ok();
}

static Status push_paste(Script *s, const char *text) {
    snprintf(s->paste, sizeof s->paste, "%s", text);
    return push(s, (Event){.kind = EVENT_PASTE, .paste = s->paste});
}

static Status push_command(Script *s, const char *line) {
    STATUS_TRY(push(s, (Event){.kind = EVENT_KEY, .key = ':'}));
    STATUS_TRY(push_paste(s, line));
    return push(s, (Event){.kind = EVENT_KEY, .key = KEYCODE_ENTER, .sure = true});
}

static Status push_mouse(Script *s, MouseKind kind, const char *numbers) {
    int x, y;
    if (sscanf(numbers, "%d %d", &x, &y) != 2) return fail(s, _("needs two numbers"), numbers);
    return push(s, (Event){.kind = EVENT_MOUSE, .mouse = kind, .x = x, .y = y});
}

/* Verbs. Each gets what stands after its name. */

static Status do_key(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    return push_keys(s, rest);
}

static Status do_paste(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    return push_paste(s, rest);
}

static Status do_mouse(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    return push_mouse(s, MOUSE_PRESS, rest);
}

static Status do_wheel(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    if (!strncmp(rest, "up ", 3)) return push_mouse(s, MOUSE_WHEEL_UP, rest + 3);
    if (!strncmp(rest, "down ", 5)) return push_mouse(s, MOUSE_WHEEL_DOWN, rest + 5);
    return fail(s, _("needs up or down and two numbers"), rest);
}

static Status do_resize(Script *s, ScriptStage *stage, const char *rest) {
    int w, h;
    if (sscanf(rest, "%d %d", &w, &h) != 2 || w < 1 || h < 1 || w > 2000 || h > 2000)
        return fail(s, _("needs a width and a height"), rest);
    stage->w = w;
    stage->h = h;
    return push(s, (Event){.kind = EVENT_RESIZE});
}

/* Lets the laboratory work until DONE says so. */
static Status pump_until(Script *s, ScriptStage *stage, bool (*done)(const SnapshotFacts *, long), long n,
                         const char *what) {
    s->rest = true;
    app_tick(stage->app);
    for (long i = 0; i < PUMPS_MOST; i++) {
        if (done && done(snapshot_facts(app_snapshot(stage->app)), n)) return status_ok();
        bool worked = stage->worker && worker_pump(stage->worker);
        bool news = app_tick(stage->app);
        if (worked || news) continue;
        return done ? fail(s, _("waits for what will never be"), what) : status_ok();
    }
    return fail(s, _("still waits"), what);
}

static bool is_loaded(const SnapshotFacts *f, long n) {
    (void)n;
    return f->state != RUN_LOADING;
}

static bool is_at_step(const SnapshotFacts *f, long n) {
    return f->step >= n;
}

static Status do_wait(Script *s, ScriptStage *stage, const char *rest) {
    if (!strcmp(rest, "loaded")) return pump_until(s, stage, is_loaded, 0, rest);
    if (!strcmp(rest, "idle")) return pump_until(s, stage, NULL, 0, rest);
    if (!strncmp(rest, "step ", 5)) return pump_until(s, stage, is_at_step, strtol(rest + 5, NULL, 10), rest);
    if (strcmp(rest, "job")) return fail(s, _("waits for loaded, idle, step N or job, not for"), rest);
    s->rest = true;
    bool over = app_wait_jobs(stage->app, job_seconds);
    app_tick(stage->app);
    return over ? status_ok() : fail(s, _("still waits"), rest);
}

/* Whether a row of the screen holds TEXT. */
static bool shows(const ScriptStage *stage, const char *text) {
    Str all;
    str_init(&all);
    canvas_dump(stage->frame, false, &all);
    bool found = strstr(all.s, text) != NULL;
    str_done(&all);
    return found;
}

/* Keeps the screen for whoever wants to know why. */
static Status fail_with_screen(Script *s, const ScriptStage *stage, const char *what, const char *text) {
    str_clear(&s->screen);
    canvas_dump(stage->frame, false, &s->screen);
    return fail(s, what, text);
}

static Status do_expect(Script *s, ScriptStage *stage, const char *rest) {
    return shows(stage, rest) ? status_ok() : fail_with_screen(s, stage, _("the screen does not hold"), rest);
}

static Status do_refuse(Script *s, ScriptStage *stage, const char *rest) {
    return shows(stage, rest) ? fail_with_screen(s, stage, _("the screen holds"), rest) : status_ok();
}

static Status do_expect_message(Script *s, ScriptStage *stage, const char *rest) {
    return strstr(app_message(stage->app), rest) ? status_ok()
                                                 : fail_with_screen(s, stage, _("the message does not hold"), rest);
}

static Status do_expect_file(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    Str text;
    str_init(&text);
    Status status = file_read(rest, 0, &text);
    bool filled = text.len > 0;
    str_done(&text);
    if (!status_is_ok(&status)) return fail(s, status.text, rest);
    return filled ? status_ok() : fail(s, _("the file is empty"), rest);
}

static Status do_expect_quit(Script *s, ScriptStage *stage, const char *rest) {
    (void)stage;
    return fail(s, _("the program has not ended"), rest);
}

static const struct {
    const char *name;
    Status (*run)(Script *s, ScriptStage *stage, const char *rest);
} verbs[] = {
    {"key", do_key},
    {"keys", do_key},
    {"paste", do_paste},
    {"mouse", do_mouse},
    {"wheel", do_wheel},
    {"resize", do_resize},
    {"wait", do_wait},
    {"expect", do_expect},
    {"refuse", do_refuse},
    {"expect-message", do_expect_message},
    {"expect-file", do_expect_file},
    {"expect-quit", do_expect_quit},
};

/* Lines. */

/* The next line that is not empty and no comment, without blanks at its ends; false at the end. */
static bool next_line(Script *s, char line[LINE_MOST]) {
    while (*s->at) {
        size_t bytes = strcspn(s->at, "\n");
        const char *start = s->at;
        s->at += bytes + (s->at[bytes] == '\n');
        s->line++;
        while (bytes > 0 && (start[bytes - 1] == ' ' || start[bytes - 1] == '\r')) bytes--;
        while (bytes > 0 && *start == ' ') start++, bytes--;
        if (bytes == 0 || *start == '#' || bytes >= LINE_MOST) continue;
        memcpy(line, start, bytes);
        line[bytes] = '\0';
        return true;
    }
    return false;
}

static Status run_line(Script *s, ScriptStage *stage, const char *line) {
    if (line[0] == ':') return push_command(s, line + 1);
    size_t name = strcspn(line, " ");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strlen(verbs[i].name) == name && !strncmp(verbs[i].name, line, name))
            return verbs[i].run(s, stage, line + name + (line[name] == ' '));
    }
    return status_usage("%s:%d: %s: %s", s->name, s->line, _("no such verb"), line);
}

Event script_next(Script *s, ScriptStage *stage) {
    char line[LINE_MOST];
    if (s->rest) {
        s->rest = false;
        Status written = app_end_writing(stage->app); /* what a line asked for is done before the next one */
        (void)written;                                /* the message says how it ended */
        return (Event){.kind = EVENT_NONE};
    }
    while (s->count == 0) {
        s->first = 0;
        if (!next_line(s, line)) return (Event){.kind = EVENT_QUIT};
        s->status = run_line(s, stage, line);
        if (!status_is_ok(&s->status)) return (Event){.kind = EVENT_QUIT};
        if (s->rest) return (Event){.kind = EVENT_RESIZE}; /* what was waited for must be drawn */
    }
    Event e = s->queue[s->first++];
    s->count--;
    s->rest = true;
    return e;
}

Status script_end(Script *s, bool quit) {
    char line[LINE_MOST];
    if (!status_is_ok(&s->status) || !next_line(s, line)) return s->status;
    if (quit && !strcmp(line, "expect-quit") && !next_line(s, line)) return status_ok();
    return fail(s, _("the program ended before this line"), line);
}

/* Whole scripts. */

Status script_run_text(const char *name, const char *text, App *a, Worker *w, Str *screen) {
    Script *s = script_new(name, text);
    Term *t = term_script_new(s, a, w);
    double frozen = clock_now();
    clock_freeze(frozen);
    tui_run(a, t, w, &(TuiOptions){.frames_per_second = 0});
    clock_freeze(-1);
    Status status = script_end(s, app_wants_quit(a));
    if (screen) str_add(screen, s->screen.s);
    t->free(t);
    script_free(s);
    return status;
}

Status script_run_file(const char *path, App *a, Worker *w, Str *screen) {
    Str text;
    str_init(&text);
    Status s = file_read_text(path, 0, &text);
    if (status_is_ok(&s)) s = script_run_text(path, text.s, a, w, screen);
    str_done(&text);
    return s;
}
