/* Tests of the training clock: what the model is worth on sentences kept for it, on the way and when it is asked. */
#include "lab_internal.h"
#include "tune.h"

#include "intl.h"
#include "mem.h"

#include <math.h>
#include <string.h>

/* While it runs. A test costs less than a step. */
enum { TEST_FIRST = 50, TEST_EVERY = 100, TEST_SENTENCES = 128 };
/* Of a model that is fine-tuned, whose steps are small and whose plan may be short. */
enum { TUNE_TEST_EVERY = 25, TUNE_TESTS_LEAST = 8, TUNE_TEST_SENTENCES = 64 };
#define TUNE_TEST_WORK 2e11 /* floating-point operations of a test: a second or so */

static const Column test_columns[] = {EVAL_COLUMNS, {0}};

void eval_show(TrainClock *t) {
    table_free(t->test);
    t->test = table_new("test", test_columns);
    for (int i = 0; i < t->evaluations; i++) {
        const Evaluation *e = &t->evaluation[i];
        table_add_int(t->test, e->step);
        table_add_int(t->test, e->tokens);
        table_add_real(t->test, e->nll);
        table_add_real(t->test, exp(e->nll));
        table_add_known(t->test, exp(e->floor)); /* NaN: the language is not known */
    }
}

/* In its place by step; another one of the same step is replaced. */
static void add(TrainClock *t, const Evaluation *e) {
    int at = t->evaluations;
    while (at > 0 && t->evaluation[at - 1].step >= e->step) at--;
    if (at == t->evaluations || t->evaluation[at].step != e->step) {
        MEM_GROW(t->evaluation, t->evaluations, t->evaluation_capacity);
        memmove(t->evaluation + at + 1, t->evaluation + at, (size_t)(t->evaluations - at) * sizeof *e);
        t->evaluations++;
    }
    t->evaluation[at] = *e;
    eval_show(t);
}

void eval_forget_after(TrainClock *t, long step) {
    while (t->evaluations > 0 && t->evaluation[t->evaluations - 1].step > step) t->evaluations--;
    eval_show(t);
}

void eval_facts(const TrainClock *t, long step, SnapshotFacts *f) {
    for (int i = 0; i < t->evaluations && t->evaluation[i].step <= step; i++) {
        f->test_nll = t->evaluation[i].nll;
        f->floor_nll = t->evaluation[i].floor;
        f->test_step = t->evaluation[i].step;
        f->test_whole = t->evaluation[i].whole;
    }
}

/* Tests the model looked at on N sentences (negative: all). */
static Status evaluate(Lab *l, long n, Evaluation *e) {
    Run *r = lab_shown(l);
    e->step = run_done(r);
    e->whole = n < 0 || n >= run_corpus(r)->test.sentences;
    STATUS_TRY(run_test_nll(r, n, &e->nll, &e->floor, &e->tokens));
    add(&l->train, e);
    return status_ok();
}

static void say(Lab *l, const Evaluation *e) {
    if (isnan(e->floor))
        lab_say(l, MESSAGE_INFORMATION, _("step %ld: test perplexity %.4f (%ld tokens)"), e->step, exp(e->nll),
                e->tokens);
    else
        lab_say(l, MESSAGE_INFORMATION,
                _("step %ld: test perplexity %.4f, %.2f %% above the floor of %.4f (%ld tokens)"), e->step, exp(e->nll),
                100 * (exp(e->nll - e->floor) - 1), exp(e->floor), e->tokens);
}

/* Sentences of a test on the way: always the same, so that tests can be compared. */
static long test_sentences(Run *r) {
    if (!run_tunes(r)) return TEST_SENTENCES;
    size_t parameters = model_read_params(run_model(r))->count;
    return tune_affordable(parameters, &run_corpus(r)->test, TUNE_TEST_WORK, TUNE_TEST_SENTENCES);
}

static bool is_tested(const Run *r, long done) {
    long every = run_steps(r) / TUNE_TESTS_LEAST;
    if (!run_tunes(r)) return done == TEST_FIRST || done % TEST_EVERY == 0;
    return done % (every < 1 ? 1 : every > TUNE_TEST_EVERY ? TUNE_TEST_EVERY : every) == 0;
}

void eval_on_the_way(Lab *l) {
    TrainClock *t = &l->train;
    long done = run_done(t->live);
    bool last = done == run_steps(t->live);
    if (!last && !is_tested(t->live, done)) return;
    Evaluation e;
    shards_set_threads(run_shards(t->live), lab_threads(l->options)); /* one of two runs has a share of them else */
    Status s = evaluate(l, last ? -1 : test_sentences(t->live), &e);
    if (!status_is_ok(&s))
        lab_say(l, MESSAGE_WARNING, "%s", s.text);
    else if (last)
        say(l, &e);
}

void eval_say_tuned(Lab *l) {
    Run *r = l->train.live;
    const Corpus *c = run_corpus(r);
    Evaluation e;
    Status s = evaluate(l, test_sentences(r), &e);
    if (!status_is_ok(&s)) {
        lab_say(l, MESSAGE_WARNING, "%s", s.text);
        return;
    }
    Str more;
    str_init(&more);
    if (c->left_out > 0)
        str_addf(&more,
                 ngettext("; %ld character of the text has no token and is left out",
                          "; %ld characters of the text have no token and are left out", (unsigned long)c->left_out),
                 c->left_out);
    if (!run_keeps_past(r)) str_add(&more, _("; there is no memory to go back in its past"));
    lab_say(l, more.len ? MESSAGE_WARNING : MESSAGE_INFORMATION,
            _("%s learns %ld parts of %s; on the parts kept for testing its perplexity is %.4g as it was read%s"),
            l->name, c->train.sentences, c->name, exp(e.nll), more.s);
    str_done(&more);
}

Status lab_do_eval(Lab *l, const Words *w) {
    (void)w;
    Evaluation e;
    if (run_corpus(l->train.live)->test.sentences == 0)
        return status_usage(_("there are no test sentences: the corpus of this model is not here"));
    if (l->rival && !l->train.past) STATUS_TRY(evaluate(l->rival, -1, &e));
    STATUS_TRY(evaluate(l, -1, &e));
    say(l, &e);
    return status_ok();
}
