#include "cues.h"

#include "file.h"
#include "intl.h"
#include "mem.h"

#include <string.h>

enum { CUES_BYTES = 1 << 20 };

typedef struct {
    Cues *to;
    int capacity;
    Str text, comment; /* of the cue that is being read */
    bool sure;
} Reader;

static void end_cue(Reader *r) {
    if (r->text.len || r->comment.len) {
        MEM_GROW(r->to->cue, r->to->count, r->capacity);
        r->to->cue[r->to->count++] = (Cue){mem_text(r->text.s), mem_text(r->comment.s), r->sure};
    }
    str_clear(&r->text);
    str_clear(&r->comment);
    r->sure = false;
}

/* LINE without the marks before it: "!:restart", "! restart", ":restart". */
static const char *without_marks(Reader *r, const char *line) {
    for (; *line == ':' || *line == '!'; line += 1 + strspn(line + 1, " \t"))
        if (*line == '!') r->sure = true;
    return line;
}

/* LINE is without its end and without blanks at both. */
static Status read_line(Reader *r, const char *line, CuesKnown *known) {
    if (!line[0]) {
        end_cue(r);
    } else if (line[0] == '#') {
        line += 1 + strspn(line + 1, " \t");
        str_addf(&r->comment, "%s%s", r->comment.len ? " " : "", line);
    } else {
        line = without_marks(r, line);
        STATUS_TRY(known(line));
        str_addf(&r->text, "%s\n", line);
    }
    return status_ok();
}

static char *trimmed(char *line) {
    line += strspn(line, " \t\r");
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1])) line[--n] = '\0';
    return line;
}

static Status read_lines(Reader *r, const char *path, char *text, CuesKnown *known) {
    int number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        number++;
        Status s = read_line(r, trimmed(line), known);
        if (!status_is_ok(&s)) return status_usage(_("%s, line %d: %s"), path, number, s.text);
    }
    end_cue(r);
    return r->to->count ? status_ok()
                        : status_usage(_("'%s' has no cues: lines of commands, an empty line between cues"), path);
}

Status cues_read(Cues *c, const char *path, CuesKnown *known) {
    Str text;
    Cues fresh = {.at = -1};
    Reader r = {.to = &fresh};
    str_init(&text);
    str_init(&r.text);
    str_init(&r.comment);
    Status s = file_read_text(path, CUES_BYTES, &text);
    if (status_is_ok(&s)) s = read_lines(&r, path, text.s, known);
    if (status_is_ok(&s)) {
        cues_done(c);
        *c = fresh;
        c->path = mem_text(path);
    } else {
        cues_done(&fresh);
    }
    str_done(&text);
    str_done(&r.text);
    str_done(&r.comment);
    return s;
}

int cues_find(const Cues *c, const char *word) {
    long long to;
    if (!strcmp(word, "next"))
        to = c->at + 1;
    else if (!strcmp(word, "previous"))
        to = c->at - 1;
    else if (str_to_long(word, &to))
        to -= 1;
    else
        return -1;
    return to >= 0 && to < c->count ? (int)to : -1;
}

void cues_done(Cues *c) {
    for (int i = 0; i < c->count; i++) {
        mem_free(c->cue[i].text);
        mem_free(c->cue[i].comment);
    }
    mem_free(c->cue);
    mem_free(c->path);
    *c = (Cues){.at = -1};
}
