/* pos.permute: attention without positions is blind to order: shuffle what goes in, and what comes out is shuffled
 * alike (seminar 3, 5.1). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "plain_attention.h"
#include "rng.h"
#include "rotary.h"
#include "sinusoid.h"

#include <math.h>
#include <string.h>

static const Option permute_options[] = {
    {"T", OPTION_INT, "12", 2, 256, NULL, "tokens", N_("how many vectors are shuffled")},
    {"d", OPTION_INT, "16", 2, 256, NULL, "", N_("numbers of each, even")},
    {0},
};

static const Column diff_columns[] = {{"encoding", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, ""}, {0}};

enum { NONE, LEARNED, SINUSOID, ROPE, ENCODINGS };
static const char *const encodings[ENCODINGS] = {"none", "learned", "sinusoid", "rope"};

#define BASE 10000.0

static Status check(const Options *o) {
    long long d = options_int(o, "d");
    if (d % 2) return status_usage(_("d (%lld) must be even: sinusoids and RoPE work on pairs of numbers"), d);
    return status_ok();
}

/* One head with weights of its own, and what it reads. */
typedef struct {
    int T, d;
    double *x;         /* [T x d] the tokens */
    double *position;  /* [T x d] learned positions */
    double *weight[3]; /* [d x d] of q, k, v */
    double *q, *k, *v; /* [T x d] room */
    int *order;        /* [T] row i of the shuffled input is row order[i] of x */
    double *numbers;   /* where all of them lie */
} Layer;

static void layer_init(Layer *l, int T, int d, uint64_t seed) {
    size_t rows = (size_t)T * (size_t)d, square = (size_t)d * (size_t)d;
    *l = (Layer){
        .T = T, .d = d, .numbers = MEM_ARRAY(double, 5 * rows + 3 * square), .order = MEM_ARRAY(int, (size_t)T)};
    double *at = l->numbers;
    double **const part[] = {&l->x, &l->position, &l->q, &l->k, &l->v};
    for (int i = 0; i < 5; i++, at += rows) *part[i] = at;
    for (int i = 0; i < 3; i++, at += square) l->weight[i] = at;
    Rng rng = rng_at(seed, "pos.permute", 0);
    for (size_t i = 0; i < 2 * rows; i++) l->x[i] = rng_normal(&rng);
    for (size_t i = 0; i < 3 * square; i++) l->weight[0][i] = rng_normal(&rng) / sqrt(d);
    for (int i = 0; i < T; i++) l->order[i] = i;
    while (l->order[0] == 0) rng_shuffle(&rng, l->order, T); /* at least one moves */
}

static void layer_done(Layer *l) {
    mem_free(l->numbers);
    mem_free(l->order);
}

/* x [d]: token TOKEN at position ROW. */
static void read_input(const Layer *l, int encoding, int token, int row, double *x) {
    size_t d = (size_t)l->d;
    memset(x, 0, d * sizeof *x);
    if (encoding == LEARNED) memcpy(x, l->position + (size_t)row * d, d * sizeof *x);
    if (encoding == SINUSOID) sinusoid(l->d, BASE, row, x);
    for (size_t i = 0; i < d; i++) x[i] += l->x[(size_t)token * d + i];
}

static void multiply(const double *weight, const double *x, int d, double *y) {
    for (int i = 0; i < d; i++, weight += d) {
        y[i] = 0;
        for (int j = 0; j < d; j++) y[i] += weight[j] * x[j];
    }
}

/* y [T x d]: the layer over the tokens in this order. */
static void attend(const Layer *l, int encoding, bool shuffled, bool causal, double *y) {
    Rotary r;
    rotary_init(&r, l->d, BASE, PAIRING_ADJACENT);
    double *x = MEM_ARRAY(double, (size_t)l->d);
    for (int row = 0; row < l->T; row++) {
        size_t at = (size_t)row * (size_t)l->d;
        double *const out[3] = {l->q + at, l->k + at, l->v + at};
        read_input(l, encoding, shuffled ? l->order[row] : row, row, x);
        for (int i = 0; i < 3; i++) multiply(l->weight[i], x, l->d, out[i]);
        for (int i = 0; i < 2 && encoding == ROPE; i++) rotary_turn(&r, row, out[i], out[i]);
    }
    MaskRule mask = {.causal = causal};
    plain_attention(l->T, l->d, l->d, &mask, l->q, l->k, l->v, y);
    mem_free(x);
    rotary_done(&r);
}

/* How far what came out for the shuffled tokens is from what came out for them before. */
static double shuffle_differs(const Layer *l, int encoding, bool causal) {
    size_t d = (size_t)l->d, rows = (size_t)l->T * d;
    double *y = MEM_ARRAY(double, 2 * rows), *shuffled = y + rows, most = 0;
    attend(l, encoding, false, causal, y);
    attend(l, encoding, true, causal, shuffled);
    for (int row = 0; row < l->T; row++)
        for (size_t i = 0; i < d; i++)
            most = fmax(most, fabs(shuffled[(size_t)row * d + i] - y[(size_t)l->order[row] * d + i]));
    mem_free(y);
    return most;
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    Layer l;
    layer_init(&l, (int)options_int(o, "T"), (int)options_int(o, "d"), study_seed(s));
    bool go_on = true;
    for (int i = 0; i < ENCODINGS && go_on; i++) {
        table_add_text(study_table(s, "diff"), encodings[i]);
        table_add_real(study_table(s, "diff"), shuffle_differs(&l, i, false));
        go_on = study_progress(s, (i + 1.0) / ENCODINGS, "%s", encodings[i]);
    }
    study_about(s, "difference_rule", "of the output for a token, between the two orders; no mask");
    study_about(s, "layer", "one head with random weights, in double; learned positions are drawn like the tokens");
    study_about(s, "with_a_causal_mask", "even without positions it is %.3g: the mask alone tells some of the order",
                shuffle_differs(&l, NONE, true));
    layer_done(&l);
    return go_on ? status_ok() : status_cancelled();
}

const Experiment experiment_pos_permute = {
    .entry = {.id = "pos.permute",
              .section = "S3 5.1",
              .title = N_("without positions, attention only follows a shuffle"),
              .see = N_(
                  "none is 0 up to rounding: dog bites man and man bites dog are the same bag of words. Any encoding "
                  "of positions tells them apart."),
              .options = (const Option *const[]){permute_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}},
              .figure = {FIGURE_BARS, "diff", "encoding", "max_difference", NULL}},
    .check = check,
    .run = run,
};
