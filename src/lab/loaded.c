#include "loaded.h"

#include "intl.h"
#include "io/checkpoint.h"
#include "io/llama2c.h"
#include "io/tokenizer_file.h"
#include "str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool loaded_is(const char *path) {
    if (is_folder(path)) return true;
    return !checkpoint_begins(path) && (str_ends_in(path, ".bin") || str_ends_in(path, ".safetensors"));
}

static Status check_llama2c(const char *path) {
    Mapping *mapping;
    ModelConfig config;
    STATUS_TRY(mapping_open(path, &mapping));
    Status s = llama2c_config(path, mapping_data(mapping), mapping_bytes(mapping), &config);
    mapping_close(mapping);
    return s;
}

static Status check_model(const char *path) {
    if (is_folder(path)) return status_usage(_("'%s' is a folder; the Hugging Face layout is not read yet"), path);
    if (str_ends_in(path, ".safetensors"))
        return status_usage(_("'%s' is in the safetensors format, which is not read yet"), path);
    return check_llama2c(path);
}

Status loaded_check(const char *path, const char *tokenizer) {
    struct stat st;
    STATUS_TRY(check_model(path));
    if (tokenizer && stat(tokenizer, &st) != 0) return status_usage(_("tokenizer: '%s' is not there"), tokenizer);
    return status_ok();
}

/* Stories of llama2.c end where the next would begin. */
static Status read_tokenizer(const char *path, LoadedModel *out) {
    Tokenizer *t;
    int size = model_config(out->model)->vocab;
    STATUS_TRY(tokenizer_file_read(path, &t));
    if (tokenizer_size(t) > size) {
        Status s = status_usage(_("tokenizer: '%s' has %d tokens, the model only %d"), path, tokenizer_size(t), size);
        tokenizer_free(t);
        return s;
    }
    out->vocab = vocab_new_tokenizer(t, tokenizer_first(t), tokenizer_first(t));
    return status_ok();
}

Status loaded_read(const char *path, const char *tokenizer, LoadedModel *out) {
    *out = (LoadedModel){0};
    STATUS_TRY(check_model(path));
    snprintf(out->kind, sizeof out->kind, "llama2.c");
    Status s = llama2c_read(path, TENSORS_BY_SIZE, &out->model);
    if (status_is_ok(&s) && tokenizer) s = read_tokenizer(tokenizer, out);
    if (!status_is_ok(&s)) loaded_done(out);
    return s;
}

void loaded_done(LoadedModel *l) {
    model_free(l->model);
    vocab_free(l->vocab);
    *l = (LoadedModel){0};
}
