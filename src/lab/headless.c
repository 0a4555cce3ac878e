#include "headless.h"

#include "clock.h"
#include "csvfile.h"
#include "intl.h"
#include "mem.h"
#include "study.h"
#include "utf8.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const double tick = 0.02;       /* seconds between two looks at the study */
static const double patience = 0.12;   /* seconds to wait for a study that was told to stop */
static const double line_every = 0.2;  /* seconds between two states of the progress line on a terminal */
static const double print_every = 1.0; /* and elsewhere, where each is a line */

/* ---- where the tables go ---- */

Status headless_print(FILE *out, const Str *text) {
    errno = 0;
    if (fwrite(text->s, 1, text->len, out) == text->len && fflush(out) == 0) return status_ok();
    if (errno == EPIPE) return status_failed("%s", "");
    return status_failed(_("cannot write '%s': %s"), _("standard output"), strerror(errno ? errno : EIO));
}

/* The number of the table to write, by name; -1: there is none. */
static int table_number(const CatalogEntry *e, const char *name) {
    if (!name) return 0;
    int n = catalog_tables(e);
    for (int i = 0; i < n; i++)
        if (strcmp(e->tables[i].name, name) == 0) return i;
    return strcmp(name, "about") == 0 ? n : -1;
}

static Status no_such_table(const CatalogEntry *e, const char *name) {
    Str names;
    str_init(&names);
    for (int i = 0; i < catalog_tables(e); i++) str_addf(&names, "%s, ", e->tables[i].name);
    Status s = status_usage(_("there is no table '%s'; the tables are %sabout"), name, names.s);
    str_done(&names);
    return s;
}

static Status check_target(const Headless *h) {
    bool stream = h->csv && strcmp(h->csv, "-") == 0;
    if (h->table && !stream) return status_usage(_("--table goes with --csv -"));
    if (h->table && table_number(h->entry, h->table) < 0) return no_such_table(h->entry, h->table);
    if (h->csv && !stream) return csvfile_check_folder(h->csv);
    return status_ok();
}

static Status write_stream(const Headless *h, const Study *study) {
    Table *t = study_look(study, table_number(h->entry, h->table));
    Status s = csvfile_write(t, h->out, _("standard output"));
    if (!status_is_ok(&s) && errno == EPIPE) s = status_failed("%s", "");
    table_free(t);
    return s;
}

/* Copies of the tables that were asked for, about the last of them, into TABLE [study_tables]; returns how many. */
static int look_at_tables(const Headless *h, const Study *study, Table **table) {
    int n = 0;
    for (int i = 0; i < study_tables(study); i++) {
        table[n] = study_look(study, i);
        if (catalog_leaves_out(h->entry, table[n])) {
            table_free(table[n]);
        } else {
            n++;
        }
    }
    return n;
}

static void free_tables(Table **table, int n) {
    for (int i = 0; i < n; i++) table_free(table[i]);
    mem_free(table);
}

static Status write_folder(const Headless *h, const Study *study) {
    Table **table = MEM_ARRAY(Table *, (size_t)study_tables(study));
    int n = look_at_tables(h, study, table);
    Status s = csvfile_save_folder((const Table *const *)table, n, h->csv, h->entry->id);
    free_tables(table, n);
    return s;
}

static Status print_tables(const Headless *h, const Study *study) {
    Table **table = MEM_ARRAY(Table *, (size_t)study_tables(study));
    int n = look_at_tables(h, study, table);
    Str text;
    str_init(&text);
    str_addf(&text, "%s  %s  %s\n", h->entry->id, h->entry->section, _(h->entry->title));
    for (int i = 0; i < n - 1; i++) {
        str_add_char(&text, '\n');
        table_print(table[i], 0, -1, &text);
    }
    free_tables(table, n);
    Status s = headless_print(h->out, &text);
    str_done(&text);
    return s;
}

/* Nothing half-written: a folder gets tables only when all is done, a stream also what there is when it was stopped. */
static Status deliver(const Headless *h, const Study *study, Status result) {
    Status s = result;
    bool stream = h->csv && strcmp(h->csv, "-") == 0;
    if (result.code == STATUS_USAGE || (result.code != STATUS_OK && h->csv && !stream)) return result;
    if (result.code == STATUS_FAILED && stream) return result;
    if (!h->csv) {
        s = print_tables(h, study);
    } else if (stream) {
        s = write_stream(h, study);
    } else {
        s = write_folder(h, study);
    }
    return status_is_ok(&result) ? s : result;
}

/* ---- how far it is ---- */

typedef struct {
    FILE *err;
    bool on, terminal;
    double shown_at;
    bool visible; /* a line stands on the terminal */
} Progress;

static Progress progress_begin(const Headless *h) {
    bool terminal = isatty(fileno(h->err)) == 1;
    return (Progress){.err = h->err,
                      .on = h->progress == PROGRESS_ALWAYS || (h->progress == PROGRESS_ON_TERMINAL && terminal),
                      .terminal = terminal,
                      .shown_at = clock_now()};
}

static void progress_show(Progress *p, const Study *study) {
    double now = clock_now();
    if (!p->on || now - p->shown_at < (p->terminal ? line_every : print_every)) return;
    p->shown_at = now;
    StudyState state = study_state(study);
    Str line;
    str_init(&line);
    if (isfinite(state.done)) str_addf(&line, "%3.0f %%  ", 100 * state.done);
    str_add(&line, state.what);
    if (isfinite(state.seconds_left)) str_addf(&line, _("  %.0f s left"), ceil(state.seconds_left));
    if (p->terminal) {
        fprintf(p->err, "\r%.*s\033[K", (int)utf8_fit(line.s, 78), line.s);
    } else {
        fprintf(p->err, "%s\n", line.s);
    }
    fflush(p->err);
    p->visible = p->terminal;
    str_done(&line);
}

static void progress_end(Progress *p) {
    if (p->visible) fputs("\r\033[K", p->err);
    fflush(p->err);
}

/* ---- running ---- */

/* Waits for the end; *running: the study did not stop when it was told to. */
static Status wait_for_end(const Headless *h, Job *job, bool *running) {
    const Study *study = job_study(job);
    Progress progress = progress_begin(h);
    *running = false;
    while (!study_wait(study, tick)) {
        progress_show(&progress, study);
        if (!h->stopped()) continue;
        job_cancel(job);
        *running = !study_wait(study, patience);
        break;
    }
    progress_end(&progress);
    return *running ? status_cancelled() : study_state(study).status;
}

Status headless_run(const Headless *h, bool *running) {
    *running = false;
    Study *study = study_new(h->entry, h->options);
    Status s = check_target(h);
    if (!status_is_ok(&s)) {
        study_free(study);
        return s;
    }
    study_use_cache(study, !h->no_cache);
    Job *job = job_start(study);
    s = wait_for_end(h, job, running);
    s = deliver(h, study, s);
    StudyState state = study_state(study);
    if (*state.warning) fprintf(h->err, _("lantern: note: %s\n"), state.warning);
    if (version_warning()) fprintf(h->err, _("lantern: note: %s\n"), version_warning());
    if (!*running) job_free(job);
    return s;
}

/* ---- words about experiments ---- */

static void add_padded(Str *out, const char *text, int width) {
    str_add(out, text);
    int columns = utf8_columns(text);
    str_add_repeat(out, ' ', columns < width ? (size_t)(width - columns) : 0);
}

void headless_list(Str *out) {
    int widest_id = 0, widest_section = 0;
    for (int i = 0; i < catalog_count(); i++) {
        int id = utf8_columns(catalog_at(i)->id), section = utf8_columns(catalog_at(i)->section);
        if (id > widest_id) widest_id = id;
        if (section > widest_section) widest_section = section;
    }
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogEntry *e = catalog_at(i);
        add_padded(out, e->id, widest_id + 2);
        add_padded(out, e->section, widest_section + 2);
        str_addf(out, "%s\n", _(e->title));
    }
}

static void add_columns(Str *out, const TableSpec *t) {
    str_addf(out, "  %s: ", t->name);
    for (const Column *c = t->columns; c->name; c++) str_addf(out, "%s%s", c == t->columns ? "" : ",", c->name);
    str_add_char(out, '\n');
}

void headless_help(const CatalogEntry *e, Str *out) {
    str_addf(out, "%s  %s  %s\n%s\n\n", e->id, e->section, _(e->title), _(e->see));
    str_addf(out,
             _("lantern run %s [key=value ...] [--csv -|FOLDER] [--table NAME] [--progress] [--no-cache]\n\noptions\n"),
             e->id);
    Options *o = catalog_options(e);
    options_help(o, out);
    options_free(o);
    str_addf(out, _("\ntables\n"));
    for (const TableSpec *t = e->tables; t->name; t++) add_columns(out, t);
    str_add(out, _("  about: key,value\n"));
}
