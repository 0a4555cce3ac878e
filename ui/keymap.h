/* keymap: what keys mean, as keys.def and the panes' own rows say. */
#ifndef UI_KEYMAP_H
#define UI_KEYMAP_H

#include "pane.h"

/* Where a key is pressed: the rows that hold there come first, then the pane's own, then those of every pane. */
typedef enum { KEYMAP_PANE, KEYMAP_PRESENT, KEYMAP_OPTIONS } KeyPlace;

/* All rows of keys.def, ending in one without a key. A row whose key is "" begins a group; its help is the heading. */
const KeyRow *keymap_rows(void);
/* The row that KEY runs; NULL: it means nothing. PANE may be NULL. */
const KeyRow *keymap_find(KeyPlace place, const PaneType *pane, Key key);
/* The rows that hold only at PLACE; those of every pane for KEYMAP_PANE. */
const KeyRow *keymap_of(KeyPlace place);
/* A key's name as people know it: "space", "tab", "enter", "esc", "<", "PgUp", "^L", else itself. */
void keymap_show(const char *key, char *out, size_t bytes);

#endif
