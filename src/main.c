/* lantern: from the command line to the laboratory, headless or on the screen. The only place that ends the program.
 *
 * Exit codes: 0 done; 1 failed while running; 2 a bad command, id, key, value or file; 128+n stopped by signal n. Every
 * error is one line on standard error. */
#include "assets.h"
#include "bug.h"
#include "catalog.h"
#include "environment.h"
#include "headless.h"
#include "intl.h"
#include "lab.h"
#include "mem.h"
#include "screen.h"
#include "status.h"
#include "str.h"
#include "version.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments ---- */

typedef struct {
    const char **operand; /* borrowed from argv */
    int operands;
    const char *csv, *table;
    bool help, version, progress, no_cache;
    ScreenOptions screen;
    const char *of_screen; /* an option that belongs to the screen and was given; NULL: none */
    const char *of_run;    /* an option that belongs to `run` and was given; NULL: none */
} Arguments;

enum {
    ARGUMENT_CSV = 256,
    ARGUMENT_TABLE,
    ARGUMENT_PROGRESS,
    ARGUMENT_NO_CACHE,
    ARGUMENT_THEME,
    ARGUMENT_MAP,
    ARGUMENT_COLOR,
    ARGUMENT_FPS,
    ARGUMENT_SCRIPT,
    ARGUMENT_OPEN,
    ARGUMENT_ASCII,
    ARGUMENT_BRAILLE,
    ARGUMENT_NO_MOUSE
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"csv", required_argument, NULL, ARGUMENT_CSV},
    {"table", required_argument, NULL, ARGUMENT_TABLE},
    {"progress", no_argument, NULL, ARGUMENT_PROGRESS},
    {"no-cache", no_argument, NULL, ARGUMENT_NO_CACHE},
    {"theme", required_argument, NULL, ARGUMENT_THEME},
    {"map", required_argument, NULL, ARGUMENT_MAP},
    {"color", required_argument, NULL, ARGUMENT_COLOR},
    {"fps", required_argument, NULL, ARGUMENT_FPS},
    {"script", required_argument, NULL, ARGUMENT_SCRIPT},
    {"open", required_argument, NULL, ARGUMENT_OPEN},
    {"ascii", no_argument, NULL, ARGUMENT_ASCII},
    {"braille", no_argument, NULL, ARGUMENT_BRAILLE},
    {"no-mouse", no_argument, NULL, ARGUMENT_NO_MOUSE},
    {0},
};

static const char *long_name(int c) {
    for (const struct option *o = long_options; o->name; o++)
        if (o->val == c) return o->name;
    return "";
}

static Status unknown_argument(const char *word) {
    const char *name = word + strspn(word, "-");
    const char *best = NULL;
    for (const struct option *o = long_options; o->name; o++) best = str_likelier(name, best, o->name);
    if (best && strcmp(best, name) != 0)
        return status_usage(_("there is no option %s; did you mean --%s?"), word, best);
    return status_usage(_("there is no option %s; lantern --help names them all"), word);
}

/* Where the value of C goes; NULL: it has none. */
static const char **value_of(Arguments *a, int c) {
    switch (c) {
    case ARGUMENT_CSV:
        return &a->csv;
    case ARGUMENT_TABLE:
        return &a->table;
    case ARGUMENT_THEME:
        return &a->screen.theme;
    case ARGUMENT_MAP:
        return &a->screen.map;
    case ARGUMENT_COLOR:
        return &a->screen.color;
    case ARGUMENT_FPS:
        return &a->screen.frames;
    case ARGUMENT_SCRIPT:
        return &a->screen.script;
    case ARGUMENT_OPEN:
        return &a->screen.open;
    default:
        return NULL;
    }
}

/* What is on once C is given; NULL: C has a value, or is none of these. */
static bool *switch_of(Arguments *a, int c) {
    switch (c) {
    case 'h':
        return &a->help;
    case 'V':
        return &a->version;
    case ARGUMENT_PROGRESS:
        return &a->progress;
    case ARGUMENT_NO_CACHE:
        return &a->no_cache;
    case ARGUMENT_ASCII:
        return &a->screen.ascii;
    case ARGUMENT_BRAILLE:
        return &a->screen.braille;
    case ARGUMENT_NO_MOUSE:
        return &a->screen.no_mouse;
    default:
        return NULL;
    }
}

static void note_owner(Arguments *a, int c) {
    if (c == 'h' || c == 'V') return;
    bool of_run = c == ARGUMENT_CSV || c == ARGUMENT_TABLE || c == ARGUMENT_PROGRESS || c == ARGUMENT_NO_CACHE;
    *(of_run ? &a->of_run : &a->of_screen) = long_name(c);
}

static Status take_argument(Arguments *a, int c, char *word) {
    const char **value = value_of(a, c);
    bool *on = switch_of(a, c);
    if (c == 1) {
        a->operand[a->operands++] = optarg;
        return status_ok();
    }
    if (c == ':') return status_usage(_("%s needs a value"), word);
    if (!value && !on) return unknown_argument(word);
    if (value && *value) return status_usage(_("--%s is given twice: '%s' and '%s'"), long_name(c), *value, optarg);
    if (value) *value = optarg;
    if (on) *on = true;
    note_owner(a, c);
    return status_ok();
}

/* Options may stand anywhere before "--". */
static Status read_arguments(int argc, char **argv, Arguments *a) {
    *a = (Arguments){.operand = MEM_ARRAY(const char *, (size_t)argc + 1)};
    opterr = 0;
    for (;;) {
        int before = optind;
        int c = getopt_long(argc, argv, "-:hV", long_options, NULL);
        if (c == -1) break;
        STATUS_TRY(take_argument(a, c, argv[before]));
    }
    while (optind < argc) a->operand[a->operands++] = argv[optind++];
    return status_ok();
}

/* ---- words ---- */

static const char usage[] =
    N_("lantern trains a small Transformer in front of you and shows its inside.\n"
       "\n"
       "  lantern [key=value ...]             the screen: training begins at once; the keys stand below\n"
       "  lantern list                        every experiment: id, section of the notes, one line\n"
       "  lantern run ID [key=value ...]      runs one and prints its tables\n"
       "  lantern help ID                     its options and tables (also: lantern run ID --help)\n"
       "  lantern --version                   what this program is and what it stands on\n"
       "\n"
       "with the screen\n"
       "  --theme dark|light|contrast|mono    the colours; without it dark or light, as the terminal says it is\n"
       "  --map viridis|cividis|magma|gray    the colours of heat\n"
       "  --color auto|mono|8|16|256|true     how many colours; auto asks the terminal and NO_COLOR\n"
       "  --ascii, --braille                  no line drawing; finer plots\n"
       "  --fps N                             at most N frames a second (20)\n"
       "  --no-mouse                          the mouse stays the terminal's\n"
       "  --open FILE                         returns to what :keep FILE wrote\n"
       "  --script FILE                       plays a script without a terminal\n"
       "\n"
       "with run\n"
       "  --csv -         the first table as CSV on standard output, nothing else there\n"
       "  --table NAME    another table than the first\n"
       "  --csv FOLDER    every table as FOLDER/ID.TABLE.csv, and what it rests on as FOLDER/ID.about.csv\n"
       "  --progress      says on standard error how far it is (on a terminal it does so anyway)\n"
       "  --no-cache      trains models afresh instead of taking them from the cache folder\n"
       "\n"
       "Exit codes: 0 done, 1 failed while running, 2 something asked for is wrong, 128+n stopped by signal n.\n");

static Status print_usage(void) {
    Str out;
    str_init(&out);
    str_add(&out, _(usage));
    str_add(&out, _("\nkeys of a run on the screen\n"));
    Options *o = lab_options();
    options_help(o, &out);
    options_free(o);
    Status s = headless_print(stdout, &out);
    str_done(&out);
    return s;
}

static Status print_version(void) {
    Str out;
    str_init(&out);
    version_add(&out);
    Status s = headless_print(stdout, &out);
    str_done(&out);
    return s;
}

static Status print_list(void) {
    Str out;
    str_init(&out);
    headless_list(&out);
    Status s = headless_print(stdout, &out);
    str_done(&out);
    return s;
}

/* ---- experiments ---- */

static Status find_entry(const char *id, const CatalogEntry **e) {
    *e = catalog_find(id);
    if (*e) return status_ok();
    const char *likely = catalog_likely(id);
    if (likely) return status_usage(_("there is no experiment '%s'; did you mean %s?"), id, likely);
    return status_usage(_("there is no experiment '%s'; lantern list names them all"), id);
}

static Status print_help(const char *id) {
    const CatalogEntry *e;
    STATUS_TRY(find_entry(id, &e));
    Str out;
    str_init(&out);
    headless_help(e, &out);
    Status s = headless_print(stdout, &out);
    str_done(&out);
    return s;
}

static volatile sig_atomic_t stop_signal;
static bool still_running; /* an experiment that would not stop */

static void on_stop(int signal_number) {
    stop_signal = signal_number;
}

static bool is_stopped(void) {
    return stop_signal != 0;
}

/* The first of these signals stops the work, a second one the program. */
static void catch_stops(void) {
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct sigaction now, before;
        if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        memset(&now, 0, sizeof now);
        now.sa_handler = on_stop;
        now.sa_flags = (int)SA_RESETHAND;
        sigemptyset(&now.sa_mask);
        sigaction(stops[i], &now, NULL);
    }
}

static Status run_experiment(const Arguments *a) {
    if (a->operands < 2) return status_usage(_("run needs the id of an experiment; lantern list names them all"));
    const char *id = a->operand[1];
    if (a->help) return print_help(id);
    const CatalogEntry *e;
    STATUS_TRY(find_entry(id, &e));
    Options *o = catalog_options(e);
    Status s = options_set_pairs(o, a->operand + 2, a->operands - 2);
    if (!status_is_ok(&s)) {
        options_free(o);
        return s;
    }
    catch_stops();
    Headless h = {.entry = e,
                  .options = o,
                  .csv = a->csv,
                  .table = a->table,
                  .progress = a->progress ? PROGRESS_ALWAYS : PROGRESS_ON_TERMINAL,
                  .no_cache = a->no_cache,
                  .out = stdout,
                  .err = stderr,
                  .stopped = is_stopped};
    return headless_run(&h, &still_running);
}

static void complain(const Status *s) {
    if (*s->text) fprintf(stderr, "lantern: %s\n", s->text);
}

/* ---- the screen ---- */

/* Ends as the signal would have ended the program, so that the shell sees 128+n. */
static void raise_again(int signal_number) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static Status show_screen(const Arguments *a) {
    Options *o = lab_options();
    Status s = options_set_pairs(o, a->operand, a->operands);
    if (status_is_ok(&s)) s = lab_check(o);
    if (!status_is_ok(&s)) {
        options_free(o);
        return s;
    }
    int signal_number;
    s = screen_run(&a->screen, o, &signal_number);
    if (signal_number) {
        complain(&s);
        raise_again(signal_number);
    }
    return s;
}

/* ---- commands ---- */

static Status unknown_command(const char *word) {
    const char *best = NULL;
    static const char *const known[] = {"list", "run", "help"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) best = str_likelier(word, best, known[i]);
    if (best) return status_usage(_("there is no command '%s'; did you mean %s?"), word, best);
    if (catalog_find(word)) return status_usage(_("'%s' is an experiment: lantern run %s"), word, word);
    return status_usage(_("there is no command '%s'; the commands are list, run and help"), word);
}

static Status carry_out(const Arguments *a) {
    const char *command = a->operands ? a->operand[0] : "";
    if (a->version) return print_version();
    if (a->of_screen && a->operands && !strchr(command, '='))
        return status_usage(_("--%s goes with the screen, not with lantern %s"), a->of_screen, command);
    if (strcmp(command, "run") == 0 && (a->operands > 1 || !a->help)) return run_experiment(a);
    if (a->of_run) return status_usage(_("--%s goes with lantern run ID"), a->of_run);
    if (strcmp(command, "help") == 0 && a->operands == 2) return print_help(a->operand[1]);
    if (a->help || (strcmp(command, "help") == 0 && a->operands == 1)) return print_usage();
    if (strcmp(command, "list") == 0 && a->operands == 1) return print_list();
    if (strcmp(command, "list") == 0 || strcmp(command, "help") == 0)
        return status_usage(_("%s takes no '%s'"), command, a->operand[command[0] == 'l' ? 1 : 2]);
    if (a->operands == 0 || strchr(command, '=')) return show_screen(a);
    return unknown_command(command);
}

static int exit_code(const Status *s) {
    switch (s->code) {
    case STATUS_OK:
        return 0;
    case STATUS_USAGE:
        return 2;
    case STATUS_CANCELLED:
        return stop_signal ? 128 + stop_signal : 1;
    case STATUS_FAILED:
        break;
    }
    return 1;
}

static void out_of_memory(const char *sentence) {
    bug_run_hook(); /* gives the terminal back */
    fprintf(stderr, "lantern: %s\n", sentence);
    exit(1);
}

/* Whether characters are UTF-8. */
static bool set_language(void) {
    Str translations;
    str_init(&translations);
    bool utf8 = intl_init(assets_translations(&translations) ? translations.s : NULL);
    str_done(&translations);
    return utf8;
}

int main(int argc, char **argv) {
    environment_settle();
    bool utf8 = set_language();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails, with a sentence */
    mem_set_hook(out_of_memory);
    Arguments arguments;
    Status s = read_arguments(argc, argv, &arguments);
    arguments.screen.utf8 = utf8;
    if (status_is_ok(&s)) s = carry_out(&arguments);
    complain(&s);
    mem_free(arguments.operand);
    if (still_running) _exit(exit_code(&s)); /* what exit would take away is still in use */
    exit(exit_code(&s));
}
