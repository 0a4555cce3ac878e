#include "copying.h"

#include "bug.h"
#include "cancel.h"
#include "corpora.h"
#include "decode/log_softmax.h"
#include "forward.h"
#include "intl.h"
#include "languages.h"
#include "mem.h"
#include "run.h"
#include "text/texts.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASS = 16, OWN_TESTS = 1 };

const Option copying_options[] = {
    {"corpus", OPTION_TEXT, "stories", 0, 0, NULL, "file", N_("a grammar of stories")},
    {"start", OPTION_TEXT, NULL, 0, 0, NULL, "rule",
     N_("the rule that tells a story; default: tiny where there is one, else the first")},
    {"unseen", OPTION_TEXT, "s:test", 0, 0, NULL, "",
     N_("what of the grammar is fixed in the test stories, VARIABLE:TEXT,...: their names are new")},
    {"sentences", OPTION_INT, "4000", 1, 1e6, NULL, "", N_("training stories")},
    {"tests", OPTION_INT, "200", 1, 100000, NULL, "", N_("test stories")},
    {"schedule", OPTION_CHOICE, "constant", 0, 0, "constant|cosine|linear", "", N_("how the learning rate falls")},
    {"warmup", OPTION_INT, "0", 0, 1e6, NULL, "steps", N_("linear rise of the learning rate from 0")},
    {"embedding_std", OPTION_REAL, "1", 1e-6, 100, NULL, "",
     N_("how widely the embeddings are drawn; elsewhere it is 0.02")},
    {"context", OPTION_INT, "384", 16, 4096, NULL, "bytes", N_("longest story")},
    {0},
};

/* ---- the stories ---- */

Options *copying_model(const Options *o, const char *pairs) {
    Options *run = variant_new("arch=modern tokens=byte");
    char pair[32];
    variant_take(run, o, "corpus sentences batch lr schedule warmup context d layers heads");
    snprintf(pair, sizeof pair, "kv_heads=%lld", options_int(o, "heads"));
    variant_set(run, pair);
    variant_set(run, pairs);
    return run;
}

Model *copying_begin(const Options *o, const Options *run, int vocab, uint64_t seed) {
    ModelConfig c;
    Status s = run_config(run, vocab, &c);
    BUG_ON(!status_is_ok(&s)); /* copying_check took it */
    Model *m = model_new(&c, seed);
    Params *p = model_params(m);
    const Slice *token = &p->slice[params_find(p, "token.weight")];
    real factor = (real)(options_real(o, "embedding_std") / token->std);
    for (size_t i = 0; i < slice_count(token); i++) p->x[token->at + i] *= factor;
    return m;
}

/* x:v,y:w as a language takes it. */
static void fixed(const Options *o, Str *out) {
    for (const char *s = options_text(o, "unseen"); *s; s++) str_add_char(out, *s == ':' ? '=' : *s);
}

/* The rule to begin with: start=, else tiny where there is one. NULL: the first. */
static const char *start_of(const Options *o, const Grammar *g) {
    Language *l;
    if (options_is_set(o, "start")) return options_text(o, "start");
    Status s = language_new(g, "tiny", NULL, &l);
    if (!status_is_ok(&s)) return NULL;
    language_free(l);
    return "tiny";
}

static Status open_unseen(const Options *o, Grammar **grammar, Language **language) {
    Str set;
    str_init(&set);
    fixed(o, &set);
    Status s = languages_read(options_text(o, "corpus"), grammar);
    if (status_is_ok(&s)) {
        s = language_new(*grammar, start_of(o, *grammar), set.len ? set.s : NULL, language);
        if (!status_is_ok(&s)) grammar_free(*grammar);
    }
    str_done(&set);
    return s;
}

Status copying_check(const Options *o) {
    Grammar *g;
    Language *l;
    STATUS_TRY(open_unseen(o, &g, &l));
    language_free(l);
    grammar_free(g);
    Options *run = copying_model(o, "");
    Status s = run_check(run);
    options_free(run);
    return s;
}

Status copying_corpus(const Options *o, uint64_t seed, Corpus **out) {
    CorpusTokens tokens = {.unit = VOCAB_BYTE};
    const char *spec = options_text(o, "corpus");
    Grammar *g;
    STATUS_TRY(languages_read(spec, &g));
    Status s =
        corpora_load_rule(spec, start_of(o, g), NULL, tokens, (long)options_int(o, "sentences"), OWN_TESTS, seed, out);
    grammar_free(g);
    if (status_is_ok(&s)) corpus_part(*out, (int)options_int(o, "context"));
    return s;
}

void copying_conventions(Study *s) {
    study_about(s, "start_rule",
                "stories are told by the rule tiny, where the grammar has one; start=story of the built-in one tells "
                "them twice as long, with the same names");
    study_about(s, "repeat_bits_rule",
                "mean -log2 p of the letters of a name that stood in the story before; a name is a word that no "
                "training story has");
    study_about(s, "other_bits_rule", "the same of all other bytes and </s>; names that appear first among them");
}

static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/* The word that begins at or after *AT, which moves behind it; false: there is none. */
static bool next_word(const char *s, int *at, int *start) {
    while (s[*at] && !is_letter((unsigned char)s[*at])) ++*at;
    *start = *at;
    while (s[*at] && is_letter((unsigned char)s[*at])) ++*at;
    return *at > *start;
}

static void add_words(const char *s, Texts *words) {
    int at = 0, start;
    while (next_word(s, &at, &start)) (void)texts_add(words, s + start, (size_t)(at - start));
}

static void known_words(const Corpus *c, Texts *words) {
    Str text;
    str_init(&text);
    for (long i = 0; i < c->train.sentences; i++) {
        str_clear(&text);
        corpus_text(c, &c->train, i, &text);
        add_words(text.s, words);
    }
    str_done(&text);
}

/* Where the word of N bytes at START stood last before; -1: nowhere. */
static int stood_before(const char *s, int start, int n) {
    int at = 0, from, found = -1;
    while (next_word(s, &at, &from) && from < start)
        if (at - from == n && memcmp(s + from, s + start, (size_t)n) == 0) found = from;
    return found;
}

/* Byte i of the text is token i + 1. */
static void mark(const char *s, const Texts *known, Story *out, CopyTask *t) {
    int at = 0, start;
    for (int i = 0; i < out->n; i++) out->earlier[i] = -1;
    while (next_word(s, &at, &start)) {
        if (texts_find(known, s + start, (size_t)(at - start)) >= 0) continue;
        int before = stood_before(s, start, at - start);
        for (int i = start; before >= 0 && i < at; i++, t->copied++) out->earlier[i + 1] = before + i - start + 1;
    }
}

static Status add_story(const char *s, const Vocab *v, const Texts *known, int context, CopyTask *t) {
    int *id, n;
    STATUS_TRY(vocab_encode(v, s, &id, &n));
    Story *out = &t->story[t->count];
    out->n = n + 2;
    if (out->n - 1 > context) {
        mem_free(id);
        return status_usage(_("a test story has %d bytes, the context only room for %d"), n, context - 1);
    }
    out->id = MEM_ARRAY(int, (size_t)out->n);
    out->earlier = MEM_ARRAY(int, (size_t)out->n);
    out->id[0] = VOCAB_BOS;
    memcpy(out->id + 1, id, (size_t)n * sizeof *id);
    out->id[n + 1] = VOCAB_EOS;
    mem_free(id);
    mark(s, known, out, t);
    t->count++;
    t->other += out->n - 1;
    if (out->n > t->longest) t->longest = out->n;
    return status_ok();
}

static Status draw(const Options *o, Language *l, const Vocab *v, const Texts *known, uint64_t seed, CopyTask *t) {
    int n = (int)options_int(o, "tests"), context = (int)options_int(o, "context");
    t->story = MEM_ARRAY(Story, (size_t)n);
    Str text;
    str_init(&text);
    Status s = status_ok();
    for (int i = 0; i < n && status_is_ok(&s); i++) {
        Rng rng = rng_at(seed, "copying", (uint64_t)i);
        str_clear(&text);
        s = language_sample(l, &rng, &text);
        if (status_is_ok(&s)) s = add_story(text.s, v, known, context, t);
    }
    str_done(&text);
    t->other -= t->copied;
    if (status_is_ok(&s) && t->copied == 0)
        s = status_usage(_("unseen=%s: no test story has a word twice that the training stories do not have"),
                         options_text(o, "unseen"));
    return s;
}

Status copying_open(const Options *o, const Corpus *train, uint64_t seed, CopyTask *out) {
    Grammar *g;
    Language *l;
    *out = (CopyTask){0};
    STATUS_TRY(open_unseen(o, &g, &l));
    Texts known;
    texts_init(&known);
    known_words(train, &known);
    Status s = draw(o, l, train->vocab, &known, seed, out);
    texts_done(&known);
    language_free(l);
    grammar_free(g);
    if (!status_is_ok(&s)) copying_done(out);
    return s;
}

void copying_done(CopyTask *t) {
    for (int i = 0; i < t->count; i++) {
        mem_free(t->story[i].id);
        mem_free(t->story[i].earlier);
    }
    mem_free(t->story);
    *t = (CopyTask){0};
}

/* ---- bits ---- */

/* -log2 of the probability of TARGET. */
static double bits_of(const real *logits, int vocab, int target) {
    return -log_softmax_of(vocab, logits, target) / log(2);
}

static void add_bits(const Story *s, const real *logits, int vocab, CopyBits *sum) {
    for (int i = 1; i < s->n; i++) {
        double bits = bits_of(logits + (size_t)(i - 1) * (size_t)vocab, vocab, s->id[i]);
        *(s->earlier[i] >= 0 ? &sum->copied : &sum->other) += bits;
    }
}

CopyBits copying_bits(const CopyTask *t, int vocab, CopyLogits *logits, void *model) {
    CopyBits sum = {0};
    Batch b;
    batch_init(&b);
    for (int from = 0; from < t->count && !cancel_wanted(); from += PASS) {
        batch_clear(&b);
        for (int i = from; i < t->count && i < from + PASS; i++)
            batch_add(&b, t->story[i].id, t->story[i].n - 1, false);
        const real *x = logits(model, &b);
        for (int i = 0; i < b.sequences; i++)
            add_bits(&t->story[from + i], x + (size_t)b.start[i] * (size_t)vocab, vocab, &sum);
    }
    batch_done(&b);
    return (CopyBits){sum.copied / (double)t->copied, sum.other / (double)t->other};
}

typedef struct {
    Forward *forward;
    const Model *model;
} Pass;

static const real *pass_logits(void *data, const Batch *b) {
    Pass *p = data;
    return forward_batch(p->forward, p->model, b);
}

CopyBits copying_bits_of(const CopyTask *t, const Model *m) {
    Pass p = {forward_new(), m};
    CopyBits bits = copying_bits(t, model_config(m)->vocab, pass_logits, &p);
    forward_free(p.forward);
    return bits;
}

/* ---- heads ---- */

/* Of one story, whose tape is kept between stories. */
static void probe(Tape *t, Batch *b, const Model *m, const Story *s) {
    batch_clear(b);
    batch_add(b, s->id, s->n - 1, false);
    tape_begin(t, model_read_params(m), b, 0, 0);
    (void)model_graph(m, t, NULL);
    tape_forward(t);
}

/* The weights of the token QUERY: [T]. */
static const real *weights_of(const Tape *t, int layer, int head, int query) {
    char name[40];
    int dim[3];
    snprintf(name, sizeof name, "block%d.attention", layer);
    const real *w = tape_stage(t, tape_find(t, name), "weights", dim);
    BUG_ON(!w || head >= dim[0] || query >= dim[1]);
    return w + ((size_t)head * (size_t)dim[1] + (size_t)query) * (size_t)dim[2];
}

/* Letter I goes on with a name that has begun: its place before is one after that of the letter before it. */
static bool goes_on(const Story *s, int i) {
    return s->earlier[i] >= 0 && s->earlier[i - 1] == s->earlier[i] - 1;
}

static void add_weights(const Story *s, const Tape *t, const ModelConfig *c, CopyHeads *out, long *count) {
    for (int i = 1; i < s->n; i++) {
        if (!goes_on(s, i)) continue;
        ++*count;
        for (int h = 0; h < c->layers * c->heads; h++) {
            const real *w = weights_of(t, h / c->heads, h % c->heads, i - 1);
            double most = 0;
            for (int p = s->earlier[i]; p >= 0; p = s->earlier[p]) out->induction[h] += (double)w[p];
            for (int k = 0; k < i; k++) most = fmax(most, (double)w[k]);
            out->largest[h] += most;
        }
    }
}

void copying_heads(const CopyTask *t, const Model *m, int most, CopyHeads *out) {
    const ModelConfig *c = model_config(m);
    size_t heads = (size_t)c->layers * (size_t)c->heads;
    out->induction = MEM_ARRAY(double, heads);
    out->largest = MEM_ARRAY(double, heads);
    long count = 0;
    Tape *tape = tape_new(TAPE_PROBE);
    Batch b;
    batch_init(&b);
    for (int i = 0; i < t->count && i < most && !cancel_wanted(); i++) {
        probe(tape, &b, m, &t->story[i]);
        add_weights(&t->story[i], tape, c, out, &count);
    }
    for (size_t h = 0; h < heads; h++) {
        out->induction[h] /= (double)(count ? count : 1);
        out->largest[h] /= (double)(count ? count : 1);
    }
    batch_done(&b);
    tape_free(tape);
}

void copying_heads_done(CopyHeads *h) {
    mem_free(h->induction);
    mem_free(h->largest);
    *h = (CopyHeads){0};
}

int copying_query(const Story *s) {
    int found = -1;
    for (int i = 2; i < s->n; i++) {
        if (!goes_on(s, i) || !goes_on(s, i - 1)) continue;
        if (found < 0) found = i - 1;
        if (s->earlier[s->earlier[i]] >= 0) return i - 1;
    }
    return found;
}

void copying_look(const Story *s, const Model *m, int query, double **weight, int **target) {
    const ModelConfig *c = model_config(m);
    size_t heads = (size_t)c->layers * (size_t)c->heads;
    *weight = MEM_ARRAY(double, heads);
    *target = MEM_ARRAY(int, heads);
    Tape *tape = tape_new(TAPE_PROBE);
    Batch b;
    batch_init(&b);
    probe(tape, &b, m, s);
    for (int h = 0; h < (int)heads; h++) {
        const real *w = weights_of(tape, h / c->heads, h % c->heads, query);
        (*weight)[h] = -1;
        for (int p = s->earlier[query + 1]; p >= 0; p = s->earlier[p])
            if ((double)w[p] > (*weight)[h]) {
                (*weight)[h] = (double)w[p];
                (*target)[h] = p;
            }
    }
    batch_done(&b);
    tape_free(tape);
}
