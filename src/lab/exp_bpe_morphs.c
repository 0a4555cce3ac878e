/* bpe.morphs: words that were never seen, though all their parts were: does a byte-pair encoding cut them at the seams
 * (lecture 3, 5.4)? */
#include "bpe_corpus.h"
#include "experiment.h"
#include "intl.h"
#include "languages.h"
#include "mem.h"
#include "text/bpe_encode.h"

#include <string.h>

static const Option morphs_options[] = {
    {"merges", OPTION_INTS, "100,200,400", 0, BPE_MOST_MERGES, NULL, "", N_("after how many to look")},
    {"sentences", OPTION_INT, "20000", 1, 10000000, NULL, "", N_("how many to learn from")},
    {"grammar", OPTION_TEXT, "morph", 0, 0, NULL, "file",
     N_("the language; its rule heldout names the words, + between their parts")},
    {0},
};
static const Column pieces_columns[] = {{"word", COLUMN_TEXT, ""},
                                        {"merges", COLUMN_INT, ""},
                                        {"pieces", COLUMN_TEXT, ""},
                                        {"whole_word_known", COLUMN_INT, ""},
                                        {0}};
static const Column recall_columns[] = {{"merges", COLUMN_INT, ""},
                                        {"boundary_recall", COLUMN_DOUBLE, ""},
                                        {"word_oov", COLUMN_INT, "words"},
                                        {"bpe_oov", COLUMN_INT, "words"},
                                        {0}};

/* A word that was held out: its letters, and where its parts end inside it. */
typedef struct {
    Str letters;
    size_t *seam;
    int seams, capacity;
} Form;

typedef struct {
    Form *form;
    int forms;
} Forms;

static void forms_done(Forms *f) {
    for (int i = 0; i < f->forms; i++) {
        str_done(&f->form[i].letters);
        mem_free(f->form[i].seam);
    }
    mem_free(f->form);
}

static void read_form(const char *text, Form *f) {
    str_init(&f->letters);
    for (const char *c = text; *c; c++) {
        if (*c != '+') {
            str_add_char(&f->letters, *c);
        } else {
            MEM_GROW(f->seam, f->seams, f->capacity);
            f->seam[f->seams++] = f->letters.len;
        }
    }
}

static Status read_forms(const Grammar *g, Forms *out) {
    Language *l;
    const char **word;
    *out = (Forms){0};
    STATUS_TRY(language_new(g, "heldout", NULL, &l));
    Status s = language_words(l, &word, &out->forms);
    if (status_is_ok(&s)) {
        out->form = MEM_ARRAY(Form, (size_t)out->forms);
        for (int i = 0; i < out->forms; i++) read_form(word[i], &out->form[i]);
        mem_free(word);
    }
    language_free(l);
    return s;
}

static int seams_of(const Forms *f) {
    int n = 0;
    for (int i = 0; i < f->forms; i++) n += f->form[i].seams;
    return n;
}

static Status open_language(const Options *o, Grammar **g, Forms *forms) {
    STATUS_TRY(languages_read(options_text(o, "grammar"), g));
    Status s = read_forms(*g, forms);
    if (status_is_ok(&s) && seams_of(forms) > 0) return s;
    if (status_is_ok(&s))
        s = status_usage(_("grammar: no word of the rule heldout in '%s' has a + between its parts"),
                         options_text(o, "grammar"));
    forms_done(forms);
    grammar_free(*g);
    return s;
}

static Status check_morphs(const Options *o) {
    Grammar *g;
    Forms forms;
    STATUS_TRY(open_language(o, &g, &forms));
    forms_done(&forms);
    grammar_free(g);
    return status_ok();
}

/* ---- cutting ---- */

/* How many seams of F are edges of PIECES. */
static int seams_found(const Form *f, const Pieces *pieces) {
    int found = 0;
    for (int i = 0; i < f->seams; i++)
        for (long k = 0; k < pieces->count; k++) found += pieces->piece[k].start == f->seam[i];
    return found;
}

static bool has_unknown(const Pieces *pieces) {
    for (long k = 0; k < pieces->count; k++)
        if (pieces->piece[k].id < 0) return true;
    return false;
}

static void add_pieces(Table *t, const Tokenizer *tokenizer, const Form *f, long long merges, const Pieces *pieces,
                       bool known) {
    Str text;
    str_init(&text);
    for (long k = 0; k < pieces->count; k++) {
        const Piece *p = &pieces->piece[k];
        if (k > 0) str_add_char(&text, ' ');
        if (p->id >= 0) {
            tokenizer_name(tokenizer, p->id, &text);
        } else {
            str_add_n(&text, f->letters.s + p->start, p->bytes);
        }
    }
    table_add_text_n(t, f->letters.s, f->letters.len);
    table_add_int(t, merges);
    table_add_text_n(t, text.s, text.len);
    table_add_int(t, known);
    str_done(&text);
}

static void look(Study *s, const Bpe *b, const BpeWords *words, const Forms *forms, long long merges) {
    Tokenizer *tokenizer = bpe_tokenizer(b, merges > bpe_merges(b) ? -1 : (int)merges);
    Pieces pieces = {0};
    int found = 0, word_oov = 0, bpe_oov = 0;
    for (int i = 0; i < forms->forms; i++) {
        const Form *f = &forms->form[i];
        bool known = bpe_words_find(words, f->letters.s, f->letters.len) >= 0;
        pieces.count = 0;
        tokenizer_encode(tokenizer, f->letters.s, f->letters.len, &pieces);
        found += seams_found(f, &pieces);
        word_oov += !known;
        bpe_oov += has_unknown(&pieces);
        add_pieces(study_table(s, "pieces"), tokenizer, f, merges, &pieces, known);
    }
    Table *t = study_table(s, "recall");
    table_add_int(t, merges);
    table_add_real(t, (double)found / seams_of(forms));
    table_add_int(t, word_oov);
    table_add_int(t, bpe_oov);
    pieces_done(&pieces);
    tokenizer_free(tokenizer);
}

/* ---- the experiment ---- */

static Status learn_and_look(Study *s, const BpeWords *words, const Forms *forms) {
    const long long *merges;
    int n = options_ints(study_options(s), "merges", &merges);
    BpeTrainer *t;
    Status status = bpe_corpus_train(s, words, (long)options_ints_most(study_options(s), "merges"), &t);
    for (int i = 0; status_is_ok(&status) && i < n; i++) look(s, bpe_trainer_bpe(t), words, forms, merges[i]);
    study_about(s, "merges_found", "%d", bpe_merges(bpe_trainer_bpe(t)));
    study_about(s, "boundary_recall_rule", "edges between the parts of a word where a piece ends, of %d",
                seams_of(forms));
    study_about(s, "whole_word_known_rule", "1: the corpus has the word");
    study_about(s, "oov", "words that the corpus does not have; words with a piece that no symbol stands for");
    bpe_trainer_free(t);
    return status;
}

static Status run_morphs(Study *s) {
    const Options *o = study_options(s);
    Grammar *g;
    Forms forms;
    BpeWords words;
    STATUS_TRY(open_language(o, &g, &forms));
    Status status = bpe_corpus_draw(s, g, &words);
    if (status_is_ok(&status)) {
        status = learn_and_look(s, &words, &forms);
        bpe_words_done(&words);
    }
    forms_done(&forms);
    grammar_free(g);
    return status;
}

const Experiment experiment_bpe_morphs = {
    .entry = {.id = "bpe.morphs",
              .section = "L3 5.4",
              .title = N_("new forms of known words: are they cut at the seams?"),
              .see = N_("Every held-out form is unknown as a word and none as sub-words. More merges swallow the seams "
                        "between stem and ending."),
              .options = (const Option *const[]){morphs_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"pieces", pieces_columns}, {"recall", recall_columns}, {0}},
              .figure = {FIGURE_LINE, "recall", "merges", "boundary_recall", NULL}},
    .check = check_morphs,
    .run = run_morphs,
};
