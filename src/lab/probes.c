#include "probes.h"

#include "bug.h"
#include "cancel.h"
#include "forward.h"
#include "intl.h"
#include "languages.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASS = 128 }; /* probes of a pass */

typedef struct {
    char *name;
    int *verb; /* [verbs] ids */
    int verbs;
} Label;

struct ProbeTask {
    char *name; /* of the grammar */
    Grammar *grammar;
    Vocab *vocab;
    Label *label;
    int labels;
};

/* ---- what is asked ---- */

/* The words of the rule verbs.LABEL as ids. */
static Status take_verbs(const ProbeTask *t, Label *l) {
    char start[80];
    snprintf(start, sizeof start, "verbs.%s", l->name);
    Language *language;
    const char **words = NULL;
    int n = 0;
    STATUS_TRY(language_new(t->grammar, start, NULL, &language));
    Status s = language_words(language, &words, &n);
    l->verb = MEM_ARRAY(int, (size_t)n);
    for (int i = 0; i < n && status_is_ok(&s); i++) {
        int id = vocab_find(t->vocab, words[i], strlen(words[i]));
        if (id < 0) s = status_usage(_("%s: the model has no word '%s' (rule %s)"), t->name, words[i], start);
        l->verb[l->verbs++] = id;
    }
    mem_free(words);
    language_free(language);
    return s;
}

/* The words that a probe can begin with. */
static Status take_labels(ProbeTask *t) {
    Language *language;
    NextList next;
    STATUS_TRY(language_new(t->grammar, "probe", NULL, &language));
    Status s = language_next(language, "", &next);
    if (status_is_ok(&s)) {
        t->label = MEM_ARRAY(Label, (size_t)next.count + 1);
        for (int i = 0; i < next.count; i++)
            if (next.next[i].p > 0 && strcmp(next.next[i].token, LANGUAGES_END) != 0)
                t->label[t->labels++].name = mem_text(next.next[i].token);
        next_list_done(&next);
    }
    language_free(language);
    if (status_is_ok(&s) && t->labels < 2)
        s = status_usage(_("%s: a probe begins with its label, and of those there must be two at least"), t->name);
    for (int i = 0; i < t->labels && status_is_ok(&s); i++) s = take_verbs(t, &t->label[i]);
    return s;
}

Status probe_task_open(const char *grammar, const Vocab *v, ProbeTask **out) {
    ProbeTask *t = MEM_NEW(ProbeTask);
    t->name = mem_text(grammar);
    t->vocab = vocab_copy(v);
    Status s = languages_read(grammar, &t->grammar);
    if (status_is_ok(&s)) s = take_labels(t);
    if (status_is_ok(&s)) {
        *out = t;
    } else {
        probe_task_free(t);
    }
    return s;
}

void probe_task_free(ProbeTask *t) {
    if (!t) return;
    for (int i = 0; i < t->labels; i++) {
        mem_free(t->label[i].name);
        mem_free(t->label[i].verb);
    }
    mem_free(t->label);
    grammar_free(t->grammar);
    vocab_free(t->vocab);
    mem_free(t->name);
    mem_free(t);
}

int probe_task_labels(const ProbeTask *t) {
    return t->labels;
}

const char *probe_task_label(const ProbeTask *t, int label) {
    return t->label[label].name;
}

/* ---- drawing ---- */

static int find_label(const ProbeTask *t, const char *name, size_t bytes) {
    for (int i = 0; i < t->labels; i++)
        if (strlen(t->label[i].name) == bytes && memcmp(t->label[i].name, name, bytes) == 0) return i;
    return -1;
}

/* "pl the dogs near the cat" */
static Status read_probe(const ProbeTask *t, const char *rule, const char *text, Probe *out) {
    size_t bytes = strcspn(text, " ");
    int *word, words;
    out->label = find_label(t, text, bytes);
    if (out->label < 0)
        return status_usage(_("%s: rule %s begins with '%.*s', which is no label of a probe"), t->name, rule,
                            (int)bytes, text);
    STATUS_TRY(vocab_encode(t->vocab, text + bytes, &word, &words));
    out->n = words + 1;
    out->id = MEM_ARRAY(int, (size_t)out->n);
    out->id[0] = VOCAB_BOS;
    if (words) memcpy(out->id + 1, word, (size_t)words * sizeof *word);
    mem_free(word);
    return status_ok();
}

static Status draw_one(const ProbeTask *t, const char *rule, Language *language, Rng *rng, Probes *out) {
    Str text;
    str_init(&text);
    Status s = language_sample(language, rng, &text);
    Probe *p = &out->probe[out->count];
    if (status_is_ok(&s)) s = read_probe(t, rule, text.s, p);
    if (status_is_ok(&s)) {
        out->count++;
        if (p->n > out->longest) out->longest = p->n;
    }
    str_done(&text);
    return s;
}

Status probes_draw(const ProbeTask *t, const char *rule, const char *set, const char *stream, uint64_t seed, int n,
                   Probes *out) {
    Language *language;
    *out = (Probes){0};
    STATUS_TRY(language_new(t->grammar, rule, set, &language));
    out->probe = MEM_ARRAY(Probe, (size_t)n);
    Status s = status_ok();
    for (int i = 0; i < n && status_is_ok(&s); i++) {
        Rng rng = rng_at(seed, stream, (uint64_t)i);
        s = cancel_wanted() ? status_cancelled() : draw_one(t, rule, language, &rng, out);
    }
    language_free(language);
    if (!status_is_ok(&s)) probes_done(out);
    return s;
}

Status probes_draw_all(const ProbeTask *t, const long long *k, int ks, uint64_t seed, int n, int context, Probes *out) {
    for (int i = 0; i < ks; i++) {
        char set[32];
        snprintf(set, sizeof set, "k=%lld", k[i]);
        STATUS_TRY(probes_draw(t, "probe", set, set, seed, n, &out[i]));
        if (out[i].longest > context)
            return status_usage(_("k=%lld makes probes of %d tokens, and the context has room for %d"), k[i],
                                out[i].longest, context);
    }
    return status_ok();
}

void probes_done(Probes *p) {
    for (int i = 0; i < p->count; i++) mem_free(p->probe[i].id);
    mem_free(p->probe);
    *p = (Probes){0};
}

void probe_offer(Study *s, const ProbeTask *t, const Probe *p, int subject) {
    StudyLook look = {.query = p->n - 1, .key = subject < p->n ? subject : -1};
    Str text;
    str_init(&text);
    vocab_join(t->vocab, p->id, p->n, &text);
    study_set_prompt(&look, text.s);
    str_done(&text);
    study_offer_look(s, &look);
}

/* ---- asking a model ---- */

/* log of what the words of a label get together, up to a number that all labels share. */
static double worth(const Label *l, const real *logits) {
    double most = (double)-INFINITY, sum = 0;
    for (int i = 0; i < l->verbs; i++) most = fmax(most, (double)logits[l->verb[i]]);
    for (int i = 0; i < l->verbs; i++) sum += exp((double)logits[l->verb[i]] - most);
    return most + log(sum);
}

static bool is_right(const ProbeTask *t, const Probe *p, const real *logits) {
    double right = worth(&t->label[p->label], logits);
    for (int i = 0; i < t->labels; i++)
        if (i != p->label && worth(&t->label[i], logits) >= right) return false;
    return true;
}

double probes_accuracy(const ProbeTask *t, const Model *m, const Probes *p) {
    int right = 0, vocab = model_config(m)->vocab;
    Forward *f = forward_new();
    Batch b;
    batch_init(&b);
    for (int from = 0; from < p->count && !cancel_wanted(); from += PASS) {
        batch_clear(&b);
        for (int i = from; i < p->count && i < from + PASS; i++) batch_add(&b, p->probe[i].id, p->probe[i].n, false);
        const real *logits = forward_batch(f, m, &b);
        for (int i = 0; i < b.sequences; i++)
            right += is_right(t, &p->probe[from + i], logits + (size_t)(b.start[i + 1] - 1) * (size_t)vocab);
    }
    batch_done(&b);
    forward_free(f);
    return p->count ? (double)right / p->count : (double)NAN;
}

/* Of one probe, which the tape has gone through. */
static double most_weight(const Tape *t, int layers, int subject) {
    double most = 0;
    for (int l = 0; l < layers; l++) {
        char name[40];
        int dim[3];
        snprintf(name, sizeof name, "block%d.attention", l);
        const real *w = tape_stage(t, tape_find(t, name), "weights", dim);
        BUG_ON(!w);
        for (int h = 0; h < dim[0]; h++) {
            size_t row = ((size_t)h * (size_t)dim[1] + (size_t)dim[1] - 1) * (size_t)dim[2];
            if (subject < dim[2]) most = fmax(most, (double)w[row + (size_t)subject]);
        }
    }
    return most;
}

double probes_weight_on(const Model *m, const Probes *p, int subject, int most) {
    int n = p->count < most ? p->count : most;
    double sum = 0;
    Tape *t = tape_new(TAPE_PROBE);
    Batch b;
    batch_init(&b);
    for (int i = 0; i < n && !cancel_wanted(); i++) {
        batch_clear(&b);
        batch_add(&b, p->probe[i].id, p->probe[i].n, false);
        tape_begin(t, model_read_params(m), &b, 0, 0);
        (void)model_graph(m, t, NULL);
        tape_forward(t);
        sum += most_weight(t, model_config(m)->layers, subject);
    }
    batch_done(&b);
    tape_free(t);
    return n ? sum / n : (double)NAN;
}
