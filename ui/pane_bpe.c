/* pane bpe: sub-words learnt merge by merge: which pair is next and why, the words in pieces, the merges so far, how
 * vocabulary and length grow; and a text cut by what has been learnt. */
#include "bpe_view.h"

#include "intl.h"
#include "reading.h"

#include <stdio.h>
#include <string.h>

enum { TO_THE_END = 1 << 20, PAGE = 8 };

static void bpe_init(void *state) {
    *(BpeState *)state = (BpeState){.row = {[BPE_STEPS] = TO_THE_END}};
}

static void bpe_draw(const PaneContext *x, Canvas *c) {
    BpeSeen s;
    if (!bpe_see(x, &s)) {
        pane_draw_empty(&pane_bpe, c);
        return;
    }
    BpePlan p = bpe_plan(x, &s, c->w, c->h);
    bpe_draw_parts(x, &s, &p, c);
}

/* ---- the cursor ---- */

/* On a wall only pairs and words show. */
static BpeList other_list(const PaneCall *call, int by) {
    const BpeState *state = call->state;
    int lists = call->detail == DETAIL_FOCUS ? BPE_LISTS : BPE_WORDS + 1;
    int list = (int)state->list + by;
    return (BpeList)(list < 0 ? 0 : list >= lists ? lists - 1 : list);
}

static void bpe_move(PaneCall *call, Move move, int times) {
    BpeState *state = call->state;
    PaneContext x = pane_context(call);
    BpeSeen s;
    if (!bpe_see(&x, &s)) return;
    if (call->detail != DETAIL_FOCUS && state->list > BPE_WORDS) state->list = BPE_PAIRS; /* the others do not show */
    BpeList list = bpe_list(&x, &s);
    int row = bpe_row(&x, &s, list), rows = bpe_rows(&s, list);
    switch (move) {
    case MOVE_UP:
        row -= times;
        break;
    case MOVE_DOWN:
        row += times;
        break;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        state->list = other_list(call, move == MOVE_LEFT ? -1 : 1);
        return;
    case MOVE_PAGE_UP:
        row -= PAGE * times;
        break;
    case MOVE_PAGE_DOWN:
        row += PAGE * times;
        break;
    case MOVE_FIRST:
        row = 0;
        break;
    case MOVE_LAST:
        row = TO_THE_END;
        break;
    }
    bool last = row >= rows - 1;
    state->row[list] = row < 0 ? 0 : !last ? row : list == BPE_STEPS ? TO_THE_END : rows > 0 ? rows - 1 : 0;
}

static bool bpe_enter(PaneCall *call) {
    PaneContext x = pane_context(call);
    BpeSeen s;
    if (call->detail == DETAIL_WALL || !bpe_see(&x, &s)) return false;
    BpeList list = bpe_list(&x, &s);
    int row = bpe_row(&x, &s, list);
    if (bpe_rows(&s, list) == 0) return false;
    if (list == BPE_PAIRS && row == 0)
        snprintf(call->command, sizeof call->command, "bpe next");
    else if (list == BPE_WORDS)
        snprintf(call->command, sizeof call->command, "bpe text %s", bpe_word_of(&s, row));
    else if (list == BPE_MERGES)
        snprintf(call->command, sizeof call->command, "bpe to %ld", bpe_rank_of(&s, row));
    else
        return false;
    return true;
}

static const char *row_text(const BpeSeen *s, BpeList list, int row) {
    const Table *const tables[BPE_LISTS] = {s->pairs, s->words, s->merges, s->steps};
    static const char *const columns[BPE_LISTS] = {"merged", "word", "merged", "pieces"};
    if (!tables[list]) return "";
    long at = list == BPE_MERGES ? table_rows(s->merges) - 1 - row : list == BPE_STEPS ? row - 1 : row;
    return at < 0 ? "" : table_text(tables[list], at, table_find(tables[list], columns[list]));
}

static bool bpe_find(PaneCall *call, const char *text) {
    BpeState *state = call->state;
    PaneContext x = pane_context(call);
    BpeSeen s;
    if (!bpe_see(&x, &s)) return false;
    BpeList list = bpe_list(&x, &s);
    int rows = bpe_rows(&s, list), row = bpe_row(&x, &s, list);
    for (int i = 1; i <= rows; i++) {
        int at = (row + i) % rows;
        if (!reading_holds(row_text(&s, list, at), text)) continue;
        state->row[list] = at;
        return true;
    }
    return false;
}

static void bpe_click(PaneCall *call, const Canvas *like, int px, int py) {
    BpeState *state = call->state;
    PaneContext x = pane_context(call);
    BpeSeen s;
    BpeList list;
    int row;
    if (!bpe_see(&x, &s)) return;
    BpePlan p = bpe_plan(&x, &s, like->w, like->h);
    if (!bpe_hit(&x, &s, &p, px, py, &list, &row)) return;
    state->list = list;
    state->row[list] = row;
}

/* ---- commands ---- */

static Status run_list(void *owner, const Words *words) {
    BpeState *state = ((PaneCall *)owner)->state;
    for (int i = 0; i < BPE_LISTS; i++) {
        if (strcmp(words->word[1], bpe_list_name((BpeList)i))) continue;
        state->list = (BpeList)i;
        return status_ok();
    }
    return status_usage(_("list is pairs, words, merges or steps, not %s"), words->word[1]);
}

static Status see(PaneCall *call, BpeSeen *s) {
    PaneContext x = pane_context(call);
    return bpe_see(&x, s) ? status_ok() : status_failed(_("no corpus has been read yet"));
}

/* A command of the laboratory with what was typed behind; without that the line is left to be completed when ASK. */
static Status pass_on(PaneCall *call, const Words *words, const char *line, bool ask) {
    bool bare = words->count == 1;
    const char *more = bare ? "" : words->rest[1], *blank = str_ends_in(line, "=") || (bare && !ask) ? "" : " ";
    if (strlen(line) + strlen(more) + 16 > sizeof call->command)
        return status_usage(_("this is too long for a command"));
    snprintf(call->command, sizeof call->command, bare && ask ? "ask command \"%s%s%s\"" : "%s%s%s", line, blank, more);
    return status_ok();
}

static Status run_merge(void *owner, const Words *words) {
    return pass_on(owner, words, "bpe next", false);
}

static Status run_unmerge(void *owner, const Words *words) {
    return pass_on(owner, words, "bpe back", false);
}

static Status run_merged(void *owner, const Words *words) {
    return pass_on(owner, words, "bpe to", true);
}

static Status run_cut(void *owner, const Words *words) {
    return pass_on(owner, words, "bpe text", true);
}

static Status run_learn(void *owner, const Words *words) {
    return pass_on(owner, words, "bpe learn corpus=", true);
}

static Status run_unit(void *owner, const Words *words) {
    PaneCall *call = owner;
    BpeSeen s;
    STATUS_TRY(see(call, &s));
    if (s.own) return status_failed(_("these units are those of the model's tokenizer"));
    bool byte = strcmp(bpe_fact_text(&s, "unit"), "byte") != 0;
    if (words->count > 1 && strcmp(words->word[1], "char") != 0 && strcmp(words->word[1], "byte") != 0)
        return status_usage(_("unit is char or byte, not %s"), words->word[1]);
    if (words->count > 1) byte = strcmp(words->word[1], "byte") == 0;
    snprintf(call->command, sizeof call->command, "bpe learn unit=%s merges=%lld", byte ? "byte" : "char",
             bpe_fact(&s, "merges"));
    return status_ok();
}

static Status run_merging(void *owner, const Words *words) {
    PaneCall *call = owner;
    BpeSeen s;
    (void)words;
    STATUS_TRY(see(call, &s));
    snprintf(call->command, sizeof call->command, !s.own && bpe_fact(&s, "running") ? "bpe pause" : "bpe run");
    return status_ok();
}

/* ---- exports, sessions, the title ---- */

static int bpe_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"merges", "words", "pairs", "growth", "encoded", "steps", NULL};
    BpeSeen s;
    return bpe_see(x, &s) ? pane_copy_tables(x, names, out) : 0;
}

static void bpe_save(const void *state, Str *out) {
    str_addf(out, "list %s\n", bpe_list_name(((const BpeState *)state)->list));
}

static void bpe_subtitle(const PaneContext *x, char *out, size_t bytes) {
    BpeSeen s;
    if (!bpe_see(x, &s)) return;
    if (s.own) {
        snprintf(out, bytes, "%s", _("the model's own tokenizer"));
        return;
    }
    const char *corpus = bpe_fact_text(&s, "corpus"), *slash = strrchr(corpus, '/');
    snprintf(out, bytes, _("merge %lld · %s · %s"), bpe_fact(&s, "merges"), slash && slash[1] ? slash + 1 : corpus,
             bpe_fact_text(&s, "unit"));
}

/* A tokenizer that somebody else made is not made here again. */
static bool bpe_offers(const PaneContext *x, const char *line) {
    static const char *const learning[] = {"merge", "unmerge", "merging", "merged", "unit", "enter"};
    BpeSeen s;
    bool seen = bpe_see(x, &s), learns = !seen || !s.own;
    if (!strcmp(line, "unmerge") && seen && learns) return bpe_fact(&s, "merges") > 0;
    for (size_t i = 0; i < sizeof learning / sizeof *learning; i++)
        if (!strcmp(line, learning[i])) return learns;
    return true;
}

static const KeyRow bpe_keys[] = {
    {"+", "merge", N_("merge"), N_("merge the next pair")},
    {"-", "unmerge", N_("back"), N_("one merge back")},
    {"r", "merging", N_("go on"), N_("merge on at its own pace, or hold")},
    {"T", "merged", N_("to"), N_("to the merge of a number")},
    {"u", "unit", N_("unit"), N_("units: characters or bytes")},
    {"w", "cut", N_("text"), N_("a text to cut")},
    {"C", "learn", N_("corpus"), N_("another corpus: morph, run (that of the run), a file")},
    {NULL, NULL, NULL, NULL},
};

static const Command bpe_commands[] = {
    {"merge", "[N]", N_("merge the next pair, or the next N"), 0, 1, run_merge},
    {"unmerge", "[N]", N_("one merge back, or N"), 0, 1, run_unmerge},
    {"merged", "[N]", N_("as after N merges; without N the line waits for it"), 0, 1, run_merged},
    {"merging", "", N_("merge on at its own pace, or hold"), 0, 0, run_merging},
    {"unit", "[char|byte]", N_("learn anew from characters or bytes, to as many merges"), 0, 1, run_unit},
    {"learn", "[CORPUS]", N_("learn from morph, another grammar, run (the corpus of the run) or a file"), 0, -1,
     run_learn},
    {"cut", "[TEXT]", N_("cut a text by the merges so far; without TEXT the line waits for it"), 0, -1, run_cut},
    {"list", "pairs|words|merges|steps", N_("put the cursor into that list"), 1, 1, run_list},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_bpe = {
    .name = "bpe",
    .title = N_("bpe"),
    .about =
        N_("How sub-words are learnt. Every word begins as its units and </w>, the end of a word; the most frequent "
           "pair of neighbours becomes one symbol, again and again. Of equally frequent pairs the smallest by the "
           "bytes of left, then right, is taken. A blank stands between pieces; the newest is bold, the next pair "
           "underlined. + and - go a merge on and back, r runs, T goes to a merge, u takes bytes for characters, C "
           "another corpus. w cuts a text by the merges so far, by rank. Enter: on a pair merges it, on a word "
           "cuts it, on a merge goes back there. Of a model that brought its tokenizer the steps show in which that "
           "cuts the prompt, or another text (w); C learns others beside it, :bpe own returns."),
    .empty =
        N_("Sub-words learnt merge by merge will appear here as soon as the corpus has been read; + takes the first "
           "pair."),
    .watch = "bpe",
    .min_w = 30,
    .min_h = 7,
    .weight = 3,
    .rank = 5,
    .state_size = sizeof(BpeState),
    .init = bpe_init,
    .draw = bpe_draw,
    .move = bpe_move,
    .enter = bpe_enter,
    .find = bpe_find,
    .click = bpe_click,
    .keys = bpe_keys,
    .offers = bpe_offers,
    .commands = bpe_commands,
    .tables = bpe_tables,
    .save = bpe_save,
    .subtitle = bpe_subtitle,
};
