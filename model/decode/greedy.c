#include "decode/greedy.h"

#include "bug.h"
#include "cancel.h"
#include "decode/log_softmax.h"
#include "mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SAME_P 1e-9 /* the truth's probabilities nearer than this are equal */

void path_init(Path *p) {
    *p = (Path){0};
}

void path_done(Path *p) {
    mem_free(p->step);
    *p = (Path){0};
}

static void begin(Path *p) {
    p->count = 0;
    p->ended = false;
    p->log_p = p->true_log_p = 0;
}

static void add(Path *p, const PathStep *step, int end) {
    MEM_GROW(p->step, p->count, p->capacity);
    p->step[p->count++] = *step;
    p->ended = step->id == end;
    p->log_p += step->log_p;
    p->true_log_p += log(step->true_p);
}

void path_words(const Vocab *v, const int *ids, int n, Str *out) {
    const char *blank = "";
    for (int i = 0; i < n; i++) {
        if (!vocab_is_word(v, ids[i])) continue;
        str_add(out, blank);
        str_add(out, vocab_token(v, ids[i]));
        blank = " ";
    }
}

int greedy_best(const real *logits, int vocabulary) {
    int best = 0;
    for (int i = 1; i < vocabulary; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* The likeliest id and its probability. */
static PathStep likeliest(const real *logits, int vocabulary) {
    int best = greedy_best(logits, vocabulary);
    double log_p = log_softmax_of(vocabulary, logits, best);
    return (PathStep){.id = best, .p = exp(log_p), .log_p = log_p, .true_p = (double)NAN};
}

/* Writes the language's opinion of the steps beside them: one pass over the whole sentence. After the first step that
 * is no word nothing is possible; END itself may be. */
static Status add_truth(Path *p, const Vocab *v, Language *l, const int *ids, int n) {
    int words = 0, before = 0;
    for (int i = 0; i < n; i++) before += vocab_is_word(v, ids[i]);
    Str text;
    str_init(&text);
    path_words(v, ids, n, &text);
    for (; words < p->count && vocab_is_word(v, p->step[words].id); words++) {
        if (text.len) str_add_char(&text, ' ');
        str_add(&text, vocab_token(v, p->step[words].id));
    }
    double *log_p;
    int tokens;
    Status s = language_steps(l, text.s, &log_p, &tokens);
    str_done(&text);
    if (!status_is_ok(&s)) return s;
    BUG_ON(tokens != before + words);
    p->true_log_p = 0;
    for (int i = 0; i < p->count; i++) {
        bool possible = i < words || (i == words && p->step[i].id == VOCAB_EOS);
        double step_log_p = possible ? log_p[before + i] : (double)-INFINITY;
        p->step[i].true_p = exp(step_log_p);
        p->true_log_p += step_log_p;
    }
    mem_free(log_p);
    return status_ok();
}

Status greedy_model(Decoder *d, int vocabulary, const Vocab *v, int end, Language *l, const int *ids, int n, int most,
                    Path *out) {
    BUG_ON(n < 1);
    begin(out);
    decoder_reset(d);
    const real *logits = decoder_feed(d, 0, ids, n);
    while (out->count < most && !cancel_wanted()) {
        PathStep step = likeliest(logits, vocabulary);
        add(out, &step, end);
        if (out->ended || decoder_room(d, 0) < 1) break;
        logits = decoder_feed(d, 0, &step.id, 1);
    }
    return l ? add_truth(out, v, l, ids, n) : status_ok();
}

/* Of the likeliest the one with the lowest id: END, which is last in the list, then the first; NULL: there is none. */
static const NextToken *truest(const NextList *list) {
    double most = 0;
    for (int i = 0; i < list->count; i++) most = fmax(most, list->next[i].p);
    const NextToken *last = list->count ? &list->next[list->count - 1] : NULL;
    if (last && last->p > most - SAME_P && strcmp(last->token, "</s>") == 0) return last;
    for (int i = 0; i < list->count; i++)
        if (list->next[i].p > most - SAME_P) return &list->next[i];
    return NULL;
}

Status greedy_truth(Language *l, const Vocab *v, const int *ids, int n, int most, Path *out) {
    begin(out);
    Str words;
    str_init(&words);
    path_words(v, ids, n, &words);
    Status s = status_ok();
    while (out->count < most && !out->ended) {
        NextList list;
        s = language_next(l, words.s, &list);
        if (!status_is_ok(&s)) break;
        const NextToken *best = truest(&list);
        if (best) {
            int id = vocab_find(v, best->token, strlen(best->token));
            BUG_ON(id < 0);
            add(out, &(PathStep){.id = id, .p = best->p, .log_p = log(best->p), .true_p = best->p}, VOCAB_EOS);
            if (words.len) str_add_char(&words, ' ');
            str_add(&words, best->token);
        }
        bool none = !best;
        next_list_done(&list);
        if (none) break;
    }
    str_done(&words);
    return s;
}
