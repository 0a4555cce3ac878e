/* Where shipped data is looked for. */
#include "expect.h"

#include "assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/lantern-assets-XXXXXX";

/* Makes the folders of PATH under the root, and an empty file at its end. */
static void put(const char *path) {
    char whole[300];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + sizeof root; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static void own_assets_come_first_shipped_ones_last(void **state) {
    (void)state;
    Str path;
    str_init(&path);
    setenv("LANTERN_ASSETS", root, 1);
    put("grammars/farm.grammar");
    assert_true(assets_grammar("farm", &path));
    assert_memory_equal(path.s, root, strlen(root));
    assert_true(assets_grammar("morph", &path)); /* not among our own */
    assert_int_not_equal(strncmp(path.s, root, strlen(root)), 0);
    assert_false(assets_grammar("whale", &path));
    assert_false(assets_grammar("../grammars/farm", &path));
    assert_false(assets_grammar("", &path));
    assert_true(assets_find("grammars", &path));
    assert_false(assets_find("no/such", &path));
    str_done(&path);
}

static void translations_may_be_our_own(void **state) {
    (void)state;
    Str path, wanted;
    str_init(&path);
    str_init(&wanted);
    setenv("LANTERN_ASSETS", root, 1);
    bool shipped = assets_translations(&path);
    assert_true(!shipped || strncmp(path.s, root, strlen(root)) != 0); /* grammars alone are no reason to look here */
    put("translations/zh_CN/LC_MESSAGES/lantern.mo");
    assert_true(assets_translations(&path));
    str_addf(&wanted, "%s/translations", root);
    assert_string_equal(path.s, wanted.s);
    str_done(&path);
    str_done(&wanted);
}

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_assets_come_first_shipped_ones_last),
        cmocka_unit_test(translations_may_be_our_own),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
