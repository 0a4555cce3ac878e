/* assets: where the data that lantern ships lies: $LANTERN_ASSETS, else the source tree it was built from, else the
 * place it was installed to. */
#ifndef LAB_ASSETS_H
#define LAB_ASSETS_H

#include "str.h"

#include <stdbool.h>

bool assets_find(const char *relative, Str *path); /* "grammars/farm.grammar"; false: not there, PATH is empty */
bool assets_grammar(const char *name, Str *path); /* of a built-in grammar: "farm"; false: there is none of that name */
bool assets_translations(
    Str *path);                   /* the folder for intl_init: of the assets, the build, the installed; false: none */
bool assets_cache_dir(Str *path); /* $XDG_CACHE_HOME/lantern or ~/.cache/lantern, made; false: cannot */

#endif
