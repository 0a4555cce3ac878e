#include "prompt.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define HISTORY_MOST 100
#define MENU_ROWS    8

typedef struct {
    char *label;
    char *line[HISTORY_MOST]; /* oldest first */
    int count;
} History;

struct Prompt {
    char *label;
    Str text;
    size_t cursor; /* byte, at the start of a character */
    bool full;     /* what came last had no room, and is not in the text */
    Str cut;       /* what C-w, C-u and C-k took */
    History *history;
    int histories, histories_room;
    int label_history; /* index of this label's */
    int at;            /* line of the history shown; count: the line being written */
    char *draft;       /* the line being written while the history is looked at */
    PromptComplete complete;
    void *user;
    char **menu;             /* completions, owned */
    int menu_count, menu_at; /* -1: none taken yet */
    size_t menu_from;
};

Prompt *prompt_new(void) {
    Prompt *p = MEM_NEW(Prompt);
    str_init(&p->text);
    str_init(&p->cut);
    return p;
}

static void close_menu(Prompt *p) {
    for (int i = 0; i < p->menu_count; i++) mem_free(p->menu[i]);
    mem_free(p->menu);
    p->menu = NULL;
    p->menu_count = 0;
}

void prompt_free(Prompt *p) {
    if (p == NULL) return;
    close_menu(p);
    for (int i = 0; i < p->histories; i++) {
        for (int k = 0; k < p->history[i].count; k++) mem_free(p->history[i].line[k]);
        mem_free(p->history[i].label);
    }
    mem_free(p->history);
    mem_free(p->label);
    mem_free(p->draft);
    str_done(&p->text);
    str_done(&p->cut);
    mem_free(p);
}

static int find_history(Prompt *p, const char *label) {
    for (int i = 0; i < p->histories; i++)
        if (strcmp(p->history[i].label, label) == 0) return i;
    MEM_GROW(p->history, p->histories, p->histories_room);
    p->history[p->histories] = (History){.label = mem_text(label)};
    return p->histories++;
}

/* ---- text ---- */

static void set_text(Prompt *p, const char *text) {
    str_clear(&p->text);
    str_add(&p->text, text);
    p->cursor = p->text.len;
}

static void remove_bytes(Prompt *p, size_t from, size_t to) {
    p->full = false;
    memmove(p->text.s + from, p->text.s + to, p->text.len - to + 1);
    p->text.len -= to - from;
    p->cursor = from;
}

static void cut_bytes(Prompt *p, size_t from, size_t to) {
    if (from == to) return;
    str_clear(&p->cut);
    str_add_n(&p->cut, p->text.s + from, to - from);
    remove_bytes(p, from, to);
}

static void insert_bytes(Prompt *p, const char *s, size_t bytes) {
    p->full = p->text.len + bytes > PROMPT_BYTES;
    if (p->full) return;
    char *tail = mem_text(p->text.s + p->cursor);
    p->text.len = p->cursor;
    p->text.s[p->cursor] = '\0';
    str_add_n(&p->text, s, bytes);
    p->cursor = p->text.len;
    str_add(&p->text, tail);
    mem_free(tail);
}

static uint32_t code_at(const Prompt *p, size_t at, size_t *bytes) {
    uint32_t code = 0;
    int n = utf8_decode(p->text.s + at, p->text.len - at, &code);
    *bytes = n > 0 ? (size_t)n : 1;
    return code;
}

/* The start of the character after AT, with the marks that stand on it. */
static size_t next_character(const Prompt *p, size_t at) {
    size_t bytes;
    if (at >= p->text.len) return p->text.len;
    code_at(p, at, &bytes);
    at += bytes;
    while (at < p->text.len && utf8_width(code_at(p, at, &bytes)) == 0) at += bytes;
    return at;
}

static size_t last_character(const Prompt *p, size_t at) {
    size_t before = 0;
    for (size_t i = 0; i < at; i = next_character(p, i)) before = i;
    return before;
}

static size_t word_start(const Prompt *p, size_t at) {
    while (at > 0 && p->text.s[at - 1] == ' ') at--;
    while (at > 0 && p->text.s[at - 1] != ' ') at--;
    return at;
}

void prompt_paste(Prompt *p, const char *text) {
    Str clean;
    str_init(&clean);
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t code;
        int n = utf8_decode(text, left, &code);
        if (n == 0) n = 1, code = 0;
        if (code == '\n' || code == '\t')
            str_add_char(&clean, ' ');
        else if (code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0))
            str_add_n(&clean, text, (size_t)n);
        text += n;
        left -= (size_t)n;
    }
    close_menu(p);
    insert_bytes(p, clean.s, clean.len);
    str_done(&clean);
}

const char *prompt_text(const Prompt *p) {
    return p->text.s;
}

void prompt_open(Prompt *p, const char *label, const char *text, PromptComplete complete, void *user) {
    close_menu(p);
    mem_free(p->label);
    mem_free(p->draft);
    p->draft = NULL;
    p->label = mem_text(label);
    p->label_history = find_history(p, label);
    p->at = p->history[p->label_history].count;
    p->complete = complete;
    p->user = user;
    p->full = false;
    set_text(p, "");
    if (text != NULL) prompt_paste(p, text);
}

/* ---- history ---- */

static void remember(Prompt *p) {
    History *h = &p->history[p->label_history];
    if (p->text.len == 0 || (h->count > 0 && strcmp(h->line[h->count - 1], p->text.s) == 0)) return;
    if (h->count == HISTORY_MOST) {
        mem_free(h->line[0]);
        memmove(h->line, h->line + 1, sizeof h->line[0] * (HISTORY_MOST - 1));
        h->count--;
    }
    h->line[h->count++] = mem_text(p->text.s);
}

static void show_history(Prompt *p, int at) {
    History *h = &p->history[p->label_history];
    if (at < 0 || at > h->count || at == p->at) return;
    if (p->at == h->count) {
        mem_free(p->draft);
        p->draft = mem_text(p->text.s);
    }
    p->at = at;
    set_text(p, at == h->count ? (p->draft == NULL ? "" : p->draft) : h->line[at]);
}

/* ---- completion ---- */

static void take_completion(Prompt *p, int at) {
    p->menu_at = (at + p->menu_count) % p->menu_count;
    const char *word = p->menu[p->menu_at];
    remove_bytes(p, p->menu_from, p->cursor);
    insert_bytes(p, word, strlen(word));
}

/* The bytes that all completions begin with. */
static size_t common_bytes(const Prompt *p) {
    size_t common = strlen(p->menu[0]);
    for (int i = 1; i < p->menu_count; i++) {
        size_t n = 0;
        while (n < common && p->menu[i][n] == p->menu[0][n]) n++;
        common = n;
    }
    while (common > 0 && ((unsigned char)p->menu[0][common] & 0xC0) == 0x80) common--; /* whole characters */
    return common;
}

static void open_menu(Prompt *p) {
    const char *const *items;
    size_t from = p->cursor;
    if (p->complete == NULL) return;
    int count = p->complete(p->user, p->text.s, p->cursor, &items, &from);
    if (count <= 0 || from > p->cursor) return;
    p->menu = MEM_ARRAY(char *, (size_t)count);
    for (int i = 0; i < count; i++) p->menu[i] = mem_text(items[i]);
    p->menu_count = count;
    p->menu_from = from;
    p->menu_at = -1;
    size_t common = common_bytes(p), written = p->cursor - from;
    bool longer = common > written && strncmp(p->menu[0], p->text.s + from, written) == 0;
    if (count == 1) {
        take_completion(p, 0);
        close_menu(p);
    } else if (longer) {
        insert_bytes(p, p->menu[0] + written, common - written);
    }
}

static void complete(Prompt *p, int direction) {
    if (p->menu_count == 0)
        open_menu(p);
    else
        take_completion(p, p->menu_at < 0 && direction < 0 ? -1 : p->menu_at + direction);
}

/* ---- keys ---- */

static bool is_vertical(Key k, Key arrow, char letter) {
    return k == arrow || k == (KEYCODE_CTRL | (Key)letter);
}

/* Keys that move between lines: the menu's or the history's. True when K was one. */
static bool move_vertically(Prompt *p, Key k) {
    bool up = is_vertical(k, KEYCODE_UP, 'p'), down = is_vertical(k, KEYCODE_DOWN, 'n');
    if (k == KEYCODE_TAB || k == KEYCODE_BACK_TAB)
        complete(p, k == KEYCODE_TAB ? 1 : -1);
    else if ((up || down) && p->menu_count > 0)
        complete(p, up ? -1 : 1);
    else if (up || down)
        show_history(p, p->at + (up ? -1 : 1));
    else
        return false;
    return true;
}

static void edit(Prompt *p, Key k) {
    switch (k) {
    case KEYCODE_LEFT:
    case KEYCODE_CTRL | 'b':
        p->cursor = last_character(p, p->cursor);
        return;
    case KEYCODE_RIGHT:
    case KEYCODE_CTRL | 'f':
        p->cursor = next_character(p, p->cursor);
        return;
    case KEYCODE_HOME:
    case KEYCODE_CTRL | 'a':
        p->cursor = 0;
        return;
    case KEYCODE_END:
    case KEYCODE_CTRL | 'e':
        p->cursor = p->text.len;
        return;
    case KEYCODE_BACKSPACE:
    case KEYCODE_CTRL | 'h':
        remove_bytes(p, last_character(p, p->cursor), p->cursor);
        return;
    case KEYCODE_DELETE:
    case KEYCODE_CTRL | 'd':
        remove_bytes(p, p->cursor, next_character(p, p->cursor));
        return;
    case KEYCODE_CTRL | 'w':
        cut_bytes(p, word_start(p, p->cursor), p->cursor);
        return;
    case KEYCODE_CTRL | 'u':
        cut_bytes(p, 0, p->cursor);
        return;
    case KEYCODE_CTRL | 'k':
        cut_bytes(p, p->cursor, p->text.len);
        return;
    case KEYCODE_CTRL | 'y':
        insert_bytes(p, p->cut.s, p->cut.len);
        return;
    default:
        break;
    }
    char utf8[4];
    int bytes = k < KEY_CODE && k >= 0x20 ? utf8_encode(k, utf8) : 0;
    insert_bytes(p, utf8, (size_t)bytes);
}

PromptState prompt_key(Prompt *p, Key k) {
    BUG_ON(p->label == NULL);
    if (k == KEYCODE_ESCAPE && p->menu_count > 0) {
        close_menu(p);
        return PROMPT_EDITING;
    }
    if (k == KEYCODE_ESCAPE || k == (KEYCODE_CTRL | 'c')) {
        close_menu(p);
        return PROMPT_GONE;
    }
    if (k == KEYCODE_ENTER) {
        close_menu(p);
        remember(p);
        return PROMPT_DONE;
    }
    if (move_vertically(p, k)) return PROMPT_EDITING;
    close_menu(p);
    edit(p, k);
    return PROMPT_EDITING;
}

/* ---- drawing ---- */

static int columns_between(const Prompt *p, size_t from, size_t to) {
    int columns = 0;
    for (size_t i = from, bytes; i < to; i += bytes) columns += utf8_width(code_at(p, i, &bytes));
    return columns;
}

static void draw_menu(const Prompt *p, Canvas *c, Rect r, int x) {
    int rows = p->menu_count < MENU_ROWS ? p->menu_count : MENU_ROWS, width = 0;
    if (rows > r.h - 1) rows = r.h - 1;
    for (int i = 0; i < p->menu_count; i++) {
        int columns = utf8_columns(p->menu[i]);
        if (columns > width) width = columns;
    }
    width = width + 3 < r.w ? width + 3 : r.w;
    if (x + width > r.w) x = r.w - width;
    int first = p->menu_at >= rows ? p->menu_at - rows + 1 : 0;
    for (int i = 0; i < rows; i++) {
        bool taken = first + i == p->menu_at;
        Rect line = {r.x + (x > 0 ? x : 0), r.y + r.h - 1 - rows + i, width, 1};
        canvas_fill(c, line, ' ', taken ? STYLE_CURSOR : STYLE_BAR, ATTRIBUTE_NONE);
        if (taken) canvas_put(c, line.x, line.y, 0x25B8, STYLE_CURSOR, ATTRIBUTE_NONE);
        canvas_text(c, line.x + 1, line.y, width - 2, p->menu[first + i], taken ? STYLE_CURSOR : STYLE_BAR,
                    CANVAS_ELLIPSIS);
    }
    if (rows > 0 && first + rows < p->menu_count)
        canvas_put(c, r.x + (x > 0 ? x : 0) + width - 1, r.y + r.h - 2, 0x25BE, STYLE_BAR, ATTRIBUTE_NONE);
}

/* Nothing that was typed may be missing without a word. */
static void draw_full(Canvas *c, Rect r) {
    char note[80];
    snprintf(note, sizeof note, _(" full: a line has at most %d bytes "), PROMPT_BYTES);
    int columns = utf8_columns(note);
    canvas_text(c, r.w > columns ? r.w - columns : 0, r.h - 1, -1, note, STYLE_ERROR, CANVAS_ELLIPSIS);
}

void prompt_draw(const Prompt *p, Canvas *c, Rect r) {
    Canvas view = canvas_view(c, r);
    if (view.w < 1 || view.h < 1 || p->label == NULL) return;
    r = (Rect){0, 0, view.w, view.h};
    int y = r.h - 1;
    canvas_fill(&view, (Rect){0, y, r.w, 1}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
    int label = canvas_text(&view, 0, y, r.w / 2, p->label, STYLE_KEY, CANVAS_ELLIPSIS);
    int room = r.w - label - 1; /* one column for the cursor behind the last character */
    if (room < 1) room = 1;
    size_t first = 0;
    while (first < p->cursor && columns_between(p, first, p->cursor) > room) first = next_character(p, first);
    canvas_text(&view, label, y, -1, p->text.s + first, STYLE_STRONG, ATTRIBUTE_NONE);
    int at = label + columns_between(p, first, p->cursor);
    size_t end = next_character(p, p->cursor);
    char *under = mem_text_n(p->text.s + p->cursor, end - p->cursor);
    canvas_text(&view, at, y, 2, under[0] == '\0' ? " " : under, STYLE_CURSOR, ATTRIBUTE_CARET);
    mem_free(under);
    if (p->full) draw_full(&view, r);
    if (p->menu_count > 0)
        draw_menu(p, &view, r, label + columns_between(p, first, p->menu_from > first ? p->menu_from : first));
}
