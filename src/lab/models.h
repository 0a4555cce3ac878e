/* models: where an experiment gets a trained model from: "gpt" and "modern" are trained on the farm at first use and
 * kept in the cache folder (trainings.h, kept.h); a path is a checkpoint, or a model of others (loaded.h). Private to
 * the laboratory. */
#ifndef LAB_MODELS_H
#define LAB_MODELS_H

#include "model.h"
#include "scene.h"
#include "str.h"
#include "study.h"
#include "text/grammar.h"
#include "text/vocab.h"

typedef struct {
    Model *model;        /* NULL when only the language was asked for */
    Vocab *vocab;        /* NULL: the file has none, ids are all there is */
    Grammar *grammar;    /* NULL: no truth */
    Language *language;  /* NULL: no truth */
    bool foreign;        /* somebody else's, only read */
    char no_vocab[500];  /* why it has none; "": nobody knows */
    char no_truth[500];  /* a sentence that says why; "" when there is one */
    char truth_row[500]; /* the same for a table: in English whatever the language */
    char name[64];       /* what a title shows: "gpt" or the file's name */
    char path[512];      /* the file it came from or was kept in; "" when not kept */
} TrainedModel;

extern const Option models_gpt_option_rows[];    /* model= with gpt as default (lecture 3) */
extern const Option models_modern_option_rows[]; /* with modern (lecture 4, seminar 3) */
extern const Option models_ids_option_rows[];    /* ids= */

/* Checks model= without training anything; and that not both ids= and TEXT= (an option's name, NULL: none) were given.
 */
Status models_check(const Options *o, const char *text) STATUS_CHECKED;
/* Trains when needed, telling the study how far it is; cancels with it. A row of `about` says what the model is. */
Status models_get(Study *s, TrainedModel *out) STATUS_CHECKED;
/* Vocabulary and language of the same model; trains nothing. STATUS_USAGE when the model has no language. */
Status models_get_language(Study *s, TrainedModel *out) STATUS_CHECKED;
void models_done(TrainedModel *m);
/* Where the cache keeps a preset trained with SEED; false: there is no folder for it. */
bool models_cache_path(const char *preset, uint64_t seed, Str *path);

/* A prompt: <s> and the words, all of which go in. A sentence: <s>, the words, </s>; the last is only predicted. Of a
 * model of others: what its tokenizer puts before every text, and the text; nothing behind it. */
typedef enum { MODELS_PROMPT, MODELS_SENTENCE } ModelsKind;
/* The tokens that ids= (taken as they are) or the option TEXT name. Refused with a sentence when the vocabulary does
 * not have them or the context cannot take them. *ids is allocated. */
Status models_ids(const TrainedModel *m, const Options *o, const char *text, ModelsKind kind, int **ids,
                  int *n) STATUS_CHECKED;
/* The same of a text that is no option. */
Status models_text_ids(const TrainedModel *m, const char *text, ModelsKind kind, int **ids, int *n) STATUS_CHECKED;
/* The id that ends a text; -1: none is known. */
int models_end(const TrainedModel *m);
/* Sum of log p of ids[from..n-1] given those before, from >= 1; n - 1 tokens go in. Nats. */
double models_log_p(const TrainedModel *m, const int *ids, int n, int from);
/* The model looking at all of ids[0..n-1]. */
Scene models_scene(const TrainedModel *m, const int *ids, int n, uint64_t seed);

#endif
