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

typedef struct {
    char filter[LAB_FILTER];
    int at;                    /* row of the filtered list */
    bool inside;               /* keys go to the right side */
    int tab;                   /* LAB_OPTIONS, LAB_FIGURE, LAB_FIRST_TABLE + i */
    long first;                /* row of the table at the top */
    const CatalogEntry *entry; /* the one on the right; NULL: none yet */
    Form *form;                /* its options */
    Job *job;                  /* of `ran`; NULL: nothing was run */
    const CatalogEntry *ran;
    StudyState study;         /* of the job, as of the last tick */
    Table *table[LAB_TABLES]; /* rows published so far */
    int tables;
    double drawn; /* when the progress was last drawn, seconds */
} LabState;

int lab_list_count(const LabState *s);
const CatalogEntry *lab_list_at(const LabState *s, int i); /* of the filtered list; NULL outside */
bool lab_has_tab(const LabState *s, int tab);
const Table *lab_table(const LabState *s); /* under the tab shown; NULL when the tab is no table or nothing ran */

void lab_draw(const PaneContext *x, Canvas *c);
typedef struct {
    Rect list, head, tabs, content, progress; /* height 0: not drawn */
} LabPlan;
LabPlan lab_plan(const LabState *s, Detail detail, int w, int h);
int lab_list_first(const LabState *s, int room); /* row of the list at the top */

#endif
