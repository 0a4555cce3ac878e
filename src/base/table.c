#include "table.h"

#include "bug.h"
#include "mem.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TABLE_BLOCK_ROWS = 1024, TABLE_FIRST_ROWS = 16, TABLE_CHUNK_BYTES = 1024 };

/* A text never moves, so what table_text lends stays where it is while the table grows. */
typedef struct {
    size_t bytes;
    char s[]; /* bytes, and a NUL after them */
} Text;

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *next;
    size_t used, capacity;
    max_align_t data[]; /* Text after Text, each aligned */
};

typedef union {
    long long i;
    double x;
    const Text *text;
} Cell;

/* Rows of cells. Only the last block of a table is incomplete, and that one belongs to the table alone; complete blocks
 * never change again and may have many owners. */
typedef struct {
    atomic_int owners;
    int capacity; /* rows that cells and empty have room for */
    Cell *cells;  /* [rows x columns] */
    bool *empty;  /* [rows x columns] */
    Chunk *chunks;
} Block;

struct Table {
    char *name;
    const Column *column; /* borrowed for ever */
    int columns;
    int cursor; /* next cell of the row under way */
    long rows;  /* complete ones */
    Block **block;
    int blocks, block_capacity;
};

/* Blocks. */

static Block *block_new(void) {
    Block *b = MEM_NEW(Block);
    atomic_init(&b->owners, 1);
    return b;
}

static void block_release(Block *b) {
    if (atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) != 1) return;
    for (Chunk *c = b->chunks; c;) {
        Chunk *next = c->next;
        mem_free(c);
        c = next;
    }
    mem_free(b->cells);
    mem_free(b->empty);
    mem_free(b);
}

static void block_reserve(Block *b, int rows, int columns) {
    if (rows <= b->capacity) return;
    int capacity = b->capacity ? b->capacity * 2 : TABLE_FIRST_ROWS;
    while (capacity < rows) capacity *= 2;
    size_t cells = (size_t)capacity * (size_t)columns;
    b->cells = mem_resize(b->cells, cells, sizeof *b->cells);
    b->empty = mem_resize(b->empty, cells, sizeof *b->empty);
    b->capacity = capacity;
}

static Chunk *chunk_new(size_t bytes) {
    size_t capacity = bytes > TABLE_CHUNK_BYTES ? bytes : TABLE_CHUNK_BYTES;
    Chunk *c = mem_alloc(sizeof(Chunk) + capacity);
    c->used = 0;
    c->capacity = capacity;
    return c;
}

static const Text *block_text(Block *b, const char *s, size_t bytes) {
    const size_t unit = sizeof(size_t);
    BUG_ON(bytes > SIZE_MAX / 2);
    size_t need = (sizeof(Text) + bytes + 1 + unit - 1) / unit * unit;
    if (!b->chunks || b->chunks->capacity - b->chunks->used < need) {
        Chunk *c = chunk_new(need);
        c->next = b->chunks;
        b->chunks = c;
    }
    Text *t = (Text *)((char *)b->chunks->data + b->chunks->used);
    b->chunks->used += need;
    t->bytes = bytes;
    if (bytes) memcpy(t->s, s, bytes);
    t->s[bytes] = '\0';
    return t;
}

static Block *block_copy(const Block *b, int rows, const Column *column, int columns) {
    Block *copy = block_new();
    block_reserve(copy, rows, columns);
    size_t cells = (size_t)rows * (size_t)columns;
    memcpy(copy->cells, b->cells, cells * sizeof *b->cells);
    memcpy(copy->empty, b->empty, cells * sizeof *b->empty);
    for (int c = 0; c < columns; c++) {
        if (column[c].type != COLUMN_TEXT) continue;
        for (size_t i = (size_t)c; i < cells; i += (size_t)columns)
            if (!b->empty[i]) copy->cells[i].text = block_text(copy, b->cells[i].text->s, b->cells[i].text->bytes);
    }
    return copy;
}

/* Tables. */

Table *table_new(const char *name, const Column *columns) {
    Table *t = MEM_NEW(Table);
    t->name = mem_text(name);
    t->column = columns;
    while (columns[t->columns].name) t->columns++;
    BUG_ON(t->columns == 0);
    return t;
}

Table *table_copy(const Table *t) {
    return table_copy_as(t, t->name);
}

Table *table_copy_as(const Table *t, const char *name) {
    BUG_ON(t->cursor != 0);
    Table *copy = table_new(name, t->column);
    copy->rows = t->rows;
    copy->blocks = copy->block_capacity = t->blocks;
    copy->block = MEM_ARRAY(Block *, (size_t)t->blocks);
    int partial = (int)(t->rows % TABLE_BLOCK_ROWS);
    for (int i = 0; i < t->blocks; i++) {
        if (partial && i == t->blocks - 1) {
            copy->block[i] = block_copy(t->block[i], partial, t->column, t->columns);
        } else {
            copy->block[i] = t->block[i];
            atomic_fetch_add_explicit(&t->block[i]->owners, 1, memory_order_relaxed);
        }
    }
    return copy;
}

void table_free(Table *t) {
    if (!t) return;
    for (int i = 0; i < t->blocks; i++) block_release(t->block[i]);
    mem_free(t->block);
    mem_free(t->name);
    mem_free(t);
}

const char *table_name(const Table *t) {
    return t->name;
}

int table_columns(const Table *t) {
    return t->columns;
}

const Column *table_column(const Table *t, int column) {
    BUG_ON(column < 0 || column >= t->columns);
    return &t->column[column];
}

int table_find(const Table *t, const char *column) {
    for (int c = 0; c < t->columns; c++)
        if (strcmp(t->column[c].name, column) == 0) return c;
    return -1;
}

long table_rows(const Table *t) {
    return t->rows;
}

/* Appending. */

/* The block of the row under way; its first cell makes room for the whole row. */
static Block *table_last_block(Table *t) {
    int row = (int)(t->rows % TABLE_BLOCK_ROWS);
    if (t->cursor == 0) {
        if (row == 0) {
            BUG_ON(t->blocks == INT_MAX / 2);
            MEM_GROW(t->block, t->blocks, t->block_capacity);
            t->block[t->blocks++] = block_new();
        }
        block_reserve(t->block[t->blocks - 1], row + 1, t->columns);
    }
    return t->block[t->blocks - 1];
}

static void table_put(Table *t, Block *b, Cell cell, bool empty) {
    size_t i = (size_t)(t->rows % TABLE_BLOCK_ROWS) * (size_t)t->columns + (size_t)t->cursor;
    b->cells[i] = cell;
    b->empty[i] = empty;
    if (++t->cursor < t->columns) return;
    t->cursor = 0;
    t->rows++;
}

void table_add_int(Table *t, long long x) {
    BUG_ON(t->column[t->cursor].type != COLUMN_INT);
    table_put(t, table_last_block(t), (Cell){.i = x}, false);
}

void table_add_real(Table *t, double x) {
    ColumnType type = t->column[t->cursor].type;
    BUG_ON(type != COLUMN_DOUBLE && type != COLUMN_REAL);
    if (type == COLUMN_REAL) x = (double)(real)x;
    table_put(t, table_last_block(t), (Cell){.x = x}, false);
}

void table_add_text_n(Table *t, const char *s, size_t bytes) {
    BUG_ON(t->column[t->cursor].type != COLUMN_TEXT);
    Block *b = table_last_block(t);
    table_put(t, b, (Cell){.text = block_text(b, s, bytes)}, false);
}

void table_add_text(Table *t, const char *s) {
    table_add_text_n(t, s, strlen(s));
}

void table_add_empty(Table *t) {
    table_put(t, table_last_block(t), (Cell){.i = 0}, true);
}

void table_add_known(Table *t, double x) {
    if (isnan(x))
        table_add_empty(t);
    else
        table_add_real(t, x);
}

/* Reading. */

static const Block *table_block(const Table *t, long row, int column, size_t *i) {
    BUG_ON(row < 0 || row >= t->rows);
    BUG_ON(column < 0 || column >= t->columns);
    *i = (size_t)(row % TABLE_BLOCK_ROWS) * (size_t)t->columns + (size_t)column;
    return t->block[row / TABLE_BLOCK_ROWS];
}

bool table_is_empty(const Table *t, long row, int column) {
    size_t i;
    const Block *b = table_block(t, row, column, &i);
    return b->empty[i];
}

long long table_int(const Table *t, long row, int column) {
    size_t i;
    const Block *b = table_block(t, row, column, &i);
    BUG_ON(t->column[column].type != COLUMN_INT);
    return b->cells[i].i;
}

double table_real(const Table *t, long row, int column) {
    size_t i;
    const Block *b = table_block(t, row, column, &i);
    BUG_ON(t->column[column].type == COLUMN_TEXT);
    if (b->empty[i]) return (double)NAN;
    return t->column[column].type == COLUMN_INT ? (double)b->cells[i].i : b->cells[i].x;
}

static const Text *table_text_cell(const Table *t, long row, int column) {
    static const union {
        Text text;
        char room[sizeof(Text) + sizeof(size_t)];
    } nothing;
    size_t i;
    const Block *b = table_block(t, row, column, &i);
    BUG_ON(t->column[column].type != COLUMN_TEXT);
    return b->empty[i] ? &nothing.text : b->cells[i].text;
}

const char *table_text(const Table *t, long row, int column) {
    return table_text_cell(t, row, column)->s;
}

size_t table_text_bytes(const Table *t, long row, int column) {
    return table_text_cell(t, row, column)->bytes;
}

void table_cell(const Table *t, long row, int column, Str *out) {
    if (table_is_empty(t, row, column)) return;
    switch (t->column[column].type) {
    case COLUMN_INT:
        str_addf(out, "%lld", table_int(t, row, column));
        break;
    case COLUMN_DOUBLE:
        str_add_double(out, table_real(t, row, column));
        break;
    case COLUMN_REAL:
        if (REAL_IS_DOUBLE) {
            str_add_double(out, table_real(t, row, column));
        } else {
            str_add_float(out, (float)table_real(t, row, column));
        }
        break;
    case COLUMN_TEXT:
        str_add_n(out, table_text(t, row, column), table_text_bytes(t, row, column));
        break;
    }
}

void table_add_cell(Table *to, const Table *from, long row, int column) {
    if (table_is_empty(from, row, column)) {
        table_add_empty(to);
        return;
    }
    switch (from->column[column].type) {
    case COLUMN_INT:
        table_add_int(to, table_int(from, row, column));
        break;
    case COLUMN_DOUBLE:
    case COLUMN_REAL:
        table_add_real(to, table_real(from, row, column));
        break;
    case COLUMN_TEXT:
        table_add_text_n(to, table_text(from, row, column), table_text_bytes(from, row, column));
        break;
    }
}

Table *table_first(const Table *t, long rows) {
    Table *first = table_new(t->name, t->column);
    for (long row = 0; row < rows && row < t->rows; row++)
        for (int c = 0; c < t->columns; c++) table_add_cell(first, t, row, c);
    return first;
}
