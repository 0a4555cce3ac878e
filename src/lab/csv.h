/* csv: tables to files, through libcsv: RFC 4180 quoting, LF, one header row, '.' decimal in every locale, numbers in the
 * shortest form that reads back the same bits. Text that is not UTF-8 is a BUG: such columns are named ..._hex and hold hex. */
#ifndef LAB_CSV_H
#define LAB_CSV_H

#include "status.h"
#include "table.h"

#include <stdio.h>

Status csv_write(const Table *t, FILE *out) STATUS_CHECKED;          /* does not close; write errors are seen */
Status csv_write_file(const Table *t, const char *path) STATUS_CHECKED; /* atomic */
/* Every table as DIR/PREFIX.NAME.csv; DIR is made when its parent is there. All or none: on failure what this call made is
 * removed again. */
Status csv_write_folder(const Table *const *tables, int n, const char *dir, const char *prefix) STATUS_CHECKED;
/* Reads a CSV file into text cells: header[], then rows. For model cards and tests. */
typedef struct {
    char ***cell; /* [rows][columns], cell[0] is the header */
    long rows;
    int columns;
} CsvText;
Status csv_read(const char *path, CsvText *out) STATUS_CHECKED; /* ragged rows and broken quotes name the line */
void csv_text_done(CsvText *t);

#endif
