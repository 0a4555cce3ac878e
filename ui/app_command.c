/* app, commands: the screen's table, and which table a line belongs to. */
#include "app_private.h"

#include "bug.h"
#include "intl.h"
#include "pane.h"
#include "picture.h"
#include "reading.h"
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REWIND_PART = 20 };

/* Numbers. */

static Status read_count(const Words *words, int i, long otherwise, long *out) {
    long long n = otherwise;
    if (words->count > i && (!str_to_long(words->word[i], &n) || n < 1 || n > 1000000000)) {
        return status_usage(_("%s is no number from 1 up"), words->word[i]);
    }
    *out = (long)n;
    return status_ok();
}

static Status post(App *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static Status post(App *a, const char *format, ...) {
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return app_post(a, line);
}

/* The clocks. */

static Status run_toggle(App *a, const Words *words) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    (void)words;
    if (a->clock == CLOCK_TRAIN) return app_post(a, f->state == RUN_RUNNING ? "pause" : "run");
    return app_post(a, f->decode_running ? "decode pause" : "decode run");
}

static Status run_next(App *a, const Words *words) {
    long n = 1;
    STATUS_TRY(read_count(words, 1, 1, &n));
    return a->clock == CLOCK_TRAIN ? post(a, "step %ld", n) : post(a, "token next %ld", n);
}

static Status run_previous(App *a, const Words *words) {
    long n = 1;
    STATUS_TRY(read_count(words, 1, 1, &n));
    return a->clock == CLOCK_TRAIN ? post(a, "back %ld", n) : post(a, "token back %ld", n);
}

static long stride(const App *a) {
    long head = snapshot_facts(a->snapshot)->head;
    return head >= REWIND_PART ? head / REWIND_PART : 1;
}

/* Keys may come faster than steps are replayed: each goes on from where the last one wanted to be. */
static Status scrub(App *a, long by) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    long to = (a->scrub >= 0 ? a->scrub : f->step) + by;
    a->scrub = to < 0 ? 0 : to >= f->head ? f->head : to;
    return to >= f->head ? app_post(a, "live") : post(a, "seek %ld", a->scrub);
}

static Status run_rewind(App *a, const Words *words) {
    long n = 1;
    STATUS_TRY(read_count(words, 1, stride(a), &n));
    return scrub(a, -n);
}

static Status run_advance(App *a, const Words *words) {
    long n = 1;
    STATUS_TRY(read_count(words, 1, stride(a), &n));
    return scrub(a, n);
}

static Status run_clock(App *a, const Words *words) {
    if (words->count == 1)
        a->clock = a->clock == CLOCK_TRAIN ? CLOCK_DECODE : CLOCK_TRAIN;
    else if (!strcmp(words->word[1], "train"))
        a->clock = CLOCK_TRAIN;
    else if (!strcmp(words->word[1], "decode"))
        a->clock = CLOCK_DECODE;
    else
        return status_usage(_("clock is train or decode, not %s"), words->word[1]);
    return status_ok();
}

/* The cursor. */

static void move_overlay(App *a, Move move, long n) {
    static const int rows[] = {-1, 1, 0, 0, -10, 10, -1000000, 1000000};
    int by = rows[move] * (int)(n < 1000 ? n : 1000);
    if (a->overlay == OVERLAY_OPTIONS)
        form_move(a->form, by);
    else if (a->overlay == OVERLAY_TAMPERING)
        tampering_move(a, by);
    else
        help_move(&a->help, by, a->overlay_inside.w, a->overlay_inside.h, a->focus, app_commands());
}

static Status move_cursor(App *a, Move move, const Words *words) {
    long n = 1;
    STATUS_TRY(read_count(words, 2, 1, &n));
    if (a->overlay != OVERLAY_NONE) {
        move_overlay(a, move, n);
        return status_ok();
    }
    const PaneType *p = pane_at(a->focus);
    if (!p->move) return status_ok();
    PaneCall call = app_call(a, a->focus);
    p->move(&call, move, (int)(n < 1000000 ? n : 1000000));
    app_finish(a, &call);
    return status_ok();
}

/* "layer=+1" or "head=2": FIRST is what the screen counts from. */
static Status set_part(App *a, const char *word) {
    Cursor *c = &a->cursor;
    const char *equals = strchr(word, '=');
    long long n;
    if (!equals || !str_to_long(equals + 1, &n)) return status_usage(_("%s is no direction and no part=number"), word);
    bool relative = equals[1] == '+' || equals[1] == '-';
    size_t name = (size_t)(equals - word);
    struct {
        const char *name;
        int *at, first;
    } parts[] = {{"layer", &c->layer, 1}, {"head", &c->head, 1}, {"query", &c->query, 0}, {"key", &c->key, 0}};
    if (n > 1000000000 || n < -1000000000) return status_usage(_("%s is too far"), word);
    for (int i = 0; i < 4; i++) {
        if (strlen(parts[i].name) != name || strncmp(parts[i].name, word, name) != 0) continue;
        *parts[i].at = (int)n + (relative ? *parts[i].at : -parts[i].first);
        return status_ok();
    }
    if (name != 4 || strncmp(word, "step", 4) != 0)
        return status_usage(_("the cursor has layer, head, query, key and step, not %.*s"), (int)name, word);
    long from = c->step >= 0 ? c->step : snapshot_facts(a->snapshot)->step;
    c->step = relative ? from + (long)n : (long)n;
    if (c->step < 0) c->step = 0;
    return status_ok();
}

static Status run_cursor(App *a, const Words *words) {
    static const char *const moves[] = {"up", "down", "left", "right", "page-up", "page-down", "first", "last"};
    for (int i = 0; i < 8; i++) {
        if (!strcmp(words->word[1], moves[i])) return move_cursor(a, (Move)i, words);
    }
    for (int i = 1; i < words->count; i++) STATUS_TRY(set_part(a, words->word[i]));
    reading_clamp(a->snapshot, &a->cursor);
    return status_ok();
}

static Status run_enter(App *a, const Words *words) {
    (void)words;
    if (a->overlay == OVERLAY_TAMPERING) {
        tampering_enter(a);
        return status_ok();
    }
    if (a->overlay == OVERLAY_OPTIONS) form_enter(a->form);
    if (a->overlay == OVERLAY_HELP) a->overlay = OVERLAY_NONE;
    if (a->overlay != OVERLAY_NONE) return status_ok();
    const PaneType *p = pane_at(a->focus);
    PaneCall call = app_call(a, a->focus);
    bool done = p->enter && p->enter(&call);
    app_finish(a, &call);
    if (!done && a->view != VIEW_FOCUS && !a->presenting) a->view = VIEW_FOCUS;
    return status_ok();
}

static Status run_escape(App *a, const Words *words) {
    (void)words;
    if (a->message[0]) {
        a->message[0] = '\0';
        return status_ok();
    }
    if (a->overlay == OVERLAY_HELP && a->help.filter[0]) {
        a->help = (HelpView){.first = 0};
        return status_ok();
    }
    if (a->overlay != OVERLAY_NONE) {
        a->overlay = OVERLAY_NONE;
        return status_ok();
    }
    const PaneType *p = pane_at(a->focus);
    PaneCall call = app_call(a, a->focus);
    bool done = p->escape && p->escape(&call);
    app_finish(a, &call);
    if (done) return status_ok();
    if (a->presenting)
        a->presenting = false;
    else
        a->view = VIEW_WALL;
    return status_ok();
}

bool app_narrow(App *a, const char *text) {
    if (a->overlay == OVERLAY_HELP) {
        if (!text)
            a->help = a->help_before;
        else
            help_filter(&a->help, text);
        return true;
    }
    const PaneType *p = pane_at(a->focus);
    if (a->overlay != OVERLAY_NONE || !p->narrow) return false;
    PaneCall call = app_call(a, a->focus);
    bool narrowed = p->narrow(&call, text);
    app_finish(a, &call);
    return narrowed;
}

static Status run_find(App *a, const Words *words) {
    bool again = words->count == 1, list = again && app_narrow(a, "");
    if (again && !list && !a->found[0]) return status_ok();
    const char *text = !again ? words->rest[1] : list ? "" : a->found;
    if (!again) snprintf(a->found, sizeof a->found, "%s", text);
    if (a->overlay == OVERLAY_HELP) {
        help_filter(&a->help, text);
        return status_ok();
    }
    bool found;
    if (a->overlay == OVERLAY_OPTIONS) {
        found = form_find(a->form, text);
    } else if (a->overlay == OVERLAY_TAMPERING) {
        found = tampering_find(a, text);
    } else {
        const PaneType *p = pane_at(a->focus);
        PaneCall call = app_call(a, a->focus);
        found = p->find && p->find(&call, text);
        app_finish(a, &call);
    }
    return found ? status_ok() : status_usage(_("nothing here holds “%s”"), text);
}

/* Panes and views. */

/* The pane that stands BY panes further among those that the wall does not leave out. */
static int next_pane(const App *a, int by) {
    int n = pane_count(), to = (a->focus + by) % n;
    while (a->hidden[to] && to != a->focus) to = (to + by) % n;
    return to;
}

/* The pane of a name or of a number from 1. */
static Status read_pane(const char *word, int *out) {
    long long number;
    *out = pane_find(word);
    if (*out < 0 && str_to_long(word, &number) && number >= 1 && number <= pane_count()) *out = (int)number - 1;
    return *out >= 0 ? status_ok() : status_usage(_("there is no pane %s; ? lists them"), word);
}

static Status run_pane(App *a, const Words *words) {
    const char *name = words->word[1];
    int n = pane_count(), to;
    if (!strcmp(name, "next"))
        to = next_pane(a, 1);
    else if (!strcmp(name, "previous"))
        to = next_pane(a, n - 1);
    else
        STATUS_TRY(read_pane(name, &to));
    a->overlay = OVERLAY_NONE;
    app_set_focus(a, to);
    return status_ok();
}

static Status run_view(App *a, const Words *words) {
    static const char *const names[] = {"wall", "split", "focus"};
    a->overlay = OVERLAY_NONE;
    if (words->count == 1) {
        a->view = a->view == VIEW_FOCUS || a->presenting ? VIEW_WALL : VIEW_FOCUS;
        a->presenting = false;
        return status_ok();
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(words->word[1], names[i])) continue;
        a->view = (ViewKind)i;
        a->presenting = false;
        return status_ok();
    }
    return status_usage(_("view is wall, split or focus, not %s"), words->word[1]);
}

static Status run_wall(App *a, const Words *words) {
    bool hidden[LAYOUT_MOST];
    for (int i = 0; i < LAYOUT_MOST; i++) hidden[i] = words->count > 1 || (i < pane_count() && pane_at(i)->aside);
    int first = a->focus;
    for (int i = 1; i < words->count; i++) {
        int pane;
        STATUS_TRY(read_pane(words->word[i], &pane));
        hidden[pane] = false;
        if (i == 1) first = pane;
    }
    memcpy(a->hidden, hidden, sizeof hidden);
    a->overlay = OVERLAY_NONE;
    a->presenting = false;
    a->view = VIEW_WALL;
    if (hidden[a->focus]) app_set_focus(a, first);
    return status_ok();
}

static Status run_help(App *a, const Words *words) {
    bool open = a->overlay == OVERLAY_HELP && words->count == 1;
    a->overlay = open ? OVERLAY_NONE : OVERLAY_HELP;
    help_filter(&a->help, words->count > 1 ? words->rest[1] : "");
    return status_ok();
}

static Status run_ask(App *a, const Words *words) {
    const char *line = words->count > 3 ? words->rest[2] : words->count == 3 ? words->word[2] : "";
    if (!strcmp(words->word[1], "command"))
        app_open(a, ASK_COMMAND, line);
    else if (!strcmp(words->word[1], "find"))
        app_open(a, ASK_FIND, line);
    else
        return status_usage(_("ask is command or find, not %s"), words->word[1]);
    return status_ok();
}

static Status run_edit(App *a, const Words *words) {
    (void)words;
    app_open(a, ASK_PROMPT, NULL);
    return status_ok();
}

/* The options of the run. */

static Status run_options(App *a, const Words *words) {
    (void)words;
    options_toggle(a);
    return status_ok();
}

static Status run_apply(App *a, const Words *words) {
    (void)words;
    return options_post(a, "set");
}

static Status run_beside(App *a, const Words *words) {
    (void)words;
    return options_post(a, "versus");
}

static Status run_begin(App *a, const Words *words) {
    (void)words;
    return options_begin(a);
}

static Status run_default(App *a, const Words *words) {
    (void)words;
    if (a->overlay != OVERLAY_OPTIONS)
        return status_usage(_("default takes back one of the options that o shows; open them first"));
    form_reset(a->form);
    return status_ok();
}

/* Export. */

static void set_folder(App *a, const Words *words) {
    snprintf(a->export_folder, sizeof a->export_folder, "%s", words->count > 1 ? words->word[1] : ".");
}

static Status run_export(App *a, const Words *words) {
    set_folder(a, words);
    return export_tables(a, a->focus, a->export_folder);
}

/* Panes that do not show may lack what they need: the snapshot that has it comes first. */
static Status run_export_all(App *a, const Words *words) {
    set_folder(a, words);
    if (!a->worker || export_is_ready(a)) return export_tables(a, EXPORT_ALL, a->export_folder);
    a->export_pending = true;
    a->export_patience = 8;
    return status_ok();
}

/* The screen. */

static Status run_theme(App *a, const Words *words) {
    if (words->count == 1)
        a->style.theme = (ThemeName)((a->style.theme + 1) % THEME_COUNT);
    else if (!style_theme_find(words->word[1], &a->style.theme))
        return status_usage(_("themes are dark, light, contrast and mono, not %s"), words->word[1]);
    a->theme_chosen = true;
    app_say(a, 0, _("theme %s"), style_theme_name(a->style.theme));
    return status_ok();
}

static Status run_map(App *a, const Words *words) {
    if (words->count == 1)
        a->style.map = (MapName)((a->style.map + 1) % MAP_COUNT);
    else if (!style_map_find(words->word[1], &a->style.map))
        return status_usage(_("colour maps are viridis, cividis, magma and gray, not %s"), words->word[1]);
    app_say(a, 0, _("colour map %s"), style_map_name(a->style.map));
    return status_ok();
}

static Status run_blank(App *a, const Words *words) {
    (void)words;
    a->blank = true;
    return status_ok();
}

static Status run_mouse(App *a, const Words *words) {
    STATUS_TRY(command_switch(words, &a->mouse));
    app_say(a, 0, a->mouse ? _("the mouse is ours") : _("the mouse is the terminal's: select and paste as usual"));
    return status_ok();
}

static Status run_repaint(App *a, const Words *words) {
    (void)words;
    a->repaint = true;
    return status_ok();
}

static Status run_suspend(App *a, const Words *words) {
    (void)words;
    a->suspend = true;
    return status_ok();
}

static Status run_dump(App *a, const Words *words) {
    PictureKind kind = picture_kind(words->word[1]);
    Canvas *c = canvas_new(a->w, a->h, GLYPHS_HALF);
    Glyphs glyphs = a->glyphs;
    bool heat_colour = a->heat_colour;
    c->heat_colour = picture_heat_is_colour(&a->style, kind);
    app_draw(a, c);
    a->glyphs = glyphs; /* a click is on the screen, not on the picture */
    a->heat_colour = heat_colour;
    Str text;
    str_init(&text);
    picture_add(c, &a->style, kind, &text);
    canvas_free(c);
    return export_screen(a, words->word[1], &text);
}

static Status run_keep(App *a, const Words *words) {
    return session_keep(a, words->word[1], false);
}

static Status run_resume(App *a, const Words *words) {
    return session_resume(a, words->word[1]);
}

static Status run_return(App *a, const Words *words) {
    (void)words;
    if (!snapshot_facts(a->snapshot)->waiting[0])
        return status_usage(_("no run waits: this is the one that was there all along"));
    return session_return(a);
}

static Status run_quit(App *a, const Words *words) {
    if (words->count > 1 && strcmp(words->word[1], "now")) return status_usage(_("quit takes nothing, or now"));
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    bool lost = reading_is_unsaved(f) || f->waiting_unsaved, busy = !app_wait_jobs(a, 0);
    if (words->count > 1) {
        a->quit = true;
    } else if (a->overlay != OVERLAY_NONE) {
        a->overlay = OVERLAY_NONE;
    } else if (lost || busy) {
        ask_to_quit(a, lost ? _("the run is not saved (:save PATH does it). q quits, any other key stays")
                            : _("an experiment is still running. q quits, any other key stays"));
    } else {
        a->quit = true;
    }
    return status_ok();
}

/* The table. */

#define COMMAND(name, function, arguments, least, most, help)                                                          \
    static Status do_##function(void *owner, const Words *words) {                                                     \
        return run_##function(owner, words);                                                                           \
    }
#include "commands_ui.def"
#undef COMMAND

static const Command commands[] = {
#define COMMAND(name, function, arguments, least, most, help) {name, arguments, help, least, most, do_##function},
#include "commands_ui.def"
#undef COMMAND
    {NULL, NULL, NULL, 0, 0, NULL},
};

const Command *app_commands(void) {
    return commands;
}
