/* pane: one view of the run. Drawing is a pure function of a snapshot, the shared cursor and the pane's own state.
 *
 * Adding one: a file pane_x.c with a `const PaneType pane_x` and a row in panes.def. From the row come the number key, ":pane x", the
 * help, the exports, and the tests that draw every pane at every size. */
#ifndef UI_PANE_H
#define UI_PANE_H

#include "canvas.h"
#include "command.h"
#include "key.h"
#include "snapshot.h"

/* One cursor for all panes. Indices from 0; clamped to the snapshot before anybody sees it. */
typedef struct {
    int layer, head;
    int query, key;  /* token positions of the attention cell */
    long step;       /* the training step under the plot's cursor; -1: follows */
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
    const void *state;        /* the pane's own, state_size bytes */
    Detail detail;
    bool focus;
} PaneContext;

/* What the pane asks the application to do; it never does it itself. */
typedef struct {
    bool handled;     /* the key was the pane's */
    char command[256]; /* a command line to run, "" when none */
} PaneReply;

typedef struct {
    Key key;          /* 0 ends the table */
    const char *help; /* marked for gettext */
} PaneKey;

typedef struct {
    const char *name;   /* "attention" */
    const char *title;  /* marked */
    const char *about;  /* for the help, marked: what is seen and how to read it */
    const char *watch;  /* observers it needs: "attention tokens" */
    Clock clock;        /* what n and N step when it has the focus */
    int min_w, min_h;   /* below this the wall leaves it out */
    int weight;         /* share of the wall, 1..10 */
    size_t state_size;
    void (*init)(void *state);  /* NULL: zeros */
    void (*done)(void *state);  /* NULL: nothing to free */
    void (*draw)(const PaneContext *x, Canvas *c);
    /* Cursor may be moved. NULL: takes no keys. */
    PaneReply (*key)(void *state, Cursor *cursor, const Snapshot *s, Key k);
    /* A click at (x, y) inside the rectangle of size w x h that draw was given. NULL: only takes the focus. */
    PaneReply (*click)(void *state, Cursor *cursor, const Snapshot *s, int x, int y, int w, int h);
    /* The pane's own part of the command table ("stage scores"): NULL when it has none. */
    const Command *commands; /* owner is the state */
    /* Exactly the numbers shown, for export: fills tables (owned by the caller), returns how many, at most `most`. */
    int (*tables)(const PaneContext *x, Table **out, int most);
    const PaneKey *keys;
    /* A few words for the title after the name: "layer 2 head 1". NULL: none. */
    void (*subtitle)(const PaneContext *x, char *out, size_t bytes);
    /* Called often (every turn of the loop): state that lives beside the snapshot (a running job). True: draw again. NULL: none. */
    bool (*tick)(void *state);
} PaneType;

#define PANE(name) extern const PaneType pane_##name;
#include "panes.def"
#undef PANE

int pane_count(void);
const PaneType *pane_at(int i); /* in the order of panes.def, which is the order of the number keys */
int pane_find(const char *name); /* -1: none */

#endif
