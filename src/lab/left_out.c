#include "left_out.h"

#include "intl.h"

static void add_sentence(int count, const char *names, Str *out) {
    str_addf(out,
             ngettext("%d character has no token in this vocabulary and is left out: %s",
                      "%d characters have no token in this vocabulary and are left out: %s", (unsigned long)count),
             count, names);
}

bool left_out_sentence(Tokenizer *t, const char *s, size_t n, Str *out) {
    Str names;
    str_init(&names);
    int count = t ? tokenizer_left_out(t, s, n, &names) : 0;
    if (count) add_sentence(count, names.s, out);
    str_done(&names);
    return count > 0;
}

void left_out_tell(Study *study, Tokenizer *t, const char *s, size_t n) {
    Str names, sentence;
    str_init(&names);
    str_init(&sentence);
    int count = t ? tokenizer_left_out(t, s, n, &names) : 0;
    if (count) {
        add_sentence(count, names.s, &sentence);
        study_warn(study, "%s", sentence.s);
        study_about(study, "left_out", "%d characters that the vocabulary has no token for: %s", count, names.s);
    }
    str_done(&names);
    str_done(&sentence);
}
