/* piece_table: the pieces of a vocabulary by id and by their bytes, and the merges between them. */
#ifndef TEXT_PIECE_TABLE_H
#define TEXT_PIECE_TABLE_H

#include "merge.h"
#include "status.h"
#include "texts.h"

#include <stddef.h>

typedef struct {
    Texts texts; /* text 0 is the empty one, which is no piece */
    int *id;     /* [texts] the first id of each text, -1: none */
    int id_capacity;
    int *text; /* [ids] of each id, 0: none */
    int ids, text_capacity;
} PieceTable;

#define PIECE_TABLE_IDS 10000000 /* ids are below */

void piece_table_init(PieceTable *t);
void piece_table_done(PieceTable *t);
/* Refused: an empty piece, an id out of range or given twice. Of equal pieces the first is found. */
Status piece_table_add(PieceTable *t, const char *s, size_t bytes, long long id) STATUS_CHECKED;
Status piece_table_complete(const PieceTable *t) STATUS_CHECKED; /* refused when an id is left out */

/* Adds to RULES, as the last one, the merge of two pieces into the one that both are one behind the other, INSIDE bytes
 * of the right one left out. Refused: a piece, or what they make, that is not there; a pair that was merged before. */
Status piece_table_merge(const PieceTable *t, MergeRules *rules, const char *left, size_t left_bytes, const char *right,
                         size_t right_bytes, size_t inside) STATUS_CHECKED;

int piece_table_find(const PieceTable *t, const char *s, size_t bytes);    /* -1: no piece */
const char *piece_table_piece(const PieceTable *t, int id, size_t *bytes); /* borrowed */

#endif
