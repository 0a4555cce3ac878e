/* kv.flops: what decoding costs with a cache and without one, counted from a configuration (lecture 3, 4.4 and exercise
 * 4). */
#include "account.h"
#include "experiment.h"
#include "intl.h"
#include "run.h"
#include "sizes.h"

enum { MOST_TOKENS = 1000000 };

static const Option flops_options[] = {
    {"prompt", OPTION_INT, "4", 0, MOST_TOKENS, NULL, "tokens",
     N_("before the first that is decoded, <s> not counted")},
    {"tokens", OPTION_INTS, "16,64,256,1024", 1, MOST_TOKENS, NULL, "tokens", N_("how many are decoded")},
    {"parts", OPTION_CHOICE, "all", 0, 0, "all|linear", "",
     N_("all products, or the linear layers of the blocks alone")},
    {0},
};

static const Column flops_columns[] = {{"tokens", COLUMN_INT, "tokens"},
                                       {"without", COLUMN_INT, "FLOPs"},
                                       {"with", COLUMN_INT, "FLOPs"},
                                       {"ratio", COLUMN_DOUBLE, ""},
                                       {0}};

/* Of one pass over T tokens. */
static Count pass(const ModelConfig *c, Count T, bool linear) {
    FlopAccount a = account_flops(c, T, 1, ACCOUNT_ALLOWED_SCORES);
    return linear ? account_add(a.projections, a.feed_forward) : a.total;
}

/* Token i of N comes from a pass over <s>, the prompt and the i - 1 decoded before it: all again without a cache. With
 * one each token goes through once, and the last one decoded not at all. */
static Status count(Study *s, const ModelConfig *c, Count prompt, Count n, bool linear, Count *without) {
    *without = 0;
    for (Count i = 1; i <= n; i++) {
        *without = account_add(*without, pass(c, prompt + i, linear));
        if (i % 1000 == 0 && !study_progress(s, (double)i / (double)n, _("token %lld of %lld"), i, n))
            return status_cancelled();
    }
    return sizes_check(*without, _("tokens: the number of operations"));
}

static Status check(const Options *o) {
    ModelConfig c;
    return run_shape(o, &c);
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    Count prompt = options_int(o, "prompt");
    bool linear = options_choice(o, "parts") == 1;
    const long long *tokens;
    int rows = options_ints(o, "tokens", &tokens);
    ModelConfig c;
    STATUS_TRY(run_shape(o, &c));
    for (int i = 0; i < rows; i++) {
        Count without, with = pass(&c, prompt + tokens[i], linear);
        STATUS_TRY(count(s, &c, prompt, tokens[i], linear, &without));
        Table *t = study_table(s, "flops");
        table_add_int(t, tokens[i]);
        table_add_int(t, without);
        table_add_int(t, with);
        table_add_real(t, (double)without / (double)with);
    }
    study_about(s, "flops_rule", "2 m n k for every matrix product; %s",
                linear
                    ? "q, k, v, the output of attention and the feed-forward layer: 24 d^2 a token and layer of a GPT"
                    : "linear layers, q k^T and the mix over what the mask allows, the head over the vocabulary");
    study_about(s, "without_rule", "token i of n takes a pass over <s>, the prompt and the i - 1 tokens before it");
    study_about(s, "with_rule", "every token goes through once; keys and values of those before it are kept");
    study_about(s, "context_rule", "a count: the context of the model is no limit");
    return status_ok();
}

const Experiment experiment_kv_flops = {
    .entry = {.id = "kv.flops",
              .section = "L3 4.4",
              .title = N_("operations to decode so many tokens, with a cache and without"),
              .see =
                  N_("Without a cache the work grows with the square of the length, with one in proportion to it: of "
                     "the linear layers alone (n + 1) / 2 times less."),
              .options = (const Option *const[]){flops_options, run_model_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"flops", flops_columns}, {0}},
              .figure = {FIGURE_LOG_LINE, "flops", "tokens", "without with", NULL}},
    .check = check,
    .run = run,
};
