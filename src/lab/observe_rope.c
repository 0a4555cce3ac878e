/* The observer of positions: what kind they are, the same sentence some positions later, and, where vectors are added,
 * how alike these are. */
#include "observe_rope.h"

#include "scene.h"

#include "mem.h"
#include "sinusoid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHIFT = 100,         /* positions that the second pass is later */
    SHIFT_LEARNED = 8,   /* where later positions run out */
    FARTHEST_LEAST = 64, /* distances shown */
    FARTHEST_MOST = 256,
    LATER_MOST = 256,  /* tokens of a second pass: it holds every score once more */
    VECTORS_MOST = 64, /* position vectors compared */
};

static const Column positions_columns[] = {{"kind", COLUMN_TEXT, ""},    {"base", COLUMN_DOUBLE, ""},
                                           {"scaling", COLUMN_TEXT, ""}, {"pairing", COLUMN_TEXT, ""},
                                           {"head_dim", COLUMN_INT, ""}, {"farthest", COLUMN_INT, ""},
                                           {"shift", COLUMN_INT, ""},    {0}};

/* Positions that the second pass is later: as many as the model has room for, at most SHIFT; 0: there is none. */
static int shift_of(const Scene *scene) {
    const ModelConfig *c = model_config(scene->model);
    if (scene->visible > LATER_MOST || observers_stages_later(scene)) return 0;
    int room = c->context - scene->visible;
    if (c->pos != POS_LEARNED) return SHIFT;
    return room < SHIFT_LEARNED ? room : SHIFT_LEARNED;
}

static int clamped(int x, int least, int most) {
    return x < least ? least : x > most ? most : x;
}

static void add_facts(Snapshot *s, const ModelConfig *c, int shift) {
    char kind[16], pairing[16], scaling[96];
    (void)config_get(c, "pos", kind, sizeof kind);
    (void)config_get(c, "rope_scaling", scaling, sizeof scaling);
    (void)config_get(c, "pairing", pairing, sizeof pairing);
    Table *t = table_new("rope", positions_columns);
    table_add_text(t, kind);
    if (c->pos == POS_ROPE) {
        table_add_real(t, c->rope_base);
        table_add_text(t, scaling);
        table_add_text(t, pairing);
    } else {
        for (int i = 0; i < 3; i++) table_add_empty(t);
    }
    table_add_int(t, c->head_dim);
    table_add_int(t, clamped(c->context, FARTHEST_LEAST, FARTHEST_MOST));
    if (shift > 0)
        table_add_int(t, shift);
    else
        table_add_empty(t);
    snapshot_add_table(s, t);
}

static void add_shifted(Observers *o, const Scene *scene, Snapshot *s, int shift) {
    const Tape *t = observers_later(o, scene, shift);
    for (int layer = 0; layer < model_config(scene->model)->layers; layer++) {
        char name[64];
        int dim[3];
        snprintf(name, sizeof name, "block%d.attention", layer);
        const real *x = tape_stage(t, tape_find(t, name), "scores", dim);
        Field *f = field_new(3, dim, "rope.%d.shifted", layer);
        memcpy(f->x, x, field_count(f) * sizeof *x);
        snapshot_add_field(s, f);
    }
}

/* --- vectors that are added --- */

/* [n x d] in double; NULL: the model adds none. */
static double *added_vectors(const Scene *scene, int *n) {
    const ModelConfig *c = model_config(scene->model);
    if (c->pos != POS_LEARNED && c->pos != POS_SINUSOID) return NULL;
    *n = clamped(c->context, 1, VECTORS_MOST);
    double *x = MEM_ARRAY(double, (size_t)*n *(size_t)c->d);
    const Params *p = model_read_params(scene->model);
    int slice = params_find(p, "position.weight");
    for (int i = 0; i < *n; i++) {
        double *row = x + (size_t)i * (size_t)c->d;
        if (c->pos == POS_SINUSOID) sinusoid(c->d, SINUSOID_BASE, i, row);
        for (int k = 0; k < c->d && c->pos == POS_LEARNED; k++) row[k] = (double)params_number(p, slice, i, k);
    }
    return x;
}

static double product(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add_similarity(const Scene *scene, Snapshot *s) {
    int n, d = model_config(scene->model)->d;
    double *x = added_vectors(scene, &n);
    if (!x) return;
    Field *length = field_new(1, (const int[]){n}, "rope.length");
    Field *cosine = field_new(2, (const int[]){n, n}, "rope.cosine");
    for (int i = 0; i < n; i++) {
        const double *a = x + (size_t)i * (size_t)d;
        length->x[i] = (real)sqrt(product(a, a, d));
        for (int j = 0; j < n; j++) {
            const double *b = x + (size_t)j * (size_t)d;
            double lengths = sqrt(product(a, a, d) * product(b, b, d));
            cosine->x[i * n + j] = (real)(lengths > 0 ? product(a, b, d) / lengths : 0);
        }
    }
    snapshot_add_field(s, length);
    snapshot_add_field(s, cosine);
    mem_free(x);
}

void observe_rope(Observers *o, const Scene *scene, Snapshot *s) {
    int shift = shift_of(scene);
    add_facts(s, model_config(scene->model), shift);
    if (shift > 0) add_shifted(o, scene, s, shift);
    add_similarity(scene, s);
}
