/* Every script of scripts/, on a real laboratory. A line "# options: key=value ..." says with which run. They write
 * into a folder of their own. */
#include "expect.h"

#include "app.h"
#include "file.h"
#include "lab.h"
#include "mem.h"
#include "script.h"
#include "worker.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scripts_folder[512];

static Options *options_of(const char *text) {
    Options *o = lab_options();
    static const char mark[] = "# options: ";
    const char *line = strstr(text, mark);
    if (!line) return o;
    char pairs[512];
    snprintf(pairs, sizeof pairs, "%.*s", (int)strcspn(line, "\n"), line);
    char *rest = pairs + sizeof mark - 1;
    for (char *pair; (pair = strtok_r(rest, " ", &rest));) assert_ok(options_set_pair(o, pair));
    return o;
}

static void play(void **state) {
    const char *name = *state;
    char path[800];
    Str text, screen;
    str_init(&text);
    str_init(&screen);
    snprintf(path, sizeof path, "%s/%s", scripts_folder, name);
    assert_ok(file_read(path, 0, &text));
    Worker *w = worker_new(lab_new(options_of(text.s)), WORKER_INLINE);
    App *a = app_new(w, GLYPHS_HALF, DEPTH_256);
    Status s = script_run_text(name, text.s, a, w, &screen);
    app_free(a);
    worker_free(w);
    if (!status_is_ok(&s)) fputs(screen.s, stderr);
    str_done(&text);
    str_done(&screen);
    assert_string_equal(s.text, "");
}

static int is_script(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 7 && !strcmp(e->d_name + n - 7, ".script");
}

int main(void) {
    static char here[256], work[] = "/tmp/lantern-scripts-XXXXXX";
    if (!getcwd(here, sizeof here)) return 1;
    snprintf(scripts_folder, sizeof scripts_folder, "%s/scripts", here);
    struct dirent **entry;
    int n = scandir(scripts_folder, &entry, is_script, alphasort);
    if (n < 1 || !mkdtemp(work) || chdir(work) != 0) return 1;
    struct CMUnitTest *tests = MEM_ARRAY(struct CMUnitTest, (size_t)n);
    for (int i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){.name = entry[i]->d_name, .test_func = play, .initial_state = entry[i]->d_name};
    int failed = _cmocka_run_group_tests("scripts", tests, (size_t)n, NULL, NULL);
    for (int i = 0; i < n; i++) free(entry[i]);
    free(entry);
    mem_free(tests);
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", work);
    return system(line) == 0 ? failed : 1;
}
