#include "grammar.h"

#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"

#include <ctype.h>
#include <string.h>

Grammar *grammar_new(void) {
    Grammar *g = MEM_NEW(Grammar);
    texts_init(&g->texts);
    texts_init(&g->family_key);
    str_init(&g->source);
    MEM_GROW(g->part, g->parts, g->part_slots); /* never NULL, also when there are none */
    MEM_GROW(g->dead, g->deads, g->dead_slots);
    return g;
}

void grammar_free(Grammar *g) {
    if (!g) return;
    for (int i = 0; i < g->families; i++) mem_free(g->family[i].rule);
    for (int i = 0; i < g->rules; i++) mem_free(g->rule[i].variable);
    for (int i = 0; i < g->files; i++) mem_free(g->file[i]);
    texts_done(&g->texts);
    texts_done(&g->family_key);
    str_done(&g->source);
    mem_free(g->family);
    mem_free(g->rule);
    mem_free(g->alternative);
    mem_free(g->piece);
    mem_free(g->part);
    mem_free(g->dead);
    mem_free(g->file);
    mem_free(g);
}

const char *grammar_text(const Grammar *g) {
    return g->source.s;
}

int grammar_family(Grammar *g, const char *name, size_t bytes, int parts) {
    Str key;
    str_init(&key);
    str_add_n(&key, name, bytes);
    str_addf(&key, " %d", parts);
    int family = texts_add(&g->family_key, key.s, key.len) - 1;
    str_done(&key);
    if (family < g->families) return family;
    MEM_GROW(g->family, g->families, g->family_slots);
    g->family[g->families++] = (Family){.name = texts_add(&g->texts, name, bytes), .parts = parts};
    return family;
}

/* ---- Errors ---- */

Status grammar_error(const Grammar *g, int file, int line, const char *what) {
    Str where;
    str_init(&where);
    if (*g->file[file]) str_addf(&where, "%s, ", g->file[file]);
    str_addf(&where, _("line %d"), line);
    Status s = status_usage("%s: %s", where.s, what);
    str_done(&where);
    return s;
}

int grammar_error_line(const Status *s) {
    const char *format = _("line %d"), *number = strstr(format, "%d");
    size_t before = (size_t)(number - format), after = strlen(number + 2);
    for (const char *at = s->text; *at; at++) {
        if (strncmp(at, format, before) != 0) continue;
        int line = 0;
        const char *c = at + before;
        for (; isdigit((unsigned char)*c) && line < 100000000; c++) line = line * 10 + (*c - '0');
        if (line > 0 && strncmp(c, number + 2, after) == 0 && c[after] == ':') return line;
    }
    return 0;
}

/* ---- The whole ---- */

/* What a check looks at: one alternative of one rule. */
typedef struct {
    const Grammar *g;
    const Rule *rule;
    const int *is_set; /* [slots] the alternative that set the variable last, + 1 */
    int mark;          /* this alternative + 1 */
} Check;

static bool check_is_set(const Check *c, int slot) {
    return c->is_set[slot] == c->mark || slot < c->rule->given;
}

static Status check_variable(const Check *c, int line, int slot) {
    if (check_is_set(c, slot)) return status_ok();
    Str what;
    str_init(&what);
    str_addf(&what, _("$%s is used before it is set; write {%s=...} before it, in the same alternative"),
             texts_bytes(&c->g->texts, c->rule->variable[slot]), texts_bytes(&c->g->texts, c->rule->variable[slot]));
    Status s = grammar_error(c->g, c->rule->file, line, what.s);
    str_done(&what);
    return s;
}

static Status check_family(const Check *c, int line, int family) {
    const Family *f = &c->g->family[family];
    if (f->rules) return status_ok();
    Str what;
    str_init(&what);
    const char *name = texts_bytes(&c->g->texts, f->name);
    if (f->parts)
        str_addf(&what, _("there is no rule '%s' with %d parts after the name"), name, f->parts);
    else
        str_addf(&what, _("there is no rule '%s'"), name);
    Status s = grammar_error(c->g, c->rule->file, line, what.s);
    str_done(&what);
    return s;
}

static Status check_piece(const Check *c, const Piece *piece) {
    if (piece->kind == PIECE_TEXT || piece->kind == PIECE_NOTHING) return status_ok();
    if (piece->kind == PIECE_VARIABLE) return check_variable(c, piece->line, piece->slot);
    STATUS_TRY(check_family(c, piece->line, piece->family));
    for (int i = 0; i < piece->parts; i++) {
        int part = c->g->part[piece->part + i];
        if (part < 0) STATUS_TRY(check_variable(c, piece->line, ~part));
    }
    if (piece->kind == PIECE_REPEAT && piece->slot >= 0) return check_variable(c, piece->line, piece->slot);
    return status_ok();
}

static Status check_rule(const Grammar *g, const Rule *rule, int *is_set) {
    if (rule->total <= 0)
        return grammar_error(g, rule->file, rule->line, _("all weights of this rule are 0; one at least must be more"));
    memset(is_set, 0, (size_t)rule->slots * sizeof *is_set);
    for (int i = 0; i < rule->alternatives; i++) {
        const Alternative *a = &g->alternative[rule->alternative + i];
        Check c = {.g = g, .rule = rule, .is_set = is_set, .mark = i + 1};
        for (int k = 0; k < a->pieces; k++) {
            const Piece *piece = &g->piece[a->piece + k];
            STATUS_TRY(check_piece(&c, piece));
            if (piece->kind == PIECE_BIND) is_set[piece->slot] = c.mark;
        }
    }
    return status_ok();
}

static Status check_rules(const Grammar *g, int *is_set) {
    for (int i = 0; i < g->rules; i++) STATUS_TRY(check_rule(g, &g->rule[i], is_set));
    return status_ok();
}

/* ---- Which values nothing needs any more ---- */

static void liveness_touch(Grammar *g, const int *live, int mark, int slot) {
    if (live[slot] == mark) return;
    MEM_GROW(g->dead, g->deads, g->dead_slots);
    g->dead[g->deads++] = slot;
}

/* LIVE[slot] == MARK: the value is needed after PIECE. Makes the piece's list and steps before it. */
static void liveness_piece(Grammar *g, Piece *piece, int *live, int mark) {
    piece->dead = g->deads;
    bool writes = piece->kind == PIECE_VARIABLE || piece->kind == PIECE_REPEAT;
    if (piece->kind == PIECE_BIND || (writes && piece->slot >= 0)) liveness_touch(g, live, mark, piece->slot);
    for (int i = 0; i < piece->parts; i++)
        if (g->part[piece->part + i] < 0) liveness_touch(g, live, mark, ~g->part[piece->part + i]);
    piece->deads = g->deads - piece->dead;
    if (piece->kind == PIECE_BIND) live[piece->slot] = 0;
    if (writes && piece->slot >= 0) live[piece->slot] = mark;
    for (int i = 0; i < piece->parts; i++)
        if (g->part[piece->part + i] < 0) live[~g->part[piece->part + i]] = mark;
}

/* MARK is the alternative's own: one above its number. */
static void liveness_alternative(Grammar *g, const Rule *rule, Alternative *a, int *live, int mark) {
    for (int k = a->pieces - 1; k >= 0; k--) liveness_piece(g, &g->piece[a->piece + k], live, mark);
    a->dead = g->deads;
    for (int i = 0; i < g->family[rule->family].parts; i++)
        if (g->part[rule->part + i] < 0) liveness_touch(g, live, mark, ~g->part[rule->part + i]);
    a->deads = g->deads - a->dead;
}

static void grammar_liveness(Grammar *g, int *live) {
    memset(live, 0, GRAMMAR_VARIABLES * sizeof *live);
    for (int i = 0; i < g->rules; i++) {
        const Rule *rule = &g->rule[i];
        for (int k = rule->alternative; k < rule->alternative + rule->alternatives; k++)
            liveness_alternative(g, rule, &g->alternative[k], live, k + 1);
    }
}

Status grammar_check(Grammar *g) {
    if (g->rules == 0) return grammar_error(g, 0, 1, _("there are no rules at all; a rule is NAME: TEXT"));
    int *slots = MEM_ARRAY(int, GRAMMAR_VARIABLES);
    Status s = check_rules(g, slots);
    if (status_is_ok(&s)) grammar_liveness(g, slots);
    mem_free(slots);
    return s;
}
