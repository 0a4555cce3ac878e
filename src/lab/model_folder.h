/* model_folder: a folder in the Hugging Face layout that lm.train writes: config.json, model.safetensors and
 * tokenizer.json for everybody, and beside them what only lantern can say: its vocabulary (lantern.vocab: a line
 * "tokens=word", then as vocab_store has it) and the grammar that knows the truth (lantern.grammar). A model of others
 * that learned on keeps its tokenizer's files instead. Private to the laboratory. */
#ifndef LAB_MODEL_FOLDER_H
#define LAB_MODEL_FOLDER_H

#include "model.h"
#include "status.h"
#include "text/corpus.h"

/* Whether a model that is to be saved at PATH goes into a folder: one that is there, or a name that ends in /. */
bool model_folder_is(const char *path);
/* Refuses what cannot be written: a shape that the layout cannot say, a folder that cannot be made. C NULL: the shape
 * is not known yet. Makes nothing. */
Status model_folder_check(const char *path, const ModelConfig *c) STATUS_CHECKED;
/* *unsaid: why there is no tokenizer.json, marked for gettext; NULL: there is one. */
Status model_folder_write(const char *path, const Model *m, const Corpus *corpus, const char **unsaid) STATUS_CHECKED;

/* What stands beside a model of at most MOST tokens: *v NULL where there is no lantern.vocab, *grammar (the text,
 * owned) where there is no lantern.grammar. */
Status model_folder_read(const char *folder, int most, Vocab **v, char **grammar) STATUS_CHECKED;

#endif
