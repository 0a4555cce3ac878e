#include "tokenizer_file.h"

#include "file.h"
#include "gpt2_vocab.h"
#include "intl.h"
#include "llama2c_vocab.h"
#include "tokenizer_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKENIZER_FILE_BYTES = 64 << 20, NAME_BYTES = 32, FILES_MOST = 2 };

static bool is_json(const char *name, const char *s) {
    return str_ends_in(name, ".json") || s[strspn(s, " \t\r\n")] == '{';
}

static Status parse_file(const char *name, const char *s, size_t bytes, Tokenizer **out) {
    return is_json(name, s) ? tokenizer_json_parse(name, s, bytes, out)
                            : llama2c_vocab_parse(name, (const unsigned char *)s, bytes, out);
}

static Status read_file(const char *path, Tokenizer **out) {
    Str text;
    *out = NULL;
    str_init(&text);
    Status s = file_read(path, TOKENIZER_FILE_BYTES, &text);
    if (status_is_ok(&s)) s = parse_file(path, text.s, text.len, out);
    str_done(&text);
    return s;
}

/* The one file that says it all, in PATH or PATH itself; false: it is a folder that has none. */
static bool find_whole(const char *path, Str *file) {
    static const char *const names[] = {"tokenizer.json", "tokenizer.bin"};
    struct stat st;
    if (!file_is_folder(path)) {
        str_add(file, path);
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        str_clear(file);
        str_addf(file, "%s/%s", path, names[i]);
        if (stat(file->s, &st) == 0) return true;
    }
    return false;
}

Status tokenizer_file_read(const char *path, Tokenizer **out) {
    Str file;
    str_init(&file);
    Status s = find_whole(path, &file) ? read_file(file.s, out) : gpt2_vocab_read(path, out);
    str_done(&file);
    return s;
}

/* ---- gathered ---- */

/* NAME NULL: what its first bytes say that it is. */
static Status gather_file(const char *path, const char *name, Str *out) {
    Str text;
    str_init(&text);
    Status s = file_read(path, TOKENIZER_FILE_BYTES, &text);
    if (status_is_ok(&s)) {
        str_addf(out, "%s %zu\n", name ? name : is_json(path, text.s) ? "tokenizer.json" : "tokenizer.bin", text.len);
        str_add_n(out, text.s, text.len);
    }
    str_done(&text);
    return s;
}

static Status gather_gpt2(const char *path, Str *out) {
    Str pieces, merges;
    str_init(&pieces);
    str_init(&merges);
    bool letters = gpt2_vocab_files(path, &pieces, &merges);
    Status s = gather_file(pieces.s, GPT2_PIECES, out);
    if (status_is_ok(&s) && !letters) s = gather_file(merges.s, GPT2_MERGES, out);
    str_done(&pieces);
    str_done(&merges);
    return s;
}

Status tokenizer_file_gather(const char *path, Str *out) {
    Str file;
    str_init(&file);
    Status s = find_whole(path, &file) ? gather_file(file.s, NULL, out) : gather_gpt2(path, out);
    str_done(&file);
    return s;
}

/* ---- and back ---- */

typedef struct {
    char name[NAME_BYTES];
    const char *s;
    size_t bytes;
} Part;

static bool is_known(const char *name) {
    static const char *const known[] = {"tokenizer.json", "tokenizer.bin", GPT2_PIECES, GPT2_MERGES};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0) return true;
    return false;
}

/* Takes the first file off the bytes [*s, END). */
static bool take_part(const char **s, const char *end, Part *p) {
    const char *line = memchr(*s, '\n', (size_t)(end - *s));
    char head[NAME_BYTES + 24], *blank;
    if (!line || (size_t)(line - *s) >= sizeof head) return false;
    memcpy(head, *s, (size_t)(line - *s));
    head[line - *s] = '\0';
    blank = strchr(head, ' ');
    long long bytes;
    if (!blank || blank - head >= NAME_BYTES || !str_to_long(blank + 1, &bytes)) return false;
    *blank = '\0';
    if (!is_known(head) || bytes < 0 || bytes > end - (line + 1)) return false;
    memcpy(p->name, head, strlen(head) + 1);
    p->s = line + 1;
    p->bytes = (size_t)bytes;
    *s = p->s + p->bytes;
    return true;
}

/* How many files; 0: these bytes are none. */
static int take_parts(const char *s, size_t bytes, Part part[FILES_MOST]) {
    const char *end = s + bytes;
    int n = 0;
    while (s < end)
        if (n == FILES_MOST || !take_part(&s, end, &part[n++])) return 0;
    return n;
}

/* A text as parsers take it, which ends in a zero byte. */
static Status parse_whole(const Part *p, Tokenizer **out) {
    Str text;
    str_init(&text);
    str_add_n(&text, p->s, p->bytes);
    Status s = strcmp(p->name, GPT2_PIECES) == 0 ? gpt2_vocab_letters(p->name, text.s, text.len, out)
                                                 : parse_file(p->name, text.s, text.len, out);
    str_done(&text);
    return s;
}

Status tokenizer_file_parse(const char *s, size_t bytes, Tokenizer **out) {
    Part p[FILES_MOST];
    int n = take_parts(s, bytes, p);
    *out = NULL;
    if (n == 1 && strcmp(p[0].name, GPT2_MERGES) != 0) return parse_whole(&p[0], out);
    if (n == 2 && strcmp(p[0].name, GPT2_PIECES) == 0 && strcmp(p[1].name, GPT2_MERGES) == 0)
        return gpt2_vocab_parse(p[0].name, p[0].s, p[0].bytes, p[1].name, p[1].s, p[1].bytes, out);
    return status_usage(_("these are no files of a tokenizer"));
}

static Status scatter_part(const char *folder, const Part *p) {
    Str path;
    FileWriter *w;
    str_init(&path);
    str_addf(&path, "%s/%s", folder, p->name);
    Status s = file_begin(path.s, &w);
    str_done(&path);
    if (!status_is_ok(&s)) return s;
    (void)fwrite(p->s, 1, p->bytes, file_stream(w)); /* file_commit finds every failure */
    return file_commit(w);
}

/* What would be found before any of the N parts. */
static void remove_others(const char *folder, const Part *p, int n) {
    static const char *const others[] = {"tokenizer.json", "tokenizer.bin", "encoder.json",
                                         "vocab.bpe",      GPT2_PIECES,     GPT2_MERGES};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool ours = false;
        for (int k = 0; k < n; k++) ours = ours || strcmp(p[k].name, others[i]) == 0;
        if (ours) continue;
        Str path;
        str_init(&path);
        str_addf(&path, "%s/%s", folder, others[i]);
        (void)unlink(path.s);
        str_done(&path);
    }
}

Status tokenizer_file_scatter(const char *folder, const char *s, size_t bytes) {
    Part p[FILES_MOST];
    int n = take_parts(s, bytes, p);
    if (n == 0) return status_usage(_("these are no files of a tokenizer"));
    for (int i = 0; i < n; i++) STATUS_TRY(scatter_part(folder, &p[i]));
    remove_others(folder, p, n);
    return status_ok();
}
