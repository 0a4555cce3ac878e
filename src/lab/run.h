/* run: one training run: configuration, corpus, parameters, optimiser, step. The live run and lm.train are this same
 * code. Private to the laboratory.
 *
 * run_step = run_gradient + run_update. Everything that a step needs is recomputed from (seed, step), so a run that is
 * set to the parameters, moments and number of an earlier step goes on with the same bits. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "io/checkpoint.h"
#include "model.h"
#include "optim.h"
#include "option.h"
#include "shard.h"
#include "status.h"
#include "table.h"
#include "text/corpus.h"

typedef struct Run Run;

#define RUN_TEST_SENTENCES 2000
#define RUN_NO_MODEL       "none" /* of model= and tokenizer=, where there are such options: as if they were not given */

extern const Option run_model_rows[]; /* arch (a preset), then every field of ModelConfig */
/* corpus, tokens, merges, sentences, epochs, batch, lr, lr_min, schedule, warmup, weight_decay, clip, optimizer. */
extern const Option run_plan_rows[];
Options *run_options(void); /* both, at their defaults */
/* clang-format off */
#define RUN_CURVE_COLUMNS              \
    {"step", COLUMN_INT, ""},          \
    {"tokens", COLUMN_INT, ""},        \
    {"loss", COLUMN_DOUBLE, "nats"},   \
    {"learning_rate", COLUMN_DOUBLE, ""}, \
    {"grad_norm", COLUMN_DOUBLE, ""},  \
    {"tokens_per_s", COLUMN_DOUBLE, "tokens/s"}
/* clang-format on */
extern const Column run_curve_columns[];
extern const Column run_model_columns[]; /* part,parameters */

CorpusTokens run_tokens(const Options *o); /* what tokens= and merges= say */
/* The model that O describes for a corpus of VOCAB tokens. A field not given follows from the others, never from a
 * preset's number: kv_heads is heads (gpt) or half of them (modern, heads even), head_dim is d / heads, d_ff is 4 d, or
 * 8/3 d rounded up to a multiple of 16 when the feed-forward is gated (Shazeer 2020), norm_eps is 1e-5 (layer) or 1e-6
 * (rms). */
Status run_config(const Options *o, int vocab, ModelConfig *out) STATUS_CHECKED;
/* The same to be counted: a vocabulary that is not given is the preset's, and size does not matter (config_check says
 * what can be built). */
Status run_shape(const Options *o, ModelConfig *out) STATUS_CHECKED;
Status run_set_fields(const Options *o, ModelConfig *c) STATUS_CHECKED; /* those that are given, by name */
Status run_split_heads(ModelConfig *c) STATUS_CHECKED;                  /* head_dim is d / heads */
/* The settings of the optimiser that O describes; lr_min is a tenth of lr unless it is given. */
OptimConfig run_optim_config(const Options *o);
/* What the options of run_model_rows and run_plan_rows come to that are not set (see options_let_follow). */
void run_follow(const Options *o, const char *name, Str *out);
/* Refuses what cannot be built, with the reason, before anything long is done. */
Status run_check(const Options *o) STATUS_CHECKED;
Status run_check_plan(const Options *o) STATUS_CHECKED; /* of that the corpus and the learning rate */
/* Makes corpus and model; where O asks for fine-tuning (tune.h), the model is that of the file, whose tokenizer cuts
 * the corpus. SEED and THREADS are resolved. */
Status run_new(const Options *o, uint64_t seed, int threads, Run **out) STATUS_CHECKED;
/* What a run begins with in place of what its options say. All zero: nothing. */
typedef struct {
    const char *start, *set; /* of the corpus's grammar (language_new); NULL: its first rule, nothing is set */
    Corpus *corpus;          /* borrowed, never changed, may serve several runs at once; NULL: that of the options */
    long steps;              /* of the plan; 0: epochs= of them */
    const Model *model;      /* whose parameters it begins with, of the same shape; NULL: drawn with the seed. Not of a
                              * model that is fine-tuned */
} RunStart;
/* run_new with such a beginning; START may be NULL. */
Status run_new_with(const Options *o, const RunStart *start, uint64_t seed, int threads, Run **out) STATUS_CHECKED;
/* A run at the step of a checkpoint: its model, moments, seed and plan; what the file does not say (batch, sentences)
 * is as in O. The corpus is that of the grammar in the file, else the one that the file names, else that of O, if it
 * has the file's vocabulary. Without one, or without moments in the file, there is a model to look at and no step to
 * go: the plan ends where the file does, and run_planned says what it was. A model of others (loaded.h) is only read
 * here; TOKENIZER (NULL: its own) goes with it. */
Status run_open(const char *path, const char *tokenizer, const Options *o, int threads, Run **out) STATUS_CHECKED;
/* Puts R, which has made no step, where C was written: parameters, moments, step. False: C is of another shape, R is
 * as it was. */
bool run_go_to(Run *r, const Checkpoint *c);
/* A second state of the same run, at the same step, with the same recipe: own parameters and optimiser; the corpus is
 * R's, which must live longer. */
Run *run_twin(Run *r);
void run_free(Run *r);

typedef struct {
    long step;   /* counted from 1: the number of the update just made, or not made when diverged */
    long tokens; /* real tokens of this batch */
    double loss, learning_rate, grad_norm; /* nats per token; before clipping */
    double seconds;                        /* that the step took */
    bool diverged;       /* loss or norm is not finite: parameters, moments and run_done are as before */
    char bad_tensor[64]; /* where it began */
} RunStep;
RunStep run_step(Run *r);
/* The halves of a step, for a look in between. The batch's gradient is in run_gradient_of. */
RunStep run_gradient(Run *r);
void run_update(Run *r, const RunStep *s);

/* What the last update did. While it is watched each keeps the parameters as they were. */
typedef struct {
    long step;                       /* that it led to */
    const real *before, *grad;       /* [parameters] before it; the batch's gradient before clipping; borrowed */
    bool adamw;                      /* else SGD */
    double learning_rate, grad_norm; /* as in RunStep */
    double clip_factor;              /* that the gradient was multiplied by */
} RunUpdate;
void run_watch_updates(Run *r, bool watched); /* from the next step on; costs a copy of the parameters before it */
/* False: nobody watched the update that led to this step, or none did. */
bool run_last_update(const Run *r, RunUpdate *out);
/* R has the parameters of OF, and its last update too, if that is known. */
void run_take_update(Run *r, const Run *of);
const real *run_gradient_of(const Run *r); /* [parameters] */

bool run_reads_only(const Run *r);              /* somebody else's model: it has one step, 0, and no shards */
bool run_tunes(const Run *r);                   /* somebody else's model, which learns on */
bool run_keeps_past(const Run *r);              /* else there is no memory to go back */
const char *run_origin(const Run *r);           /* where somebody else's model was read; NULL: it is our own */
const char *run_origin_tokenizer(const Run *r); /* NULL: the model's own */
int run_part(const Run *r);                     /* tokens of the longest part of a text that it learns from */
int run_threads(const Run *r);
const char *run_missing(const Run *r); /* a sentence: why an opened run has no corpus; "" when it has one */
long run_done(const Run *r);           /* updates made */
long run_steps(const Run *r);          /* of the plan */
long run_planned(const Run *r);        /* the same, also where they cannot be made: its corpus is missing */
long run_per_epoch(const Run *r);
long run_steps_of_epoch(const Run *r, int batch); /* the same with BATCH sentences a step */
long run_sentences(const Run *r);                 /* as sentences= says them; 0: its corpus is missing */
const char *run_spec(const Run *r);               /* where the corpus comes from, as corpora_load takes it */
Model *run_model(Run *r);
const Model *run_read_model(const Run *r);
Optim *run_optim(Run *r);
Corpus *run_corpus(Run *r);
const Corpus *run_read_corpus(const Run *r);
Shards *run_shards(Run *r);
uint64_t run_seed(const Run *r);

/* What of a run may be another between two steps while its parameters stay. A run that followed the same recipes from
 * the same steps on has the same bits. */
typedef struct {
    ModelConfig model;
    OptimConfig optim;
    int batch;
    long steps; /* of the plan */
} Recipe;
Recipe run_recipe(const Run *r);
/* From the next step on. The slices are those of the run (model_same_slices). Moments stay but where the optimiser is
 * another kind: they are begun again from 0. */
void run_follow_recipe(Run *r, const Recipe *recipe);

/* Mean nll and exact floor (NaN without a grammar) over the first N test sentences (N < 0: all), nats per prediction.
 * The floor of a sentence is worked out once. STATUS_CANCELLED when the work of the thread is (cancel.h). */
Status run_test_nll(Run *r, long n, double *nll, double *floor_nll, long *tokens) STATUS_CHECKED;
/* Mean nll and floor over the first N training sentences. */
Status run_train_nll(Run *r, long n, double *nll, double *floor_nll, long *tokens) STATUS_CHECKED;
/* A checkpoint that a run can go on from. */
Status run_save(Run *r, const char *path) STATUS_CHECKED;
/* The model for other programs, or a checkpoint: a folder, or a PATH that ends in /, gets the Hugging Face layout; a
 * fine-tuned model of llama2.c whose PATH ends in .bin becomes such a file again; of a model that is only read, where
 * it lies. Never in place of what was read. *unsaid as of model_folder_write. */
Status run_export(Run *r, const char *path, const char **unsaid) STATUS_CHECKED;
/* Refuses what run_export would, before anything is trained: a model of C that was read from ORIGIN (NULL: it is our
 * own) with the tokenizer of that file (NULL: its own). Writes nothing. */
Status run_export_check(const char *origin, const char *tokenizer, const ModelConfig *c,
                        const char *path) STATUS_CHECKED;

/* A row of a table of run_curve_columns. */
void run_add_curve(Table *curve, const RunStep *s);
/* How many parameters each part has, the last row is the total; a new table "model". */
Table *run_model_table(const Model *m);

/* The whole state of a step: parameters, moments, counters. For history and for replay. */
typedef struct {
    long done;
    long updates;
    real *x, *m, *v; /* [count] each */
    size_t count;
} RunMemory;
void run_remember(const Run *r, RunMemory *m); /* allocates on first use of M (zeros) */
void run_recall(Run *r, const RunMemory *m);
void run_memory_done(RunMemory *m);

#endif
