#include "assets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool try_root(const char *root, const char *relative, Str *path) {
    if (!root || !*root) return false;
    str_clear(path);
    str_addf(path, "%s/%s", root, relative);
    return access(path->s, R_OK) == 0;
}

bool assets_find(const char *relative, Str *path) {
    const char *const roots[] = {getenv("LANTERN_ASSETS"), LANTERN_ASSETS_SOURCE, LANTERN_ASSETS_INSTALLED};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (try_root(roots[i], relative, path)) return true;
    str_clear(path);
    return false;
}

/* Any language will do: all of them are built together. */
bool assets_translations(Str *path) {
    static const char one[] = "translations/zh_CN/LC_MESSAGES/lantern.mo", built[] = LANTERN_TRANSLATIONS_BUILT;
    bool found = try_root(getenv("LANTERN_ASSETS"), one, path) || try_root(built, one + sizeof "translations", path) ||
                 try_root(LANTERN_ASSETS_INSTALLED, one, path);
    if (found) str_truncate(path, path->len - strlen("/zh_CN/LC_MESSAGES/lantern.mo"));
    return found;
}

bool assets_grammar(const char *name, Str *path) {
    if (!*name || strchr(name, '/')) return false;
    Str relative;
    str_init(&relative);
    str_addf(&relative, "grammars/%s.grammar", name);
    bool found = assets_find(relative.s, path);
    str_done(&relative);
    return found;
}

/* Makes PATH and what is missing above it. */
static bool make_folders(const char *path) {
    Str part;
    str_init(&part);
    bool good = true;
    for (const char *c = path; good; c++) {
        bool whole = *c == '\0';
        if ((whole || *c == '/') && part.len > 0) good = mkdir(part.s, 0700) == 0 || errno == EEXIST;
        if (whole) break;
        str_add_char(&part, *c);
    }
    str_done(&part);
    return good && access(path, W_OK | X_OK) == 0;
}

bool assets_cache_dir(Str *path) {
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    str_clear(path);
    if (cache && cache[0] == '/') {
        str_addf(path, "%s/lantern", cache);
    } else if (home && *home) {
        str_addf(path, "%s/.cache/lantern", home);
    } else {
        return false;
    }
    return make_folders(path->s);
}
