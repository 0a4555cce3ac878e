/* The part of a fixture that the bpe pane reads: the notes' example, low 5 lower 2 newest 6 widest 3, after three
 * merges, worked out by hand. */
#include "fixture.h"

#include <stdio.h>

static void add_hex(Table *t, const char *text) {
    char hex[64];
    int n = 0;
    hex[0] = '\0';
    for (; *text; text++) n += snprintf(hex + n, sizeof hex - (size_t)n, "%02x", (unsigned)(unsigned char)*text);
    table_add_text(t, hex);
}

static void add_merges(Snapshot *s) {
    static const Column columns[] = {{"rank", COLUMN_INT, ""},        {"left", COLUMN_TEXT, ""},
                                     {"right", COLUMN_TEXT, ""},      {"merged", COLUMN_TEXT, ""},
                                     {"count", COLUMN_INT, ""},       {"ties", COLUMN_INT, "pairs"},
                                     {"left_hex", COLUMN_TEXT, ""},   {"right_hex", COLUMN_TEXT, ""},
                                     {"merged_hex", COLUMN_TEXT, ""}, {0}};
    static const char *const parts[][3] = {{"e", "s", "es"}, {"es", "t", "est"}, {"est", "</w>", "est</w>"}};
    Table *t = table_new("merges", columns);
    for (int i = 0; i < 3; i++) {
        table_add_int(t, i + 1);
        for (int k = 0; k < 3; k++) table_add_text(t, parts[i][k]);
        table_add_int(t, 9);
        table_add_int(t, 3 - i);
        for (int k = 0; k < 3; k++) add_hex(t, parts[i][k]);
    }
    snapshot_add_table(s, t);
}

static void add_pairs(Snapshot *s) {
    static const Column columns[] = {
        {"place", COLUMN_INT, ""},     {"left", COLUMN_TEXT, ""},      {"right", COLUMN_TEXT, ""},
        {"merged", COLUMN_TEXT, ""},   {"count", COLUMN_INT, ""},      {"tied", COLUMN_INT, ""},
        {"left_hex", COLUMN_TEXT, ""}, {"right_hex", COLUMN_TEXT, ""}, {0}};
    static const struct {
        const char *left, *right;
        int count;
    } pairs[] = {{"l", "o", 7},       {"o", "w", 7},    {"e", "w", 6},       {"n", "e", 6},
                 {"w", "est</w>", 6}, {"w", "</w>", 5}, {"d", "est</w>", 3}, {"i", "d", 3},
                 {"w", "i", 3},       {"e", "r", 2},    {"r", "</w>", 2},    {"w", "e", 2}};
    Table *t = table_new("pairs", columns);
    for (int i = 0; i < (int)(sizeof pairs / sizeof *pairs); i++) {
        char merged[32];
        snprintf(merged, sizeof merged, "%s%s", pairs[i].left, pairs[i].right);
        table_add_int(t, i);
        table_add_text(t, pairs[i].left);
        table_add_text(t, pairs[i].right);
        table_add_text(t, merged);
        table_add_int(t, pairs[i].count);
        table_add_int(t, i < 2);
        add_hex(t, pairs[i].left);
        add_hex(t, pairs[i].right);
    }
    snapshot_add_table(s, t);
}

static void add_words(Snapshot *s) {
    static const Column columns[] = {{"word", COLUMN_TEXT, ""},
                                     {"count", COLUMN_INT, ""},
                                     {"pieces", COLUMN_TEXT, ""},
                                     {"pieces_hex", COLUMN_TEXT, ""},
                                     {0}};
    static const struct {
        const char *word, *pieces;
        int count;
    } words[] = {{"newest", "n e w est</w>", 6},
                 {"low", "l o w </w>", 5},
                 {"widest", "w i d est</w>", 3},
                 {"lower", "l o w e r </w>", 2}};
    Table *t = table_new("words", columns);
    for (int i = 0; i < 4; i++) {
        table_add_text(t, words[i].word);
        table_add_int(t, words[i].count);
        table_add_text(t, words[i].pieces);
        table_add_empty(t);
    }
    snapshot_add_table(s, t);
}

static void add_growth(Snapshot *s) {
    static const Column columns[] = {{"merges", COLUMN_INT, ""},
                                     {"vocabulary", COLUMN_INT, "symbols"},
                                     {"tokens_per_word", COLUMN_DOUBLE, "tokens"},
                                     {0}};
    Table *t = table_new("growth", columns);
    for (int i = 0; i <= 3; i++) {
        table_add_int(t, i);
        table_add_int(t, 11 + i);
        table_add_real(t, (95 - 9 * i) / 16.0);
    }
    snapshot_add_table(s, t);
}

static void add_steps(Snapshot *s) {
    static const Column columns[] = {{"step", COLUMN_INT, ""},
                                     {"rank", COLUMN_INT, ""},
                                     {"left", COLUMN_TEXT, ""},
                                     {"right", COLUMN_TEXT, ""},
                                     {"pieces", COLUMN_TEXT, ""},
                                     {"pieces_hex", COLUMN_TEXT, ""},
                                     {0}};
    static const char *const steps[][3] = {{"e", "s", "l o w es t </w> n e w e r </w>"},
                                           {"es", "t", "l o w est </w> n e w e r </w>"},
                                           {"est", "</w>", "l o w est</w> n e w e r </w>"}};
    Table *t = table_new("steps", columns);
    for (int i = 0; i < 3; i++) {
        table_add_int(t, i + 1);
        table_add_int(t, i + 1);
        for (int k = 0; k < 3; k++) table_add_text(t, steps[i][k]);
        table_add_empty(t);
    }
    snapshot_add_table(s, t);
}

static void add_encoded(Snapshot *s) {
    static const Column columns[] = {{"index", COLUMN_INT, ""},
                                     {"token", COLUMN_TEXT, ""},
                                     {"id", COLUMN_INT, ""},
                                     {"bytes_hex", COLUMN_TEXT, ""},
                                     {0}};
    static const struct {
        const char *token;
        int id;
    } tokens[] = {{"l", 4}, {"o", 6},  {"w", 10}, {"est</w>", 13}, {"n", 5},
                  {"e", 2}, {"w", 10}, {"e", 2},  {"r", 7},        {"</w>", 0}};
    Table *t = table_new("encoded", columns);
    for (int i = 0; i < (int)(sizeof tokens / sizeof *tokens); i++) {
        table_add_int(t, i);
        table_add_text(t, tokens[i].token);
        table_add_int(t, tokens[i].id);
        table_add_empty(t);
    }
    snapshot_add_table(s, t);
}

static void add_facts(Snapshot *s) {
    static const Column columns[] = {
        {"corpus", COLUMN_TEXT, ""},    {"unit", COLUMN_TEXT, ""},       {"lowercase", COLUMN_INT, ""},
        {"words", COLUMN_INT, ""},      {"distinct", COLUMN_INT, ""},    {"merges", COLUMN_INT, ""},
        {"vocabulary", COLUMN_INT, ""}, {"units", COLUMN_INT, ""},       {"tokens", COLUMN_INT, ""},
        {"ties", COLUMN_INT, ""},       {"running", COLUMN_INT, ""},     {"rate", COLUMN_DOUBLE, ""},
        {"text", COLUMN_TEXT, ""},      {"text_units", COLUMN_TEXT, ""}, {0}};
    static const int counts[] = {0, 16, 4, 3, 14, 11, 68, 2, 0};
    Table *t = table_new("bpe", columns);
    table_add_text(t, "low.txt");
    table_add_text(t, "char");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) table_add_int(t, counts[i]);
    table_add_real(t, 3);
    table_add_text(t, "lowest newer");
    table_add_text(t, "l o w e s t </w> n e w e r </w>");
    snapshot_add_table(s, t);
}

void fixture_add_bpe(Snapshot *s, const FixtureSpec *spec) {
    add_facts(s);
    add_steps(s);
    add_encoded(s);
    if (spec->reads_only) return; /* how a tokenizer of others was learnt is not known */
    add_pairs(s);
    add_words(s);
    add_merges(s);
    add_growth(s);
}
