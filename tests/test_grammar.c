/* Reading grammars: what is written, what is refused and at which line, files that include files. */
#include "expect.h"

#include "mem.h"
#include "text/grammar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What a grammar writes ---- */

static Grammar *parse(const char *text) {
    Grammar *g;
    Status s = grammar_parse(text, strlen(text), &g);
    if (!status_is_ok(&s)) fail_msg("%s\n%s", text, s.text);
    return g;
}

static double p_of(const char *grammar, const char *sentence) {
    Grammar *g = parse(grammar);
    Language *l;
    double log_p;
    assert_ok(language_new(g, NULL, NULL, &l));
    assert_ok(language_log_p(l, sentence, &log_p));
    language_free(l);
    grammar_free(g);
    return exp(log_p);
}

#define assert_p(grammar, sentence, expected)                                                                          \
    do {                                                                                                               \
        double p_ = p_of(grammar, sentence);                                                                           \
        if (fabs(p_ - (expected)) > 1e-12) fail_msg("p(%s) = %.15g in\n%s", sentence, p_, grammar);                    \
    } while (0)

static void chunks_are_joined_and_pieces_glued(void **state) {
    (void)state;
    assert_p("s: a  b\t c", "a b c", 1);
    assert_p("s: a{x}b {x}\nx: -", "a-b -", 1);
    assert_p("s: {} a {} b{}c {}", "a bc", 1);
    assert_p("s: {e} a {e}b{e}\ne: {}", "a b", 1);
    assert_p("s: x{two}y\ntwo: a b", "xa by", 1);
    assert_p("s: {}", "", 1);
    assert_p("s: a", "A", 0);
    assert_p("s: a b", " \ta \t b ", 1);
}

static void first_chunk_is_a_weight_when_it_looks_like_one(void **state) {
    (void)state;
    assert_p("s: 3 apples | a", "apples", .75);
    assert_p("s: .5 a | 1.5 b", "a", .25);
    assert_p("s: 1 3 apples", "3 apples", 1);
    assert_p("s: \\3 apples | a", "3 apples", .5);
    assert_p("s: 3 | 5", "3", .5);
    assert_p("s: 3 {} | 1 {x}\nx: x", "", .75);
    assert_p("s: 3\n  apples | a", "apples", .75);
    assert_p("s: 3 # alone\n  | 1 a", "3", .5);
    assert_p("s: 1. a | b", "1. a", .5);
    assert_p("s: 3{x} a | b\nx: x", "3x a", .5);
    assert_p("s: +3 a | 1e1 b", "+3 a", .5);
    assert_p("s: -2 | - 2 a", "-2", .5);
    assert_p("s: \\-2 a", "-2 a", 1);
    assert_p("s: 1000000000 a | 0 b", "a", 1);
    assert_p("s: 0 a | 0.0 b | 1 c", "c", 1);
}

static void backslash_makes_text(void **state) {
    (void)state;
    assert_p("s: \\{a\\} \\| \\# \\\\ \\a", "{a} | # \\ a", 1);
    assert_p("s: a#b #c", "a#b", 1);
    assert_p("s: a \\#b", "a #b", 1);
    assert_p("s:#a", "#a", 1);
    assert_p("s: a |#b", "#b", .5);
    assert_p("s: \xc3\xa4\\\xc3\xb6", "\xc3\xa4\xc3\xb6", 1);
    assert_p("s: a: b = * $ . ,", "a: b = * $ . ,", 1);
    assert_p("s: a\xc2\xa0"
             "b",
             "a\xc2\xa0"
             "b",
             1); /* no blank of ours */
}

static void lines_continue_and_comments_do_not_end_a_rule(void **state) {
    (void)state;
    assert_p("s: a\n | b\n\n# x\n   # y\n\t| c | d", "d", .25);
    assert_p("s:\n a\n b", "a b", 1);
    assert_p("s: a |\n b", "b", .5);
    assert_p("s: a\r\n | b\r\n", "b", .5);
    assert_p("\xef\xbb\xbfs: a", "a", 1);
    assert_p("s : a", "a", 1);
}

static void braces_may_have_blanks_at_their_ends(void **state) {
    (void)state;
    assert_p("s: { v=x }{ $v }{\tx }{ }b\nx: a", "aab", 1);
}

static void the_first_rule_that_fits_is_used(void **state) {
    (void)state;
    const char *g =
        "s: {v.a.b} {v.c.b} {v.c.d} {v}\nv.a.$x: 1{$x}\nv.$x.b: 2{$x}\nv.a.b: never\nv.$y.$x: {$x}{$y}\nv: 0\nv: never";
    assert_p(g, "1b 2c dc 0", 1);
    assert_p("s: {x=who} {f.$x}\nwho: old man | {}\nf.$v: <{$v}>", "<old man>", .5);
    assert_p("s: {x=who} {f.$x}\nwho: old man | {}\nf.$v: <{$v}>", "<>", .5);
    assert_p("s: {f.2.-._}\nf.$a.-.$b: {$a}{$b}", "2_", 1);
}

static void variables_are_set_where_they_stand(void **state) {
    (void)state;
    assert_p("s: {v=x} {$v} {$v}\nx: a | b", "a a", .5);
    assert_p("s: {v=x} {$v} {v=y} {$v}\nx: a\ny: b", "a b", 1);
    assert_p("s: {v=x} {v=f.$v} {$v}\nx: a | b\nf.$v: {$v}{$v}", "bb", .5);
    assert_p("s: {v=x} {f.$v} {$v}\nx: a | b\nf.$w: {v=y} {$v}{$w}\ny: c", "ca a", .5);
}

static void draws_are_repeated(void **state) {
    (void)state;
    assert_p("s: {x*3}\nx: a | b", "a b a", .125);
    assert_p("s: <{x*2}>\nx: a | {}", "<a>", .5);
    assert_p("s: <{x*2}>\nx: a | {}", "<a a>", .25);
    assert_p("s: b {x*0} {k=n} {x*$k}\nx: a\nn: 0 | 2 | 007", "b a a a a a a a", 1. / 3);
}

/* ---- What is refused ---- */

typedef struct {
    const char *text;
    int line;
    const char *why; /* a part of the sentence */
} Malformed;

static const Malformed malformed[] = {
    {"", 1, "no rules"},
    {"# only\n\n  # comments\n", 1, "no rules"},
    {"s: a\nsentence of words", 2, "no colon"},
    {"s: a\ninclude\n", 2, "no colon"},
    {"\n  s: a", 2, "none above"},
    {"s: a |\nt: b", 1, "empty"},
    {"s: a\n | b\n || c", 3, "empty"},
    {"s:\nt: b", 1, "empty"},
    {"s: # nothing\n\n", 1, "empty"},
    {"s: | b", 1, "empty"},
    {"s: a {b\nb: c}", 1, "without its }"},
    {"s: a {b # }\nb: c", 1, "without its }"},
    {"s: a\n  b}", 2, "without its {"},
    {"s: {a{b}}", 1, "cannot be read"},
    {"s: {n . x}", 1, "cannot be read"},
    {"s: {v = x}\nx: a", 1, "cannot be read"},
    {"s: {a|b}", 1, "cannot be read"},
    {"s: {3}", 1, "cannot be read"},
    {"s: {a.}", 1, "dot"},
    {"s: {a.$}", 1, "$"},
    {"s: {$}", 1, "$"},
    {"s: {=a}", 1, "cannot be read"},
    {"s: {v=}", 1, "cannot be read"},
    {"s: {v=x*2}\nx: a", 1, "bind and repeat"},
    {"s: {x*}\nx: a", 1, "*"},
    {"s: {x*-1}\nx: a", 1, "*"},
    {"s: {x*1001}\nx: a", 1, "0 to 1000"},
    {"s: {x*99999999999999999999}\nx: a", 1, "0 to 1000"},
    {"s: a\\", 1, "backslash"},
    {"s: a\n\\ b", 2, "no colon"},
    {"s: a \\ b", 1, "backslash"},
    {"s: a | -2 b", 1, "negative"},
    {"s: a |\n -.5\n b", 2, "negative"},
    {"s: 1000000001 a | b", 1, "1000000000"},
    {"s: a\nt.$x.$x: b", 2, "twice"},
    {"3s: a", 1, "name"},
    {"s a: b", 1, "head"},
    {"s.: a", 1, "dot"},
    {"s: a\nt: \x01", 2, "control"},
    {"s: a\nt: b\rc", 2, "control"},
    {"s: a\n# \xc2\x85", 2, "control"},
    {"s: a\nt: \xff", 2, "UTF-8"},
    {"s: a\nt: \xc3", 2, "UTF-8"},
    {"s: a\ninclude b.grammar", 2, "include"},
    {"s: a |\nno colon", 1, "empty"},
    {"s: a {x} |\n b}\n", 2, "without its {"},
    {"s: a b\n   c | d\nt: {u} | {s}\n", 3, "no rule 'u'"},
    {"s: {u.a}\nu: b", 1, "no rule 'u' with 1"},
    {"s: a\n {v=u} {x=y}\ny: b", 2, "no rule 'u'"},
    {"s: {x*2}\ny: b", 1, "no rule 'x'"},
    {"s: {$v}\n {v=x}\nx: a", 1, "$v"},
    {"s: {v=f.$v}\nf.$x: a", 1, "$v"},
    {"s: {v=x} | a\n | {$v}\nx: a", 2, "$v"},
    {"s: {k=x} {x*$n}\nx: 1", 1, "$n"},
    {"s: a\nt.$v: {$v}\nu: {$v}", 3, "$v"},
    {"s: {f.a.b}\nf.a.$x: {$x} {$y}", 2, "$y"}, /* the head gives one variable, not two */
    {"s: 0 a | 0.0 b", 1, "all weights"},
    {"s: a\n\nt.x:\n 0 a | .0 b", 3, "all weights"},
    {"s: {x}\nt: 0 a | 0 b", 1, "no rule 'x'"},
};

static void errors_name_their_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        const Malformed *m = &malformed[i];
        Grammar *g;
        Status s = grammar_parse(m->text, strlen(m->text), &g);
        if (s.code != STATUS_USAGE || g) fail_msg("accepted: %s", m->text);
        if (grammar_error_line(&s) != m->line || !strstr(s.text, m->why))
            fail_msg("%s\n-> %s\nexpected line %d, '%s'", m->text, s.text, m->line, m->why);
    }
}

static void a_nul_is_a_control_character(void **state) {
    (void)state;
    Grammar *g;
    Status s = grammar_parse("s: a\nt: b\0c", 12, &g);
    assert_int_equal(grammar_error_line(&s), 2);
}

static void limits_are_refused_in_words(void **state) {
    (void)state;
    Str text;
    str_init(&text);
    Grammar *g;
    str_add(&text, "s:");
    for (int i = 0; i < 1001; i++) str_addf(&text, " {v%d=s}", i);
    Status s = grammar_parse(text.s, text.len, &g);
    assert_non_null(strstr(s.text, "1000 variables"));
    str_clear(&text);
    str_add(&text, "s: {a");
    for (int i = 0; i < 101; i++) str_add(&text, ".b");
    str_add(&text, "}");
    s = grammar_parse(text.s, text.len, &g);
    assert_non_null(strstr(s.text, "100 parts"));
    str_clear(&text);
    str_add_repeat(&text, '#', (1 << 20) + 1);
    s = grammar_parse(text.s, text.len, &g);
    assert_int_equal(s.code, STATUS_USAGE);
    str_done(&text);
}

/* ---- Files ---- */

static char folder[] = "/tmp/lantern-grammar-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static const char *const files[] = {"whole", "part", "main", "sub/a", "sub/b", "c",  "d0", "d1",
                                    "d2",    "d3",   "d4",   "d5",    "d6",    "d7", "d8", "d9"};

static void path_of(const char *name, Str *out) {
    str_addf(out, "%s/%s.grammar", folder, name);
}

static int remove_folder(void **state) {
    (void)state;
    Str path;
    str_init(&path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        str_clear(&path);
        path_of(files[i], &path);
        unlink(path.s);
    }
    str_clear(&path);
    str_addf(&path, "%s/sub", folder);
    rmdir(path.s);
    str_done(&path);
    return rmdir(folder);
}

static void write_file(const char *name, const char *text) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/sub", folder);
    mkdir(path.s, 0700);
    str_clear(&path);
    path_of(name, &path);
    FILE *f = fopen(path.s, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    str_done(&path);
}

static Status read_file(const char *name, Grammar **g) {
    Str path;
    str_init(&path);
    path_of(name, &path);
    Status s = grammar_read(path.s, g);
    str_done(&path);
    return s;
}

static double p_of_file(const char *name, const char *sentence) {
    Grammar *g;
    Language *l;
    double log_p;
    assert_ok(read_file(name, &g));
    assert_ok(language_new(g, NULL, NULL, &l));
    assert_ok(language_log_p(l, sentence, &log_p));
    language_free(l);
    grammar_free(g);
    return exp(log_p);
}

static void files_are_included_where_they_stand(void **state) {
    (void)state;
    write_file("main", "s: {x} {y} {z}\nx: mine\ninclude  sub/a.grammar  # the rest\nz: never\n");
    write_file("sub/a", "\xef\xbb\xbfx: never\ny: a\ninclude b.grammar\ninclude ../c.grammar");
    write_file("sub/b", "y: never\nz: b\n");
    write_file("c", "z: c");
    assert_true(fabs(p_of_file("main", "mine a b") - 1) < 1e-12);
    write_file("main", "include c.grammar\ns: a\n");
    assert_true(fabs(p_of_file("main", "c") - 1) < 1e-12); /* the first rule is the start */
    write_file("main", "include c.grammar\ninclude c.grammar\n");
    assert_true(fabs(p_of_file("main", "c") - 1) < 1e-12); /* twice is not itself */
}

static void assert_file_error(const char *name, int line, const char *file, const char *why) {
    Grammar *g;
    Status s = read_file(name, &g);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!file) file = name;
    if (grammar_error_line(&s) != line || !strstr(s.text, why) || !strstr(s.text, file))
        fail_msg("%s, expected line %d of %s: %s", s.text, line, file, why);
}

/* The text of a grammar is one file, whatever it was read from, and means the same. */
static void assert_same_as_text(const char *name, const char *const *sentences) {
    Grammar *g, *again;
    Language *l, *m;
    assert_ok(read_file(name, &g));
    assert_ok(grammar_parse(grammar_text(g), strlen(grammar_text(g)), &again));
    assert_string_equal(grammar_text(again), grammar_text(g));
    assert_ok(language_new(g, NULL, NULL, &l));
    assert_ok(language_new(again, NULL, NULL, &m));
    for (; *sentences; sentences++) {
        double p, q;
        assert_ok(language_log_p(l, *sentences, &p));
        assert_ok(language_log_p(m, *sentences, &q));
        assert_true(isfinite(p) && p == q);
    }
    language_free(l);
    language_free(m);
    grammar_free(g);
    grammar_free(again);
}

static void the_text_is_the_whole_grammar(void **state) {
    (void)state;
    write_file("whole", "\xef\xbb\xbf# what it is\ns: {x} {y} {z} # all\n\n  | 2 {x} \\# \\\\\r\nx: mine\n"
                        "include  part.grammar  # the rest\nz: never\nz.$n: {} | {$n}\n");
    write_file("part", "x: never\ny: a\n   | include b\n include c\nz: b");
    assert_same_as_text("whole", (const char *const[]){"mine a b", "mine include b include c b", "mine # \\", NULL});
    Grammar *g;
    assert_ok(read_file("whole", &g));
    assert_string_equal(grammar_text(g), "s: {x} {y} {z}\n  | 2 {x} \\# \\\\\nx: mine\nx: never\ny: a\n   | include b\n"
                                         " include c\nz: b\nz: never\nz.$n: {} | {$n}\n");
    grammar_free(g);
}

static void errors_name_an_included_file(void **state) {
    (void)state;
    write_file("main", "s: a\ninclude sub/a.grammar\n");
    write_file("sub/a", "t: a\nu: {x\n");
    assert_file_error("main", 2, "sub/a.grammar, line 2", "without its }");
    write_file("sub/a", "t: a\n\nu: {x}\n");
    assert_file_error("main", 3, "sub/a.grammar, line 3", "no rule 'x'");
    write_file("main", "s: a\n\ninclude nowhere.grammar\n");
    assert_file_error("main", 3, NULL, "nowhere.grammar");
    write_file("main", "s: a\ninclude c.grammar\n | b\n");
    assert_file_error("main", 3, NULL, "none above");
    write_file("main", "");
    assert_file_error("main", 1, NULL, "there are no rules at all");
}

/* What only a question finds, too; what is wrong with the text asked about is no fault of the file. */
static void faults_of_the_language_name_the_file(void **state) {
    (void)state;
    Grammar *g;
    Language *l;
    double log_p;
    write_file("main", "s: {s} a | b\n");
    assert_ok(read_file("main", &g));
    assert_ok(language_new(g, NULL, NULL, &l));
    Status s = language_log_p(l, "b", &log_p);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, "main.grammar: {s} calls itself")) fail_msg("%s", s.text);
    language_free(l);
    grammar_free(g);
    write_file("main", "s: b\n");
    assert_ok(read_file("main", &g));
    assert_ok(language_new(g, NULL, NULL, &l));
    Str text;
    str_init(&text);
    str_add_repeat(&text, 'b', (1 << 20) + 1);
    s = language_log_p(l, text.s, &log_p);
    assert_string_equal(s.text, "a text can have 1 MiB at most");
    str_done(&text);
    language_free(l);
    grammar_free(g);
}

static void a_file_cannot_include_itself(void **state) {
    (void)state;
    write_file("main", "s: a\ninclude ./main.grammar\n");
    assert_file_error("main", 2, NULL, "itself");
    write_file("main", "s: a\ninclude sub/a.grammar\n");
    write_file("sub/a", "\n\ninclude ../main.grammar\n");
    assert_file_error("main", 3, "sub/a.grammar, line 3", "itself");
}

static void files_nest_eight_deep(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        char name[8], text[64];
        snprintf(name, sizeof name, "d%d", i);
        if (i < 9)
            snprintf(text, sizeof text, "r%d: a\ninclude d%d.grammar\n", i, i + 1);
        else
            snprintf(text, sizeof text, "r9: a\n");
        write_file(name, text);
    }
    assert_true(fabs(p_of_file("d1", "a") - 1) < 1e-12);
    assert_file_error("d0", 2, "d8.grammar, line 2", "8 deep");
}

static void a_line_is_found_in_any_error(void **state) {
    (void)state;
    Status s = status_usage("%s", "line 7.grammar, line 12: no colon");
    assert_int_equal(grammar_error_line(&s), 12);
    s = status_usage("%s", "line 3: x");
    assert_int_equal(grammar_error_line(&s), 3);
    s = status_usage("%s", "cannot open 'line 3'");
    assert_int_equal(grammar_error_line(&s), 0);
    s = status_ok();
    assert_int_equal(grammar_error_line(&s), 0);
}

static void shipped_grammars_can_be_read(void **state) {
    (void)state;
    static const char *const name[] = {"farm", "farm-tests", "morph", "stories", "tags"};
    if (!getenv("LANTERN_ASSETS")) skip();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        Str path;
        str_init(&path);
        str_addf(&path, "%s/grammars/%s.grammar", getenv("LANTERN_ASSETS"), name[i]);
        Grammar *g;
        assert_ok(grammar_read(path.s, &g));
        grammar_free(g);
        str_done(&path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_joined_and_pieces_glued),
        cmocka_unit_test(first_chunk_is_a_weight_when_it_looks_like_one),
        cmocka_unit_test(backslash_makes_text),
        cmocka_unit_test(lines_continue_and_comments_do_not_end_a_rule),
        cmocka_unit_test(braces_may_have_blanks_at_their_ends),
        cmocka_unit_test(the_first_rule_that_fits_is_used),
        cmocka_unit_test(variables_are_set_where_they_stand),
        cmocka_unit_test(draws_are_repeated),
        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(a_nul_is_a_control_character),
        cmocka_unit_test(limits_are_refused_in_words),
        cmocka_unit_test(files_are_included_where_they_stand),
        cmocka_unit_test(the_text_is_the_whole_grammar),
        cmocka_unit_test(errors_name_an_included_file),
        cmocka_unit_test(faults_of_the_language_name_the_file),
        cmocka_unit_test(a_file_cannot_include_itself),
        cmocka_unit_test(files_nest_eight_deep),
        cmocka_unit_test(a_line_is_found_in_any_error),
        cmocka_unit_test(shipped_grammars_can_be_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
