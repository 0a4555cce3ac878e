/* app, drawing: bars, panes, overlays, and the line at the bottom. */
#include "app_private.h"

#include "bars.h"
#include "clock.h"
#include "draw.h"
#include "intl.h"
#include "pane.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_ROWS = 4, PRESENT_LINE_LEAST_H = 10 };

static bool same_layout(const LayoutKey *a, const LayoutKey *b) {
    return a->known && b->known && a->w == b->w && a->h == b->h && a->focus == b->focus && a->view == b->view &&
           a->presenting == b->presenting && memcmp(a->hidden, b->hidden, sizeof a->hidden) == 0;
}

/* Afresh only when something that it follows from has changed: a wall is the best of hundreds of arrangements. */
static void compute_layout(App *a, int w, int h) {
    LayoutKey key = {.known = true, .w = w, .h = h, .focus = a->focus, .view = a->view, .presenting = a->presenting};
    memcpy(key.hidden, a->hidden, sizeof key.hidden);
    if (same_layout(&a->laid, &key)) return;
    a->laid = key;
    PaneNeed need[LAYOUT_MOST];
    int n = pane_count();
    bool chosen = false;
    for (int i = 0; i < n; i++) chosen = chosen || (a->hidden[i] && !pane_at(i)->aside);
    for (int i = 0; i < n; i++) {
        const PaneType *p = pane_at(i);
        int least = chosen && p->chosen_h > 0 ? p->chosen_h : p->min_h;
        need[i] = (PaneNeed){.min_w = p->min_w, .min_h = least, .weight = p->weight, .rank = p->rank};
    }
    layout_compute(&a->layout, a->presenting ? VIEW_FOCUS : a->view, w, h, need, n, a->focus, a->hidden);
    a->w = w;
    a->h = h;
    if (!a->presenting || a->layout.count == 0) return;
    Layout *l = &a->layout; /* the presenter has no title row and no keys: one line says which pane it is */
    l->title.h = l->keys.h = 0;
    l->transport.y = h - l->transport.h;
    l->body = (Rect){0, 0, w, h - l->transport.h};
    int line = l->body.h >= PRESENT_LINE_LEAST_H ? 1 : 0;
    l->place[0].r = (Rect){0, line, w, l->body.h - line};
}

static void title_of(const App *a, int pane, char *out, size_t bytes) {
    const PaneType *p = pane_at(pane);
    char more[160] = "";
    PaneContext context = app_context(a, pane);
    if (p->subtitle) p->subtitle(&context, more, sizeof more);
    char number[12];
    snprintf(number, sizeof number, "%d", pane + 1);
    snprintf(out, bytes, more[0] ? "%s %s ─ %s" : "%s %s", p->aside ? p->aside : number, _(p->title), more);
}

/* Nothing will appear in the panes of a run that there is not. The laboratory has experiments all the same. */
static void draw_contents(App *a, Canvas *c, int pane) {
    const SnapshotFacts *f = snapshot_facts(a->snapshot);
    PaneContext context = app_context(a, pane);
    if (f->state != RUN_FAILED || pane_at(pane) == &pane_lab) {
        pane_at(pane)->draw(&context, c);
        return;
    }
    char text[sizeof f->failure + 128];
    snprintf(text, sizeof text, _("There is no run: %s\n\n:restart KEY=VALUE or :open PATH makes one."), f->failure);
    pane_draw_words(text, c);
}

static void draw_pane(App *a, Canvas *c, const Place *place) {
    char title[256];
    title_of(a, place->pane, title, sizeof title);
    Rect inside = place->r;
    if (!a->presenting)
        inside = draw_box(c, place->r, title, place->pane == a->focus);
    else if (inside.y > 0)
        canvas_text(c, 1, inside.y - 1, c->w - 2, strchr(title, ' ') + 1, STYLE_STRONG,
                    ATTRIBUTE_BOLD | CANVAS_ELLIPSIS); /* a hall needs no number to press */
    Canvas view = canvas_view(c, inside);
    if (view.w > 0 && view.h > 0) draw_contents(a, &view, place->pane);
}

/* Overlays. */

static Rect overlay_rect(const App *a) {
    Rect b = a->layout.body;
    int w = b.w > 100 ? 100 : b.w, margin = b.h > 24 ? 2 : 0;
    return (Rect){b.x + (b.w - w) / 2, b.y + margin, w, b.h - 2 * margin};
}

static const char *overlay_title(const App *a) {
    if (a->overlay == OVERLAY_HELP) return _("help ─ / filters, esc closes");
    if (a->overlay == OVERLAY_TAMPERING) return _("interventions ─ enter takes one back, U all, esc closes");
    return _("options of the run ─ enter edits, A applies, V beside, R anew, esc closes");
}

static void draw_overlay(App *a, Canvas *c) {
    if (a->overlay == OVERLAY_NONE) return;
    Rect r = overlay_rect(a);
    canvas_fill(c, r, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
    a->overlay_inside = draw_box(c, r, overlay_title(a), true);
    Canvas view = canvas_view(c, a->overlay_inside);
    Rect all = {0, 0, view.w, view.h};
    int above = a->overlay == OVERLAY_HELP ? a->help.first : 0, below = 0;
    if (a->overlay == OVERLAY_TAMPERING) {
        tampering_draw(a, &view, &above, &below);
    } else if (a->overlay == OVERLAY_HELP) {
        below = help_draw(&a->help, &view, a->focus, app_commands()) - above - view.h;
    } else {
        form_draw(a->form, &view, all, true);
        form_hidden(a->form, all, &above, &below);
    }
    draw_box_more(c, r, above, below);
}

/* The line at the bottom: what is being typed, else the message, else the keys. */

static void draw_message(const App *a, Canvas *c) {
    int rows = draw_paragraph_rows(c->w - 2, a->message), most = c->h / 3 < MESSAGE_ROWS ? c->h / 3 : MESSAGE_ROWS;
    if (most < 1) most = 1;
    if (rows > most) rows = most;
    StyleRole role = a->message_level == 2 ? STYLE_ERROR : a->message_level == 1 ? STYLE_WARNING : STYLE_BAR;
    Rect r = {0, c->h - rows, c->w, rows};
    canvas_fill(c, r, ' ', STYLE_BAR, ATTRIBUTE_NONE);
    draw_paragraph(c, (Rect){1, r.y, r.w - 2, r.h}, a->message, role);
}

static void draw_bottom(const App *a, Canvas *c) {
    if (a->ask != ASK_NOTHING) {
        int rows = c->h / 2 > 1 ? c->h / 2 : 1;
        prompt_draw(a->prompt, c, (Rect){0, c->h - rows, c->w, rows});
    } else if (a->message[0]) {
        draw_message(a, c);
    } else if (a->layout.keys.h > 0) {
        Canvas keys = canvas_view(c, a->layout.keys);
        PaneContext x = app_context(a, a->focus);
        bars_draw_keys(&keys, app_key_place(a), pane_at(a->focus), &x, a->clock);
    }
}

static void draw_too_small(Canvas *c) {
    Rect all = {0, 0, c->w, c->h};
    draw_paragraph(c, all, _("lantern needs 20 x 6 characters; make the window larger"), STYLE_TEXT);
}

/* All but the focused pane, or but its cursor; the line at the bottom comes later. */
static void dim(const App *a, Canvas *c) {
    for (int i = 0; i < a->layout.count; i++)
        if (a->layout.place[i].pane == a->focus) spotlight_dim(c, &a->style, a->spotlight, a->layout.place[i].r);
}

Canvas *app_blank(const App *a, int w, int h) {
    Canvas *c = canvas_new(w, h, a->glyphs);
    c->heat_colour = a->heat_colour;
    return c;
}

void app_draw(App *a, Canvas *c) {
    canvas_clear(c);
    a->glyphs = c->glyphs;
    a->heat_colour = c->heat_colour;
    compute_layout(a, c->w, c->h);
    if (a->blank) return;
    if (c->w < LAYOUT_LEAST_W || c->h < LAYOUT_LEAST_H) {
        draw_too_small(c);
        return;
    }
    if (a->layout.title.h > 0) {
        Canvas title = canvas_view(c, a->layout.title);
        bars_draw_title(&title, a->snapshot, &a->style);
    }
    for (int i = 0; i < a->layout.count; i++) draw_pane(a, c, &a->layout.place[i]);
    Canvas transport = canvas_view(c, a->layout.transport);
    bars_draw_transport(&transport, a->snapshot, a->clock);
    dim(a, c);
    draw_overlay(a, c);
    draw_bottom(a, c);
}
