/* Tampering with tokens: another one at a place of the sentence, in the prompt or behind it. What follows is generated
 * again from there; the token stays put until it is taken back or the prompt changes. */
#include "lab_internal.h"

#include "intl.h"
#include "left_out.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

void swap_clear(Decoding *d) {
    memcpy(d->given, d->ids, (size_t)d->prompt * sizeof *d->given);
    for (int i = 0; i < d->room; i++) d->swap[i] = -1;
}

/* The one token that WORD is. */
static Status read_token(const Vocab *v, const char *word, int *id) {
    *id = strcmp(word, "</s>") == 0 ? vocab_last(v) : -1;
    if (*id >= 0) return status_ok();
    int *ids, n;
    STATUS_TRY(vocab_encode(v, word, &ids, &n));
    Str lost;
    str_init(&lost);
    if (n == 1 && !left_out_sentence(vocab_tokenizer(v), word, strlen(word), &lost)) *id = ids[0];
    mem_free(ids);
    str_done(&lost);
    if (*id >= (vocab_is_foreign(v) ? 0 : VOCAB_SPECIALS)) return status_ok();
    return status_usage(_("'%s' is not one token that a sentence can have"), word);
}

static void take_back(Decoding *d, int i) {
    d->swap[i] = -1;
    if (i < d->prompt) d->ids[i] = d->given[i];
}

void swap_back(Decoding *d) {
    for (int i = 0; i < d->room; i++) take_back(d, i);
}

static void put(Lab *l, int at, int id) {
    Decoding *d = &l->decode;
    d->swap[at] = id;
    if (at < d->prompt) d->ids[at] = id;
    lab_changed(l);
}

Status lab_do_swap(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    bool back = strcmp(w->word[2], "back") == 0;
    if (back && strcmp(w->word[1], "all") == 0) {
        swap_back(d);
        lab_changed(l);
        return status_ok();
    }
    long at;
    int id;
    decode_refresh(l);
    STATUS_TRY(lab_number(_("a position"), w->word[1], 1, d->known - 1 > 1 ? d->known - 1 : 1, &at));
    if (back) {
        take_back(d, (int)at);
        lab_changed(l);
        return status_ok();
    }
    const Vocab *v = run_corpus(l->train.live)->vocab;
    STATUS_TRY(read_token(v, w->word[2], &id));
    if (id == vocab_last(v) && at < d->prompt)
        return status_usage(_("</s> ends a sentence; the prompt goes on behind it"));
    put(l, (int)at, id);
    return status_ok();
}

Status lab_do_force(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    int id;
    const Vocab *v = run_corpus(l->train.live)->vocab;
    STATUS_TRY(read_token(v, w->word[1], &id));
    decode_refresh(l);
    int at = decode_visible(d);
    if (at < d->prompt) return status_usage(_("the next token is one of the prompt: swap %d changes it"), at);
    if (at == d->room) return status_failed(_("the model's context of %d tokens is full"), d->room);
    if (at > 1 && d->ids[at - 1] == vocab_last(v))
        return status_failed(_("the sentence has ended; 'forget' begins again after the prompt"));
    put(l, at, id);
    if (d->wanted < at + 1 - d->prompt) d->wanted = at + 1 - d->prompt;
    d->position = at + 1;
    return status_ok();
}

void swap_tampering(const Lab *l, Table *t) {
    const Decoding *d = &l->decode;
    const Vocab *v = run_corpus(l->train.live)->vocab;
    for (int i = 0; i < d->room; i++) {
        char back[64];
        if (d->swap[i] < 0) continue;
        snprintf(back, sizeof back, "swap %d back", i);
        tamper_add(t, back, _("token %d is %s"), i, vocab_token(v, d->swap[i]));
    }
}

void swap_state(const Lab *l, Table *lines) {
    const Decoding *d = &l->decode;
    const Vocab *v = run_corpus(l->train.live)->vocab;
    Str line;
    str_init(&line);
    for (int i = 0; i < d->room; i++) {
        if (d->swap[i] < 0) continue;
        str_clear(&line);
        if (i < d->prompt)
            str_addf(&line, "swap %d %s", i, vocab_token(v, d->swap[i]));
        else
            str_addf(&line, "token to %d", i);
        table_add_text(lines, line.s);
        if (i < d->prompt) continue;
        str_clear(&line);
        str_addf(&line, "force %s", vocab_token(v, d->swap[i]));
        table_add_text(lines, line.s);
    }
    str_done(&line);
}
