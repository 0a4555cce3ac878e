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

static int first_of_texts(const Vocab *v) {
    return vocab_is_foreign(v) ? 0 : VOCAB_SPECIALS;
}

/* The one token that WORD is as a text, nothing of it left out; -1: it is several, or none. */
static Status token_of(const Vocab *v, const char *word, int *id) {
    int *ids, n;
    Str lost;
    *id = -1;
    STATUS_TRY(vocab_encode(v, word, &ids, &n));
    str_init(&lost);
    bool whole = !left_out_sentence(vocab_tokenizer(v), word, strlen(word), &lost);
    if (whole && n == 1 && ids[0] >= first_of_texts(v)) *id = ids[0];
    str_done(&lost);
    mem_free(ids);
    return status_ok();
}

/* That is called NAME where tokens are shown; -1: none. */
static int token_named(const Vocab *v, const char *name) {
    int id = first_of_texts(v);
    while (id < vocab_size(v) && strcmp(vocab_token(v, id), name) != 0) id++;
    return id < vocab_size(v) ? id : -1;
}

/* That "id=7" numbers; -1: none. Some vocabularies have tokens that no text and no name tells from others. */
static int token_numbered(const Vocab *v, const char *word) {
    long long id;
    bool numbered = strncmp(word, "id=", 3) == 0 && str_to_long(word + 3, &id);
    return numbered && id >= first_of_texts(v) && id < vocab_size(v) ? (int)id : -1;
}

Status swap_read_token(const Vocab *v, const char *word, int *id) {
    *id = strcmp(word, "</s>") == 0 ? vocab_last(v) : -1;
    if (*id >= 0) return status_ok();
    Status s = token_of(v, word, id);
    if (*id < 0) *id = token_named(v, word);
    if (*id < 0) *id = token_numbered(v, word);
    if (*id >= 0) return status_ok();
    STATUS_TRY(s);
    return status_usage(_("'%s' is not one token that a sentence can have"), word);
}

static bool reads_as(const Vocab *v, const char *word, int id) {
    int read;
    Status s = swap_read_token(v, word, &read);
    return status_is_ok(&s) && read == id;
}

/* What has a newline is no word of a line. */
void swap_add_token(const Vocab *v, int id, Str *line) {
    const char *name = vocab_token(v, id);
    if (!strchr(name, '\n') && reads_as(v, name, id))
        command_add_word(line, name);
    else
        str_addf(line, "id=%d", id);
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
    STATUS_TRY(swap_read_token(v, w->word[2], &id));
    if (id == vocab_last(v) && at < d->prompt)
        return status_usage(_("</s> ends a sentence; the prompt goes on behind it"));
    put(l, (int)at, id);
    return status_ok();
}

Status lab_do_force(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    int id;
    const Vocab *v = run_corpus(l->train.live)->vocab;
    STATUS_TRY(swap_read_token(v, w->word[1], &id));
    decode_refresh(l);
    int at = decode_visible(d);
    if (at < d->prompt) return status_usage(_("the next token is one of the prompt: swap %d changes it"), at);
    if (at == d->room) return status_failed(_("the model's context of %d tokens is full"), d->room);
    if (at > 1 && d->ids[at - 1] == vocab_last(v))
        return status_failed(_("the sentence has ended; ':forget' begins again after the prompt"));
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

/* COMMAND and the token of ID. */
static void add_token_line(Table *lines, const char *command, const Vocab *v, int id) {
    Str line;
    str_init(&line);
    str_addf(&line, "%s ", command);
    swap_add_token(v, id, &line);
    table_add_text(lines, line.s);
    str_done(&line);
}

void swap_state(const Lab *l, Table *lines) {
    const Decoding *d = &l->decode;
    const Vocab *v = run_corpus(l->train.live)->vocab;
    char command[40];
    for (int i = 0; i < d->room; i++) {
        if (d->swap[i] < 0) continue;
        snprintf(command, sizeof command, i < d->prompt ? "swap %d" : "token to %d", i);
        if (i >= d->prompt) table_add_text(lines, command);
        add_token_line(lines, i < d->prompt ? command : "force", v, d->swap[i]);
    }
}
