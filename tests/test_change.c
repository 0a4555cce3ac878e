/* A run whose options change while it trains: what keeps the parameters goes on with them, what does not says why and
 * begins again; the past stays as it was, bit for bit. */
#include "lab_fixture.h"

#include "expect.h"
#include "mem.h"
#include "recipe.h"

#include <stdio.h>
#include <unistd.h>

enum { STEPS = 160 };

static Options *with(const char *pairs) {
    return fixture_options(pairs);
}

/* What the change from the options A to A and B comes to; WHY must hold PART. */
static LabChange change_of(const char *a, const char *b, const char *part) {
    char both[300];
    snprintf(both, sizeof both, "%s %s", a, b);
    Options *before = with(a), *after = with(both);
    LabChange change;
    Str why;
    str_init(&why);
    assert_ok(lab_compare(before, after, 56, &change, &why));
    if (!strstr(why.s, part)) fail_msg("%s: '%s' does not say '%s'", b, why.s, part);
    str_done(&why);
    options_free(before);
    options_free(after);
    return change;
}

static void the_slices_decide(void **state) {
    (void)state;
    static const struct {
        const char *before, *change;
        LabChange what;
        const char *why;
    } rows[] = {
        {"arch=modern", "window=3", LAB_KEEPS, ""},
        {"arch=modern", "window=4 global_every=2 softcap=20 z_loss=0.001 dropout=0.1", LAB_KEEPS, ""},
        {"arch=modern", "rope_base=500 pairing=half", LAB_KEEPS, ""},
        {"arch=modern", "rope_scaling=linear:4", LAB_KEEPS, ""},
        {"arch=modern", "ffn=reglu", LAB_KEEPS, ""},
        {"arch=modern", "ffn=gelu", LAB_RESTARTS, "block0.ffn.gate.weight would go (6 tensors differ)"},
        {"arch=gpt", "ffn=squared_relu", LAB_KEEPS, ""},
        {"arch=modern", "pos=none", LAB_KEEPS, ""},
        {"arch=modern", "pos=sinusoid", LAB_KEEPS, ""},
        {"arch=modern", "pos=learned", LAB_RESTARTS, "position.weight would be new"},
        {"arch=modern", "norm=layer", LAB_KEEPS, ""}, /* no biases: the same gains */
        {"arch=modern bias=1", "norm=layer", LAB_RESTARTS, "block0.norm1.bias would be new (5 tensors differ)"},
        {"arch=modern", "norm_place=post", LAB_RESTARTS, "final_norm.gain would go"},
        {"arch=modern norm=none", "norm_place=post", LAB_KEEPS, ""},
        {"arch=modern", "parallel=1", LAB_RESTARTS, "block0.norm2.gain would go (2 tensors differ)"},
        {"arch=modern norm=none", "parallel=1", LAB_KEEPS, ""},
        {"arch=modern", "kv_heads=2", LAB_RESTARTS, "block0.attention.key.weight would be 16 × 16, not 8 × 16"},
        {"arch=gpt", "heads=4", LAB_KEEPS, ""}, /* four of 4 are as many numbers as two of 8 */
        {"arch=gpt", "heads=4 head_dim=8", LAB_RESTARTS, "block0.attention.query.weight would be 32 × 16"},
        {"arch=modern", "qk_norm=1", LAB_RESTARTS, "query_norm"},
        {"arch=modern", "bias=1", LAB_RESTARTS, "bias would be new"},
        {"arch=modern", "tie=1", LAB_RESTARTS, "head.weight would go"},
        {"arch=modern", "layers=3", LAB_RESTARTS, "block2."},
        {"arch=modern", "d=32", LAB_RESTARTS, "token.weight would be 56 × 32, not 56 × 16"},
        {"arch=modern", "context=40", LAB_KEEPS, ""},
        {"arch=gpt", "context=40", LAB_RESTARTS, "position.weight would be 40 × 16, not 32 × 16"},
        {"arch=modern", "lr=0.1 clip=1 weight_decay=0.1 schedule=linear warmup=7 batch=8", LAB_KEEPS, ""},
        {"arch=modern", "optimizer=sgd", LAB_KEEPS, "moments"},
        {"arch=modern", "seed=2", LAB_RESTARTS, "seed makes other parameters"},
        {"arch=modern", "sentences=320", LAB_RESTARTS, "sentences makes other sentences"},
        {"arch=modern", "corpus=morph", LAB_RESTARTS, "corpus makes other sentences"},
        {"arch=modern", "threads=2", LAB_KEEPS, ""},
        {"arch=modern tokens=bpe", "merges=20", LAB_RESTARTS, "merges makes other sentences"},
        {"arch=modern tokens=char", "context=40", LAB_RESTARTS, "context makes other sentences"},
        {"arch=modern", "arch=modern", LAB_SAME, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        LabChange what = change_of(rows[i].before, rows[i].change, rows[i].why);
        if (what != rows[i].what) fail_msg("%s, then %s: %d", rows[i].before, rows[i].change, (int)what);
    }
}

/* What is done to a run: at which step, which change. */
static const struct {
    int step;
    const char *line;
} changes[] = {
    {20, "set window 3"},
    {37, "set softcap=20 pos=none dropout=0.1"},
    {37, "set lr 0.01"},
    {64, "set ffn=geglu batch=32 epochs=8"},
    {90, "set optimizer sgd"},
    {91, "set pos=rope rope_base=100 pairing=half heads=4 head_dim=4 kv_heads=2 z_loss=0.01"},
    {120, "set context=48 optimizer=adamw"},
};
enum { CHANGES = (int)(sizeof changes / sizeof *changes) };

static const char recipe_log[] = "20 set window 3; 37 set pos none; 37 set softcap 20; 37 set dropout 0.1; "
                                 "37 set lr 0.01; 64 set ffn geglu; 64 set epochs 8; 64 set batch 32; "
                                 "90 set optimizer sgd; 91 set heads 4; 91 set kv_heads 2; 91 set head_dim 4; "
                                 "91 set pos rope; 91 set rope_base 100; 91 set pairing half; 91 set z_loss 0.01; "
                                 "120 set context 48; 120 set optimizer adamw";

/* The hash of every step of a run to which all of that was done. */
static Lab *changed_run(const char *pairs, uint64_t hash[STEPS + 1], double loss[STEPS + 1]) {
    Lab *l = fixture_lab(pairs);
    int next = 0;
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0) fixture_do(l, "step");
        if (hash) hash[step] = lab_hash(l);
        if (loss) loss[step] = fixture_facts(l).loss;
        for (; next < CHANGES && changes[next].step == step; next++) {
            fixture_do(l, changes[next].line);
            assert_int_equal(fixture_facts(l).head, step); /* it goes on from here */
            if (hash) assert_true(lab_hash(l) == hash[step]);
        }
    }
    assert_string_equal(fixture_log(l), recipe_log);
    return l;
}

static void the_same_changes_give_the_same_bits(void **state) {
    (void)state;
    uint64_t one[STEPS + 1], plain[STEPS + 1];
    lab_free(changed_run(NULL, one, NULL));
    Lab *l = fixture_lab("threads=2");
    for (int i = 0; i < CHANGES; i++) { /* as one who runs and holds, not step by step */
        char line[32];
        snprintf(line, sizeof line, "until %d", changes[i].step);
        if (fixture_facts(l).step < changes[i].step) fixture_do(l, line);
        assert_true(lab_hash(l) == one[changes[i].step]);
        fixture_do(l, changes[i].line);
    }
    fixture_do(l, "run");
    assert_int_equal(fixture_facts(l).steps, STEPS); /* 8 epochs of 20 */
    assert_true(lab_hash(l) == one[STEPS]);
    lab_free(l);
    l = fixture_lab(NULL);
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0) fixture_do(l, "step");
        plain[step] = lab_hash(l);
        assert_true((plain[step] == one[step]) == (step <= 20)); /* the change is felt at once */
    }
    lab_free(l);
}

static void the_past_is_of_the_model_that_it_was(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    double loss[STEPS + 1];
    static const int order[] = {140, 19, 20, 21, 36, 37, 38, 64, 63, 65, 90, 91, 92, 95, 120, 121, 119, 8, 0, 160, 37};
    static const char *const history[] = {NULL, "history=1"};
    for (int h = EXPECT_SANITIZER ? 1 : 0; h < 2; h++) {
        Lab *l = changed_run(history[h], hash, loss);
        for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
            char line[32];
            snprintf(line, sizeof line, "seek %d", order[i]);
            fixture_do(l, line);
            SnapshotFacts f = fixture_facts(l);
            assert_int_equal(f.step, order[i]);
            if (lab_hash(l) != hash[order[i]]) fail_msg("step %d differs", order[i]);
            assert_true(order[i] == 0 || !(f.loss < loss[order[i]] || f.loss > loss[order[i]]));
            /* the step of a change shows what made it */
            assert_int_equal(f.window, order[i] > 20 ? 3 : 0);
            assert_int_equal(f.heads, order[i] > 91 ? 4 : 2);
            assert_int_equal(f.context, order[i] > 120 ? 48 : 32);
            assert_true((strstr(f.recipe, "window=3") != NULL) == (order[i] > 20));
        }
        fixture_do(l, "seek 10");
        for (int step = 11; step <= STEPS; step++) { /* through all changes, to the newest step */
            fixture_do(l, "step");
            if (lab_hash(l) != hash[step]) fail_msg("step %d differs when it is replayed", step);
        }
        lab_free(l);
    }
}

static void a_fork_drops_the_changes_behind_it(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1], plain[STEPS + 1];
    Lab *l = fixture_lab(NULL);
    for (int step = 0; step < 60; step++) {
        plain[step] = lab_hash(l);
        fixture_do(l, "step");
    }
    lab_free(l);
    l = changed_run(NULL, hash, NULL);
    fixture_do(l, "seek 70");
    fixture_do(l, "fork");
    assert_non_null(strstr(fixture_log(l), "64 set batch 32"));
    assert_null(strstr(fixture_log(l), "90"));
    fixture_do(l, "until 80");
    assert_true(lab_hash(l) == hash[80]);
    fixture_do(l, "seek 20");
    fixture_do(l, "fork");
    assert_string_equal(fixture_log(l), "");
    assert_string_equal(fixture_facts(l).recipe, "context=32");
    assert_int_equal(fixture_facts(l).steps, STEPS);
    fixture_do(l, "until 59");
    assert_true(lab_hash(l) == plain[59]);
    lab_free(l);
}

static void other_parameters_begin_again(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL), *fresh = fixture_lab("layers=1");
    fixture_do(l, "until 30");
    fixture_do(l, "set layers 1");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.head, 0);
    assert_int_equal(f.layers, 1);
    assert_int_equal(f.state, RUN_PAUSED);
    assert_non_null(strstr(f.message, "block1.norm1.gain would go"));
    assert_non_null(strstr(f.message, "seed 1"));
    assert_true(lab_hash(l) == lab_hash(fresh));
    assert_string_equal(fixture_log(l), "");
    assert_ok(lab_do(l, "run"));
    assert_true(lab_turn(l));
    assert_ok(lab_do(l, "set layers=2 window=2")); /* a run that trains trains on */
    lab_turn(l);
    assert_true(lab_busy(l));
    assert_int_equal(fixture_facts(l).head, 0);
    assert_int_equal(fixture_facts(l).window, 2);
    lab_free(l);
    lab_free(fresh);
}

static void what_cannot_be_is_refused_and_changes_nothing(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 30");
    uint64_t hash = lab_hash(l);
    fixture_refused(l, "set heads 3", "16 / 3");
    fixture_refused(l, "set depth=3", "depth");
    fixture_refused(l, "set lr_min 7", "lr_min");
    fixture_refused(l, "set batch 640", "end at step 4, and this is step 30");
    fixture_refused(l, "set prompt=teh", "teh");
    fixture_refused(l, "set window", "window");
    fixture_do(l, "set window 0"); /* as it is */
    assert_true(lab_hash(l) == hash);
    fixture_do(l, "set window=0");
    assert_non_null(strstr(fixture_facts(l).message, "nothing is other"));
    fixture_do(l, "log");
    assert_string_equal(fixture_facts(l).message, "30 set window 0");
    lab_free(l);
}

static void a_change_of_the_plan_moves_its_end(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    assert_ok(lab_do(l, "run"));
    while (fixture_facts(l).head < 10) assert_true(lab_turn(l));
    assert_ok(lab_do(l, "set epochs 1"));
    fixture_finish(l);
    assert_int_equal(fixture_facts(l).head, 40);
    assert_int_equal(fixture_facts(l).state, RUN_FINISHED);
    assert_ok(lab_do(l, "set epochs 2"));
    assert_false(lab_busy(l));
    fixture_do(l, "run");
    assert_int_equal(fixture_facts(l).head, 80);
    lab_free(l);
}

static const char *setting(const Snapshot *s, const char *option) {
    const Table *t = snapshot_table(s, "settings");
    for (long i = 0; i < table_rows(t); i++)
        if (strcmp(table_text(t, i, 0), option) == 0) return table_text(t, i, 1);
    return "";
}

/* A file holds the new model; opened, its options describe it and it goes on with the same bits. */
static void a_changed_run_is_saved_as_it_is(void **state) {
    (void)state;
    uint64_t hash[STEPS + 1];
    char path[80], line[120];
    snprintf(path, sizeof path, "/tmp/lantern_test_change_%ld.ckpt", (long)getpid());
    static const int steps[] = {130, 100, 20};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        Lab *l = changed_run(NULL, hash, NULL);
        snprintf(line, sizeof line, "seek %d", steps[i]);
        fixture_do(l, line);
        snprintf(line, sizeof line, "save %s", path);
        fixture_do(l, line);
        lab_free(l);
        l = fixture_lab("arch=gpt window=7 lr=1 softcap=3 qk_norm=1"); /* nothing of it stays */
        snprintf(line, sizeof line, "open %s", path);
        fixture_do(l, line);
        assert_true(lab_hash(l) == hash[steps[i]]);
        Snapshot *s = lab_snapshot(l);
        assert_string_equal(setting(s, "arch"), "modern");
        assert_string_equal(setting(s, "window"), steps[i] > 20 ? "3" : "");
        assert_string_equal(setting(s, "softcap"), steps[i] > 37 ? "20" : "");
        assert_string_equal(setting(s, "lr"), steps[i] > 37 ? "0.01" : "0.003");
        assert_string_equal(setting(s, "rope_base"), steps[i] > 91 ? "100" : "");
        assert_string_equal(setting(s, "qk_norm"), "");
        snapshot_unref(s);
        fixture_do(l, "step");
        if (steps[i] != 20) assert_true(lab_hash(l) == hash[steps[i] + 1]);
        uint64_t before = lab_hash(l);
        fixture_do(l, "set dropout 0.2");
        assert_true(lab_hash(l) == before);
        assert_int_equal(fixture_facts(l).head, steps[i] + 1);
        fixture_do(l, "set layers 1");
        assert_int_equal(fixture_facts(l).head, 0);
        assert_int_equal(fixture_facts(l).window, steps[i] > 20 ? 3 : 0);
        lab_free(l);
    }
    remove(path);
}

static void the_sentence_survives_where_it_has_room(void **state) {
    (void)state;
    size_t before = mem_count().live;
    Lab *l = fixture_lab("prompt=the");
    fixture_do(l, "prompt the owl near the dogs");
    fixture_do(l, "head 2 2 off");
    fixture_do(l, "until 5");
    fixture_do(l, "set window 2");
    assert_int_equal(fixture_facts(l).prompt_tokens, 6);
    assert_non_null(strstr(fixture_facts(l).tamper, "layer 2 head 2"));
    fixture_do(l, "set heads=4 head_dim=4 kv_heads=2");
    assert_string_equal(fixture_facts(l).tamper, ""); /* other heads */
    fixture_do(l, "head 1 4 off");
    fixture_do(l, "set context 3");
    assert_true(fixture_facts(l).prompt_tokens <= 3);
    fixture_do(l, "step");
    fixture_do(l, "back 2"); /* the past has two heads and more room */
    snapshot_unref(lab_snapshot(l));
    fixture_do(l, "live");
    snapshot_unref(lab_snapshot(l));
    lab_free(l);
    assert_int_equal(mem_count().live, before);
}

/* Nobody could tell which of them is meant. */
static void a_line_says_a_name_once(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 3");
    fixture_refused(l, "set lr=0.1 batch=8 lr=0.2", "lr is given twice: 'lr=0.1' and 'lr=0.2'");
    fixture_refused(l, "restart seed=2 seed=2", "seed is given twice");
    fixture_refused(l, "versus lr=0.1 lr=0.2", "lr is given twice");
    fixture_refused(l, "filter tau=1 tau=2", "tau is given twice");
    fixture_refused(l, "beam width=2 width=3", "width is given twice");
    fixture_refused(l, "bpe learn unit=char unit=byte", "unit is given twice");
    assert_string_equal(fixture_log(l), "");
    assert_int_equal(fixture_facts(l).head, 3);
    fixture_do(l, "set lr 0.2");
    lab_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_a_name_once),
        cmocka_unit_test(the_slices_decide),
        cmocka_unit_test(the_same_changes_give_the_same_bits),
        cmocka_unit_test(the_past_is_of_the_model_that_it_was),
        cmocka_unit_test(a_fork_drops_the_changes_behind_it),
        cmocka_unit_test(other_parameters_begin_again),
        cmocka_unit_test(what_cannot_be_is_refused_and_changes_nothing),
        cmocka_unit_test(a_change_of_the_plan_moves_its_end),
        cmocka_unit_test(a_changed_run_is_saved_as_it_is),
        cmocka_unit_test(the_sentence_survives_where_it_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
