/* sampling: that what is drawn follows the distribution, that a sentence is its own whatever stands beside it, and the
 * edges: greedy, the context's end, a model that gives no distribution. */
#include "expect.h"

#include "decode/decoder.h"
#include "decode/greedy.h"
#include "decode/sampling.h"
#include "mem.h"

#include <math.h>
#include <string.h>

enum { VOCAB = 12, CONTEXT = 10, END = 2, KEPT = 4096 };

static Model *model; /* random weights, large enough that tokens differ */

static int setup(void **state) {
    (void)state;
    ModelConfig c;
    assert_true(config_preset("modern", &c));
    c.d = 16, c.heads = 2, c.kv_heads = 1, c.head_dim = 8, c.d_ff = 16, c.vocab = VOCAB, c.context = CONTEXT;
    model = model_new(&c, 5);
    Params *p = model_params(model);
    for (size_t i = 0; i < p->count; i++) p->x[i] *= 2;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    model_free(model);
    return 0;
}

static const int prompt[] = {1, 7};

static SamplingPlan plan(long sentences, double tau, int top_k) {
    return (SamplingPlan){.model = model,
                          .filter = {tau, top_k, 1, ORDER_TAU_FIRST},
                          .ids = prompt,
                          .n = 2,
                          .sentences = sentences,
                          .tokens = 100,
                          .end = END,
                          .seed = 9};
}

typedef struct {
    long n;
    int ids[KEPT][CONTEXT], length[KEPT];
    bool ended[KEPT];
} Kept;
static Kept kept, others;

static Status keep(void *user, const Sample *s) {
    Kept *k = user;
    assert_int_equal(s->index, k->n);
    assert_true(s->length >= 1 && s->length <= CONTEXT);
    memcpy(k->ids[k->n], s->ids, (size_t)s->length * sizeof(int));
    k->length[k->n] = s->length;
    k->ended[k->n++] = s->ended;
    return status_ok();
}

static void draw(const SamplingPlan *p, Kept *k) {
    k->n = 0;
    Sampling *s = sampling_new(p);
    assert_ok(sampling_run(s, keep, k));
    assert_true(sampling_ended(s));
    assert_int_equal(k->n, p->sentences);
    sampling_free(s);
}

static void expect_same(long n) {
    for (long i = 0; i < n; i++) {
        assert_int_equal(kept.length[i], others.length[i]);
        assert_memory_equal(kept.ids[i], others.ids[i], (size_t)kept.length[i] * sizeof(int));
    }
}

static void a_sentence_is_its_own(void **state) {
    (void)state;
    SamplingPlan few = plan(3, 1, 0), many = plan(100, 1, 0);
    draw(&few, &kept);
    draw(&many, &others);
    expect_same(3);
    many.seed = 10;
    draw(&many, &kept);
    bool same = true;
    for (int i = 0; i < 100; i++) same = same && kept.ids[i][0] == others.ids[i][0];
    assert_false(same);
}

static void lengths_and_ends(void **state) {
    (void)state;
    SamplingPlan p = plan(500, 1, 0);
    draw(&p, &kept);
    long ended = 0;
    for (long i = 0; i < kept.n; i++) {
        for (int t = 0; t < kept.length[i]; t++)
            assert_int_equal(kept.ids[i][t] == END, t == kept.length[i] - 1 && kept.ended[i]);
        if (!kept.ended[i]) assert_int_equal(kept.length[i], CONTEXT - 2 + 1); /* the last is not fed */
        ended += kept.ended[i];
    }
    assert_in_range(ended, 1, 499); /* both kinds were seen */
    p.tokens = 1;
    draw(&p, &kept);
    for (long i = 0; i < kept.n; i++) assert_int_equal(kept.length[i], 1);
}

static void no_temperature_is_greedy(void **state) {
    (void)state;
    Path path;
    path_init(&path);
    Decoder *d = decoder_new(model, 1, CONTEXT);
    const char *word[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    Vocab *v = vocab_new(word, VOCAB - VOCAB_SPECIALS);
    assert_ok(greedy_model(d, VOCAB, v, VOCAB_EOS, NULL, prompt, 2, 100, &path));
    for (int k = 0; k < 2; k++) { /* tau 0, top_k 1 */
        SamplingPlan p = plan(2, k == 0 ? 0 : 1, k);
        draw(&p, &kept);
        for (long i = 0; i < 2; i++) {
            assert_int_equal(kept.length[i], path.count);
            for (int t = 0; t < path.count; t++) assert_int_equal(kept.ids[i][t], path.step[t].id);
        }
    }
    vocab_free(v);
    decoder_free(d);
    path_done(&path);
}

/* p of the first token, and of the second after SECOND_AFTER, by the filter alone. */
static void expect_frequency(const int *ids, int n, const FilterConfig *config, int at, int after) {
    Decoder *d = decoder_new(model, 1, CONTEXT);
    const real *logits = decoder_feed(d, 0, ids, n);
    double wide[VOCAB];
    for (int i = 0; i < VOCAB; i++) wide[i] = (double)logits[i];
    Filter f;
    filter_init(&f, VOCAB);
    assert_ok(filter_run(&f, config, wide, false));
    long count[VOCAB] = {0}, all = 0;
    for (long i = 0; i < kept.n; i++) {
        if (at > 0 && (kept.ids[i][0] != after || kept.length[i] < 2)) continue;
        count[kept.ids[i][at]]++;
        all++;
    }
    assert_true(all > 200);
    for (int i = 0; i < VOCAB; i++) {
        double p = filter_final(&f)[i], spread = sqrt(p * (1 - p) / (double)all);
        assert_true(fabs((double)count[i] / (double)all - p) <= 4.5 * spread + 1e-12);
    }
    filter_done(&f);
    decoder_free(d);
}

static void draws_follow_the_distribution(void **state) {
    (void)state;
    SamplingPlan p = plan(KEPT, .8, 5);
    draw(&p, &kept);
    expect_frequency(prompt, 2, &p.filter, 0, 0);
    int after = 0;
    long count[VOCAB] = {0};
    for (long i = 0; i < kept.n; i++) count[kept.ids[i][0]]++;
    for (int i = 0; i < VOCAB; i++)
        if (i != END && (after == 0 || count[i] > count[after])) after = i;
    const int longer[] = {1, 7, after};
    expect_frequency(longer, 3, &p.filter, 1, after);
}

static void what_is_no_distribution_is_refused(void **state) {
    (void)state;
    Model *bad = model_copy(model);
    Params *p = model_params(bad);
    for (size_t i = 0; i < p->count; i++) p->x[i] = (real)NAN;
    SamplingPlan broken = plan(3, 1, 0);
    broken.model = bad;
    Sampling *s = sampling_new(&broken);
    model_free(bad); /* the parameters were copied */
    kept.n = 0;
    Status status = sampling_run(s, keep, &kept);
    assert_int_equal(status.code, STATUS_FAILED);
    assert_int_equal(kept.n, 0);
    sampling_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_its_own),
        cmocka_unit_test(lengths_and_ends),
        cmocka_unit_test(no_temperature_is_greedy),
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(what_is_no_distribution_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
