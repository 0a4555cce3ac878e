/* attn.scale: why scores are divided by the root of the head's width (seminar 3, 6.2, exercise 4). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include <math.h>

static const Option scale_options[] = {
    {"keys", OPTION_INT, "32", 1, 100000, NULL, "keys", N_("how many a query meets")},
    {"dims", OPTION_INTS, "4,16,64,256,1024", 1, 1000000, NULL, "", N_("widths of a head, d_k")},
    {"draws", OPTION_INT, "256", 1, 1000000, NULL, "queries", N_("the mean is over so many")},
    {0},
};

static const Column weight_columns[] = {
    {"d_k", COLUMN_INT, ""}, {"max_weight_scaled", COLUMN_DOUBLE, ""}, {"max_weight_unscaled", COLUMN_DOUBLE, ""}, {0}};

/* Scores of one query with every key, [keys]: products of vectors of dim independent numbers, mean 0, deviation 1. */
static bool draw_scores(Study *s, Rng *rng, double *query, int dim, double *score, int keys, double done) {
    for (int i = 0; i < dim; i++) query[i] = rng_normal(rng);
    for (int k = 0; k < keys; k++) {
        score[k] = 0;
        for (int i = 0; i < dim; i++) score[k] += query[i] * rng_normal(rng);
        if (!study_progress(s, done, _("d_k %d"), dim)) return false;
    }
    return true;
}

/* The largest weight of softmax(factor score). */
static double largest_weight(const double *score, int keys, double factor) {
    double largest = score[0], sum = 0;
    for (int k = 1; k < keys; k++) largest = fmax(largest, score[k]);
    for (int k = 0; k < keys; k++) sum += exp(factor * (score[k] - largest));
    return 1 / sum;
}

typedef struct {
    double scaled, unscaled; /* sums of largest weights */
} Sums;

/* A width's numbers do not depend on which others were asked for. */
static Status average(Study *s, int dim, int keys, int draws, double done, double part, Sums *sums) {
    double *score = MEM_ARRAY(double, (size_t)keys + (size_t)dim), *query = score + keys;
    bool go_on = true;
    *sums = (Sums){0};
    for (int i = 0; i < draws && go_on; i++) {
        Rng rng = rng_at(study_seed(s), "attn.scale", (uint64_t)dim << 32 | (uint64_t)i);
        go_on = draw_scores(s, &rng, query, dim, score, keys, done + part * i / draws);
        sums->scaled += largest_weight(score, keys, 1 / sqrt(dim));
        sums->unscaled += largest_weight(score, keys, 1);
    }
    mem_free(score);
    return go_on ? status_ok() : status_cancelled();
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    const long long *dims;
    int n = options_ints(o, "dims", &dims), keys = (int)options_int(o, "keys"), draws = (int)options_int(o, "draws");
    double total = 0, done = 0;
    for (int i = 0; i < n; i++) total += (double)dims[i];
    for (int i = 0; i < n; i++) {
        Sums sums;
        STATUS_TRY(average(s, (int)dims[i], keys, draws, done / total, (double)dims[i] / total, &sums));
        done += (double)dims[i];
        table_add_int(study_table(s, "weight"), dims[i]);
        table_add_real(study_table(s, "weight"), sums.scaled / draws);
        table_add_real(study_table(s, "weight"), sums.unscaled / draws);
    }
    study_about(s, "vectors", "queries and keys of independent numbers, mean 0, deviation 1, drawn with the seed");
    study_about(s, "weight_rule",
                "the largest weight of a query's softmax, averaged over %d queries; scaled: scores "
                "divided by the root of d_k",
                draws);
    study_about(s, "no_preference", "weights that tell nothing apart would be 1/keys = %.6g", 1.0 / keys);
    return status_ok();
}

const Experiment experiment_attn_scale = {
    .entry = {.id = "attn.scale",
              .section = "S3 6.2",
              .title = N_("why scores are divided by the root of d_k"),
              .see = N_("The variance of q.k is d_k: unscaled, the wider the head the more one key takes all, and the "
                        "softmax learns no more. Scaled, the largest weight stays where it is."),
              .options = (const Option *const[]){scale_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"weight", weight_columns}, {0}},
              .figure = {FIGURE_BARS, "weight", "d_k", "max_weight_scaled max_weight_unscaled", NULL}},
    .run = run,
};
