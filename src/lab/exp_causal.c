/* attn.causal: the last token changes, and nothing before it does (seminar 3, 6.3). */
#include "attention_once.h"
#include "differ.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "model.h"
#include "rng.h"

#include <string.h>

static const Option causal_options[] = {
    {"T", OPTION_INT, "12", 1, 1024, NULL, "tokens", N_("how many tokens; the last one is changed")},
    {0},
};

static const Column diff_columns[] = {{"position", COLUMN_INT, ""}, {"change", COLUMN_DOUBLE, "logits"}, {0}};

/* ---- the whole model ---- */

static void add_changes(Study *s, int T) {
    ModelConfig c = config_modern();
    c.context = T > c.context ? T : c.context;
    Model *m = model_new(&c, study_seed(s));
    Rng rng = rng_at(study_seed(s), "attn.causal", 0);
    int *ids = MEM_ARRAY(int, (size_t)T);
    for (int i = 0; i < T; i++) ids[i] = (int)rng_below(&rng, (uint64_t)c.vocab);
    size_t vocab = (size_t)c.vocab, numbers = (size_t)T * vocab;
    Forward *f = forward_new();
    real *before = MEM_ARRAY(real, numbers);
    memcpy(before, forward_ids(f, m, ids, T), numbers * sizeof *before);
    int last = ids[T - 1];
    ids[T - 1] = (last + 1 + (int)rng_below(&rng, (uint64_t)c.vocab - 1)) % c.vocab;
    const real *after = forward_ids(f, m, ids, T);
    for (int i = 0; i < T; i++) {
        table_add_int(study_table(s, "diff"), i);
        table_add_real(study_table(s, "diff"),
                       differ_most(before + (size_t)i * vocab, after + (size_t)i * vocab, vocab));
    }
    study_about(s, "changed", "position %d: token %d becomes %d", T - 1, last, ids[T - 1]);
    mem_free(before);
    forward_free(f);
    mem_free(ids);
    model_free(m);
}

/* ---- the same of one attention layer, with the mask and without it ---- */

enum { WIDTH = 16 };

/* The largest change before the last row when the last query, key and value change. */
static double earlier_change(Study *s, int T, bool causal) {
    size_t n = (size_t)T * WIDTH, last = n - WIDTH;
    AttentionShape shape = {.heads = 1, .kv_heads = 1, .head_dim = WIDTH, .mask = {.causal = causal}};
    real *q = MEM_ARRAY(real, 5 * n), *k = q + n, *v = k + n, *y = v + n, *z = y + n;
    Rng rng = rng_at(study_seed(s), "attn.causal.layer", 0);
    for (size_t i = 0; i < 3 * n; i++) q[i] = (real)rng_normal(&rng);
    attention_once(&shape, T, q, k, v, y);
    for (size_t i = last; i < n; i++) {
        q[i] = (real)rng_normal(&rng);
        k[i] = (real)rng_normal(&rng);
        v[i] = (real)rng_normal(&rng);
    }
    attention_once(&shape, T, q, k, v, z);
    double most = differ_most(y, z, last);
    mem_free(q);
    return most;
}

static Status run(Study *s) {
    int T = (int)options_int(study_options(s), "T");
    if (!study_progress(s, 0, _("%d tokens, twice"), T)) return status_cancelled();
    add_changes(s, T);
    study_about(s, "model", "modern, untrained: 2 layers, 4 heads, RoPE");
    study_about(s, "change_rule", "the largest change of any logit at that position");
    study_about(s, "with_mask", "one attention layer alone: before the last, at most %.3g", earlier_change(s, T, true));
    study_about(s, "without_mask", "the same layer without the causal mask: at most %.3g", earlier_change(s, T, false));
    return status_ok();
}

const Experiment experiment_attn_causal = {
    .entry = {.id = "attn.causal",
              .section = "S3 6.3",
              .title = N_("the causal mask: the last token changes, and nothing before it does"),
              .see =
                  N_("Exactly 0 at every earlier position: not small, not a bit of it. Without the mask (about) every "
                     "position would see the answer."),
              .options = (const Option *const[]){causal_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}},
              .figure = {FIGURE_BARS, "diff", "position", "change", NULL}},
    .run = run,
};
