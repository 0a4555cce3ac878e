#include "expect.h"

#include "intl.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_environment(const char *lc_all, const char *lc_ctype, const char *lang, const char *language) {
    const char *const name[] = {"LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG", "LANGUAGE"};
    const char *const value[] = {lc_all, lc_ctype, NULL, lang, language};
    for (int i = 0; i < 5; i++) {
        if (value[i]) {
            setenv(name[i], value[i], 1);
        } else {
            unsetenv(name[i]);
        }
    }
    setlocale(LC_ALL, "C");
}

static void characters_follow_the_environment(void **state) {
    (void)state;
    static const struct {
        const char *all, *ctype, *lang;
        int utf8;
    } row[] = {
        {NULL, NULL, NULL, 0},
        {NULL, NULL, "C", 0},
        {NULL, NULL, "C.UTF-8", 1},
        {NULL, "C.UTF-8", "C", 1},
        {"C", "C.UTF-8", "C.UTF-8", 0},
        {"", "", "C.UTF-8", 1},
        {NULL, NULL, "xx_XX.UTF-8", 1}, /* named, not installed: as after ssh to a small server */
        {"xx_XX.utf8", NULL, NULL, 1},
        {NULL, "UTF-8", NULL, 0}, /* names no locale's characters after a dot */
        {NULL, NULL, "xx_XX.utf8@quot", 1},
        {NULL, NULL, "xx_XX.ISO-8859-1", 0},
        {NULL, NULL, "xx_XX.UTF-88", 0},
        {NULL, NULL, "xx_XX", 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        set_environment(row[i].all, row[i].ctype, row[i].lang, NULL);
        assert_int_equal(intl_init(NULL), row[i].utf8);
        assert_string_equal(localeconv()->decimal_point, ".");
        assert_string_equal(setlocale(LC_NUMERIC, NULL), "C");
    }
}

static void put_word(FILE *f, uint32_t x) {
    fwrite(&x, sizeof x, 1, f);
}

/* A catalogue with one translation besides its own description, in the format of GNU gettext. */
static void write_catalogue(const char *path) {
    static const char head[] = "Content-Type: text/plain; charset=UTF-8\n";
    static const char from[] = "the cow", to[] = "la vache \xc3\xa9";
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    const uint32_t texts = 28 + 2 * 16;
    put_word(f, 0x950412de);
    put_word(f, 0);
    put_word(f, 2);
    put_word(f, 28);
    put_word(f, 28 + 16);
    put_word(f, 0);
    put_word(f, texts);
    put_word(f, 0);
    put_word(f, texts);
    put_word(f, sizeof from - 1);
    put_word(f, texts + 1);
    put_word(f, sizeof head - 1);
    put_word(f, texts + 1 + sizeof from);
    put_word(f, sizeof to - 1);
    put_word(f, texts + 1 + sizeof from + sizeof head);
    fputc('\0', f);
    fwrite(from, sizeof from, 1, f);
    fwrite(head, sizeof head, 1, f);
    fwrite(to, sizeof to, 1, f);
    assert_int_equal(fclose(f), 0);
}

static void words_are_translated_without_an_installed_locale(void **state) {
    (void)state;
    char folder[] = "/tmp/lantern-intl-XXXXXX", path[4][100];
    assert_non_null(mkdtemp(folder));
    snprintf(path[0], sizeof path[0], "%s", folder);
    snprintf(path[1], sizeof path[1], "%s/xx", folder);
    snprintf(path[2], sizeof path[2], "%s/xx/LC_MESSAGES", folder);
    snprintf(path[3], sizeof path[3], "%s/xx/LC_MESSAGES/lantern.mo", folder);
    assert_int_equal(mkdir(path[1], 0700) | mkdir(path[2], 0700), 0);
    write_catalogue(path[3]);

    set_environment(NULL, NULL, "xx_XX.UTF-8", NULL);
    assert_true(intl_init(folder));
    assert_string_equal(_("the cow"), "la vache \xc3\xa9");
    assert_string_equal(_("the farmer"), "the farmer");
    assert_string_equal(N_("the cow"), "the cow");

    set_environment(NULL, NULL, "C", "xx");
    assert_false(intl_init(folder));
    assert_string_equal(_("the cow"), "the cow");

    set_environment(NULL, NULL, "zz_ZZ.UTF-8", "xx");
    assert_true(intl_init(folder));
    assert_string_equal(_("the cow"), "la vache \xc3\xa9");
    assert_string_equal(getenv("LANGUAGE"), "xx");

    unlink(path[3]);
    for (int i = 2; i >= 0; i--) rmdir(path[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_follow_the_environment),
        cmocka_unit_test(words_are_translated_without_an_installed_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
