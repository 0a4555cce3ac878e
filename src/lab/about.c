#include "about.h"

#include "bug.h"
#include "real.h"
#include "utf8.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

static const Column about_columns[] = {{"key", COLUMN_TEXT, ""}, {"value", COLUMN_TEXT, ""}, {0}};

static bool is_safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_@%+=:,./-", c));
}

static bool is_plain_word(const char *text) {
    if (!*text) return false;
    for (; *text; text++)
        if (!is_safe(*text)) return false;
    return true;
}

/* UTF-8 in one line: it can stand between two quotation marks. */
static bool is_printable(const char *text) {
    if (!utf8_valid(text, strlen(text), NULL)) return false;
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) return false;
    return true;
}

static void add_in_quotes(Str *out, const char *text) {
    str_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'') {
            str_add(out, "'\\''");
        } else {
            str_add_char(out, *text);
        }
    }
    str_add_char(out, '\'');
}

static void add_escaped(Str *out, const char *text) {
    str_add(out, "$'");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7f) {
            str_addf(out, "\\x%02x", c);
        } else {
            if (c == '\\' || c == '\'') str_add_char(out, '\\');
            str_add_char(out, *text);
        }
    }
    str_add_char(out, '\'');
}

void about_shell_word(Str *out, const char *text) {
    if (is_plain_word(text)) {
        str_add(out, text);
    } else if (is_printable(text)) {
        add_in_quotes(out, text);
    } else {
        add_escaped(out, text);
    }
}

void about_command(const CatalogEntry *e, const Options *o, Str *out) {
    Str word;
    str_init(&word);
    str_addf(out, "lantern run %s", e->id);
    for (int i = 0; i < options_count(o); i++) {
        const char *name = options_row(o, i)->name;
        if (!options_is_given(o, name) && strcmp(name, "seed") != 0) continue;
        str_clear(&word);
        str_addf(&word, "%s=%s", name, options_value(o, name));
        str_add_char(out, ' ');
        about_shell_word(out, word.s);
    }
    str_done(&word);
}

void about_add(Table *about, const char *key, const char *value) {
    for (long row = 0; row < table_rows(about); row++) BUG_ON(strcmp(table_text(about, row, 0), key) == 0);
    table_add_text(about, key);
    table_add_text(about, value);
}

/* A value as the table can hold it. */
static void add_option(Table *about, const char *key, const char *value) {
    Str word;
    str_init(&word);
    if (utf8_valid(value, strlen(value), NULL)) {
        str_add(&word, value);
    } else {
        add_escaped(&word, value);
    }
    about_add(about, key, word.s);
    str_done(&word);
}

Table *about_new(const CatalogEntry *e, const Options *o, int threads) {
    Table *about = table_new("about", about_columns);
    Str text;
    str_init(&text);
    about_add(about, "version", version_number());
    about_add(about, "real", REAL_IS_DOUBLE ? "double" : "float");
    about_add(about, "experiment", e->id);
    about_command(e, o, &text);
    about_add(about, "command", text.s);
    for (int i = 0; i < options_count(o); i++) {
        const char *name = options_row(o, i)->name;
        if (strcmp(name, "threads") == 0) {
            str_clear(&text);
            str_addf(&text, "%d", threads);
            about_add(about, name, text.s);
        } else if (options_is_set(o, name)) {
            add_option(about, name, options_value(o, name));
        } else {
            table_add_text(about, name);
            table_add_empty(about);
        }
    }
    str_done(&text);
    return about;
}

/* ---- of a screen ---- */

static void add_long(Table *t, const char *key, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    about_add(t, key, value < 0 ? "" : text);
}

static void add_double(Table *t, const char *key, double value) {
    Str text;
    str_init(&text);
    str_add_double(&text, value);
    about_add(t, key, text.s);
    str_done(&text);
}

/* The sentence that is looked at, and how much of it is visible. */
static void add_sentence(Table *about, const Snapshot *s) {
    const Table *t = snapshot_table(s, "tokens");
    int token = t ? table_find(t, "token") : -1;
    Str text;
    str_init(&text);
    for (long i = 0; token >= 0 && i < table_rows(t); i++)
        str_addf(&text, "%s%s", i > 0 ? " " : "", table_is_empty(t, i, token) ? "" : table_text(t, i, token));
    about_add(about, "tokens", text.s);
    str_done(&text);
}

static void add_conventions(Table *t) {
    about_add(t, "indices", "layer, head, query, key, position, index and id count from 0; training steps from 1");
    about_add(t, "vectors",
              "q and k are those that are compared: after RoPE where the model has it; of k and v head is the KV head");
    about_add(t, "logarithms", "natural: nats");
}

/* Two runs side by side. */
static void add_runs(Table *t, const SnapshotFacts *f) {
    const char letter[2] = {f->versus, '\0'};
    if (!f->versus) return;
    about_add(t, "looked at", letter);
    about_add(t, "run A", f->run_name[0]);
    about_add(t, "run B", f->run_name[1]);
}

/* What was set on the way. */
static void add_changes(Table *t, const Table *changes) {
    for (long i = 0; changes && i < table_rows(changes); i++) {
        char key[32], value[256];
        snprintf(key, sizeof key, "change %ld", i + 1);
        snprintf(value, sizeof value, "%lld set %s %s", table_int(changes, i, 0), table_text(changes, i, 1),
                 table_text(changes, i, 2));
        about_add(t, key, value);
    }
}

/* Of facts that have no room for all, all. */
static void add_tampering(Table *about, const Snapshot *s) {
    const Table *t = snapshot_table(s, "tampering");
    Str text;
    str_init(&text);
    for (long i = 0; t && i < table_rows(t); i++) str_addf(&text, "%s%s", i > 0 ? ", " : "", table_text(t, i, 0));
    about_add(about, "tampering", t ? text.s : snapshot_facts(s)->tamper);
    str_done(&text);
}

Table *about_snapshot(const Snapshot *s) {
    const SnapshotFacts *f = snapshot_facts(s);
    Table *t = table_new("about", about_columns);
    about_add(t, "version", version_number());
    about_add(t, "real", REAL_IS_DOUBLE ? "double" : "float");
    about_add(t, "run", f->name);
    about_add(t, "corpus", f->corpus);
    add_long(t, "seed", (long)f->seed);
    add_long(t, "parameters", f->parameters);
    add_long(t, "step", f->step);
    add_long(t, "newest_step", f->head);
    add_long(t, "steps", f->steps);
    add_sentence(t, s);
    add_long(t, "prompt_tokens", f->prompt_tokens);
    add_long(t, "visible_tokens", f->position);
    about_add(t, "choice", f->sampling ? "drawn" : "greedy");
    add_double(t, "tau", f->tau);
    add_long(t, "top_k", f->top_k);
    add_double(t, "top_p", f->top_p);
    about_add(t, "order", f->tau_last ? "tau_last" : "tau_first");
    add_tampering(t, s);
    const Table *settings = snapshot_table(s, "settings");
    for (long i = 0; settings && i < table_rows(settings); i++) {
        char key[80];
        snprintf(key, sizeof key, "option %s", table_text(settings, i, 0));
        about_add(t, key, table_text(settings, i, 1));
    }
    add_changes(t, snapshot_table(s, "changes"));
    add_runs(t, f);
    add_conventions(t);
    return t;
}
