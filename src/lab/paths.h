/* paths: greedy paths as tables, the same for the live screen and for decode.greedy. Private to the laboratory.
 *
 * path: step,token,id,p,log_p,true_p, generated tokens only. sentence: of,text,log_p,true_log_p, the sums over what was
 * generated. What the language does not know is an empty cell. */
#ifndef LAB_PATHS_H
#define LAB_PATHS_H

#include "decode/greedy.h"
#include "table.h"

extern const Column paths_step_columns[];
extern const Column paths_sentence_columns[];

void paths_add_steps(Table *t, const Vocab *v, const Path *p);
/* PREFIX: the words before the path. */
void paths_add_sentence(Table *t, const Vocab *v, const char *of, const char *prefix, const Path *p);
/* A sentence whose text and sums are known already; a NaN is an empty cell. */
void paths_add_text(Table *t, const char *of, const char *text, double log_p, double true_log_p);

#endif
