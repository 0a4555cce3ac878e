/* bench_formats: PATH [TOKENS [THREADS]]: opens a model of others and decodes greedily: seconds to open, tokens a
 * second, the most memory that was resident. One JSON line. */
#include "decode/decoder.h"
#include "decode/greedy.h"
#include "io/hf_model.h"
#include "io/llama2c.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Status open_model(const char *path, Model **m) {
    HfConfig c;
    if (str_ends_in(path, ".bin")) return llama2c_read(path, TENSORS_BY_SIZE, m);
    return hf_model_read(path, TENSORS_BY_SIZE, &c, m);
}

int main(int argc, char **argv) {
    Model *m;
    if (argc < 2) return 2;
    long tokens = argc > 2 ? atol(argv[2]) : 1000;
    double start = now();
    Status s = open_model(argv[1], &m);
    if (!status_is_ok(&s)) {
        fprintf(stderr, "%s\n", s.text);
        return 1;
    }
    double opened = now() - start;
    int vocab = model_config(m)->vocab, context = model_config(m)->context, id = 1;
    Decoder *d = decoder_new(m, 1, context);
    if (argc > 3) decoder_set_threads(d, atoi(argv[3]));
    double ready = now() - start;
    for (long i = 0; i < tokens; i++) { /* a story as long as the context, then the next */
        if (decoder_room(d, 0) == 0) {
            decoder_reset(d);
            id = 1;
        }
        id = greedy_best(decoder_feed(d, 0, &id, 1), vocab);
    }
    double seconds = now() - start - ready;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("{\"opened\":%.4f,\"ready\":%.4f,\"tokens_per_s\":%.1f,\"resident_mb\":%ld}\n", opened, ready,
           (double)tokens / seconds, use.ru_maxrss / 1024);
    decoder_free(d);
    model_free(m);
    return 0;
}
