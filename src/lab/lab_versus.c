/* Two runs side by side: A is the run that was there, B another recipe on the same batches. One of them is looked at,
 * the other keeps step with it: after each of its updates both have made as many. */
#include "lab_internal.h"
#include "recipe.h"

#include "bug.h"
#include "file.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- taking turns ---- */

/* Threads of one of two runs that go at once. */
static int share_of_threads(const Lab *l) {
    int all = lab_threads(l->options);
    return all > 1 ? all / 2 : 1;
}

static bool is_behind(const Lab *l) {
    const TrainClock *mine = &l->train, *other = &l->rival->train;
    return !other->diverged && run_done(other->live) < run_done(mine->live) &&
           run_done(other->live) < run_steps(other->live);
}

bool versus_pending(const Lab *l) {
    return l->rival && is_behind(l);
}

bool versus_turn(Lab *l) {
    if (!versus_pending(l)) return false;
    Lab *other = l->rival;
    shards_set_threads(run_shards(other->train.live), lab_threads(l->options));
    run_watch_updates(other->train.live, true);
    RunStep s = run_step(other->train.live);
    versus_take(l, &s);
    return true;
}

void versus_take(Lab *l, const RunStep *s) {
    Lab *other = l->rival;
    train_take(other, s);
    if (other->message_number == 0) return;
    lab_say(l, other->message_level, "%c: %s", versus_letter(l) == 'A' ? 'B' : 'A', other->message);
    other->message_number = 0;
}

typedef struct {
    Run *run;
    RunStep step;
} Half;

static void make_step(void *half) {
    Half *h = half;
    h->step = run_step(h->run);
}

/* NULL: there is none; then they take turns. */
static Beside *helper_of(Lab *l) {
    if (!l->beside) l->beside = beside_new();
    return l->beside;
}

bool versus_steps(Lab *l, RunStep *mine, RunStep *others) {
    if (!l->rival || l->rival->train.diverged) return false;
    Run *a = l->train.live, *b = l->rival->train.live;
    if (run_done(a) != run_done(b) || run_done(b) >= run_steps(b)) return false;
    int threads = share_of_threads(l);
    shards_set_threads(run_shards(a), threads);
    shards_set_threads(run_shards(b), threads);
    run_watch_updates(b, train_watches(l));
    Half half = {.run = b};
    Beside *beside = lab_threads(l->options) > 1 ? helper_of(l) : NULL;
    if (beside) beside_begin(beside, make_step, &half);
    *mine = run_step(a);
    if (beside)
        beside_wait(beside);
    else
        make_step(&half);
    *others = half.step;
    return true;
}

/* ---- which one is looked at ---- */

char versus_letter(const Lab *l) {
    return l->rival_is_a ? 'B' : 'A';
}

static void exchange_runs(Lab *l) {
    Lab *r = l->rival;
    Options *options = l->options;
    TrainClock train = l->train;
    long saved = l->saved;
    char name[sizeof l->name];
    memcpy(name, l->name, sizeof name);
    l->options = r->options;
    l->train = r->train;
    l->saved = r->saved;
    memcpy(l->name, r->name, sizeof name);
    r->options = options;
    r->train = train;
    r->saved = saved;
    memcpy(r->name, name, sizeof name);
    l->rival_is_a = !l->rival_is_a;
}

/* What was kept is of the other model, and of words that may go with it. */
static void forget_what_was_seen(Lab *l) {
    if (l->observers) observers_forget(l->observers);
    if (l->samples) sample_run_forget(l->samples);
}

/* The other one is looked at, at the same step, and the clock goes on as it went. */
static void turn_to_other(Lab *l) {
    bool past = l->train.past;
    long step = train_standing(l), goal = l->train.goal;
    exchange_runs(l);
    forget_what_was_seen(l);
    train_rest(&l->rival->train);
    train_look(l, past, step, goal);
}

/* ---- beginning and ending ---- */

static void share_history(Lab *l, bool shared) {
    size_t bytes = (size_t)options_int(l->options, "history") << 20;
    history_set_limit(l->train.history, shared ? bytes / 2 : bytes);
    if (shared) history_set_limit(l->rival->train.history, bytes / 2);
}

void versus_done(Lab *l) {
    if (!l->rival) return;
    forget_what_was_seen(l);
    if (l->rival_is_a) exchange_runs(l); /* A stays: its corpus may be B's too */
    lab_free(l->rival);
    l->rival = NULL;
    beside_free(l->beside);
    l->beside = NULL;
}

static void end(Lab *l) {
    if (l->rival_is_a) turn_to_other(l);
    versus_done(l);
    shards_set_threads(run_shards(l->train.live), lab_threads(l->options));
    share_history(l, false);
    lab_changed(l);
}

/* What its parameters began as: a preset, or the file of a model of others. */
static const char *name_of_kind(const Options *o) {
    return lab_model(o) ? file_base_name(lab_model(o)) : options_text(o, "arch");
}

static void adopt_rival(Lab *l, Run *r, Options *o) {
    Lab *b = MEM_NEW(Lab);
    b->aside = true;
    b->options = o;
    b->saved = -1;
    snprintf(b->name, sizeof b->name, "%s", name_of_kind(o));
    train_adopt(&b->train, r, o);
    l->rival = b;
    l->rival_is_a = false;
    share_history(l, true);
}

static Status needs_training(const Lab *l) {
    Run *r = l->train.live;
    if (run_reads_only(r))
        return status_usage(
            _("this model is only read: nothing can be trained beside it before ':restart corpus=FILE'"));
    if (run_corpus(r)->train.sentences == 0)
        return status_usage(_("nothing can be trained beside it: %s"), run_missing(r));
    return status_ok();
}

static const Options *options_of_a(const Lab *l) {
    return l->rival_is_a ? l->rival->options : l->options;
}

/* Of B, beside A as it is. */
static Status check_recipe(const Lab *l, const Options *o) {
    const Options *a = options_of_a(l);
    const char *other = recipe_other_batches(a, o);
    int at = 0;
    STATUS_TRY(lab_check(o));
    if (other) return status_usage(_("both runs learn from the same batches: %s cannot be another"), other);
    if (!recipe_next_difference(a, o, &at)) return status_usage(_("versus needs what is to be different in B"));
    return status_ok();
}

Status versus_begin(Lab *l, const Options *o) {
    STATUS_TRY(needs_training(l));
    STATUS_TRY(check_recipe(l, o));
    if (l->rival) end(l);
    Run *a = l->train.live, *r;
    RunStart start = {.corpus = run_corpus(a), .steps = run_steps(a)};
    STATUS_TRY(run_new_with(o, &start, run_seed(a), share_of_threads(l), &r));
    adopt_rival(l, r, options_copy(o));
    return status_ok();
}

static Status begin_with(Lab *l, const Words *w) {
    Options *o = options_copy(options_of_a(l));
    Status s = options_set_pairs(o, w->word + 1, w->count - 1);
    if (status_is_ok(&s)) s = versus_begin(l, o);
    options_free(o);
    return s;
}

/* ---- files ---- */

static Status check_rival(const Lab *l, const Run *r, const char *path) {
    if (run_reads_only(r)) return status_usage(_("'%s' is a model that is only read"), path);
    if (run_missing(r)[0]) return status_usage(_("'%s' cannot be trained on: %s"), path, run_missing(r));
    if (run_keeps_past(r) != run_keeps_past(l->train.live))
        return status_usage(_("there is no memory for two runs of so many parameters"));
    if (recipe_same_batches(l->train.live, r)) return status_ok();
    return status_usage(_("'%s' did not learn from the batches of the run that is looked at"), path);
}

/* A file that kept step with the run that is looked at; LETTER is its own. */
static Status open_rival(Lab *l, const char *path, const char *letter) {
    STATUS_TRY(needs_training(l));
    if (l->rival) end(l);
    Options *o = options_copy(l->options);
    Run *r = NULL;
    Status s = run_open(path, NULL, o, share_of_threads(l), &r);
    if (status_is_ok(&s)) s = check_rival(l, r, path);
    if (!status_is_ok(&s)) {
        run_free(r);
        options_free(o);
        return s;
    }
    recipe_describe_model(r, o);
    recipe_say_as(l->options, o);
    adopt_rival(l, r, o);
    l->rival_is_a = strcmp(letter, "A") == 0;
    return s;
}

/* At the step that is looked at. */
static Status save_rival(Lab *l, const char *path) {
    if (!l->rival) return status_usage(_("there is one run only; ':versus KEY=VALUE' begins another beside it"));
    Lab *other = l->rival;
    train_look(other, l->train.past, train_standing(l), 0);
    while (other->train.seeking) (void)train_turn(other);
    Status s = run_save(lab_shown(other), path);
    if (status_is_ok(&s)) other->saved = run_done(lab_shown(other));
    train_rest(&other->train);
    return s;
}

/* ---- the command ---- */

static Status look_at(Lab *l, const char *which) {
    bool other = strcmp(which, "other") == 0;
    if (!l->rival) return status_usage(_("there is one run only; ':versus KEY=VALUE' begins another beside it"));
    if (other || which[0] != versus_letter(l)) turn_to_other(l);
    Str name;
    str_init(&name);
    versus_name(l, versus_letter(l), &name);
    lab_say(l, MESSAGE_INFORMATION, _("this is run %c: %s"), versus_letter(l), name.s);
    str_done(&name);
    return status_ok();
}

static Status say_begun(Lab *l) {
    Str name;
    str_init(&name);
    versus_name(l, 'B', &name);
    long behind = run_done(l->train.live);
    if (behind > 0)
        lab_say(l, MESSAGE_INFORMATION,
                ngettext("B: %s; it first makes the %ld update that A has made",
                         "B: %s; it first makes the %ld updates that A has made", (unsigned long)behind),
                name.s, behind);
    else
        lab_say(l, MESSAGE_INFORMATION, _("B: %s; both are trained in step"), name.s);
    str_done(&name);
    return status_ok();
}

Status lab_do_versus(Lab *l, const Words *w) {
    const char *what = w->word[1];
    if (strcmp(what, "A") == 0 || strcmp(what, "B") == 0 || strcmp(what, "other") == 0) return look_at(l, what);
    if (strcmp(what, "open") == 0 && w->count == 4) return open_rival(l, w->word[2], w->word[3]);
    if (strcmp(what, "save") == 0 && w->count == 3) return save_rival(l, w->word[2]);
    if (strcmp(what, "off") == 0) {
        if (!l->rival) return status_usage(_("there is one run only"));
        end(l);
        lab_say(l, MESSAGE_INFORMATION, "%s", _("one run again: A"));
        return status_ok();
    }
    STATUS_TRY(begin_with(l, w));
    return say_begun(l);
}

/* ---- facts ---- */

/* "window=4 softcap=20": what B's options say otherwise than A's. */
static void add_differences(const Options *a, const Options *b, Str *out) {
    int at = 0;
    for (const char *name; (name = recipe_next_difference(a, b, &at));) {
        str_addf(out, "%s%s=", out->len ? " " : "", name);
        if (options_is_set(b, name))
            str_add(out, options_value(b, name));
        else
            (void)options_follow(b, name, out);
    }
}

void versus_name(const Lab *l, char letter, Str *out) {
    const Options *a = options_of_a(l), *b = l->rival_is_a ? l->options : l->rival->options;
    if (letter == 'B') {
        add_differences(a, b, out);
        if (out->len == 0) str_add(out, _("as A"));
        return;
    }
    Str words;
    str_init(&words);
    recipe_words(a, &words);
    str_addf(out, "%s%s%s", name_of_kind(a), words.len ? " " : "", words.s);
    str_done(&words);
}

void versus_facts(const Lab *l, SnapshotFacts *f) {
    if (!l->rival) return;
    SnapshotFacts other = snapshot_facts_unknown();
    train_facts_at(&l->rival->train, f->step, &other);
    f->versus = versus_letter(l);
    f->rival_head = run_done(l->rival->train.live);
    f->rival_loss = other.loss;
    f->rival_test_nll = other.test_nll;
    f->rival_floor_nll = other.floor_nll;
    f->rival_test_step = other.test_step;
    for (int i = 0; i < 2; i++) {
        Str name;
        str_init(&name);
        versus_name(l, (char)('A' + i), &name);
        snprintf(f->run_name[i], sizeof f->run_name[i], "%s", name.s);
        str_done(&name);
    }
}

void versus_tables(const Lab *l, Snapshot *s) {
    if (!l->rival || !(l->watch & 1u << OBSERVE_curve)) return;
    snapshot_add_table(s, table_copy_as(l->rival->train.curve, "rival_curve"));
    snapshot_add_table(s, table_copy_as(l->rival->train.test, "rival_test"));
}

/* A table of both runs from a table of each: a column run before the others. */
static void add_rows(Table *out, char letter, const Table *t) {
    char name[2] = {letter, '\0'};
    for (long row = 0; t && row < table_rows(t); row++) {
        table_add_text(out, name);
        for (int c = 0; c < table_columns(t); c++) table_add_cell(out, t, row, c);
    }
}

static Table *of_both(const Snapshot *s, const char *name, const Column *columns, const char *mine,
                      const char *rivals) {
    const SnapshotFacts *f = snapshot_facts(s);
    const Table *front = snapshot_table(s, mine), *other = snapshot_table(s, rivals);
    if (!f->versus || !front || !other) return NULL;
    Table *t = table_new(name, columns);
    add_rows(t, 'A', f->versus == 'A' ? front : other);
    add_rows(t, 'B', f->versus == 'A' ? other : front);
    return t;
}

Table *lab_versus_curve(const Snapshot *s) {
    static const Column columns[] = {{"run", COLUMN_TEXT, ""}, RUN_CURVE_COLUMNS, {0}};
    return of_both(s, "versus", columns, "curve", "rival_curve");
}

Table *lab_versus_test(const Snapshot *s) {
    static const Column columns[] = {{"run", COLUMN_TEXT, ""}, EVAL_COLUMNS, {0}};
    return of_both(s, "versus_test", columns, "test", "rival_test");
}
