#include "cards.h"

#include "assets.h"
#include "csvfile.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const Option cards_option_rows[] = {
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("the cards, a CSV file; not given: those of lantern")},
    {0},
};

#define SMALLEST_PARAMETERS 1e-9 /* one, in billions */
#define LARGEST_PARAMETERS  1e9
#define EXPERTS_MOST        1000000
#define YEAR_LEAST          1900
#define YEAR_MOST           2100
#define CARDS_MOST          2000

/* ---- one cell ---- */

typedef enum { CELL_TEXT, CELL_INT, CELL_PARAMETERS, CELL_POSITION } CellKind;

typedef struct {
    const char *name;
    CellKind kind;
    size_t at; /* offset in Card */
    long long min, max;
    bool needed; /* the column must be there, and no cell of it empty */
} CardColumn;

static const CardColumn card_columns[] = {
    {"model", CELL_TEXT, offsetof(Card, model), 0, 0, true},
    {"aliases", CELL_TEXT, offsetof(Card, aliases), 0, 0, false},
    {"source", CELL_TEXT, offsetof(Card, source), 0, 0, false},
    {"note", CELL_TEXT, offsetof(Card, note), 0, 0, false},
    {"pos", CELL_POSITION, offsetof(Card, pos), 0, 0, false},
    {"year", CELL_INT, offsetof(Card, year), YEAR_LEAST, YEAR_MOST, false},
    {"experts", CELL_INT, offsetof(Card, experts), 0, EXPERTS_MOST, false},
    {"experts_used", CELL_INT, offsetof(Card, experts_used), 0, EXPERTS_MOST, false},
    {"latent", CELL_INT, offsetof(Card, latent), 0, 1000000, false},
    {"latent_rope", CELL_INT, offsetof(Card, latent_rope), 0, 1000000, false},
    {"encoder_layers", CELL_INT, offsetof(Card, encoder_layers), 0, 1000, false},
    {"parameters", CELL_PARAMETERS, offsetof(Card, parameters), 0, 0, false},
};
enum { CARD_COLUMNS = sizeof card_columns / sizeof *card_columns };

/* Fields of the configuration that a card must give. */
static const char *const needed_fields[] = {"vocab", "context", "d", "layers", "heads", "d_ff"};
enum { NEEDED_FIELDS = sizeof needed_fields / sizeof *needed_fields };

static const CardColumn *own_column(const char *name) {
    for (int i = 0; i < CARD_COLUMNS; i++)
        if (strcmp(card_columns[i].name, name) == 0) return &card_columns[i];
    return NULL;
}

static void *cell_of(Card *card, const CardColumn *column) {
    return (char *)card + column->at;
}

static Status set_text(const char *value, char **out) {
    if (!utf8_valid(value, strlen(value), NULL)) return status_usage(_("the text is not UTF-8"));
    mem_free(*out);
    *out = mem_text(value);
    return status_ok();
}

static Status set_position(Card *card, const char *value) {
    STATUS_TRY(set_text(value, &card->pos));
    if (strcmp(value, "relative") != 0 && strcmp(value, "alibi") != 0) return config_set(&card->config, "pos", value);
    card->config.pos = POS_NONE;
    return status_ok();
}

static Status set_number(const CardColumn *column, const char *value, int *out) {
    long long x;
    if (!str_to_long(value, &x) || x < column->min || x > column->max)
        return status_usage(_("%s must be a whole number from %lld to %lld, not \"%s\""), column->name, column->min,
                            column->max, value);
    *out = (int)x;
    return status_ok();
}

static Status set_parameters(const char *value, double *out) {
    if (str_to_double(value, out) && *out >= SMALLEST_PARAMETERS && *out <= LARGEST_PARAMETERS) return status_ok();
    return status_usage(_("parameters must be a number of billions above 0, not \"%s\""), value);
}

/* The bit of a field in Card.says; 0: it is none. */
static uint64_t bit_of(const char *field) {
    int i = 0;
    for (const char *const *f = config_fields(); *f; f++, i++)
        if (strcmp(*f, field) == 0) return (uint64_t)1 << i;
    return 0;
}

static Status set_cell(Card *card, const char *name, const char *value) {
    const CardColumn *column = own_column(name);
    if (!*value) return status_ok();
    card->says |= bit_of(name);
    if (!column) return config_set(&card->config, name, value);
    switch (column->kind) {
    case CELL_TEXT:
        return set_text(value, cell_of(card, column));
    case CELL_INT:
        return set_number(column, value, cell_of(card, column));
    case CELL_PARAMETERS:
        return set_parameters(value, &card->parameters);
    case CELL_POSITION:
        break;
    }
    return set_position(card, value);
}

/* ---- one row ---- */

static void card_done(Card *c) {
    mem_free(c->model);
    mem_free(c->aliases);
    mem_free(c->pos);
    mem_free(c->source);
    mem_free(c->note);
}

/* What stands where a card says nothing; 0: follows from the others. */
static Card blank_card(void) {
    Card c = {.config = config_modern(), .parameters = (double)NAN};
    c.config.kv_heads = c.config.head_dim = 0;
    c.config.norm_eps = 0;
    c.aliases = mem_text("");
    c.pos = mem_text("rope");
    c.source = mem_text("");
    c.note = mem_text("");
    return c;
}

static Status complete(Card *card) {
    ModelConfig *c = &card->config;
    if (c->kv_heads == 0) c->kv_heads = c->heads;
    if (c->head_dim == 0 && c->d % c->heads != 0)
        return status_usage(_("head_dim is d / heads when it is not given, and %d / %d is no whole number"), c->d,
                            c->heads);
    if (c->head_dim == 0) c->head_dim = c->d / c->heads;
    if (!(c->norm_eps > 0)) c->norm_eps = c->norm == NORM_LAYER ? 1e-5 : 1e-6;
    if (card->experts_used > card->experts)
        return status_usage(_("experts_used (%d) is above experts (%d)"), card->experts_used, card->experts);
    if (card->latent_rope > 0 && card->latent == 0)
        return status_usage(_("latent_rope (%d) needs a latent vector"), card->latent_rope);
    return config_check_shape(c);
}

static bool needs(const char *column) {
    for (int i = 0; i < NEEDED_FIELDS; i++)
        if (strcmp(needed_fields[i], column) == 0) return true;
    const CardColumn *own = own_column(column);
    return own && own->needed;
}

static Status read_cells(const CsvText *csv, long row, Card *card) {
    for (int i = 0; i < csv->columns; i++) {
        const char *name = csv->cell[0][i], *value = csv->cell[row][i];
        if (!*value && needs(name)) return status_usage(_("%s is empty"), name);
        STATUS_TRY(set_cell(card, name, value));
    }
    return complete(card);
}

/* ---- names ---- */

/* Letters and digits; of other scripts than Latin everything counts. */
static bool matters(char c) {
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether NAME [n] and WANTED are the same letters and digits. */
static bool same_name(const char *name, size_t n, const char *wanted) {
    for (size_t i = 0;;) {
        while (i < n && !matters(name[i])) i++;
        while (*wanted && !matters(*wanted)) wanted++;
        if (i == n || !*wanted) return i == n && !*wanted;
        if (tolower((unsigned char)name[i++]) != tolower((unsigned char)*wanted++)) return false;
    }
}

static bool has_alias(const Card *card, const char *name) {
    for (const char *a = card->aliases; *a;) {
        size_t n = strcspn(a, " ");
        if (n > 0 && same_name(a, n, name)) return true;
        a += n + strspn(a + n, " ");
    }
    return false;
}

static const Card *find(const Cards *c, const char *name) {
    for (int i = 0; i < c->count; i++)
        if (same_name(c->card[i].model, strlen(c->card[i].model), name)) return &c->card[i];
    for (int i = 0; i < c->count; i++)
        if (has_alias(&c->card[i], name)) return &c->card[i];
    return NULL;
}

Status cards_find(const Cards *c, const char *name, const Card **out) {
    *out = find(c, name);
    if (*out) return status_ok();
    const char *likely = NULL;
    for (int i = 0; i < c->count; i++) likely = str_likelier(name, likely, c->card[i].model);
    if (likely)
        return status_usage(_("there is no card '%s'; did you mean %s? (lantern run arch.cards lists all)"), name,
                            likely);
    return status_usage(_("there is no card '%s'; lantern run arch.cards lists all"), name);
}

/* ---- the file ---- */

static Status check_header(const char *path, const CsvText *csv) {
    ModelConfig c = config_modern();
    char text[64];
    for (int i = 0; i < csv->columns; i++) {
        const char *name = csv->cell[0][i];
        if (!own_column(name) && !config_get(&c, name, text, sizeof text))
            return status_usage(_("'%s' line %ld: cards have no column '%s'"), path, csv->line[0], name);
        for (int j = 0; j < i; j++)
            if (strcmp(csv->cell[0][j], name) == 0)
                return status_usage(_("'%s' line %ld: the column '%s' is there twice"), path, csv->line[0], name);
    }
    for (int i = 0; i <= NEEDED_FIELDS; i++) {
        const char *name = i < NEEDED_FIELDS ? needed_fields[i] : "model";
        int at = 0;
        while (at < csv->columns && strcmp(csv->cell[0][at], name) != 0) at++;
        if (at == csv->columns)
            return status_usage(_("'%s' line %ld: the column '%s' is missing"), path, csv->line[0], name);
    }
    return status_ok();
}

static Status add_card(const CsvText *csv, long row, Cards *out) {
    MEM_GROW(out->card, out->count, out->capacity);
    Card *card = &out->card[out->count];
    *card = blank_card();
    Status s = read_cells(csv, row, card);
    if (status_is_ok(&s) && same_name(card->model, strlen(card->model), ""))
        s = status_usage(_("model \"%s\" has neither letter nor digit"), card->model);
    if (status_is_ok(&s) && find(out, card->model)) s = status_usage(_("there is a card '%s' already"), card->model);
    if (status_is_ok(&s)) {
        out->count++;
    } else {
        card_done(card);
    }
    return s;
}

static Status read_rows(const char *path, const CsvText *csv, Cards *out) {
    STATUS_TRY(check_header(path, csv));
    if (csv->rows > CARDS_MOST) return status_usage(_("'%s' has more than %d cards"), path, CARDS_MOST);
    for (long row = 1; row < csv->rows; row++) {
        Status s = add_card(csv, row, out);
        if (!status_is_ok(&s)) return status_usage(_("'%s' line %ld: %s"), path, csv->line[row], s.text);
    }
    if (out->count == 0) return status_usage(_("'%s' has no cards"), path);
    return status_ok();
}

static Status read_file(const char *path, Cards *out) {
    CsvText csv;
    STATUS_TRY(csvfile_read(path, &csv));
    Status s = read_rows(path, &csv, out);
    csv_text_done(&csv);
    if (!status_is_ok(&s)) cards_done(out);
    return s;
}

Status cards_read(const char *path, Cards *out) {
    *out = (Cards){0};
    if (path) return read_file(path, out);
    Str shipped;
    str_init(&shipped);
    Status s = assets_find("cards.csv", &shipped) ? read_file(shipped.s, out)
                                                  : status_usage(_("the file cards.csv is missing among the assets"));
    str_done(&shipped);
    return s;
}

Status cards_open(const Options *o, Cards *out) {
    return cards_read(options_is_set(o, "file") ? options_text(o, "file") : NULL, out);
}

bool cards_are_input(const Options *o) {
    return options_is_set(o, "file") && strcmp(options_text(o, "file"), "-") == 0;
}

void cards_done(Cards *c) {
    for (int i = 0; i < c->count; i++) card_done(&c->card[i]);
    mem_free(c->card);
    *c = (Cards){0};
}

/* ---- what a card means ---- */

bool card_says(const Card *card, const char *field) {
    return card->says & bit_of(field);
}

bool card_is_special(const Card *card, Str *why) {
    str_clear(why);
    if (card->encoder_layers > 0) str_addf(why, _("an encoder of %d layers"), card->encoder_layers);
    if (card->latent > 0) str_addf(why, "%s%s", why->len ? _(" and ") : "", _("latent attention"));
    if (card->experts > 0) str_addf(why, _("%s%d experts"), why->len ? _(" and ") : "", card->experts);
    return why->len > 0;
}

Count card_cache(const Card *card, Count T) {
    if (card->latent == 0) return account_cache(&card->config, T);
    return account_times(T, (Count)card->config.layers * (card->latent + card->latent_rope));
}

void card_notes(Study *s, const Card *card) {
    if (!*card->note) return;
    Str key;
    str_init(&key);
    str_addf(&key, "note_%s", card->model);
    study_about(s, key.s, "%s", card->note);
    str_done(&key);
}
