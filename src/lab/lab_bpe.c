/* The command bpe, and the clock of its merges. */
#include "lab_internal.h"

#include "intl.h"

#include <math.h>
#include <string.h>

Tokenizer *lab_tokenizer(const Lab *l) {
    return vocab_tokenizer(run_corpus(lab_shown(l))->vocab);
}

double bpe_wait(const Lab *l) {
    if (bpe_live_is_own(l->bpe, lab_tokenizer(l))) return (double)INFINITY; /* there is nothing to learn */
    return bpe_live_wait(l->bpe, l->decode.paced);
}

bool bpe_turn(Lab *l) {
    if (bpe_wait(l) > 0) return false;
    Status s = bpe_live_turn(l->bpe, l->decode.paced);
    if (!status_is_ok(&s)) lab_say(l, MESSAGE_ERROR, "%s", s.text);
    return true;
}

static Status go_by(Lab *l, const Words *w, bool back) {
    long n = 1;
    if (w->count > 2) STATUS_TRY(lab_number(_("merges"), w->word[2], 1, BPE_LIVE_MERGES, &n));
    return bpe_live_by(l->bpe, back ? -n : n);
}

static Status go_to(Lab *l, const Words *w) {
    long to;
    if (w->count < 3) return status_usage(_("to which merge? 0 is before the first"));
    STATUS_TRY(lab_number(_("a merge"), w->word[2], 0, BPE_LIVE_MERGES, &to));
    return bpe_live_to(l->bpe, to);
}

static Status run(Lab *l, const Words *w) {
    double rate = 0;
    if (w->count > 2 && (!str_to_double(w->word[2], &rate) || !(rate > 0) || rate > 1000))
        return status_usage(_("merges per second must be above 0 and at most 1000, not '%s'"), w->word[2]);
    return bpe_live_run(l->bpe, rate);
}

static Status refuse_own(void) {
    return status_usage(
        _("these merges are those of the model's tokenizer and stay as they are: 'bpe text TEXT' cuts a "
          "text by them, 'bpe learn corpus=...' learns others beside the model"));
}

static Status cut_text(Lab *l, const char *text) {
    const Tokenizer *own = lab_tokenizer(l);
    STATUS_TRY(bpe_live_text(l->bpe, text, own));
    if (bpe_live_is_own(l->bpe, own)) decode_tell_left_out(l, text, false);
    return status_ok();
}

Status lab_do_bpe(Lab *l, const Words *w) {
    const char *what = w->word[1];
    const Tokenizer *own = lab_tokenizer(l);
    if (strcmp(what, "learn") == 0)
        return bpe_live_learn(l->bpe, w->word + 2, w->count - 2, options_text(l->options, "corpus"));
    if (strcmp(what, "text") == 0) return cut_text(l, w->count < 3 ? "" : w->count == 3 ? w->word[2] : w->rest[2]);
    if (own && strcmp(what, "own") == 0 && w->count == 2) {
        bpe_live_return(l->bpe);
        return status_ok();
    }
    if (bpe_live_is_own(l->bpe, own)) return refuse_own();
    if (w->count <= 3) {
        if (strcmp(what, "next") == 0) return go_by(l, w, false);
        if (strcmp(what, "back") == 0) return go_by(l, w, true);
        if (strcmp(what, "to") == 0) return go_to(l, w);
        if (strcmp(what, "run") == 0) return run(l, w);
        if (strcmp(what, "pause") == 0 && w->count == 2) {
            bpe_live_pause(l->bpe);
            return status_ok();
        }
    }
    return status_usage(_("allowed are 'bpe next [N]', 'bpe back [N]', 'bpe to N', 'bpe run [MERGES PER SECOND]', 'bpe "
                          "pause', 'bpe learn KEY=VALUE ...' and 'bpe text TEXT'"));
}
