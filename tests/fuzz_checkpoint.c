/* fuzz_checkpoint: any bytes as a checkpoint, as they are and with a checksum that fits. What is accepted has a whole
 * model; what is refused leaves nothing behind and is told in words. */
#include "fuzz.h"

#include "hash.h"
#include "io/checkpoint.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void parse(const unsigned char *data, size_t bytes) {
    Checkpoint c;
    Status s = checkpoint_parse("input", data, bytes, &c);
    if (status_is_ok(&s)) {
        const Params *p = c.model ? model_read_params(c.model) : NULL;
        if (!p || p->count != model_count(model_config(c.model))) abort();
        for (size_t i = 0; i < p->count; i++)
            if (!isfinite(p->x[i])) abort();
    } else if (c.model || c.vocab || s.text[0] == '\0') {
        abort();
    }
    checkpoint_done(&c);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    parse(data, bytes);
    if (bytes < 8) return 0;
    unsigned char *sealed = mem_alloc(bytes);
    memcpy(sealed, data, bytes);
    uint64_t hash = hash_bytes(HASH_START, sealed, bytes - 8);
    for (size_t i = 0; i < 8; i++) sealed[bytes - 8 + i] = (unsigned char)(hash >> (8 * i));
    parse(sealed, bytes);
    mem_free(sealed);
    return 0;
}
