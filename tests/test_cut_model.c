/* A model's file that is cut while it is open, in a pseudo-terminal: one sentence, and the terminal is given back. */
#include "expect.h"

#include "pty.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many parameters that the file is mapped; all 0, so that it takes no room. */
enum { D = 512, F = 2048, LAYERS = 4, VOCAB = 259, PATH_BYTES = 100 };

static char folder[] = "/tmp/lantern-cut-XXXXXX";

static void write_file(const char *name, const char *text) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Its line of the header; *at: bytes of numbers so far. */
static void add_tensor(Str *header, const char *name, long rows, long cols, long *at) {
    long end = *at + 4 * rows * (cols ? cols : 1);
    str_addf(header, "%s\"model.%s.weight\":{\"dtype\":\"F32\",\"shape\":[%ld", header->len > 1 ? "," : "", name, rows);
    if (cols) str_addf(header, ",%ld", cols);
    str_addf(header, "],\"data_offsets\":[%ld,%ld]}", *at, end);
    *at = end;
}

static void add_layer(Str *header, int layer, long *at) {
    static const struct {
        const char *name;
        long rows, cols;
    } all[] = {{"self_attn.q_proj", D, D}, {"self_attn.k_proj", D, D}, {"self_attn.v_proj", D, D},
               {"self_attn.o_proj", D, D}, {"mlp.gate_proj", F, D},    {"mlp.up_proj", F, D},
               {"mlp.down_proj", D, F},    {"input_layernorm", D, 0},  {"post_attention_layernorm", D, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[60];
        (void)snprintf(name, sizeof name, "layers.%d.%s", layer, all[i].name);
        add_tensor(header, name, all[i].rows, all[i].cols, at);
    }
}

static void write_numbers(void) {
    char path[PATH_BYTES];
    long bytes = 0;
    Str header;
    str_init(&header);
    str_add_char(&header, '{');
    add_tensor(&header, "embed_tokens", VOCAB, D, &bytes);
    add_tensor(&header, "norm", D, 0, &bytes);
    for (int l = 0; l < LAYERS; l++) add_layer(&header, l, &bytes);
    str_add_char(&header, '}');
    while (header.len % 8) str_add_char(&header, ' '); /* else the numbers are copied */
    (void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    uint64_t length = header.len;
    for (int i = 0; i < 8; i++) fputc((int)(length >> 8 * i & 255), f);
    fwrite(header.s, 1, header.len, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(truncate(path, 8 + (long)header.len + bytes), 0);
    str_done(&header);
}

static void write_model(void) {
    char config[400];
    (void)snprintf(config, sizeof config,
                   "{\"model_type\":\"llama\",\"hidden_size\":%d,\"intermediate_size\":%d,\"num_hidden_layers\":%d,"
                   "\"num_attention_heads\":8,\"vocab_size\":%d,\"max_position_embeddings\":64,"
                   "\"tie_word_embeddings\":true}",
                   D, F, LAYERS, VOCAB);
    write_file("config.json", config);
    write_file("lantern.vocab", "tokens=byte\n");
    write_numbers();
}

static int run_program(void *user) {
    (void)user;
    char model[PATH_BYTES + 10];
    (void)snprintf(model, sizeof model, "model=%s", folder);
    const char *const argv[] = {LANTERN_PROGRAM, model, "prompt=abc", NULL};
    if (write(1, "before\r\n", 8) != 8) return 99;
    execv(argv[0], (char *const *)argv);
    return 98;
}

static void the_terminal_is_given_back(void **state) {
    (void)state;
    char path[PATH_BYTES];
    write_model();
    Pty *p = pty_call(&(PtyOptions){.w = 100, .h = 30}, run_program, NULL);
    pty_expect(p, "row \xCE\xA3 1.000");
    (void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(truncate(path, 1000), 0);
    pty_type(p, "c.");
    assert_int_equal(pty_expect_exit(p), 1);
    pty_expect(p, "was cut short while it was open");
    pty_expect_given_back(p);
    pty_free(p);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char line[PATH_BYTES];
    (void)snprintf(line, sizeof line, "rm -r %s", folder);
    return system(line);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_terminal_is_given_back)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
