/* beams: the tree of a beam search as tables, the same for the live screen and for decode.beam. Private to the
 * laboratory.
 *
 * tree: node,parent,depth,token,id,log_p,score,state,true_log_p: nodes from 0, those after the prompt have no parent;
 * depth counts generated tokens. best: rank,text,log_p,score,true_log_p: the finished sentences, the open ones when
 * none is finished. stop: reason,step: the last step, from 0. What the language does not know is an empty cell. */
#ifndef LAB_BEAMS_H
#define LAB_BEAMS_H

#include "decode/beam.h"
#include "table.h"
#include "text/vocab.h"

extern const Column beams_tree_columns[], beams_best_columns[], beams_stop_columns[];

typedef struct {
    const Beam *beam;
    const Vocab *vocab; /* NULL: tokens have no names */
    const int *ids;     /* [n] the prompt */
    int n;
    const double *true_log_p; /* of each node; NULL: no truth */
} BeamView;

void beams_add_tree(Table *t, const BeamView *v);
void beams_add_best(Table *t, const BeamView *v);
void beams_add_stop(Table *t, const Beam *b);
/* The text of the prompt and of the path to NODE. */
void beams_text(const BeamView *v, int node, Str *out);

#endif
