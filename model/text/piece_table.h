/* piece_table: the pieces of a vocabulary by id and by their bytes, and those among them that are cut out of a text
 * before anything else. */
#ifndef TEXT_PIECE_TABLE_H
#define TEXT_PIECE_TABLE_H

#include "status.h"
#include "texts.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    Texts texts; /* text 0 is the empty one, which is no piece */
    int *id;     /* [texts] the first id of each text, -1: none */
    int id_capacity;
    int *text; /* [ids] of each id, 0: none */
    int ids, text_capacity;
    int *special; /* [specials] ids that are cut out, longest first */
    int specials, special_capacity;
    bool begins[256]; /* bytes that one of those begins with */
} PieceTable;

#define PIECE_TABLE_IDS 10000000 /* ids are below */

void piece_table_init(PieceTable *t);
void piece_table_done(PieceTable *t);
/* Refused: an empty piece, an id out of range or given twice. Of equal pieces the first is found. */
Status piece_table_add(PieceTable *t, const char *s, size_t bytes, long long id) STATUS_CHECKED;
/* Adds a piece that is cut out, or says so of one that is there with that id. */
Status piece_table_add_special(PieceTable *t, const char *s, size_t bytes, long long id) STATUS_CHECKED;
Status piece_table_complete(const PieceTable *t) STATUS_CHECKED; /* refused when an id is left out */

int piece_table_find(const PieceTable *t, const char *s, size_t bytes);    /* -1: no piece */
const char *piece_table_piece(const PieceTable *t, int id, size_t *bytes); /* borrowed */
bool piece_table_is_special(const PieceTable *t, int id);
/* The first piece that is cut out of S from AT on, the longest of those that begin there: where, N: none. */
size_t piece_table_next_special(const PieceTable *t, const char *s, size_t n, size_t at, size_t *bytes);

#endif
