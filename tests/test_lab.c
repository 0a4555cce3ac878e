/* The live laboratory: the training clock, going back, and that no way of getting to a step changes a bit; beginning
 * again; what cannot be made. */
#include "lab_fixture.h"

#include "blas.h"
#include "clock.h"
#include "gemm.h"
#include "lab_internal.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>

static void threads_and_looking_change_no_bit(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab("threads=2 start=run");
    assert_ok(lab_do(l, "decode run"));
    for (int i = 1; i <= FIXTURE_STEPS; i++) {
        assert_true(lab_turn(l));
        snapshot_unref(lab_snapshot(l));
        if (lab_hash(l) != hash[i]) fail_msg("step %d differs", i);
    }
    lab_free(l);
}

/* ---- looks ---- */

typedef struct {
    int parts, most;
    bool unfinished;
} Told;

static bool be_told(void *data, const Snapshot *so_far) {
    Told *t = data;
    t->unfinished = t->unfinished || snapshot_facts(so_far)->unfinished;
    return ++t->parts < t->most;
}

static void a_look_comes_in_parts(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    Told all = {.most = 100}, first = {.most = 1};
    Snapshot *s = lab_look(l, be_told, &all);
    assert_non_null(s);
    assert_true(all.parts > 5 && all.unfinished);
    assert_false(snapshot_facts(s)->unfinished);
    snapshot_unref(s);
    assert_null(lab_look(l, be_told, &first)); /* not wanted any more */
    assert_int_equal(first.parts, 1);
    lab_free(l);
}

static void what_did_not_change_is_kept(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    Snapshot *a = lab_snapshot(l), *b = lab_snapshot(l);
    assert_ptr_equal(snapshot_field(a, "attention.0.weights"), snapshot_field(b, "attention.0.weights"));
    assert_ptr_equal(snapshot_table(a, "tree"), snapshot_table(b, "tree"));
    snapshot_unref(b);
    fixture_do(l, "token next");
    b = lab_snapshot(l);
    assert_ptr_equal(snapshot_table(a, "tree"), snapshot_table(b, "tree")); /* searched from the prompt */
    assert_ptr_not_equal(snapshot_field(a, "attention.0.weights"), snapshot_field(b, "attention.0.weights"));
    snapshot_unref(a);
    fixture_do(l, "head 1 1 off");
    a = lab_snapshot(l);
    assert_ptr_not_equal(snapshot_table(a, "tree"), snapshot_table(b, "tree"));
    snapshot_unref(b);
    fixture_do(l, "step");
    b = lab_snapshot(l);
    assert_ptr_not_equal(snapshot_field(a, "attention.0.weights"), snapshot_field(b, "attention.0.weights"));
    snapshot_unref(a);
    snapshot_unref(b);
    lab_free(l);
}

static void wandering_changes_no_bit(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "step");
    assert_true(lab_hash(l) == hash[1]);
    fixture_do(l, "step 60");
    assert_true(lab_hash(l) == hash[61]);
    fixture_do(l, "back 7");
    assert_true(lab_hash(l) == hash[54]);
    fixture_do(l, "seek 3");
    assert_true(lab_hash(l) == hash[3]);
    fixture_do(l, "step 2");
    assert_true(lab_hash(l) == hash[5]);
    lab_free(l);
}

static void every_step_comes_back(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab("history=1"); /* room for few: long replays */
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[FIXTURE_STEPS]);
    static const int order[] = {137, 50, 51, 0, 1, 159, 8, 7, 120, 119, 118, 160, 64};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        char line[32];
        snprintf(line, sizeof line, "seek %d", order[i]);
        fixture_do(l, line);
        if (lab_hash(l) != hash[order[i]]) fail_msg("step %d differs", order[i]);
        SnapshotFacts f = fixture_facts(l);
        assert_int_equal(f.step, order[i]);
        assert_int_equal(f.head, FIXTURE_STEPS);
        assert_int_equal(f.state, order[i] == FIXTURE_STEPS ? RUN_FINISHED : RUN_PAUSED);
    }
    lab_free(l);
}

static void the_past_runs_into_the_present(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 70");
    fixture_do(l, "seek 20");
    assert_ok(lab_do(l, "step 60")); /* over the head, which is 70 */
    while (lab_turn(l)) {
        SnapshotFacts f = fixture_facts(l);
        assert_true(lab_hash(l) == hash[f.step]);
        assert_int_equal(f.head, f.step > 70 ? f.step : 70);
    }
    assert_int_equal(fixture_facts(l).step, 80);
    fixture_do(l, "seek 75");
    fixture_do(l, "live");
    assert_true(lab_hash(l) == hash[80]);
    fixture_do(l, "back");
    fixture_do(l, "until 100");
    assert_true(lab_hash(l) == hash[100]);
    fixture_do(l, "back 2");
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[FIXTURE_STEPS]);
    lab_free(l);
}

/* Commands that come while a jump is under way count from where it goes. */
static void jumps_add_up(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 90");
    assert_false(fixture_facts(l).jumps);
    assert_ok(lab_do(l, "seek 47"));
    assert_true(fixture_facts(l).jumps); /* held, yet what is looked at is not 47 */
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    assert_ok(lab_do(l, "back"));
    assert_ok(lab_do(l, "back 2"));
    fixture_finish(l);
    assert_int_equal(fixture_facts(l).step, 44);
    assert_false(fixture_facts(l).jumps);
    assert_true(lab_hash(l) == hash[44]);
    assert_ok(lab_do(l, "seek 47"));
    assert_ok(lab_do(l, "step"));
    fixture_finish(l);
    assert_int_equal(fixture_facts(l).step, 48);
    assert_ok(lab_do(l, "seek 70"));
    assert_ok(lab_do(l, "pause")); /* stays where it is */
    fixture_finish(l);
    assert_true(lab_hash(l) == hash[fixture_facts(l).step]);
    lab_free(l);
}

static void settings_are_replayed(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 40");
    fixture_do(l, "set lr 0.02");
    fixture_do(l, "set clip 0.5");
    assert_string_equal(fixture_log(l), "40 set lr 0.02; 40 set clip 0.5");
    uint64_t at_40 = lab_hash(l);
    fixture_do(l, "until 60");
    uint64_t at_60 = lab_hash(l);
    fixture_do(l, "set weight_decay 0.1");
    fixture_do(l, "until 90");
    uint64_t at_90 = lab_hash(l);
    fixture_do(l, "seek 60");
    assert_true(lab_hash(l) == at_60);
    fixture_do(l, "seek 39");
    fixture_do(l, "step");
    assert_true(lab_hash(l) == at_40);
    fixture_do(l, "until 90");
    assert_true(lab_hash(l) == at_90);

    Lab *plain = fixture_lab(NULL);
    fixture_do(plain, "until 60");
    assert_true(lab_hash(plain) != at_60);
    lab_free(plain);
    lab_free(l);
}

static void the_past_is_not_changed(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 30");
    uint64_t head = lab_hash(l);
    fixture_do(l, "seek 10");
    fixture_refused(l, "set lr 1", "fork");
    fixture_refused(l, "set lr 1", "step 10");
    fixture_do(l, "live");
    assert_true(lab_hash(l) == head);
    assert_string_equal(fixture_log(l), "");
    fixture_refused(l, "fork", "newest already");
    fixture_refused(l, "seek 31", "until 31");
    fixture_refused(l, "seek 161", "from 0 to 160");
    fixture_refused(l, "until 30", "from 31 to 160");
    fixture_refused(l, "set lr fast", "'fast' is not a number");
    fixture_refused(l, "set speed 1", "speed");
    lab_free(l);
}

static void a_fork_goes_on_from_the_past(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 30");
    fixture_do(l, "set lr 0.02");
    fixture_do(l, "until 100");
    assert_true(lab_hash(l) != hash[100]);
    assert_ok(lab_do(l, "seek 30"));
    assert_ok(lab_do(l, "fork")); /* while the jump is under way */
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.head, 30);
    assert_int_equal(f.step, 30);
    assert_string_equal(fixture_log(l), ""); /* the change was made after step 30 */
    Snapshot *s = lab_snapshot(l);
    assert_int_equal(table_rows(snapshot_table(s, "curve")), 30);
    snapshot_unref(s);
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[FIXTURE_STEPS]);
    fixture_do(l, "seek 77");
    assert_true(lab_hash(l) == hash[77]);
    lab_free(l);
}

/* The step that the table of updates tells of; -1: nobody watched it. */
static long update_known(Lab *l) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "pass");
    assert_non_null(t);
    long step = table_is_empty(t, 0, table_find(t, "update")) ? -1 : table_int(t, 0, table_find(t, "update"));
    snapshot_unref(s);
    return step;
}

static void a_step_is_reached_from_wherever_one_is(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    static const long to[] = {20, 20, 5, 40, 0, 39, 40, 41};
    long head = 0;
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        char line[32];
        snprintf(line, sizeof line, "reach %ld", to[i]);
        fixture_do(l, line);
        if (to[i] > head) head = to[i];
        SnapshotFacts f = fixture_facts(l);
        assert_true(f.step == to[i] && f.head == head && f.state == RUN_PAUSED);
        assert_true(lab_hash(l) == hash[to[i]]);
    }
    fixture_refused(l, "reach 161", "a step");
    lab_free(l);
}

static void a_held_run_shows_its_last_update(void **state) {
    (void)state;
    uint64_t straight[FIXTURE_STEPS + 1];
    fixture_straight(straight);
    Lab *l = fixture_lab(NULL);
    assert_ok(lab_do(l, "run"));
    for (int i = 0; i < 3; i++) assert_true(lab_turn(l));
    assert_int_equal(update_known(l), 3);
    lab_expect_look(l, false);
    for (int i = 0; i < 3; i++) assert_true(lab_turn(l));
    assert_int_equal(update_known(l), -1); /* nothing is kept of what nobody sees */
    assert_ok(lab_do(l, "pause"));
    assert_int_equal(fixture_facts(l).step, 7);
    assert_int_equal(update_known(l), 7);
    lab_expect_look(l, false);
    fixture_do(l, "until 20"); /* where it is going to stop it is kept */
    assert_int_equal(update_known(l), 20);
    lab_expect_look(l, false);
    assert_ok(lab_do(l, "until 30"));
    assert_true(lab_turn(l));
    fixture_do(l, "seek 5");
    assert_int_equal(update_known(l), 5);
    fixture_do(l, "fork"); /* the run that goes on from there has it, too */
    assert_int_equal(fixture_facts(l).head, 5);
    assert_int_equal(update_known(l), 5);
    fixture_do(l, "until 70");
    fixture_do(l, "watch tokens");
    fixture_do(l, "seek 64"); /* as it is kept: nothing is replayed */
    fixture_do(l, "watch step");
    assert_int_equal(update_known(l), 64);
    fixture_do(l, "watch tokens");
    fixture_do(l, "seek 32");
    fixture_do(l, "fork");
    fixture_do(l, "watch step"); /* looked at only now */
    assert_int_equal(update_known(l), 32);
    fixture_do(l, "reach 160");
    assert_true(lab_hash(l) == straight[160]);
    lab_free(l);
}

/* A step takes a hundredth of a second here: what counts are the steps of the last second, not those before it. */
static void speed_is_that_of_the_last_second(void **state) {
    (void)state;
    Lab *l = fixture_lab("epochs=8");
    clock_freeze(5000);
    assert_ok(lab_do(l, "run"));
    assert_true(lab_turn(l));
    assert_true(isnan(fixture_facts(l).tokens_per_s)); /* of one moment there is no speed */
    for (int i = 1; i < 300; i++) {
        clock_freeze(5000 + (i < 100 ? 0.002 * i : 0.2 + 0.01 * (i - 100)));
        assert_true(lab_turn(l));
    }
    Snapshot *s = lab_snapshot(l);
    const Table *curve = snapshot_table(s, "curve");
    double tokens = 0;
    for (int i = 200; i < 300; i++) tokens += (double)table_int(curve, i, 1);
    double speed = snapshot_facts(s)->tokens_per_s;
    if (!(fabs(speed - tokens) < 0.02 * tokens)) fail_msg("%g, not %g", speed, tokens);
    snapshot_unref(s);
    clock_freeze(-1);
    lab_free(l);
}

static void a_plan_ends_with_a_full_test(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "run");
    Snapshot *s = lab_snapshot(l);
    const SnapshotFacts *f = snapshot_facts(s);
    assert_int_equal(f->state, RUN_FINISHED);
    assert_int_equal(f->step, FIXTURE_STEPS);
    assert_int_equal(f->per_epoch, 40);
    assert_int_equal(f->test_step, FIXTURE_STEPS);
    assert_true(f->test_whole);
    assert_true(f->test_nll > f->floor_nll && f->floor_nll > 0.8 && f->floor_nll < 1.0);
    assert_true(fabs(exp(f->language_floor) - 2.4954) < 1e-4);
    const Table *test = snapshot_table(s, "test"), *curve = snapshot_table(s, "curve");
    assert_int_equal(table_rows(test), 3); /* 50, 100 and the end */
    assert_int_equal(table_int(test, 0, 0), 50);
    assert_true(table_int(test, 2, 1) > 5 * table_int(test, 1, 1)); /* 2,000 sentences, not 256 */
    assert_int_equal(table_rows(curve), FIXTURE_STEPS);
    assert_true(table_real(curve, FIXTURE_STEPS - 1, 2) == f->loss);
    assert_true(isnan(f->tokens_per_s));
    snapshot_unref(s);
    fixture_refused(l, "run", "restart");
    fixture_refused(l, "step", "restart");
    fixture_do(l, "seek 60");
    SnapshotFacts past = fixture_facts(l);
    assert_int_equal(past.test_step, 50);
    assert_false(past.test_whole);
    fixture_do(l, "eval");
    past = fixture_facts(l);
    assert_int_equal(past.test_step, 60);
    assert_true(past.test_whole);
    assert_non_null(strstr(past.message, "step 60: test perplexity"));
    lab_free(l);
}

static void a_diverged_run_keeps_the_last_good_step(void **state) {
    (void)state;
    Lab *l = fixture_lab("norm=none optimizer=sgd lr=1000");
    uint64_t last = lab_hash(l);
    assert_ok(lab_do(l, "run"));
    while (lab_busy(l)) {
        last = lab_hash(l);
        assert_true(lab_turn(l));
    }
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.state, RUN_DIVERGED);
    assert_true(f.step < FIXTURE_STEPS);
    assert_true(lab_hash(l) == last);
    assert_string_not_equal(f.bad_tensor, "");
    assert_non_null(strstr(f.message, f.bad_tensor));
    assert_int_equal(f.message_level, 2);
    fixture_refused(l, "run", f.bad_tensor);
    fixture_do(l, "seek 0");
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    fixture_do(l, "fork");
    fixture_do(l, "set lr 0.001");
    fixture_do(l, "step 10");
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    assert_int_equal(fixture_facts(l).step, 10);
    lab_free(l);
}

static void a_tokenizer_goes_with_its_model(void **state) {
    (void)state;
    Lab *l = lab_new(fixture_options("tokenizer=tok.bin")); /* as if a model of others had been there before */
    fixture_finish(l);
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    fixture_refused(l, "restart tokenizer=tok.bin", "tokenizer= goes with model=");
    fixture_do(l, "restart model=none");
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    lab_free(l);
}

static void a_restart_may_change_options(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 20");
    fixture_refused(l, "restart d=15", "15 / 2");
    fixture_refused(l, "restart depth=3", "depth");
    fixture_refused(l, "restart corpus=nowhere", "nowhere");
    assert_true(lab_hash(l) == hash[20]);
    assert_ok(lab_do(l, "restart arch=gpt lr=0.01"));
    assert_int_equal(fixture_facts(l).state, RUN_LOADING);
    fixture_finish(l);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.head, 0);
    assert_string_equal(f.arch, "gpt");
    assert_int_equal(f.state, RUN_PAUSED);
    assert_int_equal(f.prompt_tokens, 6);
    fixture_do(l, "prompt the owl");
    fixture_do(l, "restart arch=modern lr=0.003");
    assert_int_equal(fixture_facts(l).prompt_tokens, 3); /* stays */
    fixture_do(l, "restart prompt=the");
    assert_int_equal(fixture_facts(l).prompt_tokens, 2);
    assert_ok(lab_do(l, "restart prompt=teh")); /* seen when the words of the corpus are known */
    fixture_finish(l);
    assert_non_null(strstr(fixture_facts(l).message, "teh"));
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[FIXTURE_STEPS]);
    lab_free(l);
}

static const char *setting(const Snapshot *s, const char *option) {
    const Table *t = snapshot_table(s, "settings");
    assert_non_null(t);
    for (long i = 0; i < table_rows(t); i++)
        if (strcmp(table_text(t, i, 0), option) == 0) return table_text(t, i, 1);
    return NULL;
}

static void a_snapshot_says_how_the_run_was_asked_for(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "prompt the owl");
    Snapshot *s = lab_snapshot(l);
    assert_string_equal(setting(s, "heads"), "2");
    assert_string_equal(setting(s, "sentences"), "640");
    assert_string_equal(setting(s, "prompt"), "the owl");
    assert_null(setting(s, "kv_heads"));
    snapshot_unref(s);
    lab_free(l);
}

/* What cannot be made. */

static void a_run_that_cannot_be_made_says_why(void **state) {
    (void)state;
    Lab *l = lab_new(fixture_options("corpus=nowhere"));
    assert_int_equal(fixture_facts(l).state, RUN_LOADING);
    Status s = lab_prepare(l);
    assert_int_equal(s.code, STATUS_USAGE);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.state, RUN_FAILED);
    assert_non_null(strstr(f.message, "nowhere"));
    fixture_refused(l, "run", "there is none");
    assert_false(lab_turn(l));
    fixture_do(l, "restart corpus=farm");
    assert_int_equal(fixture_facts(l).state, RUN_PAUSED);
    lab_free(l);
    l = lab_new(fixture_options("prompt=dogz"));
    s = lab_prepare(l);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "dogz"));
    lab_free(l);
}

static void refusals_are_messages(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    long before = fixture_facts(l).message_number;
    fixture_refused(l, "stp", "did you mean 'step'");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.message_number, before + 1);
    assert_int_equal(f.message_level, 2);
    assert_non_null(strstr(f.message, "'step'"));
    fixture_refused(l, "watch attention nex", "'next'");
    fixture_do(l, "watch");
    Snapshot *s = lab_snapshot(l);
    assert_int_equal(snapshot_tables(s) + snapshot_fields(s), 3); /* settings, state and tampering are always there */
    snapshot_unref(s);
    lab_free(l);
}

static void all_memory_comes_back(void **state) {
    (void)state;
    size_t before = mem_count().live;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 20");
    fixture_do(l, "seek 5");
    Snapshot *s = lab_snapshot(l);
    fixture_do(l, "restart");
    lab_free(l);
    snapshot_unref(s);
    assert_int_equal(mem_count().live, before);
}

/* Stays so for this program: the last test. */
static void slow_products_are_said_once(void **state) {
    (void)state;
    assert_true(blas_choose(false) && gemm_choose(0));
    Lab *l = fixture_lab(NULL);
    (void)fixture_facts(l);
    SnapshotFacts first = fixture_facts(l);
    assert_non_null(strstr(first.message, "OpenBLAS cannot be opened"));
    assert_int_equal(first.message_level, MESSAGE_WARNING);
    assert_ok(lab_do(l, "step"));
    assert_true(lab_turn(l));
    SnapshotFacts next = fixture_facts(l);
    assert_int_equal(next.message_number, first.message_number);
    lab_free(l);
    assert_true(blas_choose(true));
    assert_true(gemm_choose(512) || gemm_choose(256) || gemm_choose(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_looking_change_no_bit),
        cmocka_unit_test(a_held_run_shows_its_last_update),
        cmocka_unit_test(a_step_is_reached_from_wherever_one_is),
        cmocka_unit_test(a_look_comes_in_parts),
        cmocka_unit_test(what_did_not_change_is_kept),
        cmocka_unit_test(wandering_changes_no_bit),
        cmocka_unit_test(every_step_comes_back),
        cmocka_unit_test(the_past_runs_into_the_present),
        cmocka_unit_test(jumps_add_up),
        cmocka_unit_test(settings_are_replayed),
        cmocka_unit_test(the_past_is_not_changed),
        cmocka_unit_test(a_fork_goes_on_from_the_past),
        cmocka_unit_test(speed_is_that_of_the_last_second),
        cmocka_unit_test(a_plan_ends_with_a_full_test),
        cmocka_unit_test(a_diverged_run_keeps_the_last_good_step),
        cmocka_unit_test(a_restart_may_change_options),
        cmocka_unit_test(a_tokenizer_goes_with_its_model),
        cmocka_unit_test(a_snapshot_says_how_the_run_was_asked_for),
        cmocka_unit_test(a_run_that_cannot_be_made_says_why),
        cmocka_unit_test(refusals_are_messages),
        cmocka_unit_test(all_memory_comes_back),
        cmocka_unit_test(slow_products_are_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
