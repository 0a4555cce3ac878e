#include "term_script.h"

#include "mem.h"

#include <string.h>

typedef struct {
    Term term; /* first: a Term * is one of these */
    Script *script;
    ScriptStage stage;
    Canvas *frame;
} ScriptTerm;

static void script_size(Term *t, int *w, int *h) {
    const ScriptTerm *s = (const ScriptTerm *)t;
    *w = s->stage.w;
    *h = s->stage.h;
}

static Glyphs script_glyphs(Term *t) {
    (void)t;
    return GLYPHS_HALF;
}

static Depth script_depth(Term *t) {
    (void)t;
    return DEPTH_256;
}

static void script_present(Term *t, const Canvas *c, const StyleSheet *style) {
    ScriptTerm *s = (ScriptTerm *)t;
    (void)style;
    canvas_resize(s->frame, c->w, c->h);
    for (int y = 0; y < c->h; y++)
        memcpy(canvas_cell(s->frame, 0, y), c->cell + (size_t)y * (size_t)c->stride, (size_t)c->w * sizeof *c->cell);
}

static Event script_event(Term *t, double timeout, int wake_fd) {
    ScriptTerm *s = (ScriptTerm *)t;
    (void)timeout;
    (void)wake_fd;
    return script_next(s->script, &s->stage);
}

static void script_nothing(Term *t) {
    (void)t;
}

static void script_set_mouse(Term *t, bool on) {
    (void)t;
    (void)on;
}

static void script_term_free(Term *t) {
    ScriptTerm *s = (ScriptTerm *)t;
    canvas_free(s->frame);
    mem_free(s);
}

Term *term_script_new(Script *script, App *a, Worker *w) {
    ScriptTerm *s = MEM_NEW(ScriptTerm);
    s->term = (Term){.size = script_size,
                     .glyphs = script_glyphs,
                     .depth = script_depth,
                     .present = script_present,
                     .next = script_event,
                     .suspend = script_nothing,
                     .repaint = script_nothing,
                     .set_mouse = script_set_mouse,
                     .free = script_term_free};
    s->script = script;
    s->frame = canvas_new(80, 24, GLYPHS_HALF);
    s->stage = (ScriptStage){.app = a, .worker = w, .frame = s->frame, .w = 80, .h = 24};
    return &s->term;
}
