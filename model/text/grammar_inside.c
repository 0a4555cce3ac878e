/* Exact probabilities of a text, of each of its steps, and of what comes next, by inside sums over goals and positions.
 *
 * Positions: a byte of the text. CHART_NEXT: length + 1 + t is one token t behind the text, not yet over. Ends that
 * nothing can change (chart_end): CHART_STEPS, how far the text agrees; CHART_NEXT, the token that is over. */
#include "grammar.h"
#include "grammar_chart.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int chart_end(int what) {
    return CHART_FAIL - 1 - what;
}

static int chart_end_what(int pos) {
    return CHART_FAIL - 1 - pos;
}

/* CHART_STEPS: the text went another way behind BLANKS blanks of ours, and COMPLETE: the token behind them agreed. */
static int chart_parted(int blanks, bool complete) {
    return chart_end(blanks * 2 + complete);
}

/* ---- Writing at a position ---- */

/* A blank, and that something follows. */
static int chart_blank(const Chart *c, int pos, double *p) {
    if (pos > c->length) return chart_end(pos - c->length - 1);
    if (c->text.s[pos] == ' ') {
        *p *= c->scale;
        return pos + 1;
    }
    if (c->mode == CHART_NEXT && pos == c->length) return pos + 1;
    if (c->mode != CHART_STEPS) return CHART_FAIL;
    return chart_parted(c->blanks[pos], pos == c->length && c->length > 0);
}

/* S[n] without blanks, inside the text. */
static int chart_match(const Chart *c, int pos, const char *s, int n) {
    int i = 0;
    while (i < n && pos + i < c->length && c->text.s[pos + i] == s[i]) i++;
    if (i == n) return pos + n;
    return c->mode == CHART_STEPS ? chart_parted(c->blanks[pos + i], false) : CHART_FAIL;
}

/* The token that a position behind the text has so far. */
static int chart_token(const Chart *c, int pos) {
    return pos - c->length - 1;
}

/* A text with blanks in it, token by token. */
static int chart_write_tokens(Language *l, int pos, const char *s, double *p) {
    for (;;) {
        int n = (int)strcspn(s, " ");
        if (pos <= l->chart->length)
            pos = chart_match(l->chart, pos, s, n);
        else
            pos = l->chart->length + 1 +
                  texts_join(&l->texts, chart_token(l->chart, pos), texts_add(&l->texts, s, (size_t)n), 0);
        if (pos < 0 || s[n] == '\0') return pos;
        pos = chart_blank(l->chart, pos, p);
        if (pos < 0) return pos;
        s += n + 1;
    }
}

static int chart_write(Language *l, int pos, int text, double *p) {
    const char *s = texts_bytes(&l->texts, text);
    int n = l->texts.length[text];
    if (!memchr(s, ' ', (size_t)n)) {
        if (pos <= l->chart->length) return chart_match(l->chart, pos, s, n);
        return l->chart->length + 1 + texts_join(&l->texts, chart_token(l->chart, pos), text, 0);
    }
    char *copy = mem_text_n(s, (size_t)n); /* joining may move the texts */
    pos = chart_write_tokens(l, pos, copy, p);
    mem_free(copy);
    return pos;
}

/* What was written between two positions, as a text. */
static int chart_between(Language *l, int from, int to) {
    const Chart *c = l->chart;
    if (to <= c->length) return texts_add(&l->texts, c->text.s + from, (size_t)(to - from));
    Str s;
    str_init(&s);
    if (from <= c->length) {
        str_add_n(&s, c->text.s + from, (size_t)(c->length - from));
        str_add_char(&s, ' ');
        str_add(&s, texts_bytes(&l->texts, chart_token(c, to)));
    } else {
        str_add(&s, texts_bytes(&l->texts, chart_token(c, to)) + l->texts.length[chart_token(c, from)]);
    }
    int text = texts_add(&l->texts, s.s, s.len);
    str_done(&s);
    return text;
}

static void chart_put(Walk *w, int pos, double p) {
    if (pos >= 0)
        walk_add(w, pos, WRITE_IN, p);
    else if (pos != CHART_FAIL)
        walk_finish(w, pos, p);
}

static bool inside_text(Walk *w, int text) {
    double p = 1;
    int pos = w->item.pos;
    if (w->item.flag == WRITE_BETWEEN) pos = chart_blank(w->language->chart, pos, &p);
    if (pos >= 0) pos = chart_write(w->language, pos, text, &p);
    chart_put(w, pos, p);
    return true;
}

static bool inside_goal(Walk *w, int goal, int slot) {
    Language *l = w->language;
    if (!language_empty(l, goal)) return false;
    if (l->goal[goal].empty > 0) {
        if (slot >= 0) w->env[slot] = 0;
        walk_add(w, w->item.pos, w->item.flag, l->goal[goal].empty);
    }
    double p = 1;
    int pos = w->item.pos, first, ends;
    if (w->item.flag == WRITE_BETWEEN) pos = chart_blank(l->chart, pos, &p);
    if (pos < 0) {
        if (l->goal[goal].nonempty > 0) chart_put(w, pos, p * l->goal[goal].nonempty);
        return true;
    }
    if (!chart_inside(l, goal, pos, &first, &ends)) return false;
    for (int i = first; i < first + ends; i++) {
        End end = l->chart->end[i];
        if (slot >= 0 && end.pos >= 0) w->env[slot] = chart_between(l, pos, end.pos);
        chart_put(w, end.pos, p * end.p);
    }
    return true;
}

static const Engine inside_engine = {.text = inside_text, .goal = inside_goal};

/* ---- Scale: a factor per blank, so that the sums of a long text stay within the range of double ---- */

/* What counts: for CHART_EXACT only the end of the text. */
static double chart_sum(const Chart *c, int first, int ends) {
    double sum = 0;
    for (int i = first; i < first + ends; i++)
        if (c->mode != CHART_EXACT || c->end[i].pos == c->length) sum += c->end[i].p;
    return sum;
}

/* Whether a finite sum is exact. For CHART_STEPS the smallest end counts as much as the largest. */
static bool chart_is_exact(const Chart *c, double sum) {
    return !c->underflow || (c->mode != CHART_STEPS && sum > 1e-280);
}

/* Works out where the start goal's texts end; when sums underflow, again with another scale. *sum is the scaled sum. */
static bool chart_solve(Language *l, int pos, int *first, int *ends, double *sum) {
    Chart *c = l->chart;
    double low = 0, high = 50; /* logarithm of the scale: too small, too large */
    for (int tries = 0; tries < 60; tries++) {
        if (!chart_inside(l, l->start, pos, first, ends)) return false;
        *sum = chart_sum(c, *first, *ends);
        if (isfinite(*sum) && chart_is_exact(c, *sum)) return true;
        if (isfinite(*sum))
            low = log(c->scale);
        else
            high = log(c->scale);
        chart_restart(c, exp((low + high) / 2));
    }
    return language_refuse(l, status_failed(_("the probability of this text is too small to be worked out")));
}

/* ---- Questions ---- */

Status language_log_p(Language *l, const char *text, double *log_p) {
    Chart *c = chart_begin(l, &inside_engine, CHART_EXACT, text);
    int first, ends;
    double sum;
    if (!status_is_ok(&l->status)) return l->status;
    if (c->length == 0) {
        if (!language_empty(l, l->start)) return l->status;
        *log_p = log(l->goal[l->start].empty);
        return status_ok();
    }
    if (!chart_solve(l, 0, &first, &ends, &sum)) return l->status;
    *log_p = sum > 0 ? log(sum) - (c->tokens - 1) * log(c->scale) : -(double)INFINITY;
    return status_ok();
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b) {
    if (a < b) return log_add(b, a);
    return b == -(double)INFINITY ? a : a + log1p(exp(b - a));
}

/* AGREE[i]: log-probability that exactly I tokens of the text come first, [tokens] without those that are the text;
 * *whole: that it is the text. */
static void steps_gather(const Language *l, int first, int ends, double *agree, double *whole) {
    const Chart *c = l->chart;
    for (int i = first; i < first + ends; i++) {
        End end = c->end[i];
        int blanks, complete;
        if (end.pos >= 0) {
            blanks = c->blanks[end.pos];
            complete = end.pos == c->length || c->text.s[end.pos] == ' ';
        } else {
            blanks = chart_end_what(end.pos) / 2;
            complete = chart_end_what(end.pos) % 2;
        }
        double log_p = log(end.p) - blanks * log(c->scale);
        double *to = end.pos == c->length ? whole : &agree[blanks + complete];
        *to = log_add(*to, log_p);
    }
}

/* From "exactly I tokens agree" to the conditional probabilities: STEP[n + 1]. */
static void steps_divide(const double *agree, double whole, int n, double *step) {
    double after = log_add(agree[n], whole); /* at least i tokens agree */
    step[n] = after == -(double)INFINITY ? after : whole - after;
    for (int i = n - 1; i >= 0; i--) {
        double at_least = log_add(after, agree[i]);
        step[i] = at_least == -(double)INFINITY ? at_least : after - at_least;
        after = at_least;
    }
    for (int i = 0; i < n; i++)
        if (step[i] == -(double)INFINITY) step[i + 1] = step[i];
}

static bool steps_solve(Language *l, double *agree, double *whole) {
    int first, ends;
    double sum;
    if (!language_empty(l, l->start) || !chart_solve(l, 0, &first, &ends, &sum)) return false;
    for (int i = 0; i <= l->chart->tokens; i++) agree[i] = -(double)INFINITY;
    *whole = -(double)INFINITY;
    steps_gather(l, first, ends, agree, whole);
    double *nothing = l->chart->length == 0 ? whole : &agree[0];
    *nothing = log_add(*nothing, log(l->goal[l->start].empty));
    return true;
}

Status language_steps(Language *l, const char *text, double **log_p, int *n) {
    Chart *c = chart_begin(l, &inside_engine, CHART_STEPS, text);
    *log_p = NULL;
    *n = 0;
    if (!status_is_ok(&l->status)) return l->status;
    double *agree = MEM_ARRAY(double, (size_t)c->tokens + 1), whole;
    if (steps_solve(l, agree, &whole)) {
        *n = c->tokens;
        *log_p = MEM_ARRAY(double, (size_t)c->tokens + 1);
        steps_divide(agree, whole, *n, *log_p);
    }
    mem_free(agree);
    return l->status;
}

/* ---- Next ---- */

static int next_compare(const void *a, const void *b) {
    return strcmp(((const NextToken *)a)->token, ((const NextToken *)b)->token);
}

/* Gathers the tokens behind the text in chart->found (pos: the token); *end is END. */
static void next_gather(Language *l, int first, int ends, double *end) {
    Chart *c = l->chart;
    frontier_clear(&c->found);
    *end = c->length == 0 ? l->goal[l->start].empty : 0;
    for (int i = first; i < first + ends; i++) {
        int pos = c->end[i].pos;
        if (pos == c->length) *end += c->end[i].p;
        if (pos < 0) frontier_add(&c->found, 0, NULL, NULL, 0, chart_end_what(pos), WRITE_IN, c->end[i].p);
        if (pos > c->length) frontier_add(&c->found, 0, NULL, NULL, 0, chart_token(c, pos), WRITE_IN, c->end[i].p);
    }
}

/* One block of memory: the list, then its texts. */
static void next_list(const Language *l, double end, NextList *out) {
    const Frontier *found = &l->chart->found;
    int n = found->items + (end > 0);
    double sum = end;
    size_t bytes = sizeof "</s>";
    for (int i = 0; i < found->items; i++) {
        bytes += (size_t)l->texts.length[found->item[i].pos] + 1;
        sum += found->item[i].p;
    }
    out->next = mem_alloc((size_t)n * sizeof *out->next + bytes);
    char *to = (char *)(out->next + n);
    for (int i = 0; i < found->items; i++) {
        out->next[i] = (NextToken){.token = to, .p = found->item[i].p / sum};
        strcpy(to, texts_bytes(&l->texts, found->item[i].pos));
        to += strlen(to) + 1;
    }
    qsort(out->next, (size_t)found->items, sizeof *out->next, next_compare);
    if (end > 0) out->next[n - 1] = (NextToken){.token = strcpy(to, "</s>"), .p = end / sum};
    out->count = n;
}

Status language_next(Language *l, const char *prefix, NextList *out) {
    Chart *c = chart_begin(l, &inside_engine, CHART_NEXT, prefix);
    *out = (NextList){0};
    if (!status_is_ok(&l->status) || !language_empty(l, l->start)) return l->status;
    int first, ends;
    double sum, end;
    if (!chart_solve(l, c->length == 0 ? 1 : 0, &first, &ends, &sum)) return l->status;
    next_gather(l, first, ends, &end);
    if (c->found.items > 0 || end > 0) next_list(l, end, out);
    return status_ok();
}

void next_list_done(NextList *n) {
    mem_free(n->next);
    *n = (NextList){0};
}
