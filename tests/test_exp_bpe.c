/* bpe.*: the figures of lecture 3, 5.3 to 5.5, and the reference merges of LANTERN_SHARED. */
#include "csvfile.h"
#include "file.h"
#include "io/gpt2_vocab.h"
#include "io/tokenizer_file.h"
#include "mem.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_study.h"

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

/* KEY=path of a file that holds these bytes. */
static const char *file_of(const char *key, const char *text, size_t bytes) {
    static char pair[64];
    FILE *f = fopen(path, "wb");
    fwrite(text, 1, bytes, f);
    fclose(f);
    snprintf(pair, sizeof pair, "%s=%s", key, path);
    return pair;
}

#define LOW "low low low low low lower lower\nnewest newest newest newest newest newest widest widest widest\n"

/* ---- bpe.train ---- */

static void exercise_5(void **state) {
    (void)state;
    Study *s = run_study("bpe.train", file_of("corpus", LOW, strlen(LOW)), "merges=6", NULL);
    Table *t = study_result(s, "merges");
    static const char *const pair[6][3] = {{"e", "s", "es"}, {"es", "t", "est"}, {"est", "</w>", "est</w>"},
                                           {"l", "o", "lo"}, {"lo", "w", "low"}, {"e", "w", "ew"}};
    static const int count[6] = {9, 9, 9, 7, 7, 6}, ties[6] = {3, 2, 1, 2, 1, 3};
    assert_int_equal(table_rows(t), 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(cell_int(t, i, "rank"), i + 1);
        assert_string_equal(cell_text(t, i, "left"), pair[i][0]);
        assert_string_equal(cell_text(t, i, "right"), pair[i][1]);
        assert_string_equal(cell_text(t, i, "merged"), pair[i][2]);
        assert_int_equal(cell_int(t, i, "count"), count[i]);
        assert_int_equal(cell_int(t, i, "ties"), ties[i]);
    }
    assert_string_equal(cell_text(t, 2, "right_hex"), "3c2f773e");
    table_free(t);
    t = study_result(s, "words");
    assert_int_equal(table_rows(t), 4);
    assert_string_equal(cell_text(t, 0, "word"), "newest");
    assert_int_equal(cell_int(t, 0, "count"), 6);
    assert_string_equal(cell_text(t, 0, "pieces"), "n ew est</w>");
    assert_string_equal(cell_text(t, 1, "pieces_hex"), "6c6f77 3c2f773e");
    table_free(t);
    study_free(s);
}

static void bytes_and_capitals(void **state) {
    (void)state;
    const char *text = "\xff\xfe \xff\xfe X\xc3\x89 x\xc3\xa9";
    Study *s = run_study_until(STATUS_USAGE, "bpe.train", file_of("corpus", text, strlen(text)), NULL);
    assert_non_null(strstr(study_state(s).status.text, "line 1 is not UTF-8"));
    study_free(s);
    s = run_study("bpe.train", file_of("corpus", text, strlen(text)), "unit=byte", "lowercase=1", "merges=3", NULL);
    Table *t = study_result(s, "merges");
    assert_string_equal(cell_text(t, 0, "left"), "x");
    assert_string_equal(cell_text(t, 0, "right"), "\\xc3");
    assert_string_equal(cell_text(t, 0, "merged_hex"), "78c3");
    assert_int_equal(cell_int(t, 0, "ties"), 5);
    assert_string_equal(cell_text(t, 1, "merged"), "x\xc3\xa9");
    table_free(t);
    study_free(s);
}

static void empty_corpora_are_refused(void **state) {
    (void)state;
    Study *s = run_study_until(STATUS_USAGE, "bpe.train", file_of("corpus", " \n", 2), NULL);
    assert_non_null(strstr(study_state(s).status.text, "has no words"));
    study_free(s);
    s = run_study_until(STATUS_USAGE, "bpe.train", "corpus=/nowhere/at/all", NULL);
    study_free(s);
}

/* The regular endings become symbols early; which merge makes them depends on the sample only a little. */
static void endings_are_found(void **state) {
    (void)state;
    Study *s = run_study("bpe.train", NULL);
    Table *t = study_result(s, "merges");
    static const struct {
        const char *ending;
        long latest;
    } ends[] = {{"s</w>", 6}, {"ly</w>", 25}, {"ing</w>", 30}, {"ed</w>", 35}, {"est</w>", 90}, {"ness</w>", 130}};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        long row = 0;
        while (row < table_rows(t) && strcmp(cell_text(t, row, "merged"), ends[k].ending) != 0) row++;
        if (row >= ends[k].latest) fail_msg("%s is made by merge %ld", ends[k].ending, row + 1);
    }
    assert_string_equal(cell_text(t, 0, "merged"), "e</w>");
    assert_string_equal(cell_text(t, 1, "merged"), "th");
    table_free(t);
    study_free(s);
}

/* ---- bpe.tradeoff ---- */

static void more_merges_shorten(void **state) {
    (void)state;
    Study *s = run_study("bpe.tradeoff", NULL);
    Table *t = study_result(s, "tradeoff");
    assert_int_equal(table_rows(t), 6);
    for (long i = 1; i < 6; i++) {
        assert_int_equal(cell_int(t, i, "vocabulary") - cell_int(t, 0, "vocabulary"), cell_int(t, i, "merges"));
        assert_true(cell_real(t, i, "tokens_per_word") < cell_real(t, i - 1, "tokens_per_word"));
    }
    assert_near(cell_real(t, 5, "tokens_per_word"), 1.036, 0.03); /* the notes, of their sample */
    table_free(t);
    study_free(s);
    s = run_study("bpe.tradeoff", file_of("corpus", LOW, strlen(LOW)), "merges=5,0,1000", NULL);
    t = study_result(s, "tradeoff");
    static const int merges[] = {5, 0, 1000}, vocabulary[] = {16, 11, 26}, tokens[] = {54, 95, 16};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cell_int(t, i, "merges"), merges[i]);
        assert_int_equal(cell_int(t, i, "vocabulary"), vocabulary[i]);
        assert_near(cell_real(t, i, "tokens_per_word"), tokens[i] / 16.0, 0);
    }
    table_free(t);
    study_free(s);
}

/* ---- bpe.encode, bpe.decode ---- */

static void expect_text(const Table *t, long row, const char *column, const char *want) {
    assert_string_equal(cell_text(t, row, column), want);
}

static void lowest_is_low_and_est(void **state) {
    (void)state;
    Study *s =
        run_study("bpe.encode", file_of("corpus", LOW, strlen(LOW)), "text= lowest\xe7\x94\x9f", "merges=5", NULL);
    Table *t = study_result(s, "tokens");
    static const char *const token[] = {"</w>", "low", "est", "\xe7\x94\x9f", "</w>"}, *const hex[] = {"20", "6c6f77",
                                                                                                       "657374",
                                                                                                       "e7949f", ""};
    assert_int_equal(table_rows(t), 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(cell_int(t, i, "index"), i);
        expect_text(t, i, "token", token[i]);
        expect_text(t, i, "bytes_hex", hex[i]);
    }
    assert_true(table_is_empty(t, 3, table_find(t, "id")));
    assert_int_equal(cell_int(t, 0, "id"), 0);
    assert_int_equal(cell_int(t, 1, "id"), 15); /* </w>, 10 letters, es, est, est</w>, lo, low */
    table_free(t);
    study_free(s);
    s = run_study("bpe.encode", file_of("corpus", LOW, strlen(LOW)), "text=LoWest", "merges=5", "lowercase=1", NULL);
    t = study_result(s, "steps");
    assert_int_equal(table_rows(t), 5);
    expect_text(t, 0, "pieces", "l o w es t </w>");
    expect_text(t, 2, "left", "est");
    expect_text(t, 2, "right", "</w>");
    expect_text(t, 4, "pieces", "low est</w>");
    expect_text(t, 4, "pieces_hex", "6c6f77 6573743c2f773e");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(cell_int(t, i, "step"), i + 1);
        assert_int_equal(cell_int(t, i, "rank"), i + 1);
    }
    table_free(t);
    study_free(s);
}

/* What bpe.train wrote is what bpe.encode and bpe.decode read. */
static void merges_are_read_back(void **state) {
    (void)state;
    Study *s = run_study("bpe.train", file_of("corpus", LOW, strlen(LOW)), "merges=5", "unit=byte", NULL);
    Table *t = study_result(s, "merges");
    Status saved = csvfile_save(t, path);
    assert_int_equal(saved.code, STATUS_OK);
    table_free(t);
    study_free(s);
    char pair[64];
    snprintf(pair, sizeof pair, "merges_file=%s", path);
    s = run_study("bpe.encode", pair, "text=lowest", "unit=byte", NULL);
    t = study_result(s, "tokens");
    assert_int_equal(table_rows(t), 2);
    assert_int_equal(cell_int(t, 0, "id"), 261);
    assert_int_equal(cell_int(t, 1, "id"), 259);
    table_free(t);
    study_free(s);
    s = run_study("bpe.decode", pair, "ids=261,259,0", "unit=byte", NULL);
    t = study_result(s, "bytes");
    expect_text(t, 0, "bytes_hex", "6c6f77");
    expect_text(t, 1, "bytes_hex", "65737420");
    expect_text(t, 2, "bytes_hex", "20");
    table_free(t);
    study_free(s);
    s = run_study("bpe.encode", pair, "text=lowest", "merges=3", NULL);
    t = study_result(s, "tokens");
    assert_int_equal(table_rows(t), 4);
    table_free(t);
    study_free(s);
    s = run_study_until(STATUS_USAGE, "bpe.decode", pair, "ids=262", "unit=byte", NULL);
    study_free(s);
}

static void only_the_beginning_is_traced(void **state) {
    (void)state;
    Study *s = run_study("bpe.encode", file_of("corpus", LOW, strlen(LOW)), "text=low low low", "trace=4", NULL);
    Table *t = study_result(s, "steps");
    expect_text(t, table_rows(t) - 1, "pieces", "low</w>");
    table_free(t);
    study_free(s);
}

/* ---- bpe.morphs, text.units, bpe.bytes ---- */

static void held_out_forms_are_known_in_parts(void **state) {
    (void)state;
    Study *s = run_study("bpe.morphs", NULL);
    Table *t = study_result(s, "recall");
    static const int merges[] = {100, 200, 400};
    assert_int_equal(table_rows(t), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cell_int(t, i, "merges"), merges[i]);
        assert_int_equal(cell_int(t, i, "word_oov"), 16);
        assert_int_equal(cell_int(t, i, "bpe_oov"), 0);
    }
    assert_near(cell_real(t, 1, "boundary_recall"), 22.0 / 26, 2.1 / 26); /* the notes, of their sample: .85 and .54 */
    assert_near(cell_real(t, 2, "boundary_recall"), 14.0 / 26, 2.1 / 26);
    table_free(t);
    t = study_result(s, "pieces");
    assert_int_equal(table_rows(t), 48);
    for (long i = 0; i < 48; i++) assert_int_equal(cell_int(t, i, "whole_word_known"), 0);
    expect_text(t, 21, "word", "repainting");
    expect_text(t, 21, "pieces", "re paint ing</w>");
    table_free(t);
    study_free(s);
}

static void misspelt_words_are_unknown_only_as_words(void **state) {
    (void)state;
    Study *s = run_study("text.units", "text=Matt is givin' a lectrue on transformers", NULL);
    Table *t = study_result(s, "units");
    static const char *const unit[] = {"word", "char", "byte", "bpe"};
    static const int unknown[] = {5, 2, 0, 0}, tokens[] = {7, 40, 40, 0}, vocabulary[] = {298, 25, 256, 657};
    for (int i = 0; i < 4; i++) {
        expect_text(t, i, "unit", unit[i]);
        assert_int_equal(cell_int(t, i, "unknown"), unknown[i]);
        if (tokens[i]) assert_int_equal(cell_int(t, i, "tokens"), tokens[i]);
        assert_int_equal(cell_int(t, i, "vocabulary"), vocabulary[i]);
    }
    expect_text(t, 0, "text", "<OOV> is <OOV> a <OOV> <OOV> <OOV>");
    table_free(t);
    study_free(s);
    s = run_study("text.units", "text=MATT IS", "unit=char", "lowercase=1", file_of("corpus", "matt is\n", 8), NULL);
    t = study_result(s, "units");
    expect_text(t, 0, "text", "matt is");
    expect_text(t, 1, "text", "m a t t \xe2\x90\xa3 i s");
    assert_int_equal(cell_int(t, 3, "unknown"), 0);
    table_free(t);
    study_free(s);
}

static void exercise_11(void **state) {
    (void)state;
    Study *s = run_study("bpe.bytes", NULL);
    Table *t = study_result(s, "bytes");
    assert_int_equal(table_rows(t), 9);
    expect_text(t, 5, "char", "\xe6\x88\x90");
    expect_text(t, 5, "byte_hex", "90");
    table_free(t);
    t = study_result(s, "counts");
    expect_text(t, 0, "unit", "char");
    assert_int_equal(cell_int(t, 0, "count"), 3);
    assert_int_equal(cell_int(t, 0, "unknown"), 3);
    expect_text(t, 1, "unit", "byte");
    assert_int_equal(cell_int(t, 1, "count"), 9);
    assert_int_equal(cell_int(t, 1, "unknown"), 0);
    table_free(t);
    study_free(s);
}

/* ---- reference values ---- */

static const struct {
    const char *name, *unit;
    bool hex;
} references[] = {{"low", "char", false},     {"runs", "char", false}, {"gpl3", "char", false},
                  {"genesis", "char", false}, {"runs", "byte", true},  {"genesis", "byte", true}};

static void expect_cell(const Table *t, long row, const char *column, const char *want) {
    Str cell;
    str_init(&cell);
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    table_cell(t, row, c, &cell);
    if (strcmp(cell.s, want) != 0) fail_msg("row %ld, %s: %s, not %s", row, column, cell.s, want);
    str_done(&cell);
}

static void merges_are_those_of_the_reference(void **state) {
    (void)state;
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        char file[500], corpus[500], unit[20];
        snprintf(file, sizeof file, "%s/data/reference/bpe/%s.%s.merges.csv", shared, references[i].name,
                 references[i].unit);
        snprintf(corpus, sizeof corpus, "corpus=%s/data/reference/bpe/%s.txt", shared, references[i].name);
        snprintf(unit, sizeof unit, "unit=%s", references[i].unit);
        CsvText csv;
        Status status = csvfile_read(file, &csv);
        assert_int_equal(status.code, STATUS_OK);
        Study *s = run_study("bpe.train", corpus, unit, NULL);
        Table *t = study_result(s, "merges");
        assert_true(table_rows(t) >= csv.rows - 1);
        for (long row = 1; row < csv.rows; row++)
            for (int column = 0; column < csv.columns; column++)
                expect_cell(t, row - 1, csv.cell[0][column], csv.cell[row][column]);
        table_free(t);
        study_free(s);
        csv_text_done(&csv);
    }
}

/* A line of a reference file as JSON; NULL at the end. */
static json_t *next_case(FILE *f) {
    static char line[100000];
    if (!fgets(line, sizeof line, f)) return NULL;
    json_t *c = json_loads(line, JSON_ALLOW_NUL, NULL);
    assert_non_null(c);
    return c;
}

static FILE *open_reference(const char *name) {
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    char file[500];
    snprintf(file, sizeof file, "%s/data/reference/%s", shared, name);
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    return f;
}

/* All tokens with a blank between them. */
static void join_column(const Table *t, const char *column, Str *out) {
    for (long i = 0; i < table_rows(t); i++) {
        if (i) str_add_char(out, ' ');
        table_cell(t, i, table_find(t, column), out);
    }
}

static void words_are_cut_as_in_the_reference(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        char name[100], merges_file[600], merges[40], text[200];
        snprintf(name, sizeof name, "bpe/%s.%s.encode.jsonl", references[i].name, references[i].unit);
        FILE *f = open_reference(name);
        snprintf(merges_file, sizeof merges_file, "merges_file=%s/data/reference/bpe/%s.%s.merges.csv",
                 getenv("LANTERN_SHARED"), references[i].name, references[i].unit);
        for (json_t *c; (c = next_case(f)); json_decref(c)) {
            snprintf(merges, sizeof merges, "merges=%d", (int)json_integer_value(json_object_get(c, "merges")));
            snprintf(text, sizeof text, "text=%s", json_string_value(json_object_get(c, "word")));
            Study *s = run_study("bpe.encode", merges_file, merges, text, NULL);
            Table *t = study_result(s, "tokens");
            Str got, want;
            str_init(&got);
            str_init(&want);
            join_column(t, "token", &got);
            json_t *pieces = json_object_get(c, "pieces");
            for (size_t k = 0; k < json_array_size(pieces); k++)
                str_addf(&want, "%s%s", k ? " " : "", json_string_value(json_array_get(pieces, k)));
            assert_string_equal(got.s, want.s);
            str_done(&got);
            str_done(&want);
            table_free(t);
            study_free(s);
        }
        fclose(f);
    }
}

/* GPT-2's vocabulary is read once for all cases. */
static Tokenizer *gpt2(void) {
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    char dir[500];
    snprintf(dir, sizeof dir, "%s/data/gpt2", shared);
    Tokenizer *t;
    Status s = gpt2_vocab_read(dir, &t);
    assert_int_equal(s.code, STATUS_OK);
    return t;
}

/* bpe.bytes counts the tokens of a vocabulary of files, too. */
static void pieces_of_a_file_are_counted(void **state) {
    (void)state;
    Tokenizer *t = gpt2();
    char pair[600];
    snprintf(pair, sizeof pair, "vocab=%s/data/gpt2", getenv("LANTERN_SHARED"));
    Study *s = run_study("bpe.bytes", "text=the lantern", pair, NULL);
    Table *counts = study_result(s, "counts");
    Pieces pieces = {0};
    tokenizer_encode(t, "the lantern", 11, &pieces);
    assert_int_equal(table_rows(counts), 3);
    expect_text(counts, 2, "unit", "bpe");
    assert_int_equal(cell_int(counts, 2, "count"), pieces.count);
    assert_int_equal(cell_int(counts, 2, "unknown"), 0);
    pieces_done(&pieces);
    tokenizer_free(t);
    table_free(counts);
    study_free(s);
}

static size_t bytes_of(const char *hex, char *out) {
    size_t n = 0;
    for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++) out[n] = (char)byte;
    return n;
}

static void gpt2_ids_are_those_of_the_reference(void **state) {
    (void)state;
    FILE *f = open_reference("gpt2_encode.jsonl");
    Tokenizer *t = gpt2();
    static char text[50000];
    int cases = 0;
    for (json_t *c; (c = next_case(f)); json_decref(c), cases++) {
        size_t n = bytes_of(json_string_value(json_object_get(c, "bytes_hex")), text);
        json_t *ids = json_object_get(c, "ids");
        Pieces pieces = {0};
        tokenizer_encode(t, text, n, &pieces);
        if (pieces.count != (long)json_array_size(ids))
            fail_msg("%s: %ld tokens", json_string_value(json_object_get(c, "note")), pieces.count);
        for (long i = 0; i < pieces.count; i++)
            assert_int_equal(pieces.piece[i].id, json_integer_value(json_array_get(ids, (size_t)i)));
        pieces_done(&pieces);
    }
    assert_int_equal(cases, 56);
    fclose(f);
    f = open_reference("gpt2_decode.jsonl");
    for (json_t *c; (c = next_case(f)); json_decref(c)) {
        size_t n = bytes_of(json_string_value(json_object_get(c, "bytes_hex")), text), i;
        json_t *id;
        Str got;
        str_init(&got);
        json_array_foreach(json_object_get(c, "ids"), i, id) tokenizer_bytes(t, (int)json_integer_value(id), -1, &got);
        assert_int_equal(got.len, n);
        if (n) assert_memory_equal(got.s, text, n);
        str_done(&got);
    }
    fclose(f);
    tokenizer_free(t);
}

/* Every case of a file: TEXT holds the bytes in hex; the ids must be those. MODEL NULL: all cases. */
static int cases_agree(const char *file, const char *model, const char *text_key, const char *tokenizer) {
    FILE *f = open_reference(file);
    char path_of[600];
    snprintf(path_of, sizeof path_of, "%s/data/%s", getenv("LANTERN_SHARED"), tokenizer);
    Tokenizer *t;
    Status s = tokenizer_file_read(path_of, &t);
    if (s.code != STATUS_OK) fail_msg("%s", s.text);
    static char text[50000];
    int cases = 0;
    for (json_t *c; (c = next_case(f)); json_decref(c)) {
        const char *of = json_string_value(json_object_get(c, "tokenizer"));
        if (model && (!of || strcmp(of, model) != 0)) continue;
        size_t n = bytes_of(json_string_value(json_object_get(c, text_key)), text);
        json_t *ids = json_object_get(c, "ids");
        Pieces pieces = {0};
        tokenizer_encode(t, text, n, &pieces);
        if (pieces.count != (long)json_array_size(ids)) fail_msg("%s: %ld tokens", text, pieces.count);
        for (long i = 0; i < pieces.count; i++)
            assert_int_equal(pieces.piece[i].id, json_integer_value(json_array_get(ids, (size_t)i)));
        pieces_done(&pieces);
        cases++;
    }
    tokenizer_free(t);
    fclose(f);
    return cases;
}

static void other_vocabularies_agree(void **state) {
    (void)state;
    const char *llama2c = "llama2c/encode.jsonl";
    int stories = cases_agree(llama2c, "stories260K", "text_hex", "stories260K/tok512.bin");
    int dreams = cases_agree(llama2c, "aidreams260K", "text_hex", "aidreams260K/tok512.bin");
    assert_int_equal(stories + dreams, 24);
    assert_int_equal(cases_agree("tokenizer_json.jsonl", NULL, "bytes_hex", "tiny-random-gpt2"), 52);
}

/* The same vocabulary as tokenizer.json, where <s> in a text is a token of its own. */
static void a_vocabulary_in_two_files(void **state) {
    (void)state;
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    char bin[500], json[500];
    snprintf(bin, sizeof bin, "tokenizer=%s/data/stories260K/tok512.bin", shared);
    snprintf(json, sizeof json, "tokenizer=%s/data/stories260K/hf/tokenizer.json", shared);
    Study *one = run_study("bpe.encode", bin, "text=Once upon a  time \xe7\x94\x9f.", NULL),
          *two = run_study("bpe.encode", json, "text=Once upon a  time \xe7\x94\x9f.", NULL);
    for (int i = 0; i < 2; i++) {
        Table *a = study_look(one, i), *b = study_look(two, i);
        assert_int_equal(table_rows(a), table_rows(b));
        for (long row = 0; row < table_rows(a); row++)
            for (int column = i ? 2 : 0; column < table_columns(a); column++) {
                if (i && column == table_find(a, "pieces_hex")) continue; /* the blank is spelt in another way */
                Str x, y;
                str_init(&x);
                str_init(&y);
                table_cell(a, row, column, &x);
                table_cell(b, row, column, &y);
                assert_string_equal(x.s, y.s);
                str_done(&x);
                str_done(&y);
            }
        table_free(a);
        table_free(b);
    }
    study_free(one);
    study_free(two);
}

static void gpt2_counts_whole_corpora(void **state) {
    (void)state;
    FILE *f = open_reference("gpt2_corpora.jsonl");
    Tokenizer *t = gpt2();
    for (json_t *c; (c = next_case(f)); json_decref(c)) {
        char file[600];
        snprintf(file, sizeof file, "%s/data/reference/%s", getenv("LANTERN_SHARED"),
                 json_string_value(json_object_get(c, "file")));
        Str text;
        str_init(&text);
        Status s = file_read(file, 0, &text);
        assert_int_equal(s.code, STATUS_OK);
        Pieces pieces = {0};
        tokenizer_encode(t, text.s, text.len, &pieces);
        assert_int_equal(pieces.count, json_integer_value(json_object_get(c, "tokens")));
        pieces_done(&pieces);
        str_done(&text);
    }
    fclose(f);
    tokenizer_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exercise_5),
        cmocka_unit_test(bytes_and_capitals),
        cmocka_unit_test(empty_corpora_are_refused),
        cmocka_unit_test(endings_are_found),
        cmocka_unit_test(more_merges_shorten),
        cmocka_unit_test(lowest_is_low_and_est),
        cmocka_unit_test(merges_are_read_back),
        cmocka_unit_test(only_the_beginning_is_traced),
        cmocka_unit_test(held_out_forms_are_known_in_parts),
        cmocka_unit_test(misspelt_words_are_unknown_only_as_words),
        cmocka_unit_test(exercise_11),
        cmocka_unit_test(pieces_of_a_file_are_counted),
        cmocka_unit_test(merges_are_those_of_the_reference),
        cmocka_unit_test(words_are_cut_as_in_the_reference),
        cmocka_unit_test(gpt2_ids_are_those_of_the_reference),
        cmocka_unit_test(other_vocabularies_agree),
        cmocka_unit_test(a_vocabulary_in_two_files),
        cmocka_unit_test(gpt2_counts_whole_corpora),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
