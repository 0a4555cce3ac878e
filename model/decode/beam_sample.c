#include "decode/beam_sample.h"

#include "cancel.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include <math.h>

/* The sentences that go on. Those that are alike so far are one beam of the source. */
typedef struct {
    const BeamSource *source;
    BeamSample *sample;
    Rng *rng;         /* [n] of each sample */
    int *open, *beam; /* [opened] samples that go on by rising beam, and the beam of each */
    int opened, beams;
    int *parent, *id; /* [beams] how each came from the beams before; the source reads them until the next step */
    int *next_parent, *next_id;
    double *row; /* [V] */
} Drawing;

/* The token that U falls on, walking from 0, and its log p; -1: the row is no distribution. */
static int draw(const double *row, int n, double u, double *log_p) {
    double sum = 0;
    int last = -1;
    for (int i = 0; i < n && u >= sum; i++) {
        if (row[i] == (double)-INFINITY) continue;
        sum += exp(row[i]);
        last = i;
    }
    if (last < 0 || isnan(sum)) return -1;
    *log_p = row[last];
    return last;
}

/* One more token for SAMPLE, drawn from the row of its beam; the last when it is END. */
static Status extend(Drawing *d, int sample, int end) {
    BeamSample *s = &d->sample[sample];
    double log_p;
    int id = draw(d->row, d->source->vocabulary, rng_unit(&d->rng[sample]), &log_p);
    if (id < 0) return status_failed(_("sampling: what comes next is no distribution"));
    s->ids[s->length++] = id;
    s->log_p += log_p;
    s->ended = id == end;
    return status_ok();
}

/* The number of the new beam that goes on from PARENT with ID; those of a parent lie behind FIRST. */
static int beam_of(Drawing *d, int first, int parent, int id) {
    int beam = first;
    while (beam < d->beams && d->next_id[beam] != id) beam++;
    d->next_parent[beam] = parent;
    d->next_id[beam] = id;
    if (beam == d->beams) d->beams++;
    return beam;
}

/* A token for the samples FROM .. TO-1 of those that are open, all in beam PARENT; who goes on is put in order of the
 * new beams behind the KEPT that do already. */
static Status step_beam(Drawing *d, int parent, int from, int to, int end, int *kept) {
    int first = d->beams, at = *kept;
    STATUS_TRY(d->source->row(d->source->owner, parent, d->row));
    for (int i = from; i < to; i++) {
        int sample = d->open[i];
        STATUS_TRY(extend(d, sample, end));
        if (d->sample[sample].ended) continue;
        int beam = beam_of(d, first, parent, d->sample[sample].ids[d->sample[sample].length - 1]), k = at++;
        for (; k > *kept && d->beam[k - 1] > beam; k--) {
            d->open[k] = d->open[k - 1];
            d->beam[k] = d->beam[k - 1];
        }
        d->open[k] = sample;
        d->beam[k] = beam;
    }
    *kept = at;
    return status_ok();
}

static void swap(int **a, int **b) {
    int *c = *a;
    *a = *b;
    *b = c;
}

/* A token for every open sample. */
static Status step(Drawing *d, bool first, int end) {
    STATUS_TRY(d->source->advance(d->source->owner, d->beams, first ? NULL : d->parent, first ? NULL : d->id));
    int kept = 0, opened = d->opened;
    d->beams = 0;
    for (int from = 0, to; from < opened; from = to) {
        int parent = d->beam[from];
        for (to = from; to < opened && d->beam[to] == parent;) to++;
        STATUS_TRY(step_beam(d, parent, from, to, end, &kept));
    }
    d->opened = kept;
    swap(&d->parent, &d->next_parent);
    swap(&d->id, &d->next_id);
    return status_ok();
}

Status beam_samples(const BeamSource *s, int n, int tokens, int end, uint64_t seed, BeamSample *out) {
    Drawing d = {.source = s,
                 .sample = out,
                 .rng = MEM_ARRAY(Rng, (size_t)n),
                 .open = MEM_ARRAY(int, (size_t)n),
                 .beam = MEM_ARRAY(int, (size_t)n),
                 .opened = n,
                 .beams = 1, /* at first all are behind the prompt */
                 .parent = MEM_ARRAY(int, (size_t)n),
                 .id = MEM_ARRAY(int, (size_t)n),
                 .next_parent = MEM_ARRAY(int, (size_t)n),
                 .next_id = MEM_ARRAY(int, (size_t)n),
                 .row = MEM_ARRAY(double, (size_t)s->vocabulary)};
    for (int i = 0; i < n; i++) {
        out[i] = (BeamSample){.ids = MEM_ARRAY(int, (size_t)tokens)};
        d.rng[i] = rng_at(seed, "ancestral", (uint64_t)i);
        d.open[i] = i;
    }
    Status status = status_ok();
    for (int t = 0; t < tokens && status_is_ok(&status) && !cancel_wanted(); t++) {
        status = step(&d, t == 0, end);
        if (d.opened == 0 || (s->has_room && !s->has_room(s->owner))) break;
    }
    mem_free(d.rng);
    mem_free(d.open);
    mem_free(d.beam);
    mem_free(d.parent);
    mem_free(d.id);
    mem_free(d.next_parent);
    mem_free(d.next_id);
    mem_free(d.row);
    return status;
}

void beam_samples_done(BeamSample *samples, int n) {
    for (int i = 0; i < n; i++) mem_free(samples[i].ids);
}

Status beam_log_p(const BeamSource *s, const int *ids, int n, double *log_p) {
    const int parent = 0;
    double *row = MEM_ARRAY(double, (size_t)s->vocabulary);
    Status status = status_ok();
    *log_p = 0;
    for (int i = 0; i < n && status_is_ok(&status); i++) {
        if (i > 0 && s->has_room && !s->has_room(s->owner)) {
            *log_p = (double)-INFINITY;
            break;
        }
        status = s->advance(s->owner, 1, i ? &parent : NULL, i ? &ids[i - 1] : NULL);
        if (status_is_ok(&status)) status = s->row(s->owner, 0, row);
        if (status_is_ok(&status)) *log_p += row[ids[i]];
    }
    mem_free(row);
    return status;
}
