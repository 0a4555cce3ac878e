#include "truths.h"

#include "mem.h"
#include "tokens.h"

#include <string.h>

enum { TRUTHS = 64 }; /* beginnings that are remembered: a sentence and its continuations */

/* The next tokens after one beginning. */
typedef struct {
    int *ids; /* [n] */
    int n;
    NextList list;
} Truth;

struct Truths {
    Language *language;  /* that they are of */
    Truth truth[TRUTHS]; /* a ring */
    int count, next;
    Path path; /* from path_ids[0..path_n-1], at most path_most tokens */
    int *path_ids, path_n, path_most;
};

Truths *truths_new(void) {
    return MEM_NEW(Truths);
}

void truths_forget(Truths *t) {
    for (int i = 0; i < t->count; i++) {
        mem_free(t->truth[i].ids);
        next_list_done(&t->truth[i].list);
    }
    t->count = t->next = t->path_n = 0;
    t->language = NULL;
}

void truths_free(Truths *t) {
    if (!t) return;
    truths_forget(t);
    path_done(&t->path);
    mem_free(t->path_ids);
    mem_free(t);
}

bool truths_turn_to(Truths *t, Language *l) {
    bool another = l != t->language;
    if (another) truths_forget(t);
    t->language = l;
    return another;
}

/* The place of a new one: the oldest when the ring is full. */
static Truth *fresh(Truths *t) {
    Truth *place = &t->truth[t->next];
    if (t->next < t->count) {
        mem_free(place->ids);
        next_list_done(&place->list);
    } else {
        t->count++;
    }
    t->next = (t->next + 1) % TRUTHS;
    return place;
}

static NextList ask(Language *l, const Vocab *v, const int *ids, int n) {
    NextList list = {0};
    for (int i = 1; i < n; i++)
        if (ids[i] < VOCAB_SPECIALS || ids[i] >= vocab_size(v)) return list;
    Str beginning;
    str_init(&beginning);
    tokens_text(v, ids, n, &beginning);
    Status s = language_next(l, beginning.s, &list);
    if (!status_is_ok(&s)) list = (NextList){0};
    str_done(&beginning);
    return list;
}

static bool same(const int *a, int n, const int *b, int m) {
    return n == m && memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

const NextList *truths_next(Truths *t, const Vocab *v, const int *ids, int n) {
    static const NextList none;
    if (!t->language) return &none;
    for (int i = 0; i < t->count; i++)
        if (same(t->truth[i].ids, t->truth[i].n, ids, n)) return &t->truth[i].list;
    Truth *place = fresh(t);
    place->ids = MEM_ARRAY(int, (size_t)n);
    memcpy(place->ids, ids, (size_t)n * sizeof *ids);
    place->n = n;
    place->list = ask(t->language, v, ids, n);
    return &place->list;
}

const Path *truths_path(Truths *t, const Vocab *v, const int *ids, int n, int most) {
    if (t->path_most == most && same(t->path_ids, t->path_n, ids, n)) return &t->path;
    bool possible = truths_next(t, v, ids, n)->count > 0;
    t->path.count = 0;
    Status s = possible ? greedy_truth(t->language, v, ids, n, most, &t->path) : status_ok();
    if (!status_is_ok(&s)) t->path.count = 0;
    t->path_ids = mem_resize(t->path_ids, (size_t)n, sizeof *t->path_ids);
    memcpy(t->path_ids, ids, (size_t)n * sizeof *ids);
    t->path_n = n;
    t->path_most = most;
    return &t->path;
}
