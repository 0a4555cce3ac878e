/* bench_train: real tokens per second of training, one JSON line per figure: both presets with 1 and 2 threads, 64
 * sentences a batch, lengths as in the farm language (8 to 19 tokens, mean 11.6), the batch's making and the update
 * included. The median of five rounds that take turns, after one that is not counted. Not a test: it asserts no time.
 *   bench_train [preset [threads [seconds per round]]] */
#include "clock.h"
#include "gemm.h"
#include "mem.h"
#include "optim.h"
#include "rng.h"
#include "shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, SENTENCES = 20000, LONGEST = 20, ROUNDS = 5, CASES_MOST = 4 };

typedef struct {
    int length[SENTENCES]; /* tokens that are predicted */
    int id[SENTENCES][LONGEST];
} Text;

static int pick(Rng *rng, double p) {
    return rng_unit(rng) < p;
}

/* the NOUN (PREPOSITION the NOUN)* VERB [the] OBJECT WHEN . </s> */
static int farm_length(Rng *rng) {
    double u = rng_unit(rng);
    int phrases = u < .45 ? 0 : u < .75 ? 1 : u < .9 ? 2 : 3;
    return 2 + 3 * phrases + 1 + 1 + pick(rng, .344) + 2 + pick(rng, .556) + 1 + 1;
}

static Text *make_text(int vocab) {
    Text *text = MEM_NEW(Text);
    Rng rng = rng_at(1, "bench", 0);
    for (int i = 0; i < SENTENCES; i++) {
        text->length[i] = farm_length(&rng);
        for (int k = 0; k <= text->length[i]; k++) text->id[i][k] = (int)rng_below(&rng, (uint64_t)vocab);
    }
    return text;
}

typedef struct {
    const char *preset;
    int threads;
    Model *model;
    Shards *shards;
    Optim optim;
    real *grad;
    Batch batch;
    long step;
    double rate[ROUNDS];
} Case;

static void open_case(Case *c, const char *preset, int threads) {
    ModelConfig config;
    if (!config_preset(preset, &config)) exit(2);
    OptimConfig optim = optim_defaults();
    *c = (Case){.preset = preset, .threads = threads, .model = model_new(&config, 1)};
    c->shards = shards_new(c->model, threads);
    optim_init(&c->optim, &optim, model_params(c->model)->count);
    c->grad = mem_aligned(model_params(c->model)->count, sizeof *c->grad);
    batch_init(&c->batch);
    shards_set_threads(c->shards, 1); /* no helper spins while another case is measured */
}

static void close_case(Case *c) {
    shards_free(c->shards);
    optim_done(&c->optim);
    mem_free(c->grad);
    batch_done(&c->batch);
    model_free(c->model);
}

static int train_step(Case *c, const Text *text) {
    batch_clear(&c->batch);
    for (int i = 0; i < BATCH; i++) {
        long s = (c->step * BATCH + i) % SENTENCES;
        batch_add(&c->batch, text->id[s], text->length[s], true);
    }
    (void)shards_gradient(c->shards, &c->batch, 1, (uint64_t)c->step, c->grad);
    (void)optim_update(&c->optim, model_params(c->model), c->grad, optim_rate(&c->optim.config, c->step, 100000));
    c->step++;
    return batch_rows(&c->batch);
}

static double measure(Case *c, const Text *text, double seconds) {
    long tokens = 0;
    shards_set_threads(c->shards, c->threads);
    double begin = clock_now(), now = begin;
    for (; now - begin < seconds; now = clock_now()) tokens += train_step(c, text);
    shards_set_threads(c->shards, 1);
    return (double)tokens / (now - begin);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(Case *c) {
    qsort(c->rate, ROUNDS, sizeof c->rate[0], compare);
    printf("{\"figure\": \"train\", \"model\": \"%s\", \"threads\": %d, \"unit\": \"real tokens/s\", \"median\": %.0f, "
           "\"best\": %.0f, \"worst\": %.0f, \"blas\": \"%s\"}\n",
           c->preset, c->threads, c->rate[ROUNDS / 2], c->rate[ROUNDS - 1], c->rate[0], gemm_core());
}

int main(int argc, char **argv) {
    const char *presets[] = {"gpt", "modern"};
    double seconds = argc > 3 ? atof(argv[3]) : 1;
    Text *text = make_text(56);
    Case cases[CASES_MOST];
    int n = 0;
    for (int p = 0; p < 2; p++)
        for (int threads = 1; threads <= 2; threads++) {
            if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], presets[p]) != 0) continue;
            if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) != threads) continue;
            open_case(&cases[n++], presets[p], threads);
        }
    for (int r = -1; r < ROUNDS; r++)
        for (int i = 0; i < n; i++) {
            double rate = measure(&cases[i], text, seconds);
            if (r >= 0) cases[i].rate[r] = rate;
        }
    for (int i = 0; i < n; i++) report(&cases[i]);
    for (int i = 0; i < n; i++) close_case(&cases[i]);
    mem_free(text);
    return 0;
}
