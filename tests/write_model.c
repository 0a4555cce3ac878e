/* write_model: models of real shapes with random weights, for measuring: write_model gpt2 FOLDER (124M parameters,
 * config.json and model.safetensors), write_model llama2c FILE (15M). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ULL;

/* Even over -SCALE .. SCALE. */
static float draw(float scale) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((float)(state >> 40) / (float)(1 << 23) - 1) * scale;
}

static void put(FILE *f, long n, float scale, float middle) {
    enum { CHUNK = 4096 };
    float x[CHUNK];
    for (long done = 0; done < n; done += CHUNK) {
        long part = n - done < CHUNK ? n - done : CHUNK;
        for (long i = 0; i < part; i++) x[i] = middle + draw(scale);
        fwrite(x, sizeof *x, (size_t)part, f);
    }
}

/* --- 15M: dim 288, 6 layers, 6 heads, hidden 768, vocabulary 32000, context 256 --- */

static int write_llama2c(const char *path) {
    enum { D = 288, F = 768, L = 6, H = 6, V = 32000, S = 256 };
    const int32_t header[] = {D, F, L, H, H, V, S};
    FILE *f = fopen(path, "wb");
    if (!f) return 1;
    fwrite(header, sizeof *header, 7, f);
    put(f, (long)V * D, .05f, 0);
    put(f, L * D, 0, 1);
    for (int i = 0; i < 4; i++) put(f, (long)L * D * D, .1f, 0);
    put(f, L * D, 0, 1);
    for (int i = 0; i < 3; i++) put(f, (long)L * D * F, .1f, 0);
    put(f, D, 0, 1);
    put(f, S * (D / H), 0, 0);
    return fclose(f) != 0;
}

/* --- 124M: GPT-2's smallest --- */

enum { GPT_D = 768, GPT_L = 12, GPT_V = 50257, GPT_P = 1024, HEADER = 1 << 16 };

typedef struct {
    FILE *file;
    char *header;
    long at;
    int written; /* 0: the header is being made; 1: the numbers */
} Tensors;

static void tensor(Tensors *t, const char *name, long rows, long cols, float scale, float middle) {
    long n = rows * (cols ? cols : 1);
    char shape[40];
    if (t->written) {
        put(t->file, n, scale, middle);
        return;
    }
    snprintf(shape, sizeof shape, cols ? "%ld,%ld" : "%ld", rows, cols);
    size_t used = strlen(t->header);
    snprintf(t->header + used, HEADER - used, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%ld,%ld]}",
             used > 1 ? "," : "", name, shape, t->at, t->at + 4 * n);
    t->at += 4 * n;
}

static void layer(Tensors *t, int l) {
    static const struct {
        const char *name;
        int rows, cols;
    } rows[] = {{"ln_1.weight", GPT_D, 0},
                {"ln_1.bias", GPT_D, 0},
                {"attn.c_attn.weight", GPT_D, 3 * GPT_D},
                {"attn.c_attn.bias", 3 * GPT_D, 0},
                {"attn.c_proj.weight", GPT_D, GPT_D},
                {"attn.c_proj.bias", GPT_D, 0},
                {"ln_2.weight", GPT_D, 0},
                {"ln_2.bias", GPT_D, 0},
                {"mlp.c_fc.weight", GPT_D, 4 * GPT_D},
                {"mlp.c_fc.bias", 4 * GPT_D, 0},
                {"mlp.c_proj.weight", 4 * GPT_D, GPT_D},
                {"mlp.c_proj.bias", GPT_D, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        int gain = strstr(rows[i].name, "ln_") && strstr(rows[i].name, "weight");
        snprintf(name, sizeof name, "transformer.h.%d.%s", l, rows[i].name);
        tensor(t, name, rows[i].rows, rows[i].cols, gain ? 0 : .035f, gain ? 1 : 0);
    }
}

static void all(Tensors *t) {
    tensor(t, "transformer.wte.weight", GPT_V, GPT_D, .035f, 0);
    tensor(t, "transformer.wpe.weight", GPT_P, GPT_D, .035f, 0);
    for (int l = 0; l < GPT_L; l++) layer(t, l);
    tensor(t, "transformer.ln_f.weight", GPT_D, 0, 0, 1);
    tensor(t, "transformer.ln_f.bias", GPT_D, 0, .035f, 0);
}

static FILE *in_folder(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "wb");
}

static int write_gpt2(const char *folder) {
    FILE *config = in_folder(folder, "config.json");
    Tensors t = {.file = in_folder(folder, "model.safetensors"), .header = calloc(HEADER, 1)};
    if (!config || !t.file || !t.header) return 1;
    fprintf(config,
            "{\"model_type\":\"gpt2\",\"n_layer\":%d,\"n_head\":12,\"n_embd\":%d,\"n_positions\":%d,\"vocab_size\":%d,"
            "\"activation_function\":\"gelu_new\",\"eos_token_id\":50256}\n",
            GPT_L, GPT_D, GPT_P, GPT_V);
    strcpy(t.header, "{");
    all(&t);
    strcat(t.header, "}");
    while (strlen(t.header) % 8) strcat(t.header, " ");
    uint64_t n = strlen(t.header);
    fwrite(&n, sizeof n, 1, t.file);
    fwrite(t.header, 1, (size_t)n, t.file);
    t.written = 1;
    all(&t);
    free(t.header);
    return fclose(config) != 0 || fclose(t.file) != 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "gpt2") == 0) return write_gpt2(argv[2]);
    if (argc == 3 && strcmp(argv[1], "llama2c") == 0) return write_llama2c(argv[2]);
    fprintf(stderr, "write_model gpt2 FOLDER | llama2c FILE\n");
    return 2;
}
