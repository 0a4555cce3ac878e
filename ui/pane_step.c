/* pane step: one training step from inside: a program counter that walks the tape forward, through the loss, back, and
 * through what the update changed. */
#include "step_view.h"

#include "intl.h"
#include "observe_step.h"

#include <stdio.h>
#include <string.h>

static void step_draw(const PaneContext *x, Canvas *c) {
    StepSeen s;
    if (!step_see(x, &s)) {
        pane_draw_empty(&pane_step, c);
        return;
    }
    StepPlan p = step_plan(x, &s, c->w, c->h);
    step_draw_tabs(&s, c, p.tabs);
    if (p.diagram.h > 0) step_draw_diagram(&s, c, p.diagram);
    if (p.list.h > 0) step_draw_list(&s, c, p.list);
    if (p.words.h > 0) step_draw_words(x, &s, c, p.words);
    if (p.heat.h > 0) step_draw_heat(&s, c, p.heat);
    if (p.foot.h > 0) step_draw_foot(&s, c, p.foot);
    if (p.tensors.h > 0) step_draw_tensors(&s, c, p.tensors);
}

/* Moving. */

static bool see(const PaneCall *call, StepSeen *s) {
    PaneContext x = pane_context(call);
    return step_see(&x, s);
}

static int within(int x, int n) {
    return x >= n ? (n > 0 ? n - 1 : 0) : x < 0 ? 0 : x;
}

/* Where the snapshot holds the numbers of one operation alone they are asked for. */
static void ask_for_numbers(PaneCall *call) {
    StepSeen s;
    if (!see(call, &s) || s.stage == STEP_UPDATE || table_int(s.pass, 0, table_find(s.pass, "kept")) != 0) return;
    if (!snapshot_field(call->snapshot, "step.%d.value", s.op))
        snprintf(call->command, sizeof call->command, "operation %d", s.op);
}

/* Up and down are the program counter; in the numbers alone they are the tokens. */
static void move_down(PaneCall *call, const StepSeen *s, int by) {
    StepState *state = call->state;
    if (state->large && s->shown && call->detail != DETAIL_WALL)
        call->cursor->query = within(s->row + by, s->shown->dim[0]);
    else
        step_go(s, step_counter(s) + by, state);
}

static void step_move(PaneCall *call, Move move, int times) {
    StepState *state = call->state;
    StepSeen s;
    if (!see(call, &s)) return;
    switch (move) {
    case MOVE_UP:
        move_down(call, &s, -times);
        break;
    case MOVE_DOWN:
        move_down(call, &s, times);
        break;
    case MOVE_PAGE_UP:
        move_down(call, &s, -8 * times);
        break;
    case MOVE_PAGE_DOWN:
        move_down(call, &s, 8 * times);
        break;
    case MOVE_FIRST:
        step_go(&s, 0, state);
        break;
    case MOVE_LAST:
        step_go(&s, step_counters(&s) - 1, state);
        break;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        if (s.shown) state->column = within(s.column + (move == MOVE_LEFT ? -times : times), s.shown->dim[1]);
        break;
    }
    ask_for_numbers(call);
}

static bool step_enter(PaneCall *call) {
    StepState *state = call->state;
    StepSeen s;
    if (call->detail == DETAIL_WALL || !see(call, &s) || !s.shown) return false;
    state->large = !state->large;
    return true;
}

static bool step_escape(PaneCall *call) {
    StepState *state = call->state;
    bool there = state->large;
    state->large = false;
    return there;
}

/* An operation or, in the update, a tensor, whose name holds TEXT; else a token. */
static bool step_find(PaneCall *call, const char *text) {
    StepState *state = call->state;
    StepSeen s;
    if (!see(call, &s)) return false;
    const Table *t = s.stage == STEP_UPDATE ? s.tensors : s.ops;
    int n = s.stage == STEP_UPDATE ? (int)table_rows(t) : s.run, from = s.stage == STEP_UPDATE ? s.tensor : s.op;
    for (int i = 1; i <= n; i++) {
        int at = (from + i) % n;
        if (!reading_holds(table_text(t, at, table_find(t, "name")), text)) continue;
        if (s.stage == STEP_LOSS) state->stage = STEP_FORWARD;
        *(s.stage == STEP_UPDATE ? &state->tensor : &state->op) = at;
        ask_for_numbers(call);
        return true;
    }
    int token = reading_find_token(call->snapshot, text, call->cursor->query);
    if (token >= 0) call->cursor->query = token;
    return token >= 0;
}

static bool inside(Rect r, int x, int y) {
    return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

static void step_click(PaneCall *call, const Canvas *like, int x, int y) {
    StepState *state = call->state;
    PaneContext context = pane_context(call);
    StepSeen s;
    int row, column;
    if (!step_see(&context, &s)) return;
    StepPlan p = step_plan(&context, &s, like->w, like->h);
    if (inside(p.tabs, x, y)) {
        (void)step_tab_at(p.tabs, x, &state->stage);
    } else if (inside(p.list, x, y)) {
        int counter = step_list_at(&s, p.list, y);
        if (counter >= 0) step_go(&s, counter, state);
    } else if (inside(p.tensors, x, y)) {
        int tensor = step_tensor_at(&s, p.tensors, y);
        if (tensor >= 0) state->tensor = tensor, state->stage = STEP_UPDATE;
    } else if (inside(p.heat, x, y) && step_heat_at(&s, like, p.heat, x, y, &row, &column)) {
        call->cursor->query = row;
        state->column = column;
    }
    ask_for_numbers(call);
}

/* Commands. */

static Status run_phase(void *owner, const Words *words) {
    PaneCall *call = owner;
    StepState *state = call->state;
    if (words->count == 1) {
        state->stage = (StepStage)(((int)state->stage + 1) % (int)STEP_STAGES);
        ask_for_numbers(call);
        return status_ok();
    }
    for (int i = 0; i < (int)STEP_STAGES; i++) {
        if (strcmp(words->word[1], step_stage_name((StepStage)i)) != 0) continue;
        state->stage = (StepStage)i;
        ask_for_numbers(call);
        return status_ok();
    }
    return status_usage(_("phase is forward, loss, backward or update, not %s"), words->word[1]);
}

static Status run_phase_back(void *owner, const Words *words) {
    StepState *state = ((PaneCall *)owner)->state;
    (void)words;
    state->stage = (StepStage)(((int)state->stage + (int)STEP_STAGES - 1) % (int)STEP_STAGES);
    ask_for_numbers(owner);
    return status_ok();
}

static Status walk(PaneCall *call, const Words *words, int sign) {
    long long by = 1;
    StepSeen s;
    if (words->count > 1 && (!str_to_long(words->word[1], &by) || by < 1 || by > 100000))
        return status_usage(_("operations are a number from 1 to 100000, not %s"), words->word[1]);
    if (see(call, &s)) step_go(&s, step_counter(&s) + sign * (int)by, call->state);
    ask_for_numbers(call);
    return status_ok();
}

static Status run_walk(void *owner, const Words *words) {
    return walk(owner, words, 1);
}

static Status run_walk_back(void *owner, const Words *words) {
    return walk(owner, words, -1);
}

/* A number is taken whether or not the operations are there yet. */
static Status run_op(void *owner, const Words *words) {
    PaneCall *call = owner;
    StepState *state = call->state;
    const char *word = words->word[1];
    long long number;
    StepSeen s;
    if (str_to_long(word, &number) && number >= 0 && number <= 100000) {
        state->op = (int)number;
    } else {
        int at = 0, n = see(call, &s) ? s.run : 0;
        while (at < n && strcmp(step_op_text(&s, at, "name"), word) != 0) at++;
        if (at == n) return status_usage(_("there is no operation '%s'; / finds one by a part of its name"), word);
        state->op = at;
    }
    if (state->stage != STEP_BACKWARD) state->stage = STEP_FORWARD;
    ask_for_numbers(call);
    return status_ok();
}

static void step_save(const void *state, Str *out) {
    const StepState *s = state;
    str_addf(out, "op %d\nphase %s\n", s->op, step_stage_name(s->stage));
}

/* Export and words. */

static int step_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"pass", "ops", "tensors", NULL};
    StepSeen s;
    Table *values = step_see(x, &s) ? observe_step_values(x->snapshot, s.op) : NULL;
    if (values) out[0] = values;
    return (values ? 1 : 0) + pane_copy_tables(x, names, out + (values ? 1 : 0));
}

static void step_subtitle(const PaneContext *x, char *out, size_t bytes) {
    StepSeen s;
    if (!step_see(x, &s)) return;
    if (s.stage == STEP_UPDATE)
        snprintf(out, bytes, _("update · tensor %d of %ld"), s.tensor + 1, table_rows(s.tensors));
    else
        snprintf(out, bytes, _("%s · operation %d of %d"), _(step_stage_name(s.stage)), s.op + 1, s.count);
}

static const KeyRow step_keys[] = {
    {"+", "walk", N_("on"), N_("the program counter one on")},
    {"-", "walk-back", N_("back"), N_("the program counter one back")},
    {"s", "phase", N_("phase"), N_("the next phase: forward, loss, backward, update")},
    {"S", "phase-back", NULL, N_("the phase before")},
    {NULL, NULL, NULL, NULL},
};

static const Command step_commands[] = {
    {"walk", "[N]", N_("the program counter N operations (1) on"), 0, 1, run_walk},
    {"walk-back", "[N]", N_("the program counter N operations (1) back"), 0, 1, run_walk_back},
    {"op", "NAME|NUMBER", N_("the operation under the program counter; numbers from 0"), 1, 1, run_op},
    {"phase", "[forward|loss|backward|update]", N_("the phase of the training step, or the next one"), 0, 1, run_phase},
    {"phase-back", "", N_("the phase before"), 0, 0, run_phase_back},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_step = {
    .name = "step",
    .title = N_("step"),
    .about = N_(
        "One training step from inside. The program counter walks every operation of the model on the sentence that is "
        "looked at: forward, to the loss of its next tokens, and back, where each operation hands gradients to those "
        "it read. The line at the left is the residual stream; branches leave it and are added to it. Blue is "
        "below zero, orange above. The update shows what the run's last step did: the size of each tensor (θ), of "
        "its gradient on the batch (g), of the change (Δθ), and their ratio. Enter shows the numbers alone."),
    .empty =
        N_("Every operation of the model, with its numbers, will appear here as soon as the model is there; e gives "
           "it a sentence to read."),
    .watch = "step tokens",
    .min_w = 36,
    .min_h = 13,
    .chosen_h = 6,
    .weight = 3,
    .rank = 6,
    .state_size = sizeof(StepState),
    .draw = step_draw,
    .move = step_move,
    .enter = step_enter,
    .escape = step_escape,
    .find = step_find,
    .click = step_click,
    .keys = step_keys,
    .commands = step_commands,
    .tables = step_tables,
    .tables_beside = true,
    .save = step_save,
    .subtitle = step_subtitle,
};
