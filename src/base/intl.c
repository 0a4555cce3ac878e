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

/* The name that the environment gives for a category, by the rule of POSIX. */
static const char *intl_wanted(const char *category) {
    const char *const variable[] = {"LC_ALL", category, "LANG"};
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

/* The usual names of a locale that every system has and whose characters are UTF-8. */
static bool intl_fall_back(int category) {
    static const char *const fallback[] = {"C.UTF-8", "en_US.UTF-8", "UTF-8"};
    for (size_t i = 0; i < sizeof fallback / sizeof *fallback; i++)
        if (setlocale(category, fallback[i])) return true;
    return false;
}

/* A locale that is named but not installed is the usual thing after ssh to a small server. */
static void intl_set_characters(void) {
    bool set = setlocale(LC_CTYPE, "") != NULL;
    if (set && intl_is_utf8()) return;
    if (intl_names_utf8(intl_wanted("LC_CTYPE"))) intl_fall_back(LC_CTYPE);
}

/* gettext needs no installed locale to find a translation, only a locale that is not "C" and the language's name. */
static void intl_set_messages(void) {
    if (setlocale(LC_MESSAGES, "")) return;
    const char *wanted = intl_wanted("LC_MESSAGES");
    if (!intl_names_utf8(wanted) || !intl_fall_back(LC_MESSAGES)) return;
    const char *language = getenv("LANGUAGE");
    if (!language || !*language) setenv("LANGUAGE", wanted, 1);
}

_Bool intl_init(const char *locale_dir) {
    intl_set_characters();
    intl_set_messages();
    if (locale_dir) bindtextdomain("lantern", locale_dir);
    bind_textdomain_codeset("lantern", "UTF-8");
    textdomain("lantern");
    return intl_is_utf8();
}
