/* A language: a grammar, where it starts, and what is set. Owns the goals (calls with their parts filled in) and
 * everything that is remembered about them; what is remembered never depends on which question was asked first. */
#include "bug.h"
#include "grammar.h"
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

enum {
    LANGUAGE_WORK = 30000000, /* steps that one question may take: some seconds */
    LANGUAGE_TEXTS = 2000000, /* remembered before the memory is dropped */
    LANGUAGE_TEXT_BYTES = 64 << 20,
    LANGUAGE_TEXT_LIMIT = 256 << 20,
    LANGUAGE_VALUES = 4000000,
};

/* ---- Goals ---- */

static bool goal_is(const Language *l, const Goal *g, const Goal *like, const int *argument) {
    if (like->rule < 0) return g->rule < 0 && g->inner == like->inner && g->count == like->count;
    if (g->rule < 0 || g->family != like->family) return false;
    return like->arguments == 0 ||
           memcmp(l->argument + g->argument, argument, (size_t)like->arguments * sizeof *argument) == 0;
}

static unsigned goal_hash(const Goal *like, const int *argument) {
    uint64_t h = like->rule < 0 ? (uint64_t)like->inner * 1009 + (uint64_t)like->count + 77 : (uint64_t)like->family;
    h *= 0x9e3779b97f4a7c15ULL;
    for (int i = 0; i < like->arguments; i++) h = (h ^ (uint64_t)argument[i]) * 0x9e3779b97f4a7c15ULL;
    return (unsigned)(h >> 32);
}

static int goal_slot(const Language *l, const Goal *like, const int *argument) {
    unsigned mask = (unsigned)l->goal_table_size - 1, at = goal_hash(like, argument) & mask;
    while (l->goal_table[at] && !goal_is(l, &l->goal[l->goal_table[at] - 1], like, argument)) at = (at + 1) & mask;
    return (int)at;
}

static void goals_widen(Language *l) {
    mem_free(l->goal_table);
    l->goal_table_size = l->goal_table_size ? l->goal_table_size * 2 : 256;
    l->goal_table = MEM_ARRAY(int, (size_t)l->goal_table_size);
    for (int i = 0; i < l->goals; i++)
        l->goal_table[goal_slot(l, &l->goal[i], l->argument + l->goal[i].argument)] = i + 1;
}

/* ARGUMENT must not point into l->argument. */
static int goal_add(Language *l, int at, Goal goal, const int *argument) {
    goal.argument = l->arguments;
    for (int i = 0; i < goal.arguments; i++) {
        MEM_GROW(l->argument, l->arguments, l->argument_slots);
        l->argument[l->arguments++] = argument[i];
    }
    MEM_GROW(l->goal, l->goals, l->goal_slots);
    l->goal[l->goals] = goal;
    l->goal_table[at] = ++l->goals;
    if (l->goals > l->goal_table_size / 2) goals_widen(l);
    return l->goals - 1;
}

static bool rule_fits(const Grammar *g, const Rule *rule, const int *argument, int arguments) {
    for (int i = 0; i < arguments; i++) {
        int part = g->part[rule->part + i];
        if (part >= 0 && part != argument[i]) return false;
    }
    return true;
}

static int family_rule(const Grammar *g, int family, const int *argument) {
    const Family *f = &g->family[family];
    for (int i = 0; i < f->rules; i++)
        if (rule_fits(g, &g->rule[f->rule[i]], argument, f->parts)) return f->rule[i];
    return -1;
}

static void call_name(const Language *l, int family, const int *argument, Str *out) {
    const Family *f = &l->grammar->family[family];
    str_add(out, texts_bytes(&l->texts, f->name));
    for (int i = 0; i < f->parts; i++) str_addf(out, ".%s", texts_bytes(&l->texts, argument[i]));
}

int language_goal(Language *l, int family, const int *argument) {
    Goal like = {.family = family, .arguments = l->grammar->family[family].parts};
    int at = goal_slot(l, &like, argument);
    if (l->goal_table[at]) return l->goal_table[at] - 1;
    like.rule = family_rule(l->grammar, family, argument);
    if (like.rule >= 0) return goal_add(l, at, like, argument);
    Str name;
    str_init(&name);
    call_name(l, family, argument, &name);
    language_fail(l, status_usage(_("no rule fits the call {%s}"), name.s));
    str_done(&name);
    return -1;
}

int language_repetition(Language *l, int inner, int count) {
    if (count == 1) return inner;
    Goal like = {.rule = -1, .inner = inner, .count = count};
    int at = goal_slot(l, &like, NULL);
    return l->goal_table[at] ? l->goal_table[at] - 1 : goal_add(l, at, like, NULL);
}

void language_goal_name(const Language *l, int goal, Str *out) {
    const Goal *g = &l->goal[goal];
    if (g->rule >= 0) {
        call_name(l, g->family, l->argument + g->argument, out);
    } else {
        language_goal_name(l, g->inner, out);
        str_addf(out, "*%d", g->count);
    }
}

/* ---- Limits ---- */

bool language_refuse(Language *l, Status s) {
    l->status = s;
    return false;
}

bool language_fail(Language *l, Status s) {
    const char *file = l->grammar->file[0];
    if (*file == '\0') return language_refuse(l, s);
    return language_refuse(l, s.code == STATUS_USAGE ? status_usage("%s: %s", file, s.text)
                                                     : status_failed("%s: %s", file, s.text));
}

bool language_work(Language *l, int steps) {
    l->work -= steps;
    if (l->work >= 0 && l->texts.used < LANGUAGE_TEXT_LIMIT) return true;
    return language_fail(
        l, status_failed(_("this grammar asks for too much work: there are too many ways to write a text")));
}

Level *language_enter(Language *l) {
    if (l->depth == GRAMMAR_DEPTH) {
        language_fail(l, status_failed(_("calls are nested over %d deep"), GRAMMAR_DEPTH));
        return NULL;
    }
    while (l->depth >= l->levels) { /* sampling counts the depth too, without memory of a level */
        MEM_GROW(l->level, l->levels, l->level_slots);
        l->level[l->levels++] = MEM_NEW(Level);
    }
    Level *level = l->level[l->depth++];
    frontier_clear(&level->now);
    frontier_clear(&level->next);
    frontier_clear(&level->ends);
    return level;
}

void language_leave(Language *l) {
    l->depth--;
}

/* ---- Start and set ---- */

static Status language_set_start(Language *l) {
    const Grammar *g = l->grammar;
    int name = g->family[g->rule[0].family].name, parts[GRAMMAR_PARTS], n = 0;
    if (l->start_text && !grammar_read_call(l->start_text, &l->texts, &name, parts, &n))
        return status_usage(_("'%s' is no start; allowed is a rule's name, perhaps with words as in food.dog"),
                            l->start_text);
    Str key;
    str_init(&key);
    str_addf(&key, "%s %d", texts_bytes(&l->texts, name), n);
    int family = texts_find(&g->family_key, key.s, key.len) - 1;
    str_done(&key);
    if (family < 0 || g->family[family].rules == 0)
        return status_usage(_("the grammar has no rule '%s' with %d parts after the name to start with"),
                            texts_bytes(&l->texts, name), n);
    l->start = language_goal(l, family, parts);
    return l->start < 0 ? l->status : status_ok();
}

static bool grammar_binds(const Grammar *g, int variable) {
    for (int i = 0; i < g->pieces; i++)
        if (g->piece[i].kind == PIECE_BIND && g->piece[i].variable == variable) return true;
    return false;
}

void language_normalise(const char *s, size_t n, Str *out) {
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && s[i] != ' ' && s[i] != '\t') i++;
        if (i > from && out->len > 0) str_add_char(out, ' ');
        str_add_n(out, s + from, i - from);
        while (i < n && (s[i] == ' ' || s[i] == '\t')) i++;
    }
}

static bool text_is_clean(const char *s, size_t n) {
    uint32_t code;
    for (size_t i = 0; i < n;) {
        int bytes = utf8_decode(s + i, n - i, &code);
        if (bytes == 0 || grammar_is_control(code)) return false;
        i += (size_t)bytes;
    }
    return true;
}

/* One v=text (or v:text). */
static Status language_set_one(Language *l, const char *s, size_t n) {
    size_t equals = strcspn(s, "=:");
    if (equals >= n) return status_usage(_("'%.*s' sets nothing; allowed is VARIABLE:TEXT"), (int)n, s);
    Str name, value;
    str_init(&name);
    str_init(&value);
    language_normalise(s, equals, &name);
    language_normalise(s + equals + 1, n - equals - 1, &value);
    int variable = texts_find(&l->grammar->texts, name.s + (name.s[0] == '$'), name.len - (name.s[0] == '$'));
    Status status = status_ok();
    if (!text_is_clean(value.s, value.len))
        status = status_usage(_("the text for '%s' is not UTF-8, or has control characters"), name.s);
    else if (variable < 0 || !grammar_binds(l->grammar, variable))
        status = status_usage(_("the grammar never sets a variable '%s'"), name.s);
    else
        l->set[variable] = texts_add(&l->texts, value.s, value.len);
    str_done(&name);
    str_done(&value);
    return status;
}

static Status language_set_all(Language *l, const char *set) {
    while (set && *set) {
        size_t n = strcspn(set, ",");
        STATUS_TRY(language_set_one(l, set, n));
        set += n + (set[n] == ',');
    }
    return status_ok();
}

/* Nothing is remembered yet: only the start and what is set. */
static Status language_prepare(Language *l) {
    texts_copy(&l->texts, &l->grammar->texts);
    l->goals = l->arguments = l->values = 0;
    memset(l->goal_table, 0, (size_t)l->goal_table_size * sizeof *l->goal_table);
    for (int i = 0; i < l->grammar->texts.count; i++) l->set[i] = -1;
    STATUS_TRY(language_set_start(l));
    return language_set_all(l, l->set_text);
}

void language_begin(Language *l) {
    l->work = l->limit;
    l->depth = 0;
    l->status = status_ok();
    if (l->texts.count < LANGUAGE_TEXTS && l->texts.used < LANGUAGE_TEXT_BYTES && l->goals < LANGUAGE_TEXTS &&
        l->values < LANGUAGE_VALUES)
        return;
    texts_done(&l->texts);
    Status s = language_prepare(l);
    BUG_ON(!status_is_ok(&s));
}

Status language_new(const Grammar *g, const char *start, const char *set, Language **out) {
    Language *l = MEM_NEW(Language);
    l->grammar = g;
    l->limit = LANGUAGE_WORK;
    l->start_text = mem_text(start);
    l->set_text = mem_text(set);
    l->set = MEM_ARRAY(int, (size_t)g->texts.count);
    MEM_GROW(l->argument, l->arguments, l->argument_slots); /* never NULL */
    goals_widen(l);
    Status s = language_prepare(l);
    *out = status_is_ok(&s) ? l : NULL;
    if (!*out) language_free(l);
    return s;
}

Language *language_copy(const Language *l) {
    Language *copy;
    Status s = language_new(l->grammar, l->start_text, l->set_text, &copy);
    BUG_ON(!status_is_ok(&s));
    copy->limit = l->limit;
    return copy;
}

void language_limit(Language *l, long long steps) {
    l->limit = steps;
}

void language_free(Language *l) {
    if (!l) return;
    for (int i = 0; i < l->levels; i++) {
        frontier_done(&l->level[i]->now);
        frontier_done(&l->level[i]->next);
        frontier_done(&l->level[i]->ends);
        mem_free(l->level[i]->env);
        mem_free(l->level[i]);
    }
    for (int i = 0; i < l->words; i++) mem_free(l->word[i]);
    mem_free(l->word);
    chart_free(l->chart);
    texts_done(&l->texts);
    mem_free(l->level);
    mem_free(l->goal);
    mem_free(l->goal_table);
    mem_free(l->argument);
    mem_free(l->value);
    mem_free(l->draw);
    mem_free(l->set);
    mem_free(l->start_text);
    mem_free(l->set_text);
    mem_free(l);
}
