/* probes: what is drawn, and how a model is asked, against the same worked out by hand. */
#include "probes.h"

#include "corpora.h"
#include "forward.h"
#include "mem.h"
#include "models.h"

#include <math.h>
#include <stdio.h>

#include "small_model.h"

static Corpus *corpus;
static ProbeTask *task;

static void expect_ok(Status s) {
    if (!status_is_ok(&s)) print_error("%s\n", s.text);
    assert_int_equal(s.code, STATUS_OK);
}

static int set_up(void **state) {
    expect_ok(corpora_load("farm", (CorpusTokens){0}, 1, 1, 1, &corpus));
    expect_ok(probe_task_open("farm-tests", corpus->vocab, &task));
    return small_model_make(state);
}

static int tear_down(void **state) {
    probe_task_free(task);
    corpus_free(corpus);
    return small_model_remove(state);
}

static const char *word(const Probe *p, int i) {
    return vocab_token(corpus->vocab, p->id[i]);
}

/* No noun of the farm's singular ends in s but these verbs do; foxes and horses end in s as dogs do. */
static bool is_plural(const char *noun) {
    return noun[strlen(noun) - 1] == 's';
}

static void labels_are_in_byte_order(void **state) {
    (void)state;
    assert_int_equal(probe_task_labels(task), 2);
    assert_string_equal(probe_task_label(task, 0), "pl");
    assert_string_equal(probe_task_label(task, 1), "sg");
}

static void nouns_between_have_the_other_number(void **state) {
    (void)state;
    Probes p;
    expect_ok(probes_draw(task, "probe", "k=4", "test", 1, 60, &p));
    assert_int_equal(p.count, 60);
    assert_int_equal(p.longest, 15);
    int plural = 0;
    for (int i = 0; i < p.count; i++) {
        const Probe *q = &p.probe[i];
        assert_int_equal(q->n, 15);
        assert_int_equal(q->id[0], VOCAB_BOS);
        assert_int_equal(q->label, is_plural(word(q, 2)) ? 0 : 1);
        for (int k = 5; k < 15; k += 3) assert_int_equal(is_plural(word(q, k)), q->label == 1);
        plural += q->label == 0;
    }
    assert_in_range(plural, 15, 45);
    probes_done(&p);
}

static void labelled_ones_show_every_number(void **state) {
    (void)state;
    Probes p;
    int same = 0, other = 0, alone = 0;
    expect_ok(probes_draw(task, "labelled", NULL, "test", 1, 200, &p));
    for (int i = 0; i < p.count; i++) {
        const Probe *q = &p.probe[i];
        assert_int_equal(q->label, is_plural(word(q, 2)) ? 0 : 1);
        alone += q->n == 3;
        for (int k = 5; k < q->n; k += 3) *(is_plural(word(q, k)) == (q->label == 0) ? &same : &other) += 1;
    }
    assert_in_range(alone, 60, 120); /* 45 % */
    assert_true(same > 40 && other > 40);
    probes_done(&p);
}

static Study *small_study(TrainedModel *m) {
    Options *o = catalog_options(catalog_find("lm.score"));
    expect_ok(options_set_pair(o, small_model_pair));
    Study *s = study_new(catalog_find("lm.score"), o);
    expect_ok(models_get(s, m));
    return s;
}

/* The verbs of the farm, asked one probe at a time. */
static bool right_by_hand(const Model *m, const Probe *p) {
    static const char *const verbs[2][4] = {{"chase", "eat", "follow", "make"}, {"chases", "eats", "follows", "makes"}};
    Forward *f = forward_new();
    const real *logits = forward_ids(f, m, p->id, p->n) + (size_t)(p->n - 1) * (size_t)model_config(m)->vocab;
    double sum[2] = {0};
    for (int l = 0; l < 2; l++)
        for (int v = 0; v < 4; v++)
            sum[l] += exp((double)logits[vocab_find(corpus->vocab, verbs[l][v], strlen(verbs[l][v]))]);
    forward_free(f);
    return sum[p->label] > sum[1 - p->label];
}

static void accuracy_is_as_by_hand(void **state) {
    (void)state;
    TrainedModel m;
    Study *s = small_study(&m);
    Probes p;
    expect_ok(probes_draw(task, "probe", "k=1", "test", 2, 150, &p));
    int right = 0;
    for (int i = 0; i < p.count; i++) right += right_by_hand(m.model, &p.probe[i]);
    assert_in_range(right, 1, p.count - 1);
    assert_near(probes_accuracy(task, m.model, &p), (double)right / p.count, 1e-12);
    probes_done(&p);
    models_done(&m);
    study_free(s);
}

/* The largest of the weights that attn.step would show. */
static void weight_is_as_the_scene_shows(void **state) {
    (void)state;
    TrainedModel m;
    Study *s = small_study(&m);
    Probes p;
    double want = 0;
    expect_ok(probes_draw(task, "probe", "k=2", "test", 3, 5, &p));
    Study *look = run_study("attn.step", small_model_pair, "prompt=the dogs near the cat", NULL);
    Table *t = study_result(look, "attention");
    for (long i = 0; i < table_rows(t); i++)
        if (cell_int(t, i, "query") == 5 && cell_int(t, i, "key") == 2) want = fmax(want, cell_real(t, i, "weight"));
    int *ids, n;
    expect_ok(models_text_ids(&m, "the dogs near the cat", MODELS_PROMPT, &ids, &n));
    Probe one = {ids, n, 0};
    assert_near(probes_weight_on(m.model, &(Probes){&one, 1, n}, 2, 10), want, 1e-6);
    double all = probes_weight_on(m.model, &p, 2, 10);
    assert_true(all > 0 && all < 1);
    mem_free(ids);
    table_free(t);
    study_free(look);
    probes_done(&p);
    models_done(&m);
    study_free(s);
}

static void what_is_no_task_is_refused(void **state) {
    (void)state;
    ProbeTask *none;
    Status s = probe_task_open("farm", corpus->vocab, &none);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "probe"));
    Vocab *v = vocab_new((const char *const[]){"the", "dog"}, 2);
    s = probe_task_open("farm-tests", v, &none);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "chase"));
    vocab_free(v);
    Probes p;
    s = probes_draw(task, "agreement", NULL, "test", 1, 3, &p);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "agreement"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_in_byte_order),        cmocka_unit_test(nouns_between_have_the_other_number),
        cmocka_unit_test(labelled_ones_show_every_number), cmocka_unit_test(accuracy_is_as_by_hand),
        cmocka_unit_test(weight_is_as_the_scene_shows),    cmocka_unit_test(what_is_no_task_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
