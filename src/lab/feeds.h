/* feeds: how a text is cut when it is fed to a decoder: feeds=all,1,5+1,3. A feed is "all", or sizes joined by +, of
 * which the last is repeated. Private to the laboratory. */
#ifndef LAB_FEEDS_H
#define LAB_FEEDS_H

#include "decode/decoder.h"
#include "option.h"

extern const Option feeds_option_rows[]; /* feeds= */

Status feeds_check(const Options *o) STATUS_CHECKED;
/* The next of a list separated by commas, to be freed; *LIST moves behind it, and becomes NULL behind the last. */
char *feeds_next(const char **list);
/* Feeds ids[0..n-1] to stream 0 of D, which is reset, as FEED (checked) says: the largest difference of all logits from
 * WHOLE [n x V], NaN when any is; *last: the logits [V] after the last token, borrowed as decoder_feed says. */
double feeds_differ(Decoder *d, const int *ids, int n, const real *whole, int vocab, const char *feed,
                    const real **last);

#endif
