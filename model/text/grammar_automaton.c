#include "grammar_automaton.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AUTOMATON_MEMBERS = 16000000 };

/* ---- Which variables may be anonymous: those that are in no call and count nothing ---- */

/* FIRST: where the variables of the piece's rule begin. */
static void known_piece(Automaton *a, int first, const Piece *piece) {
    const Grammar *g = a->language->grammar;
    if (piece->kind == PIECE_REPEAT && piece->slot >= 0) a->known[first + piece->slot] = true;
    for (int i = 0; i < piece->parts; i++)
        if (g->part[piece->part + i] < 0) a->known[first + ~g->part[piece->part + i]] = true;
}

static void automaton_find_known(Automaton *a) {
    const Grammar *g = a->language->grammar;
    a->rule_slot = MEM_ARRAY(int, (size_t)g->rules);
    int slots = 0;
    for (int i = 0; i < g->rules; i++) {
        a->rule_slot[i] = slots;
        slots += g->rule[i].slots;
    }
    a->known = MEM_ARRAY(bool, (size_t)slots);
    for (int i = 0; i < g->rules; i++) {
        const Rule *rule = &g->rule[i];
        const Alternative *from = &g->alternative[rule->alternative];
        for (int k = 0; k < rule->alternatives; k++)
            for (int p = 0; p < from[k].pieces; p++) known_piece(a, a->rule_slot[i], &g->piece[from[k].piece + p]);
    }
}

Automaton *automaton_new(Language *l, bool anonymous, int most_states, int most_arcs) {
    Automaton *a = MEM_NEW(Automaton);
    BUG_ON(l->automaton);
    l->automaton = a;
    *a = (Automaton){.language = l, .anonymous = anonymous, .most_states = most_states, .most_arcs = most_arcs};
    MEM_GROW(a->env, a->envs, a->env_slots); /* never NULL */
    automaton_find_known(a);
    automaton_restart(a);
    return a;
}

void automaton_restart(Automaton *a) {
    a->conflict = false;
    a->rests = a->envs = a->outcomes = a->states = a->members = a->arcs = a->helds = a->holder_slots = 0;
    for (int i = 0; i < a->goal_firsts; i++) a->goal_first[i].count = -1;
    for (int i = 0; i < a->rest_firsts; i++) a->rest_first[i].count = -1;
    if (a->rest_table) memset(a->rest_table, 0, (size_t)a->rest_table_size * sizeof *a->rest_table);
    if (a->state_table) memset(a->state_table, 0, (size_t)a->state_table_size * sizeof *a->state_table);
    rest_add(a, (Rest){.kind = REST_GOAL, .what = a->language->start}, NULL);
}

void automaton_free(Automaton *a) {
    if (!a) return;
    a->language->automaton = NULL;
    void *const block[] = {a->known,   a->rule_slot,  a->rest,       a->rest_table, a->env,
                           a->outcome, a->goal_first, a->rest_first, a->state,      a->state_table,
                           a->member,  a->arc,        a->held,       a->holder_slot};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++) mem_free(block[i]);
    frontier_done(&a->carry);
    frontier_done(&a->gather);
    frontier_done(&a->found);
    frontier_done(&a->tokens);
    mem_free(a);
}

/* ---- Holders: the texts of a state that are kept anonymous ---- */

static int holder_text(Automaton *a, int number) {
    char s[16];
    int n = snprintf(s, sizeof s, "%c%d%c", HOLDER, number, HOLDER);
    return texts_add(&a->language->texts, s, (size_t)n);
}

/* The holder of TEXT among those from automaton->held[first] on; a new one for the variable SLOT when there is none. */
static int holder_of(Automaton *a, int first, int text, int slot) {
    int number = 0;
    while (first + number < a->helds && a->held[first + number] != text) number++;
    if (first + number == a->helds) {
        MEM_GROW(a->held, a->helds, a->held_slots);
        a->held[a->helds++] = text;
        MEM_GROW(a->holder_slot, a->holder_slots, a->holder_slot_slots);
        a->holder_slot[a->holder_slots++] = slot;
    }
    return holder_text(a, number);
}

/* REST with its anonymous texts replaced by holders. */
static int rest_hide(Automaton *a, int number, int first) {
    if (number == 0) return 0;
    Rest rest = a->rest[number];
    a->language->work -= rest.slots + 4;
    rest.next = rest_hide(a, rest.next, first);
    int *env = MEM_ARRAY(int, (size_t)rest.slots);
    if (rest.slots > 0) memcpy(env, a->env + rest.env, (size_t)rest.slots * sizeof *env);
    for (int i = 0; i < rest.slots; i++) {
        int slot = a->rule_slot[rest.rule] + i;
        if (env[i] > 0 && !a->known[slot] && text_is_token(&a->language->texts, env[i]))
            env[i] = holder_of(a, first, env[i], slot);
    }
    int hidden = rest_add(a, rest, env);
    mem_free(env);
    return hidden;
}

/* A token with a holder competes with another: from now on the state's variables are known. */
static bool automaton_compete(Automaton *a, const State *s) {
    int marked = 0, others = 0;
    for (int i = 0; i < a->tokens.items; i++) {
        int text = a->tokens.item[i].pos;
        if (strchr(texts_bytes(&a->language->texts, text), HOLDER))
            marked++;
        else if (text != 0)
            others++;
    }
    if (marked == 0 || marked + others == 1) return false;
    for (int i = 0; i < s->holders; i++) a->known[a->holder_slot[s->holder + i]] = true;
    return a->conflict = true;
}

/* ---- States, each one once ---- */

/* A probability as far as two ways to come to it agree: its leading bits. */
static uint64_t rounded(double p) {
    int exponent;
    double mantissa = frexp(p, &exponent);
    return (uint64_t)llround(ldexp(mantissa, 36)) * 4096 + (uint64_t)(exponent + 2048);
}

static bool state_is(const Automaton *a, Range x, Range y) {
    if (x.count != y.count) return false;
    for (int i = 0; i < x.count; i++) {
        const Member *m = &a->member[x.first + i], *n = &a->member[y.first + i];
        if (m->rest != n->rest || rounded(m->p) != rounded(n->p)) return false;
    }
    return true;
}

static unsigned state_hash(const Automaton *a, Range x) {
    uint64_t h = (uint64_t)x.count;
    for (int i = 0; i < x.count; i++) {
        const Member *m = &a->member[x.first + i];
        h = ((h ^ (uint64_t)m->rest) * 0x9e3779b97f4a7c15ULL) ^ (rounded(m->p) * 0xbf58476d1ce4e5b9ULL);
    }
    h *= 0x9e3779b97f4a7c15ULL;
    return (unsigned)(h >> 32);
}

static int state_slot(const Automaton *a, Range x) {
    unsigned mask = (unsigned)a->state_table_size - 1, at = state_hash(a, x) & mask;
    while (a->state_table[at] && !state_is(a, a->state[a->state_table[at] - 1].members, x)) at = (at + 1) & mask;
    return (int)at;
}

static void states_widen(Automaton *a) {
    mem_free(a->state_table);
    a->state_table_size = a->state_table_size ? a->state_table_size * 2 : 1024;
    a->state_table = MEM_ARRAY(int, (size_t)a->state_table_size);
    for (int i = 0; i < a->states; i++) a->state_table[state_slot(a, a->state[i].members)] = i + 1;
}

/* The members from FIRST on become a state, or are given back when there is one already. HOLDER: where its own begin.
 */
static int state_add(Automaton *a, int first, int holder) {
    Range members = {.first = first, .count = a->members - first};
    if (a->states >= a->state_table_size / 2) states_widen(a);
    int at = state_slot(a, members);
    if (a->state_table[at]) {
        a->members = first;
        a->holder_slots = holder;
        return a->state_table[at] - 1;
    }
    MEM_GROW(a->state, a->states, a->state_slots);
    a->state[a->states] =
        (State){.members = members, .arcs = {.count = -1}, .holder = holder, .holders = a->holder_slots - holder};
    return (a->state_table[at] = ++a->states) - 1;
}

static int member_compare(const void *a, const void *b) {
    const Member *m = a, *n = b;
    return (m->rest > n->rest) - (m->rest < n->rest);
}

/* By rest; equal rests become one. */
static int members_sort(Member *m, int n) {
    qsort(m, (size_t)n, sizeof *m, member_compare);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (kept > 0 && m[kept - 1].rest == m[i].rest)
            m[kept - 1].p += m[i].p;
        else
            m[kept++] = m[i];
    return kept;
}

/* ---- Arcs ---- */

/* Adds the arc to what stands behind a token: the items of automaton->found from ORDER[0] to ORDER[n-1]. */
static void automaton_add_arc(Automaton *a, int token, double sum, const int *order, int n) {
    int first = a->members, holder = a->holder_slots, held = a->helds;
    for (int i = 0; i < n; i++) {
        const Item *item = &a->found.item[order[i]];
        int rest = a->found.env[item->env];
        if (a->anonymous) rest = rest_hide(a, rest, held);
        MEM_GROW(a->member, a->members, a->member_slots);
        a->member[a->members++] = (Member){.rest = rest, .p = item->p / sum};
    }
    a->members = first + members_sort(a->member + first, n);
    MEM_GROW(a->arc, a->arcs, a->arc_slots);
    a->arc[a->arcs++] = (Arc){.token = token, .target = state_add(a, first, holder), .held = held, .p = sum};
}

/* All ways to write the next token: found (pos: the token, env: the rest) and tokens (pos: the token). */
static bool automaton_gather(Automaton *a, const State *s) {
    frontier_clear(&a->found);
    for (int i = 0; i < s->members.count; i++) {
        Member m = a->member[s->members.first + i];
        Range range = {0};
        if (m.rest == 0)
            frontier_add(&a->found, 1, &m.rest, NULL, 0, 0, WRITE_IN, m.p);
        else if (!rest_outcomes(a, m.rest, &range))
            return false;
        for (int k = range.first; k < range.first + range.count; k++) {
            Outcome o = a->outcome[k];
            frontier_add(&a->found, 1, &o.rest, NULL, 0, o.text, WRITE_IN, o.p * m.p);
        }
    }
    frontier_clear(&a->tokens);
    for (int i = 0; i < a->found.items; i++)
        frontier_add(&a->tokens, 0, NULL, NULL, 0, a->found.item[i].pos, WRITE_IN, a->found.item[i].p);
    return language_work(a->language, 4 * a->found.items);
}

/* ORDER[found]: the items token by token; END[tokens]: where each token's items end there. */
static void automaton_order(Automaton *a, int *token, int *end, int *order) {
    for (int i = 0; i < a->found.items; i++) {
        token[i] = frontier_add(&a->tokens, 0, NULL, NULL, 0, a->found.item[i].pos, WRITE_IN, 0);
        end[token[i]]++;
    }
    for (int i = 1; i < a->tokens.items; i++) end[i] += end[i - 1];
    for (int i = a->found.items - 1; i >= 0; i--) order[--end[token[i]]] = i;
    for (int i = 0; i + 1 < a->tokens.items; i++) end[i] = end[i + 1];
    if (a->tokens.items > 0) end[a->tokens.items - 1] = a->found.items;
}

static void automaton_add_arcs(Automaton *a, const int *end, const int *order) {
    for (int i = 0, from = 0; i < a->tokens.items; from = end[i++]) {
        Item token = a->tokens.item[i];
        if (token.pos != 0) {
            automaton_add_arc(a, token.pos, token.p, order + from, end[i] - from);
            continue;
        }
        MEM_GROW(a->arc, a->arcs, a->arc_slots);
        a->arc[a->arcs++] = (Arc){.target = -1, .p = token.p};
    }
}

static bool automaton_has_room(Automaton *a) {
    if (a->states <= a->most_states && a->arcs <= a->most_arcs && a->members <= AUTOMATON_MEMBERS) return true;
    return language_fail(a->language, status_failed(_("this language has too many sentences to go through")));
}

bool automaton_expand(Automaton *a, int state) {
    if (a->state[state].arcs.count >= 0) return true;
    State s = a->state[state];
    if (!automaton_gather(a, &s) || automaton_compete(a, &s)) return false;
    int *token = MEM_ARRAY(int, (size_t)a->found.items), *order = MEM_ARRAY(int, (size_t)a->found.items);
    int *end = MEM_ARRAY(int, (size_t)a->tokens.items);
    int first = a->arcs;
    automaton_order(a, token, end, order);
    automaton_add_arcs(a, end, order);
    a->state[state].arcs = (Range){.first = first, .count = a->arcs - first};
    mem_free(token);
    mem_free(order);
    mem_free(end);
    return automaton_has_room(a);
}

int automaton_start(Automaton *a) {
    MEM_GROW(a->member, a->members, a->member_slots);
    a->member[a->members++] = (Member){.rest = 1, .p = 1};
    return state_add(a, a->members - 1, a->holder_slots);
}
