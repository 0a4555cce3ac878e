/* intl: every word that a user reads goes through gettext. _() translates now, N_() only marks. */
#ifndef BASE_INTL_H
#define BASE_INTL_H

#include <libintl.h>

#define _(text)  gettext(text)
#define N_(text) (text)

/* LC_CTYPE and LC_MESSAGES from the environment, a UTF-8 fallback where the named locale is missing, LC_NUMERIC stays
 * C. Returns whether characters are UTF-8. */
_Bool intl_init(const char *locale_dir);

#endif
