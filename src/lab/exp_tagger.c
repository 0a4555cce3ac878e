/* lm.tagger: a recurrent tagger against taggers that see the word alone (lecture 3, 1.4). */
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "optim.h"
#include "tagger.h"
#include "text/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Option tagger_options[] = {
    {"hidden", OPTION_INT, "32", 1, 512, NULL, "", N_("numbers in the state")},
    {"epochs", OPTION_INT, "10", 1, 10000, NULL, "", N_("how often every training sentence is seen")},
    {"corpus", OPTION_TEXT, "tags", 0, 0, NULL, "file", N_("a grammar or a text whose tokens are word/tag")},
    {"sentences", OPTION_INT, "2000", 2, 1e6, NULL, "", N_("how many to draw from a grammar")},
    {"lr", OPTION_REAL, "0.01", 0, 1000, NULL, "", N_("learning rate of Adam; it falls to a tenth")},
    {"batch", OPTION_INT, "16", 1, 10000, NULL, "sentences", N_("sentences of an update")},
    {"shown", OPTION_INT, "10", 0, 1e6, NULL, "sentences", N_("test sentences in the table tagged")},
    {"text", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("a sentence of words alone, tagged too")},
    {0},
};

static const Column accuracy_columns[] = {{"model", COLUMN_TEXT, ""},
                                          {"tokens", COLUMN_INT, ""},
                                          {"ambiguous_tokens", COLUMN_INT, ""},
                                          {"accuracy", COLUMN_DOUBLE, ""},
                                          {"ambiguous_accuracy", COLUMN_DOUBLE, ""},
                                          {0}};
static const Column tagged_columns[] = {{"sentence", COLUMN_INT, ""},   {"position", COLUMN_INT, ""},
                                        {"word", COLUMN_TEXT, ""},      {"tag", COLUMN_TEXT, ""},
                                        {"predicted", COLUMN_TEXT, ""}, {0}};

/* All sentences one after the other; words and tags are numbers from 0 in the order they came. */
typedef struct {
    Texts word_text, tag_text;
    int *word, *tag; /* [tokens] */
    long tokens, word_room, tag_room;
    long *start; /* [sentences+1] */
    long sentences, start_room;
    long train; /* the first so many are learned from, the others are the test */
} Tagged;

typedef struct {
    Study *study;
    Tagged data;
    double *seen;    /* [words x tags] in training */
    bool *ambiguous; /* [words] more than one tag in training */
    int words, tags;
    double done, all; /* sentences, for progress */
} TaggerStudy;

/* ---- sentences ---- */

static Status add_token(Tagged *d, const CorporaWord *w) {
    size_t cut = w->bytes;
    while (cut > 0 && w->s[cut - 1] != '/') cut--;
    if (cut < 2 || cut == w->bytes)
        return status_usage(_("corpus: '%.*s' is not of the form word/tag"), (int)w->bytes, w->s);
    MEM_GROW(d->word, d->tokens, d->word_room);
    MEM_GROW(d->tag, d->tokens, d->tag_room);
    d->word[d->tokens] = texts_add(&d->word_text, w->s, cut - 1) - 1;
    d->tag[d->tokens++] = texts_add(&d->tag_text, w->s + cut, w->bytes - cut) - 1;
    return status_ok();
}

static Status take(void *user, const CorporaWord *word, int words) {
    Tagged *d = user;
    for (int i = 0; i < words; i++) STATUS_TRY(add_token(d, &word[i]));
    while (d->start_room < d->sentences + 2) {
        d->start_room = d->start_room ? 2 * d->start_room : 64;
        d->start = mem_resize(d->start, (size_t)d->start_room, sizeof *d->start);
        d->start[0] = 0;
    }
    d->start[++d->sentences] = d->tokens;
    return status_ok();
}

static int length(const Tagged *d, long i) {
    return (int)(d->start[i + 1] - d->start[i]);
}

/* How often a word had a tag in training. */
static void count_tags(TaggerStudy *x) {
    Tagged *d = &x->data;
    x->words = d->word_text.count - 1;
    x->tags = d->tag_text.count - 1;
    x->seen = MEM_ARRAY(double, (size_t)x->words *(size_t)x->tags);
    x->ambiguous = MEM_ARRAY(bool, (size_t)x->words);
    for (long i = 0; i < d->start[d->train]; i++) x->seen[d->word[i] * x->tags + d->tag[i]]++;
    for (int w = 0; w < x->words; w++) {
        int kinds = 0;
        for (int k = 0; k < x->tags; k++) kinds += x->seen[w * x->tags + k] > 0;
        x->ambiguous[w] = kinds > 1;
    }
}

static Status read_sentences(TaggerStudy *x) {
    Tagged *d = &x->data;
    STATUS_TRY(corpora_each(x->study, CORPORA_TRAIN, 0.1, take, d));
    if (d->sentences < 2) return status_usage(_("corpus: one sentence to learn from and one to test are needed"));
    d->train = d->sentences - (d->sentences + 4) / 5;
    count_tags(x);
    return status_ok();
}

static Status check(const Options *o) {
    return corpora_check(options_text(o, "corpus"));
}

/* ---- learning ---- */

static double learn_batch(Tagger *t, const Tagged *d, const int *order, long from, long to, real *grad) {
    double loss = 0;
    long tokens = 0;
    memset(grad, 0, t->params.count * sizeof *grad);
    for (long i = from; i < to; i++) tokens += length(d, order[i]);
    for (long i = from; i < to; i++) {
        long at = d->start[order[i]];
        loss += tagger_loss(t, d->word + at, d->tag + at, length(d, order[i]), 1 / (double)tokens, grad);
    }
    return loss / (double)tokens;
}

static Status epoch(TaggerStudy *x, Tagger *t, Optim *optim, int number, int *order, real *grad) {
    const Options *o = study_options(x->study);
    long batch = (long)options_int(o, "batch"), n = x->data.train, updates = (n + batch - 1) / batch;
    Rng rng = rng_at(study_seed(x->study), "tagger", (uint64_t)number);
    rng_shuffle(&rng, order, (int)n);
    for (long from = 0; from < n; from += batch) {
        long to = from + batch < n ? from + batch : n;
        double loss = learn_batch(t, &x->data, order, from, to, grad);
        double rate = optim_rate(&optim->config, optim->updates, updates * (long)options_int(o, "epochs"));
        double norm = optim_update(optim, &t->params, grad, rate);
        if (!isfinite(norm)) return status_failed(_("diverged in epoch %d; a smaller lr may help"), number + 1);
        x->done += (double)(to - from);
        if (!study_progress(x->study, 0.1 + 0.9 * x->done / x->all, _("epoch %d, loss %.4f"), number + 1, loss))
            return status_cancelled();
    }
    return status_ok();
}

static Status learn(TaggerStudy *x, Tagger *t) {
    const Options *o = study_options(x->study);
    OptimConfig config = optim_defaults();
    config.lr = options_real(o, "lr");
    config.lr_min = config.lr / 10;
    Optim optim;
    optim_init(&optim, &config, t->params.count);
    real *grad = mem_aligned(t->params.count, sizeof *grad);
    int *order = MEM_ARRAY(int, (size_t)x->data.train);
    for (long i = 0; i < x->data.train; i++) order[i] = (int)i;
    Status status = status_ok();
    for (int i = 0; i < options_int(o, "epochs") && status_is_ok(&status); i++)
        status = epoch(x, t, &optim, i, order, grad);
    mem_free(order);
    mem_free(grad);
    optim_done(&optim);
    return status;
}

/* ---- asking ---- */

/* T NULL: the tag that each word had most often; of equals the first. */
static void predict(const TaggerStudy *x, Tagger *t, const int *word, int n, int *tag) {
    if (t) {
        tagger_predict(t, word, n, tag);
        return;
    }
    for (int i = 0; i < n; i++) {
        const double *seen = x->seen + word[i] * x->tags;
        tag[i] = 0;
        for (int k = 1; k < x->tags; k++)
            if (seen[k] > seen[tag[i]]) tag[i] = k;
    }
}

static void add_accuracy(TaggerStudy *x, const char *model, Tagger *t) {
    const Tagged *d = &x->data;
    long tokens = 0, right = 0, ambiguous = 0, ambiguous_right = 0;
    for (long i = d->train; i < d->sentences; i++) {
        int n = length(d, i), *tag = MEM_ARRAY(int, (size_t)n);
        const int *word = d->word + d->start[i], *truth = d->tag + d->start[i];
        predict(x, t, word, n, tag);
        for (int k = 0; k < n; k++) {
            bool unclear = x->ambiguous[word[k]], good = tag[k] == truth[k];
            tokens++;
            right += good;
            ambiguous += unclear;
            ambiguous_right += unclear && good;
        }
        mem_free(tag);
    }
    Table *a = study_table(x->study, "accuracy");
    table_add_text(a, model);
    table_add_int(a, tokens);
    table_add_int(a, ambiguous);
    table_add_real(a, (double)right / (double)tokens);
    if (ambiguous) {
        table_add_real(a, (double)ambiguous_right / (double)ambiguous);
    } else {
        table_add_empty(a);
    }
}

/* TRUTH NULL: nobody knows. */
static void add_tagged(TaggerStudy *x, Tagger *t, long sentence, const int *word, const int *truth, int n) {
    Table *tagged = study_table(x->study, "tagged");
    int *tag = MEM_ARRAY(int, (size_t)n);
    predict(x, t, word, n, tag);
    for (int i = 0; i < n; i++) {
        table_add_int(tagged, sentence);
        table_add_int(tagged, i);
        table_add_text(tagged, texts_bytes(&x->data.word_text, word[i] + 1));
        if (truth) {
            table_add_text(tagged, texts_bytes(&x->data.tag_text, truth[i] + 1));
        } else {
            table_add_empty(tagged);
        }
        table_add_text(tagged, texts_bytes(&x->data.tag_text, tag[i] + 1));
    }
    mem_free(tag);
}

/* The words of text=; a word that the corpus does not have is refused. */
static Status read_text(TaggerStudy *x, int **word, int *n) {
    int capacity = 0;
    const char *s = options_text(study_options(x->study), "text");
    *word = NULL;
    *n = 0;
    for (s += strspn(s, " \t"); *s; s += strspn(s, " \t")) {
        size_t bytes = strcspn(s, " \t");
        int number = texts_find(&x->data.word_text, s, bytes) - 1;
        if (number < 0) {
            mem_free(*word);
            return status_usage(_("text: the corpus has no word '%.*s'"), (int)bytes, s);
        }
        MEM_GROW(*word, *n, capacity);
        (*word)[(*n)++] = number;
        s += bytes;
    }
    return status_ok();
}

static void show(TaggerStudy *x, Tagger *t, const int *text, int n) {
    const Tagged *d = &x->data;
    long shown = (long)options_int(study_options(x->study), "shown"), sentence = 0;
    if (n > 0) add_tagged(x, t, sentence++, text, NULL, n);
    for (long i = d->train; i < d->sentences && i < d->train + shown; i++)
        add_tagged(x, t, sentence++, d->word + d->start[i], d->tag + d->start[i], length(d, i));
}

/* ---- the whole ---- */

static Status one_model(TaggerStudy *x, bool recurrent, const int *text, int n) {
    TaggerShape shape = {x->words, x->tags, (int)options_int(study_options(x->study), "hidden"), recurrent};
    Tagger t;
    tagger_init(&t, &shape, study_seed(x->study));
    Status status = learn(x, &t);
    if (status_is_ok(&status)) {
        add_accuracy(x, recurrent ? "recurrent" : "word_only", &t);
        if (recurrent) show(x, &t, text, n);
    }
    tagger_done(&t);
    return status;
}

static Status compare(TaggerStudy *x) {
    int *text = NULL, n = 0;
    if (options_is_set(study_options(x->study), "text")) STATUS_TRY(read_text(x, &text, &n));
    x->all = 2.0 * (double)x->data.train * (double)options_int(study_options(x->study), "epochs");
    add_accuracy(x, "most_frequent", NULL);
    Status status = one_model(x, false, text, n);
    if (status_is_ok(&status)) status = one_model(x, true, text, n);
    mem_free(text);
    return status;
}

static Status run(Study *s) {
    TaggerStudy x = {.study = s};
    texts_init(&x.data.word_text);
    texts_init(&x.data.tag_text);
    Status status = read_sentences(&x);
    study_about(s, "models",
                "most_frequent: the tag a word had most often; word_only: the same network without W; "
                "recurrent: h = tanh(E[word] + W h + b), tags = softmax(U h + c)");
    study_about(s, "test_rule", "the last fifth of the sentences");
    study_about(s, "ambiguous_rule", "tokens whose word had more than one tag in training");
    study_about(s, "tagged_rule", "by the recurrent network; text= comes first, without a true tag");
    if (status_is_ok(&status)) status = compare(&x);
    mem_free(x.seen);
    mem_free(x.ambiguous);
    mem_free(x.data.word);
    mem_free(x.data.tag);
    mem_free(x.data.start);
    texts_done(&x.data.word_text);
    texts_done(&x.data.tag_text);
    return status;
}

const Experiment experiment_lm_tagger = {
    .entry = {.id = "lm.tagger",
              .section = "L3 1.4",
              .title = N_("a recurrent tagger against taggers that see the word alone"),
              .see = N_(
                  "Where a word has one tag all are right. Where it has two, only the network that remembers the words "
                  "before is: time flies, the flies, flies like an arrow."),
              .options = (const Option *const[]){tagger_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"accuracy", accuracy_columns}, {"tagged", tagged_columns}, {0}},
              .figure = {FIGURE_BARS, "accuracy", "model", "accuracy ambiguous_accuracy", NULL}},
    .check = check,
    .run = run,
};
