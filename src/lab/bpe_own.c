#include "bpe_own.h"

#include "bpe_tables.h"
#include "mem.h"

#include <string.h>

enum { UNITS_CUT = 400 }; /* of the text whose steps are shown */

void bpe_own_forget(BpeOwn *b) {
    for (int i = 0; i < BPE_OWN_TABLES; i++) {
        table_free(b->shown[i]);
        b->shown[i] = NULL;
    }
    mem_free(b->cut);
    b->cut = NULL;
}

void bpe_own_done(BpeOwn *b) {
    bpe_own_forget(b);
    mem_free(b->text);
    b->text = NULL;
}

void bpe_own_text(BpeOwn *b, const char *text) {
    mem_free(b->text);
    b->text = mem_text(text);
}

/* What only learning has is empty. */
static Table *facts_table(const Tokenizer *t, const char *text, long tokens, const Str *units) {
    Table *facts = table_new("bpe", bpe_facts_columns);
    table_add_empty(facts); /* corpus */
    table_add_text(facts, "tokenizer");
    for (int i = 0; i < 3; i++) table_add_empty(facts); /* lowercase, words, distinct */
    table_add_int(facts, tokenizer_rules(t)->count);
    table_add_int(facts, tokenizer_size(t));
    table_add_empty(facts); /* units */
    table_add_int(facts, tokens);
    for (int i = 0; i < 3; i++) table_add_empty(facts); /* ties, running, rate */
    table_add_text(facts, text);
    table_add_text_n(facts, units->s, units->len);
    return facts;
}

static void cut(BpeOwn *b, Tokenizer *t, const char *text) {
    BpeSource source = {.tokenizer = t};
    Str units;
    size_t end;
    str_init(&units);
    bpe_own_forget(b);
    b->cut = mem_text(text);
    b->shown[1] = table_new("encoded", bpe_tokens_columns);
    b->shown[2] = table_new("steps", bpe_steps_columns);
    (void)bpe_add_token_rows(b->shown[1], &source, text, strlen(text), NULL, NULL);
    (void)bpe_add_step_rows(b->shown[2], &source, text, strlen(text), UNITS_CUT, &end, &units, NULL, NULL);
    b->shown[0] = facts_table(t, text, table_rows(b->shown[1]), &units);
    str_done(&units);
}

void bpe_own_show(BpeOwn *b, Tokenizer *t, const char *prompt, Snapshot *s) {
    const char *text = b->text ? b->text : prompt;
    if (!b->cut || strcmp(b->cut, text) != 0) cut(b, t, text);
    for (int i = 0; i < BPE_OWN_TABLES; i++) snapshot_add_table(s, table_copy(b->shown[i]));
}
