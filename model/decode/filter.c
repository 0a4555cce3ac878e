#include "decode/filter.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <string.h>

#define FILTER_EPSILON 1e-9 /* .5 + .2 is not quite .7 */

typedef struct {
    double p;
    int id;
} Rank;

/* Between two stages: p is 0 where kept is false. */
typedef struct FilterWork {
    double *logit; /* [n] */
    double *p;     /* [n] */
    bool *kept;    /* [n] */
    int count;
    Rank *heap; /* [n] scratch */
} FilterWork;

FilterConfig filter_defaults(void) {
    return (FilterConfig){.tau = 1, .top_k = 0, .top_p = 1, .order = ORDER_TAU_FIRST};
}

Status filter_check(const FilterConfig *c) {
    if (!(c->tau >= 0 && isfinite(c->tau))) return status_usage(_("tau is %g: it must be 0 or more"), c->tau);
    if (c->top_k < 0) return status_usage(_("top_k is %d: it must be 0 (off) or more"), c->top_k);
    if (!(c->top_p >= 0 && c->top_p <= 1)) return status_usage(_("top_p is %g: it must be from 0 to 1"), c->top_p);
    return status_ok();
}

void filter_init(Filter *f, int n) {
    BUG_ON(n < 1);
    FilterWork *w = MEM_NEW(FilterWork);
    w->logit = MEM_ARRAY(double, n);
    w->p = MEM_ARRAY(double, n);
    w->kept = MEM_ARRAY(bool, n);
    w->heap = MEM_ARRAY(Rank, n);
    *f = (Filter){.n = n, .work = w};
    for (int s = 0; s < FILTER_STAGES; s++) {
        f->stage[s].value = MEM_ARRAY(double, n);
        f->stage[s].kept = MEM_ARRAY(bool, n);
    }
}

void filter_done(Filter *f) {
    for (int s = 0; s < FILTER_STAGES; s++) {
        mem_free(f->stage[s].value);
        mem_free(f->stage[s].kept);
    }
    if (f->work) {
        mem_free(f->work->logit);
        mem_free(f->work->p);
        mem_free(f->work->kept);
        mem_free(f->work->heap);
    }
    mem_free(f->work);
    *f = (Filter){0};
}

/* --- a heap that gives tokens by falling probability, of equals the lowest id: few are taken out of many --- */

static bool rank_before(const Rank *a, const Rank *b) {
    return a->p > b->p || (a->p == b->p && a->id < b->id);
}

static void heap_sink(Rank *heap, int n, int at) {
    if (at >= n) return;
    Rank moving = heap[at];
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && rank_before(&heap[child + 1], &heap[child])) child++;
        if (!rank_before(&heap[child], &moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* All kept tokens; returns how many. */
static int heap_fill(FilterWork *w, int n) {
    int used = 0;
    for (int i = 0; i < n; i++)
        if (w->kept[i]) w->heap[used++] = (Rank){w->p[i], i};
    for (int at = used / 2 - 1; at >= 0; at--) heap_sink(w->heap, used, at);
    return used;
}

static double heap_take(Rank *heap, int *n) {
    double p = heap[0].p;
    heap[0] = heap[--*n];
    heap_sink(heap, *n, 0);
    return p;
}

/* --- what the stages do --- */

static void work_normalise(FilterWork *w, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += w->p[i];
    for (int i = 0; i < n; i++) w->p[i] /= sum;
}

static double work_largest_logit(const FilterWork *w, int n) {
    double largest = -HUGE_VAL;
    for (int i = 0; i < n; i++)
        if (w->kept[i] && w->logit[i] > largest) largest = w->logit[i];
    return largest;
}

/* p is proportional to exp(logit / tau) over what is kept. */
static void work_softmax(FilterWork *w, int n, double tau) {
    double largest = work_largest_logit(w, n);
    for (int i = 0; i < n; i++) w->p[i] = w->kept[i] ? exp((w->logit[i] - largest) / tau) : 0;
    work_normalise(w, n);
}

static void work_drop(FilterWork *w, int id) {
    w->count -= w->kept[id];
    w->kept[id] = false;
    w->p[id] = 0;
}

/* What the heap still has was not chosen. */
static void work_drop_heap(FilterWork *w, int left) {
    for (int i = 0; i < left; i++) work_drop(w, w->heap[i].id);
}

static void work_temperature(FilterWork *w, int n, double tau) {
    if (tau > 0) {
        work_softmax(w, n, tau);
        return;
    }
    int best = -1;
    for (int i = 0; i < n; i++)
        if (w->kept[i] && (best < 0 || w->logit[i] > w->logit[best])) best = i;
    for (int i = 0; i < n; i++)
        if (i != best) work_drop(w, i);
    w->p[best] = 1;
}

static void work_top_k(FilterWork *w, int n, int k) {
    int left = heap_fill(w, n);
    for (; left > 0 && k > 0; k--) heap_take(w->heap, &left);
    work_drop_heap(w, left);
}

static void work_top_p(FilterWork *w, int n, double p) {
    int left = heap_fill(w, n);
    double sum = 0;
    do sum += heap_take(w->heap, &left);
    while (left > 0 && sum < p - FILTER_EPSILON);
    work_drop_heap(w, left);
}

/* --- the pipeline --- */

static void filter_record(Filter *f, const char *name, const double *value) {
    BUG_ON(f->stages == FILTER_STAGES);
    FilterStage *s = &f->stage[f->stages++];
    s->name = name;
    s->count = f->work->count;
    memcpy(s->value, value, (size_t)f->n * sizeof *value);
    memcpy(s->kept, f->work->kept, (size_t)f->n * sizeof *s->kept);
}

static void filter_temperature(Filter *f, double tau) {
    if (tau == 1) return;
    work_temperature(f->work, f->n, tau);
    filter_record(f, "temperature", f->work->p);
}

static void filter_top(Filter *f, const FilterConfig *c) {
    FilterWork *w = f->work;
    if (c->top_k > 0) {
        work_top_k(w, f->n, c->top_k);
        filter_record(f, "top_k", w->p);
        work_normalise(w, f->n);
    }
    if (c->top_p < 1) {
        work_top_p(w, f->n, c->top_p);
        filter_record(f, "top_p", w->p);
        work_normalise(w, f->n);
    }
}

/* Takes the numbers in; false when they make no distribution. */
static bool work_load(FilterWork *w, int n, const double *x, bool from_probs) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (from_probs ? !(x[i] >= 0 && x[i] < HUGE_VAL) : !(x[i] < HUGE_VAL)) return false;
        w->logit[i] = from_probs ? log(x[i]) : x[i];
        w->p[i] = x[i];
        w->kept[i] = true;
        sum += from_probs ? x[i] : x[i] > -HUGE_VAL;
    }
    w->count = n;
    return sum > 0 && sum < HUGE_VAL;
}

Status filter_run(Filter *f, const FilterConfig *c, const double *logits, bool from_probs) {
    FilterWork *w = f->work;
    f->stages = 0;
    if (!work_load(w, f->n, logits, from_probs))
        return from_probs
                   ? status_usage(_("these are no probabilities: they must be 0 or more, one of them above 0"))
                   : status_failed(_("these logits make no distribution: there is a NaN or an infinity among them"));
    filter_record(f, "logits", w->logit);
    if (from_probs)
        work_normalise(w, f->n);
    else
        work_softmax(w, f->n, 1);
    if (c->order == ORDER_TAU_FIRST) filter_temperature(f, c->tau);
    filter_top(f, c);
    if (c->order == ORDER_TAU_LAST) filter_temperature(f, c->tau);
    filter_record(f, "final", w->p);
    return status_ok();
}

const double *filter_final(const Filter *f) {
    BUG_ON(f->stages == 0);
    return f->stage[f->stages - 1].value;
}

int filter_draw(const Filter *f, double u) {
    const double *p = filter_final(f);
    double sum = 0;
    int last = 0;
    for (int i = 0; i < f->n; i++) {
        if (p[i] <= 0) continue;
        last = i;
        sum += p[i];
        if (u < sum) break;
    }
    return last;
}
