/* experiment: a row of the catalogue and the function behind it. Private to the laboratory.
 *
 * Adding one: a file or a function in exp_*.c that fills a static Experiment, and a row in experiments.def. */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include "study.h"

typedef struct {
    CatalogEntry entry; /* first: an entry of the catalogue is an experiment */
    /* Checks what rows of options cannot (heads % kv_heads, files that must be there) before anything is written;
     * exit 2. */
    Status (*check)(const Options *o);
    Status (*run)(Study *s);
    OptionFollow follow;        /* what its own options come to when they are not set; NULL: nothing */
    void (*settle)(Options *o); /* assumes what follows from those that were given (options_assume); NULL: nothing */
} Experiment;

#define EXPERIMENT(name) extern const Experiment experiment_##name;
#include "experiments.def"
#undef EXPERIMENT

extern const Option experiment_common_options[]; /* seed, threads */
void experiment_common_follow(const Options *o, const char *name, Str *out);

#endif
