#include "prompts.h"

#include "intl.h"
#include "mem.h"
#include "tokens.h"

/* A sentence begins with <s>, and no other special comes before its end. */
static Status ask_language(const TrainedModel *m, Prompt *p) {
    p->possible = false;
    if (!m->language || p->ids[0] != VOCAB_BOS) return status_ok();
    for (int i = 1; i < p->n; i++)
        if (!vocab_is_word(m->vocab, p->ids[i])) return status_ok();
    NextList list;
    STATUS_TRY(language_next(m->language, p->words.s, &list));
    p->possible = list.count > 0;
    next_list_done(&list);
    return status_ok();
}

Status prompts_open(const TrainedModel *m, const Options *o, const char *text, Prompt *out) {
    STATUS_TRY(models_ids(m, o, text, MODELS_PROMPT, &out->ids, &out->n));
    str_init(&out->words);
    if (m->vocab) tokens_text(m->vocab, out->ids, out->n, &out->words);
    Status s = ask_language(m, out);
    if (!status_is_ok(&s)) prompts_done(out);
    return s;
}

void prompts_done(Prompt *p) {
    mem_free(p->ids);
    p->ids = NULL;
    str_done(&p->words);
}

Status prompts_need_truth(const Prompt *p) {
    return p->possible ? status_ok() : status_usage(_("of=truth: no sentence begins with '%s'"), p->words.s);
}

int prompts_room(const TrainedModel *m, const Prompt *p, int most) {
    int context = model_config(m->model)->context;
    return most < context - p->n ? p->n + most : context;
}
