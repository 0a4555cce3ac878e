/* Words as pieces: a blank stands between them, so they are told apart without colour; a piece that merges made has one
 * colour wherever it stands. */
#include "bpe_view.h"

#include "utf8.h"

#include <string.h>

typedef struct {
    const char *s;
    size_t bytes;
} Piece;

static bool next_piece(const char **at, Piece *out) {
    while (**at == ' ') ++*at;
    if (!**at) return false;
    out->s = *at;
    out->bytes = strcspn(*at, " ");
    *at += out->bytes;
    return true;
}

static bool is_text(const Piece *p, const char *text) {
    return text && strlen(text) == p->bytes && memcmp(p->s, text, p->bytes) == 0;
}

/* Bytes that are no whole character are written as \xhh. */
static bool is_partial(const char *s, size_t bytes) {
    for (size_t i = 0; i + 3 < bytes; i++)
        if (s[i] == '\\' && s[i + 1] == 'x') return true;
    return false;
}

static bool is_unit(const char *s, size_t bytes, bool byte) {
    uint32_t code;
    if (bytes == 4 && (memcmp(s, "</w>", 4) == 0 || (s[0] == '\\' && s[1] == 'x'))) return true;
    return byte ? bytes == 1 : (size_t)utf8_decode(s, bytes, &code) == bytes;
}

StyleRole bpe_piece_role(const char *s, size_t bytes, bool byte) {
    static const StyleRole roles[] = {STYLE_SERIES_A, STYLE_SERIES_B, STYLE_SERIES_C};
    if (bytes == 4 && memcmp(s, "</w>", 4) == 0) return STYLE_DIM;
    if (is_partial(s, bytes)) return STYLE_WARNING;
    if (is_unit(s, bytes, byte)) return STYLE_TEXT;
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)s[i]) * 16777619u;
    return roles[(hash >> 16) % (sizeof roles / sizeof *roles)];
}

/* A line of pieces while it is drawn. */
typedef struct {
    const char *at;
    bool holds; /* the piece before is the left one of the marked pair */
    const BpeMarks *marks;
} Line;

/* Whether the piece and the one behind it, at REST, are the marked pair. */
static bool begins_pair(const Line *l, const Piece *p) {
    const char *rest = l->at;
    Piece after;
    return l->marks->left && is_text(p, l->marks->left) && next_piece(&rest, &after) &&
           is_text(&after, l->marks->right);
}

/* Draws the next piece with a blank before it unless AT is where the line begins; 0: none is left, -1: it has no room.
 */
static int draw_next(Line *l, Canvas *c, int x, int at, int y, int room) {
    Line before = *l;
    Piece p;
    char text[256];
    if (!next_piece(&l->at, &p)) return 0;
    size_t bytes = p.bytes < sizeof text ? p.bytes : sizeof text - 1;
    memcpy(text, p.s, bytes);
    text[bytes] = '\0';
    int blank = at > x, columns = blank + canvas_columns(c, text);
    if (columns > room) {
        *l = before;
        return -1;
    }
    bool ends = l->holds, begins = !ends && begins_pair(l, &p), newest = is_text(&p, l->marks->newest);
    int attributes = (newest ? ATTRIBUTE_BOLD : 0) | (begins || ends ? ATTRIBUTE_UNDERLINE : 0);
    if (blank) canvas_put(c, at, y, ' ', STYLE_TEXT, ends ? ATTRIBUTE_UNDERLINE : ATTRIBUTE_NONE);
    StyleRole role = newest ? STYLE_STRONG : bpe_piece_role(p.s, p.bytes, l->marks->byte);
    (void)canvas_text(c, at + blank, y, room - blank, text, role, attributes);
    l->holds = begins;
    return columns;
}

int bpe_draw_pieces(Canvas *c, int x, int y, int w, const char *pieces, const BpeMarks *marks) {
    Line l = {pieces, false, marks};
    int at = x, ellipsis = 1 + canvas_columns(c, "…");
    for (;;) {
        const char *s = l.at + strspn(l.at, " ");
        bool last = !strchr(s, ' ');
        int used = draw_next(&l, c, x, at, y, x + w - at - (last ? 0 : ellipsis));
        if (used == 0) return at - x;
        if (used < 0) break;
        at += used;
    }
    canvas_text(c, at + (at > x), y, x + w - at - (at > x), "…", STYLE_DIM, ATTRIBUTE_NONE);
    return at + ellipsis - x;
}

int bpe_draw_pieces_lines(Canvas *c, Rect r, const char *pieces, const BpeMarks *marks) {
    Line l = {pieces, false, marks};
    int at = r.x, y = r.y;
    while (y < r.y + r.h) {
        int used = draw_next(&l, c, r.x, at, y, r.x + r.w - at);
        if (used == 0) return y - r.y + (at > r.x);
        if (used < 0 && at == r.x) break; /* wider than all */
        if (used < 0) {
            at = r.x;
            y++;
        } else {
            at += used;
        }
    }
    return r.h;
}
