/* bench_text: seconds to learn 2,000 merges from a text, and to encode it with the vocabulary of GPT-2 where a folder
 * with that is given; one thread. What is read is in memory before the clock starts. Without a text: words made up
 * here. bench_text [TEXT [VOCABULARY]] */
#include "bench.h"

#include "file.h"
#include "io/tokenizer_file.h"
#include "mem.h"
#include "rng.h"
#include "text/bpe_train.h"

#include <stdio.h>
#include <stdlib.h>

enum { MERGES = 2000, MADE_UP = 1 << 22 };

typedef struct {
    Str text;
    Tokenizer *tokenizer;
    long merges, tokens;
} Work;

/* Words of 1 to 9 letters; short ones and early letters are frequent. */
static void make_up(Str *out, size_t bytes) {
    Rng rng = rng_at(1, "bench", 0);
    while (out->len < bytes) {
        for (uint64_t n = 1 + rng_below(&rng, 1 + rng_below(&rng, 9)); n > 0; n--)
            str_add_char(out, (char)('a' + rng_below(&rng, 1 + rng_below(&rng, 26))));
        str_add_char(out, ' ');
    }
}

static void learn(void *data) {
    Work *w = data;
    BpeWords words;
    bpe_words_init(&words, BPE_CHAR, false);
    bpe_words_add(&words, w->text.s, w->text.len);
    BpeTrainer *t = bpe_trainer_new(&words);
    for (w->merges = 0; w->merges < MERGES && bpe_trainer_step(t);) w->merges++;
    bpe_trainer_free(t);
    bpe_words_done(&words);
}

static void encode(void *data) {
    Work *w = data;
    Pieces pieces = {0};
    tokenizer_encode(w->tokenizer, w->text.s, w->text.len, &pieces);
    w->tokens = pieces.count;
    pieces_done(&pieces);
}

static void measure(const char *name, void (*function)(void *data), Work *w, const char *what, const long *count) {
    BenchFigure f = {.unit = "s", .threads = 1};
    (void)snprintf(f.name, sizeof f.name, "%s", name);
    function(w);
    for (int r = 0; r < bench_runs(); r++) bench_add(&f, bench_time(function, w, 0));
    (void)snprintf(f.more, sizeof f.more, ", \"bytes\": %zu, \"%s\": %ld", w->text.len, what, *count);
    bench_print(&f);
}

int main(int argc, char **argv) {
    Work w = {0};
    str_init(&w.text);
    Status s = status_ok();
    if (argc > 1)
        s = file_read(argv[1], 0, &w.text);
    else
        make_up(&w.text, (size_t)bench_size(MADE_UP, 2000));
    if (status_is_ok(&s) && argc > 2) s = tokenizer_file_read(argv[2], &w.tokenizer);
    if (!status_is_ok(&s)) return puts(s.text), 2;
    measure("bpe.train", learn, &w, "merges", &w.merges);
    if (w.tokenizer) measure("gpt2.encode", encode, &w, "tokens", &w.tokens);
    tokenizer_free(w.tokenizer);
    str_done(&w.text);
    return 0;
}
