#include "help.h"

#include "draw.h"
#include "intl.h"
#include "keymap.h"
#include "reading.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum { LEFT_MOST = 30 };

/* The lines. */

static void add_row(const KeyRow *row, Str *out) {
    char keys[64], key[24];
    keymap_show(row->key, keys, sizeof keys);
    for (const KeyRow *more = row + 1; more->key && more->key[0] && !more->help;
         more++) { /* rows that this one speaks for */
        keymap_show(more->key, key, sizeof key);
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, " %s", key);
    }
    str_addf(out, "%s\t%s", keys, _(row->help));
    if (row->brief) str_addf(out, "\t%s", _(row->brief));
    str_add(out, "\n");
}

static void add_keys(const KeyRow *row, Str *out) {
    for (; row && row->key; row++) {
        if (!row->key[0])
            str_addf(out, "\n# %s\n", _(row->help));
        else if (row->help)
            add_row(row, out);
    }
}

static void add_commands(const char *heading, const Command *c, Str *out) {
    if (heading) str_addf(out, "\n# %s\n", heading);
    for (; c && c->name; c++)
        str_addf(out, ":%s%s%s\t%s\n", c->name, c->arguments[0] ? " " : "", c->arguments, _(c->help));
}

static void add_pane(int i, bool here, Str *out) {
    const PaneType *p = pane_at(i);
    char number[12];
    snprintf(number, sizeof number, "%d", i + 1);
    str_addf(out, "%s# %s %s%s\n%s\n", out->len ? "\n" : "", p->aside ? p->aside : number, _(p->title),
             here ? _(" (this pane)") : "", _(p->about));
    add_keys(p->keys, out);
    add_commands(NULL, p->commands, out);
}

void help_text(int focus, const Command *screen, Str *out) {
    add_pane(focus, true, out);
    add_keys(keymap_rows(), out);
    for (int i = 0; i < pane_count(); i++) {
        if (i != focus) add_pane(i, false, out);
    }
    add_commands(_("Commands of the screen (after :)"), screen, out);
    add_commands(_("Commands of the laboratory (after :)"), lab_commands(), out);
}

/* Drawing: one line of the text may take several rows. */

typedef struct {
    Canvas *c;
    int row, first; /* row counts from the top of the whole text */
} Page;

static Rect next_rect(const Page *p, int x) {
    return (Rect){x, p->row - p->first, p->c->w - x, p->c->h - (p->row - p->first)};
}

static int left_width(const Page *p) {
    return p->c->w / 3 < LEFT_MOST ? p->c->w / 3 : LEFT_MOST;
}

static void draw_text_rows(Page *p, int x, const char *text, StyleRole role) {
    int rows = draw_paragraph_rows(p->c->w - x, text);
    for (int i = 0; i < rows; i++) {
        size_t next, bytes = draw_wrap(text, p->c->w - x, &next);
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)bytes, text);
        if (p->row + i >= p->first)
            canvas_text(p->c, x, p->row + i - p->first, p->c->w - x, line, role, ATTRIBUTE_NONE);
        text += next;
    }
    p->row += rows > 0 ? rows : 1;
}

static void draw_entry(Page *p, char *line) {
    char *tab = strchr(line, '\t'), *brief = strchr(tab + 1, '\t');
    int left = left_width(p), y = p->row - p->first;
    *tab = '\0';
    if (brief) *brief = '\0'; /* only looked for */
    StyleRole role = line[0] == ':' && line[1] ? STYLE_STRONG : STYLE_KEY;
    if (utf8_columns(line) > left && p->c->w - left > 0) { /* a long command stands on a row of its own */
        draw_text_rows(p, 1, line, role);
    } else if (y >= 0) {
        canvas_text(p->c, 1, y, left, line, role, ATTRIBUTE_BOLD);
    }
    draw_text_rows(p, left + 2, tab + 1, STYLE_TEXT);
}

static void draw_line(Page *p, char *line) {
    if (!strncmp(line, "# ", 2)) {
        Rect r = next_rect(p, 0);
        if (r.y >= 0) canvas_text(p->c, 0, r.y, p->c->w, line + 2, STYLE_TITLE, ATTRIBUTE_BOLD);
        p->row++;
    } else if (strchr(line, '\t')) {
        draw_entry(p, line);
    } else {
        draw_text_rows(p, 1, line, STYLE_DIM);
    }
}

void help_filter(HelpView *v, const char *text) {
    *v = (HelpView){.first = 0};
    snprintf(v->filter, sizeof v->filter, "%s", text);
}

static bool wanted(const HelpView *v, const char *line) {
    return !v->filter[0] || (line[0] != '\0' && line[0] != '#' && reading_holds(line, v->filter));
}

/* Draws what is within C, of a filtered text with the headings of what is left; returns the rows of the whole text. */
static int walk(const HelpView *v, Canvas *c, int focus, const Command *screen) {
    Str text;
    str_init(&text);
    help_text(focus, screen, &text);
    Page p = {.c = c, .first = v->first};
    char *heading = NULL; /* of the line that is looked at, while none of its part was drawn */
    for (char *line = text.s; line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        if (v->filter[0] && line[0] == '#') heading = line;
        if (wanted(v, line)) {
            if (heading) draw_line(&p, heading);
            heading = NULL;
            draw_line(&p, line);
        }
        line = end ? end + 1 : NULL;
    }
    str_done(&text);
    return p.row;
}

int help_draw(const HelpView *v, Canvas *c, int focus, const Command *screen) {
    int rows = walk(v, c, focus, screen);
    if (rows == 0)
        canvas_textf(c, 1, 0, c->w - 1, STYLE_DIM, ATTRIBUTE_NONE, _("nothing holds “%s”; esc shows all"), v->filter);
    return rows;
}

void help_move(HelpView *v, int lines, int w, int h, int focus, const Command *screen) {
    Canvas nothing = {.w = w};
    int most = walk(v, &nothing, focus, screen) - h;
    v->first += lines;
    if (v->first > most) v->first = most;
    if (v->first < 0) v->first = 0;
}
