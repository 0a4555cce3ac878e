/* The options form: moving, switching, typing with checks, taking back, and the line it makes. */
#include "expect.h"

#include "form.h"
#include "mem.h"

#include <string.h>

static const Option rows[] = {
    {"d", OPTION_INT, "64", 1, 4096, NULL, "", "width"},
    {"tie", OPTION_FLAG, "0", 0, 0, NULL, "", "one matrix"},
    {"norm", OPTION_CHOICE, "rms", 0, 0, "layer|rms|none", "", "which norm"},
    {"text", OPTION_TEXT, NULL, 0, 0, NULL, "", "some words"},
    {0},
};

static void type(Form *f, const char *keys) {
    while (*keys) {
        Event e = {.kind = EVENT_KEY};
        keys += key_parse(keys, &e.key);
        form_type(f, &e);
    }
}

static char *line_of(const Form *f) {
    Str line;
    str_init(&line);
    form_line(f, &line);
    return str_take(&line);
}

static void assert_line(const Form *f, const char *wanted) {
    char *line = line_of(f);
    assert_string_equal(line, wanted);
    mem_free(line);
}

static bool shows(const Form *f, const char *text) {
    Canvas *c = canvas_new(60, 12, GLYPHS_HALF);
    Str out;
    str_init(&out);
    form_draw(f, c, (Rect){0, 0, 60, 12}, true);
    canvas_dump(c, false, &out);
    bool found = strstr(out.s, text) != NULL;
    str_done(&out);
    canvas_free(c);
    return found;
}

static void values_are_changed_in_place(void **unused) {
    (void)unused;
    Form *f = form_new(options_new(rows));
    assert_line(f, "");
    form_enter(f);
    assert_true(form_typing(f));
    type(f, "<C-u>128<Enter>");
    assert_false(form_typing(f));
    form_move(f, 1);
    form_enter(f);
    form_move(f, 1);
    form_enter(f);
    assert_line(f, "d=128 tie=1 norm=none");
    form_enter(f);
    assert_line(f, "d=128 tie=1 norm=layer");
    form_move(f, 100);
    form_enter(f);
    type(f, "the \"dogs\"<Enter>");
    assert_line(f, "d=128 tie=1 norm=layer text=\"the \\\"dogs\\\"\"");
    form_free(f);
}

/* Half of d where nothing else is said. */
static void half(const Options *o, const char *name, Str *out) {
    if (strcmp(name, "half") == 0) str_addf(out, "%lld", options_int(o, "d") / 2);
    if (strcmp(name, "bias") == 0) str_add(out, "1");
    if (strcmp(name, "place") == 0) str_add(out, "post");
    if (strcmp(name, "from") == 0) str_add(out, "the first rule");
}

static void what_follows_is_shown_and_can_be_changed(void **unused) {
    (void)unused;
    static const Option followers[] = {
        {"d", OPTION_INT, "64", 1, 4096, NULL, "", "width"},
        {"half", OPTION_INT, NULL, 1, 4096, NULL, "tokens", "d / 2"},
        {"bias", OPTION_FLAG, NULL, 0, 0, NULL, "", "biases"},
        {"place", OPTION_CHOICE, NULL, 0, 0, "pre|post|both", "", "where"},
        {"from", OPTION_TEXT, NULL, 0, 0, NULL, "", "a rule"},
        {"ids", OPTION_INTS, NULL, 0, 0, NULL, "", "instead"},
        {0},
    };
    Options *o = options_new(followers);
    options_let_follow(o, half);
    Form *f = form_new(o);
    assert_true(shows(f, "half  32 tokens       follows"));
    assert_true(shows(f, "from  the first rule  follows"));
    assert_true(shows(f, "ids   not set"));
    assert_ok(form_set(f, "d", "10"));
    assert_true(shows(f, "half  5 tokens        follows"));
    assert_line(f, "d=10"); /* what follows is not given */
    form_move(f, 1);
    form_enter(f);
    type(f, "0<Enter>"); /* typing begins with what it is */
    assert_true(shows(f, "half  50 tokens"));
    assert_false(shows(f, "tokens       follows"));
    form_move(f, 1);
    form_enter(f);
    form_move(f, 1);
    form_enter(f);
    assert_line(f, "d=10 half=50 bias=0 place=both"); /* the next one after what it was */
    form_move(f, 1);
    form_enter(f);
    type(f, "s<Enter>"); /* words are not a text to begin with */
    assert_line(f, "d=10 half=50 bias=0 place=both from=s");
    form_reset(f);
    assert_true(shows(f, "from  the first rule  follows"));
    form_free(f);
}

static void what_is_wrong_is_said_at_once_and_not_taken(void **unused) {
    (void)unused;
    Form *f = form_new(options_new(rows));
    form_enter(f);
    type(f, "<C-u>99999");
    assert_true(shows(f, "4096"));
    type(f, "<Enter>");
    assert_true(form_typing(f));
    assert_line(f, "");
    type(f, "<Esc>");
    assert_false(form_typing(f));
    assert_line(f, "");
    assert_true(shows(f, "width"));
    form_free(f);
}

static void a_value_is_taken_back_alone(void **unused) {
    (void)unused;
    Form *f = form_new(options_new(rows));
    assert_ok(form_set(f, "d", "32"));
    assert_ok(form_set(f, "norm", "layer"));
    form_reset(f);
    assert_line(f, "norm=layer");
    assert_string_equal(options_value(form_options(f), "d"), "64");
    form_free(f);
}

static void rows_are_found_and_clicked(void **unused) {
    (void)unused;
    Form *f = form_new(options_new(rows));
    assert_true(form_find(f, "matrix"));
    assert_true(shows(f, "▸ tie"));
    assert_false(form_find(f, "whale"));
    assert_true(form_click(f, (Rect){0, 0, 60, 12}, 5, 3));
    assert_true(shows(f, "▸ text"));
    assert_false(form_click(f, (Rect){0, 0, 60, 12}, 5, 11));
    form_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_changed_in_place),
        cmocka_unit_test(what_follows_is_shown_and_can_be_changed),
        cmocka_unit_test(what_is_wrong_is_said_at_once_and_not_taken),
        cmocka_unit_test(a_value_is_taken_back_alone),
        cmocka_unit_test(rows_are_found_and_clicked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
