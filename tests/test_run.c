/* Runs from options: what follows from what, exact recall of a step, no memory asked for by a warm step. */
#include "expect.h"

#include "cancel.h"
#include "mem.h"
#include "run.h"
#include "tokens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Options *options_with(const char *pairs) {
    Options *o = run_options();
    char text[512];
    strcpy(text, pairs);
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) assert_ok(options_set_pair(o, pair));
    return o;
}

#define SMALL "d=16 layers=2 heads=2 context=32 sentences=640 batch=16 "

static Run *run_with(const char *pairs, uint64_t seed, int threads) {
    char text[512];
    snprintf(text, sizeof text, SMALL "%s", pairs);
    Options *o = options_with(text);
    Run *r;
    assert_ok(run_new(o, seed, threads, &r));
    options_free(o);
    return r;
}

static uint64_t hash_of(Run *r) {
    return params_hash(model_params(run_model(r)));
}

static void step_to(Run *r, long step) {
    while (run_done(r) < step) assert_false(run_step(r).diverged);
}

/* Options. */

static ModelConfig config_with(const char *pairs) {
    Options *o = options_with(pairs);
    ModelConfig c;
    assert_ok(run_config(o, 56, &c));
    options_free(o);
    return c;
}

static void fields_follow_from_each_other(void **state) {
    (void)state;
    ModelConfig c = config_with("arch=modern"), preset = config_modern();
    assert_memory_equal(&c, &preset, sizeof c);
    c = config_with("arch=gpt");
    preset = config_gpt();
    assert_memory_equal(&c, &preset, sizeof c);
    c = config_with("arch=modern d=512 heads=8");
    assert_int_equal(c.head_dim, 64);
    assert_int_equal(c.kv_heads, 4);
    assert_int_equal(c.d_ff, 1376); /* 8/3 * 512 = 1365.3, up to a multiple of 16 */
    c = config_with("arch=modern d=48 heads=3 ffn=gelu");
    assert_int_equal(c.kv_heads, 3);
    assert_int_equal(c.head_dim, 16);
    assert_int_equal(c.d_ff, 192);
    c = config_with("arch=gpt d=32 norm=rms ffn=swiglu");
    assert_int_equal(c.kv_heads, 4);
    assert_int_equal(c.head_dim, 8);
    assert_int_equal(c.d_ff, 96); /* 85.3 */
    assert_true(fabs(c.norm_eps - 1e-6) < 1e-12);
    c = config_with("head_dim=20 kv_heads=1 d_ff=7 vocab=80 context=9");
    assert_int_equal(c.head_dim, 20);
    assert_int_equal(c.kv_heads, 1);
    assert_int_equal(c.d_ff, 7);
    assert_int_equal(c.vocab, 80);
    assert_int_equal(c.context, 9);
}

static void assert_follows(const Options *o, const char *name, const char *value) {
    Str out;
    str_init(&out);
    run_follow(o, name, &out);
    assert_string_equal(out.s, value);
    str_done(&out);
}

/* What is said of fields that were not given is what the model gets. */
static void what_follows_is_what_is_built(void **state) {
    (void)state;
    static const char *const pairs[] = {"arch=gpt", "arch=modern", "arch=modern d=512 heads=8 lr=0.05",
                                        "arch=gpt d=32 norm=rms ffn=swiglu"};
    for (int i = 0; i < 4; i++) {
        Options *o = options_with(pairs[i]);
        ModelConfig c;
        char value[64];
        assert_ok(run_config(o, 56, &c));
        for (const char *const *field = config_fields(); *field; field++)
            if (strcmp(*field, "vocab") != 0 && config_get(&c, *field, value, sizeof value))
                assert_follows(o, *field, value);
        assert_follows(o, "lr_min", i == 2 ? "0.005" : "0.0003");
        assert_follows(o, "vocab", "the corpus's");
        assert_follows(o, "save", "");
        options_free(o);
    }
    Options *o = options_with("d=30 heads=4");
    assert_follows(o, "head_dim", ""); /* there is no such model */
    options_free(o);
}

static void refusals_name_the_reason(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"d=30 heads=4", "30 / 4"},         {"heads=4 kv_heads=3", "multiple of kv_heads"},
        {"pos=rope head_dim=5", "even"},    {"global_every=2", "window"},
        {"lr=0.001 lr_min=0.01", "lr_min"}, {"corpus=nowhere", "nowhere"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Options *o = options_with(rows[i][0]);
        Status s = run_check(o);
        options_free(o);
        assert_int_equal(s.code, STATUS_USAGE);
        if (!strstr(s.text, rows[i][1])) fail_msg("%s: '%s' does not say '%s'", rows[i][0], s.text, rows[i][1]);
    }
    Options *o = options_with("vocab=40 sentences=100");
    Run *r;
    Status s = run_new(o, 1, 1, &r);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "56 tokens"));
    options_free(o);
    o = run_options();
    s = options_set(o, "tokens", "syllable");
    assert_non_null(strstr(s.text, "not one of word"));
    options_free(o);
}

static void presets_have_their_parameters(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        long parameters;
    } rows[] = {{"arch=gpt sentences=200", 111360}, {"arch=modern sentences=200", 99648}};
    for (int i = 0; i < 2; i++) {
        Options *o = options_with(rows[i].arch);
        Run *r;
        assert_ok(run_new(o, 1, 1, &r));
        Table *t = run_model_table(run_model(r));
        long last = table_rows(t) - 1, sum = 0;
        for (long k = 0; k < last; k++) sum += (long)table_int(t, k, 1);
        assert_string_equal(table_text(t, last, 0), "total");
        assert_int_equal(table_int(t, last, 1), rows[i].parameters);
        assert_int_equal(sum, rows[i].parameters);
        table_free(t);
        run_free(r);
        options_free(o);
    }
}

static void the_plan_is_epochs_of_batches(void **state) {
    (void)state;
    Run *r = run_with("sentences=650 epochs=3", 1, 1);
    assert_int_equal(run_per_epoch(r), 41); /* the last batch of an epoch is what is left */
    assert_int_equal(run_steps(r), 123);
    long tokens = 0;
    for (int i = 0; i < 41; i++) tokens += run_step(r).tokens;
    const Sentences *train = &run_corpus(r)->train;
    assert_int_equal(tokens, train->start[650] - 650); /* every prediction once */
    run_free(r);
    r = run_with("epochs=0", 1, 1);
    assert_int_equal(run_steps(r), 0);
    run_free(r);
}

/* Bits. */

static void threads_change_no_bit(void **state) {
    (void)state;
    static const char *const kinds[] = {"arch=gpt dropout=0.1", "arch=modern clip=0.5 weight_decay=0.1",
                                        "optimizer=sgd"};
    for (int i = 0; i < 3; i++) {
        Run *one = run_with(kinds[i], 7, 1), *two = run_with(kinds[i], 7, 2), *other = run_with(kinds[i], 8, 1);
        for (int k = 0; k < 50; k++) {
            RunStep a = run_step(one), b = run_step(two);
            assert_memory_equal(&a.loss, &b.loss, sizeof a.loss);
            assert_memory_equal(&a.grad_norm, &b.grad_norm, sizeof a.grad_norm);
        }
        step_to(other, 50);
        assert_true(hash_of(one) == hash_of(two));
        assert_true(hash_of(one) != hash_of(other));
        run_free(one);
        run_free(two);
        run_free(other);
    }
}

static void a_remembered_step_goes_on_with_the_same_bits(void **state) {
    (void)state;
    Run *r = run_with("arch=gpt dropout=0.1", 3, 2);
    RunMemory m = {0};
    step_to(r, 50);
    run_remember(r, &m);
    uint64_t at_50 = hash_of(r);
    step_to(r, 137);
    uint64_t at_137 = hash_of(r);
    Run *twin = run_twin(r);
    assert_int_equal(run_done(twin), 137);
    assert_true(hash_of(twin) == at_137);
    run_recall(twin, &m);
    assert_true(hash_of(twin) == at_50);
    step_to(twin, 137);
    assert_true(hash_of(twin) == at_137);
    step_to(twin, 140);
    assert_true(hash_of(r) == at_137); /* the first is not touched */
    run_recall(r, &m);
    step_to(r, 140);
    assert_true(hash_of(r) == hash_of(twin));
    run_memory_done(&m);
    run_free(twin);
    run_free(r);
}

static void testing_changes_no_bit(void **state) {
    (void)state;
    Run *plain = run_with("", 1, 1), *tested = run_with("", 1, 1);
    for (int i = 0; i < 20; i++) {
        double nll, floor_nll;
        long tokens;
        run_step(plain);
        run_step(tested);
        assert_ok(run_test_nll(tested, 20, &nll, &floor_nll, &tokens));
    }
    assert_true(hash_of(plain) == hash_of(tested));
    run_free(plain);
    run_free(tested);
}

static void a_warm_step_asks_for_no_memory(void **state) {
    (void)state;
    Run *r = run_with("epochs=2", 1, 2);
    RunMemory start = {0};
    run_remember(r, &start);
    size_t before, rounds = 0;
    do { /* sooner or later each thread has seen the largest shard */
        assert_in_range(++rounds, 1, 20);
        run_recall(r, &start);
        before = mem_count().allocations;
        step_to(r, run_steps(r));
    } while (mem_count().allocations != before);
    run_memory_done(&start);
    run_free(r);
}

static void halves_make_a_step(void **state) {
    (void)state;
    Run *whole = run_with("", 1, 1), *halves = run_with("", 1, 1);
    for (int i = 0; i < 10; i++) {
        run_step(whole);
        RunStep s = run_gradient(halves);
        assert_int_equal(run_done(halves), i);
        assert_true(fabs(optim_norm(model_params(run_model(halves)), run_gradient_of(halves)) - s.grad_norm) <= 0);
        run_update(halves, &s);
    }
    assert_true(hash_of(whole) == hash_of(halves));
    run_free(whole);
    run_free(halves);
}

static Recipe recipe_with(Run *r, const char *pairs) {
    char text[512];
    snprintf(text, sizeof text, SMALL "%s", pairs);
    Options *o = options_with(text);
    Recipe c = run_recipe(r);
    assert_ok(run_config(o, c.model.vocab, &c.model));
    c.optim = run_optim_config(o);
    c.batch = (int)options_int(o, "batch");
    options_free(o);
    return c;
}

static void a_recipe_may_change_between_two_steps(void **state) {
    (void)state;
    Run *r = run_with("lr=0.01", 1, 1), *plain = run_with("lr=0.01", 1, 1);
    step_to(r, 20);
    step_to(plain, 20);
    Recipe before = run_recipe(r), same = recipe_with(r, "lr=0.01"),
           other = recipe_with(r, "lr=0.1 softcap=5 batch=8 window=3");
    assert_true(fabs(before.optim.lr_min - 0.001) < 1e-12 && fabs(other.optim.lr_min - 0.01) < 1e-12);
    run_follow_recipe(r, &same);
    step_to(r, 25);
    step_to(plain, 25);
    assert_true(hash_of(r) == hash_of(plain)); /* the same again changes no bit */
    uint64_t at_25 = hash_of(r);
    long updates = run_optim(r)->updates;
    RunMemory m = {0};
    run_remember(r, &m);
    run_follow_recipe(r, &other);
    assert_true(hash_of(r) == at_25);
    assert_int_equal(run_optim(r)->updates, updates);
    RunStep first = run_step(r), usual = run_step(plain);
    assert_int_equal(first.step, 26);
    assert_true(first.tokens < usual.tokens); /* eight sentences, not sixteen */
    run_follow_recipe(r, &before);
    run_recall(r, &m);
    step_to(r, 26);
    assert_true(hash_of(r) == hash_of(plain));
    run_memory_done(&m);
    run_free(r);
    run_free(plain);
}

static void another_optimiser_begins_with_its_own_moments(void **state) {
    (void)state;
    Run *r = run_with("", 1, 1);
    step_to(r, 10);
    Recipe sgd = recipe_with(r, "optimizer=sgd lr=0.1");
    uint64_t hash = hash_of(r);
    run_follow_recipe(r, &sgd);
    assert_true(hash_of(r) == hash);
    assert_int_equal(run_optim(r)->updates, 0);
    for (size_t i = 0; i < run_optim(r)->count; i++)
        assert_true(!(run_optim(r)->m[i] < 0 || run_optim(r)->m[i] > 0 || run_optim(r)->v[i] > 0));
    run_free(r);
}

/* Truth. */

static void the_floor_is_that_of_the_same_sentences(void **state) {
    (void)state;
    Run *r = run_with("context=64", 1, 1);
    Corpus *c = run_corpus(r);
    double nll, some, all, train;
    long tokens;
    assert_ok(run_test_nll(r, 10, &nll, &some, &tokens));
    double sum = 0;
    long count = 0;
    for (long i = 0; i < 10; i++) {
        Str text;
        double log_p;
        str_init(&text);
        corpus_text(c, &c->test, i, &text);
        assert_ok(language_log_p(c->language, text.s, &log_p));
        sum -= log_p;
        count += c->test.start[i + 1] - c->test.start[i] - 1;
        str_done(&text);
    }
    assert_int_equal(tokens, count);
    assert_true(fabs(some - sum / (double)count) < 1e-9);
    assert_true(fabs(nll - log(56)) < 1); /* untrained: about uniform */
    assert_ok(run_test_nll(r, -1, &nll, &all, &tokens));
    assert_true(fabs(exp(all) - 2.4954) < 0.03); /* the language's own floor, on 2,000 of its sentences */
    assert_ok(run_train_nll(r, 100, &nll, &train, &tokens));
    assert_true(train > 0.7 && train < 1.1);
    run_free(r);
}

/* A test of a large text takes long: who stops it does not wait. */
static void a_test_can_be_stopped(void **state) {
    (void)state;
    Run *r = run_with("epochs=1", 1, 1);
    double nll, floor_nll;
    long tokens;
    atomic_bool stop;
    atomic_init(&stop, true);
    cancel_lend(&stop);
    Status s = run_test_nll(r, -1, &nll, &floor_nll, &tokens);
    cancel_lend(NULL);
    assert_int_equal(s.code, STATUS_CANCELLED);
    assert_ok(run_test_nll(r, 10, &nll, &floor_nll, &tokens));
    assert_true(nll > 0);
    run_free(r);
}

static void a_short_context_cuts_sentences(void **state) {
    (void)state;
    Run *r = run_with("context=4", 1, 1);
    double nll, floor_nll;
    long tokens;
    assert_ok(run_test_nll(r, 50, &nll, &floor_nll, &tokens));
    assert_int_equal(tokens, 200);
    assert_true(floor_nll > 0.5 && floor_nll < 2); /* the first four words alone */
    assert_int_equal(run_step(r).tokens, 64);
    run_free(r);
}

/* Of a grammar sentences= are drawn, and all their parts are learned. */
static void letters_go_in_parts(void **state) {
    (void)state;
    Run *r = run_with("tokens=char context=8 sentences=50 batch=50", 1, 1);
    assert_int_equal(run_sentences(r), 50);
    assert_true(run_corpus(r)->train.sentences > 100);
    assert_int_equal(run_per_epoch(r), (run_corpus(r)->train.sentences + 49) / 50);
    run_free(r);
}

static void a_text_is_a_corpus_without_truth(void **state) {
    (void)state;
    char path[64], pairs[128];
    snprintf(path, sizeof path, "/tmp/lantern_test_run_%ld.txt", (long)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 100; i++) fprintf(f, "%s likes %s\n", i % 2 ? "ann" : "bob", i % 3 ? "tea" : "milk");
    fclose(f);
    snprintf(pairs, sizeof pairs, "corpus=%s", path);
    Options *o = options_with(SMALL);
    assert_ok(options_set_pair(o, pairs));
    Options *few = options_copy(o);
    assert_ok(options_set(o, "sentences", "20000"));
    assert_ok(options_set(few, "sentences", "30"));
    Run *r, *short_run;
    assert_ok(run_new(o, 1, 1, &r));
    assert_ok(run_new(few, 1, 1, &short_run));
    assert_int_equal(run_corpus(r)->train.sentences, 95);
    assert_int_equal(run_corpus(r)->test.sentences, 5);
    assert_int_equal(run_corpus(short_run)->train.sentences, 30);
    double nll, floor_nll;
    long tokens;
    assert_ok(run_test_nll(r, -1, &nll, &floor_nll, &tokens));
    assert_int_equal(tokens, 20);
    assert_true(isnan(floor_nll));
    run_free(r);
    run_free(short_run);
    options_free(o);
    options_free(few);
    remove(path);
}

static void a_step_that_diverges_changes_nothing(void **state) {
    (void)state;
    Run *r = run_with("norm=none optimizer=sgd lr=1000", 1, 1);
    RunStep s;
    uint64_t before;
    do {
        before = hash_of(r);
        s = run_step(r);
    } while (!s.diverged && run_done(r) < 50);
    assert_true(s.diverged);
    assert_true(hash_of(r) == before);
    assert_int_equal(run_done(r), s.step - 1);
    assert_string_not_equal(s.bad_tensor, "");
    run_free(r);
}

static void a_curve_row_is_the_step(void **state) {
    (void)state;
    Table *t = table_new("curve", run_curve_columns);
    RunStep s = {.step = 3, .tokens = 700, .loss = 1.5, .learning_rate = 0.003, .grad_norm = 2, .seconds = 0.01};
    run_add_curve(t, &s);
    s.seconds = 0;
    run_add_curve(t, &s);
    assert_int_equal(table_int(t, 0, 0), 3);
    assert_int_equal(table_int(t, 0, 1), 700);
    assert_true(fabs(table_real(t, 0, 5) - 70000) < 1e-6);
    assert_true(isnan(table_real(t, 1, 5)));
    table_free(t);
}

static void ids_become_text(void **state) {
    (void)state;
    const char *words[] = {"the", "dog"};
    Vocab *v = vocab_new(words, 2);
    Str text;
    str_init(&text);
    tokens_text(v, (const int[]){VOCAB_BOS, 4, 3, 9, VOCAB_EOS}, 5, &text);
    assert_string_equal(text.s, "the dog");
    assert_string_equal(tokens_name(v, VOCAB_EOS), "</s>");
    assert_string_equal(tokens_name(v, 9), "");
    str_done(&text);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_follow_from_each_other),
        cmocka_unit_test(what_follows_is_what_is_built),
        cmocka_unit_test(refusals_name_the_reason),
        cmocka_unit_test(presets_have_their_parameters),
        cmocka_unit_test(the_plan_is_epochs_of_batches),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_remembered_step_goes_on_with_the_same_bits),
        cmocka_unit_test(testing_changes_no_bit),
        cmocka_unit_test(a_warm_step_asks_for_no_memory),
        cmocka_unit_test(halves_make_a_step),
        cmocka_unit_test(a_recipe_may_change_between_two_steps),
        cmocka_unit_test(another_optimiser_begins_with_its_own_moments),
        cmocka_unit_test(the_floor_is_that_of_the_same_sentences),
        cmocka_unit_test(a_test_can_be_stopped),
        cmocka_unit_test(a_short_context_cuts_sentences),
        cmocka_unit_test(letters_go_in_parts),
        cmocka_unit_test(a_text_is_a_corpus_without_truth),
        cmocka_unit_test(a_step_that_diverges_changes_nothing),
        cmocka_unit_test(a_curve_row_is_the_step),
        cmocka_unit_test(ids_become_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
