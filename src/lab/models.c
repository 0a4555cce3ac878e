#include "models.h"

#include "assets.h"
#include "bug.h"
#include "decode/log_softmax.h"
#include "file.h"
#include "intl.h"
#include "io/checkpoint.h"
#include "languages.h"
#include "left_out.h"
#include "loaded.h"
#include "mem.h"
#include "trainings.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODELS_HELP                                                                                                    \
    N_("gpt or modern (trained on the farm at first use, then kept), a checkpoint of lm.train save=, a llama2.c "      \
       "file, or a folder in the Hugging Face layout")
#define WINDOW_ROW                                                                                                     \
    {                                                                                                                  \
        "window", OPTION_INT, NULL, 0, 1000000, NULL, "tokens",                                                        \
            N_("tokens a query sees, itself included, in every layer; 0: all; not given: the model's own")             \
    }
#define TOKENIZER_ROW                                                                                                  \
    { "tokenizer", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("of a model of others: the file of its tokenizer") }

const Option models_gpt_option_rows[] = {
    {"model", OPTION_TEXT, "gpt", 0, 0, NULL, "file", MODELS_HELP}, TOKENIZER_ROW, WINDOW_ROW, {0}};
const Option models_modern_option_rows[] = {
    {"model", OPTION_TEXT, "modern", 0, 0, NULL, "file", MODELS_HELP}, TOKENIZER_ROW, WINDOW_ROW, {0}};
const Option models_ids_option_rows[] = {
    {"ids", OPTION_INTS, NULL, 0, 1e9, NULL, "",
     N_("ids of the tokens instead of a text; taken as they are, without <s>")},
    {0},
};

/* ---- which model ---- */

static bool is_preset(const char *spec) {
    ModelConfig c;
    return config_preset(spec, &c);
}

/* TOKENIZER NULL: none was given. */
static Status check_file(const char *path, const char *tokenizer) {
    struct stat st;
    if (stat(path, &st) != 0)
        return status_usage(_("model: '%s' is neither gpt nor modern nor a file that is there"), path);
    if (loaded_is(path)) {
        Status s = loaded_check(path, tokenizer);
        return status_is_ok(&s) ? s : status_usage("model: %s", s.text);
    }
    if (tokenizer)
        return status_usage(_("tokenizer= goes with a model of others; '%s' brings its own vocabulary"), path);
    if (access(path, R_OK) != 0) return status_usage(_("model: '%s' cannot be read"), path);
    return status_ok();
}

static const char *given_tokenizer(const Options *o) {
    return options_is_set(o, "tokenizer") ? options_text(o, "tokenizer") : NULL;
}

Status models_check(const Options *o, const char *text) {
    if (text && options_is_given(o, "ids") && options_is_given(o, text))
        return status_usage(_("give %s= or ids=, not both"), text);
    const char *spec = options_text(o, "model"), *tokenizer = given_tokenizer(o);
    if (!is_preset(spec)) return check_file(spec, tokenizer);
    if (tokenizer) return status_usage(_("tokenizer= goes with a model of others, not with %s"), spec);
    return status_ok();
}

/* ---- making and reading ---- */

static void take(Checkpoint *c, const char *path, TrainedModel *out) {
    out->model = c->model;
    out->vocab = c->vocab;
    out->foreign = c->vocab && vocab_is_foreign(c->vocab);
    c->model = NULL;
    c->vocab = NULL;
    snprintf(out->path, sizeof out->path, "%s", path);
    checkpoint_done(c);
}

/* The options of lm.train for a preset. */
static Options *preset_options(const char *name) {
    Options *o = run_options();
    Status status = options_set(o, "arch", name);
    BUG_ON(!status_is_ok(&status));
    return o;
}

bool models_cache_path(const char *preset, uint64_t seed, Str *path) {
    Options *o = preset_options(preset);
    bool good = trainings_path(&(Training){.name = preset, .options = o, .seed = seed}, path);
    options_free(o);
    return good;
}

static Status take_trained(void *user, int job, Trained *t) {
    (void)job;
    TrainedModel *out = user;
    out->model = t->model;
    out->vocab = t->vocab;
    t->model = NULL;
    t->vocab = NULL;
    snprintf(out->path, sizeof out->path, "%s", t->path);
    return status_ok();
}

static Status get_preset(Study *s, const char *name, TrainedModel *out) {
    Options *o = preset_options(name);
    Training job = {.name = name, .options = o, .seed = study_seed(s)};
    Status status = trainings_run(s, &job, 1, &(TrainingsCalls){.done = take_trained, .user = out});
    options_free(o);
    return status;
}

/* The language of a grammar that has been read, which passes into OUT. */
static Status take_grammar(Grammar *g, TrainedModel *out) {
    out->grammar = g;
    return language_new(g, NULL, NULL, &out->language);
}

static Status open_farm(TrainedModel *out) {
    Grammar *g;
    STATUS_TRY(languages_read("farm", &g));
    return take_grammar(g, out);
}

/* Says why there is no truth; FORMAT may name OF. */
static Status no_truth(TrainedModel *out, const char *format, const char *of) {
    snprintf(out->no_truth, sizeof out->no_truth, _(format), of);
    snprintf(out->truth_row, sizeof out->truth_row, format, of);
    return status_ok();
}

/* From the grammar that the file holds; files that were written before they did name a built-in one. */
static Status find_truth(const Checkpoint *c, TrainedModel *out) {
    Grammar *g;
    Str path;
    if (c->vocab && vocab_unit(c->vocab) != VOCAB_WORD)
        return no_truth(out, N_("a grammar knows what words are worth, and its tokens are not words"), "");
    if (c->grammar) {
        STATUS_TRY(grammar_parse(c->grammar, strlen(c->grammar), &g));
        return take_grammar(g, out);
    }
    if (!c->corpus[0]) return no_truth(out, N_("it learned from a text"), "");
    str_init(&path);
    bool known = assets_grammar(c->corpus, &path);
    str_done(&path);
    if (!known) return no_truth(out, N_("the file does not hold the grammar '%s'; saved again, it does"), c->corpus);
    STATUS_TRY(languages_read(c->corpus, &g));
    return take_grammar(g, out);
}

/* Of others: nobody knows its language. */
static Status get_loaded(const char *path, const char *tokenizer, TrainedModel *out) {
    LoadedModel l;
    STATUS_TRY(loaded_read(path, tokenizer, &l));
    out->model = l.model;
    out->vocab = l.vocab;
    out->foreign = !l.own;
    snprintf(out->no_vocab, sizeof out->no_vocab, "%s", l.no_vocab);
    snprintf(out->path, sizeof out->path, "%s", path);
    Grammar *g = NULL;
    Status s = status_ok();
    if (l.grammar) s = grammar_parse(l.grammar, strlen(l.grammar), &g);
    if (status_is_ok(&s) && g) s = take_grammar(g, out);
    mem_free(l.grammar);
    if (!status_is_ok(&s) || out->language) return s;
    return no_truth(out, N_("no grammar comes with a model in the format of %s"), l.kind);
}

static Status get_file(const Options *o, TrainedModel *out) {
    const char *path = options_text(o, "model"), *tokenizer = given_tokenizer(o);
    STATUS_TRY(check_file(path, tokenizer));
    if (loaded_is(path)) return get_loaded(path, tokenizer, out);
    Checkpoint c;
    STATUS_TRY(checkpoint_read(path, &c));
    Status truth = find_truth(&c, out);
    if (!status_is_ok(&truth)) {
        (void)no_truth(out, N_("its grammar cannot be read"), "");
        snprintf(out->no_truth, sizeof out->no_truth, "%s", truth.text);
    }
    take(&c, path, out);
    return status_ok();
}

static void set_name(TrainedModel *m, const char *spec) {
    snprintf(m->name, sizeof m->name, "%s", file_base_name(spec));
}

/* A number that an option gives, where it is a number. */
static int number_of(const Options *o, const char *name) {
    long long x = 0;
    if (options_find(o, name) && options_is_set(o, name) && !str_to_long(options_value(o, name), &x)) x = 0;
    return x < 0 || x > 1000 ? 0 : (int)x;
}

/* What prompt= or text= says, unless ids= says what goes in; NULL: nothing. */
static const char *text_of(const Options *o) {
    static const char *const names[] = {"prompt", "text"};
    const char *text = NULL;
    for (int i = 0; i < 2; i++)
        if (options_find(o, names[i]) && options_is_set(o, names[i]) && !options_is_given(o, "ids"))
            text = options_text(o, names[i]);
    return text;
}

/* The model, on the text that the experiment looks at. */
static void offer(Study *s, const TrainedModel *m) {
    const Options *o = study_options(s);
    StudyLook look = {.layer = number_of(o, "layer"), .head = number_of(o, "head"), .query = -1, .key = -1};
    if (text_of(o)) study_set_prompt(&look, text_of(o));
    if (given_tokenizer(o)) snprintf(look.tokenizer, sizeof look.tokenizer, "%s", given_tokenizer(o));
    study_offer_model(s, m->foreign && !m->vocab ? "" : m->path);
    study_offer_look(s, &look);
}

Status models_get(Study *s, TrainedModel *out) {
    const char *spec = options_text(study_options(s), "model");
    *out = (TrainedModel){0};
    set_name(out, spec);
    Status status;
    if (is_preset(spec)) {
        status = get_preset(s, spec, out);
        if (status_is_ok(&status)) status = open_farm(out);
        study_about(s, "model_from", "%s trained on the farm with the recipe of lm.train and this seed", spec);
    } else {
        status = get_file(study_options(s), out);
        study_about(s, "model_from", "%s",
                    loaded_is(spec) && out->foreign ? "a model of others, only read" : "a checkpoint");
    }
    if (status_is_ok(&status)) {
        if (options_is_set(study_options(s), "window"))
            model_set_window(out->model, (int)options_int(study_options(s), "window"));
        study_about(s, "truth", "%s%s",
                    out->language ? "the grammar that the model learned from" : "unknown: ", out->truth_row);
        offer(s, out);
        const char *text = text_of(study_options(s));
        if (out->vocab && text) left_out_tell(s, vocab_tokenizer(out->vocab), text, strlen(text));
    } else {
        models_done(out);
    }
    return status;
}

/* The vocabulary of a preset is that of the language, as the corpus makes it. */
static Status preset_vocabulary(TrainedModel *out) {
    const char **words;
    int n;
    STATUS_TRY(language_words(out->language, &words, &n));
    out->vocab = vocab_new(words, n);
    mem_free(words);
    return status_ok();
}

Status models_get_language(Study *s, TrainedModel *out) {
    const char *spec = options_text(study_options(s), "model");
    *out = (TrainedModel){0};
    set_name(out, spec);
    Status status;
    if (is_preset(spec)) {
        status = open_farm(out);
        if (status_is_ok(&status)) status = preset_vocabulary(out);
    } else {
        status = get_file(study_options(s), out);
    }
    if (status_is_ok(&status) && !out->language)
        status = status_usage(_("of=truth: there is none for '%s': %s"), spec, out->no_truth);
    if (!status_is_ok(&status)) models_done(out);
    return status;
}

void models_done(TrainedModel *m) {
    model_free(m->model);
    vocab_free(m->vocab);
    language_free(m->language);
    grammar_free(m->grammar);
    *m = (TrainedModel){0};
}

/* ---- tokens ---- */

static Status take_ids(const TrainedModel *m, const Options *o, int **ids, int *n) {
    const long long *x;
    int size = m->model ? model_config(m->model)->vocab : vocab_size(m->vocab);
    *n = options_ints(o, "ids", &x);
    for (int i = 0; i < *n; i++)
        if (x[i] >= size) return status_usage(_("ids: there is no token %lld; the model has 0 to %d"), x[i], size - 1);
    *ids = MEM_ARRAY(int, (size_t)*n);
    for (int i = 0; i < *n; i++) (*ids)[i] = (int)x[i];
    return status_ok();
}

Status models_text_ids(const TrainedModel *m, const char *text, ModelsKind kind, int **ids, int *n) {
    if (!m->vocab && m->no_vocab[0]) return status_usage(_("this model has no vocabulary, give ids=: %s"), m->no_vocab);
    if (!m->vocab) return status_usage(_("this model has no vocabulary: give ids="));
    int *word, words;
    STATUS_TRY(vocab_encode(m->vocab, text, &word, &words));
    bool begin = vocab_first(m->vocab) >= 0, end = kind == MODELS_SENTENCE && !m->foreign;
    *n = begin + words + end;
    *ids = MEM_ARRAY(int, (size_t)*n);
    if (begin) (*ids)[0] = vocab_first(m->vocab);
    if (words) memcpy(*ids + begin, word, (size_t)words * sizeof *word);
    if (end) (*ids)[begin + words] = vocab_last(m->vocab);
    mem_free(word);
    if (*n > 0) return status_ok();
    mem_free(*ids);
    return status_usage(_("this model begins a text with nothing: give it a word at least"));
}

int models_end(const TrainedModel *m) {
    if (m->foreign) return m->vocab ? vocab_last(m->vocab) : -1;
    return VOCAB_EOS;
}

Status models_ids(const TrainedModel *m, const Options *o, const char *text, ModelsKind kind, int **ids, int *n) {
    bool sentence = kind == MODELS_SENTENCE;
    if (options_is_set(o, "ids")) {
        STATUS_TRY(take_ids(m, o, ids, n));
    } else {
        STATUS_TRY(models_text_ids(m, options_is_set(o, text) ? options_text(o, text) : "", kind, ids, n));
    }
    int in = *n - sentence;
    if (!m->model || in <= model_config(m->model)->context) return status_ok();
    mem_free(*ids);
    return status_usage(_("%d tokens go in, and the model's context has room for %d"), in,
                        model_config(m->model)->context);
}

Scene models_scene(const TrainedModel *m, const int *ids, int n, uint64_t seed) {
    return (Scene){.model = m->model,
                   .vocab = m->vocab,
                   .language = m->language,
                   .ids = ids,
                   .known = n,
                   .visible = n,
                   .prompt = n,
                   .poke_id = -1,
                   .tweak = {.window = -1},
                   .filter = filter_defaults(),
                   .seed = seed};
}

double models_log_p(const TrainedModel *m, const int *ids, int n, int from) {
    int vocab = model_config(m->model)->vocab;
    double sum = 0;
    Observers *o = observers_new();
    Scene scene = models_scene(m, ids, n - 1, 0);
    const real *logits = observers_logits(o, &scene);
    for (int i = from; i < n; i++) {
        const real *row = logits + (size_t)(i - 1) * (size_t)vocab;
        sum += log_softmax_of(vocab, row, ids[i]);
    }
    observers_free(o);
    return sum;
}
