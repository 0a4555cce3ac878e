/* recipe: what a change of a run's options comes to: nothing, another recipe for the same parameters, or other
 * parameters. Decided by the slices of both models, not by the names of the options. Private to the laboratory. */
#ifndef LAB_RECIPE_H
#define LAB_RECIPE_H

#include "lab.h"
#include "run.h"

/* As lab_compare. VOCAB: tokens of the corpus that both options speak of. */
Status recipe_compare(const Options *before, const Options *after, int vocab, LabChange *change,
                      Str *why) STATUS_CHECKED;
/* The recipe of AFTER for R, whose options BEFORE are; the comparison found that its parameters stay. Refuses a plan
 * that would end before the step that R is at. */
Status recipe_of(const Run *r, const Options *before, const Options *after, Recipe *out) STATUS_CHECKED;
const char *recipe_arch(const Run *r); /* the preset that its model is nearest to */
/* Sets O to what R, which was opened from a file, is made of, so that O describes it; model= and tokenizer= aside. Of a
 * model that is only read nothing is set. */
void recipe_describe(const Run *r, Options *o);
/* The same but for its corpus and plan, which are those that O has. */
void recipe_describe_model(const Run *r, Options *o);
/* Adds the model's fields that O gives other values than its preset has, but for those that the head line shows
 * anyway: "window=3 softcap=20"; nothing when there is none. */
void recipe_words(const Options *o, Str *out);

/* Whether both learn from the same batches, whatever their options call them. */
bool recipe_same_batches(const Run *a, const Run *b);
/* Where both come to the same O says it as A does, given or not. */
void recipe_say_as(const Options *a, Options *o);
/* The option that makes other batches, or another number of them, in AFTER than in BEFORE; NULL: none does. */
const char *recipe_other_batches(const Options *before, const Options *after);
/* Options whose text is another in B than in A, in the order of the rows; NULL after the last. */
const char *recipe_next_difference(const Options *a, const Options *b, int *at);

#endif
