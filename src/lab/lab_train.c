/* The training clock: run, hold, step, go back, fork. */
#include "lab_internal.h"

#include "clock.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define METER_SECONDS 1.0

/* Life. */

void train_done(TrainClock *t) {
    run_free(t->viewer);
    run_free(t->live);
    history_free(t->history);
    table_free(t->curve);
    table_free(t->test);
    mem_free(t->evaluation);
    change_done(t);
    *t = (TrainClock){0};
}

/* Entropy per token of the language itself; NaN when there is none or it cannot be said. */
static double floor_of(Run *r) {
    Language *language = run_corpus(r)->language;
    LanguageStats stats;
    if (!language) return (double)NAN;
    Status s = language_stats(language, &stats);
    if (!status_is_ok(&s)) return (double)NAN;
    double floor_nats = stats.finite ? stats.entropy_per_token : (double)NAN;
    language_stats_done(&stats);
    return floor_nats;
}

void train_adopt(TrainClock *t, Run *r, const Options *o) {
    train_done(t);
    t->live = r;
    t->base = t->goal = run_done(r);
    t->history = history_new((size_t)options_int(o, "history") << 20);
    history_keep(t->history, r);
    t->curve = table_new("curve", run_curve_columns);
    eval_show(t);
    change_begin(t, o);
    t->language_floor = floor_of(r);
}

/* Speed. */

static void meter_reset(Meter *m) {
    m->marks = 0;
}

static void meter_mark(Meter *m, long tokens) {
    m->time[m->marks % METER_MARKS] = clock_now();
    m->tokens[m->marks % METER_MARKS] = tokens;
    m->marks++;
}

/* Real tokens per second between the first and the last mark of the last second; NaN when there are not two. */
static double meter_rate(const Meter *m) {
    int last = m->marks - 1, first = last;
    long tokens = 0;
    while (first > 0 && first > m->marks - METER_MARKS &&
           m->time[last % METER_MARKS] - m->time[(first - 1) % METER_MARKS] <= METER_SECONDS) {
        tokens += m->tokens[first % METER_MARKS];
        first--;
    }
    if (first >= last) return (double)NAN;
    double seconds = m->time[last % METER_MARKS] - m->time[first % METER_MARKS];
    return seconds > 0 ? (double)tokens / seconds : (double)NAN;
}

/* Steps. */

bool train_pending(const Lab *l) {
    return l->train.live && run_done(lab_shown(l)) < l->train.goal;
}

void train_take(Lab *l, const RunStep *s) {
    TrainClock *t = &l->train;
    if (s->diverged) {
        t->diverged = true;
        t->goal = run_done(t->live);
        snprintf(t->bad_tensor, sizeof t->bad_tensor, "%s", s->bad_tensor);
        lab_say(l, MESSAGE_ERROR, _("step %ld diverged: %s is not finite; the parameters are those of step %ld"),
                s->step, s->bad_tensor, t->goal);
        return;
    }
    meter_mark(&t->meter, s->tokens);
    run_add_curve(t->curve, s);
    history_keep(t->history, t->live);
    eval_on_the_way(l);
}

bool train_watches(const Lab *l) {
    return !l->unseen || run_done(l->train.live) + 1 >= l->train.goal;
}

static void live_step(Lab *l) {
    RunStep mine, others;
    run_watch_updates(l->train.live, train_watches(l));
    bool both = versus_steps(l, &mine, &others);
    if (!both) mine = run_step(l->train.live);
    train_take(l, &mine);
    if (both) versus_take(l, &others);
}

/* What was changed at the viewer's step holds from its next step on. */
static void replay_step(TrainClock *t) {
    const Change *c = change_after(t, run_done(t->viewer));
    if (c->step == run_done(t->viewer)) run_follow_recipe(t->viewer, &c->recipe);
    run_watch_updates(t->viewer, true);
    RunStep s = run_step(t->viewer);
    meter_mark(&t->meter, s.tokens);
}

bool train_turn(Lab *l) {
    TrainClock *t = &l->train;
    if (!train_pending(l)) return false;
    if (t->past) {
        replay_step(t);
        t->past = run_done(t->viewer) < run_done(t->live);
    } else {
        live_step(l);
    }
    if (!train_pending(l)) t->seeking = false;
    lab_changed(l);
    return true;
}

void train_catch_up(Lab *l) {
    RunUpdate known;
    const Run *r = l->train.live;
    if (!l->unseen || l->train.past || !train_pending(l) || !run_keeps_past(r) || run_last_update(r, &known)) return;
    l->unseen = false;
    (void)train_turn(l);
}

long train_standing(const Lab *l) {
    return l->train.seeking ? l->train.goal : run_done(lab_shown(l));
}

static Status can_train(const Lab *l) {
    const TrainClock *t = &l->train;
    if (run_reads_only(t->live))
        return status_failed(
            _("this model is only read: ':restart corpus=FILE' trains it on a text, ':restart model=none' "
              "one of our own"));
    if (t->past) return status_ok();
    if (t->diverged)
        return status_failed(
            _("the run diverged after step %ld (%s); ':back', then ':fork' and a smaller ':set lr', or ':restart'"),
            run_done(t->live), t->bad_tensor);
    if (run_missing(t->live)[0]) return status_failed(_("it cannot be trained on: %s"), run_missing(t->live));
    if (run_done(t->live) >= run_steps(t->live))
        return status_failed(_("all %ld steps of the plan are done; ':restart' begins again"), run_steps(t->live));
    return status_ok();
}

/* The clock runs until GOAL. */
static Status run_to(Lab *l, long goal) {
    STATUS_TRY(can_train(l));
    TrainClock *t = &l->train;
    long most = t->diverged ? run_done(t->live) : run_steps(t->live);
    t->goal = goal < most ? goal : most;
    t->seeking = false;
    meter_reset(&t->meter);
    return status_ok();
}

Status lab_do_run(Lab *l, const Words *w) {
    (void)w;
    return run_to(l, run_steps(l->train.live));
}

Status lab_do_pause(Lab *l, const Words *w) {
    (void)w;
    l->train.goal = run_done(lab_shown(l));
    l->train.seeking = false;
    return status_ok();
}

Status lab_do_step(Lab *l, const Words *w) {
    long n = 1;
    if (w->count > 1) STATUS_TRY(lab_number(_("steps"), w->word[1], 1, 1000000, &n));
    return run_to(l, train_standing(l) + n);
}

Status lab_do_until(Lab *l, const Words *w) {
    long step;
    STATUS_TRY(can_train(l));
    STATUS_TRY(lab_number(_("a step to train to"), w->word[1], train_standing(l) + 1, run_steps(l->train.live), &step));
    return run_to(l, step);
}

/* The past. */

/* The viewer as it was at the checkpoint M: of those parameters and of what made them. */
static void recall(TrainClock *t, const RunMemory *m) {
    if (!t->viewer) t->viewer = run_twin(t->live);
    run_follow_recipe(t->viewer, &change_before(t, m->done)->recipe);
    run_recall(t->viewer, m);
}

void train_rest(TrainClock *t) {
    t->past = t->seeking = false;
    t->goal = run_done(t->live);
}

static void look_at_head(Lab *l) {
    train_rest(&l->train);
    lab_changed(l);
}

/* From the checkpoint before STEP, or from where the viewer is when that is nearer; where the UPDATE that led there is
 * wanted it is made again. */
static void seek_for(Lab *l, long step, bool update) {
    TrainClock *t = &l->train;
    if (step == run_done(t->live)) {
        look_at_head(l);
        return;
    }
    long from = update && step > t->base ? step - 1 : step;
    const RunMemory *m = history_nearest(t->history, from);
    RunUpdate known;
    bool there = t->viewer && run_done(t->viewer) == step && run_last_update(t->viewer, &known);
    bool nearer = there || (t->viewer && run_done(t->viewer) <= from && run_done(t->viewer) >= m->done);
    if (!nearer) recall(t, m);
    t->past = true;
    t->goal = step;
    t->seeking = train_pending(l);
    lab_changed(l);
}

static void seek(Lab *l, long step) {
    seek_for(l, step, lab_watches_updates(l));
}

void train_watch(Lab *l) {
    TrainClock *t = &l->train;
    if (t->past && !train_pending(l)) seek(l, run_done(t->viewer));
}

/* Whether steps before the newest are known. */
static Status has_past(const Lab *l) {
    if (run_keeps_past(l->train.live)) return status_ok();
    return status_failed(_("nothing is known of the steps before: there was no memory to keep them"));
}

/* Looks at STEP, which was trained. */
static Status look_at(Lab *l, long step) {
    if (step < run_done(l->train.live)) STATUS_TRY(has_past(l));
    seek(l, step);
    return status_ok();
}

void train_look(Lab *l, bool past, long step, long goal) {
    TrainClock *t = &l->train;
    look_at_head(l);
    meter_reset(&t->meter);
    bool known = step >= t->base && step < run_done(t->live) && run_keeps_past(t->live);
    if (past && known)
        seek(l, step);
    else if (!past && !t->diverged)
        t->goal = goal < run_steps(t->live) ? goal : run_steps(t->live);
}

Status lab_do_seek(Lab *l, const Words *w) {
    TrainClock *t = &l->train;
    long step, head = run_done(t->live);
    STATUS_TRY(lab_number(_("a step"), w->word[1], 0, run_steps(t->live), &step));
    if (step > head)
        return status_usage(_("step %ld is not trained yet, the newest is %ld; ':until %ld' trains up to it"), step,
                            head, step);
    if (step < t->base)
        return status_usage(_("this run begins at step %ld, where it was opened; earlier ones are not known"), t->base);
    return look_at(l, step);
}

Status lab_do_reach(Lab *l, const Words *w) {
    TrainClock *t = &l->train;
    long step;
    STATUS_TRY(lab_number(_("a step"), w->word[1], t->base, run_steps(t->live), &step));
    if (step > run_done(t->live)) {
        look_at_head(l);
        return run_to(l, step);
    }
    return look_at(l, step);
}

Status lab_do_back(Lab *l, const Words *w) {
    long n = 1, at = train_standing(l);
    if (w->count > 1) STATUS_TRY(lab_number(_("steps"), w->word[1], 1, 1000000, &n));
    if (at == l->train.base) return status_usage(_("this is the first step that is known"));
    return look_at(l, at - n > l->train.base ? at - n : l->train.base);
}

Status lab_do_live(Lab *l, const Words *w) {
    (void)w;
    look_at_head(l);
    return status_ok();
}

/* Forking. */

static void forget_curve_after(TrainClock *t, long step) {
    long rows = 0;
    while (rows < table_rows(t->curve) && table_int(t->curve, rows, 0) <= step) rows++;
    Table *kept = table_first(t->curve, rows);
    table_free(t->curve);
    t->curve = kept;
    eval_forget_after(t, step);
}

/* The live run becomes what the viewer is: its recipe, parameters, moments and last update. */
static void become_viewer(TrainClock *t) {
    RunMemory m = {0};
    run_remember(t->viewer, &m);
    run_follow_recipe(t->live, &change_before(t, m.done)->recipe);
    run_recall(t->live, &m);
    run_take_update(t->live, t->viewer);
    run_memory_done(&m);
}

void train_fork(Lab *l, long step) {
    TrainClock *t = &l->train;
    seek_for(l, step, true);
    while (t->seeking) (void)train_turn(l);
    become_viewer(t);
    history_forget_after(t->history, step);
    forget_curve_after(t, step);
    change_forget_after(t, step);
    options_free(l->options);
    l->options = options_copy(change_after(t, step)->options);
    t->diverged = false;
    t->bad_tensor[0] = '\0';
    look_at_head(l);
}

Status lab_do_fork(Lab *l, const Words *w) {
    (void)w;
    TrainClock *t = &l->train;
    if (!t->past) return status_usage(_("step %ld is the newest already; go back first"), run_done(t->live));
    while (t->seeking) (void)train_turn(l);
    long step = run_done(t->viewer), lost = run_done(t->live) - step;
    Lab *other = l->rival;
    bool both = other && other->train.base <= step && run_done(other->train.live) > step;
    if (both) STATUS_TRY(has_past(other));
    train_fork(l, step);
    observers_forget(l->observers); /* the steps to come have other parameters than those that were dropped */
    if (both) train_fork(other, step);
    lab_say(l, MESSAGE_INFORMATION, _("step %ld is the newest now; %ld later ones are dropped"), step, lost);
    return status_ok();
}

/* Facts. */

static RunState state_of(const Lab *l) {
    const TrainClock *t = &l->train;
    if (train_pending(l) && !t->seeking) return RUN_RUNNING;
    if (t->past) return RUN_PAUSED;
    if (t->diverged) return RUN_DIVERGED;
    return run_done(t->live) >= run_planned(t->live) ? RUN_FINISHED : RUN_PAUSED;
}

static void curve_facts(const TrainClock *t, long step, SnapshotFacts *f) {
    long row = step - t->base - 1;
    if (row < 0 || row >= table_rows(t->curve)) return;
    f->loss = table_real(t->curve, row, table_find(t->curve, "loss"));
    f->learning_rate = table_real(t->curve, row, table_find(t->curve, "learning_rate"));
    f->grad_norm = table_real(t->curve, row, table_find(t->curve, "grad_norm"));
}

void train_facts_at(const TrainClock *t, long step, SnapshotFacts *f) {
    curve_facts(t, step, f);
    eval_facts(t, step, f);
}

void train_facts(const Lab *l, SnapshotFacts *f) {
    const TrainClock *t = &l->train;
    f->state = state_of(l);
    f->jumps = t->seeking;
    f->seed = run_seed(t->live);
    f->threads = run_threads(t->live);
    f->step = run_done(lab_shown(l));
    f->head = run_done(t->live);
    f->steps = run_planned(t->live);
    if (!run_reads_only(t->live)) snprintf(f->missing, sizeof f->missing, "%s", run_missing(t->live));
    f->per_epoch = run_per_epoch(t->live);
    f->language_floor = t->language_floor;
    train_facts_at(t, f->step, f);
    if (f->state == RUN_RUNNING) f->tokens_per_s = meter_rate(&t->meter);
    if (t->diverged && !t->past) snprintf(f->bad_tensor, sizeof f->bad_tensor, "%s", t->bad_tensor);
}
