/* Tampering: heads that are switched off and another attention window, in what is looked at and not in training; what
 * all of it is, and taking it back. */
#include "lab_internal.h"

#include "intl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void all_heads_on(Lab *l) {
    const ModelConfig *c = model_config(run_model(lab_shown(l)));
    memset(l->head_off, 0, (size_t)c->layers * (size_t)c->heads);
}

Status lab_do_head(Lab *l, const Words *w) {
    const ModelConfig *c = model_config(run_model(lab_shown(l)));
    long layer, head;
    if (w->count == 3) {
        if (strcmp(w->word[1], "all") != 0 || strcmp(w->word[2], "on") != 0)
            return status_usage(_("allowed are 'head LAYER HEAD on|off|toggle' and 'head all on'"));
        all_heads_on(l);
        lab_changed(l);
        return status_ok();
    }
    STATUS_TRY(lab_number(_("a layer"), w->word[1], 1, c->layers, &layer));
    STATUS_TRY(lab_number(_("a head"), w->word[2], 1, c->heads, &head));
    unsigned char *off = &l->head_off[(layer - 1) * c->heads + head - 1];
    if (strcmp(w->word[3], "toggle") == 0)
        *off = !*off;
    else if (strcmp(w->word[3], "on") == 0 || strcmp(w->word[3], "off") == 0)
        *off = strcmp(w->word[3], "off") == 0;
    else
        return status_usage(_("a head is switched on, off or toggle, not '%s'"), w->word[3]);
    lab_changed(l);
    return status_ok();
}

Status lab_do_window(Lab *l, const Words *w) {
    long window;
    bool none = strcmp(w->word[1], "none") == 0;
    if (strcmp(w->word[1], "model") == 0 || (none && model_config(run_model(lab_shown(l)))->window == 0))
        window = -1; /* nothing is hidden that was not */
    else if (none)
        window = 0;
    else
        STATUS_TRY(lab_number(_("a window ('none' and 'model' too)"), w->word[1], 1, 1000000, &window));
    l->window = (int)window;
    lab_changed(l);
    return status_ok();
}

void tamper_add(Table *t, const char *back, const char *format, ...) {
    Str what;
    va_list args;
    str_init(&what);
    va_start(args, format);
    str_addv(&what, format, args);
    va_end(args);
    table_add_text(t, what.s);
    table_add_text(t, back);
    str_done(&what);
}

Table *tamper_table(const Lab *l) {
    static const Column columns[] = {{"what", COLUMN_TEXT, ""}, {"back", COLUMN_TEXT, ""}, {0}};
    const ModelConfig *c = model_config(run_model(lab_shown(l)));
    Table *t = table_new("tampering", columns);
    for (int i = 0; i < c->layers * c->heads; i++) {
        char back[64];
        if (!l->head_off[i]) continue;
        snprintf(back, sizeof back, "head %d %d on", i / c->heads + 1, i % c->heads + 1);
        tamper_add(t, back, _("layer %d head %d off"), i / c->heads + 1, i % c->heads + 1);
    }
    if (l->window == 0) tamper_add(t, "window model", _("no window"));
    if (l->window > 0) tamper_add(t, "window model", _("window %d"), l->window);
    swap_tampering(l, t);
    return t;
}

void tamper_facts(const Lab *l, SnapshotFacts *f) {
    Table *t = tamper_table(l);
    Str text;
    str_init(&text);
    for (long i = 0; i < table_rows(t); i++) str_addf(&text, "%s%s", i > 0 ? ", " : "", table_text(t, i, 0));
    if (text.len < sizeof f->tamper)
        memcpy(f->tamper, text.s, text.len + 1);
    else
        snprintf(f->tamper, sizeof f->tamper,
                 ngettext("%ld intervention", "%ld interventions", (unsigned long)table_rows(t)), table_rows(t));
    str_done(&text);
    table_free(t);
}

Status lab_do_undo(Lab *l, const Words *w) {
    (void)w;
    SnapshotFacts f;
    tamper_facts(l, &f);
    if (!f.tamper[0]) return status_ok();
    all_heads_on(l);
    l->window = -1;
    swap_back(&l->decode);
    lab_changed(l);
    lab_say(l, MESSAGE_INFORMATION, _("taken back: %s"), f.tamper);
    return status_ok();
}
