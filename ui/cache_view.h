/* cache_view: the cells of the cache: the keys and values of every layer and KV head, a row for each slot. */
#ifndef UI_CACHE_VIEW_H
#define UI_CACHE_VIEW_H

#include "draw.h"
#include "reading.h"

/* What a snapshot and the cursor say of the cache. */
typedef struct {
    const Snapshot *snapshot;
    const Table *slots;              /* cache_slots */
    int layers, kv_heads, group, hd; /* GROUP query heads share a KV head of HD numbers */
    int used, capacity;              /* slots that hold something, and all there are */
    bool rolls;                      /* slots are used again */
    int fed, prefill;                /* tokens, and how many of them were fed at once */
    int newest, next;                /* slots: of the last token, and of the one to come (-1: there is no room) */
    int layer, head;                 /* under the cursor; a KV head */
    int slot;                        /* -1: what the cursor points at is held no longer */
    int column;                      /* 0 .. 2 hd - 1: numbers of K, then of V */
    bool large;                      /* for a hall: one layer and one head, as large as they fit */
} CacheSeen;

/* False: there is no cache in the snapshot. COLUMN is brought into range. */
bool cache_see(const PaneContext *x, int column, CacheSeen *out);
/* The position that a slot in use holds. */
int cache_position(const CacheSeen *s, int slot);
/* The window of the cursor's layer; 0: none. */
int cache_window(const CacheSeen *s);
/* Its keys or values [Hkv slots hd]; NULL: no such layer. */
const Field *cache_field(const CacheSeen *s, int layer, bool values);
double cache_value(const CacheSeen *s, int layer, bool values, int head, int slot, int i);

/* As many layers and heads as there is room for, the cursor's among them. */
void cache_draw_cells(const CacheSeen *s, Canvas *c, Rect r);
/* Whether that is all of them. */
bool cache_shows_all(const CacheSeen *s, const Canvas *c, Rect r);
/* All of them, small; rows that it wants. */
int cache_overview_rows(const CacheSeen *s);
void cache_draw_overview(const CacheSeen *s, Canvas *c, Rect r);
/* The cell at (x, y) of the same picture; false: there is none. */
bool cache_cell_at(const CacheSeen *s, const Canvas *c, Rect r, int x, int y, int *layer, int *head, int *slot,
                   int *column);
/* The number under the cursor, and what the marks before the rows mean. */
void cache_draw_number(const CacheSeen *s, Canvas *c, int x, int y, int w);
void cache_draw_marks(const CacheSeen *s, Canvas *c, int x, int y, int w);
/* The colours of K and V in the cursor's layer. */
void cache_draw_scale(const CacheSeen *s, Canvas *c, int x, int y, int w);

#endif
