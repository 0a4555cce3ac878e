/* What the rope pane shows of a model that does not turn anything: the vectors that it adds, and what that does to the
 * same words at later positions (rope_view.h). */
#include "rope_view.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_W = 40, SIDE_BY_SIDE_W = 76 };

static const char *kind_text(const RopeSeen *s) {
    if (!strcmp(s->facts.kind, "learned"))
        return _(
            "This model has no RoPE: nothing turns. A vector learned for each position is added to the token's own, "
            "once, at the bottom.");
    if (!strcmp(s->facts.kind, "sinusoid"))
        return _(
            "This model has no RoPE: nothing turns. A fixed vector of sines and cosines is added to the token's own, "
            "once, at the bottom.");
    return _("This model has no positions at all: only the causal mask tells it some of the order.");
}

static int cosine_heat(const void *data, int row, int col) {
    return (int)lround(128 + 127 * (double)field_at(data, row, col, 0, 0));
}

enum { EVERY_ONE = 10, EVERY_FOURTH = 40 };

/* Numbers beside the map: of few positions all, of many every fourth or eighth; beside its row that of the cursor. */
typedef struct {
    char (*text)[12];
    const char **row, **col;
} PositionNames;

static PositionNames name_positions(int n, int cursor) {
    int step = n <= EVERY_ONE ? 1 : n <= EVERY_FOURTH ? 4 : 8;
    size_t room = (size_t)(n > 0 ? n : 1);
    PositionNames names = {mem_zero(room, sizeof *names.text), MEM_ARRAY(const char *, room),
                           MEM_ARRAY(const char *, room)};
    for (int i = 0; i < n; i++) {
        snprintf(names.text[i], sizeof names.text[i], "%d", i);
        names.col[i] = i % step == 0 ? names.text[i] : NULL;
        names.row[i] = i % step == 0 || i == cursor ? names.text[i] : NULL;
    }
    return names;
}

static void forget_names(PositionNames *names) {
    mem_free(names->text);
    mem_free(names->row);
    mem_free(names->col);
}

static Heat map_of(const RopeSeen *s, const Field *cosine, const PositionNames *names) {
    bool here = s->look.query < cosine->dim[0] && s->look.key < cosine->dim[1];
    return (Heat){.rows = cosine->dim[0],
                  .cols = cosine->dim[1],
                  .heat = cosine_heat,
                  .data = cosine,
                  .map = HEAT_DIVERGING,
                  .cursor_row = here ? s->look.query : -1,
                  .cursor_col = here ? s->look.key : -1,
                  .row_label = names->row,
                  .col_label = names->col,
                  .row_axis = _("position"),
                  .col_axis = _("position")};
}

static void draw_map(const PaneContext *x, const RopeSeen *s, Canvas *c, Rect r) {
    const Field *cosine = snapshot_field(x->snapshot, "rope.cosine");
    if (!cosine || r.h < 3) return;
    PositionNames names = name_positions(cosine->dim[0], s->look.query);
    Heat heat = map_of(s, cosine, &names);
    draw_heat(c, (Rect){r.x, r.y, r.w, r.h - 1}, &heat);
    forget_names(&names);
    draw_heat_bar(c, r.x, r.y + r.h - 1, r.w < 36 ? r.w : 36, HEAT_DIVERGING, "-1", _("cosine 1"));
}

static int draw_cosine(const PaneContext *x, const RopeSeen *s, Canvas *c, Rect r) {
    const Field *cosine = snapshot_field(x->snapshot, "rope.cosine");
    if (!cosine || s->look.query >= cosine->dim[0] || s->look.key >= cosine->dim[1] || r.h < 1) return 0;
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, ATTRIBUTE_NONE, _("positions %d and %d, cosine "), s->look.query,
                          s->look.key);
    canvas_text(c, r.x + at, r.y, r.w - at,
                format_fixed((double)field_at(cosine, s->look.query, s->look.key, 0, 0), 4).s, STYLE_STRONG,
                ATTRIBUTE_NONE);
    return 1;
}

static int draw_lengths(const PaneContext *x, Canvas *c, Rect r) {
    const Field *length = snapshot_field(x->snapshot, "rope.length");
    if (!length || r.h < 2) return 0;
    int n = length->dim[0];
    double *y = MEM_ARRAY(double, (size_t)(n > 0 ? n : 1));
    for (int i = 0; i < n; i++) y[i] = (double)length->x[i];
    canvas_text(c, r.x, r.y, r.w, _("length of each position's vector"), STYLE_DIM, ATTRIBUTE_NONE);
    draw_spark(c, r.x, r.y + 1, r.w < n ? r.w : n, y, n, STYLE_SERIES_A);
    mem_free(y);
    return 2;
}

static const char *later_text(const RopeSeen *s) {
    int difference = table_find(s->shift, "difference");
    if (table_is_empty(s->shift, 0, difference))
        return _("There is no later place to try: positions end with the context, or the sentence is too long.");
    if (!strcmp(s->facts.kind, "none")) return _("The same words later: the same number. It knows no place.");
    return _("The same words later: another number. The place itself counts, not the distance alone.");
}

static void draw_side(const PaneContext *x, const RopeSeen *s, Canvas *c, Rect r) {
    int y = r.y, end = r.y + r.h;
    y += draw_paragraph(c, (Rect){r.x, y, r.w, end - y}, kind_text(s), STYLE_TEXT) + 1;
    y += draw_cosine(x, s, c, (Rect){r.x, y, r.w, end - y});
    y += draw_lengths(x, c, (Rect){r.x, y, r.w, end - y}) + 1;
    rope_draw_shift(s, c, (Rect){r.x, y, r.w, end - y});
    y += (int)table_rows(s->shift) + 1;
    draw_paragraph(c, (Rect){r.x, y, r.w, end - y}, later_text(s), STYLE_DIM);
}

void rope_draw_added(const PaneContext *x, const RopeSeen *s, Canvas *c) {
    rope_draw_head(x, s, c, (Rect){0, 0, c->w, 1});
    bool map = snapshot_field(x->snapshot, "rope.cosine") != NULL;
    Rect body = {0, 1, c->w, c->h - 1};
    if (!map) {
        draw_side(x, s, c, body);
    } else if (c->w >= SIDE_BY_SIDE_W) {
        draw_map(x, s, c, (Rect){0, 1, c->w - SIDE_W - 2, body.h});
        draw_side(x, s, c, (Rect){c->w - SIDE_W, 1, SIDE_W, body.h});
    } else {
        int words = draw_paragraph(c, body, kind_text(s), STYLE_TEXT), pair = body.h - words >= 6 ? 2 : 0;
        draw_map(x, s, c, (Rect){0, 1 + words, c->w, body.h - words - pair});
        if (pair) rope_draw_pair(s, c, (Rect){0, c->h - pair, c->w, pair});
    }
}
