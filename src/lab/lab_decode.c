/* The decoding clock: the prompt, the tokens that the model adds, how they are chosen; and what is looked at of
 * them. */
#include "lab_internal.h"

#include "clock.h"
#include "intl.h"
#include "left_out.h"
#include "mem.h"
#include "rng.h"
#include "tokens.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DECODE_RATE = 4 }; /* tokens per second, for eyes */

#define DEFAULT_PROMPT "the dogs near the cat"
#define FOREIGN_PROMPT "Once upon a time" /* of a model of others */

/* Life. */

void decode_init(Decoding *d) {
    *d = (Decoding){.rate = DECODE_RATE, .filter = filter_defaults(), .speaker = speaker_new()};
    str_init(&d->text);
}

void decode_done(Decoding *d) {
    str_done(&d->text);
    mem_free(d->ids);
    mem_free(d->given);
    mem_free(d->swap);
    speaker_free(d->speaker);
}

/* The prompt. */

/* What stands before a prompt of N tokens; without any token there must be one. -1: nothing. */
static int first_token(const Vocab *v, int n) {
    if (vocab_first(v) >= 0 || n > 0) return vocab_first(v);
    return vocab_last(v) >= 0 ? vocab_last(v) : 0;
}

/* IDS [n] without <s>. */
static void set_prompt(Decoding *d, const Vocab *v, const int *ids, int n, const char *text) {
    int first = first_token(v, n), begin = first >= 0;
    if (begin) d->ids[0] = first;
    if (n > 0) memcpy(d->ids + begin, ids, (size_t)n * sizeof *ids);
    d->last = vocab_last(v);
    d->prompt = d->known = d->position = n + begin;
    swap_clear(d);
    d->wanted = 0;
    d->running = false;
    char *copy = mem_text(text); /* it may be the old one */
    str_clear(&d->text);
    str_add(&d->text, copy);
    mem_free(copy);
}

static Status try_prompt(Decoding *d, const Vocab *v, const char *text) {
    int *ids, n;
    STATUS_TRY(vocab_encode(v, text, &ids, &n));
    Status s = status_ok();
    for (int i = 0; i < n && status_is_ok(&s); i++)
        if (!vocab_is_foreign(v) && ids[i] < VOCAB_SPECIALS)
            s = status_usage(_("'%s' is no word for a prompt"), vocab_token(v, ids[i]));
    if (status_is_ok(&s) && n + 1 > d->room)
        s = status_usage(_("the prompt has %d tokens with <s>, the model's context only %d"), n + 1, d->room);
    if (status_is_ok(&s)) set_prompt(d, v, ids, n, text);
    mem_free(ids);
    return s;
}

/* The first half of the first test sentence. */
static void prompt_from_corpus(Decoding *d, const Corpus *c) {
    if (c->test.sentences == 0) {
        set_prompt(d, c->vocab, NULL, 0, "");
        return;
    }
    int words = (int)(c->test.start[1] - c->test.start[0]) - 2, n = (words + 1) / 2;
    if (n + 1 > d->room) n = d->room - 1;
    Str text;
    str_init(&text);
    tokens_text(c->vocab, c->test.id + 1, n, &text);
    set_prompt(d, c->vocab, c->test.id + 1, n, text.s);
    str_done(&text);
}

/* The sentence of D, of as many tokens as ROOM. */
static void make_room(Decoding *d, int room) {
    d->room = room;
    d->ids = MEM_ARRAY(int, (size_t)room);
    d->given = MEM_ARRAY(int, (size_t)room);
    d->swap = MEM_ARRAY(int, (size_t)room);
}

Status decode_adopt(Lab *l, Run *r, const char *text) {
    Decoding *d = &l->decode;
    const Corpus *c = run_corpus(r);
    Decoding before = *d;
    make_room(d, model_config(run_model(r))->context);
    const char *usual = vocab_is_foreign(c->vocab) ? FOREIGN_PROMPT : DEFAULT_PROMPT;
    Status s = status_ok();
    if (text) {
        s = try_prompt(d, c->vocab, text);
    } else {
        Status known = try_prompt(d, c->vocab, d->text.len ? d->text.s : usual);
        if (!status_is_ok(&known)) prompt_from_corpus(d, c);
    }
    Decoding *useless = status_is_ok(&s) ? &before : d;
    mem_free(useless->ids);
    mem_free(useless->given);
    mem_free(useless->swap);
    if (status_is_ok(&s)) return s;
    d->ids = before.ids;
    d->given = before.given;
    d->swap = before.swap;
    d->room = before.room;
    return s;
}

void decode_tell_left_out(Lab *l, const char *text, bool too) {
    Str sentence;
    str_init(&sentence);
    if (too) str_addf(&sentence, "%s; ", l->message);
    if (left_out_sentence(vocab_tokenizer(run_corpus(l->train.live)->vocab), text, strlen(text), &sentence))
        lab_say(l, MESSAGE_WARNING, "%s", sentence.s);
    str_done(&sentence);
}

Status lab_do_prompt(Lab *l, const Words *w) {
    const char *text = w->count < 2 ? "" : w->count == 2 ? w->word[1] : w->rest[1];
    STATUS_TRY(try_prompt(&l->decode, run_corpus(l->train.live)->vocab, text));
    decode_tell_left_out(l, text, false);
    return status_ok();
}

Status lab_do_forget(Lab *l, const Words *w) {
    (void)w;
    Decoding *d = &l->decode;
    d->known = d->prompt;
    d->wanted = 0;
    d->running = false;
    for (int i = d->prompt; i < d->room; i++) d->swap[i] = -1;
    if (d->position > d->known) d->position = d->known;
    return status_ok();
}

/* Generating. */

int decode_visible(const Decoding *d) {
    return d->position < d->known ? d->position : d->known;
}

static bool ended(const Decoding *d) {
    return d->known > d->prompt && d->ids[d->known - 1] == d->last;
}

/* The token that follows ids[0..known-1]; false when the model gives no distribution. */
static bool choose(Lab *l, int *id) {
    Decoding *d = &l->decode;
    const Model *m = run_model(lab_shown(l));
    int vocab = model_config(m)->vocab;
    if (d->silent) {
        ModelTweak tweak = lab_tweak(l);
        speaker_reset(d->speaker, m, &tweak);
        d->silent = false;
    }
    const double *logits = speaker_logits(d->speaker, d->ids, d->known);
    if (!d->sampling) {
        *id = speaker_best(logits, vocab);
        return !isnan(logits[*id]);
    }
    Filter f;
    filter_init(&f, vocab);
    Status s = filter_run(&f, &d->filter, logits, false);
    Rng r = rng_at(decode_seed(l), "sample", (uint64_t)d->known);
    if (status_is_ok(&s)) *id = filter_draw(&f, rng_unit(&r));
    filter_done(&f);
    return status_is_ok(&s);
}

/* One more token; false at the end of the sentence or of the context. */
static bool generate(Lab *l) {
    Decoding *d = &l->decode;
    int id;
    if (ended(d) || d->known == d->room) return false;
    if (d->swap[d->known] >= 0)
        id = d->swap[d->known];
    else if (!choose(l, &id))
        return false;
    d->ids[d->known++] = id;
    return true;
}

void decode_refresh(Lab *l) {
    Decoding *d = &l->decode;
    if (!d->stale) return;
    d->stale = false;
    d->silent = true;
    d->known = d->prompt;
    while (d->known < d->prompt + d->wanted && generate(l)) {}
}

static Status cannot_go_on(const Decoding *d) {
    if (ended(d)) return status_failed(_("the sentence has ended; ':forget' begins again after the prompt"));
    if (d->known == d->room) return status_failed(_("the model's context of %d tokens is full"), d->room);
    return status_failed(_("the model gives no distribution here: its logits are not numbers"));
}

/* One token forward, generated when it is not known yet. */
static Status forward(Lab *l) {
    Decoding *d = &l->decode;
    decode_refresh(l);
    d->position = decode_visible(d);
    if (d->position == d->known) {
        if (!generate(l)) return cannot_go_on(d);
        d->wanted = d->known - d->prompt;
    }
    d->position++;
    return status_ok();
}

/* As far as it goes: only the first step may be refused. */
static Status forward_by(Lab *l, long n) {
    STATUS_TRY(forward(l));
    for (long i = 1; i < n; i++) {
        Status s = forward(l);
        if (!status_is_ok(&s)) break;
    }
    return status_ok();
}

static Status token_to(Lab *l, const char *text) {
    Decoding *d = &l->decode;
    long to;
    STATUS_TRY(lab_number(_("a position"), text, 1, d->room, &to));
    decode_refresh(l);
    d->position = to < d->known ? (int)to : d->known;
    while (d->position < to) STATUS_TRY(forward(l));
    return status_ok();
}

Status lab_do_token(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    const char *what = w->word[1];
    long n = 1;
    d->running = false;
    if (strcmp(what, "to") == 0 && w->count == 3) return token_to(l, w->word[2]);
    bool next = strcmp(what, "next") == 0;
    if (!next && strcmp(what, "back") != 0)
        return status_usage(_("allowed are 'token next [N]', 'token back [N]' and 'token to N'"));
    if (w->count == 3) STATUS_TRY(lab_number(_("tokens"), w->word[2], 1, d->room, &n));
    if (next) return forward_by(l, n);
    decode_refresh(l);
    int visible = decode_visible(d);
    if (visible == 1) return status_usage(_("only <s> is left; there is nothing before it"));
    d->position = visible > n ? visible - (int)n : 1;
    return status_ok();
}

/* The clock. */

double decode_wait(const Lab *l) {
    const Decoding *d = &l->decode;
    if (!d->running) return (double)INFINITY;
    double wait = d->paced ? d->due - clock_now() : 0;
    return wait > 0 ? wait : 0;
}

bool decode_turn(Lab *l) {
    Decoding *d = &l->decode;
    if (decode_wait(l) > 0) return false;
    Status s = forward(l);
    d->running = status_is_ok(&s) && !(decode_visible(d) == d->known && (ended(d) || d->known == d->room));
    d->due = clock_now() + 1 / d->rate;
    return true;
}

Status lab_do_decode(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    bool run = strcmp(w->word[1], "run") == 0;
    if (!run && (strcmp(w->word[1], "pause") != 0 || w->count > 2))
        return status_usage(_("decode: allowed are 'decode run [TOKENS PER SECOND]' and 'decode pause'"));
    double rate = d->rate;
    if (w->count > 2 && (!str_to_double(w->word[2], &rate) || !(rate > 0) || rate > 1000))
        return status_usage(_("tokens per second must be above 0 and at most 1000, not '%s'"), w->word[2]);
    d->rate = rate;
    decode_refresh(l);
    bool at_end = decode_visible(d) == d->known && (ended(d) || d->known == d->room);
    if (run && at_end) return cannot_go_on(d);
    d->running = run;
    d->due = clock_now();
    return status_ok();
}

/* How tokens are drawn. */

static const Option filter_rows[] = {
    {"tau", OPTION_REAL, NULL, 0, 100, NULL, "", N_("temperature; 0: always the likeliest")},
    {"top_k", OPTION_INT, NULL, 0, 1e6, NULL, "tokens", N_("keep the k likeliest; 0: off")},
    {"top_p", OPTION_REAL, NULL, 0, 1, NULL, "", N_("keep the smallest set whose sum reaches p; 1: off")},
    {"order", OPTION_CHOICE, NULL, 0, 0, "tau_first|tau_last", "", N_("temperature before or after the cuts")},
    {"seed", OPTION_INT, NULL, 0, 9007199254740992.0, NULL, "", N_("of the draws; at first the run's")},
    {0},
};

/* The words from FIRST on. */
static Status read_filter(Options *o, const Words *w, int first, FilterConfig *c) {
    STATUS_TRY(options_set_pairs(o, w->word + first, w->count - first));
    if (options_is_set(o, "tau")) c->tau = options_real(o, "tau");
    if (options_is_set(o, "top_k")) c->top_k = (int)options_int(o, "top_k");
    if (options_is_set(o, "top_p")) c->top_p = options_real(o, "top_p");
    if (options_is_set(o, "order")) c->order = options_choice(o, "order") ? ORDER_TAU_LAST : ORDER_TAU_FIRST;
    return filter_check(c);
}

uint64_t decode_seed(const Lab *l) {
    return l->decode.seed_given ? l->decode.seed : run_seed(l->train.live);
}

Status lab_do_filter(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    FilterConfig c = d->filter;
    bool greedy = strcmp(w->word[1], "greedy") == 0, draw = strcmp(w->word[1], "draw") == 0;
    Options *o = options_new(filter_rows);
    Status s = read_filter(o, w, greedy || draw ? 2 : 1, &c);
    if (status_is_ok(&s) && options_is_set(o, "seed")) {
        d->seed = (uint64_t)options_int(o, "seed");
        d->seed_given = true;
    }
    options_free(o);
    if (!status_is_ok(&s)) return s;
    d->filter = c;
    d->sampling = !greedy;
    d->stale = true;
    return status_ok();
}

/* Looking. */

/* Only a look at what would be: the sentence stays as it is. */
Status lab_do_poke(Lab *l, const Words *w) {
    long position;
    int id = -1;
    if (l->decode.room < 2) return status_usage(_("the context of this model has no room for a word"));
    STATUS_TRY(lab_number(_("a position (1: the first word)"), w->word[1], 1, l->decode.room - 1, &position));
    const char *word = w->count < 3 ? NULL : w->count == 3 ? w->word[2] : w->rest[2];
    Status s = word ? swap_read_token(run_corpus(l->train.live)->vocab, word, &id) : status_ok();
    if (!status_is_ok(&s)) return status_usage(_("the model knows no word '%s'"), word);
    l->poke = (int)position;
    l->poke_id = id;
    return status_ok();
}

Status lab_do_operation(Lab *l, const Words *w) {
    long number;
    STATUS_TRY(lab_number(_("an operation"), w->word[1], 0, 1000000, &number));
    l->operation = (int)number;
    return status_ok();
}

/* Facts. */

void decode_facts(const Lab *l, SnapshotFacts *f) {
    const Decoding *d = &l->decode;
    f->decode_running = d->running;
    f->prompt_tokens = d->prompt;
    f->generated_tokens = d->known - d->prompt;
    f->position = decode_visible(d);
    f->ended = ended(d);
    f->sampling = d->sampling;
    f->tau = d->filter.tau;
    f->top_k = d->filter.top_k;
    f->top_p = d->filter.top_p;
    f->tau_last = d->filter.order == ORDER_TAU_LAST;
    f->draw_seed = decode_seed(l);
    f->probe_window = l->window;
    tamper_facts(l, f);
}

/* State as commands. */

static void add_line(Table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(Table *t, const char *format, ...) {
    Str line;
    va_list args;
    str_init(&line);
    va_start(args, format);
    str_addv(&line, format, args);
    va_end(args);
    table_add_text(t, line.s);
    str_done(&line);
}

/* As it reads, unless quotes in it would be taken for those of the line, or blanks at its ends for those around it. */
static void add_prompt(Table *t, const char *text) {
    Str line;
    size_t n = strlen(text);
    bool blank = n > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[n - 1]));
    str_init(&line);
    str_add(&line, "prompt ");
    if (blank || strpbrk(text, "\"\\") || text[0] == '\'')
        command_add_quoted(&line, text);
    else
        str_add(&line, text);
    table_add_text(t, line.s);
    str_done(&line);
}

static void add_poke(Table *t, const Lab *l) {
    Str line;
    if (l->poke <= 0) return;
    str_init(&line);
    str_addf(&line, "poke %d", l->poke);
    if (l->poke_id >= 0) {
        str_add_char(&line, ' ');
        swap_add_token(run_corpus(l->train.live)->vocab, l->poke_id, &line);
    }
    table_add_text(t, line.s);
    str_done(&line);
}

static void add_filter(Table *t, const Decoding *d) {
    if (d->seed_given) add_line(t, "filter seed=%llu", (unsigned long long)d->seed);
    if (d->seed_given && !d->sampling) add_line(t, "filter greedy");
    if (!d->sampling) return;
    Str tau, top_p;
    str_init(&tau);
    str_init(&top_p);
    str_add_double(&tau, d->filter.tau);
    str_add_double(&top_p, d->filter.top_p);
    add_line(t, "filter tau=%s top_k=%d top_p=%s order=%s", tau.s, d->filter.top_k, top_p.s,
             d->filter.order == ORDER_TAU_LAST ? "tau_last" : "tau_first");
    str_done(&tau);
    str_done(&top_p);
}

Table *decode_state(const Lab *l) {
    static const Column columns[] = {{"line", COLUMN_TEXT, ""}, {0}};
    const ModelConfig *c = model_config(run_model(lab_shown(l)));
    const Decoding *d = &l->decode;
    Table *t = table_new("state", columns);
    add_prompt(t, d->text.s);
    for (int i = 0; i < c->layers * c->heads; i++)
        if (l->head_off[i]) add_line(t, "head %d %d off", i / c->heads + 1, i % c->heads + 1);
    if (l->window == 0) add_line(t, "window none");
    if (l->window > 0) add_line(t, "window %d", l->window);
    add_poke(t, l);
    add_filter(t, d);
    beam_add_state(l, t);
    swap_state(l, t);
    add_line(t, "token to %d", decode_visible(d));
    return t;
}
