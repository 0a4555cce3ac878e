/* A file written from the screen is the file that the experiment writes headless, byte for byte: same model, same
 * words, same numbers. */
#include "expect.h"

#include "app.h"
#include "csvfile.h"
#include "file.h"
#include "lab_fixture.h"
#include "mem.h"
#include "run_study.h"
#include "script.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/lantern-same-XXXXXX";

/* Trains a little, then writes the model and what the panes show. */
static void write_from_screen(void) {
    static const char script[] = "wait loaded\n"
                                 ":until 5\n"
                                 ":prompt the owl near the cats\n"
                                 "wait idle\n"
                                 ":save model.ckpt\n"
                                 "wait idle\n"
                                 "keys 2\n"
                                 ":cursor layer=2 head=1\n"
                                 ":export screen\n"
                                 "expect-message wrote 4 files\n"
                                 ":pane sample\n"
                                 "wait idle\n"
                                 ":export screen\n"
                                 "expect-message sample.next.csv\n";
    Str screen;
    str_init(&screen);
    Worker *w = worker_new(lab_new(fixture_options("kv_heads=1 softcap=5")), WORKER_INLINE);
    App *a = app_new(w, GLYPHS_HALF, DEPTH_256);
    Status s = script_run_text("same", script, a, w, &screen);
    app_free(a);
    worker_free(w);
    if (!status_is_ok(&s)) fputs(screen.s, stderr);
    str_done(&screen);
    assert_string_equal(s.text, "");
}

static void assert_same(const char *from_screen, Study *study, const char *table) {
    Table *t = study_result(study, table);
    Str a, b;
    str_init(&a);
    str_init(&b);
    assert_ok(csvfile_save(t, "headless.csv"));
    assert_ok(file_read(from_screen, 0, &a));
    assert_ok(file_read("headless.csv", 0, &b));
    assert_true(table_rows(t) > 10);
    assert_true(a.len == b.len && memcmp(a.s, b.s, a.len) == 0);
    str_done(&a);
    str_done(&b);
    table_free(t);
    unlink("headless.csv");
    unlink(from_screen);
}

static void attention_from_the_pane_and_from_attn_step(void **state) {
    (void)state;
    write_from_screen();
    Study *s = run_study("attn.step", "model=model.ckpt", "prompt=the owl near the cats", "layer=1", "head=0", NULL);
    assert_same("screen/attention.attention.csv", s, "attention");
    assert_same("screen/attention.vectors.csv", s, "vectors");
    study_free(s);
    s = run_study("decode.next", "model=model.ckpt", "prompt=the owl near the cats", NULL);
    assert_same("screen/sample.next.csv", s, "next");
    study_free(s);
}

int main(void) {
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(attention_from_the_pane_and_from_attn_step)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char line[80];
    snprintf(line, sizeof line, "rm -r %s", folder);
    return system(line) == 0 ? failed : 1;
}
