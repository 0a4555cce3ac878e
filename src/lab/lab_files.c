/* Models to files and back. */
#include "lab_internal.h"

#include "csvfile.h"
#include "file.h"
#include "intl.h"
#include "loaded.h"
#include "recipe.h"

#include <string.h>

Status lab_do_save(Lab *l, const Words *w) {
    Run *r = lab_shown(l);
    bool quiet = w->count > 2 && strcmp(w->word[2], "quietly") == 0;
    if (w->count > 2 && !quiet) return status_usage(_("save takes a path and perhaps 'quietly', not '%s'"), w->word[2]);
    const char *unsaid;
    STATUS_TRY(run_export(r, w->word[1], &unsaid));
    l->saved = run_done(r);
    if (quiet) return status_ok();
    if (unsaid) {
        lab_say(l, MESSAGE_WARNING, _("step %ld is saved in '%s', without tokenizer.json: %s"), run_done(r), w->word[1],
                _(unsaid));
        return status_ok();
    }
    bool others = run_tunes(r) && loaded_is(w->word[1]);
    lab_say(l, MESSAGE_INFORMATION,
            others ? _("step %ld is saved in '%s', in float32") : _("step %ld is saved in '%s'"), run_done(r),
            w->word[1]);
    return status_ok();
}

/* A model of others is what a restart begins with, also where it has learned on; of ours the options are. */
Status files_remember(Options *o, Run *r) {
    bool others = run_origin(r) != NULL;
    recipe_describe(r, o); /* nothing of what is only read */
    if (others) STATUS_TRY(options_set(o, "arch", recipe_arch(r)));
    const char *file = run_origin_tokenizer(r);
    if (others || lab_model(o)) STATUS_TRY(options_set(o, "model", others ? run_origin(r) : LAB_NO_MODEL));
    return file || options_is_set(o, "tokenizer") ? options_set(o, "tokenizer", file ? file : LAB_NO_MODEL)
                                                  : status_ok();
}

Status files_open(Lab *l, const char *path, const char *tokenizer, const char *name) {
    Options *o = options_copy(l->options);
    Run *r = NULL;
    if (loaded_is(path)) options_reset(o, "corpus"); /* that of the run before would ask for more than a look */
    options_forget_assumed(o);
    Status s = run_open(path, tokenizer, o, lab_threads(o), &r);
    if (status_is_ok(&s)) s = files_remember(o, r);
    if (status_is_ok(&s)) versus_done(l);
    if (status_is_ok(&s)) s = decode_adopt(l, r, NULL);
    if (!status_is_ok(&s)) {
        run_free(r);
        options_free(o);
        return s;
    }
    lab_adopt(l, r, o, name ? name : file_base_name(run_origin(r) ? run_origin(r) : path), false);
    l->saved = run_done(r);
    return s;
}

Status lab_do_open(Lab *l, const Words *w) {
    STATUS_TRY(files_open(l, w->word[1], w->count > 2 ? w->word[2] : NULL, NULL));
    Run *r = l->train.live;
    if (run_reads_only(r))
        lab_say(l, MESSAGE_INFORMATION, _("'%s' is looked at now; it is only read until ':restart corpus=FILE'"),
                w->word[1]);
    else if (run_steps(r) > run_done(r) || run_corpus(r)->train.sentences > 0)
        lab_say(l, MESSAGE_INFORMATION, _("'%s' is the run now, at step %ld of %ld"), w->word[1], run_done(r),
                run_steps(r));
    else
        lab_say(l, MESSAGE_WARNING, _("'%s' can be looked at but not trained on: %s"), w->word[1], run_missing(r));
    decode_tell_left_out(l, l->decode.text.s, true);
    return status_ok();
}

/* Tables. */

static Status no_such_table(const Snapshot *s, const char *name) {
    Str names;
    str_init(&names);
    for (int i = 0; i < snapshot_tables(s); i++) str_addf(&names, "%s, ", table_name(snapshot_table_at(s, i)));
    Status status = status_usage(_("there is no table '%s'; there are %sattention and vectors"), name, names.s);
    str_done(&names);
    return status;
}

/* Whatever is watched, a table that is asked for is made. */
Status lab_do_write(Lab *l, const Words *w) {
    const char *name = w->word[1], *path = w->word[2];
    ObserverSet watched = l->watch;
    l->watch = OBSERVE_ALL;
    Snapshot *s = lab_snapshot(l);
    l->watch = watched;
    if (!s) return status_cancelled();
    Table *made = NULL;
    if (strcmp(name, "attention") == 0) made = observe_attention_table(s, -1, -1);
    if (strcmp(name, "versus") == 0) made = lab_versus_curve(s);
    if (strcmp(name, "versus_test") == 0) made = lab_versus_test(s);
    if (strcmp(name, "vectors") == 0) made = observe_vectors_table(s, -1, -1);
    const Table *t = made ? made : snapshot_table(s, name);
    Status status = t ? csvfile_save(t, path) : no_such_table(s, name);
    if (status_is_ok(&status))
        lab_say(l, MESSAGE_INFORMATION,
                ngettext("%ld row of '%s' is in '%s'", "%ld rows of '%s' are in '%s'", (unsigned long)table_rows(t)),
                table_rows(t), name, path);
    table_free(made);
    snapshot_unref(s);
    return status;
}

Status lab_do_mark(Lab *l, const Words *w) {
    return lab_number(_("a mark"), w->word[1], 1, 1000000000, &l->mark);
}
