/* version: what this program is, for --version and for the `about` table of every experiment. */
#ifndef LAB_VERSION_H
#define LAB_VERSION_H

const char *version_number(void); /* "0.1.0" */

#endif
