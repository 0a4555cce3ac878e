#include "tagger.h"

#include "mem.h"

#include <math.h>
#include <string.h>

/* Slices in their order. */
typedef struct {
    int embed, weight, bias, output, output_bias; /* weight -1: not recurrent */
} Slices;

static Slices slices_of(const TaggerShape *s) {
    int r = s->recurrent;
    return (Slices){0, r ? 1 : -1, 1 + r, 2 + r, 3 + r};
}

void tagger_init(Tagger *t, const TaggerShape *shape, uint64_t seed) {
    *t = (Tagger){.shape = *shape};
    double std = 1 / sqrt((double)shape->hidden);
    params_init(&t->params);
    (void)params_add(&t->params, "embed", shape->words, shape->hidden, INIT_NORMAL, 0.5);
    if (shape->recurrent)
        (void)params_add(&t->params, "recurrent.weight", shape->hidden, shape->hidden, INIT_NORMAL, std);
    (void)params_add(&t->params, "recurrent.bias", 1, shape->hidden, INIT_ZERO, 0);
    (void)params_add(&t->params, "output.weight", shape->tags, shape->hidden, INIT_NORMAL, std);
    (void)params_add(&t->params, "output.bias", 1, shape->tags, INIT_ZERO, 0);
    params_seal(&t->params);
    params_fill(&t->params, seed);
}

void tagger_done(Tagger *t) {
    params_done(&t->params);
    mem_free(t->state);
    mem_free(t->back);
    mem_free(t->score);
    *t = (Tagger){0};
}

static void make_room(Tagger *t, int n) {
    if (n <= t->room) return;
    size_t H = (size_t)t->shape.hidden;
    t->state = mem_resize(t->state, (size_t)n * H, sizeof *t->state);
    t->back = mem_resize(t->back, (size_t)n * H, sizeof *t->back);
    t->score = mem_resize(t->score, (size_t)n * (size_t)t->shape.tags, sizeof *t->score);
    t->room = n;
}

static const real *slice(const Tagger *t, int i) {
    return t->params.x + t->params.slice[i].at;
}

/* y [rows] += A [rows x cols] x */
static void add_product(const real *a, int rows, int cols, const real *x, real *y) {
    for (int r = 0; r < rows; r++) {
        real sum = 0;
        for (int c = 0; c < cols; c++) sum += a[(size_t)r * (size_t)cols + (size_t)c] * x[c];
        y[r] += sum;
    }
}

/* y [cols] += A^T x, A [rows x cols] */
static void add_transposed(const real *a, int rows, int cols, const real *x, real *y) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) y[c] += a[(size_t)r * (size_t)cols + (size_t)c] * x[r];
}

/* A [rows x cols] += x y^T */
static void add_outer(const real *x, int rows, const real *y, int cols, real *a) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) a[(size_t)r * (size_t)cols + (size_t)c] += x[r] * y[c];
}

static void softmax(real *x, int n) {
    real most = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > most) most = x[i];
    for (int i = 0; i < n; i++) sum += x[i] = (real)exp((double)(x[i] - most));
    for (int i = 0; i < n; i++) x[i] /= sum;
}

/* States and probabilities of all words. */
static void forward(Tagger *t, const int *word, int n) {
    Slices s = slices_of(&t->shape);
    int H = t->shape.hidden, K = t->shape.tags;
    make_room(t, n);
    for (int i = 0; i < n; i++) {
        real *h = t->state + (size_t)i * (size_t)H, *y = t->score + (size_t)i * (size_t)K;
        const real *e = slice(t, s.embed) + (size_t)word[i] * (size_t)H, *b = slice(t, s.bias);
        for (int k = 0; k < H; k++) h[k] = e[k] + b[k];
        if (s.weight >= 0 && i > 0) add_product(slice(t, s.weight), H, H, h - H, h);
        for (int k = 0; k < H; k++) h[k] = (real)tanh((double)h[k]);
        memcpy(y, slice(t, s.output_bias), (size_t)K * sizeof *y);
        add_product(slice(t, s.output), K, H, h, y);
        softmax(y, K);
    }
}

/* From the last word to the first: BACK holds the gradient at h, then at what tanh was given. SCORE becomes the
 * gradient at the logits. */
static void backward(Tagger *t, const int *word, const int *tag, int n, double scale, real *grad) {
    Slices s = slices_of(&t->shape);
    const Slice *at = t->params.slice;
    int H = t->shape.hidden, K = t->shape.tags;
    memset(t->back, 0, (size_t)n * (size_t)H * sizeof *t->back);
    for (int i = n - 1; i >= 0; i--) {
        real *h = t->state + (size_t)i * (size_t)H, *g = t->back + (size_t)i * (size_t)H;
        real *y = t->score + (size_t)i * (size_t)K;
        y[tag[i]] -= 1;
        for (int k = 0; k < K; k++) y[k] *= (real)scale;
        add_outer(y, K, h, H, grad + at[s.output].at);
        for (int k = 0; k < K; k++) grad[at[s.output_bias].at + (size_t)k] += y[k];
        add_transposed(slice(t, s.output), K, H, y, g);
        for (int k = 0; k < H; k++) {
            g[k] *= 1 - h[k] * h[k];
            grad[at[s.embed].at + (size_t)word[i] * (size_t)H + (size_t)k] += g[k];
            grad[at[s.bias].at + (size_t)k] += g[k];
        }
        if (s.weight < 0 || i == 0) continue;
        add_outer(g, H, h - H, H, grad + at[s.weight].at);
        add_transposed(slice(t, s.weight), H, H, g, g - H);
    }
}

double tagger_loss(Tagger *t, const int *word, const int *tag, int n, double scale, real *grad) {
    double loss = 0;
    forward(t, word, n);
    for (int i = 0; i < n; i++) loss -= log((double)t->score[(size_t)i * (size_t)t->shape.tags + (size_t)tag[i]]);
    if (grad) backward(t, word, tag, n, scale, grad);
    return loss;
}

void tagger_predict(Tagger *t, const int *word, int n, int *tag) {
    forward(t, word, n);
    for (int i = 0; i < n; i++) {
        const real *y = t->score + (size_t)i * (size_t)t->shape.tags;
        tag[i] = 0;
        for (int k = 1; k < t->shape.tags; k++)
            if (y[k] > y[tag[i]]) tag[i] = k;
    }
}
