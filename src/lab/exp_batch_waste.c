/* batch.waste: how much of a batch is padding when sentences are batched as they come, by length, in buckets, or packed
 * into blocks (lecture 3, 3.5). */
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

static const Option waste_options[] = {
    {"batch", OPTION_INT, "64", 1, 1e6, NULL, "sentences", N_("rows of a batch")},
    {"block", OPTION_INT, "128", 1, 1e6, NULL, "tokens", N_("length of the blocks that the packed text is cut into")},
    {"bucket", OPTION_INT, "2", 1, 1e6, NULL, "tokens", N_("how many neighbouring lengths share a bucket")},
    {0},
};

static const Column waste_columns[] = {{"method", COLUMN_TEXT, ""},
                                       {"batches", COLUMN_INT, ""},
                                       {"positions", COLUMN_INT, "tokens"},
                                       {"real", COLUMN_INT, "tokens"},
                                       {"waste_share", COLUMN_DOUBLE, ""},
                                       {"blocks_with_boundary_share", COLUMN_DOUBLE, ""},
                                       {0}};

static Status check(const Options *o) {
    return corpora_check(options_text(o, "corpus"));
}

typedef struct {
    int *length; /* [n] positions of a sentence: <s> and its words go in, words and </s> come out */
    int n, capacity;
    long long tokens; /* their sum */
} Lengths;

static Status take(void *user, const CorporaWord *word, int words) {
    Lengths *l = user;
    (void)word;
    MEM_GROW(l->length, l->n, l->capacity);
    l->length[l->n++] = words + 1;
    l->tokens += words + 1;
    return status_ok();
}

static void add_row(Table *t, const char *method, long long batches, long long positions, long long tokens,
                    double boundary) {
    table_add_text(t, method);
    table_add_int(t, batches);
    table_add_int(t, positions);
    table_add_int(t, tokens);
    table_add_real(t, (double)(positions - tokens) / (double)positions);
    table_add_real(t, boundary);
}

/* Rows FROM .. N-1 of LENGTH as batches, each filled up to its longest sentence. */
static void fill(const int *length, int from, int n, int batch, long long *batches, long long *positions) {
    for (int rows; from < n; from += rows) {
        int longest = 0;
        rows = n - from < batch ? n - from : batch;
        for (int i = 0; i < rows; i++)
            if (length[from + i] > longest) longest = length[from + i];
        *positions += (long long)rows * longest;
        ++*batches;
    }
}

/* In the order of a shuffle: sentences of all lengths side by side. */
static void add_random(Study *s, const Lengths *l, int batch) {
    long long batches = 0, positions = 0;
    fill(l->length, 0, l->n, batch, &batches, &positions);
    add_row(study_table(s, "waste"), "random", batches, positions, l->tokens, 0);
}

/* The lengths bucket by bucket, in ROOM [n]: k b + 1 to k b + b share bucket k and keep their order; *END [buckets], to
 * be freed, is where each ends. Returns how many buckets there are. */
static int sort_into_buckets(const Lengths *l, int bucket, int *room, int **end) {
    int longest = 0;
    for (int i = 0; i < l->n; i++)
        if (l->length[i] > longest) longest = l->length[i];
    int buckets = (longest - 1) / bucket + 1;
    int *at = MEM_ARRAY(int, (size_t)buckets + 1);
    for (int i = 0; i < l->n; i++) at[(l->length[i] - 1) / bucket + 1]++;
    for (int k = 1; k <= buckets; k++) at[k] += at[k - 1];
    for (int i = 0; i < l->n; i++) room[at[(l->length[i] - 1) / bucket]++] = l->length[i];
    *end = at;
    return buckets;
}

static void add_sorted(Study *s, const Lengths *l, int *room, int batch) {
    long long batches = 0, positions = 0;
    int *end;
    (void)sort_into_buckets(l, 1, room, &end);
    mem_free(end);
    fill(room, 0, l->n, batch, &batches, &positions);
    add_row(study_table(s, "waste"), "sorted", batches, positions, l->tokens, 0);
}

static void add_bucketed(Study *s, const Lengths *l, int *room, int batch, int bucket) {
    long long batches = 0, positions = 0;
    int *end, buckets = sort_into_buckets(l, bucket, room, &end);
    for (int k = 0; k < buckets; k++) fill(room, k > 0 ? end[k - 1] : 0, end[k], batch, &batches, &positions);
    mem_free(end);
    add_row(study_table(s, "waste"), "bucketed", batches, positions, l->tokens, 0);
}

/* How many blocks of the sentences, one after the other in the order of L, have one that begins inside. */
static long long count_boundaries(const Lengths *l, int block) {
    long long with_boundary = 0, last = -1, at = 0;
    for (int i = 0; i + 1 < l->n; i++) {
        at += l->length[i]; /* where sentence i + 1 begins */
        if (at % block == 0 || at / block == last) continue;
        last = at / block;
        with_boundary++;
    }
    return with_boundary;
}

/* All sentences one after the other, </s> between them, cut every BLOCK tokens; only the last block is filled up. */
static void add_packed(Study *s, const Lengths *l, int batch, int block, long long with_boundary) {
    long long blocks = (l->tokens + block - 1) / block;
    add_row(study_table(s, "waste"), "packed", (blocks + batch - 1) / batch, blocks * block, l->tokens,
            (double)with_boundary / (double)blocks);
}

static void compare(Study *s, Lengths *l) {
    const Options *o = study_options(s);
    int batch = (int)options_int(o, "batch"), block = (int)options_int(o, "block");
    long long with_boundary = count_boundaries(l, block); /* in the order of the corpus */
    Rng r = rng_at(study_seed(s), "batch.waste", 0);
    rng_shuffle(&r, l->length, l->n);
    int *room = MEM_ARRAY(int, (size_t)l->n);
    add_random(s, l, batch);
    add_sorted(s, l, room, batch);
    add_bucketed(s, l, room, batch, (int)options_int(o, "bucket"));
    add_packed(s, l, batch, block, with_boundary);
    mem_free(room);
}

static Status run(Study *s) {
    Lengths l = {0};
    Status status = corpora_each(s, CORPORA_TRAIN, 0.9, take, &l);
    if (status_is_ok(&status)) compare(s, &l);
    study_about(s, "sentence_count", "%d", l.n);
    study_about(s, "real_rule", "predictions: every word and </s>");
    study_about(s, "waste_share_rule", "(positions - real) / positions");
    study_about(s, "random", "batches in a random order of the sentences, each filled up to its longest");
    study_about(s, "sorted", "the same in the order of their lengths");
    study_about(s, "bucketed",
                "random batches of one bucket each; lengths k b + 1 to k b + b share a bucket, b = bucket");
    study_about(
        s, "packed",
        "sentences one after the other as in the corpus, </s> between them, cut into blocks; the last is filled up");
    study_about(s, "blocks_with_boundary_share_rule",
                "blocks in which another sentence begins after the first position; "
                "a padded row holds one sentence");
    mem_free(l.length);
    return status;
}

const Experiment experiment_batch_waste = {
    .entry = {.id = "batch.waste",
              .section = "L3 3.5",
              .title = N_("how much of a batch is padding: random, sorted, bucketed, packed"),
              .see = N_("Buckets take almost all the waste away, packing takes it all; but then blocks hold sentences "
                        "that have nothing to do with each other."),
              .options = (const Option *const[]){corpora_option_rows, corpora_sentences_rows, waste_options,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"waste", waste_columns}, {0}},
              .figure = {FIGURE_BARS, "waste", "method", "waste_share", NULL}},
    .check = check,
    .run = run,
};
