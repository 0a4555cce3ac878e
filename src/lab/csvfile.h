/* csvfile: tables to files and back, through libcsv: RFC 4180 quoting, LF, one header row, '.' decimal in every locale,
 * numbers in the shortest form that reads back the same bits. A text is quoted only where it must be; an empty text is
 * "" and a cell without a value is nothing. Nothing is changed on the way out: a text that begins with '=' stays so.
 *
 * Text that is not UTF-8 is a BUG: such columns are named ..._hex and hold hex. (The name is not csv, which is the
 * header of the library.) */
#ifndef LAB_CSVFILE_H
#define LAB_CSVFILE_H

#include "status.h"
#include "table.h"

#include <stdio.h>

/* Does not close OUT, which sentences call NAME; write errors are seen, and errno still says which after a failure. */
Status csvfile_write(const Table *t, FILE *out, const char *name) STATUS_CHECKED;
Status csvfile_save(const Table *t, const char *path) STATUS_CHECKED; /* atomic */
/* Whether csvfile_save_folder could write to DIR, tried out: it is a folder that takes files, or can be made. Leaves
 * nothing behind. Exit 2 kind. */
Status csvfile_check_folder(const char *dir) STATUS_CHECKED;
/* A folder that gets tables as DIR/PREFIX.NAME.csv; DIR is made when its parent is there. All or none: everything is on
 * the disk before the first file gets its name, and on failure what was made is removed again, the folder too. */
typedef struct CsvFolder CsvFolder;
Status csvfile_folder_begin(const char *dir, CsvFolder **out) STATUS_CHECKED;
Status csvfile_folder_add(CsvFolder *f, const char *prefix, const Table *t) STATUS_CHECKED; /* T may go afterwards */
/* Ends F either way. *REPLACED (may be NULL): how many files were there before. */
Status csvfile_folder_commit(CsvFolder *f, int *replaced) STATUS_CHECKED;
void csvfile_folder_discard(CsvFolder *f); /* after a failed add, or when nobody wants it any more */
/* The same for tables that are all there. */
Status csvfile_save_folder(const Table *const *tables, int n, const char *dir, const char *prefix) STATUS_CHECKED;

/* A CSV file as text cells: header, then rows. For model cards and tests. */
typedef struct {
    char ***cell; /* [rows][columns], cell[0] is the header */
    long *line;   /* [rows] of the file, from 1, where each row begins */
    long rows;
    int columns;
} CsvText;
/* Ragged rows and broken quotes are refused and named by line; a byte order mark is skipped, blank lines too. */
Status csvfile_read(const char *path, CsvText *out) STATUS_CHECKED;
void csv_text_done(CsvText *t);

#endif
