#include "option.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

/* The value of one row. Lists have count elements; the others one, or none when not set. */
typedef struct {
    const Option *row;
    char *text; /* as options_value gives it; NULL when not set */
    bool given, assumed;
    int count;
    long long *ints; /* INT, INTS, FLAG */
    double *reals;   /* REAL, REALS */
    int *choices;    /* CHOICE, CHOICES */
} Value;

enum { FOLLOWS_MOST = 4 };

struct Options {
    Value *value;
    int count, capacity;
    OptionFollow follow[FOLLOWS_MOST]; /* NULL after the last */
};

static void value_clear(Value *v) {
    mem_free(v->text);
    mem_free(v->ints);
    mem_free(v->reals);
    mem_free(v->choices);
    *v = (Value){.row = v->row};
}

static bool is_list(OptionType type) {
    return type == OPTION_INTS || type == OPTION_REALS || type == OPTION_CHOICES;
}

/* Sentences. */

static Status below_or_above(const Option *row, double x, const char *shown) {
    if (row->min == 0 && row->max == 0) return status_ok();
    Str limit;
    str_init(&limit);
    Status s = status_ok();
    if (x < row->min) {
        str_add_double(&limit, row->min);
        s = status_usage(_("%s: %s is below the smallest allowed value, %s"), row->name, shown, limit.s);
    } else if (x > row->max) {
        str_add_double(&limit, row->max);
        s = status_usage(_("%s: %s is above the largest allowed value, %s"), row->name, shown, limit.s);
    }
    str_done(&limit);
    return s;
}

static Status not_a_choice(const Option *row, const char *item) {
    Str allowed;
    str_init(&allowed);
    for (const char *c = row->choices; *c; c++) str_addf(&allowed, "%.*s", *c == '|' ? 2 : 1, *c == '|' ? ", " : c);
    Status s = status_usage(_("%s: '%s' is not one of %s"), row->name, item, allowed.s);
    str_done(&allowed);
    return s;
}

/* One element. */

static Status add_int(Value *v, const char *item, Str *text) {
    long long x;
    if (!str_to_long(item, &x)) return status_usage(_("%s: '%s' is not a whole number"), v->row->name, item);
    str_addf(text, "%lld", x);
    v->ints[v->count++] = x;
    return below_or_above(v->row, (double)x, item);
}

static Status add_real(Value *v, const char *item, Str *text) {
    double x;
    if (!str_to_double(item, &x) || isnan(x)) return status_usage(_("%s: '%s' is not a number"), v->row->name, item);
    str_add_double(text, x);
    v->reals[v->count++] = x;
    return below_or_above(v->row, x, item);
}

static Status add_flag(Value *v, const char *item, Str *text) {
    if (strcmp(item, "0") != 0 && strcmp(item, "1") != 0)
        return status_usage(_("%s: '%s' is not 0 or 1"), v->row->name, item);
    str_add(text, item);
    v->ints[v->count++] = *item == '1';
    return status_ok();
}

static int find_choice(const char *choices, const char *item) {
    size_t length = strlen(item);
    for (int i = 0;; i++) {
        size_t n = strcspn(choices, "|");
        if (n == length && memcmp(choices, item, n) == 0) return i;
        if (choices[n] == '\0') return -1;
        choices += n + 1;
    }
}

static Status add_choice(Value *v, const char *item, Str *text) {
    int i = find_choice(v->row->choices, item);
    if (i < 0) return not_a_choice(v->row, item);
    str_add(text, item);
    v->choices[v->count++] = i;
    return status_ok();
}

static Status add_element(Value *v, const char *item, Str *text) {
    switch (v->row->type) {
    case OPTION_INT:
    case OPTION_INTS:
        return add_int(v, item, text);
    case OPTION_REAL:
    case OPTION_REALS:
        return add_real(v, item, text);
    case OPTION_FLAG:
        return add_flag(v, item, text);
    case OPTION_CHOICE:
    case OPTION_CHOICES:
        return add_choice(v, item, text);
    case OPTION_TEXT:
        break;
    }
    v->count = 1;
    str_add(text, item);
    return status_ok();
}

/* Whole values. */

static Status parse_elements(Value *v, const char *value, Str *text) {
    if (!is_list(v->row->type)) return add_element(v, value, text);
    for (;;) {
        size_t n = strcspn(value, ",");
        char *item = mem_text_n(value, n);
        if (v->count) str_add_char(text, ',');
        Status s = add_element(v, item, text);
        mem_free(item);
        if (s.code != STATUS_OK || value[n] == '\0') return s;
        value += n + 1;
    }
}

static size_t count_elements(const char *value) {
    size_t n = 1;
    for (; *value; value++) n += *value == ',';
    return n;
}

static void value_reserve(Value *v, size_t n) {
    v->ints = MEM_ARRAY(long long, n);
    v->reals = MEM_ARRAY(double, n);
    v->choices = MEM_ARRAY(int, n);
}

/* Reads VALUE for the row into *V, which holds nothing yet; nothing again when it is refused. An option that may be
 * unset is unset by an empty value. */
static Status value_parse(Value *v, const char *value) {
    if (*value == '\0' && v->row->type != OPTION_TEXT) {
        if (!v->row->initial) return status_ok();
        return status_usage(_("%s: a value is missing"), v->row->name);
    }
    Str text;
    str_init(&text);
    value_reserve(v, count_elements(value));
    Status s = parse_elements(v, value, &text);
    if (status_is_ok(&s)) {
        v->text = str_take(&text);
    } else {
        value_clear(v);
    }
    str_done(&text);
    return s;
}

static Value value_copy(const Value *v) {
    Value copy = *v;
    size_t n = v->count ? (size_t)v->count : 1;
    copy.text = mem_text(v->text);
    copy.ints = NULL;
    copy.reals = NULL;
    copy.choices = NULL;
    if (!v->text) return copy;
    value_reserve(&copy, n);
    memcpy(copy.ints, v->ints, n * sizeof *v->ints);
    memcpy(copy.reals, v->reals, n * sizeof *v->reals);
    memcpy(copy.choices, v->choices, n * sizeof *v->choices);
    return copy;
}

/* Options. */

static Value *find_value(const Options *o, const char *name, size_t length) {
    for (int i = 0; i < o->count; i++)
        if (strlen(o->value[i].row->name) == length && memcmp(o->value[i].row->name, name, length) == 0)
            return &o->value[i];
    return NULL;
}

Options *options_new(const Option *rows) {
    return options_join(MEM_NEW(Options), rows);
}

/* What the row says before anybody sets it. */
static void value_begin(Value *v) {
    value_clear(v);
    if (!v->row->initial) return;
    Status s = value_parse(v, v->row->initial);
    BUG_ON(!status_is_ok(&s));
}

Options *options_join(Options *o, const Option *rows) {
    for (const Option *row = rows; row->name; row++) {
        BUG_ON(find_value(o, row->name, strlen(row->name)));
        BUG_ON(row->max < row->min);
        MEM_GROW(o->value, o->count, o->capacity);
        Value *v = &o->value[o->count++];
        *v = (Value){.row = row};
        value_begin(v);
    }
    return o;
}

Options *options_copy(const Options *o) {
    Options *copy = MEM_NEW(Options);
    copy->count = copy->capacity = o->count;
    copy->value = MEM_ARRAY(Value, (size_t)o->count);
    for (int i = 0; i < o->count; i++) copy->value[i] = value_copy(&o->value[i]);
    memcpy(copy->follow, o->follow, sizeof copy->follow);
    return copy;
}

void options_free(Options *o) {
    if (!o) return;
    for (int i = 0; i < o->count; i++) value_clear(&o->value[i]);
    mem_free(o->value);
    mem_free(o);
}

/* Following. */

void options_let_follow(Options *o, OptionFollow follow) {
    int i = 0;
    while (i < FOLLOWS_MOST && o->follow[i]) i++;
    BUG_ON(i == FOLLOWS_MOST);
    o->follow[i] = follow;
}

bool options_follow(const Options *o, const char *name, Str *out) {
    size_t before = out->len;
    if (options_is_set(o, name)) return false;
    for (int i = 0; i < FOLLOWS_MOST && o->follow[i] && out->len == before; i++) o->follow[i](o, name, out);
    return out->len > before;
}

/* Setting. */

/* The name that was most likely meant: at most a third of its letters are wrong. NULL when there is none. */
static const char *likely_name(const Options *o, const char *name) {
    const char *best = NULL;
    for (int i = 0; i < o->count; i++) best = str_likelier(name, best, o->value[i].row->name);
    return best;
}

static Status unknown_name(const Options *o, const char *name) {
    if (o->count == 0) return status_usage(_("unknown option '%s'; there are none here"), name);
    Str allowed;
    str_init(&allowed);
    for (int i = 0; i < o->count; i++) str_addf(&allowed, "%s%s", i ? ", " : "", o->value[i].row->name);
    const char *likely = likely_name(o, name);
    Status s = likely ? status_usage(_("unknown option '%s'; did you mean '%s'? Allowed: %s"), name, likely, allowed.s)
                      : status_usage(_("unknown option '%s'; allowed: %s"), name, allowed.s);
    str_done(&allowed);
    return s;
}

Status options_set(Options *o, const char *name, const char *value) {
    Value *v = find_value(o, name, strlen(name));
    if (!v) return unknown_name(o, name);
    Value fresh = {.row = v->row};
    STATUS_TRY(value_parse(&fresh, value));
    value_clear(v);
    *v = fresh;
    v->given = true;
    return status_ok();
}

Status options_set_pair(Options *o, const char *key_value) {
    const char *equals = strchr(key_value, '=');
    if (!equals) return status_usage(_("'%s' is not of the form name=value"), key_value);
    char *name = mem_text_n(key_value, (size_t)(equals - key_value));
    Status s = options_set(o, name, equals + 1);
    mem_free(name);
    return s;
}

Status options_once(const char *const *word, int n) {
    for (int i = 1; i < n; i++) {
        size_t name = strcspn(word[i], "=") + 1; /* with its mark: "n=" is no beginning of "norm=" */
        for (int k = 0; k < i && word[i][name - 1]; k++)
            if (strncmp(word[k], word[i], name) == 0)
                return status_usage(_("%.*s is given twice: '%s' and '%s'"), (int)name - 1, word[i], word[k], word[i]);
    }
    return status_ok();
}

Status options_set_pairs(Options *o, const char *const *pair, int n) {
    for (int i = 0; i < n; i++) STATUS_TRY(options_set_pair(o, pair[i]));
    return options_once(pair, n);
}

void options_assume(Options *o, const char *name, const char *value) {
    Value *v = find_value(o, name, strlen(name));
    BUG_ON(!v);
    if (v->given) return;
    Value fresh = {.row = v->row, .assumed = true};
    Status s = value_parse(&fresh, value);
    BUG_ON(!status_is_ok(&s));
    value_clear(v);
    *v = fresh;
}

void options_forget_assumed(Options *o) {
    for (int i = 0; i < o->count; i++)
        if (o->value[i].assumed) value_begin(&o->value[i]);
}

void options_reset(Options *o, const char *name) {
    Value *v = find_value(o, name, strlen(name));
    BUG_ON(!v);
    value_begin(v);
}

/* Reading. */

int options_count(const Options *o) {
    return o->count;
}

const Option *options_row(const Options *o, int i) {
    BUG_ON(i < 0 || i >= o->count);
    return o->value[i].row;
}

const Option *options_find(const Options *o, const char *name) {
    const Value *v = find_value(o, name, strlen(name));
    return v ? v->row : NULL;
}

static const Value *need_value(const Options *o, const char *name) {
    const Value *v = find_value(o, name, strlen(name));
    BUG_ON(!v);
    return v;
}

/* The value of an option of that type; for one element it must be set. */
static const Value *typed_value(const Options *o, const char *name, OptionType type) {
    const Value *v = need_value(o, name);
    BUG_ON(v->row->type != type);
    BUG_ON(!is_list(type) && v->count != 1);
    return v;
}

bool options_is_set(const Options *o, const char *name) {
    return need_value(o, name)->text != NULL;
}

bool options_is_given(const Options *o, const char *name) {
    return need_value(o, name)->given;
}

bool options_is_assumed(const Options *o, const char *name) {
    return need_value(o, name)->assumed;
}

const char *options_value(const Options *o, const char *name) {
    const Value *v = need_value(o, name);
    return v->text ? v->text : "";
}

long long options_int(const Options *o, const char *name) {
    return typed_value(o, name, OPTION_INT)->ints[0];
}

double options_real(const Options *o, const char *name) {
    return typed_value(o, name, OPTION_REAL)->reals[0];
}

const char *options_text(const Options *o, const char *name) {
    const Value *v = need_value(o, name);
    BUG_ON(v->row->type != OPTION_TEXT && v->row->type != OPTION_CHOICE);
    return v->text;
}

bool options_flag(const Options *o, const char *name) {
    return typed_value(o, name, OPTION_FLAG)->ints[0] != 0;
}

int options_choice(const Options *o, const char *name) {
    return typed_value(o, name, OPTION_CHOICE)->choices[0];
}

int options_ints(const Options *o, const char *name, const long long **x) {
    const Value *v = typed_value(o, name, OPTION_INTS);
    *x = v->ints;
    return v->count;
}

bool options_differ(const Options *a, const Options *b, const char *name) {
    return strcmp(options_value(a, name), options_value(b, name)) != 0;
}

long long options_ints_most(const Options *o, const char *name) {
    const long long *x;
    long long most = 0;
    for (int i = 0, n = options_ints(o, name, &x); i < n; i++)
        if (x[i] > most) most = x[i];
    return most;
}

int options_reals(const Options *o, const char *name, const double **x) {
    const Value *v = typed_value(o, name, OPTION_REALS);
    *x = v->reals;
    return v->count;
}

int options_choices(const Options *o, const char *name, const int **x) {
    const Value *v = typed_value(o, name, OPTION_CHOICES);
    *x = v->choices;
    return v->count;
}
