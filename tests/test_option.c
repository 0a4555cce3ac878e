#include "expect.h"

#include "mem.h"
#include "option.h"
#include "str.h"

#include <math.h>
#include <string.h>

static const Option rows[] = {
    {"n", OPTION_INT, "10", 1, 1000, NULL, "tokens", "How many"},
    {"seed", OPTION_INT, "0", 0, 0, NULL, "", "Where random numbers start"},
    {"rate", OPTION_REAL, "1e-3", 0, 1, NULL, "", "The step size"},
    {"clip", OPTION_REAL, NULL, 0, HUGE_VAL, NULL, "", "Largest gradient norm"},
    {"prompt", OPTION_TEXT, "the cow", 0, 0, NULL, "", "The text to go on from"},
    {"file", OPTION_TEXT, NULL, 0, 0, NULL, "", "Where to"},
    {"arch", OPTION_CHOICE, "modern", 0, 0, "gpt|modern", "", "The kind of model"},
    {"bias", OPTION_FLAG, "1", 0, 0, NULL, "", "Whether products have a bias"},
    {"ks", OPTION_INTS, "1,2,5", 1, 9, NULL, "", "Which k"},
    {"taus", OPTION_REALS, "0.5,1", 0, 10, NULL, "", "Which temperatures"},
    {"norms", OPTION_CHOICES, "layer", 0, 0, "layer|rms", "", "Which norms"},
    {"heads", OPTION_INTS, NULL, 0, 0, NULL, "", "Which heads"},
    {0},
};

static void defaults_are_values_that_nobody_gave(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_int_equal(options_count(o), 12);
    assert_string_equal(options_row(o, 2)->name, "rate");
    assert_ptr_equal(options_find(o, "arch"), &rows[6]);
    assert_null(options_find(o, "arc"));
    assert_int_equal(options_int(o, "n"), 10);
    assert_true(options_real(o, "rate") == 0.001);
    assert_string_equal(options_text(o, "prompt"), "the cow");
    assert_int_equal(options_choice(o, "arch"), 1);
    assert_string_equal(options_text(o, "arch"), "modern");
    assert_true(options_flag(o, "bias"));
    for (int i = 0; i < options_count(o); i++) {
        const Option *row = options_row(o, i);
        assert_false(options_is_given(o, row->name));
        assert_int_equal(options_is_set(o, row->name), row->initial != NULL);
    }
    assert_null(options_text(o, "file"));
    assert_string_equal(options_value(o, "file"), "");
    const long long *x = NULL;
    assert_int_equal(options_ints(o, "heads", &x), 0);
    options_free(o);
    options_free(NULL);
}

/* A line that says a name twice is refused, whatever the values; beginnings of names are other names. */
static void a_name_is_given_once(void **state) {
    (void)state;
    Options *o = options_new(rows);
    const char *const fine[] = {"n=10", "norms=rms", "prompt=n=3", "file=n=10"};
    const char *const twice[] = {"n=10", "seed=1", "n=11"};
    const char *const same[] = {"wider", "wider", "file=", "prompt=", "file="};
    assert_ok(options_set_pairs(o, fine, 4));
    assert_ok(options_set_pairs(o, NULL, 0));
    assert_status(options_set_pairs(o, twice, 3), STATUS_USAGE, "n is given twice: 'n=10' and 'n=11'");
    assert_ok(options_once(same, 4));
    assert_status(options_once(same, 5), STATUS_USAGE, "file is given twice: 'file=' and 'file='");
    options_free(o);
}

static void lists_are_read(void **state) {
    (void)state;
    Options *o = options_new(rows);
    const long long *ints;
    const double *reals;
    const int *choices;
    assert_int_equal(options_ints(o, "ks", &ints), 3);
    assert_true(ints[0] == 1 && ints[1] == 2 && ints[2] == 5);
    assert_ok(options_set(o, "ks", "9"));
    assert_int_equal(options_ints(o, "ks", &ints), 1);
    assert_true(ints[0] == 9);
    assert_ok(options_set(o, "taus", "0,.25,1e1"));
    assert_int_equal(options_reals(o, "taus", &reals), 3);
    assert_true(reals[0] == 0 && reals[1] == .25 && reals[2] == 10);
    assert_ok(options_set(o, "norms", "rms,layer,rms"));
    assert_int_equal(options_choices(o, "norms", &choices), 3);
    assert_true(choices[0] == 1 && choices[1] == 0 && choices[2] == 1);
    options_free(o);
}

static void a_value_has_one_way_to_be_written(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_ok(options_set_pair(o, "n=+007"));
    assert_string_equal(options_value(o, "n"), "7");
    assert_ok(options_set_pair(o, "rate=.0100"));
    assert_string_equal(options_value(o, "rate"), "0.01");
    assert_string_equal(options_value(o, "taus"), "0.5,1");
    assert_ok(options_set_pair(o, "taus=1.0,1e-1"));
    assert_string_equal(options_value(o, "taus"), "1,0.1");
    assert_ok(options_set_pair(o, "ks=01,2"));
    assert_string_equal(options_value(o, "ks"), "1,2");
    assert_ok(options_set_pair(o, "prompt=a=b, c"));
    assert_string_equal(options_value(o, "prompt"), "a=b, c");
    assert_ok(options_set_pair(o, "prompt="));
    assert_string_equal(options_text(o, "prompt"), "");
    assert_true(options_is_set(o, "prompt"));
    assert_true(options_is_given(o, "n") && !options_is_given(o, "arch"));
    options_free(o);
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        const char *pair, *sentence;
    } row[] = {
        {"n=0", "n: 0 is below the smallest allowed value, 1"},
        {"n=1001", "n: 1001 is above the largest allowed value, 1000"},
        {"n=1x", "n: '1x' is not a whole number"},
        {"n= 1", "n: ' 1' is not a whole number"},
        {"n=1.5", "n: '1.5' is not a whole number"},
        {"n=1e2", "n: '1e2' is not a whole number"},
        {"n=99999999999999999999", "n: '99999999999999999999' is not a whole number"},
        {"n=", "n: a value is missing"},
        {"n", "'n' is not of the form name=value"},
        {"", "'' is not of the form name=value"},
        {"rate=nan", "rate: 'nan' is not a number"},
        {"rate=fast", "rate: 'fast' is not a number"},
        {"rate=0.1 ", "rate: '0.1 ' is not a number"},
        {"rate=1.5", "rate: 1.5 is above the largest allowed value, 1"},
        {"rate=inf", "rate: inf is above the largest allowed value, 1"},
        {"clip=-1e-9", "clip: -1e-9 is below the smallest allowed value, 0"},
        {"arch=x", "arch: 'x' is not one of gpt, modern"},
        {"arch=gp", "arch: 'gp' is not one of gpt, modern"},
        {"arch=gpt|modern", "arch: 'gpt|modern' is not one of gpt, modern"},
        {"bias=yes", "bias: 'yes' is not 0 or 1"},
        {"ks=1,,2", "ks: '' is not a whole number"},
        {"ks=1,2,", "ks: '' is not a whole number"},
        {"ks=3,12", "ks: 12 is above the largest allowed value, 9"},
        {"taus=1,nan", "taus: 'nan' is not a number"},
        {"norms=layer,batch", "norms: 'batch' is not one of layer, rms"},
        {"see=1",
         "unknown option 'see'; did you mean 'seed'? Allowed: n, seed, rate, clip, prompt, file, arch, bias, ks, "
         "taus, norms, heads"},
        {"width=1",
         "unknown option 'width'; allowed: n, seed, rate, clip, prompt, file, arch, bias, ks, taus, norms, heads"},
        {"=1", "unknown option ''; allowed: n, seed, rate, clip, prompt, file, arch, bias, ks, taus, norms, heads"},
    };
    Options *o = options_new(rows);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_status(options_set_pair(o, row[i].pair), STATUS_USAGE, row[i].sentence);
    options_free(o);
    static const Option none[] = {{0}};
    o = options_new(none);
    assert_status(options_set(o, "n", "1"), STATUS_USAGE, "unknown option 'n'; there are none here");
    options_free(o);
}

static void a_refused_value_changes_nothing(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_int_equal(options_set(o, "ks", "3,12").code, STATUS_USAGE);
    assert_string_equal(options_value(o, "ks"), "1,2,5");
    assert_false(options_is_given(o, "ks"));
    assert_ok(options_set(o, "n", "20"));
    assert_int_equal(options_set(o, "n", "0").code, STATUS_USAGE);
    assert_int_equal(options_int(o, "n"), 20);
    assert_true(options_is_given(o, "n"));
    options_free(o);
}

static void limits_are_allowed_themselves(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_ok(options_set(o, "n", "1"));
    assert_ok(options_set(o, "n", "1000"));
    assert_ok(options_set(o, "rate", "0"));
    assert_ok(options_set(o, "rate", "1"));
    assert_ok(options_set(o, "clip", "inf"));
    assert_ok(options_set(o, "seed", "-9223372036854775808"));
    assert_ok(options_set(o, "seed", "9223372036854775807"));
    assert_true(options_int(o, "seed") == 9223372036854775807LL);
    options_free(o);
}

static void an_optional_value_can_be_taken_back(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_ok(options_set(o, "clip", "2"));
    assert_true(options_real(o, "clip") == 2);
    assert_ok(options_set(o, "clip", ""));
    assert_false(options_is_set(o, "clip"));
    assert_bug(options_real(o, "clip"));
    options_free(o);
}

static void a_copy_goes_its_own_way(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_ok(options_set(o, "ks", "4,5"));
    Options *copy = options_copy(o);
    assert_ok(options_set(o, "ks", "6"));
    assert_ok(options_set(o, "prompt", "other"));
    options_free(o);
    const long long *x;
    assert_int_equal(options_ints(copy, "ks", &x), 2);
    assert_true(x[0] == 4 && x[1] == 5);
    assert_int_equal(options_ints_most(copy, "ks"), 5);
    Options *fresh = options_new(rows);
    assert_true(options_differ(copy, fresh, "ks") && !options_differ(copy, fresh, "n"));
    assert_int_equal(options_ints_most(fresh, "heads"), 0);
    options_free(fresh);
    assert_true(options_is_given(copy, "ks") && !options_is_given(copy, "n"));
    assert_string_equal(options_text(copy, "prompt"), "the cow");
    assert_null(options_text(copy, "file"));
    assert_ok(options_set(copy, "file", "x"));
    options_free(copy);
}

static void rows_can_be_joined(void **state) {
    (void)state;
    static const Option more[] = {{"width", OPTION_INT, "4", 1, 99, NULL, "", ""}, {0}};
    static const Option again[] = {{"rate", OPTION_INT, "4", 1, 99, NULL, "", ""}, {0}};
    static const Option wrong[] = {{"w", OPTION_INT, "100", 1, 99, NULL, "", ""}, {0}};
    static const Option turned[] = {{"w", OPTION_INT, "4", 1, 0, NULL, "", ""}, {0}};
    Options *o = options_join(options_new(rows), more);
    assert_int_equal(options_count(o), 13);
    assert_int_equal(options_int(o, "width"), 4);
    assert_int_equal(options_int(o, "n"), 10);
    assert_bug(options_join(o, again));
    assert_bug(options_join(o, turned));
    assert_bug(options_join(o, wrong));
    options_free(o);
}

/* What follows from other options stands until the user says otherwise, and is taken back as it came. */
static void a_value_may_be_assumed(void **state) {
    (void)state;
    Options *o = options_new(rows);
    assert_ok(options_set(o, "n", "3"));
    options_assume(o, "n", "7");
    options_assume(o, "rate", "0.5");
    options_assume(o, "file", "there");
    assert_int_equal(options_int(o, "n"), 3);
    assert_true(options_real(o, "rate") == 0.5 && options_is_assumed(o, "rate") && !options_is_given(o, "rate"));
    Options *copy = options_copy(o);
    assert_ok(options_set(o, "rate", "0.25"));
    assert_false(options_is_assumed(o, "rate"));
    options_forget_assumed(o);
    options_forget_assumed(copy);
    assert_true(options_real(o, "rate") == 0.25 && options_real(copy, "rate") == 0.001);
    assert_false(options_is_set(copy, "file"));
    options_reset(o, "n");
    assert_true(options_int(o, "n") == 10 && !options_is_given(o, "n"));
    options_free(copy);
    options_free(o);
}

static void a_wrong_question_is_a_bug(void **state) {
    (void)state;
    Options *o = options_new(rows);
    const long long *ints;
    const double *reals;
    const int *choices;
    assert_bug(options_int(o, "m"));
    assert_bug(options_int(o, "rate"));
    assert_bug(options_real(o, "n"));
    assert_bug(options_real(o, "clip"));
    assert_bug(options_text(o, "n"));
    assert_bug(options_flag(o, "n"));
    assert_bug(options_choice(o, "norms"));
    assert_bug(options_ints(o, "n", &ints));
    assert_bug(options_reals(o, "ks", &reals));
    assert_bug(options_choices(o, "arch", &choices));
    assert_bug(options_is_set(o, "m"));
    assert_bug(options_value(o, "m"));
    assert_bug(options_row(o, 12));
    options_free(o);
}

static void help_is_aligned(void **state) {
    (void)state;
    static const Option few[] = {
        {"n", OPTION_INT, "10", 1, 1000, NULL, "tokens", "How many"},
        {"clip", OPTION_REAL, NULL, 0, HUGE_VAL, NULL, "nats", "Largest gradient norm"},
        {"arch", OPTION_CHOICE, "gpt", 0, 0, "gpt|modern", "", "The kind of model"},
        {"bias", OPTION_FLAG, "0", 0, 0, NULL, NULL, "Whether products have a bias"},
        {"seed", OPTION_INT, "0", 0, 0, NULL, "", "Where random numbers start"},
        {"taus", OPTION_REALS, "0.5,1", 0.1, 10, NULL, "", "Temperatures"},
        {"norms", OPTION_CHOICES, "rms", 0, 0, "layer|rms", "", "Which norms"},
        {"prompt", OPTION_TEXT, "the cow", 0, 0, NULL, "", NULL},
        {0},
    };
    Options *o = options_new(few);
    Str out;
    str_init(&out);
    options_help(o, &out);
    assert_string_equal(out.s,
                        "n       whole number 1..1000                  = 10 tokens  How many\n"
                        "clip    number >= 0                           nats         Largest gradient norm\n"
                        "arch    gpt|modern                            = gpt        The kind of model\n"
                        "bias    0|1                                   = 0          Whether products have a bias\n"
                        "seed    whole number                          = 0          Where random numbers start\n"
                        "taus    numbers 0.1..10, separated by commas  = 0.5,1      Temperatures\n"
                        "norms   layer|rms, separated by commas        = rms        Which norms\n"
                        "prompt  text                                  = the cow\n");
    str_done(&out);
    options_free(o);
}

static void follow_width(const Options *o, const char *name, Str *out) {
    if (strcmp(name, "half") == 0) str_addf(out, "%lld", options_int(o, "d") / 2);
}

static void follow_all(const Options *o, const char *name, Str *out) {
    (void)o;
    if (strcmp(name, "part") == 0 || strcmp(name, "half") == 0) str_add(out, "all");
}

static void what_is_not_set_may_follow(void **state) {
    (void)state;
    static const Option few[] = {
        {"d", OPTION_INT, "10", 1, 1000, NULL, "", "Width"},
        {"half", OPTION_INT, NULL, 1, 1000, NULL, "tokens", "Half of it"},
        {"part", OPTION_TEXT, NULL, 0, 0, NULL, "", "A part"},
        {"ids", OPTION_INTS, NULL, 0, 0, NULL, "", "Instead"},
        {0},
    };
    Str out;
    str_init(&out);
    Options *first = options_new(few);
    assert_false(options_follow(first, "half", &out));
    options_let_follow(first, follow_width);
    options_let_follow(first, follow_all); /* is asked when the one before knows nothing */
    Options *o = options_copy(first);
    options_free(first);
    assert_true(options_follow(o, "half", &out));
    assert_true(options_follow(o, "part", &out));
    assert_false(options_follow(o, "ids", &out));
    assert_false(options_follow(o, "d", &out));
    assert_string_equal(out.s, "5all");
    str_clear(&out);
    options_help(o, &out);
    assert_string_equal(out.s, "d     whole number 1..1000                = 10                 Width\n"
                               "half  whole number 1..1000                = 5 tokens, follows  Half of it\n"
                               "part  text                                = all, follows       A part\n"
                               "ids   whole numbers, separated by commas                       Instead\n");
    assert_ok(options_set(o, "half", "7"));
    assert_false(options_follow(o, "half", &out));
    str_done(&out);
    options_free(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_values_that_nobody_gave),
        cmocka_unit_test(a_name_is_given_once),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(a_value_has_one_way_to_be_written),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_refused_value_changes_nothing),
        cmocka_unit_test(limits_are_allowed_themselves),
        cmocka_unit_test(an_optional_value_can_be_taken_back),
        cmocka_unit_test(a_copy_goes_its_own_way),
        cmocka_unit_test(rows_can_be_joined),
        cmocka_unit_test(what_is_not_set_may_follow),
        cmocka_unit_test(a_value_may_be_assumed),
        cmocka_unit_test(a_wrong_question_is_a_bug),
        cmocka_unit_test(help_is_aligned),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
