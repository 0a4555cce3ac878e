/* The one-line editor: keys, UTF-8, history, completion, paste, and how it looks. */
#include "expect.h"

#include "prompt.h"

#include <stdio.h>
#include <string.h>

#define WIDE "\xE4\xB8\xAD" /* 中 */

static PromptState type(Prompt *p, const char *keys) {
    PromptState state = PROMPT_EDITING;
    while (*keys != '\0') {
        Key k = 0;
        size_t bytes = key_parse(keys, &k);
        assert_true(bytes > 0);
        state = prompt_key(p, k);
        keys += bytes;
    }
    return state;
}

static void assert_typed(const char *start, const char *keys, const char *want) {
    Prompt *p = prompt_new();
    prompt_open(p, ":", start, NULL, NULL);
    assert_int_equal(type(p, keys), PROMPT_EDITING);
    assert_string_equal(prompt_text(p), want);
    prompt_free(p);
}

static void keys_edit_the_line(void **state) {
    (void)state;
    assert_typed(NULL, "the dogs", "the dogs");
    assert_typed("abc", "<Left><Left>X", "aXbc");
    assert_typed("abc", "<Home>X<End>Y", "XabcY");
    assert_typed("abc", "<C-a>X<C-e>Y", "XabcY");
    assert_typed("abc", "<Backspace><Left><Delete>", "a");
    assert_typed("abc", "<Home><Backspace><Right><Right><Right><Right><Delete>", "abc");
    assert_typed("the big dogs", "<C-w>", "the big ");
    assert_typed("the big dogs ", "<C-w><C-w>", "the ");
    assert_typed("the big dogs", "<C-a><C-f><C-f><C-f><C-k>", "the");
    assert_typed("the big dogs", "<Left><Left><Left><Left><C-u>", "dogs");
    assert_typed("the big dogs", "<C-w><C-a><C-y>", "dogsthe big ");
    assert_typed("ab", "<C-b><C-d>", "a");
    assert_typed("ab", "<F5><PageUp><Insert><C-x>", "ab"); /* keys that mean nothing here */
}

static void characters_stay_whole(void **state) {
    (void)state;
    assert_typed("a" WIDE "b", "<Left><Backspace>", "ab");
    assert_typed("a" WIDE "b", "<Home><Right><Delete>", "ab");
    assert_typed("a" WIDE "b", "<Left><Left>x", "ax" WIDE "b");
    assert_typed("e\xCC\x81z", "<Left><Backspace>", "z"); /* a letter and its mark are one */
    assert_typed("e\xCC\x81z", "<Home><Delete>", "z");
    assert_typed(NULL, WIDE, WIDE);
}

static void enter_ends_and_escape_gives_up(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "x", NULL, NULL);
    assert_int_equal(type(p, "y<Enter>"), PROMPT_DONE);
    assert_string_equal(prompt_text(p), "xy");
    prompt_open(p, ":", "x", NULL, NULL);
    assert_int_equal(type(p, "<Esc>"), PROMPT_GONE);
    prompt_open(p, ":", "x", NULL, NULL);
    assert_int_equal(type(p, "<C-c>"), PROMPT_GONE);
    prompt_free(p);
}

static void enter_line(Prompt *p, const char *label, const char *line) {
    prompt_open(p, label, line, NULL, NULL);
    assert_int_equal(type(p, "<Enter>"), PROMPT_DONE);
}

static void each_label_has_its_history(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    enter_line(p, ":", "one");
    enter_line(p, ":", "two");
    enter_line(p, ":", "two"); /* once */
    enter_line(p, ":", "");    /* not at all */
    enter_line(p, "/", "dogs");
    prompt_open(p, ":", "dra", NULL, NULL);
    type(p, "<Up>");
    assert_string_equal(prompt_text(p), "two");
    type(p, "<Up>");
    assert_string_equal(prompt_text(p), "one");
    type(p, "<Up>");
    assert_string_equal(prompt_text(p), "one");
    type(p, "<C-n>");
    assert_string_equal(prompt_text(p), "two");
    type(p, "<Down>");
    assert_string_equal(prompt_text(p), "dra"); /* what was being written */
    type(p, "<Down>ft<C-p>s<Enter>");
    assert_string_equal(prompt_text(p), "twos");
    prompt_open(p, "/", NULL, NULL, NULL);
    type(p, "<Up><Up>");
    assert_string_equal(prompt_text(p), "dogs");
    for (int i = 0; i < 300; i++) enter_line(p, "e", i % 2 == 0 ? "even" : "odd"); /* the oldest are forgotten */
    prompt_free(p);
}

static const char *const words[] = {"theme", "threads", "train", "truth", ("tr" WIDE)};

static int complete(void *user, const char *line, size_t cursor, const char *const **items, size_t *from) {
    static const char *found[5];
    int n = 0;
    size_t start = cursor;
    while (start > 0 && line[start - 1] != ' ') start--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(words[i], line + start, cursor - start) == 0) found[n++] = words[i];
    if (user != NULL) ++*(int *)user;
    *items = found;
    *from = start;
    return n;
}

static void tab_completes(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "set them", complete, NULL);
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "set theme"); /* the only one */
    prompt_open(p, ":", "t", complete, NULL);
    type(p, "h<Tab>");
    assert_string_equal(prompt_text(p), "th"); /* several: the menu opens, nothing is chosen yet */
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "theme");
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "threads");
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "theme"); /* round */
    type(p, "<S-Tab>");
    assert_string_equal(prompt_text(p), "threads");
    type(p, "<Up>");
    assert_string_equal(prompt_text(p), "theme");
    assert_int_equal(type(p, "<Esc>"), PROMPT_EDITING); /* closes the menu only */
    assert_int_equal(type(p, "<Esc>"), PROMPT_GONE);
    prompt_open(p, ":", "x", complete, NULL);
    type(p, "<Tab>y");
    assert_string_equal(prompt_text(p), "xy");
    prompt_open(p, ":", "x", NULL, NULL);
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "x");
    prompt_free(p);
}

static void completion_takes_what_is_common(void **state) {
    (void)state;
    int asked = 0;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "t", complete, &asked);
    type(p, "<Tab>");
    assert_string_equal(prompt_text(p), "t");
    prompt_open(p, ":", "say tr now", complete, &asked);
    type(p, "<Left><Left><Left><Left><S-Tab>");
    assert_string_equal(prompt_text(p), "say tr now");
    type(p, "<S-Tab>");
    assert_string_equal(prompt_text(p),
                        "say tr" WIDE " now"); /* backwards: the last first; the rest of the line stays */
    assert_int_equal(asked, 2);
    prompt_free(p);
}

static void a_paste_is_one_line(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "ab", NULL, NULL);
    type(p, "<Left>");
    prompt_paste(p, "one\ntwo\tx\033[31m\x07"
                    "\xFF" WIDE);
    assert_string_equal(prompt_text(p), "aone two x[31m" WIDE "b");
    char huge[PROMPT_BYTES + 10];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    prompt_paste(p, huge); /* too long: not taken */
    assert_string_equal(prompt_text(p), "aone two x[31m" WIDE "b");
    prompt_free(p);
}

static void assert_drawn(const Prompt *p, int w, int h, const char *want) {
    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
    Str got;
    str_init(&got);
    prompt_draw(p, c, (Rect){0, 0, w, h});
    canvas_dump(c, true, &got);
    assert_string_equal(got.s, want);
    str_done(&got);
    canvas_free(c);
}

static void a_full_line_says_so(void **state) {
    (void)state;
    static const char note[] = " full: a line has at most 4000 bytes ";
    char most[PROMPT_BYTES + 1], want[200];
    memset(most, 'x', PROMPT_BYTES);
    most[PROMPT_BYTES] = '\0';
    Prompt *p = prompt_new();
    prompt_open(p, ":", most, NULL, NULL);
    snprintf(want, sizeof want, ":%.58s\n-- styles\nK%.58sX\n", most,
             "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS");
    assert_drawn(p, 60, 1, want);
    type(p, "y");
    assert_int_equal(strlen(prompt_text(p)), PROMPT_BYTES);
    Canvas *c = canvas_new(60, 1, GLYPHS_HALF);
    Str got;
    str_init(&got);
    prompt_draw(p, c, (Rect){0, 0, 60, 1});
    canvas_dump(c, false, &got);
    snprintf(want, sizeof want, ":%.22s%.36s\n", most, note);
    assert_string_equal(got.s, want);
    str_done(&got);
    canvas_free(c);
    type(p, "<Backspace>y");
    assert_int_equal(prompt_text(p)[PROMPT_BYTES - 1], 'y');
    snprintf(want, sizeof want, ":%.57sy\n-- styles\nK%.58sX\n", most,
             "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS");
    assert_drawn(p, 60, 1, want);
    prompt_free(p);
}

static void the_cursor_is_always_seen(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "abcdef", NULL, NULL);
    assert_drawn(p, 10, 1, ":abcdef\n-- styles\nKSSSSSSX\n");
    assert_drawn(p, 5, 1, ":def\n-- styles\nKSSSX\n");
    type(p, "<Home>");
    assert_drawn(p, 5, 1, ":abcd\n-- styles\nKXSSS\n");
    prompt_open(p, ":", WIDE WIDE WIDE, NULL, NULL);
    assert_drawn(p, 6, 1, ":" WIDE WIDE "\n-- styles\nKSSSSX\n");
    type(p, "<Left>");
    assert_drawn(p, 7, 1, ":" WIDE WIDE WIDE "\n-- styles\nKSSSSXX\n");
    prompt_free(p);
}

static void the_caret_marks_the_cursor(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    Canvas *c = canvas_new(10, 2, GLYPHS_HALF);
    prompt_open(p, ":", "abc", NULL, NULL);
    type(p, "<Left>");
    prompt_draw(p, c, (Rect){0, 0, 10, 2});
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 10; x++)
            assert_int_equal(canvas_cell(c, x, y)->attributes & ATTRIBUTE_CARET,
                             y == 1 && x == 3 ? ATTRIBUTE_CARET : 0);
    canvas_free(c);
    prompt_free(p);
}

static void the_menu_stands_above(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, ":", "x t", complete, NULL);
    type(p, "<Tab><Tab><Tab>");
    assert_drawn(p, 14, 4,
                 "    theme\n   \xE2\x96\xB8threads\n    train   \xE2\x96\xBE\n:x threads\n"
                 "-- styles\n   RRRRRRRRRR\n   XXXXXXXXXX\n   RRRRRRRRRR\nKSSSSSSSSSX\n");
    prompt_free(p);
}

static void every_size_is_drawn_inside(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    prompt_open(p, "a long label: ", "t", complete, NULL);
    type(p, "<Tab><Tab>");
    for (int h = 0; h < 12; h++)
        for (int w = 0; w < 40; w++) {
            Canvas *c = canvas_new(w + 2, h + 2, GLYPHS_HALF);
            canvas_fill(c, (Rect){0, 0, w + 2, h + 2}, '#', STYLE_TEXT, 0);
            prompt_draw(p, c, (Rect){1, 1, w, h});
            for (int y = 0; y < h + 2; y++)
                for (int x = 0; x < w + 2; x++)
                    if (x == 0 || y == 0 || x == w + 1 || y == h + 1) assert_int_equal(canvas_cell(c, x, y)->ch, '#');
            canvas_free(c);
        }
    prompt_free(p);
}

static void a_prompt_that_is_not_open_takes_no_keys(void **state) {
    (void)state;
    Prompt *p = prompt_new();
    assert_bug(prompt_key(p, 'x'));
    assert_string_equal(prompt_text(p), "");
    prompt_free(p);
    prompt_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit_the_line),
        cmocka_unit_test(characters_stay_whole),
        cmocka_unit_test(enter_ends_and_escape_gives_up),
        cmocka_unit_test(each_label_has_its_history),
        cmocka_unit_test(tab_completes),
        cmocka_unit_test(completion_takes_what_is_common),
        cmocka_unit_test(a_paste_is_one_line),
        cmocka_unit_test(a_full_line_says_so),
        cmocka_unit_test(the_cursor_is_always_seen),
        cmocka_unit_test(the_caret_marks_the_cursor),
        cmocka_unit_test(the_menu_stands_above),
        cmocka_unit_test(every_size_is_drawn_inside),
        cmocka_unit_test(a_prompt_that_is_not_open_takes_no_keys),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
