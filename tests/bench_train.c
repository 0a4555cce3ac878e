/* bench_train: real tokens per second of training on the farm language, 64 sentences a batch, the batch's making and
 * the update included: both presets with one thread and two; rounds that take turns.
 *   bench_train [preset|all [threads [seconds per round]]] */
#include "bench.h"

#include "clock.h"
#include "corpora.h"
#include "gemm.h"
#include "mem.h"
#include "optim.h"
#include "shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, SENTENCES = 20000, CASES_MOST = 4 };

typedef struct {
    BenchFigure figure;
    Model *model;
    Shards *shards;
    Optim optim;
    real *grad;
    Sampler *sampler;
    Batch batch;
    long step, tokens;
} Case;

static Corpus *farm(void) {
    Corpus *c;
    Status s = corpora_load("farm", (CorpusTokens){.unit = VOCAB_WORD}, (long)bench_size(SENTENCES, 200), 1, 1, &c);
    if (!status_is_ok(&s)) exit((puts(s.text), 2));
    return c;
}

static void open_case(Case *c, const Corpus *corpus, const char *preset, int threads) {
    ModelConfig config;
    if (!config_preset(preset, &config)) exit(2);
    config.vocab = vocab_size(corpus->vocab);
    OptimConfig optim = optim_defaults();
    *c = (Case){.figure = {.unit = "real tokens/s", .threads = threads}, .model = model_new(&config, 1)};
    (void)snprintf(c->figure.name, sizeof c->figure.name, "train.%s.threads%d", preset, threads);
    (void)snprintf(c->figure.more, sizeof c->figure.more, ", \"products\": \"%s\"", gemm_kernel());
    c->shards = shards_new(c->model, threads);
    optim_init(&c->optim, &optim, model_params(c->model)->count);
    c->grad = mem_aligned(model_params(c->model)->count, sizeof *c->grad);
    c->sampler = sampler_new(&corpus->train, BATCH, 1, config.context);
    batch_init(&c->batch);
    shards_set_threads(c->shards, 1); /* no helper spins while another case is measured */
}

static void close_case(Case *c) {
    shards_free(c->shards);
    optim_done(&c->optim);
    mem_free(c->grad);
    sampler_free(c->sampler);
    batch_done(&c->batch);
    model_free(c->model);
}

static void train_step(void *data) {
    Case *c = data;
    sampler_batch(c->sampler, c->step, &c->batch);
    (void)shards_gradient(c->shards, &c->batch, 1, (uint64_t)c->step, c->grad);
    double norm = shards_norm(c->shards, c->grad), rate = optim_rate(&c->optim.config, c->step, 100000);
    shards_update(c->shards, &c->optim, c->grad, norm, rate, NULL);
    c->step++;
    c->tokens += c->batch.targets;
}

static double measure(Case *c, double seconds) {
    long steps = c->step, tokens = c->tokens;
    shards_set_threads(c->shards, c->figure.threads);
    double each = bench_time(train_step, c, seconds);
    shards_set_threads(c->shards, 1);
    return (double)(c->tokens - tokens) / (each * (double)(c->step - steps));
}

int main(int argc, char **argv) {
    const char *presets[] = {"gpt", "modern"};
    double seconds = argc > 3 ? atof(argv[3]) : bench_size(.7, .001);
    Corpus *corpus = farm();
    Case cases[CASES_MOST];
    int n = 0;
    for (int p = 0; p < 2; p++)
        for (int threads = 1; threads <= 2; threads++) {
            if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], presets[p]) != 0) continue;
            if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) != threads) continue;
            open_case(&cases[n++], corpus, presets[p], threads);
        }
    for (int i = 0; i < n; i++) (void)measure(&cases[i], seconds);
    for (int r = 0; r < bench_runs(); r++)
        for (int i = 0; i < n; i++) bench_add(&cases[i].figure, measure(&cases[i], seconds));
    for (int i = 0; i < n; i++) bench_print(&cases[i].figure);
    for (int i = 0; i < n; i++) close_case(&cases[i]);
    corpus_free(corpus);
    return 0;
}
