/* batch.loss: one batch, three averages: over tokens, over sentences, and over all positions when pads are not left out
 * (lecture 3, 3.3, exercise 2). */
#include "corpora.h"
#include "decode/log_softmax.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "left_out.h"
#include "mem.h"
#include "models.h"

#include <math.h>
#include <string.h>

static const Option loss_options[] = {
    {"groups", OPTION_TEXT, "2:2.0,8:1.0", 0, 0, NULL, "",
     N_("sentences as predictions:loss, separated by commas; model= or corpus= takes a model's losses instead")},
    {"pad_loss", OPTION_REAL, NULL, 0, 1e9, NULL, "nats",
     N_("cross-entropy at a pad; not given: the model's own, and of groups pads are not counted")},
    {"sentences", OPTION_INT, "256", 1, 100000, NULL, "", N_("how many to draw when the corpus is a grammar")},
    {0},
};

static const Column loss_columns[] = {{"rule", COLUMN_TEXT, ""}, {"value", COLUMN_DOUBLE, "nats"}, {0}};

typedef struct {
    long long tokens; /* predictions */
    double sum;       /* of their cross-entropies */
    int *ids, n;      /* of a model: n - 1 predictions; NULL of groups */
} Sentence;

typedef struct {
    Sentence *sentence;
    long n, capacity;
    long long longest; /* predictions of the longest */
    double pads;       /* sum of the cross-entropies at all pads; NaN: unknown */
} Losses;

static void losses_done(Losses *l) {
    for (long i = 0; i < l->n; i++) mem_free(l->sentence[i].ids);
    mem_free(l->sentence);
}

static void add_sentence(Losses *l, Sentence s) {
    MEM_GROW(l->sentence, l->n, l->capacity);
    l->sentence[l->n++] = s;
    if (s.tokens > l->longest) l->longest = s.tokens;
}

/* ---- groups=2:2.0,8:1.0 ---- */

enum { GROUP_MOST = 1000000000 };

static Status read_group(const char *text, Losses *l) {
    const char *colon = strchr(text, ':');
    long long tokens = 0;
    double loss = 0;
    char *count = mem_text_n(text, colon ? (size_t)(colon - text) : 0);
    bool good = colon && str_to_long(count, &tokens) && str_to_double(colon + 1, &loss);
    mem_free(count);
    if (!good || tokens < 1 || tokens > GROUP_MOST || !isfinite(loss) || loss < 0)
        return status_usage(
            _("groups: '%s' is not predictions:loss, a whole number from 1 to %d and a number that is not negative"),
            text, GROUP_MOST);
    add_sentence(l, (Sentence){.tokens = tokens, .sum = (double)tokens * loss});
    return status_ok();
}

static Status read_groups(const char *list, Losses *l) {
    Status status = status_ok();
    for (bool more = true; more && status_is_ok(&status);) {
        size_t n = strcspn(list, ",");
        char *group = mem_text_n(list, n);
        status = read_group(group, l);
        mem_free(group);
        more = list[n] != '\0';
        list += n + more;
    }
    return status;
}

/* ---- a model and a corpus ---- */

static bool asks_model(const Options *o) {
    return options_is_given(o, "model") || options_is_given(o, "corpus");
}

static Status check(const Options *o) {
    if (asks_model(o)) {
        if (options_is_given(o, "groups")) return status_usage(_("give groups= or a model and a corpus, not both"));
        STATUS_TRY(corpora_check(options_text(o, "corpus")));
        return models_check(o, NULL);
    }
    if (options_is_given(o, "sentences")) return status_usage(_("sentences= goes with model= and corpus="));
    Losses l = {0};
    Status status = read_groups(options_text(o, "groups"), &l);
    losses_done(&l);
    return status;
}

typedef struct {
    Study *study;
    const TrainedModel *m;
    Losses *losses;
} Taking;

/* The newest sentence that loses something stands for all. */
static void tell_left_out(const Taking *t, const Str *text) {
    Str sentence;
    str_init(&sentence);
    if (left_out_sentence(vocab_tokenizer(t->m->vocab), text->s, text->len, &sentence))
        study_warn(t->study, "'%s': %s", text->s, sentence.s);
    str_done(&sentence);
}

static Status take(void *user, const CorporaWord *word, int words) {
    Taking *t = user;
    Sentence sentence = {0};
    Str text;
    str_init(&text);
    for (int i = 0; i < words; i++) {
        if (i > 0) str_add_char(&text, ' ');
        str_add_n(&text, word[i].s, word[i].bytes);
    }
    Status status = models_text_ids(t->m, text.s, MODELS_SENTENCE, &sentence.ids, &sentence.n);
    if (status_is_ok(&status)) tell_left_out(t, &text);
    str_done(&text);
    if (!status_is_ok(&status)) return status;
    int context = model_config(t->m->model)->context;
    if (sentence.n > context + 1) sentence.n = context + 1;
    sentence.tokens = sentence.n - 1;
    add_sentence(t->losses, sentence);
    return status_ok();
}

/* Inputs <s> w1 .. wn, then pads up to ROWS; targets w1 .. wn </s>, then pads. Adds up the cross-entropies of both. */
static void pass(Forward *f, const Model *m, Sentence *s, int rows, double *pads) {
    int vocab = model_config(m)->vocab;
    int *input = MEM_ARRAY(int, (size_t)rows); /* VOCAB_PAD is 0 */
    memcpy(input, s->ids, (size_t)(s->n - 1) * sizeof *input);
    const real *logits = forward_ids(f, m, input, rows);
    for (int i = 0; i < rows; i++, logits += vocab) {
        bool is_pad = i >= s->n - 1;
        int target = is_pad ? VOCAB_PAD : s->ids[i + 1];
        *(is_pad ? pads : &s->sum) -= log_softmax_of(vocab, logits, target);
    }
    mem_free(input);
}

static Status measure(Study *s, const TrainedModel *m, Losses *l) {
    bool given = options_is_set(study_options(s), "pad_loss");
    Forward *f = forward_new();
    Status status = status_ok();
    for (long i = 0; i < l->n && status_is_ok(&status); i++) {
        Sentence *sentence = &l->sentence[i];
        pass(f, m->model, sentence, (int)(given ? sentence->tokens : l->longest), &l->pads);
        if (!study_progress(s, 0.2 + 0.8 * (double)i / (double)l->n, _("sentence %ld of %ld"), i + 1, l->n))
            status = status_cancelled();
    }
    forward_free(f);
    return status;
}

static Status ask_model(Study *s, Losses *l) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Taking t = {s, &m, l};
    Status status = corpora_each(s, CORPORA_TEST, 0.2, take, &t);
    if (status_is_ok(&status)) status = measure(s, &m, l);
    models_done(&m);
    study_about(s, "sentences_of", "a grammar: the test sentences of lm.train; a text: all; cut to the context");
    study_about(s, "pad_rule", "token %d goes in after the words, and is expected there", VOCAB_PAD);
    return status;
}

/* ---- the averages ---- */

static void add_rule(Table *t, const char *rule, double value) {
    table_add_text(t, rule);
    table_add_real(t, value);
}

static void average(Study *s, const Losses *l) {
    double sum = 0, means = 0, pads = l->pads;
    long long tokens = 0;
    for (long i = 0; i < l->n; i++) {
        sum += l->sentence[i].sum;
        means += l->sentence[i].sum / (double)l->sentence[i].tokens;
        tokens += l->sentence[i].tokens;
    }
    long long positions = l->longest * l->n;
    if (options_is_set(study_options(s), "pad_loss"))
        pads = (double)(positions - tokens) * options_real(study_options(s), "pad_loss");
    Table *t = study_table(s, "loss");
    add_rule(t, "token_mean", sum / (double)tokens);
    add_rule(t, "sentence_mean", means / (double)l->n);
    if (!isnan(pads)) add_rule(t, "pads_counted", (sum + pads) / (double)positions);
    study_about(s, "predictions", "%lld", tokens);
    study_about(s, "pads", "%lld of %lld positions", positions - tokens, positions);
}

static Status run(Study *s) {
    Losses l = {0};
    bool model = asks_model(study_options(s));
    if (!model) l.pads = (double)NAN;
    Status status = model ? ask_model(s, &l) : read_groups(options_text(study_options(s), "groups"), &l);
    if (status_is_ok(&status)) average(s, &l);
    losses_done(&l);
    study_about(s, "token_mean", "sum over all predictions / their number: proportional to the log-likelihood");
    study_about(s, "sentence_mean", "mean over the sentences of the mean within each");
    study_about(s, "pads_counted", "sum over predictions and pads / sentences x the longest");
    study_about(s, "logarithms", "natural (nats)");
    return status;
}

static void follow(const Options *o, const char *name, Str *out) {
    if (strcmp(name, "pad_loss") == 0) str_add(out, asks_model(o) ? _("the model's own") : _("pads are left out"));
}

const Experiment experiment_batch_loss = {
    .entry = {.id = "batch.loss",
              .section = "L3 3.3",
              .title = N_("one batch, three averages: over tokens, over sentences, with the pads"),
              .see =
                  N_("Long sentences weigh more in the mean over tokens, which is the likelihood's. Pads that are not "
                     "left out rule the loss."),
              .options = (const Option *const[]){loss_options, models_gpt_option_rows, corpora_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"loss", loss_columns}, {0}},
              .figure = {FIGURE_BARS, "loss", "rule", "value", NULL}},
    .check = check,
    .run = run,
    .follow = follow,
};
