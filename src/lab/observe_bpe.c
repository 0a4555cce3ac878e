/* The observer of sub-words: what the live training of a byte-pair encoding shows. It has nothing to do with the model
 * that is looked at. */
#include "scene.h"

void observe_bpe(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    if (scene->bpe) bpe_live_show(scene->bpe, s);
}
