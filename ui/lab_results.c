#include "lab_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void free_result(LabResult *r) {
    for (int i = 0; i < r->tables; i++) table_free(r->table[i]);
    *r = (LabResult){0};
}

/* The result of the last run goes to those from before, where the oldest makes room. */
static void keep_result(LabState *s) {
    if (!s->now.ran) return;
    if (s->kepts == LAB_KEPT) free_result(&s->kept[--s->kepts]);
    memmove(s->kept + 1, s->kept, (size_t)s->kepts * sizeof *s->kept);
    s->kept[0] = s->now;
    s->kepts++;
    s->now = (LabResult){0};
}

/* "n=200 seed=2" */
static void note_asked(const Options *o, LabResult *r) {
    Str text;
    str_init(&text);
    for (int i = 0; i < options_count(o); i++) {
        const char *name = options_row(o, i)->name;
        if (options_is_given(o, name)) str_addf(&text, "%s%s=%s", text.len ? " " : "", name, options_value(o, name));
    }
    snprintf(r->asked, sizeof r->asked, "%s", text.s);
    str_done(&text);
}

void results_drop(LabState *s) {
    for (int k = -1; k < s->kepts; k++) free_result(k < 0 ? &s->now : &s->kept[k]);
    s->kepts = 0;
}

bool results_look(LabState *s) {
    const Study *study = job_study(s->job);
    StudyState before = s->now.study;
    s->now.study = study_state(study);
    bool news = before.running != s->now.study.running || before.finished != s->now.study.finished ||
                strcmp(before.what, s->now.study.what) != 0;
    int n = study_tables(study);
    for (int i = 0; i < n && i < LAB_TABLES; i++) {
        Table *t = study_look(study, i);
        if (i < s->now.tables) {
            news |= table_rows(t) != table_rows(s->now.table[i]);
            table_free(s->now.table[i]);
        } else {
            s->now.tables++;
            news = true;
        }
        s->now.table[i] = t;
    }
    return news;
}

void results_begin(LabState *s) {
    if (s->job) (void)results_look(s); /* to its end */
    job_free(s->job);
    keep_result(s);
    s->back = 0;
    s->now.ran = s->entry;
    note_asked(form_options(s->form), &s->now);
    Study *study = study_new(s->entry, options_copy(form_options(s->form)));
    study_keep_models(study, true);
    s->job = job_start(study);
    s->now.study = (StudyState){.running = true, .done = (double)NAN, .seconds_left = (double)NAN};
}
