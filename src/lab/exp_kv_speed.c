/* kv.speed: the time that decoding takes with a cache and without one (lecture 3, 4.4). */
#include "account.h"
#include "clock.h"
#include "decode/greedy.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "run.h"
#include "sizes.h"

#include <string.h>

enum { PASS_ROWS = 2048 };          /* tokens that go through a pass together: between two the wish to stop is heard */
#define SPEED_NUMBERS (1LL << 28)   /* that may be kept at once */
#define SPEED_FLOPS   1000000000000 /* that may be done in all */

static const Option speed_options[] = {
    {"batch", OPTION_INT, "32", 1, 4096, NULL, "sequences", N_("decoded side by side")},
    {"tokens", OPTION_INT, "56", 1, 4096, NULL, "tokens", N_("decoded in each")},
    {"prompt", OPTION_INT, "4", 1, 4096, NULL, "tokens", N_("before them, <s> included")},
    {0},
};

static const Column speed_columns[] = {{"method", COLUMN_TEXT, ""},
                                       {"milliseconds", COLUMN_DOUBLE, "ms"},
                                       {"tokens_per_second", COLUMN_DOUBLE, "tokens/s"},
                                       {"ratio", COLUMN_DOUBLE, ""},
                                       {0}};

typedef struct {
    Study *study;
    const Model *model;
    int vocab, batch, prompt, tokens, length;
    int *ids[2]; /* [batch x length] without and with: the prompts, then what is decoded */
} Speed;

/* ---- without a cache ---- */

/* The next token of sequences FROM .. UNTIL-1, which have N tokens each. */
static void pass_whole(const Speed *s, Forward *f, Batch *b, int from, int until, int n) {
    batch_clear(b);
    for (int i = from; i < until; i++) batch_add(b, s->ids[0] + (size_t)i * (size_t)s->length, n, false);
    const real *logits = forward_batch(f, s->model, b);
    for (int i = from; i < until; i++) {
        size_t last = (size_t)(i - from + 1) * (size_t)n - 1;
        s->ids[0][(size_t)i * (size_t)s->length + (size_t)n] = greedy_best(logits + last * (size_t)s->vocab, s->vocab);
    }
}

static bool progress(const Speed *s, double share, int n) {
    return study_progress(s->study, share, _("token %d of %d"), n - s->prompt + 1, s->tokens);
}

static Status decode_whole(const Speed *s) {
    Forward *f = forward_new();
    Batch b;
    batch_init(&b);
    Status status = status_ok();
    for (int n = s->prompt; n < s->length && status_is_ok(&status); n++) {
        int step = n < PASS_ROWS ? PASS_ROWS / n : 1;
        for (int from = 0; from < s->batch && status_is_ok(&status); from += step) {
            pass_whole(s, f, &b, from, from + step < s->batch ? from + step : s->batch, n);
            if (!progress(s, 0.8 * (n - s->prompt) / s->tokens, n)) status = status_cancelled();
        }
    }
    batch_done(&b);
    forward_free(f);
    return status;
}

/* ---- with one ---- */

static void keep_best(const Speed *s, int sequence, int n, const real *logits) {
    s->ids[1][(size_t)sequence * (size_t)s->length + (size_t)n] = greedy_best(logits, s->vocab);
}

static Status decode_cached(const Speed *s, Decoder *d) {
    int *stream = MEM_ARRAY(int, (size_t)s->batch), *id = MEM_ARRAY(int, (size_t)s->batch);
    Status status = status_ok();
    for (int i = 0; i < s->batch && status_is_ok(&status); i++) {
        stream[i] = i;
        keep_best(s, i, s->prompt, decoder_feed(d, i, s->ids[1] + (size_t)i * (size_t)s->length, s->prompt));
        if (!progress(s, 0.8, s->prompt)) status = status_cancelled();
    }
    for (int n = s->prompt + 1; n < s->length && status_is_ok(&status); n++) {
        for (int i = 0; i < s->batch; i++) id[i] = s->ids[1][(size_t)i * (size_t)s->length + (size_t)n - 1];
        const real *logits = decoder_step(d, stream, id, s->batch);
        for (int i = 0; i < s->batch; i++) keep_best(s, i, n, logits + (size_t)i * (size_t)s->vocab);
        if (!progress(s, 0.8 + 0.2 * (n - s->prompt) / s->tokens, n)) status = status_cancelled();
    }
    mem_free(stream);
    mem_free(id);
    return status;
}

/* ---- both ---- */

static void add_row(Table *t, const char *method, const Speed *s, double seconds, double of) {
    table_add_text(t, method);
    table_add_real(t, 1000 * seconds);
    table_add_real(t, (double)s->batch * s->tokens / seconds);
    table_add_real(t, of / seconds);
}

static Status measure(Study *study, const Speed *s) {
    Decoder *d = decoder_new(s->model, s->batch, s->length);
    double begun = clock_cpu(), whole = 0;
    Status status = decode_whole(s);
    if (status_is_ok(&status)) {
        whole = clock_cpu() - begun;
        begun = clock_cpu();
        status = decode_cached(s, d);
    }
    decoder_free(d);
    if (!status_is_ok(&status)) return status;
    double cached = clock_cpu() - begun;
    add_row(study_table(study, "speed"), "without", s, whole, whole);
    add_row(study_table(study, "speed"), "with", s, cached, whole);
    return status_ok();
}

/* Prompts of <s> and tokens at random; both methods begin with the same. */
static void make_prompts(Speed *s, uint64_t seed) {
    size_t numbers = (size_t)s->batch * (size_t)s->length;
    for (int k = 0; k < 2; k++) s->ids[k] = MEM_ARRAY(int, numbers);
    for (int i = 0; i < s->batch; i++) {
        int *ids = s->ids[0] + (size_t)i * (size_t)s->length;
        Rng r = rng_at(seed, "kv.speed", (uint64_t)i);
        for (int n = 0; n < s->prompt; n++) ids[n] = (int)rng_below(&r, (uint64_t)s->vocab);
        if (s->vocab > VOCAB_BOS) ids[0] = VOCAB_BOS;
    }
    memcpy(s->ids[1], s->ids[0], numbers * sizeof *s->ids[0]);
}

static long long same_tokens(const Speed *s) {
    long long same = 0;
    for (int i = 0; i < s->batch; i++)
        for (int n = s->prompt; n < s->length; n++) {
            size_t at = (size_t)i * (size_t)s->length + (size_t)n;
            same += s->ids[0][at] == s->ids[1][at];
        }
    return same;
}

/* The model; one whose context is not given has room for what is decoded. */
static Status shape(const Options *o, ModelConfig *c) {
    STATUS_TRY(run_shape(o, c));
    int length = (int)(options_int(o, "prompt") + options_int(o, "tokens"));
    if (!options_is_set(o, "context") && c->context < length) c->context = length;
    return config_check(c);
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    ModelConfig c;
    STATUS_TRY(shape(o, &c));
    Model *m = model_new(&c, study_seed(s));
    Speed speed = {.study = s,
                   .model = m,
                   .vocab = c.vocab,
                   .batch = (int)options_int(o, "batch"),
                   .prompt = (int)options_int(o, "prompt"),
                   .tokens = (int)options_int(o, "tokens")};
    speed.length = speed.prompt + speed.tokens;
    make_prompts(&speed, study_seed(s));
    Status status = measure(s, &speed);
    study_about(s, "same_tokens", "%lld of %lld", same_tokens(&speed), (long long)speed.batch * speed.tokens);
    for (int k = 0; k < 2; k++) mem_free(speed.ids[k]);
    model_free(m);
    study_about(s, "model_context", "%d", c.context);
    study_about(s, "model_from", "untrained: its numbers change no time");
    study_about(s, "time_rule", "processor time of the one thread that computes; with: prefill included");
    study_about(s, "ratio_rule", "time without / time of the row");
    study_about(s, "decoding", "greedy, </s> stops nothing");
    return status;
}

/* ---- what can be run ---- */

static Status check_work(const ModelConfig *c, Count batch, Count prompt, Count tokens) {
    Count flops = 0, length = prompt + tokens, side_by_side = length < PASS_ROWS ? PASS_ROWS / length : 1;
    if (side_by_side > batch) side_by_side = batch;
    Count cache = account_times(batch, account_cache(c, length));
    Count kept = account_add(account_activations(c, length, side_by_side).total, cache);
    Count numbers = account_add(account_times(2, account_parameters(c).total), kept);
    for (Count n = prompt; n < length; n++)
        flops = account_add(flops, account_flops(c, n, batch, ACCOUNT_ALLOWED_SCORES).total);
    if (numbers > SPEED_NUMBERS || flops > SPEED_FLOPS)
        return status_usage(_("this would take %.2g numbers and %.2g operations; at most %.2g and %.2g are allowed"),
                            (double)numbers, (double)flops, (double)SPEED_NUMBERS, (double)SPEED_FLOPS);
    return status_ok();
}

static Status check(const Options *o) {
    ModelConfig c;
    STATUS_TRY(shape(o, &c));
    long long prompt = options_int(o, "prompt"), tokens = options_int(o, "tokens");
    if (prompt + tokens > c.context)
        return status_usage(
            _("a prompt of %lld tokens and %lld more are %lld, and the model's context has room for %d"), prompt,
            tokens, prompt + tokens, c.context);
    return check_work(&c, options_int(o, "batch"), prompt, tokens);
}

const Experiment experiment_kv_speed = {
    .entry = {.id = "kv.speed",
              .section = "L3 4.4",
              .title = N_("the time that decoding takes with a cache and without"),
              .see =
                  N_("The cache is many times faster, and the more so the longer the text; kv.flops says what it could "
                     "be at best."),
              .options = (const Option *const[]){speed_options, run_model_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"speed", speed_columns}, {0}},
              .figure = {FIGURE_BARS, "speed", "method", "milliseconds", NULL}},
    .check = check,
    .run = run,
};
