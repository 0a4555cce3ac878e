/* hf_model, hf_config, safetensors: models in the Hugging Face layout that were written by hand come back number by
 * number, under both prefixes, in three types, in one file and in several; whatever is not such a model is refused. */
#include "expect.h"

#include "file.h"
#include "foreign_hf.h"
#include "io/hf_model.h"
#include "io/hf_write.h"
#include "rng.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/lantern-hf-XXXXXX";

static const char llama_config[] =
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":5,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":2,\"vocab_size\":11,"
    "\"max_position_embeddings\":6,\"rms_norm_eps\":1e-5,\"rope_scaling\":null,\"hidden_act\":\"silu\","
    "\"tie_word_embeddings\":false,\"attention_bias\":true,\"mlp_bias\":true,\"eos_token_id\":[7,9]}";
static const char gpt2_config[] =
    "{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_head\":2,\"n_embd\":6,\"n_positions\":5,\"vocab_size\":7,"
    "\"n_inner\":null,\"activation_function\":\"gelu_new\",\"bos_token_id\":3,\"eos_token_id\":3}";

/* --- models with numbers that F16 and BF16 can say --- */

static void blur(Model *m) {
    Params *p = model_params(m);
    Rng r = rng_at(5, "blur", 0);
    for (size_t i = 0; i < p->count; i++) p->x[i] = (real)((int)rng_below(&r, 255) - 127) / 64;
}

static Model *model_of(const char *config) {
    HfConfig c;
    assert_ok(hf_config_parse("config", config, strlen(config), &c));
    Model *m = model_new(&c.model, 3);
    blur(m);
    return m;
}

static void llama_tensors(ForeignTensors *t, const Model *m, const char *prefix, bool brief) {
    static const char *const names[][2] = {{"norm1.gain", "input_layernorm.weight"},
                                           {"norm2.gain", "post_attention_layernorm.weight"},
                                           {"attention.query", "self_attn.q_proj"},
                                           {"attention.key", "self_attn.k_proj"},
                                           {"attention.value", "self_attn.v_proj"},
                                           {"attention.out", "self_attn.o_proj"},
                                           {"ffn.gate", "mlp.gate_proj"},
                                           {"ffn.up", "mlp.up_proj"},
                                           {"ffn.down", "mlp.down_proj"}};
    char name[60], format[100];
    for (int l = model_config(m)->layers - 1; l >= 0; l--) /* any order will do */
        for (int i = 0; i < 9; i++)
            for (int bias = 0; bias < (i < 2 ? 1 : 2); bias++) {
                const char *end = i < 2 ? "" : bias ? ".bias" : ".weight";
                (void)snprintf(name, sizeof name, "%s%s", names[i][0], end);
                (void)snprintf(format, sizeof format, "%slayers.%%d.%s%s", prefix, names[i][1], end);
                foreign_layer_tensor(t, m, l, name, format, false, brief);
            }
    foreign_tensor(t, m, "head.weight", "lm_head.weight", false, brief);
    (void)snprintf(name, sizeof name, "%snorm.weight", prefix);
    foreign_tensor(t, m, "final_norm.gain", name, false, brief);
    (void)snprintf(name, sizeof name, "%sembed_tokens.weight", prefix);
    foreign_tensor(t, m, "token.weight", name, false, brief);
}

/* Queries, keys and values side by side: row r of [in x 3 out]. */
static void add_joined(ForeignTensors *t, const Model *m, int layer, const char *prefix) {
    static const char *const parts[] = {"query", "key", "value"};
    const Params *p = model_read_params(m);
    int d = model_config(m)->d;
    char name[100];
    for (int bias = 0; bias < 2; bias++) {
        size_t begin = t->data.len;
        for (int r = 0; r < (bias ? 1 : d); r++)
            for (int i = 0; i < 3; i++) {
                (void)snprintf(name, sizeof name, "block%d.attention.%s.%s", layer, parts[i], bias ? "bias" : "weight");
                int slice = params_find(p, name);
                for (int c = 0; c < d; c++)
                    foreign_add_float(&t->data,
                                      (float)(bias ? params_number(p, slice, 0, c) : params_number(p, slice, c, r)));
            }
        (void)snprintf(name, sizeof name, "%sh.%d.attn.c_attn.%s", prefix, layer, bias ? "bias" : "weight");
        foreign_name_tensor(t, name, "F32", bias ? 3 * d : d, bias ? 0 : 3 * d, begin);
    }
}

static void gpt2_tensors(ForeignTensors *t, const Model *m, const char *prefix) {
    static const char *const names[][2] = {{"norm1.gain", "ln_1.weight"},
                                           {"norm1.bias", "ln_1.bias"},
                                           {"norm2.gain", "ln_2.weight"},
                                           {"norm2.bias", "ln_2.bias"},
                                           {"attention.out.bias", "attn.c_proj.bias"},
                                           {"ffn.up.bias", "mlp.c_fc.bias"},
                                           {"ffn.down.bias", "mlp.c_proj.bias"},
                                           {"attention.out.weight", "attn.c_proj.weight"},
                                           {"ffn.up.weight", "mlp.c_fc.weight"},
                                           {"ffn.down.weight", "mlp.c_proj.weight"}};
    static const char *const whole[][2] = {{"token.weight", "wte.weight"},
                                           {"position.weight", "wpe.weight"},
                                           {"final_norm.gain", "ln_f.weight"},
                                           {"final_norm.bias", "ln_f.bias"}};
    char format[100];
    for (int l = 0; l < model_config(m)->layers; l++) {
        for (int i = 0; i < 10; i++) {
            (void)snprintf(format, sizeof format, "%sh.%%d.%s", prefix, names[i][1]);
            foreign_layer_tensor(t, m, l, names[i][0], format, i >= 7, false);
        }
        add_joined(t, m, l, prefix);
        size_t begin = t->data.len;
        foreign_add_word(&t->data, 1);
        (void)snprintf(format, sizeof format, "%sh.%d.attn.bias", prefix, l);
        foreign_name_tensor(t, format, "U8", 2, 2, begin); /* a mask, which nobody needs */
    }
    for (int i = 0; i < 4; i++) {
        (void)snprintf(format, sizeof format, "%s%s", prefix, whole[i][1]);
        foreign_tensor(t, m, whole[i][0], format, false, false);
    }
}

/* --- reading them --- */

static Status take(const char *config, const Str *file, TensorUse use, Model **out) {
    HfConfig c;
    Safetensors *s;
    *out = NULL;
    Status status = hf_config_parse("config.json", config, strlen(config), &c);
    if (status_is_ok(&status)) status = safetensors_parse("f", mapping_of(file->s, file->len), &s);
    if (status_is_ok(&status)) status = hf_model_take("f", &c, s, use, out);
    return status;
}

static void check_same(const Model *a, const Model *b) {
    const Params *p = model_read_params(a), *q = model_read_params(b);
    assert_int_equal(p->slices, q->slices);
    for (int i = 0; i < p->slices; i++) {
        assert_string_equal(p->slice[i].name, q->slice[i].name);
        for (int r = 0; r < p->slice[i].rows; r++)
            for (int c = 0; c < p->slice[i].cols; c++)
                assert_true(params_number(p, i, r, c) == params_number(q, i, r, c));
    }
    assert_true(params_hash(p) == params_hash(q));
}

/* Both uses; PADDING of one byte puts the numbers where none can be used in place. */
static void check_read(const char *config, const Model *m, const ForeignTensors *t) {
    for (int padding = 0; padding < 2; padding++) {
        Str file;
        str_init(&file);
        foreign_tensors_file(t, padding, &file);
        for (int use = TENSORS_COPIED; use <= TENSORS_LENT; use++) {
            Model *back;
            assert_ok(take(config, &file, (TensorUse)use, &back));
            check_same(m, back);
            model_free(back);
        }
        str_done(&file);
    }
}

static void llama_is_read(void **state) {
    (void)state;
    Model *m = model_of(llama_config);
    for (int i = 0; i < 4; i++) {
        ForeignTensors t;
        foreign_tensors_init(&t);
        llama_tensors(&t, m, i % 2 ? "model." : "", i / 2);
        check_read(llama_config, m, &t);
        foreign_tensors_done(&t);
    }
    model_free(m);
}

static void gpt2_is_read(void **state) {
    (void)state;
    Model *m = model_of(gpt2_config);
    for (int i = 0; i < 2; i++) {
        ForeignTensors t;
        foreign_tensors_init(&t);
        gpt2_tensors(&t, m, i ? "transformer." : "");
        check_read(gpt2_config, m, &t);
        foreign_tensors_done(&t);
    }
    model_free(m);
}

/* 1.5, -0.25, the smallest subnormal, the largest. */
static void half_precision_is_exact(void **state) {
    (void)state;
    ModelConfig c = config_gpt();
    c.vocab = c.d = c.heads = c.kv_heads = c.head_dim = c.d_ff = 2;
    c.layers = 0;
    c.context = 1;
    c.bias = false;
    c.norm = NORM_NONE;
    c.pos = POS_NONE;
    c.tie = true;
    static const unsigned char half[] = {0x00, 0x3e, 0x00, 0xb4, 0x01, 0x80, 0xff, 0x7b};
    for (int use = TENSORS_COPIED; use <= TENSORS_LENT; use++) {
        Model *m = model_shell(&c);
        Mapping *mapping = mapping_of(half, sizeof half);
        TensorSource s = {.data = mapping_data(mapping), .kind = TENSOR_F16, .ld = 2, .name = "x"};
        assert_ok(tensors_adopt("f", m, &s, (TensorUse)use, &mapping, 1));
        const Params *p = model_read_params(m);
        assert_true(params_number(p, 0, 0, 0) == (real)1.5 && params_number(p, 0, 0, 1) == (real)-0.25);
        assert_true(params_number(p, 0, 1, 0) == (real)-0x1p-24 && params_number(p, 0, 1, 1) == (real)65504);
        model_free(m);
    }
}

static void write_file(const char *name, const char *bytes, size_t n) {
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* The same model cut in two files with an index, in a folder. */
static void parts_are_put_together(void **state) {
    (void)state;
    Model *m = model_of(gpt2_config), *back;
    static const char index[] = "{\"metadata\":{},\"weight_map\":{\"wte.weight\":\"b.safetensors\","
                                "\"h.0.ln_1.weight\":\"a.safetensors\"}}";
    ForeignTensors a, b;
    foreign_tensors_init(&a);
    foreign_tensors_init(&b);
    foreign_tensor(&b, m, "token.weight", "wte.weight", false, false);
    Str one, two;
    str_init(&one);
    str_init(&two);
    static const char *const whole[][2] = {
        {"position.weight", "wpe.weight"}, {"final_norm.gain", "ln_f.weight"}, {"final_norm.bias", "ln_f.bias"}};
    for (int i = 0; i < 3; i++) foreign_tensor(&b, m, whole[i][0], whole[i][1], false, false);
    static const char *const names[][2] = {{"norm1.gain", "h.%d.ln_1.weight"},
                                           {"norm1.bias", "h.%d.ln_1.bias"},
                                           {"norm2.gain", "h.%d.ln_2.weight"},
                                           {"norm2.bias", "h.%d.ln_2.bias"},
                                           {"attention.out.bias", "h.%d.attn.c_proj.bias"},
                                           {"ffn.up.bias", "h.%d.mlp.c_fc.bias"},
                                           {"ffn.down.bias", "h.%d.mlp.c_proj.bias"},
                                           {"attention.out.weight", "h.%d.attn.c_proj.weight"},
                                           {"ffn.up.weight", "h.%d.mlp.c_fc.weight"},
                                           {"ffn.down.weight", "h.%d.mlp.c_proj.weight"}};
    for (int l = 0; l < 2; l++) {
        for (int i = 0; i < 10; i++) foreign_layer_tensor(&a, m, l, names[i][0], names[i][1], i >= 7, false);
        add_joined(&a, m, l, "");
    }
    foreign_tensors_file(&a, 0, &one);
    foreign_tensors_file(&b, 0, &two);
    write_file("a.safetensors", one.s, one.len);
    write_file("b.safetensors", two.s, two.len);
    write_file("model.safetensors.index.json", index, sizeof index - 1);
    write_file("config.json", gpt2_config, sizeof gpt2_config - 1);
    HfConfig c;
    assert_ok(hf_model_read(folder, TENSORS_LENT, &c, &back));
    check_same(m, back);
    assert_int_equal(c.first, 3);
    model_free(back);
    static const char missing[] = "{\"weight_map\":{\"nothing\":\"b.safetensors\"}}";
    write_file("model.safetensors.index.json", missing, sizeof missing - 1);
    Status s = hf_model_read(folder, TENSORS_LENT, &c, &back);
    assert_non_null(strstr(s.text, "tensor 'nothing' is not in 'b.safetensors'"));
    static const char twice[] = "{\"weight_map\":{\"x\":\"b.safetensors\",\"y\":\"../b.safetensors\"}}";
    write_file("model.safetensors.index.json", twice, sizeof twice - 1);
    s = hf_model_read(folder, TENSORS_LENT, &c, &back);
    assert_non_null(strstr(s.text, "has no name"));
    foreign_tensors_done(&a);
    foreign_tensors_done(&b);
    str_done(&one);
    str_done(&two);
    model_free(m);
}

/* --- writing --- */

static void check_written(ModelConfig c) {
    char path[200];
    Model *m = model_new(&c, 9);
    blur(m);
    assert_ok(hf_write_check(&c, NULL));
    assert_ok(hf_write(folder, m, 1, 2));
    for (int use = TENSORS_COPIED; use <= TENSORS_LENT; use++) {
        HfConfig back;
        Model *same;
        (void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
        assert_ok(hf_model_read(path, (TensorUse)use, &back, &same));
        assert_true(back.first == 1 && back.last == 2);
        assert_true(back.model.pairing == c.pairing || c.pos != POS_ROPE);
        assert_int_equal(back.model.window, c.window);
        assert_true(rope_scaling_same(&back.model.rope_scaling, &c.rope_scaling));
        assert_true(back.model.norm_eps == c.norm_eps && back.model.ffn == c.ffn && back.model.head_dim == c.head_dim);
        check_same(m, same);
        model_free(same);
    }
    model_free(m);
}

static void what_is_written_comes_back(void **state) {
    (void)state;
    ModelConfig gpt = config_gpt(), modern = config_modern();
    gpt.vocab = modern.vocab = 9;
    check_written(gpt);
    check_written(modern);
    gpt.tie = modern.tie = true;
    gpt.ffn = FFN_GELU_TANH;
    modern.pairing = PAIRING_HALF;
    modern.window = 5;
    modern.rope_scaling = (RopeScaling){SCALING_LLAMA3, 8, 1.5, 4, 8192};
    check_written(gpt);
    check_written(modern);
    modern.window = 0;
    modern.rope_scaling = (RopeScaling){SCALING_LINEAR, 4, 0, 0, 0};
    modern.pairing = PAIRING_ADJACENT;
    modern.qkv_bias = true; /* qwen2 */
    check_written(modern);
    modern.bias = true;
    modern.ffn = FFN_GEGLU;
    modern.head_dim = 6;
    check_written(modern);
}

static void check_unsayable(const char *field, const char *value, bool gpt, const char *part) {
    ModelConfig c = gpt ? config_gpt() : config_modern();
    assert_ok(config_set(&c, field, value));
    Status s = hf_write_check(&c, NULL);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, part)) fail_msg("'%s' is not in: %s", part, s.text);
}

static void what_cannot_be_said_is_refused(void **state) {
    (void)state;
    check_unsayable("pos", "sinusoid", true, "pos is neither");
    check_unsayable("norm_place", "post", true, "norm_place");
    check_unsayable("bias", "0", true, "as gpt2): it has no biases");
    check_unsayable("window", "3", true, "window");
    check_unsayable("ffn", "squared_relu", true, "ffn");
    check_unsayable("head_dim", "8", true, "heads x head_dim");
    check_unsayable("norm", "layer", false, "as llama): norm is not rms");
    check_unsayable("ffn", "relu", false, "ffn");
    check_unsayable("parallel", "1", false, "parallel");
    check_unsayable("softcap", "30", false, "softcap");
    check_unsayable("z_loss", "0.001", false, "z_loss");
    check_unsayable("z_loss", "0.001", true, "z_loss");
    check_unsayable("dropout", "0.1", false, "dropout");
    check_unsayable("out_bias", "1", false, "out_bias");
}

/* --- refusals --- */

static void check_header(const char *header, int data, const char *part) {
    Str file;
    Safetensors *s;
    str_init(&file);
    for (int i = 0; i < 8; i++) str_add_char(&file, (char)(strlen(header) >> 8 * i));
    str_add(&file, header);
    for (int i = 0; i < data; i++) str_add_char(&file, 0);
    Status status = safetensors_parse("f", mapping_of(file.s, file.len), &s);
    assert_int_equal(status.code, STATUS_USAGE);
    assert_null(s);
    assert_non_null(strstr(status.text, "'f'"));
    if (!strstr(status.text, part)) fail_msg("'%s' is not in: %s", part, status.text);
    str_done(&file);
}

#define TENSOR(name, dtype, shape, offsets)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void headers_are_checked(void **state) {
    (void)state;
    check_header("[1]", 0, "no object");
    check_header("{", 0, "fault in line 1");
    check_header("{\"a\":3}", 0, "tensor 'a' is not described");
    check_header("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[0,4]") "}", 4, "duplicate");
    check_header("{" TENSOR("a", "Q4", "[1]", "[0,4]") "}", 4, "type 'Q4'");
    check_header("{" TENSOR("a", "F32", "[1]", "[0,8]") "}", 4, "reaches to byte 8");
    check_header("{" TENSOR("a", "F32", "[1]", "[0,8]") "}", 8, "not what its shape");
    check_header("{" TENSOR("a", "F32", "[1]", "[8,4]") "}", 8, "before it begins");
    check_header("{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4, "whole numbers");
    check_header("{" TENSOR("a", "F32", "[1.5]", "[0,4]") "}", 4, "whole numbers");
    check_header("{" TENSOR("a", "F32", "[1152921504606846976]", "[0,4]") "}", 4, "not what its shape");
    check_header("{" TENSOR("a", "F32", "[1152921504606846976,1024]", "[0,4]") "}", 4, "can be counted");
    check_header("{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, "9 dimensions");
    check_header("{" TENSOR("a", "F32", "[1]", "[0]") "}", 4, "begins and ends");
    check_header("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[1]", "[4,8]") "}", 8, "lies over 'a'");
    check_header("{" TENSOR("a", "F32", "[1]", "[4,8]") "}", 8, "belong to none");
    check_header("{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 8, "4 bytes at its end");
    Str deep;
    str_init(&deep);
    str_add(&deep, "{\"a\":");
    str_add_repeat(&deep, '[', 1000);
    str_add_repeat(&deep, ']', 1000);
    str_add(&deep, "}");
    check_header(deep.s, 0, "64 levels deep");
    str_done(&deep);
    Safetensors *s;
    Status status = safetensors_parse("f", mapping_of("\377\377\377\377\377\377\377\177{}", 10), &s);
    assert_non_null(strstr(status.text, "its header would have 9223372036854775807 bytes"));
    status = safetensors_parse("f", mapping_of("abc", 3), &s);
    assert_non_null(strstr(status.text, "it has 3 bytes"));
}

/* TEXT in place of the first FROM. */
static char *replaced(const char *s, const char *from, const char *text) {
    const char *at = strstr(s, from);
    assert_non_null(at);
    Str out;
    str_init(&out);
    str_add_n(&out, s, (size_t)(at - s));
    str_add(&out, text);
    str_add(&out, at + strlen(from));
    return str_take(&out);
}

static void check_config(const char *config, const char *from, const char *text, const char *part) {
    HfConfig c;
    char *other = replaced(config, from, text);
    Status s = hf_config_parse("c.json", other, strlen(other), &c);
    mem_free(other);
    if (!part) {
        assert_ok(s);
        return;
    }
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "'c.json'"));
    if (!strstr(s.text, part)) fail_msg("'%s' is not in: %s", part, s.text);
}

static void what_is_not_known_is_refused_by_name(void **state) {
    (void)state;
    check_config(llama_config, "\"llama\"", "\"bert\"", "'bert'");
    check_config(llama_config, "\"silu\"", "\"mish\"", "'mish'");
    check_config(llama_config, "null", "{\"type\":\"yarn\",\"factor\":2}", "rope_scaling 'yarn'");
    check_config(llama_config, "null", "{\"rope_type\":\"default\"}", NULL);
    check_config(llama_config, "\"mlp_bias\":true", "\"partial_rotary_factor\":0.5", "partial_rotary_factor");
    check_config(llama_config, "\"hidden_size\":8,", "", "hidden_size");
    check_config(llama_config, "\"hidden_size\":8", "\"hidden_size\":1e30", "hidden_size");
    check_config(llama_config, "\"num_hidden_layers\":2", "\"num_hidden_layers\":-2", "num_hidden_layers");
    check_config(llama_config, "\"num_key_value_heads\":2", "\"num_key_value_heads\":3", "multiple of kv_heads");
    check_config(llama_config, "\"mlp_bias\":true", "\"quantization_config\":{}", "quantization_config");
    check_config(llama_config, "\"mlp_bias\":true", "\"mlp_bias\":1", "mlp_bias");
    check_config(gpt2_config, "\"gelu_new\"", "\"tanh\"", "'tanh'");
    check_config(gpt2_config, "\"n_head\":2", "\"n_head\":4", "n_embd");
    check_config(gpt2_config, "null", "8,\"scale_attn_by_inverse_layer_idx\":true", "scale_attn_by_inverse_layer_idx");
    check_config(gpt2_config, "null", "8,\"scale_attn_weights\":false", "scale_attn_weights");
}

static ModelConfig read_config(const char *from, const char *text) {
    HfConfig c;
    char *other = replaced(llama_config, from, text);
    assert_ok(hf_config_parse("c", other, strlen(other), &c));
    mem_free(other);
    return c.model;
}

#define LLAMA3(factor, low, high, original)                                                                            \
    "{\"rope_type\":\"llama3\",\"factor\":" factor ",\"low_freq_factor\":" low ",\"high_freq_factor\":" high           \
    ",\"original_max_position_embeddings\":" original "}"

static void check_scaling(const char *said, const char *want) {
    HfConfig c;
    Str text;
    char *config = replaced(llama_config, "\"rope_scaling\":null", said);
    assert_ok(hf_config_parse("c.json", config, strlen(config), &c));
    str_init(&text);
    rope_scaling_text(&c.model.rope_scaling, &text);
    assert_string_equal(text.s, want);
    str_done(&text);
    mem_free(config);
}

static void scaling_is_read(void **state) {
    (void)state;
    check_scaling("\"rope_scaling\":null", "none");
    check_scaling("\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}", "linear:4");
    check_scaling("\"rope_scaling\":{\"rope_type\":\"linear\",\"type\":\"yarn\",\"factor\":2.5}", "linear:2.5");
    check_scaling("\"rope_scaling\":" LLAMA3("8.0", "1.0", "4.0", "8192"), "llama3:8:1:4:8192");
    check_scaling("\"rope_parameters\":" LLAMA3("32", "1", "4", "8192"), "llama3:32:1:4:8192");
    check_scaling("\"rope_parameters\":{\"rope_theta\":500000.0,\"rope_type\":\"default\"}", "none");
    check_scaling("\"rope_parameters\":{\"rope_theta\":5e5},\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}",
                  "linear:2");
    check_scaling("\"rope_parameters\":{\"rope_theta\":5e5}", "none");
    check_scaling(
        "\"rope_parameters\":{\"type\":\"linear\",\"factor\":2},\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}",
        "linear:2");
}

/* What the newer object leaves out stands at the top, as older files have it. */
static void the_base_is_found_where_it_is_said(void **state) {
    (void)state;
    static const struct {
        const char *said;
        double base;
    } files[] = {
        {"null", 10000},
        {"null,\"rope_theta\":5e5", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":{}", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":null", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":{\"rope_type\":\"default\"}", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":{\"rope_theta\":null}", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":{\"type\":\"linear\",\"factor\":2}", 500000},
        {"null,\"rope_theta\":5e5,\"rope_parameters\":{\"rope_theta\":500000}", 500000},
        {"null,\"rope_parameters\":{\"rope_theta\":1e6,\"rope_type\":\"default\"}", 1000000},
        {"{\"rope_theta\":1e6,\"type\":\"linear\",\"factor\":2}", 1000000},
        {"null,\"rope_parameters\":{\"rope_type\":\"default\"}", 10000},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        double base = read_config("null", files[i].said).rope_base;
        if (base < files[i].base || base > files[i].base) fail_msg("%s: %g", files[i].said, base);
    }
    check_config(llama_config, "null", "null,\"rope_theta\":5e5,\"rope_parameters\":{\"rope_theta\":1e6}",
                 "rope_theta twice: 500000 and, in rope_parameters, 1e+06");
    check_config(llama_config, "null", "null,\"rope_parameters\":[]", "rope_parameters is no object");
    check_config(llama_config, "null", "null,\"rope_parameters\":{\"factor\":2}",
                 "rope_parameters does not say rope_type");
    check_config(llama_config, "null", "null,\"rope_parameters\":{\"full_attention\":{\"rope_theta\":1e6}}",
                 "rope_parameters: 'full_attention' is not known here");
    check_config(llama_config, "null", "null,\"rope_parameters\":{\"partial_rotary_factor\":0.5}",
                 "partial_rotary_factor is 0.5");
}

static void senseless_scaling_is_refused(void **state) {
    (void)state;
    check_config(llama_config, "null", "3", "rope_scaling is no object");
    check_config(llama_config, "null", "{\"factor\":2}", "does not say rope_type");
    check_config(llama_config, "null", "{\"rope_type\":[\"linear\"]}", "does not say rope_type");
    check_config(llama_config, "null",
                 "{\"type\":\"linear\",\"factor\":4},\"rope_parameters\":{\"type\":\"linear\",\"factor\":2}",
                 "rope_parameters and rope_scaling say different things");
    check_config(llama_config, "null", "{\"type\":\"linear\"}", "does not say factor");
    check_config(llama_config, "null", "{\"type\":\"linear\",\"factor\":\"2\"}", "factor is not a number");
    check_config(llama_config, "null", "{\"type\":\"linear\",\"factor\":0}", "the factor is 0");
    check_config(llama_config, "null", "{\"type\":\"linear\",\"factor\":-1.5}", "the factor is -1.5");
    check_config(llama_config, "null", "{\"type\":\"linear\",\"factor\":NaN}", "c.json");
    check_config(llama_config, "null", LLAMA3("8", "4", "4", "8192"), "low frequency factor (4)");
    check_config(llama_config, "null", LLAMA3("8", "0", "4", "8192"), "low frequency factor (0)");
    check_config(llama_config, "null", LLAMA3("8", "1", "4", "0"), "original context is 0");
    check_config(llama_config, "null", "{\"type\":\"llama3\",\"factor\":8}", "low_freq_factor");
    for (int i = 0; i < 4; i++) {
        static const char *const other[] = {"dynamic", "longrope", "su", "proportional"};
        char text[80], part[80];
        (void)snprintf(text, sizeof text, "{\"rope_type\":\"%s\",\"factor\":2}", other[i]);
        (void)snprintf(part, sizeof part, "rope_scaling '%s'", other[i]);
        check_config(llama_config, "null", text, part);
    }
}

static void relatives_are_known(void **state) {
    (void)state;
    ModelConfig c = read_config("\"llama\"", "\"mistral\",\"sliding_window\":3");
    assert_int_equal(c.window, 3);
    assert_int_equal(read_config("\"llama\"", "\"mistral\"").window, 4096);
    assert_int_equal(read_config("\"llama\"", "\"mistral\",\"sliding_window\":null").window, 0);
    c = read_config("\"llama\"", "\"qwen2\",\"sliding_window\":3,\"use_sliding_window\":false");
    assert_true(c.qkv_bias && !c.out_bias && c.window == 0);
    c = read_config("\"attention_bias\":true", "\"attention_bias\":false");
    assert_true(!c.qkv_bias && !c.out_bias && c.ffn_bias && c.pairing == PAIRING_HALF);
    c = read_config("\"num_key_value_heads\":2,\"head_dim\":2,", "\"rope_theta\":5e5,");
    assert_true(c.kv_heads == 4 && c.head_dim == 2 && c.rope_base == 500000);
}

static void check_model(const char *config, const ForeignTensors *t, const char *part) {
    Str file;
    Model *m;
    str_init(&file);
    foreign_tensors_file(t, 0, &file);
    Status s = take(config, &file, TENSORS_BY_SIZE, &m);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_null(m);
    if (!strstr(s.text, part)) fail_msg("'%s' is not in: %s", part, s.text);
    str_done(&file);
}

/* Of a config.json that has TO in the place of FROM. */
static void check_model_with(const ForeignTensors *t, const char *from, const char *to, const char *part) {
    char *config = replaced(gpt2_config, from, to);
    check_model(config, t, part);
    mem_free(config);
}

static void tensors_must_belong(void **state) {
    (void)state;
    Model *m = model_of(gpt2_config);
    ForeignTensors t;
    foreign_tensors_init(&t);
    gpt2_tensors(&t, m, "");
    check_model_with(&t, "\"n_embd\":6", "\"n_embd\":4",
                     "tensor 'wte.weight' is 7 x 6; by config.json it should be 7 x 4");
    check_model_with(&t, "\"n_layer\":2", "\"n_layer\":3", "there is no tensor 'h.2.ln_1.weight'");
    check_model_with(&t, "\"n_layer\":2", "\"n_layer\":1", "'h.1.");
    check_model_with(&t, "\"n_layer\":2", "\"n_layer\":900", "900 layers");
    check_model_with(&t, "null", "null,\"tie_word_embeddings\":false", "there is no tensor 'lm_head.weight'");
    uint32_t nan = 0x7fc00000;
    memcpy(t.data.s + t.data.len - 4, &nan, sizeof nan);
    check_model(gpt2_config, &t, "ln_f.bias has a number that is not finite");
    foreign_tensors_done(&t);
    model_free(m);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char line[100];
    (void)snprintf(line, sizeof line, "rm -r %s", folder);
    return system(line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_is_read),
        cmocka_unit_test(gpt2_is_read),
        cmocka_unit_test(half_precision_is_exact),
        cmocka_unit_test(parts_are_put_together),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(what_is_not_known_is_refused_by_name),
        cmocka_unit_test(scaling_is_read),
        cmocka_unit_test(the_base_is_found_where_it_is_said),
        cmocka_unit_test(senseless_scaling_is_refused),
        cmocka_unit_test(relatives_are_known),
        cmocka_unit_test(tensors_must_belong),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
