#include "piece_table.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "str.h"

#include <limits.h>
#include <string.h>

enum { SHOWN_MOST = 100 }; /* bytes */

void piece_table_init(PieceTable *t) {
    *t = (PieceTable){0};
    texts_init(&t->texts);
    MEM_GROW(t->id, 0, t->id_capacity);
    t->id[0] = -1;
}

void piece_table_done(PieceTable *t) {
    texts_done(&t->texts);
    mem_free(t->id);
    mem_free(t->text);
    *t = (PieceTable){0};
}

/* Of a piece in a sentence: never half a character. */
static int shown_bytes(const char *s, size_t bytes) {
    size_t shown = bytes > SHOWN_MOST ? SHOWN_MOST : bytes;
    while (shown > 0 && shown < bytes && ((unsigned char)s[shown] & 0xc0) == 0x80) shown--;
    return (int)shown;
}

static Status check_new(const PieceTable *t, const char *s, size_t bytes, long long id) {
    if (bytes == 0) return status_usage(_("id %lld has an empty piece"), id);
    if (bytes > INT_MAX / 2) return status_usage(_("the piece of id %lld is too long"), id);
    if (id < 0 || id >= PIECE_TABLE_IDS)
        return status_usage(_("piece '%.*s' has id %lld; ids are 0 to %d"), shown_bytes(s, bytes), s, id,
                            PIECE_TABLE_IDS - 1);
    if (id < t->ids && t->text[id])
        return status_usage(_("id %lld is given to two pieces, the second is '%.*s'"), id, shown_bytes(s, bytes), s);
    return status_ok();
}

Status piece_table_add(PieceTable *t, const char *s, size_t bytes, long long id) {
    STATUS_TRY(check_new(t, s, bytes, id));
    int texts = t->texts.count, text = texts_add(&t->texts, s, bytes);
    for (; t->ids <= (int)id; t->ids++) {
        MEM_GROW(t->text, t->ids, t->text_capacity);
        t->text[t->ids] = 0;
    }
    t->text[id] = text;
    if (text < texts) return status_ok();
    MEM_GROW(t->id, text, t->id_capacity);
    t->id[text] = (int)id;
    return status_ok();
}

Status piece_table_complete(const PieceTable *t) {
    for (int id = 0; id < t->ids; id++)
        if (!t->text[id]) return status_usage(_("no piece has id %d, though ids go to %d"), id, t->ids - 1);
    return t->ids ? status_ok() : status_usage(_("it has no pieces"));
}

int piece_table_find(const PieceTable *t, const char *s, size_t bytes) {
    int text = texts_find(&t->texts, s, bytes);
    return text > 0 ? t->id[text] : -1;
}

const char *piece_table_piece(const PieceTable *t, int id, size_t *bytes) {
    BUG_ON(id < 0 || id >= t->ids);
    *bytes = (size_t)t->texts.length[t->text[id]];
    return texts_bytes(&t->texts, t->text[id]);
}

/* ---- merges ---- */

static Status need(const PieceTable *t, const char *s, size_t bytes, int *id) {
    *id = piece_table_find(t, s, bytes);
    if (*id >= 0) return status_ok();
    return status_usage(_("'%.*s' is no piece of the vocabulary"), shown_bytes(s, bytes), s);
}

Status piece_table_merge(const PieceTable *t, MergeRules *rules, const char *left, size_t left_bytes, const char *right,
                         size_t right_bytes, size_t inside) {
    int l, r, id;
    STATUS_TRY(need(t, left, left_bytes, &l));
    STATUS_TRY(need(t, right, right_bytes, &r));
    Str merged;
    str_init(&merged);
    str_add_n(&merged, left, left_bytes);
    if (right_bytes >= inside) str_add_n(&merged, right + inside, right_bytes - inside);
    Status s = need(t, merged.s, merged.len, &id);
    str_done(&merged);
    if (!status_is_ok(&s)) return s;
    if (merge_rules_find(rules, l, r) >= 0) return status_usage(_("the pair is merged a second time"));
    merge_rules_add(rules, l, r, id);
    return s;
}
