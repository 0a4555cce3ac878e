/* cache_sums: what the cache costs: bytes with their formula, operations with it and without, the same for other ways
 * of sharing keys and values, real models, and the comparison with the whole pass. Every function draws from the top of
 * R and returns the rows it used. */
#ifndef UI_CACHE_SUMS_H
#define UI_CACHE_SUMS_H

#include "cache_view.h"

long long cache_bytes(const CacheSeen *s);           /* held now */
long long cache_bytes_per_token(const CacheSeen *s); /* all layers */
/* Operations of the last step, or of all steps so far; without a cache / with one. */
double cache_ratio(const CacheSeen *s, bool so_far);

int cache_draw_bytes(const CacheSeen *s, Canvas *c, Rect r);
int cache_draw_flops(const CacheSeen *s, Canvas *c, Rect r);
int cache_draw_schemes(const CacheSeen *s, Canvas *c, Rect r);
int cache_draw_card(const CacheSeen *s, Canvas *c, Rect r, const char *card);
/* All real models as they are, a row each, CARD among them. */
int cache_draw_cards(const CacheSeen *s, Canvas *c, Rect r, const char *card);
int cache_draw_check(const CacheSeen *s, Canvas *c, Rect r);
/* The comparison in one line: "differs by 2e-6 at most". */
void cache_draw_check_line(const CacheSeen *s, Canvas *c, int x, int y, int w);

/* The name of the card BY places after NAME in the order of the table, round the end; NULL: there are none. With BY 0
 * NAME itself, or the first when there is no such. Borrowed from the snapshot. */
const char *cache_card(const Snapshot *s, const char *name, int by);
/* The next card after NAME whose name holds TEXT; NULL: none. */
const char *cache_find_card(const Snapshot *s, const char *name, const char *text);

#endif
