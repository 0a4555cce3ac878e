/* decode.repeat: a model of a stream of sentences writes on and on: searching falls into repetition, sampling does not
 * (lecture 3, 6.6; Holtzman et al. 2020). */
#include "bug.h"
#include "corpora.h"
#include "decode/decoder.h"
#include "decode/log_softmax.h"
#include "decode/sampling.h"
#include "experiment.h"
#include "intl.h"
#include "languages.h"
#include "mem.h"
#include "tally.h"
#include "tokens.h"
#include "trainings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_MOST = 4096, SHARE_TRAINING = 90 };

static const Option repeat_options[] = {
    {"block", OPTION_INT, "128", 16, TOKENS_MOST, NULL, "tokens",
     N_("length of the parts that the stream is cut into")},
    {"starts", OPTION_INT, "32", 1, 1000, NULL, "", N_("beginnings of sentences, all different, to go on from")},
    {"words", OPTION_INT, "3", 1, 1000, NULL, "words", N_("of each beginning")},
    {"tokens", OPTION_INT, "120", 1, TOKENS_MOST, NULL, "tokens", N_("written after each beginning")},
    {"top_p", OPTION_REAL, "0.9", 0, 1, NULL, "", N_("of the strategy that samples")},
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("in the stream that the model is trained on")},
    {"epochs", OPTION_INT, "5", 1, 100000, NULL, "", N_("how often the stream is seen")},
    {"batch", OPTION_INT, "8", 1, 65536, NULL, "blocks", N_("per training step")},
    {0},
};

static const Column pattern_columns[] = {
    {"strategy", COLUMN_TEXT, ""}, {"start", COLUMN_TEXT, ""}, {"letters", COLUMN_TEXT, ""}, {0}};
static const Column rate_columns[] = {
    {"strategy", COLUMN_TEXT, ""}, {"repeated_sentence_share", COLUMN_DOUBLE, ""}, {0}};
static const Column growth_columns[] = {{"strategy", COLUMN_TEXT, ""},
                                        {"sentence", COLUMN_INT, ""},
                                        {"texts", COLUMN_INT, ""},
                                        {"repeated_share", COLUMN_DOUBLE, ""},
                                        {"best_p", COLUMN_DOUBLE, ""},
                                        {"true_best_p", COLUMN_DOUBLE, ""},
                                        {0}};
static const Column choice_columns[] = {{"strategy", COLUMN_TEXT, ""}, {"word", COLUMN_TEXT, ""},
                                        {"share", COLUMN_DOUBLE, ""},  {"model_p", COLUMN_DOUBLE, ""},
                                        {"true_p", COLUMN_DOUBLE, ""}, {0}};

static Status check(const Options *o) {
    long long room = options_int(o, "block") + 1 - 1 - options_int(o, "words"); /* </s> and the words go in */
    if (options_int(o, "tokens") <= room) return status_ok();
    return status_usage(_("tokens=%lld are too many: a block of %lld has room for %lld after %lld words"),
                        options_int(o, "tokens"), options_int(o, "block"), room > 0 ? room : 0LL,
                        options_int(o, "words"));
}

/* --- beginnings, and how the language itself goes on from them --- */

enum { GREEDY, TOP_P, TRUTH, STRATEGIES };

typedef struct {
    int *ids; /* [n] </s>, the words of the beginning, what was written */
    int n;
} Text;

typedef struct {
    int sentences;            /* whole ones, the first completes the beginning */
    long *texts, *repeated;   /* [sentences] by their place in a text */
    double *best_p;           /* [sentences] sum over the texts: of the likeliest choice at its beginning */
    double *chosen, *model_p; /* [V] how often each word was the second of a sentence; sum of its probability */
    long choices;
    Tally tally;
} Count;

typedef struct {
    Study *study;
    Corpus *corpus; /* packed once the beginnings are known */
    Grammar *grammar;
    Language *language;
    Judge *judge;
    Model *model; /* NULL before the training */
    Text *truth;  /* [starts] */
    int starts, words, tokens, vocabulary;
    NextList next; /* what may be the second word, by the truth, after the first word of the first beginning */
    int first;     /* that word */
    Count count[STRATEGIES];
} Repeat;

static bool same_beginning(const Repeat *r, const int *ids, int n) {
    for (int i = 0; i < r->starts; i++)
        if (memcmp(r->truth[i].ids + 1, ids, (size_t)n * sizeof *ids) == 0) return true;
    return false;
}

/* Test sentence I, and others after it: each of WANTED beginnings has its own. */
static void take_start(Repeat *r, long i, int wanted) {
    const Sentences *s = &r->corpus->test;
    int most = 1 + r->words + r->tokens;
    long next = (s->sentences * r->starts) / wanted;
    Text *t = &r->truth[r->starts++];
    t->ids = MEM_ARRAY(int, (size_t)most);
    t->ids[t->n++] = VOCAB_EOS;
    while (t->n < most) {
        for (long k = s->start[i] + 1; k < s->start[i + 1] && t->n < most; k++) t->ids[t->n++] = s->id[k];
        i = next++ % s->sentences;
    }
}

static Status find_starts(Repeat *r, int wanted) {
    const Sentences *s = &r->corpus->test;
    r->truth = MEM_ARRAY(Text, (size_t)wanted);
    for (long i = 0; i < s->sentences && r->starts < wanted; i++) {
        const int *word = s->id + s->start[i] + 1;
        if (s->start[i + 1] - s->start[i] - 2 < r->words || same_beginning(r, word, r->words)) continue;
        take_start(r, i, wanted);
    }
    if (r->starts == wanted) return status_ok();
    return status_usage(_("starts=%d are too many: %ld test sentences have %d different beginnings of %d words"),
                        wanted, s->sentences, r->starts, r->words);
}

/* --- the model --- */

static Status take_model(void *user, int job, Trained *t) {
    Repeat *r = user;
    (void)job;
    r->model = t->model;
    t->model = NULL;
    study_offer_model(r->study, t->path);
    return status_ok();
}

static Status train(Repeat *r) {
    static const char *const same[] = {"sentences", "epochs", "batch"};
    const Options *o = study_options(r->study);
    Options *run = run_options();
    Status s = options_set(run, "context", options_value(o, "block"));
    for (size_t i = 0; i < sizeof same / sizeof *same && status_is_ok(&s); i++)
        s = options_set(run, same[i], options_value(o, same[i]));
    if (status_is_ok(&s)) {
        Training job = {.name = "stream", .options = run, .seed = study_seed(r->study), .from.corpus = r->corpus};
        s = trainings_run(r->study, &job, 1,
                          &(TrainingsCalls){.done = take_model, .user = r, .from = .05, .to = SHARE_TRAINING / 100.});
    }
    options_free(run);
    return s;
}

/* --- writing --- */

typedef struct {
    const Text *start;
    int words;
    Text *out;
} Writing;

static Status take_text(void *user, const Sample *s) {
    Writing *w = user;
    w->out->n = 1 + w->words + s->length;
    w->out->ids = MEM_ARRAY(int, (size_t)w->out->n);
    memcpy(w->out->ids, w->start->ids, (size_t)(1 + w->words) * sizeof *w->out->ids);
    memcpy(w->out->ids + 1 + w->words, s->ids, (size_t)s->length * sizeof *s->ids);
    return status_ok();
}

static Status write_on(Repeat *r, int strategy, int start, Text *out) {
    Rng seeds = rng_at(study_seed(r->study), "repeat", (uint64_t)start);
    SamplingPlan plan = {
        .model = r->model,
        .filter = {strategy == GREEDY ? 0 : 1, 0, options_real(study_options(r->study), "top_p"), ORDER_TAU_FIRST},
        .ids = r->truth[start].ids,
        .n = 1 + r->words,
        .sentences = 1,
        .tokens = r->tokens,
        .end = -1, /* never */
        .seed = rng_next(&seeds)};
    if (strategy == GREEDY) plan.filter.top_p = 1;
    Writing w = {&r->truth[start], r->words, out};
    Sampling *s = sampling_new(&plan);
    Status status = sampling_run(s, take_text, &w);
    sampling_free(s);
    return status;
}

/* --- reading --- */

/* The letters of the sentences of a text so far, by the numbers of their texts. */
typedef struct {
    int *text, count, capacity; /* the distinct ones, A first */
    Str written;
} Letters;

/* Adds the letter of a sentence; whether it was there before. */
static bool add_letter(Letters *l, int text) {
    int which = 0;
    while (which < l->count && l->text[which] != text) which++;
    bool before = which < l->count;
    if (!before) {
        MEM_GROW(l->text, l->count, l->capacity);
        l->text[l->count++] = text;
    }
    if (which < 52)
        str_addf(&l->written, "%c", which < 26 ? 'A' + which : 'a' + which - 26);
    else
        str_addf(&l->written, "(%d)", which + 1);
    return before;
}

/* What the model said of the second word of a sentence that begins at AT of T: log p [V] are its logits there. */
static void note_choice(Repeat *r, Count *c, const Text *t, int at, int sentence, const real *logits) {
    double best = 0, *log_p = MEM_ARRAY(double, (size_t)r->vocabulary);
    log_softmax(r->vocabulary, logits, log_p);
    for (int i = 0; i < r->vocabulary; i++) {
        double p = exp(log_p[i]);
        c->model_p[i] += p;
        best = fmax(best, p);
    }
    mem_free(log_p);
    c->chosen[t->ids[at + 1]]++;
    c->best_p[sentence] += best;
    c->choices++;
}

/* Sentence after sentence of a text; ROWS [n x V] are the model's logits after each token. */
static Status read_sentences(Repeat *r, Count *c, const Text *t, const real *rows, Letters *l) {
    int at = 1, sentence = 0; /* where it begins */
    for (int i = 1; i < t->n; i++) {
        if (t->ids[i] != VOCAB_EOS) continue;
        Verdict v;
        STATUS_TRY(judge_sentence(r->judge, t->ids + at, i + 1 - at, true, &v));
        tally_add(&c->tally, &v, 1);
        c->texts[sentence]++;
        c->repeated[sentence] += add_letter(l, v.text);
        if (sentence > 0 && t->ids[at] == r->first && i > at + 1)
            note_choice(r, c, t, at, sentence, rows + (size_t)at * (size_t)r->vocabulary);
        sentence++;
        at = i + 1;
    }
    if (sentence > c->sentences) c->sentences = sentence;
    return status_ok();
}

static const char *const strategy_names[] = {"greedy", "top_p", "truth"};

static void name_strategy(const Repeat *r, int strategy, char *out, size_t bytes) {
    if (strategy == TOP_P)
        snprintf(out, bytes, "top_p=%.15g", options_real(study_options(r->study), "top_p"));
    else
        snprintf(out, bytes, "%s", strategy_names[strategy]);
}

static Status read_text(Repeat *r, int strategy, Decoder *d, const Text *t) {
    char name[64];
    name_strategy(r, strategy, name, sizeof name);
    Letters l = {0};
    str_init(&l.written);
    decoder_reset(d);
    const real *rows = decoder_feed_all(d, 0, t->ids, t->n - 1);
    Status s = read_sentences(r, &r->count[strategy], t, rows, &l);
    Str start;
    str_init(&start);
    tokens_text(r->corpus->vocab, t->ids + 1, r->words, &start);
    Table *pattern = study_table(r->study, "pattern");
    table_add_text(pattern, name);
    table_add_text(pattern, start.s);
    table_add_text(pattern, l.written.s);
    str_done(&start);
    str_done(&l.written);
    mem_free(l.text);
    return s;
}

/* --- the tables --- */

static double true_p(const Repeat *r, int id) {
    const char *name = tokens_name(r->corpus->vocab, id);
    for (int i = 0; i < r->next.count; i++)
        if (strcmp(r->next.next[i].token, name) == 0) return r->next.next[i].p;
    return 0;
}

/* As far as three quarters of the texts come: those that come further are the ones with short sentences. */
static void add_growth(const Repeat *r, const Count *c, const char *name) {
    Table *t = study_table(r->study, "growth");
    double best = 0;
    for (int i = 0; i < r->next.count; i++) best = fmax(best, r->next.next[i].p);
    for (int i = 0; i < c->sentences && 4 * c->texts[i] >= 3 * r->starts; i++) {
        table_add_text(t, name);
        table_add_int(t, i + 1);
        table_add_int(t, c->texts[i]);
        table_add_real(t, (double)c->repeated[i] / (double)c->texts[i]);
        if (i > 0)
            table_add_real(t, c->best_p[i] / (double)c->texts[i]);
        else
            table_add_empty(t); /* the beginning was given */
        table_add_real(t, best);
    }
}

static void add_choices(const Repeat *r, const Count *c, const char *name) {
    Table *t = study_table(r->study, "choice");
    for (int id = 0; id < r->vocabulary && c->choices; id++) {
        double p = true_p(r, id);
        if (p == 0 && c->chosen[id] == 0) continue;
        table_add_text(t, name);
        table_add_text(t, tokens_name(r->corpus->vocab, id));
        table_add_real(t, c->chosen[id] / (double)c->choices);
        table_add_real(t, c->model_p[id] / (double)c->choices);
        table_add_real(t, p);
    }
}

static void add_tables(Repeat *r, int strategy) {
    Count *c = &r->count[strategy];
    char name[64];
    long all = 0, repeated = 0;
    for (int i = 0; i < c->sentences; i++) all += c->texts[i], repeated += c->repeated[i];
    name_strategy(r, strategy, name, sizeof name);
    Table *rate = study_table(r->study, "rate");
    table_add_text(rate, name);
    if (all)
        table_add_real(rate, (double)repeated / (double)all);
    else
        table_add_empty(rate);
    add_growth(r, c, name);
    add_choices(r, c, name);
    tally_add_row(&c->tally, name, true, study_table(r->study, "worth"));
}

/* --- the experiment --- */

static Status follow(Repeat *r, int strategy, Decoder *d) {
    Status s = status_ok();
    for (int i = 0; i < r->starts && status_is_ok(&s); i++) {
        Text written = {0};
        double share = (double)(strategy * r->starts + i) / (STRATEGIES * r->starts);
        if (!study_progress(r->study, (SHARE_TRAINING + (100 - SHARE_TRAINING) * share) / 100, _("text %d of %d"),
                            i + 1, r->starts))
            return status_cancelled();
        if (strategy != TRUTH) s = write_on(r, strategy, i, &written);
        if (status_is_ok(&s)) s = read_text(r, strategy, d, strategy == TRUTH ? &r->truth[i] : &written);
        mem_free(written.ids);
    }
    if (status_is_ok(&s)) add_tables(r, strategy);
    return s;
}

static Status write_all(Repeat *r) {
    const int bos = VOCAB_BOS;
    r->judge = judge_new(r->grammar, r->language, r->corpus->vocab, &bos, 1);
    r->first = r->truth[0].ids[1];
    STATUS_TRY(language_next(r->language, tokens_name(r->corpus->vocab, r->first), &r->next));
    Decoder *d = decoder_new(r->model, 1, model_config(r->model)->context);
    Status s = status_ok();
    for (int k = 0; k < STRATEGIES && status_is_ok(&s); k++) s = follow(r, k, d);
    decoder_free(d);
    return s;
}

static void count_init(Count *c, int tokens, int vocabulary) {
    size_t most = (size_t)tokens + 2; /* sentences of one token */
    *c = (Count){.texts = MEM_ARRAY(long, most),
                 .repeated = MEM_ARRAY(long, most),
                 .best_p = MEM_ARRAY(double, most),
                 .chosen = MEM_ARRAY(double, (size_t)vocabulary),
                 .model_p = MEM_ARRAY(double, (size_t)vocabulary)};
    tally_init(&c->tally);
}

static void count_done(Count *c) {
    mem_free(c->texts);
    mem_free(c->repeated);
    mem_free(c->best_p);
    mem_free(c->chosen);
    mem_free(c->model_p);
    tally_done(&c->tally);
}

static Status repeat(Repeat *r) {
    const Options *o = study_options(r->study);
    r->words = (int)options_int(o, "words");
    r->tokens = (int)options_int(o, "tokens");
    if (!study_progress(r->study, 0, _("sampling the corpus"))) return status_cancelled();
    STATUS_TRY(languages_read("farm", &r->grammar));
    STATUS_TRY(language_new(r->grammar, NULL, NULL, &r->language));
    STATUS_TRY(corpora_load("farm", (CorpusTokens){.unit = VOCAB_WORD}, (long)options_int(o, "sentences"),
                            RUN_TEST_SENTENCES, study_seed(r->study), &r->corpus));
    r->vocabulary = vocab_size(r->corpus->vocab);
    for (int k = 0; k < STRATEGIES; k++) count_init(&r->count[k], r->words + r->tokens, r->vocabulary);
    STATUS_TRY(find_starts(r, (int)options_int(o, "starts")));
    corpus_pack(r->corpus, (int)options_int(o, "block"));
    STATUS_TRY(train(r));
    return write_all(r);
}

static void repeat_done(Repeat *r) {
    for (int i = 0; i < r->starts; i++) mem_free(r->truth[i].ids);
    mem_free(r->truth);
    for (int k = 0; k < STRATEGIES; k++) count_done(&r->count[k]);
    next_list_done(&r->next);
    judge_free(r->judge);
    model_free(r->model);
    corpus_free(r->corpus);
    language_free(r->language);
    grammar_free(r->grammar);
}

static Status run(Study *s) {
    Repeat r = {.study = s};
    Status status = repeat(&r);
    repeat_done(&r);
    study_about(s, "stream", "gpt trained on one stream of farm sentences, </s> between them, cut into blocks");
    study_about(
        s, "beginnings",
        "the first words of test sentences, all different; truth: those sentences and other test sentences after them");
    study_about(s, "letters", "whole sentences; the same letter is the same sentence within a text");
    study_about(s, "repeated_sentence_share", "whole sentences that stood in the same text before / whole sentences");
    study_about(s, "growth",
                "the same by the place of a sentence in its text, as far as three quarters of the texts come; best_p: "
                "what the model gives the "
                "likeliest second word of the sentence, true_best_p: what the language does");
    study_about(s, "choice", "the second word of a sentence, after its first: how often it came, mean probability");
    tally_about(s);
    return status;
}

const Experiment experiment_decode_repeat = {
    .entry = {.id = "decode.repeat",
              .section = "L3 6.6",
              .title = N_("writing on and on: searching repeats itself, sampling does not"),
              .see =
                  N_("Sentences of the stream have nothing to do with each other, yet the model likes some subject a "
                     "little more than it should. Greedy takes that one every time, and what was said once leads "
                     "to the same again."),
              .options = (const Option *const[]){repeat_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"pattern", pattern_columns},
                                            {"rate", rate_columns},
                                            {"growth", growth_columns},
                                            {"choice", choice_columns},
                                            {"worth", tally_columns},
                                            {0}},
              .figure = {FIGURE_LINE, "growth", "sentence", "repeated_share", "strategy"}},
    .check = check,
    .run = run,
};
