#include "decode/beam_sample.h"

#include "intl.h"
#include "mem.h"
#include "rng.h"

#include <math.h>

/* The sentences that go on, as beams of the source. */
typedef struct {
    const BeamSource *source;
    BeamSample *sample;
    Rng *rng;                /* [n] of each sample */
    int *open, *parent, *id; /* [n] the sample of each beam, and how it came from the beams before */
    int opened;
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

/* One more token for the sample behind beam I; it stays open unless that is END. */
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

/* A token for every open sample; at first all are behind the prompt, beam 0. */
static Status step(Drawing *d, int n, int end) {
    bool first = d->opened == 0;
    int before = first ? n : d->opened, opened = 0;
    STATUS_TRY(
        d->source->advance(d->source->owner, first ? 1 : before, first ? NULL : d->parent, first ? NULL : d->id));
    for (int i = 0; i < before; i++) {
        int sample = first ? i : d->open[i];
        if (!first || i == 0) STATUS_TRY(d->source->row(d->source->owner, i, d->row));
        STATUS_TRY(extend(d, sample, end));
    }
    for (int i = 0; i < before; i++) {
        int sample = first ? i : d->open[i];
        if (d->sample[sample].ended) continue;
        d->parent[opened] = first ? 0 : i;
        d->id[opened] = d->sample[sample].ids[d->sample[sample].length - 1];
        d->open[opened++] = sample;
    }
    d->opened = opened;
    return status_ok();
}

Status beam_samples(const BeamSource *s, int n, int tokens, int end, uint64_t seed, BeamSample *out) {
    Drawing d = {.source = s,
                 .sample = out,
                 .rng = MEM_ARRAY(Rng, (size_t)n),
                 .open = MEM_ARRAY(int, (size_t)n),
                 .parent = MEM_ARRAY(int, (size_t)n),
                 .id = MEM_ARRAY(int, (size_t)n),
                 .row = MEM_ARRAY(double, (size_t)s->vocabulary)};
    for (int i = 0; i < n; i++) {
        out[i] = (BeamSample){.ids = MEM_ARRAY(int, (size_t)tokens)};
        d.rng[i] = rng_at(seed, "ancestral", (uint64_t)i);
    }
    Status status = status_ok();
    for (int t = 0; t < tokens && status_is_ok(&status); t++) {
        status = step(&d, n, end);
        if (d.opened == 0 || (s->has_room && !s->has_room(s->owner))) break;
    }
    mem_free(d.rng);
    mem_free(d.open);
    mem_free(d.parent);
    mem_free(d.id);
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
