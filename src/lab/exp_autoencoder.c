/* lm.autoencoder: greedy pre-training layer by layer, without labels and with few, against learning at once, on digits
 * that are drawn for it (lecture 4, 2.3, 2.4; Bengio et al. 2006). */
#include "bug.h"
#include "crew.h"
#include "digits.h"
#include "experiment.h"
#include "intl.h"
#include "layers.h"
#include "mem.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES = 10, SIDE = 16, PASS = 100, SEEDS_MOST = 16, CURVE_EVERY = 10 };

static const Option autoencoder_options[] = {
    {"layers", OPTION_INTS, "64,32,16", 1, 1024, NULL, "", N_("widths of the layers, from the picture on")},
    {"labelled", OPTION_INT, "200", 10, 100000, NULL, "", N_("pictures with a label")},
    {"unlabelled", OPTION_INT, "4000", 10, 100000, NULL, "", N_("pictures without one")},
    {"tests", OPTION_INT, "1000", 10, 100000, NULL, "", N_("pictures to test with")},
    {"seeds", OPTION_INT, "3", 1, SEEDS_MOST, NULL, "", N_("repetitions: this seed and those after it")},
    {"act", OPTION_CHOICE, "sigmoid", 0, 0, "sigmoid|tanh|relu", "", N_("what a layer does to its sums")},
    {"pretrain", OPTION_INT, "2000", 0, 1e6, NULL, "", N_("updates of each layer before all learn together")},
    {"finetune", OPTION_INT, "1000", 0, 1e6, NULL, "", N_("updates of all layers together")},
    {"batch", OPTION_INT, "32", 1, 10000, NULL, "", N_("pictures of an update")},
    {"lr", OPTION_REAL, "0.003", 0, 100, NULL, "", N_("learning rate of Adam layer by layer; it falls to a tenth")},
    {"finetune_lr", OPTION_REAL, "0.003", 0, 100, NULL, "", N_("the same where all layers learn together")},
    {"noise", OPTION_REAL, "0.3", 0, 1, NULL, "", N_("of every pixel, standard deviation")},
    {0},
};

static const Column curve_columns[] = {
    {"stage", COLUMN_TEXT, ""}, {"step", COLUMN_INT, ""}, {"loss", COLUMN_DOUBLE, ""}, {0}};
static const Column error_columns[] = {{"method", COLUMN_TEXT, ""}, {"test_error", COLUMN_DOUBLE, ""}, {0}};
static const Column seeds_columns[] = {
    {"method", COLUMN_TEXT, ""}, {"seed", COLUMN_INT, ""}, {"test_error", COLUMN_DOUBLE, ""}, {0}};
static const Column codes_columns[] = {
    {"image", COLUMN_INT, ""}, {"x", COLUMN_DOUBLE, ""}, {"y", COLUMN_DOUBLE, ""}, {0}};

enum { SHALLOW, DEEP_SCRATCH, DEEP_SUPERVISED, DEEP_UNSUPERVISED, METHODS };
static const char *const methods[METHODS] = {"shallow", "deep_scratch", "deep_supervised", "deep_unsupervised"};

typedef struct {
    char stage[40];
    long step;
    double loss;
} Point;

/* What one method finds with one seed. */
typedef struct {
    double error;
    Point *curve; /* with the lock held */
    int points, room;
    double *code; /* [tests x 2] of a method that has one */
    int told;     /* of the points, those that stand in the table */
} Found;

typedef struct {
    Study *study;
    LayersShape shape;
    int labelled, unlabelled, tests, seeds, batch;
    long pretrain, finetune;
    OptimConfig optim, tune;
    pthread_mutex_t lock;
    Found found[SEEDS_MOST * METHODS]; /* all methods of a seed, then the next seed */
} Autoencoder;

/* One method with one seed at work: labelled pictures first, then those without a label, then the tests. */
typedef struct {
    Autoencoder *x;
    CrewSeat *seat;
    Found *found;
    uint64_t seed;
    int method;
    long steps, all; /* done and to do, for progress */
    real *picture;
    int *label; /* of every picture, though not all may look at it */
    Layers net;
} Seed;

/* ---- pictures ---- */

static void draw_pictures(Seed *s) {
    const LayersShape *shape = &s->x->shape;
    double noise = options_real(study_options(s->x->study), "noise");
    s->picture = mem_alloc((size_t)shape->pictures * (size_t)shape->pixels * sizeof *s->picture);
    s->label = MEM_ARRAY(int, (size_t)shape->pictures);
    for (int i = 0; i < shape->pictures; i++) {
        Rng r = rng_at(s->seed, "digits", (uint64_t)i);
        int from = s->x->labelled + s->x->unlabelled;
        s->label[i] = (i < from ? i : i - from) % CLASSES;
        digits_draw(&r, s->label[i], SIDE, noise, s->picture + (size_t)i * (size_t)shape->pixels);
    }
}

/* ---- learning ---- */

static void note(Seed *s, const char *stage, long step, double loss) {
    Found *f = s->found;
    pthread_mutex_lock(&s->x->lock);
    MEM_GROW(f->curve, f->points, f->room);
    Point *p = &f->curve[f->points++];
    snprintf(p->stage, sizeof p->stage, "%s", stage);
    p->step = step;
    p->loss = loss;
    pthread_mutex_unlock(&s->x->lock);
}

/* STEPS updates with pictures drawn from the first FROM of them. */
static Status learn(Seed *s, const char *name, LayersStage stage, int layer, int from, long steps) {
    Autoencoder *x = s->x;
    int *picture = MEM_ARRAY(int, (size_t)x->batch), *label = MEM_ARRAY(int, (size_t)x->batch);
    Status status = status_ok();
    const OptimConfig *optim = stage == LAYERS_ALL ? &x->tune : &x->optim;
    layers_begin(&s->net, stage, layer, optim);
    for (long i = 0; i < steps && status_is_ok(&status); i++) {
        Rng r = rng_at(s->seed, name, (uint64_t)i);
        for (int k = 0; k < x->batch; k++) {
            picture[k] = (int)rng_below(&r, (uint64_t)from);
            label[k] = s->label[picture[k]];
        }
        double loss = layers_step(&s->net, stage, layer, picture, label, x->batch, optim_rate(optim, i, steps));
        if (i % CURVE_EVERY == 0 || i == steps - 1) note(s, name, i + 1, loss);
        s->steps++;
        if (!isfinite(loss)) status = status_failed(_("%s diverged at step %ld; a smaller lr may help"), name, i + 1);
        if (!crew_goes_on(s->seat, (double)s->steps / (double)s->all, "%s: %s %ld, %s %.4f", name, _("step"), i + 1,
                          _("loss"), loss))
            status = status_cancelled();
    }
    mem_free(picture);
    mem_free(label);
    return status;
}

/* Layer by layer from the picture on. */
static Status pretrain(Seed *s, const char *method, LayersStage stage, int from) {
    for (int i = 0; i < s->x->shape.layers; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s layer %d", method, i + 1);
        STATUS_TRY(learn(s, name, stage, i, from, s->x->pretrain));
    }
    return status_ok();
}

/* ---- testing ---- */

static double test_error(Seed *s, int layer) {
    Autoencoder *x = s->x;
    int picture[PASS], guess[PASS], wrong = 0, first = x->labelled + x->unlabelled;
    for (int from = 0; from < x->tests; from += PASS) {
        int n = x->tests - from < PASS ? x->tests - from : PASS;
        for (int i = 0; i < n; i++) picture[i] = first + from + i;
        layers_classify(&s->net, layer, picture, n, guess);
        for (int i = 0; i < n; i++) wrong += guess[i] != s->label[picture[i]];
    }
    return (double)wrong / x->tests;
}

/* Takes the strongest direction out of CODE [n x w], whose columns have mean 0, into AXIS [w]: power iteration. */
static void strongest(const double *code, int n, int w, double *axis) {
    double *next = MEM_ARRAY(double, (size_t)w);
    for (int k = 0; k < w; k++) axis[k] = 1 + 0.01 * k; /* not at right angles to anything likely */
    for (int turn = 0; turn < 200; turn++) {
        memset(next, 0, (size_t)w * sizeof *next);
        for (int i = 0; i < n; i++) {
            double dot = 0;
            for (int k = 0; k < w; k++) dot += code[i * w + k] * axis[k];
            for (int k = 0; k < w; k++) next[k] += dot * code[i * w + k];
        }
        double length = 0;
        for (int k = 0; k < w; k++) length += next[k] * next[k];
        length = sqrt(length);
        for (int k = 0; k < w; k++) axis[k] = length > 0 ? next[k] / length : k == 0;
    }
    mem_free(next);
}

static void centre(double *code, int n, int w) {
    for (int k = 0; k < w; k++) {
        double mean = 0;
        for (int i = 0; i < n; i++) mean += code[i * w + k] / n;
        for (int i = 0; i < n; i++) code[i * w + k] -= mean;
    }
}

/* The two directions in which CODE varies most: where every picture lies along them. */
static void project(double *code, int n, int w, double *xy) {
    double *axis = MEM_ARRAY(double, (size_t)w);
    centre(code, n, w);
    for (int d = 0; d < 2; d++) {
        strongest(code, n, w, axis);
        for (int i = 0; i < n; i++) {
            double dot = 0;
            for (int k = 0; k < w; k++) dot += code[i * w + k] * axis[k];
            xy[2 * i + d] = dot;
            for (int k = 0; k < w; k++) code[i * w + k] -= dot * axis[k];
        }
    }
    mem_free(axis);
}

static void take_codes(Seed *s) {
    Autoencoder *x = s->x;
    int last = x->shape.layers - 1, w = x->shape.size[last], n = x->tests;
    int *picture = MEM_ARRAY(int, (size_t)n);
    real *code = MEM_ARRAY(real, (size_t)n * (size_t)w);
    double *wide = MEM_ARRAY(double, (size_t)n *(size_t)w);
    for (int i = 0; i < n; i++) picture[i] = x->labelled + x->unlabelled + i;
    layers_code(&s->net, last, picture, n, code);
    for (int i = 0; i < n * w; i++) wide[i] = (double)code[i];
    s->found->code = MEM_ARRAY(double, 2 * (size_t)n);
    project(wide, n, w, s->found->code);
    mem_free(picture);
    mem_free(code);
    mem_free(wide);
}

/* ---- methods ---- */

static Status one_method(Seed *s) {
    Autoencoder *x = s->x;
    int last = s->method == SHALLOW ? 0 : x->shape.layers - 1;
    const char *name = methods[s->method];
    Status status = status_ok();
    if (s->method == DEEP_SUPERVISED) status = pretrain(s, name, LAYERS_CLASS, x->labelled);
    if (s->method == DEEP_UNSUPERVISED) status = pretrain(s, name, LAYERS_BACK, x->labelled + x->unlabelled);
    if (status_is_ok(&status) && s->method == DEEP_UNSUPERVISED) take_codes(s);
    if (status_is_ok(&status)) status = learn(s, name, LAYERS_ALL, last, x->labelled, x->finetune);
    if (status_is_ok(&status)) s->found->error = test_error(s, last);
    return status;
}

static Status work(void *user, int job, CrewSeat *seat) {
    Autoencoder *x = user;
    Seed s = {.x = x,
              .seat = seat,
              .found = &x->found[job],
              .seed = study_seed(x->study) + (uint64_t)(job / METHODS),
              .method = job % METHODS};
    s.all = x->finetune + (s.method < DEEP_SUPERVISED ? 0 : x->shape.layers * x->pretrain);
    crew_weigh(seat, (double)s.all);
    draw_pictures(&s);
    layers_init(&s.net, &x->shape, s.picture, s.seed);
    Status status = one_method(&s);
    layers_done(&s.net);
    mem_free(s.picture);
    mem_free(s.label);
    return status;
}

/* ---- tables ---- */

/* The points that are new, of the first seed. */
static Status look(void *user, int job) {
    Autoencoder *x = user;
    Found *f = &x->found[job];
    Table *t = study_table(x->study, "curve");
    if (job >= METHODS) return status_ok();
    pthread_mutex_lock(&x->lock);
    for (; f->told < f->points; f->told++) {
        table_add_text(t, f->curve[f->told].stage);
        table_add_int(t, f->curve[f->told].step);
        table_add_real(t, f->curve[f->told].loss);
    }
    pthread_mutex_unlock(&x->lock);
    return status_ok();
}

static void add_codes(Study *s, const Found *f, int n) {
    Table *t = study_table(s, "codes");
    for (int i = 0; i < n; i++) {
        table_add_int(t, i);
        table_add_real(t, f->code[2 * i]);
        table_add_real(t, f->code[2 * i + 1]);
    }
}

/* Mean over the seeds; of those that are known when the last one is. */
static void add_errors(Autoencoder *x) {
    Table *t = study_table(x->study, "error");
    for (int i = 0; i < METHODS; i++) {
        double sum = 0;
        for (int k = 0; k < x->seeds; k++) sum += x->found[k * METHODS + i].error;
        table_add_text(t, methods[i]);
        table_add_real(t, sum / x->seeds);
    }
}

static Status take(void *user, int job) {
    Autoencoder *x = user;
    const Found *f = &x->found[job];
    Table *t = study_table(x->study, "seeds");
    table_add_text(t, methods[job % METHODS]);
    table_add_int(t, (long long)study_seed(x->study) + job / METHODS);
    table_add_real(t, f->error);
    if (job == DEEP_UNSUPERVISED) add_codes(x->study, f, x->tests);
    if (job == METHODS * x->seeds - 1) add_errors(x);
    return status_ok();
}

/* ---- the whole ---- */

static Status check(const Options *o) {
    const long long *size;
    if (options_ints(o, "layers", &size) > LAYERS_MOST) return status_usage(_("layers: at most %d"), LAYERS_MOST);
    return status_ok();
}

static void read_options(Autoencoder *x) {
    const Options *o = study_options(x->study);
    static const ActKind acts[] = {ACT_SIGMOID, ACT_TANH, ACT_RELU};
    const long long *size;
    x->labelled = (int)options_int(o, "labelled");
    x->unlabelled = (int)options_int(o, "unlabelled");
    x->tests = (int)options_int(o, "tests");
    x->seeds = (int)options_int(o, "seeds");
    x->batch = (int)options_int(o, "batch");
    x->pretrain = (long)options_int(o, "pretrain");
    x->finetune = (long)options_int(o, "finetune");
    x->shape = (LayersShape){.pictures = x->labelled + x->unlabelled + x->tests,
                             .pixels = SIDE * SIDE,
                             .classes = CLASSES,
                             .layers = options_ints(o, "layers", &size),
                             .act = acts[options_choice(o, "act")]};
    for (int i = 0; i < x->shape.layers; i++) x->shape.size[i] = (int)size[i];
    x->optim = optim_defaults();
    x->optim.lr = options_real(o, "lr");
    x->optim.lr_min = x->optim.lr / 10;
    x->tune = x->optim;
    x->tune.lr = options_real(o, "finetune_lr");
    x->tune.lr_min = x->tune.lr / 10;
}

static void add_conventions(Study *s) {
    study_about(s, "pictures",
                "%d x %d pixels, drawn with a pen from the seed; picture i of each part shows digit i %% 10", SIDE,
                SIDE);
    study_about(s, "methods",
                "shallow: the first layer and a classifier; deep_scratch: all layers at once; deep_supervised: "
                "each layer with a classifier, then all; deep_unsupervised: each layer as an autoencoder of "
                "all pictures without labels, then all");
    study_about(s, "loss_rule",
                "autoencoder stages: mean squared difference; others: cross-entropy in nats; first seed");
    study_about(s, "test_error_rule", "share of wrong digits, mean over the seeds");
    study_about(s, "codes_rule",
                "the test pictures' last codes after pre-training without labels, before fine-tuning, along "
                "their first two principal components; first seed");
}

static Status run(Study *s) {
    Autoencoder *x = MEM_NEW(Autoencoder);
    x->study = s;
    read_options(x);
    add_conventions(s);
    BUG_ON(pthread_mutex_init(&x->lock, NULL) != 0);
    Status status =
        crew_run(s, &(CrewPlan){.jobs = x->seeds * METHODS, .work = work, .look = look, .take = take, .user = x});
    pthread_mutex_destroy(&x->lock);
    for (int i = 0; i < x->seeds * METHODS; i++) {
        mem_free(x->found[i].curve);
        mem_free(x->found[i].code);
    }
    mem_free(x);
    return status;
}

const Experiment experiment_lm_autoencoder = {
    .entry = {.id = "lm.autoencoder",
              .section = "L4 2.3",
              .title = N_("greedy pre-training layer by layer, on digits with few labels"),
              .see = N_(
                  "The same deep network, with the same few labels: learning to draw pictures again, layer by layer, "
                  "before it learns their names makes it better than learning the names at once."),
              .options = (const Option *const[]){autoencoder_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"curve", curve_columns},
                                            {"error", error_columns},
                                            {"codes", codes_columns},
                                            {"seeds", seeds_columns},
                                            {0}},
              .figure = {FIGURE_BARS, "seeds", "method", "test_error", "seed"}},
    .check = check,
    .run = run,
};
