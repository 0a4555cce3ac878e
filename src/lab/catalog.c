#include "catalog.h"

#include "bug.h"
#include "experiment.h"
#include "intl.h"
#include "run.h"
#include "shape.h"
#include "utf8.h"

#include <string.h>

#define EXPERIMENT(name) &experiment_##name,
static const Experiment *const experiments[] = {
#include "experiments.def"
};
#undef EXPERIMENT

int catalog_count(void) {
    return (int)(sizeof experiments / sizeof *experiments);
}

const CatalogEntry *catalog_at(int i) {
    BUG_ON(i < 0 || i >= catalog_count());
    return &experiments[i]->entry;
}

const CatalogEntry *catalog_find(const char *id) {
    for (int i = 0; i < catalog_count(); i++)
        if (strcmp(catalog_at(i)->id, id) == 0) return catalog_at(i);
    return NULL;
}

const char *catalog_likely(const char *id) {
    const char *best = NULL;
    for (int i = 0; i < catalog_count(); i++) best = str_likelier(id, best, catalog_at(i)->id);
    return best;
}

/* Who knows what the options of these rows come to. */
static OptionFollow follow_of(const Option *rows) {
    if (rows == run_model_rows) return run_follow;
    if (rows == shape_option_rows) return shape_follow;
    return rows == experiment_common_options ? experiment_common_follow : NULL;
}

Options *catalog_options(const CatalogEntry *e) {
    const Experiment *x = (const Experiment *)e;
    Options *o = options_new(e->options[0]);
    for (int i = 1; e->options[i]; i++) options_join(o, e->options[i]);
    if (x->follow) options_let_follow(o, x->follow);
    for (int i = 0; e->options[i]; i++)
        if (follow_of(e->options[i])) options_let_follow(o, follow_of(e->options[i]));
    return o;
}

int catalog_tables(const CatalogEntry *e) {
    int n = 0;
    while (e->tables[n].name) n++;
    return n;
}

bool catalog_is_on_request(const CatalogEntry *e, const char *table) {
    for (int i = 0; e->on_request && e->on_request[i]; i++)
        if (strcmp(e->on_request[i], table) == 0) return true;
    return false;
}

bool catalog_leaves_out(const CatalogEntry *e, const Table *t) {
    return table_rows(t) == 0 && catalog_is_on_request(e, table_name(t));
}

bool catalog_is_time(const char *column) {
    static const char *const of_time[] = {"tokens_per_s", "tokens_per_second",    "milliseconds", "time_share",
                                          "ratio",        "seconds_per_sentence", "seconds"};
    for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
        if (strcmp(column, of_time[i]) == 0) return true;
    return false;
}

/* Names of files may be any bytes; all other texts end up in tables. */
static Status check_texts(const Options *o) {
    for (int i = 0; i < options_count(o); i++) {
        const Option *row = options_row(o, i);
        const char *value = options_value(o, row->name);
        if (row->type == OPTION_TEXT && strcmp(row->unit, "file") != 0 && !utf8_valid(value, strlen(value), NULL))
            return status_usage(_("%s: the text is not UTF-8"), row->name);
    }
    return status_ok();
}

Status catalog_check(const CatalogEntry *e, const Options *o) {
    const Experiment *x = (const Experiment *)e;
    STATUS_TRY(check_texts(o));
    return x->check ? x->check(o) : status_ok();
}
