/* models: what the cache gives, what it does with damage, and which files are refused. Whole trainings are left to
 * exp_train; a small checkpoint put where the cache would keep a preset stands in for one. */
#include "foreign.h"
#include "loaded.h"
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_study.h"

static char folder[] = "/tmp/lantern-test-XXXXXX";
static Str kept; /* where gpt with seed 1 is kept */

static void in_shell(const char *format, const char *a, const char *b) {
    Str line;
    str_init(&line);
    str_addf(&line, format, a, b);
    assert_int_equal(system(line.s), 0);
    str_done(&line);
}

static const char *about_value(const Table *about, const char *key) {
    for (long i = 0; i < table_rows(about); i++)
        if (strcmp(table_text(about, i, 0), key) == 0) return table_text(about, i, 1);
    return "";
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    str_init(&kept);
    if (!models_cache_path("gpt", 1, &kept)) return -1;
    Str save;
    str_init(&save);
    str_addf(&save, "save=%s/small", folder);
    study_free(run_study("lm.train", "d=16", "sentences=64", "epochs=1", save.s, NULL));
    str_done(&save);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    str_done(&kept);
    in_shell("rm -rf '%s'%s", folder, "");
    return 0;
}

/* What lm.score gives with these arguments when it is stopped as soon as it says anything; a model that comes from the
 * cache lets it finish. */
static StudyState score(const char *a, const char *b, bool caches) {
    Options *o = catalog_options(catalog_find("lm.score"));
    Status s = options_set_pair(o, "text=the dog");
    assert_int_equal(s.code, STATUS_OK);
    if (a) s = options_set_pair(o, a);
    assert_int_equal(s.code, STATUS_OK);
    if (b) s = options_set_pair(o, b);
    assert_int_equal(s.code, STATUS_OK);
    Study *study = study_new(catalog_find("lm.score"), o);
    study_use_cache(study, caches);
    study_cancel(study);
    s = study_run(study);
    StudyState state = study_state(study);
    assert_int_equal(state.status.code, s.code);
    study_free(study);
    return state;
}

static void put_small(void) {
    in_shell("cp '%s/small' '%s'", folder, kept.s);
}

static void what_is_kept_is_used(void **state) {
    (void)state;
    put_small();
    StudyState end = score(NULL, NULL, true);
    assert_int_equal(end.status.code, STATUS_OK);
    assert_string_equal(end.model, kept.s);
    assert_string_equal(end.warning, "");
}

/* The name says nothing: what the file begins with does. */
static void a_checkpoint_may_have_any_name(void **state) {
    (void)state;
    in_shell("cp '%s/small' '%s/small.bin'", folder, folder);
    Str model;
    str_init(&model);
    str_addf(&model, "model=%s/small.bin", folder);
    assert_int_equal(score(model.s, NULL, true).status.code, STATUS_OK);
    str_done(&model);
}

/* Of a checkpoint that learned from CORPUS, a file in the folder that is removed before it is scored. */
static Study *score_without(const char *corpus) {
    Str pair, save, model;
    str_init(&pair);
    str_init(&save);
    str_init(&model);
    str_addf(&pair, "corpus=%s/%s", folder, corpus);
    str_addf(&save, "save=%s/own", folder);
    str_addf(&model, "model=%s/own", folder);
    study_free(run_study("lm.train", "d=16", "epochs=1", "sentences=64", pair.s, save.s, NULL));
    in_shell("rm '%s/%s'", folder, corpus);
    Study *s = run_study("lm.score", model.s, "text=the owl", NULL);
    str_done(&pair);
    str_done(&save);
    str_done(&model);
    return s;
}

static void the_truth_is_in_the_file(void **state) {
    (void)state;
    in_shell("printf 's: the owl | 3 the {b}\\nb: fox\\n' >'%s/%s'", folder, "own.grammar");
    Study *s = score_without("own.grammar");
    Table *score = study_result(s, "score"), *about = study_result(s, "about");
    assert_near(cell_real(score, 1, "true_log_p"), log(.25), 1e-12);
    assert_string_equal(about_value(about, "truth"), "the grammar that the model learned from");
    table_free(score);
    table_free(about);
    study_free(s);
    in_shell("printf 'the owl\\nthe fox\\nthe owl\\n' >'%s/%s'", folder, "own.txt");
    s = score_without("own.txt");
    score = study_result(s, "score");
    about = study_result(s, "about");
    assert_true(table_is_empty(score, 1, table_find(score, "true_log_p")));
    assert_string_equal(about_value(about, "truth"), "unknown: it learned from a text");
    table_free(score);
    table_free(about);
    study_free(s);
}

static void other_makings_are_others(void **state) {
    (void)state;
    put_small();
    assert_int_equal(score("seed=2", NULL, true).status.code, STATUS_CANCELLED); /* it began to train */
    assert_int_equal(score("model=modern", NULL, true).status.code, STATUS_CANCELLED);
    assert_int_equal(score(NULL, NULL, false).status.code, STATUS_CANCELLED); /* --no-cache */
    Str other;
    str_init(&other);
    assert_true(models_cache_path("modern", 1, &other));
    assert_string_not_equal(other.s, kept.s);
    str_done(&other);
}

static void damage_is_made_again(void **state) {
    (void)state;
    put_small();
    struct stat st;
    assert_int_equal(stat(kept.s, &st), 0);
    assert_int_equal(truncate(kept.s, st.st_size / 2), 0);
    assert_int_equal(score(NULL, NULL, true).status.code, STATUS_CANCELLED);
    in_shell("printf x >'%s'%s", kept.s, "");
    assert_int_equal(score(NULL, NULL, true).status.code, STATUS_CANCELLED);
    unlink(kept.s);
    assert_int_equal(score(NULL, NULL, true).status.code, STATUS_CANCELLED);
}

static void no_folder_is_no_failure(void **state) {
    (void)state;
    Str file;
    str_init(&file);
    str_addf(&file, "%s/small", folder);
    setenv("XDG_CACHE_HOME", file.s, 1); /* a file is in the way */
    StudyState end = score(NULL, NULL, true);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_int_equal(end.status.code, STATUS_CANCELLED);
    assert_non_null(strstr(end.warning, "no folder"));
    str_done(&file);
}

static void expect_refusal(const char *pair, const char *says) {
    StudyState end = score(pair, NULL, true);
    assert_int_equal(end.status.code, STATUS_USAGE);
    if (!strstr(end.status.text, says)) fail_msg("%s: %s", pair, end.status.text);
}

static void remove_of_folder(int i, const char *name) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/many%d/%s", folder, i, name);
    assert_int_equal(remove(path.s), 0);
    str_done(&path);
}

/* Sentences of a model of others begin as its tokenizer says; without one nobody knows. */
static void expect_strategies(int i, const char *model) {
    Study *s = run_study("decode.strategies", model, "n=3", "tokens=5", NULL);
    Table *t = study_result(s, "result");
    assert_int_equal(table_rows(t), 9); /* all but the truth */
    table_free(t);
    study_free(s);
    remove_of_folder(i, "tokenizer.json");
    s = run_study_until(STATUS_USAGE, "decode.strategies", model, "n=3", "tokens=5", NULL);
    study_free(s);
}

/* As a checkpoint and as a folder for others: the same numbers, and the same truth beside them. */
static void a_folder_says_what_the_file_says(void **state) {
    (void)state;
    static const char *const archs[] = {"arch=gpt", "arch=modern"};
    for (int i = 0; i < 2; i++) {
        Str file, dir;
        str_init(&file);
        str_init(&dir);
        str_addf(&file, "save=%s/one", folder);
        str_addf(&dir, "save=%s/many%d/", folder, i);
        study_free(run_study("lm.train", "d=16", "sentences=64", "epochs=1", archs[i], file.s, NULL));
        study_free(run_study("lm.train", "d=16", "sentences=64", "epochs=1", archs[i], dir.s, NULL));
        str_clear(&file);
        str_clear(&dir);
        str_addf(&file, "model=%s/one", folder);
        str_addf(&dir, "model=%s/many%d", folder, i);
        Study *a = run_study("lm.score", file.s, "text=the owl", NULL),
              *b = run_study("lm.score", dir.s, "text=the owl", NULL);
        Table *x = study_result(a, "score"), *y = study_result(b, "score");
        assert_int_equal(table_rows(x), 3);
        for (long row = 0; row < 3; row++) {
            assert_true(cell_real(x, row, "log_p") == cell_real(y, row, "log_p"));
            assert_true(cell_real(x, row, "true_log_p") == cell_real(y, row, "true_log_p"));
        }
        table_free(y);
        study_free(b);
        remove_of_folder(i, "lantern.vocab"); /* now tokenizer.json says how a text is cut */
        remove_of_folder(i, "lantern.grammar");
        b = run_study("lm.score", dir.s, "text=the owl", NULL);
        y = study_result(b, "score");
        assert_int_equal(table_rows(y), 2);
        for (long row = 0; row < 2; row++) {
            assert_true(cell_real(x, row, "log_p") == cell_real(y, row, "log_p"));
            assert_int_equal(cell_int(x, row, "id"), cell_int(y, row, "id"));
        }
        table_free(x);
        table_free(y);
        study_free(a);
        study_free(b);
        expect_strategies(i, dir.s);
        str_done(&file);
        str_done(&dir);
    }
}

/* What :save writes of a model that is only read: where it lies. */
static void a_file_may_say_where_the_model_is(void **state) {
    (void)state;
    Str to, from;
    str_init(&to);
    str_init(&from);
    str_addf(&from, "save=%s/many2/", folder);
    study_free(run_study("lm.train", "d=16", "sentences=64", "epochs=0", from.s, NULL));
    str_clear(&from);
    str_addf(&from, "%s/many2", folder);
    str_addf(&to, "%s/refers", folder);
    Status s = loaded_refer(to.s, from.s, NULL);
    assert_int_equal(s.code, STATUS_OK);
    assert_true(loaded_is(to.s));
    LoadedModel l;
    s = loaded_read(to.s, NULL, &l);
    assert_int_equal(s.code, STATUS_OK);
    assert_true(l.own && l.model && l.vocab);
    loaded_done(&l);
    s = loaded_refer(to.s, to.s, NULL);
    assert_int_equal(s.code, STATUS_OK);
    s = loaded_read(to.s, NULL, &l); /* itself */
    assert_int_equal(s.code, STATUS_USAGE);
    str_done(&to);
    str_done(&from);
}

static void other_layouts_are_refused_in_words(void **state) {
    (void)state;
    in_shell("printf x >'%s/m.bin'; printf x >'%s/m.safetensors'", folder, folder);
    Str pair;
    str_init(&pair);
    static const char *const rows[][2] = {{"", "config.json"},
                                          {"/m.bin", "llama2.c"},
                                          {"/m.safetensors", "config.json"},
                                          {"/none", "neither gpt nor modern"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str_clear(&pair);
        str_addf(&pair, "model=%s%s", folder, rows[i][0]);
        expect_refusal(pair.s, rows[i][1]);
    }
    in_shell("head -c 100 '%s/small' >'%s/short'", folder, folder);
    str_clear(&pair);
    str_addf(&pair, "model=%s/short", folder);
    expect_refusal(pair.s, "short");
    str_done(&pair);
}

/* Two ways to ask a model, both fresh: the probe that observers look at, and the speaker that decodes. */
static void probe_and_speaker_agree(void **state) {
    (void)state;
    Str pair;
    str_init(&pair);
    str_addf(&pair, "model=%s/small", folder);
    Options *o = catalog_options(catalog_find("lm.score"));
    Status s = options_set_pair(o, pair.s);
    assert_int_equal(s.code, STATUS_OK);
    Study *study = study_new(catalog_find("lm.score"), o);
    TrainedModel m;
    s = models_get(study, &m);
    assert_int_equal(s.code, STATUS_OK);
    static const int ids[] = {1, 54, 21};
    Scene scene = models_scene(&m, ids, 3, 1);
    Observers *observers = observers_new();
    Speaker *speaker = speaker_new();
    speaker_reset(speaker, m.model, NULL);
    int vocab = model_config(m.model)->vocab;
    const real *probe = observers_logits(observers, &scene) + 2 * vocab;
    const double *said = speaker_logits(speaker, ids, 3);
    for (int i = 0; i < vocab; i++) assert_near((double)probe[i], said[i], 1e-4);
    speaker_free(speaker);
    observers_free(observers);
    models_done(&m);
    study_free(study);
    str_done(&pair);
}

/* Of the text that goes in, and of one that is only cut. */
static void characters_without_a_token_are_told(void **state) {
    (void)state;
    Str path, model, tokenizer;
    str_init(&path);
    str_init(&model);
    str_init(&tokenizer);
    str_addf(&path, "%s/letters", folder);
    str_addf(&model, "model=%s.bin", path.s);
    str_addf(&tokenizer, "tokenizer=%s.json", path.s);
    assert_true(foreign_write_letters(path.s));
    Study *s[2] = {run_study("lm.score", model.s, tokenizer.s,
                             "text=b\xc3\xa9\xc3\xa9"
                             "ab",
                             NULL),
                   run_study("bpe.encode", tokenizer.s,
                             "text=b\xc3\xa9\xc3\xa9"
                             "ab",
                             NULL)};
    for (int i = 0; i < 2; i++) {
        Table *about = study_result(s[i], "about");
        assert_string_equal(about_value(about, "left_out"),
                            "2 characters that the vocabulary has no token for: \xc3\xa9");
        assert_string_equal(study_state(s[i]).warning,
                            "2 characters have no token in this vocabulary and are left out: \xc3\xa9");
        table_free(about);
        study_free(s[i]);
    }
    Study *whole = run_study("lm.score", model.s, tokenizer.s, "text=b ab", NULL);
    assert_string_equal(study_state(whole).warning, "");
    study_free(whole);
    str_done(&path);
    str_done(&model);
    str_done(&tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_used),
        cmocka_unit_test(a_checkpoint_may_have_any_name),
        cmocka_unit_test(the_truth_is_in_the_file),
        cmocka_unit_test(other_makings_are_others),
        cmocka_unit_test(damage_is_made_again),
        cmocka_unit_test(no_folder_is_no_failure),
        cmocka_unit_test(a_folder_says_what_the_file_says),
        cmocka_unit_test(a_file_may_say_where_the_model_is),
        cmocka_unit_test(other_layouts_are_refused_in_words),
        cmocka_unit_test(probe_and_speaker_agree),
        cmocka_unit_test(characters_without_a_token_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
