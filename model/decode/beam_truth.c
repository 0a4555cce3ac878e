#include "decode/beam_truth.h"

#include "bug.h"
#include "decode/greedy.h"
#include "mem.h"

#include <math.h>
#include <string.h>

#define SAME_LOG_P 1e-9 /* log-probabilities nearer than this are equal */

struct BeamTruth {
    NextMemo *memo;
    const Vocab *vocab;
    int width;
    Str *prefix, *before; /* [width] the words up to each open beam, up to those a step before */
    bool *dead, *died;    /* [width] nothing can follow: there was a token that is no word */
    const int *prompt;
    int prompts;
};

static Str *new_texts(int n) {
    Str *t = MEM_ARRAY(Str, (size_t)n);
    for (int i = 0; i < n; i++) str_init(&t[i]);
    return t;
}

static void free_texts(Str *t, int n) {
    for (int i = 0; i < n; i++) str_done(&t[i]);
    mem_free(t);
}

BeamTruth *beam_truth_new(NextMemo *memo, const Vocab *v, int width) {
    BeamTruth *t = MEM_NEW(BeamTruth);
    t->memo = memo;
    t->vocab = v;
    t->width = width;
    t->prefix = new_texts(width);
    t->before = new_texts(width);
    t->dead = MEM_ARRAY(bool, (size_t)width);
    t->died = MEM_ARRAY(bool, (size_t)width);
    return t;
}

void beam_truth_free(BeamTruth *t) {
    if (!t) return;
    free_texts(t->prefix, t->width);
    free_texts(t->before, t->width);
    mem_free(t->dead);
    mem_free(t->died);
    mem_free(t);
}

/* <s> first, then words only: such a sentence is one that the language can say something about. */
static bool is_prefix(const Vocab *v, const int *ids, int n) {
    if (n < 1 || ids[0] != VOCAB_BOS) return false;
    for (int i = 1; i < n; i++)
        if (!vocab_is_word(v, ids[i])) return false;
    return true;
}

static void add_word(Str *text, const char *word) {
    if (text->len) str_add_char(text, ' ');
    str_add(text, word);
}

static Status truth_advance(void *owner, int n, const int *parent, const int *id) {
    BeamTruth *t = owner;
    if (!parent) {
        str_clear(&t->prefix[0]);
        t->dead[0] = !is_prefix(t->vocab, t->prompt, t->prompts);
        path_words(t->vocab, t->prompt, t->prompts, &t->prefix[0]);
        return status_ok();
    }
    Str *before = t->prefix;
    bool *died = t->dead;
    t->prefix = t->before;
    t->dead = t->died;
    t->before = before;
    t->died = died;
    for (int i = 0; i < n; i++) {
        str_clear(&t->prefix[i]);
        str_add_n(&t->prefix[i], before[parent[i]].s, before[parent[i]].len);
        t->dead[i] = died[parent[i]] || !vocab_is_word(t->vocab, id[i]);
        if (!t->dead[i]) add_word(&t->prefix[i], vocab_token(t->vocab, id[i]));
    }
    return status_ok();
}

static Status truth_row(void *owner, int i, double *log_p) {
    BeamTruth *t = owner;
    for (int k = 0; k < vocab_size(t->vocab); k++) log_p[k] = (double)-INFINITY;
    if (t->dead[i]) return status_ok();
    const NextList *list;
    STATUS_TRY(next_memo_find(t->memo, t->prefix[i].s, &list));
    for (int k = 0; k < list->count; k++) {
        int id = vocab_find(t->vocab, list->next[k].token, strlen(list->next[k].token));
        BUG_ON(id < 0);
        log_p[id] = log(list->next[k].p);
    }
    return status_ok();
}

BeamSource beam_truth_source(BeamTruth *t, const int *ids, int n) {
    t->prompt = ids;
    t->prompts = n;
    return (BeamSource){
        .owner = t, .vocabulary = vocab_size(t->vocab), .same = SAME_LOG_P, .advance = truth_advance, .row = truth_row};
}

/* --- its opinion of a tree --- */

/* log p of token ID after PREFIX. */
static Status log_p_after(NextMemo *memo, const Vocab *v, const char *prefix, int id, double *log_p) {
    const NextList *list;
    *log_p = (double)-INFINITY;
    if (id != VOCAB_EOS && !vocab_is_word(v, id)) return status_ok();
    STATUS_TRY(next_memo_find(memo, prefix, &list));
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->next[i].token, vocab_token(v, id)) == 0) *log_p = log(list->next[i].p);
    return status_ok();
}

/* The words before a node, those of the prompt included; false: something before it is no word. */
static bool words_before(const Beam *b, const Vocab *v, const int *ids, int n, int node, int *path, Str *text) {
    int depth = beam_node(b, node)->depth - 1;
    str_clear(text);
    beam_path(b, node, path);
    if (!is_prefix(v, ids, n)) return false;
    for (int i = 0; i < depth; i++)
        if (!vocab_is_word(v, path[i])) return false;
    path_words(v, ids, n, text);
    for (int i = 0; i < depth; i++) add_word(text, vocab_token(v, path[i]));
    return true;
}

Status beam_true_log_p(const Beam *b, NextMemo *memo, const Vocab *v, const int *ids, int n, double *true_log_p) {
    int *path = MEM_ARRAY(int, (size_t)beam_steps(b));
    Status s = status_ok();
    Str text;
    str_init(&text);
    for (int i = 0; i < beam_nodes(b) && status_is_ok(&s); i++) {
        const BeamNode *node = beam_node(b, i);
        double before = node->parent < 0 ? 0 : true_log_p[node->parent], step = 0;
        bool possible = before > (double)-INFINITY && words_before(b, v, ids, n, i, path, &text);
        if (possible) s = log_p_after(memo, v, text.s, node->id, &step);
        true_log_p[i] = possible ? before + step : (double)-INFINITY;
    }
    str_done(&text);
    mem_free(path);
    return s;
}

Status beam_true_path(NextMemo *memo, const Vocab *v, const int *ids, int n, const int *path, int length,
                      double *log_p) {
    Status s = status_ok();
    bool possible = is_prefix(v, ids, n);
    Str text;
    str_init(&text);
    path_words(v, ids, n, &text);
    *log_p = possible ? 0 : (double)-INFINITY;
    for (int i = 0; i < length && status_is_ok(&s) && *log_p > (double)-INFINITY; i++) {
        double step = (double)-INFINITY;
        if (possible) s = log_p_after(memo, v, text.s, path[i], &step);
        *log_p += step;
        possible = vocab_is_word(v, path[i]); /* nothing follows what is none */
        if (possible) add_word(&text, vocab_token(v, path[i]));
    }
    str_done(&text);
    return s;
}
