/* bpe.encode, bpe.decode: texts to sub-words and back, merge by merge (lecture 3, 5.3 to 5.5). */
#include "bpe_tables.h"
#include "experiment.h"
#include "file.h"
#include "intl.h"
#include "left_out.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

/* ---- bpe.encode ---- */

static const Option encode_options[] = {
    {"text", OPTION_TEXT, "repainting unkindly", 0, 0, NULL, "", N_("what to cut")},
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("all bytes of a file instead, - for standard input")},
    {"trace", OPTION_INT, "1000", 0, 100000, NULL, N_("units"), N_("steps are shown of so much of its beginning")},
    {0},
};

static Status check_encode(const Options *o) {
    if (options_is_given(o, "text") && options_is_set(o, "file"))
        return status_usage(_("give the text as text= or as file=, not both"));
    if (!options_is_set(o, "text") && !options_is_set(o, "file"))
        return status_usage(_("give the text as text= or as file= (- for standard input)"));
    const char *text = options_text(o, "text");
    if (text && !utf8_valid(text, strlen(text), NULL))
        return status_usage(_("text: it is not UTF-8; file= takes any bytes"));
    return bpe_source_check(o);
}

static Status read_input(const Options *o, Str *out) {
    if (!options_is_set(o, "file")) {
        str_add(out, options_text(o, "text"));
    } else {
        STATUS_TRY(file_read(options_text(o, "file"), 0, out));
    }
    if (!options_flag(o, "lowercase")) return status_ok();
    Str small;
    str_init(&small);
    bpe_lowercase(out->s, out->len, &small);
    str_clear(out);
    str_add_n(out, small.s, small.len);
    str_done(&small);
    return status_ok();
}

static bool next_step(void *study, long step) {
    return study_progress(study, -1, _("step %ld"), step);
}

static bool next_token(void *study, long token) {
    return study_progress(study, -1, _("token %ld"), token);
}

static Status add_steps(Study *s, const BpeSource *b, const Str *text) {
    int most = (int)options_int(study_options(s), "trace");
    size_t end;
    bool done = bpe_add_step_rows(study_table(s, "steps"), b, text->s, text->len, most, &end, NULL, next_step, s);
    study_about(s, "steps_cover", "the first %zu of %zu bytes; a step applies one merge wherever its pair stands", end,
                text->len);
    return done ? status_ok() : status_cancelled();
}

static Status add_tokens(Study *s, const BpeSource *b, const Str *text) {
    bool done = bpe_add_token_rows(study_table(s, "tokens"), b, text->s, text->len, next_token, s);
    return done ? status_ok() : status_cancelled();
}

static void encode_conventions(Study *s, const BpeSource *b) {
    bpe_source_conventions(s, b);
    study_about(s, "bytes_hex",
                "the bytes of the text that the token stands for; one behind the other they are the "
                "text");
    if (!b->bpe) return;
    study_about(s, "end_of_word",
                "%s in bytes_hex is the white space that follows it in the text; at the start of a text it may stand "
                "alone for white space before the first word",
                BPE_END);
    study_about(s, "unknown", "a unit without an id is in no merge and no corpus; its bytes are kept");
}

static Status run_encode(Study *s) {
    Str text;
    BpeSource source;
    str_init(&text);
    Status status = read_input(study_options(s), &text);
    if (status_is_ok(&status)) status = bpe_source_open(s, &source);
    if (status_is_ok(&status)) {
        status = add_tokens(s, &source, &text);
        if (status_is_ok(&status)) status = add_steps(s, &source, &text);
        encode_conventions(s, &source);
        left_out_tell(s, source.tokenizer, text.s, text.len);
        bpe_source_close(&source);
    }
    str_done(&text);
    return status;
}

const Experiment experiment_bpe_encode = {
    .entry = {.id = "bpe.encode",
              .section = "L3 5.3",
              .title = N_("a text cut into sub-words, merge by merge"),
              .see = N_("Words that were never seen fall into known parts; no word is out of vocabulary, though a "
                        "character can be, and the bytes "
                        "come back unchanged."),
              .options = (const Option *const[]){encode_options, bpe_source_rows, bpe_corpus_rows, bpe_unit_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"tokens", bpe_tokens_columns}, {"steps", bpe_steps_columns}, {0}},
              .figure = {FIGURE_LINE, "steps", "step", "rank", NULL}},
    .check = check_encode,
    .run = run_encode,
};

/* ---- bpe.decode ---- */

static const Option decode_options[] = {
    {"ids", OPTION_INTS, "0", 0, 100000000, NULL, "", N_("the tokens to write out")},
    {0},
};
static const Column bytes_columns[] = {
    {"index", COLUMN_INT, ""}, {"id", COLUMN_INT, ""}, {"bytes_hex", COLUMN_TEXT, ""}, {0}};

static Status add_decoded(Study *s, const Tokenizer *tokenizer) {
    const long long *id;
    int n = options_ints(study_options(s), "ids", &id);
    Table *t = study_table(s, "bytes");
    for (int i = 0; i < n; i++)
        if (id[i] >= tokenizer_size(tokenizer))
            return status_usage(_("ids: %lld is not in the vocabulary, whose ids are 0 to %d"), id[i],
                                tokenizer_size(tokenizer) - 1);
    Str bytes;
    str_init(&bytes);
    for (int i = 0; i < n; i++) {
        str_clear(&bytes);
        tokenizer_bytes(tokenizer, (int)id[i], i > 0 ? (int)id[i - 1] : TOKENIZER_BEGIN, &bytes);
        table_add_int(t, i);
        table_add_int(t, id[i]);
        bpe_add_hex_cell(t, bytes.s, bytes.len);
    }
    str_done(&bytes);
    return status_ok();
}

static Status run_decode(Study *s) {
    BpeSource source;
    STATUS_TRY(bpe_source_open(s, &source));
    Status status = add_decoded(s, source.tokenizer);
    bpe_source_conventions(s, &source);
    if (source.bpe) study_about(s, "end_of_word", "%s is written as one blank", BPE_END);
    bpe_source_close(&source);
    return status;
}

const Experiment experiment_bpe_decode = {
    .entry = {.id = "bpe.decode",
              .section = "L3 5.5",
              .title = N_("tokens back to bytes"),
              .see = N_("A token of a byte-level vocabulary may be half a character: only together they are text."),
              .options = (const Option *const[]){decode_options, bpe_source_rows, bpe_corpus_rows, bpe_unit_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"bytes", bytes_columns}, {0}}},
    .check = bpe_source_check,
    .run = run_decode,
};
