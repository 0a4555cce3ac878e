/* lines: a text file as lines, a sentence each, the way every experiment takes file= and corpus=. */
#ifndef LAB_LINES_H
#define LAB_LINES_H

#include "status.h"

typedef struct {
    char **line; /* [count] without their ends */
    long count;
} Lines;

/* PATH "-" reads standard input. Lines end in LF or CR LF; the last may have no end; a byte order mark is skipped.
 * Bytes that are not UTF-8 and NUL are refused, with the line's number. */
Status lines_read(const char *path, Lines *out) STATUS_CHECKED;
void lines_done(Lines *l);

#endif
