#include "room.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Atomic size_t room_pretended;

/* The number behind KEY in a file of such lines ("MemAvailable:  23517 kB"), or the only number of a file (KEY "");
 * SIZE_MAX: it is not there, or is no number ("max"). */
static size_t number_in(const char *path, const char *key) {
    char line[256];
    unsigned long long x;
    size_t found = SIZE_MAX, n = strlen(key);
    FILE *f = fopen(path, "r");
    while (f && found == SIZE_MAX && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0 && sscanf(line + n, "%llu", &x) == 1) found = (size_t)x;
    if (f) fclose(f);
    return found;
}

/* Of the group of processes that we are in, where it has a limit. */
static size_t group_left(void) {
    size_t most = number_in("/sys/fs/cgroup/memory.max", ""), used = number_in("/sys/fs/cgroup/memory.current", "");
    if (most == SIZE_MAX || used == SIZE_MAX) return SIZE_MAX;
    size_t pages = number_in("/sys/fs/cgroup/memory.stat", "inactive_file "); /* of files, which may go */
    if (pages != SIZE_MAX && pages <= used) used -= pages;
    return used < most ? most - used : 0;
}

size_t room_left(void) {
    size_t pretended = atomic_load(&room_pretended);
    if (pretended) return pretended;
    size_t kilobytes = number_in("/proc/meminfo", "MemAvailable:"), group = group_left();
    size_t all = kilobytes == SIZE_MAX ? SIZE_MAX : kilobytes * 1024;
    return all < group ? all : group;
}

void room_pretend(size_t bytes) {
    atomic_store(&room_pretended, bytes);
}
