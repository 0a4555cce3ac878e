/* Observers of the sentence and of the run itself: tokens, curve, model. */
#include "run.h"
#include "scene.h"
#include "tokens.h"

static const Column token_columns[] = {
    {"position", COLUMN_INT, ""}, {"token", COLUMN_TEXT, ""}, {"id", COLUMN_INT, ""}, {"source", COLUMN_TEXT, ""}, {0},
};

void observe_tokens(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    Table *t = table_new("tokens", token_columns);
    for (int i = 0; i < scene->known; i++) {
        table_add_int(t, i);
        table_add_text(t, tokens_name(scene->vocab, scene->ids[i]));
        table_add_int(t, scene->ids[i]);
        table_add_text(t, i < scene->prompt ? "prompt" : "generated");
    }
    snapshot_add_table(s, t);
}

void observe_curve(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    if (scene->curve) snapshot_add_table(s, table_copy(scene->curve));
    if (scene->test) snapshot_add_table(s, table_copy(scene->test));
}

void observe_model(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    snapshot_add_table(s, run_model_table(scene->model));
}
