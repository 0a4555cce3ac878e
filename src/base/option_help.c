/* option_help: the options of something as aligned lines: name, what may stand there, default, help. */
#include "option.h"

#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>

enum { HELP_COLUMNS = 3, HELP_GAP = 2 };

static void add_range(Str *out, const Option *row) {
    if ((row->min == 0 && row->max == 0) || (isinf(row->min) && isinf(row->max))) return;
    str_add_char(out, ' ');
    if (isinf(row->max)) {
        str_add(out, ">= ");
        str_add_double(out, row->min);
    } else if (isinf(row->min)) {
        str_add(out, "<= ");
        str_add_double(out, row->max);
    } else {
        str_add_double(out, row->min);
        str_add(out, "..");
        str_add_double(out, row->max);
    }
}

static void add_type(Str *out, const Option *row) {
    switch (row->type) {
    case OPTION_INT:
        str_add(out, _("whole number"));
        break;
    case OPTION_REAL:
        str_add(out, _("number"));
        break;
    case OPTION_TEXT:
        str_add(out, _("text"));
        return;
    case OPTION_FLAG:
        str_add(out, "0|1");
        return;
    case OPTION_INTS:
        str_add(out, _("whole numbers"));
        break;
    case OPTION_REALS:
        str_add(out, _("numbers"));
        break;
    case OPTION_CHOICE:
    case OPTION_CHOICES:
        str_add(out, row->choices);
        break;
    }
    if (row->type != OPTION_CHOICE && row->type != OPTION_CHOICES) add_range(out, row);
    if (row->type == OPTION_INTS || row->type == OPTION_REALS || row->type == OPTION_CHOICES)
        str_add(out, _(", separated by commas"));
}

/* What it is when nobody says anything: the value that it has in O, which may differ from the row's, or what it comes
 * to. */
static void add_default(Str *out, const Options *o, const Option *row) {
    Str value;
    str_init(&value);
    str_add(&value, options_value(o, row->name));
    bool follows = options_follow(o, row->name, &value), has_unit = row->unit && *row->unit;
    if (value.len > 0) str_addf(out, "= %s", value.s);
    if (has_unit) str_addf(out, "%s%s", value.len > 0 ? " " : "", row->unit);
    if (follows) str_add(out, _(", follows"));
    str_done(&value);
}

static void add_cell(Str *out, const Options *o, const Option *row, int column) {
    switch (column) {
    case 0:
        str_add(out, row->name);
        break;
    case 1:
        add_type(out, row);
        break;
    default:
        add_default(out, o, row);
        break;
    }
}

static int cell_width(const Options *o, const Option *row, int column) {
    Str cell;
    str_init(&cell);
    add_cell(&cell, o, row, column);
    int width = utf8_columns(cell.s);
    str_done(&cell);
    return width;
}

static void add_line(Str *out, const Options *o, const Option *row, const int widest[HELP_COLUMNS]) {
    for (int c = 0; c < HELP_COLUMNS; c++) {
        add_cell(out, o, row, c);
        str_add_repeat(out, ' ', (size_t)(widest[c] - cell_width(o, row, c) + HELP_GAP));
    }
    if (row->help) str_add(out, _(row->help));
    size_t len = out->len;
    while (len > 0 && out->s[len - 1] == ' ') len--;
    str_truncate(out, len);
    str_add_char(out, '\n');
}

void options_help(const Options *o, Str *out) {
    int widest[HELP_COLUMNS] = {0};
    for (int i = 0; i < options_count(o); i++)
        for (int c = 0; c < HELP_COLUMNS; c++) {
            int width = cell_width(o, options_row(o, i), c);
            if (width > widest[c]) widest[c] = width;
        }
    for (int i = 0; i < options_count(o); i++) add_line(out, o, options_row(o, i), widest);
}
