/* window.rolling: a cache of W slots that are used again and again, against the whole forward pass; and the mistake of
 * taking the cache's length for the position (lecture 4, 6.4). */
#include "bug.h"
#include "differ.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include "decode/decoder.h"
#include "text/vocab.h"

#include <math.h>

static const Option rolling_options[] = {
    {"window", OPTION_INT, "6", 1, 1e6, NULL, "tokens", N_("W: tokens that a query sees, itself included; slots")},
    {"tokens", OPTION_INT, "40", 1, 2048, NULL, "tokens", N_("steps of decoding")},
    {"position", OPTION_CHOICE, "absolute", 0, 0, "absolute|length", "",
     N_("where a new token stands: counted from the start, or (the mistake) after what the cache holds")},
    {0},
};

static const Column diff_columns[] = {{"step", COLUMN_INT, ""},
                                      {"slot", COLUMN_INT, ""},
                                      {"position", COLUMN_INT, ""},
                                      {"max_difference", COLUMN_DOUBLE, ""},
                                      {0}};

/* <s> and tokens drawn from the seed. */
static int *draw_text(Study *s, int vocab, int n) {
    int *ids = MEM_ARRAY(int, (size_t)n);
    Rng r = rng_at(study_seed(s), "window.rolling", 0);
    ids[0] = VOCAB_BOS;
    for (int i = 1; i < n; i++) ids[i] = VOCAB_SPECIALS + (int)rng_below(&r, (uint64_t)(vocab - VOCAB_SPECIALS));
    return ids;
}

static void add_step(Table *t, const Decoder *d, int step, double difference) {
    int position = decoder_position(d, 0) - 1, slot = position % decoder_capacity(d);
    BUG_ON(decoder_slot_position(d, 0, slot) != position);
    table_add_int(t, step);
    table_add_int(t, slot);
    table_add_int(t, position);
    table_add_real(t, difference);
}

/* Logits of the whole pass [n x V], then the decoder's token by token. */
static Status decode(Study *s, const Model *m, const int *ids, int n) {
    Batch batch;
    Tape *t = tape_new(TAPE_EVAL);
    batch_init(&batch);
    batch_add(&batch, ids, n, false);
    tape_begin(t, model_read_params(m), &batch, 0, 0);
    Vid logits = model_graph(m, t, NULL);
    tape_forward(t);
    int vocab;
    const real *whole = tape_value(t, logits, NULL, &vocab);
    int window = model_config(m)->window;
    Decoder *d = decoder_new(m, 1, window < n ? window : n);
    decoder_set_length_positions(d, options_choice(study_options(s), "position") == 1);
    bool going = true;
    for (int i = 0; i < n && going; i++) {
        const real *rolled = decoder_feed(d, 0, ids + i, 1);
        add_step(study_table(s, "diff"), d, i, differ_most(rolled, whole + (size_t)i * (size_t)vocab, (size_t)vocab));
        going = study_progress(s, (i + 1.0) / n, _("token %d of %d"), i + 1, n);
    }
    decoder_free(d);
    tape_free(t);
    batch_done(&batch);
    return going ? status_ok() : status_cancelled();
}

static Status run(Study *s) {
    ModelConfig c = config_modern();
    c.window = (int)options_int(study_options(s), "window");
    int n = (int)options_int(study_options(s), "tokens");
    if (n > c.context) c.context = n;
    Model *m = model_new(&c, study_seed(s));
    int *ids = draw_text(s, c.vocab, n);
    Status status = decode(s, m, ids, n);
    mem_free(ids);
    model_free(m);
    study_about(s, "window_rule", "the window counts the current token; the cache has as many slots");
    study_about(s, "slot_rule", "position modulo window: the oldest token's slot is written over");
    study_about(s, "position_rule",
                "absolute: as many tokens as came before; length: as many as the cache holds, which stands still once "
                "it is full. The column is the absolute one");
    study_about(s, "max_difference_rule", "of the logits after the token, from those of the whole forward pass");
    study_about(s, "model", "untrained, modern (RoPE), %d layers; <s> and tokens drawn from the seed", c.layers);
    return status;
}

const Experiment experiment_window_rolling = {
    .entry = {.id = "window.rolling",
              .section = "L4 6.4",
              .title = N_("a rolling cache against the whole pass, and the mistake of counting from its length"),
              .see = N_("With absolute positions the two agree to rounding at every step. With position=length they "
                        "part as soon as the cache is full."),
              .options = (const Option *const[]){rolling_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {0}}},
    .run = run,
};
