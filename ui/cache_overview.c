/* All layers and KV heads of the cache at once, where the cells have no room for all of them: a row for each layer, a
 * strip for each head, a column for each slot, with the length of K in its upper and of V in its lower half. */
#include "cache_view.h"

#include "intl.h"
#include "mem.h"

#include <math.h>

enum { LABEL_W = 9, LAYERS_MOST = 12, STRIP_LEAST = 3 };

typedef struct {
    const double *length[2]; /* of K and of V, [layers x heads x used] */
    double most[2];
    int layers, heads, used;
    int first_layer, first_slot, head; /* of what is drawn */
} Lengths;

static size_t index_of(const Lengths *l, int layer, int head, int slot) {
    return ((size_t)layer * (size_t)l->heads + (size_t)head) * (size_t)l->used + (size_t)slot;
}

static double *lengths_new(const CacheSeen *s, const Lengths *l, bool values, double *most) {
    double *length = MEM_ARRAY(double, (size_t)s->layers *(size_t)s->kv_heads *(size_t)s->used);
    *most = 0;
    for (int layer = 0; layer < s->layers; layer++) {
        const Field *f = cache_field(s, layer, values);
        for (int head = 0; head < s->kv_heads; head++)
            for (int slot = 0; slot < s->used; slot++) {
                double sum = 0;
                for (int i = 0; i < s->hd; i++) {
                    double x = (double)field_at(f, head, slot, i, 0);
                    sum += x * x;
                }
                length[index_of(l, layer, head, slot)] = sqrt(sum);
                if (isfinite(sum)) *most = fmax(*most, sqrt(sum));
            }
    }
    return length;
}

/* Two rows of values for each layer: K, then V. */
static int length_heat(const void *data, int row, int slot) {
    const Lengths *l = data;
    int values = row % 2;
    if (l->first_slot + slot >= l->used) return -1;
    double x = l->length[values][index_of(l, l->first_layer + row / 2, l->head, l->first_slot + slot)];
    return isfinite(x) && l->most[values] > 0 ? (int)(255 * x / l->most[values]) : 255;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

static void draw_layer_names(const CacheSeen *s, Canvas *c, Rect r, int first, int rows) {
    for (int i = 0; i < rows; i++) {
        bool here = first + i == s->layer;
        canvas_put(c, r.x, r.y + 1 + i, here ? 0x25B8 : ' ', STYLE_STRONG, ATTRIBUTE_BOLD);
        canvas_textf(c, r.x + 1, r.y + 1 + i, LABEL_W - 2, here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE,
                     _("layer %d"), first + i + 1);
    }
}

int cache_overview_rows(const CacheSeen *s) {
    return smaller(s->layers, LAYERS_MOST) + 2; /* a heading, and a blank row before it */
}

void cache_draw_overview(const CacheSeen *s, Canvas *c, Rect r) {
    int rows = smaller(s->layers, r.h - 1), heads = smaller(s->kv_heads, (r.w - LABEL_W + 1) / (STRIP_LEAST + 1));
    if (rows < 1 || heads < 1) return;
    int strip = smaller((r.w - LABEL_W + 1) / heads - 1, s->capacity);
    Lengths l = {.layers = s->layers, .heads = s->kv_heads, .used = s->used};
    double *k = lengths_new(s, &l, false, &l.most[0]), *v = lengths_new(s, &l, true, &l.most[1]);
    l.length[0] = k;
    l.length[1] = v;
    l.first_layer = smaller(larger(s->layer - rows / 2, 0), s->layers - rows);
    l.first_slot = larger(s->used + !s->rolls - strip, 0);
    int first_head = smaller(larger(s->head - heads / 2, 0), s->kv_heads - heads);
    canvas_text(c, r.x, r.y, LABEL_W - 1, _("|K| |V|"), STYLE_DIM, ATTRIBUTE_NONE);
    draw_layer_names(s, c, r, l.first_layer, rows);
    for (int i = 0; i < heads; i++) {
        bool here = first_head + i == s->head;
        Rect area = {r.x + LABEL_W + i * (strip + 1), r.y + 1, strip, rows};
        l.head = first_head + i;
        canvas_textf(c, area.x, r.y, strip, here ? STYLE_STRONG : STYLE_DIM, ATTRIBUTE_NONE,
                     strip >= 5 ? "KV %d" : "%d", l.head + 1);
        Heat heat = {.rows = 2 * rows,
                     .cols = smaller(strip, s->capacity - l.first_slot),
                     .heat = length_heat,
                     .data = &l,
                     .map = HEAT_SEQUENTIAL,
                     .cell_w = 1,
                     .cell_h = 1,
                     .cursor_row = -1,
                     .cursor_col = -1};
        draw_heat(c, area, &heat);
    }
    mem_free(k);
    mem_free(v);
}
