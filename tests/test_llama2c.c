/* llama2c: files written by hand come back as the model they were written from, wherever the numbers stay; what is not
 * such a file is refused with its name and its fault. */
#include "expect.h"

#include "file.h"
#include "foreign.h"
#include "io/llama2c.h"
#include "io/llama2c_write.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const TensorUse uses[] = {TENSORS_COPIED, TENSORS_LENT};

/* Every number of the two is the same. */
static void check_same(const Model *a, const Model *b) {
    const Params *p = model_read_params(a), *q = model_read_params(b);
    assert_int_equal(p->slices, q->slices);
    for (int i = 0; i < p->slices; i++) {
        int other = params_find(q, p->slice[i].name);
        assert_true(other >= 0);
        for (int r = 0; r < p->slice[i].rows; r++)
            for (int c = 0; c < p->slice[i].cols; c++)
                assert_true((float)params_number(p, i, r, c) == (float)params_number(q, other, r, c));
    }
    assert_true(params_hash(p) == params_hash(q) || REAL_IS_DOUBLE);
}

typedef void Write(Str *out, const Model *m);

static void check_read(Write *write, bool tie) {
    Model *m = foreign_llama2c_model(tie), *back;
    Str file;
    str_init(&file);
    write(&file, m);
    for (int i = 0; i < 2; i++) {
        assert_ok(llama2c_parse("f", mapping_of(file.s, file.len), uses[i], &back));
        const ModelConfig *c = model_config(back);
        assert_int_equal(c->context, 6);
        assert_int_equal(c->tie, tie);
        assert_true(c->norm_eps == 1e-5 && c->rope_base == 10000 && c->pairing == PAIRING_ADJACENT);
        check_same(m, back);
        Model *copy = model_copy(back);
        check_same(m, copy);
        assert_non_null(model_params(copy)->x);
        model_free(copy);
        model_free(back);
    }
    str_done(&file);
    model_free(m);
}

static void both_versions_are_read(void **state) {
    (void)state;
    check_read(foreign_llama2c_v0, true);
    check_read(foreign_llama2c_v0, false);
    check_read(foreign_llama2c_v1, true);
    check_read(foreign_llama2c_v1, false);
}

/* What is written is what llama2.c's own export writes: the numbers in its order, cosines and sines between. */
static void what_is_written_is_read(void **state) {
    (void)state;
    for (int tie = 0; tie < 2; tie++) {
        char path[] = "/tmp/lantern-llama2c-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        Model *m = foreign_llama2c_model(tie), *back;
        ModelConfig other = *model_config(m);
        Str file, want;
        str_init(&file);
        str_init(&want);
        assert_ok(llama2c_write_check(&other));
        assert_ok(llama2c_write(path, m));
        assert_ok(file_read(path, 0, &file));
        foreign_llama2c_v0(&want, m);
        assert_int_equal(file.len, want.len);
        size_t angles = 4 * (size_t)other.context * (size_t)other.head_dim,
               behind = tie ? 0 : 4 * (size_t)other.vocab * (size_t)other.d, at = want.len - behind - angles;
        assert_memory_equal(file.s, want.s, at);
        assert_memory_equal(file.s + at + angles, want.s + at + angles, behind);
        float second[2]; /* of the one pair of each position: cosine, sine of 1 radian */
        memcpy(&second[0], file.s + at + 4, 4);
        memcpy(&second[1], file.s + at + angles / 2 + 4, 4);
        assert_true(second[0] == (float)cos(1) && second[1] == (float)sin(1));
        assert_ok(llama2c_read(path, TENSORS_COPIED, &back));
        check_same(m, back);
        model_free(back);
        model_free(m);
        other.pairing = PAIRING_HALF;
        Status s = llama2c_write_check(&other);
        assert_non_null(strstr(s.text, "adjacent"));
        str_done(&file);
        str_done(&want);
        unlink(path);
    }
}

/* The sentence of the refusal must have PART in it. */
static void check_refused(const Str *file, size_t bytes, const char *part) {
    Model *m;
    Status s = llama2c_parse("f.bin", mapping_of(file->s, bytes), TENSORS_BY_SIZE, &m);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_null(m);
    assert_non_null(strstr(s.text, "'f.bin'"));
    if (!strstr(s.text, part)) fail_msg("'%s' is not in: %s", part, s.text);
}

/* FILE with the word at AT changed. */
static void check_changed(const Str *file, size_t at, uint32_t word, const char *part) {
    Str other;
    str_init(&other);
    str_add_n(&other, file->s, at);
    foreign_add_word(&other, word);
    str_add_n(&other, file->s + at + 4, file->len - at - 4);
    check_refused(&other, other.len, part);
    str_done(&other);
}

static void faults_are_named(void **state) {
    (void)state;
    Model *m = foreign_llama2c_model(true);
    Str v0, v1;
    str_init(&v0);
    str_init(&v1);
    foreign_llama2c_v0(&v0, m);
    foreign_llama2c_v1(&v1, m);
    check_refused(&v0, v0.len - 1, "asks for");
    check_refused(&v0, 20, "ends within its header");
    check_refused(&v1, 100, "ends within its header");
    check_changed(&v0, 0, 0, "its width of 0");
    check_changed(&v0, 0, 9, "its width of 9");
    check_changed(&v0, 4, 1000000, "asks for");
    check_changed(&v0, 12, 3, "its width of 8"); /* 8 / 3 */
    check_changed(&v0, 16, 3, "multiple of kv_heads");
    check_changed(&v0, 20, 0x80000000u, "vocab");
    check_changed(&v0, 24, 0x7fffffffu, "context");
    check_changed(&v1, 4, 2, "version 2");
    check_changed(&v1, 36, 9, "0 or 1");
    check_changed(&v1, 28, (uint32_t)-11, "vocabulary has -11");
    check_changed(&v0, 28 + 4 * 150, 0x7fc00000u, "not finite");
    check_changed(&v0, 28, 0xff800000u, "token.weight has a number that is not finite, in row 0");
    str_done(&v0);
    str_done(&v1);
    model_free(m);
}

static void sizes_come_before_room(void **state) {
    (void)state;
    Str file;
    str_init(&file);
    ModelConfig c = {
        .d = 1000000, .d_ff = 1000000, .layers = 1000, .heads = 1000, .kv_heads = 1000, .context = 1000000};
    foreign_add_header(&file, &c, 1000000); /* some 4e15 numbers */
    mem_set_limit(1 << 16);
    check_refused(&file, file.len, "asks for 28004012004000028");
    mem_set_limit(0);
    str_done(&file);
}

static void only_files_are_read(void **state) {
    (void)state;
    Model *m;
    char folder[] = "/tmp/lantern-llama2c-XXXXXX", path[100], line[300];
    assert_non_null(mkdtemp(folder));
    assert_status(llama2c_read("/tmp/", TENSORS_BY_SIZE, &m), STATUS_USAGE, "'/tmp/' is a directory, not a file");
    (void)snprintf(line, sizeof line, "mkfifo %s/fifo && : >%s/empty", folder, folder);
    assert_int_equal(system(line), 0);
    (void)snprintf(path, sizeof path, "%s/fifo", folder);
    Status s = llama2c_read(path, TENSORS_BY_SIZE, &m);
    assert_non_null(strstr(s.text, "is not a regular file"));
    (void)snprintf(path, sizeof path, "%s/empty", folder);
    s = llama2c_read(path, TENSORS_BY_SIZE, &m);
    assert_non_null(strstr(s.text, "is empty"));
    s = llama2c_read("/nowhere/at.bin", TENSORS_BY_SIZE, &m);
    assert_non_null(strstr(s.text, "cannot open '/nowhere/at.bin'"));
    (void)snprintf(line, sizeof line, "rm -r %s", folder);
    assert_int_equal(system(line), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_are_read),  cmocka_unit_test(faults_are_named),
        cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(sizes_come_before_room),
        cmocka_unit_test(only_files_are_read),     cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
