/* bench_decode: generated tokens per second of greedy decoding with the cache, one JSON line per figure: both presets,
 * 1 and 32 streams, one thread. Each text is 4 tokens of prompt and 56 generated; the time covers the prompt and the
 * choice of each token, the count only what is generated. The median of rounds that take turns, after one that is not
 * counted. Not a test: it asserts no time. bench_decode [preset [streams [seconds per round]]] */
#include "clock.h"
#include "decode/decoder.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 56, STREAMS_MOST = 32, ROUNDS = 7, CASES_MOST = 4 };

typedef struct {
    const char *preset;
    int streams, vocab;
    Model *model;
    Decoder *decoder;
    double rate[ROUNDS];
} Case;

static void open_case(Case *c, const char *preset, int streams) {
    ModelConfig config;
    if (!config_preset(preset, &config)) exit(2);
    *c = (Case){.preset = preset, .streams = streams, .vocab = config.vocab, .model = model_new(&config, 1)};
    c->decoder = decoder_new(c->model, streams, PROMPT + TOKENS);
}

static void close_case(Case *c) {
    decoder_free(c->decoder);
    model_free(c->model);
}

static int likeliest(const real *logits, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* One text in each stream; returns a sum of ids, so that nothing can be left out. */
static long generate(Case *c) {
    int stream[STREAMS_MOST], id[STREAMS_MOST];
    long sum = 0;
    decoder_reset(c->decoder);
    for (int s = 0; s < c->streams; s++) {
        int prompt[PROMPT] = {1, 3 + s % 40, 7, 11};
        stream[s] = s;
        id[s] = likeliest(decoder_feed(c->decoder, s, prompt, PROMPT), c->vocab);
    }
    for (int t = 1; t < TOKENS; t++) {
        const real *logits = decoder_step(c->decoder, stream, id, c->streams);
        for (int s = 0; s < c->streams; s++, logits += c->vocab) {
            id[s] = likeliest(logits, c->vocab);
            sum += id[s];
        }
    }
    return sum;
}

static double measure(Case *c, double seconds) {
    long texts = 0;
    double begin = clock_now(), now = begin;
    for (; now - begin < seconds; now = clock_now()) {
        if (generate(c) < 0) return 0;
        texts += c->streams;
    }
    return (double)(texts * TOKENS) / (now - begin);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(Case *c) {
    qsort(c->rate, ROUNDS, sizeof c->rate[0], compare);
    printf("{\"figure\": \"decode\", \"model\": \"%s\", \"threads\": 1, \"streams\": %d, \"unit\": \"tokens/s\", "
           "\"median\": %.0f, \"best\": %.0f, \"worst\": %.0f}\n",
           c->preset, c->streams, c->rate[ROUNDS / 2], c->rate[ROUNDS - 1], c->rate[0]);
}

int main(int argc, char **argv) {
    const char *presets[] = {"gpt", "modern"};
    const int streams[] = {1, STREAMS_MOST};
    double seconds = argc > 3 ? atof(argv[3]) : .5;
    Case cases[CASES_MOST];
    int n = 0;
    for (int p = 0; p < 2; p++)
        for (int s = 0; s < 2; s++) {
            if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], presets[p]) != 0) continue;
            if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) != streams[s]) continue;
            open_case(&cases[n++], presets[p], streams[s]);
        }
    for (int r = -1; r < ROUNDS; r++)
        for (int i = 0; i < n; i++) {
            double rate = measure(&cases[i], seconds);
            if (r >= 0) cases[i].rate[r] = rate;
        }
    for (int i = 0; i < n; i++) report(&cases[i]);
    for (int i = 0; i < n; i++) close_case(&cases[i]);
    return 0;
}
