/* sizes: bytes as options say them and as tables show them. GB = 10^9 bytes, GiB = 2^30 bytes; never one for the other.
 * Private to the laboratory. */
#ifndef LAB_SIZES_H
#define LAB_SIZES_H

#include "account.h"
#include "option.h"
#include "study.h"

#define SIZES_GB  1e9
#define SIZES_GIB 1073741824.0

/* A row for `bytes`: of one value, 4 (fp32), 2 (bf16, fp16), 1, or a part of one (0.5: four bits). */
#define SIZES_BYTES_OPTION(initial)                                                                                    \
    {                                                                                                                  \
        "bytes", OPTION_REAL, initial, 0.125, 16, NULL, "bytes",                                                       \
            N_("of one value: 4 fp32, 2 bf16 or fp16, 0.5 four bits")                                                  \
    }
/* The bits of a value that `bytes` says; refused when they are no whole number. */
Status sizes_bits(const Options *o, int *bits) STATUS_CHECKED;

/* An amount of bytes: "80GB", "16 GiB", "3.35TB/s", "8e10"; PER is what must follow the unit, "" or "/s" (which may be
 * left out). NAME is the option's, for the sentence. Above 0 and finite. */
Status sizes_parse(const char *name, const char *text, const char *per, double *bytes) STATUS_CHECKED;

/* Refuses a count that is beyond 2^63, with the sentence that names WHAT. */
Status sizes_check(Count n, const char *what) STATUS_CHECKED;
/* A row of `about`: what GB and GiB mean. */
void sizes_about(Study *s);

#endif
