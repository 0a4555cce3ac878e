/* fuzz_llama2c: any bytes as a checkpoint of llama2.c. One that is accepted has finite numbers, as many as its
 * configuration says; one that is refused says why and leaves nothing behind. */
#include "fuzz.h"

#include "io/llama2c.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    Model *m;
    TensorUse use = bytes % 2 ? TENSORS_LENT : TENSORS_COPIED;
    Status s = llama2c_parse("input", mapping_of(data, bytes), use, &m);
    if (!status_is_ok(&s)) {
        if (m || s.text[0] == '\0') abort();
        return 0;
    }
    const Params *p = model_read_params(m);
    for (int i = 0; i < p->slices; i++)
        if (!isfinite(params_number(p, i, p->slice[i].rows - 1, p->slice[i].cols - 1))) abort();
    model_free(m);
    return 0;
}
