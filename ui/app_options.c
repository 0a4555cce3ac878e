/* app, options: the form of the run's options: what they come to before they are applied, and the line that does it. */
#include "app_private.h"

#include "bug.h"
#include "intl.h"
#include "lab.h"

#include <string.h>

Options *options_live(const App *a) {
    Options *o = lab_options();
    const Table *t = snapshot_table(a->snapshot, "settings");
    for (long i = 0; t && i < table_rows(t); i++) {
        if (!strcmp(table_text(t, i, 0), "prompt")) continue; /* it stays as it is */
        Status s = options_set(o, table_text(t, i, 0), table_text(t, i, 1));
        BUG_ON(!status_is_ok(&s)); /* the laboratory took it */
    }
    return o;
}

/* Before it is applied: whether the run goes on with its parameters. */
static void judge_options(const void *user, const Options *before, const Options *now, Str *out, StyleRole *role) {
    const App *a = user;
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    LabChange change = LAB_SAME;
    Str why;
    if (f->vocab < 1) return; /* no run yet */
    str_init(&why);
    Status s = lab_compare(before, now, f->vocab, &change, &why);
    if (!status_is_ok(&s)) {
        str_add(out, s.text);
        *role = STYLE_ERROR;
    } else if (change == LAB_KEEPS) {
        str_addf(out, _("The parameters stay, training goes on%s%s."), why.len ? "; " : "", why.s);
        *role = STYLE_GOOD;
    } else if (change == LAB_RESTARTS) {
        str_addf(out, _("Other parameters, it begins again from seed %lld: %s."), options_int(now, "seed"), why.s);
        *role = STYLE_WARNING;
    }
    str_done(&why);
}

void options_toggle(App *a) {
    a->overlay = a->overlay == OVERLAY_OPTIONS ? OVERLAY_NONE : OVERLAY_OPTIONS;
    if (a->overlay == OVERLAY_NONE) return;
    form_free(a->form);
    a->form = form_new(options_live(a));
    form_let_judge(a->form, judge_options, a);
}

void options_changes(const App *a, const char *command, Str *line) {
    Str changes;
    str_init(&changes);
    if (a->overlay == OVERLAY_OPTIONS) form_changes(a->form, &changes);
    if (changes.len) str_addf(line, "%s %s", command, changes.s);
    str_done(&changes);
}

Status options_post(App *a, const char *command) {
    if (a->overlay != OVERLAY_OPTIONS)
        return status_usage(_("%s takes what was changed in the options; o opens them"), command);
    Str line;
    str_init(&line);
    options_changes(a, command, &line);
    Status s = line.len ? app_post(a, line.s) : status_usage(_("nothing is other than it was; enter edits"));
    if (status_is_ok(&s)) a->overlay = OVERLAY_NONE;
    str_done(&line);
    return s;
}

Status options_begin(App *a) {
    if (!a->form) return status_usage(_("begin takes the options that o shows; open them first"));
    Str line;
    str_init(&line);
    str_add(&line, "restart ");
    form_line(a->form, &line);
    a->overlay = OVERLAY_NONE;
    Status s = app_post(a, line.s);
    str_done(&line);
    return s;
}
