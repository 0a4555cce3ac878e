/* Models that others trained, against numbers that others worked out: every case of the reference files goes through
 * the experiments, as on the command line. Skipped without LANTERN_SHARED. */
#include "expect.h"

#include "file.h"
#include "io/safetensors.h"
#include "run_study.h"
#include "str.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOGITS    1e-4
#define ATTENTION 1e-5

static const char *shared(void) {
    const char *folder = getenv("LANTERN_SHARED");
    if (!folder) skip();
    return folder;
}

static void read_shared(const char *name, Str *out) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/data/reference/%s", shared(), name);
    str_init(out);
    assert_ok(file_read(path, 0, out));
}

/* --- cases, a line each --- */

typedef void Check(const json_t *o, const char *csv);

/* CSV NULL: none goes with it. */
static void each_case(const char *name, const char *csv_name, Check *check) {
    Str lines, csv;
    read_shared(name, &lines);
    str_init(&csv);
    if (csv_name) {
        str_done(&csv);
        read_shared(csv_name, &csv);
    }
    int cases = 0;
    for (char *line = lines.s, *end; (end = strchr(line, '\n')); line = end + 1, cases++) {
        json_error_t error;
        json_t *o = json_loadb(line, (size_t)(end - line), 0, &error);
        assert_non_null(o);
        check(o, csv.s);
        json_decref(o);
    }
    assert_true(cases > 0);
    str_done(&lines);
    str_done(&csv);
}

static const char *text_of(const json_t *o, const char *key) {
    return json_string_value(json_object_get(o, key));
}

static double number_of(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}

static int int_at(const json_t *list, size_t i) {
    return (int)json_integer_value(json_array_get(list, i));
}

/* "NAME=1,403,407" */
static char *pair_of_ids(const json_t *o) {
    const json_t *ids = json_object_get(o, "ids");
    Str pair;
    str_init(&pair);
    for (size_t i = 0; i < json_array_size(ids); i++) str_addf(&pair, "%s%d", i ? "," : "ids=", int_at(ids, i));
    return str_take(&pair);
}

static char *pair(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *pair(const char *format, ...) {
    Str text;
    va_list args;
    str_init(&text);
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    return str_take(&text);
}

static char *model_pair(const json_t *o) {
    const char *name = text_of(o, "model"), *file = text_of(o, "file");
    if (file) return pair("model=%s/data/stories260K/hf/%s", shared(), file);
    if (strstr(name, "260K")) return pair("model=%s/data/%s/%s.bin", shared(), name, name);
    return pair("model=%s/data/%s", shared(), name);
}

/* A value that stands behind KEY in a CSV text, whose line begins with it. */
static double value_behind(const char *csv, const char *key) {
    size_t n = strlen(key);
    for (const char *line = csv; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, n) == 0) return atof(line + n);
    }
    fail_msg("no line begins with %s", key);
    return 0;
}

/* --- greedy paths and logits --- */

static void check_path(const Study *s, const json_t *greedy) {
    Table *path = study_result(s, "path");
    assert_int_equal(table_rows(path), json_array_size(greedy));
    for (long i = 0; i < table_rows(path); i++)
        assert_int_equal(table_int(path, i, table_find(path, "id")), int_at(greedy, (size_t)i));
    table_free(path);
}

static void check_logits(const Study *s, const char *csv, const char *key) {
    Table *next = study_result(s, "next");
    assert_true(table_rows(next) > 1);
    for (long i = 0; i < table_rows(next); i++) {
        char start[60];
        int id = (int)table_int(next, i, table_find(next, "id"));
        (void)snprintf(start, sizeof start, "%s,%d,", key, id);
        assert_true(fabs(cell_real(next, i, "logit") - value_behind(csv, start)) < LOGITS);
    }
    table_free(next);
}

static void check_greedy_with(const json_t *o, const char *csv, const char *key, const char *more) {
    char *model = model_pair(o), *ids = pair_of_ids(o);
    const json_t *greedy = json_object_get(o, "greedy");
    char *tokens = pair("tokens=%zu", json_array_size(greedy));
    Study *s = run_study("decode.greedy", model, ids, tokens, more, NULL);
    check_path(s, greedy);
    study_free(s);
    s = run_study("decode.next", model, ids, more, NULL);
    check_logits(s, csv, key);
    study_free(s);
    mem_free(model);
    mem_free(ids);
    mem_free(tokens);
}

static void check_greedy(const json_t *o, const char *csv) {
    check_greedy_with(o, csv, text_of(o, "case"), NULL);
}

static void check_window(const json_t *o, const char *csv) {
    char *window = pair("window=%d", (int)number_of(o, "window")), *key = pair("%d", (int)number_of(o, "window"));
    check_greedy_with(o, csv, key, window);
    mem_free(window);
    mem_free(key);
}

static void greedy_paths_agree(void **state) {
    (void)state;
    each_case("llama2c/greedy.jsonl", "llama2c/logits.csv", check_greedy);
    each_case("hf_llama/greedy.jsonl", "hf_llama/logits.csv", check_greedy);
    each_case("hf_gpt2/tiny-random-gpt2.jsonl", "hf_gpt2/tiny-random-gpt2_logits.csv", check_greedy);
    each_case("hf_gpt2/tiny_gpt2.jsonl", "hf_gpt2/tiny_gpt2_logits.csv", check_greedy);
}

static void windows_agree(void **state) {
    (void)state;
    each_case("llama2c/window.jsonl", "llama2c/window.csv", check_window);
}

/* The text of a prompt becomes the ids of the case, by the tokenizer that goes with the model. */
static void check_prompt(const json_t *o, const char *csv) {
    (void)csv;
    const char *name = text_of(o, "model");
    char *model = model_pair(o), *prompt = pair("prompt=%s", text_of(o, "prompt"));
    char *tokenizer = pair("tokenizer=%s/data/%s/tok512.bin", shared(), name);
    const json_t *greedy = json_object_get(o, "greedy");
    char *tokens = pair("tokens=%zu", json_array_size(greedy));
    Study *s = run_study("decode.greedy", model, tokenizer, prompt, tokens, NULL);
    check_path(s, greedy);
    study_free(s);
    mem_free(model);
    mem_free(prompt);
    mem_free(tokenizer);
    mem_free(tokens);
}

static void prompts_are_cut_as_they_should(void **state) {
    (void)state;
    each_case("llama2c/greedy.jsonl", NULL, check_prompt);
}

/* --- log-probabilities --- */

static void check_nll(const json_t *o, const char *csv) {
    char *model = model_pair(o), *text = pair("text=%s", text_of(o, "text"));
    char *tokenizer = pair("tokenizer=%s/data/%s/tok512.bin", shared(), text_of(o, "model"));
    Study *s = run_study("lm.score", model, tokenizer, text, NULL);
    Table *score = study_result(s, "score"), *summary = study_result(s, "summary");
    assert_int_equal(table_rows(score), (long)number_of(o, "tokens"));
    for (long i = 0; i < table_rows(score); i++) {
        char *key = pair("%s,%ld,%d,", text_of(o, "case"), i + 1, (int)cell_int(score, i, "id"));
        assert_true(fabs(cell_real(score, i, "log_p") - value_behind(csv, key)) < LOGITS);
        assert_true(table_is_empty(score, i, table_find(score, "true_log_p")));
        mem_free(key);
    }
    assert_true(fabs(cell_real(summary, 0, "nll") - number_of(o, "nll")) < LOGITS);
    assert_true(fabs(cell_real(summary, 0, "perplexity") - number_of(o, "perplexity")) < 10 * LOGITS);
    table_free(score);
    table_free(summary);
    study_free(s);
    mem_free(model);
    mem_free(text);
    mem_free(tokenizer);
}

static void scores_agree(void **state) {
    (void)state;
    each_case("llama2c/nll.jsonl", "llama2c/nll.csv", check_nll);
}

/* --- tables beside the CSV: rows in the same order --- */

/* The next line of a CSV text as numbers, as many as it has up to MOST; the text moves on. False at its end. */
static bool next_numbers(const char **csv, int skipped, double *x, int n) {
    const char *line = *csv, *end = strchr(line, '\n');
    if (!end) return false;
    for (int i = 0; i < skipped; i++) line = strchr(line, ',') + 1;
    for (int i = 0; i < n; i++) {
        char *rest;
        x[i] = strtod(line, &rest);
        line = rest + 1;
    }
    *csv = end + 1;
    return true;
}

static const char *after_head(const char *csv) {
    return strchr(csv, '\n') + 1;
}

/* layer,head,query,key,scaled_score,weight for every key that is seen. */
static void check_attention(const json_t *o, const char *csv) {
    char *model = model_pair(o), *ids = pair_of_ids(o);
    Study *s = run_study("attn.step", model, ids, NULL);
    Table *t = study_result(s, "attention");
    const char *line = after_head(csv);
    double x[6];
    for (long i = 0; i < table_rows(t); i++) {
        if (cell_int(t, i, "key") > cell_int(t, i, "query")) {
            assert_true(cell_real(t, i, "weight") == 0);
            continue;
        }
        assert_true(next_numbers(&line, 0, x, 6));
        assert_true(cell_int(t, i, "layer") == (int)x[0] && cell_int(t, i, "head") == (int)x[1]);
        assert_true(cell_int(t, i, "query") == (int)x[2] && cell_int(t, i, "key") == (int)x[3]);
        assert_true(fabs(cell_real(t, i, "scaled") - x[4]) < LOGITS);
        assert_true(fabs(cell_real(t, i, "weight") - x[5]) < ATTENTION);
    }
    assert_false(next_numbers(&line, 0, x, 6));
    table_free(t);
    study_free(s);
    mem_free(model);
    mem_free(ids);
}

/* what,layer,head,position,index,value: the value of that row of the table. */
static double vector_at(const Table *t, char what, const double *at) {
    for (long i = 0; i < table_rows(t); i++)
        if (table_text(t, i, table_find(t, "which"))[0] == what && cell_int(t, i, "layer") == (int)at[0] &&
            cell_int(t, i, "head") == (int)at[1] && cell_int(t, i, "position") == (int)at[2] &&
            cell_int(t, i, "index") == (int)at[3])
            return cell_real(t, i, "value");
    fail_msg("no such vector");
    return 0;
}

static void check_vectors(const json_t *o, const char *csv) {
    char *model = model_pair(o), *ids = pair_of_ids(o);
    for (int layer = 0; layer < 5; layer++) {
        char *only = pair("layer=%d", layer);
        Study *s = run_study("attn.step", model, ids, only, NULL);
        Table *t = study_result(s, "vectors");
        const char *line = after_head(csv);
        double x[5];
        int rows = 0;
        for (const char *from = line; next_numbers(&line, 1, x, 5); from = line) {
            if ((int)x[0] != layer) continue;
            assert_true(fabs(vector_at(t, from[0], x) - x[4]) < LOGITS);
            rows++;
        }
        assert_true(rows > 0);
        table_free(t);
        study_free(s);
        mem_free(only);
    }
    mem_free(model);
    mem_free(ids);
}

static void attention_agrees(void **state) {
    (void)state;
    each_case("llama2c/attention.jsonl", "llama2c/attention.csv", check_attention);
    each_case("llama2c/attention.jsonl", "llama2c/qkv.csv", check_vectors);
}

/* --- beam search --- */

/* Of each step the candidates that were taken, in order. */
static void check_trace(const Table *tree, const json_t *trace) {
    long row = 0;
    for (size_t step = 0; step < json_array_size(trace); step++) {
        const json_t *taken = json_array_get(trace, step);
        for (size_t i = 0; i < json_array_size(taken); i++, row++) {
            const json_t *c = json_array_get(taken, i);
            while (row < table_rows(tree) && strcmp(table_text(tree, row, table_find(tree, "state")), "pruned") == 0)
                row++;
            assert_true(row < table_rows(tree));
            assert_int_equal(cell_int(tree, row, "depth"), (int)step + 1);
            assert_int_equal(cell_int(tree, row, "id"), (int)number_of(c, "token"));
            assert_true(fabs(cell_real(tree, row, "log_p") - number_of(c, "log_p")) < LOGITS);
            bool finished = strcmp(table_text(tree, row, table_find(tree, "state")), "finished") == 0;
            assert_int_equal(finished, strcmp(text_of(c, "state"), "finished") == 0);
        }
    }
}

static void check_beam(const json_t *o, const char *csv) {
    (void)csv;
    char *model = model_pair(o), *ids = pair_of_ids(o), *width = pair("width=%d", (int)number_of(o, "width"));
    char *end = pair("end=%d", (int)number_of(o, "eos")), *tokens = pair("tokens=%d", (int)number_of(o, "max_steps"));
    Study *s = run_study("decode.beam", model, ids, width, end, tokens, NULL);
    Table *tree = study_result(s, "tree"), *best = study_result(s, "best"), *stop = study_result(s, "stop");
    check_trace(tree, json_object_get(o, "trace"));
    assert_int_equal(cell_int(stop, 0, "step") + 1, (int)number_of(o, "steps")); /* counted from 0 */
    const json_t *found = json_object_get(o, "finished");
    if (json_array_size(found) == 0) found = json_object_get(o, "open");
    assert_int_equal(table_rows(best), json_array_size(found));
    for (long i = 0; i < table_rows(best); i++)
        assert_true(fabs(cell_real(best, i, "log_p") - number_of(json_array_get(found, (size_t)i), "log_p")) < LOGITS);
    table_free(tree);
    table_free(best);
    table_free(stop);
    study_free(s);
    char *all[] = {model, ids, width, end, tokens};
    for (int i = 0; i < 5; i++) mem_free(all[i]);
}

static void beams_agree(void **state) {
    (void)state;
    each_case("llama2c/beam.jsonl", NULL, check_beam);
}

/* --- minGPT's demo, and PyTorch's own numbers of it --- */

static void check_sort(const json_t *o, const char *csv) {
    (void)csv;
    char *model = pair("model=%s/data/gpt-nano-sort", shared()), *ids = pair_of_ids(o);
    Study *s = run_study("decode.greedy", model, ids, "tokens=6", NULL);
    check_path(s, json_object_get(o, "greedy"));
    study_free(s);
    s = run_study("decode.next", model, ids, NULL);
    Table *next = study_result(s, "next");
    for (long i = 0; i < 3; i++) {
        const json_t *logit = json_array_get(json_object_get(o, "first_logits"), (size_t)cell_int(next, i, "id"));
        assert_true(fabs(cell_real(next, i, "logit") - json_number_value(logit)) < LOGITS);
    }
    table_free(next);
    study_free(s);
    mem_free(model);
    mem_free(ids);
}

static void letters_are_sorted(void **state) {
    (void)state;
    each_case("gpt_nano_sort/sort.jsonl", NULL, check_sort);
}

/* Every number of a stage of the pass, in the order of the table: head, row, column. */
static void check_stage(const Table *t, const Safetensors *published, const char *theirs, const char *ours, int layer) {
    const SafeTensor *x = safetensors_find(published, theirs);
    assert_non_null(x);
    size_t at = 0;
    for (long i = 0; i < table_rows(t); i++) {
        bool here = table_is_empty(t, i, table_find(t, "layer")) ? layer < 0 : cell_int(t, i, "layer") == layer;
        if (!here || strcmp(table_text(t, i, table_find(t, "name")), ours) != 0) continue;
        float value;
        assert_true(at + sizeof value <= x->bytes);
        memcpy(&value, x->data + at, sizeof value);
        at += sizeof value;
        double tolerance = strcmp(theirs, "attSm") == 0 ? ATTENTION : LOGITS;
        if (!(fabs(cell_real(t, i, "value") - (double)value) < tolerance)) fail_msg("%s at %zu", theirs, at);
    }
    assert_int_equal(at, x->bytes);
}

static void check_activations(const json_t *o, const char *csv) {
    (void)csv;
    static const struct {
        const char *theirs, *ours;
        int layer;
    } stages[] = {{"tok_emb", "embed", -1},      {"pos_emb", "position", -1},
                  {"x", "embedded", -1},         {"ln1", "norm1", 0},
                  {"q", "attention.query", 0},   {"k", "attention.key", 0},
                  {"v", "attention.value", 0},   {"attSm", "attention.weights", 0},
                  {"yProj", "attention.out", 0}, {"attnResid", "residual1", 0},
                  {"ln2", "norm2", 0},           {"fc", "ffn.up", 0},
                  {"gelu", "ffn.act", 0},        {"mlp", "ffn.down", 0},
                  {"mlpResid", "residual2", 0},  {"block0", "residual2", 0},
                  {"block1", "residual2", 1},    {"block2", "residual2", 2},
                  {"ln_f", "final_norm", -1},    {"lm_head", "logits", -1}};
    char *path = pair("%s/data/reference/gpt_nano_sort/%s", shared(), text_of(o, "file"));
    char *model = pair("model=%s/data/gpt-nano-sort", shared()), *ids = pair_of_ids(o);
    Safetensors *published;
    assert_ok(safetensors_open(path, &published));
    Study *s = run_study("model.trace", model, ids, NULL);
    Table *t = study_result(s, "values");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        check_stage(t, published, stages[i].theirs, stages[i].ours, stages[i].layer);
    table_free(t);
    study_free(s);
    safetensors_close(published);
    mem_free(path);
    mem_free(model);
    mem_free(ids);
}

static void pytorch_agrees(void **state) {
    (void)state;
    each_case("gpt_nano_sort/activations.jsonl", NULL, check_activations);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_paths_agree),
        cmocka_unit_test(windows_agree),
        cmocka_unit_test(prompts_are_cut_as_they_should),
        cmocka_unit_test(scores_agree),
        cmocka_unit_test(attention_agrees),
        cmocka_unit_test(beams_agree),
        cmocka_unit_test(letters_are_sorted),
        cmocka_unit_test(pytorch_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
