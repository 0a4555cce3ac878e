/* bpe_merges: the merges of a byte-pair encoding from a CSV file as bpe.train writes it. Private to the laboratory. */
#ifndef LAB_BPE_MERGES_H
#define LAB_BPE_MERGES_H

#include "status.h"
#include "text/bpe.h"

/* Reads left and right, or left_hex and right_hex, which are exact where both are there; rank and merged are checked
 * when there. UNIT NULL: bytes when there is hex only, else characters. At most MERGES merges (< 0: all). */
Status bpe_merges_read(const char *path, const BpeUnit *unit, long merges, Bpe **out) STATUS_CHECKED;

#endif
