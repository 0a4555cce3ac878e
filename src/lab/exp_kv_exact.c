/* kv.exact: a text fed with a cache, in pieces of any size, gives what the whole forward pass gives (lecture 3, 4.2).
 */
#include "decode/greedy.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <math.h>
#include <string.h>

static const Option exact_options[] = {
    {"text", OPTION_TEXT, "the dogs near the cat beside the owls behind the hens chase the foxes in the morning .", 0,
     0, NULL, "", N_("what is fed; <s> is added")},
    {"feeds", OPTION_TEXT, "all,1,5+1,3", 0, 0, NULL, "tokens",
     N_("how it is cut, separated by commas: all at once, or sizes joined by +, of which the last is repeated")},
    {"tokens", OPTION_INT, "30", 1, 100000, NULL, "tokens",
     N_("decoded greedily after the text with and without a cache, as far as the context goes")},
    {0},
};

static const Column diff_columns[] = {
    {"feed", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, "logits"}, {"same_greedy", COLUMN_INT, ""}, {0}};

/* ---- feeds=all,1,5+1,3 ---- */

/* The size of the next piece of FEED at *AT, which moves behind it unless it is the last; 0: all that is left; -1: not
 * of the form. */
static int next_piece(const char *feed, const char **at) {
    if (strcmp(feed, "all") == 0) return 0;
    char digits[8];
    size_t n = strcspn(*at, "+");
    long long size;
    if (n == 0 || n >= sizeof digits || strspn(*at, "0123456789") < n) return -1;
    memcpy(digits, *at, n);
    digits[n] = '\0';
    if (!str_to_long(digits, &size) || size < 1) return -1;
    if ((*at)[n] == '+') *at += n + 1;
    return (int)size;
}

static Status check_feed(const char *feed) {
    for (const char *at = feed, *before = NULL; at != before;) {
        before = at;
        if (next_piece(feed, &at) < 0)
            return status_usage(_("feeds: '%s' is neither all nor sizes from 1 to 9999999 joined by +, as in 5+1"),
                                feed);
    }
    return status_ok();
}

/* The next of a list separated by commas, to be freed; *LIST moves behind it, and becomes NULL behind the last. */
static char *next_feed(const char **list) {
    size_t n = strcspn(*list, ",");
    char *feed = mem_text_n(*list, n);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return feed;
}

static Status check(const Options *o) {
    Status status = models_check(o, "text");
    for (const char *list = options_text(o, "feeds"); list && status_is_ok(&status);) {
        char *feed = next_feed(&list);
        status = check_feed(feed);
        mem_free(feed);
    }
    return status;
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

/* Feeds the text as FEED says; the largest difference of all logits, and those after the last token. */
static double feed_text(Decoder *d, const Whole *w, const char *feed, const real **last) {
    const char *at = feed;
    double most = 0;
    decoder_reset(d);
    for (int done = 0, size; done < w->n; done += size) {
        size = next_piece(feed, &at);
        if (size == 0 || size > w->n - done) size = w->n - done;
        const real *logits = decoder_feed_all(d, 0, w->ids + done, size);
        const real *whole = w->logits + (size_t)done * (size_t)w->vocab;
        for (size_t i = 0; i < (size_t)size * (size_t)w->vocab; i++) {
            double off = fabs((double)logits[i] - (double)whole[i]);
            if (!(off <= most)) most = off; /* a NaN too */
        }
        *last = logits + (size_t)(size - 1) * (size_t)w->vocab;
    }
    return most;
}

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
        char *feed = next_feed(&list);
        const real *last = NULL;
        double difference = feed_text(d, w, feed, &last);
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
              .options = (const Option *const[]){models_gpt_option_rows, exact_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}}},
    .check = check,
    .run = run,
};
