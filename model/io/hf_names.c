#include "io/hf_names.h"

#include <stdio.h>
#include <string.h>

static const HfName gpt2_layer[] = {
    {"norm1.gain", "ln_1.weight", 0, 0, false},
    {"norm1.bias", "ln_1.bias", 0, 0, false},
    {"attention.query.weight", "attn.c_attn.weight", 0, 3, true},
    {"attention.key.weight", "attn.c_attn.weight", 1, 3, true},
    {"attention.value.weight", "attn.c_attn.weight", 2, 3, true},
    {"attention.query.bias", "attn.c_attn.bias", 0, 3, false},
    {"attention.key.bias", "attn.c_attn.bias", 1, 3, false},
    {"attention.value.bias", "attn.c_attn.bias", 2, 3, false},
    {"attention.out.weight", "attn.c_proj.weight", 0, 0, true},
    {"attention.out.bias", "attn.c_proj.bias", 0, 0, false},
    {"norm2.gain", "ln_2.weight", 0, 0, false},
    {"norm2.bias", "ln_2.bias", 0, 0, false},
    {"ffn.up.weight", "mlp.c_fc.weight", 0, 0, true},
    {"ffn.up.bias", "mlp.c_fc.bias", 0, 0, false},
    {"ffn.down.weight", "mlp.c_proj.weight", 0, 0, true},
    {"ffn.down.bias", "mlp.c_proj.bias", 0, 0, false},
    {0},
};
static const HfName gpt2_whole[] = {
    {"token.weight", "wte.weight", 0, 0, false},     {"position.weight", "wpe.weight", 0, 0, false},
    {"final_norm.gain", "ln_f.weight", 0, 0, false}, {"final_norm.bias", "ln_f.bias", 0, 0, false},
    {"head.weight", "lm_head.weight", 0, 0, false},  {0},
};
static const HfName llama_layer[] = {
    {"norm1.gain", "input_layernorm.weight", 0, 0, false},
    {"attention.query.weight", "self_attn.q_proj.weight", 0, 0, false},
    {"attention.key.weight", "self_attn.k_proj.weight", 0, 0, false},
    {"attention.value.weight", "self_attn.v_proj.weight", 0, 0, false},
    {"attention.out.weight", "self_attn.o_proj.weight", 0, 0, false},
    {"attention.query.bias", "self_attn.q_proj.bias", 0, 0, false},
    {"attention.key.bias", "self_attn.k_proj.bias", 0, 0, false},
    {"attention.value.bias", "self_attn.v_proj.bias", 0, 0, false},
    {"attention.out.bias", "self_attn.o_proj.bias", 0, 0, false},
    {"norm2.gain", "post_attention_layernorm.weight", 0, 0, false},
    {"ffn.gate.weight", "mlp.gate_proj.weight", 0, 0, false},
    {"ffn.up.weight", "mlp.up_proj.weight", 0, 0, false},
    {"ffn.down.weight", "mlp.down_proj.weight", 0, 0, false},
    {"ffn.gate.bias", "mlp.gate_proj.bias", 0, 0, false},
    {"ffn.up.bias", "mlp.up_proj.bias", 0, 0, false},
    {"ffn.down.bias", "mlp.down_proj.bias", 0, 0, false},
    {0},
};
static const HfName llama_whole[] = {
    {"token.weight", "embed_tokens.weight", 0, 0, false},
    {"final_norm.gain", "norm.weight", 0, 0, false},
    {"head.weight", "lm_head.weight", 0, 0, false},
    {0},
};

const HfNames hf_layouts[] = {[HF_GPT2] = {"transformer.", "h.", gpt2_layer, gpt2_whole},
                              [HF_LLAMA] = {"model.", "layers.", llama_layer, llama_whole}};

void hf_file_name(HfLayout layout, bool prefixed, const HfName *n, int layer, char out[HF_NAME_BYTES]) {
    const char *prefix = prefixed && strcmp(n->file, "lm_head.weight") != 0 ? hf_layouts[layout].prefix : "";
    if (layer < 0)
        (void)snprintf(out, HF_NAME_BYTES, "%s%s", prefix, n->file);
    else
        (void)snprintf(out, HF_NAME_BYTES, "%s%s%d.%s", prefix, hf_layouts[layout].layers, layer, n->file);
}

int hf_slice(const Params *p, const HfName *n, int layer) {
    char full[HF_NAME_BYTES];
    if (layer < 0)
        (void)snprintf(full, sizeof full, "%s", n->slice);
    else
        (void)snprintf(full, sizeof full, "block%d.%s", layer, n->slice);
    return params_find(p, full);
}

bool hf_is_interleaved(const ModelConfig *c, const HfName *n) {
    if (c->pos != POS_ROPE || c->pairing != PAIRING_ADJACENT) return false;
    return strncmp(n->slice, "attention.query.", 16) == 0 || strncmp(n->slice, "attention.key.", 14) == 0;
}
