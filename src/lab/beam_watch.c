#include "beam_watch.h"

#include "mem.h"

#include <string.h>

enum { MODE_WORK = 500000 }; /* steps that the likeliest sentence may take: some hundredths of a second */

/* A tree that was looked at: of each node its parent, its depth, its token, and whether it was taken. */
typedef struct {
    int *parent, *depth, *id;
    bool *taken;
    int nodes;
    uint64_t key;
    long step; /* -1: nothing was looked at */
} OldTree;

struct BeamWatch {
    Language *language; /* that the memo is of */
    NextMemo *memo;
    Str mode_prefix, mode;
    bool mode_known;
    OldTree last, base; /* of the newest look, and of the look before it at another step */
    uint64_t best_key;
    long best_step, since; /* best_step -1: none yet */
    Str best, before;
};

static void old_tree_done(OldTree *t) {
    mem_free(t->parent);
    mem_free(t->depth);
    mem_free(t->id);
    mem_free(t->taken);
    *t = (OldTree){.step = -1};
}

BeamWatch *beam_watch_new(void) {
    BeamWatch *w = MEM_NEW(BeamWatch);
    str_init(&w->mode_prefix);
    str_init(&w->mode);
    str_init(&w->best);
    str_init(&w->before);
    w->last.step = w->base.step = w->best_step = -1;
    return w;
}

void beam_watch_forget(BeamWatch *w) {
    next_memo_free(w->memo);
    w->memo = NULL;
    w->language = NULL;
    w->mode_known = false;
    old_tree_done(&w->last);
    old_tree_done(&w->base);
    w->best_step = -1;
}

void beam_watch_free(BeamWatch *w) {
    if (!w) return;
    beam_watch_forget(w);
    str_done(&w->mode_prefix);
    str_done(&w->mode);
    str_done(&w->best);
    str_done(&w->before);
    mem_free(w);
}

/* --- the language --- */

NextMemo *beam_watch_memo(BeamWatch *w, Language *l) {
    if (w->language == l) return w->memo;
    next_memo_free(w->memo);
    w->language = l;
    w->memo = next_memo_new(l);
    w->mode_known = false;
    return w->memo;
}

const char *beam_watch_mode(BeamWatch *w, Language *l, const char *prefix) {
    (void)beam_watch_memo(w, l);
    if (w->mode_known && strcmp(w->mode_prefix.s, prefix) == 0) return w->mode.s;
    str_clear(&w->mode_prefix);
    str_add(&w->mode_prefix, prefix);
    str_clear(&w->mode);
    Language *hasty = language_copy(l);
    language_limit(hasty, MODE_WORK);
    double log_p;
    Status s = language_mode(hasty, prefix, &w->mode, &log_p);
    if (!status_is_ok(&s)) str_clear(&w->mode);
    language_free(hasty);
    w->mode_known = true;
    return w->mode.s;
}

/* --- trees --- */

static void remember(OldTree *t, uint64_t key, long step, const Beam *b) {
    old_tree_done(t);
    size_t n = (size_t)beam_nodes(b);
    *t = (OldTree){.parent = MEM_ARRAY(int, n),
                   .depth = MEM_ARRAY(int, n),
                   .id = MEM_ARRAY(int, n),
                   .taken = MEM_ARRAY(bool, n),
                   .nodes = (int)n,
                   .key = key,
                   .step = step};
    for (int i = 0; i < t->nodes; i++) {
        const BeamNode *node = beam_node(b, i);
        t->parent[i] = node->parent;
        t->depth[i] = node->depth;
        t->id[i] = node->id;
        t->taken[i] = node->state != BEAM_PRUNED;
    }
}

/* The taken child of PARENT with that token; -2: none. Nodes stand in the order of their depth. */
static int child_of(const OldTree *t, int parent, int id) {
    int depth = parent < 0 ? 1 : t->depth[parent] + 1;
    for (int i = parent + 1; i < t->nodes && t->depth[i] <= depth; i++)
        if (t->parent[i] == parent && t->id[i] == id && t->taken[i]) return i;
    return -2;
}

/* NEW [nodes]: those of B that were taken, and that T had not taken. */
static void mark_new(const OldTree *t, const Beam *b, bool *is_new) {
    int *same = MEM_ARRAY(int, (size_t)beam_nodes(b)); /* the node of T with the same path; -2: none */
    for (int i = 0; i < beam_nodes(b); i++) {
        const BeamNode *node = beam_node(b, i);
        int parent = node->parent < 0 ? -1 : same[node->parent];
        same[i] = parent == -2 ? -2 : child_of(t, parent, node->id);
        is_new[i] = node->state != BEAM_PRUNED && same[i] == -2;
    }
    mem_free(same);
}

long beam_watch_tree(BeamWatch *w, uint64_t key, long step, const Beam *b, bool *is_new) {
    if (w->last.step >= 0 && w->last.key != key) {
        old_tree_done(&w->last);
        old_tree_done(&w->base);
    }
    if (w->last.step >= 0 && w->last.step != step) {
        old_tree_done(&w->base);
        w->base = w->last;
        w->last = (OldTree){.step = -1};
    }
    remember(&w->last, key, step, b);
    memset(is_new, 0, (size_t)beam_nodes(b) * sizeof *is_new);
    if (w->base.step >= 0) mark_new(&w->base, b, is_new);
    return w->base.step;
}

void beam_watch_best(BeamWatch *w, uint64_t key, long step, const char *text, long *since, const char **before) {
    bool fresh = w->best_step < 0 || w->best_key != key || step < w->best_step;
    if (fresh || strcmp(w->best.s, text) != 0) {
        str_clear(&w->before);
        if (!fresh) str_add(&w->before, w->best.s);
        str_clear(&w->best);
        str_add(&w->best, text);
        w->since = step;
    }
    w->best_key = key;
    w->best_step = step;
    *since = w->since;
    *before = w->before.s;
}
