#include "complete.h"

#include "catalog.h"
#include "lab.h"
#include "lesson.h"
#include "mem.h"
#include "option.h"
#include "pane.h"
#include "prompt.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MOST = 256 };

struct Complete {
    const Command *screen;
    int focus;
    Options *run; /* rows of the options of a run */
    char *item[ITEMS_MOST];
    int count;
    char **word; /* [words] that a sentence can have */
    long words;
};

Complete *complete_new(const Command *screen) {
    Complete *c = MEM_NEW(Complete);
    c->screen = screen;
    c->run = lab_options();
    return c;
}

static void clear(Complete *c) {
    for (int i = 0; i < c->count; i++) mem_free(c->item[i]);
    c->count = 0;
}

void complete_free(Complete *c) {
    if (!c) return;
    clear(c);
    complete_set_words(c, NULL);
    options_free(c->run);
    mem_free(c);
}

void complete_set_focus(Complete *c, int pane) {
    c->focus = pane;
}

/* Offers TEXT (BYTES of it, then SUFFIX) when it goes on from what is typed. */
typedef struct {
    Complete *c;
    const char *typed;
    size_t bytes;
} Offer;

static void offer(const Offer *o, const char *text, size_t bytes, const char *suffix) {
    Complete *c = o->c;
    if (c->count == ITEMS_MOST || bytes < o->bytes || strncmp(text, o->typed, o->bytes) != 0) return;
    Str s;
    str_init(&s);
    str_add_n(&s, text, bytes);
    str_add(&s, suffix);
    for (int i = 0; i < c->count; i++) {
        if (strcmp(c->item[i], s.s)) continue;
        str_done(&s);
        return;
    }
    c->item[c->count++] = str_take(&s);
}

static void offer_all(const Offer *o, const char *text) {
    offer(o, text, strlen(text), "");
}

static void offer_commands(const Offer *o, const Command *table) {
    for (; table && table->name; table++) offer_all(o, table->name);
}

static void offer_names(const Offer *o) {
    offer_commands(o, pane_at(o->c->focus)->commands);
    offer_commands(o, o->c->screen);
    offer_commands(o, lab_commands());
    for (int i = 0; i < pane_count(); i++) offer_commands(o, pane_at(i)->commands);
}

/* The alternatives in the I-th word of an arguments text: "[log|linear]", "on|off". */
static void offer_spelled(const Offer *o, const char *arguments, int i) {
    const char *word = arguments;
    for (; i > 0 && *word; i--) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    size_t end = strcspn(word, " ");
    if (!memchr(word, '|', end)) return;
    for (size_t at = 0; at < end;) {
        at += strspn(word + at, "[]|,");
        size_t bytes = strcspn(word + at, "[]|, ");
        if (bytes == 0) break;
        const char *equals = memchr(word + at, '=', bytes);
        bool upper = word[at] >= 'A' && word[at] <= 'Z'; /* NAME stands for something */
        if (equals)
            offer(o, word + at, (size_t)(equals - (word + at)) + 1, "");
        else if (!upper)
            offer(o, word + at, bytes, "");
        at += bytes;
    }
}

/* key= of an option, or key=value of its choices once the key is there. */
static void offer_options(const Offer *o, const Options *options) {
    for (int i = 0; i < options_count(options); i++) {
        const Option *row = options_row(options, i);
        size_t name = strlen(row->name);
        bool value = o->bytes > name && o->typed[name] == '=' && !strncmp(o->typed, row->name, name);
        if (!value) {
            offer(o, row->name, name, "=");
            continue;
        }
        for (const char *choice = row->choices; choice && *choice;) {
            size_t bytes = strcspn(choice, "|");
            Str s;
            str_init(&s);
            str_addf(&s, "%s=%.*s", row->name, (int)bytes, choice);
            offer_all(o, s.s);
            str_done(&s);
            choice += bytes + (choice[bytes] == '|');
        }
    }
}

static void offer_observers(const Offer *o) {
#define OBSERVER(name, help) offer_all(o, #name);
#include "observers.def"
#undef OBSERVER
}

static void offer_experiment(const Offer *o, const Words *words, int argument) {
    if (argument == 0) {
        for (int i = 0; i < catalog_count(); i++) offer_all(o, catalog_at(i)->id);
        return;
    }
    const CatalogEntry *e = catalog_find(words->word[1]);
    Options *options = e ? catalog_options(e) : NULL;
    if (options) offer_options(o, options);
    options_free(options);
}

/* The row of that name, whose ever it is, else the first that it may be short for. */
static const Command *find(const Complete *c, const char *name) {
    const Command *near = NULL;
    for (int i = -2; i < pane_count(); i++) {
        const Command *table = i == -2 ? c->screen : i == -1 ? lab_commands() : pane_at(i)->commands;
        const Command *found = table ? command_find(table, name) : NULL;
        if (found && !strcmp(found->name, name)) return found;
        if (!near) near = found;
    }
    return near;
}

static void offer_lessons(const Offer *o) {
    LessonTitle *title;
    int n = lesson_titles(&title);
    for (int i = 0; i < n; i++) offer_all(o, title[i].name);
    lesson_titles_free(title, n);
}

static void offer_arguments(const Offer *o, const Words *words, int argument) {
    const Command *command = find(o->c, words->word[0]);
    if (!command) return;
    if (!strcmp(command->name, "experiment")) {
        offer_experiment(o, words, argument);
    } else if (!strcmp(command->name, "restart") || !strcmp(command->name, "set") || !strcmp(command->name, "versus")) {
        offer_options(o, o->c->run);
        if (!strcmp(command->name, "versus")) offer_spelled(o, "A|B|other|off", 0);
    } else if (!strcmp(command->name, "watch")) {
        offer_observers(o);
    } else if (!strcmp(command->name, "lesson") && argument == 0) {
        offer_lessons(o);
    } else {
        if (!strcmp(command->name, "pane") || !strcmp(command->name, "wall")) {
            for (int i = 0; i < pane_count(); i++) offer_all(o, pane_at(i)->name);
        }
        offer_spelled(o, command->arguments, argument);
    }
}

void complete_set_words(Complete *c, const Table *next) {
    for (long i = 0; i < c->words; i++) mem_free(c->word[i]);
    mem_free(c->word);
    int token = next ? table_find(next, "token") : -1;
    c->words = token >= 0 ? table_rows(next) : 0;
    c->word = c->words > 0 ? MEM_ARRAY(char *, (size_t)c->words) : NULL;
    for (long i = 0; i < c->words; i++)
        c->word[i] = mem_text(table_is_empty(next, i, token) ? "" : table_text(next, i, token));
}

int complete_word(void *user, const char *line, size_t cursor, const char *const **items, size_t *from) {
    Complete *c = user;
    clear(c);
    *items = (const char *const *)c->item;
    *from = cursor;
    while (*from > 0 && line[*from - 1] != ' ') --*from;
    Offer o = {c, line + *from, cursor - *from};
    for (long i = 0; i < c->words; i++)
        if (c->word[i][0] && c->word[i][0] != '<') offer_all(&o, c->word[i]); /* no specials */
    return c->count;
}

int complete_line(void *user, const char *line, size_t cursor, const char *const **items, size_t *from) {
    Complete *c = user;
    clear(c);
    *items = (const char *const *)c->item;
    *from = cursor;
    while (*from > 0 && line[*from - 1] != ' ') --*from;
    char before[PROMPT_BYTES + 1];
    size_t bytes = *from < sizeof before ? *from : sizeof before - 1;
    memcpy(before, line, bytes);
    before[bytes] = '\0';
    Words words;
    Status s = command_split(before, &words);
    if (!status_is_ok(&s)) return 0; /* an open quote: free text */
    Offer o = {c, line + *from, cursor - *from};
    if (words.count == 0)
        offer_names(&o);
    else
        offer_arguments(&o, &words, words.count - 1);
    return c->count;
}
