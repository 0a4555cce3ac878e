#include "loaded.h"

#include "file.h"
#include "intl.h"
#include "io/checkpoint.h"
#include "io/hf_model.h"
#include "io/llama2c.h"
#include "io/tokenizer_file.h"
#include "mem.h"
#include "model_folder.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- a file that says where the model is: this line, its path, the tokenizer's path or nothing --- */

static const char reference_begin[] = "lantern: a model that lies elsewhere\n";
enum { REFERENCE_BYTES = 16384 };

static bool is_reference(const char *path) {
    char first[sizeof reference_begin] = "";
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    FILE *f = fopen(path, "rb");
    bool same = f && fread(first, 1, sizeof first - 1, f) == sizeof first - 1 && strcmp(first, reference_begin) == 0;
    if (f) fclose(f);
    return same;
}

static void add_path(Str *out, const char *path) {
    char *whole = path ? realpath(path, NULL) : NULL;
    str_addf(out, "%s\n", whole ? whole : path ? path : "");
    free(whole);
}

Status loaded_refer(const char *path, const char *model, const char *tokenizer) {
    FileWriter *w;
    STATUS_TRY(file_begin(path, &w));
    Str text;
    str_init(&text);
    str_add(&text, reference_begin);
    add_path(&text, model);
    add_path(&text, tokenizer);
    (void)fwrite(text.s, 1, text.len, file_stream(w)); /* file_commit finds every failure */
    str_done(&text);
    return file_commit(w);
}

/* Both owned; *tokenizer NULL: none. */
static Status read_reference(const char *path, char **model, char **tokenizer) {
    Str text;
    str_init(&text);
    *model = *tokenizer = NULL;
    Status s = file_read(path, REFERENCE_BYTES, &text);
    char *first = status_is_ok(&s) ? text.s + strlen(reference_begin) : NULL, *end = first ? strchr(first, '\n') : NULL;
    char *last = end ? strchr(end + 1, '\n') : NULL;
    if (status_is_ok(&s) && !last) s = status_usage(_("'%s' is cut short"), path);
    if (last) {
        *model = mem_text_n(first, (size_t)(end - first));
        if (last > end + 1) *tokenizer = mem_text_n(end + 1, (size_t)(last - end - 1));
        if (is_reference(*model)) s = status_usage(_("'%s' says that the model lies in a file that says so too"), path);
    }
    str_done(&text);
    return s;
}

void loaded_origin(const char *path, const char *tokenizer, char **model, char **its_tokenizer) {
    if (is_reference(path)) {
        Status s = read_reference(path, model, its_tokenizer);
        if (status_is_ok(&s)) return;
        mem_free(*model);
        mem_free(*its_tokenizer);
    }
    *model = mem_text(path);
    *its_tokenizer = mem_text(tokenizer);
}

bool loaded_is(const char *path) {
    if (file_is_folder(path) || is_reference(path)) return true;
    return !checkpoint_begins(path) && (str_ends_in(path, ".bin") || str_ends_in(path, ".safetensors"));
}

static Status config_llama2c(const char *path, ModelConfig *out) {
    Mapping *mapping;
    STATUS_TRY(mapping_open(path, &mapping));
    Status s = llama2c_config(path, mapping_data(mapping), mapping_bytes(mapping), out);
    mapping_close(mapping);
    return s;
}

static bool is_hf(const char *path) {
    return file_is_folder(path) || str_ends_in(path, ".safetensors");
}

static Status config_hf(const char *path, ModelConfig *out) {
    char *config, *weights;
    HfConfig c = {0};
    bool found = hf_model_files(path, &config, &weights);
    Status s = hf_config_read(config, &c);
    if (status_is_ok(&s) && !found)
        s = status_usage(_("'%s' has neither model.safetensors nor model.safetensors.index.json"), path);
    mem_free(config);
    mem_free(weights);
    *out = c.model;
    return s;
}

static Status check_model(const char *path) {
    ModelConfig c;
    return is_hf(path) ? config_hf(path, &c) : config_llama2c(path, &c);
}

/* What can be said of the model that a file refers to. */
static Status check_referred(const char *path) {
    char *model, *tokenizer;
    Status s = read_reference(path, &model, &tokenizer);
    if (status_is_ok(&s)) s = loaded_check(model, tokenizer);
    mem_free(model);
    mem_free(tokenizer);
    return s;
}

Status loaded_config(const char *path, ModelConfig *out) {
    if (!is_reference(path)) return is_hf(path) ? config_hf(path, out) : config_llama2c(path, out);
    char *model, *tokenizer;
    Status s = read_reference(path, &model, &tokenizer);
    if (status_is_ok(&s)) s = loaded_config(model, out);
    mem_free(model);
    mem_free(tokenizer);
    return s;
}

Status loaded_check(const char *path, const char *tokenizer) {
    struct stat st;
    if (is_reference(path)) return check_referred(path);
    STATUS_TRY(check_model(path));
    if (tokenizer && stat(tokenizer, &st) != 0) return status_usage(_("tokenizer: '%s' is not there"), tokenizer);
    return status_ok();
}

/* LAST: the id that ends a text by the model's own word, -1: none. Stories of llama2.c end where the next would
 * begin. */
static Status read_tokenizer(const char *path, int last, bool train, LoadedModel *out) {
    Tokenizer *t;
    Str source;
    int size = model_config(out->model)->vocab;
    STATUS_TRY(tokenizer_file_read(path, &t));
    str_init(&source);
    Status s = train ? tokenizer_file_gather(path, &source) : status_ok();
    if (status_is_ok(&s) && tokenizer_size(t) > size)
        s = status_usage(_("tokenizer: '%s' has %d tokens, the model only %d"), path, tokenizer_size(t), size);
    if (status_is_ok(&s)) {
        out->vocab = vocab_new_tokenizer(t, tokenizer_first(t), last >= 0 && last < size ? last : tokenizer_last(t));
        vocab_set_source(out->vocab, &source);
    } else {
        tokenizer_free(t);
    }
    str_done(&source);
    return s;
}

/* The folder of a model, its last / included; "" is here. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (file_is_folder(path)) return mem_text(path);
    return slash ? mem_text_n(path, (size_t)(slash - path) + 1) : mem_text(".");
}

/* Without a tokenizer ids are all there is, and why is kept for those who ask for more. */
static Status read_hf(const char *path, const char *tokenizer, bool train, LoadedModel *out) {
    HfConfig c;
    STATUS_TRY(hf_model_read(path, train ? TENSORS_COPIED : TENSORS_BY_SIZE, &c, &out->model));
    snprintf(out->kind, sizeof out->kind, "Hugging Face");
    if (tokenizer) return read_tokenizer(tokenizer, c.last, train, out);
    char *folder = folder_of(path);
    Status s = model_folder_read(folder, c.model.vocab, &out->vocab, &out->grammar);
    out->own = out->vocab != NULL;
    if (status_is_ok(&s) && !out->own) s = read_tokenizer(folder, c.last, train, out);
    if (!status_is_ok(&s)) snprintf(out->no_vocab, sizeof out->no_vocab, "%s", s.text);
    mem_free(folder);
    return status_ok();
}

static Status read_llama2c(const char *path, const char *tokenizer, bool train, LoadedModel *out) {
    STATUS_TRY(llama2c_read(path, train ? TENSORS_COPIED : TENSORS_BY_SIZE, &out->model));
    snprintf(out->kind, sizeof out->kind, "llama2.c");
    if (tokenizer) return read_tokenizer(tokenizer, -1, train, out);
    snprintf(out->no_vocab, sizeof out->no_vocab, "%s", _("tokenizer= was not given"));
    return status_ok();
}

static Status read_model(const char *path, const char *tokenizer, bool train, LoadedModel *out);

static Status read_referred(const char *path, bool train, LoadedModel *out) {
    char *model, *tokenizer;
    Status s = read_reference(path, &model, &tokenizer);
    if (status_is_ok(&s)) s = read_model(model, tokenizer, train, out);
    mem_free(model);
    mem_free(tokenizer);
    return s;
}

static Status read_model(const char *path, const char *tokenizer, bool train, LoadedModel *out) {
    *out = (LoadedModel){0};
    if (is_reference(path)) return read_referred(path, train, out);
    STATUS_TRY(check_model(path));
    Status s = is_hf(path) ? read_hf(path, tokenizer, train, out) : read_llama2c(path, tokenizer, train, out);
    if (!status_is_ok(&s)) loaded_done(out);
    return s;
}

Status loaded_read(const char *path, const char *tokenizer, LoadedModel *out) {
    return read_model(path, tokenizer, false, out);
}

Status loaded_read_to_train(const char *path, const char *tokenizer, LoadedModel *out) {
    return read_model(path, tokenizer, true, out);
}

void loaded_done(LoadedModel *l) {
    model_free(l->model);
    vocab_free(l->vocab);
    mem_free(l->grammar);
    *l = (LoadedModel){0};
}
