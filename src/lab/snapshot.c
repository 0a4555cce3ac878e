#include "snapshot.h"

#include "bug.h"
#include "hash.h"
#include "mem.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What a thread was last given by a maker. */
typedef struct Group {
    pthread_t thread;
    Field *field[SNAPSHOT_GROUP];
    int fields;
    struct Group *next;
} Group;

typedef struct {
    SnapshotMaker calls;
    void *data;
    pthread_mutex_t lock;
    Group *group; /* one for each thread that has asked */
} Maker;

struct Snapshot {
    atomic_int references;
    SnapshotFacts facts;
    Field **field;
    uint64_t *field_hash; /* [fields] of their names: panes ask for hundreds in a picture */
    int fields, field_capacity, field_hash_capacity;
    Table **table;
    int tables, table_capacity;
    Snapshot **part;
    int parts, part_capacity;
    Maker *maker; /* NULL: none */
};

/* References are counted on snapshots that are otherwise constant. */
static atomic_int *counter(const Snapshot *s) {
    return &((Snapshot *)s)->references;
}

static uint64_t hash_of(const char *name) {
    return hash_bytes(HASH_START, name, strlen(name));
}

static const Field *find_hashed(const Snapshot *s, uint64_t hash, const char *name) {
    for (int i = 0; i < s->fields; i++)
        if (s->field_hash[i] == hash && strcmp(s->field[i]->name, name) == 0) return s->field[i];
    const Field *found = NULL;
    for (int i = 0; !found && i < s->parts; i++) found = find_hashed(s->part[i], hash, name);
    return found;
}

/* --- fields that are made when they are asked for --- */

static void group_clear(Group *g) {
    for (int i = 0; i < g->fields; i++) field_free(g->field[i]);
    g->fields = 0;
}

static Group *group_of_thread(Maker *m) {
    Group *g = m->group;
    while (g && !pthread_equal(g->thread, pthread_self())) g = g->next;
    if (g) return g;
    g = MEM_NEW(Group);
    g->thread = pthread_self();
    g->next = m->group;
    return m->group = g;
}

static const Field *find_in_group(const Group *g, const char *name) {
    for (int i = 0; i < g->fields; i++)
        if (strcmp(g->field[i]->name, name) == 0) return g->field[i];
    return NULL;
}

/* The old group goes before the new one is made: there may be no room for both. */
static const Field *make_in_group(const Maker *m, Group *g, const char *name) {
    group_clear(g);
    g->fields = m->calls.make(m->data, name, g->field);
    BUG_ON(g->fields < 1 || g->fields > SNAPSHOT_GROUP);
    const Field *made = find_in_group(g, name);
    BUG_ON(!made);
    return made;
}

static const Field *make_field(Maker *m, const char *name) {
    if (!m->calls.knows(m->data, name)) return NULL;
    BUG_ON(pthread_mutex_lock(&m->lock) != 0);
    Group *g = group_of_thread(m);
    const Field *found = find_in_group(g, name);
    if (!found) found = make_in_group(m, g, name);
    pthread_mutex_unlock(&m->lock);
    return found;
}

static const Field *find_made(const Snapshot *s, const char *name) {
    const Field *found = s->maker ? make_field(s->maker, name) : NULL;
    for (int i = 0; !found && i < s->parts; i++) found = find_made(s->part[i], name);
    return found;
}

static void maker_free(Maker *m) {
    if (!m) return;
    for (Group *g = m->group, *next; g; g = next) {
        next = g->next;
        group_clear(g);
        mem_free(g);
    }
    m->calls.free(m->data);
    pthread_mutex_destroy(&m->lock);
    mem_free(m);
}

void snapshot_set_maker(Snapshot *s, const SnapshotMaker *calls, void *data) {
    BUG_ON(s->maker != NULL);
    s->maker = MEM_NEW(Maker);
    s->maker->calls = *calls;
    s->maker->data = data;
    BUG_ON(pthread_mutex_init(&s->maker->lock, NULL) != 0);
}

/* --- building --- */

static const Field *find_field(const Snapshot *s, const char *name) {
    const Field *found = find_hashed(s, hash_of(name), name);
    return found ? found : find_made(s, name);
}

Snapshot *snapshot_new(const SnapshotFacts *facts) {
    Snapshot *s = MEM_NEW(Snapshot);
    atomic_init(&s->references, 1);
    s->facts = *facts;
    return s;
}

void snapshot_add_field(Snapshot *s, Field *f) {
    BUG_ON(find_hashed(s, hash_of(f->name), f->name) != NULL);
    MEM_GROW(s->field, s->fields, s->field_capacity);
    MEM_GROW(s->field_hash, s->fields, s->field_hash_capacity);
    s->field_hash[s->fields] = hash_of(f->name);
    s->field[s->fields++] = f;
}

void snapshot_add_table(Snapshot *s, Table *t) {
    BUG_ON(snapshot_table(s, table_name(t)) != NULL);
    MEM_GROW(s->table, s->tables, s->table_capacity);
    s->table[s->tables++] = t;
}

void snapshot_include(Snapshot *s, const Snapshot *part) {
    MEM_GROW(s->part, s->parts, s->part_capacity);
    s->part[s->parts++] = snapshot_ref(part);
}

void snapshot_share(Snapshot *s, const Snapshot *from) {
    BUG_ON(from->fields > 0 || from->tables > 0);
    for (int i = 0; i < from->parts; i++) snapshot_include(s, from->part[i]);
}

SnapshotFacts snapshot_facts_unknown(void) {
    return (SnapshotFacts){.state = RUN_LOADING,
                           .loss = (double)NAN,
                           .learning_rate = (double)NAN,
                           .grad_norm = (double)NAN,
                           .tokens_per_s = (double)NAN,
                           .test_nll = (double)NAN,
                           .floor_nll = (double)NAN,
                           .language_floor = (double)NAN,
                           .rival_loss = (double)NAN,
                           .rival_test_nll = (double)NAN,
                           .rival_floor_nll = (double)NAN,
                           .tau = 1,
                           .top_p = 1,
                           .saved = -1,
                           .probe_window = -1};
}

Snapshot *snapshot_ref(const Snapshot *s) {
    int before = atomic_fetch_add_explicit(counter(s), 1, memory_order_relaxed);
    BUG_ON(before < 1);
    return (Snapshot *)s;
}

static void snapshot_free(Snapshot *s) {
    for (int i = 0; i < s->fields; i++) field_free(s->field[i]);
    for (int i = 0; i < s->tables; i++) table_free(s->table[i]);
    maker_free(s->maker);
    for (int i = 0; i < s->parts; i++) snapshot_unref(s->part[i]);
    mem_free(s->part);
    mem_free(s->field);
    mem_free(s->field_hash);
    mem_free(s->table);
    mem_free(s);
}

void snapshot_unref(const Snapshot *s) {
    if (!s) return;
    int before = atomic_fetch_sub_explicit(counter(s), 1, memory_order_acq_rel);
    BUG_ON(before < 1);
    if (before == 1) snapshot_free((Snapshot *)s);
}

const SnapshotFacts *snapshot_facts(const Snapshot *s) {
    return &s->facts;
}

const Field *snapshot_field(const Snapshot *s, const char *name_format, ...) {
    char name[sizeof(((Field *)0)->name)];
    va_list arguments;
    va_start(arguments, name_format);
    vsnprintf(name, sizeof name, name_format, arguments);
    va_end(arguments);
    return find_field(s, name);
}

const Table *snapshot_table(const Snapshot *s, const char *name) {
    for (int i = 0; i < s->tables; i++)
        if (strcmp(table_name(s->table[i]), name) == 0) return s->table[i];
    const Table *found = NULL;
    for (int i = 0; !found && i < s->parts; i++) found = snapshot_table(s->part[i], name);
    return found;
}

/* Parts come first, in the order in which they were included. */

int snapshot_tables(const Snapshot *s) {
    int n = s->tables;
    for (int i = 0; i < s->parts; i++) n += snapshot_tables(s->part[i]);
    return n;
}

const Table *snapshot_table_at(const Snapshot *s, int i) {
    for (int k = 0; k < s->parts; k++) {
        int n = snapshot_tables(s->part[k]);
        if (i < n) return snapshot_table_at(s->part[k], i);
        i -= n;
    }
    BUG_ON(i < 0 || i >= s->tables);
    return s->table[i];
}

int snapshot_fields(const Snapshot *s) {
    int n = s->fields;
    for (int i = 0; i < s->parts; i++) n += snapshot_fields(s->part[i]);
    return n;
}

const Field *snapshot_field_at(const Snapshot *s, int i) {
    for (int k = 0; k < s->parts; k++) {
        int n = snapshot_fields(s->part[k]);
        if (i < n) return snapshot_field_at(s->part[k], i);
        i -= n;
    }
    BUG_ON(i < 0 || i >= s->fields);
    return s->field[i];
}
