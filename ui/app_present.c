/* app, presenter: a large pane, the spotlight, and the cues of a talk. */
#include "app_private.h"

#include "intl.h"
#include "mem.h"
#include "pane.h"

#include <string.h>

Status run_present(App *a, const Words *words) {
    STATUS_TRY(command_switch(words, &a->presenting));
    a->overlay = OVERLAY_NONE;
    return status_ok();
}

/* ---- the spotlight ---- */

static const char *const lights[SPOTLIGHTS] = {"off", "pane", "cursor"};

const char *app_spotlight_name(Spotlight s) {
    return lights[s];
}

/* Whether there is a cursor to light in the pane, as it was drawn last. */
static bool cursor_shows(App *a) {
    Spotlight before = a->spotlight;
    Canvas *c = app_blank(a, a->w, a->h);
    a->spotlight = SPOTLIGHT_OFF;
    app_draw(a, c);
    a->spotlight = before;
    bool shows = false;
    for (int i = 0; i < a->layout.count; i++)
        if (a->layout.place[i].pane == a->focus) shows = spotlight_finds(c, a->layout.place[i].r);
    canvas_free(c);
    return shows;
}

/* Off, the pane among others, the cursor's rows where there is one, off. */
Status run_spotlight(App *a, const Words *words) {
    if (words->count == 1) {
        a->spotlight = (Spotlight)((a->spotlight + 1) % SPOTLIGHTS);
        if (a->spotlight == SPOTLIGHT_PANE && a->layout.count < 2) a->spotlight = SPOTLIGHT_CURSOR;
        if (a->spotlight != SPOTLIGHT_CURSOR || cursor_shows(a)) return status_ok();
        a->spotlight = SPOTLIGHT_OFF;
        app_say(a, 0, "%s", _("no cursor shows in this pane: the spotlight is off (arrows set one)"));
        return status_ok();
    }
    for (int i = 0; i < SPOTLIGHTS; i++) {
        if (strcmp(words->word[1], lights[i])) continue;
        a->spotlight = (Spotlight)i;
        return status_ok();
    }
    return status_usage(_("the spotlight is off, pane or cursor, not %s"), words->word[1]);
}

/* ---- cues ---- */

/* Whether somebody has a command of that name. */
static Status known(const char *line) {
    Words words;
    STATUS_TRY(command_split(line, &words));
    if (words.count == 0 || command_find(app_commands(), words.word[0])) return status_ok();
    if (command_find(lab_commands(), words.word[0])) return status_ok();
    for (int i = 0; i < pane_count(); i++)
        if (pane_at(i)->commands && command_find(pane_at(i)->commands, words.word[0])) return status_ok();
    return status_usage(_("there is no command '%s'"), words.word[0]);
}

Status run_cues(App *a, const Words *words) {
    if (words->count == 1) {
        cues_done(&a->cues);
        return status_ok();
    }
    STATUS_TRY(cues_read(&a->cues, words->word[1], known));
    app_say(
        a, 0,
        ngettext("%d cue: PageDown goes to it", "%d cues: PageDown goes to the first", (unsigned long)a->cues.count),
        a->cues.count);
    return status_ok();
}

/* Every line of them; what is refused is said, and the others are run all the same. What they drop was asked about
 * before. */
void app_run_lines(App *a, const char *lines) {
    char *text = mem_text(lines); /* one of them may read other cues */
    bool asks = a->asks, within = a->in_cue;
    if (!within) a->cue_asks = asks;
    a->in_cue = true;
    a->asks = false;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        app_run(a, line);
    }
    a->in_cue = within;
    a->asks = asks;
    mem_free(text);
}

static Status go_to(App *a, int to) {
    char *comment = mem_text(a->cues.cue[to].comment);
    a->cues.at = to;
    a->message[0] = '\0';
    if (a->cues.cue[to].sure) a->asks = false;
    app_run_lines(a, a->cues.cue[to].text);
    bool refused = a->message[0] && a->message_level == 2;
    if (comment[0] && !refused && !ask_stands(a)) app_say(a, 0, "%s", comment);
    mem_free(comment);
    return status_ok();
}

/* Without cues a clicker turns the pages of the lesson that is presented, else the panes. */
static Status turn(App *a, bool next) {
    const PaneType *p = pane_at(a->focus);
    PaneContext x = app_context(a, a->focus);
    bool pages = a->presenting && p == &pane_lesson && p->offers(&x, "page");
    if (pages) return app_command(a, next ? "page next" : "page previous");
    return app_command(a, next ? "pane next" : "pane previous");
}

Status run_cue(App *a, const Words *words) {
    const char *word = words->word[1];
    bool next = !strcmp(word, "next"), previous = !strcmp(word, "previous");
    if (a->in_cue) return status_usage(_("a cue cannot go to another cue"));
    if (a->cues.count == 0) {
        if (next || previous) return turn(a, next);
        return status_usage(_("there are no cues; ':cues FILE' reads some"));
    }
    int to = cues_find(&a->cues, word);
    if (to >= 0) return go_to(a, to);
    if (next) return status_usage(_("that was the last of %d cues"), a->cues.count);
    if (previous) return status_usage(_("this is the first cue"));
    return status_usage(_("a cue is next, previous, or a number from 1 to %d, not '%s'"), a->cues.count, word);
}
