/* lm.bigram: gradient descent on a table of logits comes down to what counting gives at once (lecture 3, 2.3). */
#include "bigram.h"
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "optim.h"
#include "text/texts.h"

#include <math.h>
#include <string.h>

enum { TOKENS_MOST = 1500 }; /* a table of 2.25 million numbers, of which every step looks at each */

static const Option bigram_options[] = {
    {"steps", OPTION_INT, "1500", 1, 100000, NULL, "", N_("updates, each with the gradient of all pairs")},
    {"lr", OPTION_REAL, "0.1", 0, 1000, NULL, "", N_("learning rate of Adam")},
    {0},
};

static const Column curve_columns[] = {{"step", COLUMN_INT, ""}, {"loss", COLUMN_DOUBLE, "nats"}, {0}};
static const Column summary_columns[] = {{"count_loss", COLUMN_DOUBLE, "nats"},
                                         {"final_loss", COLUMN_DOUBLE, "nats"},
                                         {"max_seen_difference", COLUMN_DOUBLE, ""},
                                         {"min_unseen_p", COLUMN_DOUBLE, ""},
                                         {0}};

static Status check(const Options *o) {
    return corpora_check(options_text(o, "corpus"));
}

/* ---- counting ---- */

/* Pairs of token numbers in the order of the corpus: how many tokens there are is known at its end. */
typedef struct {
    Texts tokens;
    int *pair; /* [2 pairs] */
    long numbers, capacity;
    int start, end;
} Pairs;

static void add_number(Pairs *p, int number) {
    MEM_GROW(p->pair, p->numbers, p->capacity);
    p->pair[p->numbers++] = number;
}

/* From 0: the empty text, which comes first, is no token. */
static int number_of(Pairs *p, const char *s, size_t bytes) {
    return texts_add(&p->tokens, s, bytes) - 1;
}

static Status take(void *user, const CorporaWord *word, int words) {
    Pairs *p = user;
    int before = p->start;
    for (int i = 0; i <= words; i++) {
        int next = i < words ? number_of(p, word[i].s, word[i].bytes) : p->end;
        add_number(p, before);
        add_number(p, next);
        before = next;
    }
    if (p->tokens.count - 1 > TOKENS_MOST)
        return status_usage(_("corpus: it has more than %d different tokens, and the table has a row and a column for "
                              "each"),
                            TOKENS_MOST);
    return status_ok();
}

static Status count_pairs(Study *s, BigramCounts *out) {
    Pairs p = {0};
    texts_init(&p.tokens);
    p.start = number_of(&p, "<s>", strlen("<s>"));
    p.end = number_of(&p, "</s>", strlen("</s>"));
    Status status = corpora_each(s, CORPORA_TRAIN, 0.2, take, &p);
    if (status_is_ok(&status)) {
        bigram_init(out, p.tokens.count - 1);
        for (long i = 0; i < p.numbers; i += 2) bigram_add(out, p.pair[i], p.pair[i + 1]);
    }
    mem_free(p.pair);
    texts_done(&p.tokens);
    return status;
}

/* ---- descending ---- */

static void add_point(Study *s, long step, double loss) {
    Table *curve = study_table(s, "curve");
    table_add_int(curve, step);
    table_add_real(curve, loss);
}

static Status descend(Study *s, const BigramCounts *c, Params *p, real *grad) {
    OptimConfig config = optim_defaults();
    config.schedule = SCHEDULE_CONSTANT;
    config.lr = options_real(study_options(s), "lr");
    long steps = (long)options_int(study_options(s), "steps");
    Optim optim;
    optim_init(&optim, &config, p->count);
    Status status = status_ok();
    for (long i = 0; i < steps && status_is_ok(&status); i++) {
        double loss = bigram_loss(c, p->x, grad);
        add_point(s, i + 1, loss);
        if (!isfinite(loss)) status = status_failed(_("diverged at step %ld; a smaller lr may help"), i + 1);
        (void)optim_update(&optim, p, grad, config.lr);
        if (!study_progress(s, 0.2 + 0.8 * (double)(i + 1) / (double)steps, _("step %ld of %ld, loss %.4f"), i + 1,
                            steps, loss))
            status = status_cancelled();
    }
    optim_done(&optim);
    return status;
}

static void add_summary(Study *s, const BigramCounts *c, const Params *p) {
    BigramDifference d = bigram_compare(c, p->x);
    Table *t = study_table(s, "summary");
    table_add_real(t, bigram_count_loss(c));
    table_add_real(t, bigram_loss(c, p->x, NULL));
    table_add_real(t, d.most_seen);
    table_add_known(t, d.least_unseen);
}

static Status learn(Study *s, const BigramCounts *c) {
    Params p;
    params_init(&p);
    (void)params_add(&p, "logits", c->n, c->n, INIT_ZERO, 0);
    params_seal(&p);
    params_fill(&p, study_seed(s));
    real *grad = mem_aligned(p.count, sizeof *grad);
    Status status = descend(s, c, &p, grad);
    if (status_is_ok(&status)) add_summary(s, c, &p);
    mem_free(grad);
    params_done(&p);
    return status;
}

static Status run(Study *s) {
    BigramCounts c;
    STATUS_TRY(count_pairs(s, &c));
    study_about(s, "pairs", "%.0f", c.total);
    study_about(s, "tokens", "%d, <s> and </s> among them", c.n);
    study_about(s, "model_rule", "a table of logits, all 0 at first; p(b | a) = softmax of row a; Adam, constant rate");
    study_about(s, "loss_rule", "mean over all pairs, before the update of its step; final_loss after the last");
    study_about(s, "min_unseen_p_rule", "of pairs that never occur, after tokens that do");
    study_about(s, "logarithms", "natural (nats)");
    Status status = learn(s, &c);
    bigram_done(&c);
    return status;
}

const Experiment experiment_lm_bigram = {
    .entry = {.id = "lm.bigram",
              .section = "L3 2.3",
              .title = N_("gradient descent against counting pairs"),
              .see = N_(
                  "The loss comes down to what counting gives and never below it. What was seen agrees; what was never "
                  "seen keeps a little probability, where counting gives none."),
              .options = (const Option *const[]){bigram_options, corpora_option_rows, corpora_sentences_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"curve", curve_columns}, {"summary", summary_columns}, {0}},
              .figure = {FIGURE_LINE, "curve", "step", "loss", NULL},
              .figure_floor = "summary count_loss"},
    .check = check,
    .run = run,
};
