/* rope.matrix: the block-diagonal matrix of a position, and that every way of writing the rotation gives the same
 * (lecture 4, 4.2, 4.6; seminar 3, 5.4, 5.6). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"
#include "rope_options.h"

#include "decode/row.h"

#include <math.h>

static const Option matrix_options[] = {
    {"d", OPTION_INT, "8", 2, 1024, NULL, "", N_("numbers of a vector, even; the matrix has d d cells")},
    {"m", OPTION_INT, "5", -ROPE_FARTHEST, ROPE_FARTHEST, NULL, "", N_("the position")},
    {0},
};

static const Column matrix_columns[] = {
    {"row", COLUMN_INT, ""}, {"column", COLUMN_INT, ""}, {"value", COLUMN_DOUBLE, ""}, {0}};
static const Column agree_columns[] = {{"form", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, ""}, {0}};

static const struct {
    const char *name;
    void (*turn)(const Rotary *r, double position, const double *x, double *y);
} forms[] = {{"matrix", rotary_by_matrix},
             {"elementwise", rotary_turn},
             {"complex", rotary_by_complex},
             {"half_permuted", rotary_by_halves}};

static Status add_matrix(Study *s, const Rotary *r, double m) {
    Table *t = study_table(s, "matrix");
    size_t d = (size_t)r->d;
    double *matrix = MEM_ARRAY(double, d *d);
    rotary_matrix(r, m, matrix);
    bool go_on = true;
    for (size_t row = 0; row < d && go_on; row++) {
        for (size_t column = 0; column < d; column++) {
            table_add_int(t, (long long)row);
            table_add_int(t, (long long)column);
            table_add_real(t, matrix[row * d + column]);
        }
        go_on = study_progress(s, (double)row / (double)d, _("row %zu"), row);
    }
    mem_free(matrix);
    return go_on ? status_ok() : status_cancelled();
}

static double farthest(const double *y, const long double *exact, int d) {
    long double most = 0;
    for (int i = 0; i < d; i++) most = fmaxl(most, fabsl((long double)y[i] - exact[i]));
    return (double)most;
}

/* The same turn by the engine's own kernel, in its number type. */
static double engine_differs(const Rotary *r, double m, const double *x, const long double *exact) {
    int half = r->d / 2;
    real *angle = MEM_ARRAY(real, (size_t)r->d), *turned = MEM_ARRAY(real, (size_t)r->d);
    for (int i = 0; i < half; i++) {
        angle[i] = (real)cos(m * r->speed[i]);
        angle[i + half] = (real)sin(m * r->speed[i]);
    }
    for (int i = 0; i < r->d; i++) turned[i] = (real)x[i];
    row_turn(1, r->d, PAIRING_ADJACENT, angle, angle + half, turned);
    long double most = 0;
    for (int i = 0; i < r->d; i++) most = fmaxl(most, fabsl((long double)turned[i] - exact[i]));
    mem_free(turned);
    mem_free(angle);
    return (double)most;
}

static void add_forms(Study *s, const Rotary *r, double m) {
    double *x = MEM_ARRAY(double, (size_t)r->d), *y = MEM_ARRAY(double, (size_t)r->d);
    long double *exact = MEM_ARRAY(long double, (size_t)r->d);
    Rng rng = rng_at(study_seed(s), "rope.matrix", 0);
    for (int i = 0; i < r->d; i++) x[i] = rng_normal(&rng);
    rotary_exact(r, m, x, exact);
    Table *t = study_table(s, "agree");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        forms[i].turn(r, m, x, y);
        table_add_text(t, forms[i].name);
        table_add_real(t, farthest(y, exact, r->d));
    }
    study_about(s, "engine", "the engine's own kernel turns the same vector in %s: %.3g away",
                REAL_IS_DOUBLE ? "double" : "float", engine_differs(r, m, x, exact));
    mem_free(exact);
    mem_free(y);
    mem_free(x);
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    double m = (double)options_int(o, "m");
    Rotary r;
    rope_options_init(&r, o, (int)options_int(o, "d"), PAIRING_ADJACENT);
    add_forms(s, &r, m);
    Status status = add_matrix(s, &r, m);
    rotary_done(&r);
    study_about(s, "pairing", "adjacent: (2i, 2i+1)");
    study_about(s, "agree_rule",
                "a vector drawn with the seed, mean 0, deviation 1; differences from the definition "
                "summed in long double");
    study_about(s, "half_permuted",
                "first numbers of all pairs to one half, second ones to the other, there x cos + "
                "swapped(x) sin, and back");
    return status;
}

const Experiment experiment_rope_matrix = {
    .entry = {.id = "rope.matrix",
              .section = "L4 4.2, 4.6, S3 5.4",
              .title = N_("the rotation as a matrix, number by number, as complex numbers and in halves"),
              .see = N_("The matrix is nearly empty: two by two blocks on the diagonal. That is why turning costs d "
                        "steps and not d d; and all four ways agree to the last digits."),
              .options = (const Option *const[]){matrix_options, rope_base_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"matrix", matrix_columns}, {"agree", agree_columns}, {0}},
              .figure = {FIGURE_HEAT, "matrix", "column", "row", "value"}},
    .check = rope_check_width,
    .run = run,
};
