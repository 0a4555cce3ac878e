/* Runs from files and to files: checkpoints, models of others that are read, and models of others that learn on. */
#include "run_private.h"

#include "file.h"
#include "intl.h"
#include "io/checkpoint.h"
#include "io/llama2c_write.h"
#include "loaded.h"
#include "mem.h"
#include "model_folder.h"
#include "original.h"
#include "room.h"
#include "str.h"
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Opening. */

/* A corpus that is but a vocabulary, which passes to it. */
static Corpus *only_words(Vocab *v, const char *name) {
    Corpus *corpus = MEM_NEW(Corpus);
    snprintf(corpus->name, sizeof corpus->name, "%s", name);
    corpus->vocab = v;
    return corpus;
}

/* That of the file, or one that has the vocabulary and no sentence. */
static RunData *data_for(const Checkpoint *c, const Options *o, char *missing, size_t bytes) {
    Corpus *corpus;
    const char *spec = original_spec(c, o);
    Status s = original_corpus(c, o, &corpus);
    if (status_is_ok(&s)) return run_data_new(corpus, spec, original_sentences(c, o));
    snprintf(missing, bytes, "%s", s.text);
    const char *name = c->corpus[0] ? c->corpus : spec ? file_base_name(spec) : _("a text");
    RunData *d = run_data_new(only_words(vocab_copy(c->vocab), name), spec ? spec : "", 0);
    run_data_lose(d, c);
    return d;
}

/* The plan ends where the file does when there is nothing to go on with. */
static void take_plan(Run *r, const Checkpoint *c) {
    bool learns = r->data->corpus->train.sentences > 0;
    r->done = c->step;
    r->steps = c->has_optim && learns ? c->steps : c->step;
    r->planned = c->has_optim ? c->steps : c->step;
}

/* The state of the file, for a run that was set up with its model. */
void run_take_moments(Run *r, const Checkpoint *c) {
    if (!c->has_optim) return;
    size_t bytes = c->optim.count * sizeof(real);
    memcpy(r->optim.m, c->optim.m, bytes);
    memcpy(r->optim.v, c->optim.v, bytes);
    r->optim.updates = c->optim.updates;
}

static Status knows_tokens(const LoadedModel *l, const char *path) {
    if (l->vocab) return status_ok();
    return status_usage(_("'%s' does not say what its tokens are: %s; tokenizer=FILE does, and the experiments of "
                          "'lantern run' take ids= without"),
                        path, l->no_vocab);
}

static Status open_loaded(const char *path, const char *tokenizer, const Options *o, Run **out) {
    LoadedModel l;
    STATUS_TRY(loaded_read(path, tokenizer, &l));
    Status s = knows_tokens(&l, path);
    if (!status_is_ok(&s)) {
        loaded_done(&l);
        return s;
    }
    Run *r = MEM_NEW(Run);
    r->data = run_data_new(only_words(l.vocab, l.kind), "", 0);
    r->seed = (uint64_t)options_int(o, "seed");
    r->optim.config = run_optim_config(o);
    r->reads_only = true;
    loaded_origin(path, tokenizer, &r->data->model, &r->data->tokenizer);
    r->batch_size = (int)options_int(o, "batch");
    r->model = l.model;
    mem_free(l.grammar);
    batch_init(&r->batch);
    snprintf(r->missing, sizeof r->missing, "%s", _("somebody else trained it, and it is only read"));
    *out = r;
    return status_ok();
}

/* The file, what stands in it, and the gradients of as many numbers. */
static Status has_room(const char *path) {
    struct stat st;
    double left = (double)room_left(), need = stat(path, &st) == 0 ? 4 * (double)st.st_size : 0;
    if (need < 0.9 * left) return status_ok();
    return status_usage(_("to open '%s' takes about %.1f GB of memory, and %.1f GB are free"), path, need / 1e9,
                        left / 1e9);
}

/* Of a model of others that learned on. */
static void take_origin(Run *r, Checkpoint *c) {
    bool past = true;
    if (!c->origin) return;
    r->data->model = c->origin;
    r->data->tokenizer = c->origin_tokenizer;
    r->data->part = c->part;
    c->origin = c->origin_tokenizer = NULL;
    Status s = tune_room(model_config(r->model), (long)r->batch_size * run_part(r), &past); /* what it needs it has */
    r->no_past = !status_is_ok(&s) || !past;
}

Status run_open(const char *path, const char *tokenizer, const Options *o, int threads, Run **out) {
    if (loaded_is(path)) return open_loaded(path, tokenizer, o, out);
    if (tokenizer) return status_usage(_("tokenizer= goes with a model of others; '%s' brings its vocabulary"), path);
    Checkpoint c;
    STATUS_TRY(has_room(path));
    STATUS_TRY(checkpoint_read(path, &c));
    if (!c.vocab) {
        checkpoint_done(&c);
        return status_usage(_("'%s' does not say what its tokens are"), path);
    }
    Run *r = MEM_NEW(Run);
    r->data = data_for(&c, o, r->missing, sizeof r->missing);
    r->seed = c.seed;
    OptimConfig optim = c.has_optim ? c.optim.config : run_optim_config(o);
    r->batch_size = c.batch ? c.batch : (int)options_int(o, "batch");
    take_plan(r, &c);
    run_set_up(r, c.model, threads, &optim);
    c.model = NULL;
    run_take_moments(r, &c);
    take_origin(r, &c);
    checkpoint_done(&c);
    *out = r;
    return status_ok();
}

/* Learning on. */

/* The sentences that the model's tokenizer makes of the corpus, in parts of at most PART tokens. */
static Status tune_corpus(const Options *o, const Vocab *v, const RunStart *start, int part, uint64_t seed,
                          Corpus **out) {
    *out = start->corpus;
    if (*out) return status_ok();
    STATUS_TRY(run_load_corpus(o, start, (CorpusTokens){.vocab = v}, seed, out));
    Corpus *c = *out;
    run_fit_corpus(o, part, c);
    if (c->train.sentences > 0 && c->test.sentences > 0) return status_ok();
    Status s = status_usage(_("corpus: the tokenizer leaves too little of '%s': %ld sentences to learn, %ld to test, "
                              "%ld characters without a token"),
                            c->name, c->train.sentences, c->test.sentences, c->left_out);
    corpus_free(c);
    return s;
}

/* The model L, which stays or passes, begins to learn. */
static Status tune_loaded(const Options *o, LoadedModel *l, const RunStart *start, int part, uint64_t seed, int threads,
                          Run **out) {
    Corpus *corpus;
    STATUS_TRY(knows_tokens(l, tune_model(o)));
    STATUS_TRY(tune_corpus(o, l->vocab, start, part, seed, &corpus));
    Run *r = run_begin(o, start, seed, threads, corpus, l->model);
    l->model = NULL;
    loaded_origin(tune_model(o), tune_tokenizer(o), &r->data->model, &r->data->tokenizer);
    r->data->part = part;
    *out = r;
    return status_ok();
}

Status run_tune(const Options *o, const RunStart *start, uint64_t seed, int threads, Run **out) {
    const char *path = tune_model(o);
    ModelConfig c;
    LoadedModel l;
    bool past;
    STATUS_TRY(loaded_config(path, &c));
    int part = options_is_set(o, "context") ? (int)options_int(o, "context") : c.context;
    STATUS_TRY(tune_room(&c, tune_tokens(o, &c), &past));
    if (start->corpus && !past)
        return status_usage(_("there is no memory for two runs of %zu parameters"), model_count(&c));
    STATUS_TRY(loaded_read_to_train(path, tune_tokenizer(o), &l));
    Status s = tune_loaded(o, &l, start, part, seed, threads, out);
    loaded_done(&l);
    if (status_is_ok(&s)) (*out)->no_past = !past;
    return s;
}

/* Files. */

/* PATH, wherever lantern is started the next time; NULL stays. free() it. */
static char *whole_path(const char *path) {
    char *whole = path ? realpath(path, NULL) : NULL;
    return whole || !path ? whole : strdup(path);
}

/* Where the text of the run lies, wherever lantern is started the next time; NULL: it learns from a grammar, or from
 * what came in by a pipe. free() it. */
static char *text_path(const RunData *d) {
    const char *spec = d->spec;
    if (d->corpus->grammar || strcmp(spec, "-") == 0 || !*spec || corpora_is_grammar(spec)) return NULL;
    return whole_path(spec);
}

/* What a file says of its corpus, TEXT being where it lies. */
static void name_corpus(const RunData *d, const char *text, CheckpointRun *out) {
    const Corpus *c = d->corpus;
    out->corpus = d->lost ? d->lost->corpus : c->grammar ? d->spec : "";
    out->grammar = d->lost ? d->lost->grammar : c->grammar ? grammar_text(c->grammar) : NULL;
    out->sentences = d->lost ? d->lost->sentences : d->sentences;
    out->text = d->lost ? d->lost->text : text;
}

Status run_save(Run *r, const char *path) {
    if (r->reads_only) return loaded_refer(path, r->data->model, r->data->tokenizer);
    char *text = text_path(r->data), *origin = whole_path(r->data->model), *tokenizer = whole_path(r->data->tokenizer);
    CheckpointRun run = {.seed = r->seed,
                         .step = r->done,
                         .steps = run_planned(r),
                         .batch = r->batch_size,
                         .origin = origin,
                         .origin_tokenizer = tokenizer,
                         .part = r->data->part};
    name_corpus(r->data, text, &run);
    Status s = checkpoint_write_run(path, r->model, r->data->corpus->vocab, &r->optim, &run);
    free(text);
    free(origin);
    free(tokenizer);
    return s;
}

/* For other programs. */

/* Whether FILE lies in FOLDER itself; both are whole. */
static bool is_inside(const char *file, const char *folder) {
    size_t n = strlen(folder);
    return strncmp(file, folder, n) == 0 && file[n] == '/' && !strchr(file + n + 1, '/');
}

/* Of the files that make a model in the Hugging Face layout. */
static bool is_part(const char *file) {
    return str_ends_in(file, ".safetensors") || str_ends_in(file, ".json") || str_ends_in(file, ".txt");
}

/* Whether writing to PATH would change what was read from ORIGIN, a file or a folder (NULL: nothing was). */
static bool is_in_place(const char *origin, const char *path) {
    char *read = origin ? realpath(origin, NULL) : NULL, *written = read ? realpath(path, NULL) : NULL;
    bool same = false;
    if (written) {
        bool holds = is_inside(read, written) && str_ends_in(read, ".safetensors");
        same = holds || strcmp(read, written) == 0 || (is_inside(written, read) && is_part(written));
    }
    free(read);
    free(written);
    return same;
}

static Status check_place(const char *origin, const char *tokenizer, const char *path) {
    if (!is_in_place(origin, path) && !is_in_place(tokenizer, path)) return status_ok();
    return status_usage(_("save: '%s' is of the model that was read, which stays as it is; give another name"), path);
}

/* Whether a model that was read from ORIGIN goes to PATH as a file of llama2.c. */
static bool is_llama2c(const char *origin, const char *path) {
    return origin && str_ends_in(path, ".bin") && !model_folder_is(path);
}

/* That a file can be put there. */
static Status try_file(const char *path) {
    FileWriter *w;
    if (!*path) return status_usage(_("save: the name of a file is missing"));
    STATUS_TRY(file_begin(path, &w));
    file_discard(w);
    return status_ok();
}

Status run_export_check(const char *origin, const char *tokenizer, const ModelConfig *c, const char *path) {
    STATUS_TRY(check_place(origin, tokenizer, path));
    Status s = status_ok();
    if (model_folder_is(path)) s = model_folder_check(path, c);
    if (is_llama2c(origin, path)) s = llama2c_write_check(c);
    if (!status_is_ok(&s)) return status_usage("save: %s", s.text);
    return model_folder_is(path) ? s : try_file(path);
}

Status run_export(Run *r, const char *path, const char **unsaid) {
    const char *origin = r->data->model, *tokenizer = r->data->tokenizer;
    *unsaid = NULL;
    STATUS_TRY(check_place(origin, tokenizer, path));
    if (r->reads_only) return run_save(r, path);
    STATUS_TRY(run_export_check(origin, tokenizer, model_config(r->model), path));
    if (model_folder_is(path)) return model_folder_write(path, r->model, r->data->corpus, unsaid);
    return is_llama2c(origin, path) ? llama2c_write(path, r->model) : run_save(r, path);
}
