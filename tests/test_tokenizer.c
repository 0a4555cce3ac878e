/* Tokenizers: the words of a byte-pair encoding, GPT-2's way of cutting a text, and its vocabulary from files. */
#include "expect.h"
#include "pieces.h"

#include "io/gpt2_vocab.h"
#include "io/llama2c_vocab.h"
#include "io/tokenizer_file.h"
#include "rng.h"
#include "text/bpe_encode.h"
#include "text/bpe_train.h"
#include "text/byte_level.h"
#include "text/gpt2_split.h"
#include "text/vocab.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a vocabulary of 256 bytes and some merges ---- */

/* As GPT-2 numbers them: first the bytes that can be seen. */
static int byte_ids(int id[256]) {
    int n = 0;
    for (int seen = 1; seen >= 0; seen--)
        for (int b = 0; b < 256; b++)
            if (((b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae) == seen) id[b] = n++;
    return n;
}

static void add_spelling(Str *json, int byte, int id) {
    int ids[256];
    byte_ids(ids);
    char piece[8] = "";
    utf8_encode(ids[byte] < 188 ? (uint32_t)byte : (uint32_t)(0x100 + ids[byte] - 188), piece);
    bool escape = byte == '"' || byte == '\\';
    str_addf(json, "%s\"%s%s\": %d", id ? ", " : "", escape ? "\\" : "", piece, id);
}

/* {"!": 0, ...: 255 and what MORE adds. */
static void add_vocabulary(Str *json, const char *more) {
    int ids[256];
    byte_ids(ids);
    str_add_char(json, '{');
    for (int id = 0; id < 256; id++)
        for (int byte = 0; byte < 256; byte++)
            if (ids[byte] == id) add_spelling(json, byte, id);
    str_addf(json, "%s}", more);
}

static Status parse(const char *more, const char *merges, Tokenizer **out) {
    Str json;
    str_init(&json);
    add_vocabulary(&json, more);
    Status s = gpt2_vocab_parse("pieces", json.s, json.len, "merges", merges, strlen(merges), out);
    str_done(&json);
    return s;
}

static Tokenizer *small_vocabulary(void) {
    Tokenizer *t;
    assert_ok(parse(", \"th\": 256, \"the\": 257, \"\xc4\xa0the\": 258, \"\\u0120\\u0120\": 259, \"##\": 260, "
                    "\"<|endoftext|>\": 261",
                    "#version: 0.2\nt h\nth e\n\xc4\xa0 the\n\xc4\xa0 \xc4\xa0\n# #\n", &t));
    return t;
}

static void expect_ids(Tokenizer *t, const char *s, size_t n, const int *want, int count) {
    Pieces pieces = {0};
    tokenizer_encode(t, s, n, &pieces);
    assert_int_equal(pieces.count, count);
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        assert_int_equal(pieces.piece[i].id, want[i]);
        assert_int_equal(pieces.piece[i].start, at);
        at += pieces.piece[i].bytes;
    }
    assert_int_equal(at, n);
    pieces_done(&pieces);
}

static void gpt2_merges_within_stretches(void **state) {
    (void)state;
    Tokenizer *t = small_vocabulary();
    assert_int_equal(tokenizer_size(t), 262);
    assert_int_equal(tokenizer_first(t), -1);
    static const int the[] = {257, 258, 258, 220}, spaces[] = {259, 258}, sharp[] = {260, 2};
    expect_ids(t, "the the the ", 12, the, 4);
    expect_ids(t, "   the", 6, spaces, 2);
    expect_ids(t, "   the", 6, spaces, 2); /* from memory */
    expect_ids(t, "###", 3, sharp, 2);
    expect_ids(t, "", 0, NULL, 0);
    Str s;
    str_init(&s);
    tokenizer_name(t, 258, &s);
    tokenizer_bytes(t, 258, -1, &s);
    tokenizer_bytes(t, 261, -1, &s);
    assert_string_equal(s.s, "\xc4\xa0the the<|endoftext|>");
    str_done(&s);
    tokenizer_free(t);
}

static void expect_lossless(Tokenizer *t, const char *s, size_t n, bool decode) {
    Pieces pieces = {0};
    Str back;
    str_init(&back);
    tokenizer_encode(t, s, n, &pieces);
    size_t at = 0;
    for (long i = 0; i < pieces.count; i++) {
        assert_int_equal(pieces.piece[i].start, at);
        at += pieces.piece[i].bytes;
        if (decode) tokenizer_bytes(t, pieces.piece[i].id, -1, &back);
    }
    assert_int_equal(at, n);
    if (decode) assert_int_equal(back.len, n);
    if (decode && n) assert_memory_equal(back.s, s, n);
    pieces_done(&pieces);
    str_done(&back);
}

/* Bytes of every kind, biased to what texts are made of. */
static size_t random_bytes(char *out, uint64_t number) {
    static const char *const parts[] = {
        "the",          " ",    "  ",       "\n", "'s",           "12",       "\xc3\xa9",
        "\xe7\x94\x9f", "\xff", "\xe7\x94", "#",  "\xe3\x80\x80", "\xc2\x85", "\xf0\x9f\x98\x80",
        "</w>",         "\x80"};
    Rng r = rng_at(1, "test.tokenizer", number);
    size_t n = 0;
    for (uint64_t i = rng_below(&r, 30); i > 0; i--) {
        if (rng_below(&r, 8) == 0) {
            out[n++] = (char)rng_below(&r, 256);
        } else {
            const char *part = parts[rng_below(&r, sizeof parts / sizeof *parts)];
            memcpy(out + n, part, strlen(part));
            n += strlen(part);
        }
    }
    return n;
}

static void any_bytes_come_back(void **state) {
    (void)state;
    Tokenizer *gpt2 = small_vocabulary();
    BpeWords w[2];
    BpeTrainer *trainer[2];
    Tokenizer *words[2];
    for (int unit = 0; unit < 2; unit++) {
        bpe_words_init(&w[unit], unit ? BPE_BYTE : BPE_CHAR, false);
        bpe_words_add(&w[unit], "the there other \xc3\xa9\xc3\xa9 th#", 21);
        trainer[unit] = bpe_trainer_new(&w[unit]);
        while (bpe_trainer_step(trainer[unit])) {}
        words[unit] = bpe_tokenizer(bpe_trainer_bpe(trainer[unit]), -1);
    }
    char s[400];
    for (uint64_t i = 0; i < 3000; i++) {
        size_t n = random_bytes(s, i);
        expect_lossless(gpt2, s, n, true);
        for (int unit = 0; unit < 2; unit++) expect_lossless(words[unit], s, n, false);
    }
    for (int unit = 0; unit < 2; unit++) {
        tokenizer_free(words[unit]);
        bpe_trainer_free(trainer[unit]);
        bpe_words_done(&w[unit]);
    }
    tokenizer_free(gpt2);
}

/* ---- what is refused ---- */

static void bad_vocabularies_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *more, *merges, *says;
    } faults[] = {
        {", \"th\": 257", "", "'pieces': no piece has id 256, though ids go to 257"},
        {", \"th\": -1", "", "'pieces': piece 'th' has id -1; ids are 0 to 9999999"},
        {", \"th\": 10000000", "", "'pieces': piece 'th' has id 10000000; ids are 0 to 9999999"},
        {", \"th\": 1", "", "'pieces': id 1 is given to two pieces, the second is 'th'"},
        {", \"th\": \"1\"", "", "'pieces': the id of piece 'th' is not a whole number"},
        {", \"\xe7\x94\x9f\": 256", "",
         "'pieces': piece '\xe7\x94\x9f' is not spelt in the 256 characters that stand for bytes"},
        {", \"\": 256", "", "'pieces': id 256 has an empty piece"},
        {"", "t h\n", "'merges' line 1: 'th' is no piece of the vocabulary"},
        {", \"th\": 256", "#version\nt h\n\nth zz\n", "'merges' line 4: 'zz' is no piece of the vocabulary"},
        {", \"th\": 256", "t h\nt h\n", "'merges' line 2: the pair is merged a second time"},
        {", \"th\": 256", "t h e\n", "'merges' line 1: it is not two pieces with one blank between them"},
        {", \"th\": 256", "th\n", "'merges' line 1: it is not two pieces with one blank between them"},
        {", \"th\": 256", "t \xff\n", "'merges' line 1: it is not UTF-8"},
        {", \"th\": 256", "#v\n", "'merges' line 1: it is not two pieces with one blank between them"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        Tokenizer *t;
        assert_status(parse(faults[i].more, faults[i].merges, &t), STATUS_USAGE, faults[i].says);
        assert_null(t);
    }
    static const struct {
        const char *json, *says;
    } broken[] = {
        {"[1]", "'pieces': its JSON is no object"},
        {"{}", "'pieces': it has no pieces"},
        {"{\"a\": 0}", "'pieces': no piece stands for the byte 00 alone, so not every text can be cut"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        Tokenizer *t;
        assert_status(gpt2_vocab_parse("pieces", broken[i].json, strlen(broken[i].json), "merges", "", 0, &t),
                      STATUS_USAGE, broken[i].says);
    }
    Tokenizer *t;
    Status s = gpt2_vocab_parse("pieces", "{\"a\": 0", 7, "merges", "", 0, &t);
    assert_non_null(strstr(s.text, "'pieces': its JSON has a fault in line 1"));
    s = gpt2_vocab_read("/nowhere/at/all", &t);
    assert_non_null(strstr(s.text, "/nowhere/at/all/encoder.json"));
}

/* ---- how GPT-2 cuts ---- */

static void expect_cut(const char *text, const char *with_bars) {
    Gpt2Split *g = gpt2_split_new();
    Str got;
    str_init(&got);
    size_t n = strlen(text);
    for (size_t at = 0, end; at < n; at = end) {
        end = gpt2_split_next(g, text, n, at);
        assert_true(end > at && end <= n);
        if (at) str_add_char(&got, '|');
        str_add_n(&got, text + at, end - at);
    }
    assert_string_equal(got.s, with_bars);
    str_done(&got);
    gpt2_split_free(g);
}

static void texts_are_cut_as_gpt2_does(void **state) {
    (void)state;
    expect_cut("Hello world", "Hello| world");
    expect_cut("we'll don't I'M", "we|'ll| don|'t| I|'|M");
    expect_cut("a  b\n\nc", "a| | b|\n|\n|c");
    expect_cut("x   ", "x|   ");
    expect_cut("3.14 (2!)", "3|.|14| (|2|!)");
    expect_cut("caf\xc3\xa9 \xe7\x94\x9f\xe6\x88\x90", "caf\xc3\xa9| \xe7\x94\x9f\xe6\x88\x90");
    expect_cut("a\xc2\x85\xc2\x85"
               "b",
               "a|\xc2\x85|\xc2\x85|b"); /* white space by Unicode */
    expect_cut("a\xe1\xa0\x8e\xe1\xa0\x8e"
               "b",
               "a|\xe1\xa0\x8e\xe1\xa0\x8e|b"); /* none: U+180E */
    expect_cut("a\x1f\x1f"
               "b",
               "a|\x1f\x1f|b");
    expect_cut("a \xff\xfe b\xe7\x94", "a| |\xff\xfe| b|\xe7\x94");
}

static void long_runs_are_cut(void **state) {
    (void)state;
    enum { LONG = 2000000 };
    char *s = mem_alloc(LONG + 1);
    Gpt2Split *g = gpt2_split_new();
    static const char kinds[] = " a1!";
    for (int kind = 0; kinds[kind]; kind++) {
        memset(s, kinds[kind], LONG);
        s[LONG] = 'b';
        gpt2_split_begin(g);
        size_t end = gpt2_split_next(g, s, LONG + 1, 0);
        assert_int_equal(end, kinds[kind] == ' ' ? LONG - 1 : kinds[kind] == 'a' ? LONG + 1 : LONG);
    }
    gpt2_split_free(g);
    mem_free(s);
}

/* ---- words ---- */

static BpeTrainer *low(BpeUnit unit) {
    BpeWords w;
    const char *text = "low low low low low lower lower newest newest newest newest newest newest widest widest widest";
    bpe_words_init(&w, unit, false);
    bpe_words_add(&w, text, strlen(text));
    BpeTrainer *t = bpe_trainer_new(&w);
    for (int i = 0; i < 5; i++) assert_true(bpe_trainer_step(t));
    bpe_words_done(&w);
    return t;
}

static void a_vocabulary_knows_its_words(void **state) {
    (void)state;
    Vocab *v = vocab_new_tokenizer(small_vocabulary(), 261, 261);
    assert_true(vocab_is_word(v, 0) && vocab_is_word(v, VOCAB_EOS) && vocab_is_word(v, 260));
    assert_false(vocab_is_word(v, -1) || vocab_is_word(v, 261) || vocab_is_word(v, 262));
    vocab_free(v);
}

static void words_keep_what_separates_them(void **state) {
    (void)state;
    BpeTrainer *trainer = low(BPE_CHAR);
    Tokenizer *t = bpe_tokenizer(bpe_trainer_bpe(trainer), -1), *three = bpe_tokenizer(bpe_trainer_bpe(trainer), 3);
    expect_pieces(t, "lowest", "low=low|est</w>=est");
    expect_pieces(t, " lowest \nxlow", "</w>= |low=low|est</w>=est \n|=x|low=low|</w>=");
    expect_pieces(t, "low\xe3\x80\x80low", "low=low|</w>=\xe3\x80\x80|low=low|</w>=");
    expect_pieces(t, " ", "</w>= ");
    expect_pieces(t, "", "");
    expect_pieces(three, "lowest", "l=l|o=o|w=w|est</w>=est");
    Str s;
    str_init(&s);
    tokenizer_bytes(t, bpe_find(bpe_trainer_bpe(trainer), "est", 3, true), -1, &s);
    assert_string_equal(s.s, "est ");
    str_done(&s);
    tokenizer_free(three);
    tokenizer_free(t);
    bpe_trainer_free(trainer);
}

typedef struct {
    int rule[10], pieces[10], steps;
} Seen;

static bool see(void *data, int rule, const int *symbol, const int *units, int n) {
    (void)symbol;
    (void)units;
    Seen *seen = data;
    seen->rule[seen->steps] = rule;
    seen->pieces[seen->steps++] = n;
    return true;
}

static void steps_can_be_watched(void **state) {
    (void)state;
    BpeTrainer *trainer = low(BPE_BYTE);
    Tokenizer *t = bpe_tokenizer(bpe_trainer_bpe(trainer), -1);
    Units units = {0};
    Seen seen = {0};
    assert_int_equal(tokenizer_lay(t, "lowest low x", 12, 10, &units), 11);
    assert_int_equal(units.n, 11);
    tokenizer_watch(t, &units, see, &seen);
    static const int rules[] = {0, 1, 2, 3, 4}, pieces[] = {10, 9, 8, 6, 4};
    assert_int_equal(seen.steps, 5);
    assert_memory_equal(seen.rule, rules, sizeof rules);
    assert_memory_equal(seen.pieces, pieces, sizeof pieces);
    units_done(&units);
    tokenizer_free(t);
    bpe_trainer_free(trainer);
}

/* ---- llama2.c's file ---- */

static void add_number(Str *out, uint32_t x) {
    for (int i = 0; i < 4; i++) str_add_char(out, (char)(x >> (8 * i)));
}

static void add_scored(Str *out, float score, const char *piece) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    add_number(out, bits);
    add_number(out, (uint32_t)strlen(piece));
    str_add(out, piece);
}

/* The bytes and these: " a" 259, "ab" 260, " ab" 261, " " 262, "a" 263, "b" 264, "bb" 265 as dear as " a". */
static void llama2c_file(Str *out) {
    char name[16];
    add_number(out, 6);
    add_scored(out, 0, "<unk>");
    add_scored(out, 0, "\n<s>\n");
    add_scored(out, 0, "\n</s>\n");
    for (unsigned byte = 0; byte < 256; byte++) {
        snprintf(name, sizeof name, "<0x%02X>", byte);
        add_scored(out, 0, name);
    }
    static const char *const piece[] = {" a", "ab", " ab", " ", "a", "b", "bb"};
    static const float score[] = {-1, -2, -3, -4, -5, -6, -1};
    for (int i = 0; i < 7; i++) add_scored(out, score[i], piece[i]);
}

static void expect_decoded(const Tokenizer *t, const int *id, int n, const char *want) {
    Str out;
    str_init(&out);
    for (int i = 0; i < n; i++) tokenizer_bytes(t, id[i], i ? id[i - 1] : -1, &out);
    assert_string_equal(out.s, want);
    str_done(&out);
}

static void llama2c_merges_the_highest_score(void **state) {
    (void)state;
    Str file;
    str_init(&file);
    llama2c_file(&file);
    Tokenizer *t;
    assert_ok(llama2c_vocab_parse("file", (const unsigned char *)file.s, file.len, &t));
    assert_int_equal(tokenizer_size(t), 266);
    assert_int_equal(tokenizer_first(t), 1);
    static const int nothing[] = {1}, ab[] = {1, 261}, spaced[] = {1, 262, 261, 264}, dear[] = {1, 259, 265, 264},
                     foreign[] = {1, 262, 234, 151, 162, 258};
    expect_ids(t, "", 0, nothing, 1);
    expect_ids(t, "ab", 2, ab, 2);
    expect_ids(t, " ab", 3, (const int[]){1, 262, 261}, 3);
    expect_ids(t, "abbb", 4, dear, 4); /* of equals the leftmost: " a" and then the first "bb" */
    expect_ids(t, "\xe7\x94\x9f\xff", 4, foreign, 6);
    expect_decoded(t, ab, 2, "ab");
    expect_decoded(t, spaced, 4, " abb");
    expect_decoded(t, foreign, 6, "\xe7\x94\x9f\xff");
    Str name;
    str_init(&name);
    tokenizer_name(t, 261, &name);
    assert_string_equal(name.s, "\xe2\x96\x81"
                                "ab");
    str_done(&name);
    tokenizer_free(t);
    for (size_t n = 0; n < file.len; n++) {
        Status s = llama2c_vocab_parse("file", (const unsigned char *)file.s, n, &t);
        if (status_is_ok(&s)) tokenizer_free(t); /* cut behind a piece when all that is needed is there */
        assert_true(status_is_ok(&s) || (s.code == STATUS_USAGE && strstr(s.text, "'file'")));
        assert_true(!status_is_ok(&s) || n >= file.len - 60);
    }
    str_done(&file);
}

/* ---- files that go elsewhere ---- */

static void put_file(const char *folder, const char *name, const char *s, size_t n) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(s, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void make_folder(char *folder, const char *more) {
    char line[100];
    assert_non_null(mkdtemp(folder));
    snprintf(line, sizeof line, "mkdir %s/%s", folder, more);
    assert_int_equal(system(line), 0);
}

/* Whatever kind of files a vocabulary has, they are carried as bytes and written again, and cut texts as before; in the
 * other folder lies what would be taken for it. */
static void files_are_carried(void **state) {
    (void)state;
    static const char pieces[] = "{\"a\":0,\"b\":1,\"ab\":2,\"!\":3}", merges[] = "#version: 0.2\na b\n";
    Str bin;
    str_init(&bin);
    llama2c_file(&bin);
    for (int kind = 0; kind < 3; kind++) {
        char folder[] = "/tmp/lantern-carried-XXXXXX", other[100], line[100];
        make_folder(folder, "other");
        snprintf(other, sizeof other, "%s/other", folder);
        if (kind == 0) put_file(folder, "tokenizer.bin", bin.s, bin.len);
        if (kind > 0) put_file(folder, kind == 1 ? "vocab.json" : "encoder.json", pieces, sizeof pieces - 1);
        if (kind == 2) put_file(folder, "vocab.bpe", merges, sizeof merges - 1);
        put_file(other, "tokenizer.json", "{}", 2);
        put_file(other, "vocab.bpe", "", 0);
        Tokenizer *t[3];
        Str files;
        str_init(&files);
        Status whole = tokenizer_file_read(folder, &t[0]);
        assert_ok(tokenizer_file_gather(folder, &files));
        Status parsed = tokenizer_file_parse(files.s, files.len, &t[1]);
        assert_ok(tokenizer_file_scatter(other, files.s, files.len));
        Status again = tokenizer_file_read(other, &t[2]);
        assert_int_equal(whole.code, parsed.code); /* kind 2 lacks the 256 bytes, and is refused everywhere */
        assert_int_equal(whole.code, again.code);
        assert_int_equal(whole.code, kind == 2 ? STATUS_USAGE : STATUS_OK);
        for (int i = 0; i < 3 && kind < 2; i++) {
            expect_pieces(t[i], "ab",
                          kind == 0 ? "<s>=|\xe2\x96\x81"
                                      "ab=ab"
                                    : "a=a|b=b");
            tokenizer_free(t[i]);
        }
        for (size_t n = 0; n < files.len && kind < 2; n++) { /* cut anywhere, it is none */
            Status s = tokenizer_file_parse(files.s, n, &t[0]);
            assert_false(status_is_ok(&s));
        }
        str_done(&files);
        snprintf(line, sizeof line, "rm -r %s", folder);
        assert_int_equal(system(line), 0);
    }
    str_done(&bin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_merges_within_stretches),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(bad_vocabularies_are_refused),
        cmocka_unit_test(texts_are_cut_as_gpt2_does),
        cmocka_unit_test(long_runs_are_cut),
        cmocka_unit_test(a_vocabulary_knows_its_words),
        cmocka_unit_test(words_keep_what_separates_them),
        cmocka_unit_test(steps_can_be_watched),
        cmocka_unit_test(llama2c_merges_the_highest_score),
        cmocka_unit_test(files_are_carried),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
