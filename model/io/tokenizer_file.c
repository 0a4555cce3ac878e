#include "tokenizer_file.h"

#include "file.h"
#include "gpt2_vocab.h"
#include "llama2c_vocab.h"
#include "str.h"
#include "tokenizer_json.h"

#include <string.h>
#include <sys/stat.h>

enum { TOKENIZER_FILE_BYTES = 64 << 20 };

static Status read_file(const char *path, Tokenizer **out) {
    Str text;
    *out = NULL;
    str_init(&text);
    Status s = file_read(path, TOKENIZER_FILE_BYTES, &text);
    bool json = str_ends_in(path, ".json") || text.s[strspn(text.s, " \t\r\n")] == '{';
    if (status_is_ok(&s)) {
        s = json ? tokenizer_json_parse(path, text.s, text.len, out)
                 : llama2c_vocab_parse(path, (const unsigned char *)text.s, text.len, out);
    }
    str_done(&text);
    return s;
}

Status tokenizer_file_read(const char *path, Tokenizer **out) {
    struct stat st;
    if (!file_is_folder(path)) return read_file(path, out);
    Str json;
    str_init(&json);
    str_addf(&json, "%s/tokenizer.json", path);
    Status s = stat(json.s, &st) == 0 ? read_file(json.s, out) : gpt2_vocab_read(path, out);
    str_done(&json);
    return s;
}
