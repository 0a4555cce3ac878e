#include "languages.h"

#include "assets.h"
#include "intl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const Option languages_option_rows[] = {
    {"grammar", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("farm, morph, stories, tags or a file: the grammar")},
    {"start", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("the rule to start from; not given: the first")},
    {"set", OPTION_TEXT, NULL, 0, 0, NULL, "", N_("variables to fix: k=2 or k:2,n:pl")},
    {0},
};

static bool is_built_in(const char *name, Str *path) {
    if (!*name || strchr(name, '/')) return false;
    Str relative;
    str_init(&relative);
    str_addf(&relative, "grammars/%s.grammar", name);
    bool found = assets_find(relative.s, path);
    str_done(&relative);
    return found;
}

Status languages_read(const char *name, Grammar **out) {
    Str path;
    str_init(&path);
    Status s;
    if (is_built_in(name, &path)) {
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

Status languages_open(const Options *o, Grammar **grammar, Language **language) {
    STATUS_TRY(languages_read(options_text(o, "grammar"), grammar));
    Status s = language_new(*grammar, options_text(o, "start"), options_text(o, "set"), language);
    if (!status_is_ok(&s)) {
        grammar_free(*grammar);
        *grammar = NULL;
    }
    return s;
}
