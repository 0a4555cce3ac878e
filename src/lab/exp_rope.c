/* rope.rotate, rope.clock, rope.decay: how rotary positions turn a vector, how fast each pair turns, and what is left
 * of the likeness of a vector with itself some way off (lecture 4, 4.2, 4.5, 4.6; seminar 3, 5.4, 5.5). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rope_options.h"

#include <math.h>

/* ---- rope.rotate ---- */

static const Option rotate_options[] = {
    {"x", OPTION_REALS, "1,2,3,4", 0, 0, NULL, "", N_("the vector: an even number of numbers")},
    {"m", OPTION_INT, "1", -ROPE_FARTHEST, ROPE_FARTHEST, NULL, "", N_("its position; a negative one turns it back")},
    {"pairing", OPTION_CHOICE, "adjacent", 0, 0, "adjacent|half", "",
     N_("which numbers are a pair: neighbours, or one of each half")},
    {0},
};

static const Column rotated_columns[] = {{"index", COLUMN_INT, ""},       {"pair", COLUMN_INT, ""},
                                         {"angle", COLUMN_DOUBLE, "rad"}, {"before", COLUMN_DOUBLE, ""},
                                         {"after", COLUMN_DOUBLE, ""},    {0}};

static Status check_rotate(const Options *o) {
    const double *x;
    int n = options_reals(o, "x", &x);
    if (n % 2) return status_usage(_("x: %d numbers do not make pairs; RoPE needs an even number"), n);
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return status_usage(_("x: each must be a finite number"));
    return rope_check_scaling(o);
}

static Status run_rotate(Study *s) {
    const Options *o = study_options(s);
    const double *x;
    int d = options_reals(o, "x", &x);
    double m = (double)options_int(o, "m");
    Rotary r;
    rope_options_init(&r, o, d, options_choice(o, "pairing") ? PAIRING_HALF : PAIRING_ADJACENT);
    double *y = MEM_ARRAY(double, (size_t)d);
    rotary_turn(&r, m, x, y);
    Table *t = study_table(s, "rotated");
    for (int i = 0; i < d; i++) {
        int pair = rotary_pair(&r, i);
        table_add_int(t, i);
        table_add_int(t, pair);
        table_add_real(t, m * r.speed[pair]);
        table_add_real(t, x[i]);
        table_add_real(t, y[i]);
    }
    mem_free(y);
    rotary_done(&r);
    study_about(s, "pairing_rule",
                "adjacent: (2i, 2i+1), as RoFormer and Llama 1 to 3 by Meta; half: (i, i + d/2), as "
                "GPT-NeoX and Hugging Face");
    study_about(s, "angle_rule", "m base^(-2 pair / d), counter-clockwise: a cos - b sin, a sin + b cos");
    return status_ok();
}

const Experiment experiment_rope_rotate = {
    .entry = {.id = "rope.rotate",
              .section = "L4 4.2, 4.6",
              .title = N_("RoPE by hand: one vector, turned pair by pair"),
              .see =
                  N_("Each pair turns by its own angle and keeps its length. The two pairings give different numbers: "
                     "weights work only with the one they were trained with."),
              .options = (const Option *const[]){rotate_options, rope_base_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"rotated", rotated_columns}, {0}},
              .figure = {FIGURE_BARS, "rotated", "index", "before after", NULL}},
    .check = check_rotate,
    .run = run_rotate,
};

/* ---- rope.clock ---- */

static const Option clock_options[] = {
    {"d", OPTION_INT, "128", 2, 1000000, NULL, "", N_("numbers of a head's vector, even: d/2 hands")},
    {0},
};

static const Column pairs_columns[] = {{"pair", COLUMN_INT, ""},
                                       {"radians_per_token", COLUMN_DOUBLE, "rad/token"},
                                       {"period_tokens", COLUMN_DOUBLE, "tokens"},
                                       {0}};

static Status run_clock(Study *s) {
    const Options *o = study_options(s);
    Rotary r;
    rope_options_init(&r, o, (int)options_int(o, "d"), PAIRING_ADJACENT);
    Table *t = study_table(s, "pairs");
    for (int i = 0; i < r.d / 2; i++) {
        table_add_int(t, i);
        table_add_real(t, r.speed[i]);
        table_add_real(t, 2 * ROPE_PI / r.speed[i]);
    }
    study_about(s, "speed_rule", "base^(-2 pair / d) radians a token; a period is 2 pi over it");
    rotary_done(&r);
    return status_ok();
}

const Experiment experiment_rope_clock = {
    .entry = {.id = "rope.clock",
              .section = "L4 4.5, S3 5.5",
              .title = N_("the hands of the clock: how fast each pair turns"),
              .see = N_("The first pair goes round in 6.3 tokens, the last in tens of thousands: seconds, minutes, "
                        "hours. A larger base slows every hand but the first."),
              .options = (const Option *const[]){clock_options, rope_base_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"pairs", pairs_columns}, {0}},
              .figure = {FIGURE_LOG_LINE, "pairs", "pair", "period_tokens", NULL}},
    .check = rope_check_width,
    .run = run_clock,
};

/* ---- rope.decay ---- */

static const Option decay_options[] = {
    {"d", OPTION_INT, "64", 2, 1000000, NULL, "", N_("numbers of a head's vector, even")},
    {"speeds", OPTION_CHOICE, "geometric", 0, 0, "geometric|single", "",
     N_("base^(-2i/d) for pair i, or one radian a token for all")},
    {"to", OPTION_INT, "1024", 0, 1000000, NULL, "tokens", N_("the farthest distance")},
    {0},
};

static const Column similarity_columns[] = {{"distance", COLUMN_INT, "tokens"}, {"value", COLUMN_DOUBLE, ""}, {0}};

static Status add_similarities(Study *s, const Rotary *r, long to) {
    Table *t = study_table(s, "similarity");
    for (long i = 0; i <= to; i++) {
        if (!study_progress(s, (double)i / (double)(to + 1), _("distance %ld"), i)) return status_cancelled();
        table_add_int(t, i);
        table_add_real(t, rotary_similarity(r, (double)i));
    }
    return status_ok();
}

static Status run_decay(Study *s) {
    const Options *o = study_options(s);
    int d = (int)options_int(o, "d");
    Rotary r;
    if (options_choice(o, "speeds") == 0) {
        rope_options_init(&r, o, d, PAIRING_ADJACENT);
    } else {
        rotary_init_single(&r, d, PAIRING_ADJACENT);
    }
    Status status = add_similarities(s, &r, (long)options_int(o, "to"));
    rotary_done(&r);
    study_about(s, "value_rule",
                "the mean over the pairs of cos(distance speed): the cosine between a vector of equally long pairs and "
                "itself so far away; d times this is the product of a vector of ones with itself");
    study_about(s, "speeds_rule",
                "geometric: base^(-2 pair / d) radians a token; single: 1 for every pair, base plays "
                "no part");
    return status;
}

const Experiment experiment_rope_decay = {
    .entry = {.id = "rope.decay",
              .section = "L4 4.5, S3 5.5",
              .title = N_("the same vector some way off: how alike RoPE leaves the two"),
              .see = N_("With one speed the likeness comes back after every turn, and 44 tokens off looks like none at "
                        "all. With many speeds it falls, with ripples, and does not come back."),
              .options = (const Option *const[]){decay_options, rope_base_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"similarity", similarity_columns}, {0}},
              .figure = {FIGURE_LINE, "similarity", "distance", "value", NULL}},
    .check = rope_check_width,
    .run = run_decay,
};
