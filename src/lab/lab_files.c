/* Models to files and back. */
#include "lab_internal.h"

#include "intl.h"

#include <string.h>

Status lab_do_save(Lab *l, const Words *w) {
    Run *r = lab_shown(l);
    STATUS_TRY(run_save(r, w->word[1]));
    lab_say(l, MESSAGE_INFORMATION, _("step %ld is saved in '%s'"), run_done(r), w->word[1]);
    return status_ok();
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The preset that a model is nearest to: what the title shows and what a restart begins with. */
static const char *arch_of(Run *r) {
    return model_config(run_model(r))->pos == POS_ROPE ? "modern" : "gpt";
}

Status lab_do_open(Lab *l, const Words *w) {
    Options *o = options_copy(l->options);
    Run *r = NULL;
    Status s = run_open(w->word[1], o, lab_threads(o), &r);
    if (status_is_ok(&s)) s = options_set(o, "arch", arch_of(r));
    if (status_is_ok(&s)) s = decode_adopt(l, r, NULL);
    if (!status_is_ok(&s)) {
        run_free(r);
        options_free(o);
        return s;
    }
    lab_adopt(l, r, o, base_name(w->word[1]), false);
    if (run_steps(r) > run_done(r) || run_corpus(r)->train.sentences > 0)
        lab_say(l, MESSAGE_INFORMATION, _("'%s' is the run now, at step %ld of %ld"), w->word[1], run_done(r),
                run_steps(r));
    else
        lab_say(l, MESSAGE_WARNING, _("'%s' can be looked at but not trained on: its corpus is not here"), w->word[1]);
    return status_ok();
}
