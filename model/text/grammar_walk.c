/* Walking an alternative from left to right with all ways to come to each piece at once. Variables are bound late:
 * {v=call} only notes the call; what it writes is looked at when the variable is written (by the engine) or is part of
 * a call (here, value by value). A value that nothing needs any more is forgotten, so that ways that differ in nothing
 * else become one. */
#include "bug.h"
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"

#include <string.h>

/* ---- Frontiers ---- */

enum { FRONTIER_SHORT = 12 }; /* up to this many items a plain search is faster */

void frontier_clear(Frontier *f) {
    f->items = f->envs = 0;
    f->hashed = false;
}

void frontier_done(Frontier *f) {
    mem_free(f->item);
    mem_free(f->env);
    mem_free(f->table);
    *f = (Frontier){0};
}

static bool frontier_same(const Frontier *f, int slots, int a, const Item *b) {
    const Item *x = &f->item[a];
    return x->pos == b->pos && x->flag == b->flag &&
           (slots == 0 || memcmp(f->env + x->env, f->env + b->env, (size_t)slots * sizeof *f->env) == 0);
}

static unsigned frontier_hash(const Frontier *f, int slots, const Item *item) {
    uint64_t h = ((uint64_t)(unsigned)item->pos * 4 + item->flag) * 0x9e3779b97f4a7c15ULL;
    for (int i = 0; i < slots; i++) h = (h ^ (uint64_t)(unsigned)f->env[item->env + i]) * 0x9e3779b97f4a7c15ULL;
    return (unsigned)(h >> 32);
}

/* Where ITEM is in the table, or the free place for it. */
static unsigned frontier_slot(const Frontier *f, int slots, const Item *item) {
    unsigned mask = (unsigned)f->table_size - 1, at = frontier_hash(f, slots, item) & mask;
    while (f->table[at] && !frontier_same(f, slots, f->table[at] - 1, item)) at = (at + 1) & mask;
    return at;
}

static void frontier_rehash(Frontier *f, int slots) {
    while (f->table_size < f->items * 4 || f->table_size < 64) {
        mem_free(f->table);
        f->table_size = f->table_size ? f->table_size * 2 : 64;
        f->table = mem_resize(NULL, (size_t)f->table_size, sizeof *f->table);
    }
    memset(f->table, 0, (size_t)f->table_size * sizeof *f->table);
    for (int i = 0; i < f->items; i++) f->table[frontier_slot(f, slots, &f->item[i])] = i + 1;
    f->hashed = true;
}

static int frontier_find(const Frontier *f, int slots, const Item *item) {
    if (f->hashed) return f->table[frontier_slot(f, slots, item)] - 1;
    for (int i = 0; i < f->items; i++)
        if (frontier_same(f, slots, i, item)) return i;
    return -1;
}

/* The values behind the last item: ENV without the dead ones. */
static int frontier_push_env(Frontier *f, int slots, const int *env, const int *dead, int deads) {
    if (slots == 0) return f->envs;
    if (f->env_slots < f->envs + slots) {
        f->env_slots = (f->envs + slots) * 2;
        f->env = mem_resize(f->env, (size_t)f->env_slots, sizeof *f->env);
    }
    int *to = f->env + f->envs;
    memcpy(to, env, (size_t)slots * sizeof *to);
    for (int i = 0; i < deads; i++) to[dead[i]] = ENV_UNSET;
    return f->envs;
}

int frontier_add(Frontier *f, int slots, const int *env, const int *dead, int deads, int pos, WriteFlag flag,
                 double p) {
    Item item = {.p = p, .pos = pos, .flag = flag};
    item.env = frontier_push_env(f, slots, env, dead, deads);
    int found = frontier_find(f, slots, &item);
    if (found >= 0) {
        f->item[found].p += p;
        return found;
    }
    MEM_GROW(f->item, f->items, f->item_slots);
    f->item[f->items++] = item;
    f->envs += slots;
    if (f->hashed && f->items * 2 < f->table_size)
        f->table[frontier_slot(f, slots, &item)] = f->items;
    else if (f->items > FRONTIER_SHORT)
        frontier_rehash(f, slots);
    return f->items - 1;
}

/* ---- Items ---- */

void walk_add(Walk *w, int pos, WriteFlag flag, double p) {
    w->language->work -= w->slots + 2;
    frontier_add(&w->level->next, w->slots, w->env, w->dead, w->deads, pos, flag, w->item.p * p);
}

void walk_finish(Walk *w, int pos, double p) {
    w->language->work -= 2;
    frontier_add(&w->level->ends, 0, NULL, NULL, 0, pos, WRITE_IN, w->item.p * p);
}

void walk_keep(Walk *w) {
    walk_add(w, w->item.pos, w->item.flag, 1);
}

void walk_begin(Walk *w, Language *l, const Engine *engine, Level *level, const Goal *goal) {
    const Rule *rule = &l->grammar->rule[goal->rule];
    *w = (Walk){.language = l, .engine = engine, .level = level, .rule = goal->rule, .slots = rule->slots};
    if (level->env_slots < rule->slots) {
        level->env_slots = rule->slots;
        level->env = mem_resize(level->env, (size_t)level->env_slots, sizeof *level->env);
    }
    w->env = level->env;
}

void walk_start(Walk *w, const Goal *goal, const Alternative *a, int pos) {
    Language *l = w->language;
    const Rule *rule = &l->grammar->rule[goal->rule];
    for (int i = 0; i < w->slots; i++) w->env[i] = ENV_UNSET;
    for (int i = 0; i < goal->arguments; i++) {
        int part = l->grammar->part[rule->part + i];
        if (part < 0) w->env[~part] = l->argument[goal->argument + i];
    }
    w->to = a->piece + a->pieces;
    frontier_clear(&w->level->now);
    frontier_add(&w->level->now, w->slots, w->env, l->grammar->dead + a->dead, a->deads, pos, WRITE_START,
                 a->weight / rule->total);
}

/* ---- Pieces ---- */

/* A variable that PIECE needs as a text but that stands only as a call; -1: there is none. */
static int walk_unresolved(const Walk *w, const Piece *piece) {
    if (piece->kind == PIECE_REPEAT && piece->slot >= 0 && env_is_pending(w->env[piece->slot])) return piece->slot;
    const int *part = w->language->grammar->part + piece->part;
    for (int i = 0; i < piece->parts; i++)
        if (part[i] < 0 && env_is_pending(w->env[~part[i]])) return ~part[i];
    return -1;
}

static bool walk_item(Walk *w, const Piece *piece);

/* The piece once for each value of the variable. */
static bool walk_resolve(Walk *w, const Piece *piece, int slot) {
    Language *l = w->language;
    int pending = w->env[slot], goal = env_goal(pending);
    double p = w->item.p;
    if (!language_values(l, goal)) return false;
    for (int i = 0; i < l->goal[goal].values; i++) {
        Value v = l->value[l->goal[goal].value + i];
        if (v.text == 0 && env_nonempty(pending)) continue;
        w->env[slot] = v.text;
        w->item.p = p * v.p;
        if (!walk_item(w, piece)) return false;
    }
    w->env[slot] = pending;
    w->item.p = p;
    return true;
}

/* The goal that the piece calls, its parts being texts. */
static int walk_called(Walk *w, const Piece *piece) {
    int argument[GRAMMAR_PARTS];
    const int *part = w->language->grammar->part + piece->part;
    for (int i = 0; i < piece->parts; i++) argument[i] = part[i] >= 0 ? part[i] : w->env[~part[i]];
    return language_goal(w->language, piece->family, argument);
}

static bool walk_bind(Walk *w, const Piece *piece) {
    Language *l = w->language;
    int before = w->env[piece->slot], now = l->set[piece->variable];
    if (now < 0) {
        int goal = walk_called(w, piece);
        if (goal < 0 || !language_empty(l, goal)) return false;
        now = env_pending(goal, false);
    }
    w->env[piece->slot] = now;
    walk_keep(w);
    w->env[piece->slot] = before;
    return true;
}

static bool walk_variable(Walk *w, const Piece *piece) {
    int value = w->env[piece->slot];
    BUG_ON(value == ENV_UNSET);
    if (env_is_pending(value)) {
        w->nonempty = env_nonempty(value);
        bool done = w->engine->goal(w, env_goal(value), w->deads ? -1 : piece->slot);
        w->nonempty = false;
        return done;
    }
    if (value == 0) return walk_keep(w), true;
    return w->engine->text(w, value);
}

bool language_count(Language *l, int text, int family, int *count) {
    const char *s = texts_bytes(&l->texts, text);
    size_t digits = strspn(s, "0123456789");
    *count = 0;
    for (size_t i = 0; i < digits && *count <= GRAMMAR_COUNT; i++) *count = *count * 10 + (s[i] - '0');
    if (digits > 0 && s[digits] == '\0' && *count <= GRAMMAR_COUNT) return true;
    const char *name = texts_bytes(&l->texts, l->grammar->family[family].name);
    return language_fail(
        l, status_usage(_("{%s*...} is to be repeated '%s' times; allowed is a number from 0 to 1000"), name, s));
}

static bool walk_repeat(Walk *w, const Piece *piece) {
    int count = piece->count, goal = walk_called(w, piece);
    if (goal < 0) return false;
    if (piece->slot >= 0 && !language_count(w->language, w->env[piece->slot], piece->family, &count)) return false;
    if (count == 0) return walk_keep(w), true;
    return w->engine->goal(w, language_repetition(w->language, goal, count), -1);
}

static bool walk_item(Walk *w, const Piece *piece) {
    int slot = walk_unresolved(w, piece);
    if (slot >= 0) return walk_resolve(w, piece, slot);
    switch (piece->kind) {
    case PIECE_TEXT:
        return w->engine->text(w, piece->text);
    case PIECE_NOTHING:
        return walk_keep(w), true;
    case PIECE_VARIABLE:
        return walk_variable(w, piece);
    case PIECE_BIND:
        return walk_bind(w, piece);
    case PIECE_REPEAT:
        return walk_repeat(w, piece);
    case PIECE_CALL:
        break;
    }
    int goal = walk_called(w, piece);
    return goal >= 0 && w->engine->goal(w, goal, -1);
}

static void level_swap(Level *level) {
    Frontier swap = level->now;
    level->now = level->next;
    level->next = swap;
}

static bool walk_piece(Walk *w, int number) {
    const Piece *piece = &w->language->grammar->piece[number];
    Level *level = w->level;
    w->piece = number;
    w->dead = w->language->grammar->dead + piece->dead;
    w->deads = piece->deads;
    frontier_clear(&level->next);
    for (int i = 0; i < level->now.items; i++) {
        w->item = level->now.item[i];
        if (w->slots > 0) memcpy(w->env, level->now.env + w->item.env, (size_t)w->slots * sizeof *w->env);
        if (!piece->glued && w->item.flag == WRITE_IN) w->item.flag = WRITE_BETWEEN;
        if (!language_work(w->language, w->slots + 4) || !walk_item(w, piece)) return false;
    }
    level_swap(level);
    return true;
}

bool walk_pieces(Walk *w, int from) {
    for (int i = from; i < w->to && w->level->now.items > 0; i++)
        if (!walk_piece(w, i)) return false;
    return true;
}

bool walk_draws(Walk *w, int inner, int count) {
    Level *level = w->level;
    w->piece = w->to = -1;
    w->inner = inner;
    for (w->left = count; w->left > 0 && level->now.items > 0; w->left--) {
        frontier_clear(&level->next);
        for (int i = 0; i < level->now.items; i++) {
            w->item = level->now.item[i];
            if (w->item.flag == WRITE_IN) w->item.flag = WRITE_BETWEEN;
            if (!language_work(w->language, 4) || !w->engine->goal(w, inner, -1)) return false;
        }
        level_swap(level);
    }
    return true;
}

static void walk_end(Walk *w) {
    Level *level = w->level;
    for (int i = 0; i < level->now.items; i++) {
        const Item *item = &level->now.item[i];
        WriteFlag flag = item->flag == WRITE_START ? WRITE_START : WRITE_IN;
        if (w->engine->end)
            w->engine->end(w, item);
        else
            frontier_add(&level->ends, 0, NULL, NULL, 0, item->pos, flag, item->p);
    }
}

static bool walk_rule(Walk *w, int goal, int pos) {
    Language *l = w->language;
    const Rule *rule = &l->grammar->rule[l->goal[goal].rule];
    walk_begin(w, l, w->engine, w->level, &l->goal[goal]);
    for (int i = 0; i < rule->alternatives; i++) {
        const Alternative *a = &l->grammar->alternative[rule->alternative + i];
        if (a->weight <= 0) continue;
        walk_start(w, &l->goal[goal], a, pos);
        if (!walk_pieces(w, a->piece)) return false;
        walk_end(w);
    }
    return true;
}

bool walk_goal(Language *l, const Engine *engine, Level *level, int goal, int pos) {
    Walk w = {.language = l, .engine = engine, .level = level};
    if (l->goal[goal].rule >= 0) return walk_rule(&w, goal, pos);
    frontier_add(&level->now, 0, NULL, NULL, 0, pos, WRITE_START, 1);
    if (!walk_draws(&w, l->goal[goal].inner, l->goal[goal].count)) return false;
    walk_end(&w);
    return true;
}
