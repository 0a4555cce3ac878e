/* bench_formats: opens a model of others and decodes greedily: milliseconds to open it and until it is ready, tokens a
 * second, the most memory that was resident. Run by hand.
 *   bench_formats PATH [tokens [threads]] */
#include "bench.h"
#include "clock.h"
#include "decode/decoder.h"
#include "decode/greedy.h"
#include "io/hf_model.h"
#include "io/llama2c.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static Status open_model(const char *path, Model **m) {
    HfConfig c;
    if (str_ends_in(path, ".bin")) return llama2c_read(path, TENSORS_BY_SIZE, m);
    return hf_model_read(path, TENSORS_BY_SIZE, &c, m);
}

static void print(const char *name, const char *unit, int threads, double value) {
    BenchFigure f = {.unit = unit, .threads = threads};
    (void)snprintf(f.name, sizeof f.name, "formats.%s", name);
    bench_add(&f, value);
    bench_print(&f);
}

/* A text as long as the context, then the next. */
static void write_on(Decoder *d, int vocab, long tokens) {
    for (int id = 1; tokens > 0; tokens--) {
        if (decoder_room(d, 0) == 0) {
            decoder_reset(d);
            id = 1;
        }
        id = greedy_best(decoder_feed(d, 0, &id, 1), vocab);
    }
}

int main(int argc, char **argv) {
    Model *m;
    if (argc < 2) return 2;
    long tokens = argc > 2 ? atol(argv[2]) : 1000;
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    double start = clock_now();
    Status s = open_model(argv[1], &m);
    if (!status_is_ok(&s)) {
        fprintf(stderr, "%s\n", s.text);
        return 1;
    }
    print("open", "ms", 1, 1000 * (clock_now() - start));
    Decoder *d = decoder_new(m, 1, model_config(m)->context);
    decoder_set_threads(d, threads);
    print("ready", "ms", threads, 1000 * (clock_now() - start));
    start = clock_now();
    write_on(d, model_config(m)->vocab, tokens);
    print("decode", "tokens/s", threads, (double)tokens / (clock_now() - start));
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    print("memory", "MB", threads, (double)use.ru_maxrss * 1024 / 1e6);
    decoder_free(d);
    model_free(m);
    return 0;
}
