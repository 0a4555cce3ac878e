#include "session.h"

#include "app_private.h"

#include "file.h"
#include "intl.h"
#include "mem.h"
#include "pane.h"

#include <stdio.h>
#include <string.h>

#define SESSION_FIRST  "# lantern session"
#define SESSION_SCREEN "screen"
enum { SESSION_BYTES = 1 << 20 };

/* ---- keeping ---- */

static void add_pane(const App *a, int pane, Str *out) {
    const PaneType *p = pane_at(pane);
    if (!p->save) return;
    Str lines;
    str_init(&lines);
    p->save(a->state[pane], &lines);
    if (lines.len) str_addf(out, "pane %s\n%s", p->name, lines.s);
    str_done(&lines);
}

static void add_wall(const App *a, Str *out) {
    bool chosen = false;
    for (int i = 0; i < pane_count(); i++) chosen = chosen || a->hidden[i] != (pane_at(i)->aside != NULL);
    if (!chosen) return;
    str_add(out, "wall");
    for (int i = 0; i < pane_count(); i++)
        if (!a->hidden[i]) str_addf(out, " %s", pane_at(i)->name);
    str_add(out, "\n");
}

/* Which panes show, and what they point at. */
static void add_view(const App *a, Str *out) {
    static const char *const views[] = {"wall", "split", "focus"};
    const Cursor *c = &a->cursor;
    add_wall(a, out);
    str_addf(out, "pane %s\nview %s\n", pane_at(a->focus)->name, views[a->view]);
    if (a->presenting) str_add(out, "present on\n");
    if (a->spotlight) str_addf(out, "spotlight %s\n", app_spotlight_name(a->spotlight));
    str_addf(out, "clock %s\n", a->clock == CLOCK_TRAIN ? "train" : "decode");
    str_addf(out, "cursor layer=%d head=%d query=%d key=%d\n", c->layer + 1, c->head + 1, c->query, c->key);
    if (c->step >= 0) str_addf(out, "cursor step=%ld\n", c->step);
}

/* What made the model, to be read: the file of the model has it in it. */
static void add_changes(const App *a, Str *out) {
    const Table *t = snapshot_table(a->snapshot, "changes");
    for (long i = 0; t && i < table_rows(t); i++)
        str_addf(out, "# %lld set %s %s\n", table_int(t, i, 0), table_text(t, i, 1), table_text(t, i, 2));
}

static void add_screen(const App *a, Str *out) {
    str_addf(out, "%s\n", SESSION_SCREEN);
    if (a->cues.path) {
        Str whole;
        str_init(&whole);
        file_add_whole_path(a->cues.path, &whole);
        str_add(out, "cues ");
        command_add_quoted(out, whole.s);
        str_add(out, "\n");
        str_done(&whole);
    }
    str_addf(out, "theme %s\nmap %s\n", style_theme_name(a->style.theme), style_map_name(a->style.map));
    for (int i = 0; i < pane_count(); i++) add_pane(a, i, out);
    add_view(a, out);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The letter of the run beside the one that is looked at; 0: there is none. */
static char other_run(const App *a) {
    char versus = snapshot_facts(a->snapshot)->versus;
    return versus == 0 ? '\0' : versus == 'A' ? 'B' : 'A';
}

/* "WHAT PATH" and what follows, whatever is in the path. */
static Status post_path(App *a, const char *what, const char *path, const char *more) {
    Str line;
    str_init(&line);
    str_addf(&line, "%s ", what);
    command_add_quoted(&line, path);
    str_add(&line, more);
    Status s = app_post(a, line.s);
    str_done(&line);
    return s;
}

Status session_keep(App *a, const char *path, bool quiet) {
    const Table *state = snapshot_table(a->snapshot, "state");
    if (!state) return status_failed(_("there is no run yet that could be kept"));
    Str text, file;
    str_init(&text);
    str_init(&file);
    str_addf(&text, "%s\nmodel %s.model\n", SESSION_FIRST, base_name(path));
    char other = other_run(a);
    if (other) str_addf(&text, "rival %s.rival.model %c\n", base_name(path), other);
    for (long i = 0; i < table_rows(state); i++) str_addf(&text, "%s\n", table_text(state, i, 0));
    add_changes(a, &text);
    add_screen(a, &text);
    Status s = export_session(a, path, &text, quiet);
    if (status_is_ok(&s) && other) {
        str_addf(&file, "%s.rival.model", path);
        s = post_path(a, "versus save", file.s, "");
        str_clear(&file);
    }
    str_addf(&file, "%s.model", path);
    if (status_is_ok(&s)) s = post_path(a, "save", file.s, quiet ? " quietly" : "");
    str_done(&file);
    return s;
}

/* ---- resuming ---- */

/* WHAT opens MODEL, which lies beside SESSION; MORE follows the path. */
static Status post_model(App *a, const char *what, const char *session, const char *model, const char *more) {
    Str file;
    str_init(&file);
    str_addf(&file, "%.*s%s", (int)(base_name(session) - session), session, model);
    Status s = post_path(a, what, file.s, more);
    str_done(&file);
    return s;
}

/* "FILE LETTER" */
static Status post_rival(App *a, const char *session, char *words) {
    char *letter = strrchr(words, ' ');
    if (!letter) return status_usage(_("'%s' does not say which run '%s' is"), session, words);
    char more[3] = {' ', letter[1], '\0'};
    *letter = '\0';
    return post_model(a, "versus open", session, words, more);
}

/* Posts the laboratory's lines of TEXT, which is cut up; *SCREEN: what stands behind them. */
static Status post_lines(App *a, const char *path, char *text, char **screen) {
    Status s = status_ok();
    *screen = NULL;
    for (char *line = text, *end; status_is_ok(&s) && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (strcmp(line, SESSION_SCREEN) == 0) {
            *screen = end + 1;
            break;
        }
        if (strncmp(line, "model ", 6) == 0)
            s = post_model(a, "open", path, line + 6, "");
        else if (strncmp(line, "rival ", 6) == 0)
            s = post_rival(a, path, line + 6);
        else if (line[0] && line[0] != '#')
            s = app_post(a, line);
    }
    return s;
}

static Status read_session(const char *path, Str *text) {
    STATUS_TRY(file_read(path, SESSION_BYTES, text));
    if (strncmp(text->s, SESSION_FIRST, strlen(SESSION_FIRST)) == 0 && strlen(text->s) == text->len) return status_ok();
    return status_usage(_("'%s' is no session of lantern (:keep FILE writes one)"), path);
}

Status session_check(const char *path) {
    Str text;
    str_init(&text);
    Status s = read_session(path, &text);
    str_done(&text);
    return s;
}

/* TEXT, which is cut up, is carried out; PATH is where a line "model" looks. */
static Status play(App *a, const char *path, char *text, Arrival arrival) {
    char *screen = NULL, line[32];
    STATUS_TRY(post_lines(a, path, text, &screen));
    str_clear(&a->arriving);
    str_add(&a->arriving, screen ? screen : "");
    a->arrival = arrival;
    a->arriving_message = a->message_number;
    snprintf(line, sizeof line, "mark %ld", ++a->mark);
    return app_post(a, line);
}

Status session_resume(App *a, const char *path) {
    Str text;
    str_init(&text);
    Status s = read_session(path, &text);
    if (status_is_ok(&s)) s = play(a, path, text.s, ARRIVAL_KEPT);
    str_done(&text);
    return s;
}

Status session_visit(App *a, const char *lines) {
    if (!snapshot_facts(a->snapshot)->waiting[0]) {
        str_clear(&a->home);
        add_view(a, &a->home);
    }
    char *text = mem_text(lines);
    Status s = play(a, "", text, ARRIVAL_VISIT);
    mem_free(text);
    return s;
}

Status session_return(App *a) {
    Str text;
    str_init(&text);
    str_addf(&text, "leave\n%s\n%s", SESSION_SCREEN, a->home.s);
    Status s = play(a, "", text.s, ARRIVAL_HOME);
    str_done(&text);
    return s;
}

void session_cursor(App *a, const char *lines) {
    Str text;
    str_init(&text);
    str_addf(&text, "%s\n", SESSION_SCREEN);
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, "cursor ", 7) == 0) str_add_n(&text, line, (size_t)(end + 1 - line));
    Status s = a->worker ? play(a, "", text.s, ARRIVAL_PAGE) : status_ok();
    (void)s; /* the queue is full: the cursor stands where it is */
    str_done(&text);
}

/* Whether what was posted before the screen's lines was refused: the message says so, and the screen stays. */
static bool refused(const App *a) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    return a->arrival != ARRIVAL_KEPT && f->message_number > a->arriving_message && f->message_level == 2;
}

static void say_arrival(App *a) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    if (a->arrival == ARRIVAL_KEPT && f->missing[0])
        app_say(a, 1, _("as it was kept, but not to be trained on: %s"), f->missing);
    else if (a->arrival == ARRIVAL_KEPT)
        app_say(a, 0, "%s", _("as it was kept"));
    if (a->arrival == ARRIVAL_VISIT && f->waiting[0])
        app_say(a, 0, _("this is the model of the experiment; your run waits at step %ld, and Backspace returns to it"),
                f->waiting_step);
    if (a->arrival == ARRIVAL_HOME) app_say(a, 0, _("your run again, at step %ld"), f->step);
}

void session_arrive(App *a) {
    if (a->arriving.len == 0 || snapshot_facts(a->snapshot)->mark < a->mark) return;
    char *text = mem_text(a->arriving.s);
    str_clear(&a->arriving);
    if (refused(a)) {
        mem_free(text);
        return;
    }
    a->placed = true; /* the cursor stands where the session says */
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        app_run(a, line);
    }
    say_arrival(a);
    mem_free(text);
}
