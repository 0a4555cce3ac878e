/* The likeliest sentence: best-first through the automaton. A prefix is at least as likely as every sentence that
 * begins with it, so the first sentence to come up is the likeliest; of prefixes to one state only the first that comes
 * up matters. Probabilities within about 1e-9 are equal, and then the text that is first in byte order comes up first.
 */
#include "grammar.h"
#include "grammar_automaton.h"
#include "mem.h"

#include <math.h>
#include <string.h>

enum { MODE_STATES = 1000000, MODE_ARCS = 4000000, MODE_HEAP = 4000000, MODE_TEXT_BYTES = 256 << 20 };

/* A prefix and where it leads to. */
typedef struct {
    double log_p;
    long long level; /* log_p in steps of 1e-9 */
    int state;       /* -1: the sentence is complete */
    int text;        /* of mode->texts */
    int held;        /* mode->held[held ...]: what the state's holders stand for */
} Prefix;

typedef struct {
    Automaton *a;
    Prefix *heap; /* the best first: heap[i] comes before heap[2i+1] and heap[2i+2] */
    int prefixes, prefix_slots;
    bool *settled; /* [settled_slots] by state */
    int settled_slots;
    Texts texts; /* of the prefixes; of what holders stand for */
    int *held;
    int helds, held_slots;
} Mode;

/* ---- The heap ---- */

static bool prefix_before(const Mode *m, const Prefix *a, const Prefix *b) {
    if (a->level != b->level) return a->level > b->level;
    int order = strcmp(texts_bytes(&m->texts, a->text), texts_bytes(&m->texts, b->text));
    return order ? order < 0 : a->state < b->state;
}

static void mode_push(Mode *m, Prefix p) {
    p.level = llround(p.log_p * 1e9);
    MEM_GROW(m->heap, m->prefixes, m->prefix_slots);
    int at = m->prefixes++;
    for (; at > 0 && prefix_before(m, &p, &m->heap[(at - 1) / 2]); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = p;
}

static Prefix mode_pop(Mode *m) {
    Prefix top = m->heap[0], last = m->heap[--m->prefixes];
    int at = 0;
    for (int child; (child = 2 * at + 1) < m->prefixes; at = child) {
        if (child + 1 < m->prefixes && prefix_before(m, &m->heap[child + 1], &m->heap[child])) child++;
        if (!prefix_before(m, &m->heap[child], &last)) break;
        m->heap[at] = m->heap[child];
    }
    if (m->prefixes > 0) m->heap[at] = last;
    return top;
}

/* ---- Holders ---- */

/* TEXT, of the automaton, with every holder replaced by what it stands for in PREFIX. */
static int mode_text(Mode *m, int held, int text) {
    const char *s = texts_bytes(&m->a->language->texts, text);
    Str out;
    str_init(&out);
    while (*s) {
        size_t n = strcspn(s, (char[]){HOLDER, '\0'});
        str_add_n(&out, s, n);
        s += n;
        if (*s != HOLDER) continue;
        int number = 0;
        for (s++; *s != HOLDER; s++) number = number * 10 + (*s - '0');
        str_add(&out, texts_bytes(&m->texts, m->held[held + number]));
        s++;
    }
    int made = texts_add(&m->texts, out.s, out.len);
    str_done(&out);
    return made;
}

static int mode_join(Mode *m, int text, int token) {
    return texts_join(&m->texts, text, text ? texts_add(&m->texts, " ", 1) : 0, token);
}

/* PREFIX and the token of ARC, which is TOKEN. */
static Prefix mode_follow(Mode *m, const Prefix *prefix, const Arc *arc, int token) {
    Prefix next = {.log_p = prefix->log_p + log(arc->p), .state = arc->target, .held = m->helds};
    next.text = arc->target < 0 ? prefix->text : mode_join(m, prefix->text, token);
    int holders = arc->target < 0 ? 0 : m->a->state[arc->target].holders;
    for (int i = 0; i < holders; i++) {
        int text = mode_text(m, prefix->held, m->a->held[arc->held + i]);
        MEM_GROW(m->held, m->helds, m->held_slots);
        m->held[m->helds++] = text;
    }
    return next;
}

/* ---- The search ---- */

/* Follows the token S[n] from PREFIX. False: an error, or there is no such token (state -1). */
static bool mode_step(Mode *m, Prefix *prefix, const char *s, size_t n) {
    if (!automaton_expand(m->a, prefix->state)) return false;
    int wanted = texts_add(&m->texts, s, n);
    Range arcs = m->a->state[prefix->state].arcs;
    for (int i = arcs.first; i < arcs.first + arcs.count; i++) {
        Arc arc = m->a->arc[i];
        if (arc.target < 0 || mode_text(m, prefix->held, arc.token) != wanted) continue;
        *prefix = mode_follow(m, prefix, &arc, wanted);
        return true;
    }
    prefix->state = -1;
    return false;
}

/* The start of the search: the prefix TEXT, tokens with single blanks. */
static bool mode_start(Mode *m, const char *text, Prefix *prefix) {
    *prefix = (Prefix){.state = automaton_start(m->a)};
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (!mode_step(m, prefix, text, n)) return false;
    }
    return true;
}

static bool mode_settle(Mode *m, int state) {
    while (m->settled_slots <= state) {
        int more = m->settled_slots ? m->settled_slots * 2 : 1024;
        m->settled = mem_resize(m->settled, (size_t)more, sizeof *m->settled);
        memset(m->settled + m->settled_slots, 0, (size_t)(more - m->settled_slots) * sizeof *m->settled);
        m->settled_slots = more;
    }
    bool first = !m->settled[state];
    m->settled[state] = true;
    return first;
}

/* All that can come behind PREFIX. */
static bool mode_spread(Mode *m, const Prefix *prefix) {
    if (!automaton_expand(m->a, prefix->state)) return false;
    Range arcs = m->a->state[prefix->state].arcs;
    for (int i = arcs.first; i < arcs.first + arcs.count; i++) {
        Arc arc = m->a->arc[i];
        if (arc.target >= 0 && arc.target < m->settled_slots && m->settled[arc.target]) continue;
        int token = arc.target < 0 ? 0 : mode_text(m, prefix->held, arc.token);
        mode_push(m, mode_follow(m, prefix, &arc, token));
    }
    if (m->prefixes > MODE_HEAP || m->texts.used > MODE_TEXT_BYTES) m->a->language->work = -1;
    return language_work(m->a->language, arcs.count * (1 + m->texts.length[prefix->text] / 16));
}

/* The best sentence with the beginning TEXT. False: none, an error or a conflict. */
static bool mode_search(Mode *m, const char *text, Prefix *best) {
    if (!mode_start(m, text, best)) return false;
    mode_push(m, *best);
    while (m->prefixes > 0) {
        *best = mode_pop(m);
        if (best->state < 0) return true;
        if (mode_settle(m, best->state) && !mode_spread(m, best)) return false;
    }
    return false;
}

static void mode_begin(Mode *m) {
    texts_init(&m->texts);
    m->prefixes = m->helds = 0;
    if (m->settled) memset(m->settled, 0, (size_t)m->settled_slots * sizeof *m->settled);
}

static bool mode_try(Mode *m, const char *prefix, Prefix *best) {
    mode_begin(m);
    bool found = mode_search(m, prefix, best);
    while (!found && m->a->conflict) {
        automaton_restart(m->a);
        texts_done(&m->texts);
        mode_begin(m);
        found = mode_search(m, prefix, best);
    }
    return found;
}

Status language_mode(Language *l, const char *prefix, Str *text, double *log_p) {
    language_begin(l);
    Mode m = {.a = automaton_new(l, true, MODE_STATES, MODE_ARCS)};
    Str normal;
    str_init(&normal);
    language_normalise(prefix, strlen(prefix), &normal);
    Prefix best;
    bool found = mode_try(&m, normal.s, &best);
    str_clear(text);
    if (found) str_add(text, texts_bytes(&m.texts, best.text));
    *log_p = found ? best.log_p : -(double)INFINITY;
    str_done(&normal);
    texts_done(&m.texts);
    mem_free(m.heap);
    mem_free(m.settled);
    mem_free(m.held);
    automaton_free(m.a);
    return l->status;
}
