#include "grammar_body.h"

#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

Status reader_error(const Reader *r, const char *what) {
    return grammar_error(r->g, r->source->file, r->line, what);
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

bool cursor_at(const Cursor *c, char what) {
    return c->i < c->n && c->s[c->i] == what;
}

void cursor_blanks(Cursor *c) {
    while (c->i < c->n && reader_is_blank(c->s[c->i])) c->i++;
}

size_t cursor_word(Cursor *c, bool name) {
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

Status reader_parts(Reader *r, Cursor *c, int *first, int *n) {
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
    while (from < to && reader_is_blank(*from)) from++;
    while (from < to && reader_is_blank(to[-1])) to--;
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
    if (c->i >= c->n || reader_is_blank(c->s[c->i]))
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

void reader_begin_alternative(Reader *r) {
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

Status reader_end_rule(Reader *r) {
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

Status reader_body(Reader *r, Cursor *c) {
    while (c->i < c->n) {
        if (reader_is_blank(c->s[c->i])) {
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
