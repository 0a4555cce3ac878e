/* fuzz_hf_model: any bytes as a config.json, a line of zero, and a safetensors file. A model that is accepted has
 * finite numbers; one that is refused says why and leaves nothing behind. */
#include "fuzz.h"

#include "io/hf_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void look_at(Model *m) {
    const Params *p = model_read_params(m);
    for (int i = 0; i < p->slices; i++)
        if (!isfinite(params_number(p, i, p->slice[i].rows - 1, p->slice[i].cols - 1))) abort();
    model_free(m);
}

static void take(const HfConfig *config, const unsigned char *data, size_t bytes) {
    Safetensors *tensors;
    Model *m;
    Status s = safetensors_parse("input", mapping_of(data, bytes), &tensors);
    if (!status_is_ok(&s) != !tensors || (!tensors && s.text[0] == '\0')) abort();
    if (!tensors) return;
    for (int i = 0; i < safetensors_count(tensors); i++) {
        const SafeTensor *t = safetensors_at(tensors, i);
        if (safetensors_find(tensors, t->name) != t) abort();
        volatile unsigned char last = t->bytes ? t->data[t->bytes - 1] : 0;
        (void)last;
    }
    s = hf_model_take("input", config, tensors, bytes % 2 ? TENSORS_LENT : TENSORS_COPIED, &m);
    if (!status_is_ok(&s) != !m || (!m && s.text[0] == '\0')) abort();
    if (m) look_at(m);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    HfConfig config;
    const unsigned char *zero = bytes ? memchr(data, 0, bytes) : NULL;
    size_t n = zero ? (size_t)(zero - data) : bytes;
    Status s = hf_config_parse("input", (const char *)data, n, &config);
    if (!status_is_ok(&s) && s.text[0] == '\0') abort();
    if (!status_is_ok(&s)) config = (HfConfig){.model = config_gpt()}; /* the tensors may be good */
    if (zero) take(&config, zero + 1, bytes - n - 1);
    return 0;
}
