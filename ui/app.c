#include "app_private.h"

#include "bug.h"
#include "clock.h"
#include "intl.h"
#include "mem.h"
#include "pane.h"
#include "reading.h"
#include "session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double message_seconds = 8, error_seconds = 30, error_least_seconds = 2;

/* Life. */

/* What is shown before the laboratory has said anything. */
static Snapshot *nothing(void) {
    SnapshotFacts f = snapshot_facts_unknown();
    return snapshot_new(&f);
}

App *app_new(Worker *w, Glyphs glyphs, Depth depth) {
    (void)glyphs; /* the canvas knows */
    App *a = MEM_NEW(App);
    a->worker = w;
    a->snapshot = nothing();
    a->style = (StyleSheet){.theme = THEME_DARK, .map = MAP_VIRIDIS, .depth = depth};
    a->cursor = (Cursor){.step = -1};
    a->scrub = -1;
    a->mouse = true;
    a->cues.at = -1;
    str_init(&a->arriving);
    str_init(&a->home);
    a->prompt = prompt_new();
    a->complete = complete_new(app_commands());
    BUG_ON(pane_count() > LAYOUT_MOST);
    for (int i = 0; i < pane_count(); i++) {
        const PaneType *p = pane_at(i);
        a->state[i] = mem_zero(1, p->state_size > 0 ? p->state_size : 1);
        if (p->init) p->init(a->state[i]);
        a->hidden[i] = p->aside != NULL;
    }
    return a;
}

void app_free(App *a) {
    if (!a) return;
    Status written = app_end_writing(a);
    (void)written; /* who wants to know asks before */
    for (int i = 0; i < pane_count(); i++) {
        if (pane_at(i)->done) pane_at(i)->done(a->state[i]);
        mem_free(a->state[i]);
    }
    str_done(&a->arriving);
    str_done(&a->home);
    cues_done(&a->cues);
    form_free(a->form);
    prompt_free(a->prompt);
    complete_free(a->complete);
    snapshot_unref(a->snapshot);
    mem_free(a);
}

/* Messages. */

void app_say(App *a, int level, const char *format, ...) {
    va_list args;
    ask_forget(a);
    va_start(args, format);
    vsnprintf(a->message, sizeof a->message, format, args);
    va_end(args);
    a->message_level = level;
    a->message_since = clock_now();
    a->message_until = a->message_since + (level == 0 ? message_seconds : error_seconds);
}

void app_go_on(App *a) {
    if (a->message_level == 0 || clock_now() - a->message_since >= error_least_seconds) a->message[0] = '\0';
}

const char *app_message(const App *a) {
    return a->message;
}

double app_wait(const App *a) {
    if (!a->message[0]) return -1;
    double left = a->message_until - clock_now();
    return left > 0 ? left : 0;
}

static bool drop_old_message(App *a) {
    if (!a->message[0] || clock_now() < a->message_until) return false;
    a->message[0] = '\0';
    ask_forget(a);
    return true;
}

/* Snapshots. */

static void take_message(App *a) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    if (f->message_number == a->message_number) return;
    a->message_number = f->message_number;
    if (f->message[0]) app_say(a, f->message_level, "%s", f->message);
}

/* At first the cursor stands in the row of the newest word, on an earlier one. Later it stays on the newest word if it
 * was there. */
static void follow_newest(App *a, int before) {
    int visible = reading_visible(a->snapshot);
    if (visible == 0) return;
    if (!a->placed) {
        a->placed = true;
        a->cursor.query = visible - 1;
        a->cursor.key = visible > 4 ? visible - 4 : visible > 2 ? 1 : 0;
    } else if (visible != before && a->cursor.query == before - 1) {
        a->cursor.query = visible - 1;
    }
}

/* All that was asked for before the newest mark is done, and shown. */
static bool is_settled(const App *a, const SnapshotFacts *f) {
    return f->mark >= a->mark && f->state != RUN_RUNNING && f->state != RUN_LOADING && !f->unfinished &&
           !f->jumps && !f->decode_running;
}

void app_show(App *a, const Snapshot *s) {
    const Snapshot *old = a->snapshot;
    bool read = snapshot_facts(s)->reads_only;
    if (read != snapshot_facts(old)->reads_only) a->clock = read ? CLOCK_DECODE : CLOCK_TRAIN; /* the one that moves */
    a->snapshot = snapshot_ref(s);
    follow_newest(a, reading_visible(old));
    snapshot_unref(old);
    reading_clamp(a->snapshot, &a->cursor);
    if (snapshot_facts(s)->step == a->scrub || snapshot_facts(s)->message_number != a->message_number) a->scrub = -1;
    take_message(a);
    session_arrive(a);
    if (is_settled(a, snapshot_facts(s)))
        for (int i = 0; i < pane_count(); i++)
            if (pane_at(i)->look) pane_at(i)->look(a->state[i], s);
}

const Snapshot *app_snapshot(const App *a) {
    return a->snapshot;
}

static void watch_what_shows(App *a) {
    char list[sizeof a->watching], line[sizeof list + 8];
    app_watch_list(a, a->export_pending, list, sizeof list);
    if (!a->worker || a->layout.count == 0 || !strcmp(list, a->watching)) return;
    snprintf(line, sizeof line, "watch %s", list);
    if (worker_post(a->worker, line)) snprintf(a->watching, sizeof a->watching, "%s", list);
}

static bool take_snapshot(App *a) {
    Snapshot *fresh = a->worker ? worker_take(a->worker) : NULL;
    if (!fresh) return false;
    app_show(a, fresh);
    snapshot_unref(fresh);
    if (a->export_pending && (export_is_ready(a) || --a->export_patience <= 0)) {
        a->export_pending = false;
        Status s = export_tables(a, EXPORT_ALL, a->export_folder);
        if (!status_is_ok(&s)) app_say(a, 2, "%s", s.text);
    }
    return true;
}

bool app_tick(App *a) {
    bool news = take_snapshot(a);
    for (int i = 0; i < pane_count(); i++) {
        if (pane_at(i)->tick && pane_at(i)->tick(a->state[i])) news = true;
    }
    watch_what_shows(a);
    if (export_follow(a)) news = true;
    return drop_old_message(a) || news;
}

bool app_wait_jobs(App *a, double seconds) {
    for (int i = 0; i < pane_count(); i++) {
        if (pane_at(i)->wait && !pane_at(i)->wait(a->state[i], seconds)) return false;
    }
    return true;
}

/* Panes. */

Detail app_detail(const App *a) {
    return a->presenting ? DETAIL_PRESENT : a->view == VIEW_FOCUS ? DETAIL_FOCUS : DETAIL_WALL;
}

PaneContext app_context(const App *a, int pane) {
    return (PaneContext){.snapshot = a->snapshot,
                         .cursor = &a->cursor,
                         .state = a->state[pane],
                         .detail = app_detail(a),
                         .focus = pane == a->focus && a->overlay == OVERLAY_NONE};
}

Rect app_contents(const App *a, const Place *place) {
    Rect r = place->r;
    return a->presenting ? r : (Rect){r.x + 1, r.y + 1, r.w - 2, r.h - 2};
}

PaneCall app_call(App *a, int pane) {
    PaneCall call = {.state = a->state[pane], .cursor = &a->cursor, .snapshot = a->snapshot, .detail = app_detail(a)};
    for (int i = 0; i < a->layout.count; i++) {
        if (a->layout.place[i].pane != pane) continue;
        Rect r = app_contents(a, &a->layout.place[i]);
        call.w = r.w;
        call.h = r.h;
    }
    return call;
}

static void finish_visit(App *a, const char *lines) {
    Status s = session_visit(a, lines);
    if (!status_is_ok(&s)) app_say(a, 2, "%s", s.text);
}

void app_finish(App *a, PaneCall *call) {
    reading_clamp(a->snapshot, &a->cursor);
    if (strchr(call->command, '\n'))
        finish_visit(a, call->command);
    else if (call->command[0])
        app_run(a, call->command);
    if (call->lines) app_run_page(a, call->lines);
}

bool app_is_shown(const App *a, int pane) {
    for (int i = 0; i < a->layout.count; i++) {
        if (a->layout.place[i].pane == pane) return true;
    }
    return false;
}

void app_set_focus(App *a, int pane) {
    a->focus = pane;
    complete_set_focus(a->complete, pane);
}

/* Adds the words of LIST that OUT does not have yet. */
static void add_words(char *out, size_t bytes, const char *list) {
    for (const char *word = list; *word;) {
        size_t n = strcspn(word, " "), used = strlen(out);
        const char *there = out;
        bool known = false;
        for (; *there && !known; there += strcspn(there, " "), there += strspn(there, " ")) {
            known = !strncmp(there, word, n) && (there[n] == ' ' || there[n] == '\0');
        }
        if (!known && used + n + 2 < bytes) snprintf(out + used, bytes - used, "%s%.*s", used ? " " : "", (int)n, word);
        word += n + strspn(word + n, " ");
    }
}

const char *app_watch_list(const App *a, bool all, char *out, size_t bytes) {
    snprintf(out, bytes, "tokens"); /* the transport shows them */
    for (int i = 0; i < pane_count(); i++) {
        const PaneType *p = pane_at(i);
        if (all || app_is_shown(a, i)) add_words(out, bytes, p->watch);
        if (p->watch_closely && (all || i == a->focus)) add_words(out, bytes, p->watch_closely);
    }
    return out;
}

/* The rest. */

bool app_wants_quit(const App *a) {
    return a->quit;
}

const StyleSheet *app_style(const App *a) {
    return &a->style;
}

void app_set_style(App *a, const StyleSheet *style, bool chosen) {
    a->style.theme = style->theme;
    a->style.ground = style->ground;
    a->theme_chosen = chosen;
    a->style.map = style->map;
}

AppWish app_wish(App *a) {
    AppWish wish = {a->repaint, a->suspend, a->mouse};
    a->repaint = a->suspend = false;
    return wish;
}

Status app_post(App *a, const char *line) {
    if (!a->worker) return status_failed(_("there is no laboratory that could carry out '%s'"), line);
    if (!worker_post(a->worker, line)) return status_failed(_("the laboratory has too much to do; try again"));
    return status_ok();
}

void app_run(App *a, const char *line) {
    if (ask_first(a, line)) return;
    Status s = app_command(a, line);
    if (!status_is_ok(&s)) app_say(a, 2, "%s", s.text);
}
