/* app, questions: quitting, and lines that would drop a run which is in no file. A question stands in the message row;
 * the next key answers it. Lines of scripts, sessions and tests come from nobody who could, and are not asked about. */
#include "app_private.h"

#include "format.h"
#include "intl.h"
#include "lab.h"
#include "mem.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

/* ---- what drops the run ---- */

/* Whether setting these makes other parameters, and WHY. */
static bool makes_others(const App *a, const Words *words, Str *why) {
    Options *before = options_live(a), *now = options_copy(before);
    LabChange change = LAB_SAME;
    Status s = lab_read_set(now, words);
    if (status_is_ok(&s)) s = lab_compare(before, now, snapshot_facts(a->snapshot)->vocab, &change, why);
    options_free(before);
    options_free(now);
    return status_is_ok(&s) && change == LAB_RESTARTS; /* else it will be refused, and that be said */
}

/* Whether what was changed in the form makes other parameters. */
static bool form_makes_others(const App *a, Str *why) {
    Str line;
    Words words;
    str_init(&line);
    options_changes(a, "set", &line);
    Status s = command_split(line.s, &words);
    bool others = status_is_ok(&s) && words.count > 1 && makes_others(a, &words, why);
    str_done(&line);
    return others;
}

/* The row that LINE runs, with its words; NULL: none. */
static const Command *read_line(const App *a, const char *line, Words *words) {
    Status s = command_split(line, words);
    return status_is_ok(&s) && words->count > 0 ? app_find(a, words->word[0]) : NULL;
}

static bool is_one_of(const Command *c, const char *const *names) {
    while (*names && strcmp(c->name, *names) != 0) names++;
    return *names != NULL;
}

/* Later steps than the one that is looked at, and WHY. */
static bool fork_drops(const SnapshotFacts *f, Str *why) {
    if (f->step >= f->head) return false;
    str_addf(why, _("the steps after %s are dropped"), format_count(f->step).s);
    return true;
}

static bool command_drops(const App *a, const Command *c, const Words *words, Str *why) {
    static const char *const always[] = {"restart", "open", "resume", NULL}, *const visit[] = {"return", "leave", NULL};
    if (is_one_of(c, always)) return true;
    if (is_one_of(c, visit)) return snapshot_facts(a->snapshot)->waiting[0] != '\0';
    if (!strcmp(c->name, "fork")) return fork_drops(snapshot_facts(a->snapshot), why);
    if (!strcmp(c->name, "set")) return words->count > 1 && makes_others(a, words, why);
    if (!strcmp(c->name, "apply")) return form_makes_others(a, why);
    return !strcmp(c->name, "begin") && a->form;
}

/* Somebody who types it means it; among other lines it comes unforeseen. */
static bool quits_at_once(const Command *c, const Words *words) {
    return !strcmp(c->name, "quit") && words->count > 1;
}

/* Whether one of LINES does, and none before it writes the run to a file. */
static bool lines_drop(const App *a, const char *lines, Str *why) {
    static const char *const keep[] = {"save", "keep", NULL};
    char *text = mem_text(lines);
    bool drops = false, kept = false;
    for (char *line = text, *end; !drops && !kept && (end = strchr(line, '\n')); line = end + 1) {
        Words words;
        *end = '\0';
        const Command *c = read_line(a, line, &words);
        kept = c && is_one_of(c, keep);
        drops = c && (command_drops(a, c, &words, why) || quits_at_once(c, &words));
    }
    mem_free(text);
    return drops;
}

static bool line_drops(const App *a, const char *line, Str *why) {
    Words words;
    const Command *c = read_line(a, line, &words);
    if (!c) return false;
    if (strcmp(c->name, "cue") != 0 || words.count != 2) return command_drops(a, c, &words, why);
    int to = cues_find(&a->cues, words.word[1]);
    return to >= 0 && !a->cues.cue[to].sure && lines_drop(a, a->cues.cue[to].text, why);
}

static bool can_ask(const App *a, const char *line) {
    return a->asks && reading_is_unsaved(snapshot_facts(a->snapshot)) && strlen(line) < sizeof a->dropping;
}

static void put_question(App *a, const Str *why, const char *line) {
    app_say(a, 1, _("%s%sthe run of %s steps is not saved (:save PATH does it). y drops it, any other key stays"),
            why->s, why->len ? ": " : "", format_count(snapshot_facts(a->snapshot)->head).s);
    snprintf(a->dropping, sizeof a->dropping, "%s", line);
}

bool ask_first(App *a, const char *line) {
    if (!can_ask(a, line)) return false;
    Str why;
    str_init(&why);
    bool asked = line_drops(a, line, &why);
    if (asked) put_question(a, &why, line);
    str_done(&why);
    return asked;
}

bool ask_first_of_lines(App *a, const char *lines, const char *line) {
    if (!can_ask(a, line) || reading_is_plain(a->snapshot)) return false;
    Str why;
    str_init(&why);
    bool asked = lines_drop(a, lines, &why);
    if (asked) put_question(a, &why, line);
    str_done(&why);
    return asked;
}

/* ---- question and answer ---- */

void ask_to_quit(App *a, const char *question) {
    app_say(a, 1, "%s", question);
    a->quitting = true;
}

bool ask_stands(const App *a) {
    return a->quitting || a->dropping[0];
}

void ask_forget(App *a) {
    a->quitting = false;
    a->dropping[0] = '\0';
}

bool ask_answer(App *a, Key k) {
    if (!ask_stands(a)) return false;
    bool yes = k == 'y', quitting = a->quitting;
    char line[sizeof a->dropping];
    snprintf(line, sizeof line, "%s", a->dropping);
    a->message[0] = '\0';
    ask_forget(a);
    if (quitting) {
        a->quit = yes || k == 'q' || k == (KEYCODE_CTRL | 'c');
    } else if (yes) {
        a->asks = false; /* this was the answer */
        app_run(a, line);
    }
    return true;
}
