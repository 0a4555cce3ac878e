/* str_likely: which word was most likely meant. */
#include "mem.h"
#include "str.h"

#include <string.h>

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* The optimal string alignment distance (Damerau 1964) over bytes, by rows of the usual table: three of them, because a
 * swap looks two back. */
int str_distance(const char *a, const char *b) {
    size_t n = strlen(b);
    int *room = MEM_ARRAY(int, 3 * (n + 1));
    int *before = room, *above = room + n + 1, *row = above + n + 1;
    for (size_t j = 0; j <= n; j++) row[j] = (int)j;
    for (size_t i = 1; a[i - 1]; i++) {
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    int distance = row[n];
    mem_free(room);
    return distance;
}

const char *str_likelier(const char *meant, const char *best, const char *candidate) {
    int distance = str_distance(meant, candidate);
    if (distance > ((int)strlen(candidate) + 1) / 3) return best;
    return best && str_distance(meant, best) <= distance ? best : candidate;
}
