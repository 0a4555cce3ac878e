/* Runs that begin: from options, from files, again. */
#include "lab_internal.h"
#include "recipe.h"
#include "tune.h"

#include "bug.h"
#include "file.h"
#include "intl.h"
#include "loaded.h"

#include <stdio.h>
#include <string.h>

/* The prompt that O asks for, when it is another than the last run was started with; NULL: the one in use stays. */
static const char *new_prompt(const Lab *l, const Options *o) {
    const char *prompt = options_text(o, "prompt"), *before = options_text(l->options, "prompt");
    if (!prompt || !l->train.live) return prompt;
    return before && strcmp(prompt, before) == 0 ? NULL : prompt;
}

/* Whether O fine-tunes a model that has no room beside the one that is fine-tuned now. */
static bool needs_its_room(const Lab *l, const Options *o) {
    ModelConfig c;
    bool past;
    if (!l->train.live || !run_tunes(l->train.live) || !tune_wanted(o)) return false;
    Status s = loaded_config(lab_model(o), &c);
    if (!status_is_ok(&s)) return false; /* those who read it say why */
    s = tune_room(&c, tune_tokens(o, &c), &past);
    return !status_is_ok(&s) || !past;
}

/* The run that is there goes before another is made. */
static void let_go(Lab *l) {
    versus_done(l);
    observers_forget(l->observers);
    sample_run_forget(l->samples);
    bpe_live_forget(l->bpe);
    train_done(&l->train);
}

/* The pending run, made and checked before the old one goes, where there is room for two. */
Status lab_make_run(Lab *l) {
    Options *o = l->pending;
    l->pending = NULL;
    Run *r = NULL;
    const char *model = lab_model(o);
    bool tunes = tune_wanted(o);
    tune_settle(o);
    const char *prompt = new_prompt(l, o);
    if (needs_its_room(l, o)) let_go(l);
    Status s = model && !tunes ? run_open(model, tune_tokenizer(o), o, lab_threads(o), &r)
                               : run_new(o, (uint64_t)options_int(o, "seed"), lab_threads(o), &r);
    if (status_is_ok(&s)) versus_done(l);
    if (status_is_ok(&s)) s = decode_adopt(l, r, prompt);
    if (status_is_ok(&s)) {
        char name[sizeof l->name];
        const char *file = run_origin(r) ? run_origin(r) : model;
        snprintf(name, sizeof name, "%s", file ? file_base_name(file) : options_text(o, "arch"));
        if (model && !tunes && !run_reads_only(r)) s = files_remember(o, r);
        if (status_is_ok(&s) && tunes) s = options_set(o, "arch", recipe_arch(r));
        lab_adopt(l, r, o, name, l->pending_runs && run_steps(r) > run_done(r));
        if (tunes) eval_say_tuned(l);
        decode_tell_left_out(l, l->decode.text.s, tunes);
        return s;
    }
    run_free(r);
    options_free(o);
    l->failed = !l->train.live;
    snprintf(l->failure, sizeof l->failure, "%s", s.text);
    lab_say(l, MESSAGE_ERROR, "%s", s.text);
    return s;
}

static bool says(const Words *w, const char *key) {
    for (int i = 1; i < w->count; i++)
        if (strncmp(w->word[i], key, strlen(key)) == 0) return true;
    return false;
}

/* The words from FIRST on. Without its model, or with another one, a tokenizer that was there before goes, too. */
static Status set_pairs(const Options *before, Options *o, const Words *w, int first) {
    STATUS_TRY(options_set_pairs(o, w->word + first, w->count - first));
    bool other = !lab_model(o) || options_differ(before, o, "model");
    if (other && options_is_set(o, "tokenizer") && !says(w, "tokenizer="))
        STATUS_TRY(options_set(o, "tokenizer", LAB_NO_MODEL));
    tune_settle(o);
    return lab_check(o);
}

Status lab_knows_corpus(const Lab *l) {
    const Run *r = l->train.live;
    if (!r || run_reads_only(r) || !run_missing(r)[0]) return status_ok();
    return status_usage(_("%s; ':restart corpus=FILE' begins with another"), run_missing(r));
}

/* Those of a run that nobody asked anything of; what the machine can give stays. */
static Options *afresh_options(const Options *before) {
    static const char *const kept[] = {"threads", "history"};
    Options *o = lab_options();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (!options_is_given(before, kept[i])) continue;
        Status s = options_set(o, kept[i], options_value(before, kept[i]));
        BUG_ON(!status_is_ok(&s)); /* it was accepted before */
    }
    return o;
}

/* Trains at once when the run before did, unless start= says otherwise; what is fine-tuned is held first. */
Status lab_do_restart(Lab *l, const Words *w) {
    bool afresh = w->count > 1 && strcmp(w->word[1], "afresh") == 0;
    Options *o = afresh ? afresh_options(l->options) : options_copy(l->options);
    Status s = afresh || says(w, "corpus=") || says(w, "model=") ? status_ok() : lab_knows_corpus(l);
    if (status_is_ok(&s)) s = set_pairs(l->options, o, w, afresh ? 2 : 1);
    if (!status_is_ok(&s)) {
        options_free(o);
        return s;
    }
    bool other = tune_wanted(o) && options_differ(l->options, o, "model");
    lab_begin(l, o);
    if (says(w, "start=") || !l->train.live || other) l->pending_runs = options_choice(o, "start") == 0;
    return s;
}

void lab_begin(Lab *l, Options *o) {
    l->pending_runs = l->train.live && train_pending(l) && !l->train.seeking;
    l->pending = o;
}
