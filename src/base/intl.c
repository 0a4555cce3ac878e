#include "intl.h"

#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool intl_is_utf8(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The name that the environment gives for characters, by the rule of POSIX: LC_ALL, then LC_CTYPE, then LANG. */
static const char *intl_wanted(void) {
    static const char *const variable[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *value = getenv(variable[i]);
        if (value && *value) return value;
    }
    return "";
}

static bool intl_names_utf8(const char *locale) {
    const char *codeset = strchr(locale, '.');
    if (!codeset) return false;
    char plain[5] = "";
    size_t n = 0;
    for (const char *c = codeset + 1; *c && *c != '@'; c++) {
        if (*c == '-') continue;
        if (n == sizeof plain - 1) return false;
        plain[n++] = (char)tolower((unsigned char)*c);
    }
    return strcmp(plain, "utf8") == 0;
}

static void intl_set_characters(void) {
    static const char *const fallback[] = {"C.UTF-8", "en_US.UTF-8", "UTF-8"};
    bool set = setlocale(LC_CTYPE, "") != NULL;
    if ((set && intl_is_utf8()) || !intl_names_utf8(intl_wanted())) return;
    for (size_t i = 0; i < sizeof fallback / sizeof *fallback; i++)
        if (setlocale(LC_CTYPE, fallback[i]) && intl_is_utf8()) return;
}

_Bool intl_init(const char *locale_dir) {
    intl_set_characters();
    setlocale(LC_MESSAGES, "");
    if (locale_dir) bindtextdomain("lantern", locale_dir);
    bind_textdomain_codeset("lantern", "UTF-8");
    textdomain("lantern");
    return intl_is_utf8();
}
