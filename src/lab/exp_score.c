/* lm.score: the chain rule, token by token, with the truth beside it (lecture 3, 2.3). */
#include "bug.h"
#include "decode/log_softmax.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"
#include "tokens.h"

#include <math.h>

static const Option score_options[] = {
    {"text", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("a sentence; <s> and </s> are added")},
    {0},
};

static const Column score_columns[] = {{"position", COLUMN_INT, ""},
                                       {"token", COLUMN_TEXT, ""},
                                       {"id", COLUMN_INT, ""},
                                       {"log_p", COLUMN_DOUBLE, "nats"},
                                       {"true_log_p", COLUMN_DOUBLE, "nats"},
                                       {0}};
static const Column summary_columns[] = {{"tokens", COLUMN_INT, ""},
                                         {"nll", COLUMN_DOUBLE, "nats/token"},
                                         {"perplexity", COLUMN_DOUBLE, ""},
                                         {"true_nll", COLUMN_DOUBLE, "nats/token"},
                                         {0}};

static Status check(const Options *o) {
    STATUS_TRY(models_check(o, "text"));
    if (!options_is_set(o, "text") && !options_is_set(o, "ids"))
        return status_usage(_("give the sentence as text= or as ids="));
    const long long *ids;
    if (options_is_set(o, "ids") && options_ints(o, "ids", &ids) < 2)
        return status_usage(_("ids: two tokens at least, the first is only a condition"));
    return status_ok();
}

/* true_log_p[i] of ids[i], 1 <= i < n, given those before; NULL when there is no truth: no grammar, or no <s> in front.
 * The words reach to the first token that is none; if that is </s> it ends the sentence, and all the rest is
 * impossible. */
static Status find_truth(const TrainedModel *m, const int *ids, int n, double **true_log_p) {
    *true_log_p = NULL;
    if (!m->language || ids[0] != VOCAB_BOS) return status_ok();
    int end = 1;
    while (end < n && ids[end] >= VOCAB_SPECIALS && ids[end] < vocab_size(m->vocab)) end++;
    Str text;
    str_init(&text);
    tokens_text(m->vocab, ids, end, &text);
    double *step;
    int tokens;
    Status s = language_steps(m->language, text.s, &step, &tokens);
    str_done(&text);
    if (!status_is_ok(&s)) return s;
    BUG_ON(tokens != end - 1);
    *true_log_p = MEM_ARRAY(double, (size_t)n);
    for (int i = 1; i < n; i++) {
        bool follows = i < end || (i == end && ids[i] == VOCAB_EOS);
        (*true_log_p)[i] = follows ? step[i - 1] : (double)-INFINITY;
    }
    mem_free(step);
    return status_ok();
}

static void add_real_or_empty(Table *t, bool known, double x) {
    if (known) {
        table_add_real(t, x);
    } else {
        table_add_empty(t);
    }
}

static void add_summary(Table *t, int n, double log_p, bool known, double true_log_p) {
    table_add_int(t, n);
    table_add_real(t, -log_p / n);
    table_add_real(t, exp(-log_p / n));
    add_real_or_empty(t, known, -true_log_p / n);
}

/* One pass over all tokens but the last; row i - 1 of the logits speaks about token i. */
static void add_scores(Study *s, const TrainedModel *m, const int *ids, int n, const double *truth) {
    Table *t = study_table(s, "score");
    int vocab = model_config(m->model)->vocab;
    Observers *o = observers_new();
    Scene scene = models_scene(m, ids, n - 1, study_seed(s));
    const real *logits = observers_logits(o, &scene);
    double sum = 0, true_sum = 0;
    for (int i = 1; i < n; i++) {
        const real *row = logits + (size_t)(i - 1) * (size_t)vocab;
        double log_p = log_softmax_of(vocab, row, ids[i]);
        sum += log_p;
        if (truth) true_sum += truth[i];
        table_add_int(t, i);
        table_add_text(t, tokens_name(m->vocab, ids[i]));
        table_add_int(t, ids[i]);
        table_add_real(t, log_p);
        add_real_or_empty(t, truth != NULL, truth ? truth[i] : 0);
    }
    add_summary(study_table(s, "summary"), n - 1, sum, truth != NULL, true_sum);
    observers_free(o);
}

static Status score(Study *s, const TrainedModel *m) {
    int *ids, n;
    STATUS_TRY(models_ids(m, study_options(s), "text", MODELS_SENTENCE, &ids, &n));
    if (n < 2) {
        mem_free(ids);
        return status_usage(
            _("two tokens at least: the first is only a condition, and this model puts none before a text"));
    }
    double *truth;
    Status status = find_truth(m, ids, n, &truth);
    if (status_is_ok(&status)) {
        add_scores(s, m, ids, n, truth);
        mem_free(truth);
    }
    mem_free(ids);
    return status;
}

static Status run_score(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = score(s, &m);
    models_done(&m);
    study_about(s, "logarithms", "natural (nats)");
    study_about(s, "position_rule", "0 is <s>, which is given and not scored; the last token of a text is </s>");
    study_about(s, "nll_rule", "mean over the predictions, END included");
    return status;
}

const Experiment experiment_lm_score = {
    .entry =
        {.id = "lm.score",
         .section = "L3 2.3",
         .title = N_("the log-probability of a sentence, token by token, model and truth"),
         .see = N_(
             "The chain rule: the log-probability of a sentence is the sum over its tokens, each given those before."),
         .options = (const Option *const[]){models_gpt_option_rows, score_options, models_ids_option_rows,
                                            experiment_common_options, NULL},
         .tables = (const TableSpec[]){{"score", score_columns}, {"summary", summary_columns}, {0}},
         .figure = {FIGURE_BARS, "score", "token", "log_p", NULL}},
    .check = check,
    .run = run_score,
};
