#include "model_folder.h"

#include "file.h"
#include "intl.h"
#include "io/hf_write.h"
#include "io/tokenizer_file.h"
#include "io/tokenizer_write.h"
#include "mem.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VOCAB_BYTES = 256 << 20 };
static const char vocab_begin[] = "tokens=";

bool model_folder_is(const char *path) {
    size_t n = strlen(path);
    return n > 0 && (path[n - 1] == '/' || file_is_folder(path));
}

/* PATH without what its end has of /; "" becomes ".". */
static char *without_end(const char *path) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return mem_text_n(path, n);
}

static char *in_folder(const char *path, const char *name) {
    Str file;
    char *folder = without_end(path);
    str_init(&file);
    str_addf(&file, "%s/%s", folder, name);
    mem_free(folder);
    return str_take(&file);
}

/* Where a folder would be made. */
static char *above(const char *path) {
    char *folder = without_end(path), *slash = strrchr(folder, '/');
    if (slash == folder)
        slash[1] = '\0';
    else if (slash)
        *slash = '\0';
    char *parent = slash ? mem_text(folder) : mem_text(".");
    mem_free(folder);
    return parent;
}

Status model_folder_check(const char *path, const ModelConfig *c) {
    if (c) STATUS_TRY(hf_write_check(c, NULL));
    char *place = file_is_folder(path) ? mem_text(path) : above(path);
    bool good = access(place, W_OK | X_OK) == 0;
    Status s = good ? status_ok() : status_usage(_("nothing can be written to '%s': %s"), place, strerror(errno));
    mem_free(place);
    return s;
}

static Status make(const char *path) {
    char *folder = without_end(path);
    bool good = file_is_folder(folder) || mkdir(folder, 0777) == 0;
    Status s = good ? status_ok() : status_usage(_("the folder '%s' cannot be made: %s"), folder, strerror(errno));
    mem_free(folder);
    return s;
}

static Status write_text(const char *folder, const char *name, const char *s, size_t n) {
    FileWriter *w;
    char *path = in_folder(folder, name);
    Status status = file_begin(path, &w);
    mem_free(path);
    if (!status_is_ok(&status)) return status;
    (void)fwrite(s, 1, n, file_stream(w)); /* file_commit finds every failure */
    return file_commit(w);
}

static Status write_vocab(const char *folder, const Vocab *v) {
    Str text;
    str_init(&text);
    str_addf(&text, "%s%s\n", vocab_begin, vocab_unit_name(vocab_unit(v)));
    vocab_store(v, &text);
    Status s = write_text(folder, "lantern.vocab", text.s, text.len);
    str_done(&text);
    return s;
}

/* One that is left from another model would be taken for this one's. */
static void remove_old(const char *folder, const char *name) {
    char *path = in_folder(folder, name);
    (void)unlink(path);
    mem_free(path);
}

/* A tokenizer of others, as it came. */
static Status write_foreign(const char *folder, const Vocab *v) {
    const Str *files = vocab_source(v);
    if (!files->len) return status_failed(_("the files of its tokenizer are not known"));
    remove_old(folder, "lantern.vocab");
    remove_old(folder, "tokenizer_config.json"); /* it would speak of our tokens */
    return tokenizer_file_scatter(folder, files->s, files->len);
}

/* The vocabulary for other programs, where they can be told. */
static Status write_tokenizer(const char *folder, const Vocab *v, int context, const char **unsaid) {
    Str json, config;
    str_init(&json);
    str_init(&config);
    *unsaid = tokenizer_write(v, &json);
    tokenizer_write_config(context, &config);
    Status s = status_ok();
    if (*unsaid) remove_old(folder, "tokenizer.json");
    if (*unsaid) remove_old(folder, "tokenizer_config.json");
    if (!*unsaid) s = write_text(folder, "tokenizer.json", json.s, json.len);
    if (!*unsaid && status_is_ok(&s)) s = write_text(folder, "tokenizer_config.json", config.s, config.len);
    str_done(&json);
    str_done(&config);
    return s;
}

Status model_folder_write(const char *path, const Model *m, const Corpus *corpus, const char **unsaid) {
    const Vocab *v = corpus->vocab;
    *unsaid = NULL;
    STATUS_TRY(make(path));
    char *folder = without_end(path);
    Status s = hf_write(folder, m, vocab_first(v), vocab_last(v));
    bool foreign = vocab_is_foreign(v);
    if (status_is_ok(&s) && foreign) s = write_foreign(folder, v);
    if (status_is_ok(&s) && !foreign) s = write_vocab(folder, v);
    if (status_is_ok(&s) && !foreign) s = write_tokenizer(folder, v, model_config(m)->context, unsaid);
    const char *grammar = corpus->language && corpus->grammar ? grammar_text(corpus->grammar) : NULL;
    if (!grammar) remove_old(folder, "lantern.grammar");
    if (status_is_ok(&s) && grammar) s = write_text(folder, "lantern.grammar", grammar, strlen(grammar));
    mem_free(folder);
    return s;
}

/* --- reading --- */

static Status parse_vocab(const char *path, const Str *text, int most, Vocab **v) {
    const char *end = memchr(text->s, '\n', text->len);
    size_t begin = sizeof vocab_begin - 1;
    VocabUnit unit = VOCAB_WORD;
    *v = NULL;
    if (!end || strncmp(text->s, vocab_begin, begin) != 0) return status_usage(_("'%s' is no vocabulary"), path);
    char *name = mem_text_n(text->s + begin, (size_t)(end - text->s) - begin);
    bool known = vocab_unit_find(name, &unit);
    mem_free(name);
    if (known) *v = vocab_restore(unit, end + 1, text->len - (size_t)(end + 1 - text->s), most);
    return *v ? status_ok()
              : status_usage(_("'%s' is not a vocabulary that a model of %d tokens can have"), path, most);
}

/* Adds the file when it is there. */
static Status read_if_there(const char *path, Str *out, bool *there) {
    *there = access(path, F_OK) == 0;
    return *there ? file_read(path, VOCAB_BYTES, out) : status_ok();
}

Status model_folder_read(const char *folder, int most, Vocab **v, char **grammar) {
    Str text;
    bool there;
    *v = NULL;
    *grammar = NULL;
    str_init(&text);
    char *path = in_folder(folder, "lantern.vocab");
    Status s = read_if_there(path, &text, &there);
    if (status_is_ok(&s) && there) s = parse_vocab(path, &text, most, v);
    mem_free(path);
    str_clear(&text);
    path = in_folder(folder, "lantern.grammar");
    if (status_is_ok(&s) && *v) s = read_if_there(path, &text, &there);
    if (status_is_ok(&s) && *v && there) *grammar = mem_text(text.s);
    mem_free(path);
    str_done(&text);
    return s;
}
