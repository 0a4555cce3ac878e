/* tune: fine-tuning: a model of others (loaded.h) learns on from the numbers of its file, on a text that its own
 * tokenizer cuts. Which options say so, what follows from them, and what memory it takes. Private to the laboratory. */
#ifndef LAB_TUNE_H
#define LAB_TUNE_H

#include "config.h"
#include "option.h"
#include "status.h"
#include "text/corpus.h"

#include <stddef.h>

/* Whether O, which need not have all of these options, names a model of others in model= and was given a corpus=. */
bool tune_wanted(const Options *o);
const char *tune_model(const Options *o);     /* the path; NULL: none is named */
const char *tune_tokenizer(const Options *o); /* NULL: the model's own */
/* What follows of O is assumed (options_assume): small steps, few sentences of one, a context that this machine can
 * bear, held at first. Where nothing is fine-tuned, no such thing is assumed any more. To be called when the user's
 * options are known. */
void tune_settle(Options *o);
/* Refuses what cannot be fine-tuned: options of a model that is not there yet, a context that it does not have. */
Status tune_check(const Options *o) STATUS_CHECKED;

Status tune_refuses_field(const char *name, const char *model) STATUS_CHECKED; /* such an option, by its name */

/* At most MOST sentences of S, in work of about FLOP floating-point operations of a model of PARAMETERS; at least one.
 */
long tune_affordable(size_t parameters, const Sentences *s, double flop, long most);

/* Bytes of memory. */
typedef struct {
    size_t run;  /* to train and look */
    size_t past; /* to go back as well */
} TuneNeed;
/* TOKENS of a batch at most. */
TuneNeed tune_need(const ModelConfig *c, long tokens);
long tune_tokens(const Options *o, const ModelConfig *c); /* of a batch that O asks for, at most */
/* Refuses, with figures, what has no room; *past: whether there is room to go back. */
Status tune_room(const ModelConfig *c, long tokens, bool *past) STATUS_CHECKED;
/* The same of a run that is there already, whose batches grow from BEFORE to AFTER tokens. */
Status tune_room_for(const ModelConfig *c, long before, long after) STATUS_CHECKED;

#endif
