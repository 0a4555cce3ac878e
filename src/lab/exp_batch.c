/* text.batch: how sentences become a matrix of ids: cut, padded, looked up (lecture 3, 3.2, exercise 1). */
#include "assets.h"
#include "experiment.h"
#include "intl.h"
#include "lines.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_PAD "<PAD>"

static const Option batch_options[] = {
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("a sentence a line, - for standard input; not given: 8 of our own")},
    {"block", OPTION_INT, "10", 1, 100000, NULL, N_("tokens"), N_("the longest sequence: what is longer is cut")},
    {"pad", OPTION_CHOICE, "right", 0, 0, "right|left", "", N_("the side on which short sentences are filled")},
    {0},
};

static const Column batch_columns[] = {{"sentence", COLUMN_INT, ""},
                                       {"position", COLUMN_INT, ""},
                                       {"token", COLUMN_TEXT, ""},
                                       {"id", COLUMN_INT, ""},
                                       {0}};
static const Column waste_columns[] = {{"block", COLUMN_INT, "tokens"},   {"sentences", COLUMN_INT, ""},
                                       {"cut_sentences", COLUMN_INT, ""}, {"cut_tokens", COLUMN_INT, ""},
                                       {"pads", COLUMN_INT, ""},          {"positions", COLUMN_INT, ""},
                                       {"pad_share", COLUMN_DOUBLE, ""},  {0}};

/* The tokens of all sentences one after the other, and the words there are in byte order. */
typedef struct {
    char **token;
    long tokens, token_capacity;
    long *start; /* [sentences + 1] */
    long sentences, sentence_capacity;
    const char **word; /* [words], id = index + 1 */
    long words;
} Book;

static void book_done(Book *b) {
    for (long i = 0; i < b->tokens; i++) mem_free(b->token[i]);
    mem_free(b->token);
    mem_free(b->start);
    mem_free(b->word);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

static Status book_add(Book *b, const char *line, long number) {
    MEM_GROW(b->start, b->sentences + 1, b->sentence_capacity);
    b->start[b->sentences] = b->tokens;
    for (const char *s = line; *s;) {
        size_t n = 0;
        while (s[n] && !is_blank(s[n])) n++;
        if (n == strlen(BATCH_PAD) && memcmp(s, BATCH_PAD, n) == 0)
            return status_usage(_("line %ld: %s is the name of the filling and cannot be a word"), number, BATCH_PAD);
        if (n > 0) {
            MEM_GROW(b->token, b->tokens, b->token_capacity);
            b->token[b->tokens++] = mem_text_n(s, n);
        }
        s += n;
        while (is_blank(*s)) s++;
    }
    if (b->tokens > b->start[b->sentences]) b->sentences++; /* a blank line is no sentence */
    return status_ok();
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void book_close(Book *b) {
    b->start[b->sentences] = b->tokens;
    b->word = MEM_ARRAY(const char *, (size_t)b->tokens + 1);
    for (long i = 0; i < b->tokens; i++) b->word[i] = b->token[i];
    qsort(b->word, (size_t)b->tokens, sizeof *b->word, by_bytes);
    for (long i = 0; i < b->tokens; i++)
        if (b->words == 0 || strcmp(b->word[b->words - 1], b->word[i]) != 0) b->word[b->words++] = b->word[i];
}

static Status book_open(const char *file, Book *b) {
    *b = (Book){0};
    Str path;
    str_init(&path);
    if (file) {
        str_add(&path, file);
    } else if (!assets_find("texts/lantern.txt", &path)) {
        str_done(&path);
        return status_failed(
            _("the built-in sentences (texts/lantern.txt) cannot be found; LANTERN_ASSETS names their folder"));
    }
    Lines lines;
    Status s = lines_read(path.s, &lines);
    for (long i = 0; status_is_ok(&s) && i < lines.count; i++) s = book_add(b, lines.line[i], i + 1);
    if (status_is_ok(&s) && b->sentences == 0) s = status_usage(_("'%s' has no sentences"), path.s);
    if (status_is_ok(&s)) book_close(b);
    lines_done(&lines);
    str_done(&path);
    return s;
}

static long id_of(const Book *b, const char *token) {
    const char **found = bsearch(&token, b->word, (size_t)b->words, sizeof *b->word, by_bytes);
    return found - b->word + 1;
}

static void add_position(Table *t, long sentence, long position, const char *token, long id) {
    table_add_int(t, sentence);
    table_add_int(t, position);
    table_add_text(t, token);
    table_add_int(t, id);
}

/* One row of the matrix: the first BLOCK tokens, and pads on one side of them. */
static void add_sentence(Table *t, const Book *b, long sentence, long block, bool left) {
    long first = b->start[sentence], length = b->start[sentence + 1] - first;
    if (length > block) length = block;
    long shift = left ? block - length : 0;
    for (long position = 0; position < block; position++) {
        long i = position - shift;
        if (i < 0 || i >= length) {
            add_position(t, sentence, position, BATCH_PAD, 0);
        } else {
            add_position(t, sentence, position, b->token[first + i], id_of(b, b->token[first + i]));
        }
    }
}

static void add_waste(Table *t, const Book *b, long block) {
    long cut_sentences = 0, cut_tokens = 0, pads = 0;
    for (long i = 0; i < b->sentences; i++) {
        long over = b->start[i + 1] - b->start[i] - block;
        cut_sentences += over > 0;
        if (over > 0) cut_tokens += over;
        if (over < 0) pads -= over;
    }
    table_add_int(t, block);
    table_add_int(t, b->sentences);
    table_add_int(t, cut_sentences);
    table_add_int(t, cut_tokens);
    table_add_int(t, pads);
    table_add_int(t, b->sentences * block);
    table_add_real(t, (double)pads / (double)(b->sentences * block));
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    long block = (long)options_int(o, "block");
    bool left = options_choice(o, "pad") == 1;
    Book book;
    Status status = book_open(options_text(o, "file"), &book);
    for (long i = 0; status_is_ok(&status) && i < book.sentences; i++) {
        add_sentence(study_table(s, "batch"), &book, i, block, left);
        if (!study_progress(s, (double)(i + 1) / (double)book.sentences, _("sentence %ld"), i + 1))
            status = status_cancelled();
    }
    if (status_is_ok(&status)) {
        add_waste(study_table(s, "waste"), &book, block);
        study_about(s, "vocabulary", "%ld entries: %s is 0, then the tokens in byte order", book.words + 1, BATCH_PAD);
        study_about(s, "tokens", "what stands between blanks; a blank line is no sentence");
        study_about(s, "cutting", "the first `block` tokens stay");
        study_about(s, "pad_share_rule", "pads / positions");
    }
    book_done(&book);
    return status;
}

const Experiment experiment_text_batch = {
    .entry = {.id = "text.batch",
              .section = "L3 3.2",
              .title = N_("sentences cut, padded and turned into a matrix of ids"),
              .see = N_(
                  "A smaller block wastes fewer positions on pads, but cuts off more words that the model then never "
                  "sees."),
              .options = (const Option *const[]){batch_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"batch", batch_columns}, {"waste", waste_columns}, {0}},
              .figure = {FIGURE_HEAT, "batch", "position", "sentence", "id"}},
    .run = run,
};
