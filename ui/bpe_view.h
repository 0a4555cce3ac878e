/* bpe_view: the picture of the bpe pane: where its parts stand; the lists of pairs, words, merges and of the steps in
 * which a text is cut; how vocabulary and length have grown. Pieces are bpe_pieces.c's; keys and commands pane_bpe.c's.
 */
#ifndef UI_BPE_VIEW_H
#define UI_BPE_VIEW_H

#include "draw.h"
#include "pane.h"

/* The lists that the cursor moves in. */
typedef enum { BPE_PAIRS, BPE_WORDS, BPE_MERGES, BPE_STEPS, BPE_LISTS } BpeList;

typedef struct {
    BpeList list;       /* with the cursor */
    int row[BPE_LISTS]; /* may be past the end: the last. Merges: the newest is 0 */
} BpeState;

/* The tables of the snapshot; borrowed. */
typedef struct {
    const Table *facts, *pairs, *words, *merges, *growth, *steps, *encoded;
    bool own; /* of the model's tokenizer: only facts, steps and encoded are there */
} BpeSeen;

bool bpe_see(const PaneContext *x, BpeSeen *out); /* false: nothing is learnt yet */
long long bpe_fact(const BpeSeen *s, const char *name);
const char *bpe_fact_text(const BpeSeen *s, const char *name);
BpeList bpe_list(const PaneContext *x, const BpeSeen *s); /* with the cursor, of those that are there */
int bpe_rows(const BpeSeen *s, BpeList list);
int bpe_row(const PaneContext *x, const BpeSeen *s, BpeList list); /* under the cursor, within the list */
const char *bpe_list_name(BpeList list);                           /* as the command spells it */
/* A cell of one of those tables; "" and 0 where there is none. */
const char *bpe_text(const Table *t, long row, const char *name);
long long bpe_int(const Table *t, long row, const char *name);
/* Texts of rows; "" where there is none. */
const char *bpe_word_of(const BpeSeen *s, int row);
long bpe_rank_of(const BpeSeen *s, int row); /* of a row of the list of merges */

/* A part without room has height 0. */
typedef struct {
    Rect head, list[BPE_LISTS], plot, spark, foot;
} BpePlan;

BpePlan bpe_plan(const PaneContext *x, const BpeSeen *s, int w, int h);
void bpe_draw_parts(const PaneContext *x, const BpeSeen *s, const BpePlan *p, Canvas *c);
/* The row of a list at (PX, PY). */
bool bpe_hit(const PaneContext *x, const BpeSeen *s, const BpePlan *p, int px, int py, BpeList *list, int *row);

/* --- bpe_pieces.c --- */
/* What is marked in pieces: the newest (bold), and a pair that stands side by side (underlined); NULL: nothing. */
typedef struct {
    const char *newest, *left, *right;
    bool byte; /* units are bytes */
} BpeMarks;

/* Pieces, a blank between them, as one line; cut with an ellipsis. Returns the columns used. */
int bpe_draw_pieces(Canvas *c, int x, int y, int w, const char *pieces, const BpeMarks *marks);
/* The same over several lines; returns how many. */
int bpe_draw_pieces_lines(Canvas *c, Rect r, const char *pieces, const BpeMarks *marks);
StyleRole bpe_piece_role(const char *piece, size_t bytes, bool byte);

/* --- bpe_foot.c: what the row under the cursor means, and how things have grown --- */
void bpe_draw_foot(const PaneContext *x, const BpeSeen *s, Canvas *c, Rect r);
void bpe_draw_growth(const BpeSeen *s, Canvas *c, Rect r);
void bpe_draw_spark(const BpeSeen *s, Canvas *c, Rect r);

#endif
