/* lab_results: what the experiments of the laboratory pane have come to: the running one and those from before. */
#ifndef UI_LAB_RESULTS_H
#define UI_LAB_RESULTS_H

#include "lab_view.h"

/* Runs the experiment on the right with its options; the result of the last one goes to those from before. */
void results_begin(LabState *s);
bool results_look(LabState *s); /* takes the rows published so far; whether there are more than before. S has a job */
void results_drop(LabState *s);

#endif
