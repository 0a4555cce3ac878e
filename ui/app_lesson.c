/* app, lessons: coming to them and leaving them, and the lines of their pages. */
#include "app_private.h"

#include "intl.h"
#include "mem.h"
#include "pane.h"
#include "session.h"

#include <string.h>

static void remember(App *a) {
    a->before_lessons.known = true;
    a->before_lessons.view = a->view;
    a->before_lessons.focus = a->focus;
    memcpy(a->before_lessons.hidden, a->hidden, sizeof a->hidden);
}

static Status leave(App *a) {
    if (!a->before_lessons.known) return app_command(a, "wall");
    a->before_lessons.known = false;
    a->view = a->before_lessons.view;
    memcpy(a->hidden, a->before_lessons.hidden, sizeof a->hidden);
    app_set_focus(a, a->before_lessons.focus);
    return status_ok();
}

Status run_lessons(App *a, const Words *words) {
    int pane = pane_find("lesson");
    (void)words;
    a->overlay = OVERLAY_NONE;
    a->presenting = false;
    if (a->focus == pane) return leave(a);
    if (!a->before_lessons.known) remember(a);
    app_set_focus(a, pane);
    a->view = VIEW_FOCUS;
    return app_command(a, "lesson");
}

/* The lesson keeps the focus: the same keys turn the next page. */
static void set_screen(App *a, const char *lines) {
    a->in_page = true;
    app_run_lines(a, lines);
    a->in_page = false;
    app_set_focus(a, pane_find("lesson"));
    if (a->arriving.len == 0 || a->arrival == ARRIVAL_PAGE) session_cursor(a, lines);
}

/* Lines of a cue do not tell what the page does that they go to: it asks for itself. */
static bool would_drop(App *a, const char *lines) {
    bool asks = a->asks;
    if (a->in_cue) a->asks = a->cue_asks;
    bool asked = ask_first_of_lines(a, lines, "again");
    a->asks = asks;
    return asked;
}

void app_run_page(App *a, const char *lines) {
    if (a->in_page) {
        app_say(a, 2, "%s", _("a page cannot set the screen for another page"));
        return;
    }
    if (!a->before_lessons.known) remember(a);
    if (would_drop(a, lines)) return;
    char *text = mem_text(lines); /* one of them may close the lesson that they are of */
    set_screen(a, text);
    mem_free(text);
}
