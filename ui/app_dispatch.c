/* app, dispatch: which table a line belongs to: the focused pane's, the screen's, another pane's, or the laboratory's.
 */
#include "app_private.h"

#include "intl.h"
#include "pane.h"

#include <string.h>

enum { OWNER_SCREEN = -1, OWNER_LABORATORY = -2, OWNER_NOBODY = -3 }; /* else a pane */

/* The only owner with a command of exactly this name (or, when BEGINS, with one that begins so). */
static int owner_of(const App *a, const char *name, bool begins, int *fits) {
    size_t bytes = strlen(name);
    int owner = OWNER_NOBODY;
    *fits = 0;
    for (int i = -2; i < pane_count(); i++) {
        int at = i == -2 ? a->focus : i == -1 ? OWNER_SCREEN : i; /* the focused pane, the screen, the other panes */
        const Command *table = at == OWNER_SCREEN ? app_commands() : pane_at(at)->commands;
        if (i == a->focus) continue;
        for (; table && table->name; table++) {
            if (begins ? strncmp(table->name, name, bytes) != 0 : strcmp(table->name, name) != 0) continue;
            if (++*fits == 1) owner = at;
        }
    }
    for (const Command *table = lab_commands(); table->name; table++) {
        if (begins ? strncmp(table->name, name, bytes) != 0 : strcmp(table->name, name) != 0) continue;
        if (++*fits == 1) owner = OWNER_LABORATORY;
    }
    return owner;
}

/* The table that a line of this name goes to; *FITS: how many it could be. */
static int owner_of_name(const App *a, const char *name, int *fits) {
    int owner = owner_of(a, name, false, fits);
    return owner == OWNER_NOBODY ? owner_of(a, name, true, fits) : owner;
}

static const Command *table_of(int owner) {
    return owner == OWNER_SCREEN       ? app_commands()
           : owner == OWNER_LABORATORY ? lab_commands()
                                       : pane_at(owner)->commands;
}

const Command *app_find(const App *a, const char *name) {
    int fits, owner = owner_of_name(a, name, &fits);
    return owner == OWNER_NOBODY || fits > 1 ? NULL : command_find(table_of(owner), name);
}

static Status run_in_pane(App *a, int pane, const char *line) {
    bool found;
    PaneCall call = app_call(a, pane);
    Status s = command_run(pane_at(pane)->commands, &call, line, &found);
    app_finish(a, &call);
    if (status_is_ok(&s) && !app_is_shown(a, pane)) app_set_focus(a, pane);
    return s;
}

static Status unknown(const char *name) {
    const Command *tables[LAYOUT_MOST + 3];
    int n = 0;
    tables[n++] = app_commands();
    tables[n++] = lab_commands();
    for (int i = 0; i < pane_count(); i++) {
        if (pane_at(i)->commands) tables[n++] = pane_at(i)->commands;
    }
    tables[n] = NULL;
    return command_unknown(tables, name);
}

/* Pages and cues take back whatever may be done; only who asks by hand wants to know that there was nothing. */
static void say_what_it_meets(App *a, const char *name) {
    const Command *c = command_find(lab_commands(), name);
    if (a->in_cue || !c || strcmp(c->name, "undo") != 0 || snapshot_facts(a->snapshot)->tamper[0]) return;
    app_say(a, 0, "%s", _("nothing is done to what is looked at"));
}

static Status run_in_laboratory(App *a, const char *line, const char *name) {
    STATUS_TRY(app_post(a, line));
    say_what_it_meets(a, name);
    return status_ok();
}

Status app_command(App *a, const char *line) {
    Words words;
    STATUS_TRY(command_split(line, &words));
    if (words.count == 0) return status_ok();
    int fits, owner = owner_of_name(a, words.word[0], &fits);
    if (owner == OWNER_NOBODY) return unknown(words.word[0]);
    bool found;
    if (fits > 1) return status_usage(_("'%s' could be several commands; Tab lists them"), words.word[0]);
    if (owner == OWNER_LABORATORY) return run_in_laboratory(a, line, words.word[0]);
    if (owner == OWNER_SCREEN) return command_run(app_commands(), a, line, &found);
    return run_in_pane(a, owner, line);
}
