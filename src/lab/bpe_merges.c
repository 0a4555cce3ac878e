#include "bpe_merges.h"

#include "csvfile.h"
#include "intl.h"
#include "mem.h"
#include "str.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* A file while it is read. Columns: -1 when not there. */
typedef struct {
    const char *path;
    const CsvText *csv;
    int left, right, merged, rank;
    bool hex;
    BpeUnit unit;
    long rows; /* merges to take */
    Bpe *bpe;
} Reading;

static Status fault(const Reading *r, long row, const char *what, const char *name) {
    return status_usage(_("'%s' row %ld: '%s' %s"), r->path, row, name, what);
}

static int column_of(const CsvText *csv, const char *name, const char *suffix) {
    for (int i = 0; i < csv->columns; i++) {
        size_t n = strlen(name);
        if (strncmp(csv->cell[0][i], name, n) == 0 && strcmp(csv->cell[0][i] + n, suffix) == 0) return i;
    }
    return -1;
}

static Status find_columns(Reading *r) {
    r->hex = column_of(r->csv, "left", "_hex") >= 0;
    const char *suffix = r->hex ? "_hex" : "";
    r->left = column_of(r->csv, "left", suffix);
    r->right = column_of(r->csv, "right", suffix);
    r->merged = column_of(r->csv, "merged", suffix);
    r->rank = column_of(r->csv, "rank", "");
    if (r->left >= 0 && r->right >= 0) return status_ok();
    return status_usage(_("'%s' has no columns left and right, or left_hex and right_hex"), r->path);
}

static int digit_of(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes that a cell names. */
static Status add_cell(const Reading *r, long row, int column, Str *out) {
    const char *cell = r->csv->cell[row][column];
    str_clear(out);
    if (!r->hex) {
        str_add(out, cell);
    } else {
        for (const char *s = cell; *s; s += 2) {
            int high = digit_of(s[0]), low = high < 0 ? -1 : digit_of(s[1]);
            if (low < 0) return fault(r, row, _("is not hexadecimal"), cell);
            str_add_char(out, (char)(high << 4 | low));
        }
    }
    return out->len ? status_ok() : fault(r, row, _("is empty"), cell);
}

static bool is_unit(const Reading *r, const Str *name) {
    return bpe_unit_bytes(name->s, name->len, r->unit) == name->len;
}

/* ---- the units that the merges start from ---- */

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static Status add_units(Reading *r) {
    char **unit = NULL;
    long units = 0, capacity = 0;
    Str name;
    str_init(&name);
    Status s = status_ok();
    for (long i = 0; status_is_ok(&s) && i < 2 * r->rows; i++) {
        s = add_cell(r, 1 + i / 2, i % 2 ? r->right : r->left, &name);
        if (!status_is_ok(&s) || !is_unit(r, &name)) continue;
        MEM_GROW(unit, units, capacity);
        unit[units++] = mem_text_n(name.s, name.len);
    }
    if (units) qsort(unit, (size_t)units, sizeof *unit, by_bytes);
    for (long i = 0; i < units; i++) {
        if (status_is_ok(&s)) bpe_add_unit(r->bpe, unit[i], strlen(unit[i]));
        mem_free(unit[i]);
    }
    mem_free(unit);
    str_done(&name);
    return s;
}

/* ---- the merges ---- */

/* The symbol of a name. Only a right part may hold the end of a word; what ends in </w> then is one that does, unless
 * only the four characters are known. */
static int symbol_of(const Reading *r, const Str *name, bool may_end) {
    size_t inside = name->len - BPE_END_BYTES;
    if (may_end && name->len >= BPE_END_BYTES && strcmp(name->s + inside, BPE_END) == 0) {
        int symbol = bpe_find(r->bpe, name->s, inside, true);
        if (symbol >= 0) return symbol;
    }
    return bpe_find(r->bpe, name->s, name->len, false);
}

static Status find_symbol(const Reading *r, long row, int column, bool may_end, Str *name, int *symbol) {
    STATUS_TRY(add_cell(r, row, column, name));
    *symbol = symbol_of(r, name, may_end);
    if (*symbol >= 0) return status_ok();
    return fault(r, row,
                 r->unit == BPE_CHAR ? _("is neither a character nor made by a row above (bytes need unit=byte)")
                                     : _("is neither a byte nor made by a row above"),
                 r->csv->cell[row][column]);
}

static Status check_row(const Reading *r, long row, int merged, Str *name) {
    char number[24];
    snprintf(number, sizeof number, "%ld", row);
    if (r->rank >= 0 && strcmp(r->csv->cell[row][r->rank], number) != 0)
        return fault(r, row, _("is not the rank of this row"), r->csv->cell[row][r->rank]);
    if (r->merged < 0) return status_ok();
    STATUS_TRY(add_cell(r, row, r->merged, name));
    size_t bytes;
    const char *made = bpe_name(r->bpe, merged, &bytes);
    if (bytes == name->len && memcmp(made, name->s, bytes) == 0) return status_ok();
    return fault(r, row, _("is not what left and right make"), r->csv->cell[row][r->merged]);
}

static Status add_merges(Reading *r) {
    Str name;
    str_init(&name);
    Status s = status_ok();
    for (long row = 1; status_is_ok(&s) && row <= r->rows; row++) {
        int left, right;
        s = find_symbol(r, row, r->left, false, &name, &left);
        if (status_is_ok(&s)) s = find_symbol(r, row, r->right, true, &name, &right);
        if (status_is_ok(&s)) s = check_row(r, row, bpe_add_merge(r->bpe, left, right, 0, 0), &name);
    }
    str_done(&name);
    return s;
}

Status bpe_merges_read(const char *path, const BpeUnit *unit, long merges, Bpe **out) {
    CsvText csv;
    *out = NULL;
    STATUS_TRY(csvfile_read(path, &csv));
    Reading r = {.path = path, .csv = &csv, .rows = csv.rows - 1};
    if (merges >= 0 && merges < r.rows) r.rows = merges;
    Status s = find_columns(&r);
    r.unit = unit ? *unit : column_of(&csv, "left", "") < 0 ? BPE_BYTE : BPE_CHAR;
    r.bpe = bpe_new(r.unit);
    if (status_is_ok(&s) && r.unit == BPE_CHAR) s = add_units(&r);
    if (status_is_ok(&s)) s = add_merges(&r);
    if (status_is_ok(&s)) {
        *out = r.bpe;
    } else {
        bpe_free(r.bpe);
    }
    csv_text_done(&csv);
    return s;
}
