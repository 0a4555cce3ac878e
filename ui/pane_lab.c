/* pane lab: every experiment of the catalogue: choose, set its options, run it beside the live run, look at its tables
 * and figure. */
#include "clock.h"
#include "intl.h"
#include "lab_results.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

static const double redraw_every = 0.1; /* seconds, while something runs */

/* Choosing. */

static void choose(LabState *s, const CatalogEntry *e) {
    if (e == s->entry || !e) return;
    form_free(s->form);
    s->entry = e;
    s->back = 0;
    s->form = form_new(catalog_options(e));
    s->tab = LAB_OPTIONS;
    s->first = s->column = 0;
}

/* The right side shows what the list points at. */
static void follow(LabState *s) {
    int n = lab_list_count(s);
    if (s->at >= n) s->at = n - 1;
    if (s->at < 0) s->at = 0;
    choose(s, lab_list_at(s, s->at));
}

static void point_at(LabState *s, const CatalogEntry *e) {
    s->filter[0] = '\0';
    for (s->at = 0; lab_list_at(s, s->at) != e; s->at++) {}
    follow(s);
}

static void lab_init(void *state) {
    follow(state);
}

/* The job. */

static void lab_done(void *state) {
    LabState *s = state;
    job_free(s->job);
    results_drop(s);
    form_free(s->form);
}

static bool lab_tick(void *state) {
    LabState *s = state;
    if (!s->job || (s->now.study.finished && s->now.tables > 0)) return false;
    bool news = results_look(s), due = s->now.study.running && clock_now() - s->drawn >= redraw_every;
    if (news || due) s->drawn = clock_now();
    return news || due;
}

static bool lab_wait(const void *state, double seconds) {
    const LabState *s = state;
    return !s->job || study_wait(job_study(s->job), seconds);
}

/* An experiment may read a file; standard input is the keyboard here. */
static Status check_inputs(const Options *o) {
    for (int i = 0; i < options_count(o); i++) {
        const Option *row = options_row(o, i);
        if (row->type == OPTION_TEXT && !strcmp(options_value(o, row->name), "-")) {
            return status_usage(_("%s=- would read the keyboard: give a file"), row->name);
        }
    }
    return status_ok();
}

static Status run_start(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    (void)words;
    if (!s->entry) return status_usage(_("there is no experiment to run"));
    if (s->job && s->now.study.running) return status_usage(_("%s is running; S stops it"), s->now.ran->id);
    STATUS_TRY(check_inputs(form_options(s->form)));
    STATUS_TRY(catalog_check(s->entry, form_options(s->form)));
    results_begin(s);
    s->first = s->column = 0;
    s->inside = true;
    s->tab = lab_has_tab(s, LAB_FIGURE) ? LAB_FIGURE : LAB_FIRST_TABLE;
    return status_ok();
}

static Status run_stop(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    (void)words;
    if (!s->job || !s->now.study.running) return status_usage(_("no experiment is running"));
    job_cancel(s->job);
    return status_ok();
}

/* Which pane shows what an experiment of this beginning is about; else attention. */
static const char *pane_for(const char *id) {
    static const char *const panes[][2] = {{"decode.beam", "beam"}, {"decode.width", "beam"}, {"decode.", "sample"},
                                           {"kv.", "cache"},        {"rope.", "rope"},        {"lm.train", "train"},
                                           {"model.trace", "step"}};
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++)
        if (strncmp(id, panes[i][0], strlen(panes[i][0])) == 0) return panes[i][1];
    return "attention";
}

/* What is shown, or what was run last. */
static const LabResult *result_of(const LabState *s) {
    const LabResult *shown = lab_result(s);
    return shown ? shown : &s->now;
}

/* The lines that bring the model of the experiment before the panes. */
static void add_visit(const LabState *s, Str *out) {
    const LabResult *result = result_of(s);
    const StudyLook *look = &result->study.look;
    str_add(out, "visit ");
    command_add_quoted(out, result->study.model);
    str_addf(out, " %s ", result->ran->id);
    if (look->tokenizer[0]) command_add_quoted(out, look->tokenizer);
    str_add(out, "\n");
    if (look->prompt[0]) {
        str_add(out, "prompt ");
        command_add_quoted(out, look->prompt);
        str_add(out, "\n");
    }
    str_addf(out, "watch tokens attention\nscreen\npane %s\nview focus\ncursor layer=%d head=%d\n",
             pane_for(result->ran->id), look->layer + 1, look->head + 1);
    if (look->query >= 0) str_addf(out, "cursor query=%d\n", look->query);
    if (look->key >= 0) str_addf(out, "cursor key=%d\n", look->key);
}

static Status run_adopt(void *owner, const Words *words) {
    PaneCall *call = owner;
    LabState *s = call->state;
    (void)words;
    if (!result_of(s)->study.model[0])
        return status_usage(_("no experiment has left a model; those that train one say so when they are done"));
    Str lines;
    str_init(&lines);
    add_visit(s, &lines);
    bool fits = lines.len < sizeof call->command;
    if (fits) snprintf(call->command, sizeof call->command, "%s", lines.s);
    str_done(&lines);
    return fits ? status_ok() : status_failed(_("the path of the model is too long"));
}

/* Commands. */

static Status run_experiment(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    const CatalogEntry *e = catalog_find(words->word[1]);
    const char *likely = e ? NULL : catalog_likely(words->word[1]);
    if (!e && likely) return status_usage(_("there is no experiment %s; did you mean %s?"), words->word[1], likely);
    if (!e) return status_usage(_("there is no experiment %s; / searches the list"), words->word[1]);
    point_at(s, e);
    for (int i = 2; i < words->count; i++) {
        char name[64];
        const char *equals = strchr(words->word[i], '=');
        if (!equals || equals - words->word[i] >= (long)sizeof name)
            return status_usage(_("%s is no KEY=VALUE"), words->word[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - words->word[i]), words->word[i]);
        STATUS_TRY(form_set(s->form, name, equals + 1));
    }
    s->inside = true;
    return status_ok();
}

static int tab_find(const LabState *s, const char *name) {
    if (!strcmp(name, "options")) return LAB_OPTIONS;
    if (!strcmp(name, "figure")) return lab_has_tab(s, LAB_FIGURE) ? LAB_FIGURE : -1;
    for (int i = 0; i < catalog_tables(s->entry); i++) {
        if (!strcmp(s->entry->tables[i].name, name) && lab_has_tab(s, LAB_FIRST_TABLE + i)) return LAB_FIRST_TABLE + i;
    }
    return strcmp(name, "about") ? -1 : LAB_FIRST_TABLE + catalog_tables(s->entry);
}

static void step_tab(LabState *s, int by) {
    int most = LAB_FIRST_TABLE + LAB_TABLES;
    do s->tab = (s->tab + by + most) % most;
    while (!lab_has_tab(s, s->tab));
    s->first = s->column = 0;
}

static Status run_results(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    if (!s->entry) return status_usage(_("there is no experiment"));
    s->inside = true;
    if (words->count == 1) {
        step_tab(s, 1);
        return status_ok();
    }
    int tab = tab_find(s, words->word[1]);
    if (tab < 0) return status_usage(_("%s has no table %s"), s->entry->id, words->word[1]);
    s->tab = tab;
    s->first = s->column = 0;
    return status_ok();
}

static Status run_earlier(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    int n = lab_results(s, s->entry);
    (void)words;
    if (n == 0) return status_usage(_("nothing was run of %s yet"), s->entry ? s->entry->id : "");
    if (n == 1) return status_usage(_("this is the only result of %s; R makes another"), s->entry->id);
    s->back = (s->back + 1) % n;
    s->first = 0;
    s->inside = true;
    if (s->tab == LAB_OPTIONS) s->tab = lab_has_tab(s, LAB_FIGURE) ? LAB_FIGURE : LAB_FIRST_TABLE;
    return status_ok();
}

static Status scroll_columns(LabState *s, int by) {
    const Table *t = lab_table(s);
    if (!t) return status_usage(_("no table is shown; v goes to the next"));
    int most = table_columns(t) - 1, column = (s->column < most ? s->column : most) + by;
    s->column = column < 0 ? 0 : column > most ? most : column;
    s->inside = true;
    return status_ok();
}

static Status run_rightward(void *owner, const Words *words) {
    (void)words;
    return scroll_columns(((PaneCall *)owner)->state, 1);
}

static Status run_leftward(void *owner, const Words *words) {
    (void)words;
    return scroll_columns(((PaneCall *)owner)->state, -1);
}

static Status run_explain(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    (void)words;
    s->whole = !s->whole;
    return status_ok();
}

static Status run_reset(void *owner, const Words *words) {
    LabState *s = ((PaneCall *)owner)->state;
    (void)words;
    if (s->form && s->inside && s->tab == LAB_OPTIONS) form_reset(s->form);
    return status_ok();
}

/* Keys that mean the same everywhere. */

static long rows_of(Move move, int times) {
    switch (move) {
    case MOVE_UP:
        return -times;
    case MOVE_DOWN:
        return times;
    case MOVE_PAGE_UP:
        return -10L * times;
    case MOVE_PAGE_DOWN:
        return 10L * times;
    case MOVE_FIRST:
        return -1000000;
    case MOVE_LAST:
        return 1000000;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        break;
    }
    return 0;
}

static void lab_move(PaneCall *call, Move move, int times) {
    LabState *s = call->state;
    if (!s->entry) return;
    if (move == MOVE_LEFT || move == MOVE_RIGHT) {
        if (s->inside) step_tab(s, move == MOVE_LEFT ? -1 : 1);
        return;
    }
    long by = rows_of(move, times);
    if (!s->inside) {
        s->at += (int)by;
        follow(s);
    } else if (s->tab == LAB_OPTIONS) {
        form_move(s->form, (int)by);
    } else if (lab_table(s)) {
        long most = table_rows(lab_table(s)) - 1;
        s->first = s->first + by > most ? most : s->first + by;
        if (s->first < 0) s->first = 0;
    }
}

static bool lab_enter(PaneCall *call) {
    LabState *s = call->state;
    if (call->detail == DETAIL_WALL || !s->entry) return false;
    if (!s->inside)
        s->inside = true;
    else if (s->tab == LAB_OPTIONS)
        form_enter(s->form);
    else
        return false;
    return true;
}

static bool lab_escape(PaneCall *call) {
    LabState *s = call->state;
    bool there = s->inside || s->filter[0];
    if (s->inside)
        s->inside = false;
    else if (s->filter[0])
        point_at(s, s->entry);
    return there;
}

static bool filter_list(LabState *s, const char *text) {
    s->inside = false;
    snprintf(s->filter, sizeof s->filter, "%s", text);
    s->at = 0;
    if (lab_list_count(s) > 0) follow(s);
    return lab_list_count(s) > 0;
}

static bool lab_find(PaneCall *call, const char *text) {
    LabState *s = call->state;
    s->narrowing = false;
    if (s->inside && s->tab == LAB_OPTIONS) return form_find(s->form, text);
    return filter_list(s, text);
}

/* Back to the list, and in it to the experiment, that were there before a text was typed. */
static void widen(LabState *s) {
    const CatalogEntry *e = s->entry_before;
    (void)filter_list(s, s->filter_before);
    for (int i = 0; i < lab_list_count(s); i++)
        if (lab_list_at(s, i) == e) s->at = i;
    follow(s);
    s->inside = s->inside_before;
    s->narrowing = false;
}

static bool lab_narrow(PaneCall *call, const char *text) {
    LabState *s = call->state;
    if (!text && s->narrowing) widen(s);
    if (!text || (s->inside && s->tab == LAB_OPTIONS)) return false;
    if (!s->narrowing) {
        snprintf(s->filter_before, sizeof s->filter_before, "%s", s->filter);
        s->entry_before = s->entry;
        s->inside_before = s->inside;
        s->narrowing = true;
    }
    (void)filter_list(s, text);
    return true;
}

static void lab_click(PaneCall *call, const Canvas *like, int x, int y) {
    LabState *s = call->state;
    if (!s->entry) return;
    LabPlan p = lab_plan(s, call->detail, like->w, like->h);
    int filter = s->filter[0] ? 1 : 0;
    if (x < p.list.x + p.list.w && y >= filter && y < p.list.h) {
        s->inside = false;
        s->at = lab_list_first(s, p.list.h - filter) + y - filter;
        follow(s);
    } else if (p.content.h > 0 && y >= p.content.y) {
        s->inside = true;
        if (s->tab == LAB_OPTIONS) form_click(s->form, p.content, x, y);
    }
}

static bool lab_typing(const void *state) {
    const LabState *s = state;
    return s->form && form_typing(s->form);
}

static void lab_type(PaneCall *call, const Event *e) {
    form_type(((LabState *)call->state)->form, e);
}

static int lab_tables(const PaneContext *x, Table **out) {
    const LabState *s = x->state;
    int n = 0;
    const LabResult *result = result_of(s);
    for (int i = 0; i < result->tables && n < PANE_TABLES; i++)
        if (!catalog_leaves_out(result->ran, result->table[i])) out[n++] = table_copy(result->table[i]);
    return n;
}

static const char *lab_prefix(const void *state) {
    const LabState *s = state;
    return result_of(s)->ran ? result_of(s)->ran->id : "lab";
}

static void lab_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const LabState *s = x->state;
    if (s->job && s->now.study.running)
        snprintf(out, bytes, _("%s is running"), s->now.ran->id);
    else if (s->filter[0])
        snprintf(out, bytes, _("those with “%s”"), s->filter);
    else
        snprintf(out, bytes, ngettext("%d experiment", "%d experiments", (unsigned long)catalog_count()),
                 catalog_count());
}

static bool lab_offers(const PaneContext *x, const char *line) {
    const LabState *s = x->state;
    if (!strcmp(line, "start")) return s->entry != NULL;
    if (!strcmp(line, "rightward")) return lab_table(s) && table_columns(lab_table(s)) > 1;
    if (!strcmp(line, "stop")) return s->job && s->now.study.running;
    if (!strcmp(line, "adopt")) return result_of(s)->study.model[0] != '\0';
    if (!strcmp(line, "enter")) return !s->inside || s->tab == LAB_OPTIONS;
    return true;
}

static const KeyRow lab_keys[] = {
    {"R", "start", N_("run it"), N_("run the experiment with these options")},
    {"S", "stop", N_("stop"), N_("stop the experiment that runs; its rows are kept")},
    {"v", "results", N_("next table"), N_("options, figure and tables in turn (also left and right)")},
    {"u", "earlier", NULL, N_("an earlier result of this experiment; after the oldest the newest again")},
    {"+", "rightward", N_("columns"), N_("one column further right in a table that is too wide")},
    {"-", "leftward", NULL, N_("one column back to the left")},
    {"w", "explain", NULL, N_("the explanation of the experiment in full, or as much as leaves room for the rest")},
    {"D", "reset", NULL, N_("the option under the cursor back to its default")},
    {"O", "adopt", N_("model"),
     N_("look at the model of the experiment in the other panes; Backspace returns to your run")},
    {NULL, NULL, NULL, NULL},
};

static const Command lab_pane_commands[] = {
    {"experiment", "ID [KEY=VALUE ...]", N_("show an experiment of the catalogue, with these options"), 1, -1,
     run_experiment},
    {"start", "", N_("run the experiment that is shown"), 0, 0, run_start},
    {"stop", "", N_("stop the experiment that runs"), 0, 0, run_stop},
    {"results", "[options|figure|TABLE]", N_("what is shown of the experiment; without a name the next"), 0, 1,
     run_results},
    {"earlier", "", N_("an earlier result of this experiment; after the oldest the newest again"), 0, 0, run_earlier},
    {"rightward", "", N_("one column further right in a table that is too wide"), 0, 0, run_rightward},
    {"leftward", "", N_("one column back to the left"), 0, 0, run_leftward},
    {"explain", "", N_("the explanation of the experiment in full, or as much as leaves room for the rest"), 0, 0,
     run_explain},
    {"reset", "", N_("the option under the cursor back to its default"), 0, 0, run_reset},
    {"adopt", "", N_("look at the model of the experiment in the other panes"), 0, 0, run_adopt},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_lab = {
    .name = "lab",
    .title = N_("laboratory"),
    .about = N_("Every experiment of the lectures. Enter goes into the options of the one in the list and edits them; "
                "R runs it beside the live run; left and "
                "right walk through options, figure and tables; x writes the tables as CSV. A file name stands for "
                "itself; * marks what was changed."),
    .empty = N_("The experiments of the lectures are listed here."),
    .watch = "",
    .min_w = 24,
    .min_h = 4,
    .weight = 3,
    .rank = 2,
    .state_size = sizeof(LabState),
    .init = lab_init,
    .done = lab_done,
    .draw = lab_draw,
    .move = lab_move,
    .enter = lab_enter,
    .escape = lab_escape,
    .find = lab_find,
    .narrow = lab_narrow,
    .click = lab_click,
    .keys = lab_keys,
    .offers = lab_offers,
    .commands = lab_pane_commands,
    .typing = lab_typing,
    .type = lab_type,
    .tables = lab_tables,
    .prefix = lab_prefix,
    .subtitle = lab_subtitle,
    .tick = lab_tick,
    .wait = lab_wait,
};
