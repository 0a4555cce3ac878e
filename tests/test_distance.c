/* The words that were probably meant. */
#include "str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void distances(void **state) {
    (void)state;
    assert_int_equal(str_distance("", ""), 0);
    assert_int_equal(str_distance("", "abc"), 3);
    assert_int_equal(str_distance("abc", ""), 3);
    assert_int_equal(str_distance("kitten", "sitting"), 3);
    assert_int_equal(str_distance("run", "rnu"), 1); /* neighbours swapped */
    assert_int_equal(str_distance("abcd", "badc"), 2);
    assert_int_equal(str_distance("ca", "abc"), 3); /* no letter is moved twice */
}

static void likelier(void **state) {
    (void)state;
    assert_null(str_likelier("zebra", NULL, "head"));
    assert_string_equal(str_likelier("heda", NULL, "head"), "head");
    assert_string_equal(str_likelier("heads", "head", "heads"), "heads");
    assert_string_equal(str_likelier("headz", "head", "heads"), "head"); /* of equals the first */
    assert_string_equal(str_likelier("headz", "heads", "width"), "heads");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(likelier)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
