/* intl: every word that a user reads goes through gettext. _() translates now, N_() only marks. */
#ifndef BASE_INTL_H
#define BASE_INTL_H

#include <libintl.h>

#define _(text)  gettext(text)
#define N_(text) (text)

/* LC_CTYPE and LC_MESSAGES from the environment; a locale that it names as UTF-8 but that is not installed is replaced
 * by C.UTF-8, with LANGUAGE set to its name so that it is still translated. LC_NUMERIC stays C. Call it before any
 * thread starts. Returns whether characters are UTF-8. */
_Bool intl_init(const char *locale_dir);

#endif
