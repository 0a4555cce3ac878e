/* bench_scale: how time and memory of a training step grow with width, layers, length, batch, vocabulary and threads,
 * one of them at a time. Beside the milliseconds stand the operations of the step's matrix products (three times those
 * of a forward pass; causal pairs alone) with the rate that they were made at, the most memory that the process held,
 * and time and operations relative to the first of the series: "time_growth" beside "arithmetic_growth". In the latter
 * are, too, the two exponentials that each pair of a query and a key takes; not what an update does with each
 * parameter. Each case is a process of its own.
 *   bench_scale [series|all [seconds per round]] */
#include "bench.h"

#include "account.h"
#include "mem.h"
#include "optim.h"
#include "rng.h"
#include "shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MOST = 8, EXP_OPERATIONS = 30 /* of an exponential of vmath, its mask and its factor */ };

typedef struct {
    const char *name;
    int d, layers, T, batch, vocab, threads; /* 0: the usual */
    int value[CASES_MOST];                   /* of the one that is 0 in TURN's place; 0 at the end */
    int turn;                                /* which: 0 d, 1 layers, ... */
} Series;

/* Where the length grows, the tokens of a batch stay. */
static const Series all_series[] = {
    {"d", 0, 2, 64, 16, 56, 1, {64, 128, 256, 512}, 0},
    {"layers", 64, 0, 64, 16, 56, 1, {1, 2, 4, 8, 16}, 1},
    {"T", 64, 2, 0, 0, 56, 1, {32, 64, 128, 256, 512, 1024, 2048}, 2},
    {"batch", 64, 2, 16, 0, 56, 1, {1, 4, 16, 64, 256}, 3},
    {"vocabulary", 64, 2, 64, 16, 0, 1, {56, 1000, 8000, 50257}, 4},
    {"threads", 64, 2, 64, 64, 56, 0, {1, 2, 4}, 5},
    {"large", 512, 4, 2048, 1, 0, 1, {50257}, 4},
};

typedef struct {
    ModelConfig config;
    int T, batch, threads;
    double seconds;
} Case;

static Case case_of(const Series *s, int i, double seconds) {
    const int tokens = (int)bench_size(2048, 128);
    int x[] = {s->d, s->layers, s->T, s->batch, s->vocab, s->threads};
    x[s->turn] = s->value[i];
    if (bench_is_tiny())
        x[0] = x[0] > 64 ? 64 : x[0], x[4] = x[4] > 100 ? 100 : x[4], x[2] = x[2] > 128 ? 128 : x[2],
        x[3] = x[3] > 4 ? 4 : x[3];
    Case c = {.config = config_modern(), .T = x[2], .batch = x[3] ? x[3] : tokens / x[2], .threads = x[5]};
    c.config.d = x[0];
    c.config.heads = x[0] / 16;
    c.config.kv_heads = x[0] / 32;
    c.config.d_ff = config_usual_d_ff(c.config.ffn, x[0]);
    c.config.layers = x[1];
    c.config.context = x[2] > c.config.context ? x[2] : c.config.context;
    c.config.vocab = x[4];
    c.seconds = seconds;
    return c;
}

typedef struct {
    Model *model;
    Shards *shards;
    Optim optim;
    real *grad;
    Batch batch;
    long step;
} Training;

static void make_batch(Batch *b, const Case *c) {
    Rng rng = rng_at(1, "bench", 0);
    int *id = MEM_ARRAY(int, (size_t)c->T + 1);
    batch_init(b);
    for (int s = 0; s < c->batch; s++) {
        for (int i = 0; i <= c->T; i++) id[i] = (int)rng_below(&rng, (uint64_t)c->config.vocab);
        batch_add(b, id, c->T, true);
    }
    mem_free(id);
}

static void train_step(void *data) {
    Training *t = data;
    (void)shards_gradient(t->shards, &t->batch, 1, (uint64_t)t->step++, t->grad);
    shards_update(t->shards, &t->optim, t->grad, shards_norm(t->shards, t->grad), 1e-3, NULL);
}

/* Seconds a step, in a process that ends then. */
static double measure(const void *data) {
    const Case *c = data;
    OptimConfig optim = optim_defaults();
    Training t = {.model = model_new(&c->config, 1)};
    t.shards = shards_new(t.model, c->threads);
    size_t count = model_params(t.model)->count;
    optim_init(&t.optim, &optim, count);
    t.grad = mem_aligned(count, sizeof *t.grad);
    make_batch(&t.batch, c);
    if (c->seconds > 0) train_step(&t);
    return bench_time(train_step, &t, c->seconds);
}

static double products(const Case *c) {
    return 3 * (double)account_flops(&c->config, c->T, c->batch, ACCOUNT_ALLOWED_SCORES).total;
}

static double exponentials(const Case *c) {
    double pairs = 0.5 * c->T * (c->T + 1.0) * c->batch * c->config.heads * c->config.layers;
    return 2 * EXP_OPERATIONS * pairs;
}

static void run_series(const Series *s, double seconds) {
    double first_time = 0, first_work = 0;
    for (int i = 0; i < CASES_MOST && s->value[i]; i++) {
        Case c = case_of(s, i, seconds);
        BenchFigure f = {.unit = "ms a step", .threads = c.threads};
        double most = 0, bytes, work = products(&c), all = work + exponentials(&c);
        for (int r = 0; r < (s->d == 512 || bench_is_tiny() ? 1 : 5); r++) {
            bench_add(&f, 1000 * bench_apart(measure, &c, &bytes));
            if (bytes > most) most = bytes;
        }
        double time = bench_median(&f);
        if (i == 0) first_time = time, first_work = all;
        (void)snprintf(f.name, sizeof f.name, "scale.%s.%d", s->name, s->value[i]);
        (void)snprintf(f.more, sizeof f.more,
                       ", \"gflop\": %.4g, \"gflop_per_s\": %.3g, \"time_growth\": %.4g, \"arithmetic_growth\": %.4g, "
                       "\"megabytes\": %.0f",
                       work / 1e9, work / 1e6 / time, time / first_time, all / first_work, most / 1e6);
        bench_print(&f);
    }
}

int main(int argc, char **argv) {
    double seconds = argc > 2 ? atof(argv[2]) : bench_size(.1, 0);
    int found = 0;
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++) {
        if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], all_series[i].name) != 0) continue;
        run_series(&all_series[i], seconds);
        found++;
    }
    return found ? 0 : 2;
}
