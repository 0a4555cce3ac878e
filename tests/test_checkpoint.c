/* checkpoint: the same bits come back; every damage, every cut and every foreign file is refused in words. */
#include "expect.h"

#include "file.h"
#include "hash.h"
#include "io/checkpoint.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lantern-checkpoint-XXXXXX";
static char path[64];

static const char *const words[] = {"a", "dog", "sees", "\xe7\x94\x9f"};
enum { WORDS = 4 };

static ModelConfig small_config(void) {
    ModelConfig c = config_modern();
    c.vocab = WORDS + VOCAB_SPECIALS + 1; /* one more than the vocabulary has */
    c.d = 2;
    c.layers = 1;
    c.heads = 2;
    c.kv_heads = 1;
    c.head_dim = 2;
    c.d_ff = 3;
    return c;
}

static void fill_moments(Optim *o) {
    Rng r = rng_at(3, "moments", 0);
    for (size_t i = 0; i < o->count; i++) {
        o->m[i] = (real)rng_normal(&r);
        o->v[i] = (real)rng_unit(&r);
    }
}

/* Writes a small checkpoint with everything and gives its bytes. */
static void make(Str *bytes, bool everything) {
    ModelConfig c = small_config();
    Model *m = model_new(&c, 5);
    Vocab *v = vocab_new(words, WORDS);
    OptimConfig config = optim_defaults();
    Optim o;
    optim_init(&o, &config, model_params(m)->count);
    fill_moments(&o);
    o.updates = 7;
    assert_ok(checkpoint_write(path, m, everything ? v : NULL, everything ? &o : NULL, 5, 7, 100, "farm"));
    assert_ok(file_read(path, 0, bytes));
    optim_done(&o);
    vocab_free(v);
    model_free(m);
}

/* Makes the checksum right again. */
static void reseal(Str *bytes) {
    uint64_t h = hash_bytes(HASH_START, bytes->s, bytes->len - 8);
    for (size_t i = 0; i < 8; i++) bytes->s[bytes->len - 8 + i] = (char)(unsigned char)(h >> (8 * i));
}

static void expect_refused(const char *bytes, size_t n, const char *why) {
    Checkpoint c;
    char *copy = mem_text_n(bytes, n); /* of just these bytes: reading one more is seen by AddressSanitizer */
    Status s = checkpoint_parse("x.ckpt", copy, n, &c);
    mem_free(copy);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "x.ckpt"));
    if (why && !strstr(s.text, why)) fail_msg("'%s' does not say '%s'", s.text, why);
    assert_null(c.model);
    assert_null(c.vocab);
    checkpoint_done(&c);
}

/* --- round trips --- */

static void expect_same_config(const ModelConfig *a, const ModelConfig *b) {
    char x[64], y[64];
    for (const char *const *field = config_fields(); *field; field++) {
        assert_true(config_get(a, *field, x, sizeof x) && config_get(b, *field, y, sizeof y));
        assert_string_equal(x, y);
    }
}

static void round_trip(ModelConfig config) {
    Model *m = model_new(&config, 11);
    Vocab *v = vocab_new(words, WORDS);
    OptimConfig oc = {OPTIM_SGD, .1, 1e-300, SCHEDULE_LINEAR, 3, 0.1 + 0.2, .99, 1e-8, .01, .9, 1 / 3.};
    Optim o;
    optim_init(&o, &oc, model_params(m)->count);
    fill_moments(&o);
    o.updates = 123456;
    static const char grammar[] = "s: a\\n b\n | c \\\\n\n\n\\{: d\n";
    CheckpointRun run = {.seed = UINT64_MAX,
                         .step = 41,
                         .steps = 100,
                         .corpus = "farm",
                         .grammar = grammar,
                         .sentences = 20000,
                         .batch = 64,
                         .text = "/a\\b/c\nd.txt",
                         .origin = "/x\n.bin",
                         .origin_tokenizer = "",
                         .part = 12};
    assert_ok(checkpoint_write_run(path, m, v, &o, &run));
    Checkpoint c;
    assert_ok(checkpoint_read(path, &c));
    expect_same_config(&config, model_config(c.model));
    const Params *p = model_read_params(m), *q = model_read_params(c.model);
    assert_int_equal(p->count, q->count);
    assert_memory_equal(p->x, q->x, p->count * sizeof(real));
    assert_memory_equal(o.m, c.optim.m, p->count * sizeof(real));
    assert_memory_equal(o.v, c.optim.v, p->count * sizeof(real));
    assert_true(c.has_optim && c.optim.updates == 123456 && c.optim.count == p->count);
    assert_true(c.optim.config.kind == OPTIM_SGD && c.optim.config.schedule == SCHEDULE_LINEAR);
    assert_true(c.optim.config.warmup == 3 && c.optim.config.lr_min == 1e-300 && c.optim.config.beta1 == 0.1 + 0.2);
    assert_true(c.optim.config.lr == .1 && c.optim.config.beta2 == .99 && c.optim.config.eps == 1e-8);
    assert_true(c.optim.config.weight_decay == .01 && c.optim.config.momentum == .9 && c.optim.config.clip == 1 / 3.);
    assert_true(c.seed == UINT64_MAX && c.step == 41 && c.steps == 100);
    assert_true(c.sentences == 20000 && c.batch == 64);
    assert_string_equal(c.corpus, "farm");
    assert_string_equal(c.grammar, grammar);
    assert_string_equal(c.text, run.text);
    assert_string_equal(c.origin, run.origin);
    assert_string_equal(c.origin_tokenizer, run.origin_tokenizer);
    assert_int_equal(c.part, 12);
    assert_int_equal(vocab_size(c.vocab), vocab_size(v));
    for (int i = 0; i < vocab_size(v); i++) assert_string_equal(vocab_token(v, i), vocab_token(c.vocab, i));
    checkpoint_done(&c);
    optim_done(&o);
    vocab_free(v);
    model_free(m);
}

static void test_round_trip(void **state) {
    (void)state;
    round_trip(config_gpt());
    round_trip(config_modern());
    ModelConfig c = config_modern();
    c = small_config();
    c.head_dim = 6;
    c.norm_place = PLACE_BOTH;
    c.ffn = FFN_SQUARED_RELU;
    c.pairing = PAIRING_HALF;
    c.rope_base = 500000;
    c.rope_scaling = (RopeScaling){SCALING_LLAMA3, 32, 1, 4, 8192};
    c.window = 4;
    c.global_every = 2;
    c.bias = c.tie = c.qk_norm = c.parallel = true;
    c.softcap = 30;
    c.z_loss = 1e-4;
    c.dropout = .1;
    c.norm_eps = 1e-7;
    round_trip(c);
    c.pos = POS_LEARNED;
    c.norm = NORM_NONE;
    round_trip(c);
}

static void test_without_the_optional_parts(void **state) {
    (void)state;
    ModelConfig config = small_config();
    Model *m = model_new(&config, 1);
    Checkpoint c;
    assert_ok(checkpoint_write(path, m, NULL, NULL, 0, 0, 0, NULL));
    assert_ok(checkpoint_read(path, &c));
    assert_true(!c.has_optim && !c.vocab && c.corpus[0] == '\0' && !c.grammar && c.step == 0);
    assert_true(params_hash(model_params(m)) == params_hash(model_params(c.model)));
    checkpoint_done(&c);
    char name[200];
    memset(name, 'n', sizeof name);
    memcpy(name, "a\nvocab=3", 9);
    name[199] = '\0';
    assert_ok(checkpoint_write(path, m, NULL, NULL, 0, 0, 0, name));
    assert_ok(checkpoint_read(path, &c));
    assert_memory_equal(c.corpus, "a?vocab=3nnn", 12);
    assert_int_equal(strlen(c.corpus), 63);
    checkpoint_done(&c);
    model_free(m);
}

/* The text is there to be read by people, and a field that it lacks is off. */
static void test_text(void **state) {
    (void)state;
    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    const char *text = bytes.s + 48;
    assert_memory_equal(bytes.s, "LANTERN\n", 8);
    assert_non_null(strstr(text, "\nkv_heads=1\n"));
    assert_non_null(strstr(text, "\npairing=adjacent\n"));
    assert_non_null(strstr(text, "\ncorpus=farm\nseed=5\nstep=7\nsteps=100\n"));
    assert_non_null(strstr(text, "\noptim.beta2=0.999\n"));
    char *z_loss = strstr(bytes.s + 48, "z_loss=0\n"); /* hidden in a field that is there twice */
    memcpy(z_loss, "layers=1", 8);
    reseal(&bytes);
    Checkpoint c;
    assert_ok(checkpoint_parse("x", bytes.s, bytes.len, &c));
    assert_true(model_config(c.model)->z_loss == 0);
    checkpoint_done(&c);
    str_done(&bytes);
}

/* --- damage --- */

static void test_every_damaged_byte_is_refused(void **state) {
    (void)state;
    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    for (size_t at = 0; at < bytes.len; at++)
        for (size_t k = 0; k < sizeof changes; k++) {
            bytes.s[at] = (char)(bytes.s[at] ^ changes[k]);
            expect_refused(bytes.s, bytes.len, at < 8 ? "of another kind" : NULL);
            bytes.s[at] = (char)(bytes.s[at] ^ changes[k]);
        }
    str_done(&bytes);
}

/* The same with a checksum that fits: what is accepted must be a checkpoint that can be written again. */
static void test_damage_behind_the_checksum(void **state) {
    (void)state;
    Str bytes, good;
    str_init(&bytes);
    str_init(&good);
    make(&good, true);
    long accepted = 0;
    for (size_t at = 0; at + 8 < good.len; at++) {
        str_clear(&bytes);
        str_add_n(&bytes, good.s, good.len);
        bytes.s[at] = (char)(bytes.s[at] ^ (at % 2 ? 0x01 : 0x10));
        reseal(&bytes);
        Checkpoint c;
        Status s = checkpoint_parse("x", bytes.s, bytes.len, &c);
        if (!status_is_ok(&s)) {
            assert_null(c.model);
            continue;
        }
        if (accepted++ % 64 == 0) /* a write waits for the disk */
            assert_ok(checkpoint_write(path, c.model, c.vocab, &c.optim, c.seed, c.step, c.steps, c.corpus));
        checkpoint_done(&c);
    }
    assert_true(accepted > 0); /* another weight is a weight too */
    str_done(&bytes);
    str_done(&good);
}

static void test_every_cut_is_refused(void **state) {
    (void)state;
    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    expect_refused(bytes.s, 0, "empty");
    for (size_t n = 1; n < bytes.len; n++) expect_refused(bytes.s, n, "cut short");
    str_add_char(&bytes, 'x');
    expect_refused(bytes.s, bytes.len, "1 bytes too many");
    str_done(&bytes);
}

static void put_le(Str *bytes, size_t at, uint64_t x, size_t n) {
    for (size_t i = 0; i < n; i++) bytes->s[at + i] = (char)(unsigned char)(x >> (8 * i));
}

/* Header fields at their extremes: no size is believed before it was compared with the file. */
static void test_header(void **state) {
    (void)state;
    static const uint64_t extremes[] = {0,
                                        1,
                                        UINT32_MAX,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX - 47,
                                        UINT64_MAX / 4 + 1,
                                        UINT64_MAX / 8 + 1,
                                        UINT64_MAX / 12 + 1,
                                        UINT64_MAX / 24 + 1};
    Str bytes, good;
    str_init(&bytes);
    str_init(&good);
    make(&good, true);
    for (size_t at = 16; at <= 40; at += 8)
        for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
            str_clear(&bytes);
            str_add_n(&bytes, good.s, good.len);
            put_le(&bytes, at, extremes[k], 8);
            reseal(&bytes);
            expect_refused(bytes.s, bytes.len, NULL);
        }
    str_clear(&bytes);
    str_add_n(&bytes, good.s, good.len);
    put_le(&bytes, 8, 2, 4);
    expect_refused(bytes.s, bytes.len, "newer lantern");
    put_le(&bytes, 8, UINT32_MAX, 4);
    expect_refused(bytes.s, bytes.len, "newer lantern");
    str_done(&bytes);
    str_done(&good);
}

/* A file of the other build: as many numbers, each of the other size. */
static void test_other_number_size(void **state) {
    (void)state;
    Str bytes, other;
    str_init(&bytes);
    str_init(&other);
    make(&bytes, false);
    uint64_t text = (unsigned char)bytes.s[16] | (uint64_t)(unsigned char)bytes.s[17] << 8;
    size_t head = 48 + (size_t)text, numbers = (bytes.len - head - 8) / sizeof(real);
    str_add_n(&other, bytes.s, head);
    str_add_repeat(&other, '\0', numbers * (12 - sizeof(real)) + 8);
    put_le(&other, 12, 12 - sizeof(real), 4);
    reseal(&other);
    expect_refused(other.s, other.len, sizeof(real) == 4 ? "its numbers have 8 bytes" : "its numbers have 4 bytes");
    str_done(&bytes);
    str_done(&other);
}

/* Puts NEW (as long as OLD) in the place of OLD and seals. */
static void expect_refused_with(const char *old, const char *new, size_t n, const char *why) {
    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    size_t at = 48;
    while (at + n <= bytes.len && memcmp(bytes.s + at, old, n) != 0) at++;
    assert_true(at + n <= bytes.len);
    memcpy(bytes.s + at, new, n);
    reseal(&bytes);
    expect_refused(bytes.s, bytes.len, why);
    str_done(&bytes);
}

static void test_impossible_contents(void **state) {
    (void)state;
    expect_refused_with("\nkv_heads=1", "\nkv_heads=3", 11, "multiple of kv_heads");
    expect_refused_with("\nhead_dim=2", "\nhead_dim=3", 11, "even");
    expect_refused_with("\nhead_dim=2", "\nhead_dim=4", 11, "not what its configuration has");
    expect_refused_with("\nlayers=1", "\nlayers=9", 9, "not what its configuration has");
    expect_refused_with("\nlayers=1", "\nlasers=1", 9, "lasers");
    expect_refused_with("\nffn=swiglu", "\nffn=swiflu", 11, "swiflu");
    expect_refused_with("\nstep=7", "\nstep=-", 7, "step");
    expect_refused_with("\nseed=5", "\nseed=x", 7, "seed");
    expect_refused_with("\noptim.clip=0", "\noptim.blip=0", 13, "optim.blip");
    expect_refused_with("\noptim.kind=adamw", "\noptim.kind=adamv", 17, "adamv");
    expect_refused_with("\noptim.beta1=0.9", "\noptim.beta1=0,9", 16, "0,9");
    expect_refused_with("\noptim.beta1=0.9", "\noptim.beta1=nan", 16, "nan");
    expect_refused_with("\noptim.updates=7", "\noptim.updates=x", 16, "optim.updates");
    expect_refused_with("\ncorpus=farm", "\ncorpus\0farm", 12, "list of lines");
    expect_refused_with("\ncorpus=farm", "\ncorpus:farm", 12, "corpus:farm");
    expect_refused_with("</s>", "</t>", 5, "vocabulary");
    expect_refused_with("dog", "Dog", 4, "vocabulary");    /* not in order */
    expect_refused_with("dog", "a\0g", 4, "vocabulary");   /* one token too many, and twice the same */
    expect_refused_with("sees", "dog\0", 5, "vocabulary"); /* empty */
}

/* --- numbers --- */

static void test_not_a_number(void **state) {
    (void)state;
    ModelConfig config = small_config();
    Model *m = model_new(&config, 5);
    Params *p = model_params(m);
    int slice = params_find(p, "block0.ffn.down.weight");
    assert_true(slice >= 0);
    size_t at = p->slice[slice].at + 2;
    real kept = p->x[at];
    (void)remove(path);
    p->x[at] = (real)NAN;
    Status s = checkpoint_write(path, m, NULL, NULL, 0, 0, 0, NULL);
    assert_int_equal(s.code, STATUS_FAILED);
    assert_non_null(strstr(s.text, "block0.ffn.down.weight"));
    assert_non_null(strstr(s.text, "at 2"));
    assert_int_not_equal(access(path, F_OK), 0);
    p->x[at] = kept;
    model_free(m);

    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    size_t count = (bytes.len - 8) / sizeof(real), numbers = 0;
    for (size_t i = 0; i < 8; i++) numbers |= (size_t)(unsigned char)bytes.s[32 + i] << (8 * i);
    assert_true(count > 3 * numbers);
    char *first = bytes.s + bytes.len - 8 - 3 * numbers * sizeof(real);
    memset(first + at * sizeof(real), 0xff, sizeof(real));
    reseal(&bytes);
    expect_refused(bytes.s, bytes.len, "block0.ffn.down.weight");
    memset(first + at * sizeof(real), 0, sizeof(real));
    memset(first + (numbers + at) * sizeof(real), 0xff, sizeof(real));
    reseal(&bytes);
    expect_refused(bytes.s, bytes.len, "first moment of block0.ffn.down.weight");
    memset(first + (numbers + at) * sizeof(real), 0, sizeof(real));
    real negative = -1;
    memcpy(first + (2 * numbers + at) * sizeof(real), &negative, sizeof negative);
    reseal(&bytes);
    expect_refused(bytes.s, bytes.len, "second moment of block0.ffn.down.weight is negative");
    str_done(&bytes);
}

/* --- files --- */

static void expect_read_fails(const char *file, const char *why) {
    Checkpoint c;
    Status s = checkpoint_read(file, &c);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, file));
    if (!strstr(s.text, why)) fail_msg("'%s' does not say '%s'", s.text, why);
    assert_null(c.model);
}

static void write_bytes(const char *file, const char *bytes, size_t n) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_files_that_cannot_be_read(void **state) {
    (void)state;
    Str bytes;
    str_init(&bytes);
    make(&bytes, true);
    expect_read_fails("/nonexistent/model.ckpt", "No such file");
    expect_read_fails(folder, "directory");
    write_bytes(path, bytes.s, bytes.len / 2);
    expect_read_fails(path, "cut short");
    write_bytes(path, "", 0);
    expect_read_fails(path, "empty");
    write_bytes(path, "sentence: the dog barks\n", 24);
    expect_read_fails(path, "of another kind");
    str_done(&bytes);
}

static void expect_write_fails(const Model *m, const char *file, StatusCode code) {
    Status s = checkpoint_write(file, m, NULL, NULL, 0, 0, 0, NULL);
    assert_int_equal(s.code, code);
    assert_non_null(strstr(s.text, file));
}

static void test_files_that_cannot_be_written(void **state) {
    (void)state;
    ModelConfig config = config_gpt(); /* more than a stdio buffer, and less */
    ModelConfig few = small_config();
    Model *large = model_new(&config, 1), *small = model_new(&few, 1);
    if (access("/dev/full", W_OK) == 0) {
        expect_write_fails(large, "/dev/full", STATUS_FAILED);
        expect_write_fails(small, "/dev/full", STATUS_FAILED);
    }
    expect_write_fails(small, "/nonexistent/model.ckpt", STATUS_USAGE);
    expect_write_fails(small, folder, STATUS_USAGE);
    expect_write_fails(small, "", STATUS_USAGE);
    write_bytes(path, "old", 3);
    char below[80];
    (void)snprintf(below, sizeof below, "%s/model.ckpt", path); /* a folder that is a file */
    expect_write_fails(small, below, STATUS_USAGE);
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(chmod(folder, 0500), 0);
        expect_write_fails(small, path, STATUS_USAGE);
        assert_int_equal(chmod(folder, 0700), 0);
    }
    model_params(small)->x[0] = (real)INFINITY;
    expect_write_fails(small, path, STATUS_FAILED);
    Str bytes; /* the old file is untouched */
    str_init(&bytes);
    assert_ok(file_read(path, 0, &bytes));
    assert_string_equal(bytes.s, "old");
    str_done(&bytes);
    model_free(large);
    model_free(small);
}

/* The same model gives the same bytes: a checkpoint can be compared with cmp. */
static void test_same_bytes(void **state) {
    (void)state;
    Str a, b;
    str_init(&a);
    str_init(&b);
    make(&a, true);
    make(&b, true);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.s, b.s, a.len);
    str_done(&a);
    str_done(&b);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/model.ckpt", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    (void)remove(path);
    return rmdir(folder); /* not empty: a temporary file was left behind */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_without_the_optional_parts),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_every_damaged_byte_is_refused),
        cmocka_unit_test(test_damage_behind_the_checksum),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_other_number_size),
        cmocka_unit_test(test_impossible_contents),
        cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_files_that_cannot_be_written),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
