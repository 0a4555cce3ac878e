#include "lab_view.h"

#include "draw.h"
#include "figure.h"
#include "format.h"
#include "intl.h"
#include "reading.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_W = 22, TITLES_W = 150, TITLE_LEAST_W = 12, BESIDE_W = 60, HEAD_ROWS = 5, CONTENT_LEAST = 6 };

/* The list. */

static bool listed(const LabState *s, const CatalogEntry *e) {
    return reading_holds(e->id, s->filter) || reading_holds(_(e->title), s->filter) ||
           reading_holds(e->section, s->filter);
}

int lab_list_count(const LabState *s) {
    int n = 0;
    for (int i = 0; i < catalog_count(); i++) n += listed(s, catalog_at(i));
    return n;
}

const CatalogEntry *lab_list_at(const LabState *s, int at) {
    for (int i = 0; i < catalog_count(); i++) {
        if (listed(s, catalog_at(i)) && at-- == 0) return catalog_at(i);
    }
    return NULL;
}

int lab_list_first(const LabState *s, int room) {
    int n = lab_list_count(s), first = s->at - room / 2;
    if (first > n - room) first = n - room;
    return first > 0 ? first : 0;
}

/* Columns of the longest id of the list. */
static int ids_width(const LabState *s) {
    int most = 0;
    for (int i = 0; i < catalog_count(); i++) {
        int columns = listed(s, catalog_at(i)) ? utf8_columns(catalog_at(i)->id) : 0;
        if (columns > most) most = columns;
    }
    return most;
}

static void draw_list(const LabState *s, Canvas *c, Rect r, bool focus) {
    int room = r.h, y = r.y;
    if (s->filter[0]) {
        canvas_textf(c, r.x, y++, r.w, STYLE_WARNING, CANVAS_ELLIPSIS, "/%s", s->filter);
        room--;
    }
    int first = lab_list_first(s, room), n = lab_list_count(s), title = ids_width(s) + 4;
    if (n == 0) canvas_text(c, r.x, y, r.w, _("nothing holds this text"), STYLE_DIM, ATTRIBUTE_NONE);
    for (int i = first; i < n && i - first < room; i++) {
        const CatalogEntry *e = lab_list_at(s, i);
        bool here = i == s->at, runs = e == s->now.ran && s->now.study.running;
        StyleRole role = here && focus && !s->inside ? STYLE_CURSOR : here ? STYLE_STRONG : STYLE_TEXT;
        canvas_text(c, r.x, y + i - first, 1,
                    runs                ? "▶"
                    : lab_results(s, e) ? "●"
                    : here              ? "▸"
                                        : " ",
                    runs ? STYLE_GOOD : STYLE_DIM, ATTRIBUTE_NONE);
        canvas_text(c, r.x + 2, y + i - first, r.w - 2, e->id, role, CANVAS_ELLIPSIS);
        if (r.w > LIST_W && r.w >= title + TITLE_LEAST_W)
            canvas_text(c, r.x + title, y + i - first, r.w - title, _(e->title), STYLE_DIM, CANVAS_ELLIPSIS);
    }
}

/* The right side. */

static const LabResult *result_at(const LabState *s, int i) {
    return i == 0 ? &s->now : &s->kept[i - 1];
}

int lab_results(const LabState *s, const CatalogEntry *e) {
    int n = 0;
    for (int i = 0; i <= s->kepts && e; i++) n += result_at(s, i)->ran == e;
    return n;
}

const LabResult *lab_result(const LabState *s) {
    int back = s->back;
    for (int i = 0; i <= s->kepts && s->entry; i++)
        if (result_at(s, i)->ran == s->entry && back-- == 0) return result_at(s, i);
    return NULL;
}

static const Table *table_named(const LabState *s, const char *name) {
    const LabResult *result = lab_result(s);
    for (int i = 0; result && i < result->tables; i++) {
        if (!strcmp(table_name(result->table[i]), name)) return result->table[i];
    }
    return NULL;
}

/* A table that options ask for, and that was not asked for. */
static bool is_left_out(const LabState *s, const char *name) {
    const Table *t = table_named(s, name);
    return catalog_is_on_request(s->entry, name) && (!t || table_rows(t) == 0);
}

bool lab_has_tab(const LabState *s, int tab) {
    if (!s->entry || tab < 0) return false;
    if (tab == LAB_FIGURE) return s->entry->figure.kind != FIGURE_NONE;
    int i = tab - LAB_FIRST_TABLE, n = catalog_tables(s->entry);
    if (i >= 0 && i < n && is_left_out(s, s->entry->tables[i].name)) return false;
    return i < n + 1;
}

const Table *lab_table(const LabState *s) {
    const LabResult *result = lab_result(s);
    int i = s->tab - LAB_FIRST_TABLE;
    return result && i >= 0 && i < result->tables ? result->table[i] : NULL;
}

static const char *tab_name(const LabState *s, int tab) {
    if (tab == LAB_OPTIONS) return _("options");
    if (tab == LAB_FIGURE) return _("figure");
    int i = tab - LAB_FIRST_TABLE;
    return i < catalog_tables(s->entry) ? s->entry->tables[i].name : "about";
}

/* Of id, title and explanation in full. */
static int head_rows(const LabState *s, int w) {
    return 1 + draw_paragraph_rows(w, _(s->entry->title)) + draw_paragraph_rows(w, _(s->entry->see));
}

static void draw_head(const LabState *s, Canvas *c, Rect r) {
    int at = canvas_text(c, r.x, r.y, r.w, s->entry->id, STYLE_TITLE, ATTRIBUTE_BOLD);
    canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, "   %s", s->entry->section);
    int title = draw_paragraph(c, (Rect){r.x, r.y + 1, r.w, s->whole ? r.h - 1 : 1}, _(s->entry->title), STYLE_TEXT);
    Rect below = {r.x, r.y + 1 + title, r.w, r.h - 1 - title};
    draw_paragraph_ending(c, below, _(s->entry->see), STYLE_DIM, s->whole ? "…" : _("… w shows all"));
}

/* The rows of what is open that show in R: of options or of a table; false: all or none do. */
static bool rows_shown(const LabState *s, Rect r, long *first, long *last, long *rows) {
    if (s->tab == LAB_OPTIONS) {
        int above, below;
        form_hidden(s->form, r, &above, &below);
        *rows = options_count(form_options(s->form));
        *first = above + 1, *last = *rows - below;
        return above + below > 0 && r.h > 0;
    }
    const Table *t = lab_table(s);
    *rows = t ? table_rows(t) : 0;
    *first = s->first + 1, *last = s->first + r.h - 1 < *rows ? s->first + r.h - 1 : *rows;
    return *rows > 0;
}

/* "3–11 of 80". Returns the columns that it takes, with those that keep it apart. */
static int draw_rows_shown(const LabState *s, Canvas *c, Rect r, Rect content) {
    long first, last, rows;
    if (!rows_shown(s, content, &first, &last, &rows)) return 0;
    char text[64];
    snprintf(text, sizeof text, _("%ld–%ld of %ld"), first, last, rows);
    int columns = canvas_columns(c, text);
    if (columns > r.w / 2) return 0;
    canvas_text(c, r.x + r.w - columns, r.y, columns, text, STYLE_DIM, ATTRIBUTE_NONE);
    return columns + 1;
}

static int tab_columns(const LabState *s, int tab) {
    return lab_has_tab(s, tab) ? 2 + utf8_columns(tab_name(s, tab)) : 0;
}

/* The first tab to draw so that the one that is open shows whole in W columns, behind a mark when others were before.
 */
static int first_tab(const LabState *s, int w) {
    int first = 0, used = 0;
    for (int tab = 0; tab <= s->tab; tab++) used += tab_columns(s, tab);
    while (first < s->tab && used + (first > 0 ? 1 : 0) + 1 > w) used -= tab_columns(s, first++);
    return first;
}

static bool is_last_tab(const LabState *s, int tab) {
    while (++tab < LAB_FIRST_TABLE + LAB_TABLES)
        if (lab_has_tab(s, tab)) return false;
    return true;
}

/* Tabs are whole or not there; marks say that there are others. */
static void draw_tabs(const LabState *s, Canvas *c, Rect r, Rect content) {
    int w = r.w - draw_rows_shown(s, c, r, content), tab = first_tab(s, w), at = 0;
    if (tab > 0) at += canvas_text(c, r.x, r.y, 1, "◂", STYLE_DIM, ATTRIBUTE_NONE);
    for (; tab < LAB_FIRST_TABLE + LAB_TABLES; tab++) {
        bool here = tab == s->tab;
        if (!lab_has_tab(s, tab)) continue;
        if (at + tab_columns(s, tab) + (is_last_tab(s, tab) ? 0 : 1) > w && !here) break;
        at += canvas_textf(c, r.x + at, r.y, w - at, here ? STYLE_CURSOR : STYLE_DIM, ATTRIBUTE_NONE,
                           here ? "[%s]" : " %s ", tab_name(s, tab));
    }
    if (tab < LAB_FIRST_TABLE + LAB_TABLES && lab_has_tab(s, tab))
        canvas_text(c, r.x + at, r.y, w - at, "▸", STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_running(const LabState *s, Canvas *c, Rect r) {
    const StudyState *state = &s->now.study;
    bool other = s->now.ran != s->entry; /* than the one that is shown */
    int w = r.w / 3;
    draw_progress(c, r.x, r.y, w, state->done, state->done, STYLE_GOOD);
    char left[48] = "";
    if (isfinite(state->seconds_left)) snprintf(left, sizeof left, _("  about %.0f s left"), state->seconds_left);
    canvas_textf(c, r.x + w + 1, r.y, r.w - w - 1, STYLE_TEXT, CANVAS_ELLIPSIS, "%s%s%s%s", other ? s->now.ran->id : "",
                 other ? ": " : "", state->what[0] ? state->what : _("running"), left);
}

static void draw_ending(const StudyState *state, Canvas *c, Rect r) {
    if (state->status.code == STATUS_CANCELLED)
        canvas_text(c, r.x, r.y, r.w, _("stopped; the rows so far are kept"), STYLE_WARNING, ATTRIBUTE_NONE);
    else if (!status_is_ok(&state->status))
        canvas_text(c, r.x, r.y, r.w, state->status.text, STYLE_ERROR, CANVAS_ELLIPSIS);
    else if (state->warning[0])
        canvas_text(c, r.x, r.y, r.w, state->warning, STYLE_WARNING, CANVAS_ELLIPSIS);
    else
        canvas_textf(c, r.x, r.y, r.w, STYLE_GOOD, ATTRIBUTE_NONE,
                     state->model[0] ? _("done in %.2f s; O opens its model") : _("done in %.2f s"), state->seconds);
}

static void draw_progress_row(const LabState *s, Canvas *c, Rect r) {
    const LabResult *result = lab_result(s);
    if (result && s->back > 0)
        canvas_textf(c, r.x, r.y, r.w, STYLE_WARNING, CANVAS_ELLIPSIS, _("an earlier result, %d of %d: %s"),
                     s->back + 1, lab_results(s, s->entry),
                     result->asked[0] ? result->asked : _("nothing was changed"));
    else if (s->job && s->now.study.running)
        draw_running(s, c, r);
    else if (result)
        draw_ending(&result->study, c, r);
    else
        canvas_text(c, r.x, r.y, r.w, _("R runs it"), STYLE_DIM, ATTRIBUTE_NONE);
}

/* The last number of the column, a perplexity as nats; NaN: none yet. */
static double floor_of(const LabState *s, const char *where) {
    char name[64];
    const char *blank = where ? strchr(where, ' ') : NULL;
    if (!blank) return (double)NAN;
    snprintf(name, sizeof name, "%.*s", (int)(blank - where), where);
    const Table *t = table_named(s, name);
    int column = t ? table_find(t, blank + 1) : -1;
    if (column < 0 || table_rows(t) == 0) return (double)NAN;
    double last = table_real(t, table_rows(t) - 1, column);
    return strstr(blank, "perplexity") ? log(last) : last;
}

static void draw_the_figure(const LabState *s, Canvas *c, Rect r) {
    const char *where = s->entry->figure_floor;
    double level = floor_of(s, where);
    char label[96];
    snprintf(label, sizeof label, _("floor (table %.*s) %s"), where ? (int)strcspn(where, " ") : 0, where ? where : "",
             format_fixed(level, 4).s);
    FigureMore more = {s->entry->figure_without, level, isnan(level) ? NULL : label};
    figure_draw(c, r, &s->entry->figure, table_named(s, s->entry->figure.table), &more);
}

static void draw_content(const PaneContext *x, Canvas *c, Rect r) {
    const LabState *s = x->state;
    bool focus = x->focus && s->inside;
    if (s->tab == LAB_OPTIONS) {
        form_draw(s->form, c, r, focus);
    } else if (s->tab == LAB_FIGURE) {
        draw_the_figure(s, c, r);
    } else if (lab_table(s) && table_rows(lab_table(s)) > 0) {
        int columns = table_columns(lab_table(s));
        draw_table_from(c, r, lab_table(s), s->first, s->column < columns ? s->column : columns - 1, -1);
    } else {
        draw_paragraph(c, r,
                       s->now.study.running ? _("No row yet.")
                                            : _("The rows of this table appear here when the experiment runs: R."),
                       STYLE_DIM);
    }
}

/* Of the list beside the rest: with the titles where there is room for them. */
static int list_width(int w) {
    return w >= TITLES_W ? LIST_W + w / 4 : LIST_W;
}

LabPlan lab_plan(const LabState *s, Detail detail, int w, int h) {
    LabPlan p = {0};
    bool beside = w >= BESIDE_W && s->entry;
    if (detail == DETAIL_WALL && !beside) {
        int progress = s->entry && h >= 4 ? 1 : 0;
        p.list = (Rect){0, 0, w, h - progress};
        p.progress = (Rect){0, h - progress, w, progress};
        return p;
    }
    if (!s->entry || (!beside && !s->inside)) {
        p.list = (Rect){0, 0, w, h};
        return p;
    }
    int x = beside ? list_width(w) + 2 : 0;
    if (beside) p.list = (Rect){0, 0, list_width(w), h};
    int head = h >= 14 ? HEAD_ROWS : h >= 8 ? 2 : 0;
    if (s->whole && head_rows(s, w - x) > head) head = head_rows(s, w - x);
    if (head > h - CONTENT_LEAST) head = h > CONTENT_LEAST ? h - CONTENT_LEAST : 0;
    p.head = (Rect){x, 0, w - x, head};
    p.tabs = (Rect){x, head, w - x, 1};
    p.progress = (Rect){x, h - 1, w - x, h > 3 ? 1 : 0};
    p.content = (Rect){x, head + 1 + (head > 2), w - x, h - head - 1 - (head > 2) - p.progress.h};
    return p;
}

void lab_draw(const PaneContext *x, Canvas *c) {
    const LabState *s = x->state;
    if (catalog_count() == 0) {
        pane_draw_empty(&pane_lab, c);
        return;
    }
    LabPlan p = lab_plan(s, x->detail, c->w, c->h);
    if (p.list.h > 0) draw_list(s, c, p.list, x->focus);
    if (p.head.h > 0) draw_head(s, c, p.head);
    if (p.tabs.h > 0) draw_tabs(s, c, p.tabs, p.content);
    if (p.content.h > 0) draw_content(x, c, p.content);
    if (p.progress.h > 0) draw_progress_row(s, c, p.progress);
}
