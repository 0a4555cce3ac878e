/* probes: beginnings of sentences up to the verb, each with the number of its subject: what shows whether a model knows
 * what its verb must agree with, however many other nouns stand between (lecture 4, 2.8, 6.5, 7.3). Private to the
 * laboratory.
 *
 * They come from a grammar that a lecturer can write (assets/grammars/farm-tests.grammar): a rule that begins with the
 * label, `pl the dogs near the cat`, and for every label a rule verbs.LABEL with the words that may follow. Labels are
 * in byte order. */
#ifndef LAB_PROBES_H
#define LAB_PROBES_H

#include "model.h"
#include "status.h"
#include "study.h"
#include "text/vocab.h"

typedef struct ProbeTask ProbeTask; /* does not change: threads may share it */

/* GRAMMAR is built in or a file. Words that V does not have, fewer than two labels and missing rules are refused. */
Status probe_task_open(const char *grammar, const Vocab *v, ProbeTask **out) STATUS_CHECKED;
void probe_task_free(ProbeTask *t);
int probe_task_labels(const ProbeTask *t);
const char *probe_task_label(const ProbeTask *t, int label);

typedef struct {
    int *id; /* [n] <s> and the words without the label */
    int n, label;
} Probe;
typedef struct {
    Probe *probe; /* [count] */
    int count, longest;
} Probes;

/* N draws from stream STREAM of SEED of RULE ("probe", "labelled") with SET ("k=4") fixed, which may be NULL. */
Status probes_draw(const ProbeTask *t, const char *rule, const char *set, const char *stream, uint64_t seed, int n,
                   Probes *out) STATUS_CHECKED;
/* N draws of the rule "probe" for each number of nouns between, the grammar's k: OUT[i] of K[i], also when it fails.
 * Refused where one has more than CONTEXT tokens. */
Status probes_draw_all(const ProbeTask *t, const long long *k, int ks, uint64_t seed, int n, int context,
                       Probes *out) STATUS_CHECKED;
void probes_done(Probes *p);
/* Leaves a probe for the live panes, the cursor on its last token, which looks at the one at position SUBJECT. */
void probe_offer(Study *s, const ProbeTask *t, const Probe *p, int subject);

/* Share of probes after which M gives the words of the right label more probability together than those of any other.
 * All fit M's context. */
double probes_accuracy(const ProbeTask *t, const Model *m, const Probes *p);
/* The largest weight that any head of any layer gives, in the last token of a probe, to the token at position SUBJECT;
 * mean over the first MOST probes. */
double probes_weight_on(const Model *m, const Probes *p, int subject, int most);

#endif
