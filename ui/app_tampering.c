/* app, tampering: the list of all that is done to what is looked at, and taking back one of it. */
#include "app_private.h"

#include "draw.h"
#include "intl.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

static const Table *list(const App *a) {
    return snapshot_table(a->snapshot, "tampering");
}

static int rows(const App *a) {
    const Table *t = list(a);
    return t ? (int)table_rows(t) : 0;
}

/* The cursor as it stands when the list has become shorter. */
static int at(const App *a) {
    int n = rows(a);
    return a->tampering_at < n ? a->tampering_at : n > 0 ? n - 1 : 0;
}

Status run_interventions(App *a, const Words *words) {
    (void)words;
    a->overlay = a->overlay == OVERLAY_TAMPERING ? OVERLAY_NONE : OVERLAY_TAMPERING;
    a->tampering_at = 0;
    return status_ok();
}

void tampering_move(App *a, int by) {
    int n = rows(a), to = at(a) + by;
    a->tampering_at = to >= n ? (n > 0 ? n - 1 : 0) : to < 0 ? 0 : to;
}

void tampering_enter(App *a) {
    if (rows(a) == 0)
        a->overlay = OVERLAY_NONE;
    else
        app_run(a, table_text(list(a), at(a), table_find(list(a), "back")));
}

bool tampering_find(App *a, const char *text) {
    int n = rows(a), from = at(a);
    for (int i = 1; i <= n; i++) {
        int row = (from + i) % n;
        if (!reading_holds(table_text(list(a), row, 0), text)) continue;
        a->tampering_at = row;
        return true;
    }
    return false;
}

/* The first row that shows in H rows: the cursor is near the middle. */
static int first_row(const App *a, int h) {
    int first = at(a) - h / 2, most = rows(a) - h;
    if (first > most) first = most;
    return first > 0 ? first : 0;
}

void tampering_click(App *a, int y) {
    if (y < 0 || y >= a->overlay_inside.h) return;
    tampering_move(a, first_row(a, a->overlay_inside.h) + y - at(a));
}

void tampering_draw(const App *a, Canvas *c, int *above, int *below) {
    const Table *t = list(a);
    int n = rows(a), first = first_row(a, c->h), half = c->w / 2;
    if (n == 0)
        draw_paragraph(c, (Rect){1, 0, c->w - 2, c->h},
                       _("Nothing is done to what is looked at. In the attention pane - switches a head off; :swap 2 "
                         "cats puts another word in, :force eat the next one, :window 3 hides what is far. Training "
                         "goes on as if nothing were done."),
                       STYLE_DIM);
    for (int y = 0; y < c->h && first + y < n; y++) {
        bool here = first + y == at(a);
        if (here) canvas_text(c, 0, y, 1, "▸", STYLE_CURSOR, ATTRIBUTE_NONE);
        canvas_text(c, 2, y, half - 3, table_text(t, first + y, 0), here ? STYLE_STRONG : STYLE_TEXT,
                    CANVAS_ELLIPSIS | (here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE));
        canvas_textf(c, half, y, c->w - half, STYLE_DIM, CANVAS_ELLIPSIS, _("back: %s"), table_text(t, first + y, 1));
    }
    *above = first;
    *below = n - first - c->h > 0 ? n - first - c->h : 0;
}
