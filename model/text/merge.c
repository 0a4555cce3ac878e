#include "merge.h"

#include "bug.h"
#include "mem.h"

#include <string.h>

/* ---- rules ---- */

enum { MERGE_TABLE = 1024 };

static unsigned pair_hash(int left, int right) {
    uint64_t h = ((uint64_t)(unsigned)left << 32 | (unsigned)right) * 0x9e3779b97f4a7c15ULL;
    return (unsigned)(h >> 32);
}

/* Where the first rule of a pair stands in the table, or where it would go. */
static int rule_slot(const MergeRules *r, int left, int right) {
    unsigned mask = (unsigned)r->table_size - 1, at = pair_hash(left, right) & mask;
    for (; r->table[at]; at = (at + 1) & mask) {
        const MergeRule *rule = &r->rule[r->table[at] - 1];
        if (rule->left == left && rule->right == right) break;
    }
    return (int)at;
}

static void widen_table(MergeRules *r) {
    int size = r->table_size ? 2 * r->table_size : MERGE_TABLE;
    mem_free(r->table);
    r->table = MEM_ARRAY(int, (size_t)size);
    r->table_size = size;
    for (int i = 0; i < r->count; i++) {
        int at = rule_slot(r, r->rule[i].left, r->rule[i].right);
        if (!r->table[at]) r->table[at] = i + 1;
    }
}

void merge_rules_init(MergeRules *r, MergeOrder order) {
    *r = (MergeRules){.order = order};
    widen_table(r);
}

void merge_rules_done(MergeRules *r) {
    mem_free(r->rule);
    mem_free(r->table);
    *r = (MergeRules){0};
}

static int add_rule(MergeRules *r, int left, int right, int merged, int rank) {
    BUG_ON(left < 0 || right < 0 || merged < 0 || rank < 0);
    MEM_GROW(r->rule, r->count, r->capacity);
    int at = rule_slot(r, left, right), number = r->count++;
    r->rule[number] = (MergeRule){left, right, merged, rank, -1};
    if (r->table[at]) {
        BUG_ON(r->order != MERGE_IN_ORDER);
        int first = r->table[at] - 1;
        while (r->rule[first].again >= 0) first = r->rule[first].again;
        r->rule[first].again = number;
    } else {
        r->table[at] = number + 1;
    }
    if (r->count > r->table_size / 2) widen_table(r);
    return number;
}

int merge_rules_add(MergeRules *r, int left, int right, int merged) {
    return add_rule(r, left, right, merged, r->count);
}

int merge_rules_add_ranked(MergeRules *r, int left, int right, int merged, int rank) {
    BUG_ON(r->order != MERGE_ONE_BY_ONE);
    return add_rule(r, left, right, merged, rank);
}

int merge_rules_find(const MergeRules *r, int left, int right) {
    return r->table[rule_slot(r, left, right)] - 1;
}

/* ---- a sequence ---- */

enum { MERGE_GONE = -2 }; /* a place whose symbol was merged into the one before */

/* Places are numbered as in the sequence given; a merged symbol stands at the place of its left part. */
struct Merger {
    const MergeRules *rules;
    int *next, *previous; /* [capacity] places; next is n and previous is -1 at an edge */
    int capacity;
    uint64_t *heap; /* rank << 32 | place: the lowest rank, of equals the leftmost */
    size_t waiting, heap_capacity;
    int *place; /* of the step under way, from left to right */
    size_t places, place_capacity;
    int *shown_symbol, *shown_units; /* [capacity] for those who watch */
    int *symbol;                     /* [n] borrowed */
    int n, limit;
};

Merger *merger_new(const MergeRules *rules) {
    Merger *m = MEM_NEW(Merger);
    m->rules = rules;
    return m;
}

void merger_free(Merger *m) {
    if (!m) return;
    mem_free(m->next);
    mem_free(m->previous);
    mem_free(m->heap);
    mem_free(m->place);
    mem_free(m->shown_symbol);
    mem_free(m->shown_units);
    mem_free(m);
}

static void heap_push(Merger *m, uint64_t x) {
    MEM_GROW(m->heap, m->waiting, m->heap_capacity);
    size_t at = m->waiting++;
    for (size_t up; at > 0 && m->heap[up = (at - 1) / 2] > x; at = up) m->heap[at] = m->heap[up];
    m->heap[at] = x;
}

static uint64_t heap_pop(Merger *m) {
    uint64_t top = m->heap[0], x = m->heap[--m->waiting];
    size_t at = 0, n = m->waiting;
    for (size_t down; (down = 2 * at + 1) < n; at = down) {
        if (down + 1 < n && m->heap[down + 1] < m->heap[down]) down++;
        if (m->heap[down] >= x) break;
        m->heap[at] = m->heap[down];
    }
    m->heap[at] = x;
    return top;
}

/* Lets the pair that begins at PLACE wait for its rule; in order, only for a rule after AFTER. */
static void offer(Merger *m, int place, int after) {
    int right = m->next[place];
    if (right == m->n || m->symbol[place] < 0 || m->symbol[right] < 0) return;
    int rule = merge_rules_find(m->rules, m->symbol[place], m->symbol[right]);
    while (m->rules->order == MERGE_IN_ORDER && rule >= 0 && rule <= after) rule = m->rules->rule[rule].again;
    if (rule < 0 || rule >= m->limit) return;
    heap_push(m, (uint64_t)(unsigned)m->rules->rule[rule].rank << 32 | (unsigned)place);
}

/* The rule of that rank for the pair that begins at PLACE now; -1: there is none any more. */
static int rule_at(const Merger *m, int place, int rank) {
    int right = m->next[place];
    if (m->symbol[place] < 0 || right == m->n || m->symbol[right] < 0) return -1;
    int number = rank; /* of the rule, unless rules share ranks */
    if (m->rules->order == MERGE_ONE_BY_ONE) {
        number = merge_rules_find(m->rules, m->symbol[place], m->symbol[right]);
        return number >= 0 && m->rules->rule[number].rank == rank ? number : -1;
    }
    const MergeRule *rule = &m->rules->rule[number];
    return m->symbol[place] == rule->left && m->symbol[right] == rule->right ? number : -1;
}

static void join(Merger *m, int *units, int number, int place) {
    const MergeRule *rule = &m->rules->rule[number];
    int right = m->next[place], after = m->next[right], before = m->previous[place];
    m->symbol[place] = rule->merged;
    m->symbol[right] = MERGE_GONE;
    units[place] += units[right];
    m->next[place] = after;
    if (after < m->n) m->previous[after] = place;
    offer(m, place, number);
    if (before >= 0) offer(m, before, number);
}

/* The places of the next step: all that wait for the rank of the first, before any of them changes, or that first one
 * alone; the rank. */
static int take_step(Merger *m) {
    unsigned rank = (unsigned)(m->heap[0] >> 32);
    m->places = 0;
    do {
        int place = (int)(heap_pop(m) & 0xffffffffu);
        MEM_GROW(m->place, m->places, m->place_capacity);
        m->place[m->places++] = place;
    } while (m->rules->order != MERGE_ONE_BY_ONE && m->waiting > 0 && m->heap[0] >> 32 == rank);
    return (int)rank;
}

/* Takes the next step; its rule, or -1 when the pair was gone everywhere. */
static int step(Merger *m, int *units) {
    int rank = take_step(m), applied = -1;
    for (size_t i = 0; i < m->places; i++) {
        int rule = rule_at(m, m->place[i], rank);
        if (rule < 0) continue;
        join(m, units, rule, m->place[i]);
        applied = rule;
    }
    return applied;
}

static int compact(int *symbol, int *units, int n) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (symbol[i] == MERGE_GONE) continue;
        symbol[kept] = symbol[i];
        units[kept++] = units[i];
    }
    return kept;
}

static bool show(Merger *m, const int *units, int rule, MergeWatch *watch, void *data) {
    memcpy(m->shown_symbol, m->symbol, (size_t)m->n * sizeof *m->symbol);
    memcpy(m->shown_units, units, (size_t)m->n * sizeof *units);
    int n = compact(m->shown_symbol, m->shown_units, m->n);
    return watch(data, rule, m->shown_symbol, m->shown_units, n);
}

static void reserve(Merger *m, int n) {
    if (n <= m->capacity) return;
    m->capacity = n < 64 ? 64 : n;
    m->next = mem_resize(m->next, (size_t)m->capacity, sizeof *m->next);
    m->previous = mem_resize(m->previous, (size_t)m->capacity, sizeof *m->previous);
    m->shown_symbol = mem_resize(m->shown_symbol, (size_t)m->capacity, sizeof *m->shown_symbol);
    m->shown_units = mem_resize(m->shown_units, (size_t)m->capacity, sizeof *m->shown_units);
}

static void begin(Merger *m, int *symbol, int *units, int n, const bool *ends, int limit) {
    reserve(m, n);
    m->symbol = symbol;
    m->n = n;
    m->limit = limit < 0 || limit > m->rules->count ? m->rules->count : limit;
    m->waiting = 0;
    for (int i = 0; i < n; i++) {
        BUG_ON(symbol[i] == MERGE_GONE);
        bool edge = i + 1 == n || (ends && ends[i]);
        units[i] = 1;
        m->next[i] = edge ? n : i + 1;
        if (i + 1 < n) m->previous[i + 1] = edge ? -1 : i;
    }
    if (n > 0) m->previous[0] = -1;
    for (int i = 0; i < n; i++) offer(m, i, -1);
}

int merger_run(Merger *m, int *symbol, int *units, int n, const bool *ends, int limit, MergeWatch *watch, void *data) {
    begin(m, symbol, units, n, ends, limit);
    while (m->waiting > 0) {
        int rule = step(m, units);
        if (rule >= 0 && watch && !show(m, units, rule, watch, data)) break;
    }
    return compact(symbol, units, n);
}
