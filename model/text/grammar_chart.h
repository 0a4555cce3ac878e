/* grammar_chart: the memo of the inside sums: per goal and position, where what the goal writes ends and how likely it
 * is.
 *
 * A position says how far a text has been matched. Its meaning belongs to the engine; two things hold for all: a
 * negative position is an end that nothing can change any more, and CHART_FAIL is none. The memo lives for one
 * question. */
#ifndef TEXT_GRAMMAR_CHART_H
#define TEXT_GRAMMAR_CHART_H

#include "grammar_internal.h"

#define CHART_FAIL (-1)

typedef enum {
    CHART_EXACT, /* the text and no other: positions are bytes of it */
    CHART_STEPS, /* the same; a text that goes another way ends with the number of tokens that agree */
    CHART_NEXT,  /* the text, then any one token: behind the bytes of the text, a position is what the token has so far
                  */
    CHART_WORDS, /* any one token anywhere */
} ChartMode;

typedef struct {
    int pos;
    double p;
} End;

typedef struct {
    int goal, pos;
    int end, ends;  /* chart->end[end ...] */
    unsigned stamp; /* chart->stamp: in use */
    int round;      /* CHART_WORDS: when it was worked out */
    bool busy;
} Entry;

struct Chart {
    const Engine *engine;
    ChartMode mode;
    Str text;   /* tokens, single blanks between them */
    int length; /* of the text in bytes */
    int tokens;
    int *blanks; /* [length + 1] blanks of the text before this byte */
    int blank_slots;
    double scale; /* every blank of the text counts this factor, so that a long text does not underflow */
    bool underflow;
    unsigned stamp;
    Entry *table;
    int table_size, entries;
    End *end;
    int ends, end_slots;
    Frontier found; /* a place to gather tokens */
    int round;
    bool reentered, changed;
};

/* The chart of L for a new question about TEXT. */
Chart *chart_begin(Language *l, const Engine *engine, ChartMode mode, const char *text);
void chart_restart(Chart *c, double scale); /* forgets all, for the same question */
/* Where something that GOAL writes, not nothing, ends when it starts at POS: chart->end[first ...]. */
bool chart_inside(Language *l, int goal, int pos, int *first, int *ends);

#endif
