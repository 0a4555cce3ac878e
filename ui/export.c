/* app, export: the tables of panes as CSV files, through the laboratory. */
#include "app_private.h"

#include "csvfile.h"
#include "intl.h"
#include "pane.h"

#include <stdio.h>
#include <string.h>

static const char *prefix_of(const App *a, int pane) {
    const PaneType *p = pane_at(pane);
    return p->prefix ? p->prefix(a->state[pane]) : p->name;
}

/* Writes the tables of a pane; adds their file names to SAID. *COUNT grows by the files written. */
static Status write_pane(const App *a, int pane, const char *folder, Str *said, int *count) {
    const PaneType *p = pane_at(pane);
    Table *tables[PANE_TABLES];
    PaneContext context = app_context(a, pane);
    int n = p->tables ? p->tables(&context, tables) : 0;
    Status s = status_ok();
    if (n > 0) s = csvfile_save_folder((const Table *const *)tables, n, folder, prefix_of(a, pane));
    for (int i = 0; i < n; i++) {
        if (status_is_ok(&s))
            str_addf(said, "%s%s.%s.csv", said->len ? ", " : "", prefix_of(a, pane), table_name(tables[i]));
        table_free(tables[i]);
    }
    if (status_is_ok(&s)) *count += n;
    return s;
}

static void say(App *a, const char *folder, int count, const Str *names) {
    app_say(a, 0, ngettext("wrote %d file to %s: %s", "wrote %d files to %s: %s", (unsigned long)count), count, folder,
            names->s);
}

Status export_pane(App *a, int pane, const char *folder) {
    Str names;
    int count = 0;
    str_init(&names);
    Status s = write_pane(a, pane, folder, &names, &count);
    if (status_is_ok(&s) && count > 0) say(a, folder, count, &names);
    str_done(&names);
    if (status_is_ok(&s) && count == 0)
        return status_failed(_("%s shows nothing yet that could be written"), _(pane_at(pane)->title));
    return s;
}

Status export_all(App *a) {
    Str names;
    int count = 0;
    Status s = status_ok();
    str_init(&names);
    for (int i = 0; i < pane_count() && status_is_ok(&s); i++) s = write_pane(a, i, a->export_folder, &names, &count);
    if (status_is_ok(&s) && count > 0) say(a, a->export_folder, count, &names);
    str_done(&names);
    if (status_is_ok(&s) && count == 0) return status_failed(_("no pane shows anything yet that could be written"));
    return s;
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
