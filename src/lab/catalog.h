/* catalog: the experiments there are, as the screen and the command line see them. One row of experiments.def each. */
#ifndef LAB_CATALOG_H
#define LAB_CATALOG_H

#include "option.h"
#include "status.h"
#include "table.h"

#include <stdbool.h>

typedef struct {
    const char *name;      /* "steps" */
    const Column *columns; /* ends in a row without a name */
} TableSpec;

/* LOG_LINE: y is drawn on a logarithmic axis. */
typedef enum { FIGURE_NONE, FIGURE_LINE, FIGURE_LOG_LINE, FIGURE_BARS, FIGURE_HEAT, FIGURE_TREE } FigureKind;
typedef struct {
    FigureKind kind;
    const char *table, *x;
    const char *y;      /* one column, or several of lines or bars: "with without"; of a tree what a node is worth */
    const char *series; /* the column (or columns) that splits lines, or the value of a heat map, or what a node of a
                         * tree is worth by the truth; NULL: none */
} Figure;

typedef struct {
    const char *id;               /* "decode.filter" */
    const char *section;          /* "L3 6.5" */
    const char *title;            /* one line, marked for gettext */
    const char *see;              /* what to look for, one or two sentences, marked */
    const Option *const *options; /* NULL-terminated list of row arrays, the common ones (seed, threads) last. The unit
                                   * of a text that names a file is "file" */
    const TableSpec *tables;      /* in the order written; ends in a row without a name */
    Figure figure;
    const char *figure_without; /* bars leave the rows of this series out: they are in another unit; NULL: none */
    const char
        *figure_floor; /* "TABLE COLUMN": the last value there, of a perplexity its logarithm, as a line across */
    const char *const *on_request; /* NULL-terminated names of tables that options ask for: without rows they are
                                    * neither printed nor written to a folder. NULL: none */
} CatalogEntry;

int catalog_count(void);
const CatalogEntry *catalog_at(int i); /* by id */
const CatalogEntry *catalog_find(const char *id);
const char *catalog_likely(const char *id); /* what ID was probably meant to be; NULL: nothing like it */
int catalog_tables(const CatalogEntry *e);  /* of the row; `about` is not counted */
bool catalog_is_on_request(const CatalogEntry *e, const char *table); /* E names it in on_request */
/* Whether a table of E was not asked for: it has no rows and is of the kind that may have none. */
bool catalog_leaves_out(const CatalogEntry *e, const Table *t);
Options *catalog_options(const CatalogEntry *e); /* all rows of the entry joined, at their defaults */
/* What the rows of options cannot say: options that belong together, files that must be there. Nothing is written. */
Status catalog_check(const CatalogEntry *e, const Options *o) STATUS_CHECKED;
/* Whether a column of this name is a measurement of time. All others are the same bits for the same seed. */
bool catalog_is_time(const char *column);

#endif
