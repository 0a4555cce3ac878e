#include "text/next_memo.h"

#include "mem.h"
#include "text/texts.h"

#include <string.h>

enum { NEXT_MEMO_MOST = 4096 }; /* prefixes; when there are more all are forgotten */

struct NextMemo {
    Language *language;
    Texts prefixes; /* text 0 is the empty prefix */
    NextList *list; /* [prefixes.count] beside the texts; count -1: not asked yet */
    int lists, capacity;
};

NextMemo *next_memo_new(Language *l) {
    NextMemo *m = MEM_NEW(NextMemo);
    m->language = l;
    texts_init(&m->prefixes);
    return m;
}

static void forget(NextMemo *m) {
    for (int i = 0; i < m->lists; i++)
        if (m->list[i].count >= 0) next_list_done(&m->list[i]);
    m->lists = 0;
    texts_done(&m->prefixes);
}

void next_memo_free(NextMemo *m) {
    if (!m) return;
    forget(m);
    mem_free(m->list);
    mem_free(m);
}

Status next_memo_find(NextMemo *m, const char *prefix, const NextList **out) {
    if (m->lists == NEXT_MEMO_MOST) {
        forget(m);
        texts_init(&m->prefixes);
    }
    int at = texts_add(&m->prefixes, prefix, strlen(prefix));
    while (m->lists <= at) {
        MEM_GROW(m->list, m->lists, m->capacity);
        m->list[m->lists++] = (NextList){.count = -1};
    }
    NextList *list = &m->list[at];
    *out = list;
    if (list->count >= 0) return status_ok();
    Status s = language_next(m->language, prefix, list);
    if (!status_is_ok(&s)) list->count = -1;
    return s;
}
