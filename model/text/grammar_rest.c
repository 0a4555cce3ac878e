/* What is left to write, and how it begins: the next token with what is left after it. */
#include "bug.h"
#include "grammar_automaton.h"
#include "intl.h"
#include "mem.h"

#include <string.h>

enum { REST_BUSY = -2, REST_UNKNOWN = -1, REST_OUTCOMES = 16000000, REST_MOST = 4000000 };

/* ---- Rests, each one once ---- */

static bool rest_is(const Automaton *a, const Rest *x, const Rest *y, const int *env) {
    return x->kind == y->kind && x->must == y->must && x->what == y->what && x->to == y->to && x->rule == y->rule &&
           x->next == y->next && x->slots == y->slots &&
           (x->slots == 0 || memcmp(a->env + x->env, env, (size_t)x->slots * sizeof *env) == 0);
}

static unsigned rest_hash(const Rest *x, const int *env) {
    const uint64_t odd = 0x9e3779b97f4a7c15ULL;
    uint64_t h = ((uint64_t)x->kind * 2 + x->must) * odd;
    h = (h ^ (uint64_t)(unsigned)x->what) * odd;
    h = (h ^ (uint64_t)(unsigned)x->to) * odd;
    h = (h ^ (uint64_t)(unsigned)x->next) * odd;
    for (int i = 0; i < x->slots; i++) h = (h ^ (uint64_t)(unsigned)env[i]) * odd;
    return (unsigned)(h >> 32);
}

static int rest_slot(const Automaton *a, const Rest *x, const int *env) {
    unsigned mask = (unsigned)a->rest_table_size - 1, at = rest_hash(x, env) & mask;
    while (a->rest_table[at] && !rest_is(a, &a->rest[a->rest_table[at]], x, env)) at = (at + 1) & mask;
    return (int)at;
}

static void rests_widen(Automaton *a) {
    mem_free(a->rest_table);
    a->rest_table_size = a->rest_table_size ? a->rest_table_size * 2 : 1024;
    a->rest_table = MEM_ARRAY(int, (size_t)a->rest_table_size);
    for (int i = 1; i < a->rests; i++) a->rest_table[rest_slot(a, &a->rest[i], a->env + a->rest[i].env)] = i;
}

/* ENV must not point into automaton->env. */
int rest_add(Automaton *a, Rest rest, const int *env) {
    if (a->rests == 0) {
        MEM_GROW(a->rest, a->rests, a->rest_slots);
        a->rest[a->rests++] = (Rest){0};
    }
    if (a->rests >= a->rest_table_size / 2) rests_widen(a);
    int at = rest_slot(a, &rest, env);
    if (a->rest_table[at]) return a->rest_table[at];
    rest.env = a->envs;
    rest.depth = a->rest[rest.next].depth + 1;
    for (int i = 0; i < rest.slots; i++) {
        MEM_GROW(a->env, a->envs, a->env_slots);
        a->env[a->envs++] = env[i];
    }
    MEM_GROW(a->rest, a->rests, a->rest_slots);
    a->rest[a->rests] = rest;
    a->language->work -= rest.slots + 4;
    if (rest.depth > GRAMMAR_DEPTH || a->rests > REST_MOST) a->language->work = -1;
    return a->rest_table[at] = a->rests++;
}

/* REST with TAIL around its outermost part. */
static int rest_append(Automaton *a, int rest, int tail) {
    if (rest == 0) return tail;
    if (tail == 0) return rest;
    Rest copy = a->rest[rest];
    copy.next = rest_append(a, copy.next, tail);
    int *env = MEM_ARRAY(int, (size_t)copy.slots);
    if (copy.slots > 0) memcpy(env, a->env + copy.env, (size_t)copy.slots * sizeof *env);
    int made = rest_add(a, copy, env);
    mem_free(env);
    return made;
}

/* The piece at hand, which is known to write something, and what stands behind it. */
static int rest_here(const Walk *w) {
    Automaton *a = w->language->automaton;
    if (w->piece < 0)
        return rest_add(a, (Rest){.kind = REST_DRAWS, .must = true, .what = w->inner, .to = w->left}, NULL);
    Rest here = {.kind = REST_RULE, .must = true, .what = w->piece, .to = w->to, .rule = w->rule, .slots = w->slots};
    return rest_add(a, here, w->env);
}

/* What stands behind the piece at hand. */
static int rest_after(const Walk *w) {
    Automaton *a = w->language->automaton;
    if (w->piece < 0)
        return w->left == 1 ? 0 : rest_add(a, (Rest){.kind = REST_DRAWS, .what = w->inner, .to = w->left - 1}, NULL);
    if (w->piece + 1 == w->to) return 0;
    Rest after = {.kind = REST_RULE, .what = w->piece + 1, .to = w->to, .rule = w->rule, .slots = w->slots};
    int *env = MEM_ARRAY(int, (size_t)w->slots);
    if (w->slots > 0) memcpy(env, w->env, (size_t)w->slots * sizeof *env);
    for (int i = 0; i < w->deads; i++) env[w->dead[i]] = ENV_UNSET;
    int rest = rest_add(a, after, env);
    mem_free(env);
    return rest;
}

/* ---- The engine: pos is the token so far; a blank behind it suspends the writer ---- */

bool text_is_token(const Texts *t, int text) {
    return !memchr(texts_bytes(t, text), ' ', (size_t)t->length[text]);
}

/* The first token of TEXT; *tail is what follows it, 0: nothing. */
static int text_first(Texts *t, int text, int *tail) {
    *tail = 0;
    if (text_is_token(t, text)) return text;
    char *copy = mem_text(texts_bytes(t, text));
    char *blank = strchr(copy, ' ');
    *tail = texts_add(t, blank + 1, strlen(blank + 1));
    int first = texts_add(t, copy, (size_t)(blank - copy));
    mem_free(copy);
    return first;
}

static void rest_finish(Walk *w, int text, int rest, double p) {
    w->language->work -= 3;
    frontier_add(&w->level->ends, 1, &rest, NULL, 0, text, WRITE_IN, w->item.p * p);
}

/* TEXT is glued to the token so far. */
static void rest_write(Walk *w, int text, double p) {
    Texts *t = &w->language->texts;
    int tail, first = text_first(t, text, &tail), token = texts_join(t, w->item.pos, first, 0);
    w->language->work -= t->length[token] / 16;
    if (tail == 0) {
        walk_add(w, token, WRITE_IN, p);
        return;
    }
    Rest behind = {.kind = REST_TEXT, .must = true, .what = tail, .next = rest_after(w)};
    rest_finish(w, token, rest_add(w->language->automaton, behind, NULL), p);
}

static bool rest_text(Walk *w, int text) {
    if (w->item.flag == WRITE_BETWEEN)
        rest_finish(w, w->item.pos, rest_here(w), 1);
    else
        rest_write(w, text, 1);
    return language_work(w->language, 1);
}

static bool walk_must_write(const Walk *w) {
    return w->must == (w->piece < 0 ? w->left : w->piece) + 1;
}

/* The text is needed later: all that it can be. */
static bool rest_values(Walk *w, int goal, int slot, double p) {
    Language *l = w->language;
    if (!language_values(l, goal)) return false;
    for (int i = 0; i < l->goal[goal].values; i++) {
        Value v = l->value[l->goal[goal].value + i];
        w->env[slot] = v.text;
        if (v.text != 0) rest_write(w, v.text, v.p * p);
    }
    return language_work(l, 1);
}

static bool goal_outcomes(Automaton *a, int goal, Range *out);

static bool rest_calls(Walk *w, int goal, double p) {
    Automaton *a = w->language->automaton;
    Range range;
    if (!goal_outcomes(a, goal, &range)) return false;
    for (int i = range.first; i < range.first + range.count; i++) {
        Outcome o = a->outcome[i];
        if (o.text == 0) continue;
        int token = texts_join(&w->language->texts, w->item.pos, o.text, 0);
        if (o.rest == 0)
            walk_add(w, token, WRITE_IN, o.p * p);
        else
            rest_finish(w, token, rest_append(a, o.rest, rest_after(w)), o.p * p);
    }
    return language_work(w->language, 1);
}

static bool rest_goal(Walk *w, int goal, int slot) {
    Language *l = w->language;
    if (!language_empty(l, goal)) return false;
    double empty = l->goal[goal].empty, nonempty = l->goal[goal].nonempty, p = 1;
    if (walk_must_write(w)) {
        p = 1 / nonempty;
    } else if (empty > 0) {
        if (slot >= 0) w->env[slot] = 0;
        walk_add(w, w->item.pos, w->item.flag, empty);
    }
    if (nonempty <= 0) return true;
    if (w->item.flag != WRITE_BETWEEN) return slot >= 0 ? rest_values(w, goal, slot, p) : rest_calls(w, goal, p);
    if (slot >= 0) w->env[slot] = env_pending(goal, true);
    rest_finish(w, w->item.pos, rest_here(w), nonempty);
    return true;
}

static void rest_end(Walk *w, const Item *item) {
    int none = 0;
    frontier_add(&w->level->ends, 1, &none, NULL, 0, item->pos, WRITE_IN, item->p);
}

static const Engine rest_engine = {.text = rest_text, .goal = rest_goal, .end = rest_end};

/* ---- Outcomes ---- */

static Range outcomes_keep(Automaton *a, const Frontier *ends) {
    Range range = {.first = a->outcomes, .count = ends->items};
    for (int i = 0; i < ends->items; i++) {
        const Item *item = &ends->item[i];
        MEM_GROW(a->outcome, a->outcomes, a->outcome_slots);
        a->outcome[a->outcomes++] = (Outcome){.text = item->pos, .rest = ends->env[item->env], .p = item->p};
    }
    if (a->outcomes > REST_OUTCOMES) a->language->work = -1;
    return range;
}

/* Room in a memo for NUMBER. */
static void ranges_grow(Range **range, int *ranges, int number) {
    if (number < *ranges) return;
    int more = number * 2 + 64;
    *range = mem_resize(*range, (size_t)more, sizeof **range);
    for (int i = *ranges; i < more; i++) (*range)[i].count = REST_UNKNOWN;
    *ranges = more;
}

/* How what GOAL writes begins. */
static bool goal_outcomes(Automaton *a, int goal, Range *out) {
    Language *l = a->language;
    ranges_grow(&a->goal_first, &a->goal_firsts, goal);
    *out = a->goal_first[goal];
    if (out->count >= 0) return true;
    if (out->count == REST_BUSY)
        return language_fail(
            l, status_failed(_("the language has tokens without end: a rule calls itself inside a token")));
    if (!language_empty(l, goal)) return false;
    Level *level = language_enter(l);
    if (!level) return false;
    a->goal_first[goal].count = REST_BUSY;
    bool done = walk_goal(l, &rest_engine, level, goal, 0) && language_work(l, 0);
    if (done) *out = outcomes_keep(a, &level->ends);
    language_leave(l);
    a->goal_first[goal] = done ? *out : (Range){.count = REST_UNKNOWN};
    return done;
}

/* Puts the tokens that are carried into the outermost part of a rest on level->now. FIRST: there are none. */
static void rest_enter(Automaton *a, const Rest *rest, Level *level, bool first) {
    const int *env = rest->slots > 0 ? a->env + rest->env : NULL;
    for (int i = 0; i < a->carry.items; i++) {
        const Item *item = &a->carry.item[i];
        frontier_add(&level->now, rest->slots, env, NULL, 0, item->pos, first ? WRITE_START : WRITE_IN, item->p);
    }
}

static void walk_env(Walk *w) {
    if (w->level->env_slots < w->slots) {
        w->level->env_slots = w->slots;
        w->level->env = mem_resize(w->level->env, (size_t)w->slots, sizeof *w->level->env);
    }
    w->env = w->level->env;
}

/* Writes on with the rules or draws of one part. */
static bool rest_walk(Automaton *a, const Rest *rest, Level *level, bool first) {
    Walk w = {
        .language = a->language, .engine = &rest_engine, .level = level, .rule = rest->rule, .slots = rest->slots};
    w.to = rest->to;
    if (rest->must) w.must = (rest->kind == REST_DRAWS ? rest->to : rest->what) + 1;
    walk_env(&w);
    rest_enter(a, rest, level, first);
    bool done = rest->kind == REST_DRAWS ? walk_draws(&w, rest->what, rest->to) : walk_pieces(&w, rest->what);
    if (done)
        for (int i = 0; i < level->now.items; i++) rest_end(&w, &level->now.item[i]);
    return done;
}

/* The first token of a text; nothing is carried into it, because a text always comes first. */
static void rest_split(Automaton *a, const Rest *rest, Level *level) {
    int tail, behind = 0, first = text_first(&a->language->texts, rest->what, &tail);
    if (tail) behind = rest_add(a, (Rest){.kind = REST_TEXT, .must = true, .what = tail}, NULL);
    frontier_add(&level->ends, 1, &behind, NULL, 0, first, WRITE_IN, 1);
}

static bool rest_call(Automaton *a, const Rest *rest, Level *level) {
    Range range;
    if (!goal_outcomes(a, rest->what, &range)) return false;
    for (int i = range.first; i < range.first + range.count; i++) {
        Outcome o = a->outcome[i];
        frontier_add(&level->ends, 1, &o.rest, NULL, 0, o.text, WRITE_IN, o.p);
    }
    return true;
}

/* One part of a rest, from what is carried into it: tokens that are over go to GATHER, others are carried on. */
static bool rest_part(Automaton *a, int number, bool first) {
    Rest rest = a->rest[number];
    Level *level = language_enter(a->language);
    if (!level) return false;
    bool done = true;
    if (rest.kind == REST_TEXT)
        rest_split(a, &rest, level);
    else if (rest.kind == REST_GOAL)
        done = rest_call(a, &rest, level);
    else
        done = rest_walk(a, &rest, level, first);
    frontier_clear(&a->carry);
    for (int i = 0; i < level->ends.items && done; i++) {
        Item item = level->ends.item[i];
        int left = level->ends.env[item.env];
        if (left == 0) {
            frontier_add(&a->carry, 0, NULL, NULL, 0, item.pos, WRITE_IN, item.p);
            continue;
        }
        left = rest_append(a, left, rest.next);
        frontier_add(&a->gather, 1, &left, NULL, 0, item.pos, WRITE_IN, item.p);
    }
    language_leave(a->language);
    return done && language_work(a->language, 1);
}

bool rest_outcomes(Automaton *a, int rest, Range *out) {
    ranges_grow(&a->rest_first, &a->rest_firsts, rest);
    *out = a->rest_first[rest];
    if (out->count >= 0) return true;
    frontier_clear(&a->gather);
    frontier_clear(&a->carry);
    frontier_add(&a->carry, 0, NULL, NULL, 0, 0, WRITE_START, 1);
    for (int part = rest; part && a->carry.items > 0; part = a->rest[part].next)
        if (!rest_part(a, part, part == rest)) return false;
    int none = 0;
    for (int i = 0; i < a->carry.items; i++)
        frontier_add(&a->gather, 1, &none, NULL, 0, a->carry.item[i].pos, WRITE_IN, a->carry.item[i].p);
    *out = outcomes_keep(a, &a->gather);
    a->rest_first[rest] = *out;
    return true;
}
