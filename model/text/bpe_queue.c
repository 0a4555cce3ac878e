#include "bpe_queue.h"

#include "bug.h"
#include "mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_TABLE = 4096, QUEUE_LEVELS = 1024 };

void bpe_queue_init(BpeQueue *q) {
    *q = (BpeQueue){.table_size = QUEUE_TABLE, .level_size = QUEUE_LEVELS};
    q->table = MEM_ARRAY(int, QUEUE_TABLE);
    q->level = MEM_ARRAY(QueueLevel, QUEUE_LEVELS);
}

void bpe_queue_done(BpeQueue *q) {
    mem_free(q->pair);
    mem_free(q->table);
    mem_free(q->changed);
    mem_free(q->heap);
    mem_free(q->level);
    *q = (BpeQueue){0};
}

/* ---- pairs by what they are made of ---- */

static unsigned slot_of(const BpeQueue *q, int left, int right) {
    uint64_t h = ((uint64_t)(unsigned)left << 32 | (unsigned)right) * 0x9e3779b97f4a7c15ULL;
    unsigned mask = (unsigned)q->table_size - 1, at = (unsigned)(h >> 32) & mask;
    for (; q->table[at]; at = (at + 1) & mask) {
        const QueuedPair *p = &q->pair[q->table[at] - 1];
        if (p->left == left && p->right == right) break;
    }
    return at;
}

static void widen_table(BpeQueue *q) {
    BUG_ON(q->table_size > INT_MAX / 4);
    mem_free(q->table);
    q->table_size *= 2;
    q->table = MEM_ARRAY(int, (size_t)q->table_size);
    for (int i = 0; i < q->pairs; i++) q->table[slot_of(q, q->pair[i].left, q->pair[i].right)] = i + 1;
}

int bpe_queue_pair(BpeQueue *q, int left, int right) {
    unsigned at = slot_of(q, left, right);
    if (q->table[at]) return q->table[at] - 1;
    MEM_GROW(q->pair, q->pairs, q->pair_capacity);
    MEM_GROW(q->changed, q->pairs, q->changed_capacity);
    q->pair[q->pairs] = (QueuedPair){.left = left, .right = right};
    q->table[at] = ++q->pairs;
    if (q->pairs > q->table_size / 2) widen_table(q);
    return q->pairs - 1;
}

/* ---- how many pairs have a count ---- */

static size_t level_of(const BpeQueue *q, long long count) {
    size_t mask = q->level_size - 1, at = (size_t)((uint64_t)count * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (q->level[at].count && q->level[at].count != count) at = (at + 1) & mask;
    return at;
}

/* Makes room; counts that no pair has any more are dropped on the way. */
static void widen_levels(BpeQueue *q) {
    QueueLevel *old = q->level;
    size_t size = q->level_size;
    q->level_size *= 2;
    q->level = MEM_ARRAY(QueueLevel, q->level_size);
    q->levels = 0;
    for (size_t i = 0; i < size; i++) {
        if (old[i].pairs == 0) continue;
        q->level[level_of(q, old[i].count)] = old[i];
        q->levels++;
    }
    mem_free(old);
}

static void count_level(BpeQueue *q, long long count, int by) {
    if (count == 0) return;
    size_t at = level_of(q, count);
    if (!q->level[at].count) {
        q->level[at].count = count;
        q->levels++;
    }
    q->level[at].pairs += by;
    if (q->levels > q->level_size / 2) widen_levels(q);
}

/* ---- the heap ---- */

/* The first eight bytes of a symbol's name as a number that sorts as they do. */
static uint64_t prefix_of(const Bpe *b, int symbol) {
    size_t bytes;
    const char *name = bpe_name(b, symbol, &bytes);
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++) prefix = prefix << 8 | (i < bytes ? (unsigned char)name[i] : 0);
    return prefix;
}

/* Whether pair X is taken before pair Y when both are equally frequent: the prefixes have not told. */
static bool is_smaller(const BpeQueue *q, const Bpe *b, int x, int y) {
    const QueuedPair *p = &q->pair[x], *r = &q->pair[y];
    int order = p->left == r->left ? 0 : bpe_compare(b, p->left, r->left);
    if (order == 0) order = bpe_compare(b, p->right, r->right);
    return order < 0;
}

static bool comes_before(const BpeQueue *q, const Bpe *b, const QueueEntry *x, const QueueEntry *y) {
    if (x->key != y->key) return x->key > y->key;
    if (x->left != y->left) return x->left < y->left;
    if (q->pair[x->pair].left == q->pair[y->pair].left && x->right != y->right) return x->right < y->right;
    return is_smaller(q, b, x->pair, y->pair);
}

static void push(BpeQueue *q, const Bpe *b, int pair) {
    QueuedPair *p = &q->pair[pair];
    p->key = p->count;
    QueueEntry x = {p->count, prefix_of(b, p->left), prefix_of(b, p->right), pair};
    MEM_GROW(q->heap, q->entries, q->heap_capacity);
    size_t at = q->entries++;
    for (size_t up; at > 0 && comes_before(q, b, &x, &q->heap[up = (at - 1) / 2]); at = up) q->heap[at] = q->heap[up];
    q->heap[at] = x;
}

static void pop(BpeQueue *q, const Bpe *b) {
    QueueEntry x = q->heap[--q->entries];
    size_t at = 0, n = q->entries;
    for (size_t down; (down = 2 * at + 1) < n; at = down) {
        if (down + 1 < n && comes_before(q, b, &q->heap[down + 1], &q->heap[down])) down++;
        if (!comes_before(q, b, &q->heap[down], &x)) break;
        q->heap[at] = q->heap[down];
    }
    if (n > 0) q->heap[at] = x;
}

void bpe_queue_settle(BpeQueue *q, const Bpe *b) {
    for (int i = 0; i < q->changes; i++) {
        QueuedPair *p = &q->pair[q->changed[i]];
        BUG_ON(p->count < 0);
        p->changed = false;
        if (p->count == p->settled) continue;
        count_level(q, p->settled, -1);
        count_level(q, p->count, 1);
        p->settled = p->count;
        if (p->count > p->key) push(q, b, q->changed[i]); /* an entry with a smaller key counts no longer */
    }
    q->changes = 0;
}

int bpe_queue_top(BpeQueue *q, const Bpe *b, BpePair *top, int *ties) {
    while (q->entries > 0) {
        QueueEntry e = q->heap[0];
        QueuedPair *p = &q->pair[e.pair];
        if (e.key == p->key && p->key == p->count) {
            long long pairs = q->level[level_of(q, p->count)].pairs;
            *top = (BpePair){p->left, p->right, p->count};
            *ties = pairs > INT_MAX ? INT_MAX : (int)pairs;
            return e.pair;
        }
        pop(q, b);
        if (e.key != p->key) continue;
        p->key = 0;
        if (p->count > 0) push(q, b, e.pair);
    }
    return -1;
}

/* ---- a list of them ---- */

typedef struct {
    const BpeQueue *queue;
    const Bpe *bpe;
    int pair;
} Listed;

static int by_turn(const void *a, const void *b) {
    const Listed *x = a, *y = b;
    long long i = x->queue->pair[x->pair].count, j = y->queue->pair[y->pair].count;
    if (i != j) return i > j ? -1 : 1;
    if (x->pair == y->pair) return 0;
    return is_smaller(x->queue, x->bpe, x->pair, y->pair) ? -1 : 1;
}

int bpe_queue_list(const BpeQueue *q, const Bpe *b, BpePair *out, int most) {
    Listed *all = MEM_ARRAY(Listed, (size_t)q->pairs + 1);
    int n = 0;
    for (int i = 0; i < q->pairs; i++)
        if (q->pair[i].count > 0) all[n++] = (Listed){q, b, i};
    qsort(all, (size_t)n, sizeof *all, by_turn);
    if (n > most) n = most;
    for (int i = 0; i < n; i++) {
        const QueuedPair *p = &q->pair[all[i].pair];
        out[i] = (BpePair){p->left, p->right, p->count};
    }
    mem_free(all);
    return n;
}
