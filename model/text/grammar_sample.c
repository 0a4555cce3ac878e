/* Sampling: every draw as the rules say, from left to right. */
#include "grammar.h"
#include "grammar_internal.h"
#include "intl.h"
#include "mem.h"

#include <string.h>

static bool sample_goal(Language *l, Rng *r, int goal, Str *out);

/* The first alternative whose sum of weights is above a number below the total; never one of weight 0. */
static const Alternative *sample_alternative(const Language *l, const Rule *rule, Rng *r) {
    const Alternative *a = &l->grammar->alternative[rule->alternative];
    if (rule->alternatives == 1) return a;
    double x = rng_unit(r) * rule->total;
    int low = 0, high = rule->alternatives - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (x < a[middle].up_to)
            high = middle;
        else
            low = middle + 1;
    }
    while (a[low].weight <= 0) low--;
    return &a[low];
}

/* Variables of the rule being drawn are language->draw[env ...]; calls inside may move the array. */
static int sample_called(Language *l, const Piece *piece, int env) {
    int argument[GRAMMAR_PARTS];
    const int *part = l->grammar->part + piece->part;
    for (int i = 0; i < piece->parts; i++) argument[i] = part[i] >= 0 ? part[i] : l->draw[env + ~part[i]];
    return language_goal(l, piece->family, argument);
}

/* What is written behind a blank, which goes when nothing is. */
static bool sample_behind(Language *l, Rng *r, int goal, size_t start, bool blank, Str *out) {
    size_t before = out->len;
    if (blank && before > start) str_add_char(out, ' ');
    size_t from = out->len;
    if (!sample_goal(l, r, goal, out)) return false;
    if (out->len == from && from > before) out->s[out->len = before] = '\0';
    return true;
}

static bool sample_bind(Language *l, Rng *r, const Piece *piece, int env, Str *out) {
    int value = l->set[piece->variable];
    if (value < 0) {
        int goal = sample_called(l, piece, env);
        size_t from = out->len;
        if (goal < 0 || !sample_goal(l, r, goal, out)) return false;
        value = texts_add(&l->texts, out->s + from, out->len - from);
        if (out->len > from) out->s[out->len = from] = '\0';
    }
    l->draw[env + piece->slot] = value;
    return true;
}

static bool sample_repeat(Language *l, Rng *r, const Piece *piece, int env, size_t start, bool blank, Str *out) {
    int count = piece->count, goal = sample_called(l, piece, env);
    if (goal < 0) return false;
    if (piece->slot >= 0 && !language_count(l, l->draw[env + piece->slot], piece->family, &count)) return false;
    size_t from = out->len;
    for (int i = 0; i < count; i++) /* the first that writes is glued to what stands before, if the piece is */
        if (!sample_behind(l, r, goal, start, blank || out->len > from, out)) return false;
    return true;
}

static void sample_text(Language *l, int text, size_t start, bool blank, Str *out) {
    if (text == 0) return;
    if (blank && out->len > start) str_add_char(out, ' ');
    str_add_n(out, texts_bytes(&l->texts, text), (size_t)l->texts.length[text]);
}

/* START: where the alternative begins in OUT. BLANK: the chunk has written nothing yet. */
static bool sample_piece(Language *l, Rng *r, const Piece *piece, int env, size_t start, bool blank, Str *out) {
    switch (piece->kind) {
    case PIECE_TEXT:
        sample_text(l, piece->text, start, blank, out);
        return true;
    case PIECE_VARIABLE:
        sample_text(l, l->draw[env + piece->slot], start, blank, out);
        return true;
    case PIECE_BIND:
        return sample_bind(l, r, piece, env, out);
    case PIECE_REPEAT:
        return sample_repeat(l, r, piece, env, start, blank, out);
    case PIECE_NOTHING:
        return true;
    case PIECE_CALL:
        break;
    }
    int goal = sample_called(l, piece, env);
    return goal >= 0 && sample_behind(l, r, goal, start, blank, out);
}

static bool sample_pieces(Language *l, Rng *r, const Alternative *a, int env, Str *out) {
    size_t start = out->len, chunk = start;
    for (int i = 0; i < a->pieces; i++) {
        const Piece *piece = &l->grammar->piece[a->piece + i];
        if (!piece->glued) chunk = out->len;
        if (!sample_piece(l, r, piece, env, start, out->len == chunk, out)) return false;
    }
    if (out->len > GRAMMAR_TEXT) return language_fail(l, status_failed(_("a sentence became longer than 1 MiB")));
    return true;
}

/* Room for the rule's variables, those of the head filled in. */
static int sample_variables(Language *l, const Goal *goal, const Rule *rule) {
    int env = l->draws;
    while (l->draw_slots < env + rule->slots) {
        l->draw_slots = l->draw_slots ? l->draw_slots * 2 : 64;
        l->draw = mem_resize(l->draw, (size_t)l->draw_slots, sizeof *l->draw);
    }
    l->draws += rule->slots;
    for (int i = 0; i < goal->arguments; i++) {
        int part = l->grammar->part[rule->part + i];
        if (part < 0) l->draw[env + ~part] = l->argument[goal->argument + i];
    }
    return env;
}

static bool sample_goal(Language *l, Rng *r, int goal, Str *out) {
    if (!language_empty(l, goal) || !language_work(l, 8)) return false;
    if (l->depth == GRAMMAR_DEPTH)
        return language_fail(l, status_failed(_("calls are nested over %d deep"), GRAMMAR_DEPTH));
    const Rule *rule = &l->grammar->rule[l->goal[goal].rule];
    int env = sample_variables(l, &l->goal[goal], rule);
    l->depth++;
    bool done = sample_pieces(l, r, sample_alternative(l, rule, r), env, out);
    l->depth--;
    l->draws = env;
    return done;
}

Status language_sample(Language *l, Rng *r, Str *out) {
    language_begin(l);
    l->draws = 0;
    sample_goal(l, r, l->start, out);
    return l->status;
}
