#include "languages.h"

#include "assets.h"
#include "intl.h"
#include "mem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const Option languages_option_rows[] = {
    {"grammar", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("farm, morph, stories, tags or a file: the grammar")},
    {"start", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("the rule to start from; not given: the first")},
    {"set", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("variables to fix: k:2,n:pl")},
    {0},
};

Status languages_read(const char *name, Grammar **out) {
    Str path;
    str_init(&path);
    Status s;
    if (assets_grammar(name, &path)) {
        s = grammar_read(path.s, out);
    } else if (access(name, R_OK) == 0) {
        s = grammar_read(name, out);
    } else {
        s = status_usage(_("grammar: '%s' is neither built in (farm, morph, stories, tags) nor a file to read: %s"),
                         name, strerror(errno));
    }
    str_done(&path);
    return s;
}

/* "k:2,n:pl" as the grammar has it, "k=2,n=pl". A value may hold a colon: only the first sign of an item counts. */
static char *assignments(const char *set) {
    char *text = mem_text(set);
    bool value = false;
    for (char *c = text; c && *c; c++) {
        if (*c == ',') value = false;
        if (!value && *c == ':') *c = '=';
        if (*c == '=') value = true;
    }
    return text;
}

Status languages_open(const Options *o, Grammar **grammar, Language **language) {
    STATUS_TRY(languages_read(options_text(o, "grammar"), grammar));
    char *set = assignments(options_text(o, "set"));
    Status s = language_new(*grammar, options_text(o, "start"), set, language);
    mem_free(set);
    if (status_is_ok(&s)) return s;
    grammar_free(*grammar);
    *grammar = NULL;
    return s;
}

void languages_close(Grammar *grammar, Language *language) {
    language_free(language);
    grammar_free(grammar);
}

Status languages_check(const Options *o) {
    Grammar *g;
    Language *l;
    STATUS_TRY(languages_open(o, &g, &l));
    languages_close(g, l);
    return status_ok();
}

void languages_conventions(Study *s) {
    study_about(s, "probability", "exact: the sum over all derivations, END included");
    study_about(s, "logarithms", "natural (nats)");
}
