/* table: named, typed columns with units: the one currency of results. Experiments fill tables, panes export tables,
 * CSV writes tables, plots read tables.
 *
 * Rows are kept in blocks that copies share, so a copy of a long table costs no more than its last block. Appending to
 * a table never changes a copy made before. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "real.h"
#include "str.h"

#include <stdbool.h>

typedef enum {
    COLUMN_INT,
    COLUMN_DOUBLE,
    COLUMN_REAL,
    COLUMN_TEXT
} ColumnType; /* REAL: printed as the engine's real */

typedef struct {
    const char *name; /* plain CSV name, never translated: log_p */
    ColumnType type;
    const char *unit; /* "nats", "tokens/s", "" */
} Column;

typedef struct Table Table;

/* COLUMNS is a static array that ends in a row whose name is NULL; borrowed for ever. NAME is copied. */
Table *table_new(const char *name, const Column *columns);
Table *table_copy_as(const Table *t, const char *name); /* table_copy under another name */
Table *table_copy(const Table *t); /* BUG within a row. Shares the blocks; safe to read and free in another thread */
Table *table_first(const Table *t, long rows); /* a table with the first ROWS of T, or all when it has fewer */
void table_free(Table *t);

const char *table_name(const Table *t);
int table_columns(const Table *t);
const Column *table_column(const Table *t, int column);
int table_find(const Table *t, const char *column); /* index or -1 */
long table_rows(const Table *t);

/* Appending: cells are added left to right; after the last column a row is complete. BUG when the type differs. */
void table_add_int(Table *t, long long x);
void table_add_real(Table *t, double x); /* COLUMN_DOUBLE and COLUMN_REAL */
void table_add_text(Table *t, const char *s);
void table_add_text_n(Table *t, const char *s, size_t bytes);
void table_add_empty(Table *t); /* a cell without a value, any type */
void table_add_known(Table *t, double x); /* table_add_real, or an empty cell for NaN */
void table_add_cell(Table *t, const Table *from, long row, int column); /* what stands there, for a column of its type */

/* Reading. BUG when outside or of another type. */
bool table_is_empty(const Table *t, long row, int column);
long long table_int(const Table *t, long row, int column);
double table_real(const Table *t, long row, int column);      /* INT, DOUBLE and REAL; NaN when empty */
const char *table_text(const Table *t, long row, int column); /* borrowed from T */
size_t table_text_bytes(const Table *t, long row, int column);

/* The cell as CSV has it: shortest exact number, text as is, nothing when empty. */
void table_cell(const Table *t, long row, int column, Str *out);

/* The whole table for a terminal: name, header with units, aligned columns (numbers right, on the point where they have
 * one), at most ROWS rows from FIRST (rows < 0: all). */
void table_print(const Table *t, long first, long rows, Str *out);
/* The same without the name, from column FROM on as many columns as WIDTH takes, at least one; returns how many. Only a text in the
 * last one may be wider than there is room. Headings lose their units, and then their ends, where that gives all columns room. */
int table_print_within(const Table *t, long first, long rows, int from, int width, Str *out);

#endif
