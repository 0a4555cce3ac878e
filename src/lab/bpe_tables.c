#include "bpe_tables.h"

#include "mem.h"

const Column bpe_facts_columns[] = {{"corpus", COLUMN_TEXT, ""},
                                    {"unit", COLUMN_TEXT, ""},
                                    {"lowercase", COLUMN_INT, ""},
                                    {"words", COLUMN_INT, "words"},
                                    {"distinct", COLUMN_INT, "words"},
                                    {"merges", COLUMN_INT, ""},
                                    {"vocabulary", COLUMN_INT, "symbols"},
                                    {"units", COLUMN_INT, "symbols"},
                                    {"tokens", COLUMN_INT, "tokens"},
                                    {"ties", COLUMN_INT, "pairs"},
                                    {"running", COLUMN_INT, ""},
                                    {"rate", COLUMN_DOUBLE, "merges/s"},
                                    {"text", COLUMN_TEXT, ""},
                                    {"text_units", COLUMN_TEXT, ""},
                                    {0}};

const Column bpe_merges_columns[] = {{"rank", COLUMN_INT, ""},        {"left", COLUMN_TEXT, ""},
                                     {"right", COLUMN_TEXT, ""},      {"merged", COLUMN_TEXT, ""},
                                     {"count", COLUMN_INT, ""},       {"ties", COLUMN_INT, "pairs"},
                                     {"left_hex", COLUMN_TEXT, ""},   {"right_hex", COLUMN_TEXT, ""},
                                     {"merged_hex", COLUMN_TEXT, ""}, {0}};
const Column bpe_words_columns[] = {{"word", COLUMN_TEXT, ""},
                                    {"count", COLUMN_INT, ""},
                                    {"pieces", COLUMN_TEXT, ""},
                                    {"pieces_hex", COLUMN_TEXT, ""},
                                    {0}};
const Column bpe_tokens_columns[] = {
    {"index", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""}, {"id", COLUMN_INT, ""}, {"bytes_hex", COLUMN_TEXT, ""}, {0}};
const Column bpe_steps_columns[] = {{"step", COLUMN_INT, ""},
                                    {"rank", COLUMN_INT, ""},
                                    {"left", COLUMN_TEXT, ""},
                                    {"right", COLUMN_TEXT, ""},
                                    {"pieces", COLUMN_TEXT, ""},
                                    {"pieces_hex", COLUMN_TEXT, ""},
                                    {0}};

static void add_text(Table *t, const Str *text) {
    table_add_text_n(t, text->s, text->len);
}

/* ---- learning ---- */

void bpe_add_merge_row(Table *t, const Bpe *b, int rank) {
    const BpeMerge *m = bpe_merge(b, rank);
    const int part[3] = {m->left, m->right, m->merged};
    size_t bytes;
    table_add_int(t, rank);
    for (int i = 0; i < 3; i++) {
        const char *name = bpe_name(b, part[i], &bytes);
        bpe_add_shown_cell(t, name, bytes);
    }
    table_add_int(t, m->count);
    table_add_int(t, m->ties);
    for (int i = 0; i < 3; i++) {
        const char *name = bpe_name(b, part[i], &bytes);
        bpe_add_hex_cell(t, name, bytes);
    }
}

void bpe_add_word_rows(Table *t, const BpeWords *words, const BpeTrainer *trainer, int most) {
    int *order = bpe_words_by_count(words), *symbol = MEM_ARRAY(int, (size_t)bpe_trainer_most_pieces(trainer));
    int rows = most < 0 || words->words < most ? words->words : most;
    Str shown, hex;
    str_init(&shown);
    str_init(&hex);
    for (int i = 0; i < rows; i++) {
        size_t bytes;
        const char *word = bpe_words_at(words, order[i], &bytes);
        str_clear(&shown);
        str_clear(&hex);
        int n = bpe_trainer_word(trainer, order[i], symbol);
        bpe_add_pieces(bpe_trainer_bpe(trainer), symbol, n, &shown, &hex);
        bpe_add_shown_cell(t, word, bytes);
        table_add_int(t, words->count[order[i]]);
        add_text(t, &shown);
        add_text(t, &hex);
    }
    str_done(&shown);
    str_done(&hex);
    mem_free(symbol);
    mem_free(order);
}

/* ---- cutting ---- */

bool bpe_add_token_rows(Table *t, const BpeSource *b, const char *s, size_t n, BpeGoOn *go_on, void *data) {
    Pieces pieces = {0};
    Str shown;
    str_init(&shown);
    tokenizer_encode(b->tokenizer, s, n, &pieces);
    bool goes_on = true;
    for (long i = 0; goes_on && i < pieces.count; i++) {
        const Piece *p = &pieces.piece[i];
        str_clear(&shown);
        if (p->id >= 0) {
            bpe_source_name(b, p->id, &shown);
        } else {
            bpe_add_shown(&shown, s + p->start, p->bytes);
        }
        table_add_int(t, i);
        add_text(t, &shown);
        if (p->id >= 0) {
            table_add_int(t, p->id);
        } else {
            table_add_empty(t);
        }
        bpe_add_hex_cell(t, s + p->start, p->bytes);
        goes_on = !go_on || go_on(data, i);
    }
    pieces_done(&pieces);
    str_done(&shown);
    return goes_on;
}

/* What the rows of steps are made from. */
typedef struct {
    Table *table;
    const BpeSource *source;
    const char *text;
    const Units *units;
    long step;
    BpeGoOn *go_on;
    void *data;
    bool stopped;
} Watching;

static void add_piece(const BpeSource *b, int id, const char *s, size_t bytes, Str *shown, Str *hex) {
    if (id >= 0) {
        bpe_source_name(b, id, shown);
        bpe_source_hex(b, id, hex);
    } else {
        bpe_add_shown(shown, s, bytes);
        bpe_add_hex(hex, s, bytes);
    }
}

static void add_sequence(const Watching *w, const int *symbol, const int *units, int n, Str *shown, Str *hex) {
    for (int i = 0, unit = 0; i < n; unit += units ? units[i] : 1, i++) {
        size_t start = w->units->start[unit], end = units_end(w->units, unit + (units ? units[i] : 1) - 1);
        if (i > 0) {
            str_add_char(shown, ' ');
            str_add_char(hex, ' ');
        }
        add_piece(w->source, symbol[i], w->text + start, end - start, shown, hex);
    }
}

static bool add_step(void *data, int rule, const int *symbol, const int *units, int n) {
    Watching *w = data;
    const MergeRule *r = &tokenizer_rules(w->source->tokenizer)->rule[rule];
    const int part[2] = {r->left, r->right};
    Str shown, hex;
    str_init(&shown);
    str_init(&hex);
    table_add_int(w->table, ++w->step);
    table_add_int(w->table, r->rank + 1);
    for (int i = 0; i < 2; i++) {
        str_clear(&shown);
        bpe_source_name(w->source, part[i], &shown);
        add_text(w->table, &shown);
    }
    str_clear(&shown);
    add_sequence(w, symbol, units, n, &shown, &hex);
    add_text(w->table, &shown);
    add_text(w->table, &hex);
    str_done(&shown);
    str_done(&hex);
    w->stopped = w->go_on && !w->go_on(w->data, w->step);
    return !w->stopped;
}

bool bpe_add_step_rows(Table *t, const BpeSource *b, const char *s, size_t n, int most, size_t *end, Str *first,
                       BpeGoOn *go_on, void *data) {
    Units units = {0};
    *end = tokenizer_lay(b->tokenizer, s, n, most, &units);
    Watching w = {t, b, s, &units, 0, go_on, data, false};
    if (first) {
        Str hex;
        str_init(&hex);
        add_sequence(&w, units.symbol, NULL, units.n, first, &hex);
        str_done(&hex);
    }
    tokenizer_watch(b->tokenizer, &units, add_step, &w);
    units_done(&units);
    return !w.stopped;
}
