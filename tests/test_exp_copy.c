/* stories.copy, arch.ablate, window.quality: which bytes count as copied, how heads are scored, what a window hides. */
#include "copying.h"
#include "kept.h"
#include "variant.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run_study.h"

static void near(double x, double y, double by) {
    if (!(fabs(x - y) <= by)) fail_msg("%.9g is not %.9g within %g", x, y, by);
}

static char grammar_path[] = "/tmp/lantern-copy-XXXXXX.grammar";

/* Two names, of which only one is in the training stories. */
static void write_grammar(void) {
    int fd = mkstemps(grammar_path, 8);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    fputs("story: {s=split} {n=name.$s} {$n} said {$n} and {$n}.\nsplit: train\nname.train: Anna | Otto\nname.test: "
          "Bobo\n",
          f);
    fclose(f);
}

static Options *task_options(const char *corpus) {
    static const Option sizes[] = {
        {"batch", OPTION_INT, "8", 0, 0, NULL, "", ""}, {"lr", OPTION_REAL, "0.003", 0, 0, NULL, "", ""},
        {"d", OPTION_INT, "64", 0, 0, NULL, "", ""},    {"layers", OPTION_INT, "2", 0, 0, NULL, "", ""},
        {"heads", OPTION_INT, "4", 0, 0, NULL, "", ""}, {0}};
    Options *o = options_join(options_new(copying_options), sizes);
    Status s = options_set(o, "corpus", corpus);
    assert_true(status_is_ok(&s));
    s = options_set(o, "sentences", "50");
    assert_true(status_is_ok(&s));
    s = options_set(o, "tests", "3");
    assert_true(status_is_ok(&s));
    return o;
}

/* "Bobo said Bobo and Bobo.": eight letters are copied. */
static void letters_of_known_names_are_marked(void **state) {
    (void)state;
    Options *o = task_options(grammar_path);
    Corpus *c;
    CopyTask t;
    Status s = copying_corpus(o, 1, &c);
    assert_true(status_is_ok(&s));
    s = copying_open(o, c, 1, &t);
    assert_true(status_is_ok(&s));
    assert_int_equal(t.count, 3);
    assert_int_equal(t.copied, 3 * 8);
    assert_int_equal(t.other, 3 * (24 + 1 - 8));
    const Story *story = &t.story[0];
    assert_int_equal(story->n, 26);
    for (int i = 0; i < story->n; i++) {
        int want = i >= 11 && i <= 14 ? i - 10 : i >= 20 && i <= 23 ? i - 9 : -1;
        if (story->earlier[i] != want) fail_msg("token %d: %d, not %d", i, story->earlier[i], want);
    }
    assert_int_equal(copying_query(story), 21); /* "... Bo", and the name stood there twice */
    copying_done(&t);
    corpus_free(c);
    options_free(o);
}

/* Of the stories the tiny ones are told, unless start= names the others. */
static void a_rule_tells_the_stories(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        Options *o = task_options("stories");
        Corpus *c;
        CopyTask t;
        Status s = k ? options_set(o, "start", "story") : status_ok();
        assert_true(status_is_ok(&s));
        s = copying_corpus(o, 1, &c);
        assert_true(status_is_ok(&s));
        s = copying_open(o, c, 1, &t);
        assert_true(status_is_ok(&s));
        Str text;
        str_init(&text);
        corpus_text(c, &c->train, 0, &text);
        assert_memory_equal(text.s, k ? "In " : "A ", k ? 3 : 2);
        str_clear(&text);
        vocab_join(c->vocab, t.story[0].id + 1, t.story[0].n - 2, &text);
        assert_memory_equal(text.s, k ? "In " : "A ", k ? 3 : 2);
        str_done(&text);
        copying_done(&t);
        corpus_free(c);
        options_free(o);
    }
}

/* Logits that put all on the letter that stood there before: nothing for the copied, the same bits for all others. */
typedef struct {
    const CopyTask *task;
    int from;
    real *logits;
} Oracle;

static const real *oracle_logits(void *data, const Batch *b) {
    Oracle *o = data;
    memset(o->logits, 0, (size_t)batch_rows(b) * 259 * sizeof *o->logits);
    for (int s = 0; s < b->sequences; s++) {
        const Story *story = &o->task->story[o->from++];
        for (int i = 1; i < story->n; i++)
            if (story->earlier[i] >= 0) o->logits[(size_t)(b->start[s] + i - 1) * 259 + (size_t)story->id[i]] = 60;
    }
    return o->logits;
}

static void bits_are_counted_apart(void **state) {
    (void)state;
    Options *o = task_options("stories");
    Corpus *c;
    CopyTask t;
    Status s = copying_corpus(o, 1, &c);
    assert_true(status_is_ok(&s));
    s = copying_open(o, c, 1, &t);
    assert_true(status_is_ok(&s));
    Oracle oracle = {&t, 0, calloc((size_t)3 * 400 * 259, sizeof(real))};
    CopyBits bits = copying_bits(&t, 259, oracle_logits, &oracle);
    near(bits.copied, 0, 1e-6);
    near(bits.other, log2(259), 1e-5);
    free(oracle.logits);
    copying_done(&t);
    corpus_free(c);
    options_free(o);
}

/* ---- the floor ---- */

enum { WORDS_MOST = 120, WORD_BYTES = 24, FRAMES_MOST = 4000 };

typedef struct {
    char text[WORD_BYTES];
    bool again; /* stood in the story before, and no training story has it */
} StoryWord;

/* What follows two words, with the characters' names replaced by @1 and @2. */
typedef struct {
    char before[2 * WORD_BYTES], next[WORD_BYTES];
} Frame;

static int words_of(const Story *s, const Vocab *v, StoryWord *word) {
    Str text;
    str_init(&text);
    vocab_join(v, s->id + 1, s->n - 2, &text);
    int n = 0;
    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        while (i < text.len && isalpha((unsigned char)text.s[i])) i++;
        if (i == from) {
            i++;
            continue;
        }
        assert_true(n < WORDS_MOST && i - from < WORD_BYTES);
        snprintf(word[n].text, WORD_BYTES, "%.*s", (int)(i - from), text.s + from);
        word[n++].again = s->earlier[from + 1] >= 0;
    }
    str_done(&text);
    return n;
}

/* Names become @1, @2 in the order in which they appear. */
static void put_roles(StoryWord *word, int n) {
    int roles = 0;
    for (int i = 0; i < n; i++) {
        char name[WORD_BYTES];
        bool is_name = false;
        memcpy(name, word[i].text, WORD_BYTES);
        for (int k = i; k < n; k++) is_name |= word[k].again && strcmp(word[k].text, name) == 0;
        if (name[0] == '@' || !is_name) continue;
        roles++;
        for (int k = i; k < n; k++)
            if (strcmp(word[k].text, name) == 0) snprintf(word[k].text, WORD_BYTES, "@%d", roles);
    }
    assert_int_equal(roles, 2);
}

/* The two words before a name that comes again say that a name comes, and whose: whoever reads the story has nothing
 * left to guess, and repeat_bits can come down to 0. */
static void a_name_that_comes_again_is_certain(void **state) {
    (void)state;
    Options *o = task_options("stories");
    Corpus *c;
    CopyTask t;
    Status s = options_set(o, "tests", "200");
    assert_true(status_is_ok(&s));
    s = copying_corpus(o, 1, &c);
    assert_true(status_is_ok(&s));
    s = copying_open(o, c, 1, &t);
    assert_true(status_is_ok(&s));
    Frame *frame = calloc(FRAMES_MOST, sizeof *frame);
    StoryWord *word = calloc(WORDS_MOST, sizeof *word);
    int frames = 0;
    long names = 0;
    for (int i = 0; i < t.count; i++) {
        int n = words_of(&t.story[i], c->vocab, word);
        put_roles(word, n);
        for (int k = 2; k < n; k++) {
            char before[2 * WORD_BYTES];
            snprintf(before, sizeof before, "%s %s", word[k - 2].text, word[k - 1].text);
            names += word[k].again;
            int at = 0;
            while (at < frames && strcmp(frame[at].before, before) != 0) at++;
            if (at == frames) {
                assert_true(frames < FRAMES_MOST);
                memcpy(frame[at].before, before, sizeof before);
                memcpy(frame[frames++].next, word[k].text, WORD_BYTES);
            }
            bool name = frame[at].next[0] == '@' || word[k].text[0] == '@';
            if (name && strcmp(frame[at].next, word[k].text) != 0)
                fail_msg("after '%s': %s and %s", before, frame[at].next, word[k].text);
        }
    }
    assert_true(names >= 200 * 6);
    free(word);
    free(frame);
    copying_done(&t);
    corpus_free(c);
    options_free(o);
}

/* Untrained, a head looks everywhere alike: what it gives to the letter is about one part in as many as it sees. */
static void heads_are_scored_by_their_weights(void **state) {
    (void)state;
    Options *o = task_options("stories"), *run = copying_model(o, "qk_norm=0");
    Corpus *c;
    CopyTask t;
    CopyHeads heads;
    Status s = copying_corpus(o, 1, &c);
    assert_true(status_is_ok(&s));
    s = copying_open(o, c, 1, &t);
    assert_true(status_is_ok(&s));
    Model *m = copying_begin(o, run, 259, 3);
    Params *p = model_params(m);
    for (int i = 0; i < p->slices; i++)
        if (strstr(p->slice[i].name, "query.weight"))
            memset(p->x + p->slice[i].at, 0, slice_count(&p->slice[i]) * sizeof(real));
    copying_heads(&t, m, 3, &heads);
    double want = 0;
    long count = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < t.story[k].n; i++) {
            if (t.story[k].earlier[i] < 0 || t.story[k].earlier[i - 1] != t.story[k].earlier[i] - 1) continue;
            for (int q = t.story[k].earlier[i]; q >= 0; q = t.story[k].earlier[q]) want += 1.0 / i;
            count++;
        }
    const ModelConfig *config = model_config(m);
    for (int h = 0; h < config->layers * config->heads; h++) near(heads.induction[h], want / (double)count, 1e-6);
    copying_heads_done(&heads);
    model_free(m);
    copying_done(&t);
    corpus_free(c);
    options_free(run);
    options_free(o);
}

static void names_that_are_not_new_are_refused(void **state) {
    (void)state;
    char corpus[80];
    snprintf(corpus, sizeof corpus, "corpus=%s", grammar_path);
    study_free(run_study_until(STATUS_USAGE, "stories.copy", corpus, "unseen=s:train", "sentences=50", NULL));
    study_free(run_study_until(STATUS_USAGE, "stories.copy", "unseen=nothing:x", NULL));
    study_free(run_study_until(STATUS_USAGE, "stories.copy", "start=nothing", NULL));
    study_free(run_study_until(STATUS_USAGE, "arch.ablate", "d=10", "heads=4", NULL));
    study_free(run_study_until(STATUS_USAGE, "window.quality", "windows=2,none", NULL));
    study_free(run_study_until(STATUS_USAGE, "window.quality", "windows=2,,4", NULL));
}

static const char *const small[] = {"d=16", "sentences=60", "tests=4", "batch=4", "steps=3"};

static void every_part_of_the_copying_experiment_is_there(void **state) {
    (void)state;
    Study *s = run_study("stories.copy", small[0], small[1], small[2], small[3], small[4], "heads=2", "texts=2", NULL);
    Table *bits = study_result(s, "bits"), *heads = study_result(s, "heads"), *text = study_result(s, "text"),
          *induction = study_result(s, "induction");
    assert_int_equal(table_rows(bits), 2);
    assert_string_equal(cell_text(bits, 0, "model"), "window");
    assert_string_equal(cell_text(bits, 1, "model"), "transformer");
    for (long i = 0; i < 2; i++)
        assert_true(cell_real(bits, i, "repeat_bits") > 3 && cell_real(bits, i, "other_bits") > 3);
    assert_int_equal(table_rows(heads), 4);
    assert_int_equal(table_rows(induction), 4);
    assert_int_equal(table_rows(text), 2);
    for (long i = 0; i < 4; i++) {
        assert_true(cell_int(induction, i, "target") < cell_int(induction, i, "position"));
        double w = cell_real(induction, i, "weight");
        assert_true(w > 0 && w < 1);
    }
    table_free(bits);
    table_free(heads);
    table_free(text);
    table_free(induction);
    study_free(s);
    s = run_study("stories.copy", small[0], small[1], small[2], small[3], small[4], "prompt=There was Zebeta. Ze",
                  NULL);
    text = study_result(s, "text");
    assert_int_equal(table_rows(text), 1);
    assert_string_equal(cell_text(text, 0, "prompt"), "There was Zebeta. Ze");
    table_free(text);
    study_free(s);
}

/* Bits of a letter that comes again in the window model of a small experiment. */
static double window_bits(void) {
    Study *s = run_study("stories.copy", small[0], small[1], small[2], small[3], small[4], "heads=2", "texts=0",
                         "seed=7", NULL);
    Table *bits = study_result(s, "bits");
    double x = cell_real(bits, 0, "repeat_bits");
    table_free(bits);
    study_free(s);
    return x;
}

/* It is read again: one of zeros finds all 259 tokens alike. One that is damaged is trained again. */
static void the_window_model_is_kept(void **state) {
    (void)state;
    char pattern[256];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/lantern/stories-window-*", getenv("XDG_CACHE_HOME"));
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) assert_int_equal(remove(found.gl_pathv[i]), 0);
        globfree(&found);
    }
    double trained = window_bits();
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    size_t n = 259 * 16 + 8 * 16 * 64 + 64 + 259 * 64 + 259;
    real *zeros = calloc(n, sizeof *zeros);
    Status s = kept_write(found.gl_pathv[0], zeros, n);
    assert_true(status_is_ok(&s));
    near(window_bits(), log(259) / log(2), 1e-5);
    FILE *f = fopen(found.gl_pathv[0], "r+b");
    fputc(1, f);
    fclose(f);
    near(window_bits(), trained, 0);
    s = kept_write(found.gl_pathv[0], zeros, n - 1);
    assert_true(status_is_ok(&s));
    near(window_bits(), trained, 0);
    free(zeros);
    globfree(&found);
}

static void one_thing_is_changed_at_a_time(void **state) {
    (void)state;
    Study *s = run_study("arch.ablate", small[0], small[1], small[2], small[3], small[4], "heads=2", "seeds=2",
                         "rates=0.0001", NULL);
    Table *bits = study_result(s, "bits"), *runs = study_result(s, "runs");
    static const char *const names[] = {"base", "nope", "relu_ffn", "no_norm", "qk_norm"};
    assert_int_equal(table_rows(bits), 5);
    assert_int_equal(table_rows(runs), 11);
    long long base = cell_int(bits, 0, "parameters");
    for (long i = 0; i < 5; i++) {
        assert_string_equal(cell_text(bits, i, "change"), names[i]);
        long long more = cell_int(bits, i, "parameters") - base;
        /* five norms of 16 gains; of q and k in two layers 8 gains each */
        assert_int_equal(more, i == 3 ? -5 * 16 : i == 4 ? 2 * 2 * 8 : 0);
        near(cell_real(bits, i, "repeat_bits"),
             (cell_real(runs, 2 * i, "repeat_bits") + cell_real(runs, 2 * i + 1, "repeat_bits")) / 2, 1e-9);
    }
    near(cell_real(runs, 10, "learning_rate"), 0.0001, 1e-15);
    for (long i = 0; i < 10; i++) assert_int_equal(cell_int(runs, i, "seed"), 1 + i % 2);
    table_free(bits);
    table_free(runs);
    study_free(s);
}

/* Lecture 4, 6.3 and 6.5: whatever it has learned, beyond layers (window - 1) nothing moves the prediction. */
static void beyond_the_reach_the_subject_is_lost(void **state) {
    (void)state;
    Study *s = run_study("window.quality", "d=16", "sentences=256", "epochs=1", "tests=40", "windows=2,4,full", NULL);
    Table *seen = study_result(s, "reach"), *a = study_result(s, "agreement");
    assert_int_equal(table_rows(seen), 9);
    assert_int_equal(table_rows(a), 9);
    for (long i = 0; i < 9; i++) {
        long distance = 3 * (i % 3 + 1);
        assert_int_equal(cell_int(seen, i, "distance"), distance);
        bool inside = i >= 6 || distance <= (i < 3 ? 2 : 6);
        assert_int_equal(cell_int(seen, i, "subject_seen"), inside);
        double change = cell_real(seen, i, "largest_change");
        if (inside != (change > 0)) fail_msg("row %ld: %g", i, change);
    }
    table_free(seen);
    table_free(a);
    study_free(s);
}

static int own_cache(void **state) {
    static char folder[] = "/tmp/lantern-copying-XXXXXX";
    (void)state;
    write_grammar();
    return mkdtemp(folder) && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int drop_cache(void **state) {
    char line[300];
    (void)state;
    snprintf(line, sizeof line, "rm -rf '%s' '%s'", getenv("XDG_CACHE_HOME"), grammar_path);
    return system(line) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_known_names_are_marked),
        cmocka_unit_test(a_rule_tells_the_stories),
        cmocka_unit_test(bits_are_counted_apart),
        cmocka_unit_test(a_name_that_comes_again_is_certain),
        cmocka_unit_test(heads_are_scored_by_their_weights),
        cmocka_unit_test(names_that_are_not_new_are_refused),
        cmocka_unit_test(every_part_of_the_copying_experiment_is_there),
        cmocka_unit_test(the_window_model_is_kept),
        cmocka_unit_test(one_thing_is_changed_at_a_time),
        cmocka_unit_test(beyond_the_reach_the_subject_is_lost),
    };
    return cmocka_run_group_tests(tests, own_cache, drop_cache);
}
