#include "io/checkpoint.h"

#include "bug.h"
#include "file.h"
#include "hash.h"
#include "intl.h"
#include "io/little.h"
#include "io/tokenizer_file.h"
#include "mem.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CHECKPOINT_VERSION = 1,
    CHECKPOINT_MOMENTS = 2, /* arrays of moments */
    MAGIC_BYTES = 8,
    HEADER_BYTES = 48,
    HASH_BYTES = 8,
    CHUNK = 512, /* numbers turned into bytes at a time */
};
static const char magic[] = "LANTERN\n";
#define FILE_LIMIT (SIZE_MAX / 2) /* what a configuration may ask for is the real limit */

#if REAL_IS_DOUBLE
typedef uint64_t Bits;
#else
typedef uint32_t Bits;
#endif
_Static_assert(sizeof(Bits) == sizeof(real), "the bits of a number");

/* --- the text: one row for each number of OptimConfig --- */

static const struct {
    const char *name;
    size_t at;
} optim_rows[] = {
    {"optim.lr", offsetof(OptimConfig, lr)},
    {"optim.lr_min", offsetof(OptimConfig, lr_min)},
    {"optim.beta1", offsetof(OptimConfig, beta1)},
    {"optim.beta2", offsetof(OptimConfig, beta2)},
    {"optim.eps", offsetof(OptimConfig, eps)},
    {"optim.weight_decay", offsetof(OptimConfig, weight_decay)},
    {"optim.momentum", offsetof(OptimConfig, momentum)},
    {"optim.clip", offsetof(OptimConfig, clip)},
};
enum { OPTIM_ROWS = (int)(sizeof optim_rows / sizeof *optim_rows) };

static const char *const kind_words[] = {"adamw", "sgd", NULL};                     /* as OptimKind */
static const char *const schedule_words[] = {"constant", "cosine", "linear", NULL}; /* as ScheduleKind */

static void text_add_config(Str *t, const ModelConfig *c) {
    char value[64];
    for (const char *const *field = config_fields(); *field; field++) {
        BUG_ON(!config_get(c, *field, value, sizeof value));
        str_addf(t, "%s=%s\n", *field, value);
    }
}

static void text_add_optim(Str *t, const Optim *o) {
    const OptimConfig *c = &o->config;
    str_addf(t, "optim.kind=%s\noptim.schedule=%s\n", kind_words[c->kind], schedule_words[c->schedule]);
    str_addf(t, "optim.warmup=%ld\noptim.updates=%ld\n", c->warmup, o->updates);
    for (int i = 0; i < OPTIM_ROWS; i++) {
        double x;
        memcpy(&x, (const char *)c + optim_rows[i].at, sizeof x);
        str_addf(t, "%s=", optim_rows[i].name);
        str_add_double(t, x);
        str_add_char(t, '\n');
    }
}

/* A name is one line of at most 63 bytes, whatever a file was called. */
static void text_add_corpus(Str *t, const char *corpus) {
    Checkpoint *none = NULL;
    str_add(t, "corpus=");
    for (size_t i = 0; corpus && corpus[i] && i + 1 < sizeof none->corpus; i++)
        str_add_char(t, iscntrl((unsigned char)corpus[i]) ? '?' : corpus[i]);
    str_add_char(t, '\n');
}

/* A text of many lines as one. */
static void text_add_lines(Str *t, const char *key, const char *lines) {
    str_addf(t, "%s=", key);
    for (; *lines; lines++) {
        if (*lines == '\n' || *lines == '\\') str_add_char(t, '\\');
        str_add_char(t, *lines == '\n' ? 'n' : *lines);
    }
    str_add_char(t, '\n');
}

/* --- writing --- */

typedef struct {
    FILE *file;
    uint64_t hash; /* of all bytes so far */
} Sink;

static void put_bytes(Sink *s, const void *p, size_t bytes) {
    s->hash = hash_bytes(s->hash, p, bytes);
    (void)fwrite(p, 1, bytes, s->file); /* file_commit finds every failure */
}

static void put_number(Sink *s, uint64_t x, size_t bytes) {
    unsigned char b[8];
    little_put(b, x, bytes);
    put_bytes(s, b, bytes);
}

static void put_reals(Sink *s, const real *x, size_t n) {
    unsigned char b[CHUNK * sizeof(real)];
    for (size_t done = 0; done < n;) {
        size_t part = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < part; i++) {
            Bits bits;
            memcpy(&bits, &x[done + i], sizeof bits);
            little_put(b + i * sizeof bits, bits, sizeof bits);
        }
        put_bytes(s, b, part * sizeof(real));
        done += part;
    }
}

/* Fails with the name of the tensor when a number is not finite. WHAT: "" or "the first moment of ". */
static Status check_finite(const Params *p, const real *x, const char *what) {
    for (int s = 0; s < p->slices; s++) {
        const Slice *slice = &p->slice[s];
        for (size_t i = 0; i < slice_count(slice); i++)
            if (!isfinite(x[slice->at + i]))
                return status_failed(_("%s%s has a number that is not finite, at %zu"), what, slice->name, i);
    }
    return status_ok();
}

static Status check_numbers(const Params *p, const Optim *o) {
    STATUS_TRY(check_finite(p, p->x, ""));
    if (!o) return status_ok();
    STATUS_TRY(check_finite(p, o->m, _("the first moment of ")));
    return check_finite(p, o->v, _("the second moment of "));
}

static void write_all(Sink *s, const Params *p, const Optim *o, const Str *text, const Str *vocab) {
    put_bytes(s, magic, MAGIC_BYTES);
    put_number(s, CHECKPOINT_VERSION, 4);
    put_number(s, sizeof(real), 4);
    put_number(s, text->len, 8);
    put_number(s, vocab->len, 8);
    put_number(s, p->count, 8);
    put_number(s, o ? CHECKPOINT_MOMENTS : 0, 8);
    put_bytes(s, text->s, text->len);
    put_bytes(s, vocab->s, vocab->len);
    put_reals(s, p->x, p->count);
    if (o) put_reals(s, o->m, o->count);
    if (o) put_reals(s, o->v, o->count);
    put_number(s, s->hash, HASH_BYTES);
}

static void text_add_run(Str *t, const CheckpointRun *r) {
    text_add_corpus(t, r->corpus);
    str_addf(t, "seed=%llu\nstep=%ld\nsteps=%ld\n", (unsigned long long)r->seed, r->step, r->steps);
    if (r->sentences) str_addf(t, "sentences=%ld\n", r->sentences);
    if (r->batch) str_addf(t, "batch=%d\n", r->batch);
    if (r->grammar) text_add_lines(t, "grammar", r->grammar);
    if (r->text) text_add_lines(t, "text", r->text);
    if (r->origin) text_add_lines(t, "origin", r->origin);
    if (r->origin_tokenizer) text_add_lines(t, "origin_tokenizer", r->origin_tokenizer);
    if (r->part) str_addf(t, "part=%d\n", r->part);
}

/* What kind of vocabulary it is, and its bytes. */
static void add_vocab(const Vocab *v, Str *text, Str *bytes) {
    if (vocab_unit(v) != VOCAB_WORD) str_addf(text, "tokens=%s\n", vocab_unit_name(vocab_unit(v)));
    if (!vocab_is_foreign(v)) {
        vocab_store(v, bytes);
        return;
    }
    if (vocab_first(v) >= 0) str_addf(text, "first=%d\n", vocab_first(v));
    if (vocab_last(v) >= 0) str_addf(text, "last=%d\n", vocab_last(v));
    str_add_n(bytes, vocab_source(v)->s, vocab_source(v)->len);
}

Status checkpoint_write_run(const char *path, const Model *m, const Vocab *v, const Optim *o,
                            const CheckpointRun *run) {
    const Params *p = model_read_params(m);
    BUG_ON((o && o->count != p->count) || (v && vocab_size(v) > model_config(m)->vocab));
    BUG_ON(run->step < 0 || run->steps < 0 || run->sentences < 0 || run->batch < 0 || run->part < 0);
    BUG_ON(v && vocab_is_foreign(v) && vocab_source(v)->len == 0);
    Status status = check_numbers(p, o);
    if (!status_is_ok(&status)) return status_failed(_("'%s' was not written: %s"), path, status.text);
    FileWriter *w;
    STATUS_TRY(file_begin(path, &w));
    Str text, vocab;
    str_init(&text);
    str_init(&vocab);
    text_add_config(&text, model_config(m));
    text_add_run(&text, run);
    if (o) text_add_optim(&text, o);
    if (v) add_vocab(v, &text, &vocab);
    Sink sink = {.file = file_stream(w), .hash = HASH_START};
    write_all(&sink, p, o, &text, &vocab);
    str_done(&text);
    str_done(&vocab);
    return file_commit(w);
}

Status checkpoint_write(const char *path, const Model *m, const Vocab *v, const Optim *o, uint64_t seed, long step,
                        long steps, const char *corpus) {
    CheckpointRun run = {.seed = seed, .step = step, .steps = steps, .corpus = corpus};
    return checkpoint_write_run(path, m, v, o, &run);
}

/* --- reading --- */

typedef struct {
    uint32_t version, real_bytes;
    uint64_t text, vocab, count, moments;
} Header;

typedef struct {
    Checkpoint *out;
    ModelConfig config;
    OptimConfig optim;
    long updates;
    VocabUnit unit;
    int first, last; /* of tokens=tokenizer; -1: none */
} Loading;

/* Takes COUNT things of SIZE bytes off *left; false when they are not there. */
static bool take(uint64_t *left, uint64_t count, uint64_t size) {
    if (count > *left / size) return false;
    *left -= count * size;
    return true;
}

/* What the header says must be there, to the byte. */
static Status check_length(const Header *h, size_t bytes) {
    uint64_t left = bytes - HEADER_BYTES, arrays = 1 + h->moments;
    if ((h->real_bytes != 4 && h->real_bytes != 8) || (h->moments != 0 && h->moments != CHECKPOINT_MOMENTS))
        return status_usage(_("it is damaged: its header makes no sense"));
    if (!take(&left, HASH_BYTES, 1) || !take(&left, h->text, 1) || !take(&left, h->vocab, 1) ||
        !take(&left, h->count, h->real_bytes * arrays))
        return status_usage(_("it is cut short: it ends after %zu bytes"), bytes);
    if (left > 0) return status_usage(_("it is damaged: it has %llu bytes too many"), (unsigned long long)left);
    return status_ok();
}

/* Foreign, newer, short or damaged: in this order, so that the first fault is the one to be told. */
static Status read_header(const unsigned char *data, size_t bytes, Header *h) {
    if (bytes == 0) return status_usage(_("it is empty"));
    if (memcmp(data, magic, bytes < MAGIC_BYTES ? bytes : MAGIC_BYTES) != 0)
        return status_usage(_("it is of another kind; a file that lm.train save=FILE wrote is wanted"));
    if (bytes < HEADER_BYTES) return status_usage(_("it is cut short: it ends after %zu bytes"), bytes);
    *h = (Header){.version = little_word(data + 8),
                  .real_bytes = little_word(data + 12),
                  .text = little_get(data + 16, 8),
                  .vocab = little_get(data + 24, 8),
                  .count = little_get(data + 32, 8),
                  .moments = little_get(data + 40, 8)};
    if (h->version > CHECKPOINT_VERSION)
        return status_usage(_("it was written by a newer lantern: its format is %u, this one reads up to %d"),
                            h->version, CHECKPOINT_VERSION);
    STATUS_TRY(check_length(h, bytes));
    if (hash_bytes(HASH_START, data, bytes - HASH_BYTES) != little_get(data + bytes - HASH_BYTES, HASH_BYTES))
        return status_usage(_("it is damaged: its checksum is wrong"));
    if (h->real_bytes != sizeof(real))
        return status_usage(_("its numbers have %u bytes; this lantern computes with %zu"), h->real_bytes,
                            sizeof(real));
    return status_ok();
}

static Status set_whole(long *to, const char *key, const char *value) {
    long long x;
    if (!str_to_long(value, &x) || x < 0 || x > LONG_MAX)
        return status_usage(_("%s must be a whole number from 0 on, not \"%s\""), key, value);
    *to = (long)x;
    return status_ok();
}

static Status set_seed(uint64_t *to, const char *value) {
    char *end;
    errno = 0;
    unsigned long long x = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno)
        return status_usage(_("%s must be a whole number from 0 on, not \"%s\""), "seed", value);
    *to = x;
    return status_ok();
}

static Status set_word(int *to, const char *key, const char *value, const char *const *words) {
    for (*to = 0; words[*to]; ++*to)
        if (strcmp(words[*to], value) == 0) return status_ok();
    return status_usage(_("%s is \"%s\", which this lantern does not know"), key, value);
}

static Status set_optim(Loading *l, const char *key, const char *value) {
    int word = 0;
    if (strcmp(key, "optim.warmup") == 0) return set_whole(&l->optim.warmup, key, value);
    if (strcmp(key, "optim.updates") == 0) return set_whole(&l->updates, key, value);
    if (strcmp(key, "optim.kind") == 0) {
        STATUS_TRY(set_word(&word, key, value, kind_words));
        l->optim.kind = (OptimKind)word;
        return status_ok();
    }
    if (strcmp(key, "optim.schedule") == 0) {
        STATUS_TRY(set_word(&word, key, value, schedule_words));
        l->optim.schedule = (ScheduleKind)word;
        return status_ok();
    }
    for (int i = 0; i < OPTIM_ROWS; i++) {
        double x;
        if (strcmp(key, optim_rows[i].name) != 0) continue;
        if (!str_to_double(value, &x) || !isfinite(x)) return status_usage(_("%s is \"%s\", not a number"), key, value);
        memcpy((char *)&l->optim + optim_rows[i].at, &x, sizeof x);
        return status_ok();
    }
    return status_usage(_("it has a field \"%s\" that this lantern does not know"), key);
}

static Status set_count(int *to, const char *key, const char *value) {
    long x = 0;
    STATUS_TRY(set_whole(&x, key, value));
    if (x > INT_MAX) return status_usage(_("%s is \"%s\"; that is too many"), key, value);
    *to = (int)x;
    return status_ok();
}

static Status set_unit(VocabUnit *to, const char *value) {
    bool foreign = strcmp(value, vocab_unit_name(VOCAB_TOKENIZER)) == 0;
    if (foreign) *to = VOCAB_TOKENIZER;
    if (foreign || vocab_unit_find(value, to)) return status_ok();
    return status_usage(_("its tokens are \"%s\", which this lantern does not know"), value);
}

/* What text_add_lines wrote. */
static Status set_lines(char **to, const char *key, const char *value) {
    Str lines;
    str_init(&lines);
    for (; *value; value++) {
        bool escaped = *value == '\\';
        if (escaped && value[1] != 'n' && value[1] != '\\') {
            str_done(&lines);
            return status_usage(_("%s has a backslash that stands for nothing"), key);
        }
        if (escaped) value++;
        str_add_char(&lines, escaped && *value == 'n' ? '\n' : *value);
    }
    mem_free(*to);
    *to = str_take(&lines);
    return status_ok();
}

static Status set_field(Loading *l, const char *key, const char *value) {
    if (strncmp(key, "optim.", 6) == 0) return set_optim(l, key, value);
    if (strcmp(key, "seed") == 0) return set_seed(&l->out->seed, value);
    if (strcmp(key, "step") == 0) return set_whole(&l->out->step, key, value);
    if (strcmp(key, "steps") == 0) return set_whole(&l->out->steps, key, value);
    if (strcmp(key, "sentences") == 0) return set_whole(&l->out->sentences, key, value);
    if (strcmp(key, "tokens") == 0) return set_unit(&l->unit, value);
    if (strcmp(key, "batch") == 0) return set_count(&l->out->batch, key, value);
    if (strcmp(key, "part") == 0) return set_count(&l->out->part, key, value);
    if (strcmp(key, "first") == 0) return set_count(&l->first, key, value);
    if (strcmp(key, "last") == 0) return set_count(&l->last, key, value);
    if (strcmp(key, "origin") == 0) return set_lines(&l->out->origin, key, value);
    if (strcmp(key, "origin_tokenizer") == 0) return set_lines(&l->out->origin_tokenizer, key, value);
    if (strcmp(key, "grammar") == 0) return set_lines(&l->out->grammar, key, value);
    if (strcmp(key, "text") == 0) return set_lines(&l->out->text, key, value);
    if (strcmp(key, "corpus") == 0) {
        if (strlen(value) >= sizeof l->out->corpus) return status_usage(_("the name of its corpus is too long"));
        memcpy(l->out->corpus, value, strlen(value) + 1);
        return status_ok();
    }
    return config_set(&l->config, key, value);
}

static Status read_text(Loading *l, const char *bytes, size_t n) {
    if (n == 0 || bytes[n - 1] != '\n' || memchr(bytes, '\0', n))
        return status_usage(_("it is damaged: its text is no list of lines"));
    char *text = mem_text_n(bytes, n);
    Status status = status_ok();
    for (char *line = text, *end; status_is_ok(&status) && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        char *equals = strchr(line, '=');
        if (equals) *equals = '\0';
        status = equals ? set_field(l, line, equals + 1) : status_usage(_("it has a line without =: \"%s\""), line);
    }
    mem_free(text);
    return status;
}

static Status read_tokenizer(Loading *l, const char *bytes, size_t n) {
    Tokenizer *t;
    STATUS_TRY(tokenizer_file_parse(bytes, n, &t));
    int size = tokenizer_size(t);
    if (size > l->config.vocab || l->first >= size || l->last >= l->config.vocab) {
        tokenizer_free(t);
        return status_usage(_("its vocabulary is not one that a model of %d tokens can have"), l->config.vocab);
    }
    Str source;
    str_init(&source);
    str_add_n(&source, bytes, n);
    l->out->vocab = vocab_new_tokenizer(t, l->first, l->last);
    vocab_set_source(l->out->vocab, &source);
    str_done(&source);
    return status_ok();
}

static Status read_vocab(Loading *l, const char *bytes, size_t n) {
    if (l->unit == VOCAB_TOKENIZER) return read_tokenizer(l, bytes, n);
    if (n == 0 && l->unit != VOCAB_BYTE) return status_ok();
    int most = l->config.vocab;
    l->out->vocab = vocab_restore(l->unit, bytes, n, most);
    if (l->out->vocab) return status_ok();
    return status_usage(_("its vocabulary is not one that a model of %d tokens can have"), most);
}

static const unsigned char *get_reals(real *x, size_t n, const unsigned char *from) {
    for (size_t i = 0; i < n; i++, from += sizeof(real)) {
        Bits bits = (Bits)little_get(from, sizeof bits);
        memcpy(&x[i], &bits, sizeof bits);
    }
    return from;
}

/* A sum of squares, and its root is taken. */
static Status check_second_moment(const Params *p, const real *v) {
    for (int s = 0; s < p->slices; s++)
        for (size_t i = 0; i < slice_count(&p->slice[s]); i++)
            if (v[p->slice[s].at + i] < 0)
                return status_usage(_("the second moment of %s is negative at %zu"), p->slice[s].name, i);
    return status_ok();
}

/* Before anything is built: is this the model that the numbers are of, and is there room for it? */
static Status check_room(const Loading *l, const Header *h) {
    STATUS_TRY(config_check(&l->config));
    if ((uint64_t)l->config.layers > h->count || model_count(&l->config) != h->count)
        return status_usage(_("it has %llu parameters, which is not what its configuration has"),
                            (unsigned long long)h->count);
    void *room = mem_try((size_t)h->count * (1 + h->moments), sizeof(real));
    mem_free(room);
    return room ? status_ok()
                : status_failed(_("there is no memory for %llu parameters"), (unsigned long long)h->count);
}

static Status read_numbers(Loading *l, const Header *h, const unsigned char *from) {
    Checkpoint *out = l->out;
    out->model = model_new(&l->config, out->seed);
    Params *p = model_params(out->model);
    from = get_reals(p->x, p->count, from);
    out->has_optim = h->moments > 0;
    if (!out->has_optim) return check_numbers(p, NULL);
    optim_init(&out->optim, &l->optim, p->count);
    out->optim.updates = l->updates;
    from = get_reals(out->optim.m, p->count, from);
    (void)get_reals(out->optim.v, p->count, from);
    STATUS_TRY(check_numbers(p, &out->optim));
    return check_second_moment(p, out->optim.v);
}

static Status read_all(const unsigned char *data, size_t bytes, Checkpoint *out) {
    Header h = {0};
    Loading l = {.out = out, .first = -1, .last = -1};
    STATUS_TRY(read_header(data, bytes, &h));
    const unsigned char *text = data + HEADER_BYTES, *vocab = text + h.text, *numbers = vocab + h.vocab;
    STATUS_TRY(read_text(&l, (const char *)text, (size_t)h.text));
    STATUS_TRY(check_room(&l, &h));
    STATUS_TRY(read_vocab(&l, (const char *)vocab, (size_t)h.vocab));
    return read_numbers(&l, &h, numbers);
}

Status checkpoint_parse(const char *name, const void *data, size_t bytes, Checkpoint *out) {
    *out = (Checkpoint){0};
    Status status = read_all(data, bytes, out);
    if (status_is_ok(&status)) return status;
    checkpoint_done(out);
    return status_usage(_("'%s' is not a checkpoint that can be read: %s"), name, status.text);
}

Status checkpoint_read(const char *path, Checkpoint *out) {
    Str data;
    str_init(&data);
    *out = (Checkpoint){0};
    Status status = file_read(path, FILE_LIMIT, &data);
    if (status_is_ok(&status)) status = checkpoint_parse(path, data.s, data.len, out);
    str_done(&data);
    return status;
}

bool checkpoint_begins(const char *path) {
    char first[MAGIC_BYTES];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false; /* a FIFO would make us wait */
    FILE *f = fopen(path, "rb");
    bool same = f && fread(first, 1, MAGIC_BYTES, f) == MAGIC_BYTES && memcmp(first, magic, MAGIC_BYTES) == 0;
    if (f) fclose(f);
    return same;
}

void checkpoint_done(Checkpoint *c) {
    model_free(c->model);
    vocab_free(c->vocab);
    mem_free(c->grammar);
    mem_free(c->text);
    mem_free(c->origin);
    mem_free(c->origin_tokenizer);
    optim_done(&c->optim);
    *c = (Checkpoint){0};
}
