/* app: the screen as a whole: layout, focus, the shared cursor, overlays, and the snapshot shown. Takes events, draws a
 * canvas.
 *
 * Every key runs a command line: one of the focused pane, of the screen, of another pane, or of the laboratory (posted
 * to the worker). Nothing here waits for anything. */
#ifndef UI_APP_H
#define UI_APP_H

#include "canvas.h"
#include "command.h"
#include "key.h"
#include "status.h"
#include "worker.h"

typedef struct App App;

App *app_new(Worker *w, Glyphs glyphs, Depth depth); /* W is borrowed; NULL: snapshots come from app_show alone */
void app_free(App *a);
void app_event(App *a, const Event *e);
/* Takes new snapshots and lets panes look at what runs beside. True when the screen should be drawn again. */
bool app_tick(App *a);
/* Seconds until something on the screen changes by itself (a message goes); negative: nothing will. */
double app_wait(const App *a);
void app_draw(App *a, Canvas *c); /* the whole screen at the canvas' size */
/* A line of a pane, of the screen, or of the laboratory; the laboratory's refusals arrive later, as a message of the
 * snapshot. */
Status app_command(App *a, const char *line) STATUS_CHECKED;
void app_run(App *a, const char *line);   /* the same; what went wrong is said in the message line */
void app_show(App *a, const Snapshot *s); /* takes a reference of its own */
bool app_wants_quit(const App *a);
/* Waits for experiments that run beside, at most SECONDS; true: none runs. For scripts. */
bool app_wait_jobs(App *a, double seconds);
/* Waits for files that are being written beside the screen; how that ended is also the message. */
Status app_end_writing(App *a) STATUS_CHECKED;

const StyleSheet *app_style(const App *a);
/* Theme, map and ground; the depth stays that of the terminal. CHOSEN: somebody asked for this theme, whatever the
 * terminal says of its ground. */
void app_set_style(App *a, const StyleSheet *style, bool chosen);
const Snapshot *app_snapshot(const App *a);          /* never NULL; borrowed until the next tick */
const char *app_message(const App *a);               /* "" when none */
const Command *app_commands(void);                   /* the screen's table */

/* What the application wants of the terminal since the last call. */
typedef struct {
    bool repaint, suspend;
    bool mouse; /* state wanted */
} AppWish;
AppWish app_wish(App *a);

#endif
