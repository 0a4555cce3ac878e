#include "decode/beam.h"

#include "bug.h"
#include "cancel.h"
#include "intl.h"
#include "mem.h"

#include <math.h>

/* One token after one open beam. */
typedef struct {
    double key; /* what is compared */
    double log_p;
    int parent, id; /* parent: place among the open beams */
} Candidate;

struct Beam {
    BeamConfig config;
    BeamSource source;
    BeamNode *node;
    int nodes, capacity;
    int *open, opened; /* [width] nodes, the likeliest first; -1: the prompt */
    int *parent, *id;  /* [width] how the open beams came from those of the step before */
    Candidate *heap; /* [most] the likeliest candidates of the step; while they are sought the last of them is first */
    int held, most;
    double *row; /* [V] */
    int steps;
    double best; /* score of the best finished sentence; -inf: none */
    BeamReason reason;
};

Beam *beam_new(const BeamConfig *c, const BeamSource *s) {
    BUG_ON(c->width < 1 || c->tokens < 1 || c->pruned < 0 || s->vocabulary < 1);
    Beam *b = MEM_NEW(Beam);
    b->config = *c;
    b->source = *s;
    b->open = MEM_ARRAY(int, (size_t)c->width);
    b->parent = MEM_ARRAY(int, (size_t)c->width);
    b->id = MEM_ARRAY(int, (size_t)c->width);
    b->most = c->width + c->pruned;
    b->heap = MEM_ARRAY(Candidate, (size_t)b->most);
    b->row = MEM_ARRAY(double, (size_t)s->vocabulary);
    b->open[0] = -1;
    b->opened = 1;
    b->best = (double)-INFINITY;
    return b;
}

void beam_free(Beam *b) {
    if (!b) return;
    mem_free(b->node);
    mem_free(b->open);
    mem_free(b->parent);
    mem_free(b->id);
    mem_free(b->heap);
    mem_free(b->row);
    mem_free(b);
}

/* --- the likeliest candidates --- */

/* Equal numbers for what the source calls equal. */
static double key_of(const Beam *b, double x) {
    return b->source.same > 0 ? rint(x / b->source.same) : x;
}

/* A is taken before B. */
static bool before(const Candidate *a, const Candidate *b) {
    if (a->key != b->key) return a->key > b->key;
    return a->parent != b->parent ? a->parent < b->parent : a->id < b->id;
}

/* The first element goes down to its place: no parent in the heap is before its children. */
static void sink(Candidate *heap, int n) {
    Candidate c = heap[0];
    int at = 0;
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1])) child++;
        if (!before(&c, &heap[child])) break;
        heap[at] = heap[child];
    }
    heap[at] = c;
}

static void offer(Beam *b, Candidate c) {
    Candidate *heap = b->heap;
    if (b->held == b->most) {
        if (!before(&c, &heap[0])) return;
        heap[0] = c;
        sink(heap, b->held);
        return;
    }
    int at = b->held++;
    for (int above; at > 0 && before(&heap[above = (at - 1) / 2], &c); at = above) heap[at] = heap[above];
    heap[at] = c;
}

/* From the heap to an array, the likeliest first. */
static void sort(Beam *b) {
    for (int n = b->held - 1; n > 0; n--) {
        Candidate last = b->heap[0];
        b->heap[0] = b->heap[n];
        b->heap[n] = last;
        sink(b->heap, n);
    }
}

static double log_p_of(const Beam *b, int node) {
    return node < 0 ? 0 : b->node[node].log_p;
}

/* What a candidate needs to be looked at: certainly not less than that of the last one held. */
static double least(const Beam *b) {
    return b->held < b->most ? (double)-INFINITY : b->heap[0].log_p - 2 * b->source.same;
}

static Status gather_beam(Beam *b, int place) {
    double so_far = log_p_of(b, b->open[place]), floor = least(b);
    STATUS_TRY(b->source.row(b->source.owner, place, b->row));
    for (int id = 0; id < b->source.vocabulary; id++) {
        double log_p = so_far + b->row[id];
        if (log_p < floor || log_p == (double)-INFINITY) continue;
        if (isnan(log_p)) return status_failed(_("beam search: what comes next is not a number"));
        offer(b, (Candidate){.key = key_of(b, log_p), .log_p = log_p, .parent = place, .id = id});
        floor = least(b);
    }
    return status_ok();
}

/* The beams stand in falling order, and no token makes one likelier: those from the result on need no look. */
static int promising(const Beam *b, int opened) {
    double floor = least(b);
    while (opened > 0 && log_p_of(b, b->open[opened - 1]) < floor) opened--;
    return opened;
}

static Status gather(Beam *b) {
    int end = b->opened;
    b->held = 0;
    for (int i = 0; i < end; i++) {
        STATUS_TRY(gather_beam(b, i));
        int old = end;
        end = promising(b, end);
        if (end < old && b->source.only) b->source.only(b->source.owner, end > i ? end : i + 1);
    }
    sort(b);
    return status_ok();
}

/* --- the tree --- */

static double score_of(const Beam *b, double log_p, int tokens) {
    return b->config.length_norm ? log_p / tokens : log_p;
}

static int add_node(Beam *b, const Candidate *c, BeamState state) {
    MEM_GROW(b->node, b->nodes, b->capacity);
    int depth = b->steps + 1;
    b->node[b->nodes] = (BeamNode){.parent = b->open[c->parent],
                                   .depth = depth,
                                   .id = c->id,
                                   .log_p = c->log_p,
                                   .score = score_of(b, c->log_p, depth),
                                   .state = state};
    return b->nodes++;
}

/* Candidates become nodes: those taken, then those that were not. */
static void take(Beam *b) {
    int taken = b->held < b->config.width ? b->held : b->config.width, first = b->nodes, opened = 0;
    for (int i = 0; i < b->opened; i++)
        if (b->open[i] >= 0) b->node[b->open[i]].state = BEAM_KEPT;
    for (int i = 0; i < b->held; i++) {
        bool finished = b->heap[i].id == b->config.end;
        int node = add_node(b, &b->heap[i], i >= taken ? BEAM_PRUNED : finished ? BEAM_FINISHED : BEAM_OPEN);
        if (b->node[node].state == BEAM_FINISHED) b->best = fmax(b->best, b->node[node].score);
    }
    for (int i = 0; i < taken; i++) {
        if (b->node[first + i].state != BEAM_OPEN) continue;
        b->parent[opened] = b->heap[i].parent;
        b->id[opened] = b->heap[i].id;
        b->open[opened++] = first + i;
    }
    b->opened = opened;
}

/* --- steps --- */

/* All open beams are equally long, so the likeliest can attain the most. */
static double attainable(const Beam *b) {
    double log_p = log_p_of(b, b->open[0]);
    return b->config.length_norm ? log_p / b->config.tokens : log_p;
}

static BeamReason judge(const Beam *b) {
    if (b->opened == 0) return b->best > (double)-INFINITY ? BEAM_FOUND : BEAM_NOTHING;
    if (b->best >= attainable(b) - b->source.same) return BEAM_FOUND;
    if (b->steps == b->config.tokens) return BEAM_TOKENS;
    return b->source.has_room && !b->source.has_room(b->source.owner) ? BEAM_CONTEXT : BEAM_RUNNING;
}

Status beam_step(Beam *b) {
    BUG_ON(b->reason != BEAM_RUNNING);
    bool first = b->steps == 0;
    STATUS_TRY(b->source.advance(b->source.owner, b->opened, first ? NULL : b->parent, first ? NULL : b->id));
    STATUS_TRY(gather(b));
    take(b);
    b->steps++;
    b->reason = judge(b);
    return status_ok();
}

Status beam_run(Beam *b) {
    while (b->reason == BEAM_RUNNING) {
        if (cancel_wanted()) return status_cancelled();
        STATUS_TRY(beam_step(b));
    }
    return status_ok();
}

/* --- looking --- */

BeamReason beam_reason(const Beam *b) {
    return b->reason;
}

int beam_steps(const Beam *b) {
    return b->steps;
}

int beam_nodes(const Beam *b) {
    return b->nodes;
}

const BeamNode *beam_node(const Beam *b, int node) {
    BUG_ON(node < 0 || node >= b->nodes);
    return &b->node[node];
}

void beam_path(const Beam *b, int node, int *ids) {
    for (; node >= 0; node = b->node[node].parent) ids[b->node[node].depth - 1] = b->node[node].id;
}

/* Puts a finished node into its place among N by falling score, behind its equals. */
static void insert(const Beam *b, int *node, int n, int finished) {
    double key = key_of(b, b->node[finished].score);
    for (; n > 0 && key > key_of(b, b->node[node[n - 1]].score); n--) node[n] = node[n - 1];
    node[n] = finished;
}

int beam_best(const Beam *b, int **node) {
    int n = 0;
    *node = MEM_ARRAY(int, (size_t)b->nodes);
    for (int i = 0; i < b->nodes; i++)
        if (b->node[i].state == BEAM_FINISHED) insert(b, *node, n++, i);
    if (n > 0 || b->steps == 0) return n;
    for (; n < b->opened; n++) (*node)[n] = b->open[n];
    return n;
}

const char *beam_state_name(BeamState s) {
    static const char *const names[] = {"open", "kept", "pruned", "finished"};
    return names[s];
}

const char *beam_reason_name(BeamReason r) {
    static const char *const names[] = {"running", "finished", "tokens", "context", "nothing"};
    return names[r];
}
