/* Looking at another model while the run waits: nothing of the run is lost, not even its past. */
#include "lab_internal.h"

#include "intl.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

/* What belongs to a run; all else is the laboratory's. */
static void take_run(Lab *to, const Lab *from) {
    to->options = from->options;
    snprintf(to->name, sizeof to->name, "%s", from->name);
    to->saved = from->saved;
    to->train = from->train;
    to->rival = from->rival;
    to->rival_is_a = from->rival_is_a;
    to->beside = from->beside;
    to->decode = from->decode;
    to->head_off = from->head_off;
    memcpy(to->fitted, from->fitted, sizeof to->fitted);
    to->window = from->window;
    to->operation = from->operation;
    to->poke = from->poke;
    to->poke_id = from->poke_id;
    to->beam = from->beam;
}

static void exchange(Lab *a, Lab *b) {
    Lab kept = *a;
    take_run(a, b);
    take_run(b, &kept);
    observers_forget(a->observers); /* what they keep is of a model that is looked at no more */
    if (a->samples) sample_run_forget(a->samples);
}

/* A laboratory that has the settings of L and no run. */
static Lab *without_run(const Lab *l) {
    Lab *empty = MEM_NEW(Lab);
    empty->options = options_copy(l->options);
    empty->window = -1;
    decode_init(&empty->decode);
    empty->decode.paced = l->decode.paced;
    return empty;
}

void visit_done(Lab *l) {
    lab_free(l->waiting);
    l->waiting = NULL;
}

/* The first visit sets the run aside; a second one goes on from the first. */
static bool set_aside(Lab *l) {
    if (l->waiting || !l->train.live) return false;
    l->waiting = without_run(l);
    exchange(l, l->waiting);
    return true;
}

static void bring_back(Lab *l) {
    exchange(l, l->waiting);
    visit_done(l);
    lab_changed(l);
}

Status lab_do_visit(Lab *l, const Words *w) {
    const char *name = w->count > 2 ? w->word[2] : w->word[1];
    bool aside = set_aside(l);
    Status s = files_open(l, w->word[1], w->count > 3 ? w->word[3] : NULL, name);
    if (!status_is_ok(&s)) {
        if (aside) bring_back(l);
        return s;
    }
    if (l->waiting)
        lab_say(l, MESSAGE_INFORMATION,
                _("the model of %s is looked at; your run waits at step %ld, and 'leave' goes back to it"), name,
                run_done(l->waiting->train.live));
    else
        lab_say(l, MESSAGE_INFORMATION, _("the model of %s is looked at"), name);
    decode_tell_left_out(l, l->decode.text.s, true);
    return s;
}

Status lab_do_leave(Lab *l, const Words *w) {
    (void)w;
    if (!l->waiting) return status_usage(_("no run waits: this is the one that was there all along"));
    bring_back(l);
    lab_say(l, MESSAGE_INFORMATION, _("your run again, at step %ld"), run_done(lab_shown(l)));
    return status_ok();
}

void visit_facts(const Lab *l, SnapshotFacts *f) {
    if (!l->waiting) return;
    const Lab *holder = l->waiting;
    long done = run_done(holder->train.live);
    snprintf(f->waiting, sizeof f->waiting, "%s", holder->name);
    f->waiting_step = done;
    f->waiting_unsaved = done > 0 && holder->saved != done;
}
