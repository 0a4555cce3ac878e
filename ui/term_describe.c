#include "term_describe.h"

#include "intl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ncursesw/term.h> /* by its folder: <term.h> alone would be ours */

typedef struct {
    int colours; /* -1: not known */
    bool can_move;
} Description;

/* Makes NAME the description that tigetstr and tigetnum speak of, until del_curterm. */
static bool load(const char *name) {
    int found = 0;
    return setupterm(name, STDOUT_FILENO, &found) == 0 && found == 1;
}

static const char *capability(const char *id) {
    const char *s = tigetstr(id);
    return s == NULL || s == (const char *)-1 ? "" : s;
}

static Description describe(const char *name) {
    if (!load(name)) return (Description){-1, false};
    int colours = tigetnum("colors");
    Description d = {colours > 0 ? colours : 0, capability("cup")[0] != '\0'};
    del_curterm(cur_term);
    return d;
}

static Depth depth_of(int colours) {
    if (colours > 256) return DEPTH_TRUE;
    return colours >= 256 ? DEPTH_256 : colours >= 16 ? DEPTH_16 : colours >= 8 ? DEPTH_8 : DEPTH_MONO;
}

/* TERM's relative with another number of colours: "xterm-256color" -> "xterm-direct". */
static void set_relative(TermChoice *choice, const char *term, const char *suffix) {
    static const char *const endings[] = {"-256color", "-88color", "-16color", "-direct"};
    size_t length = strlen(term), stem = length;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcmp(term + length - n, endings[i]) == 0) stem = length - n;
    }
    snprintf(choice->name, sizeof choice->name, "%.*s%s", (int)stem, term, suffix);
}

static Status choose_true(const char *term, TermChoice *choice) {
    choice->depth = DEPTH_TRUE;
    if (strncmp(term, "screen", 6) == 0)
        return status_usage(_("GNU screen (TERM=%s) garbles true colour; allowed: 256 colours and less"), term);
    if (describe(term).colours > 256) return status_ok();
    set_relative(choice, term, "-direct");
    if (describe(choice->name).colours > 256) return status_ok();
    return status_usage(_("true colour needs the terminal description %s, which is not installed (on Debian it is in "
                          "ncurses-term); allowed: 256 colours and less"),
                        choice->name);
}

/* A direct-colour description takes no indexes, so fewer colours than it has need its relative as well. */
static Status choose_indexed(const char *term, Depth has, TermChoice *choice) {
    if (choice->depth == DEPTH_MONO || (has != DEPTH_TRUE && choice->depth <= has)) return status_ok();
    set_relative(choice, term, choice->depth == DEPTH_16 ? "-16color" : "-256color");
    int colours = describe(choice->name).colours;
    if (colours <= 256 && depth_of(colours) >= choice->depth) return status_ok();
    return status_usage(_("TERM=%s has no such colours, and %s is not known here; leave the colours to be found out"),
                        term, choice->name);
}

static Status choose_depth(const TermOptions *o, const char *term, TermChoice *choice) {
    const char *no_color = getenv("NO_COLOR");
    Depth has = depth_of(describe(term).colours);
    if (o->depth == DEPTH_TRUE) return choose_true(term, choice);
    choice->depth = o->depth >= 0 ? (Depth)o->depth : has;
    if (o->depth >= 0) return choose_indexed(term, has, choice);
    if (no_color != NULL && no_color[0] != '\0') choice->depth = DEPTH_MONO;
    return status_ok();
}

static Status choose_glyphs(const TermOptions *o, TermChoice *choice) {
    if (!o->utf8 && o->glyphs > GLYPHS_ASCII)
        return status_usage(
            _("these glyphs need a UTF-8 locale, for example LANG=C.UTF-8; allowed without one: ascii"));
    choice->glyphs = o->glyphs >= 0 ? (Glyphs)o->glyphs : o->utf8 ? GLYPHS_HALF : GLYPHS_ASCII;
    return status_ok();
}

Status term_choose(const TermOptions *o, TermChoice *out) {
    const char *term = getenv("TERM");
    if (term == NULL || term[0] == '\0')
        return status_usage(_("TERM is not set; it names the kind of terminal, for example TERM=xterm-256color"));
    Description d = strlen(term) < sizeof out->name - 16 ? describe(term) : (Description){-1, false};
    if (d.colours < 0)
        return status_usage(_("the terminal TERM=%s is not known here; TERM=xterm-256color fits most"), term);
    if (!d.can_move)
        return status_usage(_("the terminal TERM=%s cannot move its cursor, so no picture can be drawn"), term);
    bool plain = strncmp(term, "linux", 5) == 0 || strncmp(term, "vt", 2) == 0;
    *out = (TermChoice){.glyphs = GLYPHS_ASCII, .can_answer = !plain};
    snprintf(out->name, sizeof out->name, "%s", term);
    STATUS_TRY(choose_depth(o, term, out));
    return choose_glyphs(o, out);
}

/* Adds a capability without its padding, "$<5>". */
static void add_capability(Str *out, const char *id) {
    for (const char *s = capability(id); *s != '\0';) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end == NULL) str_add_char(out, *s);
        s = end == NULL ? s + 1 : end + 1;
    }
}

void term_restore_bytes(const char *name, Str *out) {
    if (!load(name)) return;
    str_add(out, TERM_END_FRAME TERM_OFF_MOUSE TERM_OFF_PASTE);
    add_capability(out, "sgr0");  /* plain */
    add_capability(out, "op");    /* the terminal's own colours */
    add_capability(out, "rmkx");  /* keypad off */
    add_capability(out, "cnorm"); /* cursor on */
    size_t before = out->len;
    add_capability(out, "rmcup"); /* the first screen */
    if (out->len == before) str_add(out, "\r\n");
    del_curterm(cur_term);
}
