#include "io/json_text.h"

#include "intl.h"

static bool is_too_deep(const char *s, size_t n) {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted && s[i] == '\\')
            i++;
        else if (s[i] == '"')
            quoted = !quoted;
        else if (!quoted && (s[i] == '{' || s[i] == '[') && ++depth > JSON_TEXT_DEPTH)
            return true;
        else if (!quoted && (s[i] == '}' || s[i] == ']'))
            depth--;
    }
    return false;
}

Status json_text_parse(const char *s, size_t n, json_t **out) {
    json_error_t error;
    *out = NULL;
    if (is_too_deep(s, n)) return status_usage(_("its JSON is more than %d levels deep"), JSON_TEXT_DEPTH);
    json_t *root = json_loadb(s, n, JSON_REJECT_DUPLICATES, &error);
    if (!root) return status_usage(_("its JSON has a fault in line %d: %s"), error.line, error.text);
    if (json_is_object(root)) {
        *out = root;
        return status_ok();
    }
    json_decref(root);
    return status_usage(_("its JSON is no object"));
}

bool json_text_is_absent(const json_t *value) {
    return !value || json_is_null(value);
}
