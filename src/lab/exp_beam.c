/* decode.beam: beam search as a tree, over the model or over the truth, and why it stopped (lecture 3, 6.4). */
#include "beams.h"
#include "decode/beam_model.h"
#include "decode/beam_truth.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "prompts.h"

#include <string.h>

enum { WIDTH_MOST = 256, TOKENS_MOST = 100000 };

static const Option beam_options[] = {
    {"prompt", OPTION_TEXT, "the dog", 0, 0, NULL, "", N_("how the sentence begins; <s> is added")},
    {"width", OPTION_INT, "4", 1, WIDTH_MOST, NULL, "beams", N_("how many candidates each step keeps; 1 is greedy")},
    {"length_norm", OPTION_FLAG, "0", 0, 0, NULL, "", N_("1: the score is log p per generated token")},
    {"of", OPTION_CHOICE, "model", 0, 0, "model|truth", "", N_("whose probabilities; truth needs no model")},
    {"tokens", OPTION_INT, "64", 1, TOKENS_MOST, NULL, "tokens", N_("at most so many are generated")},
    {"end", OPTION_INT, NULL, 0, 1e9, NULL, "",
     N_("id that finishes a sentence; not given: that of </s>, or what the tokenizer of the model says")},
    {"pruned", OPTION_INT, NULL, 0, 1000, NULL, "",
     N_("of the candidates of a step that are not kept, so many stand in the tree; not given: width")},
    {0},
};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

/* END: of the model. */
static BeamConfig config_of(const Options *o, int end) {
    BeamConfig c = {.width = (int)options_int(o, "width"),
                    .tokens = (int)options_int(o, "tokens"),
                    .end = options_is_set(o, "end") ? (int)options_int(o, "end") : end,
                    .length_norm = options_flag(o, "length_norm")};
    c.pruned = options_is_set(o, "pruned") ? (int)options_int(o, "pruned") : c.width;
    return c;
}

static Status search(Study *s, Beam *b, int tokens) {
    while (beam_reason(b) == BEAM_RUNNING) {
        STATUS_TRY(beam_step(b));
        if (!study_progress(s, (double)beam_steps(b) / tokens, _("step %d: %d nodes"), beam_steps(b), beam_nodes(b)))
            return status_cancelled();
    }
    return status_ok();
}

/* Tables of what was found, with the truth where there is one. */
static Status report(Study *s, const TrainedModel *m, const Prompt *p, const Beam *b) {
    double *true_log_p = NULL;
    Status status = status_ok();
    if (p->possible) {
        NextMemo *memo = next_memo_new(m->language);
        true_log_p = MEM_ARRAY(double, (size_t)beam_nodes(b));
        status = beam_true_log_p(b, memo, m->vocab, p->ids, p->n, true_log_p);
        next_memo_free(memo);
    }
    BeamView v = {.beam = b, .vocab = m->vocab, .ids = p->ids, .n = p->n, .true_log_p = true_log_p};
    if (status_is_ok(&status)) {
        beams_add_tree(study_table(s, "tree"), &v);
        beams_add_best(study_table(s, "best"), &v);
        beams_add_stop(study_table(s, "stop"), b);
    }
    mem_free(true_log_p);
    return status;
}

static Status search_and_report(Study *s, const TrainedModel *m, const Prompt *p, BeamConfig c, BeamSource source) {
    if (c.end >= source.vocabulary)
        return status_usage(_("end: there is no token %d; there are 0 to %d"), c.end, source.vocabulary - 1);
    Beam *b = beam_new(&c, &source);
    Status status = search(s, b, c.tokens);
    if (status_is_ok(&status)) status = report(s, m, p, b);
    beam_free(b);
    return status;
}

static Status over_truth(Study *s, const TrainedModel *m, const Prompt *p, BeamConfig c) {
    STATUS_TRY(prompts_need_truth(p));
    NextMemo *memo = next_memo_new(m->language);
    BeamTruth *truth = beam_truth_new(memo, m->vocab, c.width);
    Status status = search_and_report(s, m, p, c, beam_truth_source(truth, p->ids, p->n));
    beam_truth_free(truth);
    next_memo_free(memo);
    return status;
}

static Status over_model(Study *s, const TrainedModel *m, const Prompt *p, BeamConfig c) {
    BeamModel *model = beam_model_new(m->model, NULL, c.width, prompts_room(m, p, c.tokens));
    Status status = search_and_report(s, m, p, c, beam_model_source(model, p->ids, p->n));
    beam_model_free(model);
    return status;
}

static void conventions(Study *s, BeamConfig c) {
    study_about(s, "log_p_rule", "of the generated tokens, END included; true_log_p the same by the truth");
    study_about(s, "score_rule", "%s", c.length_norm ? "log_p / generated tokens" : "log_p");
    study_about(s, "stop_rule", "when the best finished score is at least the best that an open beam can attain: %s",
                c.length_norm ? "its log_p / tokens=" : "its log_p");
    study_about(s, "reasons",
                "finished: nothing open can be better, or nothing is open; tokens: so many were generated; context: "
                "the model has room for no more; nothing: no token can follow");
    study_about(s, "states",
                "open: in the beam at the end; kept: in the beam and continued; pruned: not among the "
                "width likeliest of its step, the likeliest of these are listed; finished: ends in END");
    study_about(s, "ties", "lower parent, then lower id; log_p of the truth is equal within 1e-9");
    study_about(s, "best_rows", "finished sentences by score; when there is none, the open ones");
    study_about(s, "logarithms", "natural (nats)");
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    bool truth = options_choice(o, "of") == 1;
    TrainedModel m;
    STATUS_TRY(truth ? models_get_language(s, &m) : models_get(s, &m));
    BeamConfig c = config_of(o, models_end(&m));
    Prompt p;
    Status status = prompts_open(&m, o, "prompt", &p);
    if (status_is_ok(&status)) {
        status = truth ? over_truth(s, &m, &p, c) : over_model(s, &m, &p, c);
        prompts_done(&p);
    }
    models_done(&m);
    conventions(s, c);
    return status;
}

static void follow(const Options *o, const char *name, Str *out) {
    if (strcmp(name, "pruned") == 0) str_add(out, options_value(o, "width"));
    if (strcmp(name, "end") == 0) str_add(out, _("that of </s>"));
}

const Experiment experiment_decode_beam = {
    .entry = {.id = "decode.beam",
              .section = "L3 6.4",
              .title = N_("beam search as a tree: what is kept, pruned and finished, and why it stops"),
              .see = N_("Width 1 is greedy. A wider beam finds likelier sentences; with length normalisation it may "
                        "only stop when no open beam can still attain a better score."),
              .options = (const Option *const[]){models_gpt_option_rows, beam_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"tree", beams_tree_columns}, {"best", beams_best_columns}, {"stop", beams_stop_columns}, {0}},
              .figure = {FIGURE_TREE, "tree", "token", "log_p", "true_log_p"}},
    .check = check,
    .run = run,
    .follow = follow,
};
