/* app, options: the form of the run's options: what they come to before they are applied, and the line that does it. */
#include "app_private.h"

#include "bug.h"
#include "format.h"
#include "intl.h"
#include "lab.h"

#include <stdio.h>
#include <string.h>

/* The options of a run as the one that is live was asked for. */
static Options *live_options(const App *a) {
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
    a->form = form_new(live_options(a));
    form_let_judge(a->form, judge_options, a);
}

Status options_post(App *a, const char *command) {
    if (a->overlay != OVERLAY_OPTIONS)
        return status_usage(_("%s takes what was changed in the options; o opens them"), command);
    Str changes, line;
    str_init(&changes);
    str_init(&line);
    form_changes(a->form, &changes);
    str_addf(&line, "%s %s", command, changes.s);
    Status s = changes.len ? app_post(a, line.s) : status_usage(_("nothing is other than it was; enter edits"));
    if (status_is_ok(&s)) a->overlay = OVERLAY_NONE;
    str_done(&changes);
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

/* ---- a line that somebody typed ---- */

/* The options of LINE's run; false: it is no line of pairs that the laboratory would take. */
static bool read_pairs(const Words *words, Options *o) {
    bool pair = words->count >= 3 && !strchr(words->word[1], '='), fine = true;
    if (pair) {
        Status s = options_set(o, words->word[1], words->rest[2]);
        return status_is_ok(&s);
    }
    for (int i = 1; i < words->count && fine; i++) {
        Status s = options_set_pair(o, words->word[i]);
        fine = status_is_ok(&s);
    }
    return fine;
}

/* Whether setting these makes other parameters, and why. */
static bool makes_others(const App *a, const Words *words, Str *why) {
    Options *before = live_options(a), *now = options_copy(before);
    LabChange change = LAB_SAME;
    if (read_pairs(words, now)) {
        Status s = lab_compare(before, now, snapshot_facts(a->snapshot)->vocab, &change, why);
        if (!status_is_ok(&s)) change = LAB_SAME; /* it will be refused, and why be said */
    }
    options_free(before);
    options_free(now);
    return change == LAB_RESTARTS;
}

static bool drops(const App *a, const Words *words, Str *why) {
    const Command *c = words->count > 0 ? command_find(lab_commands(), words->word[0]) : NULL;
    if (!c) return false;
    if (!strcmp(c->name, "set")) return words->count > 1 && makes_others(a, words, why);
    return !strcmp(c->name, "restart") || !strcmp(c->name, "open");
}

bool options_ask_first(App *a, const char *line) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    Words words;
    Str why;
    Status s = command_split(line, &words);
    bool unsaved = f->head > 0 && f->saved != f->head && f->vocab > 0 && !f->reads_only;
    if (!status_is_ok(&s) || !unsaved || strlen(line) >= sizeof a->dropping) return false;
    str_init(&why);
    bool asked = drops(a, &words, &why);
    if (asked) {
        app_say(a, 1, _("%s%sthe run of %s steps is not saved (:save PATH does it). y drops it, any other key stays"),
                why.s, why.len ? ": " : "", format_count(f->head).s);
        snprintf(a->dropping, sizeof a->dropping, "%s", line);
    }
    str_done(&why);
    return asked;
}
