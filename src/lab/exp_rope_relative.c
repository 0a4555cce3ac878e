/* rope.relative: one q and one k at several pairs of positions of the same distance: what their product depends on
 * (lecture 4, 4.3, 4.4; seminar 3, 5.3, 5.4). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"
#include "rope_options.h"
#include "sinusoid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Option relative_options[] = {
    {"d", OPTION_INT, "64", 2, 65536, NULL, "", N_("numbers of q and of k, even; given q= and k= say it")},
    {"q", OPTION_REALS, NULL, 0, 0, NULL, "", N_("the query's numbers; not given: drawn with the seed")},
    {"k", OPTION_REALS, NULL, 0, 0, NULL, "", N_("the key's numbers; not given: drawn with the seed")},
    {"at", OPTION_TEXT, "5:2,105:102,1005:1002", 0, 0, NULL, "",
     N_("positions of q and k, query:key, comma separated")},
    {0},
};

static const Column score_columns[] = {
    {"scheme", COLUMN_TEXT, ""}, {"t", COLUMN_INT, ""}, {"j", COLUMN_INT, ""}, {"score", COLUMN_DOUBLE, ""}, {0}};
static const Column length_columns[] = {{"scheme", COLUMN_TEXT, ""}, {"change", COLUMN_DOUBLE, ""}, {0}};

/* ---- the positions ---- */

typedef struct {
    long long t, j;
} At;

static bool read_position(const char *text, size_t n, long long *out) {
    char *copy = mem_text_n(text, n);
    bool ok = str_to_long(copy, out) && *out >= 0 && (double)*out <= ROPE_FARTHEST;
    mem_free(copy);
    return ok;
}

/* Reads the next pair and moves on; false when it is none. */
static bool read_at(const char **text, At *at) {
    size_t n = strcspn(*text, ","), query = strcspn(*text, ":");
    if (query >= n) return false;
    if (!read_position(*text, query, &at->t) || !read_position(*text + query + 1, n - query - 1, &at->j)) return false;
    *text += n;
    return true;
}

/* *at is allocated, n pairs. */
static Status read_all(const Options *o, At **at, int *n) {
    const char *text = options_text(o, "at");
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    *at = MEM_ARRAY(At, most);
    for (*n = 0; (size_t)*n < most; (*n)++) {
        const char *item = text;
        if (!read_at(&text, &(*at)[*n])) {
            mem_free(*at);
            return status_usage(_("at: '%.*s' is not query:key, two positions from 0 to %.0f"), (int)strcspn(item, ","),
                                item, ROPE_FARTHEST);
        }
        if (*text == ',') text++;
    }
    return status_ok();
}

/* ---- the vectors ---- */

/* Numbers of q and of k: what q= or k= has, else d=. */
static int width_of(const Options *o) {
    const double *x;
    if (options_is_set(o, "q")) return options_reals(o, "q", &x);
    if (options_is_set(o, "k")) return options_reals(o, "k", &x);
    return (int)options_int(o, "d");
}

static Status check_vector(const Options *o, const char *name) {
    const double *x;
    if (!options_is_set(o, name)) return status_ok();
    int n = options_reals(o, name, &x);
    if (n % 2) return status_usage(_("%s: %d numbers do not make pairs; RoPE needs an even number"), name, n);
    if (n != width_of(o)) return status_usage(_("q= and k= must have equally many numbers"));
    if (options_is_given(o, "d") && n != options_int(o, "d"))
        return status_usage(_("%s: there are %d numbers, and d is %lld"), name, n, options_int(o, "d"));
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return status_usage(_("%s: each must be a finite number"), name);
    return status_ok();
}

static Status check(const Options *o) {
    STATUS_TRY(rope_check_width(o));
    STATUS_TRY(check_vector(o, "q"));
    STATUS_TRY(check_vector(o, "k"));
    At *at;
    int n;
    STATUS_TRY(read_all(o, &at, &n));
    mem_free(at);
    return status_ok();
}

/* ---- the schemes ---- */

enum { NONE, SINUSOID, ROPE, WRONG, SCHEMES };
static const char *const schemes[SCHEMES] = {"none", "sinusoid", "rope", "wrong"};

typedef struct {
    Rotary r;
    double base;
    double *q, *k;           /* [d] as drawn */
    double *placed, *second; /* [d] with positions */
    double longer[SCHEMES];  /* the largest change of length seen */
} Pair;

static double length_of(const double *x, int d) {
    double sum = 0;
    for (int i = 0; i < d; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* X with a position put in by SCHEME; the wrong formula turns both by the distance. */
static void place(Pair *p, int scheme, double position, double distance, const double *x, double *y) {
    int d = p->r.d;
    memcpy(y, x, (size_t)d * sizeof *y);
    if (scheme == SINUSOID) {
        sinusoid(d, p->base, position, y);
        for (int i = 0; i < d; i++) y[i] += x[i];
    }
    if (scheme == ROPE) rotary_turn(&p->r, position, x, y);
    if (scheme == WRONG) rotary_turn(&p->r, distance, x, y);
    p->longer[scheme] = fmax(p->longer[scheme], fabs(length_of(y, d) - length_of(x, d)));
}

static double score(Pair *p, int scheme, const At *at) {
    double sum = 0;
    place(p, scheme, (double)at->t, (double)(at->t - at->j), p->q, p->placed);
    place(p, scheme, (double)at->j, (double)(at->t - at->j), p->k, p->second);
    for (int i = 0; i < p->r.d; i++) sum += p->placed[i] * p->second[i];
    return sum;
}

static Status add_scores(Study *s, Pair *p, const At *at, int n) {
    Table *t = study_table(s, "score"), *length = study_table(s, "length");
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
        for (int i = 0; i < n; i++) {
            if (!study_progress(s, -1, "%s", schemes[scheme])) return status_cancelled();
            table_add_text(t, schemes[scheme]);
            table_add_int(t, at[i].t);
            table_add_int(t, at[i].j);
            table_add_real(t, score(p, scheme, &at[i]));
        }
        table_add_text(length, schemes[scheme]);
        table_add_real(length, p->longer[scheme]);
    }
    return status_ok();
}

/* y [d]: what the option NAME says, else drawn. */
static void fill_vector(const Options *o, const char *name, Rng *rng, int d, double *y) {
    const double *x = NULL;
    if (options_is_set(o, name)) (void)options_reals(o, name, &x);
    for (int i = 0; i < d; i++) y[i] = x ? x[i] : rng_normal(rng);
}

static void pair_init(Pair *p, const Options *o, uint64_t seed) {
    int d = width_of(o);
    *p = (Pair){.base = options_real(o, "base"), .q = MEM_ARRAY(double, 4 * (size_t)d)};
    rope_options_init(&p->r, o, d, PAIRING_ADJACENT);
    p->k = p->q + d;
    p->placed = p->k + d;
    p->second = p->placed + d;
    Rng rng = rng_at(seed, "rope.relative", 0);
    fill_vector(o, "q", &rng, d, p->q);
    fill_vector(o, "k", &rng, d, p->k);
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    At *at;
    int n;
    STATUS_TRY(read_all(o, &at, &n));
    Pair p;
    pair_init(&p, o, study_seed(s));
    Status status = add_scores(s, &p, at, n);
    rotary_done(&p.r);
    mem_free(p.q);
    mem_free(at);
    study_about(s, "vectors", "q and k that are not given are drawn with the seed, mean 0, deviation 1");
    study_about(s, "score_rule", "q.k, not divided by the root of d");
    study_about(s, "schemes",
                "sinusoid: added to q and to k; rope: q turned by t, k by j; wrong: both turned by t - j");
    study_about(s, "change_rule", "the largest change of the length of q or k at any of the positions");
    return status;
}

const Experiment experiment_rope_relative = {
    .entry = {.id = "rope.relative",
              .section = "L4 4.3, 4.4, S3 5.3",
              .title = N_("the same two vectors, the same distance, other places"),
              .see = N_(
                  "With RoPE the product is the same wherever the two stand; with added sinusoids it is not. Turning "
                  "both by t - j, the wrong formula, changes nothing at all: the turns cancel."),
              .options = (const Option *const[]){relative_options, rope_base_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"score", score_columns}, {"length", length_columns}, {0}},
              .figure = {FIGURE_LINE, "score", "t", "score", "scheme"}},
    .check = check,
    .run = run,
};
