/* Reading a grammar: files, lines, heads of rules; what a rule says is grammar_body's. What needs the whole grammar is
 * checked afterwards (grammar_check). */
#include "file.h"
#include "grammar.h"
#include "grammar_body.h"
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>
#include <sys/stat.h>

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
    if (n <= i || memcmp(s, word, i) != 0 || !reader_is_blank(s[i])) return false;
    while (i < n && reader_is_blank(s[i])) i++;
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
        if (s[i] == '#' && (i == 0 || reader_is_blank(s[i - 1]))) break;
        if (!reader_is_blank(s[i])) end = i + 1;
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
    bool include = !reader_is_blank(s[0]) && line_is_include(s, n, &path);
    if (!include) reader_keep(r, s, n);
    if (reader_is_blank(s[0])) {
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
