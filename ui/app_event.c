/* app, events: which key, paste or click goes where. */
#include "app_private.h"

#include "bars.h"
#include "ground.h"
#include "intl.h"
#include "pane.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

enum { WHEEL_ROWS = 3 };

KeyPlace app_key_place(const App *a) {
    return a->overlay == OVERLAY_OPTIONS ? KEYMAP_OPTIONS : a->presenting ? KEYMAP_PRESENT : KEYMAP_PANE;
}

/* The line at the bottom. */

void app_open(App *a, Ask ask, const char *line) {
    a->ask = ask;
    a->message[0] = '\0';
    a->help_before = a->help;
    if (ask == ASK_COMMAND) {
        prompt_open(a->prompt, ":", line, complete_line, a->complete);
    } else if (ask == ASK_FIND) {
        prompt_open(a->prompt, "/", line, NULL, NULL);
    } else {
        const char *words = reading_setting(a->snapshot, "prompt");
        complete_set_words(a->complete, snapshot_table(a->snapshot, "next"));
        prompt_open(a->prompt, _("prompt: "), words ? words : "", complete_word, a->complete);
    }
}

static void answered(App *a) {
    Ask ask = a->ask;
    const char *text = prompt_text(a->prompt);
    Str line;
    str_init(&line);
    a->ask = ASK_NOTHING;
    if (ask == ASK_COMMAND)
        str_add(&line, text);
    else if (ask == ASK_FIND)
        str_addf(&line, "find %s", text);
    else
        str_addf(&line, "prompt %s", text);
    app_run(a, line.s);
    str_done(&line);
}

static void ask_key(App *a, const Event *e) {
    switch (prompt_key(a->prompt, e->key)) {
    case PROMPT_EDITING:
        if (a->ask == ASK_FIND) (void)app_narrow(a, prompt_text(a->prompt));
        break;
    case PROMPT_DONE:
        answered(a);
        break;
    case PROMPT_GONE:
        if (a->ask == ASK_FIND) (void)app_narrow(a, NULL);
        a->ask = ASK_NOTHING;
        break;
    }
}

/* Keys. */

static void type_into_pane(App *a, const Event *e) {
    PaneCall call = app_call(a, a->focus);
    pane_at(a->focus)->type(&call, e);
    app_finish(a, &call);
}

static bool pane_is_typing(const App *a) {
    const PaneType *p = pane_at(a->focus);
    return a->overlay == OVERLAY_NONE && p->typing && p->typing(a->state[a->focus]);
}

/* Nothing but a key is taken: the screen is blank, or a question stands. */
static bool waits_for_a_key(const App *a) {
    return a->blank || ask_stands(a);
}

/* Keys that bring the screen back or answer a question; true: this one did. */
static bool answer_key(App *a, Key k) {
    if (!a->blank) return ask_answer(a, k);
    a->blank = false;
    return true;
}

/* A clicker's keys go through the cues wherever there are some. */
static const KeyRow *row_of(const App *a, Key k) {
    bool clicked = k == KEYCODE_PAGE_DOWN || k == KEYCODE_PAGE_UP;
    KeyPlace place = clicked && a->cues.count && a->overlay == OVERLAY_NONE ? KEYMAP_PRESENT : app_key_place(a);
    return keymap_find(place, pane_at(a->focus), k);
}

static void command_key(App *a, Key k) {
    const KeyRow *row = row_of(a, k);
    if (k == (KEYCODE_CTRL | 'c')) {
        app_run(a, "quit");
    } else if (!row) {
        char name[32];
        key_label(k, name, sizeof name);
        app_say(a, 0, _("%s does nothing here; ? lists the keys"), name);
    } else {
        bool closes = a->message_level > 0 && !strcmp(row->command, "escape"); /* the error, and nothing else */
        if (!closes) app_go_on(a);
        app_run(a, row->command);
    }
}

static void on_key(App *a, const Event *e) {
    if (answer_key(a, e->key)) return;
    if (a->ask != ASK_NOTHING)
        ask_key(a, e);
    else if (a->overlay == OVERLAY_OPTIONS && form_typing(a->form))
        form_type(a->form, e);
    else if (pane_is_typing(a))
        type_into_pane(a, e);
    else
        command_key(a, e->key);
}

static void on_paste(App *a, const Event *e) {
    if (waits_for_a_key(a)) return;
    if (a->ask != ASK_NOTHING) {
        prompt_paste(a->prompt, e->paste);
        if (a->ask == ASK_FIND) (void)app_narrow(a, prompt_text(a->prompt));
    } else if (a->overlay == OVERLAY_OPTIONS && form_typing(a->form))
        form_type(a->form, e);
    else if (pane_is_typing(a))
        type_into_pane(a, e);
    else
        app_say(a, 0, _("a pasted text goes into a line that is open: e, : or /"));
}

/* Mouse. */

static void click_pane(App *a, const Place *place, int x, int y) {
    bool had_focus = place->pane == a->focus;
    if (!had_focus) app_set_focus(a, place->pane);
    Rect r = app_contents(a, place);
    const PaneType *p = pane_at(place->pane);
    if (!p->click || x < r.x || y < r.y || x >= r.x + r.w || y >= r.y + r.h) return;
    PaneCall call = app_call(a, place->pane);
    Canvas *like = app_blank(a, r.w, r.h);
    p->click(&call, like, x - r.x, y - r.y);
    canvas_free(like);
    app_finish(a, &call);
}

static void click_transport(App *a, int x, int y) {
    Rect r = a->layout.transport;
    Canvas size = {.w = r.w, .h = r.h};
    Clock clock;
    long step;
    bool hit = bars_hit(&size, a->snapshot, a->clock, x - r.x, y - r.y, &clock, &step);
    a->clock = clock;
    if (!hit) return;
    char line[40];
    snprintf(line, sizeof line, "seek %ld", step);
    app_run(a, line);
}

static void press(App *a, int x, int y) {
    Rect t = a->layout.transport;
    int at = layout_hit(&a->layout, x, y);
    app_go_on(a);
    if (a->overlay == OVERLAY_OPTIONS)
        form_click(a->form, a->overlay_inside, x, y);
    else if (a->overlay == OVERLAY_TAMPERING)
        tampering_click(a, y - a->overlay_inside.y);
    else if (a->overlay == OVERLAY_HELP)
        app_run(a, "escape");
    else if (y >= t.y && y < t.y + t.h)
        click_transport(a, x, y);
    else if (at >= 0)
        click_pane(a, &a->layout.place[at], x, y);
}

static void wheel(App *a, int x, int y, bool up) {
    char line[40];
    snprintf(line, sizeof line, "cursor %s %d", up ? "up" : "down", WHEEL_ROWS);
    int at = layout_hit(&a->layout, x, y);
    if (a->overlay == OVERLAY_NONE && at >= 0 && a->layout.place[at].pane != a->focus)
        app_set_focus(a, a->layout.place[at].pane);
    app_run(a, line);
}

static void on_mouse(App *a, const Event *e) {
    if (waits_for_a_key(a) || a->ask != ASK_NOTHING) return;
    switch (e->mouse) {
    case MOUSE_PRESS:
    case MOUSE_DRAG:
        press(a, e->x, e->y);
        break;
    case MOUSE_WHEEL_UP:
        wheel(a, e->x, e->y, true);
        break;
    case MOUSE_WHEEL_DOWN:
        wheel(a, e->x, e->y, false);
        break;
    case MOUSE_RELEASE:
        break;
    }
}

void app_event(App *a, const Event *e) {
    a->asks = !e->sure;
    switch (e->kind) {
    case EVENT_KEY:
        on_key(a, e);
        break;
    case EVENT_MOUSE:
        on_mouse(a, e);
        break;
    case EVENT_PASTE:
        on_paste(a, e);
        break;
    case EVENT_QUIT:
        a->quit = true;
        break;
    case EVENT_RESUME:
        a->repaint = true;
        break;
    case EVENT_GROUND:
        a->style.ground = ground_theme(e->ground);
        if (!a->theme_chosen) a->style.theme = a->style.ground;
        break;
    case EVENT_RESIZE:
    case EVENT_WAKE:
    case EVENT_NONE:
        break;
    }
    a->asks = false;
}
