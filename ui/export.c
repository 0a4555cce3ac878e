/* app, export: the tables of panes and the screen itself on their way to files, beside the screen (writing.h). */
#include "app_private.h"

#include "about.h"
#include "intl.h"
#include "pane.h"
#include "session.h"

#include <string.h>

static Status still_writing(const App *a) {
    return a->writing ? status_failed(_("the files asked for before are still being written; try again")) : status_ok();
}

static void begin(App *a, Writing *w, int what, const char *target) {
    a->writing = w;
    a->writing_what = what;
    app_say(a, 0, _("writing to %s …"), target);
    writing_start(w);
}

static Status nothing_yet(int what) {
    if (what == EXPORT_ALL) return status_failed(_("no pane shows anything yet that could be written"));
    return status_failed(_("%s shows nothing yet that could be written"), _(pane_at(what)->title));
}

/* Where the tables of all panes lie, the way back lies too. */
static Status keep_session(App *a) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/session", a->export_folder);
    Status s = a->worker ? session_keep(a, path.s, true) : status_ok();
    str_done(&path);
    return s;
}

static bool add_pane(const App *a, Writing *w, int pane) {
    PaneContext context = app_context(a, pane);
    return writing_add_pane(w, pane_at(pane), &context);
}

Status export_tables(App *a, int what, const char *folder) {
    STATUS_TRY(still_writing(a));
    Writing *w = writing_tables(folder);
    bool any = false;
    for (int i = 0; i < pane_count(); i++)
        if (what == EXPORT_ALL || what == i) any = add_pane(a, w, i) || any;
    if (what == EXPORT_ALL || !pane_at(what)->prefix) /* one with a prefix of its own has an `about` of its own */
        writing_add_table(w, what == EXPORT_ALL ? "screen" : pane_at(what)->name, about_snapshot(a->snapshot));
    if (any)
        begin(a, w, what, folder);
    else
        writing_free(w);
    return any ? status_ok() : nothing_yet(what);
}

Status export_screen(App *a, const char *path, Str *picture) {
    Status s = still_writing(a);
    if (status_is_ok(&s))
        begin(a, writing_text(path, picture), EXPORT_SCREEN, path);
    else
        str_done(picture);
    return s;
}

Status export_session(App *a, const char *path, Str *text, bool quietly) {
    Status s = still_writing(a);
    if (status_is_ok(&s)) {
        a->writing = writing_text(path, text);
        a->writing_what = quietly ? EXPORT_QUIETLY : EXPORT_SESSION;
        writing_start(a->writing);
    } else {
        str_done(text);
    }
    return s;
}

/* Names are the same each time: what was there before is not there any more, which somebody may want to know. */
static void say_tables(App *a, int files, int replaced, const char *names) {
    unsigned long n = (unsigned long)files;
    if (replaced > 0)
        app_say(a, 0, ngettext("wrote %d file to %s (%d replaced): %s", "wrote %d files to %s (%d replaced): %s", n),
                files, a->export_folder, replaced, names);
    else
        app_say(a, 0, ngettext("wrote %d file to %s: %s", "wrote %d files to %s: %s", n), files, a->export_folder,
                names);
}

/* What the thread came to. */
static Status end(App *a) {
    int files, replaced;
    Str names;
    str_init(&names);
    Status s = writing_end(a->writing, &files, &replaced, &names);
    int what = a->writing_what;
    a->writing = NULL;
    if (status_is_ok(&s) && files == 0) s = nothing_yet(what);
    if (status_is_ok(&s) && what == EXPORT_ALL) s = keep_session(a);
    if (!status_is_ok(&s))
        app_say(a, 2, "%s", s.text);
    else if (what == EXPORT_SCREEN)
        app_say(a, 0, _("wrote the screen to %s"), names.s);
    else if (what == EXPORT_SESSION)
        app_say(a, 0, _("kept in %s and %s.model; lantern --open %s returns here"), names.s, names.s, names.s);
    else if (what != EXPORT_QUIETLY)
        say_tables(a, files, replaced, names.s);
    str_done(&names);
    return s;
}

bool export_follow(App *a) {
    if (!a->writing || !writing_is_over(a->writing)) return false;
    Status s = end(a);
    (void)s; /* the message says it */
    return true;
}

Status app_end_writing(App *a) {
    Status first = status_ok(); /* all tables bring a session after them */
    while (a->writing) {
        Status s = end(a);
        if (status_is_ok(&first)) first = s;
    }
    return first;
}

/* Whether the snapshot holds what observer NAME adds: a table of that name, or fields that begin with it. */
static bool holds(const Snapshot *s, const char *name, size_t bytes) {
    for (int i = 0; i < snapshot_tables(s); i++) {
        const char *table = table_name(snapshot_table_at(s, i));
        if (!strncmp(table, name, bytes) && !table[bytes]) return true;
    }
    for (int i = 0; i < snapshot_fields(s); i++) {
        const char *field = snapshot_field_at(s, i)->name;
        if (!strncmp(field, name, bytes) && field[bytes] == '.') return true;
    }
    return false;
}

bool export_is_ready(const App *a) {
    char list[sizeof a->watching];
    app_watch_list(a, true, list, sizeof list);
    for (const char *word = list; *word;) {
        size_t n = strcspn(word, " ");
        if (!holds(a->snapshot, word, n)) return false;
        word += n + strspn(word + n, " ");
    }
    return true;
}
