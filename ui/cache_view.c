#include "cache_view.h"

#include "format.h"
#include "intl.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WORD_MOST = 10,  /* columns of a token in a label */
    LABEL_MOST = 15, /* of a label where there is little room */
    CELL_W_MOST = 3, /* columns of a number */
    LINES_MOST = 3,  /* rows of a slot */
    LARGE_MOST = 8,  /* of both, for a hall */
    GAP = 2,         /* between heads */
    SCALE_W = 24,
};

/* Reading. */

static int cell_int(const Table *t, long row, const char *column) {
    return (int)table_int(t, row, table_find(t, column));
}

int cache_position(const CacheSeen *s, int slot) {
    return cell_int(s->slots, slot, "position");
}

int cache_window(const CacheSeen *s) {
    const Table *t = snapshot_table(s->snapshot, "cache_layers");
    return t && s->layer < table_rows(t) ? cell_int(t, s->layer, "window") : 0;
}

const Field *cache_field(const CacheSeen *s, int layer, bool values) {
    return snapshot_field(s->snapshot, values ? "cache.%d.values" : "cache.%d.keys", layer);
}

double cache_value(const CacheSeen *s, int layer, bool values, int head, int slot, int i) {
    return (double)field_at(cache_field(s, layer, values), head, slot, i, 0);
}

static int slot_of(const CacheSeen *s, int position) {
    for (int slot = 0; slot < s->used; slot++)
        if (cache_position(s, slot) == position) return slot;
    return -1;
}

static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

/* How many slots there are, and which of them are next. */
static void see_slots(CacheSeen *s) {
    const SnapshotFacts *f = snapshot_facts(s->snapshot);
    const Table *layers = snapshot_table(s->snapshot, "cache_layers");
    int slots = layers && table_rows(layers) > 0 ? cell_int(layers, 0, "slots") : 0;
    s->rolls = slots > 0;
    s->capacity = s->rolls ? slots : f->context > s->used ? f->context : s->used;
    s->fed = cache_position(s, 0) + 1;
    for (int slot = 1; slot < s->used; slot++)
        if (cache_position(s, slot) >= s->fed) s->fed = cache_position(s, slot) + 1;
    s->prefill = f->prompt_tokens < s->fed ? f->prompt_tokens : s->fed;
    s->newest = slot_of(s, s->fed - 1);
    s->next = s->rolls || s->fed < s->capacity ? s->fed % s->capacity : -1;
}

bool cache_see(const PaneContext *x, int column, CacheSeen *out) {
    *out = (CacheSeen){.snapshot = x->snapshot, .slots = snapshot_table(x->snapshot, "cache_slots")};
    const Field *keys = snapshot_field(x->snapshot, "cache.0.keys");
    if (!keys || !out->slots || table_rows(out->slots) == 0 || keys->dim[1] != table_rows(out->slots)) return false;
    int heads = snapshot_facts(x->snapshot)->heads;
    out->kv_heads = keys->dim[0];
    out->used = keys->dim[1];
    out->hd = keys->dim[2];
    out->group = heads > out->kv_heads ? heads / out->kv_heads : 1;
    while (cache_field(out, out->layers, false)) out->layers++;
    see_slots(out);
    out->layer = clamp(x->cursor->layer, 0, out->layers - 1);
    out->head = clamp(x->cursor->head / out->group, 0, out->kv_heads - 1);
    out->slot = slot_of(out, x->cursor->key);
    out->column = clamp(column, 0, 2 * out->hd - 1);
    out->large = x->detail == DETAIL_PRESENT;
    return true;
}

/* Where the cells stand. */

/* The same for every layer and head that is shown. */
typedef struct {
    int label_w;             /* columns of a label, the blank behind it included */
    int first_layer, layers; /* shown, one below the other */
    int first_head, heads;   /* side by side */
    int block_h;             /* rows of a layer, its heading included */
    int cell_w, cell_h;      /* columns of a number; half-rows of a slot */
    int first_slot, slots;   /* rows of numbers */
    int first_dim, dims;     /* columns of K, and of V */
} CacheLayout;

static int least(int a, int b) {
    return a < b ? a : b;
}

static int digits(int n) {
    return n < 10 ? 1 : n < 100 ? 2 : n < 1000 ? 3 : n < 10000 ? 4 : 5;
}

/* Mark, slot, position, word; in the row to come, that it is next. */
static int label_columns(const CacheSeen *s) {
    int word = 0;
    for (int position = 0; position < reading_tokens(s->snapshot); position++) {
        char token[READING_TOKEN];
        reading_token(s->snapshot, position, token);
        int columns = utf8_columns(token);
        if (columns > word) word = columns;
    }
    int label = digits(s->fed) + 1 + least(word, WORD_MOST), next = utf8_columns(_("next"));
    return 2 + (s->rolls ? digits(s->capacity - 1) + 2 : 0) + (label > next ? label : next) + 1;
}

/* The part of COUNT things from which SHOWN have room, with AT among them. */
static int part_from(int at, int shown, int count) {
    return clamp(at - shown / 2, 0, count - shown);
}

static int pair_w(const CacheLayout *p, const CacheSeen *s) {
    return 2 * s->hd * p->cell_w + 1;
}

static void lay_columns(CacheLayout *p, const CacheSeen *s, int w) {
    p->cell_w = 1;
    p->label_w = label_columns(s);
    p->heads = s->large ? 1 : clamp((w - p->label_w + GAP) / (pair_w(p, s) + GAP), 1, s->kv_heads);
    while (p->cell_w < (s->large ? LARGE_MOST : CELL_W_MOST)) {
        p->cell_w++;
        if (p->label_w + p->heads * (pair_w(p, s) + GAP) - GAP <= w) continue;
        p->cell_w--;
        break;
    }
    p->dims = s->hd;
    if (p->label_w + pair_w(p, s) > w) { /* one head has no room */
        p->label_w = clamp(w - pair_w(p, s), least(p->label_w, least(LABEL_MOST, w / 3)), p->label_w);
        p->dims = clamp((w - p->label_w - 1) / 2, 1, s->hd);
    }
    p->first_head = part_from(s->head, p->heads, s->kv_heads);
    p->first_dim = part_from(s->column % s->hd, p->dims, s->hd);
}

static void lay_rows(CacheLayout *p, const CacheSeen *s, int h) {
    int wanted = least(s->used + 1, s->capacity); /* with room for the next */
    p->layers = s->large ? 1 : clamp(h / (wanted + 1), 1, s->layers);
    p->first_layer = part_from(s->layer, p->layers, s->layers);
    p->block_h = h / p->layers;
    int lines = p->block_h - 1;
    if (lines < 1) lines = 1, p->block_h = 1; /* no heading */
    p->cell_h = wanted > lines ? 1 : 2 * clamp(lines / wanted, 1, s->large ? LARGE_MOST : LINES_MOST);
    p->slots = clamp(2 * lines / p->cell_h, 1, s->capacity);
    int last = s->rolls ? s->newest : least(s->used, s->capacity - 1); /* what must be seen: the next place, too */
    p->first_slot = last >= p->slots ? last - p->slots + 1 : 0;
    if (s->slot >= 0 && s->slot < p->first_slot) p->first_slot = s->slot;
    if (s->slot >= p->first_slot + p->slots) p->first_slot = s->slot - p->slots + 1;
}

static CacheLayout lay_out(const CacheSeen *s, const Canvas *c, Rect r) {
    CacheLayout p = {0};
    lay_columns(&p, s, r.w);
    lay_rows(&p, s, r.h);
    if (!c->heat_colour && p.cell_h < 2) { /* a glyph is a whole row high */
        p.cell_h = 2;
        p.slots = clamp(p.block_h > 1 ? p.block_h - 1 : 1, 1, s->capacity);
        int last = s->slot >= 0 ? s->slot : s->newest;
        p.first_slot = clamp(last - p.slots + 1, 0, s->capacity - p.slots);
    }
    return p;
}

static int block_y(const CacheLayout *p, Rect r, int layer) {
    return r.y + (layer - p->first_layer) * p->block_h;
}

/* The numbers of one map. */
static Rect map_rect(const CacheLayout *p, Rect r, int layer, int head, bool values) {
    int width = p->dims * p->cell_w, pair = 2 * width + 1, heading = p->block_h > 1;
    return (Rect){r.x + p->label_w + (head - p->first_head) * (pair + GAP) + (values ? width + 1 : 0),
                  block_y(p, r, layer) + heading, width, (p->slots * p->cell_h + 1) / 2};
}

/* Maps. */

typedef struct {
    const Field *f;
    int head, used;
    double edge; /* the largest distance from zero in the layer */
} CacheMap;

static int map_heat(const void *data, int slot, int i) {
    const CacheMap *m = data;
    if (slot >= m->used) return -1;
    double x = (double)field_at(m->f, m->head, slot, i, 0);
    return isfinite(x) && m->edge > 0 ? (int)lround(128 + 127 * x / m->edge) : 128;
}

static Heat heat_of(const CacheSeen *s, const CacheLayout *p, const CacheMap *m) {
    return (Heat){.rows = p->first_slot + p->slots,
                  .cols = s->hd,
                  .heat = map_heat,
                  .data = m,
                  .map = HEAT_DIVERGING,
                  .cell_w = p->cell_w,
                  .cell_h = p->cell_h,
                  .first_row = p->first_slot,
                  .first_col = p->first_dim,
                  .cursor_row = -1,
                  .cursor_col = -1};
}

static void draw_map(const CacheSeen *s, const CacheLayout *p, Canvas *c, Rect r, int layer, int head, bool values) {
    const Field *f = cache_field(s, layer, values);
    CacheMap m = {f, head, s->used, field_most(f)};
    Heat heat = heat_of(s, p, &m);
    if (layer == s->layer && head == s->head && values == (s->column >= s->hd)) {
        heat.cursor_row = s->slot;
        heat.cursor_col = s->column % s->hd;
    }
    draw_heat(c, map_rect(p, r, layer, head, values), &heat);
}

/* Words around them. */

static char mark_of(const CacheSeen *s, int slot) {
    int window = cache_window(s), position = cache_position(s, slot);
    if (slot == s->newest && position >= s->prefill) return 'n';
    if (s->rolls && slot == s->next) return 'x';
    if (!s->rolls && window > 0 && position <= s->fed - 1 - window) return '-';
    return position < s->prefill ? 'p' : 'd';
}

static StyleRole label_role(const CacheSeen *s, int slot) {
    char mark = mark_of(s, slot);
    if (slot == s->slot || mark == 'n') return STYLE_STRONG;
    if (mark == '-' || mark == 'x') return STYLE_DIM;
    return cache_position(s, slot) < s->prefill ? STYLE_PROMPT : STYLE_GENERATED;
}

static void draw_label(const CacheSeen *s, Canvas *c, int x, int y, int w, int slot) {
    char number[16] = "", token[READING_TOKEN];
    if (s->rolls) snprintf(number, sizeof number, "%*d: ", digits(s->capacity - 1), slot);
    if (slot >= s->used) {
        canvas_textf(c, x + 2, y, w - 2, STYLE_DIM, ATTRIBUTE_NONE, "%s%s", number, slot == s->next ? _("next") : "");
        return;
    }
    int position = cache_position(s, slot);
    reading_token(s->snapshot, position, token);
    if (slot == s->slot) canvas_put(c, x, y, 0x25B8, STYLE_STRONG, ATTRIBUTE_BOLD);
    StyleRole role = label_role(s, slot);
    canvas_put(c, x + 1, y, (uint32_t)mark_of(s, slot), role, ATTRIBUTE_NONE);
    canvas_textf(c, x + 2, y, w - 2, role, CANVAS_ELLIPSIS, "%s%*d %s", number, digits(s->fed), position, token);
}

/* One beside each slot; where two share a row, of the first, the newest or the cursor's. */
static void draw_labels(const CacheSeen *s, const CacheLayout *p, Canvas *c, Rect r, int layer) {
    int top = block_y(p, r, layer) + (p->block_h > 1), last = -1;
    for (int row = 0; row < p->slots; row++) {
        int slot = p->first_slot + row, y = top + (row * p->cell_h + (p->cell_h > 2 ? p->cell_h / 2 - 1 : 0)) / 2;
        bool wanted = slot == s->slot || slot == s->newest;
        if (slot > s->used && slot != s->next) continue;
        if (y == last && !wanted) continue;
        if (y == last) canvas_fill(c, (Rect){r.x, y, p->label_w - 1, 1}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
        last = y;
        draw_label(s, c, r.x, y, p->label_w - 1, slot);
    }
}

/* "heads 1–2": the query heads that read a KV head. */
static void readers_of(const CacheSeen *s, int head, char *out, size_t bytes) {
    int from = head * s->group + 1, to = from + s->group - 1;
    if (from == to)
        snprintf(out, bytes, _("head %d"), from);
    else
        snprintf(out, bytes, _("heads %d–%d"), from, to);
}

static void draw_head_name(const CacheSeen *s, const CacheLayout *p, Canvas *c, Rect map, int layer, int head,
                           bool values) {
    char readers[40], name[64];
    bool here = layer == s->layer && head == s->head;
    readers_of(s, head, readers, sizeof readers);
    snprintf(name, sizeof name, values ? "V %d" : "K %d", head + 1);
    size_t used = strlen(name);
    if (p->dims < s->hd)
        snprintf(name + used, sizeof name - used, " %d–%d/%d", p->first_dim + 1, p->first_dim + p->dims, s->hd);
    else if (!values)
        snprintf(name + used, sizeof name - used, " ← %s", readers);
    if (utf8_columns(name) > map.w) name[used] = '\0';
    canvas_text(c, map.x, map.y - 1, map.w, name, here ? STYLE_STRONG : STYLE_DIM, here ? ATTRIBUTE_BOLD : 0);
}

static void draw_layer(const CacheSeen *s, const CacheLayout *p, Canvas *c, Rect r, int layer) {
    bool here = layer == s->layer;
    if (p->block_h > 1)
        canvas_textf(c, r.x, block_y(p, r, layer), p->label_w - 1, here ? STYLE_STRONG : STYLE_DIM,
                     here ? ATTRIBUTE_BOLD : 0, p->label_w > 7 ? _("layer %d") : "L%d", layer + 1);
    draw_labels(s, p, c, r, layer);
    for (int head = p->first_head; head < p->first_head + p->heads; head++)
        for (int values = 0; values < 2; values++) {
            draw_map(s, p, c, r, layer, head, values);
            if (p->block_h > 1) draw_head_name(s, p, c, map_rect(p, r, layer, head, values), layer, head, values);
        }
}

void cache_draw_cells(const CacheSeen *s, Canvas *c, Rect r) {
    if (r.w < 3 || r.h < 1) return;
    Canvas view = canvas_view(c, r);
    Rect inside = {0, 0, r.w, r.h};
    CacheLayout p = lay_out(s, c, inside);
    for (int layer = p.first_layer; layer < p.first_layer + p.layers; layer++) draw_layer(s, &p, &view, inside, layer);
}

bool cache_shows_all(const CacheSeen *s, const Canvas *c, Rect r) {
    CacheLayout p = lay_out(s, c, r);
    return p.layers == s->layers && p.heads == s->kv_heads;
}

bool cache_cell_at(const CacheSeen *s, const Canvas *c, Rect r, int x, int y, int *layer, int *head, int *slot,
                   int *column) {
    if (r.w < 3 || r.h < 1) return false;
    CacheLayout p = lay_out(s, c, r);
    for (*layer = p.first_layer; *layer < p.first_layer + p.layers; ++*layer)
        for (*head = p.first_head; *head < p.first_head + p.heads; ++*head)
            for (int values = 0; values < 2; values++) {
                CacheMap m = {cache_field(s, *layer, values), *head, s->used, 1};
                Heat heat = heat_of(s, &p, &m);
                if (!draw_heat_at(c, map_rect(&p, r, *layer, *head, values), &heat, x, y, slot, column)) continue;
                *column += values ? s->hd : 0;
                return true;
            }
    return false;
}

/* Lines below. */

void cache_draw_number(const CacheSeen *s, Canvas *c, int x, int y, int w) {
    char token[READING_TOKEN + 16];
    bool values = s->column >= s->hd;
    int i = s->column % s->hd;
    if (s->slot < 0) {
        canvas_text(c, x, y, w, _("held no longer: its slot was used again"), STYLE_DIM, CANVAS_ELLIPSIS);
        return;
    }
    reading_token_place(s->snapshot, cache_position(s, s->slot), token);
    int at = canvas_textf(c, x, y, w, STYLE_DIM, CANVAS_ELLIPSIS, _("%s of %s, number %d of %d: "), values ? "V" : "K",
                          token, i + 1, s->hd);
    canvas_text(c, x + at, y, w - at, format_fixed(cache_value(s, s->layer, values, s->head, s->slot, i), 4).s,
                STYLE_STRONG, ATTRIBUTE_BOLD);
}

void cache_draw_marks(const CacheSeen *s, Canvas *c, int x, int y, int w) {
    const char *more = s->rolls ? _(" x next to go") : cache_window(s) > 0 ? _(" - unseen") : "";
    canvas_textf(c, x, y, w, STYLE_DIM, CANVAS_ELLIPSIS, _("p prefill d decode n newest%s"), more);
}

void cache_draw_scale(const CacheSeen *s, Canvas *c, int x, int y, int w) {
    int part = least(SCALE_W, (w - GAP) / 2);
    for (int values = 0; values < 2 && part >= 12; values++) {
        double edge = field_most(cache_field(s, s->layer, values));
        char low[FORMAT_BYTES + 4], high[FORMAT_BYTES];
        snprintf(low, sizeof low, "%s %s", values ? "V" : "K", format_fixed(-edge, 1).s);
        snprintf(high, sizeof high, "%s", format_fixed(edge, 1).s);
        draw_heat_bar(c, x + values * (part + GAP), y, part, HEAT_DIVERGING, low, high);
    }
}
