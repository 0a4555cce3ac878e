/* The beam search that is looked at: how wide, which score, over the model or over the truth. */
#include "lab_internal.h"

#include "intl.h"

#include <string.h>

static const Option rows[] = {
    {"width", OPTION_INT, NULL, 1, BEAM_WIDTH_MOST, NULL, "beams", N_("how many candidates each step keeps")},
    {"length_norm", OPTION_FLAG, NULL, 0, 0, NULL, "", N_("1: the score is log p per generated token")},
    {"of", OPTION_CHOICE, NULL, 0, 0, "model|truth", "", N_("whose probabilities")},
    {0},
};

static Status change_width(BeamSettings *b, int by) {
    if (b->width + by < 1) return status_usage(_("a beam has a width of at least 1: that is greedy"));
    if (b->width + by > BEAM_WIDTH_MOST) return status_usage(_("the widest beam here is %d"), BEAM_WIDTH_MOST);
    b->width += by;
    return status_ok();
}

static Status read_word(Options *o, const char *word, BeamSettings *b) {
    if (strcmp(word, "wider") == 0) return change_width(b, 1);
    if (strcmp(word, "narrower") == 0) return change_width(b, -1);
    return options_set_pair(o, word);
}

static Status read(Options *o, const Words *w, BeamSettings *b) {
    for (int i = 1; i < w->count; i++) STATUS_TRY(read_word(o, w->word[i], b));
    STATUS_TRY(options_once(w->word + 1, w->count - 1));
    if (options_is_set(o, "width")) b->width = (int)options_int(o, "width");
    if (options_is_set(o, "length_norm")) b->length_norm = options_flag(o, "length_norm");
    if (options_is_set(o, "of")) b->truth = options_choice(o, "of") == 1;
    return status_ok();
}

static bool knows_truth(const Lab *l) {
    return run_corpus(l->train.live)->language != NULL;
}

Status lab_do_beam(Lab *l, const Words *w) {
    BeamSettings b = l->beam;
    Options *o = options_new(rows);
    Status s = read(o, w, &b);
    options_free(o);
    if (!status_is_ok(&s)) return s;
    if (b.truth && !knows_truth(l)) return status_usage(_("of=truth: this corpus has no grammar"));
    l->beam = b;
    return status_ok();
}

void beam_adopt(Lab *l) {
    if (l->beam.width == 0) l->beam.width = BEAM_WIDTH;
    l->beam.truth = l->beam.truth && knows_truth(l);
}

void beam_add_state(const Lab *l, Table *t) {
    const BeamSettings *b = &l->beam;
    if (b->width == BEAM_WIDTH && !b->length_norm && !b->truth) return;
    Str line;
    str_init(&line);
    str_addf(&line, "beam width=%d length_norm=%d of=%s", b->width, b->length_norm, b->truth ? "truth" : "model");
    table_add_text(t, line.s);
    str_done(&line);
}
