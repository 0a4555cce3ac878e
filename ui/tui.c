#include "tui.h"

#include "clock.h"

enum { EVENTS_A_TURN = 64 }; /* a burst of keys is worked off before the next frame */

/* A frame that took t seconds is followed by at least 3 t without one, and by t when somebody waits for an answer. */
static const double rest_factor = 3, answer_factor = 1;
static const double idle_seconds = 0.25;

typedef struct {
    App *app;
    Term *term;
    Worker *worker;
    Canvas *canvas;
    double least_interval; /* seconds between frames */
    double next_frame;     /* not before, for what changes by itself */
    double next_answer;    /* not before, for what a key or a click changed */
    double price;          /* seconds of the processor that a frame takes lately */
    bool dirty, asked;     /* something changed; a person did it */
    int signal;
} Loop;

static void draw(Loop *l) {
    int w, h;
    l->term->size(l->term, &w, &h);
    canvas_resize(l->canvas, w, h);
    l->canvas->heat_colour = l->canvas->glyphs != GLYPHS_ASCII && style_heat_is_colour(app_style(l->app));
    double start = clock_now(), work = clock_cpu();
    app_draw(l->app, l->canvas);
    l->term->present(l->term, l->canvas, app_style(l->app));
    l->price = 0.5 * (l->price + clock_cpu() - work);
    if (l->worker) worker_set_price(l->worker, l->price);
    double cost = clock_now() - start, rest = rest_factor * cost;
    l->next_frame = clock_now() + (rest > l->least_interval ? rest : l->least_interval);
    l->next_answer = clock_now() + answer_factor * cost;
    l->dirty = l->asked = false;
}

/* Seconds until the next frame may be drawn. */
static double until_frame(const Loop *l) {
    double left = (l->asked ? l->next_answer : l->next_frame) - clock_now();
    return left > 0 ? left : 0;
}

static void obey_wishes(Loop *l) {
    AppWish wish = app_wish(l->app);
    l->term->set_mouse(l->term, wish.mouse);
    if (wish.suspend) l->term->suspend(l->term);
    if (wish.repaint || wish.suspend) {
        l->term->repaint(l->term);
        l->dirty = true;
    }
}

/* How long the terminal may wait: to the next frame when one is due, to the next change otherwise. */
static double patience(const Loop *l) {
    if (l->dirty) return until_frame(l);
    double change = app_wait(l->app);
    return change >= 0 && change < idle_seconds ? change : idle_seconds;
}

/* Gives the application what came; true: more may be there at once. */
static bool take_event(Loop *l, const Event *e) {
    if (e->kind == EVENT_NONE) return false;
    if (e->kind == EVENT_QUIT) l->signal = e->signal;
    app_event(l->app, e);
    if (e->kind == EVENT_WAKE) return false;
    l->dirty = l->asked = true;
    return !app_wants_quit(l->app);
}

/* An event that was fetched is always given on: the next is asked for only when there is a place for it. */
static void take_events(Loop *l) {
    Event e = l->term->next(l->term, patience(l), l->worker ? worker_fd(l->worker) : -1);
    for (int i = 1; take_event(l, &e) && i < EVENTS_A_TURN; i++) e = l->term->next(l->term, 0, -1);
}

int tui_run(App *a, Term *t, Worker *w, const TuiOptions *o) {
    Loop l = {.app = a, .term = t, .worker = w, .dirty = true};
    l.canvas = canvas_new(0, 0, t->glyphs(t));
    l.least_interval = o->frames_per_second > 0 ? 1 / o->frames_per_second : 0;
    if (w && o->frames_per_second > 0) worker_set_rate(w, o->frames_per_second);
    while (!app_wants_quit(a)) {
        if (app_tick(a)) l.dirty = true;
        obey_wishes(&l);
        if (l.dirty && until_frame(&l) == 0) draw(&l);
        take_events(&l);
    }
    canvas_free(l.canvas);
    return l.signal;
}
