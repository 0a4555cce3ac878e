/* The live laboratory and files: runs that are saved and go on, models that are visited, tables. */
#include "lab_fixture.h"

#include "foreign.h"

#include "io/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void a_saved_run_goes_on(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    char path[64], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 90");
    fixture_do(l, "seek 50");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "step 50"));
    assert_int_equal(fixture_facts(l).saved, 50);
    fixture_do(l, "restart");
    assert_int_equal(fixture_facts(l).saved, -1);
    lab_free(l);

    l = fixture_lab("arch=gpt batch=5 sentences=100 lr=0.1"); /* the file's plan holds, not these */
    fixture_do(l, "until 5");
    snprintf(line, sizeof line, "open \"%s\"", path);
    fixture_do(l, line);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.step, 50);
    assert_int_equal(f.steps, FIXTURE_STEPS);
    assert_int_equal(f.state, RUN_PAUSED);
    assert_string_equal(f.arch, "modern");
    assert_true(isnan(f.loss));
    assert_true(lab_hash(l) == hash[50]);
    fixture_do(l, "until 137");
    assert_true(lab_hash(l) == hash[137]);
    assert_true(fixture_facts(l).loss > 0);
    fixture_do(l, "seek 60");
    assert_true(lab_hash(l) == hash[60]);
    fixture_refused(l, "seek 49", "step 50");
    fixture_refused(l, "open /nowhere/at/all", "/nowhere/at/all");
    fixture_do(l, "live");
    assert_true(lab_hash(l) == hash[137]);
    lab_free(l);
    remove(path);
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Another model is looked at; the run waits with its past, its sentence and what is done to it. */
static void a_run_waits_while_another_is_visited(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    char path[64], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_visit_%ld.ckpt", (long)getpid());
    Lab *l = fixture_lab("seed=2 layers=1 batch=32");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    uint64_t other = lab_hash(l);
    lab_free(l);

    l = fixture_lab(NULL);
    fixture_do(l, "until 30");
    fixture_do(l, "prompt the owl near");
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "seek 12");
    fixture_refused(l, "leave", "no run waits");
    fixture_refused(l, "visit /nowhere/at/all", "/nowhere/at/all");
    assert_true(lab_hash(l) == hash[12]);
    assert_string_equal(fixture_facts(l).waiting, "");
    for (int visits = 0; visits < 2; visits++) {
        snprintf(line, sizeof line, "visit \"%s\" tried", path);
        fixture_do(l, line);
        SnapshotFacts f = fixture_facts(l);
        assert_true(lab_hash(l) == other);
        assert_string_equal(f.name, "tried");
        assert_string_equal(f.waiting, "modern");
        assert_int_equal(f.waiting_step, 30);
        assert_true(f.waiting_unsaved);
        assert_int_equal(f.layers, 1);
        assert_string_equal(f.tamper, "");
        assert_non_null(strstr(f.message, "step 30"));
        fixture_do(l, "prompt the dogs");
        fixture_do(l, "token next 3");
    }
    fixture_do(l, "leave");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.waiting, "");
    assert_int_equal(f.prompt_tokens, 4);
    assert_int_equal(f.step, 12);
    assert_int_equal(f.head, 30);
    assert_non_null(strstr(f.tamper, "head"));
    assert_true(lab_hash(l) == hash[12]);
    fixture_do(l, "until 40");
    assert_true(lab_hash(l) == hash[40]);
    snprintf(line, sizeof line, "visit %s", path);
    fixture_do(l, line);
    lab_free(l); /* with a run that waits */
    remove(path);
}

/* The file holds the grammar: it need not be there any more, and another one of its name changes nothing. */
static void a_saved_run_knows_its_own_grammar(void **state) {
    (void)state;
    static const char own[] = "s: the {noun} sings | 3 the {noun}\nnoun: owl | 2 fox\n";
    char grammar[80], path[80], line[200];
    snprintf(grammar, sizeof grammar, "/tmp/lantern_test_lab_%ld.grammar", (long)getpid());
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    snprintf(line, sizeof line, "corpus=%s", grammar);
    write_text(grammar, own);
    Lab *l = fixture_lab(line);
    double floor_nats = fixture_facts(l).language_floor;
    assert_true(floor_nats > 0);
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, "until 20");
    fixture_do(l, line);
    fixture_do(l, "until 30");
    uint64_t hash = lab_hash(l);
    lab_free(l);
    snprintf(line, sizeof line, "open %s", path);
    for (int gone = 0; gone < 2; gone++) {
        if (gone)
            remove(grammar);
        else
            write_text(grammar, "s: another\n");
        l = fixture_lab(NULL);
        fixture_do(l, line);
        assert_true(fixture_facts(l).language_floor == floor_nats);
        assert_non_null(strstr(fixture_facts(l).corpus, ".grammar"));
        fixture_do(l, "until 30"); /* on the same sentences */
        assert_true(lab_hash(l) == hash);
        lab_free(l);
    }
    remove(path);
}

/* A long text of letters, whose sentences are learned in parts; ONE of them is another. */
static void write_book(const char *path, const char *one) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 400; i++)
        fprintf(f, "%s the owl of %d sings of the fox that ran by\n", i == 7 ? one : "now", i);
    assert_int_equal(fclose(f), 0);
}

typedef struct {
    char text[80], path[80], save[100], open[100];
    uint64_t hash; /* at step 30 */
    long steps;
} Book;

/* A run on a text of one's own, saved at step 20 and gone on with to 30. */
static void train_on_book(Book *b, const char *more) {
    char line[300];
    snprintf(b->text, sizeof b->text, "/tmp/lantern_test_book_%ld.txt", (long)getpid());
    snprintf(b->path, sizeof b->path, "/tmp/lantern_test_book_%ld.ckpt", (long)getpid());
    snprintf(b->save, sizeof b->save, "save %s", b->path);
    snprintf(b->open, sizeof b->open, "open %s", b->path);
    write_book(b->text, "now");
    snprintf(line, sizeof line, "corpus=%s tokens=char context=16%s", b->text, more);
    Lab *l = fixture_lab(line);
    fixture_do(l, "until 20");
    fixture_do(l, b->save);
    fixture_do(l, "until 30");
    b->hash = lab_hash(l);
    b->steps = fixture_facts(l).steps;
    assert_true(b->steps > 30);
    lab_free(l);
}

/* Nobody knows the floor of a text: its cells are empty, as without a screen. */
static void a_text_has_no_floor(void **state) {
    (void)state;
    char line[300];
    Book b;
    train_on_book(&b, "");
    snprintf(line, sizeof line, "corpus=%s tokens=char context=16", b.text);
    Lab *l = fixture_lab(line);
    fixture_do(l, "until 50"); /* the first test on the way */
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "test");
    assert_non_null(t);
    assert_int_equal(table_rows(t), 1);
    assert_false(table_is_empty(t, 0, table_find(t, "perplexity")));
    assert_true(table_is_empty(t, 0, table_find(t, "floor_perplexity")));
    snapshot_unref(s);
    lab_free(l);
    remove(b.text);
    remove(b.path);
}

/* Sentences are counted in parts by the option, in the file and in what the file is described with. */
static void a_run_on_a_text_goes_on(void **state) {
    (void)state;
    static const char *const more[] = {"", " sentences=150"}; /* of 1,140 in parts */
    for (int i = 0; i < 2; i++) {
        Book b;
        train_on_book(&b, more[i]);
        Lab *l = fixture_lab(NULL);
        fixture_do(l, b.open);
        SnapshotFacts f = fixture_facts(l);
        assert_int_equal(f.state, RUN_PAUSED);
        assert_int_equal(f.step, 20);
        assert_int_equal(f.steps, b.steps);
        assert_string_equal(f.missing, "");
        assert_non_null(strstr(f.corpus, "lantern_test_book"));
        fixture_do(l, "until 30");
        assert_true(lab_hash(l) == b.hash);
        fixture_do(l, "restart");
        assert_non_null(strstr(fixture_facts(l).corpus, "lantern_test_book"));
        assert_int_equal(fixture_facts(l).steps, b.steps);
        fixture_do(l, "until 30");
        assert_true(lab_hash(l) == b.hash);
        lab_free(l);
        remove(b.text);
        remove(b.path);
    }
}

/* The letters of a grammar's sentences are cut in parts too, and the file says how many sentences were drawn. */
static void a_run_on_the_letters_of_a_grammar_goes_on(void **state) {
    (void)state;
    char path[80], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    Lab *l = fixture_lab("tokens=bpe merges=20 context=8 sentences=300");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, "until 20");
    fixture_do(l, line);
    fixture_do(l, "until 30");
    uint64_t hash = lab_hash(l);
    long steps = fixture_facts(l).steps;
    lab_free(l);
    snprintf(line, sizeof line, "open %s", path);
    l = fixture_lab(NULL);
    fixture_do(l, line);
    assert_string_equal(fixture_facts(l).missing, "");
    assert_int_equal(fixture_facts(l).steps, steps);
    fixture_do(l, "until 30");
    assert_true(lab_hash(l) == hash);
    fixture_do(l, "restart");
    assert_int_equal(fixture_facts(l).steps, steps);
    fixture_do(l, "until 30");
    assert_true(lab_hash(l) == hash);
    lab_free(l);
    remove(path);
}

/* Saved again a file says what it said: which grammar, its rules, how many sentences. */
static void a_missing_grammar_stays_in_the_file(void **state) {
    (void)state;
    static const char *const rules[] = {"s: neither these words nor those\n", NULL};
    char path[80], line[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    for (int i = 0; i < 2; i++) {
        Lab *l = fixture_lab("sentences=100");
        Checkpoint c;
        snprintf(line, sizeof line, "save %s", path);
        fixture_do(l, line);
        assert_ok(checkpoint_read(path, &c));
        CheckpointRun run = {
            .seed = 1, .steps = 9, .corpus = "gone.grammar", .grammar = rules[i], .sentences = 77, .batch = 8};
        assert_ok(checkpoint_write_run(path, c.model, c.vocab, &c.optim, &run));
        checkpoint_done(&c);
        snprintf(line, sizeof line, "open %s", path);
        fixture_do(l, line);
        assert_non_null(strstr(fixture_facts(l).missing, "gone.grammar"));
        snprintf(line, sizeof line, "save %s", path);
        fixture_do(l, line);
        assert_ok(checkpoint_read(path, &c));
        assert_string_equal(c.corpus, "gone.grammar");
        assert_true(rules[i] ? c.grammar && !strcmp(c.grammar, rules[i]) : !c.grammar);
        assert_int_equal(c.sentences, 77);
        assert_int_equal(c.steps, 9);
        assert_null(c.text);
        checkpoint_done(&c);
        lab_free(l);
    }
    remove(path);
}

/* The text is gone, or another: the plan is not done, and nothing else is trained on in its place. */
static void a_run_whose_text_is_missing_names_it(void **state) {
    (void)state;
    Book b;
    for (int gone = 0; gone < 2; gone++) {
        train_on_book(&b, "");
        write_book(b.text, "NOW");
        if (gone) remove(b.text);
        Lab *l = fixture_lab(NULL);
        for (int again = 0; again < 2; again++) { /* saved again it is still what it was */
            fixture_do(l, b.open);
            SnapshotFacts f = fixture_facts(l);
            assert_non_null(strstr(f.message, b.text));
            assert_non_null(strstr(f.missing, b.text));
            assert_non_null(strstr(f.corpus, "lantern_test_book"));
            assert_int_equal(f.state, RUN_PAUSED);
            assert_int_equal(f.steps, b.steps);
            fixture_refused(l, "run", b.text);
            fixture_refused(l, "until 30", b.text);
            fixture_refused(l, "restart", b.text);
            fixture_refused(l, "set layers=1", b.text);
            fixture_do(l, b.save);
        }
        write_book(b.text, "now");
        fixture_do(l, b.open);
        fixture_do(l, "until 30");
        assert_true(lab_hash(l) == b.hash);
        fixture_do(l, b.open);
        remove(b.text);
        fixture_do(l, b.open);
        fixture_do(l, "restart corpus=farm tokens=word");
        assert_string_equal(fixture_facts(l).corpus, "farm");
        assert_string_equal(fixture_facts(l).missing, "");
        lab_free(l);
    }
    remove(b.path);
}

/* A laboratory that is asked for PAIRS has a run whose corpus is missing, for a reason that holds PART. */
static void expect_missing(const char *pairs, const char *part) {
    Options *o = lab_options();
    char text[300];
    snprintf(text, sizeof text, "%s", pairs);
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) assert_ok(options_set_pair(o, pair));
    Lab *l = lab_new(o);
    assert_ok(lab_prepare(l));
    if (!strstr(fixture_facts(l).missing, part)) fail_msg("'%s' does not say '%s'", fixture_facts(l).missing, part);
    lab_free(l);
}

/* Files that were written before they named their text. Bytes are the same of every corpus, and the farm is not it. */
static void a_text_that_nobody_names_is_no_farm(void **state) {
    (void)state;
    Book b;
    Checkpoint c;
    char line[120];
    train_on_book(&b, " tokens=byte");
    Status s = checkpoint_read(b.path, &c);
    assert_true(status_is_ok(&s));
    s = checkpoint_write(b.path, c.model, c.vocab, &c.optim, c.seed, c.step, c.steps, "");
    assert_true(status_is_ok(&s));
    checkpoint_done(&c);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, b.open);
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.corpus, "a text");
    assert_int_equal(f.state, RUN_PAUSED);
    assert_int_equal(f.steps, b.steps);
    fixture_refused(l, "restart", "trained on a text");
    snprintf(line, sizeof line, "restart corpus=%s", b.text);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).corpus, "lantern_test_book"));
    fixture_do(l, b.open); /* the text that corpus= names will do */
    assert_string_equal(fixture_facts(l).missing, "");
    lab_free(l);
    snprintf(line, sizeof line, "model=%s corpus=/nowhere/book.txt", b.path);
    expect_missing(line, "it does not name, and '/nowhere/book.txt' cannot be read");
    snprintf(line, sizeof line, "model=%s corpus=-", b.path); /* a pipe is read once */
    expect_missing(line, "trained on a text, which a checkpoint does not hold");
    remove(b.text);
    remove(b.path);
}

static void a_run_without_its_corpus_says_why(void **state) {
    (void)state;
    char text[80], path[80], line[200];
    snprintf(text, sizeof text, "/tmp/lantern_test_lab_%ld.txt", (long)getpid());
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.ckpt", (long)getpid());
    write_text(text, "one two\ntwo three\nthree one\n");
    snprintf(line, sizeof line, "corpus=%s", text);
    Lab *l = fixture_lab(line);
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    lab_free(l);
    l = fixture_lab(NULL);
    remove(text);
    snprintf(line, sizeof line, "open %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "not trained on: it was trained on the text '/"));
    lab_free(l);
    remove(path);
}

static void a_table_goes_to_a_file(void **state) {
    (void)state;
    char path[64], line[100], row[200];
    snprintf(path, sizeof path, "/tmp/lantern_test_lab_%ld.csv", (long)getpid());
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "until 3");
    fixture_do(l, "watch"); /* nothing, and still the table is there */
    snprintf(line, sizeof line, "write curve %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "3 rows of 'curve'"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(row, sizeof row, f));
    assert_string_equal(row, "step,tokens,loss,learning_rate,grad_norm,tokens_per_s\n");
    fclose(f);
    snprintf(line, sizeof line, "write attention %s", path);
    fixture_do(l, line);
    assert_non_null(strstr(fixture_facts(l).message, "144 rows")); /* 2 layers, 2 heads, 6 x 6 */
    fixture_refused(l, "write curves /tmp/x.csv", "tokens, curve, test");
    fixture_refused(l, "write curve /nowhere/x.csv", "/nowhere/x.csv");
    assert_int_equal(remove(path), 0);
    lab_free(l);
}

static void characters_without_a_token_are_told(void **state) {
    (void)state;
    char path[64], line[200];
    snprintf(path, sizeof path, "/tmp/lantern_test_letters_%ld", (long)getpid());
    assert_true(foreign_write_letters(path));
    Lab *l = fixture_lab(NULL);
    snprintf(line, sizeof line, "open %s.bin %s.json", path, path);
    fixture_do(l, "prompt \"the cat\"");
    fixture_do(l, line); /* whose prompt it stays */
    assert_non_null(strstr(fixture_facts(l).message, "corpus=FILE'; 5 characters have no token"));
    assert_non_null(strstr(fixture_facts(l).message, "left out: t, h, e, \xe2\x80\xa6"));
    fixture_do(l, "prompt \"a\xc3\xa9"
                  "b z\"");
    SnapshotFacts told = fixture_facts(l);
    assert_string_equal(told.message, "2 characters have no token in this vocabulary and are left out: \xc3\xa9, z");
    fixture_do(l, "prompt \"ab ab\"");
    assert_int_equal(fixture_facts(l).message_number, told.message_number);
    fixture_do(l, "bpe text x");
    assert_string_equal(fixture_facts(l).message, "1 character has no token in this vocabulary and is left out: x");
    fixture_do(l, "swap 1 a");
    fixture_refused(l, "swap 1 a\xc3\xa9", "is not one token");
    lab_free(l);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "%s.%s", path, i ? "json" : "bin");
        assert_int_equal(remove(line), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_run_goes_on),
        cmocka_unit_test(a_run_waits_while_another_is_visited),
        cmocka_unit_test(a_saved_run_knows_its_own_grammar),
        cmocka_unit_test(a_run_on_a_text_goes_on),
        cmocka_unit_test(a_run_on_the_letters_of_a_grammar_goes_on),
        cmocka_unit_test(a_missing_grammar_stays_in_the_file),
        cmocka_unit_test(a_run_whose_text_is_missing_names_it),
        cmocka_unit_test(a_text_that_nobody_names_is_no_farm),
        cmocka_unit_test(a_run_without_its_corpus_says_why),
        cmocka_unit_test(a_table_goes_to_a_file),
        cmocka_unit_test(a_text_has_no_floor),
        cmocka_unit_test(characters_without_a_token_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
