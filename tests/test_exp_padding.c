/* batch.loss, batch.pad, batch.waste: the figures of lecture 3, exercise 2 and section 3.3 to 3.5. */
#include <math.h>

#include "saved_model.h"

static void refused(const char *id, const char *a, const char *b, const char *says) {
    Study *s = run_study_until(STATUS_USAGE, id, a, b, NULL);
    if (!strstr(study_state(s).status.text, says)) fail_msg("%s %s: %s", id, a, study_state(s).status.text);
    study_free(s);
}

static char path[] = "/tmp/lantern-test-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    return fd < 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

/* corpus= of a file with this text. */
static const char *corpus_of(const char *text) {
    static char pair[64];
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    snprintf(pair, sizeof pair, "corpus=%s", path);
    return pair;
}

/* ---- batch.loss ---- */

/* VALUES in the order of the rules; NaN: no such row. */
static void expect_loss(Study *s, double token_mean, double sentence_mean, double pads_counted) {
    static const char *const rules[] = {"token_mean", "sentence_mean", "pads_counted"};
    const double values[] = {token_mean, sentence_mean, pads_counted};
    Table *t = study_result(s, "loss");
    assert_int_equal(table_rows(t), isnan(pads_counted) ? 2 : 3);
    for (long i = 0; i < table_rows(t); i++) {
        assert_string_equal(cell_text(t, i, "rule"), rules[i]);
        assert_near(cell_real(t, i, "value"), values[i], 1e-12);
    }
    table_free(t);
    study_free(s);
}

static void exercise_2(void **state) {
    (void)state;
    expect_loss(run_study("batch.loss", NULL), 1.2, 1.5, (double)NAN);
    expect_loss(run_study("batch.loss", "groups=2:2.0,8:1.0", "pad_loss=3", NULL), 1.2, 1.5,
                (2 * 2. + 8 * 1. + 6 * 3.) / 16);
    expect_loss(run_study("batch.loss", "groups=5:0.25", "pad_loss=9", NULL), .25, .25, .25); /* no pads */
    expect_loss(run_study("batch.loss", "groups=1:4,3:0,4:.5", "pad_loss=0", NULL), 6. / 8, 4.5 / 3, 6. / 12);
}

static void bad_groups_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"groups=",     "groups=2",    "groups=2:",    "groups=:1",   "groups=0:1",
                                      "groups=-1:1", "groups=2:1,", "groups=2:inf", "groups=2:-1", "groups=1.5:2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("batch.loss", bad[i], NULL, "groups:");
    refused("batch.loss", "groups=1:1", "corpus=farm", "not both");
    refused("batch.loss", "sentences=3", NULL, "model= and corpus=");
    expect_refused("above the largest", "batch.loss", "pad_loss=inf", NULL);
    refused("batch.loss", "corpus=nowhere", NULL, "nowhere");
}

/* What lm.score says of each sentence, put together by hand. */
static void a_model_is_averaged_as_it_scores(void **state) {
    (void)state;
    SavedModel m = saved_model("d=16", "epochs=1", NULL, NULL);
    static const char *const text[] = {"text=the dog eats bones every day .", "text=the owl eats mice at night .",
                                       "text=the cows near the cat eat corn every day ."};
    double tokens = 0, sum = 0, means = 0, nll;
    for (int i = 0; i < 3; i++) {
        Study *s = run_study("lm.score", m.pair, text[i], NULL);
        Table *t = study_result(s, "summary");
        nll = cell_real(t, 0, "nll");
        double n = (double)cell_int(t, 0, "tokens");
        tokens += n;
        sum += n * nll;
        means += nll / 3;
        table_free(t);
        study_free(s);
    }
    const char *corpus = corpus_of("the dog eats bones every day .\n\nthe owl eats mice at night .\r\n"
                                   "the cows near the cat eat corn every day .");
    Study *s = run_study("batch.loss", m.pair, corpus, "pad_loss=2", NULL);
    Table *t = study_result(s, "loss");
    assert_near(cell_real(t, 0, "value"), sum / tokens, 1e-6);
    assert_near(cell_real(t, 1, "value"), means, 1e-6);
    assert_near(cell_real(t, 2, "value"), (sum + 2 * (33 - tokens)) / 33, 1e-6); /* the longest has 11 predictions */
    table_free(t);
    study_free(s);
    refused("batch.loss", m.pair, corpus_of("the zebra\n"), "zebra");
    refused("batch.loss", m.pair, corpus_of("\n  \n"), "no words");
    refused("batch.loss", m.pair, corpus_of("the dog </s> eats\n"), "reserved");
    saved_model_remove(&m);
}

/* Section 3.3: pads that are counted spoil the loss, and their share is that of the padded batch. */
static void pads_spoil_the_loss(void **state) {
    (void)state;
    SavedModel m = saved_model("d=16", "epochs=2", NULL, NULL);
    Study *s = run_study("batch.loss", m.pair, "sentences=64", NULL);
    Table *t = study_result(s, "loss");
    assert_int_equal(table_rows(t), 3);
    assert_true(cell_real(t, 2, "value") > cell_real(t, 0, "value") + 0.5);
    table_free(t);
    study_free(s);
    saved_model_remove(&m);
}

/* ---- batch.pad ---- */

static void expect_pad(const char *model, const char *to, bool masked_agrees) {
    static const char *const variants[] = {"right", "left_plain", "left_masked", "left_masked_shifted"};
    const bool agrees[] = {true, false, masked_agrees, true};
    Study *s = run_study("batch.pad", model, to, NULL);
    Table *t = study_result(s, "diff");
    assert_int_equal(table_rows(t), 4);
    for (long i = 0; i < 4; i++) {
        double off = cell_real(t, i, "max_abs_logit_difference");
        assert_string_equal(cell_text(t, i, "variant"), variants[i]);
        if (agrees[i] ? !(off < 1e-4) : !(off > .05)) fail_msg("%s of %s differs by %g", variants[i], model, off);
    }
    table_free(t);
    study_free(s);
}

static void the_sides_of_section_3_4(void **state) {
    (void)state;
    SavedModel gpt = saved_model("d=16", "epochs=4", NULL, NULL);
    SavedModel sinusoid = saved_model("d=16", "epochs=4", "pos=sinusoid", NULL);
    SavedModel rope = saved_model("arch=modern", "d=16", "epochs=4", NULL);
    expect_pad(gpt.pair, "to=19", false);
    expect_pad(gpt.pair, "to=64", false);
    expect_pad(sinusoid.pair, "to=9", false);
    expect_pad(rope.pair, "to=19", true); /* scores depend on distances alone */
    refused("batch.pad", gpt.pair, "to=7", "8 tokens");
    refused("batch.pad", gpt.pair, "to=65", "room for 64");
    saved_model_remove(&sinusoid);
    saved_model_remove(&rope);
    Study *s = run_study("batch.pad", gpt.pair, "to=8", NULL); /* no pads at all */
    Table *t = study_result(s, "diff");
    for (long i = 0; i < 4; i++) assert_near(cell_real(t, i, "max_abs_logit_difference"), 0, 1e-4);
    table_free(t);
    study_free(s);
    saved_model_remove(&gpt);
}

/* ---- batch.waste ---- */

static void expect_waste(const Table *t, long row, const char *method, long long batches, long long positions,
                         long long tokens, double boundary) {
    assert_string_equal(cell_text(t, row, "method"), method);
    assert_int_equal(cell_int(t, row, "batches"), batches);
    assert_int_equal(cell_int(t, row, "positions"), positions);
    assert_int_equal(cell_int(t, row, "real"), tokens);
    assert_near(cell_real(t, row, "waste_share"), 1 - (double)tokens / (double)positions, 1e-12);
    assert_near(cell_real(t, row, "blocks_with_boundary_share"), boundary, 1e-12);
}

/* Lengths with </s>: 2, 2, 3, 5, 5, 6, in batches of 2. */
static void waste_by_hand(void **state) {
    (void)state;
    const char *corpus = corpus_of("a\na b c d\na b\nb\nd c b a\na b c d e\n");
    Study *s = run_study("batch.waste", corpus, "batch=2", "block=4", "bucket=3", NULL);
    Table *t = study_result(s, "waste");
    assert_int_equal(table_rows(t), 4);
    long long random = cell_int(t, 0, "positions");
    assert_in_range(random, 2 * (2 + 5 + 6), 2 * (6 + 5 + 5)); /* whatever the order */
    expect_waste(t, 0, "random", 3, random, 23, 0);
    expect_waste(t, 1, "sorted", 3, 2 * 2 + 2 * 5 + 2 * 6, 23, 0);
    table_free(t);
    study_free(s);
    /* Packed as in the corpus, whatever the seed: sentences begin at 2, 7, 10, 12, 17, of which 12 opens a block. */
    for (int seed = 1; seed <= 5; seed++) {
        char pair[16];
        snprintf(pair, sizeof pair, "seed=%d", seed);
        s = run_study("batch.waste", corpus, "batch=2", "block=4", pair, NULL);
        t = study_result(s, "waste");
        expect_waste(t, 3, "packed", 3, 24, 23, 4. / 6);
        table_free(t);
        study_free(s);
    }
    s = run_study("batch.waste", corpus, "batch=6", "block=23", "bucket=1", NULL);
    t = study_result(s, "waste");
    expect_waste(t, 0, "random", 1, 36, 23, 0);
    expect_waste(t, 1, "sorted", 1, 36, 23, 0);
    expect_waste(t, 2, "bucketed", 4, 23, 23, 0); /* one of 2s, one of 3s, one of 5s, one of 6s */
    expect_waste(t, 3, "packed", 1, 23, 23, 1);
    table_free(t);
    study_free(s);
}

/* Equal sentences, so that every order is the same: 4 of 3 tokens. A block of 3 never sees a boundary inside. */
static void boundaries_by_hand(void **state) {
    (void)state;
    const char *corpus = corpus_of("a b\na b\na b\na b\n");
    static const struct {
        const char *block;
        long long batches, positions;
        double share;
    } want[] = {{"block=3", 2, 12, 0},      {"block=6", 1, 12, 1},    {"block=5", 2, 15, 2. / 3}, {"block=4", 2, 12, 1},
                {"block=2", 3, 12, 1. / 3}, {"block=100", 1, 100, 1}, {"block=1", 6, 12, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        Study *s = run_study("batch.waste", corpus, "batch=2", want[i].block, NULL);
        Table *t = study_result(s, "waste");
        expect_waste(t, 3, "packed", want[i].batches, want[i].positions, 12, want[i].share);
        table_free(t);
        study_free(s);
    }
}

/* Section 3.5 on the farm: buckets take nearly all waste away, and every packed block has a boundary. */
static void the_farm_is_packed(void **state) {
    (void)state;
    Study *s = run_study("batch.waste", NULL);
    Table *t = study_result(s, "waste");
    long long tokens = cell_int(t, 0, "real");
    assert_in_range(tokens, 230000, 234000); /* the lecture's corpus has 232,011 */
    assert_int_equal(cell_int(t, 0, "batches"), 313);
    double random = cell_real(t, 0, "waste_share"), sorted = cell_real(t, 1, "waste_share"),
           bucketed = cell_real(t, 2, "waste_share"), packed = cell_real(t, 3, "waste_share");
    assert_true(random > .3 && random < .45);
    assert_true(sorted < .01 && bucketed > sorted && bucketed < .06 && packed < .001);
    assert_near(cell_real(t, 3, "blocks_with_boundary_share"), 1, 0);
    assert_int_equal(cell_int(t, 3, "positions"), (tokens + 127) / 128 * 128);
    table_free(t);
    study_free(s);
    refused("batch.waste", corpus_of(""), NULL, "no words");
    refused("batch.waste", "corpus=nowhere", NULL, "nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exercise_2),
        cmocka_unit_test(bad_groups_are_refused),
        cmocka_unit_test(a_model_is_averaged_as_it_scores),
        cmocka_unit_test(pads_spoil_the_loss),
        cmocka_unit_test(the_sides_of_section_3_4),
        cmocka_unit_test(waste_by_hand),
        cmocka_unit_test(boundaries_by_hand),
        cmocka_unit_test(the_farm_is_packed),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
