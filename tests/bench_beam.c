/* bench_beam: sentences per second of processor time that a beam search with the cache finds, one JSON line per figure:
 * after "<s> the X" for the 16 nouns of the farm, until it stops by itself, one thread. The model is a checkpoint of
 * lm.train, for an untrained one never comes to an end. The median of rounds that take turns, after one that is not
 * counted. Not a test: it asserts no time. bench_beam CHECKPOINT [seconds per round] */
#include "decode/beam_model.h"
#include "io/checkpoint.h"
#include "mem.h"
#include "text/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTHS = 3, NOUNS = 16, ROUNDS = 7, TOKENS = 40 };

typedef struct {
    int width;
    BeamModel *model;
    long sentences, tokens; /* of the last round */
    double rate[ROUNDS];
} Case;

static int prompts[NOUNS][3];

static double processor_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void make_prompts(const Vocab *v) {
    static const char *const animals[] = {"dog", "cat", "cow", "fox", "hen", "bat", "owl", "horse"};
    for (int i = 0; i < NOUNS; i++) {
        char word[20];
        bool fox = i / 2 == 3;
        (void)snprintf(word, sizeof word, "%s%s", animals[i / 2], i % 2 == 0 ? "" : fox ? "es" : "s");
        int id = vocab_find(v, word, strlen(word)), the = vocab_find(v, "the", 3);
        if (id < 0 || the < 0) exit(2);
        memcpy(prompts[i], (int[]){VOCAB_BOS, the, id}, sizeof prompts[i]);
    }
}

static void search(Case *c, const int *prompt) {
    BeamConfig config = {.width = c->width, .tokens = TOKENS - 3, .end = VOCAB_EOS};
    BeamSource source = beam_model_source(c->model, prompt, 3);
    Beam *b = beam_new(&config, &source);
    Status s = beam_run(b);
    int *best;
    if (!status_is_ok(&s) || beam_best(b, &best) == 0) exit(1);
    c->tokens += beam_node(b, best[0])->depth;
    c->sentences++;
    mem_free(best);
    beam_free(b);
}

static double measure(Case *c, double seconds) {
    c->sentences = c->tokens = 0;
    double begin = processor_seconds(), now = begin;
    for (; now - begin < seconds; now = processor_seconds())
        for (int i = 0; i < NOUNS; i++) search(c, prompts[i]);
    return (double)c->sentences / (now - begin);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(Case *c) {
    qsort(c->rate, ROUNDS, sizeof c->rate[0], compare);
    printf(
        "{\"figure\": \"beam\", \"width\": %d, \"threads\": 1, \"tokens\": %.1f, \"unit\": \"sentences/s of processor "
        "time\", \"median\": %.0f, \"best\": %.0f, \"worst\": %.0f}\n",
        c->width, (double)c->tokens / (double)c->sentences, c->rate[ROUNDS / 2], c->rate[ROUNDS - 1], c->rate[0]);
}

int main(int argc, char **argv) {
    static const int widths[WIDTHS] = {1, 4, 16};
    double seconds = argc > 2 ? atof(argv[2]) : .3;
    Checkpoint checkpoint;
    if (argc < 2) return 2;
    Status s = checkpoint_read(argv[1], &checkpoint);
    if (!status_is_ok(&s)) return puts(s.text), 2;
    make_prompts(checkpoint.vocab);
    Case cases[WIDTHS];
    for (int i = 0; i < WIDTHS; i++)
        cases[i] = (Case){.width = widths[i], .model = beam_model_new(checkpoint.model, NULL, widths[i], TOKENS)};
    for (int r = -1; r < ROUNDS; r++)
        for (int i = 0; i < WIDTHS; i++) {
            double rate = measure(&cases[i], seconds);
            if (r >= 0) cases[i].rate[r] = rate;
        }
    for (int i = 0; i < WIDTHS; i++) {
        report(&cases[i]);
        beam_model_free(cases[i].model);
    }
    checkpoint_done(&checkpoint);
    return 0;
}
