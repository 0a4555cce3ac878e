/* lab_view: the picture of the laboratory pane: the list of experiments, and beside it the options, tables and figure
 * of one. The pane itself (pane_lab.c) holds the keys, the commands and the running job. */
#ifndef UI_LAB_VIEW_H
#define UI_LAB_VIEW_H

#include "catalog.h"
#include "form.h"
#include "pane.h"
#include "study.h"

#define LAB_FILTER 64
#define LAB_TABLES PANE_TABLES /* of one experiment, `about` included */

/* What stands on the right. Tabs from LAB_FIRST_TABLE on are the tables. */
enum { LAB_OPTIONS, LAB_FIGURE, LAB_FIRST_TABLE };

/* What a run of an experiment has come to. */
typedef struct {
    const CatalogEntry *ran;  /* NULL: nothing was run */
    char asked[160];          /* the options that were given, "n=200 seed=2" */
    StudyState study;         /* as of the last tick */
    Table *table[LAB_TABLES]; /* rows published so far */
    int tables;
} LabResult;

enum { LAB_KEPT = 16 }; /* results from before */

typedef struct {
    char filter[LAB_FILTER];
    bool narrowing; /* it is being typed; before that: */
    char filter_before[LAB_FILTER];
    const CatalogEntry *entry_before;
    bool inside_before;
    int at;                    /* row of the filtered list */
    bool inside;               /* keys go to the right side */
    bool whole;                /* the explanation shows in full, however little it leaves for the rest */
    int tab;                   /* LAB_OPTIONS, LAB_FIGURE, LAB_FIRST_TABLE + i */
    long first;                /* row of the table at the top */
    int column;                /* of the table, at the left; may be past the end: the last */
    const CatalogEntry *entry; /* the one on the right; NULL: none yet */
    Form *form;                /* its options */
    Job *job;                  /* of `now`; NULL: nothing was run */
    LabResult now, kept[LAB_KEPT]; /* kept: the newest first */
    int kepts, back; /* back: how many results of the experiment on the right are passed over */
    double drawn;    /* when the progress was last drawn, seconds */
} LabState;

int lab_list_count(const LabState *s);
const CatalogEntry *lab_list_at(const LabState *s, int i); /* of the filtered list; NULL outside */
bool lab_has_tab(const LabState *s, int tab);
const LabResult *lab_result(const LabState *s);                        /* of the experiment on the right; NULL: none */
int lab_results(const LabState *s, const CatalogEntry *e); /* how many there are */
const Table *lab_table(const LabState *s); /* under the tab shown; NULL when the tab is no table or nothing ran */

void lab_draw(const PaneContext *x, Canvas *c);
typedef struct {
    Rect list, head, tabs, content, progress; /* height 0: not drawn */
} LabPlan;
LabPlan lab_plan(const LabState *s, Detail detail, int w, int h);
int lab_list_first(const LabState *s, int room); /* row of the list at the top */

#endif
