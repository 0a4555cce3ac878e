/* trainings, crew and kept: several small models of an experiment of the test's own: order, same bits with any number
 * of threads, the cache, beginnings, faults and stops. */
#include "trainings.h"

#include "cancel.h"
#include "crew.h"
#include "experiment.h"
#include "fingerprint.h"
#include "mem.h"
#include "variant.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

enum { JOBS = 3, STEPS = 12 };

static char folder[] = "/tmp/lantern-test-XXXXXX";

/* What the experiment of the test is to do, and what it saw. */
static struct {
    Training job[JOBS];
    int jobs;
    bool watch_steps, measure, stop_after_first;
    Study *study;
    int done[JOBS], dones, steps[JOBS], last_step_job;
    bool from_cache[JOBS];
    uint64_t hash[JOBS];
    double nll[JOBS];
    char path[JOBS][512];
    Model *kept;
} own;

static Status on_measure(void *user, int job, Trained *t) {
    (void)user;
    Run *run;
    double floor_nll;
    long tokens;
    STATUS_TRY(trained_run(t, &run));
    assert_int_equal(run_done(run), STEPS);
    return run_test_nll(run, 50, &own.nll[job], &floor_nll, &tokens);
}

static Status on_step(void *user, int job, const RunStep *step) {
    (void)user;
    assert_true(job >= own.last_step_job);
    own.last_step_job = job;
    assert_int_equal(step->step, ++own.steps[job]);
    return status_ok();
}

static Status on_done(void *user, int job, Trained *t) {
    (void)user;
    own.done[own.dones++] = job;
    own.hash[job] = params_hash(model_params(t->model));
    own.from_cache[job] = t->from_cache;
    assert_int_equal(t->steps, STEPS);
    assert_true(isnan(t->seconds) == t->from_cache);
    snprintf(own.path[job], sizeof own.path[job], "%s", t->path);
    if (own.stop_after_first) study_cancel(own.study);
    if (job == 0 && !own.kept) {
        own.kept = t->model;
        t->model = NULL;
    }
    return status_ok();
}

static Status train_own(Study *s) {
    TrainingsCalls calls = {
        .measure = own.measure ? on_measure : NULL, .step = own.watch_steps ? on_step : NULL, .done = on_done};
    return trainings_run(s, own.job, own.jobs, &calls);
}

static const Column own_columns[] = {{"row", COLUMN_INT, ""}, {0}};
static const Experiment experiment = {
    .entry = {.id = "test.own",
              .section = "-",
              .title = "-",
              .see = "-",
              .options = (const Option *const[]){experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"rows", own_columns}, {0}}},
    .run = train_own,
};

static Options *small_options(const char *extra) {
    static const char *const pairs[] = {"d=16", "heads=2", "sentences=192", "epochs=1", "batch=16"};
    Options *o = run_options();
    Status s = options_set_pair(o, extra);
    assert_int_equal(s.code, STATUS_OK);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        s = options_set_pair(o, pairs[i]);
        assert_int_equal(s.code, STATUS_OK);
    }
    return o;
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -r '%s'", folder);
    return system(line);
}

static void begin(int jobs) {
    static const char *const extra[JOBS] = {"arch=gpt", "arch=modern", "pos=none"};
    memset(&own, 0, sizeof own);
    own.jobs = jobs;
    for (int i = 0; i < jobs; i++)
        own.job[i] = (Training){.name = extra[i] + 4, .options = small_options(extra[i]), .seed = 7};
    own.job[1].name = "modern";
}

static void end(void) {
    for (int i = 0; i < own.jobs; i++) options_free((Options *)own.job[i].options);
    model_free(own.kept);
}

static Status run_own(const char *threads, bool cache) {
    Options *o = catalog_options(&experiment.entry);
    Status s = options_set_pair(o, threads);
    assert_int_equal(s.code, STATUS_OK);
    own.dones = own.last_step_job = 0;
    memset(own.steps, 0, sizeof own.steps);
    own.study = study_new(&experiment.entry, o);
    study_use_cache(own.study, cache);
    s = study_run(own.study);
    study_free(own.study);
    return s;
}

static void expect_ok(Status s) {
    if (!status_is_ok(&s)) print_error("%s\n", s.text);
    assert_int_equal(s.code, STATUS_OK);
}

static void any_number_of_threads_gives_the_same_bits_in_order(void **state) {
    (void)state;
    static const char *const threads[] = {"threads=1", "threads=2", "threads=3", "threads=8"};
    uint64_t first[JOBS];
    begin(JOBS);
    own.watch_steps = true;
    for (int i = 0; i < 4; i++) {
        expect_ok(run_own(threads[i], false));
        assert_int_equal(own.dones, JOBS);
        for (int k = 0; k < JOBS; k++) {
            assert_int_equal(own.done[k], k);
            assert_int_equal(own.steps[k], STEPS);
            if (i == 0) first[k] = own.hash[k];
            assert_true(own.hash[k] == first[k]);
            assert_string_equal(own.path[k], "");
        }
    }
    assert_true(first[0] != first[1] && first[0] != first[2]);
    end();
}

static void what_was_trained_is_kept(void **state) {
    (void)state;
    begin(2);
    own.measure = true;
    expect_ok(run_own("threads=2", true));
    uint64_t hash = own.hash[1];
    double nll = own.nll[1];
    assert_false(own.from_cache[1]);
    assert_int_equal(access(own.path[1], R_OK), 0);
    own.nll[1] = 0;
    expect_ok(run_own("threads=1", true));
    assert_true(own.from_cache[0] && own.from_cache[1]);
    assert_true(own.hash[1] == hash);
    assert_true(own.nll[1] == nll); /* of the run that the file made again */
    expect_ok(run_own("threads=1", false));
    assert_false(own.from_cache[0] || own.from_cache[1]);
    own.job[0].afresh = true;
    expect_ok(run_own("threads=1", true));
    assert_true(!own.from_cache[0] && own.from_cache[1]);
    end();
}

static void damage_is_trained_again(void **state) {
    (void)state;
    begin(1);
    expect_ok(run_own("threads=1", true));
    uint64_t hash = own.hash[0];
    FILE *f = fopen(own.path[0], "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -100, SEEK_END), 0);
    assert_int_equal(fputc('x', f), 'x');
    assert_int_equal(fclose(f), 0);
    expect_ok(run_own("threads=1", true));
    assert_false(own.from_cache[0]);
    assert_true(own.hash[0] == hash);
    expect_ok(run_own("threads=1", true));
    assert_true(own.from_cache[0]);
    end();
}

static void expect_other(const Training *a, const Training *b) {
    Str x, y;
    str_init(&x);
    str_init(&y);
    assert_true(trainings_path(a, &x));
    assert_true(trainings_path(b, &y));
    assert_string_not_equal(x.s, y.s);
    str_done(&x);
    str_done(&y);
}

static void other_makings_have_other_names(void **state) {
    (void)state;
    begin(1);
    own.stop_after_first = false;
    expect_ok(run_own("threads=1", true));
    Training a = own.job[0], b = a;
    b.seed++;
    expect_other(&a, &b);
    b = a;
    b.from.set = "k=0";
    expect_other(&a, &b);
    b = a;
    b.from.steps = 3;
    expect_other(&a, &b);
    b = a;
    b.from.model = own.kept;
    expect_other(&a, &b);
    b.options = small_options("corpus=tags");
    b.from.model = NULL;
    expect_other(&a, &b);
    options_free((Options *)b.options);
    end();
}

static int prepositions(const char *text) {
    static const char *const word[] = {" near ", " behind ", " beside "};
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (const char *at = text; (at = strstr(at, word[i])); at++) n++;
    return n;
}

/* Without a step to learn in, a run is what it began with; with the rate at 0 it stays so. */
static void a_run_begins_with_what_it_is_given(void **state) {
    (void)state;
    begin(1);
    expect_ok(run_own("threads=1", true));
    Options *still = small_options("lr=0");
    Run *run;
    expect_ok(run_new_with(still, &(RunStart){.model = own.kept, .set = "k=2"}, 3, 1, &run));
    (void)run_step(run);
    assert_true(params_hash(model_params(run_model(run))) == own.hash[0]);
    Str text;
    str_init(&text);
    for (long i = 0; i < run_corpus(run)->train.sentences; i++) {
        str_clear(&text);
        corpus_text(run_corpus(run), &run_corpus(run)->train, i, &text);
        assert_int_equal(prepositions(text.s), 2);
    }
    str_done(&text);
    Run *other; /* learns from the corpus of the first */
    expect_ok(run_new_with(still, &(RunStart){.corpus = run_corpus(run), .steps = 5}, 3, 1, &other));
    assert_int_equal(run_steps(other), 5);
    assert_ptr_equal(run_corpus(other), run_corpus(run));
    run_free(other);
    run_free(run);
    options_free(still);
    end();
}

/* What leaves the numbers there are, in float and in double. */
static Options *wild_options(void) {
    Options *o = small_options("lr=1e9");
    static const char *const pairs[] = {"optimizer=sgd", "norm=none", "clip=0"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) expect_ok(options_set_pair(o, pairs[i]));
    return o;
}

static void the_first_fault_in_order_is_said(void **state) {
    (void)state;
    begin(JOBS);
    for (int i = 1; i < JOBS; i++) {
        options_free((Options *)own.job[i].options);
        own.job[i].options = i == 1 ? wild_options() : small_options("vocab=2");
    }
    own.job[1].name = "wild";
    Status s = run_own("threads=1", false);
    assert_int_equal(s.code, STATUS_FAILED);
    assert_non_null(strstr(s.text, "wild"));
    assert_int_equal(own.dones, 1);
    end();
}

static void a_stop_keeps_what_was_done(void **state) {
    (void)state;
    begin(JOBS);
    own.stop_after_first = true;
    assert_int_equal(run_own("threads=1", false).code, STATUS_CANCELLED);
    assert_in_range(own.dones, 1, JOBS - 1); /* the one after it may have ended before the stop was seen */
    for (int i = 0; i < own.dones; i++) assert_int_equal(own.done[i], i);
    end();
}

/* What is not set leaves what was there. */
static void a_variant_takes_what_is_set(void **state) {
    (void)state;
    Options *from = variant_new("layers=3"), *to = variant_new("layers=1 heads=8");
    variant_take(to, from, "layers heads");
    assert_int_equal(options_int(to, "layers"), 3);
    assert_int_equal(options_int(to, "heads"), 8);
    options_free(from);
    options_free(to);
}

/* ---- crew alone ---- */

static Status ask_for_threads(void *user, int job, CrewSeat *seat) {
    int *most = user;
    (void)job;
    *most = crew_threads(seat);
    return crew_goes_on(seat, 0.5, "half") && !cancel_wanted() ? status_ok() : status_cancelled();
}

static Status one_job(Study *s) {
    int most = 0;
    STATUS_TRY(crew_run(s, &(CrewPlan){.jobs = 1, .work = ask_for_threads, .user = &most}));
    assert_int_equal(most, 2);
    return crew_run(s, &(CrewPlan){.jobs = 0});
}

static void a_job_alone_has_all_threads(void **state) {
    (void)state;
    Experiment e = experiment;
    e.run = one_job;
    Options *o = catalog_options(&e.entry);
    expect_ok(options_set_pair(o, "threads=2"));
    Study *s = study_new(&e.entry, o);
    expect_ok(study_run(s));
    study_free(s);
}

/* A job that a stop finds at work, and that ends well all the same. */
static Status work_until_stopped(void *user, int job, CrewSeat *seat) {
    (void)user;
    (void)job;
    while (crew_goes_on(seat, 0.5, "half")) poll(NULL, 0, 1);
    return status_ok();
}

static Status stop_at_a_look(void *user, int job) {
    (void)user;
    (void)job;
    study_cancel(own.study);
    return status_ok();
}

static Status count_taken(void *user, int job) {
    assert_int_equal(job, (*(int *)user)++);
    return status_ok();
}

static Status stopped_at_work(Study *s) {
    int taken = 0;
    CrewPlan plan = {
        .jobs = 3, .work = work_until_stopped, .look = stop_at_a_look, .take = count_taken, .user = &taken};
    Status status = crew_run(s, &plan);
    assert_int_equal(taken, 1);
    return status;
}

/* It is taken; those that were not begun are not waited for. */
static void a_stop_takes_what_ends_well(void **state) {
    (void)state;
    Experiment e = experiment;
    e.run = stopped_at_work;
    Options *o = catalog_options(&e.entry);
    expect_ok(options_set_pair(o, "threads=1"));
    own.study = study_new(&e.entry, o);
    Status s = study_run(own.study);
    assert_int_equal(s.code, STATUS_CANCELLED);
    study_free(own.study);
}

static void *ask_fingerprint(void *out) {
    *(uint64_t *)out = fingerprint();
    return NULL;
}

/* Whoever asks first, and whatever was trained before. */
static void there_is_one_fingerprint(void **state) {
    (void)state;
    uint64_t seen[3] = {0};
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, ask_fingerprint, &seen[i]), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 3; i++) assert_true(seen[i] != 0 && seen[i] == fingerprint());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_one_fingerprint),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits_in_order),
        cmocka_unit_test(what_was_trained_is_kept),
        cmocka_unit_test(damage_is_trained_again),
        cmocka_unit_test(other_makings_have_other_names),
        cmocka_unit_test(a_run_begins_with_what_it_is_given),
        cmocka_unit_test(the_first_fault_in_order_is_said),
        cmocka_unit_test(a_stop_keeps_what_was_done),
        cmocka_unit_test(a_variant_takes_what_is_set),
        cmocka_unit_test(a_job_alone_has_all_threads),
        cmocka_unit_test(a_stop_takes_what_ends_well),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
