/* tokenizer.json: what its normalizer, pre_tokenizer, added tokens, model and decoder do, and what is refused. Expected
 * values are those of Hugging Face's tokenizers, read from its source; whole vocabularies are compared in exp_bpe. */
#include "expect.h"
#include "pieces.h"

#include "io/tokenizer_file.h"
#include "io/tokenizer_json.h"
#include "io/tokenizer_steps.h"
#include "text/pipeline.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- single steps ---- */

static json_t *parse(const char *json) {
    json_t *j = json_loads(json, JSON_DECODE_ANY, NULL);
    if (!j) fail_msg("%s", json);
    return j;
}

/* The spans of TEXT after a pre_tokenizer, with bars between them. */
static void expect_cut(const char *json, const char *text, const char *want) {
    Pipeline *p = pipeline_new();
    json_t *j = parse(json);
    Str got;
    str_init(&got);
    assert_ok(tokenizer_read_pre_tokenizer(j, p));
    cutting_begin(&p->cutting, text, strlen(text));
    pre_tokenizer_run(&p->pre, &p->cutting, &p->spare);
    for (long i = 0; i < p->cutting.spans; i++) {
        const Span *s = &p->cutting.span[i];
        str_addf(&got, "%s%.*s", i ? "|" : "", (int)(s->end - s->start), p->cutting.s + s->start);
    }
    assert_string_equal(got.s, want);
    str_done(&got);
    json_decref(j);
    pipeline_free(p);
}

static void expect_normal(const char *json, const char *text, const char *want) {
    Pipeline *p = pipeline_new();
    json_t *j = parse(json);
    assert_ok(tokenizer_read_normalizer(j, p));
    cutting_begin(&p->cutting, text, strlen(text));
    normalizer_run(&p->normalizer, &p->cutting, &p->spare);
    assert_int_equal(p->cutting.n, strlen(want));
    if (*want) assert_memory_equal(p->cutting.s, want, strlen(want));
    for (size_t i = 0; i < p->cutting.n; i++) assert_true(p->cutting.from[i] <= p->cutting.from[i + 1]);
    assert_int_equal(p->cutting.from[p->cutting.n], strlen(text));
    json_decref(j);
    pipeline_free(p);
}

#define LLAMA3                                                                                                         \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+"   \
    "[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define SPLIT(pattern, behavior) "{\"type\":\"Split\",\"pattern\":" pattern ",\"behavior\":\"" behavior "\"}"
#define BLANK                    "{\"String\":\" \"}"

static void splits_leave_what_they_cut_at(void **state) {
    (void)state;
    expect_cut(SPLIT(BLANK, "Removed"), " a  b ", "a|b");
    expect_cut(SPLIT(BLANK, "Isolated"), " a  b ", " |a| | |b| ");
    expect_cut(SPLIT(BLANK, "MergedWithPrevious"), " a  b ", " |a | |b ");
    expect_cut(SPLIT(BLANK, "MergedWithNext"), " a  b ", " a| | b| ");
    expect_cut(SPLIT(BLANK, "Contiguous"), " a  b ", " |a|  |b| ");
    expect_cut("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+\"},\"behavior\":\"Removed\",\"invert\":true}",
               "ab, c_d\xcc\x81!", "ab|c_d\xcc\x81");
    expect_cut(SPLIT("{\"Regex\":\"x*\"}", "Isolated"), "axxb", "a|xx|b"); /* empty matches are none */
    expect_cut(SPLIT("{\"Regex\":\"\\\\s\"}", "Isolated"), "a\xc2\x85\xe1\xa0\x8e", "a|\xc2\x85|\xe1\xa0\x8e");
    expect_cut(SPLIT("{\"Regex\":\"b\"}", "Isolated"),
               "\xff"
               "b\xff\xff",
               "\xff|b|\xff\xff");
}

static void llama3_is_cut_by_its_pattern(void **state) {
    (void)state;
    const char *split = SPLIT("{\"Regex\":\"" LLAMA3 "\"}", "Isolated");
    expect_cut(split, "I'LL pay 12345 dollars!!\r\n\n  now", "I|'LL| pay| |123|45| dollars|!!\r\n\n| | now");
    expect_cut(split, "x\n \n y \xe7\x94\x9f\xe6\x88\x90", "x|\n \n| y| \xe7\x94\x9f\xe6\x88\x90");
    expect_cut(split, "f(x)=_a\xc2\xb2", "f|(x|)=_|a|\xc2\xb2");
}

static void kinds_of_characters_are_cut(void **state) {
    (void)state;
    expect_cut("{\"type\":\"Digits\",\"individual_digits\":true}", "a12 \xc2\xb2\xe2\x85\xa7",
               "a|1|2| |\xc2\xb2|\xe2\x85\xa7");
    expect_cut("{\"type\":\"Digits\",\"individual_digits\":false}", "a12 3", "a|12| |3");
    expect_cut("{\"type\":\"Punctuation\"}", "a,. \xe3\x80\x82$", "a|,|.| |\xe3\x80\x82|$");
    expect_cut("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}", "a,.b", "a|,.|b");
    expect_cut("{\"type\":\"Whitespace\"}", "Hi there_2, you.. ", "Hi|there_2|,|you|..");
    expect_cut("{\"type\":\"WhitespaceSplit\"}", "Hi,  you\xe3\x80\x80z", "Hi,|you|z");
    expect_cut("{\"type\":\"BertPreTokenizer\"}", "Hi,  you", "Hi|,|you");
}

#define METASPACE(scheme, split)                                                                                       \
    "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"" scheme "\",\"split\":" split "}"

static void blanks_are_marked(void **state) {
    (void)state;
    expect_cut(METASPACE("always", "true"), "a  b", "_a|_|_b");
    expect_cut(METASPACE("first", "false"), "a b", "_a_b");
    expect_cut(METASPACE("first", "false"), " a b", "_a_b");
    expect_cut(METASPACE("never", "false"), "a b", "a_b");
    expect_cut(
        "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(BLANK, "Removed") "," METASPACE("first", "false") "]}",
        "a b", "_a|b");
    expect_cut(
        "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(BLANK, "Removed") "," METASPACE("always", "false") "]}",
        "a b", "_a|_b");
    expect_cut("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false}", "a b", "a|_b");
}

static void bytes_are_spelt(void **state) {
    (void)state;
    expect_cut("{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}", "a b\xc3\xa9\n",
               "\xc4\xa0"
               "a|\xc4\xa0"
               "b\xc3\x83\xc2\xa9|\xc4\x8a");
    expect_cut("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}", " a b",
               "\xc4\xa0"
               "a\xc4\xa0"
               "b");
    expect_cut("{\"type\":\"ByteLevel\",\"add_prefix_space\":false}", "\xff", "\xc3\xbf");
}

static void texts_are_normalized(void **state) {
    (void)state;
    expect_normal("null", "\xc3\xa9", "\xc3\xa9");
    expect_normal("{\"type\":\"NFC\"}",
                  "e\xcc\x81x\xff"
                  "e",
                  "\xc3\xa9x\xff"
                  "e");
    expect_normal("{\"type\":\"NFD\"}", "\xc3\xa9\xea\xb0\x80", "e\xcc\x81\xe1\x84\x80\xe1\x85\xa1");
    expect_normal("{\"type\":\"NFKC\"}", "\xef\xac\x81\xe3\x84\xb1\xe3\x85\x8f", "fi\xea\xb0\x80"); /* jamo combine */
    expect_normal("{\"type\":\"NFKD\"}", "\xc2\xbd",
                  "1\xe2\x81\x84"
                  "2");
    expect_normal("{\"type\":\"Lowercase\"}", "\xc4\xb0 \xce\xa3\xce\xa3", "i\xcc\x87 \xcf\x83\xcf\x83");
    expect_normal("{\"type\":\"StripAccents\"}", "e\xcc\x81", "e");
    expect_normal("{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", " a ", "a ");
    expect_normal("{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", " \t ", "");
    expect_normal(
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"_\"},{\"type\":\"Replace\","
        "\"pattern\":{\"String\":\" \"},\"content\":\"_\"}]}",
        " a b", "__a_b");
    expect_normal("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?<=[^_])(?![\\\\s\\\\S])\"},\"content\":\"_\"}",
                  "ab", "ab_");
    expect_normal("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"b*\"},\"content\":\"_\"}", "abc", "_a_c_");
    expect_normal("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\" \"}", "a \n\xff  b",
                  "a \xff b");
    expect_normal("{\"type\":\"Prepend\",\"prepend\":\"_\"}", "", "");
}

/* ---- whole files ---- */

static void expect_json(const char *json, const char *says) {
    Tokenizer *t;
    assert_status(tokenizer_json_parse("file", json, strlen(json), &t), STATUS_USAGE, says);
    assert_null(t);
}

static Tokenizer *tokenizer_of(const char *json) {
    Tokenizer *t;
    assert_ok(tokenizer_json_parse("file", json, strlen(json), &t));
    return t;
}

static void expect_written(const Tokenizer *t, const int *id, int n, const char *want) {
    Str got;
    str_init(&got);
    for (int i = 0; i < n; i++) tokenizer_bytes(t, id[i], i ? id[i - 1] : TOKENIZER_BEGIN, &got);
    assert_string_equal(got.s, want);
    str_done(&got);
}

#define VOCAB                                                                                                          \
    "\"vocab\":{\"a\":0,\"b\":1,\"1\":2,\"\xc4\xa0\":3,\"ab\":4,\"\xc4\xa0"                                            \
    "ab\":5,\"<end>\":6}"
#define MODEL "\"model\":{\"type\":\"BPE\"," VOCAB ",\"merges\":[\"a b\",[\"\xc4\xa0\",\"ab\"]]}"
#define BYTE_LEVEL                                                                                                     \
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":{\"type\":\"ByteLevel\"}"
#define DIGITS                                                                                                         \
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"    \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]},\"decoder\":{\"type\":\"ByteLevel\"}"

static void byte_level_files(void **state) {
    (void)state;
    Tokenizer *t = tokenizer_of(
        "{\"added_tokens\":[{\"id\":6,\"content\":\"<end>\"},{\"id\":7,\"content\":\"<e\"}]," DIGITS "," MODEL "}");
    assert_int_equal(tokenizer_size(t), 8);
    assert_int_equal(tokenizer_first(t), -1);
    expect_pieces(t, "ab<end> ab<e11",
                  "ab=ab|<end>=<end>|\xc4\xa0"
                  "ab= ab|<e=<e|1=1|1=1");
    expect_pieces(t, "zab<z", "ab=ab"); /* bytes that are no pieces vanish */
    expect_written(t, (const int[]){5, 6}, 2, " ab<end>");
    tokenizer_free(t);
}

#define ADDED(id, content, more) "{\"id\":" #id ",\"content\":\"" content "\"" more "}"

static void added_tokens_take_what_they_say(void **state) {
    (void)state;
    Tokenizer *t = tokenizer_of(
        "{\"added_tokens\":[" ADDED(7, "<l>", ",\"lstrip\":true") "," ADDED(8, "<r>", ",\"rstrip\":true") "," ADDED(
            9, "one",
            ",\"single_word\":true") "," ADDED(10, "AB",
                                               ",\"normalized\":true") "," ADDED(11, "<l><l>",
                                                                                 "") "," ADDED(12, "Ab",
                                                                                               "") "],"
                                                                                                   "\"normalizer\":{"
                                                                                                   "\"type\":"
                                                                                                   "\"Lowercase\"}"
                                                                                                   "," BYTE_LEVEL
                                                                                                   "," MODEL "}");
    expect_pieces(t, "a  <l>  a", "a=a|<l>=  <l>|\xc4\xa0= |\xc4\xa0= |a=a");
    expect_pieces(t, "a  <r>  a", "a=a|\xc4\xa0= |\xc4\xa0= |<r>=<r>  |a=a");
    expect_pieces(t, " <r> <l>a", "\xc4\xa0= |<r>=<r> |<l>=<l>|a=a");      /* each blank goes to one */
    expect_pieces(t, "one,bone onea", "one=one|b=bone|\xc4\xa0= one|a=a"); /* , o n e are no pieces */
    expect_pieces(t, "aB", "AB=aB");         /* looked for in small letters, after the text has them */
    expect_pieces(t, "AbAB", "Ab=Ab|AB=AB"); /* the plain one is cut out before */
    expect_pieces(t, "<l><l><l>", "<l><l>=<l><l>|<l>=<l>");
    tokenizer_free(t);
}

#define PIECES(settings)                                                                                               \
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<unk>\":0,\"<s>\":1,\"_\":2,\"a\":3,\"_a\":4,\"<0xC3>\":5,\"<0xA9>\":6," \
    "\"b\":7,\"ab\":8,\"</s>\":9},\"merges\":[\"_ a\",\"a b\"]," settings "}"
#define SENTENCE                                                                                                       \
    "\"added_tokens\":[" ADDED(1, "<s>", ",\"special\":true") "," ADDED(                                               \
        9, "</s>", ",\"special\":true") "],"                                                                           \
                                        "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"            \
                                        "\"Prepend\",\"prepend\":\"_\"},"                                              \
                                        "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"}]},"   \
                                        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{"            \
                                        "\"SpecialToken\":{\"id\":\"<s>\"}},"                                          \
                                        "{\"Sequence\":{\"id\":\"A\"}}],\"special_tokens\":{\"<s>\":{\"ids\":[1]}}},"  \
                                        "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","      \
                                        "\"pattern\":{\"String\":\"_\"},"                                              \
                                        "\"content\":\" "                                                              \
                                        "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\","     \
                                        "\"content\":\" \","                                                           \
                                        "\"start\":1,\"stop\":0}]},"

static void sentence_piece_files(void **state) {
    (void)state;
    Tokenizer *t =
        tokenizer_of("{" SENTENCE PIECES("\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true") "}");
    assert_int_equal(tokenizer_first(t), 1);
    assert_int_equal(tokenizer_last(t), 9);
    expect_pieces(t, "a ab", "<s>=|_a=a|_a= a|b=b");
    expect_pieces(t, "\xc3\xa9xyb", "<s>=|_=|<0xC3>=\xc3|<0xA9>=\xa9|<unk>=xy|b=b"); /* unknown neighbours are one */
    expect_pieces(t, "a</s>a", "<s>=|_a=a|</s>=</s>|_a=a");
    expect_written(t, (const int[]){1, 4, 4, 5, 6}, 5, "a a\xc3\xa9");
    expect_written(t, (const int[]){4, 4}, 2, "a a");
    tokenizer_free(t);
    t = tokenizer_of("{" SENTENCE PIECES("\"unk_token\":\"<unk>\"") "}");
    expect_pieces(t, "xy", "<s>=|_=|<unk>=x|<unk>=y");
    tokenizer_free(t);
    t = tokenizer_of("{" SENTENCE PIECES("\"unk_token\":null") "}");
    expect_pieces(t, "axb", "<s>=|_a=ax|b=b");
    tokenizer_free(t);
}

static void expect_left_out(Tokenizer *t, const char *text, int count, const char *want) {
    Str names;
    str_init(&names);
    assert_int_equal(tokenizer_left_out(t, text, strlen(text), &names), count);
    assert_string_equal(names.s, want);
    str_done(&names);
}

#define TELL_TWICE(t, text, count, want) /* a word that was cut before is told of again */                             \
    do {                                                                                                               \
        expect_left_out(t, text, count, want);                                                                         \
        expect_left_out(t, text, count, want);                                                                         \
    } while (0)

static void what_vanishes_is_counted(void **state) {
    (void)state;
    Tokenizer *t = tokenizer_of("{\"added_tokens\":[{\"id\":6,\"content\":\"<end>\"}]," DIGITS "," MODEL "}");
    TELL_TWICE(t, "ab 1ab<end>", 0, "");
    TELL_TWICE(t, "zab<z", 3, "z, <");
    TELL_TWICE(t, "ab zab zab", 2, "z");
    TELL_TWICE(t, "wxyz", 4, "w, x, y, \xe2\x80\xa6");
    TELL_TWICE(t,
               "a\xc3\xa9"
               "b",
               1, "\xc3\xa9"); /* two bytes, neither a piece: one character */
    expect_pieces(t,
                  "a\xc3\xa9"
                  "b",
                  "ab=a\xc3\xa9"
                  "b"); /* and what stands around it is merged */
    tokenizer_free(t);
    t = tokenizer_of("{" SENTENCE PIECES("\"unk_token\":null") "}");
    TELL_TWICE(t, "axb", 1, "x");
    TELL_TWICE(t, "xa", 1, "x");
    tokenizer_free(t);
    t = tokenizer_of("{" SENTENCE PIECES("\"unk_token\":\"<unk>\",\"byte_fallback\":true") "}");
    TELL_TWICE(t, "xyz", 0, ""); /* they become the unknown piece */
    tokenizer_free(t);
    t = tokenizer_of("{" SENTENCE PIECES("\"byte_fallback\":true") "}");
    TELL_TWICE(t, "\xc3\xa9\xc3\xa8", 1, "\xc3\xa8"); /* the first becomes its bytes */
    tokenizer_free(t);
    t = tokenizer_of(
        "{\"normalizer\":{\"type\":\"NFD\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"e\":0},\"merges\":[]}}");
    expect_pieces(t, "e\xc3\xa9", "e=e|e=\xc3\xa9");
    TELL_TWICE(t, "e\xc3\xa9", 1, "\xc3\xa9"); /* its accent */
    tokenizer_free(t);
}

static void words_may_be_whole(void **state) {
    (void)state;
    Tokenizer *t =
        tokenizer_of("{" BYTE_LEVEL ",\"model\":{\"type\":\"BPE\",\"ignore_merges\":true,\"vocab\":{\"a\":0,\"b\":1,"
                     "\"aba\":2,\"ab\":3},\"merges\":[\"a b\"]}}");
    expect_pieces(t, "aba", "aba=aba");
    expect_pieces(t, "abab", "ab=ab|ab=ab");
    tokenizer_free(t);
}

static void words_may_have_marks(void **state) {
    (void)state;
    Tokenizer *t = tokenizer_of(
        "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"},"
        "\"model\":{\"type\":\"BPE\",\"end_of_word_suffix\":\"</w>\",\"continuing_subword_prefix\":\"##\","
        "\"vocab\":{\"a\":0,\"##b\":1,\"##b</w>\":2,\"a</w>\":3,\"ab</w>\":4},\"merges\":[\"a ##b</w>\"]}}");
    expect_pieces(t, "ab a abb", "ab</w>=ab |a</w>=a |a=a|##b=b|##b</w>=b");
    expect_written(t, (const int[]){4, 3}, 2, "ab a ");
    tokenizer_free(t);
}

/* Whatever a file has in it, what is said of it is UTF-8. */
static void sentences_have_whole_characters(void **state) {
    (void)state;
    Str json;
    str_init(&json);
    str_add(&json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"x");
    for (int i = 0; i < 60; i++) str_add(&json, "\xc3\xa9");
    str_add(&json, "\":0},\"merges\":[]}}");
    const char *const bad[] = {json.s,
                               "{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"\\\\\xc3\xa9\"}", "Isolated") "," MODEL "}",
                               "{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"(?P\xc3\xa9)\"}", "Isolated") "," MODEL "}"};
    for (int i = 0; i < 3; i++) {
        Tokenizer *t;
        Status s = tokenizer_json_parse("file", bad[i], strlen(bad[i]), &t);
        assert_int_equal(s.code, STATUS_USAGE);
        if (!utf8_valid(s.text, strlen(s.text), NULL)) fail_msg("%s", s.text);
        assert_non_null(strstr(s.text, "\xc3\xa9"));
    }
    str_done(&json);
}

/* A text on which a pattern goes back and back is not cut by it; the next one is. */
static void a_pattern_gives_up_on_one_text(void **state) {
    (void)state;
    Tokenizer *t = tokenizer_of("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"(?:b+)+a\"}", "Isolated") "," MODEL "}");
    char hard[60];
    Pieces pieces = {0};
    memset(hard, 'b', sizeof hard);
    memcpy(hard + sizeof hard - 2, "1a", 2);
    expect_pieces(t, "abba", "a=a|b=b|b=b|a=a");
    expect_pieces(t, "aba", "a=a|b=b|a=a"); /* not ab and a: the cut stands before b */
    tokenizer_encode(t, hard, sizeof hard, &pieces);
    assert_int_equal(pieces.count, sizeof hard);
    pieces_done(&pieces);
    expect_pieces(t, "1aba", "1=1|a=a|b=b|a=a");
    tokenizer_free(t);
}

static void what_is_not_known_is_refused(void **state) {
    (void)state;
    expect_json("[]", "'file': its JSON is no object");
    expect_json("{}", "'file': it has no model");
    expect_json("{\"modle\":{}}", "'file': tokenizer.json: 'modle' is not known here");
    expect_json("{\"model\":{\"type\":\"WordPiece\"}}", "'file': model 'WordPiece' is not known here");
    expect_json("{\"model\":{\"type\":\"BPE\"}}", "'file': model.vocab is no object");
    expect_json("{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[],\"tau\":1}}",
                "'file': model: 'tau' is not known here");
    expect_json("{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"dropout\":0.1}}",
                "'file': model.dropout is not known here");
    expect_json("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"unk_token\":\"u\"}}",
                "'file': model.unk_token 'u' is no piece");
    expect_json("{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"}," MODEL "}",
                "'file': pre_tokenizer 'UnicodeScripts' is not known here");
    expect_json("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"[a[b]]\"}", "Isolated") "," MODEL "}",
                "'file': pre_tokenizer Split: '[' in a pattern is not known here");
    expect_json("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"\\\\h\"}", "Isolated") "," MODEL "}",
                "'file': pre_tokenizer Split: '\\h' in a pattern is not known here");
    expect_json("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"(*UTF)a\"}", "Isolated") "," MODEL "}",
                "'file': pre_tokenizer Split: '(*' in a pattern is not known here");
    expect_json("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"(?:a+)+$\"}", "Isolated") "," MODEL "}",
                "'file': pre_tokenizer Split: a pattern takes too long on a plain text");
    expect_json("{\"pre_tokenizer\":" SPLIT("{\"Regex\":\"(\"}", "Isolated") "," MODEL "}",
                "'file': pre_tokenizer Split: a pattern is wrong: missing closing parenthesis");
    expect_json("{\"pre_tokenizer\":" SPLIT(BLANK, "Shuffled") "," MODEL "}",
                "'file': pre_tokenizer Split: behavior 'Shuffled' is not known here");
    expect_json("{\"normalizer\":{\"type\":\"Precompiled\"}," MODEL "}",
                "'file': normalizer 'Precompiled' is not known here");
    expect_json("{\"decoder\":{\"type\":\"CTC\"}," MODEL "}", "'file': decoder 'CTC' is not known here");
    expect_json("{\"post_processor\":{\"type\":\"BertProcessing\"}," MODEL "}",
                "'file': post_processor 'BertProcessing' is not known here");
    expect_json("{\"added_tokens\":[" ADDED(6, "<end>", ",\"colour\":1") "]," MODEL "}",
                "'file': added token: 'colour' is not known here");
    expect_json("{" BYTE_LEVEL ",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a a\"]}}",
                "'file': merge 1: 'aa' is no piece of the vocabulary");
    expect_json("{" BYTE_LEVEL ",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[]}}",
                "'file': no piece has id 0, though ids go to 1");
    expect_json("{" BYTE_LEVEL ",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}}",
                "'file': merge 1: it is not two pieces");
}

/* By its name, though it begins with no brace. */
static void a_list_is_no_vocabulary(void **state) {
    (void)state;
    char path[64], want[120];
    Tokenizer *t;
    snprintf(path, sizeof path, "/tmp/lantern_test_list_%ld.json", (long)getpid());
    snprintf(want, sizeof want, "'%s': its JSON is no object", path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("[{\"model\": {}}]", f);
    fclose(f);
    assert_status(tokenizer_file_read(path, &t), STATUS_USAGE, want);
    assert_int_equal(remove(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_leave_what_they_cut_at),
        cmocka_unit_test(llama3_is_cut_by_its_pattern),
        cmocka_unit_test(kinds_of_characters_are_cut),
        cmocka_unit_test(blanks_are_marked),
        cmocka_unit_test(bytes_are_spelt),
        cmocka_unit_test(texts_are_normalized),
        cmocka_unit_test(byte_level_files),
        cmocka_unit_test(added_tokens_take_what_they_say),
        cmocka_unit_test(sentence_piece_files),
        cmocka_unit_test(what_vanishes_is_counted),
        cmocka_unit_test(words_may_be_whole),
        cmocka_unit_test(words_may_have_marks),
        cmocka_unit_test(sentences_have_whole_characters),
        cmocka_unit_test(a_pattern_gives_up_on_one_text),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(a_list_is_no_vocabulary),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
