/* bench_decode: generated tokens per second of greedy decoding with the cache, both presets, 1 and 32 streams, one
 * thread; rounds that take turns. Each text is 4 tokens of prompt and 56 generated; the time covers the prompt and the
 * choice of each token, the count only what is generated.
 *   bench_decode [preset|all [streams [seconds per round]]] */
#include "bench.h"

#include "clock.h"
#include "decode/decoder.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 56, STREAMS_MOST = 32, CASES_MOST = 4 };

typedef struct {
    BenchFigure figure;
    int streams, vocab;
    Model *model;
    Decoder *decoder;
    long sum; /* of ids, so that nothing can be left out */
} Case;

static void open_case(Case *c, const char *preset, int streams) {
    ModelConfig config;
    if (!config_preset(preset, &config)) exit(2);
    *c = (Case){.figure = {.unit = "tokens/s", .threads = 1},
                .streams = streams,
                .vocab = config.vocab,
                .model = model_new(&config, 1)};
    (void)snprintf(c->figure.name, sizeof c->figure.name, "decode.%s.batch%d", preset, streams);
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

/* One text in each stream. */
static void generate(void *data) {
    Case *c = data;
    int stream[STREAMS_MOST], id[STREAMS_MOST];
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
            c->sum += id[s];
        }
    }
}

static double measure(Case *c, double seconds) {
    return c->streams * TOKENS / bench_time(generate, c, seconds);
}

int main(int argc, char **argv) {
    const char *presets[] = {"gpt", "modern"};
    const int streams[] = {1, STREAMS_MOST};
    double seconds = argc > 3 ? atof(argv[3]) : bench_size(.4, .001);
    Case cases[CASES_MOST];
    int n = 0;
    for (int p = 0; p < 2; p++)
        for (int s = 0; s < 2; s++) {
            if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], presets[p]) != 0) continue;
            if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) != streams[s]) continue;
            open_case(&cases[n++], presets[p], streams[s]);
        }
    for (int i = 0; i < n; i++) (void)measure(&cases[i], seconds);
    for (int r = 0; r < bench_runs(); r++)
        for (int i = 0; i < n; i++) bench_add(&cases[i].figure, measure(&cases[i], seconds));
    for (int i = 0; i < n; i++) bench_print(&cases[i].figure);
    for (int i = 0; i < n; i++) close_case(&cases[i]);
    return 0;
}
