#include "writing.h"

#include "bug.h"
#include "csvfile.h"
#include "file.h"
#include "mem.h"
#include "thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Tables that are there, or a pane that makes them. */
typedef struct {
    char *prefix;
    Table *table[PANE_TABLES];
    int tables;
    bool goes_with;       /* written only after others */
    const PaneType *pane; /* NULL: they are there */
    PaneContext
        context; /* of the pane: a reference to the snapshot, and with `cursor` and `state` in place of its own */
    Cursor cursor;
    void *state; /* a copy */
} Part;

struct Writing {
    char *target; /* a folder, or the file of `text` */
    Str text;     /* when there are no parts */
    Part *part;
    int parts, room;

    pthread_t thread;
    bool started;
    atomic_bool over;
    Status status; /* of the thread until it is over, like all below */
    int files, replaced;
    Str names;
};

Writing *writing_tables(const char *folder) {
    Writing *w = MEM_NEW(Writing);
    w->target = mem_text(folder);
    w->status = status_ok();
    atomic_init(&w->over, false);
    str_init(&w->text);
    str_init(&w->names);
    return w;
}

Writing *writing_text(const char *path, Str *text) {
    Writing *w = writing_tables(path);
    w->text = *text;
    str_init(text);
    return w;
}

/* ---- gathering ---- */

static void keep_context(Part *p, const PaneContext *x) {
    p->context = *x;
    p->context.snapshot = snapshot_ref(x->snapshot);
    p->cursor = *x->cursor;
    p->state = mem_zero(1, p->pane->state_size + 1);
    if (p->pane->state_size > 0) memcpy(p->state, x->state, p->pane->state_size);
}

bool writing_add_pane(Writing *w, const PaneType *pane, const PaneContext *x) {
    BUG_ON(w->started);
    if (!pane->tables) return false;
    Part p = {.pane = pane->tables_beside ? pane : NULL};
    if (!p.pane) p.tables = pane->tables(x, p.table);
    if (!p.pane && p.tables == 0) return false;
    p.prefix = mem_text(pane->prefix ? pane->prefix(x->state) : pane->name);
    if (p.pane) keep_context(&p, x);
    MEM_GROW(w->part, w->parts, w->room);
    w->part[w->parts++] = p;
    return true;
}

void writing_add_table(Writing *w, const char *prefix, Table *t) {
    BUG_ON(w->started);
    MEM_GROW(w->part, w->parts, w->room);
    w->part[w->parts++] = (Part){.prefix = mem_text(prefix), .table = {t}, .tables = 1, .goes_with = true};
}

static void part_done(Part *p) {
    for (int i = 0; i < p->tables; i++) table_free(p->table[i]);
    if (p->pane) snapshot_unref(p->context.snapshot);
    mem_free(p->state);
    mem_free(p->prefix);
}

void writing_free(Writing *w) {
    if (!w) return;
    for (int i = 0; i < w->parts; i++) part_done(&w->part[i]);
    mem_free(w->part);
    mem_free(w->target);
    str_done(&w->text);
    str_done(&w->names);
    mem_free(w);
}

/* ---- the thread ---- */

static void make_tables(Part *p) {
    PaneContext x = p->context;
    x.cursor = &p->cursor;
    x.state = p->state;
    p->tables = p->pane->tables(&x, p->table);
}

static Status write_part(Writing *w, Part *p, CsvFolder *f) {
    if (p->goes_with && w->files == 0) return status_ok();
    if (p->pane) make_tables(p);
    for (int i = 0; i < p->tables; i++) {
        STATUS_TRY(csvfile_folder_add(f, p->prefix, p->table[i]));
        str_addf(&w->names, "%s%s.%s.csv", w->files++ ? ", " : "", p->prefix, table_name(p->table[i]));
        table_free(p->table[i]); /* long ones should not all be there at once */
        p->table[i] = NULL;
    }
    return status_ok();
}

static Status write_tables(Writing *w) {
    CsvFolder *f;
    STATUS_TRY(csvfile_folder_begin(w->target, &f));
    Status s = status_ok();
    for (int i = 0; i < w->parts && status_is_ok(&s); i++) s = write_part(w, &w->part[i], f);
    if (status_is_ok(&s) && w->files > 0) return csvfile_folder_commit(f, &w->replaced);
    csvfile_folder_discard(f);
    return s;
}

static Status write_text(Writing *w) {
    FileWriter *out;
    STATUS_TRY(file_begin(w->target, &out));
    (void)fwrite(w->text.s, 1, w->text.len, file_stream(out)); /* a failure shows when it is committed */
    STATUS_TRY(file_commit(out));
    w->files = 1;
    str_add(&w->names, w->target);
    return status_ok();
}

static void *run(void *user) {
    Writing *w = user;
    w->status = w->parts > 0 ? write_tables(w) : write_text(w);
    atomic_store_explicit(&w->over, true, memory_order_release);
    return NULL;
}

void writing_start(Writing *w) {
    BUG_ON(w->started);
    w->started = thread_start(&w->thread, run, w);
    if (!w->started) run(w); /* no room for a thread: then it takes as long as it takes */
}

bool writing_is_over(const Writing *w) {
    return atomic_load_explicit(&w->over, memory_order_acquire);
}

Status writing_end(Writing *w, int *files, int *replaced, Str *names) {
    if (w->started) pthread_join(w->thread, NULL);
    BUG_ON(!writing_is_over(w));
    Status s = w->status;
    *files = status_is_ok(&s) ? w->files : 0;
    *replaced = w->replaced;
    if (*files > 0) str_add(names, w->names.s);
    writing_free(w);
    return s;
}
