/* app: the screen as a whole: layout, focus, the shared cursor, overlays, and the snapshot shown. Takes events, draws a canvas. */
#ifndef UI_APP_H
#define UI_APP_H

#include "canvas.h"
#include "key.h"
#include "status.h"
#include "worker.h"

typedef struct App App;

App *app_new(Worker *w, Glyphs glyphs, Depth depth); /* W is borrowed */
void app_free(App *a);
void app_event(App *a, const Event *e);
/* Takes new snapshots and lets panes look at what runs beside. True when the screen should be drawn again. */
bool app_tick(App *a);
void app_draw(App *a, Canvas *c); /* the whole screen at the canvas' size */
Status app_command(App *a, const char *line); /* screen's table first, then the laboratory's (posted to the worker) */
bool app_wants_quit(const App *a);
const StyleSheet *app_style(const App *a);
const Snapshot *app_snapshot(const App *a);

/* What the application wants of the terminal since the last call. */
typedef struct {
    bool repaint, suspend;
    bool mouse; /* state wanted */
} AppWish;
AppWish app_wish(App *a);

#endif
