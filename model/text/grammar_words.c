/* The tokens of a language: one token is picked anywhere in a sentence and spelt out, all others are skipped. A skipped
 * variable stays unknown, so two names of thousands of values each cost their sum and not their product.
 *
 * Positions: 0 skipping, at the start of a token; 1 skipping, inside one; 2 + t spelling, t is what the token has so
 * far. A token that is over is an end. Rules may call themselves: rounds over the memo until nothing new is found. */
#include "grammar.h"
#include "grammar_chart.h"
#include "intl.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_START = 0, WORDS_INSIDE = 1, WORDS_TOKEN = 2, WORDS_MOST = 1000000 };

static int words_end(int token) {
    return CHART_FAIL - 1 - token;
}

/* A blank. False: the token was over with it. */
static bool words_blank(Walk *w, int *pos) {
    if (w->item.flag != WRITE_BETWEEN) return true;
    if (*pos >= WORDS_TOKEN) return walk_finish(w, words_end(*pos - WORDS_TOKEN), 1), false;
    *pos = WORDS_START;
    return true;
}

/* Spells at most one token of S, from POS; LAST: nothing of the text follows it. */
static void words_spell(Walk *w, int pos, int token, bool last) {
    Texts *t = &w->language->texts;
    if (pos >= WORDS_TOKEN) token = texts_join(t, pos - WORDS_TOKEN, token, 0);
    if (last)
        walk_add(w, WORDS_TOKEN + token, WRITE_IN, 1);
    else
        walk_finish(w, words_end(token), 1);
}

/* All ways to spell a token of TEXT. */
static void words_write(Walk *w, int pos, int text) {
    Texts *t = &w->language->texts;
    char *copy = mem_text(texts_bytes(t, text)); /* adding may move the texts */
    for (char *s = copy, *end; s; s = end) {
        end = strchr(s, ' ');
        if (end) *end++ = '\0';
        if (pos != WORDS_INSIDE) words_spell(w, pos, texts_add(t, s, strlen(s)), !end);
        if (pos >= WORDS_TOKEN) break;
        pos = WORDS_START;
    }
    mem_free(copy);
}

static bool words_text(Walk *w, int text) {
    int pos = w->item.pos;
    if (!words_blank(w, &pos)) return true;
    words_write(w, pos, text);
    if (pos < WORDS_TOKEN) walk_add(w, WORDS_INSIDE, WRITE_IN, 1);
    return true;
}

/* What GOAL can write, its text not being kept. */
static bool words_inside(Walk *w, int goal, int pos, bool skipped) {
    int first, ends;
    if (!chart_inside(w->language, goal, pos, &first, &ends)) return false;
    for (int i = first; i < first + ends; i++) {
        int end = w->language->chart->end[i].pos;
        if (end < 0)
            walk_finish(w, end, 1);
        else if (end != WORDS_INSIDE || skipped)
            walk_add(w, end, WRITE_IN, 1);
    }
    return true;
}

/* The same; SLOT keeps the text. A goal without end of texts: the slot is said to hold any of them. */
static bool words_keep(Walk *w, int goal, int pos, int slot) {
    Language *l = w->language;
    if (!language_work(l, 1)) return false;
    w->env[slot] = env_pending(goal, true);
    if (pos < WORDS_TOKEN && l->goal[goal].nonempty > 0) walk_add(w, WORDS_INSIDE, WRITE_IN, 1);
    if (!language_values(l, goal)) {
        l->status = status_ok();
        return words_inside(w, goal, pos, false);
    }
    for (int i = 0; i < l->goal[goal].values; i++) {
        int text = l->value[l->goal[goal].value + i].text;
        w->env[slot] = text;
        if (text != 0) words_write(w, pos, text);
    }
    return true;
}

static bool words_goal(Walk *w, int goal, int slot) {
    Language *l = w->language;
    int pos = w->item.pos;
    if (!language_empty(l, goal)) return false;
    if (l->goal[goal].empty > 0 && !w->nonempty) {
        if (slot >= 0) w->env[slot] = 0;
        walk_add(w, pos, w->item.flag, 1);
    }
    if (l->goal[goal].nonempty <= 0 || !words_blank(w, &pos)) return true;
    return slot >= 0 ? words_keep(w, goal, pos, slot) : words_inside(w, goal, pos, true);
}

static int words_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void words_gather(Language *l, int first, int ends) {
    Frontier *found = &l->chart->found;
    frontier_clear(found);
    for (int i = first; i < first + ends; i++) {
        int pos = l->chart->end[i].pos;
        if (pos < 0)
            frontier_add(found, 0, NULL, NULL, 0, words_end(pos), WRITE_IN, 1);
        else if (pos >= WORDS_TOKEN)
            frontier_add(found, 0, NULL, NULL, 0, pos - WORDS_TOKEN, WRITE_IN, 1);
    }
    l->words = found->items;
    l->word = MEM_ARRAY(char *, (size_t)l->words);
    for (int i = 0; i < l->words; i++) l->word[i] = mem_text(texts_bytes(&l->texts, found->item[i].pos));
    qsort(l->word, (size_t)l->words, sizeof *l->word, words_compare);
    l->words_known = true;
}

static Status words_find(Language *l) {
    static const Engine engine = {.text = words_text, .goal = words_goal};
    Chart *c = chart_begin(l, &engine, CHART_WORDS, "");
    int first, ends;
    if (!language_empty(l, l->start)) return l->status;
    do {
        c->round++;
        c->changed = c->reentered = false;
        if (!chart_inside(l, l->start, WORDS_START, &first, &ends)) return l->status;
        if (ends > WORDS_MOST) return status_failed(_("the language has more than %d different tokens"), WORDS_MOST);
    } while (c->changed && c->reentered);
    words_gather(l, first, ends);
    return status_ok();
}

Status language_words(Language *l, const char ***words, int *n) {
    *words = NULL;
    *n = 0;
    if (!l->words_known) STATUS_TRY(words_find(l));
    *n = l->words;
    *words = MEM_ARRAY(const char *, (size_t)*n);
    for (int i = 0; i < *n; i++) (*words)[i] = l->word[i];
    return status_ok();
}
