/* kv.exact: a text fed with a cache, in pieces of any size, gives what the whole forward pass gives (lecture 3, 4.2).
 */
#include "decode/greedy.h"
#include "experiment.h"
#include "feeds.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <string.h>

static const Option exact_options[] = {
    {"text", OPTION_TEXT, "the dogs near the cat beside the owls behind the hens chase the foxes in the morning .", 0,
     0, NULL, "", N_("what is fed; <s> is added")},
    {"tokens", OPTION_INT, "30", 1, 100000, NULL, "tokens",
     N_("decoded greedily after the text with and without a cache, as far as the context goes")},
    {0},
};

static const Column diff_columns[] = {
    {"feed", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, "logits"}, {"same_greedy", COLUMN_INT, ""}, {0}};

static Status check(const Options *o) {
    STATUS_TRY(feeds_check(o));
    return models_check(o, "text");
}

/* ---- without a cache ---- */

typedef struct {
    const TrainedModel *m;
    int vocab;
    int *ids, n;  /* the text, then what is decoded after it */
    int known;    /* of ids */
    real *logits; /* [n x V] after each token of the text */
} Whole;

/* One pass over everything, for every token again. */
static Status decode_whole(Study *s, Forward *f, Whole *w, int most) {
    size_t numbers = (size_t)w->n * (size_t)w->vocab;
    w->ids = mem_resize(w->ids, (size_t)w->n + (size_t)most, sizeof *w->ids);
    w->logits = MEM_ARRAY(real, numbers);
    for (int i = 0; i < most; i++) {
        w->known = w->n + i;
        const real *logits = forward_ids(f, w->m->model, w->ids, w->known);
        if (i == 0) memcpy(w->logits, logits, numbers * sizeof *logits);
        w->ids[w->known++] = greedy_best(logits + (size_t)(w->n + i - 1) * (size_t)w->vocab, w->vocab);
        if (!study_progress(s, 0.8 * i / most, _("without a cache: token %d of %d"), i + 1, most))
            return status_cancelled();
    }
    return status_ok();
}

/* ---- with one ---- */

static bool same_greedy(Decoder *d, const Whole *w, const real *logits) {
    for (int i = w->n;; i++) {
        if (greedy_best(logits, w->vocab) != w->ids[i]) return false;
        if (i == w->known - 1) return true;
        logits = decoder_feed(d, 0, &w->ids[i], 1);
    }
}

static Status add_feeds(Study *s, const Whole *w) {
    Decoder *d = decoder_new(w->m->model, 1, w->known);
    Table *t = study_table(s, "diff");
    Status status = status_ok();
    for (const char *list = options_text(study_options(s), "feeds"); list && status_is_ok(&status);) {
        char *feed = feeds_next(&list);
        const real *last = NULL;
        double difference = feeds_differ(d, w->ids, w->n, w->logits, w->vocab, feed, &last);
        table_add_text(t, feed);
        table_add_real(t, difference);
        table_add_int(t, same_greedy(d, w, last));
        if (!study_progress(s, 0.9, _("fed by %s"), feed)) status = status_cancelled();
        mem_free(feed);
    }
    decoder_free(d);
    return status;
}

static Status compare(Study *s, Whole *w) {
    STATUS_TRY(models_ids(w->m, study_options(s), "text", MODELS_PROMPT, &w->ids, &w->n));
    int most = (int)options_int(study_options(s), "tokens"), room = model_config(w->m->model)->context - w->n + 1;
    if (most > room) most = room;
    Forward *f = forward_new();
    Status status = decode_whole(s, f, w, most);
    forward_free(f);
    if (status_is_ok(&status)) status = add_feeds(s, w);
    study_about(s, "text_tokens", "%d", w->n);
    study_about(s, "greedy_tokens", "%d", most);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Whole w = {.m = &m, .vocab = model_config(m.model)->vocab};
    Status status = compare(s, &w);
    mem_free(w.ids);
    mem_free(w.logits);
    models_done(&m);
    study_about(s, "max_difference_rule", "largest |cached - whole| over all logits after every token of the text");
    study_about(s, "same_greedy_rule", "1: the tokens decoded after the text, </s> stopping nothing, are the same");
    study_about(s, "ties", "the lowest id");
    return status;
}

const Experiment experiment_kv_exact = {
    .entry = {.id = "kv.exact",
              .section = "L3 4.2",
              .title = N_("a text fed with a cache, in pieces of any size, against the whole forward pass"),
              .see = N_("However the text is cut, the cache changes nothing but the last digits, and no token."),
              .options = (const Option *const[]){models_gpt_option_rows, exact_options, feeds_option_rows,
                                                 models_ids_option_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}}},
    .check = check,
    .run = run,
};
