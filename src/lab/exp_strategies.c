/* decode.strategies: what sentences from <s> on are worth that are searched for and that are drawn, by the truth
 * (lecture 3, 6.5). */
#include "decode/beam_model.h"
#include "decode/sampling.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"
#include "tally.h"

enum { TOKENS_MOST = 100000, WIDTH_MOST = 256, SENTENCES_LEAST = 4 };
#define COST_MOST   2.5e11 /* floating-point operations that are tried without being asked for */
#define FILTER_COST 1000   /* of them for each token that a strategy weighs */

static const Option strategies_options[] = {
    {"n", OPTION_INT, "2000", 1, 1e6, NULL, "sentences",
     N_("how many are drawn by each strategy; not given: of a large model of others fewer")},
    {"width", OPTION_INT, "4", 1, WIDTH_MOST, NULL, "beams", N_("of the strategy beam")},
    {"tokens", OPTION_INT, "64", 1, TOKENS_MOST, NULL, "tokens", N_("at most so many are generated; END counts")},
    {0},
};

static Status check(const Options *o) {
    return models_check(o, NULL);
}

/* --- the strategies --- */

typedef enum { GREEDY, BEAM, SAMPLES, TRUTH } StrategyKind;
typedef struct {
    const char *name;
    StrategyKind kind;
    FilterConfig filter; /* of samples */
} Strategy;

#define FILTER(tau, k, p)                                                                                              \
    { tau, k, p, ORDER_TAU_FIRST }
#define PLAIN FILTER(1, 0, 1)

static const Strategy strategies[] = {
    {"greedy", GREEDY, FILTER(0, 0, 1)},
    {"beam", BEAM, PLAIN},
    {"tau=0.5", SAMPLES, FILTER(.5, 0, 1)},
    {"tau=1", SAMPLES, FILTER(1, 0, 1)},
    {"tau=1.5", SAMPLES, FILTER(1.5, 0, 1)},
    {"tau=2.5", SAMPLES, FILTER(2.5, 0, 1)},
    {"top_k=3", SAMPLES, FILTER(1, 3, 1)},
    {"top_p=0.9", SAMPLES, FILTER(1, 0, .9)},
    {"tau=2.5 top_p=0.9", SAMPLES, FILTER(2.5, 0, .9)},
    {"truth", TRUTH, PLAIN},
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies, SAMPLERS = 7 };

typedef struct {
    Study *study;
    const TrainedModel *m;
    Judge *judge;
    Tally tally; /* of the strategy under way */
    int strategy, tokens;
    int begin, end; /* tokens that a text begins and ends with; end -1: none is known */
    long n, done;   /* sentences of each strategy; drawn so far, by all */
} Trial;

static bool goes_on(const Trial *t) {
    const Strategy *g = &strategies[t->strategy];
    bool knows = judge_knows(t->judge);
    double all = (double)t->n * (SAMPLERS + knows); /* what is searched for is one sentence, and little beside them */
    return study_progress(t->study, (double)t->done / all, _("%s: sentence %ld of %ld"), g->name, t->tally.sentences,
                          t->n);
}

static Status count(Trial *t, const int *ids, int n, bool ended, long times) {
    Verdict v;
    STATUS_TRY(judge_sentence(t->judge, ids, n, ended, &v));
    tally_add(&t->tally, &v, times);
    return status_ok();
}

static Status take(void *user, const Sample *s) {
    Trial *t = user;
    t->done++;
    return count(t, s->ids, s->length, s->ended, 1);
}

static Status draw_sentences(Trial *t, const FilterConfig *f, long n, SamplingTake *taken) {
    SamplingPlan plan = {.model = t->m->model,
                         .filter = *f,
                         .ids = &t->begin,
                         .n = 1,
                         .sentences = n,
                         .tokens = t->tokens,
                         .end = t->end,
                         .seed = study_seed(t->study)};
    Sampling *s = sampling_new(&plan);
    Status status = status_ok();
    while (!sampling_ended(s) && status_is_ok(&status))
        status = goes_on(t) ? sampling_step(s, taken, t) : status_cancelled();
    sampling_free(s);
    return status;
}

/* What is searched for is the same sentence every time. */
static Status take_all(void *user, const Sample *s) {
    Trial *t = user;
    return count(t, s->ids, s->length, s->ended, t->n);
}

static Status take_best(Trial *t, const Beam *b) {
    int *best, found = beam_best(b, &best);
    if (found == 0) return status_failed(_("beam: nothing can follow the beginning of a sentence"));
    const BeamNode *node = beam_node(b, best[0]);
    int *ids = MEM_ARRAY(int, (size_t)node->depth);
    beam_path(b, best[0], ids);
    Status status = count(t, ids, node->depth, node->state == BEAM_FINISHED, t->n);
    mem_free(ids);
    mem_free(best);
    return status;
}

static Status search(Trial *t) {
    int context = model_config(t->m->model)->context, width = (int)options_int(study_options(t->study), "width");
    BeamModel *model = beam_model_new(t->m->model, NULL, width, t->tokens < context ? t->tokens : context);
    BeamSource source = beam_model_source(model, &t->begin, 1);
    Beam *b = beam_new(&(BeamConfig){.width = width, .tokens = t->tokens, .end = t->end}, &source);
    Status status = status_ok();
    while (beam_reason(b) == BEAM_RUNNING && status_is_ok(&status))
        status = goes_on(t) ? beam_step(b) : status_cancelled();
    if (status_is_ok(&status)) status = take_best(t, b);
    beam_free(b);
    beam_model_free(model);
    return status;
}

/* Sentences of the language itself. */
static Status draw_truth(Trial *t) {
    Status status = status_ok();
    for (long i = 0; i < t->n && status_is_ok(&status); i++) {
        Rng r = rng_at(study_seed(t->study), "truth", (uint64_t)i);
        Verdict v;
        status = goes_on(t) ? judge_sample(t->judge, &r, &v) : status_cancelled();
        if (status_is_ok(&status)) tally_add(&t->tally, &v, 1);
        t->done++;
    }
    return status;
}

static Status follow(Trial *t, const Strategy *g) {
    switch (g->kind) {
    case GREEDY:
        return draw_sentences(t, &g->filter, 1, take_all);
    case BEAM:
        return search(t);
    case SAMPLES:
        return draw_sentences(t, &g->filter, t->n, take);
    case TRUTH:
        return judge_knows(t->judge) ? draw_truth(t) : status_ok();
    }
    return status_ok();
}

/* --- the experiment --- */

static Status compare(Trial *t) {
    Status status = status_ok();
    for (t->strategy = 0; t->strategy < STRATEGIES && status_is_ok(&status); t->strategy++) {
        const Strategy *g = &strategies[t->strategy];
        tally_init(&t->tally);
        status = follow(t, g);
        if (status_is_ok(&status) && t->tally.sentences > 0)
            tally_add_row(&t->tally, g->name, judge_knows(t->judge), study_table(t->study, "result"));
        tally_done(&t->tally);
    }
    return status;
}

/* The token that sentences begin with. GPT-2 has none; there a text begins where another has ended. */
static Status begin_of(const TrainedModel *m, int *begin) {
    *begin = VOCAB_BOS;
    if (!m->foreign) return status_ok();
    *begin = m->vocab ? vocab_first(m->vocab) : -1;
    if (m->vocab && *begin < 0) *begin = vocab_last(m->vocab);
    return *begin >= 0 ? status_ok() : status_usage(_("it is not known what a text of this model begins with"));
}

/* Not asked for a number, a model of others writes as many sentences as half a minute or so allows. */
static long sentences_of(const Options *o, const TrainedModel *m, int tokens) {
    long n = (long)options_int(o, "n");
    if (!m->foreign || options_is_given(o, "n")) return n;
    const ModelConfig *c = model_config(m->model);
    double token = 2 * (double)model_count(c) + FILTER_COST * (double)c->vocab, most = COST_MOST / (token * tokens);
    long affordable = (long)(most / SAMPLERS);
    if (affordable < SENTENCES_LEAST) affordable = SENTENCES_LEAST;
    return affordable < n ? affordable : n;
}

static Status try_all(Study *s, const TrainedModel *m) {
    const Options *o = study_options(s);
    Trial t = {.study = s, .m = m, .tokens = (int)options_int(o, "tokens"), .end = models_end(m)};
    STATUS_TRY(begin_of(m, &t.begin));
    t.n = sentences_of(o, m, t.tokens);
    t.judge = judge_new(m->grammar, m->language, m->vocab, &t.begin, 1);
    study_about(s, "sentences", "%ld of each strategy", t.n);
    Status status = compare(&t);
    judge_free(t.judge);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = try_all(s, &m);
    models_done(&m);
    study_about(s, "strategies",
                "each writes n sentences from <s> (or what a text of this model begins with) on; greedy and beam write "
                "the same one n times; truth: the language "
                "itself; what a strategy does not name is off (tau 1, no top_k, top_p 1), temperature comes first");
    study_about(s, "random_numbers", "sentence i draws the same numbers in every strategy");
    tally_about(s);
    return status;
}

const Experiment experiment_decode_strategies = {
    .entry = {.id = "decode.strategies",
              .section = "L3 6.5",
              .title = N_("searching and sampling: how legal, possible, typical and varied the sentences are"),
              .see = N_("Search writes one sentence, likelier than real ones are. Sampling is like the language but "
                        "for the long tail, which temperature lengthens and top-p cuts off; no strategy is best in "
                        "every column."),
              .options =
                  (const Option *const[]){models_gpt_option_rows, strategies_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"result", tally_columns}, {0}},
              .figure = {FIGURE_BARS, "result", "strategy", "possible distinct coverage", NULL}},
    .check = check,
    .run = run,
};
