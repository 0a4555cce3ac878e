/* version: what this program is and what it stands on, for --version and for the `about` table of every experiment. */
#ifndef LAB_VERSION_H
#define LAB_VERSION_H

#include "str.h"

const char *version_number(void); /* "0.1.0" */
void version_add(Str *out);       /* lines: the program, the compiler, the number type, OpenBLAS */

/* A sentence when products are slow because OpenBLAS cannot be opened, and were asked for; NULL: all is well. */
const char *version_warning(void);

#endif
