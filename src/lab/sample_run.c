#include "sample_run.h"

#include "clock.h"
#include "mem.h"
#include "rng.h"
#include "tally.h"
#include "text/next_memo.h"
#include "tokens.h"

#include <math.h>
#include <string.h>

static const double slice = 0.002; /* seconds */

typedef enum { NOTHING, RUNNING, DONE, STOPPED, FAILED } State;

struct SampleRun {
    State state;
    SamplingPlan plan; /* its pointers are not kept, except ids */
    int *ids;          /* [plan.n] the prompt */
    long step;
    const Vocab *vocab;
    Str prompt;
    Sampling *sampling; /* NULL unless it runs */
    Judge *judge;
    Language *language; /* NULL: no truth */
    NextMemo *memo;
    Tally model, truth;
    Table *samples;
    int *written; /* [plan.tokens] a sentence of the language */
};

static const Column sampling_columns[] = {
    {"wanted", COLUMN_INT, "sentences"}, {"taken", COLUMN_INT, "sentences"},
    {"state", COLUMN_TEXT, ""},          {"step", COLUMN_INT, ""},
    {"prompt", COLUMN_TEXT, ""},         {"tau", COLUMN_DOUBLE, ""},
    {"top_k", COLUMN_INT, ""},           {"top_p", COLUMN_DOUBLE, ""},
    {"order", COLUMN_TEXT, ""},          {0},
};

static const Column worth_columns[] = {
    {"of", COLUMN_TEXT, ""},
    {"sentences", COLUMN_INT, ""},
    {"legal", COLUMN_DOUBLE, ""},
    {"possible", COLUMN_DOUBLE, ""},
    {"true_nll", COLUMN_DOUBLE, "nats/token"},
    {"distinct", COLUMN_DOUBLE, ""},
    {"coverage", COLUMN_DOUBLE, ""},
    {0},
};

static const Column samples_columns[] = {
    {"sample", COLUMN_INT, ""},
    {"text", COLUMN_TEXT, ""},
    {"ended", COLUMN_INT, ""},
    {"legal", COLUMN_INT, ""},
    {"possible", COLUMN_INT, ""},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};

/* Life. */

static void clear(SampleRun *r) {
    *r = (SampleRun){0};
    str_init(&r->prompt);
}

SampleRun *sample_run_new(void) {
    SampleRun *r = MEM_NEW(SampleRun);
    clear(r);
    return r;
}

void sample_run_forget(SampleRun *r) {
    sampling_free(r->sampling);
    judge_free(r->judge);
    next_memo_free(r->memo);
    if (r->language) language_free(r->language);
    tally_done(&r->model);
    tally_done(&r->truth);
    table_free(r->samples);
    str_done(&r->prompt);
    mem_free(r->ids);
    mem_free(r->written);
    clear(r);
}

void sample_run_free(SampleRun *r) {
    if (!r) return;
    sample_run_forget(r);
    str_done(&r->prompt);
    mem_free(r);
}

void sample_run_start(SampleRun *r, const SampleRunStart *s) {
    sample_run_forget(r);
    r->state = RUNNING;
    r->plan = s->plan;
    r->ids = MEM_ARRAY(int, (size_t)s->plan.n);
    memcpy(r->ids, s->plan.ids, (size_t)s->plan.n * sizeof *r->ids);
    r->plan.ids = r->ids;
    r->plan.model = NULL;
    r->plan.tweak = NULL;
    r->step = s->step;
    r->vocab = s->vocab;
    tokens_text(s->vocab, r->ids, s->plan.n, &r->prompt);
    r->sampling = sampling_new(&s->plan);
    r->judge = judge_new(s->grammar, s->language, s->vocab, r->ids, s->plan.n);
    r->written = MEM_ARRAY(int, (size_t)s->plan.tokens);
    r->samples = table_new("samples", samples_columns);
    tally_init(&r->model);
    tally_init(&r->truth);
    if (!s->language) return;
    r->language = language_copy(s->language);
    r->memo = next_memo_new(r->language);
}

/* Drawing. */

static Status take(void *user, const Sample *s) {
    SampleRun *r = user;
    Verdict v;
    Str text;
    STATUS_TRY(judge_sentence(r->judge, s->ids, s->length, s->ended, &v));
    tally_add(&r->model, &v, 1);
    str_init(&text);
    judge_text(r->judge, v.text, &text);
    table_add_int(r->samples, s->index);
    table_add_text(r->samples, text.s);
    table_add_int(r->samples, v.ended);
    if (judge_knows(r->judge)) {
        table_add_int(r->samples, v.legal);
        table_add_int(r->samples, v.possible);
        table_add_real(r->samples, v.log_p);
    } else {
        for (int i = 0; i < 3; i++) table_add_empty(r->samples);
    }
    str_done(&text);
    return status_ok();
}

/* The id of the token that the number U falls on; -1: nothing may follow. */
static int draw_next(const SampleRun *r, const NextList *next, double u) {
    double sum = 0;
    for (int i = 0; i < next->count; i++) {
        sum += next->next[i].p;
        if (u >= sum && i + 1 < next->count) continue;
        const char *token = next->next[i].token;
        return i + 1 == next->count && strcmp(token, vocab_token(r->vocab, VOCAB_EOS)) == 0
                   ? VOCAB_EOS
                   : vocab_find(r->vocab, token, strlen(token));
    }
    return -1;
}

/* One sentence of the language that begins with the prompt. *n 0: none does. */
static Status write_truth(SampleRun *r, int *n, bool *ended) {
    Rng rng = rng_at(r->plan.seed, "truth", (uint64_t)r->truth.sentences);
    Str prefix;
    str_init(&prefix);
    str_add(&prefix, r->prompt.s);
    Status s = status_ok();
    *n = 0;
    *ended = false;
    while (*n < r->plan.tokens && !*ended) {
        const NextList *next;
        s = next_memo_find(r->memo, prefix.s, &next);
        int id = status_is_ok(&s) ? draw_next(r, next, rng_unit(&rng)) : -1;
        if (id < 0) break;
        r->written[(*n)++] = id;
        *ended = id == VOCAB_EOS;
        str_addf(&prefix, "%s%s", prefix.len ? " " : "", vocab_token(r->vocab, id));
    }
    str_done(&prefix);
    return s;
}

/* When the prompt is impossible there is no truth beside it. */
static Status draw_truth(SampleRun *r) {
    int n;
    bool ended;
    Verdict v;
    STATUS_TRY(write_truth(r, &n, &ended));
    if (n == 0) {
        next_memo_free(r->memo);
        r->memo = NULL;
        return status_ok();
    }
    STATUS_TRY(judge_sentence(r->judge, r->written, n, ended, &v));
    tally_add(&r->truth, &v, 1);
    return status_ok();
}

static void end(SampleRun *r, State state) {
    r->state = state;
    sampling_free(r->sampling);
    r->sampling = NULL;
}

bool sample_run_pending(const SampleRun *r) {
    return r->state == RUNNING;
}

/* The truth keeps up with the model, sentence for sentence. */
static Status step(SampleRun *r) {
    bool behind = r->memo && r->truth.sentences < r->model.sentences;
    if (behind) return draw_truth(r);
    if (!sampling_ended(r->sampling)) return sampling_step(r->sampling, take, r);
    end(r, DONE);
    return status_ok();
}

bool sample_run_turn(SampleRun *r) {
    if (!sample_run_pending(r)) return false;
    double begin = clock_now();
    Status s = status_ok();
    do s = step(r);
    while (status_is_ok(&s) && sample_run_pending(r) && clock_now() - begin < slice);
    if (!status_is_ok(&s)) end(r, FAILED);
    return true;
}

void sample_run_stop(SampleRun *r) {
    if (sample_run_pending(r)) end(r, STOPPED);
}

/* Looking. */

static void add_worth(const SampleRun *r, const Tally *t, const char *of, Table *to) {
    table_add_text(to, of);
    table_add_int(to, t->sentences);
    tally_add_cells(t, judge_knows(r->judge), to);
}

static Table *sampling_table(const SampleRun *r) {
    static const char *const names[] = {"", "running", "done", "stopped", "failed"};
    const FilterConfig *f = &r->plan.filter;
    Table *t = table_new("sampling", sampling_columns);
    table_add_int(t, r->plan.sentences);
    table_add_int(t, r->model.sentences);
    table_add_text(t, names[r->state]);
    table_add_int(t, r->step);
    table_add_text(t, r->prompt.s);
    table_add_real(t, f->tau);
    table_add_int(t, f->top_k);
    table_add_real(t, f->top_p);
    table_add_text(t, f->order == ORDER_TAU_LAST ? "tau_last" : "tau_first");
    return t;
}

void sample_run_tables(const SampleRun *r, Snapshot *to) {
    if (r->state == NOTHING) {
        snapshot_add_table(to, table_new("samples", samples_columns));
        return;
    }
    Table *worth = table_new("worth", worth_columns);
    add_worth(r, &r->model, "model", worth);
    if (r->truth.sentences > 0) add_worth(r, &r->truth, "truth", worth);
    snapshot_add_table(to, sampling_table(r));
    snapshot_add_table(to, worth);
    snapshot_add_table(to, table_copy(r->samples));
}
