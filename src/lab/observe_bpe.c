/* The observer of sub-words: how the model's own tokenizer cuts a text; where it has none, what the live training of a
 * byte-pair encoding shows, which has nothing to do with the model. */
#include "scene.h"

void observe_bpe(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    if (!scene->bpe) return;
    Str prompt;
    str_init(&prompt);
    if (scene->text)
        str_add(&prompt, scene->text);
    else
        vocab_join(scene->vocab, scene->ids, scene->prompt, &prompt);
    bpe_live_show(scene->bpe, vocab_tokenizer(scene->vocab), prompt.s, s);
    str_done(&prompt);
}
