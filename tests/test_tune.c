/* Fine-tuning: models of others learn on from the numbers of their files, live and headless. Losses, norms and tests
 * against an independent program (automatic differentiation in double, from the same files). */
#include "lab_fixture.h"
#include "run_study.h"
#include "tiny_model.h"

#include "file.h"
#include "io/checkpoint.h"
#include "loaded.h"
#include "room.h"
#include "run.h"
#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* --- one step, against others' numbers --- */

typedef struct {
    TinyKind kind;
    const char *optimizer;
    double before, loss, norm, trained, after; /* test, batch, its gradient, batch and test after the step; nats */
} Reference;

static Options *tuning_options(const TinyModel *t, const char *pairs) {
    Options *o = fixture_options(NULL);
    static const char *const reset[] = {"d",     "layers", "heads", "context", "sentences",
                                        "batch", "epochs", "start", "prompt"};
    char text[400];
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) options_reset(o, reset[i]);
    assert_ok(options_set(o, "model", t->model));
    assert_ok(options_set(o, "tokenizer", t->tokenizer));
    assert_ok(options_set(o, "corpus", t->text));
    snprintf(text, sizeof text, "%s", pairs ? pairs : "");
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) assert_ok(options_set_pair(o, pair));
    tune_settle(o);
    return o;
}

static void check_step(const Reference *want) {
    TinyModel t = tiny_model(want->kind);
    char pairs[100];
    double floor_nll, nll;
    long tokens;
    Run *r;
    snprintf(pairs, sizeof pairs, "optimizer=%s lr=0.01 warmup=0 schedule=constant", want->optimizer);
    Options *o = tuning_options(&t, pairs);
    assert_ok(run_new(o, 1, 1, &r));
    assert_true(run_tunes(r) && !run_reads_only(r) && run_keeps_past(r));
    assert_ok(run_test_nll(r, -1, &nll, &floor_nll, &tokens));
    assert_near(nll, want->before, 2e-6);
    assert_true(isnan(floor_nll));
    RunStep s = run_step(r); /* all lines are in the batch */
    assert_near(s.loss, want->loss, 2e-6);
    assert_near(s.grad_norm, want->norm, 5e-6 * want->norm);
    assert_ok(run_train_nll(r, -1, &nll, &floor_nll, &tokens));
    assert_near(nll, want->trained, 3e-6);
    assert_ok(run_test_nll(r, -1, &nll, &floor_nll, &tokens));
    assert_near(nll, want->after, 3e-6);
    run_free(r);
    options_free(o);
    tiny_remove(&t);
}

static void a_step_is_what_others_say(void **state) {
    (void)state;
    static const Reference cases[] = {
        {TINY_GPT2_TIED, "sgd", 2.939184928, 2.632515750, 4.002755756, 2.608686389, 2.937690396},
        {TINY_GPT2_TIED, "adamw", 2.939184928, 2.632515750, 4.002755756, 2.421797531, 2.710345937},
        {TINY_GPT2, "sgd", 2.365230085, 2.604345502, 3.564112866, 2.589011147, 2.362934334},
        {TINY_GPT2, "adamw", 2.365230085, 2.604345502, 3.564112866, 2.407732683, 2.282032886},
        {TINY_LLAMA2C_TIED, "sgd", 2.368842365, 2.686995946, 1.239407397, 2.675538749, 2.364379934},
        {TINY_LLAMA2C_TIED, "adamw", 2.368842365, 2.686995946, 1.239407397, 2.504762162, 2.328480253},
        {TINY_LLAMA2C, "sgd", 2.696159795, 2.669820391, 1.083106518, 2.658999527, 2.686382286},
        {TINY_LLAMA2C, "adamw", 2.696159795, 2.669820391, 1.083106518, 2.498742570, 2.571682066},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_step(&cases[i]);
}

/* Three steps of a real model on the first 40 lines of a text, all of them in a batch. Skipped without LANTERN_SHARED.
 */
enum { STEPS = 3, LINES = 40 };
typedef struct {
    const char *optimizer;
    double loss[STEPS], norm[STEPS], trained, after;
} RealReference;

static void first_lines(const char *from, int lines, const char *to) {
    Str text;
    str_init(&text);
    assert_ok(file_read(from, 0, &text));
    char *end = text.s;
    for (int i = 0; i < lines; i++) end = strchr(end, '\n') + 1;
    *end = '\0';
    tiny_write(to, text.s);
    str_done(&text);
}

static void check_real(const char *shared, const RealReference *want) {
    char from[600], to[] = "/tmp/lantern-tune-XXXXXX", model[600], tokenizer[600], corpus[60], optimizer[40];
    int fd = mkstemp(to);
    assert_true(fd >= 0);
    close(fd);
    snprintf(from, sizeof from, "%s/data/reference/bpe/genesis.txt", shared);
    first_lines(from, LINES, to);
    snprintf(model, sizeof model, "model=%s/data/stories260K/stories260K.bin", shared);
    snprintf(tokenizer, sizeof tokenizer, "tokenizer=%s/data/stories260K/tok512.bin", shared);
    snprintf(corpus, sizeof corpus, "corpus=%s", to);
    snprintf(optimizer, sizeof optimizer, "optimizer=%s", want->optimizer);
    Study *s = run_study("lm.train", model, tokenizer, corpus, optimizer, "lr=0.0005", "schedule=constant", "warmup=0",
                         "batch=1000", "epochs=3", NULL);
    Table *curve = study_result(s, "curve"), *before = study_result(s, "before"), *after = study_result(s, "result");
    for (int i = 0; i < STEPS; i++) {
        assert_near(cell_real(curve, i, "loss"), want->loss[i], 5e-5);
        assert_near(cell_real(curve, i, "grad_norm"), want->norm[i], 5e-4);
    }
    assert_near(cell_real(before, 0, "nll"), want->loss[0], 1e-5);
    assert_near(cell_real(before, 1, "nll"), 4.198860934, 1e-5);
    assert_near(cell_real(after, 0, "nll"), want->trained, 5e-5);
    assert_near(cell_real(after, 1, "nll"), want->after, 5e-5);
    table_free(curve);
    table_free(before);
    table_free(after);
    study_free(s);
    unlink(to);
}

static void a_real_model_learns_as_others_say(void **state) {
    (void)state;
    static const RealReference cases[] = {{"sgd",
                                           {3.757325738, 3.753233323, 3.749151505},
                                           {8.195437719, 8.174234131, 8.153051967},
                                           3.745080272,
                                           4.189705697},
                                          {"adamw",
                                           {3.757325738, 3.057755265, 2.699926742},
                                           {8.195437719, 4.045591778, 2.569923424},
                                           2.467835167,
                                           3.280135118}};
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_real(shared, &cases[i]);
}

/* --- live --- */

static Lab *tuning_lab(const TinyModel *t, const char *pairs) {
    Lab *l = lab_new(tuning_options(t, pairs));
    assert_ok(lab_prepare(l));
    fixture_finish(l);
    return l;
}

static uint64_t hash_of_file(const TinyModel *t) {
    LoadedModel l;
    assert_ok(loaded_read(t->model, t->tokenizer, &l));
    uint64_t h = params_hash(model_read_params(l.model));
    loaded_done(&l);
    return h;
}

enum { PLAN = 45 }; /* updates: 9 to 12 parts of lines, 4 at a time, 15 times */
#define PLAN_PAIRS "batch=4 epochs=15 lr=0.01 warmup=2"

static void it_is_held_and_learns(void **state) {
    (void)state;
    for (int kind = 0; kind < TINY_KINDS; kind++) {
        TinyModel t = tiny_model((TinyKind)kind);
        uint64_t file = hash_of_file(&t), at[3];
        for (int threads = 1; threads <= 2; threads++) {
            Lab *l = tuning_lab(&t, threads == 1 ? PLAN_PAIRS " threads=1" : PLAN_PAIRS " threads=2");
            SnapshotFacts f = fixture_facts(l);
            assert_true(f.tunes && !f.reads_only && f.state == RUN_PAUSED && f.step == 0 && f.steps == PLAN);
            assert_true(lab_hash(l) == file);
            double before = f.test_nll;
            assert_true(before > 0 && f.test_step == 0);
            fixture_do(l, "until 12");
            at[threads] = lab_hash(l);
            fixture_do(l, "run");
            f = fixture_facts(l);
            assert_true(f.state == RUN_FINISHED && f.test_whole && f.loss < before);
            fixture_do(l, "seek 12");
            assert_true(lab_hash(l) == at[threads]);
            fixture_do(l, "seek 0");
            assert_true(lab_hash(l) == file);
            assert_near(fixture_facts(l).test_nll, before, 0);
            fixture_do(l, "restart");
            assert_true(lab_hash(l) == file && fixture_facts(l).head == 0);
            lab_free(l);
        }
        assert_true(at[1] == at[2]);
        assert_true(hash_of_file(&t) == file);
        tiny_remove(&t);
    }
}

/* What was changed on the way holds from there on, also for those who go back; another text begins again. */
static void it_is_changed_on_the_way(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_LLAMA2C_TIED);
    Lab *l = tuning_lab(&t, PLAN_PAIRS);
    uint64_t file = lab_hash(l);
    fixture_do(l, "until 6");
    fixture_do(l, "set lr 0.1");
    fixture_do(l, "until 10");
    uint64_t ten = lab_hash(l);
    fixture_do(l, "seek 8");
    fixture_do(l, "fork");
    fixture_do(l, "until 10");
    assert_true(lab_hash(l) == ten);
    fixture_refused(l, "set window 3", "window=");
    fixture_refused(l, "set arch gpt", "arch=");
    fixture_refused(l, "set context 9", "context");
    assert_int_equal(fixture_facts(l).head, 10);
    fixture_do(l, "versus lr=0.001");
    assert_string_equal(fixture_facts(l).run_name[0], "model.bin");
    fixture_do(l, "until 12");
    fixture_do(l, "versus other");
    fixture_do(l, "seek 0");
    assert_true(lab_hash(l) == file);
    fixture_do(l, "live");
    fixture_do(l, "versus off");
    fixture_do(l, "set context 4");
    SnapshotFacts f = fixture_facts(l);
    assert_true(f.head == 0 && lab_hash(l) == file);
    fixture_do(l, "restart model=none tokenizer=none corpus=farm sentences=64 start=pause");
    f = fixture_facts(l);
    assert_true(!f.tunes && !f.reads_only);
    Snapshot *s = lab_snapshot(l);
    const Table *settings = snapshot_table(s, "settings");
    for (long i = 0; i < table_rows(settings); i++) assert_string_not_equal(table_text(settings, i, 0), "clip");
    snapshot_unref(s);
    lab_free(l);
    tiny_remove(&t);
}

static void without_a_text_it_is_read(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_GPT2);
    Options *o = tuning_options(&t, NULL);
    options_reset(o, "corpus");
    Lab *l = lab_new(o);
    assert_ok(lab_prepare(l));
    assert_true(fixture_facts(l).reads_only);
    fixture_refused(l, "run", "restart corpus=FILE");
    fixture_refused(l, "set lr 1", "restart corpus=FILE");
    char line[200];
    snprintf(line, sizeof line, "save %s/config.json", t.model);
    fixture_refused(l, line, "stays as it is");
    snprintf(line, sizeof line, "restart corpus=%s", t.text);
    fixture_do(l, line);
    assert_true(fixture_facts(l).tunes && fixture_facts(l).state == RUN_PAUSED);
    snprintf(line, sizeof line, "open %s", t.model);
    fixture_do(l, line);
    assert_true(fixture_facts(l).reads_only);
    snprintf(line, sizeof line, "save %s/refers", t.folder); /* it says where the model is, */
    fixture_do(l, line);
    snprintf(line, sizeof line, "open %s/refers", t.folder);
    fixture_do(l, line);
    snprintf(line, sizeof line, "save %s/refers", t.folder); /* not itself, */
    fixture_do(l, line);
    snprintf(line, sizeof line, "restart model=%s/refers corpus=%s", t.folder, t.text);
    fixture_do(l, line);
    assert_true(fixture_facts(l).tunes);
    assert_string_equal(fixture_facts(l).name, "letters"); /* and that one is learnt from */
    snprintf(line, sizeof line, "%s/refers", t.folder);
    unlink(line);
    fixture_do(l, "until 1");
    snprintf(line, sizeof line, "save %s/run.model", t.folder);
    fixture_do(l, line);
    snprintf(line, sizeof line, "open %s/run.model", t.folder);
    fixture_do(l, line);
    fixture_do(l, "restart");
    assert_true(fixture_facts(l).tunes && fixture_facts(l).head == 0);
    lab_free(l);
    tiny_remove(&t);
}

/* A tokenizer that was given goes with its model. */
static void another_model_has_another_tokenizer(void **state) {
    (void)state;
    TinyModel a = tiny_model(TINY_LLAMA2C), b = tiny_model(TINY_GPT2);
    char line[120], vocab[80];
    snprintf(vocab, sizeof vocab, "%s/vocab.json", b.tokenizer);
    tiny_write(vocab, "{\"h\":0,\"g\":1,\"f\":2,\"e\":3,\"d\":4,\"c\":5,\"b\":6,\"a\":7,\"\\u0120\":8,\"#\":9}");
    Lab *l = tuning_lab(&a, NULL);
    snprintf(line, sizeof line, "restart model=%s", b.model);
    fixture_do(l, line);
    assert_true(fixture_facts(l).tunes);
    fixture_do(l, "prompt a");
    Snapshot *s = lab_snapshot(l);
    const Table *tokens = snapshot_table(s, "tokens");
    assert_int_equal(table_int(tokens, table_rows(tokens) - 1, table_find(tokens, "id")), 7);
    snapshot_unref(s);
    lab_free(l);
    tiny_remove(&a);
    tiny_remove(&b);
}

/* --- files --- */

static void a_kept_run_goes_on(void **state) {
    (void)state;
    for (int kind = 0; kind < TINY_KINDS; kind++) {
        TinyModel t = tiny_model((TinyKind)kind);
        char line[120];
        Lab *l = tuning_lab(&t, PLAN_PAIRS);
        uint64_t file = lab_hash(l);
        fixture_do(l, "until 7");
        snprintf(line, sizeof line, "save %s/run.model", t.folder);
        fixture_do(l, line);
        fixture_do(l, "run");
        uint64_t end = lab_hash(l);
        lab_free(l);
        l = fixture_lab(NULL);
        snprintf(line, sizeof line, "open %s/run.model", t.folder);
        fixture_do(l, line);
        SnapshotFacts f = fixture_facts(l);
        assert_true(f.tunes && f.step == 7 && f.steps == PLAN && !f.missing[0]);
        fixture_do(l, "run");
        assert_true(lab_hash(l) == end);
        fixture_do(l, "restart");
        assert_true(lab_hash(l) == file);
        fixture_do(l, "run");
        assert_true(lab_hash(l) == end);
        lab_free(l);
        tiny_remove(&t);
    }
}

/* Written in their own layouts they are read as they were; tied stays tied; what was read is never written to. */
static void they_are_written_as_they_came(void **state) {
    (void)state;
    for (int kind = 0; kind < TINY_KINDS; kind++) {
        TinyModel t = tiny_model((TinyKind)kind);
        char line[120], path[80];
        Lab *l = tuning_lab(&t, PLAN_PAIRS);
        fixture_do(l, "until 9");
        snprintf(line, sizeof line, "save %s", t.model);
        fixture_refused(l, line, "stays as it is");
        snprintf(line, sizeof line, "save %s", t.tokenizer);
        fixture_refused(l, line, "stays as it is");
        if (kind <= TINY_GPT2) {
            snprintf(line, sizeof line, "save %s/model.safetensors", t.model);
            fixture_refused(l, line, "stays as it is");
            snprintf(line, sizeof line, "save %s/run", t.model);
            fixture_do(l, line);
        }
        for (int way = 0; way < 2; way++) {
            LoadedModel m;
            snprintf(path, sizeof path, way ? "%s/tuned.bin" : "%s/tuned/", t.folder);
            snprintf(line, sizeof line, "save %s", path);
            if (way && kind <= TINY_GPT2) {
                fixture_refused(l, line, "llama2.c");
                continue;
            }
            fixture_do(l, line);
            assert_ok(loaded_read(path, way ? t.tokenizer : NULL, &m));
            assert_non_null(m.vocab);
            assert_string_equal(vocab_token(m.vocab, 3), "d");
            assert_true(REAL_IS_DOUBLE || params_hash(model_read_params(m.model)) == lab_hash(l));
            assert_int_equal(model_config(m.model)->tie, kind == TINY_GPT2_TIED || kind == TINY_LLAMA2C_TIED);
            loaded_done(&m);
        }
        lab_free(l);
        tiny_remove(&t);
    }
}

/* --- headless --- */

static void headless_says_before_and_after(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_LLAMA2C);
    char model[80], tokenizer[80], corpus[80], save[80];
    snprintf(model, sizeof model, "model=%s", t.model);
    snprintf(tokenizer, sizeof tokenizer, "tokenizer=%s", t.tokenizer);
    snprintf(corpus, sizeof corpus, "corpus=%s", t.text);
    snprintf(save, sizeof save, "save=%s/new.bin", t.folder);
    Study *s = run_study("lm.train", model, tokenizer, corpus, save, "epochs=20", "lr=0.01", NULL);
    Table *before = study_result(s, "before"), *result = study_result(s, "result"), *about = study_result(s, "about");
    assert_true(cell_real(result, 0, "nll") < cell_real(before, 0, "nll") - 0.1);
    assert_int_equal(cell_int(before, 1, "tokens"), cell_int(result, 1, "tokens"));
    assert_string_equal(cell_text(about, row_with(about, "key", "batch"), "value"), "16"); /* assumed, and said */
    table_free(before);
    table_free(result);
    table_free(about);
    study_free(s);
    Study *plain = run_study("lm.train", "sentences=64", "epochs=0", NULL);
    before = study_result(plain, "before");
    assert_int_equal(table_rows(before), 0);
    assert_true(catalog_leaves_out(catalog_find("lm.train"), before));
    table_free(before);
    study_free(plain);
    snprintf(save, sizeof save, "save=%s", t.model);
    expect_refused("stays as it is", "lm.train", model, tokenizer, corpus, save, NULL);
    expect_refused("corpus=", "lm.train", model, tokenizer, NULL);
    expect_refused("goes with model=", "lm.train", tokenizer, NULL);
    expect_refused("d=", "lm.train", model, tokenizer, corpus, "d=8", NULL);
    expect_refused("arch=", "lm.train", model, tokenizer, corpus, "arch=gpt", NULL);
    expect_refused("tokens=", "lm.train", model, tokenizer, corpus, "tokens=char", NULL);
    expect_refused("context=9", "lm.train", model, tokenizer, corpus, "context=9", NULL);
    expect_refused("no model of others", "lm.train", "model=/nowhere", corpus, NULL);
    tiny_remove(&t);
}

/* --- texts that hardly are any --- */

/* What making a run on TEXT says; "": it is made, of *TRAIN sentences without DROPPED pieces. */
static const char *on_text(const TinyModel *t, const char *text, long *train, long *dropped) {
    static char says[500];
    Run *r = NULL;
    tiny_write(t->text, text);
    Options *o = tuning_options(t, NULL);
    Status s = run_new(o, 1, 1, &r);
    snprintf(says, sizeof says, "%s", status_is_ok(&s) ? "" : s.text);
    *train = r ? run_read_corpus(r)->train.sentences : 0;
    *dropped = r ? run_read_corpus(r)->left_out : 0;
    run_free(r);
    options_free(o);
    return says;
}

static void odd_texts(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_GPT2_TIED);
    long train, dropped;
    assert_non_null(strstr(on_text(&t, "", &train, &dropped), "no text"));
    assert_string_equal(on_text(&t, "a bad cab", &train, &dropped), ""); /* one line is cut in two */
    assert_int_equal(train, 1);
    assert_non_null(strstr(on_text(&t, "xyz\nuvw\n", &train, &dropped), "6 characters without a token"));
    assert_string_equal(on_text(&t, "a b\n\nxx\nc d\n", &train, &dropped), "");
    assert_true(train == 1 && dropped == 2); /* a line of which nothing is left is none */
    assert_string_equal(on_text(&t, "abcdefghabcdefghabcdefgh\na\n", &train, &dropped), "");
    assert_true(train == 4 && dropped == 0); /* 25 predictions in parts of 8 */
    tiny_remove(&t);
}

/* --- memory --- */

static void memory_is_asked_for(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_GPT2_TIED);
    ModelConfig c = tiny_config(TINY_GPT2_TIED);
    TuneNeed need = tune_need(&c, 16 * 8);
    Run *r;
    Options *o = tuning_options(&t, NULL);
    room_pretend(need.run / 2);
    Status s = run_new(o, 1, 1, &r);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "memory"));
    options_free(o);
    room_pretend(need.run / 9 * 10 + need.past / 2);
    Lab *l = tuning_lab(&t, PLAN_PAIRS " batch=16 prompt=h");
    fixture_do(l, "until 9");
    fixture_refused(l, "back", "no memory");
    fixture_refused(l, "seek 3", "no memory");
    fixture_refused(l, "reach 3", "no memory");
    fixture_refused(l, "versus lr=1", "memory");
    fixture_do(l, "reach 9");
    lab_expect_look(l, false); /* no update is kept, so none is made again for those who look */
    assert_ok(lab_do(l, "run"));
    assert_true(lab_turn(l));
    assert_ok(lab_do(l, "pause"));
    assert_int_equal(fixture_facts(l).head, 10);
    fixture_refused(l, "set batch 60000", "memory");
    fixture_do(l, "prompt a bad");
    int prompt = fixture_facts(l).prompt_tokens;
    fixture_do(l, "restart"); /* the one that is there makes room */
    assert_true(fixture_facts(l).tunes && fixture_facts(l).head == 0);
    assert_int_equal(fixture_facts(l).prompt_tokens, prompt);
    room_pretend(need.run / 2);
    fixture_do(l, "restart");
    assert_int_equal(fixture_facts(l).state, RUN_FAILED);
    assert_non_null(strstr(fixture_facts(l).failure, "memory"));
    room_pretend(need.run + need.past * 2);
    fixture_do(l, "restart");
    fixture_do(l, "until 3");
    fixture_do(l, "seek 1");
    assert_int_equal(fixture_facts(l).step, 1);
    lab_free(l);
    room_pretend(0);
    tiny_remove(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_what_others_say),
        cmocka_unit_test(a_real_model_learns_as_others_say),
        cmocka_unit_test(it_is_held_and_learns),
        cmocka_unit_test(it_is_changed_on_the_way),
        cmocka_unit_test(without_a_text_it_is_read),
        cmocka_unit_test(another_model_has_another_tokenizer),
        cmocka_unit_test(a_kept_run_goes_on),
        cmocka_unit_test(they_are_written_as_they_came),
        cmocka_unit_test(headless_says_before_and_after),
        cmocka_unit_test(odd_texts),
        cmocka_unit_test(memory_is_asked_for),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
