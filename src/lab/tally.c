#include "tally.h"

#include "bug.h"
#include "mem.h"
#include "str.h"
#include "text/texts.h"
#include "tokens.h"

#include <math.h>
#include <string.h>

struct Judge {
    Language *language, *loose; /* loose: without the habits; NULL: there is no such rule */
    const Vocab *vocab;
    Str prompt;    /* its tokens by name, without <s> */
    int prompts;   /* how many those are */
    Texts texts;   /* text 0 stands for nothing: each has a mark at its end */
    Verdict *said; /* [texts.count] */
    int saids, capacity;
    Str text;
};

/* A text that ended and one that did not are two texts: the last byte. */
#define ENDED   "."
#define UNENDED "-"

/* A row of the model without a name is no word of any grammar either. */
static void add_name(Str *out, const Vocab *v, int id) {
    const char *name = tokens_name(v, id);
    if (out->len) str_add(out, " ");
    if (*name)
        str_add(out, name);
    else
        str_addf(out, "<%d>", id);
}

Judge *judge_new(const Grammar *g, const Language *l, const Vocab *v, const int *ids, int n) {
    Judge *j = MEM_NEW(Judge);
    j->vocab = v;
    if (l) j->language = language_copy(l);
    if (g && l) {
        Status s = language_new(g, "grammatical", NULL, &j->loose);
        if (!status_is_ok(&s)) j->loose = NULL;
    }
    str_init(&j->prompt);
    str_init(&j->text);
    texts_init(&j->texts);
    for (int i = 0; i < n; i++)
        if (i > 0 || ids[i] != VOCAB_BOS) add_name(&j->prompt, v, ids[i]), j->prompts++;
    return j;
}

void judge_free(Judge *j) {
    if (!j) return;
    if (j->language) language_free(j->language);
    if (j->loose) language_free(j->loose);
    str_done(&j->prompt);
    str_done(&j->text);
    texts_done(&j->texts);
    mem_free(j->said);
    mem_free(j);
}

bool judge_knows(const Judge *j) {
    return j->language;
}

void judge_text(const Judge *j, int text, Str *out) {
    BUG_ON(text < 1 || text >= j->saids);
    str_add_n(out, texts_bytes(&j->texts, text), (size_t)j->texts.length[text] - strlen(ENDED));
}

/* A text of TOKENS generated tokens that ended. */
static Status ask(Judge *j, const char *text, int tokens, Verdict *v) {
    double *step;
    int words;
    STATUS_TRY(language_steps(j->language, text, &step, &words));
    double sum = 0;
    for (int i = 0; i <= words; i++)
        if (i >= j->prompts || isinf(step[i])) sum += step[i];
    mem_free(step);
    v->log_p = sum;
    v->tokens = tokens;
    v->possible = v->legal = !isinf(sum);
    if (v->possible || !j->loose) return status_ok();
    double loose;
    STATUS_TRY(language_log_p(j->loose, text, &loose));
    v->legal = !isinf(loose);
    return status_ok();
}

/* The verdict of a new text, else the one of before. */
static Status judge_it(Judge *j, int tokens, bool ended, Verdict *out) {
    str_add(&j->text, ended ? ENDED : UNENDED);
    int text = texts_add(&j->texts, j->text.s, j->text.len);
    j->text.s[j->text.len - 1] = '\0';
    while (j->saids <= text) {
        MEM_GROW(j->said, j->saids, j->capacity);
        j->said[j->saids++] = (Verdict){0};
    }
    Verdict *v = &j->said[text];
    if (v->text == 0) {
        Verdict fresh = {.log_p = (double)-INFINITY, .tokens = tokens, .text = text, .ended = ended};
        if (ended && j->language) STATUS_TRY(ask(j, j->text.s, tokens, &fresh));
        *v = fresh;
    }
    *out = *v;
    return status_ok();
}

Status judge_sentence(Judge *j, const int *ids, int n, bool ended, Verdict *out) {
    str_clear(&j->text);
    str_add_n(&j->text, j->prompt.s, j->prompt.len);
    for (int i = 0; i < n - ended; i++) add_name(&j->text, j->vocab, ids[i]);
    return judge_it(j, n, ended, out);
}

Status judge_sample(Judge *j, Rng *r, Verdict *out) {
    BUG_ON(!j->language || j->prompts);
    str_clear(&j->text);
    STATUS_TRY(language_sample(j->language, r, &j->text));
    int tokens = 1; /* END */
    for (const char *s = j->text.s; *s; s++) tokens += s == j->text.s || *s == ' ';
    return judge_it(j, tokens, true, out);
}

/* ---- counting ---- */

void tally_init(Tally *t) {
    *t = (Tally){0};
}

void tally_done(Tally *t) {
    mem_free(t->seen);
    *t = (Tally){0};
}

static void see(Tally *t, const Verdict *v) {
    if (v->text >= t->seens) {
        int more = v->text + 1 > 2 * t->seens ? v->text + 1 : 2 * t->seens;
        t->seen = mem_resize(t->seen, (size_t)more, sizeof *t->seen);
        memset(t->seen + t->seens, 0, (size_t)(more - t->seens) * sizeof *t->seen);
        t->seens = more;
    }
    if (t->seen[v->text]) return;
    t->seen[v->text] = true;
    t->distinct++;
    if (v->possible) t->coverage += exp(v->log_p);
}

void tally_add(Tally *t, const Verdict *v, long times) {
    t->sentences += times;
    see(t, v);
    if (v->legal) t->legal += times;
    if (!v->possible) return;
    t->possible += times;
    t->nll += (double)times * (-v->log_p / v->tokens);
}

const Column tally_columns[] = {{"strategy", COLUMN_TEXT, ""},
                                {"legal", COLUMN_DOUBLE, ""},
                                {"possible", COLUMN_DOUBLE, ""},
                                {"true_nll", COLUMN_DOUBLE, "nats/token"},
                                {"distinct", COLUMN_DOUBLE, ""},
                                {"coverage", COLUMN_DOUBLE, ""},
                                {0}};

static void add_share(Table *to, bool known, double part, double all) {
    if (known && all > 0)
        table_add_real(to, part / all);
    else
        table_add_empty(to);
}

void tally_add_cells(const Tally *t, bool known, Table *to) {
    double all = (double)t->sentences;
    add_share(to, known, (double)t->legal, all);
    add_share(to, known, (double)t->possible, all);
    add_share(to, known, t->nll, (double)t->possible);
    add_share(to, true, (double)t->distinct, all);
    add_share(to, known && all > 0, t->coverage, 1);
}

void tally_add_row(const Tally *t, const char *strategy, bool known, Table *to) {
    table_add_text(to, strategy);
    tally_add_cells(t, known, to);
}

void tally_about(Study *s) {
    study_about(s, "shares", "of all sentences of the strategy");
    study_about(s, "legal_rule",
                "the grammar's rule `grammatical` can write it (the farm without the animals' habits), or it is "
                "possible; what does not end is neither");
    study_about(s, "possible_rule", "its exact probability is above 0");
    study_about(s, "true_nll_rule", "mean over the possible sentences of their -log p / tokens, END counted");
    study_about(s, "distinct_rule", "different texts, impossible ones too");
    study_about(s, "coverage_rule", "sum of the exact probabilities of the different sentences");
    study_about(s, "logarithms", "natural (nats)");
}
