#include "fixture.h"

#include "fixture_cache.h"
#include "fixture_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {"<s>",    "the",   "dogs",  "near",  "the",  "cat",   "chase", "the",
                                    "foxes",  "every", "day",   ".",     "</s>", "horse", "owls",  "beside",
                                    "behind", "hen",   "makes", "noise", "in",   "the",   "barn",  "."};
enum { WORDS = sizeof words / sizeof words[0] };

const char *fixture_word(int i) {
    return words[i % WORDS];
}

double fixture_noise(unsigned a, unsigned b) {
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ 0x9e3779b9u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
    return (double)(x >> 8) / (double)(1u << 23) - 1;
}

FixtureSpec fixture_spec(void) {
    return (FixtureSpec){.layers = 2,
                         .heads = 4,
                         .kv_heads = 2,
                         .head_dim = 16,
                         .pos = "rope",
                         .tokens = 6,
                         .prompt_tokens = 6,
                         .position = 6,
                         .step = 1240,
                         .head = 1240,
                         .steps = 1565,
                         .truth = true,
                         .probe_window = -1,
                         .state = RUN_PAUSED};
}

/* Facts. */

static double loss_at(long step) {
    return 0.9145 + 3.1 / (1 + (double)step / 24) + 0.03 * fixture_noise(7, (unsigned)step);
}
static double rival_loss_at(long step) {
    return 0.9935 + 3.0 / (1 + (double)step / 18) + 0.03 * fixture_noise(8, (unsigned)step);
}
static double test_at(long step) {
    return 0.9145 + 2.9 / (1 + (double)step / 16) * (step > 0 ? 0.45 : 1);
}
static double rate_at(long step, long steps) {
    double warm = 50, x = (double)step, left = 1 - x / (double)steps;
    return 0.003 * (x < warm ? (x + 1) / warm : 0.1 + 0.9 * left * left);
}
static double norm_at(long step) {
    return 0.35 + 2.0 / (1 + (double)step / 40) + 0.06 * fixture_noise(9, (unsigned)step);
}

static void say_runs(const FixtureSpec *p, SnapshotFacts *f) {
    f->versus = p->versus;
    snprintf(f->run_name[0], sizeof f->run_name[0], "modern");
    snprintf(f->run_name[1], sizeof f->run_name[1], "%s", p->rival ? p->rival : "window=4 softcap=20");
    f->rival_head = p->head;
    f->rival_loss = rival_loss_at(p->step);
    f->rival_test_nll = 0.9871;
    f->rival_floor_nll = 0.9142;
    f->rival_test_step = p->step / 100 * 100 - 100;
}

static SnapshotFacts facts_of(const FixtureSpec *p) {
    SnapshotFacts f = {.state = p->state,
                       .arch = "modern",
                       .corpus = "farm",
                       .name = "modern",
                       .seed = 1,
                       .threads = 2,
                       .parameters = 99648,
                       .vocab = 56,
                       .context = 32,
                       .d = 64,
                       .layers = p->layers,
                       .heads = p->heads,
                       .kv_heads = p->kv_heads,
                       .head_dim = p->head_dim,
                       .d_ff = 176,
                       .window = p->window,
                       .step = p->step,
                       .head = p->head,
                       .steps = p->steps,
                       .per_epoch = 313,
                       .learning_rate = (double)NAN,
                       .grad_norm = (double)NAN,
                       .loss = (double)NAN,
                       .tokens_per_s = (double)NAN,
                       .test_nll = (double)NAN,
                       .floor_nll = (double)NAN,
                       .language_floor = p->truth ? 0.91446 : (double)NAN,
                       .decode_running = p->decode_running,
                       .prompt_tokens = p->prompt_tokens,
                       .position = p->position,
                       .generated_tokens = p->tokens - p->prompt_tokens,
                       .sampling = true,
                       .tau = 1,
                       .top_p = 0.9,
                       .draw_seed = 1,
                       .probe_window = p->probe_window,
                       .reads_only = p->reads_only,
                       .saved = -1,
                       .message_number = p->message_number,
                       .message_level = p->message_level};
    if (p->step > 0) {
        f.loss = loss_at(p->step), f.learning_rate = rate_at(p->step, p->steps), f.grad_norm = norm_at(p->step);
    }
    if (p->step > 0 && !p->untested) {
        f.test_step = p->step / 100 * 100, f.test_whole = p->whole_test;
        f.test_nll = test_at(f.test_step), f.floor_nll = p->truth ? 0.9142 : (double)NAN;
    }
    if (p->state == RUN_RUNNING) f.tokens_per_s = 251340;
    if (p->changed) snprintf(f.recipe, sizeof f.recipe, "window=3 softcap=20");
    if (p->versus) say_runs(p, &f);
    snprintf(f.tamper, sizeof f.tamper, "%s", p->tamper ? p->tamper : "");
    snprintf(f.message, sizeof f.message, "%s", p->message ? p->message : "");
    if (p->state == RUN_DIVERGED) snprintf(f.bad_tensor, sizeof f.bad_tensor, "block1.ffn.up");
    return f;
}

/* Tables. */

static void add_curve(Snapshot *s, const FixtureSpec *p) {
    static const Column curve_columns[] = {{"step", COLUMN_INT, ""},
                                           {"tokens", COLUMN_INT, ""},
                                           {"loss", COLUMN_DOUBLE, "nats"},
                                           {"learning_rate", COLUMN_DOUBLE, ""},
                                           {"grad_norm", COLUMN_DOUBLE, ""},
                                           {"tokens_per_s", COLUMN_DOUBLE, "tokens/s"},
                                           {NULL, 0, NULL}};
    static const Column test_columns[] = {{"step", COLUMN_INT, ""},
                                          {"tokens", COLUMN_INT, ""},
                                          {"nll", COLUMN_DOUBLE, "nats"},
                                          {"perplexity", COLUMN_DOUBLE, ""},
                                          {"floor_perplexity", COLUMN_DOUBLE, ""},
                                          {NULL, 0, NULL}};
    Table *curve = table_new("curve", curve_columns), *test = table_new("test", test_columns);
    for (long step = 1; step <= p->head && !p->no_curve; step++) {
        table_add_int(curve, step);
        table_add_int(curve, step * 640);
        table_add_real(curve, loss_at(step));
        table_add_real(curve, rate_at(step, p->steps));
        table_add_real(curve, norm_at(step));
        table_add_real(curve, 240000 + 16000 * fixture_noise(11, (unsigned)step));
    }
    for (long step = 0; step <= p->head && !p->no_curve; step += 100) {
        table_add_int(test, step);
        table_add_int(test, 20318);
        table_add_real(test, test_at(step));
        table_add_real(test, exp(test_at(step)));
        if (p->truth)
            table_add_real(test, exp(0.9142));
        else
            table_add_empty(test);
    }
    snapshot_add_table(s, curve);
    snapshot_add_table(s, test);
}

/* The run beside it, worse in the end, and its tests. */
static void add_rival(Snapshot *s) {
    const Table *curve = snapshot_table(s, "curve"), *test = snapshot_table(s, "test");
    static const Column columns[] = {{"step", COLUMN_INT, ""}, {"loss", COLUMN_DOUBLE, "nats"}, {NULL, 0, NULL}};
    Table *rival = table_new("rival_curve", columns);
    for (long i = 0; i < table_rows(curve); i++) {
        long step = (long)table_int(curve, i, 0);
        table_add_int(rival, step);
        table_add_real(rival, rival_loss_at(step));
    }
    snapshot_add_table(s, rival);
    snapshot_add_table(s, table_copy_as(test, "rival_test"));
}

static void add_changes(Snapshot *s) {
    static const Column columns[] = {
        {"step", COLUMN_INT, ""}, {"option", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    static const struct {
        int step;
        const char *option, *value;
    } rows[] = {{400, "window", "3"}, {700, "softcap", "20"}, {700, "dropout", "0.1"}};
    Table *t = table_new("changes", columns);
    for (int i = 0; i < 3; i++) {
        table_add_int(t, rows[i].step);
        table_add_text(t, rows[i].option);
        table_add_text(t, rows[i].value);
    }
    snapshot_add_table(s, t);
}

static void add_tokens(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"position", COLUMN_INT, ""},
                                     {"token", COLUMN_TEXT, ""},
                                     {"id", COLUMN_INT, ""},
                                     {"source", COLUMN_TEXT, ""},
                                     {NULL, 0, NULL}};
    Table *t = table_new("tokens", columns);
    for (int i = 0; i < p->tokens; i++) {
        table_add_int(t, i);
        table_add_text(t, p->letters ? "A" : words[i % WORDS]);
        table_add_int(t, i % WORDS);
        table_add_text(t, i < p->prompt_tokens ? "prompt" : "generated");
    }
    snapshot_add_table(s, t);
}

/* After "the dogs near the cat": the truth is that of the farm, the model is almost right. */
static const struct {
    const char *token;
    int id;
    double truth, model;
} next_words[] = {{"chase", 13, .2121212, .2068},  {"near", 37, .1636364, .1651}, {"behind", 8, .1636364, .1602},
                  {"beside", 10, .1636364, .1688}, {"eat", 20, .1272727, .1190},  {"follow", 27, .1272727, .1305},
                  {"make", 35, .0424242, .0398},   {"eats", 21, 0, .0041},        {"chases", 14, 0, .0025},
                  {"the", 51, 0, .0009},           {"follows", 28, 0, .0008},     {".", 3, 0, .0007},
                  {"dogs", 19, 0, .0004},          {"in", 32, 0, .0003},          {"</s>", 2, 0, .0001}};
enum { NEXT_WORDS = sizeof next_words / sizeof next_words[0] };

static void add_next(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"token", COLUMN_TEXT, ""},    {"id", COLUMN_INT, ""},
                                     {"logit", COLUMN_REAL, ""},    {"model_p", COLUMN_DOUBLE, ""},
                                     {"true_p", COLUMN_DOUBLE, ""}, {NULL, 0, NULL}};
    Table *t = table_new("next", columns);
    for (int i = 0; i < NEXT_WORDS; i++) {
        table_add_text(t, next_words[i].token);
        table_add_int(t, next_words[i].id);
        table_add_real(t, log(next_words[i].model) + 8);
        table_add_real(t, next_words[i].model);
        if (p->truth)
            table_add_real(t, next_words[i].truth);
        else
            table_add_empty(t);
    }
    snapshot_add_table(s, t);
}

/* tau 1, top-p 0.9: six words are kept. */
static void add_filter(Snapshot *s) {
    static const Column columns[] = {{"stage", COLUMN_TEXT, ""},
                                     {"index", COLUMN_INT, ""},
                                     {"value", COLUMN_DOUBLE, ""},
                                     {"kept", COLUMN_INT, ""},
                                     {NULL, 0, NULL}};
    static const Column draw_columns[] = {
        {"number", COLUMN_DOUBLE, ""}, {"id", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    static const char *const stages[] = {"logits", "temperature", "top_p", "final"};
    Table *t = table_new("filter", columns), *draws = table_new("draws", draw_columns);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < NEXT_WORDS; i++) {
            bool kept = stage < 2 || i < 6;
            table_add_text(t, stages[stage]);
            table_add_int(t, next_words[i].id);
            table_add_real(t, stage == 0   ? log(next_words[i].model) + 8
                              : !kept      ? 0
                              : stage == 3 ? next_words[i].model / .9504
                                           : next_words[i].model);
            table_add_int(t, kept);
        }
    }
    for (int i = 0; i < 4; i++) {
        table_add_real(draws, (i * 3 % 5 + .5) / 6);
        table_add_int(draws, next_words[i * 3 % 5].id);
        table_add_text(draws, next_words[i * 3 % 5].token);
    }
    snapshot_add_table(s, t);
    snapshot_add_table(s, draws);
}

/* 400 sentences of 1,000 are drawn. */
static void add_samples(Snapshot *s, const FixtureSpec *p) {
    static const Column sampling_columns[] = {{"wanted", COLUMN_INT, ""},  {"taken", COLUMN_INT, ""},
                                              {"state", COLUMN_TEXT, ""},  {"step", COLUMN_INT, ""},
                                              {"prompt", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    static const Column worth_columns[] = {{"of", COLUMN_TEXT, ""},         {"sentences", COLUMN_INT, ""},
                                           {"legal", COLUMN_DOUBLE, ""},    {"possible", COLUMN_DOUBLE, ""},
                                           {"true_nll", COLUMN_DOUBLE, ""}, {"distinct", COLUMN_DOUBLE, ""},
                                           {"coverage", COLUMN_DOUBLE, ""}, {NULL, 0, NULL}};
    static const Column samples_columns[] = {{"sample", COLUMN_INT, ""},   {"text", COLUMN_TEXT, ""},
                                             {"ended", COLUMN_INT, ""},    {"legal", COLUMN_INT, ""},
                                             {"possible", COLUMN_INT, ""}, {NULL, 0, NULL}};
    static const double worth[2][5] = {{.9875, .9425, .8012, .615, .3127}, {1, 1, .7903, .6275, .3302}};
    static const char *const texts[] = {"the dogs near the cat chase the cat .", "the dogs near the cat eats bones .",
                                        "the dogs near the cat eat bones every day ."};
    Table *sampling = table_new("sampling", sampling_columns), *t = table_new("worth", worth_columns);
    Table *samples = table_new("samples", samples_columns);
    table_add_int(sampling, 1000);
    table_add_int(sampling, 400);
    table_add_text(sampling, p->sampled ? "done" : "running");
    table_add_int(sampling, p->step);
    table_add_text(sampling, p->truth ? "the dogs near the cat" : "thedogsnearthecat");
    for (int i = 0; i < 1 + p->truth; i++) {
        table_add_text(t, i ? "truth" : "model");
        table_add_int(t, 400);
        for (int k = 0; k < 5; k++) { /* without a grammar only how many are distinct is known */
            if (p->truth || k == 3)
                table_add_real(t, worth[i][k]);
            else
                table_add_empty(t);
        }
    }
    for (int i = 0; i < 3; i++) {
        table_add_int(samples, i);
        table_add_text(samples, texts[i]);
        table_add_int(samples, 1);
        if (p->truth) {
            table_add_int(samples, i != 1);
            table_add_int(samples, i == 2);
        } else {
            table_add_empty(samples);
            table_add_empty(samples);
        }
    }
    snapshot_add_table(s, sampling);
    snapshot_add_table(s, t);
    snapshot_add_table(s, samples);
}

static void add_path(Snapshot *s, const FixtureSpec *p) {
    static const Column path_columns[] = {
        {"step", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""},       {"id", COLUMN_INT, ""},
        {"p", COLUMN_DOUBLE, ""}, {"log_p", COLUMN_DOUBLE, "nats"}, {"true_p", COLUMN_DOUBLE, ""},
        {NULL, 0, NULL}};
    static const Column sentence_columns[] = {{"of", COLUMN_TEXT, ""},
                                              {"text", COLUMN_TEXT, ""},
                                              {"log_p", COLUMN_DOUBLE, "nats"},
                                              {"true_log_p", COLUMN_DOUBLE, "nats"},
                                              {NULL, 0, NULL}};
    static const struct {
        const char *token;
        double p, truth;
    } path[] = {{"chase", .2068, .2121}, {"the", .9981, 1}, {"cat", .2304, .2222}, {"every", .4410, .4444},
                {"day", .9990, 1},       {".", .9985, 1},   {"</s>", .9997, 1}};
    Table *t = table_new("path", path_columns), *sentence = table_new("sentence", sentence_columns);
    for (int i = 0; i < (int)(sizeof path / sizeof path[0]); i++) {
        table_add_int(t, i);
        table_add_text(t, path[i].token);
        table_add_int(t, i);
        table_add_real(t, path[i].p);
        table_add_real(t, log(path[i].p));
        if (p->truth)
            table_add_real(t, path[i].truth);
        else
            table_add_empty(t);
    }
    table_add_text(sentence, "model");
    table_add_text(sentence, p->pieces ? "the-dogs-near-the-cat" : "the dogs near the cat chase the cat every day .");
    table_add_real(sentence, -3.8714);
    if (p->truth)
        table_add_real(sentence, -3.8653);
    else
        table_add_empty(sentence);
    if (p->truth) {
        table_add_text(sentence, "truth");
        table_add_text(sentence, "the dogs near the cat chase the cats every day .");
        table_add_real(sentence, -3.9120);
        table_add_real(sentence, -3.8653);
    }
    snapshot_add_table(s, t);
    snapshot_add_table(s, sentence);
}

/* Attention: q and k of noise with a pull, so that some words look at others. */

static Field *vectors(const FixtureSpec *p, int layer, int heads, unsigned kind, const char *name) {
    Field *f = field_new(3, (int[]){heads, p->position, p->head_dim}, "attention.%d.%s", layer, name);
    for (size_t i = 0; i < field_count(f); i++) {
        int at = (int)(i / (size_t)p->head_dim) % p->position, dim = (int)i % p->head_dim;
        double pull = fixture_noise((unsigned)at * 31 + (unsigned)layer, (unsigned)dim + 77) * (kind == 2 ? 1 : 0.8);
        f->x[i] = (float)(1.15 * fixture_noise(kind * 1000 + (unsigned)layer * 97 + 5, (unsigned)i) + pull);
    }
    return f;
}

static bool hidden(const FixtureSpec *p, int query, int key) {
    return key > query || (p->window > 0 && query - key >= p->window);
}

static float dot(const FixtureSpec *p, const Field *q, const Field *k, int head, int i, int j) {
    float sum = 0;
    for (int c = 0; c < p->head_dim; c++) {
        sum += (float)field_at(q, head, i, c, 0) * (float)field_at(k, head / (p->heads / p->kv_heads), j, c, 0);
    }
    return sum;
}

static void softmax(const real *in, real *out, int n) {
    double largest = -(double)INFINITY, sum = 0;
    for (int j = 0; j < n; j++) largest = fmax(largest, (double)in[j]);
    for (int j = 0; j < n; j++) sum += exp((double)in[j] - largest);
    for (int j = 0; j < n; j++) out[j] = (float)(exp((double)in[j] - largest) / sum);
}

/* Positions. */

/* What F was before RoPE turned it. */
static Field *turned_back(const Field *f, int layer, const char *name) {
    Field *before = field_new(3, f->dim, "attention.%d.%s", layer, name);
    int pairs = f->dim[2] / 2;
    for (size_t i = 0; i < field_count(f) / 2; i++) {
        int pair = (int)i % pairs, position = (int)(i / (size_t)pairs) % f->dim[1];
        double angle = position * pow(10000, -2.0 * pair / f->dim[2]), c = cos(angle), sine = sin(angle);
        double a = (double)f->x[2 * i], b = (double)f->x[2 * i + 1];
        before->x[2 * i] = (real)(a * c + b * sine);
        before->x[2 * i + 1] = (real)(b * c - a * sine);
    }
    return before;
}

/* The scores of a pass with all tokens later: the same where only distances count. */
static Field *later_scores(const FixtureSpec *p, const Field *scores, int layer) {
    Field *later = field_new(3, scores->dim, "rope.%d.shifted", layer);
    bool same = !strcmp(p->pos, "rope") || !strcmp(p->pos, "none");
    for (size_t i = 0; i < field_count(later); i++)
        later->x[i] = same ? scores->x[i] : (real)((double)scores->x[i] * 0.9 + fixture_noise(55, (unsigned)i));
    return later;
}

static void add_positions_of_layer(Snapshot *s, const FixtureSpec *p, int layer, const Field *q, const Field *k,
                                   const Field *scores) {
    snapshot_add_field(s, later_scores(p, scores, layer));
    if (strcmp(p->pos, "rope") != 0) return;
    snapshot_add_field(s, turned_back(q, layer, "query_before"));
    snapshot_add_field(s, turned_back(k, layer, "key_before"));
}

/* Alike where near; the later ones as they were drawn. */
static void add_position_vectors(Snapshot *s) {
    enum { N = 32, LEARNED = 14 };
    Field *cosine = field_new(2, (int[]){N, N}, "rope.cosine"), *length = field_new(1, (int[]){N}, "rope.length");
    for (int i = 0; i < N; i++) {
        length->x[i] = (float)(0.16 + (i < LEARNED ? 0.3 + 0.1 * fixture_noise(21, (unsigned)i) : 0));
        for (int j = 0; j < N; j++) {
            int low = i < j ? i : j, high = i < j ? j : i;
            double x = high < LEARNED ? cos(0.35 * (high - low)) * 0.8
                                      : 0.25 * fixture_noise((unsigned)low + 40, (unsigned)high);
            cosine->x[i * N + j] = (float)(i == j ? 1 : x);
        }
    }
    snapshot_add_field(s, cosine);
    snapshot_add_field(s, length);
}

static void add_positions(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"kind", COLUMN_TEXT, ""},
                                     {"base", COLUMN_DOUBLE, ""},
                                     {"pairing", COLUMN_TEXT, ""},
                                     {"head_dim", COLUMN_INT, ""},
                                     {"farthest", COLUMN_INT, ""},
                                     {"shift", COLUMN_INT, ""},
                                     {NULL, 0, NULL}};
    bool turns = !strcmp(p->pos, "rope"), learned = !strcmp(p->pos, "learned");
    Table *t = table_new("rope", columns);
    table_add_text(t, p->pos);
    if (turns) {
        table_add_real(t, 10000);
        table_add_text(t, "adjacent");
    } else {
        table_add_empty(t);
        table_add_empty(t);
    }
    table_add_int(t, p->head_dim);
    table_add_int(t, 64);
    table_add_int(t, learned ? 8 : 100);
    snapshot_add_table(s, t);
    if (learned || !strcmp(p->pos, "sinusoid")) add_position_vectors(s);
}

static void add_layer(Snapshot *s, const FixtureSpec *p, int layer) {
    int T = p->position, H = p->heads;
    Field *q = vectors(p, layer, H, 1, "query"), *k = vectors(p, layer, p->kv_heads, 2, "key"),
          *v = vectors(p, layer, p->kv_heads, 3, "value");
    const int square[] = {H, T, T};
    Field *scores = field_new(3, square, "attention.%d.scores", layer),
          *scaled = field_new(3, square, "attention.%d.scaled", layer);
    Field *capped = p->softcap > 0 ? field_new(3, square, "attention.%d.softcapped", layer) : NULL;
    Field *masked = field_new(3, square, "attention.%d.masked", layer),
          *weights = field_new(3, square, "attention.%d.weights", layer);
    Field *mix = field_new(3, (int[]){H, T, p->head_dim}, "attention.%d.mix", layer);
    for (int h = 0, at = 0; h < H; h++) {
        for (int i = 0; i < T; i++, at += T) {
            for (int j = 0; j < T; j++) {
                scores->x[at + j] = dot(p, q, k, h, i, j);
                scaled->x[at + j] = scores->x[at + j] * (real)(1 / sqrt((double)p->head_dim));
                if (capped) capped->x[at + j] = (float)(p->softcap * tanh((double)scaled->x[at + j] / p->softcap));
                masked->x[at + j] = hidden(p, i, j) ? -(real)INFINITY : capped ? capped->x[at + j] : scaled->x[at + j];
            }
            softmax(masked->x + at, weights->x + at, T);
            for (int c = 0; c < p->head_dim; c++) {
                float sum = 0;
                for (int j = 0; j < T; j++)
                    sum += (float)weights->x[at + j] * (float)field_at(v, h / (H / p->kv_heads), j, c, 0);
                mix->x[(h * T + i) * p->head_dim + c] = sum;
            }
        }
    }
    Field *all[] = {scores, scaled, capped, masked, weights, q, k, v, mix};
    add_positions_of_layer(s, p, layer, q, k, scores);
    for (int i = 0; i < (int)(sizeof all / sizeof all[0]); i++) {
        if (all[i]) snapshot_add_field(s, all[i]);
    }
}

static void add_switches(Snapshot *s, const FixtureSpec *p) {
    Field *off = field_new(2, (int[]){p->layers, p->heads}, "attention.head_off");
    if (p->head_off > 0) off->x[p->head_off - 1] = 1;
    snapshot_add_field(s, off);
    if (p->softcap <= 0) return;
    Field *cap = field_new(1, (int[]){1}, "attention.softcap");
    cap->x[0] = (real)p->softcap;
    snapshot_add_field(s, cap);
}

static void add_settings(Snapshot *s) {
    static const Column columns[] = {{"option", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    static const char *const rows[][2] = {{"arch", "modern"}, {"batch", "64"}, {"prompt", "the dogs near the cat"}};
    Table *t = table_new("settings", columns);
    for (int i = 0; i < 3; i++) {
        table_add_text(t, rows[i][0]);
        table_add_text(t, rows[i][1]);
    }
    snapshot_add_table(s, t);
}

/* What p->tamper lists; "back 1" takes the first of it back. */
static void add_tampering(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"what", COLUMN_TEXT, ""}, {"back", COLUMN_TEXT, ""}, {NULL, 0, NULL}};
    Table *t = table_new("tampering", columns);
    char rest[sizeof((SnapshotFacts *)0)->tamper], back[40];
    snprintf(rest, sizeof rest, "%s", p->tamper ? p->tamper : "");
    for (char *at = rest, *end; *at; at = end) {
        end = strstr(at, ", ") ? strstr(at, ", ") : at + strlen(at);
        if (*end) *end = '\0', end += 2;
        table_add_text(t, at);
        snprintf(back, sizeof back, "back %ld", table_rows(t) + 1);
        table_add_text(t, back);
    }
    snapshot_add_table(s, t);
}

Snapshot *fixture_snapshot(const FixtureSpec *p) {
    SnapshotFacts facts = facts_of(p);
    Snapshot *s = snapshot_new(&facts);
    add_curve(s, p);
    if (p->versus) add_rival(s);
    if (p->changed) add_changes(s);
    add_tokens(s, p);
    add_next(s, p);
    add_filter(s);
    if (p->samples) add_samples(s, p);
    add_path(s, p);
    fixture_add_beam(s, p);
    for (int l = 0; l < p->layers; l++) add_layer(s, p, l);
    add_positions(s, p);
    add_switches(s, p);
    fixture_add_mask(s, p);
    fixture_add_cache(s, p, words, WORDS);
    fixture_add_bpe(s, p);
    fixture_add_step(s, p);
    add_settings(s);
    add_tampering(s, p);
    return s;
}

Snapshot *fixture_plain(void) {
    FixtureSpec p = fixture_spec();
    return fixture_snapshot(&p);
}

Snapshot *fixture_empty(void) {
    SnapshotFacts f = {.state = RUN_LOADING,
                       .arch = "modern",
                       .corpus = "farm",
                       .name = "modern",
                       .seed = 1,
                       .threads = 2,
                       .steps = 1565,
                       .loss = (double)NAN,
                       .learning_rate = (double)NAN,
                       .grad_norm = (double)NAN,
                       .tokens_per_s = (double)NAN,
                       .test_nll = (double)NAN,
                       .floor_nll = (double)NAN,
                       .language_floor = (double)NAN};
    return snapshot_new(&f);
}
