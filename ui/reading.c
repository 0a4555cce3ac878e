#include "reading.h"

#include "mem.h"
#include "observe.h"
#include "utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int reading_tokens(const Snapshot *s) {
    const Table *t = snapshot_table(s, "tokens");
    return t ? (int)table_rows(t) : 0;
}

int reading_visible(const Snapshot *s) {
    int there = reading_tokens(s), position = snapshot_facts(s)->position;
    return position < there ? position : there;
}

void reading_cell(const Table *t, long row, const char *name, char out[READING_TOKEN]) {
    out[0] = '\0';
    int column = t ? table_find(t, name) : -1;
    if (column < 0 || row < 0 || row >= table_rows(t) || table_is_empty(t, row, column)) return;
    Str shown;
    str_init(&shown);
    utf8_show(&shown, table_text(t, row, column), table_text_bytes(t, row, column), false);
    size_t bytes = shown.len;
    for (int columns = READING_TOKEN / 2; bytes >= READING_TOKEN; columns--) bytes = utf8_fit(shown.s, columns);
    memcpy(out, shown.s, bytes);
    out[bytes] = '\0';
    str_done(&shown);
}

void reading_token(const Snapshot *s, int i, char out[READING_TOKEN]) {
    reading_cell(snapshot_table(s, "tokens"), i, "token", out);
}

void reading_token_place(const Snapshot *s, int i, char out[READING_TOKEN + 16]) {
    char other[READING_TOKEN];
    int alike = 0;
    reading_token(s, i, out);
    for (int k = 0; k < reading_tokens(s); k++) {
        reading_token(s, k, other);
        alike += strcmp(other, out) == 0;
    }
    size_t used = strlen(out);
    if (alike > 1) snprintf(out + used, READING_TOKEN + 16 - used, " (%d)", i);
}

bool reading_is_generated(const Snapshot *s, int i) {
    return i >= snapshot_facts(s)->prompt_tokens;
}

const char *reading_continuation(const Snapshot *s, int tokens, const char *text) {
    const Table *t = snapshot_table(s, "tokens");
    int token = t ? table_find(t, "token") : -1;
    const char *rest = text;
    for (int i = 1; token >= 0 && i < tokens && i < table_rows(t); i++) { /* token 0 is <s> */
        if (table_is_empty(t, i, token)) return text;
        size_t bytes = table_text_bytes(t, i, token);
        if (strncmp(rest, table_text(t, i, token), bytes) != 0) return text;
        rest += bytes;
        rest += *rest == ' ';
    }
    return rest;
}

bool reading_is_past(const Snapshot *s) {
    const SnapshotFacts *f = snapshot_facts(s);
    return f->step < f->head;
}

const char *reading_setting(const Snapshot *s, const char *option) {
    const Table *t = snapshot_table(s, "settings");
    for (long i = 0; t && i < table_rows(t); i++) {
        if (!strcmp(table_text(t, i, 0), option)) return table_text(t, i, 1);
    }
    return NULL;
}

bool reading_attention(const Snapshot *s, int *layers, int *heads, int *tokens) {
    bool blocks = snapshot_field(s, "attention.0.blocks") != NULL; /* of long texts: weights are made when asked for */
    const Field *f = snapshot_field(s, blocks ? "attention.0.query" : "attention.0.weights");
    if (!f || f->rank != 3 || field_count(f) == 0) return false;
    *heads = f->dim[0];
    *tokens = f->dim[1];
    *layers = observe_layers(s);
    return true;
}

bool reading_is_off(const Snapshot *s, int layer, int head) {
    const Field *off = snapshot_field(s, "attention.head_off");
    return off && layer < off->dim[0] && head < off->dim[1] && field_at(off, layer, head, 0, 0) != 0;
}

static int clamp(int x, int n) {
    return x >= n ? (n > 0 ? n - 1 : 0) : x < 0 ? 0 : x;
}

void reading_clamp(const Snapshot *s, Cursor *c) {
    const SnapshotFacts *f = snapshot_facts(s);
    int layers = f->layers, heads = f->heads, tokens = reading_visible(s);
    int fields = 0;
    if (reading_attention(s, &fields, &heads, &tokens)) layers = fields;
    c->layer = clamp(c->layer, layers);
    c->head = clamp(c->head, heads);
    c->query = clamp(c->query, tokens);
    c->key = clamp(c->key, tokens);
    if (c->step > f->head) c->step = -1;
}

double *reading_column(const Table *t, const char *column, long first, long n) {
    int at = t ? table_find(t, column) : -1;
    if (at < 0) return NULL;
    double *x = MEM_ARRAY(double, (size_t)(n > 0 ? n : 1));
    for (long i = 0; i < n; i++) x[i] = table_real(t, first + i, at);
    return x;
}

long reading_row_of_step(const Table *t, long step) {
    int column = t ? table_find(t, "step") : -1;
    if (column < 0) return -1;
    long low = 0, high = table_rows(t); /* the first row with a step that is not before STEP */
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (table_int(t, middle, column) < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table_rows(t) && table_int(t, low, column) == step ? low : -1;
}

bool reading_is_unsaved(const SnapshotFacts *f) {
    return f->head > 0 && f->saved != f->head;
}

bool reading_is_plain(const Snapshot *s) {
    static const char *const free[] = {"prompt", "arch", "seed", "start", "threads", NULL};
    const Table *t = snapshot_table(s, "settings");
    const SnapshotFacts *f = snapshot_facts(s);
    if (!t || f->versus || f->waiting[0] || f->tunes || f->reads_only) return false;
    for (long i = 0; i < table_rows(t); i++) {
        int at = 0;
        while (free[at] && strcmp(free[at], table_text(t, i, 0)) != 0) at++;
        if (!free[at]) return false;
    }
    return true;
}

bool reading_has_truth(const Snapshot *s) {
    const Table *next = snapshot_table(s, "next");
    int truth = next ? table_find(next, "true_p") : -1;
    bool there = truth >= 0 && table_rows(next) > 0 && !table_is_empty(next, 0, truth);
    return there || !isnan(snapshot_facts(s)->language_floor);
}

bool reading_test_is_old(const SnapshotFacts *f) {
    return f->step > 2 * f->test_step;
}

double reading_perplexity(const SnapshotFacts *f) {
    return exp(f->test_nll);
}

double reading_over(double nll, double floor_nll) {
    return expm1(nll - floor_nll);
}

double reading_over_floor(const SnapshotFacts *f) {
    return reading_over(f->test_nll, f->floor_nll);
}

double reading_kl(const Table *next) {
    int model = table_find(next, "model_p"), truth = table_find(next, "true_p");
    if (model < 0 || truth < 0) return (double)NAN;
    double sum = 0;
    bool known = false;
    for (long i = 0; i < table_rows(next); i++) {
        if (table_is_empty(next, i, truth)) continue;
        known = true;
        double p = table_real(next, i, truth);
        if (p > 0) sum += p * log(p / table_real(next, i, model));
    }
    return known ? sum : (double)NAN;
}

bool reading_holds(const char *haystack, const char *needle) {
    size_t n = strlen(needle);
    for (; *haystack; haystack++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)haystack[i]) == tolower((unsigned char)needle[i])) i++;
        if (i == n) return true;
    }
    return n == 0;
}

int reading_find_token(const Snapshot *s, const char *text, int after) {
    int n = reading_visible(s);
    for (int i = 1; i <= n; i++) {
        char token[READING_TOKEN];
        int at = ((after + i) % n + n) % n;
        reading_token(s, at, token);
        if (reading_holds(token, text)) return at;
    }
    return -1;
}
