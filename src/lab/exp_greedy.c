/* decode.greedy: the likeliest token again and again, by the model or by the truth, beside the likeliest sentence
 * (lecture 3, 6.2, exercise 8). */
#include "decode/greedy.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "paths.h"
#include "prompts.h"

#include <math.h>
#include <string.h>

static const Option greedy_options[] = {
    {"prompt", OPTION_TEXT, "the dog", 0, 0, NULL, "", N_("how the sentence begins; <s> is added")},
    {"of", OPTION_CHOICE, "model", 0, 0, "model|truth", "", N_("whose likeliest token is taken; truth needs no model")},
    {"tokens", OPTION_INT, "64", 1, 100000, NULL, "tokens", N_("at most so many; it stops after </s>")},
    {0},
};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

/* What was asked, and what is known of it. */
typedef struct {
    const TrainedModel *m; /* without a model when the truth is asked */
    Prompt prompt;
    bool truth; /* of=truth */
} Question;

static Status follow(Study *s, const Question *q, Path *path) {
    const TrainedModel *m = q->m;
    const Prompt *p = &q->prompt;
    int most = (int)options_int(study_options(s), "tokens");
    if (q->truth) {
        STATUS_TRY(prompts_need_truth(p));
        return greedy_truth(m->language, m->vocab, p->ids, p->n, most, path);
    }
    Decoder *d = decoder_new(m->model, 1, prompts_room(m, p, most));
    decoder_set_threads(d, study_threads(s));
    Status status = greedy_model(d, model_config(m->model)->vocab, m->vocab, models_end(m),
                                 p->possible ? m->language : NULL, p->ids, p->n, most, path);
    decoder_free(d);
    return status;
}

static void add_path(Study *s, const Question *q, const Path *path) {
    const Vocab *v = q->m->vocab;
    paths_add_steps(study_table(s, "path"), v, path);
    paths_add_sentence(study_table(s, "sentence"), v, q->truth ? "truth" : "model", q->prompt.words.s, path);
}

/* log p of what comes after the prefix, </s> included, by the truth. */
static Status true_log_p(const Question *q, const char *text, double *sum) {
    double *step;
    int tokens;
    STATUS_TRY(language_steps(q->m->language, text, &step, &tokens));
    *sum = 0;
    for (int i = q->prompt.n - 1; i <= tokens; i++) *sum += step[i];
    mem_free(step);
    return status_ok();
}

/* The same by the model; -inf when it cannot say all of it. */
static Status model_log_p(const Question *q, const char *text, double *sum) {
    int *word, words;
    STATUS_TRY(vocab_encode(q->m->vocab, text, &word, &words));
    int *ids = MEM_ARRAY(int, (size_t)words + 2);
    ids[0] = VOCAB_BOS;
    if (words) memcpy(ids + 1, word, (size_t)words * sizeof *word);
    ids[words + 1] = VOCAB_EOS;
    *sum = words + 1 > model_config(q->m->model)->context ? (double)-INFINITY
                                                          : models_log_p(q->m, ids, words + 2, q->prompt.n);
    mem_free(ids);
    mem_free(word);
    return status_ok();
}

static Status add_mode(Study *s, const Question *q) {
    if (!q->prompt.possible) return status_ok();
    Str text;
    str_init(&text);
    double whole, by_truth = 0, by_model = 0;
    Status status = language_mode(q->m->language, q->prompt.words.s, &text, &whole);
    if (status_is_ok(&status)) status = true_log_p(q, text.s, &by_truth);
    if (status_is_ok(&status) && !q->truth) status = model_log_p(q, text.s, &by_model);
    if (status_is_ok(&status))
        paths_add_text(study_table(s, "sentence"), "mode", text.s, q->truth ? by_truth : by_model, by_truth);
    str_done(&text);
    return status;
}

static Status decode(Study *s, Question *q) {
    STATUS_TRY(prompts_open(q->m, study_options(s), "prompt", &q->prompt));
    Path path;
    path_init(&path);
    Status status = follow(s, q, &path);
    if (status_is_ok(&status)) {
        add_path(s, q, &path);
        status = add_mode(s, q);
    }
    path_done(&path);
    prompts_done(&q->prompt);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    Question q = {.m = &m, .truth = options_choice(study_options(s), "of") == 1};
    STATUS_TRY(q.truth ? models_get_language(s, &m) : models_get(s, &m));
    Status status = decode(s, &q);
    models_done(&m);
    study_about(s, "log_p_rule",
                "of the tokens after the prompt, END included, by model or truth as of= says; true_log_p by the truth");
    study_about(s, "mode", "the likeliest sentence that begins with the prompt, by the truth");
    study_about(s, "ties", "the lowest id; probabilities of the truth are equal within 1e-9");
    study_about(s, "logarithms", "natural (nats)");
    return status;
}

const Experiment experiment_decode_greedy = {
    .entry =
        {.id = "decode.greedy",
         .section = "L3 6.2",
         .title = N_("greedy decoding, and the likeliest sentence beside it"),
         .see =
             N_("Even on the truth the likeliest word each time is not the likeliest sentence: 0.0139 against 0.0429."),
         .options = (const Option *const[]){models_gpt_option_rows, greedy_options, models_ids_option_rows,
                                            experiment_common_options, NULL},
         .tables = (const TableSpec[]){{"path", paths_step_columns}, {"sentence", paths_sentence_columns}, {0}},
         .figure = {FIGURE_BARS, "path", "token", "p", NULL}},
    .check = check,
    .run = run,
};
