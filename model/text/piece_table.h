/* piece_table: the pieces of a vocabulary by id and by their bytes. */
#ifndef TEXT_PIECE_TABLE_H
#define TEXT_PIECE_TABLE_H

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

int piece_table_find(const PieceTable *t, const char *s, size_t bytes);    /* -1: no piece */
const char *piece_table_piece(const PieceTable *t, int id, size_t *bytes); /* borrowed */

#endif
