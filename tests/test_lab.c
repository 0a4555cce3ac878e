/* The live laboratory: both clocks, going back, and that no way of getting to a step changes a bit. */
#include "lab_fixture.h"

#include "clock.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 160 };

/* Hashes of all steps of a straight run, which is made once. */
static void straight(uint64_t hash[STEPS + 1]) {
    static uint64_t made[STEPS + 1];
    static bool known;
    if (known) memcpy(hash, made, sizeof made);
    if (known) return;
    Lab *l = fixture_lab(NULL);
    hash[0] = lab_hash(l);
    assert_ok(lab_do(l, "run"));
    for (int i = 1; i <= STEPS; i++) {
        assert_true(lab_turn(l));
        hash[i] = lab_hash(l);
    }
    assert_false(lab_busy(l));
    lab_free(l);
    memcpy(made, hash, sizeof made);
    known = true;
}

static void threads_and_looking_change_no_bit(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
    Lab *l = fixture_lab("threads=2 start=run");
    assert_ok(lab_do(l, "decode run"));
    for (int i = 1; i <= STEPS; i++) {
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
    uint64_t hash[STEPS + 1];
    straight(hash);
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
    uint64_t hash[STEPS + 1];
    straight(hash);
    Lab *l = fixture_lab("history=1"); /* room for few: long replays */
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[STEPS]);
    static const int order[] = {137, 50, 51, 0, 1, 159, 8, 7, 120, 119, 118, 160, 64};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        char line[32];
        snprintf(line, sizeof line, "seek %d", order[i]);
        fixture_do(l, line);
        if (lab_hash(l) != hash[order[i]]) fail_msg("step %d differs", order[i]);
        SnapshotFacts f = fixture_facts(l);
        assert_int_equal(f.step, order[i]);
        assert_int_equal(f.head, STEPS);
        assert_int_equal(f.state, order[i] == STEPS ? RUN_FINISHED : RUN_PAUSED);
    }
    lab_free(l);
}

static void the_past_runs_into_the_present(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
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
    assert_true(lab_hash(l) == hash[STEPS]);
    lab_free(l);
}

/* Commands that come while a jump is under way count from where it goes. */
static void jumps_add_up(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 90");
    assert_ok(lab_do(l, "seek 47"));
    assert_ok(lab_do(l, "back"));
    assert_ok(lab_do(l, "back 2"));
    fixture_finish(l);
    assert_int_equal(fixture_facts(l).step, 44);
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
    assert_string_equal(lab_log(l), "40 set lr 0.02\n40 set clip 0.5\n");
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
    assert_string_equal(lab_log(l), "");
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
    uint64_t hash[STEPS + 1];
    straight(hash);
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
    assert_string_equal(lab_log(l), ""); /* the change was made after step 30 */
    Snapshot *s = lab_snapshot(l);
    assert_int_equal(table_rows(snapshot_table(s, "curve")), 30);
    snapshot_unref(s);
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[STEPS]);
    fixture_do(l, "seek 77");
    assert_true(lab_hash(l) == hash[77]);
    lab_free(l);
}

static void a_plan_ends_with_a_full_test(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "run");
    Snapshot *s = lab_snapshot(l);
    const SnapshotFacts *f = snapshot_facts(s);
    assert_int_equal(f->state, RUN_FINISHED);
    assert_int_equal(f->step, STEPS);
    assert_int_equal(f->per_epoch, 40);
    assert_int_equal(f->test_step, STEPS);
    assert_true(f->test_whole);
    assert_true(f->test_nll > f->floor_nll && f->floor_nll > 0.8 && f->floor_nll < 1.0);
    assert_true(fabs(exp(f->language_floor) - 2.4954) < 1e-4);
    const Table *test = snapshot_table(s, "test"), *curve = snapshot_table(s, "curve");
    assert_int_equal(table_rows(test), 3); /* 50, 100 and the end */
    assert_int_equal(table_int(test, 0, 0), 50);
    assert_true(table_int(test, 2, 1) > 5 * table_int(test, 1, 1)); /* 2,000 sentences, not 256 */
    assert_int_equal(table_rows(curve), STEPS);
    assert_true(table_real(curve, STEPS - 1, 2) == f->loss);
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
    assert_true(f.step < STEPS);
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

/* The decoding clock. */

static void a_prompt_is_words_of_the_language(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.prompt_tokens, 6); /* <s> the dogs near the cat */
    assert_int_equal(f.position, 6);
    fixture_refused(l, "prompt the dogz near", "dogz");
    fixture_refused(l, "prompt the </s>", "no word for a prompt");
    assert_int_equal(fixture_facts(l).prompt_tokens, 6);
    fixture_do(l, "prompt \"the owl\"");
    f = fixture_facts(l);
    assert_int_equal(f.prompt_tokens, 3);
    assert_int_equal(f.position, 3);
    fixture_do(l, "prompt");
    assert_int_equal(fixture_facts(l).prompt_tokens, 1);
    char line[400] = "prompt";
    for (int i = 0; i < 32; i++) strcat(line, " the");
    fixture_refused(l, line, "33 tokens");
    lab_free(l);
}

static void tokens_go_forward_and_back(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "token back");
    assert_int_equal(fixture_facts(l).position, 5);
    fixture_do(l, "token back 31");
    assert_int_equal(fixture_facts(l).position, 1);
    fixture_refused(l, "token back", "<s>");
    fixture_do(l, "token to 6");
    assert_int_equal(fixture_facts(l).generated_tokens, 0);
    fixture_do(l, "token next 2");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.position, 8);
    assert_int_equal(f.generated_tokens, 2);
    fixture_do(l, "token back 2");
    fixture_do(l, "token next"); /* already known */
    f = fixture_facts(l);
    assert_int_equal(f.position, 7);
    assert_int_equal(f.generated_tokens, 2);
    fixture_do(l, "forget");
    f = fixture_facts(l);
    assert_int_equal(f.position, 6);
    assert_int_equal(f.generated_tokens, 0);
    fixture_refused(l, "token to", "token to N");
    fixture_refused(l, "token sideways", "token next");
    lab_free(l);
}

/* Text of the tokens known. */
static void known_text(Lab *l, char *out) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "tokens");
    out[0] = '\0';
    for (long i = 0; i < table_rows(t); i++) {
        strcat(out, table_text(t, i, table_find(t, "token")));
        strcat(out, " ");
    }
    snapshot_unref(s);
}

static void what_is_shown_is_what_the_model_says(void **state) {
    (void)state;
    char before[600], after[600], fresh[600];
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "decode run");
    known_text(l, before);
    SnapshotFacts f = fixture_facts(l);
    assert_true(f.ended || f.position == f.context);
    assert_false(f.decode_running);
    fixture_do(l, "run"); /* the model learns: other tokens */
    known_text(l, after);
    assert_string_not_equal(before, after);
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, fresh);
    assert_int_equal(strncmp(fresh, after, strlen(after) < strlen(fresh) ? strlen(after) : strlen(fresh)), 0);
    assert_true(fixture_facts(l).ended);
    fixture_refused(l, "token next", "ended");
    fixture_refused(l, "decode run", "ended");
    lab_free(l);
}

/* A prompt that comes after training is not answered by the model of before. */
static void a_new_prompt_asks_the_new_model(void **state) {
    (void)state;
    char late[600], early[600];
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "token next");
    fixture_do(l, "run");
    fixture_do(l, "prompt the owl");
    fixture_do(l, "decode run");
    known_text(l, late);
    lab_free(l);
    l = fixture_lab("prompt=the");
    fixture_do(l, "run");
    fixture_do(l, "watch tokens");
    snapshot_unref(lab_snapshot(l));
    fixture_do(l, "prompt the owl");
    snapshot_unref(lab_snapshot(l));
    fixture_do(l, "decode run");
    known_text(l, early);
    assert_string_equal(late, early);
    lab_free(l);
}

static void sampling_is_the_same_each_time(void **state) {
    (void)state;
    char first[600], second[600], greedy[600], other[600];
    Lab *l = fixture_lab("epochs=1");
    fixture_do(l, "run");
    fixture_do(l, "decode run");
    known_text(l, greedy);
    fixture_do(l, "filter tau=1.5 top_k=20");
    known_text(l, first);
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, second);
    assert_int_equal(strncmp(first, second, strlen(first) < strlen(second) ? strlen(first) : strlen(second)), 0);
    assert_string_not_equal(second, greedy);
    SnapshotFacts f = fixture_facts(l);
    assert_true(f.sampling && f.tau > 1.49 && f.top_k == 20 && !f.tau_last);
    fixture_do(l, "filter top_k=1");
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, other);
    assert_string_equal(other, greedy);
    fixture_refused(l, "filter tau=-1", "tau");
    fixture_refused(l, "filter top=1", "top");
    lab_free(l);
}

static Table *table_of(Lab *l, const char *name) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, name);
    Table *copy = t ? table_copy(t) : NULL;
    snapshot_unref(s);
    return copy;
}

static void expect_cell(const Table *t, long row, const char *column, const char *value) {
    Str s;
    str_init(&s);
    table_cell(t, row, table_find(t, column), &s);
    assert_string_equal(s.s, value);
    str_done(&s);
}

/* Ten steps of training go by while they are drawn: they are of the model of the moment when it began. */
static void many_sentences_are_of_one_moment(void **state) {
    (void)state;
    Lab *l = fixture_lab("epochs=1 prompt=the");
    fixture_do(l, "until 20");
    assert_null(table_of(l, "sampling"));
    fixture_do(l, "sampling 100");
    Table *still = table_of(l, "samples"), *run = table_of(l, "sampling"), *worth = table_of(l, "worth");
    assert_int_equal(table_rows(still), 100);
    expect_cell(run, 0, "state", "done");
    expect_cell(run, 0, "taken", "100");
    expect_cell(run, 0, "step", "20");
    expect_cell(run, 0, "prompt", "the");
    expect_cell(worth, 1, "of", "truth");
    expect_cell(worth, 1, "sentences", "100");
    expect_cell(worth, 1, "possible", "1");
    assert_ok(lab_do(l, "step 10"));
    assert_ok(lab_do(l, "sampling 100"));
    fixture_finish(l);
    Table *moving = table_of(l, "samples");
    assert_int_equal(fixture_facts(l).step, 30);
    for (long i = 0; i < 100; i++)
        assert_string_equal(table_text(still, i, table_find(still, "text")),
                            table_text(moving, i, table_find(moving, "text")));
    fixture_do(l, "filter seed=7");
    assert_int_equal(fixture_facts(l).draw_seed, 7);
    table_free(still);
    table_free(moving);
    table_free(run);
    table_free(worth);
    lab_free(l);
}

static void many_sentences_can_be_stopped(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_refused(l, "sampling 0", "1 to 1000000");
    fixture_refused(l, "sampling stop", "no sentences");
    assert_ok(lab_do(l, "sampling 1000000"));
    assert_true(lab_busy(l));
    lab_turn(l);
    assert_ok(lab_do(l, "sampling stop"));
    assert_false(lab_busy(l));
    Table *run = table_of(l, "sampling");
    expect_cell(run, 0, "state", "stopped");
    table_free(run);
    fixture_do(l, "restart seed=2"); /* the vocabulary goes, and with it what was drawn */
    run = table_of(l, "sampling");
    assert_null(run);
    lab_free(l);
}

static void the_decoding_clock_keeps_its_pace(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    lab_set_paced(l, true);
    clock_freeze(100);
    assert_ok(lab_do(l, "decode run 2"));
    assert_true(lab_busy(l));
    assert_true(lab_turn(l));
    assert_int_equal(fixture_facts(l).position, 7);
    assert_false(lab_turn(l));
    assert_true(lab_wait(l) > 0.49 && lab_wait(l) < 0.51);
    clock_freeze(100.5);
    assert_true(lab_turn(l));
    assert_int_equal(fixture_facts(l).position, 8);
    assert_ok(lab_do(l, "decode pause"));
    assert_true(isinf(lab_wait(l)));
    clock_freeze(-1);
    fixture_refused(l, "decode run 0", "tokens per second");
    fixture_refused(l, "decode backwards", "decode run");
    lab_free(l);
}

/* Tampering. */

static void expect_sentence(Lab *l, const char *want) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "tokens");
    Str text;
    str_init(&text);
    for (long i = 0; i < table_rows(t); i++)
        str_addf(&text, "%s%s", i ? " " : "", table_text(t, i, table_find(t, "token")));
    assert_string_equal(text.s, want);
    str_done(&text);
    snapshot_unref(s);
}

static double model_p(Lab *l, const char *word) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "next");
    double p = -1;
    for (long i = 0; i < table_rows(t); i++)
        if (!strcmp(table_text(t, i, table_find(t, "token")), word)) p = table_real(t, i, table_find(t, "model_p"));
    snapshot_unref(s);
    return p;
}

/* Another word in the prompt is seen like one that was typed; what is generated follows it, and goes when it goes. */
static void words_are_swapped_and_forced(void **state) {
    (void)state;
    Lab *l = fixture_lab("prompt=");
    fixture_do(l, "until 20");
    fixture_do(l, "prompt the owls near the cat");
    double owls = model_p(l, "chases");
    fixture_do(l, "prompt the dogs near the cat");
    double dogs = model_p(l, "chases");
    assert_true(fabs(owls - dogs) > 1e-9);
    fixture_do(l, "swap 2 owls");
    assert_string_equal(fixture_facts(l).tamper, "token 2 is owls");
    expect_sentence(l, "<s> the owls near the cat");
    assert_true(fabs(model_p(l, "chases") - owls) < 1e-12);
    fixture_do(l, "swap 2 back");
    assert_string_equal(fixture_facts(l).tamper, "");
    assert_true(fabs(model_p(l, "chases") - dogs) < 1e-12);
    fixture_do(l, "force bones");
    expect_sentence(l, "<s> the dogs near the cat bones");
    assert_int_equal(fixture_facts(l).position, 7);
    fixture_do(l, "token next");
    fixture_do(l, "swap 6 eat");
    assert_string_equal(fixture_facts(l).tamper, "token 6 is eat");
    assert_int_equal(fixture_facts(l).generated_tokens, 2);
    fixture_do(l, "swap 1 every");
    assert_string_equal(fixture_facts(l).tamper, "token 1 is every, token 6 is eat");
    fixture_do(l, "swap all back");
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "forget");
    fixture_do(l, "force </s>");
    assert_true(fixture_facts(l).ended);
    fixture_refused(l, "force eat", "the sentence has ended");
    fixture_refused(l, "swap 1 whale", "unknown words: 'whale'");
    fixture_refused(l, "swap 0 the", "a position");
    fixture_refused(l, "swap 9 the", "from 1 to 6");
    fixture_refused(l, "swap 2 </s>", "ends a sentence");
    fixture_do(l, "prompt the dog");
    assert_string_equal(fixture_facts(l).tamper, ""); /* a new prompt is the prompt */
    lab_free(l);
}

/* While something is tampered with, what the model would say without it stands beside. */
static void the_untouched_model_stands_beside(void **state) {
    (void)state;
    Lab *l = fixture_lab("prompt=");
    fixture_do(l, "until 20");
    fixture_do(l, "prompt the dogs near the cat");
    Snapshot *s = lab_snapshot(l);
    assert_null(snapshot_table(s, "untouched"));
    const Table *next = snapshot_table(s, "next");
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "swap 2 owls");
    Snapshot *tampered = lab_snapshot(l);
    const Table *t = snapshot_table(tampered, "untouched"), *other = snapshot_table(tampered, "next");
    assert_non_null(t);
    double far = 0;
    for (long i = 0; i < table_rows(next); i++) {
        long id = (long)table_int(next, i, table_find(next, "id"));
        double p = table_real(next, i, table_find(next, "model_p"));
        assert_int_equal(table_int(t, id, table_find(t, "id")), id);
        assert_true(fabs(table_real(t, id, table_find(t, "model_p")) - p) < 1e-6);
        for (long k = 0; k < table_rows(other); k++)
            if (table_int(other, k, table_find(other, "id")) == id)
                far = fmax(far, fabs(table_real(other, k, table_find(other, "model_p")) - p));
    }
    assert_true(far > 1e-4); /* tampering does something */
    snapshot_unref(tampered);
    snapshot_unref(s);
    lab_free(l);
}

static void tampering_is_said_and_changes_no_parameter(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "window 2");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.tamper, "layer 2 head 1 off, window 2");
    assert_int_equal(f.probe_window, 2);
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[STEPS]);
    Snapshot *s = lab_snapshot(l);
    const Field *off = snapshot_field(s, "attention.head_off"), *w = snapshot_field(s, "attention.%d.weights", 0);
    assert_true(field_at(off, 1, 0, 0, 0) > 0 && !(field_at(off, 0, 0, 0, 0) > 0));
    assert_true(field_at(w, 0, 5, 5, 0) > 0 && !(field_at(w, 0, 5, 3, 0) > 0));
    const Field *mix = snapshot_field(s, "attention.%d.mix", 1);
    for (int i = 0; i < mix->dim[1] * mix->dim[2]; i++) assert_true(fabs((double)mix->x[i]) <= 0);
    snapshot_unref(s);
    fixture_do(l, "head 2 1 toggle");
    fixture_do(l, "window model");
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "window none");
    assert_string_equal(fixture_facts(l).tamper, "no window");
    fixture_do(l, "head 1 2 off");
    fixture_do(l, "head all on");
    assert_string_equal(fixture_facts(l).tamper, "no window");
    fixture_refused(l, "head 3 1 off", "a layer must be a whole number from 1 to 2");
    fixture_refused(l, "head 1 0 off", "a head");
    fixture_refused(l, "head 1 1 away", "toggle");
    lab_free(l);
}

static const char *poked(Lab *l) {
    static char text[64];
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "poke"), *lines = snapshot_table(s, "state");
    snprintf(text, sizeof text, "%lld %s", table_int(t, 0, table_find(t, "position")),
             table_text(t, 0, table_find(t, "other")));
    for (long i = 0; i < table_rows(lines); i++)
        if (strncmp(table_text(lines, i, 0), "poke", 4) == 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", table_text(lines, i, 0));
    snapshot_unref(s);
    return text;
}

static void a_word_may_be_poked(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    assert_int_equal(strncmp(poked(l), "1 ", 2), 0);
    assert_null(strchr(poked(l), ',')); /* as at first: no line brings it back */
    fixture_do(l, "poke 3");
    assert_int_equal(strncmp(poked(l), "3 ", 2), 0);
    assert_non_null(strstr(poked(l), ", poke 3"));
    fixture_do(l, "poke 2 cat");
    assert_string_equal(poked(l), "2 cat, poke 2 cat");
    fixture_refused(l, "poke 2 zebra", "no word 'zebra'");
    fixture_refused(l, "poke 0", "from 1 to 31");
    fixture_refused(l, "poke cat", "whole number");
    assert_string_equal(poked(l), "2 cat, poke 2 cat");
    fixture_do(l, "restart seed=2");
    assert_int_equal(strncmp(poked(l), "1 ", 2), 0);
    lab_free(l);
}

/* Beginning again, files. */

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
    uint64_t hash[STEPS + 1];
    straight(hash);
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
    assert_true(lab_hash(l) == hash[STEPS]);
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

static void a_saved_run_goes_on(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
    char path[64], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 90");
    fixture_do(l, "seek 50");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "step 50"));
    assert_int_equal(fixture_facts(l).saved, 50);
    fixture_do(l, "restart");
    assert_int_equal(fixture_facts(l).saved, -1);
    lab_free(l);

    l = fixture_lab("arch=gpt batch=5 sentences=100 lr=0.1"); /* the file's plan holds, not these */
    fixture_do(l, "until 5");
    snprintf(line, sizeof line, "open \"%s\"", path);
    fixture_do(l, line);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.step, 50);
    assert_int_equal(f.steps, STEPS);
    assert_int_equal(f.state, RUN_PAUSED);
    assert_string_equal(f.arch, "modern");
    assert_true(isnan(f.loss));
    assert_true(lab_hash(l) == hash[50]);
    fixture_do(l, "until 137");
    assert_true(lab_hash(l) == hash[137]);
    assert_true(fixture_facts(l).loss > 0);
    fixture_do(l, "seek 60");
    assert_true(lab_hash(l) == hash[60]);
    fixture_refused(l, "seek 49", "step 50");
    fixture_refused(l, "open /nowhere/at/all", "/nowhere/at/all");
    fixture_do(l, "live");
    assert_true(lab_hash(l) == hash[137]);
    lab_free(l);
    remove(path);
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The file holds the grammar: it need not be there any more, and another one of its name changes nothing. */
/* Another model is looked at; the run waits with its past, its sentence and what is done to it. */
static void a_run_waits_while_another_is_visited(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    straight(hash);
    char path[64], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_visit_%ld.ckpt", (long)getpid());
    Lab *l = fixture_lab("seed=2 layers=1 batch=32");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    uint64_t other = lab_hash(l);
    lab_free(l);

    l = fixture_lab(NULL);
    fixture_do(l, "until 30");
    fixture_do(l, "prompt the owl near");
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "seek 12");
    fixture_refused(l, "leave", "no run waits");
    fixture_refused(l, "visit /nowhere/at/all", "/nowhere/at/all");
    assert_true(lab_hash(l) == hash[12]);
    assert_string_equal(fixture_facts(l).waiting, "");
    for (int visits = 0; visits < 2; visits++) {
        snprintf(line, sizeof line, "visit \"%s\" tried", path);
        fixture_do(l, line);
        SnapshotFacts f = fixture_facts(l);
        assert_true(lab_hash(l) == other);
        assert_string_equal(f.name, "tried");
        assert_string_equal(f.waiting, "modern");
        assert_int_equal(f.waiting_step, 30);
        assert_true(f.waiting_unsaved);
        assert_int_equal(f.layers, 1);
        assert_string_equal(f.tamper, "");
        assert_non_null(strstr(f.message, "step 30"));
        fixture_do(l, "prompt the dogs");
        fixture_do(l, "token next 3");
    }
    fixture_do(l, "leave");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.waiting, "");
    assert_int_equal(f.prompt_tokens, 4);
    assert_int_equal(f.step, 12);
    assert_int_equal(f.head, 30);
    assert_non_null(strstr(f.tamper, "head"));
    assert_true(lab_hash(l) == hash[12]);
    fixture_do(l, "until 40");
    assert_true(lab_hash(l) == hash[40]);
    snprintf(line, sizeof line, "visit %s", path);
    fixture_do(l, line);
    lab_free(l); /* with a run that waits */
    remove(path);
}

static void a_saved_run_knows_its_own_grammar(void **state) {
    (void)state;
    static const char own[] = "s: the {noun} sings | 3 the {noun}\nnoun: owl | 2 fox\n";
    char grammar[80], path[80], line[200];
    snprintf(grammar, sizeof grammar, "/tmp/lantern_test_lab_%ld.grammar", (long)getpid());
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    snprintf(line, sizeof line, "corpus=%s", grammar);
    write_text(grammar, own);
    Lab *l = fixture_lab(line);
    double floor_nats = fixture_facts(l).language_floor;
    assert_true(floor_nats > 0);
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, "until 20");
    fixture_do(l, line);
    fixture_do(l, "until 30");
    uint64_t hash = lab_hash(l);
    lab_free(l);
    snprintf(line, sizeof line, "open %s", path);
    for (int gone = 0; gone < 2; gone++) {
        if (gone)
            remove(grammar);
        else
            write_text(grammar, "s: another\n");
        l = fixture_lab(NULL);
        fixture_do(l, line);
        assert_true(fixture_facts(l).language_floor == floor_nats);
        assert_non_null(strstr(fixture_facts(l).corpus, ".grammar"));
        fixture_do(l, "until 30"); /* on the same sentences */
        assert_true(lab_hash(l) == hash);
        lab_free(l);
    }
    remove(path);
}

static void a_run_without_its_corpus_says_why(void **state) {
    (void)state;
    char text[80], path[80], line[200];
    snprintf(text, sizeof text, "/tmp/lantern_test_lab_%ld.txt", (long)getpid());
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    write_text(text, "one two\ntwo three\nthree one\n");
    snprintf(line, sizeof line, "corpus=%s", text);
    Lab *l = fixture_lab(line);
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    lab_free(l);
    l = fixture_lab(NULL);
    snprintf(line, sizeof line, "open %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "not trained on: it was trained on a text"));
    lab_free(l);
    remove(text);
    remove(path);
}

static void a_table_goes_to_a_file(void **state) {
    (void)state;
    char path[64], line[100], row[200];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.csv", (long)getpid());
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 3");
    fixture_do(l, "watch"); /* nothing, and still the table is there */
    snprintf(line, sizeof line, "write curve %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "3 rows of 'curve'"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(row, sizeof row, f));
    assert_string_equal(row, "step,tokens,loss,learning_rate,grad_norm,tokens_per_s\n");
    fclose(f);
    snprintf(line, sizeof line, "write attention %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "144 rows")); /* 2 layers, 2 heads, 6 x 6 */
    fixture_refused(l, "write curves /tmp/x.csv", "tokens, curve, test");
    fixture_refused(l, "write curve /nowhere/x.csv", "/nowhere/x.csv");
    assert_int_equal(remove(path), 0);
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
    assert_int_equal(snapshot_tables(s) + snapshot_fields(s), 2); /* the settings and the state are always there */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_looking_change_no_bit),
        cmocka_unit_test(a_look_comes_in_parts),
        cmocka_unit_test(what_did_not_change_is_kept),
        cmocka_unit_test(wandering_changes_no_bit),
        cmocka_unit_test(every_step_comes_back),
        cmocka_unit_test(the_past_runs_into_the_present),
        cmocka_unit_test(jumps_add_up),
        cmocka_unit_test(settings_are_replayed),
        cmocka_unit_test(the_past_is_not_changed),
        cmocka_unit_test(a_fork_goes_on_from_the_past),
        cmocka_unit_test(a_plan_ends_with_a_full_test),
        cmocka_unit_test(a_diverged_run_keeps_the_last_good_step),
        cmocka_unit_test(a_prompt_is_words_of_the_language),
        cmocka_unit_test(tokens_go_forward_and_back),
        cmocka_unit_test(what_is_shown_is_what_the_model_says),
        cmocka_unit_test(a_new_prompt_asks_the_new_model),
        cmocka_unit_test(sampling_is_the_same_each_time),
        cmocka_unit_test(many_sentences_are_of_one_moment),
        cmocka_unit_test(many_sentences_can_be_stopped),
        cmocka_unit_test(the_decoding_clock_keeps_its_pace),
        cmocka_unit_test(words_are_swapped_and_forced),
        cmocka_unit_test(the_untouched_model_stands_beside),
        cmocka_unit_test(tampering_is_said_and_changes_no_parameter),
        cmocka_unit_test(a_word_may_be_poked),
        cmocka_unit_test(a_restart_may_change_options),
        cmocka_unit_test(a_tokenizer_goes_with_its_model),
        cmocka_unit_test(a_snapshot_says_how_the_run_was_asked_for),
        cmocka_unit_test(a_saved_run_goes_on),
        cmocka_unit_test(a_run_waits_while_another_is_visited),
        cmocka_unit_test(a_saved_run_knows_its_own_grammar),
        cmocka_unit_test(a_run_without_its_corpus_says_why),
        cmocka_unit_test(a_table_goes_to_a_file),
        cmocka_unit_test(a_run_that_cannot_be_made_says_why),
        cmocka_unit_test(refusals_are_messages),
        cmocka_unit_test(all_memory_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
