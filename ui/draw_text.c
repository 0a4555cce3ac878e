/* Paragraphs, tables and tall digits. */
#include "draw.h"

#include "mem.h"
#include "utf8.h"

#include <string.h>

/* ---- paragraphs ---- */

typedef struct {
    uint32_t code;
    int bytes, width;
} Character;

static Character read_character(const char *s) {
    Character ch;
    ch.bytes = utf8_decode(s, strnlen(s, 4), &ch.code);
    if (ch.bytes == 0) ch.bytes = 1, ch.code = 0xFFFD;
    ch.width = utf8_width(ch.code);
    return ch;
}

static bool is_one_of(uint32_t code, const uint32_t *list, size_t n) {
    size_t i = 0;
    while (i < n && list[i] != code) i++;
    return i < n;
}

/* Punctuation that must not begin a line of Chinese or Japanese, */
static bool closes(uint32_t code) {
    static const uint32_t closing[] = {0x3001, 0x3002, 0x300B, 0x300D, 0x300F, 0x3011, 0xFF01,
                                       0xFF09, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F, 0x2019, 0x201D,
                                       ',',    '.',    ')',    ':',    ';',    '!',    '?'};
    return is_one_of(code, closing, sizeof closing / sizeof *closing);
}

/* ... or end one. */
static bool opens(uint32_t code) {
    static const uint32_t opening[] = {0x300A, 0x300C, 0x300E, 0x3010, 0xFF08, 0x2018, 0x201C, '('};
    return is_one_of(code, opening, sizeof opening / sizeof *opening);
}

static size_t skip_blanks(const char *s, size_t i) {
    while (s[i] == ' ') i++;
    return i;
}

size_t draw_wrap(const char *s, int columns, size_t *next) {
    size_t i = 0, end = 0, resume = 0; /* end, resume: the last place to break at */
    int used = 0;
    bool wide_before = false, open_before = false;
    while (s[i] != '\0' && s[i] != '\n') {
        Character ch = read_character(s + i);
        if (ch.code == ' ') {
            end = i;
            resume = skip_blanks(s, i);
        } else if (i > 0 && (ch.width == 2 || wide_before) && s[i - 1] != ' ' && !open_before && !closes(ch.code)) {
            end = resume = i;
        }
        if (used + ch.width > columns && ch.code != ' ') {
            if (end == 0) end = resume = i > 0 ? i : (size_t)ch.bytes; /* a word wider than the line */
            *next = resume;
            return end;
        }
        used += ch.width;
        wide_before = ch.width == 2;
        open_before = opens(ch.code);
        i += (size_t)ch.bytes;
    }
    *next = s[i] == '\n' ? i + 1 : i;
    return i;
}

/* BYTES of TEXT from (X, Y); returns the columns used. */
static int draw_line(Canvas *c, int x, int y, int columns, const char *text, size_t bytes, StyleRole role) {
    char *line = mem_text_n(text, bytes);
    int used = canvas_text(c, x, y, columns, line, role, ATTRIBUTE_NONE);
    mem_free(line);
    return used;
}

int draw_paragraph_ending(Canvas *c, Rect r, const char *text, StyleRole role, const char *ending) {
    if (r.w <= 0) return 0;
    int row = 0;
    for (; row < r.h && *text != '\0'; row++) {
        size_t next, bytes = draw_wrap(text, r.w, &next);
        int room = r.w - canvas_columns(c, ending);
        bool cut = row + 1 == r.h && text[next + strspn(text + next, " \n")] != '\0' && room > 0;
        if (cut) bytes = draw_wrap(text, room, &next);
        int used = draw_line(c, r.x, r.y + row, r.w, text, bytes, role);
        if (cut) canvas_text(c, r.x + used, r.y + row, r.w - used, ending, role, ATTRIBUTE_NONE);
        text += next;
    }
    return row;
}

int draw_paragraph(Canvas *c, Rect r, const char *text, StyleRole role) {
    return draw_paragraph_ending(c, r, text, role, "…");
}

int draw_paragraph_rows(int columns, const char *text) {
    if (columns <= 0) return 0;
    int rows = 0;
    for (; *text != '\0'; rows++) {
        size_t next;
        draw_wrap(text, columns, &next);
        text += next;
    }
    return rows;
}

/* ---- tables ---- */

static void draw_table_line(Canvas *c, Rect r, int row, const char *line, StyleRole role, bool marked) {
    if (marked) canvas_fill(c, (Rect){r.x, r.y + row, r.w, 1}, ' ', STYLE_CURSOR, ATTRIBUTE_NONE);
    if (marked) canvas_put(c, r.x, r.y + row, 0x25B8, STYLE_CURSOR, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 2, r.y + row, r.w - 2, line, marked ? STYLE_CURSOR : role, CANVAS_ELLIPSIS);
}

int draw_table_from(Canvas *c, Rect r, const Table *t, long first, int column, long cursor) {
    Canvas view = canvas_view(c, r);
    if (view.w < 3 || view.h < 1) return 0;
    r = (Rect){0, 0, view.w, view.h};
    Str text;
    str_init(&text);
    int shown = table_print_within(t, first > 0 ? first : 0, r.h - 1, column, r.w - 2, &text);
    char *line = text.s;
    for (int row = 0; row < r.h && *line != '\0'; row++) {
        char *end = strchr(line, '\n');
        if (end != NULL) *end = '\0';
        bool marked = row > 0 && cursor >= 0 && first + row - 1 == cursor;
        draw_table_line(&view, r, row, line, row == 0 ? STYLE_DIM : STYLE_TEXT, marked);
        if (end == NULL) break;
        line = end + 1;
    }
    str_done(&text);
    if (column > 0) canvas_put(&view, 0, 0, 0x25C2, STYLE_DIM, ATTRIBUTE_NONE);
    if (column + shown < table_columns(t)) canvas_put(&view, r.w - 1, 0, 0x25B8, STYLE_DIM, ATTRIBUTE_NONE);
    return shown;
}

void draw_table(Canvas *c, Rect r, const Table *t, long first, long cursor) {
    draw_table_from(c, r, t, first, 0, cursor);
}

/* ---- tall digits ---- */

typedef struct {
    char ch;
    const char *dots; /* five rows of equal width */
} Tall;

static const Tall tall[] = {
    {'0', "####.##.##.####"}, {'1', ".#.##..#..#.###"}, {'2', "###..#####..###"}, {'3', "###..####..####"},
    {'4', "#.##.####..#..#"}, {'5', "####..###..####"}, {'6', "####..####.####"}, {'7', "###..#..#..#..#"},
    {'8', "####.#####.####"}, {'9', "####.####..####"}, {'-', "......###......"}, {'+', "....#.###.#...."},
    {'.', "....#"},           {':', ".#.#."},           {' ', "....."},           {',', "...##"},
    {'%', "#.#..#.#.#..#.#"}, {'/', "..#..#.#.#..#.."}, {'x', "...#.#.#.#.#..."},
};

static const Tall *find_tall(char ch) {
    for (size_t i = 0; i < sizeof tall / sizeof *tall; i++)
        if (tall[i].ch == ch) return &tall[i];
    return NULL;
}

/* Dots that the text is wide, blanks between characters included; 0 when a character has no tall form. */
static int tall_width(const char *text) {
    int dots = 0;
    for (; *text != '\0'; text++) {
        const Tall *t = find_tall(*text);
        if (t == NULL) return 0;
        dots += (int)strlen(t->dots) / 5 + 1;
    }
    return dots > 0 ? dots - 1 : 0;
}

/* Half of the cell at (X, HALF / 2), on top of heat where there is some. */
static void put_half(Canvas *c, int x, int half, StyleRole role) {
    const Cell *cell = canvas_cell(c, x, half / 2);
    bool heat = cell != NULL && cell->map != HEAT_NONE, mine = !heat || cell->over;
    bool other = cell != NULL && mine && cell->ch == (half % 2 == 0 ? CANVAS_HALF_LOWER : CANVAS_HALF_UPPER);
    uint32_t ch = other ? 0x2588 : half % 2 == 0 ? CANVAS_HALF_UPPER : CANVAS_HALF_LOWER;
    if (c->glyphs == GLYPHS_ASCII) ch = '#';
    if (heat)
        canvas_over(c, x, half / 2, ch);
    else
        canvas_put(c, x, half / 2, ch, role, ATTRIBUTE_BOLD);
}

/* One dot: SCALE columns and half-rows, upper left corner at column X, half-row Y. */
static void put_dot(Canvas *c, int x, int y, int scale, StyleRole role) {
    for (int half = y; half < y + scale; half++)
        for (int i = x; i < x + scale; i++) put_half(c, i, half, role);
}

static void put_tall(Canvas *c, int x, const Tall *t, int scale, StyleRole role) {
    int wide = (int)strlen(t->dots) / 5;
    for (int i = 0; i < 5 * wide; i++)
        if (t->dots[i] == '#') put_dot(c, x + i % wide * scale, i / wide * scale, scale, role);
}

static int rows_of_scale(int scale) {
    return (5 * scale + 1) / 2;
}

/* The largest scale that fits; 0: none. Half rows need half blocks. */
static int find_scale(int w, int h, bool ascii, const char *text) {
    static const int scales[] = {8, 6, 4, 3, 2, 1};
    int dots = tall_width(text);
    for (size_t i = 0; dots > 0 && i < sizeof scales / sizeof *scales; i++) {
        if (ascii && scales[i] % 2 != 0) continue;
        if (dots * scales[i] <= w && rows_of_scale(scales[i]) <= h) return scales[i];
    }
    return 0;
}

DrawnSize draw_big_size(const Canvas *c, int w, int h, const char *text) {
    int scale = find_scale(w, h, c->glyphs == GLYPHS_ASCII, text);
    if (scale > 0) return (DrawnSize){scale * tall_width(text), rows_of_scale(scale)};
    int columns = canvas_columns(c, text);
    return (DrawnSize){columns < w ? columns : w, 1};
}

void draw_big(Canvas *c, Rect r, const char *text, StyleRole role) {
    Canvas view = canvas_view(c, r);
    int scale = find_scale(view.w, view.h, view.glyphs == GLYPHS_ASCII, text), x = 0;
    if (scale == 0) canvas_text(&view, 0, 0, -1, text, role, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    for (; scale > 0 && *text != '\0'; text++) {
        const Tall *t = find_tall(*text);
        put_tall(&view, x, t, scale, role);
        x += ((int)strlen(t->dots) / 5 + 1) * scale;
    }
}

void draw_right(Canvas *c, Rect r, const char *text, StyleRole role) {
    int columns = canvas_columns(c, text);
    if (columns > r.w) columns = r.w;
    canvas_text(c, r.x + r.w - columns, r.y, columns, text, role, CANVAS_ELLIPSIS);
}
