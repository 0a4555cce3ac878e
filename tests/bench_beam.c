/* bench_beam: sentences per second that a beam search with the cache finds after "<s> the X" for the nouns of the farm,
 * until it stops by itself, one thread; rounds that take turns. "tokens" is how many it generates for one on average.
 * The model is a checkpoint of lm.train; without one it is untrained and every search goes on to its limit.
 *   bench_beam [CHECKPOINT|- [seconds per round [width]]] */
#include "bench.h"

#include "decode/beam_model.h"
#include "io/checkpoint.h"
#include "mem.h"
#include "text/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 3, NOUNS = 16, PROMPT = 3, TOKENS = 40 };

typedef struct {
    BenchFigure figure;
    int width;
    BeamModel *model;
    long sentences, tokens;
} Case;

static int prompts[NOUNS][PROMPT];

static int word(const Vocab *v, const char *s) {
    int id = vocab_find(v, s, strlen(s));
    if (id < 0) exit(2);
    return id;
}

static void make_prompts(const Vocab *v) {
    static const char *const animals[] = {"dog", "cat", "cow", "fox", "hen", "bat", "owl", "horse"};
    for (int i = 0; i < NOUNS; i++) {
        char noun[20];
        bool fox = i / 2 == 3;
        (void)snprintf(noun, sizeof noun, "%s%s", animals[i / 2], i % 2 == 0 ? "" : fox ? "es" : "s");
        int ids[PROMPT] = {VOCAB_BOS, v ? word(v, "the") : 3, v ? word(v, noun) : 4 + i};
        memcpy(prompts[i], ids, sizeof ids);
    }
}

static void search(Case *c, const int *prompt) {
    BeamConfig config = {.width = c->width, .tokens = TOKENS - PROMPT, .end = VOCAB_EOS};
    BeamSource source = beam_model_source(c->model, prompt, PROMPT);
    Beam *b = beam_new(&config, &source);
    Status s = beam_run(b);
    int *best;
    if (!status_is_ok(&s) || beam_best(b, &best) == 0) exit(1);
    c->tokens += beam_node(b, best[0])->depth;
    c->sentences++;
    mem_free(best);
    beam_free(b);
}

static void search_all(void *data) {
    for (int i = 0; i < NOUNS; i++) search(data, prompts[i]);
}

int main(int argc, char **argv) {
    static const int widths[WIDTHS] = {1, 4, 16};
    int only = argc > 3 ? atoi(argv[3]) : 0; /* width; 0: all */
    double seconds = argc > 2 ? atof(argv[2]) : bench_size(.3, .001);
    Checkpoint checkpoint = {0};
    ModelConfig config = config_modern();
    Status s = argc > 1 && strcmp(argv[1], "-") != 0 ? checkpoint_read(argv[1], &checkpoint) : status_ok();
    if (!status_is_ok(&s)) return puts(s.text), 2;
    Model *model = checkpoint.model ? checkpoint.model : model_new(&config, 1);
    make_prompts(checkpoint.vocab);
    Case cases[WIDTHS];
    for (int i = 0; i < WIDTHS; i++) {
        cases[i] = (Case){.figure = {.unit = "sentences/s", .threads = 1},
                          .width = widths[i],
                          .model = beam_model_new(model, NULL, widths[i], TOKENS)};
        (void)snprintf(cases[i].figure.name, sizeof cases[i].figure.name, "beam.width%d", widths[i]);
        search_all(&cases[i]);
    }
    for (int r = 0; r < bench_runs(); r++)
        for (int i = 0; i < WIDTHS; i++)
            if (!only || widths[i] == only)
                bench_add(&cases[i].figure, NOUNS / bench_time(search_all, &cases[i], seconds));
    for (int i = 0; i < WIDTHS; i++) {
        Case *c = &cases[i];
        (void)snprintf(c->figure.more, sizeof c->figure.more, ", \"tokens\": %.1f",
                       (double)c->tokens / (double)c->sentences);
        if (c->figure.runs) bench_print(&c->figure);
        beam_model_free(c->model);
    }
    if (checkpoint.model)
        checkpoint_done(&checkpoint);
    else
        model_free(model);
    return 0;
}
