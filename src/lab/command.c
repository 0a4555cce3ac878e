#include "command.h"

#include "intl.h"
#include "str.h"

#include <string.h>

/* Splitting. */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The end of the single quotes that open at S, where a word or a value begins; NULL: an apostrophe. */
static const char *single_quotes(const char *word, const char *s) {
    if (*s != '\'' || (s > word && s[-1] != '=')) return NULL;
    const char *end = strchr(s + 1, '\'');
    return end && (!end[1] || is_blank(end[1])) ? end : NULL;
}

/* Copies one word from *at to *to, quotes taken off; false when a quote does not close. Both move on. */
static bool copy_word(const char **at, char **to) {
    const char *s = *at, *end;
    char *d = *to;
    bool quoted = false;
    for (; *s && (quoted || !is_blank(*s)); s++) {
        if (!quoted && (end = single_quotes(*at, s))) {
            memcpy(d, s + 1, (size_t)(end - s - 1));
            d += end - s - 1;
            s = end;
        } else if (*s == '"')
            quoted = !quoted;
        else if (quoted && *s == '\\' && (s[1] == '"' || s[1] == '\\'))
            *d++ = *++s;
        else
            *d++ = *s;
    }
    *d++ = '\0';
    *at = s;
    *to = d;
    return !quoted;
}

Status command_split(const char *line, Words *out) {
    out->count = 0;
    size_t bytes = strlen(line);
    if (bytes >= COMMAND_BYTES) return status_usage(_("a command line has at most %d bytes"), COMMAND_BYTES - 1);
    memcpy(out->line, line, bytes + 1);
    while (bytes > 0 && is_blank(out->line[bytes - 1])) out->line[--bytes] = '\0';
    const char *at = out->line;
    char *to = out->buffer;
    for (;;) {
        while (is_blank(*at)) at++;
        if (!*at) return status_ok();
        if (out->count == COMMAND_WORDS) return status_usage(_("a command line has at most %d words"), COMMAND_WORDS);
        out->rest[out->count] = at;
        out->word[out->count] = to;
        if (!copy_word(&at, &to)) return status_usage(_("a quote is not closed: %s"), out->rest[out->count]);
        out->count++;
    }
}

void command_add_quoted(Str *line, const char *text) {
    str_add_char(line, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') str_add_char(line, '\\');
        str_add_char(line, *text);
    }
    str_add_char(line, '"');
}

void command_add_word(Str *line, const char *text) {
    bool plain = *text && !strpbrk(text, " \t\"'\\");
    if (plain)
        str_add(line, text);
    else
        command_add_quoted(line, text);
}

/* Finding. */

/* The row meant by NAME, and in *fits how many it could be. */
static const Command *find_row(const Command *table, const char *name, int *fits) {
    size_t bytes = strlen(name);
    const Command *found = NULL;
    *fits = 0;
    for (const Command *c = table; c->name; c++) {
        if (strncmp(c->name, name, bytes) != 0) continue;
        if (c->name[bytes] == '\0') {
            *fits = 1;
            return c;
        }
        found = c;
        ++*fits;
    }
    return *fits == 1 ? found : NULL;
}

const Command *command_find(const Command *table, const char *name) {
    int fits;
    return find_row(table, name, &fits);
}

static Status ambiguous(const Command *table, const char *name) {
    Str names;
    str_init(&names);
    for (const Command *c = table; c->name; c++)
        if (strncmp(c->name, name, strlen(name)) == 0) str_addf(&names, "%s%s", names.len ? ", " : "", c->name);
    Status s = status_usage(_("'%s' could be %s"), name, names.s);
    str_done(&names);
    return s;
}

Status command_unknown(const Command *const *tables, const char *name) {
    const char *near = NULL;
    Str names;
    str_init(&names);
    for (; *tables; tables++)
        for (const Command *c = *tables; c->name; c++) {
            near = str_likelier(name, near, c->name);
            str_addf(&names, "%s%s", names.len ? ", " : "", c->name);
        }
    Status s = near ? status_usage(_("there is no command '%s'; did you mean '%s'?"), name, near)
                    : status_usage(_("there is no command '%s'; there are %s"), name, names.s);
    str_done(&names);
    return s;
}

/* Running. */

static Status wrong_count(const Command *c, int given) {
    if (given < c->least)
        return status_usage(_("'%s' needs %s: %s %s"), c->name, c->least == 1 ? _("an argument") : _("more arguments"),
                            c->name, c->arguments);
    if (c->most == 0) return status_usage(_("'%s' takes no argument"), c->name);
    return status_usage(_("'%s' takes fewer arguments: %s %s"), c->name, c->name, c->arguments);
}

Status command_run(const Command *table, void *owner, const char *line, bool *found) {
    Words words;
    *found = true;
    STATUS_TRY(command_split(line, &words));
    if (words.count == 0) return status_ok();
    int fits;
    const Command *c = find_row(table, words.word[0], &fits);
    if (!c && fits > 1) return ambiguous(table, words.word[0]);
    *found = c != NULL;
    if (!c) return command_unknown((const Command *const[]){table, NULL}, words.word[0]);
    int given = words.count - 1;
    if (given < c->least || (c->most >= 0 && given > c->most)) return wrong_count(c, given);
    return c->run(owner, &words);
}

/* Choosing. */

Status command_choose(const Words *words, const char *first, const char *second, bool *second_is_on) {
    if (words->count == 1)
        *second_is_on = !*second_is_on;
    else if (strcmp(words->word[1], first) == 0 || strcmp(words->word[1], second) == 0)
        *second_is_on = strcmp(words->word[1], second) == 0;
    else
        return status_usage(_("%s is %s or %s, not %s"), words->word[0], first, second, words->word[1]);
    return status_ok();
}

Status command_switch(const Words *words, bool *on) {
    bool off = !*on;
    STATUS_TRY(command_choose(words, "on", "off", &off));
    *on = !off;
    return status_ok();
}
