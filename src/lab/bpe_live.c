#include "bpe_live.h"

#include "bpe_own.h"
#include "bpe_tables.h"
#include "bug.h"
#include "clock.h"
#include "command.h"
#include "intl.h"
#include "mem.h"
#include "text/bpe_encode.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum {
    WORDS_SHOWN = 200,
    PAIRS_SHOWN = 64,
    UNITS_CUT = 400, /* of the text whose steps are shown */
    TEXT_BYTES = 400,
    RATE = 3, /* merges per second, for eyes */
};
static const double turn_seconds = 0.02;

#define FIRST_TEXT "repainting unkindly"

static const Column pairs_columns[] = {
    {"place", COLUMN_INT, ""},     {"left", COLUMN_TEXT, ""},      {"right", COLUMN_TEXT, ""},
    {"merged", COLUMN_TEXT, ""},   {"count", COLUMN_INT, ""},      {"tied", COLUMN_INT, ""},
    {"left_hex", COLUMN_TEXT, ""}, {"right_hex", COLUMN_TEXT, ""}, {0}};
static const Column growth_columns[] = {{"merges", COLUMN_INT, ""},
                                        {"vocabulary", COLUMN_INT, "symbols"},
                                        {"tokens_per_word", COLUMN_DOUBLE, "tokens"},
                                        {0}};
enum { FACTS, PAIRS, WORDS, MERGES, GROWTH, STEPS, ENCODED, SHOWN };

struct BpeLive {
    Study *study; /* of bpe.train, for its options; it never runs */
    bool wanted, touched;
    BpeWords words;
    BpeTrainer *trainer; /* NULL: asleep */
    long goal;
    bool running;
    double rate, due;
    Str text;
    Table *merges, *growth; /* rows up to the trainer's merge */
    Table *shown[SHOWN];    /* of the trainer as it stood last at its goal; NULL: not made yet */
    bool stale;             /* they are of another moment */
    BpeOwn own;             /* of a model that brought its tokenizer */
    bool learns;            /* sub-words are learnt even beside such a model */
};

/* ---- life ---- */

static Options *first_options(void) {
    Options *o = catalog_options(catalog_find("bpe.train"));
    Status s = options_set(o, "merges", "0");
    BUG_ON(!status_is_ok(&s));
    return o;
}

BpeLive *bpe_live_new(void) {
    BpeLive *b = MEM_NEW(BpeLive);
    b->study = study_new(catalog_find("bpe.train"), first_options());
    b->rate = RATE;
    str_init(&b->text);
    str_add(&b->text, FIRST_TEXT);
    return b;
}

static void forget_shown(BpeLive *b) {
    for (int i = 0; i < SHOWN; i++) {
        table_free(b->shown[i]);
        b->shown[i] = NULL;
    }
}

static void drop(BpeLive *b) {
    if (!b->trainer) return;
    bpe_trainer_free(b->trainer);
    table_free(b->merges);
    table_free(b->growth);
    b->trainer = NULL;
}

void bpe_live_free(BpeLive *b) {
    if (!b) return;
    if (b->trainer) bpe_words_done(&b->words);
    drop(b);
    forget_shown(b);
    bpe_own_done(&b->own);
    study_free(b->study);
    str_done(&b->text);
    mem_free(b);
}

void bpe_live_wake(BpeLive *b) {
    b->wanted = true;
}

/* ---- learning ---- */

static long merges_of(const BpeLive *b) {
    return bpe_merges(bpe_trainer_bpe(b->trainer));
}

static void add_growth(BpeLive *b) {
    table_add_int(b->growth, merges_of(b));
    table_add_int(b->growth, bpe_symbols(bpe_trainer_bpe(b->trainer)));
    table_add_real(b->growth, (double)bpe_trainer_tokens(b->trainer) / (double)b->words.total);
}

/* From the words again, without a merge. */
static void begin(BpeLive *b) {
    drop(b);
    b->stale = true;
    b->trainer = bpe_trainer_new(&b->words);
    b->merges = table_new("merges", bpe_merges_columns);
    b->growth = table_new("growth", growth_columns);
    add_growth(b);
}

static bool step(BpeLive *b) {
    if (!bpe_trainer_step(b->trainer)) return false;
    bpe_add_merge_row(b->merges, bpe_trainer_bpe(b->trainer), (int)merges_of(b));
    add_growth(b);
    b->stale = true;
    return true;
}

static Status too_many(void) {
    return status_usage(_("at most %d merges are learnt here; the experiment bpe.train learns more"), BPE_LIVE_MERGES);
}

static Status check_source(const Options *o) {
    const char *corpus = options_text(o, "corpus");
    struct stat st;
    if (strcmp(corpus, "-") == 0) return status_usage(_("corpus: standard input is not there for a live pane"));
    if (stat(corpus, &st) == 0 && st.st_size > BPE_LIVE_BYTES)
        return status_usage(_("corpus: '%s' has more than %d MiB; the experiment bpe.train takes it"), corpus,
                            BPE_LIVE_BYTES >> 20);
    if (options_int(o, "merges") > BPE_LIVE_MERGES) return too_many();
    return bpe_corpus_check(o);
}

/* Takes STUDY over once its words are there. */
static Status adopt(BpeLive *b, Study *study) {
    BpeWords words;
    const Options *o = study_options(study);
    STATUS_TRY(check_source(o));
    STATUS_TRY(bpe_corpus_words(study, bpe_unit_option(o), &words));
    if (b->trainer) bpe_words_done(&b->words);
    b->words = words;
    if (study != b->study) study_free(b->study);
    b->study = study;
    b->goal = (long)options_int(o, "merges");
    b->running = false;
    forget_shown(b);
    begin(b);
    return status_ok();
}

static Status awake(BpeLive *b) {
    return b->trainer ? status_ok() : adopt(b, b->study);
}

Status bpe_live_learn(BpeLive *b, const char *const *pair, int n, const char *run_corpus) {
    Options *o = options_copy(study_options(b->study));
    Status s = b->trainer ? options_set(o, "merges", "0") : status_ok();
    for (int i = 0; i < n && status_is_ok(&s); i++) {
        bool run = strcmp(pair[i], "corpus=run") == 0;
        s = run ? options_set(o, "corpus", run_corpus) : options_set_pair(o, pair[i]);
    }
    if (status_is_ok(&s)) s = options_once(pair, n);
    if (!status_is_ok(&s)) {
        options_free(o);
        return s;
    }
    Study *study = study_new(catalog_find("bpe.train"), o);
    s = adopt(b, study);
    if (!status_is_ok(&s)) study_free(study);
    b->touched = b->touched || status_is_ok(&s);
    b->learns = b->learns || status_is_ok(&s);
    return s;
}

bool bpe_live_is_own(const BpeLive *b, const Tokenizer *own) {
    return own && !b->learns;
}

void bpe_live_return(BpeLive *b) {
    b->learns = b->running = false;
}

void bpe_live_forget(BpeLive *b) {
    bpe_own_done(&b->own);
    b->learns = false;
}

Status bpe_live_to(BpeLive *b, long merges) {
    STATUS_TRY(awake(b));
    if (merges > BPE_LIVE_MERGES) return too_many();
    b->running = false;
    b->touched = b->stale = true;
    if (merges < merges_of(b)) begin(b);
    b->goal = merges;
    return status_ok();
}

/* The merge that it is at, or will be when it has caught up. */
static long aim(const BpeLive *b) {
    return b->goal > merges_of(b) ? b->goal : merges_of(b);
}

static bool has_pair(const BpeLive *b) {
    BpePair one;
    return bpe_trainer_pairs(b->trainer, &one, 1) > 0;
}

static Status check_more(const BpeLive *b) {
    if (!has_pair(b)) return status_failed(_("no pair is left: every word is one token"));
    return merges_of(b) < BPE_LIVE_MERGES ? status_ok() : too_many();
}

Status bpe_live_by(BpeLive *b, long merges) {
    STATUS_TRY(awake(b));
    long at = aim(b), to = at + merges;
    if (merges < 0 && at == 0) return status_usage(_("nothing has been merged yet: every word is its units"));
    if (merges > 0) STATUS_TRY(check_more(b));
    return bpe_live_to(b, to < 0 ? 0 : to > BPE_LIVE_MERGES ? BPE_LIVE_MERGES : to);
}

Status bpe_live_run(BpeLive *b, double rate) {
    STATUS_TRY(awake(b));
    STATUS_TRY(check_more(b));
    if (rate > 0) b->rate = rate;
    b->goal = merges_of(b);
    b->running = b->touched = b->stale = true;
    b->due = clock_now();
    return status_ok();
}

void bpe_live_pause(BpeLive *b) {
    b->running = false;
    b->stale = true;
    if (b->trainer) b->goal = merges_of(b);
}

Status bpe_live_text(BpeLive *b, const char *text, const Tokenizer *own) {
    if (strlen(text) > TEXT_BYTES)
        return status_usage(_("a text of more than %d bytes is not cut here; bpe.encode file= takes it"), TEXT_BYTES);
    if (bpe_live_is_own(b, own)) {
        bpe_own_text(&b->own, text);
        return status_ok();
    }
    STATUS_TRY(awake(b));
    str_clear(&b->text);
    str_add(&b->text, text);
    b->touched = b->stale = true;
    return status_ok();
}

/* ---- its own clock ---- */

double bpe_live_wait(const BpeLive *b, bool paced) {
    if (!b->trainer) return b->wanted ? 0 : (double)INFINITY;
    if (merges_of(b) < b->goal) return 0;
    if (!b->running) return (double)INFINITY;
    double wait = paced ? b->due - clock_now() : 0;
    return wait > 0 ? wait : 0;
}

/* Towards the goal for a little while. */
static void go_on(BpeLive *b) {
    double until = clock_now() + turn_seconds;
    do {
        if (!step(b)) b->goal = merges_of(b);
    } while (merges_of(b) < b->goal && clock_now() < until);
}

Status bpe_live_turn(BpeLive *b, bool paced) {
    if (bpe_live_wait(b, paced) > 0) return status_ok();
    if (!b->trainer) {
        b->wanted = false;
        return adopt(b, b->study);
    }
    if (b->running && merges_of(b) >= b->goal) {
        Status more = check_more(b);
        b->running = status_is_ok(&more);
        b->due = clock_now() + 1 / b->rate;
        b->stale = true;
        if (!b->running) return status_ok();
        b->goal = merges_of(b) + 1;
    }
    go_on(b);
    return status_ok();
}

/* ---- looking ---- */

/* How many of the pairs, taken in their order, are as frequent as the first. *PAIR is allocated, *N long, and holds the
 * first that is not tied, if there is one. */
static int list_pairs(const BpeLive *b, BpePair **pair, int *n) {
    int ties = 0, most = PAIRS_SHOWN;
    *pair = NULL;
    for (;; most *= 8) {
        *pair = mem_resize(*pair, (size_t)most, sizeof **pair);
        *n = bpe_trainer_pairs(b->trainer, *pair, most);
        while (ties < *n && (*pair)[ties].count == (*pair)[0].count) ties++;
        if (*n < most || ties < *n) return ties;
    }
}

static Table *pairs_table(const BpeLive *b, int *ties) {
    const Bpe *bpe = bpe_trainer_bpe(b->trainer);
    BpePair *pair;
    int n;
    *ties = list_pairs(b, &pair, &n);
    Table *t = table_new("pairs", pairs_columns);
    for (int i = 0; i < n && i < PAIRS_SHOWN; i++) {
        size_t left, right;
        const char *l = bpe_name(bpe, pair[i].left, &left), *r = bpe_name(bpe, pair[i].right, &right);
        Str merged;
        str_init(&merged);
        str_add_n(&merged, l, left);
        str_add_n(&merged, r, right);
        table_add_int(t, i);
        bpe_add_shown_cell(t, l, left);
        bpe_add_shown_cell(t, r, right);
        bpe_add_shown_cell(t, merged.s, merged.len);
        table_add_int(t, pair[i].count);
        table_add_int(t, *ties > 1 && i < *ties);
        bpe_add_hex_cell(t, l, left);
        bpe_add_hex_cell(t, r, right);
        str_done(&merged);
    }
    mem_free(pair);
    return t;
}

static void cut(BpeLive *b, Str *units) {
    const Bpe *bpe = bpe_trainer_bpe(b->trainer);
    BpeSource source = {.tokenizer = bpe_tokenizer(bpe, -1), .bpe = bpe};
    Str small;
    size_t end;
    str_init(&small);
    if (b->words.lowercase)
        bpe_lowercase(b->text.s, b->text.len, &small);
    else
        str_add_n(&small, b->text.s, b->text.len);
    b->shown[ENCODED] = table_new("encoded", bpe_tokens_columns);
    b->shown[STEPS] = table_new("steps", bpe_steps_columns);
    (void)bpe_add_token_rows(b->shown[ENCODED], &source, small.s, small.len, NULL, NULL);
    (void)bpe_add_step_rows(b->shown[STEPS], &source, small.s, small.len, UNITS_CUT, &end, units, NULL, NULL);
    str_done(&small);
    tokenizer_free(source.tokenizer);
}

static Table *facts_table(const BpeLive *b, int ties, const Str *units) {
    const Options *o = study_options(b->study);
    const Bpe *bpe = bpe_trainer_bpe(b->trainer);
    Table *t = table_new("bpe", bpe_facts_columns);
    table_add_text(t, options_text(o, "corpus"));
    table_add_text(t, options_text(o, "unit"));
    table_add_int(t, options_flag(o, "lowercase"));
    table_add_int(t, b->words.total);
    table_add_int(t, b->words.words);
    table_add_int(t, merges_of(b));
    table_add_int(t, bpe_symbols(bpe));
    table_add_int(t, bpe_units(bpe));
    table_add_int(t, bpe_trainer_tokens(b->trainer));
    table_add_int(t, ties);
    table_add_int(t, b->running);
    table_add_real(t, b->rate);
    table_add_text(t, b->text.s);
    table_add_text_n(t, units->s, units->len);
    return t;
}

static void refresh(BpeLive *b) {
    int ties;
    Str units;
    str_init(&units);
    forget_shown(b);
    b->stale = false;
    b->shown[MERGES] = table_copy(b->merges);
    b->shown[GROWTH] = table_copy(b->growth);
    b->shown[PAIRS] = pairs_table(b, &ties);
    b->shown[WORDS] = table_new("words", bpe_words_columns);
    bpe_add_word_rows(b->shown[WORDS], &b->words, b->trainer, WORDS_SHOWN);
    cut(b, &units);
    b->shown[FACTS] = facts_table(b, ties, &units);
    str_done(&units);
}

void bpe_live_show(BpeLive *b, Tokenizer *own, const char *prompt, Snapshot *s) {
    if (bpe_live_is_own(b, own)) {
        bpe_own_show(&b->own, own, prompt, s);
        return;
    }
    if (!b->trainer) return;
    if (!b->shown[FACTS] || (b->stale && merges_of(b) >= b->goal)) refresh(b);
    for (int i = 0; i < SHOWN; i++) snapshot_add_table(s, table_copy(b->shown[i]));
}

void bpe_live_state(const BpeLive *b, Table *lines) {
    if (!b->touched || !b->trainer) return;
    Str line;
    str_init(&line);
    const Options *o = study_options(b->study);
    Str corpus;
    str_init(&corpus);
    str_addf(&corpus, "corpus=%s", options_text(o, "corpus"));
    str_add(&line, "bpe learn ");
    command_add_quoted(&line, corpus.s);
    str_done(&corpus);
    static const char *const others[] = {"sentences", "unit", "lowercase"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        str_addf(&line, " %s=%s", others[i], options_value(o, others[i]));
    str_addf(&line, " merges=%ld", aim(b));
    table_add_text(lines, line.s);
    str_clear(&line);
    str_add(&line, "bpe text ");
    command_add_quoted(&line, b->text.s);
    table_add_text(lines, line.s);
    str_done(&line);
}
