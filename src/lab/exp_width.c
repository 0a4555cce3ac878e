/* decode.width: for every subject, does a wider beam find the language's likeliest sentence (lecture 3, 6.4)? */
#include "beams.h"
#include "decode/beam_model.h"
#include "decode/beam_truth.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "prompts.h"

#include <math.h>
#include <string.h>

enum { WIDTH_MOST = 256, TOKENS_MOST = 100000 };
#define SAME_LOG_P 1e-9 /* another sentence as likely as the mode is one too */

static const Option width_options[] = {
    {"prompt", OPTION_TEXT, "the", 0, 0, NULL, "", N_("what every sentence begins with; the subjects come next")},
    {"widths", OPTION_INTS, "1,2,4,8,16", 1, WIDTH_MOST, NULL, "beams", N_("how wide the beam is")},
    {"length_norm", OPTION_FLAG, "0", 0, 0, NULL, "", N_("1: the score is log p per generated token")},
    {"tokens", OPTION_INT, "64", 1, TOKENS_MOST, NULL, "tokens", N_("at most so many are generated")},
    {0},
};

static const Column found_columns[] = {{"width", COLUMN_INT, "beams"},
                                       {"subjects", COLUMN_INT, ""},
                                       {"modes_found", COLUMN_INT, ""},
                                       {"mean_log_p", COLUMN_DOUBLE, "nats"},
                                       {0}};
static const Column rows_columns[] = {
    {"width", COLUMN_INT, "beams"},   {"subject", COLUMN_TEXT, ""},          {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"}, {"true_log_p", COLUMN_DOUBLE, "nats"}, {0}};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

/* A sentence to be finished: the prompt and one of the words that may follow it. */
typedef struct {
    char *word;
    double mode_log_p; /* of the likeliest sentence that begins so, after the subject, by the truth */
} Subject;

typedef struct {
    const TrainedModel *m;
    NextMemo *memo;
    Prompt prompt;
    int *ids; /* [prompt.n + 1] the last is the subject */
    Subject *subject;
    int subjects, tokens;
    bool length_norm;
    long done, all; /* searches */
} Search;

/* --- subjects --- */

/* log p of what comes after TEXT in the likeliest sentence that begins with it. */
static Status find_mode(Language *l, const char *text, double *log_p) {
    double *step, whole;
    int words, tokens;
    Str mode;
    str_init(&mode);
    Status s = language_mode(l, text, &mode, &whole);
    if (status_is_ok(&s)) s = language_steps(l, text, &step, &words);
    if (status_is_ok(&s)) {
        mem_free(step);
        s = language_steps(l, mode.s, &step, &tokens);
    }
    str_done(&mode);
    if (!status_is_ok(&s)) return s;
    *log_p = 0;
    for (int i = words; i <= tokens; i++) *log_p += step[i];
    mem_free(step);
    return status_ok();
}

/* The words that may follow the prompt; the end of the sentence is no subject. */
static Status find_subjects(Search *w) {
    const NextList *list;
    STATUS_TRY(next_memo_find(w->memo, w->prompt.words.s, &list));
    w->subject = MEM_ARRAY(Subject, (size_t)list->count);
    for (int i = 0; i < list->count; i++)
        if (vocab_is_word(w->m->vocab, vocab_find(w->m->vocab, list->next[i].token, strlen(list->next[i].token))))
            w->subject[w->subjects++].word = mem_text(list->next[i].token);
    if (w->subjects == 0) return status_usage(_("prompt: no word follows '%s'"), w->prompt.words.s);
    Str text;
    str_init(&text);
    Status s = status_ok();
    for (int i = 0; i < w->subjects && status_is_ok(&s); i++) {
        str_clear(&text);
        str_addf(&text, "%s%s%s", w->prompt.words.s, w->prompt.words.len ? " " : "", w->subject[i].word);
        s = find_mode(w->m->language, text.s, &w->subject[i].mode_log_p);
    }
    str_done(&text);
    return s;
}

/* --- searching --- */

typedef struct {
    int found;
    double log_p; /* sum over the subjects */
} Width;

/* The best sentence of a finished search as a row. */
static Status add_best(Study *s, const Search *w, const Subject *subject, int width, const Beam *b, Width *sum) {
    Table *t = study_table(s, "rows");
    double *true_log_p = MEM_ARRAY(double, (size_t)beam_nodes(b));
    int n = w->prompt.n + 1, *best;
    Status status = beam_true_log_p(b, w->memo, w->m->vocab, w->ids, n, true_log_p);
    if (status_is_ok(&status) && beam_best(b, &best) > 0) {
        const BeamNode *node = beam_node(b, best[0]);
        BeamView v = {.beam = b, .vocab = w->m->vocab, .ids = w->ids, .n = n, .true_log_p = true_log_p};
        Str text;
        str_init(&text);
        beams_text(&v, best[0], &text);
        table_add_int(t, width);
        table_add_text(t, subject->word);
        table_add_text(t, text.s);
        table_add_real(t, node->log_p);
        table_add_real(t, true_log_p[best[0]]);
        sum->log_p += node->log_p;
        sum->found += node->state == BEAM_FINISHED && fabs(true_log_p[best[0]] - subject->mode_log_p) <= SAME_LOG_P;
        str_done(&text);
        mem_free(best);
    }
    mem_free(true_log_p);
    return status;
}

static Status search(Study *s, Search *w, BeamModel *model, const Subject *subject, int width, Width *sum) {
    w->ids[w->prompt.n] = vocab_find(w->m->vocab, subject->word, strlen(subject->word));
    BeamConfig c = {.width = width, .tokens = w->tokens, .end = VOCAB_EOS, .length_norm = w->length_norm};
    BeamSource source = beam_model_source(model, w->ids, w->prompt.n + 1);
    Beam *b = beam_new(&c, &source);
    Status status = status_ok();
    while (beam_reason(b) == BEAM_RUNNING && status_is_ok(&status)) {
        status = beam_step(b);
        if (!study_progress(s, (double)w->done / (double)w->all, _("width %d: %s"), width, subject->word))
            status = status_cancelled();
    }
    if (status_is_ok(&status)) status = add_best(s, w, subject, width, b, sum);
    beam_free(b);
    w->done++;
    return status;
}

static Status search_width(Study *s, Search *w, int width) {
    Width sum = {0};
    int context = model_config(w->m->model)->context, n = w->prompt.n + 1;
    BeamModel *model = beam_model_new(w->m->model, NULL, width, w->tokens < context - n ? n + w->tokens : context);
    Status status = status_ok();
    for (int i = 0; i < w->subjects && status_is_ok(&status); i++)
        status = search(s, w, model, &w->subject[i], width, &sum);
    beam_model_free(model);
    if (!status_is_ok(&status)) return status;
    Table *t = study_table(s, "found");
    table_add_int(t, width);
    table_add_int(t, w->subjects);
    table_add_int(t, sum.found);
    table_add_real(t, sum.log_p / w->subjects);
    return status_ok();
}

/* --- the experiment --- */

static Status search_all(Study *s, Search *w) {
    const long long *widths;
    int n = options_ints(study_options(s), "widths", &widths);
    STATUS_TRY(prompts_need_truth(&w->prompt));
    if (w->prompt.n >= model_config(w->m->model)->context)
        return status_usage(_("prompt: the model's context has no room for a subject after it"));
    STATUS_TRY(find_subjects(w));
    w->all = (long)n * w->subjects;
    for (int i = 0; i < n; i++) STATUS_TRY(search_width(s, w, (int)widths[i]));
    return status_ok();
}

static Status search_prompt(Study *s, Search *w) {
    const Options *o = study_options(s);
    STATUS_TRY(prompts_open(w->m, o, "prompt", &w->prompt));
    w->ids = MEM_ARRAY(int, (size_t)w->prompt.n + 1);
    memcpy(w->ids, w->prompt.ids, (size_t)w->prompt.n * sizeof *w->ids);
    w->memo = next_memo_new(w->m->language);
    w->tokens = (int)options_int(o, "tokens");
    w->length_norm = options_flag(o, "length_norm");
    Status status = search_all(s, w);
    for (int i = 0; i < w->subjects; i++) mem_free(w->subject[i].word);
    mem_free(w->subject);
    next_memo_free(w->memo);
    mem_free(w->ids);
    prompts_done(&w->prompt);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = m.language ? search_prompt(s, &(Search){.m = &m})
                               : status_usage(_("model: the grammar that '%s' learned from is not known"), m.name);
    models_done(&m);
    study_about(s, "subjects", "every word that may follow the prompt by the truth");
    study_about(s, "modes_found",
                "subjects after which the best sentence is as likely by the truth as any can be, "
                "within 1e-9");
    study_about(s, "log_p_rule", "of the tokens after the subject, END included");
    study_about(s, "best", "of the finished sentences the one with the best score; when there is none, of the open");
    study_about(s, "logarithms", "natural (nats)");
    return status;
}

const Experiment experiment_decode_width = {
    .entry = {.id = "decode.width",
              .section = "L3 6.4",
              .title = N_("how wide the beam must be to find the likeliest sentence"),
              .see = N_("Wider beams find what the model likes best; where that is not the language's likeliest "
                        "sentence, no width helps: the model is wrong there, not the search."),
              .options = (const Option *const[]){models_gpt_option_rows, width_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"found", found_columns}, {"rows", rows_columns}, {0}},
              .figure = {FIGURE_LINE, "found", "width", "modes_found", NULL}},
    .check = check,
    .run = run,
};
