/* fuzz_main: a fuzz target as a plain test: every file of the folders named, as it is, cut at every length and with
 * every byte changed (of files up to 4 KiB; longer ones at 4096 places). */
#include "file.h"
#include "fuzz.h"
#include "mem.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 4096 };

/* In memory of exactly that size, so that AddressSanitizer sees a read behind the end. */
static void run_exactly(const char *bytes, size_t n) {
    unsigned char *copy = mem_alloc(n);
    if (n) memcpy(copy, bytes, n);
    (void)LLVMFuzzerTestOneInput(copy, n);
    mem_free(copy);
}

static void run_variants(Str *file) {
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    size_t step = file->len / PLACES + 1;
    run_exactly(file->s, file->len);
    for (size_t at = 0; at < file->len; at += step) {
        char kept = file->s[at];
        run_exactly(file->s, at);
        file->s[at] = (char)(kept ^ changes[at % sizeof changes]);
        run_exactly(file->s, file->len);
        file->s[at] = kept;
    }
}

/* Returns how many files were run, -1 when one cannot be read. */
static int run_folder(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return -1;
    int files = 0;
    for (struct dirent *e; files >= 0 && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        Str path, file;
        str_init(&path);
        str_init(&file);
        str_addf(&path, "%s/%s", folder, e->d_name);
        Status s = file_read(path.s, 0, &file);
        if (status_is_ok(&s)) {
            run_variants(&file);
            files++;
        } else {
            (void)fprintf(stderr, "%s\n", s.text);
            files = -1;
        }
        str_done(&path);
        str_done(&file);
    }
    closedir(d);
    return files;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        int files = run_folder(argv[i]);
        (void)printf("%s: %d files\n", argv[i], files);
        if (files < 1) return 1;
    }
    return argc < 2;
}
