/* What the run is made of, step by step: changes that keep the parameters and go on, changes that begin again, and what
 * stood before for those who look back. */
#include "lab_internal.h"
#include "recipe.h"
#include "tune.h"

#include "intl.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

/* ---- the past ---- */

/* Takes O over. */
static void push(TrainClock *t, long step, Options *o) {
    MEM_GROW(t->change, t->changes, t->change_capacity);
    t->change[t->changes++] = (Change){.step = step, .recipe = run_recipe(t->live), .options = o};
}

void change_begin(TrainClock *t, const Options *o) {
    push(t, LONG_MIN, options_copy(o));
}

void change_done(TrainClock *t) {
    for (int i = 0; i < t->changes; i++) options_free(t->change[i].options);
    mem_free(t->change);
}

void change_forget_after(TrainClock *t, long step) {
    while (t->changes > 1 && t->change[t->changes - 1].step >= step) options_free(t->change[--t->changes].options);
}

const Change *change_before(const TrainClock *t, long done) {
    int i = t->changes - 1;
    while (i > 0 && t->change[i].step >= done) i--;
    return &t->change[i];
}

const Change *change_after(const TrainClock *t, long done) {
    int i = t->changes - 1;
    while (i > 0 && t->change[i].step > done) i--;
    return &t->change[i];
}

const Options *change_shown(const Lab *l) {
    return l->train.past ? change_before(&l->train, run_done(l->train.viewer))->options : l->options;
}

Table *change_table(const TrainClock *t) {
    static const Column columns[] = {
        {"step", COLUMN_INT, ""}, {"option", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {0}};
    if (t->changes < 2) return NULL;
    Table *table = table_new("changes", columns);
    for (int i = 1; i < t->changes; i++) {
        const Change *c = &t->change[i];
        int at = 0;
        for (const char *name; (name = recipe_next_difference(c[-1].options, c->options, &at));) {
            table_add_int(table, c->step);
            table_add_text(table, name);
            table_add_text(table, options_value(c->options, name));
        }
    }
    return table;
}

/* ---- setting ---- */

Status lab_read_set(Options *o, const Words *w) {
    if (w->count >= 3 && !strchr(w->word[1], '=')) return options_set(o, w->word[1], w->rest[2]);
    return options_set_pairs(o, w->word + 1, w->count - 1);
}

/* The plan may have another length: a run to its end runs to the new one. */
static void move_goal(TrainClock *t, long before) {
    long steps = run_steps(t->live);
    if (t->goal == before || t->goal > steps) t->goal = steps;
}

static void say_set(Lab *l, const Options *before, long step, const char *why) {
    Str text;
    int at = 0;
    str_init(&text);
    for (const char *name; (name = recipe_next_difference(before, l->options, &at));)
        str_addf(&text, _("%s%s is %s"), text.len ? ", " : "", name,
                 options_is_set(l->options, name) ? options_value(l->options, name) : _("not set"));
    lab_say(l, MESSAGE_INFORMATION, _("%s from step %ld on%s%s"), text.s, step + 1, why[0] ? "; " : "", why);
    str_done(&text);
}

/* The run goes on with what O says. O is taken over unless it is refused. */
static Status go_on(Lab *l, Options *o, const char *why) {
    TrainClock *t = &l->train;
    Recipe recipe;
    const char *batches = l->rival ? recipe_other_batches(l->options, o) : NULL;
    if (batches) return status_usage(_("both runs make the same batches: %s is set when ':versus off' is"), batches);
    STATUS_TRY(recipe_of(t->live, l->options, o, &recipe));
    if (options_differ(l->options, o, "prompt")) STATUS_TRY(decode_adopt(l, t->live, options_text(o, "prompt")));
    long steps = run_steps(t->live), done = run_done(t->live);
    bool runs = train_pending(l);
    shards_set_threads(run_shards(t->live), lab_threads(o));
    if (t->viewer) shards_set_threads(run_shards(t->viewer), lab_threads(o));
    history_set_limit(t->history, ((size_t)options_int(o, "history") << 20) / (l->rival ? 2 : 1));
    run_follow_recipe(t->live, &recipe);
    if (options_differ(l->options, o, "window")) l->window = -1; /* looked with is what it is trained with */
    if (runs) move_goal(t, steps);
    push(t, done, options_copy(o));
    Options *before = l->options;
    l->options = o;
    say_set(l, before, done, why);
    options_free(before);
    lab_changed(l);
    return status_ok();
}

/* Of two runs only B can: A has what B is compared with. */
static Status begin_again(Lab *l, const Options *o) {
    if (l->rival && l->rival_is_a) return versus_begin(l, o);
    if (!options_differ(l->options, o, "corpus") && !options_differ(l->options, o, "model"))
        STATUS_TRY(lab_knows_corpus(l));
    lab_begin(l, options_copy(o));
    return status_ok();
}

static Status check_batches(const Lab *l, const Options *o) {
    const char *batches = l->rival ? recipe_other_batches(l->options, o) : NULL;
    return batches ? status_usage(_("both runs make the same batches: '%s' waits for ':versus off'"), batches)
                   : status_ok();
}

/* Takes O over. */
static Status change_to(Lab *l, Options *o) {
    LabChange change;
    Str why;
    str_init(&why);
    Status s = recipe_compare(l->options, o, model_config(run_model(l->train.live))->vocab, &change, &why);
    if (status_is_ok(&s)) s = check_batches(l, o);
    if (status_is_ok(&s) && change == LAB_KEEPS) s = go_on(l, o, why.s);
    if (status_is_ok(&s) && change == LAB_RESTARTS) {
        s = begin_again(l, o);
        if (status_is_ok(&s))
            lab_say(l, MESSAGE_WARNING, _("%s: the run begins again from seed %lld"), why.s, options_int(o, "seed"));
    }
    if (status_is_ok(&s) && change == LAB_SAME)
        lab_say(l, MESSAGE_INFORMATION, "%s", _("nothing is other than it was"));
    if (l->options != o) options_free(o);
    str_done(&why);
    return s;
}

Status lab_do_set(Lab *l, const Words *w) {
    TrainClock *t = &l->train;
    if (t->past)
        return status_usage(_("this is step %ld, the past: ':fork' goes on from here, ':live' goes back to step %ld"),
                            train_standing(l), run_done(t->live));
    Options *o = options_copy(l->options);
    Status s = lab_read_set(o, w);
    tune_settle(o);
    if (status_is_ok(&s) && run_reads_only(t->live) && !options_differ(l->options, o, "model") && !tune_wanted(o))
        s = status_usage(_("nothing is set of a model that is only read; ':restart corpus=FILE' trains it on a text"));
    if (status_is_ok(&s)) return change_to(l, o);
    options_free(o);
    return s;
}

Status lab_do_log(Lab *l, const Words *w) {
    (void)w;
    Table *t = change_table(&l->train);
    Str text;
    str_init(&text);
    for (long i = 0; t && i < table_rows(t); i++)
        str_addf(&text, "%s%lld set %s %s", i ? "; " : "", table_int(t, i, 0), table_text(t, i, 1),
                 table_text(t, i, 2));
    lab_say(l, MESSAGE_INFORMATION, "%s", text.len ? text.s : _("nothing was set since the run began"));
    str_done(&text);
    table_free(t);
    return status_ok();
}
