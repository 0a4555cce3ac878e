/* Figures over all sentences, from the automaton of the language: backwards for what is summed over the ends of
 * sentences, forwards for how often two tokens are neighbours. */
#include "grammar.h"
#include "grammar_automaton.h"
#include "mem.h"

#include <math.h>
#include <string.h>

enum {
    STATS_KNOWN_STATES = 100000, /* first, with every variable known */
    STATS_KNOWN_ARCS = 400000,
    STATS_STATES = 1000000, /* then, with anonymous ones */
    STATS_ARCS = 4000000,
    STATS_LENGTHS = 40000000, /* numbers per state and length */
    STATS_PAIRS = 60000000,   /* steps of the sum over neighbours */
};

/* What can follow a state until END: sentences, and by the number of predictions left their probability and its sum of
 * p ln(1/p). */
typedef struct {
    double sentences;
    int shortest, longest; /* predictions left */
    size_t at;             /* mass[at + r - shortest], surprise[...] */
} Tail;

typedef struct {
    Automaton *a;
    int *order; /* [states] every state before those that it leads to */
    Tail *tail; /* [states] */
    double *mass, *surprise;
    size_t used, capacity;
} Sums;

/* ---- Order ---- */

/* How many arcs lead to each state. */
static int *count_entries(const Automaton *a) {
    int *entries = MEM_ARRAY(int, (size_t)a->states);
    for (int i = 0; i < a->arcs; i++)
        if (a->arc[i].target >= 0) entries[a->arc[i].target]++;
    return entries;
}

/* False: a state leads back to itself, so there are infinitely many sentences. */
static bool sums_order(Sums *s) {
    const Automaton *a = s->a;
    int *entries = count_entries(a), ordered = 0;
    for (int i = 0; i < a->states; i++)
        if (entries[i] == 0) s->order[ordered++] = i;
    for (int i = 0; i < ordered; i++) {
        Range arcs = a->state[s->order[i]].arcs;
        for (int k = arcs.first; k < arcs.first + arcs.count; k++) {
            int target = a->arc[k].target;
            if (target >= 0 && --entries[target] == 0) s->order[ordered++] = target;
        }
    }
    mem_free(entries);
    return ordered == a->states;
}

/* ---- Backwards ---- */

/* Room for the state's lengths, from its arcs. */
static bool tail_open(Sums *s, int state) {
    const Automaton *a = s->a;
    Tail *t = &s->tail[state];
    Range arcs = a->state[state].arcs;
    *t = (Tail){.shortest = 1 << 30, .longest = 0, .at = s->used};
    for (int k = arcs.first; k < arcs.first + arcs.count; k++) {
        const Tail *next = a->arc[k].target >= 0 ? &s->tail[a->arc[k].target] : NULL;
        int shortest = next ? next->shortest + 1 : 1, longest = next ? next->longest + 1 : 1;
        if (shortest < t->shortest) t->shortest = shortest;
        if (longest > t->longest) t->longest = longest;
    }
    s->used += (size_t)(t->longest - t->shortest + 1);
    if (s->used > STATS_LENGTHS) return false;
    if (s->used > s->capacity) {
        s->capacity = s->used * 2;
        s->mass = mem_resize(s->mass, s->capacity, sizeof *s->mass);
        s->surprise = mem_resize(s->surprise, s->capacity, sizeof *s->surprise);
    }
    for (size_t i = t->at; i < s->used; i++) s->mass[i] = s->surprise[i] = 0;
    return true;
}

static void tail_add(Sums *s, Tail *t, const Arc *arc) {
    if (arc->target < 0) {
        t->sentences += 1;
        s->mass[t->at] += arc->p; /* END is the shortest tail */
        s->surprise[t->at] -= arc->p * log(arc->p);
        return;
    }
    const Tail *next = &s->tail[arc->target];
    t->sentences += next->sentences;
    size_t to = t->at + (size_t)(next->shortest + 1 - t->shortest);
    for (int r = next->shortest; r <= next->longest; r++, to++) {
        size_t from = next->at + (size_t)(r - next->shortest);
        s->mass[to] += arc->p * s->mass[from];
        s->surprise[to] += arc->p * (s->surprise[from] - log(arc->p) * s->mass[from]);
    }
}

static bool sums_backwards(Sums *s) {
    for (int i = s->a->states - 1; i >= 0; i--) {
        int state = s->order[i];
        if (!tail_open(s, state)) return false;
        Range arcs = s->a->state[state].arcs;
        for (int k = arcs.first; k < arcs.first + arcs.count; k++) tail_add(s, &s->tail[state], &s->a->arc[k]);
    }
    return true;
}

static void stats_lengths(const Sums *s, LanguageStats *out) {
    const Tail *t = &s->tail[s->order[0]];
    out->finite = true;
    out->sentences = t->sentences;
    out->lengths = t->longest + 1;
    out->length_p = MEM_ARRAY(double, (size_t)out->lengths);
    for (int r = t->shortest; r <= t->longest; r++) {
        size_t at = t->at + (size_t)(r - t->shortest);
        out->length_p[r] = s->mass[at];
        out->expected_length += r * s->mass[at];
        out->entropy_per_sentence += s->surprise[at];
        out->mean_of_sentence_means += s->surprise[at] / r;
    }
    out->entropy_per_token = out->entropy_per_sentence / out->expected_length;
    out->perplexity = exp(out->entropy_per_token);
}

/* ---- Forwards: neighbours. A token before the first: -1; END is text 0 ---- */

typedef struct {
    Frontier pair;  /* pos: the second token; env: the first */
    Frontier first; /* pos: the first token + 1 */
    long long work;
} Neighbours;

/* How often each arc is taken in a sentence. */
static double *sums_visits(const Sums *s) {
    const Automaton *a = s->a;
    double *state = MEM_ARRAY(double, (size_t)a->states), *arc = MEM_ARRAY(double, (size_t)a->arcs);
    state[s->order[0]] = 1;
    for (int i = 0; i < a->states; i++) {
        Range arcs = a->state[s->order[i]].arcs;
        for (int k = arcs.first; k < arcs.first + arcs.count; k++) {
            arc[k] = state[s->order[i]] * a->arc[k].p;
            if (a->arc[k].target >= 0) state[a->arc[k].target] += arc[k];
        }
    }
    mem_free(state);
    return arc;
}

/* The tokens that lead to the state (pos: token + 1) with all that follow it. */
static void neighbours_state(Neighbours *n, const Automaton *a, int state, const Frontier *before) {
    Range arcs = a->state[state].arcs;
    n->work += (long long)before->items * arcs.count;
    for (int i = 0; i < before->items && n->work < STATS_PAIRS; i++) {
        int first = before->item[i].pos - 1;
        double p = before->item[i].p;
        frontier_add(&n->first, 0, NULL, NULL, 0, first + 1, WRITE_IN, p);
        for (int k = arcs.first; k < arcs.first + arcs.count; k++)
            frontier_add(&n->pair, 1, &first, NULL, 0, a->arc[k].token, WRITE_IN, p * a->arc[k].p);
    }
}

/* BY_TARGET[end[state - 1] ... end[state]): the arcs that lead to a state. */
static void neighbours_states(Neighbours *n, const Sums *s, const double *visits, const int *by_target,
                              const int *end) {
    Frontier before = {0};
    for (int i = 0; i < s->a->states; i++) {
        int state = s->order[i];
        frontier_clear(&before);
        if (i == 0) frontier_add(&before, 0, NULL, NULL, 0, 0, WRITE_IN, 1);
        for (int k = state ? end[state - 1] : 0; k < end[state]; k++)
            frontier_add(&before, 0, NULL, NULL, 0, s->a->arc[by_target[k]].token + 1, WRITE_IN, visits[by_target[k]]);
        neighbours_state(n, s->a, state, &before);
    }
    frontier_done(&before);
}

static void neighbours_find(Neighbours *n, const Sums *s) {
    const Automaton *a = s->a;
    int *end = count_entries(a), *by_target = MEM_ARRAY(int, (size_t)a->arcs);
    for (int i = 1; i < a->states; i++) end[i] += end[i - 1];
    for (int k = a->arcs - 1; k >= 0; k--)
        if (a->arc[k].target >= 0) by_target[--end[a->arc[k].target]] = k;
    for (int i = 0; i + 1 < a->states; i++) end[i] = end[i + 1];
    int entries = 0;
    for (int k = 0; k < a->arcs; k++) entries += a->arc[k].target >= 0;
    end[a->states - 1] = entries;
    double *visits = sums_visits(s);
    neighbours_states(n, s, visits, by_target, end);
    mem_free(visits);
    mem_free(end);
    mem_free(by_target);
}

/* -sum c(a,b) ln(c(a,b) / c(a,.)) / L */
static void stats_bigrams(const Sums *s, LanguageStats *out) {
    Neighbours n = {0};
    neighbours_find(&n, s);
    if (n.work < STATS_PAIRS) {
        double sum = 0;
        for (int i = 0; i < n.pair.items; i++) {
            const Item *pair = &n.pair.item[i];
            int first = frontier_add(&n.first, 0, NULL, NULL, 0, n.pair.env[pair->env] + 1, WRITE_IN, 0);
            sum -= pair->p * log(pair->p / n.first.item[first].p);
        }
        out->bigram_types = n.pair.items;
        out->bigram_entropy = sum / out->expected_length;
    }
    frontier_done(&n.pair);
    frontier_done(&n.first);
}

/* ---- All ---- */

/* All states. False: language->status, or a conflict. */
static bool stats_build(Automaton *a) {
    automaton_start(a);
    for (int i = 0; i < a->states; i++)
        if (!automaton_expand(a, i)) return false;
    return true;
}

static void stats_sum(Automaton *a, LanguageStats *out) {
    Sums s = {.a = a};
    s.order = MEM_ARRAY(int, (size_t)a->states);
    s.tail = MEM_ARRAY(Tail, (size_t)a->states);
    if (sums_order(&s) && sums_backwards(&s)) {
        stats_lengths(&s, out);
        if (a->helds == 0) stats_bigrams(&s, out); /* every token is known */
    }
    mem_free(s.order);
    mem_free(s.tail);
    mem_free(s.mass);
    mem_free(s.surprise);
}

/* False: too many states, or an error in the grammar. */
static bool stats_try(Language *l, bool anonymous, LanguageStats *out) {
    language_begin(l);
    Automaton *a = automaton_new(l, anonymous, anonymous ? STATS_STATES : STATS_KNOWN_STATES,
                                 anonymous ? STATS_ARCS : STATS_KNOWN_ARCS);
    bool done = stats_build(a);
    while (!done && a->conflict) {
        automaton_restart(a);
        done = stats_build(a);
    }
    if (done) stats_sum(a, out);
    automaton_free(a);
    return done;
}

Status language_stats(Language *l, LanguageStats *out) {
    *out = (LanguageStats){.bigram_entropy = (double)NAN, .bigram_types = -1};
    bool done = stats_try(l, false, out);
    if (!done && l->status.code == STATUS_FAILED) done = stats_try(l, true, out);
    if (!done) return l->status.code == STATUS_FAILED ? status_ok() : l->status;
    if (!out->finite) return status_ok();
    const char **words;
    int n;
    Status s = language_words(l, &words, &n);
    out->words = n;
    mem_free(words);
    if (!status_is_ok(&s)) language_stats_done(out);
    return s;
}

void language_stats_done(LanguageStats *s) {
    mem_free(s->length_p);
    *s = (LanguageStats){0};
}
