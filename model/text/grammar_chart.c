#include "grammar_chart.h"

#include "intl.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

enum { CHART_ENTRIES = 16000000, CHART_ENDS = 32000000 };

void chart_free(Chart *c) {
    if (!c) return;
    str_done(&c->text);
    frontier_done(&c->found);
    mem_free(c->blanks);
    mem_free(c->table);
    mem_free(c->end);
    mem_free(c);
}

static void chart_clear_table(Chart *c) {
    memset(c->table, 0, (size_t)c->table_size * sizeof *c->table);
    c->stamp = 0;
}

static Chart *chart_new(void) {
    Chart *c = MEM_NEW(Chart);
    str_init(&c->text);
    c->table_size = 1024;
    c->table = MEM_ARRAY(Entry, (size_t)c->table_size);
    return c;
}

void chart_restart(Chart *c, double scale) {
    if (c->stamp == UINT_MAX) chart_clear_table(c);
    c->stamp++;
    c->entries = c->ends = 0;
    c->scale = scale;
    c->underflow = false;
    c->round = 0;
    c->reentered = c->changed = false;
}

static void chart_count_blanks(Chart *c) {
    if (c->blank_slots < c->length + 1) {
        c->blank_slots = c->length + 1;
        c->blanks = mem_resize(c->blanks, (size_t)c->blank_slots, sizeof *c->blanks);
    }
    int blanks = 0;
    for (int i = 0; i <= c->length; i++) {
        c->blanks[i] = blanks;
        blanks += c->text.s[i] == ' ';
    }
    c->tokens = c->length ? blanks + 1 : 0;
}

Chart *chart_begin(Language *l, const Engine *engine, ChartMode mode, const char *text) {
    language_begin(l);
    if (!l->chart) l->chart = chart_new();
    Chart *c = l->chart;
    size_t n = strlen(text);
    str_clear(&c->text);
    language_normalise(text, n > GRAMMAR_TEXT ? 0 : n, &c->text);
    if (n > GRAMMAR_TEXT) language_refuse(l, status_usage(_("a text can have 1 MiB at most")));
    c->engine = engine;
    c->mode = mode;
    c->length = (int)c->text.len;
    chart_count_blanks(c);
    chart_restart(c, 1);
    return c;
}

/* ---- The memo ---- */

static Entry *chart_find(const Chart *c, int goal, int pos) {
    uint64_t h = ((uint64_t)(unsigned)goal << 32 | (unsigned)pos) * 0x9e3779b97f4a7c15ULL;
    unsigned mask = (unsigned)c->table_size - 1, at = (unsigned)(h >> 40) & mask;
    for (;; at = (at + 1) & mask) {
        Entry *e = &c->table[at];
        if (e->stamp != c->stamp || (e->goal == goal && e->pos == pos)) return e;
    }
}

static void chart_widen(Chart *c) {
    Entry *old = c->table;
    int size = c->table_size;
    c->table_size *= 2;
    c->table = MEM_ARRAY(Entry, (size_t)c->table_size);
    for (int i = 0; i < size; i++)
        if (old[i].stamp == c->stamp) *chart_find(c, old[i].goal, old[i].pos) = old[i];
    mem_free(old);
}

/* The memo's entry, made when it is new. */
static Entry *chart_entry(Chart *c, int goal, int pos) {
    Entry *e = chart_find(c, goal, pos);
    if (e->stamp == c->stamp) return e;
    if (c->entries * 2 >= c->table_size) {
        chart_widen(c);
        e = chart_find(c, goal, pos);
    }
    c->entries++;
    *e = (Entry){.goal = goal, .pos = pos, .stamp = c->stamp, .round = -1};
    return e;
}

/* Keeps what LEVEL came to. */
static void chart_keep(Chart *c, int goal, int pos, const Frontier *ends) {
    Entry *e = chart_find(c, goal, pos);
    int before = e->ends;
    e->end = c->ends;
    e->ends = 0;
    for (int i = 0; i < ends->items; i++) {
        if (ends->item[i].flag == WRITE_START) continue;
        MEM_GROW(c->end, c->ends, c->end_slots);
        c->end[c->ends++] = (End){.pos = ends->item[i].pos, .p = ends->item[i].p};
        if (ends->item[i].p < 1e-290) c->underflow = true;
        e->ends++;
    }
    e->busy = false;
    if (e->ends > before) c->changed = true;
}

static bool chart_work_out(Language *l, int goal, int pos) {
    if (!language_empty(l, goal)) return false;
    Level *level = language_enter(l);
    if (!level) return false;
    bool done = walk_goal(l, l->chart->engine, level, goal, pos);
    if (done) chart_keep(l->chart, goal, pos, &level->ends);
    language_leave(l);
    if (l->chart->ends > CHART_ENDS || l->chart->entries > CHART_ENTRIES) l->work = -1;
    return done && language_work(l, 0);
}

/* Without CHART_WORDS an entry is never busy here: a goal that comes back to itself at the same place is refused
 * before. */
bool chart_inside(Language *l, int goal, int pos, int *first, int *ends) {
    Chart *c = l->chart;
    Entry *e = chart_entry(c, goal, pos);
    if (e->busy) c->reentered = true;
    if (e->round < c->round) {
        e->round = c->round;
        e->busy = true;
        if (!chart_work_out(l, goal, pos)) return false;
        e = chart_find(c, goal, pos);
    }
    *first = e->end;
    *ends = e->ends;
    return true;
}
