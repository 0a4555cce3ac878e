/* What is known about a goal whatever the text: how likely it writes nothing, and the list of all that it writes. */
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"

/* ---- Nothing or something: pos 0 is nothing, pos 1 is something ---- */

static bool empty_text(Walk *w, int text) {
    (void)text;
    walk_finish(w, 1, 1);
    return true;
}

static bool empty_goal(Walk *w, int goal, int slot) {
    Language *l = w->language;
    if (!language_empty(l, goal)) return false;
    const Goal *g = &l->goal[goal];
    if (g->nonempty > 0) walk_finish(w, 1, g->nonempty);
    if (slot >= 0) w->env[slot] = 0;
    if (g->empty > 0) walk_add(w, 0, w->item.flag, g->empty);
    return true;
}

static bool language_fail_recursion(Language *l, int goal) {
    Str name;
    str_init(&name);
    language_goal_name(l, goal, &name);
    language_fail(l, status_usage(_("{%s} calls itself before anything is written"), name.s));
    str_done(&name);
    return false;
}

bool language_empty(Language *l, int goal) {
    static const Engine engine = {.text = empty_text, .goal = empty_goal};
    if (l->goal[goal].empty_state == GOAL_KNOWN) return true;
    if (l->goal[goal].empty_state == GOAL_BUSY) return language_fail_recursion(l, goal);
    Level *level = language_enter(l);
    if (!level) return false;
    l->goal[goal].empty_state = GOAL_BUSY;
    bool done = walk_goal(l, &engine, level, goal, 0);
    double sum[2] = {0, 0};
    for (int i = 0; i < level->ends.items; i++) sum[level->ends.item[i].pos] += level->ends.item[i].p;
    language_leave(l);
    Goal *g = &l->goal[goal];
    g->empty = sum[0];
    g->nonempty = sum[1];
    g->empty_state = done ? GOAL_KNOWN : GOAL_NEW;
    return done;
}

/* ---- All texts: pos is the text so far ---- */

enum { VALUES_ITEMS = 2 * GRAMMAR_VALUES }; /* ways to write a part of a text */

static bool values_append(Walk *w, int text, double p) {
    Texts *t = &w->language->texts;
    int to = texts_join(t, w->item.pos, w->item.flag == WRITE_BETWEEN ? texts_add(t, " ", 1) : 0, text);
    walk_add(w, to, WRITE_IN, p);
    return w->level->next.items <= VALUES_ITEMS && language_work(w->language, 1 + t->length[to] / 16);
}

static bool values_text(Walk *w, int text) {
    return values_append(w, text, 1);
}

static bool values_goal(Walk *w, int goal, int slot) {
    Language *l = w->language;
    if (!language_empty(l, goal) || !language_values(l, goal)) return false;
    for (int i = 0; i < l->goal[goal].values; i++) {
        Value v = l->value[l->goal[goal].value + i];
        if (slot >= 0) w->env[slot] = v.text;
        if (v.text == 0)
            walk_add(w, w->item.pos, w->item.flag, v.p);
        else if (!values_append(w, v.text, v.p))
            return false;
    }
    return true;
}

static bool language_fail_values(Language *l, int goal) {
    Str name;
    str_init(&name);
    language_goal_name(l, goal, &name);
    language_fail(l,
                  status_failed(_("{%s} can write more than %d texts, too many for a variable that is part of a call"),
                                name.s, GRAMMAR_VALUES));
    str_done(&name);
    return false;
}

static void values_keep(Language *l, int goal, const Frontier *ends) {
    l->goal[goal].value = l->values;
    l->goal[goal].values = ends->items;
    for (int i = 0; i < ends->items; i++) {
        MEM_GROW(l->value, l->values, l->value_slots);
        l->value[l->values++] = (Value){.text = ends->item[i].pos, .p = ends->item[i].p};
    }
}

bool language_values(Language *l, int goal) {
    static const Engine engine = {.text = values_text, .goal = values_goal};
    if (l->goal[goal].values_state == GOAL_KNOWN) return true;
    if (l->goal[goal].values_state != GOAL_NEW) return language_fail_values(l, goal);
    Level *level = language_enter(l);
    if (!level) return false;
    l->goal[goal].values_state = GOAL_BUSY;
    bool done = walk_goal(l, &engine, level, goal, 0);
    bool refused = level->ends.items > GRAMMAR_VALUES || level->next.items > VALUES_ITEMS;
    if (refused) done = language_fail_values(l, goal);
    if (done) values_keep(l, goal, &level->ends);
    language_leave(l);
    l->goal[goal].values_state = done ? GOAL_KNOWN : refused ? GOAL_REFUSED : GOAL_NEW;
    return done;
}
