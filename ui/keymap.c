#include "keymap.h"

#include "intl.h"

#include <stdio.h>
#include <string.h>

#define ROW(key, command, brief, help) {key, command, brief, help},
#define NO_ROW(key, command, brief, help)
#define END                                                                                                            \
    { NULL, NULL, NULL, NULL }

static const KeyRow rows[] = {
#define KEY_GROUP(title) {"", NULL, NULL, title},
#define KEY              ROW
#define PRESENT_KEY      ROW
#define OPTIONS_KEY      ROW
#include "keys.def"
#undef KEY_GROUP
#undef KEY
#undef PRESENT_KEY
#undef OPTIONS_KEY
    END,
};

#define KEY_GROUP(title)
static const KeyRow everywhere[] = {
#define KEY         ROW
#define PRESENT_KEY NO_ROW
#define OPTIONS_KEY NO_ROW
#include "keys.def"
#undef KEY
#undef PRESENT_KEY
#undef OPTIONS_KEY
    END,
};

static const KeyRow present[] = {
#define KEY         NO_ROW
#define PRESENT_KEY ROW
#define OPTIONS_KEY NO_ROW
#include "keys.def"
#undef PRESENT_KEY
#undef OPTIONS_KEY
    END,
};

static const KeyRow options[] = {
#define PRESENT_KEY NO_ROW
#define OPTIONS_KEY ROW
#include "keys.def"
#undef KEY
#undef PRESENT_KEY
#undef OPTIONS_KEY
    END,
};

const KeyRow *keymap_rows(void) {
    return rows;
}

const KeyRow *keymap_of(KeyPlace place) {
    return place == KEYMAP_PRESENT ? present : place == KEYMAP_OPTIONS ? options : everywhere;
}

static const KeyRow *find(const KeyRow *row, Key key) {
    for (; row && row->key; row++) {
        Key k;
        if (key_parse(row->key, &k) && k == key) return row;
    }
    return NULL;
}

const KeyRow *keymap_find(KeyPlace place, const PaneType *pane, Key key) {
    const KeyRow *row = place == KEYMAP_PANE ? NULL : find(keymap_of(place), key);
    if (!row && pane) row = find(pane->keys, key);
    return row ? row : find(everywhere, key);
}

void keymap_show(const char *key, char *out, size_t bytes) {
    static const struct {
        const char *key, *shown;
    } names[] = {{"<Space>", N_("space")},
                 {"<Tab>", N_("tab")},
                 {"<S-Tab>", N_("shift-tab")},
                 {"<Enter>", N_("enter")},
                 {"<Esc>", N_("esc")},
                 {"<lt>", "<"},
                 {"<Backspace>", N_("backspace")},
                 {"<Left>", "←"},
                 {"<Right>", "→"},
                 {"<Up>", "↑"},
                 {"<Down>", "↓"},
                 {"<PageUp>", "PgUp"},
                 {"<PageDown>", "PgDn"},
                 {"<Home>", "Home"},
                 {"<End>", "End"},
                 {"<C-l>", "^L"},
                 {"<C-z>", "^Z"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(key, names[i].key)) continue;
        snprintf(out, bytes, "%s", _(names[i].shown));
        return;
    }
    snprintf(out, bytes, "%s", key);
}
