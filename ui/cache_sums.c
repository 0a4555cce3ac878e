#include "cache_sums.h"

#include "format.h"
#include "intl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_W = 13, NUMBER_W = 11, LABEL_W = 10, CARD_W = 9, CARD_NAME_W = 15, CARD_SCHEME_W = 8 };

static const Table *steps_of(const CacheSeen *s) {
    return snapshot_table(s->snapshot, "cache_steps");
}

static double number(const Table *t, long row, const char *column) {
    return table_real(t, row, table_find(t, column));
}

static const char *text(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}

/* Bytes. */

long long cache_bytes(const CacheSeen *s) {
    const Table *t = steps_of(s);
    return t && table_rows(t) > 0 ? (long long)number(t, table_rows(t) - 1, "bytes") : 0;
}

long long cache_bytes_per_token(const CacheSeen *s) {
    return cache_bytes(s) / s->used;
}

int cache_draw_bytes(const CacheSeen *s, Canvas *c, Rect r) {
    long long now = cache_bytes(s), token = cache_bytes_per_token(s);
    long long value = token / (2LL * s->layers * s->kv_heads * s->hd);
    int y = r.y, at;
    at = canvas_text(c, r.x, y, r.w, _("bytes "), STYLE_DIM, ATTRIBUTE_NONE);
    at += canvas_text(c, r.x + at, y, r.w - at, format_count(now).s, STYLE_STRONG, ATTRIBUTE_BOLD);
    if (s->rolls && s->used == s->capacity)
        canvas_text(c, r.x + at, y, r.w - at, _("  slots are used again"), STYLE_DIM, CANVAS_ELLIPSIS);
    else
        canvas_textf(c, r.x + at, y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, _("  + %s a token"), format_count(token).s);
    y++;
    canvas_textf(c, r.x, y++, r.w, STYLE_TEXT, CANVAS_ELLIPSIS, _("= 2 (K, V) · %d layers · %d KV heads"), s->layers,
                 s->kv_heads);
    canvas_textf(c, r.x, y++, r.w, STYLE_TEXT, CANVAS_ELLIPSIS,
                 s->rolls ? _("  · %d wide · %d slots · %lld bytes")
                          : ngettext("  · %d wide · %d token · %lld bytes", "  · %d wide · %d tokens · %lld bytes",
                                     (unsigned long)s->used),
                 s->hd, s->used, value);
    return y - r.y;
}

/* Operations. */

static double sum_of(const Table *t, const char *column, bool so_far) {
    double sum = 0;
    for (long row = so_far ? 0 : table_rows(t) - 1; row < table_rows(t); row++) sum += number(t, row, column);
    return sum;
}

double cache_ratio(const CacheSeen *s, bool so_far) {
    const Table *t = steps_of(s);
    if (!t || table_rows(t) == 0) return (double)NAN;
    return sum_of(t, "without", so_far) / sum_of(t, "with", so_far);
}

static void draw_count(Canvas *c, int x, int y, double n) {
    canvas_textf(c, x, y, NUMBER_W, STYLE_TEXT, ATTRIBUTE_NONE, "%*s", NUMBER_W,
                 n < 1e9 ? format_count((long long)n).s : format_short(n).s);
}

int cache_draw_flops(const CacheSeen *s, Canvas *c, Rect r) {
    static const char *const columns[] = {"without", "with"};
    const Table *t = steps_of(s);
    if (!t || table_rows(t) == 0) return 0;
    int y = r.y, first = r.x + LABEL_W, second = first + NUMBER_W + 2;
    bool prefill = table_rows(t) == 1;
    canvas_text(c, r.x, y, LABEL_W, _("FLOPs"), STYLE_DIM, ATTRIBUTE_NONE);
    canvas_textf(c, first, y, NUMBER_W, STYLE_DIM, ATTRIBUTE_NONE, "%*s", NUMBER_W,
                 prefill ? _("prefill") : _("last token"));
    canvas_textf(c, second, y++, NUMBER_W, STYLE_DIM, ATTRIBUTE_NONE, "%*s", NUMBER_W, _("so far"));
    for (int i = 0; i < 2; i++, y++) {
        canvas_text(c, r.x, y, LABEL_W, i ? _("with") : _("without"), STYLE_TEXT, ATTRIBUTE_NONE);
        draw_count(c, first, y, sum_of(t, columns[i], false));
        draw_count(c, second, y, sum_of(t, columns[i], true));
    }
    canvas_text(c, r.x, y, LABEL_W, _("times"), STYLE_DIM, ATTRIBUTE_NONE);
    canvas_textf(c, first, y, NUMBER_W, STYLE_STRONG, ATTRIBUTE_BOLD, "%*s", NUMBER_W,
                 format_fixed(cache_ratio(s, false), 1).s);
    canvas_textf(c, second, y++, NUMBER_W, STYLE_STRONG, ATTRIBUTE_BOLD, "%*s", NUMBER_W,
                 format_fixed(cache_ratio(s, true), 1).s);
    return y - r.y;
}

/* Ways of sharing. */

/* "GQA 8 KV" */
static void scheme_name(const Table *t, long row, char *out, size_t bytes) {
    const char *scheme = text(t, row, "scheme");
    if (!strcmp(scheme, "mla"))
        snprintf(out, bytes, "%s", _("MLA latent"));
    else
        snprintf(out, bytes, "%s %d KV",
                 !strcmp(scheme, "mha")   ? "MHA"
                 : !strcmp(scheme, "gqa") ? "GQA"
                                          : "MQA",
                 (int)number(t, row, "kv_heads"));
}

static void draw_scheme_name(Canvas *c, int x, int y, const Table *t, long row) {
    char name[32];
    bool own = number(t, row, "own") > 0;
    scheme_name(t, row, name, sizeof name);
    canvas_put(c, x, y, own ? 0x25B8 : ' ', STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_text(c, x + 1, y, NAME_W - 1, name, own ? STYLE_STRONG : STYLE_TEXT, ATTRIBUTE_NONE);
}

int cache_draw_schemes(const CacheSeen *s, Canvas *c, Rect r) {
    const Table *t = snapshot_table(s->snapshot, "cache_sizes");
    double most = 0;
    int y = r.y, bar = r.w - NAME_W - NUMBER_W - 1;
    for (long row = 0; t && row < table_rows(t); row++)
        if (!text(t, row, "model")[0]) most = fmax(most, number(t, row, "bytes_per_token"));
    if (!(most > 0)) return 0;
    canvas_text(c, r.x, y++, r.w, _("a token keeps, shared otherwise"), STYLE_DIM, CANVAS_ELLIPSIS);
    for (long row = 0; row < table_rows(t) && y < r.y + r.h; row++) {
        if (text(t, row, "model")[0]) continue;
        double bytes = number(t, row, "bytes_per_token");
        draw_scheme_name(c, r.x, y, t, row);
        draw_bar(c, r.x + NAME_W, y, bar, bytes / most, STYLE_SERIES_A);
        canvas_textf(c, r.x + r.w - NUMBER_W, y++, NUMBER_W, STYLE_TEXT, ATTRIBUTE_NONE, "%*s", NUMBER_W,
                     format_bytes(bytes).s);
    }
    return y - r.y;
}

/* Real models. */

static bool is_card(const Table *t, long row, const char *name) {
    return !strcmp(text(t, row, "model"), name);
}

/* The first row of each card, one card after the other; false after the last. */
static bool next_card(const Table *t, long *row) {
    const char *before = *row >= 0 ? text(t, *row, "model") : "";
    while (++*row < table_rows(t))
        if (text(t, *row, "model")[0] && !is_card(t, *row, before)) return true;
    return false;
}

const char *cache_card(const Snapshot *s, const char *name, int by) {
    const Table *t = snapshot_table(s, "cache_sizes");
    int cards = 0, at = 0;
    if (!t) return NULL;
    for (long row = -1; next_card(t, &row); cards++)
        if (is_card(t, row, name)) at = cards;
    if (cards == 0) return NULL;
    at = ((at + by) % cards + cards) % cards;
    long row = -1;
    for (int i = 0; i <= at; i++) (void)next_card(t, &row);
    return text(t, row, "model");
}

const char *cache_find_card(const Snapshot *s, const char *name, const char *wanted) {
    const char *first = cache_card(s, name, 1);
    for (const char *card = first; card;) {
        if (reading_holds(card, wanted)) return card;
        card = cache_card(s, card, 1);
        if (card == first || !strcmp(card, first)) return NULL;
    }
    return NULL;
}

/* The bytes of a scheme of CARD with TOKENS; NaN: no such row. */
static double card_bytes(const Table *t, const char *card, const char *scheme, long long tokens, const char *column) {
    for (long row = 0; row < table_rows(t); row++)
        if (is_card(t, row, card) && (long long)number(t, row, "tokens") == tokens &&
            !strcmp(text(t, row, "scheme"), scheme))
            return number(t, row, column);
    return (double)NAN;
}

static void draw_bytes_cell(Canvas *c, int x, int y, double bytes, StyleRole role) {
    canvas_textf(c, x, y, CARD_W, role, ATTRIBUTE_NONE, "%*s", CARD_W, format_bytes(bytes).s);
}

/* "128K" */
static void draw_tokens(Canvas *c, int x, int y, long long tokens) {
    char short_form[24];
    snprintf(short_form, sizeof short_form, "%lldK", tokens / 1024);
    canvas_textf(c, x, y, CARD_W, STYLE_DIM, ATTRIBUTE_NONE, "%*s", CARD_W, short_form);
}

/* The numbers of tokens that cards are counted for, the least and the most. */
static void card_lengths(const Table *t, const char *card, long long *low, long long *high) {
    *low = *high = 0;
    for (long row = 0; row < table_rows(t); row++) {
        if (!is_card(t, row, card)) continue;
        long long tokens = (long long)number(t, row, "tokens");
        if (*low == 0 || tokens < *low) *low = tokens;
        if (tokens > *high) *high = tokens;
    }
}

/* Where the two columns of bytes stand; the bar is what is left before them. */
typedef struct {
    int low, high, bar;
} CardColumns;

static CardColumns columns_of(Rect r) {
    CardColumns p = {.high = r.x + r.w - CARD_W};
    p.low = p.high - CARD_W - 1;
    p.bar = p.low - 1 - (r.x + NAME_W);
    return p;
}

static int draw_card_schemes(Canvas *c, Rect r, const Table *t, const char *card, long long low, long long high) {
    CardColumns p = columns_of(r);
    double most = 0;
    int y = r.y;
    for (long row = 0; row < table_rows(t); row++)
        if (is_card(t, row, card)) most = fmax(most, number(t, row, "bytes"));
    for (long row = 0; row < table_rows(t) && y < r.y + r.h; row++) {
        if (!is_card(t, row, card) || (long long)number(t, row, "tokens") != high) continue;
        StyleRole role = number(t, row, "own") > 0 ? STYLE_STRONG : STYLE_TEXT;
        draw_scheme_name(c, r.x, y, t, row);
        draw_bar(c, r.x + NAME_W, y, p.bar, number(t, row, "bytes") / most, STYLE_SERIES_A);
        draw_bytes_cell(c, p.low, y, card_bytes(t, card, text(t, row, "scheme"), low, "bytes"), role);
        draw_bytes_cell(c, p.high, y++, number(t, row, "bytes"), role);
    }
    return y - r.y;
}

/* The row of the card's own scheme with so many tokens. */
static long own_row(const Table *t, const char *card, long long tokens) {
    for (long row = 0; row < table_rows(t); row++)
        if (is_card(t, row, card) && number(t, row, "own") > 0 && (long long)number(t, row, "tokens") == tokens)
            return row;
    return -1;
}

static int draw_card_more(Canvas *c, Rect r, const Table *t, const char *card, long long low, long long high) {
    CardColumns p = columns_of(r);
    long near = own_row(t, card, low), far = own_row(t, card, high);
    int y = r.y;
    if (near < 0 || far < 0) return 0;
    if (number(t, far, "window") > 0 && y < r.y + r.h) {
        canvas_textf(c, r.x + 1, y, p.low - r.x - 2, STYLE_TEXT, CANVAS_ELLIPSIS, _("rolling %d"),
                     (int)number(t, far, "window"));
        draw_bytes_cell(c, p.low, y, number(t, near, "rolling_bytes"), STYLE_TEXT);
        draw_bytes_cell(c, p.high, y++, number(t, far, "rolling_bytes"), STYLE_TEXT);
    }
    if (y >= r.y + r.h) return y - r.y;
    canvas_text(c, r.x + 1, y, p.low - r.x - 2, _("its weights"), STYLE_DIM, CANVAS_ELLIPSIS);
    draw_bytes_cell(c, p.high, y++, number(t, far, "weights_bytes"), STYLE_DIM);
    return y - r.y;
}

int cache_draw_card(const CacheSeen *s, Canvas *c, Rect r, const char *card) {
    const Table *t = snapshot_table(s->snapshot, "cache_sizes");
    const char *name = cache_card(s->snapshot, card, 0);
    if (!t || !name) return 0;
    CardColumns p = columns_of(r);
    long long low, high;
    card_lengths(t, name, &low, &high);
    long far = own_row(t, name, high);
    canvas_text(c, r.x, r.y, p.low - r.x - 1, name, STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    draw_tokens(c, p.low, r.y, low);
    draw_tokens(c, p.high, r.y, high);
    if (far >= 0 && r.h > 1)
        canvas_textf(c, r.x, r.y + 1, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("%d layers · %d wide · %s B each"),
                     (int)number(t, far, "layers"), (int)number(t, far, "head_dim"),
                     format_figures(number(t, far, "value_bytes")).s);
    int y = r.y + 2;
    y += draw_card_schemes(c, (Rect){r.x, y, r.w, r.y + r.h - y}, t, name, low, high);
    y += draw_card_more(c, (Rect){r.x, y, r.w, r.y + r.h - y}, t, name, low, high);
    return y - r.y;
}

/* One card: its name, its scheme where there is room, and what it must keep. */
static void draw_card_row(Canvas *c, Rect r, const Table *t, long near, long far, bool here) {
    CardColumns p = columns_of(r);
    char scheme[32];
    int name_w = p.low - r.x - 2;
    StyleRole role = here ? STYLE_STRONG : STYLE_TEXT;
    scheme_name(t, far, scheme, sizeof scheme);
    if (strlen(scheme) > CARD_SCHEME_W) scheme[strcspn(scheme, " ")] = '\0';
    canvas_put(c, r.x, r.y, here ? 0x25B8 : ' ', STYLE_STRONG, ATTRIBUTE_BOLD);
    if (name_w >= CARD_NAME_W + CARD_SCHEME_W) {
        canvas_text(c, r.x + 1 + CARD_NAME_W, r.y, CARD_SCHEME_W, scheme, STYLE_DIM, ATTRIBUTE_NONE);
        name_w = CARD_NAME_W - 1;
    }
    canvas_text(c, r.x + 1, r.y, name_w, text(t, far, "model"), role, CANVAS_ELLIPSIS);
    draw_bytes_cell(c, p.low, r.y, number(t, near, "rolling_bytes"), role);
    draw_bytes_cell(c, p.high, r.y, number(t, far, "rolling_bytes"), role);
}

int cache_draw_cards(const CacheSeen *s, Canvas *c, Rect r, const char *card) {
    const Table *t = snapshot_table(s->snapshot, "cache_sizes");
    const char *name = cache_card(s->snapshot, card, 0);
    if (!t || !name || r.h < 2) return 0;
    CardColumns p = columns_of(r);
    int cards = 0, at = 0, y = r.y;
    for (long row = -1; next_card(t, &row); cards++)
        if (is_card(t, row, name)) at = cards;
    int rows = r.h - 1, first = at - rows / 2;
    if (first > cards - rows) first = cards - rows;
    if (first < 0) first = 0;
    long row = -1;
    long long low = 0, high = 0;
    for (int i = 0; i < first + rows && next_card(t, &row); i++) {
        const char *model = text(t, row, "model");
        card_lengths(t, model, &low, &high);
        long near = own_row(t, model, low), far = own_row(t, model, high);
        if (i < first || near < 0 || far < 0) continue;
        draw_card_row(c, (Rect){r.x, ++y, r.w, 1}, t, near, far, i == at);
    }
    canvas_text(c, r.x, r.y, p.low - r.x - 1, _("each must keep"), STYLE_DIM, CANVAS_ELLIPSIS);
    draw_tokens(c, p.low, r.y, low);
    draw_tokens(c, p.high, r.y, high);
    return y + 1 - r.y;
}

/* The comparison with the whole pass. */

typedef struct {
    double most; /* NaN: there is none, or it is none */
    int same, of;
} Check;

static Check check_of(const CacheSeen *s) {
    const Table *t = snapshot_table(s->snapshot, "cache_check");
    Check k = {.most = (double)NAN};
    if (!t) return k;
    k.of = (int)table_rows(t);
    for (long row = 0; row < table_rows(t); row++) {
        double off = number(t, row, "max_difference");
        k.same += number(t, row, "same_token") > 0;
        if (row == 0 || isnan(off) || off > k.most) k.most = off;
    }
    return k;
}

void cache_draw_check_line(const CacheSeen *s, Canvas *c, int x, int y, int w) {
    Check k = check_of(s);
    int at = canvas_text(c, x, y, w, _("against the whole pass "), STYLE_DIM, CANVAS_ELLIPSIS);
    at += canvas_text(c, x + at, y, w - at, format_small(k.most).s, STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_textf(c, x + at, y, w - at, STYLE_DIM, CANVAS_ELLIPSIS, _("  same word %d/%d"), k.same, k.of);
}

int cache_draw_check(const CacheSeen *s, Canvas *c, Rect r) {
    Check k = check_of(s);
    int y = r.y;
    canvas_text(c, r.x, y++, r.w, _("cached against the whole pass"), STYLE_DIM, CANVAS_ELLIPSIS);
    int at = canvas_text(c, r.x, y, r.w, _("logits differ by "), STYLE_TEXT, ATTRIBUTE_NONE);
    at += canvas_text(c, r.x + at, y, r.w - at, format_small(k.most).s, STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_text(c, r.x + at, y++, r.w - at, _(" at most"), STYLE_TEXT, CANVAS_ELLIPSIS);
    canvas_textf(c, r.x, y++, r.w, k.same == k.of ? STYLE_GOOD : STYLE_WARNING, CANVAS_ELLIPSIS,
                 _("same likeliest word %d of %d"), k.same, k.of);
    return y - r.y;
}
