/* screen: starts the projector: the terminal first, so that something stands at once; corpus, model and training begin
 * behind it. */
#ifndef SRC_SCREEN_H
#define SRC_SCREEN_H

#include "option.h"
#include "status.h"

#include <stdbool.h>

typedef struct {
    const char *theme, *map, *color; /* names as the user gave them; NULL: found out */
    const char *frames;              /* frames a second as text; NULL: 20 */
    const char *open;                /* a kept session to return to; NULL: none */
    const char *script;              /* a file that plays instead of a person, without a terminal; NULL: none */
    bool ascii, braille, no_mouse;
    bool utf8; /* what intl_init said */
} ScreenOptions;

/* Takes RUN over (checked values of lab_options). *signal_number: the signal that ended it, 0: the user did. The status
 * is also that of files that were still being written at the end. */
Status screen_run(const ScreenOptions *o, Options *run, int *signal_number) STATUS_CHECKED;

#endif
