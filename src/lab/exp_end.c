/* lm.end: why END makes the probabilities of all sentences add up to one, by writing every sentence of two words out
 * (lecture 3, 2.4, exercise 9). */
#include "decode/decoder.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"

#include <math.h>

enum { END_LONGEST = 20, WORDS = 2, END = 2, START = 3, VOCABULARY = 4 };

static const Option end_options[] = {
    {"longest", OPTION_INT, "8", 0, END_LONGEST, NULL, N_("words"), N_("all sentences of at most so many words")},
    {0},
};

static const Column sums_columns[] = {{"length", COLUMN_INT, "words"},
                                      {"with_end", COLUMN_DOUBLE, ""},
                                      {"with_end_so_far", COLUMN_DOUBLE, ""},
                                      {"without_end", COLUMN_DOUBLE, ""},
                                      {0}};

typedef struct {
    Study *study;
    Decoder *decoder;
    int longest;
    double with_end[END_LONGEST + 1], without_end[END_LONGEST + 1]; /* sums over the sentences of each length */
    long nodes;                                                     /* prefixes seen */
} Sums;

/* The first N of LOGITS as probabilities. */
static void soft(const real *logits, int n, double *p) {
    double most = (double)-INFINITY, sum = 0;
    for (int i = 0; i < n; i++) most = fmax(most, (double)logits[i]);
    for (int i = 0; i < n; i++) sum += p[i] = exp((double)logits[i] - most);
    for (int i = 0; i < n; i++) p[i] /= sum;
}

/* All sentences that begin with what the decoder has seen, ending in TOKEN: LENGTH words, of probability WITH and
 * WITHOUT so far. */
static Status walk(Sums *s, int token, int length, double with, double without) {
    double p[WORDS + 1], q[WORDS];
    const real *logits = decoder_feed(s->decoder, 0, &token, 1);
    soft(logits, WORDS + 1, p); /* a, b, END */
    soft(logits, WORDS, q);     /* a, b */
    s->with_end[length] += with * p[END];
    s->without_end[length] += without;
    s->nodes++;
    if (!study_progress(s->study, (double)s->nodes / (double)((2L << s->longest) - 1), _("sentence %ld"), s->nodes))
        return status_cancelled();
    for (int word = 0; word < WORDS && length < s->longest; word++) {
        STATUS_TRY(walk(s, word, length + 1, with * p[word], without * q[word]));
        decoder_truncate(s->decoder, 0, length + 1);
    }
    return status_ok();
}

static Model *small_model(uint64_t seed, int longest) {
    ModelConfig c = config_gpt();
    c.vocab = VOCABULARY;
    c.context = longest + 1;
    c.d = 16;
    c.heads = c.kv_heads = 2;
    c.head_dim = 8;
    c.d_ff = 64;
    return model_new(&c, seed);
}

static void add_sums(Table *t, const Sums *s) {
    double so_far = 0;
    for (int n = 0; n <= s->longest; n++) {
        so_far += s->with_end[n];
        table_add_int(t, n);
        table_add_real(t, s->with_end[n]);
        table_add_real(t, so_far);
        table_add_real(t, s->without_end[n]);
    }
}

static Status run(Study *s) {
    Sums sums = {.study = s, .longest = (int)options_int(study_options(s), "longest")};
    Model *m = small_model(study_seed(s), sums.longest);
    sums.decoder = decoder_new(m, 1, sums.longest + 1);
    Status status = walk(&sums, START, 0, 1, 1);
    if (status_is_ok(&status)) add_sums(study_table(s, "sums"), &sums);
    decoder_free(sums.decoder);
    model_free(m);
    study_about(s, "model_from", "an untrained GPT of 2 layers, d 16, over the words a and b; the seed fills it");
    study_about(s, "with_end_rule",
                "sum over all sentences of so many words of p(words) p(END): each step chooses among "
                "a, b and END");
    study_about(s, "with_end_so_far_rule", "of all sentences of at most so many words");
    study_about(s, "without_end_rule", "the same when each step chooses between a and b alone");
    study_about(s, "prefixes", "%ld", sums.nodes);
    return status;
}

const Experiment experiment_lm_end = {
    .entry = {.id = "lm.end",
              .section = "L3 2.4",
              .title = N_("with END all sentences add up to one, without it every length does"),
              .see =
                  N_("With END the sums come ever nearer to 1: one distribution over sentences of any length. Without "
                     "it each length adds another 1."),
              .options = (const Option *const[]){end_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"sums", sums_columns}, {0}},
              .figure = {FIGURE_LINE, "sums", "length", "with_end_so_far", NULL}},
    .run = run,
};
