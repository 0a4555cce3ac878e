/* Reading a grammar: lines, rules, alternatives, chunks, pieces. The first error found from top to bottom is the one
 * told; what needs the whole grammar is checked afterwards (grammar_check). */
#include "file.h"
#include "grammar.h"
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>
#include <sys/stat.h>

/* A file being read, and those that include it. */
typedef struct Source {
    const struct Source *above; /* NULL: the file that the user named */
    const char *path;           /* NULL: a text, not a file */
    dev_t device;
    ino_t inode;
    int file; /* grammar->file */
    int depth;
} Source;

/* Reading state. The open rule is the last of the grammar, the open alternative its last. */
typedef struct {
    Grammar *g;
    const Source *source;
    int line;
    size_t total;         /* bytes of all files so far */
    bool open;            /* a rule is open: a continuation may follow */
    int opened;           /* the line where the open alternative begins: of its | or of its head */
    int chunks;           /* of the open alternative */
    bool in_chunk, plain; /* plain: the chunk is text without a backslash */
    int first_line;       /* of the alternative's first chunk */
    bool first_plain;
    bool glued; /* the next piece has no blank before it */
    Str text;   /* of the piece being read */
} Reader;

/* A piece of a line. */
typedef struct {
    const char *s;
    size_t n, i;
} Cursor;

static Status reader_error(const Reader *r, const char *what) {
    return grammar_error(r->g, r->source->file, r->line, what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '-';
}

static bool cursor_at(const Cursor *c, char what) {
    return c->i < c->n && c->s[c->i] == what;
}

static void cursor_blanks(Cursor *c) {
    while (c->i < c->n && is_blank(c->s[c->i])) c->i++;
}

/* Moves behind a word (a name when NAME); its length, 0 when there is none. */
static size_t cursor_word(Cursor *c, bool name) {
    size_t from = c->i;
    if (name && c->i < c->n && !is_letter(c->s[c->i])) return 0;
    while (c->i < c->n && is_word(c->s[c->i])) c->i++;
    return c->i - from;
}

/* ---- Calls and heads: name { "." ( word | "$" name ) } ---- */

static int reader_slot(Reader *r, const char *name, size_t bytes) {
    Rule *rule = &r->g->rule[r->g->rules - 1];
    int variable = texts_add(&r->g->texts, name, bytes);
    for (int i = 0; i < rule->slots; i++)
        if (rule->variable[i] == variable) return i;
    if (rule->slots == GRAMMAR_VARIABLES) return -1;
    rule->variable = mem_resize(rule->variable, (size_t)rule->slots + 1, sizeof *rule->variable);
    rule->variable[rule->slots] = variable;
    return rule->slots++;
}

static Status reader_variable(Reader *r, Cursor *c, int *slot) {
    const char *name = c->s + c->i;
    size_t bytes = cursor_word(c, true);
    if (bytes == 0)
        return reader_error(r, _("a $ must be followed by a name: a letter or _, then letters, digits, - or _"));
    *slot = reader_slot(r, name, bytes);
    if (*slot < 0) return reader_error(r, _("a rule may have at most 1000 variables"));
    return status_ok();
}

static void reader_add_part(Reader *r, int part) {
    Grammar *g = r->g;
    MEM_GROW(g->part, g->parts, g->part_slots);
    g->part[g->parts++] = part;
}

/* The parts behind a name, up to what is no part. */
static Status reader_parts(Reader *r, Cursor *c, int *first, int *n) {
    *first = r->g->parts;
    while (cursor_at(c, '.')) {
        c->i++;
        int part;
        if (cursor_at(c, '$')) {
            c->i++;
            STATUS_TRY(reader_variable(r, c, &part));
            part = ~part;
        } else {
            const char *word = c->s + c->i;
            size_t bytes = cursor_word(c, false);
            if (bytes == 0)
                return reader_error(r, _("a dot must be followed by a word or a variable, as in noun.pl.$a"));
            part = texts_add(&r->g->texts, word, bytes);
        }
        reader_add_part(r, part);
    }
    *n = r->g->parts - *first;
    if (*n > GRAMMAR_PARTS) return reader_error(r, _("a call may have at most 100 parts"));
    return status_ok();
}

static Status reader_call(Reader *r, const char *name, size_t bytes, Cursor *c, Piece *piece) {
    STATUS_TRY(reader_parts(r, c, &piece->part, &piece->parts));
    piece->family = grammar_family(r->g, name, bytes, piece->parts);
    return status_ok();
}

bool grammar_read_call(const char *s, Texts *texts, int *name, int parts[GRAMMAR_PARTS], int *n) {
    Cursor c = {.s = s, .n = strlen(s)};
    size_t bytes = cursor_word(&c, true);
    if (bytes == 0) return false;
    *name = texts_add(texts, s, bytes);
    *n = 0;
    while (cursor_at(&c, '.')) {
        c.i++;
        const char *word = s + c.i;
        bytes = cursor_word(&c, false);
        if (bytes == 0 || *n == GRAMMAR_PARTS) return false;
        parts[(*n)++] = texts_add(texts, word, bytes);
    }
    return c.i == c.n;
}

/* ---- Pieces ---- */

static void reader_add_piece(Reader *r, Piece piece) {
    Grammar *g = r->g;
    piece.glued = r->glued;
    piece.line = r->line;
    r->glued = true;
    MEM_GROW(g->piece, g->pieces, g->piece_slots);
    g->piece[g->pieces++] = piece;
    g->alternative[g->alternatives - 1].pieces++;
}

static void reader_end_text(Reader *r) {
    if (r->text.len == 0) return;
    reader_add_piece(r, (Piece){.kind = PIECE_TEXT, .text = texts_add(&r->g->texts, r->text.s, r->text.len)});
    str_clear(&r->text);
}

static Status reader_count(Reader *r, Cursor *c, Piece *piece) {
    piece->kind = PIECE_REPEAT;
    piece->slot = -1;
    if (cursor_at(c, '$')) {
        c->i++;
        return reader_variable(r, c, &piece->slot);
    }
    if (c->i >= c->n || !is_digit(c->s[c->i]))
        return reader_error(r, _("a * must be followed by a number or a variable, as in {call*3} and {call*$k}"));
    for (; c->i < c->n && is_digit(c->s[c->i]); c->i++)
        if (piece->count <= GRAMMAR_COUNT) piece->count = piece->count * 10 + (c->s[c->i] - '0');
    if (piece->count > GRAMMAR_COUNT) return reader_error(r, _("a text can be repeated from 0 to 1000 times"));
    return status_ok();
}

/* What stands between braces, blanks at its ends taken off. */
static Status reader_inside(Reader *r, Cursor *c, Piece *piece) {
    if (c->i == c->n) {
        piece->kind = PIECE_NOTHING;
        return status_ok();
    }
    if (cursor_at(c, '$')) {
        c->i++;
        piece->kind = PIECE_VARIABLE;
        return reader_variable(r, c, &piece->slot);
    }
    const char *name = c->s + c->i;
    size_t bytes = cursor_word(c, true);
    bool bind = bytes > 0 && cursor_at(c, '=');
    piece->kind = PIECE_CALL;
    if (bind) {
        piece->kind = PIECE_BIND;
        piece->slot = reader_slot(r, name, bytes);
        if (piece->slot < 0) return reader_error(r, _("a rule may have at most 1000 variables"));
        piece->variable = texts_find(&r->g->texts, name, bytes);
        c->i++;
        name = c->s + c->i;
        bytes = cursor_word(c, true);
    }
    if (bytes == 0)
        return reader_error(r, _("these braces cannot be read; allowed are {call}, {v=call}, {$v}, {call*3}, {}"));
    STATUS_TRY(reader_call(r, name, bytes, c, piece));
    if (!cursor_at(c, '*')) return status_ok();
    if (bind)
        return reader_error(r, _("braces cannot bind and repeat at once; let a rule of its own do the repeating"));
    c->i++;
    return reader_count(r, c, piece);
}

static Status reader_braces(Reader *r, Cursor *c) {
    const char *from = c->s + c->i + 1, *to = memchr(from, '}', c->n - c->i - 1);
    if (!to) return reader_error(r, _("a { without its }; braces close on their own line"));
    reader_end_text(r);
    c->i = (size_t)(to + 1 - c->s);
    while (from < to && is_blank(*from)) from++;
    while (from < to && is_blank(to[-1])) to--;
    Cursor inside = {.s = from, .n = (size_t)(to - from)};
    Piece piece = {.kind = PIECE_NOTHING};
    STATUS_TRY(reader_inside(r, &inside, &piece));
    if (inside.i < inside.n)
        return reader_error(r, _("these braces cannot be read; allowed are {call}, {v=call}, {$v}, {call*3}, {}"));
    reader_add_piece(r, piece);
    r->plain = false;
    return status_ok();
}

static Status reader_backslash(Reader *r, Cursor *c) {
    c->i++;
    if (c->i >= c->n || is_blank(c->s[c->i]))
        return reader_error(r, _("nothing after a backslash; it makes the visible character behind it a text"));
    uint32_t code;
    int bytes = utf8_decode(c->s + c->i, c->n - c->i, &code);
    str_add_n(&r->text, c->s + c->i, (size_t)bytes);
    c->i += (size_t)bytes;
    r->plain = false;
    return status_ok();
}

/* ---- Alternatives ---- */

/* weight = digits [ "." digits ] | "." digits */
static bool is_weight(const char *s) {
    const char *from = s;
    while (is_digit(*s)) s++;
    bool whole = s > from;
    if (*s == '.') {
        from = ++s;
        while (is_digit(*s)) s++;
        if (s == from) return false;
    } else if (!whole) {
        return false;
    }
    return *s == '\0';
}

/* A second chunk follows: the first is a weight if it looks like one. */
static Status reader_weight(Reader *r) {
    Grammar *g = r->g;
    Alternative *a = &g->alternative[g->alternatives - 1];
    const char *text = texts_bytes(&g->texts, g->piece[g->pieces - 1].text);
    if (text[0] == '-' && is_weight(text + 1))
        return grammar_error(g, r->source->file, r->first_line, _("a weight cannot be negative; write \\- for a text"));
    if (!is_weight(text)) return status_ok();
    if (!str_to_double(text, &a->weight) || a->weight > GRAMMAR_WEIGHT)
        return grammar_error(g, r->source->file, r->first_line, _("a weight can be 1000000000 at most"));
    g->pieces--;
    a->pieces--;
    return status_ok();
}

static Status reader_begin_chunk(Reader *r) {
    if (r->chunks == 1 && r->first_plain) STATUS_TRY(reader_weight(r));
    if (r->chunks == 0) r->first_line = r->line;
    r->chunks++;
    r->in_chunk = true;
    r->plain = true;
    r->glued = false;
    return status_ok();
}

static void reader_end_chunk(Reader *r) {
    if (!r->in_chunk) return;
    reader_end_text(r);
    r->in_chunk = false;
    if (r->chunks == 1) r->first_plain = r->plain;
}

static void reader_begin_alternative(Reader *r) {
    Grammar *g = r->g;
    MEM_GROW(g->alternative, g->alternatives, g->alternative_slots);
    g->alternative[g->alternatives++] = (Alternative){.weight = 1, .piece = g->pieces};
    g->rule[g->rules - 1].alternatives++;
    r->opened = r->line;
    r->chunks = 0;
    r->in_chunk = false;
}

static Status reader_end_alternative(Reader *r, int line) {
    Grammar *g = r->g;
    if (r->chunks == 0)
        return grammar_error(g, r->source->file, line, _("an alternative is empty; {} stands for nothing"));
    Rule *rule = &g->rule[g->rules - 1];
    Alternative *a = &g->alternative[g->alternatives - 1];
    rule->total += a->weight;
    a->up_to = rule->total;
    return status_ok();
}

static Status reader_end_rule(Reader *r) {
    if (!r->open) return status_ok();
    r->open = false;
    return reader_end_alternative(r, r->opened);
}

static Status reader_character(Reader *r, Cursor *c) {
    if (!r->in_chunk) STATUS_TRY(reader_begin_chunk(r));
    switch (c->s[c->i]) {
    case '{':
        return reader_braces(r, c);
    case '}':
        return reader_error(r, _("a } without its {; write \\} for a text"));
    case '\\':
        return reader_backslash(r, c);
    default:
        str_add_char(&r->text, c->s[c->i++]);
        return status_ok();
    }
}

/* A line's share of a body. */
static Status reader_body(Reader *r, Cursor *c) {
    while (c->i < c->n) {
        if (is_blank(c->s[c->i])) {
            reader_end_chunk(r);
            c->i++;
        } else if (c->s[c->i] == '|') {
            reader_end_chunk(r);
            STATUS_TRY(reader_end_alternative(r, r->line));
            reader_begin_alternative(r);
            c->i++;
        } else {
            STATUS_TRY(reader_character(r, c));
        }
    }
    reader_end_chunk(r);
    return status_ok();
}

/* ---- Lines ---- */

static Status reader_check_head(Reader *r) {
    Grammar *g = r->g;
    Rule *rule = &g->rule[g->rules - 1];
    rule->given = rule->slots;
    int variables = 0;
    for (int i = rule->part; i < g->parts; i++) variables += g->part[i] < 0;
    if (variables > rule->given) return reader_error(r, _("a variable stands twice in this head"));
    return status_ok();
}

/* Adds an empty rule, which the head's variables then belong to. */
static void reader_begin_rule(Reader *r) {
    Grammar *g = r->g;
    MEM_GROW(g->rule, g->rules, g->rule_slots);
    g->rule[g->rules++] = (Rule){.file = r->source->file, .line = r->line, .alternative = g->alternatives};
}

static void family_add(Family *f, int rule) {
    MEM_GROW(f->rule, f->rules, f->rule_slots);
    f->rule[f->rules++] = rule;
}

static Status reader_head(Reader *r, Cursor *c) {
    Grammar *g = r->g;
    if (!memchr(c->s, ':', c->n))
        return reader_error(
            r, _("no colon; a rule is NAME: TEXT, and a line that goes on with a rule begins with a blank"));
    size_t bytes = cursor_word(c, true);
    if (bytes == 0)
        return reader_error(r, _("a rule begins with its name: a letter or _, then letters, digits, - or _"));
    reader_begin_rule(r);
    int parts;
    STATUS_TRY(reader_parts(r, c, &g->rule[g->rules - 1].part, &parts));
    cursor_blanks(c);
    if (!cursor_at(c, ':'))
        return reader_error(r, _("this head cannot be read; it is NAME.PART.PART: with words or $variables"));
    c->i++;
    STATUS_TRY(reader_check_head(r));
    int family = grammar_family(g, c->s, bytes, parts);
    g->rule[g->rules - 1].family = family;
    family_add(&g->family[family], g->rules - 1);
    r->open = true;
    reader_begin_alternative(r);
    return reader_body(r, c);
}

static Status reader_include(Reader *r, const char *path, size_t bytes);

/* "include" blank path; "include:" and "include :" are heads. */
static bool line_is_include(const char *s, size_t n, size_t *path) {
    static const char word[] = "include";
    size_t i = sizeof word - 1;
    if (n <= i || memcmp(s, word, i) != 0 || !is_blank(s[i])) return false;
    while (i < n && is_blank(s[i])) i++;
    *path = i;
    return i < n && s[i] != ':';
}

static Status reader_check_characters(const Reader *r, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t code;
        int bytes = utf8_decode(s + i, n - i, &code);
        if (bytes == 0) return reader_error(r, _("these bytes are not UTF-8"));
        if (code != '\t' && grammar_is_control(code))
            return reader_error(r, _("a control character; only tabs and ends of lines are allowed"));
        i += (size_t)bytes;
    }
    return status_ok();
}

/* Bytes of the line without its comment and the blanks at its end. */
static size_t line_text(const char *s, size_t n) {
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '#' && (i == 0 || is_blank(s[i - 1]))) break;
        if (!is_blank(s[i])) end = i + 1;
    }
    return end;
}

/* For grammar_text. */
static void reader_keep(Reader *r, const char *s, size_t n) {
    str_add_n(&r->g->source, s, n);
    str_add_char(&r->g->source, '\n');
}

static Status reader_line(Reader *r, const char *s, size_t n) {
    STATUS_TRY(reader_check_characters(r, s, n));
    n = line_text(s, n);
    if (n == 0) return status_ok();
    Cursor c = {.s = s, .n = n};
    size_t path;
    bool include = !is_blank(s[0]) && line_is_include(s, n, &path);
    if (!include) reader_keep(r, s, n);
    if (is_blank(s[0])) {
        if (!r->open)
            return reader_error(r,
                                _("a line that begins with a blank goes on with a rule, but there is none above it"));
        return reader_body(r, &c);
    }
    STATUS_TRY(reader_end_rule(r));
    if (include) return reader_include(r, s + path, n - path);
    return reader_head(r, &c);
}

static Status reader_text(Reader *r, const char *s, size_t n) {
    r->total += n;
    r->line = 1;
    if (r->total > GRAMMAR_TOTAL_BYTES) return reader_error(r, _("the files together are longer than 8 MiB"));
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) s += 3, n -= 3;
    for (size_t at = 0; at < n; r->line++) {
        const char *end = memchr(s + at, '\n', n - at);
        size_t length = end ? (size_t)(end - s) - at : n - at, skip = length + (end ? 1 : 0);
        if (end && length > 0 && end[-1] == '\r') length--;
        STATUS_TRY(reader_line(r, s + at, length));
        at += skip;
    }
    return reader_end_rule(r);
}

/* ---- Files ---- */

static void reader_add_file(Reader *r, const char *name) {
    Grammar *g = r->g;
    MEM_GROW(g->file, g->files, g->file_slots);
    g->file[g->files++] = mem_text(name);
}

static void source_identify(Source *s) {
    struct stat st;
    if (stat(s->path, &st) != 0) return;
    s->device = st.st_dev;
    s->inode = st.st_ino;
}

static bool source_is_open(const Source *s) {
    for (const Source *above = s->above; above; above = above->above)
        if (above->inode == s->inode && above->device == s->device) return true;
    return false;
}

/* PATH as it is seen from the file that is being read. "-" is a file like others here. */
static void reader_resolve(const Reader *r, const char *path, size_t bytes, Str *out) {
    const char *slash = strrchr(r->source->path, '/');
    if (path[0] != '/' && slash)
        str_add_n(out, r->source->path, (size_t)(slash + 1 - r->source->path));
    else if (path[0] == '-')
        str_add(out, "./");
    str_add_n(out, path, bytes);
}

static Status reader_included(Reader *r, Source *source, Str *text) {
    if (source->depth > GRAMMAR_INCLUDES) return reader_error(r, _("files are included within each other over 8 deep"));
    if (r->g->files > GRAMMAR_FILES) return reader_error(r, _("more than 1000 files are included"));
    Status s = file_read(source->path, GRAMMAR_FILE_BYTES, text);
    if (!status_is_ok(&s)) return reader_error(r, s.text);
    source_identify(source);
    if (source_is_open(source)) return reader_error(r, _("this file includes itself"));
    const Source *above = r->source;
    int line = r->line;
    reader_add_file(r, source->path);
    r->source = source;
    s = reader_text(r, text->s, text->len);
    r->source = above;
    r->line = line;
    return s;
}

static Status reader_include(Reader *r, const char *path, size_t bytes) {
    if (!r->source->path) return reader_error(r, _("a text cannot include a file; only a grammar that is a file can"));
    Str name, text;
    str_init(&name);
    str_init(&text);
    reader_resolve(r, path, bytes, &name);
    Source source = {.above = r->source, .path = name.s, .file = r->g->files, .depth = r->source->depth + 1};
    Status s = reader_included(r, &source, &text);
    str_done(&name);
    str_done(&text);
    return s;
}

static Status grammar_make(const Source *source, const char *text, size_t bytes, Grammar **out) {
    Reader r = {.g = grammar_new(), .source = source};
    str_init(&r.text);
    reader_add_file(&r, source->path ? source->path : "");
    Status s = reader_text(&r, text, bytes);
    if (status_is_ok(&s)) s = grammar_check(r.g);
    str_done(&r.text);
    *out = status_is_ok(&s) ? r.g : NULL;
    if (!*out) grammar_free(r.g);
    return s;
}

Status grammar_read(const char *path, Grammar **out) {
    Str text;
    str_init(&text);
    *out = NULL;
    Status s = file_read(path, GRAMMAR_FILE_BYTES, &text);
    if (status_is_ok(&s)) {
        Source source = {.path = path};
        source_identify(&source);
        s = grammar_make(&source, text.s, text.len, out);
    }
    str_done(&text);
    return s;
}

Status grammar_parse(const char *text, size_t bytes, Grammar **out) {
    Source source = {0};
    *out = NULL;
    if (bytes > GRAMMAR_FILE_BYTES) return status_usage(_("a grammar can have 1 MiB at most"));
    return grammar_make(&source, text, bytes, out);
}
