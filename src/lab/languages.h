/* languages: which language an experiment is about, by the options grammar=, start= and set=. Private to the
 * laboratory. */
#ifndef LAB_LANGUAGES_H
#define LAB_LANGUAGES_H

#include "option.h"
#include "study.h"
#include "text/grammar.h"

#define LANGUAGES_END "</s>" /* how tables call the end of a sentence */

extern const Option languages_option_rows[]; /* grammar, start, set */

/* NAME is built in (farm, morph, stories, tags ...) or a file. Errors are of the exit 2 kind and name what is wrong. */
Status languages_read(const char *name, Grammar **out) STATUS_CHECKED;
/* What the three options say. */
Status languages_open(const Options *o, Grammar **grammar, Language **language) STATUS_CHECKED;
void languages_close(Grammar *grammar, Language *language);
Status languages_check(const Options *o) STATUS_CHECKED; /* for Experiment.check: they can be opened */
void languages_conventions(Study *s);                    /* rows of `about` that every exact probability rests on */

#endif
