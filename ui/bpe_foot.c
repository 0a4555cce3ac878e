/* The words below the lists of the bpe pane, and the curves. */
#include "bpe_view.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the row under the cursor ---- */

static void write_pair(const BpeSeen *s, int row, char *out, size_t bytes) {
    const char *left = bpe_text(s->pairs, row, "left"), *right = bpe_text(s->pairs, row, "right");
    long long ties = bpe_fact(s, "ties");
    Text count = format_count(bpe_int(s->pairs, row, "count"));
    if (table_rows(s->pairs) == 0)
        snprintf(out, bytes, "%s", _("No pair is left: every word is one token, and there is nothing to merge."));
    else if (row == 0 && ties > 1)
        snprintf(out, bytes,
                 _("%s %s stand side by side %s times. Of %lld pairs with that count it is the smallest by the bytes "
                   "of left, then right: it is merged next."),
                 left, right, count.s, ties);
    else if (row == 0)
        snprintf(out, bytes, _("%s %s stand side by side %s times, more often than any other pair: merged next."), left,
                 right, count.s);
    else if (bpe_int(s->pairs, row, "tied"))
        snprintf(out, bytes, _("%s %s are as frequent (%s), but larger by the bytes of left, then right: %s %s first."),
                 left, right, count.s, bpe_text(s->pairs, 0, "left"), bpe_text(s->pairs, 0, "right"));
    else
        snprintf(out, bytes, _("%s %s stand side by side %s times; %s times make the next pair."), left, right, count.s,
                 format_count(bpe_int(s->pairs, 0, "count")).s);
}

static void write_merge(const BpeSeen *s, int row, char *out, size_t bytes) {
    long rank = bpe_rank_of(s, row);
    double per_word = table_real(s->growth, rank, table_find(s->growth, "tokens_per_word"));
    snprintf(out, bytes,
             _("Merge %ld made %s of %s %s, %s times side by side: then %s symbols, %s tokens per word. Enter goes "
               "there."),
             rank, bpe_text(s->merges, rank - 1, "merged"), bpe_text(s->merges, rank - 1, "left"),
             bpe_text(s->merges, rank - 1, "right"), format_count(bpe_int(s->merges, rank - 1, "count")).s,
             format_count(bpe_int(s->growth, rank, "vocabulary")).s, format_fixed(per_word, 3).s);
}

static void draw_word(const BpeSeen *s, int row, Canvas *c, Rect r) {
    BpeMarks marks = {.byte = !strcmp(bpe_fact_text(s, "unit"), "byte")};
    canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, CANVAS_ELLIPSIS, _("“%s”, %s times. Enter puts it into the text."),
                 bpe_word_of(s, row), format_count(bpe_int(s->words, row, "count")).s);
    bpe_draw_pieces_lines(c, (Rect){r.x, r.y + 1, r.w, r.h - 1}, bpe_text(s->words, row, "pieces"), &marks);
}

/* The ids of a text that is cut to its end. */
static void write_ids(const BpeSeen *s, Str *out) {
    int id = table_find(s->encoded, "id");
    for (long i = 0; i < table_rows(s->encoded); i++) {
        if (table_is_empty(s->encoded, i, id))
            str_addf(out, "%s—", i ? " " : "");
        else
            str_addf(out, "%s%lld", i ? " " : "", table_int(s->encoded, i, id));
    }
}

/* What the step did, and below it the text as it then stands; of the last one the numbers. */
static void draw_step(const BpeSeen *s, int row, Canvas *c, Rect r) {
    BpeMarks marks = {.byte = !strcmp(bpe_fact_text(s, "unit"), "byte")};
    long at = row - 1;
    Str text;
    str_init(&text);
    if (s->own && table_rows(s->encoded) == 0) {
        str_add(&text, _("This tokenizer has no token for anything in the text; w takes another."));
    } else if (row > 0 && row == table_rows(s->steps)) {
        str_addf(&text, "%s ", _("No learnt pair is left: the tokens"));
        write_ids(s, &text);
    } else if (row == 0 && s->own) {
        str_add(&text, _("The text in the units that its words begin as; merges follow in the order of their rank."));
    } else if (row == 0) {
        str_add(&text, _("Words begin as units and </w>; merges follow in the order of their rank."));
    } else if (s->own) {
        str_addf(&text, _("Merge %lld: %s %s."), bpe_int(s->steps, at, "rank"), bpe_text(s->steps, at, "left"),
                 bpe_text(s->steps, at, "right"));
    } else {
        str_addf(&text, _("Merge %lld: %s %s, wherever they stand side by side."), bpe_int(s->steps, at, "rank"),
                 bpe_text(s->steps, at, "left"), bpe_text(s->steps, at, "right"));
    }
    canvas_text(c, r.x, r.y, r.w, text.s, STYLE_DIM, CANVAS_ELLIPSIS);
    str_done(&text);
    bpe_draw_pieces_lines(c, (Rect){r.x, r.y + 1, r.w, r.h - 1},
                          row > 0 ? bpe_text(s->steps, at, "pieces") : bpe_fact_text(s, "text_units"), &marks);
}

void bpe_draw_foot(const PaneContext *x, const BpeSeen *s, Canvas *c, Rect r) {
    BpeList list = bpe_list(x, s);
    int row = bpe_row(x, s, list);
    char text[1024] = "";
    if (list == BPE_WORDS) {
        draw_word(s, row, c, r);
    } else if (list == BPE_STEPS) {
        draw_step(s, row, c, r);
    } else {
        if (list == BPE_MERGES && table_rows(s->merges) > 0)
            write_merge(s, row, text, sizeof text);
        else
            write_pair(s, list == BPE_PAIRS ? row : 0, text, sizeof text);
        draw_paragraph(c, r, text, STYLE_DIM);
    }
}

/* ---- growth ---- */

static void draw_curve(const BpeSeen *s, Canvas *c, Rect r, const char *column, const char *label, StyleRole role) {
    int n = (int)table_rows(s->growth);
    double *x = reading_column(s->growth, "merges", 0, n), *y = reading_column(s->growth, column, 0, n);
    Series series = {x, y, n, role, NULL, 0};
    Plot plot = {.series = &series,
                 .count = 1,
                 .whole_x = true,
                 .x_label = _("merges"),
                 .y_label = label,
                 .level = (double)NAN,
                 .cursor_x = (double)NAN};
    draw_plot(c, r, &plot);
    mem_free(x);
    mem_free(y);
}

void bpe_draw_growth(const BpeSeen *s, Canvas *c, Rect r) {
    if (table_rows(s->growth) < 2) { /* a point is no curve */
        draw_paragraph(c, (Rect){r.x, r.y + 1, r.w, r.h - 1},
                       _("Each merge adds one symbol to the vocabulary, and the words need fewer tokens: both curves "
                         "grow here. + makes the next merge, r goes on by itself."),
                       STYLE_DIM);
        return;
    }
    int half = r.w / 2 - 1;
    draw_curve(s, c, (Rect){r.x, r.y, half, r.h}, "vocabulary", _("vocabulary"), STYLE_SERIES_A);
    draw_curve(s, c, (Rect){r.x + half + 2, r.y, r.w - half - 2, r.h}, "tokens_per_word", _("tokens per word"),
               STYLE_SERIES_B);
}

static void draw_line(const BpeSeen *s, Canvas *c, Rect r, const char *column, const char *label, StyleRole role) {
    int n = (int)table_rows(s->growth), label_w = 16;
    double *y = reading_column(s->growth, column, 0, n);
    int room = r.w - label_w;
    canvas_text(c, r.x, r.y, label_w, label, STYLE_DIM, ATTRIBUTE_NONE);
    if (room > 0) draw_spark(c, r.x + label_w, r.y, room < n ? room : n, y, n, role);
    mem_free(y);
}

void bpe_draw_spark(const BpeSeen *s, Canvas *c, Rect r) {
    if (table_rows(s->growth) < 2) return;
    draw_line(s, c, (Rect){r.x, r.y, r.w, 1}, "vocabulary", _("vocabulary"), STYLE_SERIES_A);
    if (r.h > 1) draw_line(s, c, (Rect){r.x, r.y + 1, r.w, 1}, "tokens_per_word", _("tokens per word"), STYLE_SERIES_B);
}
