#include "pane.h"

#include "draw.h"
#include "intl.h"
#include "reading.h"

#include <string.h>

static const PaneType *const panes[] = {
#define PANE(name) &pane_##name,
#include "panes.def"
#undef PANE
};

int pane_count(void) {
    return (int)(sizeof panes / sizeof panes[0]);
}

const PaneType *pane_at(int i) {
    return panes[i];
}

int pane_find(const char *name) {
    for (int i = 0; i < pane_count(); i++) {
        if (!strcmp(panes[i]->name, name)) return i;
    }
    return -1;
}

PaneContext pane_context(const PaneCall *call) {
    return (PaneContext){.snapshot = call->snapshot,
                         .cursor = call->cursor,
                         .state = call->state,
                         .detail = call->detail,
                         .focus = true};
}

int pane_copy_tables(const PaneContext *x, const char *const *names, Table **out) {
    int n = 0;
    for (; *names; names++) {
        const Table *t = snapshot_table(x->snapshot, *names);
        if (t) out[n++] = table_copy(t);
    }
    return n;
}

void pane_draw_words(const char *text, Canvas *c) {
    int margin = c->w > 40 ? c->w / 8 : c->w > 8 ? 1 : 0;
    Rect r = {margin, c->h > 6 ? c->h / 3 : 0, c->w - 2 * margin, c->h};
    draw_paragraph(c, r, text, STYLE_DIM);
}

void pane_draw_empty(const PaneType *p, Canvas *c) {
    pane_draw_words(_(p->empty), c);
}

bool pane_find_query(PaneCall *call, const char *text) {
    int at = reading_find_token(call->snapshot, text, call->cursor->query);
    if (at >= 0) call->cursor->query = at;
    return at >= 0;
}
