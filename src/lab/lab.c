#include "lab.h"

#include "bug.h"
#include "cancel.h"
#include "experiment.h"
#include "intl.h"
#include "lab_internal.h"
#include "loaded.h"
#include "mem.h"
#include "recipe.h"
#include "thread.h"
#include "tune.h"
#include "version.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    VOCAB_SHOWN = 8192, /* a live look has a row for each token of a vocabulary up to this size, */
    ROWS_SHOWN = 2000   /* else for the likeliest so many */
};

static const Option lab_rows[] = {
    {"model", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("a model to look at, with corpus= to train on: a checkpoint, a llama2.c file, a folder in the Hugging Face "
        "layout; none: one is trained")},
    {"tokenizer", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("of a model of others: the file of its tokenizer")},
    {"prompt", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("the words that the model goes on from")},
    {"history", OPTION_INT, "256", 1, 65536, NULL, "MB", N_("memory for going back; more means shorter replays")},
    {"start", OPTION_CHOICE, "run", 0, 0, "run|pause", "", N_("whether training begins at once")},
    {"seed", OPTION_INT, "1", 0, 9007199254740992.0, NULL, "", N_("every random choice comes from it")},
    {"threads", OPTION_INT, NULL, 1, SHARDS, NULL, "", N_("default: all cores; the results are the same")},
    {0},
};

Options *lab_options(void) {
    Options *o = options_join(run_options(), lab_rows);
    options_let_follow(o, run_follow);
    options_let_follow(o, experiment_common_follow);
    Status s = options_set(o, "arch", "modern");
    BUG_ON(!status_is_ok(&s));
    return o;
}

const char *lab_model(const Options *o) {
    return tune_model(o);
}

/* Fields of a model that is there already cannot be given. */
static Status check_opened(const Options *o, const char *model) {
    for (const Option *row = run_model_rows; row->name; row++)
        if (options_is_given(o, row->name) && options_is_set(o, row->name) && strcmp(row->name, "arch") != 0)
            return tune_refuses_field(row->name, model);
    if (loaded_is(model)) return loaded_check(model, tune_tokenizer(o));
    if (access(model, R_OK) != 0) return status_usage(_("model: '%s' is not there"), model);
    return status_ok();
}

Status lab_check(const Options *o) {
    const char *model = lab_model(o);
    if (tune_wanted(o)) return tune_check(o);
    if (model) return check_opened(o, model);
    if (tune_tokenizer(o)) return status_usage(_("tokenizer= goes with model="));
    return run_check(o);
}

Status lab_compare(const Options *before, const Options *after, int vocab, LabChange *change, Str *why) {
    return recipe_compare(before, after, vocab, change, why);
}

/* Life. */

Lab *lab_new(Options *o) {
    Lab *l = MEM_NEW(Lab);
    l->options = o;
    tune_settle(o);
    l->pending = options_copy(o);
    l->pending_runs = options_choice(o, "start") == 0;
    l->window = -1;
    l->watch = OBSERVE_ALL;
    l->observers = observers_new();
    decode_init(&l->decode);
    l->bpe = bpe_live_new();
    l->samples = sample_run_new();
    return l;
}

void lab_free(Lab *l) {
    if (!l) return;
    visit_done(l);
    versus_done(l);
    observers_free(l->observers);
    decode_done(&l->decode);
    bpe_live_free(l->bpe);
    sample_run_free(l->samples);
    train_done(&l->train);
    options_free(l->options);
    options_free(l->pending);
    mem_free(l->head_off);
    mem_free(l);
}

/* What the others need of it. */

void lab_say(Lab *l, int level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(l->message, sizeof l->message, format, arguments);
    va_end(arguments);
    l->message_level = level;
    l->message_number++;
}

Run *lab_shown(const Lab *l) {
    return l->train.past ? l->train.viewer : l->train.live;
}

bool lab_watches_updates(const Lab *l) {
    return l->watch & 1u << OBSERVE_step;
}

ModelTweak lab_tweak(const Lab *l) {
    return (ModelTweak){.head_off = l->head_off, .window = l->window};
}

Status lab_number(const char *what, const char *text, long least, long most, long *out) {
    long long x;
    if (!str_to_long(text, &x) || x < least || x > most)
        return status_usage(_("%s must be a whole number from %ld to %ld, not '%s'"), what, least, most, text);
    *out = (long)x;
    return status_ok();
}

/* Making a run. */

int lab_threads(const Options *o) {
    if (options_is_set(o, "threads")) return (int)options_int(o, "threads");
    return thread_cores(SHARDS);
}

static void make_heads(Lab *l, const ModelConfig *c) {
    mem_free(l->head_off);
    l->head_off = MEM_ARRAY(unsigned char, (size_t)c->layers *(size_t)c->heads);
    l->fitted[0] = c->layers;
    l->fitted[1] = c->heads;
    l->fitted[2] = c->context;
}

/* The model looked at may be cut into heads, or have a context, as the last one was not. */
static void fit(Lab *l) {
    const ModelConfig *c = model_config(run_model(lab_shown(l)));
    if (c->context != l->fitted[2]) {
        Status s = decode_adopt(l, lab_shown(l), NULL); /* a prompt that has no room gives way to another */
        BUG_ON(!status_is_ok(&s));
    }
    if (c->layers != l->fitted[0] || c->heads != l->fitted[1] || c->context != l->fitted[2]) make_heads(l, c);
}

void lab_changed(Lab *l) {
    if (l->aside) return;
    fit(l);
    l->decode.stale = true;
}

void lab_adopt(Lab *l, Run *r, Options *o, const char *name, bool runs) {
    const ModelConfig *c = model_config(run_model(r));
    observers_forget(l->observers);
    sample_run_forget(l->samples);
    train_adopt(&l->train, r, o);
    options_free(l->options);
    l->options = o;
    snprintf(l->name, sizeof l->name, "%s", name);
    make_heads(l, c);
    l->window = -1;
    l->poke = l->operation = 0;
    l->poke_id = -1;
    bpe_live_forget(l->bpe);
    beam_adopt(l);
    l->failed = false;
    l->saved = -1;
    if (runs) l->train.goal = run_steps(r);
    lab_changed(l);
}

Status lab_prepare(Lab *l) {
    return l->pending ? lab_make_run(l) : status_ok();
}

/* Watching. */

Status lab_do_watch(Lab *l, const Words *w) {
    ObserverSet watch = 0;
    for (int i = 1; i < w->count; i++) STATUS_TRY(observers_add(w->word[i], &watch));
    l->watch = watch;
    if (l->train.live) train_watch(l);
    if (watch & (1u << OBSERVE_bpe)) bpe_live_wake(l->bpe);
    return status_ok();
}

/* Commands and work. */

/* Without a run there is little that can be done. */
static Status needs_run(const Lab *l, const char *line) {
    Words w;
    STATUS_TRY(command_split(line, &w));
    if (l->train.live || w.count == 0) return status_ok();
    const Command *c = command_find(lab_commands(), w.word[0]);
    static const char *const free_ones[] = {"restart", "open", "visit", "watch"};
    for (size_t i = 0; c && i < sizeof free_ones / sizeof *free_ones; i++)
        if (strcmp(c->name, free_ones[i]) == 0) return status_ok();
    return c ? status_failed(_("'%s' needs a run, and there is none; ':restart' or ':open' makes one"), c->name)
             : status_ok();
}

Status lab_do(Lab *l, const char *line) {
    bool found;
    if (l->pending) (void)lab_turn(l);
    if (l->train.live) train_catch_up(l);
    Status s = needs_run(l, line);
    if (status_is_ok(&s)) s = command_run(lab_commands(), l, line, &found);
    if (!status_is_ok(&s)) lab_say(l, MESSAGE_ERROR, "%s", s.text);
    return s;
}

bool lab_turn(Lab *l) {
    if (l->pending) {
        Status s = lab_make_run(l);
        (void)s; /* the message says it */
        return true;
    }
    if (!l->train.live) return false;
    bool caught_up = versus_turn(l);
    bool trained = ((!caught_up || l->train.past) && train_turn(l)) || caught_up;
    bool decoded = decode_turn(l);
    bool merged = bpe_turn(l), drawn = sample_run_turn(l->samples);
    return trained || decoded || merged || drawn;
}

double lab_wait(const Lab *l) {
    if (l->pending || train_pending(l) || versus_pending(l) || sample_run_pending(l->samples)) return 0;
    return l->train.live ? fmin(decode_wait(l), bpe_wait(l)) : (double)INFINITY;
}

bool lab_busy(const Lab *l) {
    return !(lab_wait(l) > 0);
}

void lab_expect_look(Lab *l, bool look) {
    l->unseen = !look;
}

void lab_set_paced(Lab *l, bool paced) {
    l->decode.paced = paced;
}

/* Looking. */

static void model_facts(const Lab *l, SnapshotFacts *f) {
    Run *r = lab_shown(l);
    const ModelConfig *c = model_config(run_model(r));
    const Options *o = change_shown(l);
    Str words;
    str_init(&words);
    recipe_words(o, &words);
    snprintf(f->recipe, sizeof f->recipe, "%s", words.s);
    str_done(&words);
    snprintf(f->arch, sizeof f->arch, "%s", options_text(o, "arch"));
    snprintf(f->corpus, sizeof f->corpus, "%s", run_corpus(r)->name);
    snprintf(f->name, sizeof f->name, "%s", l->name);
    f->parameters = (long)model_read_params(run_model(r))->count;
    f->vocab = c->vocab;
    f->context = c->context;
    f->d = c->d;
    f->layers = c->layers;
    f->heads = c->heads;
    f->kv_heads = c->kv_heads;
    f->head_dim = c->head_dim;
    f->d_ff = c->d_ff;
    f->window = c->window;
    f->reads_only = run_reads_only(r);
    f->tunes = run_tunes(r);
}

static SnapshotFacts facts_of(const Lab *l) {
    SnapshotFacts f = snapshot_facts_unknown();
    if (l->failed) f.state = RUN_FAILED, snprintf(f.failure, sizeof f.failure, "%s", l->failure);
    if (l->train.live) {
        f.saved = l->saved;
        model_facts(l, &f);
        train_facts(l, &f);
        decode_facts(l, &f);
        versus_facts(l, &f);
        if (l->pending) f.state = RUN_LOADING;
    }
    visit_facts(l, &f);
    snprintf(f.message, sizeof f.message, "%s", l->message);
    f.mark = l->mark;
    f.message_number = l->message_number;
    f.message_level = l->message_level;
    return f;
}

/* The options that were given or follow from them, and the prompt as it stands: what a form or a line to edit begins
 * with. */
static Table *settings_table(const Lab *l) {
    static const Column columns[] = {{"option", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {0}};
    Table *t = table_new("settings", columns);
    for (int i = 0; i < options_count(l->options); i++) {
        const char *name = options_row(l->options, i)->name;
        bool prompt = strcmp(name, "prompt") == 0;
        bool given = options_is_given(l->options, name) || options_is_assumed(l->options, name);
        if (!prompt && !(given && options_is_set(l->options, name))) continue;
        table_add_text(t, name);
        table_add_text(t, prompt ? l->decode.text.s : options_value(l->options, name));
    }
    return t;
}

/* What fits no observer. */
static void add_settings(const Lab *l, Snapshot *to) {
    Snapshot *s = snapshot_new(snapshot_facts(to));
    snapshot_add_table(s, settings_table(l));
    Table *state = decode_state(l), *changes = change_table(&l->train);
    bpe_live_state(l->bpe, state);
    snapshot_add_table(s, state);
    versus_tables(l, s);
    snapshot_add_table(s, tamper_table(l));
    if (changes) snapshot_add_table(s, changes);
    snapshot_include(to, s);
    snapshot_unref(s);
}

/* UPDATE: room for the last one, NULL when there is none. */
static Scene scene_of(const Lab *l, const SnapshotFacts *facts, const RunUpdate *update) {
    Run *r = lab_shown(l);
    return (Scene){.model = run_model(r),
                   .vocab = run_corpus(r)->vocab,
                   .language = run_corpus(r)->language,
                   .ids = l->decode.ids,
                   .known = l->decode.known,
                   .visible = decode_visible(&l->decode),
                   .prompt = l->decode.prompt,
                   .tweak = lab_tweak(l),
                   .given = facts->tamper[0] ? l->decode.given : NULL,
                   .filter = l->decode.filter,
                   .seed = decode_seed(l),
                   .rows = model_config(run_model(r))->vocab > VOCAB_SHOWN ? ROWS_SHOWN : 0,
                   .text = l->decode.text.s,
                   .operation = l->operation,
                   .poke = l->poke,
                   .poke_id = l->poke_id,
                   .others = &run_corpus(r)->train,
                   .beam = l->beam,
                   .step = facts->step,
                   .bpe = l->bpe,
                   .samples = l->samples,
                   .curve = l->train.curve,
                   .test = l->train.test,
                   .update = update};
}

/* Parts go out in snapshots of their own: what is published is not added to. */
typedef struct {
    Lab *lab;
    SnapshotFacts facts;
    LabPart *part;
    void *data;
} Parts;

static bool give_part(void *data, const Snapshot *so_far) {
    Parts *p = data;
    Snapshot *s = snapshot_new(&p->facts);
    snapshot_share(s, so_far);
    bool go_on = p->part(p->data, s);
    snapshot_unref(s);
    return go_on;
}

/* Once. */
static void warn_of_slowness(Lab *l) {
    if (l->warned || !version_warning()) return;
    l->warned = true;
    lab_say(l, MESSAGE_WARNING, "%s", version_warning());
}

Snapshot *lab_look(Lab *l, LabPart *part, void *data) {
    if (l->train.live) decode_refresh(l);
    warn_of_slowness(l);
    SnapshotFacts facts = facts_of(l);
    Snapshot *s = snapshot_new(&facts);
    if (!l->train.live) return s;
    RunUpdate update;
    bool updated = run_last_update(lab_shown(l), &update);
    Scene scene = scene_of(l, &facts, updated ? &update : NULL);
    add_settings(l, s);
    Parts parts = {l, facts, part, data};
    parts.facts.unfinished = true;
    if (observers_look_on(l->observers, &scene, l->watch, s, part ? give_part : NULL, &parts)) return s;
    snapshot_unref(s);
    return NULL;
}

Snapshot *lab_snapshot(Lab *l) {
    Snapshot *s = lab_look(l, NULL, NULL);
    BUG_ON(!s && !cancel_wanted());
    return s;
}

uint64_t lab_hash(const Lab *l) {
    return l->train.live ? params_hash(model_read_params(run_model(lab_shown(l)))) : 0;
}
