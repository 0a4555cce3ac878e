#include "csvfile.h"

#include "bug.h"
#include "file.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CSVFILE_LIMIT = 64 << 20, CSVFILE_COLUMNS = 1000 };

/* ---- writing ---- */

/* Whether a reader gets the same bytes back when there are no quotes around. */
static bool is_plain(const char *s, size_t n) {
    if (n == 0) return false;
    if (s[0] == ' ' || s[0] == '\t' || s[n - 1] == ' ' || s[n - 1] == '\t') return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r') return false;
    return true;
}

static void add_quoted(Str *line, const char *s, size_t n) {
    size_t need = csv_write(NULL, 0, s, n);
    str_reserve(line, need);
    csv_write(line->s + line->len, need, s, n);
    line->len += need;
    line->s[line->len] = '\0';
}

static void add_text(Str *line, const char *s, size_t n) {
    BUG_ON(!utf8_valid(s, n, NULL));
    if (is_plain(s, n)) {
        str_add_n(line, s, n);
    } else {
        add_quoted(line, s, n);
    }
}

static void add_header(Str *line, const Table *t) {
    for (int c = 0; c < table_columns(t); c++) {
        if (c) str_add_char(line, ',');
        const char *name = table_column(t, c)->name;
        add_text(line, name, strlen(name));
    }
    str_add_char(line, '\n');
}

static void add_row(Str *line, const Table *t, long row) {
    for (int c = 0; c < table_columns(t); c++) {
        if (c) str_add_char(line, ',');
        if (table_column(t, c)->type != COLUMN_TEXT) {
            table_cell(t, row, c, line);
        } else if (!table_is_empty(t, row, c)) {
            add_text(line, table_text(t, row, c), table_text_bytes(t, row, c));
        }
    }
    /* A reader skips blank lines, and this row is one of the table. */
    if (table_columns(t) == 1 && table_is_empty(t, row, 0)) add_quoted(line, "", 0);
    str_add_char(line, '\n');
}

/* False when the stream did not take it all; errno says why. */
static bool write_table(const Table *t, FILE *out) {
    Str line;
    str_init(&line);
    add_header(&line, t);
    bool good = fwrite(line.s, 1, line.len, out) == line.len;
    for (long row = 0; good && row < table_rows(t); row++) {
        str_clear(&line);
        add_row(&line, t, row);
        good = fwrite(line.s, 1, line.len, out) == line.len;
    }
    if (good) good = fflush(out) == 0;
    int problem = errno;
    str_done(&line);
    errno = problem;
    return good && !ferror(out);
}

Status csvfile_write(const Table *t, FILE *out, const char *name) {
    errno = 0;
    if (write_table(t, out)) return status_ok();
    int problem = errno ? errno : EIO;
    Status s = status_failed(_("cannot write '%s': %s"), name, strerror(problem));
    errno = problem;
    return s;
}

Status csvfile_save(const Table *t, const char *path) {
    FileWriter *w;
    STATUS_TRY(file_begin(path, &w));
    Status s = csvfile_write(t, file_stream(w), file_name(w));
    if (status_is_ok(&s)) return file_commit(w);
    file_discard(w);
    return s;
}

/* ---- a folder of tables ---- */

static Status cannot_write_folder(const char *dir, int problem) {
    return status_usage(_("cannot write to the folder '%s': %s"), dir, strerror(problem));
}

/* Makes DIR when it is not there. */
static Status folder_make(const char *dir, bool *made) {
    struct stat st;
    *made = false;
    if (stat(dir, &st) == 0) {
        if (!S_ISDIR(st.st_mode)) return status_usage(_("'%s' is not a folder"), dir);
        return status_ok();
    }
    if (mkdir(dir, 0777) != 0) return cannot_write_folder(dir, errno);
    *made = true;
    return status_ok();
}

Status csvfile_check_folder(const char *dir) {
    bool made;
    STATUS_TRY(folder_make(dir, &made));
    Str probe;
    str_init(&probe);
    str_addf(&probe, "%s/.lantern-XXXXXX", dir);
    int fd = mkstemp(probe.s);
    Status s = fd < 0 ? cannot_write_folder(dir, errno) : status_ok();
    if (fd >= 0) {
        close(fd);
        unlink(probe.s);
    }
    if (made) rmdir(dir);
    str_done(&probe);
    return s;
}

/* One table on its way into a folder. */
typedef struct {
    char *path;
    FileWriter *writer; /* NULL once committed */
    bool existed;       /* before this call */
    bool replaces;      /* what existed is a file, and no device or pipe */
} Part;

static Status part_begin(Part *p, const Table *t, const char *dir, const char *prefix) {
    struct stat st;
    Str path;
    str_init(&path);
    str_addf(&path, "%s/%s.%s.csv", dir, prefix, table_name(t));
    p->path = str_take(&path);
    p->existed = stat(p->path, &st) == 0;
    p->replaces = p->existed && S_ISREG(st.st_mode);
    STATUS_TRY(file_begin(p->path, &p->writer));
    STATUS_TRY(csvfile_write(t, file_stream(p->writer), p->path));
    if (fsync(fileno(file_stream(p->writer))) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        return status_failed(_("cannot write '%s': %s"), p->path, strerror(errno));
    return status_ok();
}

static Status part_commit(Part *p) {
    FileWriter *w = p->writer;
    p->writer = NULL;
    return file_commit(w);
}

struct CsvFolder {
    char *dir;
    bool made;  /* by this one */
    Part *part; /* the first `committed` of them are under their names */
    int parts, room, committed;
};

Status csvfile_folder_begin(const char *dir, CsvFolder **out) {
    bool made;
    *out = NULL;
    STATUS_TRY(folder_make(dir, &made));
    CsvFolder *f = MEM_NEW(CsvFolder);
    f->dir = mem_text(dir);
    f->made = made;
    *out = f;
    return status_ok();
}

Status csvfile_folder_add(CsvFolder *f, const char *prefix, const Table *t) {
    MEM_GROW(f->part, f->parts, f->room);
    Part *p = &f->part[f->parts++];
    *p = (Part){0};
    return part_begin(p, t, f->dir, prefix);
}

static void folder_free(CsvFolder *f) {
    for (int i = 0; i < f->parts; i++) mem_free(f->part[i].path);
    mem_free(f->part);
    mem_free(f->dir);
    mem_free(f);
}

void csvfile_folder_discard(CsvFolder *f) {
    if (!f) return;
    for (int i = 0; i < f->parts; i++) {
        Part *p = &f->part[i];
        if (p->writer)
            file_discard(p->writer);
        else if (i < f->committed && !p->existed)
            unlink(p->path);
    }
    if (f->made) rmdir(f->dir);
    folder_free(f);
}

Status csvfile_folder_commit(CsvFolder *f, int *replaced) {
    Status s = status_ok();
    int n = 0;
    for (int i = 0; i < f->parts; i++) n += f->part[i].replaces;
    if (replaced) *replaced = n;
    while (f->committed < f->parts && status_is_ok(&s)) s = part_commit(&f->part[f->committed++]);
    if (status_is_ok(&s))
        folder_free(f);
    else
        csvfile_folder_discard(f);
    return s;
}

Status csvfile_save_folder(const Table *const *tables, int n, const char *dir, const char *prefix) {
    CsvFolder *f;
    STATUS_TRY(csvfile_folder_begin(dir, &f));
    for (int i = 0; i < n; i++) {
        Status s = csvfile_folder_add(f, prefix, tables[i]);
        if (status_is_ok(&s)) continue;
        csvfile_folder_discard(f);
        return s;
    }
    return csvfile_folder_commit(f, NULL);
}

/* ---- reading ---- */

typedef struct {
    CsvText *text;
    char **row;
    int cells, cell_capacity;
    long row_capacity, line_capacity;
    long line;     /* of the piece that is being parsed, from 1 */
    long row_line; /* where the row under way began */
    long ragged;   /* line of the first row with another number of cells, 0: none */
    int ragged_cells;
    bool too_wide;
} Reader;

static void on_cell(void *s, size_t n, void *data) {
    Reader *r = data;
    if (r->cells == CSVFILE_COLUMNS) {
        r->too_wide = true;
        return;
    }
    MEM_GROW(r->row, r->cells, r->cell_capacity);
    r->row[r->cells++] = mem_text_n(s ? s : "", n);
}

static void row_free(char **row, int cells) {
    for (int i = 0; i < cells; i++) mem_free(row[i]);
    mem_free(row);
}

static void on_row(int terminator, void *data) {
    (void)terminator;
    Reader *r = data;
    CsvText *t = r->text;
    if (t->rows == 0) t->columns = r->cells;
    if (r->cells == t->columns) {
        MEM_GROW(t->cell, t->rows, r->row_capacity);
        MEM_GROW(t->line, t->rows, r->line_capacity);
        t->line[t->rows] = r->row_line;
        t->cell[t->rows++] = r->row;
    } else {
        if (!r->ragged) {
            r->ragged = r->row_line;
            r->ragged_cells = r->cells;
        }
        row_free(r->row, r->cells);
    }
    r->row = NULL;
    r->cells = r->cell_capacity = 0;
    r->row_line = r->line + 1;
}

/* Bytes of the line that begins at S, its end included. */
static size_t line_bytes(const char *s, size_t left) {
    for (size_t i = 0; i < left; i++) {
        if (s[i] == '\n') return i + 1;
        if (s[i] == '\r' && (i + 1 == left || s[i + 1] != '\n')) return i + 1;
    }
    return left;
}

static Status broken_quote(const char *path, long line) {
    return status_usage(_("'%s' line %ld: a quotation mark stands where none may, or one is not closed"), path, line);
}

static Status other_width(const char *path, const Reader *r) {
    return status_usage(ngettext("'%s' line %ld: %d cell where the header has %d",
                                 "'%s' line %ld: %d cells where the header has %d", (unsigned long)r->ragged_cells),
                        path, r->ragged, r->ragged_cells, r->text->columns);
}

/* Line by line, so that a fault can be named by its line. After an error the parser must not be finished: it would hand
 * over half a row as if it were one. */
static Status parse_text(const char *path, const char *s, size_t left, struct csv_parser *parser, Reader *r) {
    for (r->line = 1; left > 0; r->line++) {
        size_t n = line_bytes(s, left);
        if (r->cells == 0 && parser->entry_pos == 0 && !parser->quoted) r->row_line = r->line;
        if (csv_parse(parser, s, n, on_cell, on_row, r) != n) return broken_quote(path, r->line);
        if (r->too_wide)
            return status_usage(_("'%s' line %ld: more than %d cells"), path, r->row_line, CSVFILE_COLUMNS);
        if (r->ragged) return other_width(path, r);
        s += n;
        left -= n;
    }
    long last = r->row_line;
    if (csv_fini(parser, on_cell, on_row, r) != 0) return broken_quote(path, last);
    return r->ragged ? other_width(path, r) : status_ok();
}

Status csvfile_read(const char *path, CsvText *out) {
    *out = (CsvText){0};
    Str text;
    str_init(&text);
    Status s = file_read(path, CSVFILE_LIMIT, &text);
    if (!status_is_ok(&s)) {
        str_done(&text);
        return s;
    }
    struct csv_parser parser;
    BUG_ON(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0);
    Reader reader = {.text = out};
    size_t mark = text.len >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    s = parse_text(path, text.s + mark, text.len - mark, &parser, &reader);
    if (status_is_ok(&s) && out->rows == 0) s = status_usage(_("'%s' has no rows"), path);
    row_free(reader.row, reader.cells);
    csv_free(&parser);
    str_done(&text);
    if (!status_is_ok(&s)) csv_text_done(out);
    return s;
}

void csv_text_done(CsvText *t) {
    for (long i = 0; i < t->rows; i++) row_free(t->cell[i], t->columns);
    mem_free(t->cell);
    mem_free(t->line);
    *t = (CsvText){0};
}
