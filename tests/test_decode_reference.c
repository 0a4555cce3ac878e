/* Decoding and filtering against numbers from elsewhere: two trained models in llama2.c's layout, with logits, greedy
 * paths, teacher-forced log-probabilities, windows and filters worked out in float64. Skipped without LANTERN_SHARED.
 */
#include "expect.h"

#include "decode/beam.h"
#include "decode/beam_model.h"
#include "decode/decoder.h"
#include "decode/filter.h"
#include "file.h"
#include "mem.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { V = 512, IDS_MOST = 160 };
#define LOGIT_TOLERANCE (REAL_IS_DOUBLE ? 1e-9 : 3e-5)

static const char *shared_path(const char *name) {
    static char path[600];
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    (void)snprintf(path, sizeof path, "%s/data/%s", shared, name);
    return path;
}

static void read_file(const char *name, Str *out) {
    str_init(out);
    assert_ok(file_read(shared_path(name), 0, out));
}

/* --- the models: seven 32-bit numbers, then float32, each name for all layers (v0, shared classifier) --- */

static void copy_in(Params *p, const char *name, const char **at) {
    int slice = params_find(p, name);
    assert_true(slice >= 0);
    const Slice *s = &p->slice[slice];
    for (size_t i = 0; i < slice_count(s); i++, *at += sizeof(float)) {
        float x;
        memcpy(&x, *at, sizeof x);
        p->x[s->at + i] = (real)x;
    }
}

static void copy_layers(Params *p, int layers, const char *name, const char **at) {
    for (int l = 0; l < layers; l++) {
        char full[80];
        (void)snprintf(full, sizeof full, "block%d.%s", l, name);
        copy_in(p, full, at);
    }
}

static Model *read_model(const char *file, int window) {
    static const char *const in_layers[] = {"norm1.gain",           "attention.query.weight",
                                            "attention.key.weight", "attention.value.weight",
                                            "attention.out.weight", "norm2.gain",
                                            "ffn.gate.weight",      "ffn.down.weight",
                                            "ffn.up.weight"};
    Str bytes;
    read_file(file, &bytes);
    int32_t h[7]; /* dim, hidden, layers, heads, kv heads, vocabulary, context */
    memcpy(h, bytes.s, sizeof h);
    ModelConfig c = config_modern();
    c.d = h[0];
    c.d_ff = h[1];
    c.layers = h[2];
    c.heads = h[3];
    c.kv_heads = h[4];
    c.head_dim = h[0] / h[3];
    c.vocab = h[5];
    c.context = h[6];
    c.tie = true;
    c.norm_eps = 1e-5;
    c.window = window;
    assert_ok(config_check(&c));
    Model *m = model_new(&c, 1);
    const char *at = bytes.s + sizeof h;
    copy_in(model_params(m), "token.weight", &at);
    for (size_t i = 0; i < sizeof in_layers / sizeof *in_layers; i++)
        copy_layers(model_params(m), c.layers, in_layers[i], &at);
    copy_in(model_params(m), "final_norm.gain", &at);
    at += (size_t)c.context * (size_t)c.head_dim * sizeof(float); /* cosines and sines */
    assert_int_equal(at - bytes.s, bytes.len);
    str_done(&bytes);
    return m;
}

static Model *model_named(const char *name, int window) {
    bool stories = strcmp(name, "stories260K") == 0;
    return read_model(stories ? "stories260K/stories260K.bin" : "aidreams260K/aidreams260K.bin", window);
}

/* --- the cases --- */

static int ids_of(const json_t *o, const char *key, int *ids) {
    const json_t *list = json_object_get(o, key);
    int n = (int)json_array_size(list);
    assert_in_range(n, 1, IDS_MOST);
    for (int i = 0; i < n; i++) ids[i] = (int)json_integer_value(json_array_get(list, (size_t)i));
    return n;
}

static double number_of(const json_t *o, const char *key, double otherwise) {
    const json_t *x = json_object_get(o, key);
    return x ? json_number_value(x) : otherwise;
}

static const char *text_of(const json_t *o, const char *key) {
    return json_string_value(json_object_get(o, key));
}

/* Calls CHECK for each line of a .jsonl file, with the .csv file beside it (NULL: none). */
static void each_case(const char *name, const char *csv_name, void (*check)(const json_t *o, const char *csv)) {
    char file[100];
    Str lines, csv;
    (void)snprintf(file, sizeof file, "reference/llama2c/%s", name);
    read_file(file, &lines);
    str_init(&csv);
    if (csv_name) {
        (void)snprintf(file, sizeof file, "reference/llama2c/%s", csv_name);
        assert_ok(file_read(shared_path(file), 0, &csv));
    }
    int cases = 0;
    for (char *line = lines.s, *end; (end = strchr(line, '\n')); line = end + 1) {
        json_error_t error;
        json_t *o = json_loadb(line, (size_t)(end - line), 0, &error);
        assert_non_null(o);
        check(o, csv.s);
        json_decref(o);
        cases++;
    }
    assert_true(cases > 0);
    str_done(&lines);
    str_done(&csv);
}

static int argmax(const real *logits) {
    int best = 0;
    for (int i = 1; i < V; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* Rows "KEY,token,logit" of the CSV text: all of them near the logits. */
static void check_logits(const char *csv, const char *key, const real *logits) {
    char start[40];
    int rows = 0;
    (void)snprintf(start, sizeof start, "\n%s,", key);
    for (const char *at = csv; (at = strstr(at, start)); at++, rows++) {
        int token;
        char value[40];
        assert_int_equal(sscanf(at + strlen(start), "%d,%39[^\n]", &token, value), 2);
        double expected;
        assert_true(str_to_double(value, &expected));
        if (!(fabs((double)logits[token] - expected) <= LOGIT_TOLERANCE))
            fail_msg("%s token %d: %g, expected %g", key, token, (double)logits[token], expected);
    }
    assert_int_equal(rows, V);
}

static void check_path(Decoder *d, const real *logits, const int *expected, int n) {
    for (int i = 0; i < n; i++) {
        int id = argmax(logits);
        assert_int_equal(id, expected[i]);
        if (i + 1 < n) logits = decoder_feed(d, 0, &id, 1);
    }
}

static void check_greedy(const json_t *o, const char *csv) {
    int ids[IDS_MOST], greedy[IDS_MOST], n = ids_of(o, "ids", ids), steps = ids_of(o, "greedy", greedy);
    Model *m = model_named(text_of(o, "model"), 0);
    Decoder *d = decoder_new(m, 1, n + steps);
    const real *logits = decoder_feed(d, 0, ids, n);
    check_logits(csv, text_of(o, "case"), logits);
    check_path(d, logits, greedy, steps);
    decoder_free(d);
    model_free(m);
}

static void test_greedy(void **state) {
    (void)state;
    each_case("greedy.jsonl", "logits.csv", check_greedy);
}

/* The same weights under a window, in a cache that rolls and in one that does not. */
static void check_window(const json_t *o, const char *csv) {
    int ids[IDS_MOST], greedy[IDS_MOST], n = ids_of(o, "ids", ids), steps = ids_of(o, "greedy", greedy);
    int window = (int)number_of(o, "window", 0);
    char key[20];
    (void)snprintf(key, sizeof key, "%d", window);
    Model *m = model_named(text_of(o, "model"), window);
    for (int rolls = 0; rolls < 2; rolls++) {
        Decoder *d = decoder_new(m, 1, rolls ? window : n + steps);
        const real *logits = decoder_feed(d, 0, ids, n);
        check_logits(csv, key, logits);
        check_path(d, logits, greedy, steps);
        decoder_free(d);
    }
    model_free(m);
}

static void test_window(void **state) {
    (void)state;
    each_case("window.jsonl", "window.csv", check_window);
}

static double log_p_of(const real *logits, int id) {
    double most = (double)logits[argmax(logits)], sum = 0;
    for (int i = 0; i < V; i++) sum += exp((double)logits[i] - most);
    return (double)logits[id] - most - log(sum);
}

static void check_nll(const json_t *o, const char *csv) {
    (void)csv;
    int ids[IDS_MOST], n = ids_of(o, "ids", ids);
    Model *m = model_named(text_of(o, "model"), 0);
    Decoder *d = decoder_new(m, 1, n);
    const real *logits = decoder_feed_all(d, 0, ids, n);
    double sum = 0;
    for (int i = 1; i < n; i++) sum += log_p_of(logits + (i - 1) * V, ids[i]);
    assert_true(fabs(sum - number_of(o, "log_p", 0)) < (REAL_IS_DOUBLE ? 1e-9 : 1e-4));
    decoder_free(d);
    model_free(m);
}

static void test_nll(void **state) {
    (void)state;
    each_case("nll.jsonl", NULL, check_nll);
}

/* One filter; how many are kept, what they had before, and the first forty. */
static void check_filter(const json_t *o, const char *csv) {
    (void)csv;
    int ids[IDS_MOST], n = ids_of(o, "ids", ids);
    Model *m = model_named(text_of(o, "model"), 0);
    Decoder *d = decoder_new(m, 1, n);
    const real *logits = decoder_feed(d, 0, ids, n);
    double x[V];
    for (int i = 0; i < V; i++) x[i] = (double)logits[i];
    FilterConfig c = {.tau = number_of(o, "tau", 1),
                      .top_k = (int)number_of(o, "top_k", 0),
                      .top_p = number_of(o, "top_p", 1),
                      .order = ORDER_TAU_FIRST};
    Filter f;
    assert_ok(filter_check(&c));
    filter_init(&f, V);
    assert_ok(filter_run(&f, &c, x, false));
    const FilterStage *last = &f.stage[f.stages - 1], *before = &f.stage[f.stages > 2 ? f.stages - 2 : f.stages - 1];
    double mass = 0;
    for (int i = 0; i < V; i++) mass += before->value[i];
    assert_int_equal(last->count, (int)number_of(o, "kept", 0));
    assert_true(fabs(mass - number_of(o, "mass", 0)) < 1e-5);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(o, "result"), i, entry) {
        int id = (int)number_of(entry, "id", -1);
        assert_true(last->kept[id]);
        assert_true(fabs(last->value[id] - number_of(entry, "p", 0)) < 1e-5);
    }
    assert_true(i > 0);
    filter_done(&f);
    decoder_free(d);
    model_free(m);
}

static void test_filter(void **state) {
    (void)state;
    each_case("filter.jsonl", NULL, check_filter);
}

/* The open beams and those that finish, step after step, and what is best at the end. */
static void check_trace(const json_t *o, const Beam *b) {
    size_t step, i;
    json_t *entries, *entry;
    int node = 0, open[IDS_MOST], next[IDS_MOST];
    json_array_foreach(json_object_get(o, "trace"), step, entries) {
        int opened = 0;
        json_array_foreach(entries, i, entry) {
            const BeamNode *got = beam_node(b, node);
            bool finished = strcmp(text_of(entry, "state"), "finished") == 0;
            assert_int_equal(got->parent, step == 0 ? -1 : open[(int)number_of(entry, "parent", -1)]);
            assert_int_equal(got->id, (int)number_of(entry, "token", -1));
            assert_int_equal(got->state == BEAM_FINISHED, finished);
            assert_true(fabs(got->log_p - number_of(entry, "log_p", 0)) < (REAL_IS_DOUBLE ? 1e-9 : 1e-4));
            if (!finished) next[opened++] = node;
            node++;
        }
        memcpy(open, next, sizeof open);
    }
    assert_int_equal(beam_nodes(b), node);
    assert_int_equal(beam_steps(b), step);
}

static void check_best(const json_t *o, const Beam *b) {
    const json_t *finished = json_object_get(o, "finished"), *open = json_object_get(o, "open");
    bool any = json_array_size(finished) > 0;
    assert_int_equal(beam_reason(b), any ? BEAM_FOUND : BEAM_TOKENS);
    int *best, n = beam_best(b, &best), want[IDS_MOST], path[IDS_MOST];
    assert_int_equal(n, json_array_size(any ? finished : open));
    for (int i = 0; i < n; i++) {
        int depth = ids_of(json_array_get(any ? finished : open, (size_t)i), "tokens", want);
        assert_int_equal(beam_node(b, best[i])->depth, depth);
        beam_path(b, best[i], path);
        assert_memory_equal(path, want, (size_t)depth * sizeof *path);
    }
    mem_free(best);
}

static void check_beam(const json_t *o, const char *csv) {
    (void)csv;
    int ids[IDS_MOST], n = ids_of(o, "ids", ids);
    BeamConfig c = {.width = (int)number_of(o, "width", 0),
                    .tokens = (int)number_of(o, "max_steps", 0),
                    .end = (int)number_of(o, "eos", 0)};
    Model *m = model_named(text_of(o, "model"), 0);
    BeamModel *model = beam_model_new(m, NULL, c.width, n + c.tokens);
    BeamSource source = beam_model_source(model, ids, n);
    Beam *b = beam_new(&c, &source);
    assert_ok(beam_run(b));
    check_trace(o, b);
    check_best(o, b);
    beam_free(b);
    beam_model_free(model);
    model_free(m);
}

static void test_beam(void **state) {
    (void)state;
    each_case("beam.jsonl", NULL, check_beam);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy), cmocka_unit_test(test_window), cmocka_unit_test(test_nll),
        cmocka_unit_test(test_filter), cmocka_unit_test(test_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
