/* pane: one view of the run. Drawing is a pure function of a snapshot, the shared cursor and the pane's own state.
 *
 * Adding one: a file pane_x.c with a `const PaneType pane_x` and a row in panes.def. From the row come the number key,
 * ":pane x", the help, the exports, and the tests that draw every pane at every size and press every key in it.
 *
 * Whatever a pane does beside drawing it does in a PaneCall: it may change its state and the cursor, and ask for one
 * command line; it never reaches the worker or the application itself. */
#ifndef UI_PANE_H
#define UI_PANE_H

#include "canvas.h"
#include "command.h"
#include "key.h"
#include "snapshot.h"

/* One cursor for all panes. Indices from 0; clamped to the snapshot before anybody sees it. */
typedef struct {
    int layer, head;
    int query, key; /* token positions of the attention cell */
    long step;      /* the training step under the plot's cursor; -1: follows the step looked at */
} Cursor;

typedef enum { CLOCK_TRAIN, CLOCK_DECODE } Clock;

typedef enum {
    DETAIL_WALL,    /* one of many: the essential, few words */
    DETAIL_FOCUS,   /* alone: everything it knows, explained */
    DETAIL_PRESENT, /* alone, for the back row: bigger cells, fewer labels */
} Detail;

typedef struct {
    const Snapshot *snapshot; /* never NULL; may hold no field at all */
    const Cursor *cursor;
    const void *state; /* the pane's own, state_size bytes */
    Detail detail;
    bool focus;
} PaneContext;

typedef struct {
    void *state;
    Cursor *cursor;
    const Snapshot *snapshot;
    Detail detail;      /* how it is drawn now, */
    int w, h;           /* and how large; 0: it does not show */
    char command[2048]; /* a command line for the application to run afterwards, "" when none; several lines: another
                         * model to visit, as session_visit takes them */
    const char *lines;  /* command lines to carry out then, each ended by a line feed, that set the screen for what the
                         * pane says; borrowed from its state; NULL: none */
} PaneCall;

typedef enum { MOVE_UP, MOVE_DOWN, MOVE_LEFT, MOVE_RIGHT, MOVE_PAGE_UP, MOVE_PAGE_DOWN, MOVE_FIRST, MOVE_LAST } Move;

/* One key, the command line that it runs, and what the help and the key row say of it. keys.def and the panes' own
 * tables are made of these rows; nothing else gives a key a meaning. */
typedef struct {
    const char *key;     /* as key_parse reads it; NULL ends a table */
    const char *command; /* the line */
    const char *brief;   /* one word or two for the key row, marked; NULL: not there */
    const char *help;    /* one line, marked; NULL: the row above speaks for this one too */
} KeyRow;

typedef struct {
    const char *name;  /* "attention" */
    const char *title; /* marked */
    const char *about; /* for the help, marked: what is seen and how to read it */
    const char *empty; /* marked: shown while there is nothing to draw: what will appear, and which key makes it */
    const char *watch; /* observers it needs: "attention tokens" */
    const char *watch_closely; /* and those that it needs where it has the focus, on the wall or alone; NULL: none */
    int min_w, min_h;          /* of the contents; below this the wall leaves it out */
    int chosen_h;              /* that does on a wall of chosen panes (:wall NAME ...); 0: min_h */
    int weight;                /* share of the wall, 1..10 */
    const char *aside; /* the key that brings it: it is on no wall unless it is asked for; NULL: a wall has it */
    int rank; /* where the wall is too small for all it keeps those of the least rank: 0 the core of a lecture .. 9 */
    size_t state_size;
    void (*init)(void *state); /* NULL: zeros */
    void (*done)(void *state); /* NULL: nothing to free */
    void (*draw)(const PaneContext *x, Canvas *c);

    /* What it does with the keys that mean the same everywhere. NULL: nothing. */
    void (*move)(PaneCall *call, Move move, int times);        /* arrows, pages, the wheel */
    bool (*enter)(PaneCall *call);                             /* step into; false: not here */
    bool (*escape)(PaneCall *call);                            /* back out; false: nothing to leave */
    bool (*find)(PaneCall *call, const char *text);            /* the next place that holds TEXT; false: nowhere */
    /* A list shows only what holds TEXT while that is typed for `find`; TEXT NULL: it was given up, as before the first
     * letter. False: no list is searched. NULL: none ever is. */
    bool (*narrow)(PaneCall *call, const char *text);
    /* (x, y) in what draw was given: LIKE is a blank canvas of that size and kind. */
    void (*click)(PaneCall *call, const Canvas *like, int x, int y);
    /* Its own keys and commands. Owner of a command is the PaneCall. */
    const KeyRow *keys;
    const Command *commands;
    /* Whether LINE, of a key of its own or "enter", does something as things are: keys that do nothing are not offered.
     * NULL: all do. */
    bool (*offers)(const PaneContext *x, const char *line);
    /* Text entry: while typing() holds, keys and pastes go to the pane alone. NULL: never. */
    bool (*typing)(const void *state);
    void (*type)(PaneCall *call, const Event *e);

    /* Exactly the numbers shown, for export: fills tables (owned by the caller), returns how many, at most PANE_TABLES.
     */
    int (*tables)(const PaneContext *x, Table **out);
    /* `tables` may take long: it is called in another thread, with copies. It then reads the snapshot, the cursor and a
     * state without pointers, and nothing else. */
    bool tables_beside;
    const char *(*prefix)(const void *state); /* of the files; NULL: the pane's name */
    /* A few words for the title after the name: "layer 2 head 1". NULL: none. */
    void (*subtitle)(const PaneContext *x, char *out, size_t bytes);
    /* Called with what is shown when the laboratory has done what was asked of it. NULL: nothing to note. */
    void (*look)(void *state, const Snapshot *s);
    /* Called often: state that lives beside the snapshot (a running job). True: draw again. NULL: none. */
    bool (*tick)(void *state);
    /* Waits until nothing runs beside the snapshot, at most SECONDS; true: nothing runs. NULL: nothing ever does. */
    bool (*wait)(const void *state, double seconds);
    /* Adds the pane's own command lines that make a fresh state this one, for sessions. NULL: nothing to keep. */
    void (*save)(const void *state, Str *out);
} PaneType;

#define PANE_TABLES 10

#define PANE(name) extern const PaneType pane_##name;
#include "panes.def"
#undef PANE

int pane_count(void);
const PaneType *pane_at(int i);  /* in the order of panes.def, which is the order of the number keys */
int pane_find(const char *name); /* -1: none */

PaneContext pane_context(const PaneCall *call); /* what the pane is drawn in; it has the focus */
/* For `tables`: copies of those of the snapshot's tables that are there; NAMES ends in NULL. */
int pane_copy_tables(const PaneContext *x, const char *const *names, Table **out);
/* TEXT in the middle of C; the sentence of an empty pane. */
void pane_draw_words(const char *text, Canvas *c);
void pane_draw_empty(const PaneType *p, Canvas *c);

/* For `find` of a pane of queries: the cursor goes to the next query whose token holds TEXT. */
bool pane_find_query(PaneCall *call, const char *text);

#endif
