/* pane attention: who looks at whom: every layer and head small, the selected one large, and the arithmetic of one
 * cell. */
#include "attention_view.h"

#include "intl.h"
#include "observe.h"

#include <stdio.h>
#include <string.h>

static void attention_init(void *state) {
    ((AttentionState *)state)->stage = STAGE_WEIGHTS;
}

static void attention_draw(const PaneContext *x, Canvas *c) {
    AttentionPlan p;
    if (!attention_plan(x, c->w, c->h, &p)) {
        pane_draw_empty(&pane_attention, c);
        return;
    }
    if (((const AttentionState *)x->state)->terms) {
        attention_draw_terms(x, &p, c);
        return;
    }
    attention_draw_map(x, &p, c);
    attention_draw_maps(x, &p, c);
    attention_draw_looks(x, &p, c);
    attention_draw_sum(x, &p, c);
    attention_draw_foot(x, &p, c);
    attention_draw_stages(x, &p, c);
}

/* The column cursor: a key, or in the mix stage a dimension. */
static int *column_of(PaneCall *call) {
    AttentionState *state = call->state;
    return attention_stage(call->snapshot, state) == STAGE_MIX ? &state->dimension : &call->cursor->key;
}

static int bounded(int x, int n) {
    return x >= n ? n - 1 : x < 0 ? 0 : x;
}

static void attention_move(PaneCall *call, Move move, int times) {
    const Snapshot *s = call->snapshot;
    const Field *f = snapshot_field(s, "attention.%d.%s", call->cursor->layer,
                                    attention_stage_name(attention_stage(s, call->state)));
    if (!f) return;
    int *row = &call->cursor->query, *col = column_of(call), rows = f->dim[1], cols = f->dim[2];
    switch (move) {
    case MOVE_UP:
        *row -= times;
        break;
    case MOVE_DOWN:
        *row += times;
        break;
    case MOVE_LEFT:
        *col -= times;
        break;
    case MOVE_RIGHT:
        *col += times;
        break;
    case MOVE_PAGE_UP:
        *row -= 8 * times;
        break;
    case MOVE_PAGE_DOWN:
        *row += 8 * times;
        break;
    case MOVE_FIRST:
        *row = *col = 0;
        break;
    case MOVE_LAST:
        *row = rows - 1, *col = cols - 1;
        break;
    }
    *row = bounded(*row, rows);
    *col = bounded(*col, cols);
}

static bool attention_enter(PaneCall *call) {
    AttentionState *state = call->state;
    int layers, heads, tokens;
    if (call->detail == DETAIL_WALL || !reading_attention(call->snapshot, &layers, &heads, &tokens)) return false;
    state->terms = !state->terms;
    return true;
}

static bool attention_escape(PaneCall *call) {
    AttentionState *state = call->state;
    bool there = state->terms;
    state->terms = false;
    return there;
}

static void attention_click(PaneCall *call, const Canvas *like, int x, int y) {
    PaneContext context = pane_context(call);
    AttentionPlan p;
    if (!attention_plan(&context, like->w, like->h, &p)) return;
    if (attention_maps_hit(&p, call->cursor, x, y, &call->cursor->layer, &call->cursor->head)) return;
    int row, col;
    if (!attention_map_hit(&context, &p, like, x, y, &row, &col)) return;
    call->cursor->query = row;
    *column_of(call) = col;
}

static Status run_stage(void *owner, const Words *words) {
    PaneCall *call = owner;
    AttentionState *state = call->state;
    bool capped = snapshot_field(call->snapshot, "attention.0.softcapped") != NULL;
    if (words->count == 1) {
        state->stage = (AttentionStage)((attention_stage(call->snapshot, state) + 1) % STAGE_COUNT);
        if (state->stage == STAGE_SOFTCAPPED && !capped) state->stage = STAGE_MASKED;
        return status_ok();
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (strcmp(words->word[1], attention_stage_name((AttentionStage)i))) continue;
        if (i == STAGE_SOFTCAPPED && !capped) return status_usage(_("this model has no soft cap on its scores"));
        state->stage = (AttentionStage)i;
        return status_ok();
    }
    return status_usage(_("stage is scores, scaled, softcapped, masked, weights or mix, not %s"), words->word[1]);
}

static Status run_scale(void *owner, const Words *words) {
    return command_choose(words, "whole", "row", &((AttentionState *)((PaneCall *)owner)->state)->per_row);
}

static Status run_blocks(void *owner, const Words *words) {
    return command_switch(words, &((AttentionState *)((PaneCall *)owner)->state)->blocks);
}

static Status run_switch(void *owner, const Words *words) {
    PaneCall *call = owner;
    (void)words;
    snprintf(call->command, sizeof call->command, "head %d %d toggle", call->cursor->layer + 1, call->cursor->head + 1);
    return status_ok();
}

static void attention_save(const void *state, Str *out) {
    const AttentionState *s = state;
    str_addf(out, "stage %s\nscale %s\n", attention_stage_name(s->stage), s->per_row ? "row" : "whole");
    if (s->blocks) str_add(out, "blocks on\n");
}

static int attention_tables(const PaneContext *x, Table **out) {
    int n = 0;
    Table *cells = observe_attention_table(x->snapshot, x->cursor->layer, x->cursor->head);
    Table *vectors = observe_vectors_table(x->snapshot, x->cursor->layer, x->cursor->head);
    if (cells) out[n++] = cells;
    if (vectors) out[n++] = vectors;
    Table *mix = observe_mix_table(x->snapshot, x->cursor->layer, x->cursor->head);
    if (mix) out[n++] = mix;
    return n;
}

static void attention_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const AttentionState *state = x->state;
    AttentionStage stage = attention_stage(x->snapshot, state);
    bool off = reading_is_off(x->snapshot, x->cursor->layer, x->cursor->head);
    int used = snprintf(out, bytes, _("layer %d head %d%s · %s"), x->cursor->layer + 1, x->cursor->head + 1,
                        off ? _(" (off)") : "", attention_stage_name(stage));
    if (x->detail != DETAIL_FOCUS || used < 0 || used >= (int)bytes) return;
    snprintf(out + used, bytes - (size_t)used, "%s",
             stage == STAGE_MIX ? _(" · rows are queries, columns dimensions")
                                : _(" · rows are queries, columns keys"));
}

static const KeyRow attention_keys[] = {
    {"s", "stage", N_("stage"), N_("next stage: scores, scaled, masked, weights, mix")},
    {"r", "scale", N_("row scale"), N_("colours by each row's largest value, or by the whole map")},
    {"v", "blocks", N_("overview"), N_("all tokens at once: of a long text several to a cell, the largest shows")},
    {"-", "switch", N_("head off"), N_("switch the head under the cursor off, or on again")},
    {NULL, NULL, NULL, NULL},
};

static const Command attention_commands[] = {
    {"stage", "[scores|scaled|softcapped|masked|weights|mix]", N_("the stage of attention that the map shows"), 0, 1,
     run_stage},
    {"scale", "[whole|row]", N_("colours by the whole map, or by each row's largest value"), 0, 1, run_scale},
    {"blocks", "[on|off]", N_("all tokens at once, several to a cell where they are many, or each in its own"), 0, 1,
     run_blocks},
    {"switch", "", N_("switch the head under the cursor off, or on again"), 0, 0, run_switch},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_attention = {
    .name = "attention",
    .title = N_("attention"),
    .about = N_("Who looks at whom. A row is a query (the word that looks), a column a key (the word looked at); every "
                "row of weights sums to 1. "
                "A dot is a cell that the mask hides. The small maps are all layers and heads. Enter shows the terms "
                "of q·k; s walks through the "
                "stages from scores to the mix; v shows a long text at once, in blocks of tokens."),
    .empty = N_("The attention of every layer and head will appear here as soon as the model is there; e gives it a "
                "sentence to read."),
    .watch = "attention tokens",
    .min_w = 24,
    .min_h = 6,
    .weight = 5,
    .state_size = sizeof(AttentionState),
    .init = attention_init,
    .draw = attention_draw,
    .move = attention_move,
    .enter = attention_enter,
    .escape = attention_escape,
    .find = pane_find_query,
    .click = attention_click,
    .keys = attention_keys,
    .commands = attention_commands,
    .tables = attention_tables,
    .tables_beside = true,
    .save = attention_save,
    .subtitle = attention_subtitle,
};
