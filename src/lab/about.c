#include "about.h"

#include "bug.h"
#include "real.h"
#include "utf8.h"
#include "version.h"

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
