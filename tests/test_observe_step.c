/* The observer of a training step: values are those of the probe, gradients those of central differences, changes those
 * between two states of the parameters. */
#include "observe_step.h"
#include "run.h"
#include "stage.h"

#include <math.h>

#define SENTENCE "the dogs near the cat behind the owl"

static void nothing(void *data, const Taught *t, int node) {
    (void)data, (void)t, (void)node;
}

static double cell(const Table *t, long row, const char *column) {
    return table_real(t, row, table_find(t, column));
}

static const char *word(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}

static bool near(double got, double want, double tolerance) {
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

/* Bit for bit those of a forward pass without a loss, in the same order. */
static void expect_values(ModelConfig c) {
    Stage *s = stage_new(SENTENCE, c);
    Snapshot *seen = stage_look(s, "step");
    const Table *ops = snapshot_table(seen, "ops");
    const Tape *probe = observers_probe(s->observers, &s->scene);
    assert_int_equal(table_rows(ops), tape_nodes(probe) + 1);
    for (int i = 0; i < tape_nodes(probe); i++) {
        NodeInfo info = tape_node(probe, i);
        int rows, cols;
        const real *x = tape_value(probe, info.out, &rows, &cols);
        const Field *f = snapshot_field(seen, "step.%d.value", i);
        assert_non_null(f);
        assert_string_equal(word(ops, i, "name"), info.name);
        assert_string_equal(word(ops, i, "formula"), info.formula);
        assert_int_equal(cell(ops, i, "rows"), rows);
        assert_int_equal(cell(ops, i, "columns"), cols);
        assert_memory_equal(f->x, x, (size_t)rows * (size_t)cols * sizeof *x);
        double sum = 0, squares = 0;
        for (int k = 0; k < rows * cols; k++) sum += (double)x[k], squares += (double)x[k] * (double)x[k];
        assert_true(near(cell(ops, i, "mean"), sum / (rows * cols), 1e-12));
        assert_true(near(cell(ops, i, "rms"), sqrt(squares / (rows * cols)), 1e-12));
    }
    snapshot_unref(seen);
    stage_free(s);
}

static void values_are_those_of_the_probe(void **state) {
    (void)state;
    expect_values(config_modern());
    expect_values(config_gpt());
    expect_values(stage_rich());
}

/* Of layer norm in a GPT, of RMS norm in a modern model, never of both. */
static void norms_have_their_own_formula(void **state) {
    (void)state;
    const ModelConfig config[] = {config_gpt(), config_modern()};
    for (int i = 0; i < 2; i++) {
        Stage *s = stage_new(SENTENCE, config[i]);
        Snapshot *seen = stage_look(s, "step");
        const Table *ops = snapshot_table(seen, "ops");
        long row = 0;
        while (strcmp(word(ops, row, "kind"), "norm") != 0) row++;
        assert_int_equal(!strstr(word(ops, row, "formula"), "x - mean"), i == 1);
        assert_int_equal(!strstr(word(ops, row, "formula"), "mean(x^2)"), i == 0);
        snapshot_unref(seen);
        stage_free(s);
    }
}

/* Worked out once more from the logits. */
static double loss_of(Stage *s) {
    const real *logits = observers_logits(s->observers, &s->scene);
    int vocab = model_config(s->model)->vocab;
    double sum = 0;
    for (int i = 0; i + 1 < s->n; i++) {
        double z = 0;
        for (int k = 0; k < vocab; k++) z += exp((double)logits[i * vocab + k]);
        sum += log(z) - (double)logits[i * vocab + s->ids[i + 1]];
    }
    return sum / (s->n - 1);
}

static void the_loss_is_that_of_the_logits(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, config_modern());
    Snapshot *seen = stage_look(s, "step");
    const Table *pass = snapshot_table(seen, "pass");
    assert_int_equal(cell(pass, 0, "targets"), s->n - 1);
    assert_true(near(cell(pass, 0, "loss"), loss_of(s), 1e-5));
    assert_true(table_is_empty(pass, 0, table_find(pass, "update")));
    snapshot_unref(seen);
    stage_free(s);
}

/* The loss with parameter AT moved by BY. */
static double loss_at(Stage *s, size_t at, double by) {
    Params *p = model_params(s->model);
    real before = p->x[at];
    p->x[at] = (real)((double)before + by);
    Taught t = observers_taught(s->observers, &s->scene, nothing, NULL);
    double loss = tape_scalar(t.tape, t.loss);
    p->x[at] = before;
    return loss;
}

/* A few parameters of every tensor against central differences. */
static void gradients_are_central_differences(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich());
    const Params *p = model_read_params(s->model);
    double step = REAL_IS_DOUBLE ? 1e-5 : 4e-3, tolerance = REAL_IS_DOUBLE ? 1e-7 : 2e-3;
    real *grad = MEM_ARRAY(real, p->count);
    memcpy(grad, observers_taught(s->observers, &s->scene, nothing, NULL).grad, p->count * sizeof *grad);
    int felt = 0;
    for (int i = 0; i < p->slices; i++)
        for (size_t k = 0; k < slice_count(&p->slice[i]); k += slice_count(&p->slice[i]) / 3 + 1) {
            size_t at = p->slice[i].at + k;
            double want = (loss_at(s, at, step) - loss_at(s, at, -step)) / (2 * step);
            if (!(fabs((double)grad[at] - want) <= tolerance))
                fail_msg("%s[%zu] has %.10g, not %.10g", p->slice[i].name, k, (double)grad[at], want);
            felt += fabs(want) > 10 * tolerance;
        }
    assert_true(felt > 5);
    mem_free(grad);
    stage_free(s);
}

/* The gradient of the logits is (p - 1 at the target) / targets, nothing for the last token; that of an addition
 * passes to both of its inputs. */
static void gradients_of_values(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, config_modern());
    Snapshot *seen = stage_look(s, "step");
    const Table *ops = snapshot_table(seen, "ops");
    int last = (int)table_rows(ops) - 1, vocab = model_config(s->model)->vocab;
    assert_string_equal(word(ops, last, "name"), "loss");
    assert_true(field_at(snapshot_field(seen, "step.%d.gradient", last), 0, 0, 0, 0) == 1);
    const Field *x = snapshot_field(seen, "step.%d.value", last - 1),
                *g = snapshot_field(seen, "step.%d.gradient", last - 1);
    for (int i = 0; i < s->n; i++) {
        double z = 0;
        for (int k = 0; k < vocab; k++) z += exp((double)field_at(x, i, k, 0, 0));
        for (int k = 0; k < vocab; k++) {
            double want = exp((double)field_at(x, i, k, 0, 0)) / z;
            if (i + 1 < s->n) want -= k == s->ids[i + 1];
            if (i + 1 == s->n) want = 0;
            assert_true(near((double)field_at(g, i, k, 0, 0), want / (s->n - 1), 1e-6));
        }
    }
    for (int i = 0; i < last; i++) {
        if (strcmp(word(ops, i, "kind"), "add") != 0) continue;
        const Field *sum = snapshot_field(seen, "step.%d.gradient", i),
                    *branch = snapshot_field(seen, "step.%d.gradient", i - 1);
        assert_memory_equal(sum->x, branch->x, field_count(sum) * sizeof *sum->x);
    }
    snapshot_unref(seen);
    stage_free(s);
}

static void a_token_alone_has_no_loss(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, config_modern());
    s->scene.visible = 1;
    Snapshot *seen = stage_look(s, "step");
    const Table *ops = snapshot_table(seen, "ops"), *pass = snapshot_table(seen, "pass");
    assert_string_equal(word(ops, table_rows(ops) - 1, "name"), "logits");
    assert_true(table_is_empty(pass, 0, table_find(pass, "loss")));
    assert_true(table_is_empty(ops, 0, table_find(ops, "grad_rms")));
    assert_null(snapshot_field(seen, "step.0.gradient"));
    snapshot_unref(seen);
    stage_free(s);
}

static double rms(const real *x, const real *minus, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)x[i] - (minus ? (double)minus[i] : 0);
        sum += d * d;
    }
    return sqrt(sum / (double)n);
}

/* Looking changes no parameter; an update is what lies between two states of a run. */
static void changes_are_those_between_two_states(void **state) {
    (void)state;
    Options *o = run_options();
    assert_ok(options_set(o, "sentences", "200"));
    assert_ok(options_set(o, "d", "16"));
    assert_ok(options_set(o, "clip", "0.1"));
    assert_ok(options_set(o, "weight_decay", "0.1"));
    Run *r;
    RunUpdate u;
    RunMemory before = {0};
    assert_ok(run_new(o, 1, 1, &r));
    assert_false(run_last_update(r, &u));
    (void)run_step(r);
    assert_false(run_last_update(r, &u)); /* nobody watched */
    run_watch_updates(r, true);
    run_remember(r, &before);
    RunStep step = run_step(r);
    assert_true(run_last_update(r, &u));
    assert_int_equal(u.step, 2);
    assert_true(u.clip_factor < 1 && near(u.clip_factor, 0.1 / step.grad_norm, 1e-4));
    assert_memory_equal(u.before, before.x, before.count * sizeof *before.x);

    Stage *s = stage_new(SENTENCE, config_modern());
    s->scene.model = run_model(r), s->scene.update = &u;
    uint64_t hash = params_hash(model_params(run_model(r)));
    Snapshot *seen = stage_look(s, "step");
    assert_true(hash == params_hash(model_params(run_model(r))));
    const Table *t = snapshot_table(seen, "tensors");
    const Params *p = model_params(run_model(r));
    assert_int_equal(table_rows(t), p->slices);
    for (int i = 0; i < p->slices; i++) {
        size_t at = p->slice[i].at, n = slice_count(&p->slice[i]);
        assert_string_equal(word(t, i, "name"), p->slice[i].name);
        assert_true(near(cell(t, i, "theta_rms"), rms(p->x + at, NULL, n), 1e-12));
        assert_true(near(cell(t, i, "grad_rms"), rms(run_gradient_of(r) + at, NULL, n), 1e-12));
        assert_true(near(cell(t, i, "delta_rms"), rms(p->x + at, before.x + at, n), 1e-12));
        assert_true(cell(t, i, "delta_rms") > 0);
    }
    snapshot_unref(seen);
    run_recall(r, &before);
    assert_false(run_last_update(r, &u));
    stage_free(s);
    run_memory_done(&before);
    run_free(r);
    options_free(o);
}

/* Of a long sentence only the operation that is looked at is there, and every operation is described. */
static void numbers_of_one_operation(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.context = 300;
    Stage *s = stage_new(SENTENCE, c);
    int n = 300;
    s->ids = mem_resize(s->ids, (size_t)n, sizeof *s->ids);
    for (int i = s->n; i < n; i++) s->ids[i] = s->ids[1 + i % (s->n - 1)];
    s->scene.ids = s->ids, s->scene.known = s->scene.visible = n, s->scene.operation = 3;
    Snapshot *seen = stage_look(s, "step");
    const Table *ops = snapshot_table(seen, "ops"), *pass = snapshot_table(seen, "pass");
    assert_int_equal(cell(pass, 0, "kept"), 0);
    for (int i = 0; i < table_rows(ops); i++) {
        assert_true((snapshot_field(seen, "step.%d.value", i) != NULL) == (i == 3));
        assert_true((snapshot_field(seen, "step.%d.gradient", i) != NULL) == (i == 3));
        assert_false(table_is_empty(ops, i, table_find(ops, "grad_rms")));
    }
    snapshot_unref(seen);
    stage_free(s);
}

static void numbers_as_a_table(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, config_modern());
    Snapshot *seen = stage_look(s, "step");
    const Field *x = snapshot_field(seen, "step.1.value"), *g = snapshot_field(seen, "step.1.gradient");
    Table *t = observe_step_values(seen, 1);
    assert_int_equal(table_rows(t), field_count(x));
    for (long i = 0; i < table_rows(t); i++) {
        assert_true(cell(t, i, "value") == (double)x->x[i]);
        assert_true(cell(t, i, "gradient") == (double)g->x[i]);
    }
    assert_null(observe_step_values(seen, 1000));
    table_free(t);
    snapshot_unref(seen);
    stage_free(s);
}

typedef struct {
    const Tape *tape;
    int nodes, without_loss;
} Told;

static void note_loss(void *data, const Taught *t, int node) {
    Told *told = data;
    (void)node;
    told->tape = t->tape;
    told->nodes++;
    told->without_loss += t->loss == VID_NONE;
}

/* Of a long text in a large model nodes are told of while the pass runs: the loss is named from the first of them. */
static void a_lean_pass_says_its_loss(void **state) {
    (void)state;
    Str text;
    str_init(&text);
    for (int i = 0; i < 520; i++) str_add(&text, i ? " the" : "the");
    ModelConfig c = config_modern();
    c.context = 521;
    c.layers = 4;
    c.d_ff = 1024;
    Stage *s = stage_new(text.s, c);
    Told told = {0};
    assert_true(observers_stages_later(&s->scene));
    Taught taught = observers_taught(s->observers, &s->scene, note_loss, &told);
    assert_null(taught.grad);
    assert_true(taught.loss != VID_NONE);
    assert_ptr_equal(told.tape, taught.tape);
    assert_int_equal(told.nodes, tape_nodes(taught.tape));
    assert_int_equal(told.without_loss, 0);
    stage_free(s);
    str_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_probe),
        cmocka_unit_test(norms_have_their_own_formula),
        cmocka_unit_test(the_loss_is_that_of_the_logits),
        cmocka_unit_test(gradients_are_central_differences),
        cmocka_unit_test(gradients_of_values),
        cmocka_unit_test(a_token_alone_has_no_loss),
        cmocka_unit_test(changes_are_those_between_two_states),
        cmocka_unit_test(numbers_as_a_table),
        cmocka_unit_test(numbers_of_one_operation),
        cmocka_unit_test(a_lean_pass_says_its_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
