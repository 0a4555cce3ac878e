/* The parts of App that its own files share: app.c (life, snapshots), app_event.c (keys and mouse), app_command.c (the
 * screen's commands), app_draw.c and those named below. Nobody else includes this. */
#ifndef UI_APP_PRIVATE_H
#define UI_APP_PRIVATE_H

#include "app.h"
#include "complete.h"
#include "cues.h"
#include "form.h"
#include "help.h"
#include "keymap.h"
#include "layout.h"
#include "prompt.h"
#include "spotlight.h"
#include "writing.h"

typedef enum { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_OPTIONS, OVERLAY_TAMPERING } Overlay;
typedef enum { ARRIVAL_KEPT, ARRIVAL_VISIT, ARRIVAL_HOME, ARRIVAL_PAGE } Arrival; /* what the screen's lines belong to */
typedef enum { ASK_NOTHING, ASK_COMMAND, ASK_FIND, ASK_PROMPT } Ask;

/* What the layout follows from. */
typedef struct {
    bool known;
    int w, h, focus;
    ViewKind view;
    bool presenting;
    bool hidden[LAYOUT_MOST];
} LayoutKey;

struct App {
    Worker *worker;           /* NULL: none */
    const Snapshot *snapshot; /* never NULL */
    StyleSheet style;
    bool theme_chosen; /* by a command: what the terminal says of its ground changes nothing any more */
    void *state[LAYOUT_MOST]; /* of each pane */
    Cursor cursor;
    long scrub;  /* the step that rewind or advance asked for last and that has not arrived; -1: none */
    bool placed; /* the cursor has been put on a token */
    Clock clock;

    ViewKind view;
    int focus;
    bool hidden[LAYOUT_MOST]; /* panes that the wall leaves out */
    bool presenting, blank, mouse;
    Spotlight spotlight;
    Cues cues;
    bool in_cue; /* its lines are being run, or those of a page */
    bool in_page, cue_asks; /* asks: as when they began */
    struct {
        bool known, hidden[LAYOUT_MOST];
        ViewKind view;
        int focus;
    } before_lessons; /* how the screen was */
    bool asks;           /* what is run now was asked for by somebody who can answer a question */
    bool quitting, quit; /* asked once; decided */
    char dropping[COMMAND_BYTES]; /* a line that would drop the run and waits for an answer; "": none */
    int w, h;            /* of the last drawing */
    Glyphs glyphs;       /* of its canvas */
    bool heat_colour;
    Layout layout;       /* of the last drawing */
    LayoutKey laid;      /* what it follows from */

    Overlay overlay;
    Rect overlay_inside; /* of the last drawing */
    HelpView help, help_before; /* before: while a text is typed that it is filtered by */
    Form *form; /* of OVERLAY_OPTIONS */
    int tampering_at; /* row of OVERLAY_TAMPERING under the cursor */
    Prompt *prompt;
    Ask ask;
    Complete *complete;
    char found[128]; /* what was looked for last */

    char message[sizeof((SnapshotFacts *)0)->message];
    int message_level;
    double message_since, message_until; /* clock_now */
    long message_number;  /* the newest of the snapshots' */

    char watching[256];  /* as last posted */
    bool export_pending; /* export-all waits for a snapshot that holds what all panes need */
    int export_patience; /* snapshots it still waits for */
    char export_folder[512];
    Writing *writing; /* files on their way out; NULL: none */
    int writing_what; /* a pane, EXPORT_ALL or EXPORT_SCREEN */
    Str arriving;     /* the screen's lines of a session whose model is on its way */
    Arrival arrival;
    long arriving_message; /* the newest message when they were posted */
    Str home;         /* the screen's lines from before another model was looked at */
    long mark;        /* the newest one posted */
    bool repaint, suspend;
};

/* A key or a click that goes on with something else: what is said at the bottom makes room for the keys, an error when it has stood
 * for a moment. */
void app_go_on(App *a);
void app_say(App *a, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
Status app_post(App *a, const char *line) STATUS_CHECKED;
void app_set_focus(App *a, int pane);
Detail app_detail(const App *a); /* how the focused pane is drawn */
PaneContext app_context(const App *a, int pane);
Rect app_contents(const App *a, const Place *place); /* of a pane, without its frame */
PaneCall app_call(App *a, int pane);
void app_finish(App *a, PaneCall *call); /* clamps the cursor, runs what the pane asked for */
bool app_is_shown(const App *a, int pane);
Canvas *app_blank(const App *a, int w, int h); /* as the screen was drawn to last, of W x H; the caller frees it */
void app_open(App *a, Ask ask, const char *line); /* LINE: to begin with; of the prompt the words there are */
/* A list that is filtered by what is looked for, while TEXT is typed; NULL: as it was before. False: there is none. */
bool app_narrow(App *a, const char *text);
KeyPlace app_key_place(const App *a);
const char *app_watch_list(const App *a, bool all, char *out,
                           size_t bytes); /* observers that the panes shown (or all) need */

/* app_lesson.c */
Status run_lessons(App *a, const Words *words) STATUS_CHECKED;
/* The lines that set the screen for a page; where they would drop a run that is in no file that is asked first. */
void app_run_page(App *a, const char *lines);

/* app_present.c */
void app_run_lines(App *a, const char *lines); /* those of a cue, or of a page: each ended by a line feed */
Status run_present(App *a, const Words *words) STATUS_CHECKED;
Status run_spotlight(App *a, const Words *words) STATUS_CHECKED;
Status run_cues(App *a, const Words *words) STATUS_CHECKED;
Status run_cue(App *a, const Words *words) STATUS_CHECKED;
const char *app_spotlight_name(Spotlight s);

/* app_options.c */
void options_toggle(App *a); /* opens the form, or closes it */
Options *options_live(const App *a); /* of a run as the one that is live was asked for; the caller frees them */
/* COMMAND with what was changed in the form; nothing is added when it is closed or as it was. */
void options_changes(const App *a, const char *command, Str *line);
Status options_post(App *a, const char *command) STATUS_CHECKED; /* posts that, and closes the form */
Status options_begin(App *a) STATUS_CHECKED; /* posts a new run of what the form says */

/* app_tampering.c */
Status run_interventions(App *a, const Words *words) STATUS_CHECKED;
void tampering_move(App *a, int rows); /* clamped */
void tampering_enter(App *a);          /* takes back what is under the cursor */
void tampering_draw(const App *a, Canvas *c, int *above, int *below); /* rows that do not show */
bool tampering_find(App *a, const char *text);
void tampering_click(App *a, int y); /* row Y of what was drawn */

/* app_ask.c */
/* Whether LINE would drop a run that is in no file, and somebody is there to answer: then that is said, and the line
 * waits. */
bool ask_first(App *a, const char *line);
/* The same of LINES, one of which may drop it; LINE is what asks for them again. */
bool ask_first_of_lines(App *a, const char *lines, const char *line);
void ask_to_quit(App *a, const char *question);
bool ask_stands(const App *a);
void ask_forget(App *a);        /* the sentence has gone, and the question with it */
bool ask_answer(App *a, Key k); /* true: K answered a question, and does nothing else */

/* app_dispatch.c */
const Command *app_find(const App *a, const char *name); /* the row that a line of this name runs; NULL: none, or several */

/* export.c */
enum { EXPORT_ALL = -1, EXPORT_SCREEN = -2, EXPORT_SESSION = -3, EXPORT_QUIETLY = -4 };
Status export_tables(App *a, int what, const char *folder) STATUS_CHECKED;   /* of one pane, or EXPORT_ALL */
Status export_screen(App *a, const char *path, Str *picture) STATUS_CHECKED; /* takes PICTURE over */
/* The lines of a session, which it takes over; QUIETLY: nothing is said of it. */
Status export_session(App *a, const char *path, Str *text, bool quietly) STATUS_CHECKED;
bool export_follow(App *a);                                                  /* says how it ended; true: it just did */
bool export_is_ready(const App *a);

#endif
