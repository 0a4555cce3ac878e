/* grammar_body: reading what a rule says: calls, pieces, chunks, alternatives; and the reader that goes through the
 * lines (grammar_parse). The first error found from top to bottom is the one told. Not for others. */
#ifndef TEXT_GRAMMAR_BODY_H
#define TEXT_GRAMMAR_BODY_H

#include "grammar_internal.h"
#include "status.h"
#include "str.h"

#include <sys/types.h>

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

static inline bool reader_is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool cursor_at(const Cursor *c, char what);
void cursor_blanks(Cursor *c); /* moves behind them */
/* Moves behind a word (a name when NAME); its length, 0 when there is none. */
size_t cursor_word(Cursor *c, bool name);

Status reader_error(const Reader *r, const char *what) STATUS_CHECKED; /* at the line being read */
/* The parts of a call or a head behind its name, up to what is no part: grammar->part[*first ...], *N of them. */
Status reader_parts(Reader *r, Cursor *c, int *first, int *n) STATUS_CHECKED;
void reader_begin_alternative(Reader *r);
Status reader_body(Reader *r, Cursor *c) STATUS_CHECKED; /* a line's share of a body */
Status reader_end_rule(Reader *r) STATUS_CHECKED;        /* the open one, if there is one */

#endif
