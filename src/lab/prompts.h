/* prompts: where an experiment begins to decode: the tokens that ids= or a text option names, and what the language
 * says of such a beginning. Private to the laboratory. */
#ifndef LAB_PROMPTS_H
#define LAB_PROMPTS_H

#include "models.h"

typedef struct {
    int *ids, n;
    Str words;     /* of ids; specials and unnamed rows are left out */
    bool possible; /* there is a language, and a sentence of it begins so */
} Prompt;

/* TEXT: the option's name. A prompt that is refused needs no prompts_done. */
Status prompts_open(const TrainedModel *m, const Options *o, const char *text, Prompt *out) STATUS_CHECKED;
void prompts_done(Prompt *p);
/* For of=truth: refuses a beginning that no sentence has. */
Status prompts_need_truth(const Prompt *p) STATUS_CHECKED;
/* Tokens that go in when MOST are generated after the prompt: as many as the model's context takes. */
int prompts_room(const TrainedModel *m, const Prompt *p, int most);

#endif
