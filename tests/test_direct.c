/* Models whose parameters are only read, where they lie, row by row and turned: the same logits as from their own copy,
 * the same bits however many tokens are fed at once and however many threads share a product. */
#include "expect.h"

#include "decode/decoder.h"
#include "decode/direct_kernel.h"
#include "rng.h"

#include <math.h>
#include <string.h>

#define TOLERANCE (REAL_IS_DOUBLE ? 1e-12 : 2e-5)

/* Wide enough that products are shared. */
static ModelConfig config_of(bool gpt) {
    ModelConfig c = gpt ? config_gpt() : config_modern();
    c.d = 128;
    c.heads = 4;
    c.kv_heads = gpt ? 4 : 2;
    c.head_dim = 32;
    c.d_ff = 517;
    c.vocab = 523;
    c.context = 40;
    c.tie = gpt;
    return c;
}

/* Where the slices of FROM lie is no business of the copy: it only reads them. */
static Model *lent(const Model *from, bool turned, real *turned_numbers) {
    const Params *p = model_read_params(from);
    Model *m = model_shell(model_config(from));
    View *view = MEM_ARRAY(View, (size_t)p->slices);
    for (int i = 0; i < p->slices; i++) {
        const Slice *s = &p->slice[i];
        bool matrix = strstr(s->name, "attention") || strstr(s->name, "ffn");
        view[i] = params_view(p, i);
        if (!turned || !matrix || s->rows == 1) continue;
        real *to = turned_numbers + s->at;
        for (int r = 0; r < s->rows; r++)
            for (int c = 0; c < s->cols; c++)
                to[(size_t)c * (size_t)s->rows + (size_t)r] = p->x[s->at + (size_t)r * (size_t)s->cols + (size_t)c];
        view[i] = (View){.x = to, .ld = s->rows, .turned = true};
    }
    params_lend(model_params(m), view, NULL, NULL);
    return m;
}

static const real *logits_of(Decoder *d, const int *ids, int n, int threads, int cut) {
    decoder_set_threads(d, threads);
    decoder_reset(d);
    const real *last = NULL;
    for (int done = 0; done < n; done += cut) last = decoder_feed(d, 0, ids + done, n - done < cut ? n - done : cut);
    return last;
}

static void check(bool gpt, bool turned) {
    enum { N = 37 };
    ModelConfig c = config_of(gpt);
    Model *own = model_new(&c, 5);
    real *numbers = MEM_ARRAY(real, model_read_params(own)->count);
    Model *m = lent(own, turned, numbers);
    Decoder *a = decoder_new(own, 1, c.context), *b = decoder_new(m, 1, c.context);
    int ids[N];
    for (int i = 0; i < N; i++) ids[i] = (i * 89 + 7) % c.vocab;
    const real *x = logits_of(a, ids, N, 1, N), *y = logits_of(b, ids, N, 1, N);
    real *first = MEM_ARRAY(real, (size_t)c.vocab);
    for (int i = 0; i < c.vocab; i++) assert_true(fabs((double)x[i] - (double)y[i]) < TOLERANCE);
    memcpy(first, y, (size_t)c.vocab * sizeof *first);
    for (int threads = 1; threads <= 3; threads++)
        for (int cut = 1; cut <= N; cut += 9) {
            y = logits_of(b, ids, N, threads, cut);
            assert_memory_equal(first, y, (size_t)c.vocab * sizeof *first);
        }
    mem_free(first);
    decoder_free(a);
    decoder_free(b);
    model_free(m);
    model_free(own);
    mem_free(numbers);
}

static void what_is_lent_says_the_same(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) check(i & 1, i & 2);
}

static void count(void *owner) {
    ++*(int *)owner;
}

/* A forgetful pass gives up each layer's pages after it, and the head's: at its end it holds nothing of the file. */
static void a_forgetful_pass_ends_with_nothing(void **state) {
    (void)state;
    ModelConfig c = config_of(true);
    Model *own = model_new(&c, 5), *m = lent(own, false, NULL);
    Params *p = model_params(m);
    int forgotten = 0, ids[40] = {0}, layers = c.layers;
    p->owner = &forgotten;
    p->forget = count;
    Decoder *d = decoder_new(m, 1, c.context);
    (void)decoder_feed(d, 0, ids, 2);
    assert_int_equal(forgotten, 0);
    decoder_set_forgetful(d, true);
    (void)decoder_step(d, ids, ids, 1);
    assert_int_equal(forgotten, layers + 1);
    decoder_reset(d);
    (void)decoder_feed(d, 0, ids, 40); /* in two passes, of which the second gives logits */
    assert_int_equal(forgotten, layers + 1 + 2 * layers + 1);
    decoder_reset(d);
    forgotten = 0;
    (void)decoder_feed_all(d, 0, ids, 40);
    assert_int_equal(forgotten, 2 * (layers + 1));
    decoder_free(d);
    model_free(m);
    model_free(own);
}

/* Any part of the outputs, any number of inputs. */
static void any_shape_is_a_sum(void **state) {
    (void)state;
    enum { IN = 37, OUT = 29, ROWS = 3 };
    real w[OUT * IN], turned[OUT * IN], x[ROWS * IN], bias[OUT], y[ROWS * OUT];
    Rng r = rng_at(1, "direct", 0);
    for (int i = 0; i < OUT * IN; i++) w[i] = (real)rng_normal(&r);
    for (int i = 0; i < ROWS * IN; i++) x[i] = (real)rng_normal(&r);
    for (int o = 0; o < OUT; o++) bias[o] = (real)o;
    for (int i = 0; i < OUT * IN; i++) turned[i % IN * OUT + i / IN] = w[i];
    for (int in = 1; in <= IN; in += 4)
        for (int way = 0; way < 2; way++) {
            View v = {.x = way ? turned : w, .ld = way ? OUT : IN, .turned = way};
            memset(y, 0, sizeof y);
            direct_apply(&v, bias, in, 2, OUT - 1, ROWS, x, IN, y, OUT);
            for (int row = 0; row < ROWS; row++)
                for (int o = 0; o < OUT; o++) {
                    double sum = o;
                    for (int i = 0; i < in; i++) sum += (double)w[o * IN + i] * (double)x[row * IN + i];
                    bool asked = o >= 2 && o < OUT - 1;
                    assert_true(fabs((double)y[row * OUT + o] - (asked ? sum : 0)) < 10 * TOLERANCE);
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_lent_says_the_same),
        cmocka_unit_test(a_forgetful_pass_ends_with_nothing),
        cmocka_unit_test(any_shape_is_a_sum),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
